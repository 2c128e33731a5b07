"""Studies against a model in plain Python: any order of ask, tell, fail, waiting, reloading, from two handles at once.

Which arm is asked for next is the sampling rule's affair, and when the goal is reached the stopping rule's; the model
follows both: it takes the arms as they come, and the end from an engine that is only ever told. Everything else it
knows by itself: who has which pull, what is accepted, what is counted.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import math
import pickle
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import ramgape
from ramgape import Pull, Study
from ramgape.search.engine import Engine
from ramgape.search.quality import TrialQuality
from ramgape.search.result import updated
from ramgape.studies.exchange import read_pull_id
from ramgape.studies.local import LocalBackend
from ramgape.studies.open_pulls import NOTED
from ramgape.studies.remote import RemoteBackend
from tests.support import Clock

ARMS = ["a", "b", "c"]
WORKERS = st.sampled_from([None, None, "one", "two"])
LEASES = st.sampled_from([1_000, 10_000, 100_000, None])  # a server has its own time, and a test may last
REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
TRIALS = st.lists(st.tuples(st.sampled_from(ARMS), REWARDS), max_size=5)
PICKS = st.integers(0, 10_000)
GOALS: list[dict[str, Any]] = [
    {"budget": 6},
    {"budget": 9},
    {"budget": 25, "policy": "ramgape"},
    {"epsilon": 0.3, "delta": 0.9, "bound": "empirical-bernstein"},
    {"epsilon": 0.3, "delta": 0.9, "bound": "empirical-bernstein", "interleave": True},
    {"epsilon": 0.05, "max_trials": 12},
]


# --- the model ---------------------------------------------------------------------------------------------------


@dataclass
class Open:
    """A pull that is not answered."""

    arm: str
    attempt: int
    worker: str | None
    until: float  # the lease; minus infinity when nobody has it
    failures: int = 0
    failed_attempt: int = 0
    given_up: bool = False
    answer: tuple[int, float, bool] | None = None  # held back: which attempt, the reward, and whether it is a failure
    place: tuple[float, float] = (0.0, 0.0)  # in the order of asking

    @property
    def under_way(self) -> bool:
        return not self.given_up and self.answer is None


def written(result: ramgape.Result) -> str:
    """To the last bit; what is not known yet is NaN, which equals nothing, but reads the same.

    Without what became of trials that gave no result: some may fail after the end, and are counted.
    """
    certified = result.certified and dataclasses.replace(result.certified, guarantee="", assumptions=())
    plain = updated(result, quality=TrialQuality(), guarantee="", warnings=(), certified=certified)
    return repr(dataclasses.asdict(plain))


class Changed(Exception):
    """Another reward for the same attempt."""


@dataclass
class Model:
    """What a study should know."""

    limit: float
    budget: bool
    retries: int
    worst: bool
    in_order: bool
    expired: bool  # leases that ran out are failures
    open: dict[int, Open] = field(default_factory=dict)
    answers: dict[int, tuple[int, float]] = field(default_factory=dict)
    seen: list[tuple[str, float]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    failures: set[int] = field(default_factory=set)  # that count as the worst reward
    expired_of: Counter[str] = field(default_factory=Counter)
    moves: int = 0

    @property
    def asked(self) -> int:
        return len(self.open) + len(self.answers)

    @property
    def pending(self) -> int:
        return sum(pull.under_way for pull in self.open.values())

    @property
    def held(self) -> int:
        return sum(pull.answer is not None for pull in self.open.values())

    @property
    def room(self) -> float:
        return self.limit - len(self.seen) - self.pending - self.held

    def returning(self, count: int, worker: str | None, now: float) -> list[tuple[int, int]]:
        """The pulls that somebody who asks gets before any new one."""
        open_ones = [(number, pull) for number, pull in sorted(self.open.items()) if pull.under_way]
        own = [(number, pull.attempt) for number, pull in open_ones if worker is not None and pull.worker == worker]
        own = own[:count]
        left = [
            (number, pull.attempt + 1)
            for number, pull in open_ones
            if pull.until <= now and (number, pull.attempt) not in own
        ]
        return own + left[: count - len(own)]

    def hand_out(self, pull_id: tuple[int, int], arm: str, worker: str | None, until: float) -> None:
        number, attempt = pull_id
        if number not in self.open:
            assert number == self.asked
            assert attempt == 1
            self.open[number] = Open(arm, 1, worker, until, place=(number, math.inf))
            return
        pull = self.open[number]
        assert pull.arm == arm
        pull.attempt, pull.worker, pull.until = attempt, worker, until

    def tell(self, pull_id: tuple[int, int], reward: float) -> bool:
        number, attempt = pull_id
        answer = self._answered(number)
        if answer is not None:
            first, told, failed = answer
            if first == attempt and told != reward and not failed:
                raise Changed
            return first == attempt and told == reward
        pull = self.open[number]
        if pull.given_up and self.room <= 0:
            return False
        self._answer(number, attempt, reward)
        return True

    def _answered(self, number: int) -> tuple[int, float, bool] | None:
        if number in self.answers:
            return *self.answers[number], number in self.failures
        return self.open[number].answer

    def _answer(self, number: int, attempt: int, reward: float, failed: bool = False) -> None:
        pull = self.open[number]
        if pull.given_up:
            pull.given_up = False
            self.move(pull)
        pull.answer = (attempt, reward, failed)
        self.let_go(everything=not self.in_order)

    def move(self, pull: Open) -> None:
        """It counts as asked for now."""
        self.moves += 1
        pull.place = (self.asked, self.moves)

    def note_expired(self, now: float) -> None:
        for _, pull in sorted(self.open.items()):
            if pull.under_way and NOTED < pull.until <= now:
                pull.until = NOTED
                self.expired_of[pull.arm] += 1
                self.move(pull)
        self.let_go()

    def _count(self, number: int) -> None:
        pull = self.open.pop(number)
        assert pull.answer is not None
        attempt, reward, failed = pull.answer
        self.seen.append((pull.arm, reward))
        self.answers[number] = (attempt, reward)
        if failed:
            self.failures.add(number)

    def let_go(self, everything: bool = False) -> None:
        """Count what need not be held back any longer."""
        first = min((pull.place for pull in self.open.values() if pull.under_way), default=(math.inf, math.inf))
        held = sorted((pull.place, number) for number, pull in self.open.items() if pull.answer is not None)
        for place, number in held:
            if everything or place < first:
                self._count(number)

    def fail(self, pull_id: tuple[int, int]) -> bool:
        number, attempt = pull_id
        answer = self._answered(number)
        if answer is not None:
            return answer[2] and answer[0] == attempt  # it counts already
        pull = self.open[number]
        if pull.attempt != attempt:
            return False
        if pull.failed_attempt == attempt:
            return True
        self.failed[pull.arm] += 1
        if self.worst:
            self._answer(number, attempt, 0.0, failed=True)
            return True
        pull.failures += 1
        pull.failed_attempt = attempt
        pull.given_up = pull.failures > self.retries
        pull.worker, pull.until = None, -math.inf
        self.move(pull)
        self.let_go()
        return True

    def give_back(self, pull_id: tuple[int, int]) -> bool:
        pull = self.open.get(pull_id[0])
        if pull is None or pull.attempt != pull_id[1] or not pull.under_way:
            return False
        pull.worker, pull.until = None, -math.inf
        self.move(pull)
        self.let_go()
        return True

    def renew(self, pull_id: tuple[int, int], until: float) -> bool:
        pull = self.open.get(pull_id[0])
        if pull is None or pull.attempt != pull_id[1] or not pull.under_way or pull.until == -math.inf:
            return False
        pull.until = until
        return True

    def retry(self) -> int:
        again = [pull for _, pull in sorted(self.open.items()) if pull.given_up][: int(max(0, min(self.room, 10**9)))]
        for pull in again:
            pull.given_up, pull.failures, pull.until = False, 0, -math.inf
            self.move(pull)
        return len(again)


# --- the machine -------------------------------------------------------------------------------------------------


class Machine(RuleBasedStateMachine):
    """A study in memory."""

    storage: ClassVar[str | None] = None
    server: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.clock = Clock()
        self.clock.rule(self.patch)
        self.handles: list[Study] = []

    @initialize(
        goal=st.sampled_from(GOALS),
        failure=st.sampled_from(["retry", "retry", "worst"]),
        retries=st.integers(0, 2),
        in_order=st.booleans(),
        expired=st.booleans(),
        data=TRIALS,
    )
    def create(
        self,
        goal: dict[str, Any],
        failure: str,
        retries: int,
        in_order: bool,
        expired: bool,
        data: list[tuple[str, float]],
    ) -> None:
        expired = expired and failure == "worst"
        self.options = {"reward_range": (0, 1), "failure": failure, "retries": retries, "in_order": in_order, **goal}
        self.options["expired"] = "fail" if expired else "retry"
        self.name = f"study {uuid.uuid4()}"
        self.batches = [(0, len(data))] if data else []
        study = Study.create(self.name, ARMS, storage=self.storage, data=data, **self.options)
        second = study if self.storage is None else Study.load(self.name, self.storage)
        self.handles = [study, second]
        search = study.spec.search
        budget = search.budget is not None
        self.model = Model(search.limit, budget, retries, failure == "worst", in_order, expired, seen=list(data))
        self.told_only = Engine(search)
        self.learnt = 0
        self.stopped_at: int | None = None
        self.pull_ids: list[Pull] = []
        self.final = ""

    def teardown(self) -> None:
        if self.handles:
            self.check_answer()
        for study in self.handles:
            study.close()
        self.patch.undo()

    # --- helpers ---

    def number_of(self, pull: Pull) -> tuple[int, int]:
        number, _, attempt = pull.id.partition("-")[2].partition(".")
        return int(number), int(attempt or 1)

    def pick(self, place: int) -> Pull:
        """One that was handed out: mostly one that is open, in its last attempt or an earlier one."""
        open_ones = [pull for pull in self.pull_ids if self.number_of(pull)[0] in self.model.open]
        given_up = [pull for pull in open_ones if self.model.open[self.number_of(pull)[0]].given_up]
        chosen = (open_ones, open_ones[-3:], given_up, self.pull_ids)[place % 4] or self.pull_ids
        return chosen[-1 - place // 4 % len(chosen)]

    def until(self, lease: float | None) -> float:
        return math.inf if lease is None else self.clock.now + lease

    @property
    def done(self) -> bool:
        """As somebody sees it who only hears the answers, one after the other, or a batch at once."""
        batches = dict(self.batches)
        while self.learnt < len(self.model.seen) and self.stopped_at is None:
            size = batches.get(self.learnt, 0)
            trials = self.model.seen[self.learnt : self.learnt + (size or 1)]
            arms, rewards = np.array([ARMS.index(arm) for arm, _ in trials]), np.array([reward for _, reward in trials])
            if size:
                self.told_only.add_up(arms, rewards)
                self.told_only.look()
            else:
                self.told_only.tell(int(arms[0]), float(rewards[0]))
            self.learnt += len(trials)
            if self.told_only.stopped:
                self.stopped_at = self.learnt
        if self.stopped_at is not None:
            self.model.let_go(everything=True)
        return self.stopped_at is not None

    def attempt(self, work: Callable[[], Any]) -> Any:
        """What the model does, or the kind of error that the study should raise; then the model is as before."""
        before = copy.deepcopy(self.model)
        try:
            return work()
        except Changed:
            self.model = before
            return ramgape.ChangedAnswer

    def expire(self) -> None:
        """What a study notes of leases that have run out, whenever it is asked or told something."""
        if self.model.expired:
            for number in sorted(self.model.open):
                pull = self.model.open.get(number)
                ended = pull is not None and pull.under_way and -math.inf < pull.until <= self.clock.now
                if pull is not None and ended and not self.done:
                    self.model.fail((number, pull.attempt))
        elif not self.done:
            self.model.note_expired(self.clock.now)
        _ = self.done  # which lets go of what was held

    # --- rules ---

    @rule(place=st.integers(0, 1), count=st.integers(1, 4), worker=WORKERS, lease=LEASES)
    def ask(self, place: int, count: int, worker: str | None, lease: float | None) -> None:
        message = ""
        pulls: list[Pull] = []
        try:
            pulls = self.handles[place].ask(count, worker, lease)
        except ramgape.FailingArm as caught:
            message = str(caught)
        if not message:
            self.expire()
        expected = self.expect_pulls(pulls, count, worker, lease, failing=bool(message))
        if message:
            assert not expected
            assert self.retries_spent(message), message

    def retries_spent(self, message: str) -> bool:
        given_up = {pull.arm for pull in self.model.open.values() if pull.given_up}
        return any(f"arm {arm!r} has failed {self.model.retries + 1} time" in message for arm in given_up)

    def expect_pulls(
        self, pulls: list[Pull], count: int, worker: str | None, lease: float | None, failing: bool
    ) -> list[tuple[int, int]]:
        """Have the model hand out what a study has given; returns those that had to come before any new one.

        With `failing` it may have given less: an arm has failed too often.
        """
        model = self.model
        if self.done:
            assert pulls == []
            return []
        expected = model.returning(count, worker, self.clock.now)
        given_up = {pull.arm for pull in model.open.values() if pull.given_up}
        pull_ids = [self.number_of(pull) for pull in pulls]
        assert pull_ids[: len(expected)] == expected
        new = pulls[len(expected) :]
        assert len(pulls) <= count
        assert len(new) <= max(model.room, 0)  # trials made elsewhere may have gone beyond a cap
        assert not {pull.arm for pull in new} & given_up
        if not pulls and not failing:
            assert model.room <= 0, model
        for pull, pull_id in zip(pulls, pull_ids, strict=True):
            model.hand_out(pull_id, pull.arm, worker, self.until(lease))
        self.pull_ids += [pull for pull in pulls if pull not in self.pull_ids]
        assert (
            len({pull.seed for pull in self.pull_ids}) == len({pull.id for pull in self.pull_ids}) == len(self.pull_ids)
        )
        return expected

    @precondition(lambda self: self.pull_ids)
    @rule(
        place=st.integers(0, 1),
        answers=st.lists(st.tuples(PICKS, REWARDS), max_size=3),
        failed=st.lists(PICKS, max_size=2),
        given_back=st.lists(PICKS, max_size=2),
        count=st.integers(0, 3),
        worker=WORKERS,
        lease=LEASES,
    )
    def exchange(
        self,
        place: int,
        answers: list[tuple[int, float]],
        failed: list[int],
        given_back: list[int],
        count: int,
        worker: str | None,
        lease: float | None,
    ) -> None:
        """The same as the single calls one after the other; or, where one of them is an error, nothing."""
        study, model = self.handles[place], self.model
        told = [(self.pick(pick), reward) for pick, reward in answers]
        lost, back = [self.pick(pick) for pick in failed], [self.pick(pick) for pick in given_back]

        def work() -> list[bool]:
            accepted = [model.tell(self.number_of(pull), reward) for pull, reward in told]
            if told:
                self.expire()
            for pull in lost:
                accepted.append(model.fail(self.number_of(pull)))
                _ = self.done
            for pull in back:
                accepted.append(model.give_back(self.number_of(pull)))
                _ = self.done
            return accepted

        expected = self.attempt(work)
        more: dict[str, Any] = {"failed": [(pull, "no luck") for pull in lost], "given_back": back, "count": count}
        more |= {"worker": worker, "lease": lease}
        if expected is ramgape.ChangedAnswer:
            with pytest.raises(ramgape.ChangedAnswer):
                study.exchange(told, **more)
            return
        given = bool(told or lost or back)
        message = ""
        try:
            exchanged = study.exchange(told, **more)
        except ramgape.FailingArm as caught:
            message = str(caught)
        if message:
            assert not given
            assert self.retries_spent(message), message
            return
        assert [answer.accepted for answer in exchanged.answers] == expected
        if count:
            self.expire()
            failing = given and any(pull.given_up for pull in model.open.values())
            self.expect_pulls(list(exchanged.pulls), count, worker, lease, failing)
        else:
            assert exchanged.pulls == ()
        assert {answer.done for answer in exchanged.answers} <= {exchanged.done}
        assert exchanged.done == self.done

    @precondition(lambda self: self.pull_ids)
    @rule(place=st.integers(0, 1), pick=PICKS, reward=REWARDS, named=st.booleans())
    def tell(self, place: int, pick: int, reward: float, named: bool) -> None:
        pull = self.pick(pick)
        expected = self.attempt(lambda: self.model.tell(self.number_of(pull), reward))
        if expected is ramgape.ChangedAnswer:
            with pytest.raises(ramgape.ChangedAnswer):
                self.handles[place].tell(pull, reward)
            return
        answer = self.handles[place].tell(pull.id if named else pull, reward)
        self.expire()
        assert (answer.accepted, answer.done) == (expected, self.done)

    @precondition(lambda self: self.pull_ids)
    @rule(place=st.integers(0, 1), answers=st.lists(st.tuples(PICKS, REWARDS), min_size=1, max_size=5))
    def tell_many(self, place: int, answers: list[tuple[int, float]]) -> None:
        told = [(self.pick(pick), reward) for pick, reward in answers]
        expected = self.attempt(lambda: [self.model.tell(self.number_of(pull), reward) for pull, reward in told])
        if expected is ramgape.ChangedAnswer:
            with pytest.raises(ramgape.ChangedAnswer):
                self.handles[place].tell_many(told)
            return
        found = self.handles[place].tell_many(told)
        self.expire()
        assert [(answer.accepted, answer.done) for answer in found] == [(each, self.done) for each in expected]

    @precondition(lambda self: self.pull_ids)
    @rule(place=st.integers(0, 1), pick=PICKS)
    def tell_what_was_never_asked(self, place: int, pick: int) -> None:
        """Nothing of such an answer counts, nor of those that come with it."""
        pull = self.pick(pick)
        number, token = self.number_of(pull)[0], pull.id.partition("-")[0]
        wrong = [[(f"{token}-{self.model.asked}", 0.5)], [(f"{token[::-1]}-{number}", 0.5)]]
        if number in self.model.open and self.model.open[number].answer is None:
            wrong.append([(f"{token}-{number}.{self.model.open[number].attempt + 1}", 0.5)])
            wrong.append([(pull.id, 0.5), *wrong[0]])
        for answers in wrong:
            with pytest.raises(ramgape.UnknownPull):
                self.handles[place].tell_many(answers)

    @precondition(lambda self: self.pull_ids)
    @rule(picks=st.lists(st.tuples(st.integers(0, 1), PICKS), min_size=1, max_size=4))
    def fail(self, picks: list[tuple[int, int]]) -> None:
        for place, pick in picks:
            pull = self.pick(pick)
            expected = self.model.fail(self.number_of(pull))
            answer = self.handles[place].fail(pull, "no luck")
            assert (answer.accepted, answer.done) == (expected, self.done)

    @precondition(lambda self: self.pull_ids)
    @rule(place=st.integers(0, 1), pick=PICKS)
    def give_back(self, place: int, pick: int) -> None:
        pull = self.pick(pick)
        expected = self.model.give_back(self.number_of(pull))
        answer = self.handles[place].give_back(pull)
        assert (answer.accepted, answer.done) == (expected, self.done)

    @precondition(lambda self: self.pull_ids)
    @rule(place=st.integers(0, 1), picks=st.lists(PICKS, max_size=4), lease=LEASES)
    def renew(self, place: int, picks: list[int], lease: float | None) -> None:
        pulls = [self.pick(pick) for pick in picks]
        expected = [self.model.renew(self.number_of(pull), self.until(lease)) for pull in pulls]
        assert self.handles[place].renew(pulls, lease) == expected

    @precondition(lambda self: any(pull.given_up for pull in self.model.open.values()))
    @rule(place=st.integers(0, 1))
    def retry(self, place: int) -> None:
        assert self.handles[place].retry() == self.model.retry()

    @rule(place=st.integers(0, 1), arm=st.sampled_from(ARMS), reward=REWARDS)
    def observe(self, place: int, arm: str, reward: float) -> None:
        if self.model.budget and self.model.room < 1:
            with pytest.raises(ramgape.BudgetSpent):
                self.handles[place].observe(arm, reward)
            return
        self.model.seen.append((arm, reward))
        answer = self.handles[place].observe(arm, reward)
        assert (answer.accepted, answer.done) == (True, self.done)

    @rule(place=st.integers(0, 1), trials=TRIALS)
    def bring_in(self, place: int, trials: list[tuple[str, float]]) -> None:
        rows = io.StringIO("arm,reward\n" + "".join(f"{arm},{reward}\n" for arm, reward in trials))
        if self.model.budget and self.model.room < len(trials):
            with pytest.raises(ramgape.BudgetSpent):
                self.handles[place].import_csv(rows)
            return
        if trials:
            self.batches.append((len(self.model.seen), len(trials)))
        self.model.seen += trials
        assert self.handles[place].import_csv(rows) == len(trials)

    @rule(seconds=st.sampled_from([600, 6_000, 60_000, 600_000]))
    def time_passes(self, seconds: int) -> None:
        self.clock.passes(seconds)

    @precondition(lambda self: not self.server)  # whose time is its own
    @rule(seconds=st.sampled_from([600, 60_000, 10**6]))
    def the_clock_is_set_back(self, seconds: int) -> None:
        self.clock.passes(-seconds)

    @precondition(lambda self: self.storage is not None)
    @rule(place=st.integers(0, 1), how=st.sampled_from(["load", "reopen", "pickle"]))
    def reload(self, place: int, how: str) -> None:
        study = self.handles[place]
        study.close()
        if how == "load":
            assert self.storage is not None
            self.handles[place] = Study.load(self.name, self.storage)
        elif how == "pickle":
            self.handles[place] = pickle.loads(pickle.dumps(study))

    # --- what always holds ---

    @invariant()
    def counts(self) -> None:
        if not self.handles:
            return
        model = self.model
        for study in self.handles[:1] if self.storage is None else self.handles:
            report = study.report()
            given_up = sum(pull.given_up for pull in model.open.values())
            done = self.done  # which lets go of what was held
            assert (report.told, report.pending, report.held) == (len(model.seen), model.pending, model.held)
            assert (report.failed, report.given_up) == (model.failed.total(), given_up)
            assert {arm: count for arm, count in report.arms_failed.items() if count} == model.failed
            assert report.done == study.done == done
            assert report.result.quality.expired == model.expired_of
            assert report.late == (len(model.seen) - self.stopped_at if self.stopped_at is not None else 0)
            assert not model.budget or report.told + report.pending + report.held <= model.limit
            if report.done:
                self.final = self.final or written(report.result)
                assert written(report.result) == self.final  # the answer never changes again

    @invariant()
    def owners(self) -> None:
        if not self.handles:
            return
        expected = {
            number: (pull.arm, pull.attempt, pull.worker, pull.given_up) for number, pull in self.model.open.items()
        }
        for study in self.handles:
            desk = study.backend
            if isinstance(desk, RemoteBackend):
                names = ("arm", "attempt", "worker", "given_up")
                rows = desk._get("/pulls", lambda *_: None)["pulls"]
                assert {read_pull_id(row["id"]).number: tuple(row[name] for name in names) for row in rows} == expected
                continue
            assert isinstance(desk, LocalBackend)
            with desk.session.reading as (ledger, _):
                found = ledger.open
            assert {
                number: (ARMS[pull.arm], pull.attempt, pull.worker, pull.given_up) for number, pull in found.items()
            } == expected
            if not self.server:
                leases = {number: max(pull.until, 0.0) for number, pull in self.model.open.items()}
                assert {number: pull.lease_until for number, pull in found.items()} == leases

    def check_answer(self) -> None:
        """A study that is given the observations at once says the same, and so does one that is opened anew."""
        replayed = Study.create(self.name, ARMS, **self.options)
        sizes, place = dict(self.batches), 0
        while place < len(self.model.seen):
            trials = self.model.seen[place : place + sizes.get(place, 1)]
            if place in sizes:
                replayed.import_csv(io.StringIO("arm,reward\n" + "".join(f"{arm},{each}\n" for arm, each in trials)))
            else:
                replayed.observe(*trials[0])
            place += len(trials)
        for study in self.handles:
            result = study.result()
            assert written(result) == written(replayed.result())
            assert result.conditions or result.guarantee == replayed.result().guarantee
            assert study.done == replayed.done


def run(machine: type[Machine], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.fixture
def machine(storage: str | None) -> type[Machine]:
    """One for each kind of store; its studies share a store."""
    if storage is None:
        return Machine
    return type("StoredMachine", (Machine,), {"storage": storage, "server": not storage.startswith("sqlite")})


def test_studies_follow_the_model(machine: type[Machine]) -> None:
    examples = {"memory": 30, "sqlite": 10, "postgresql": 5, "http": 3}
    run(machine, examples[(machine.storage or "memory").partition(":")[0]], 40)


@pytest.mark.long
def test_studies_follow_the_model_for_long(machine: type[Machine]) -> None:
    run(machine, 1000 if machine.storage is None else 250, 80)
