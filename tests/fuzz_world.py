"""The folder that every case finds: a store with studies, and files of all sorts."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from ramgape import Study
from tests.fuzz_values import CONTROL, DIGITS, INSTANCE, MARKUP

STORE = "studies.db"
CSV = "arm,reward\na,0.2\nbb,0.9\na,0.4\nbb,0.7\na,0.3\nbb,1\n"
JSONL = '{"arm": "a", "reward": 0.5}\n{"arm": "bb", "reward": 1}\n'

# What `ramgape analyze`, `study import` and `study create --data` must refuse.
BROKEN_CSV = {
    "empty": b"",
    "no columns": b"a,0.5\nbb,0.5\n",
    "two columns of one name": b"arm,reward,reward\na,0.5,0.5\n",
    "a cell too few": CSV.encode() + b"a\n",
    "a cell too many": CSV.encode() + b"a,0.5,0.5\n",
    "no number": CSV.encode() + b"a,x\n",
    "nan": CSV.encode() + b"a,nan\n",
    "infinite": CSV.encode() + b"a,-inf\n",
    "underscore": CSV.encode() + b"a,0_1\n",
    "digits of others": f"{CSV}a,{DIGITS}\n".encode(),
    "no quote at the end": CSV.encode() + b'a,"0.5\n',
    "bytes": CSV.encode() + b"a\xff\xfe,0.5\n",
    "null characters": CSV.encode() + b"a\x00,\x000.5\n",
    "huge number": CSV.encode() + b"a,1e999\n",
    "many digits": CSV.encode() + b"a," + b"9" * 5000 + b"\n",
    "huge cell": CSV.encode() + b"a," + b"0" * 600_000 + b".5\n",
    "control characters": f"arm,{CONTROL}\na,0.5\n".encode(),
    "markup": f"arm,{MARKUP}\na,0.5\n".encode(),
    "hexadecimal": CSV.encode() + b"a,0x1p-1\n",
}
BROKEN_JSONL = {
    "no objects": b"[1, 2]\n",
    "no JSON": b'{"arm": "a", "reward": 0.5\n',
    "no reward": b'{"arm": "a"}\n',
    "twice": b'{"arm": "a", "arm": "bb", "reward": 0.5}\n',
    "nan": b'{"arm": "a", "reward": NaN}\n',
    "many digits": b'{"arm": "a", "reward": ' + b"9" * 5000 + b"}\n",
    "text": b'{"arm": "a", "reward": "0_1"}\n',
    "digits of others": f'{{"arm": "a", "reward": "{DIGITS}"}}\n'.encode(),
    "list": b'{"arm": "a", "reward": [0.5]}\n',
    "arm as a list": b'{"arm": ["a"], "reward": 0.5}\n',
    "arm as an object": b'{"arm": {"a": 1}, "reward": 0.5}\n',
    "nobody": b'{"arm": "nobody\\u001b[2J", "reward": 0.5}\n',
    "half": b'{"arm": "\\ud83d", "reward": 0.5}\n',
    "worker as an object": b'{"arm": "a", "reward": 0.5, "worker": {}}\n',
    "worker with a null": b'{"arm": "a", "reward": 0.5, "worker": "a\\u0000b"}\n',
    "late": b'{"arm": "a", "reward": 0.5, "told_at": "99999-01-01"}\n',
    "failed how": b'{"arm": "a", "reward": 0.5, "failed": "perhaps"}\n',
    "deep": b'{"arm": "a", "reward": ' + b"[" * 100_000 + b"}\n",
    "bytes": b'{"arm": "a\xff", "reward": 0.5}\n',
    "long line": b'{"arm": "a", "reward": 0.5, "more": "' + b"x" * 700_000 + b'"}\n',
}
BROKEN_JSON = {
    "empty": b"",
    "no object": b"[]",
    "cut": json.dumps(INSTANCE).encode()[:-5],
    "nan": json.dumps({**INSTANCE, "reward_range": [float("nan"), 1]}).encode(),
    "deep": b"[" * 100_000,
    "many digits": b'{"reward_range": [0, ' + b"9" * 5000 + b'], "arms": []}',
    "bytes": b'{"name": "\xff"}',
    "twice": b'{"arms": [], "arms": []}',
    "control characters": json.dumps({**INSTANCE, "name": CONTROL}).encode(),
    "one arm": json.dumps({**INSTANCE, "arms": INSTANCE["arms"][:1]}).encode(),  # type: ignore[index]
}
STUDY = '[study]\nreward_range = [0, 1]\nbudget = 4\n{}\n[arms]\na = "echo 0.5"\nbb = ["echo", "0.25"]\n'
GOOD_TOML = {
    "plain": STUDY.format("").encode(),
    "elapsed": b'[study]\nreward = "elapsed"\ntimeout = 5\nbudget = 4\n[arms]\na = "true"\nbb = "true"\n',
    "words": STUDY.format('name = "words"\nretries = 0\nseed = 3\ntimeout = 9.5\nin_order = true').encode(),
}
# Lines that are wrong in a study file, one by one.
BROKEN_LINES = r"""
timeout = -1
timeout = nan
timeout = true
timeout = "5"
reward = "nope"
retries = -1
retries = true
retries = 1.5
seed = -1
seed = true
seed = "1"
in_order = "no"
in_order = 1
name = ""
name = 5
name = "a\u001b[2J"
storage = 5
storage = "x"
storage = "postgresql://me:secret@host/x"
cwd = "missing"
cwd = "a\u0000b"
cwd = 5
budget = 5
epsilon = nan
delta = 0.1
rho = -1
risk = 5
risk = "nope"
policy = "nope"
policy = 5
nope = 1
"a\u001b[2J" = 1
[nope]
failure = "nope"
failure = 5
expired = 5
expired = "fail"
noise = "gaussian"
max_trials = 1979-05-27
max_trials = 99999999999999999999999999999999999999999999999999999999
alpha = []
"""
BROKEN_TOML = {
    **{line: STUDY.format(line).encode() for line in BROKEN_LINES.split("\n") if line},
    "many digits": STUDY.format(f"max_trials = {'9' * 5000}").encode(),
    "empty": b"",
    "no arms": b"[study]\nbudget = 4\nreward_range = [0, 1]\n",
    "one arm": b'[study]\nbudget = 4\nreward_range = [0, 1]\n[arms]\na = "echo 1"\n',
    "no study": b'[arms]\na = "echo 1"\nb = "echo 2"\n',
    "no range": b'[study]\nbudget = 4\n[arms]\na = "echo 1"\nb = "echo 2"\n',
    "no command": STUDY.format("").encode() + b'c = ""\n',
    "numbers": STUDY.format("").encode() + b"c = 5\n",
    "no words": STUDY.format("").encode() + b"c = []\n",
    "mixed words": STUDY.format("").encode() + b'c = ["echo", 5]\n',
    "nothing there": STUDY.format("").encode() + b'c = ["./nothing-there"]\n',
    "no name": STUDY.format("").encode() + b'"" = "echo 1"\n',
    "bytes": b"[study]\nname = '\xff'\n",
    "deep": b"[study]\nx = " + b"[" * 100_000,
    "no TOML": b"[study\n",
    "twice": b"[study]\n[study]\n",
    "range": b'[study]\nbudget = 4\nreward_range = [1, 0]\n[arms]\na = "echo 1"\nb = "echo 2"\n',
}
ODD_TOML = {
    "fails": STUDY.format("retries = 1").encode() + b'c = "false"\n',
    "prints nothing": STUDY.format("retries = 0").encode() + b'c = "true"\n',
    "prints control characters": STUDY.format("retries = 0").encode() + b"c = 'printf \"\\033[2J\"'\n",
    "prints bytes": STUDY.format("retries = 0").encode() + b"c = 'printf \"\\377\\n\"; exit 3'\n",
    "prints underscores": STUDY.format("retries = 0").encode() + b'c = "echo 0_1"\n',
    "too much": STUDY.format("retries = 0").encode() + b'c = "echo 5"\n',
    "slow": STUDY.format("retries = 0\ntimeout = 0.05").encode() + b'c = "sleep 5"\n',
    "worst": STUDY.format('failure = "worst"').encode() + b'c = "false"\n',
    "strange names": STUDY.format("").encode() + rb'"a\u001b[2J" = "echo 1"' + b"\n",
}


class World:
    """A folder to copy for each case, with what is in its store."""

    def __init__(self, folder: Path) -> None:
        self.template = folder / "template"
        self.template.mkdir(parents=True)
        self.place = folder / "case"
        (self.template / "folder").mkdir()
        for name, content in {
            "good.csv": CSV.encode(),
            "good.jsonl": JSONL.encode(),
            "good.csv.gz": gzip.compress(CSV.encode()),
            "cut.csv.gz": gzip.compress(CSV.encode())[:-9],
            "broken.csv": BROKEN_CSV["no number"],
            "broken.jsonl": BROKEN_JSONL["no JSON"],
            "broken.json": BROKEN_JSON["cut"],
            "mine.json": json.dumps(INSTANCE).encode(),
            "text.txt": b"a\nbb\n",
            "bytes.bin": bytes(range(256)) * 20,
        }.items():
            (self.template / name).write_bytes(content)
        url = f"sqlite:///{self.template / STORE}"
        with Study.create(
            "models", ["a", "bb"], storage=url, reward_range=(0, 1), budget=12, retries=1, seed=1
        ) as study:
            for _ in range(3):
                study.tell(study.ask()[0], 0.5)
            study.fail(study.ask()[0], "it rains")
            self.pulls = [pull.id for pull in study.ask(3, worker="w")]
            self.answered = study.ask()[0].id
            study.tell(self.answered, 0.5)
        with Study.create("done", ["a", "bb"], storage=url, reward_range=(0, 1), budget=6) as study:
            study.import_csv(self.template / "good.csv")
        Study.create("gauss", ["a", "bb"], storage=url, noise="gaussian", epsilon=0.5, failure="retry").close()
        Study.create(MARKUP, ["a", CONTROL], storage=url, reward_range=(0, 1), budget=9, failure="worst").close()
        self.rows = self.read_rows(self.template / STORE)

    def renew(self) -> Path:
        """The folder as it is at the beginning."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.template, self.place)
        os.mkfifo(self.place / "fifo")
        return self.place

    def files(self) -> dict[str, bytes]:
        """All files of the case but the store."""
        found = (path for path in self.place.rglob("*") if path.is_file() and not path.name.startswith(STORE))
        return {str(path.relative_to(self.place)): path.read_bytes() for path in found}

    def store(self) -> dict[str, list[Any]]:
        """All that is in the store of the case."""
        return self.read_rows(self.place / STORE)

    @staticmethod
    def read_rows(path: Path) -> dict[str, list[Any]]:
        connection = sqlite3.connect(path)
        try:
            tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
            return {table: sorted(connection.execute(f'select * from "{table}"'), key=repr) for table in tables}
        finally:
            connection.close()
