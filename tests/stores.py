"""Stores on SQLite for tests: one with two studies in it, all that can be done with them, damage, copies."""

from __future__ import annotations

import io
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import RamgapeError, StorageError, Study
from ramgape.storage import upgrade
from ramgape.storage.backup import back_up
from ramgape.studies.checking import check_store
from tests.keyed import observe_once

# For tests that look into the store of a study, which a server has to itself.
HERE = pytest.mark.parametrize("storage", ["memory", "sqlite", "postgresql"], indirect=True)


def whole_store(folder: Path) -> bytes:
    """The bytes of a store with a study under way and one that is done."""
    file = folder / "studies.db"
    data = [("abc"[at % 3], (at * 7 % 11) / 11) for at in range(300)]
    options: dict[str, Any] = {"storage": f"sqlite:///{file}", "reward_range": (0, 1)}
    open_one: dict[str, Any] = {"budget": 900, "failure": "worst", "data": data}
    with Study.create("open", ["a", "b", "c"], **open_one, **options) as study:
        for pull in study.ask(20, worker="me"):
            study.tell(pull, 0.25)
        study.fail(study.ask(8, worker="you")[0], "broken")
        observe_once(study, "a key")
    with Study.create("done", ["x", "y"], budget=60, **options) as study:
        while not study.done:
            study.tell_many([(pull, 0.9 if pull.arm == "x" else 0.1) for pull in study.ask(20)])
    return file.read_bytes()


def use(file: Path) -> int:
    """Do everything that can be done with the two studies; how often that was refused. Any other error comes out."""
    url, refused = f"sqlite:///{file}?timeout=1", 0

    def attempt(what: Callable[[], Any]) -> Any:
        nonlocal refused
        try:
            return what()
        except StorageError:
            refused += 1
        except RamgapeError:  # the budget is spent, say
            pass

    attempt(lambda: ramgape.list_studies(url))
    attempt(lambda: check_store(url))
    attempt(lambda: upgrade(url))
    attempt(lambda: Study.create("new", ["a", "b"], storage=url, reward_range=(0, 1), budget=9).close())
    attempt(lambda: back_up(url, f"{file}.copy"))
    for name in ("open", "done"):
        study: Study | None = attempt(lambda name=name: Study.load(name, url))  # type: ignore[misc]
        if study is None:
            continue
        with study:
            attempt(lambda study=study: str(study.report()))  # type: ignore[misc]
            attempt(lambda study=study: study.export_csv(io.StringIO()))  # type: ignore[misc]
            for pull in attempt(lambda study=study: study.ask(2)) or []:  # type: ignore[misc]
                attempt(lambda study=study, pull=pull: study.tell(pull, 0.5))  # type: ignore[misc]
            attempt(lambda study=study: study.observe(study.arms[0], 0.5))  # type: ignore[misc]
            attempt(lambda study=study: observe_once(study, "a key"))  # type: ignore[misc]
    return refused


def damage(content: bytes, seed: int) -> bytes:
    """Flip bits, overwrite a part, or cut the end off."""
    generator, changed = random.Random(seed), bytearray(content)
    if seed % 3 == 0:
        for _ in range(generator.choice((1, 3, 20))):
            changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
    elif seed % 3 == 1:
        start, length = generator.randrange(len(changed)), generator.choice((1, 8, 64, 512))
        changed[start : start + length] = generator.randbytes(min(length, len(changed) - start))
    else:
        del changed[generator.randrange(len(changed)) :]
    return bytes(changed)


def copy_database(source: Path, target: Path) -> None:
    """As SQLite does it, also to and from files that are in use: they must not be copied like others."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
