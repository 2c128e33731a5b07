"""A newcomer's first commands: `python -m benchmarks.first_use` prints CPU seconds, packages and megabytes.

It builds the wheel of a checkout, installs it alone in a fresh virtual environment, with the versions in
constraints.txt, and runs each command with an empty home folder and empty caches. CPU seconds are those of the whole
process and its children. Before each process `python -c 'import numpy'` runs, too, so that numbers of two machines, or
of two busy hours, can be compared: `ratio` is the median of the ratios of neighbours.

    --source FOLDER   a checkout of another version
    --python FILE     the Python of an environment that is there already; nothing is built or installed
    --repeats N       of each command, 5 by default
    --only WORD       commands whose name contains this
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.server import serving
from ramgape import Study

ROOT = Path(__file__).resolve().parents[1]

README = """
import random, ramgape
SUPPLIERS = {"Adler": (9, 4.0), "Borges": (11, 2.5), "Curie": (13, 1.0), "Dirac": (15, 5.0)}
random.seed(1)
def trial(supplier):
    return min(30.0, max(0.0, random.gauss(*SUPPLIERS[supplier])))
arms = list(SUPPLIERS)
result = ramgape.identify(trial, arms, direction="minimize", delta=0.05, progress=False, OPTIONS)
print(result)
"""
TEN = """
import random, ramgape
random.seed(1)
arms = {f"arm {place}": (0.1 + 0.08 * place, 0.05 + 0.03 * (place % 4)) for place in range(10)}
def trial(arm):
    return min(1.0, max(0.0, random.gauss(*arms[arm])))
print(ramgape.identify(trial, list(arms), reward_range=(0, 1), epsilon=0.1, progress=False))
"""
ITEMS = """
import random, ramgape
random.seed(1)
right = {"short": 0.6, "long": 0.8, "plain": 0.55, "chain": 0.7}
scores = {arm: [float(random.random() < share) for _ in range(200)] for arm, share in right.items()}
def trial(arm, item):
    return scores[arm][item]
