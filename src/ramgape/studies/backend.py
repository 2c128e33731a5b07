"""What `Study` finds behind itself: a storage that this process has open, or a server that has one.

`LocalBackend` and `RemoteBackend` have the same methods. A method that changes something is one transaction. Arguments
are checked before they come here, so that errors are the same wherever a study is kept.
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.storage import Store
from ramgape.studies.files import ImportedRow
from ramgape.studies.specification import StudySpec


class Observed(NamedTuple):
    """An observation, and the seed of its trial if the study asked for it."""

    row: ImportedRow
    seed: int | None


class FailedAttempt(NamedTuple):
    """An attempt that failed."""

    pull: str
    arm: str
    worker: str | None
    reason: str
    failed_at: float
    seed: int


class Backend:
    """What both backends share."""

    storage: str | Store  # as the caller gave it
    _placed: tuple[StudySpec | None, dict[str, int]] = None, {}

    @property
    def spec(self) -> StudySpec:
        """What the study is to do, as far as this process knows."""
        raise NotImplementedError

    @property
    def places(self) -> dict[str, int]:
        """The numbers of the arms by their names, without retired arms."""
        spec = self.spec
        if self._placed[0] is not spec:
            retired = set(spec.retired)
            self._placed = spec, {name: at for at, name in enumerate(spec.search.names) if name not in retired}
        return self._placed[1]

    def workers(self) -> list[str]:
        """The workers that have open trials, as far as it can be known here."""
        return []
