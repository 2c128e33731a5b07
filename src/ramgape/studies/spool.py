"""Trials on their way into a study, on disk: a file of any size is read and checked before anybody is locked out."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from types import TracebackType

from ramgape.studies.ledger import Trial

IN_MEMORY = 8 * 2**20  # bytes; what is larger goes into a temporary file


class Spool:
    """Chunks of trials, read back in their order."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed at the end of its own context
        self.count = 0

    def add(self, trials: list[Trial]) -> None:
        """Put a chunk behind the others."""
        pickle.dump([tuple(trial) for trial in trials], self._file, pickle.HIGHEST_PROTOCOL)
        self.count += len(trials)

    def __iter__(self) -> Iterator[list[Trial]]:
        self._file.seek(0)
        read = 0
        while read < self.count:
            chunk = [Trial._make(values) for values in pickle.load(self._file)]
            read += len(chunk)
            yield chunk

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