options = {"items": range(200), "reward_range": (0, 1), "task": "best"}
print(ramgape.identify(trial, list(right), epsilon=0.05, progress=False, **options))
"""
SCRIPTS = {
    "identify, range": README.replace("OPTIONS", "reward_range=(0, 30), epsilon=1"),
    "identify, range, 10 arms": TEN,
    "identify, unknown": README.replace("OPTIONS", "epsilon=1"),
    "identify, best": README.replace("OPTIONS", 'reward_range=(0, 30), epsilon=1, task="best"'),
    "identify, budget": README.replace("OPTIONS", "budget=400").replace("delta=0.05, ", ""),
    "identify, items": ITEMS,
}
COMMANDS = {
    "--help": ["--help"],
    "analyze": ["analyze", "log.csv", "--reward-range", "0", "30", "--direction", "minimize"],
    "study ask, SQLite": ["study", "ask", "couriers", "--storage", "sqlite:///studies.db"],
    "study ask, server": ["study", "ask", "couriers"],
    "run, to the first child": ["run", "--runs", "2", "--shell", "none", "sh first.sh", "sh other.sh"],
    "run": ["run", "--runs", "10", "true", "sleep 0.01"],
    "demo": ["demo"],
}
# Writes the clock ticks that its parent has used, once; the search and all of its report come after.
FIRST_CHILD = "test -e ticks || cut -d ' ' -f 14,15 /proc/$PPID/stat > ticks\n"
NUMPY = ["-c", "import numpy"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        python = asked.python or here / "environment" / "bin" / "python"
        if asked.python is None:
            wheel = build(asked.source, here)
            venv.create(here / "environment", with_pip=True)
            say(install="base", **install(python, str(wheel), asked.source))
        measure({name: each for name, each in COMMANDS.items() if name != "demo"}, python, here, asked)
        if asked.python is None:
            say(install="plot", **install(python, f"{wheel}[plot]", asked.source))
        measure({"demo": COMMANDS["demo"]}, python, here, asked)


def measure(commands: Mapping[str, list[str]], python: Path, here: Path, asked: argparse.Namespace) -> None:
    """Print how long scripts and commands take."""
    scripts = {} if "demo" in commands else SCRIPTS
    calls = {name: ["-c", script] for name, script in scripts.items()}
    calls |= {name: ["-m", "ramgape", *words] for name, words in commands.items()}
    with serving(make_files(here)) as (address, token):
        Study.create("couriers", ["A", "B"], storage=address, token=token, reward_range=(0, 1), epsilon=0.05).close()
        there = {"RAMGAPE_STORAGE": address, "RAMGAPE_TOKEN": token}
        for name, call in calls.items():
            if asked.only in name:
                takes = [pair(python, call, here, there if "server" in name else {}) for _ in range(asked.repeats)]
                seconds, others = zip(*takes, strict=True)
                ratio = statistics.median(each / other for each, other in takes)
                numbers = {"median": statistics.median(seconds), "least": min(seconds), "most": max(seconds)}
                numbers |= {"numpy": statistics.median(others), "ratio": ratio}
                say(command=name, **{what: round(number, 3) for what, number in numbers.items()})


def pair(python: Path, call: list[str], here: Path, variables: Mapping[str, str]) -> tuple[float, float]:
    """CPU seconds of a call, of which this is the first use ever, and of `import numpy`."""
    other = seconds_of([str(python), *NUMPY], here, os.environ)
    with tempfile.TemporaryDirectory(dir=here) as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "XDG"))}
        taken = seconds_of([str(python), *call], here, {**kept, "HOME": home, "NUMBA_CACHE_DIR": home, **variables})
    ticks = here / "ticks"
    if ticks.exists():
        taken = sum(map(int, ticks.read_text(encoding="utf-8").split())) / os.sysconf("SC_CLK_TCK")
        ticks.unlink()
    return taken, other


def seconds_of(command: list[str], here: Path, environment: Mapping[str, str]) -> float:
    """CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=here, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_files(here: Path) -> Path:
    """What the commands read."""
    rows = [f"{arm},{10.0 + place + (37 * row % 11) / 3.0}" for row in range(300) for place, arm in enumerate("ABC")]
    (here / "log.csv").write_text("\n".join(["arm,reward", *rows]) + "\n", encoding="utf-8")
    (here / "first.sh").write_text(FIRST_CHILD, encoding="utf-8")
    (here / "other.sh").write_text(FIRST_CHILD + "sleep 0.01\n", encoding="utf-8")
    url = f"sqlite:///{here / 'studies.db'}"
    Study.create("couriers", ["A", "B"], storage=url, exist_ok=True, reward_range=(0, 1), epsilon=0.05).close()
    folder = here / "served"
    folder.mkdir(exist_ok=True)
    return Path(tempfile.mkdtemp(dir=folder))


def build(source: Path, here: Path) -> Path:
    """The wheel of a checkout."""
    words = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(here), str(source)]
    subprocess.run([sys.executable, *words], check=True, cwd=here)
    (wheel,) = here.glob("*.whl")
    return wheel


def install(python: Path, what: str, source: Path) -> dict[str, Any]:
    """Install something; the CPU seconds, the packages beside pip and Setuptools, and their megabytes."""
    words = ["-m", "pip", "install", "-q", "--constraint", str(source / "constraints.txt"), what]
    seconds = seconds_of([str(python), *words], source, os.environ)
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    names = {each.name for each in packages.glob("*.dist-info") if not each.name.startswith(("pip-", "setuptools-"))}
    used = sum(size_of(each) for each in packages.iterdir() if not each.name.startswith(("pip", "setuptools")))
    return {"seconds": round(seconds, 1), "packages": len(names), "megabytes": round(used / 2**20)}


def size_of(place: Path) -> int:
    """Bytes of a file, or of all in a folder, as the disk counts them."""
    found: Iterator[Path] = place.rglob("*") if place.is_dir() else iter([place])
    return sum(512 * each.lstat().st_blocks for each in found)


def say(**facts: Any) -> None:
    """One line of JSON."""
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
