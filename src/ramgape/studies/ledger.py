"""What happens to the pulls of a study: handed out, answered, failed, given up.

The ledger is the state of one study in memory, and knows neither stores nor clocks. Its methods change it and note in
`changes` what a store has to write; `catch_up` takes in what others have written. Each of them first checks and then
changes, so that an error leaves everything as it was.

    ask ──> under way ──tell──> observed
              │   │
              │   └─ lease runs out, give_back ──> available ──ask──> under way, as a further attempt
              └─ fail ──> available, or given up after too many failures ──retry──> available

The first answer to a pull wins, whichever attempt it comes from; a pull is answered once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.engine import Engine
from ramgape.errors import BudgetSpent, ChangedAnswer, FailingArm, UnknownPull, shorten
from ramgape.storage.records import Changes, FailureRow, ObservationRow, PullRow, StudyRow
from ramgape.studies.specification import StudySpec
from ramgape.studies.tickets import write_ticket

Ticket = tuple[int, int]  # number of a pull and attempt
FindAnswer = Callable[[int], tuple[int, float] | None]  # of a pull that is not open: who answered, and what

AVAILABLE = 0.0  # a lease that ran out long ago


class Trial(NamedTuple):
    """A trial made elsewhere."""

    arm: int
    reward: float
    failed: bool = False
    worker: str | None = None
    told_at: float | None = None
    origin: str | None = None


class Ledger:
    """One study: its search, its open pulls, and what has changed since it was last written."""

    def __init__(self, spec: StudySpec, row: StudyRow) -> None:
        self.spec = spec
        self.engine = Engine(spec.search)
        self.start = row._replace(revision=0, asked=0, told=0, failed=0, stopped_at=None, decision="")
        self._fixed = tuple(row[:5])
        self.revision = self.asked = self.told = self.failed = 0
        self.stopped_at: int | None = None
        self.open: dict[int, PullRow] = {}
        self.given_up = 0
        self.changes = Changes()
        self._by_worker: dict[str, set[int]] = {}
        self._earliest = math.inf  # no lease runs out before that
        self._decision: tuple[int, ...] = ()
        self._decision_text = ""

    # --- what stands in it -----------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the goal is reached, or the last pull made."""
        return self.stopped_at is not None

    @property
    def pending(self) -> int:
        """Pulls under way."""
        return len(self.open) - self.given_up

    @property
    def late(self) -> int:
        """Observations that came after the end: recorded, but not part of the answer."""
        return 0 if self.stopped_at is None else self.told - self.stopped_at

    def row(self) -> StudyRow:
        """What a store has to keep of it, beside the changes."""
        decision = self.engine.decision
        if decision != self._decision:
            self._decision = decision
            self._decision_text = json.dumps([int(value) for value in decision])
        counters = (self.revision, self.asked, self.told, self.failed, self.stopped_at, self._decision_text)
        return StudyRow._make(self._fixed + counters)

    # --- pulls -----------------------------------------------------------------------------------------------------

    def ask(
        self, count: int, worker: str | None, lease: float, now: float, known: Set[int] = frozenset()
    ) -> list[PullRow]:
        """Up to so many pulls: the worker's own open ones, then those whose lease ran out, then new ones.

        Fewer, if those that it has may be all it takes. But one at least: pulls of others may never come back. The
        numbers of those that it knows it has are left out.
        """
        if self.done:
            return []
        until = now + lease
        given = []
        if worker is not None:
            for number in sorted(self._by_worker.get(worker, set()) - known)[:count]:
                given.append(self._change(self.open[number]._replace(lease_until=until)))
        expired = [pull for pull in self._expired(now) if pull.number not in known]
        for pull in expired[: count - len(given)]:
            again = pull._replace(attempt=pull.attempt + 1, worker=worker, lease_until=until)
            given.append(self._change(again))
        while len(given) < count and not ((given or known) and self.engine.is_enough()):
            arm = self.engine.ask()
            if arm is None:
                break
            if self.given_up and any(pull.given_up and pull.arm == arm for pull in self.open.values()):
                if given or known:
                    break
                raise FailingArm(self.spec.search.names[arm])
            self.engine.reserve(arm)
            pull = PullRow(self.asked, arm, 1, worker, until, 0, 0, False)
            self.asked += 1
            self._enter(pull)
            self.changes.new_pulls.append(pull)
            given.append(pull)
        return given

    def ask_ahead(self, worker: str | None, lease: float, now: float) -> PullRow | None:
        """What `ask` would give next, if that is a new pull; it may be withdrawn as if it had never been asked."""
        if self.given_up or self._by_worker.get(worker or "") or self._expired(now):
            return None
        given = self.ask(1, worker, lease, now)
        return given[0] if given else None

    def tell(self, answers: Sequence[tuple[Ticket, float]], now: float, find_answer: FindAnswer) -> list[bool]:
        """Take in answers, all or, if there is an error in one, none; tells which were accepted."""
        accepted, rows = [], []
        fresh: dict[int, tuple[int, float]] = {}
        room = self._room() if self.given_up else 0
        for (number, attempt), reward in answers:
            pull = self.open.get(number)
            earlier = fresh.get(number) if pull is not None else find_answer(number)
            if earlier is not None:
                if earlier[0] == attempt and earlier[1] != reward:
                    text = self.write_ticket(number, attempt)
                    raise ChangedAnswer(
                        f"the reward of pull {text} must be {earlier[1]!r}, as it was told before, got {reward!r}"
                    )
                accepted.append(earlier[0] == attempt)
                continue
            if pull is None or attempt > pull.attempt:
                raise self._unknown(number, attempt)
            fits = not pull.given_up or room > 0  # what was given up may have been replaced
            room -= pull.given_up
            accepted.append(fits)
            if fits:
                worker = pull.worker if attempt == pull.attempt else None
                rows.append(ObservationRow(number, attempt, pull.arm, reward, False, worker, now))
                fresh[number] = (attempt, reward)
        for number in fresh:
            self._close(self.open[number])
        self._observe(rows)
        return accepted

    def fail(self, ticket: Ticket, reason: str, now: float, find_answer: FindAnswer) -> bool:
        """An attempt has failed. False if that makes no difference: the pull is answered, or with somebody else."""
        number, attempt = ticket
        pull = self._open_pull(ticket, find_answer)
        if pull is None:  # told again, perhaps, after a lost reply
            return self.spec.failure == "worst" and find_answer(number) == (attempt, self.spec.worst_reward)
        if pull.attempt != attempt:
            return False
        if pull.failed_attempt == attempt:
            return True
        self.failed += 1
        self.changes.failures.append(FailureRow(number, attempt, pull.arm, pull.worker, reason, now))
        if self.spec.failure == "worst":
            self._close(pull)
            self._observe([ObservationRow(number, attempt, pull.arm, self.spec.worst_reward, True, pull.worker, now)])
            return True
        failures = pull.failures + 1
        given_up = failures > self.spec.retries
        if given_up:
            self.engine.release(pull.arm)
        changed = {"lease_until": AVAILABLE, "failures": failures, "failed_attempt": attempt, "given_up": given_up}
        self._change(pull._replace(worker=None, **changed))  # type: ignore[arg-type]
        return True

    def give_back(self, ticket: Ticket, find_answer: FindAnswer) -> bool:
        """Whoever has a pull will not make it; it is available again at once."""
        pull = self._open_pull(ticket, find_answer)
        if pull is None or pull.attempt != ticket[1] or pull.given_up:
            return False
        self._change(pull._replace(worker=None, lease_until=AVAILABLE))
        return True

    def leave(self, worker: str) -> int:
        """A worker makes none of the pulls that it has; they are available at once. Returns how many they are."""
        held = sorted(self._by_worker.get(worker, ()))
        for number in held:
            self._change(self.open[number]._replace(worker=None, lease_until=AVAILABLE))
        return len(held)

    def renew(self, tickets: Iterable[Ticket], lease: float, now: float) -> list[bool]:
        """Whoever has these pulls is still at work; tells which of them are still theirs."""
        renewed = []
        for number, attempt in tickets:
            pull = self.open.get(number)
            held = pull is not None and pull.attempt == attempt and not pull.given_up and pull.lease_until > AVAILABLE
            renewed.append(held)
            if held:
                assert pull is not None
                self._change(pull._replace(lease_until=now + lease))
        return renewed

    def retry(self) -> int:
        """Make what was given up available again, as if it had never failed; returns how many pulls that were."""
        again = sorted(pull for pull in self.open.values() if pull.given_up)[: max(self._room(), 0)]
        for pull in again:
            self.engine.reserve(pull.arm)
            self._change(pull._replace(failures=0, given_up=False, lease_until=AVAILABLE))
        return len(again)

    def withdraw(self, pull: PullRow) -> None:
        """Take a pull back that nobody has seen, unless somebody else has it by now."""
        if self.open.get(pull.number) == pull:
            self._close(pull)

    def observe(self, trials: Sequence[Trial], now: float) -> None:
        """Take in trials made elsewhere, all or none."""
        if self.spec.search.budget is not None and len(trials) > self._room():
            free = max(self._room(), 0)
            raise BudgetSpent(
                f"the budget of {self.spec.search.budget:,} pulls has room for {free:,} more ({self.told:,} are told, "
                f"{self.pending:,} under way), got {len(trials):,}"
            )
        self._observe(
            [
                ObservationRow(
                    None, 0, trial.arm, trial.reward, trial.failed, trial.worker, trial.told_at or now, trial.origin
                )
                for trial in trials
            ]
        )

    def _room(self) -> int:
        """How many more observations the limit allows, beside the pulls under way."""
        return self.spec.search.limit - self.told - self.pending

    def _open_pull(self, ticket: Ticket, find_answer: FindAnswer) -> PullRow | None:
        """The pull of a ticket; None if it is answered."""
        number, attempt = ticket
        pull = self.open.get(number)
        if pull is None and find_answer(number) is not None:
            return None
        if pull is None or attempt > pull.attempt:
            raise self._unknown(number, attempt)
        return pull

    def write_ticket(self, number: int, attempt: int) -> str:
        """The name of an attempt at a pull."""
        return write_ticket(self.start.key, number, attempt)

    def _unknown(self, number: int, attempt: int) -> UnknownPull:
        text = self.write_ticket(number, attempt)
        return UnknownPull(f"pull must be one that study {shorten(self.start.name)} has handed out, got {text!r}")

    def _observe(self, rows: list[ObservationRow]) -> None:
        """Add observations; those that come after the end are no part of the answer."""
        if len(rows) == 1 and self.stopped_at is None:
            self.engine.tell(rows[0].arm, rows[0].reward)
            used = 1
        elif rows and self.stopped_at is None:
            arms = np.array([row.arm for row in rows], dtype=np.int64)
            used = self.engine.learn_many(arms, np.array([row.reward for row in rows], dtype=np.float64))
        else:
            used = 0
        if used and self.engine.stopped:
            self.stopped_at = self.told + used
        self.told += len(rows)
        self.changes.observations += rows

    # --- the books -------------------------------------------------------------------------------------------------

    def _put(self, pull: PullRow) -> None:
        """Write an open pull down, in place of what was known of it."""
        self._forget(pull.number)
        self._enter(pull)

    def _enter(self, pull: PullRow) -> None:
        self.open[pull.number] = pull
        if pull.given_up:
            self.given_up += 1
            return
        self._earliest = min(self._earliest, pull.lease_until)
        if pull.worker is not None:
            self._by_worker.setdefault(pull.worker, set()).add(pull.number)

    def _forget(self, number: int) -> None:
        pull = self.open.pop(number, None)
        if pull is None:
            return
        self.given_up -= pull.given_up
        held = self._by_worker.get(pull.worker) if pull.worker is not None else None
        if held is not None:
            held.discard(number)
            if not held:
                del self._by_worker[pull.worker]  # type: ignore[arg-type]

    def _change(self, pull: PullRow) -> PullRow:
        self._put(pull)
        self.changes.changed_pulls.append(pull)
        return pull

    def _close(self, pull: PullRow) -> None:
        """An open pull is one no longer."""
        self._forget(pull.number)
        if not pull.given_up:
            self.engine.release(pull.arm)
        self.changes.answered_pulls.append(pull.number)

    def _expired(self, now: float) -> list[PullRow]:
        """The pulls that are available, oldest first."""
        if now < self._earliest:
            return []
        under_way = [pull for pull in self.open.values() if not pull.given_up]
        found = sorted(pull for pull in under_way if pull.lease_until <= now)
        if not found:
            self._earliest = min((pull.lease_until for pull in under_way), default=math.inf)
        return found

    # --- others ----------------------------------------------------------------------------------------------------

    def catch_up(
        self, row: StudyRow, pulls: Iterable[PullRow], arms: NDArray[np.int64], rewards: NDArray[np.float64]
    ) -> None:
        """Take in what others have written: the present counters, all open pulls, and the observations since `told`."""
        if self.stopped_at is None:
            self._learn(row, arms, rewards)
        self.revision, self.asked, self.told, self.failed = row.revision, row.asked, row.told, row.failed
        self.stopped_at = row.stopped_at
        if row.decision:
            self.engine.decision = json.loads(row.decision)
        for pull in list(self.open.values()):
            self._forget(pull.number)
            if not pull.given_up:
                self.engine.release(pull.arm)
        self._earliest = math.inf
        for pull in pulls:
            self._put(pull)
            if not pull.given_up:
                self.engine.reserve(pull.arm)

    def _learn(self, row: StudyRow, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """All observations up to the end, if there is one.

        Where it came is known. It is not for the stopping rule to say again: a rule that pulls two arms a round heeds
        it only between rounds, and where the rounds ended is not written down.
        """
        if row.stopped_at is None:
            self.engine.learn_many(arms, rewards, heed=False)
            return
        used = row.stopped_at - self.told
        self.engine.learn_many(arms[: used - 1], rewards[: used - 1], heed=False)
        self.engine.learn_many(arms[used - 1 : used], rewards[used - 1 : used])
        self.engine.end()
