"""Where a study is worked on: `Study` checks what it is given, and a desk does it.

`LocalDesk` has the study's store before it; behind a `RemoteDesk` is a server that has. What goes over a desk is
checked already, so that errors in what was given are the same wherever a study is kept.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ramgape.search.result import Result, Stopped
from ramgape.storage import Store
from ramgape.studies.entries import Told, Trial
from ramgape.studies.exchange import Pull, Request
from ramgape.studies.files import ImportedRow, write_rows
from ramgape.studies.pull_ids import PullId
from ramgape.studies.report import Report
from ramgape.studies.specification import StudySpec
from ramgape.studies.spool import Spool
from ramgape.trials.progress import Progress

if TYPE_CHECKING:
    from ramgape.trials.watching import Watcher


class Observed(NamedTuple):
    """An observation, and the seed of its trial, if that was asked for."""

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


class Desk(ABC):
    """All that a study asks of where it is kept; every method that changes something is one transaction."""

    storage: str | Store  # as it was given
    _placed: tuple[StudySpec | None, dict[str, int]] = None, {}

    @property
    @abstractmethod
    def name(self) -> str:
        """Of the study."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is, for messages: without a password."""

    @property
    @abstractmethod
    def spec(self) -> StudySpec:
        """What the study is to do, as far as is known here."""

    @property
    @abstractmethod
    def durable(self) -> bool:
        """Whether the study outlasts this process."""

    @property
    @abstractmethod
    def patience(self) -> float:
        """For how many seconds its store is worth waiting for."""

    @property
    def places(self) -> dict[str, int]:
        """The numbers of arms by their names, without those that are retired."""
        spec = self.spec
        if self._placed[0] is not spec:
            retired = set(spec.retired)
            self._placed = spec, {name: at for at, name in enumerate(spec.search.names) if name not in retired}
        return self._placed[1]

    @abstractmethod
    def exchange(
        self,
        told: Sequence[Told],
        failed: Sequence[tuple[PullId, str]],
        given_back: Sequence[PullId],
        lost: Sequence[PullId],
        request: Request,
    ) -> tuple[list[bool], list[Pull], bool]:
        """What of that which is given was accepted, the next pulls, and whether the goal is reached."""

    @abstractmethod
    def leave(self, worker: str) -> int:
        """Give back what a worker has open; how many pulls that were."""

    @abstractmethod
    def renew(self, pull_ids: Sequence[PullId], seconds: float) -> list[bool]:
        """Begin leases anew; which of the pulls are still the caller's."""

    @abstractmethod
    def retry(self) -> int:
        """Make available what was given up; how many pulls that are."""

    @abstractmethod
    def observe(self, trials: Sequence[Trial]) -> bool:
        """Take in trials made elsewhere, one after the other; whether the goal is reached."""

    @abstractmethod
    def take_in(self, spool: Spool) -> None:
        """Take in a batch of trials made elsewhere."""

    @abstractmethod
    def extend(self, asked: Mapping[str, Any]) -> bool:
        """Ask for more; whether there is something to try."""

    @abstractmethod
    def add_arm(self, name: str, price: float | None) -> bool:
        """One more arm; whether there is something to try."""

    @abstractmethod
    def retire(self, name: str) -> bool:
        """One arm less; whether there is something to try."""

    @abstractmethod
    def is_done(self) -> bool:
        """Whether the goal is reached."""

    @abstractmethod
    def result(self, ended: Stopped, expect: bool) -> Result:
        """What is known by now."""

    @abstractmethod
    def report(self, expect: bool, history: bool) -> Report:
        """What is known by now, and how the study is going."""

    @abstractmethod
    def progress(self) -> Progress:
        """How far it is, as far as is known here."""

    @abstractmethod
    def show(self, watcher: Watcher) -> None:
        """Tell somebody who watches where the search stands, as far as is known here."""

    @abstractmethod
    def observations(self) -> Iterator[Observed]:
        """All observations there are by now, in their order."""

    def export(self, path: str | os.PathLike[str] | IO[str], form: str) -> int:
        """Write all observations into a file, or to a stream; how many they are."""
        return write_rows(path, form, lambda: (seen.row for seen in self.observations()))

    @abstractmethod
    def failures(self) -> list[FailedAttempt]:
        """All attempts that failed."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what it holds; it opens again when it is needed."""
