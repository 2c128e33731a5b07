"""The outcomes of jobs on disk, so that an interrupted report goes on where it was.

A file appears under its name only when it is complete (written elsewhere in the folder, then renamed), and it is taken
for a result only if it can be read and states the very job that is looked for: the same work, code and libraries.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

import ramgape
from ramgape.common.whole_files import replacing
from ramgape.core.kernel import PACKAGE
from ramgape.paper.jobs import Job, Outcome

# All that numbers can depend on, data included; texts, figures and stores may change without computing anything again.
NUMBERS = (
    "bounds",
    "common/checks.py",
    "common/files.py",
    "common/integration.py",
    "common/parsing.py",
    "common/proportions.py",
    "common/special.py",
    "common/whole_files.py",
    "core",
    "engines",
    "noises.py",
    "options.py",
    "paper/jobs.py",
    "paper/statistics.py",
    "planning/alternatives.py",
    "planning/lower_bound.py",
    "policies",
    "problems",
    "registry.py",
    "risks",
    "search",
    "tasks",
)


class ResultCache:
    """A folder of outcomes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._seen: dict[Path, Outcome] = {}  # what has been read or written once

    def load(self, job: Job) -> Outcome | None:
        """The outcome of a job, or None if it is not there, or not whole, or of other code."""
        path, name = self._place(job)
        if path not in self._seen:
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                if content["identity"] != name:
                    return None
                self._seen[path] = content["outcome"]
            except (OSError, ValueError, KeyError, TypeError):
                return None
        return self._seen[path]

    def save(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome."""
        path, name = self._place(job)
        write_whole(path, json.dumps({"identity": name, "outcome": outcome}))
        # As it would be read again: the first report must not show what a later one would not.
        self._seen[path] = json.loads(json.dumps(outcome))

    def _place(self, job: Job) -> tuple[Path, dict[str, Any]]:
        name = identity(job)
        digest = hashlib.sha256(json.dumps(name, sort_keys=True).encode()).hexdigest()
        return self.folder / f"{job.kind}-{digest[:24]}.json", name


def identity(job: Job) -> dict[str, Any]:
    """All that the outcome is a function of."""
    described: dict[str, Any] = json.loads(json.dumps({"kind": job.kind, "arguments": job.arguments}))
    return {**described, **makers()}


@functools.cache
def makers() -> dict[str, Any]:
    """The libraries, and a digest of the sources and data that numbers can depend on."""
    digest = hashlib.sha256()
    for file in sources():
        digest.update(file.relative_to(PACKAGE).as_posix().encode())
        digest.update(file.read_bytes())
    libraries = {"ramgape": ramgape.__version__, "numpy": np.__version__, "numba": numba.__version__}
    return {"libraries": libraries, "code": digest.hexdigest()}


def sources() -> Iterator[Path]:
    """The files that numbers can depend on, always in the same order."""
    for part in NUMBERS:
        path = PACKAGE / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in files if file.suffix in (".py", ".json"))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that whoever looks finds the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def unique(jobs: Iterable[Job]) -> list[Job]:
    """Each piece of work once, although several sections may want it."""
    seen: dict[str, Job] = {}
    for job in jobs:
        seen.setdefault(json.dumps([job.kind, job.arguments], sort_keys=True), job)
    return list(seen.values())
