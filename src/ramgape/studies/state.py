"""The state of a study in memory: its search, and its trials that were handed out, completed, failed or given up.

It knows neither storages nor clocks. Its methods change it and note in `changes` what a storage has to write;
`catch_up` takes in what other processes have written. Each method first checks and then changes, so an error leaves
everything as it was.

    ask ──> under way ──tell──> observed
              │   │   └─tell──> held, if the study is `in_order`, while earlier ones are under way ──> observed
              │   └─ lease runs out, give_back, lost ──> available ──ask──> under way, as a further attempt
              └─ fail ──> available, or given up after too many failures ──retry──> available

The first result of a trial counts, from whichever attempt. Results count in the order of asking, over all arms. A trial
whose attempt ends without a result is passed over: it counts as asked for at that moment (trials/asking.py says why).
With items or rounds, whose order is fixed, it keeps its place.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from operator import attrgetter
from typing import Any

from ramgape.errors import FailingArm, InvalidReward, UnknownPull, require, shorten
from ramgape.search.engine import Engine
from ramgape.search.single_outcome import make_engine
from ramgape.storage.checksums import next_chain
from ramgape.storage.records import (
    AnswerRow,
    BatchRow,
    Changes,
    FailureRow,
    Moment,
    ObservationRow,
    PullRow,
    SnapshotRow,
    StudyRow,
    pack_outcomes,
    unpack_outcomes,
)
from ramgape.studies.active import ActiveArms, require_money, retired_arms
from ramgape.studies.arrivals import RetiredArm
from ramgape.studies.blocks import KnownBlocks
from ramgape.studies.entries import (
    MOST_OUTCOMES,
    Results,
    Seen,
    Told,
    Trial,
    columns_of,
    held_answer,
    holding,
    measured_by,
    require_room,
    require_same,
)
from ramgape.studies.exchange import PullId, base_seed, new_token, write_pull_id
from ramgape.studies.open_pulls import AVAILABLE, NOTED, OpenPulls
from ramgape.studies.specification import ASKING_ORDER, StudySpec

VERSION = attrgetter("revision", "asked", "told", "failed", "withdrawn", "chain")
FindAnswer = Callable[[int], AnswerRow | None]  # of a pull that is not open: what was answered


class StudyState:
    """One study: its search, its open pulls, and what has changed since it was last written."""

    def __init__(self, spec: StudySpec, row: StudyRow) -> None:
        self.spec = spec
        self.engine = make_engine(spec.present, base_seed(spec.seed, row.key), keep=False)
        self.active: Engine | ActiveArms = ActiveArms(spec, self.engine) if spec.retired else self.engine
        self.retired = frozenset(map(spec.search.names.index, spec.retired)) if spec.retired else frozenset()
        self.name = row.name
        self._fixed = tuple(row[:5])
        self._row: StudyRow | None = None  # as it was last written
        self.revision = self.asked = self.told = self.failed = self.withdrawn = self.chain = self.batches = 0
        self.lost = 0
        self.stopped_at: int | None = None
        self._open = OpenPulls(spec, self.retired)
        self.open = self._open.pulls
        self.reclaimed = 0  # pulls that were handed out again here, since their leases had run out
        self.changes = Changes()
        self.blocks = KnownBlocks()
        # A study that began by older rules keeps to what older programs can read.
        self._notes = spec.first_format >= ASKING_ORDER
        self.expired: Counter[int] = Counter()  # by arm: leases that ran out before the answer
        self.lost_of: Counter[int] = Counter()  # by arm: attempts that went with the machine that made them
        self._measured = measured_by(spec.search)
        # Whether the search learns rewards, not outcomes by name.
        self.learns_rewards = getattr(spec.search, "outcomes", None) is None
        self.outcome_names: list[str] = []  # of all outcomes that trials have given
        self.certificate: dict[str, Any] | None = None  # what was certified at the end, as JSON has it
        self._batch: BatchRow | None = None

    def learn_many(self, seen: Seen, *, may_stop: bool) -> int:
        """Learn observations in their order, with their prices; return how many came before the end."""
        used = self.active.learn_many(seen.arms, seen.learned, may_stop=may_stop)
        if seen.prices is not None:
            self.active.pay(seen.arms[:used], seen.prices[:used])
        return used

    def add_up(self, seen: Seen) -> None:
        """Learn observations whose order means nothing, with their prices."""
        self.active.add_up(seen.arms, seen.learned)
        if seen.prices is not None:
            self.active.pay(seen.arms, seen.prices)

    @property
    def retired_arms(self) -> tuple[RetiredArm, ...]:
        """What is recorded of the arms that were retired."""
        return tuple(retired_arms(self.spec, self.active.gone)) if isinstance(self.active, ActiveArms) else ()

    # --- counts ------------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the goal is reached, or the last trial made."""
        return self.stopped_at is not None

    @property
    def held(self) -> int:
        """How many results wait for those of earlier trials."""
        return self._open.held

    @property
    def waits_for(self) -> tuple[str, str, str | None] | None:
        """The id, arm and worker of a trial that results of later ones wait for, and that may have been forgotten."""
        pull = self._open.forgotten
        if pull is None:
            return None
        return write_pull_id(pull.token, pull.number, pull.attempt), self.spec.search.names[pull.arm], pull.worker

    @property
    def given_up(self) -> int:
        """How many trials failed too often."""
        return self._open.given_up

    @property
    def pending(self) -> int:
        """How many trials are in progress."""
        return len(self.open) - self.given_up - self.held

    @property
    def late(self) -> int:
        """How many observations came after the end: they are recorded, but not part of the answer."""
        return 0 if self.stopped_at is None else self.told - self.stopped_at

    @property
    def version(self) -> tuple[int, ...]:
        """Counters that change with every change. Revisions alone repeat when a storage is restored from a copy."""
        return VERSION(self)

    def is_of(self, row: StudyRow) -> bool:
        """Whether nothing has been written since."""
        return row is self._row or self.version == VERSION(row)

    def row(self) -> StudyRow:
        """The row of the study, which a storage writes with the changes."""
        decision = self.stands(self.engine.decision)
        counters = (self.revision, self.asked, self.told, self.failed, self.stopped_at, decision)
        names = json.dumps(self.outcome_names) if self.outcome_names else ""
        values = (*self._fixed, *counters, self.withdrawn, self.chain, self.batches, self.lost, names)
        self._row = tuple.__new__(StudyRow, values)  # as StudyRow(*values), in half the time
        return self._row

    def stands(self, decision: Sequence[int] = ()) -> str:
        """Where a rule stands, and what else observations do not tell: places of pulls, what was replaced, and what
        was certified."""
        noted: dict[str, Any] = {}
        counts = (("expired", self.expired), ("lost", self.lost_of), ("moved", self._open.moved))
        for name, found in (*(counts if self._notes else ()), ("certificate", self.certificate)):
            if found:
                noted[name] = found
        return json.dumps({"rule": decision, **noted} if noted else decision) if noted or decision else ""

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> SnapshotRow | None:
        """What was learned from all observations; None if no snapshot can be made of it."""
        learned = None if self.spec.retired else self.engine.state_bytes()  # of retired arms it says nothing
        if learned is None:
            return None
        return SnapshotRow(self.told, self.chain, self.batches, self.stopped_at, self.engine.stamp, learned)

    def restore(self, snapshot: SnapshotRow) -> bool:
        """Begin with a snapshot, if it has the same format and specification; return whether it has."""
        if snapshot.stamp != self.engine.stamp:
            return False
        self.engine.restore(snapshot.state)
        self.told, self.chain = snapshot.told, snapshot.chain
        self.batches, self.stopped_at = snapshot.batches, snapshot.stopped_at
        return True

    # --- pulls -------------------------------------------------------------------------------------------------------

    def ask(
        self, count: int, worker: str | None, lease: float, known: Set[int], now: Moment, *, alone: bool = True
    ) -> list[PullRow]:
        """Hand out up to so many trials: the worker's own open ones, then those whose lease ran out, then new ones.

        Fewer are handed out if the trials in progress may suffice, but at least one, since those of others may never
        come back; and none if results that wait for earlier trials may suffice, since more would only wait with them.

        Args:
            count, worker, lease: As for `Study.ask`.
            known: Numbers of trials that the worker knows it has, which are left out.
            now: The present moment.
            alone: Whether nothing was reported in the same request. Then an arm that fails again and again is an error
                if there is nothing else to hand out.
        """
        self._note_expired(now)
        if self.done:
            return []
        until = now.clock + lease
        given = []
        if worker is not None:
            mine = sorted(self._open.by_worker.get(worker, set()) - known)
            for number in [number for number in mine if self.open[number].arm not in self.retired][:count]:
                given.append(self._change(self.open[number]._replace(lease_until=until)))
        if self._open.available:
            waiting = [self.open[number] for number in sorted(self._open.available - known)]
            waiting = [pull for pull in waiting if pull.arm not in self.retired]
            for pull in waiting[: count - len(given)]:
                self.reclaimed += pull.lease_until > AVAILABLE
                again = pull._replace(attempt=pull.attempt + 1, worker=worker, lease_until=until)
                given.append(self._change(again))
        while len(given) < count and not ((given or known or self.held) and self.engine.is_enough()):
            before = self.engine.decision if self.given_up else ()
            arm = self.active.ask()
            if arm is None:
                break
            if self.given_up and any(pull.given_up and pull.arm == arm for pull in self.open.values()):
                self.engine.decision = before  # it was not followed
                if given or known or not alone:
                    break
                raise FailingArm(what=self.spec.search.names[arm])
            item = self.active.item_of(arm) if self._open.strict else None
            self.active.reserve(arm)
            pull = PullRow(self.asked, arm, 1, worker, until, 0, 0, False, new_token(), item=item)
            self.asked += 1
            self._open.enter(pull)
            self.changes.new_pulls.append(pull)
            given.append(pull)
        return given

    def take_in(self, results: Results, now: Moment, find_answer: FindAnswer) -> list[bool]:
        """Take in what is reported; return for each, in this order, whether it was accepted."""
        accepted = self.tell(results.told, now, find_answer) if results.told else []
        for pull_id, reason in results.failed:
            accepted.append(self.fail(pull_id, reason, now, find_answer))
        for pull_ids, gone in ((results.given_back, False), (results.lost, True)):
            for pull_id in pull_ids:
                accepted.append(self.give_back(pull_id, find_answer, lost=gone))
        return accepted

    def tell(self, answers: Sequence[Told], now: Moment, find_answer: FindAnswer) -> list[bool]:
        """Take in results, all or, after an error, none; return for each whether it was accepted."""
        accepted = []
        fresh: dict[int, AnswerRow] = {}
        room, money = (self._room(), self.engine.money) if self._open.given_up else (0, 0.0)
        if self._measured is not None:
            self._require_names(told.outcomes for told in answers)
        for pull_id, reward, price, info, outcomes in answers:
            number, attempt = pull_id.number, pull_id.attempt
            pull = self._open_pull(pull_id, find_answer)
            earlier = fresh.get(number)
            if earlier is None and (pull is None or pull.answer is not None):
                earlier = find_answer(number) if pull is None else held_answer(pull)
            if earlier is not None:
                same = earlier.attempt == attempt
                if same and not earlier.failed:
                    require_same("reward", pull_id, earlier.reward, reward)
                    require_same("price", pull_id, earlier.price, price)
                    require_same("outcomes", pull_id, self._named(earlier.outcomes), outcomes)
                accepted.append(same and earlier.reward == reward and self._named(earlier.outcomes) == outcomes)
                continue
            assert pull is not None
            if pull.given_up:
                room, money = room - 1, money - self.active.price_of(pull.arm)
            fits = not pull.given_up or (room >= 0 and money >= 0.0)  # what was given up may have been replaced
            accepted.append(fits)
            if fits:
                packed = None if outcomes is None else self._packed(outcomes)
                fresh[number] = AnswerRow(attempt, reward, False, pull.token, price, info, packed)
        rows: list[ObservationRow] = []
        for number, answer in fresh.items():
            rows += self._answer(self.open[number], answer, now)
        self._observe(rows)
        self._note_expired(now)
        return accepted

    def fail(self, pull_id: PullId, reason: str, now: Moment, find_answer: FindAnswer) -> bool:
        """Note that an attempt failed. Return False if the trial is completed, or another worker has it."""
        pull = self._open_pull(pull_id, find_answer)
        if pull is None or pull.answer is not None:  # told again, perhaps, after a lost reply
            answer = find_answer(pull_id.number) if pull is None else held_answer(pull)
            return answer is not None and answer.failed and answer.attempt == pull_id.attempt
        if pull.attempt != pull_id.attempt:
            return False
        if pull.failed_attempt != pull_id.attempt:
            self._fail(pull, reason, now)
        return True

    def _fail(self, pull: PullRow, reason: str, now: Moment) -> None:
        """Count a failure of the present attempt."""
        self.failed += 1
        failure = FailureRow(pull.number, pull.attempt, pull.arm, pull.worker, reason, now.time, pull.token)
        self.changes.failures.append(failure)
        if self.spec.counts_failures:
            outcomes = None if self._measured is None else self._packed(self.spec.worst_outcomes)
            answer = AnswerRow(pull.attempt, self.spec.worst_reward, True, pull.token, outcomes=outcomes)
            self._observe(self._answer(pull, answer, now))
            return
        failures = pull.failures + 1
        given_up = failures > self.spec.retries
        if given_up:
            self.active.release(pull.arm)
        changed = {"lease_until": AVAILABLE, "failures": failures, "failed_attempt": pull.attempt, "given_up": given_up}
        self._pass_over([pull._replace(worker=None, **changed)])  # type: ignore[arg-type]

    def _note_expired(self, now: Moment) -> None:
        """Count the leases that have run out; pass over these trials, or fail them, as the study is specified."""
        if now.clock < self._open.earliest or self.stopped_at is not None:
            return
        expired = self._open.expired(now.clock)
        failed = [pull for pull in expired if self.spec.expired == "fail" and pull.arm not in self.retired]
        for pull in failed:
            if not self.done:
                self._fail(pull, "its lease ran out", now)
        passed = [pull for pull in expired if pull not in failed]
        self.expired.update(pull.arm for pull in passed)
        self._pass_over([pull._replace(lease_until=NOTED) for pull in passed])

    def _pass_over(self, pulls: Sequence[PullRow]) -> None:
        """Let trials whose attempts ended without a result count as asked for now, so that others need not wait."""
        for pull in pulls:
            self._open.put(pull, self.asked)
            self.changes.changed_pulls.append(pull)
        self._observe(self._released())

    def give_back(self, pull_id: PullId, find_answer: FindAnswer, *, lost: bool = False) -> bool:
        """Release trials, which are available again at once. Lost ones are counted, each once."""
        pull = self._open_pull(pull_id, find_answer)
        if pull is None or pull.attempt != pull_id.attempt or pull.given_up or pull.answer is not None:
            return False
        if lost and pull.lease_until > AVAILABLE:
            self.lost += 1
            self.lost_of[pull.arm] += 1
        self._pass_over([pull._replace(worker=None, lease_until=AVAILABLE)])
        return True

    @property
    def workers(self) -> list[str]:
        """The workers that have open trials."""
        return list(self._open.by_worker)

    def leave(self, worker: str) -> int:
        """Release the trials of a worker, which are available at once; return how many there were."""
        held = sorted(self._open.by_worker.get(worker, ()))
        self._pass_over([self.open[number]._replace(worker=None, lease_until=AVAILABLE) for number in held])
        return len(held)

    def renew(self, pull_ids: Iterable[PullId], lease: float, now: Moment) -> list[bool]:
        """Renew the leases of trials; returns which of them are still open."""
        renewed = []
        for token, number, attempt in pull_ids:
            pull = self.open.get(number)
            theirs = pull is not None and (pull.token, pull.attempt) == (token, attempt) and pull.answer is None
            theirs = theirs and not pull.given_up and pull.lease_until > AVAILABLE  # type: ignore[union-attr]
            renewed.append(theirs)
            if theirs:
                assert pull is not None
                self._change(pull._replace(lease_until=now.clock + lease))
        return renewed

    def retry(self) -> int:
        """Make trials that were given up available again, as if they had never failed; return how many."""
        again = 0
        for pull in sorted(pull for pull in self.open.values() if pull.given_up)[: max(self._room(), 0)]:
            if self.active.price_of(pull.arm) <= self.engine.money:
                self.active.reserve(pull.arm)
                self._pass_over([pull._replace(failures=0, given_up=False, lease_until=AVAILABLE)])
                again += 1
        return again

    def observe(self, trials: Sequence[Trial], now: Moment) -> None:
        """Take in trials made elsewhere, one after the other."""
        self._require_room(len(trials))
        self._require_names(trial.outcomes for trial in trials)
        require_money(self.active, self.engine.money, self.spec.search.spend, trials)
        self._observe([self._observation(trial, now) for trial in trials])

    # --- batches: trials made elsewhere, whose order means nothing ---------------------------------------------------

    def open_batch(self, count: int) -> None:
        """Begin a batch of so many trials made elsewhere."""
        self._require_room(count)
        self._batch = BatchRow(self.told, count)

    def add(self, trials: Sequence[Trial], now: Moment) -> None:
        """Add some of them. The goal is not checked before all are there."""
        self._require_names(trial.outcomes for trial in trials)
        require_money(self.active, self.engine.money, self.spec.search.spend, trials)
        rows = [self._observation(trial, now) for trial in trials]
        if self.stopped_at is None:
            self.add_up(self._columns(rows))
        self._write_down(rows)

    def close_batch(self) -> None:
        """Check the goal, now that all of them are there."""
        assert self._batch is not None
        self.changes.batches.append(self._batch)
        self.batches += 1
        if self.stopped_at is None:
            self.engine.look()
            if self.engine.stopped:
                self.stopped_at = self.told
        self._batch = None
        self._let_go_when_done()

    # --- answers -----------------------------------------------------------------------------------------------------

    def _room(self) -> int:
        """How many more observations the limit allows, besides the trials in progress."""
        return self.spec.search.limit - self.told - len(self.open) + self.given_up

    def _require_room(self, count: int) -> None:
        require_room(self.spec, self.told, len(self.open) - self.given_up, count)

    def _open_pull(self, pull_id: PullId, find_answer: FindAnswer) -> PullRow | None:
        """Return the open trial of an id; None if it is completed."""
        pull = self.open.get(pull_id.number)
        found = find_answer(pull_id.number) if pull is None else pull
        # Of one whose answer is held back the attempt is that of the answer, and there may have been later ones.
        never = pull is not None and pull.answer is None and pull_id.attempt > pull.attempt
        if found is None or found.token != pull_id.token or never:
            allowed, given = f"one that study {shorten(self.name)} has handed out", repr(write_pull_id(*pull_id))
            hint = "; is it of another study, or of this one before its store was restored from a copy?"
            raise UnknownPull(what="pull", allowed=allowed, given=given, hint=hint)
        return pull

    def _answer(self, pull: PullRow, answer: AnswerRow, now: Moment) -> list[ObservationRow]:
        """Complete an open trial; return the observations that now count, in their order."""
        if pull.given_up:  # others have not waited for it
            self._open.move(pull.number, self.asked)
        if self._open.must_wait(pull) and (self._open.strict or not self.done):
            if pull.given_up:  # it is under way again, for those who decide
                self.active.reserve(pull.arm)
            self._change(holding(pull._replace(given_up=False), answer, now.time))
            return []
        self._close(pull)
        rows = [self._observed(pull, answer, now.time)]
        if self._open.held:
            rows += self._released()
        return rows

    def _released(self) -> list[ObservationRow]:
        """Return the results that need not wait any longer, in their order."""
        rows = []
        for pull in self._open.ready(everything=self.done):
            answer = held_answer(pull)
            assert answer is not None
            assert pull.answered_at is not None
            self._close(pull)
            rows.append(self._observed(pull, answer, pull.answered_at))
        return rows

    def _observed(self, pull: PullRow, answer: AnswerRow, told_at: float) -> ObservationRow:
        """The next observation, of a completed trial."""
        attempt, reward, failed, token, price, info, outcomes = answer
        worker = pull.worker if attempt == pull.attempt else None
        self.chain = next_chain(self.chain, pull.arm, reward)
        known = (pull.number, attempt, pull.arm, reward, failed, worker, told_at)
        return ObservationRow(*known, None, token, self.chain, pull.item, price, info, outcomes)

    def _observation(self, trial: Trial, now: Moment) -> ObservationRow:
        """The next observation, of a trial made elsewhere."""
        arm, reward, failed, worker, told_at, origin, item, price, info, outcomes = trial
        self.chain = next_chain(self.chain, arm, reward)
        told_at = now.time if told_at is None else told_at
        known = (None, 0, arm, reward, failed, worker, told_at)
        return ObservationRow(*known, origin, None, self.chain, item, price, info, self._packed(outcomes))

    def _observe(self, rows: list[ObservationRow]) -> None:
        """Add observations and check the goal after each; those after the end are not part of the answer."""
        if rows and self.stopped_at is None:
            used = 1
            if len(rows) == 1:
                learned: Any = rows[0].reward if self.learns_rewards else self._columns(rows).learned[0]
                self.active.tell(rows[0].arm, learned, rows[0].price)
            else:
                used = self.learn_many(self._columns(rows), may_stop=True)
            if self.engine.stopped:
                self.stopped_at = self.told + used
        self._write_down(rows)
        if self._open.held:
            self._let_go_when_done()

    # --- several outcomes of a trial ---------------------------------------------------------------------------------

    def _columns(self, rows: Sequence[ObservationRow]) -> Seen:
        return columns_of(rows, self.spec.search, self.outcome_names)

    def _named(self, packed: bytes | None) -> Mapping[str, float] | None:
        return None if packed is None else unpack_outcomes(packed, self.outcome_names)

    def _packed(self, outcomes: Mapping[str, float] | None) -> bytes | None:
        return None if outcomes is None else pack_outcomes(outcomes, self.outcome_names)

    def _require_names(self, given: Iterable[Mapping[str, float] | None]) -> None:
        """Refuse more names of outcomes than a study stores."""
        names = {name for outcomes in given for name in outcomes or ()}.union(self.outcome_names)
        allowed = f"of at most {MOST_OUTCOMES} different names in a study"
        require(len(names) <= MOST_OUTCOMES, "outcomes", allowed, len(names), InvalidReward)

    def _write_down(self, rows: list[ObservationRow]) -> None:
        self.changes.observations += rows
        self.told += len(rows)

    def _let_go_when_done(self) -> None:
        """Record all results that wait once the study has ended: they are not part of the answer."""
        if self.done:
            self._write_down(self._released())

    # --- bookkeeping -------------------------------------------------------------------------------------------------

    def _change(self, pull: PullRow) -> PullRow:
        self._open.put(pull)
        self.changes.changed_pulls.append(pull)
        return pull

    def _close(self, pull: PullRow) -> None:
        """Close an open trial and release its arm."""
        self._open.close(pull.number)
        if not pull.given_up:
            self.active.release(pull.arm)
        self.changes.answered_pulls.append(pull)

    # --- other processes ---------------------------------------------------------------------------------------------

    def catch_up(
        self,
        row: StudyRow,
        seen: Seen,
        batches: Iterable[BatchRow],
        pulls: Iterable[PullRow],
        answered: Iterable[int] | None,
    ) -> None:
        """Take in what other processes have written.

        Args:
            row: The study with its present counters.
            seen, batches: The observations since `told`, and the batches among them.
            pulls: The open trials that have changed since `revision`.
            answered: The numbers of the trials completed since then; None if `pulls` has all that are open.
        """
        if self.stopped_at is None:
            self._learn(row, seen, batches)
            if row.stopped_at is not None:
                self.engine.finish("confidence")
        self.revision, self.asked, self.told, self.failed = row.revision, row.asked, row.told, row.failed
        self.stopped_at, self.withdrawn = row.stopped_at, row.withdrawn
        self.chain, self.batches, self.lost = row.chain, row.batches, row.lost
        self.outcome_names = names_in(row)
        if answered is None:
            answered = list(self.open)
            self._open.earliest = math.inf
        pulls = list(pulls)
        for number in (*answered, *(pull.number for pull in pulls)):  # which are not what they were
            known = self._open.forget(number)
            if known is not None and not known.given_up:
                self.active.release(known.arm)
        self._read_notes(json.loads(row.decision) if row.decision else [])
        for pull in pulls:
            self._open.enter(pull)
            if not pull.given_up:
                self.active.reserve(pull.arm)

    def _read_notes(self, stands: list[int] | dict[str, Any]) -> None:
        """Read what `stands` wrote; older programs wrote where the rule stands, and no more."""
        noted: dict[str, Any] = stands if isinstance(stands, dict) else {"rule": stands}
        if noted["rule"]:
            self.engine.decision = noted["rule"]
        self.certificate = noted.get("certificate")
        for name, counts in (("expired", self.expired), ("lost", self.lost_of)):
            if self._notes:
                counts.clear()
                counts.update({int(arm): times for arm, times in noted.get(name, {}).items()})
        if self._open.order is not None:
            moved = {int(number): tuple(place) for number, place in noted.get("moved", {}).items()}
            self._open.order.restore(moved)

    def begin_again(self, row: StudyRow, seen: Seen, batches: Iterable[BatchRow], pulls: Iterable[PullRow]) -> None:
        """Take in a whole study with another goal or other arms: the end is looked for in all its observations."""
        self.outcome_names = names_in(row)
        self._learn(row._replace(stopped_at=row.told), seen, batches)
        if self.spec.retired:
            self.engine.apply_stop()  # the last observation may be of an arm that went
        self.stopped_at = row.told if self.engine.stopped else None
        self.catch_up(row._replace(stopped_at=self.stopped_at), seen.part(0, 0), (), pulls, None)
        self.changes.specification = row.specification
        self.certificate = None  # it was about what was asked for before

    def _learn(self, row: StudyRow, seen: Seen, batches: Iterable[BatchRow]) -> None:
        """Learn all observations up to the end, if there is one.

        The end is stored. The stopping rule could not find it again: a rule that tries two arms a round stops only
        between rounds, and where the rounds ended is not stored.
        """
        used = len(seen.arms) if row.stopped_at is None else row.stopped_at - self.told
        start = 0
        for batch in batches:
            place = batch.place - self.told
            if place >= used:
                break
            self.learn_many(seen.part(start, place), may_stop=False)
            start = place + batch.size
            self.add_up(seen.part(place, start))
            self.engine.look(may_stop=start == used and row.stopped_at is not None)
        last = used if row.stopped_at is None else max(used - 1, start)
        self.learn_many(seen.part(start, last), may_stop=False)
        if row.stopped_at is not None:
            self.learn_many(seen.part(last, used), may_stop=True)


def names_in(row: StudyRow) -> list[str]:
    """The names of the outcomes that the trials of a study have given."""
    return list(json.loads(row.outcomes)) if row.outcomes else []
