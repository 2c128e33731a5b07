"""The open trials of a study: which worker has them, which leases ran out, which results wait for earlier ones."""

from __future__ import annotations

import math
from collections.abc import Set

from ramgape.search.estimands import counts_in_order
from ramgape.storage.records import PullRow
from ramgape.studies.specification import ASKING_ORDER, StudySpec
from ramgape.trials.asking import AskingOrder

AVAILABLE = 0.0  # a lease that ran out long ago
NOTED = 1e-12  # a lease that ran out, was counted as such, and was not given back


class OpenPulls:
    """Open pulls by their numbers, and lists of some of them.

    Args:
        spec: Of the study.
        retired: The arms that take no part in its search any more.
    """

    def __init__(self, spec: StudySpec, retired: Set[int]) -> None:
        self.pulls: dict[int, PullRow] = {}
        self.given_up = 0
        self.by_worker: dict[str, set[int]] = {}
        self.available: set[int] = set()  # trials that wait for a worker
        self.earliest = math.inf  # no other lease runs out before that
        self.order = AskingOrder() if spec.in_order else None
        # Scores are learnt in the order of their items: none is left out, not even one that was given up.
        self.strict = spec.search.items is not None
        self._moves = spec.first_format >= ASKING_ORDER and not counts_in_order(spec.search)
        self._retired = retired

    @property
    def held(self) -> int:
        """How many results wait for those of earlier trials."""
        return 0 if self.order is None else self.order.held

    @property
    def moved(self) -> dict[int, tuple[int, int]]:
        """The trials whose place in the order is not that of their number."""
        return {} if self.order is None else self.order.moved

    def enter(self, pull: PullRow) -> None:
        """Enter an open trial that is not entered at present."""
        self.pulls[pull.number] = pull
        if pull.given_up:
            self.given_up += 1
        elif pull.answer is not None:
            assert self.order is not None
            self.order.enter(pull.number, held=True)
        else:
            if pull.lease_until <= NOTED:
                self.available.add(pull.number)
            elif pull.lease_until < self.earliest:
                self.earliest = pull.lease_until
            if pull.worker is not None:
                self.by_worker.setdefault(pull.worker, set()).add(pull.number)
            if self.order is not None and pull.arm not in self._retired:
                self.order.enter(pull.number)

    def forget(self, number: int) -> PullRow | None:
        """Remove a trial; return what was known of it."""
        pull = self.pulls.pop(number, None)
        if pull is None:
            return None
        if pull.given_up:
            self.given_up -= 1
        elif pull.answer is not None:
            assert self.order is not None
            self.order.leave(number, held=True)
        else:
            self.available.discard(number)
            if self.order is not None and pull.arm not in self._retired:
                self.order.leave(number)
            held = self.by_worker.get(pull.worker) if pull.worker is not None else None
            if held is not None:
                held.discard(number)
                if not held:
                    del self.by_worker[pull.worker]  # type: ignore[arg-type]
        return pull

    def put(self, pull: PullRow, asked: int | None = None) -> None:
        """Replace what is known of a trial.

        Args:
            pull: As it is now.
            asked: If given, the trial is passed over: it counts as asked for after so many others, where places may
                change.
        """
        self.forget(pull.number)
        if asked is not None:
            self.move(pull.number, asked)
        self.enter(pull)

    def move(self, number: int, asked: int) -> None:
        """Give a trial that is not entered at present the last place among so many, where places may change."""
        if self.order is not None and self._moves:
            self.order.move(number, asked)

    def expired(self, clock: float) -> list[PullRow]:
        """The trials whose lease has run out since the last call, oldest first."""
        if clock < self.earliest:
            return []
        leased = [pull for pull in self.pulls.values() if not pull.given_up and pull.answer is None]
        leased = [pull for pull in leased if pull.lease_until > NOTED]
        self.earliest = min((pull.lease_until for pull in leased if pull.lease_until > clock), default=math.inf)
        return sorted((pull for pull in leased if pull.lease_until <= clock), key=lambda pull: pull.number)

    @property
    def forgotten(self) -> PullRow | None:
        """The trial that results of later ones wait for, if it has no lease or no named worker to come back for it."""
        first = None if self.order is None or not self.order.held else self.order.first
        pull = None if first is None else self.pulls[first]
        if pull is None or pull.lease_until <= NOTED:
            return None
        return pull if pull.worker is None or math.isinf(pull.lease_until) else None

    def must_wait(self, pull: PullRow) -> bool:
        """Whether the result of an open trial must wait for those of earlier ones."""
        if self.order is None or pull.arm in self._retired:
            return False
        if not self.order.is_next(pull.number):
            return True
        return self.given_up > 0 and self._first_given_up().get(pull.arm, math.inf) < pull.number

    def close(self, number: int) -> None:
        """Remove a completed trial."""
        self.forget(number)
        if self.order is not None:
            self.order.moved.pop(number, None)

    def ready(self, everything: bool) -> list[PullRow]:
        """The trials whose results need not wait any longer, in their order."""
        if self.order is None or not self.order.held:
            return []
        given_up = self._first_given_up()
        found = [self.pulls[number] for number in self.order.ready(everything and not self.strict)]
        return [pull for pull in found if given_up.get(pull.arm, math.inf) > pull.number]

    def _first_given_up(self) -> dict[int, int]:
        """By arm, the first trial that was given up, where later ones wait even for that."""
        found: dict[int, int] = {}
        if self.strict and self.given_up:
            for pull in self.pulls.values():
                if pull.given_up:
                    found[pull.arm] = min(pull.number, found.get(pull.arm, pull.number))
        return found
