"""The outcomes of jobs on disk, so that an interrupted report goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ramgape.paper.jobs import Job, Outcome
from ramgape.search.kept import KeptFiles, digest, identity


class ResultCache:
    """A folder of outcomes."""

    def __init__(self, folder: Path) -> None:
        self._files = KeptFiles.open(folder, "out")
        self._seen: dict[str, Outcome] = {}  # what has been read or written once

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self._files.folder

    def load(self, job: Job) -> Outcome | None:
        """The outcome of a job, or None if it is not there, or not whole, or of other code."""
        name, named = self._place(job)
        if name not in self._seen:
            outcome = self._files.load(name, named)
            if outcome is None:
                return None
            self._seen[name] = outcome
        return self._seen[name]

    def save(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome."""
        name, named = self._place(job)
        self._files.save(name, named, outcome)
        # As it would be read again: the first report must not show what a later one would not.
        self._seen[name] = json.loads(json.dumps(outcome))

    def _place(self, job: Job) -> tuple[str, dict[str, Any]]:
        named = identity(kind=job.kind, arguments=job.arguments)
        return f"{job.kind}-{digest(named)}", named


def unique(jobs: Iterable[Job]) -> list[Job]:
    """Each piece of work once, although several sections may want it."""
    seen: dict[str, Job] = {}
    for job in jobs:
        seen.setdefault(json.dumps([job.kind, job.arguments], sort_keys=True), job)
    return list(seen.values())
