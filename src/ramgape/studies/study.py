"""A study: the durable form of a search. Ask which arms to try, tell what came out, from any number of processes."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack, get_args

from ramgape.common.checks import check_many, check_text, is_text
from ramgape.errors import RamgapeError, RamgapeWarning, known_name, located, require, shorten
from ramgape.options import STUDY, StudyOptions, Tolerance, Trials, shows_options
from ramgape.remote.address import is_remote
from ramgape.search.outcome import Outcome, check_price, outcome_of
from ramgape.search.result import Result, Stopped
from ramgape.storage import Store
from ramgape.storage.memory import MemoryStore
from ramgape.studies.desk import Desk
from ramgape.studies.entries import Told, Trial, require_room
from ramgape.studies.exchange import (
    ANSWERS,
    DEFAULT_LEASE,
    NO_REQUEST,
    RUN_LEASE,
    Answer,
    Exchange,
    Pull,
    check_lease,
    check_reason,
    check_request,
    pairs_of,
    pull_id_of,
    write_info,
)
from ramgape.studies.field import require_first_money
from ramgape.studies.in_and_out import InAndOut
from ramgape.studies.local_desk import LocalDesk
from ramgape.studies.report import Report
from ramgape.studies.sharing import check_blocks, with_block
from ramgape.studies.showing import Shown
from ramgape.studies.specification import StudySpec, make_study_spec
from ramgape.studies.spool import trials_of
from ramgape.trials.choice import Workers
from ramgape.trials.progress import Progress


class Study(InAndOut, Shown):
    """A search that lasts: its specification and every pull ever asked and told, in a database or in memory.

    Make one with `Study.create`, open one with `Study.load`. Any number of processes may work on a study at once.

    Examples:
        >>> import random, ramgape
        >>> study = ramgape.Study.create("coins", arms=["fair", "bent"], reward_range=(0, 1), epsilon=0.05)
        >>> generator = random.Random(1)
        >>> while not study.done:
        ...     for pull in study.ask():
        ...         answer = study.tell(pull, float(generator.random() < {"fair": 0.5, "bent": 0.9}[pull.arm]))
        >>> study.result().front
        ('bent',)
    """

    def __init__(self, desk: Desk) -> None:
        """For `create` and `load`."""
        self._desk = desk
        weakref.finalize(self, desk.close)

    # --- create, load --------------------------------------------------------------------------------------------

    @classmethod
    @shows_options(STUDY)
    def create(
        cls,
        name: str,
        arms: Iterable[object],
        *,
        storage: str | Store | None = None,
        exist_ok: bool = False,
        data: Iterable[object] | None = None,
        token: str | None = None,
        **options: Unpack[StudyOptions],
    ) -> Study:
        """Make a new study.

        Args:
            name: By which it is found in the store.
            arms: Their names; other objects count by their text.
            storage: "sqlite:///file.db", "postgresql://user@host/database", "http://host:8460" (a server), a store of
                your own, or None: in memory.
            exist_ok: Open a study of that name if there is one; its specification must be the same.
            data: Trials made already: pairs (arm, reward), or mappings with these two keys, and perhaps "block"; one
                batch, which is looked at once, at its end, so that their order means nothing.
            token: For a server; unless given, RAMGAPE_TOKEN, or what the server has left on this machine.
            {options}

        Returns:
            The study, open.

        Raises:
            InvalidSpec: What is asked for cannot be meant.
            StudyExists: The store has another study of that name.
        """
        name = check_text(name, "name")
        spec, rows = checked_study(arms, data, options)
        desk: Desk
        if is_remote(storage):
            from ramgape.studies.remote_desk import RemoteDesk

            desk = RemoteDesk.create(storage, token, name, spec, exist_ok, rows, options)
        else:
            desk = LocalDesk.create(MemoryStore() if storage is None else storage, name, spec, exist_ok, rows)
        study = cls(desk)
        for warning in spec.search.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=2)
        return study

    @classmethod
    def load(cls, name: str, storage: str | Store, *, token: str | None = None) -> Study:
        """Open a study that exists.

        Args:
            name, storage, token: As for `create`.
        """
        check_text(name, "name")
        if is_remote(storage):
            from ramgape.studies.remote_desk import RemoteDesk

            return cls(RemoteDesk.load(storage, token, name))
        return cls(LocalDesk.load(name, storage))

    def close(self) -> None:
        """Let go of the store. What was told is there already; a study need not be closed."""
        self._desk.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {shorten(self.name)} in {self._desk.url}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Opened anew where it arrives."""
        storage = self._desk.storage
        if not isinstance(storage, str):
            raise TypeError("a study in memory cannot be sent to another process: give it a storage by its URL")
        return Study.load, (self.name, storage)

    # --- what it is ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name in the store."""
        return self._desk.name

    @property
    def spec(self) -> StudySpec:
        """What it is to do."""
        return self._desk.spec

    @property
    def done(self) -> bool:
        """Whether the goal is reached; once true, it stays true, unless more is asked of the study (`extend`)."""
        return self._desk.is_done()

    @property
    def durable(self) -> bool:
        """Whether it outlasts this process."""
        return self._desk.durable

    @property
    def patience(self) -> float:
        """For how many seconds its store is worth waiting for."""
        return self._desk.patience

    # --- ask and tell ----------------------------------------------------------------------------------------------

    def exchange(
        self,
        answers: Iterable[tuple[Pull | str, float | Outcome]] = (),
        *,
        failed: Iterable[tuple[Pull | str, str]] = (),
        given_back: Iterable[Pull | str] = (),
        lost: Iterable[Pull | str] = (),
        count: int = 1,
        worker: str | None = None,
        lease: float | None = DEFAULT_LEASE,
        known: Iterable[Pull | str] = (),
    ) -> Exchange:
        """Tell what came out and get the next pulls, in one transaction: what is given is taken in as a whole or,
        after an error, not at all.

        Args:
            answers: Pairs of a pull, or its id, and its reward, or an `Outcome` with more; see `tell`.
            failed: Pairs of a pull, or its id, and the reason why its trial has failed; see `fail`.
            given_back: Pulls, or their ids, that will not be made; see `give_back`.
            lost: Pulls, or their ids, whose trials went with the machine that made them: given back, and counted.
            count: How many pulls are wanted afterwards; 0 for none.
            worker: Who asks; see `ask`.
            lease: For how many seconds the pulls are handed out; see `ask`.
            known: Pulls that the worker knows it has, besides which it wants `count`: they are not given to it again.

        Returns:
            What became of the answers, the next pulls, and whether the goal is reached.

        Raises:
            FailingArm: As `ask`, but only where nothing was given: no answer is refused for what is asked for next.
            RamgapeError: As `tell`, `fail` and `ask`.

        Examples:
            >>> import ramgape
            >>> study = ramgape.Study.create("coins", arms=["fair", "bent"], reward_range=(0, 1), budget=4)
            >>> answers = []
            >>> while pulls := study.exchange(answers).pulls:
            ...     answers = [(pull, 0.5) for pull in pulls]
            >>> study.done
            True
        """
        request = check_request(count, worker, lease, 0, known)
        told = self._told_all(pairs_of(answers, "answers", "(pull, reward)"))
        failures = [
            (pull_id_of(pull), check_reason(reason)) for pull, reason in pairs_of(failed, "failed", "(pull, reason)")
        ]
        check_many(given_back, "given_back", "a list of pulls")
        check_many(lost, "lost", "a list of pulls")
        backs, gone = ([pull_id_of(pull) for pull in pulls] for pulls in (given_back, lost))
        accepted, pulls, done = self._desk.exchange(told, failures, backs, gone, request)
        return Exchange(tuple([ANSWERS[each, done] for each in accepted]), tuple(pulls), done)

    def ask(self, count: int = 1, worker: str | None = None, lease: float | None = DEFAULT_LEASE) -> list[Pull]:
        """The next pulls: up to `count`, none when the goal is reached or enough pulls are under way.

        Args:
            count: How many.
            worker: Whoever names itself gets its own open pulls back first, after a restart, say; `count` is how many
                it wants to have open. Without a name all pulls are new to the caller.
            lease: After so many seconds without an answer a pull is given to somebody else; None: never.
        """
        _, pulls, _ = self._desk.exchange((), (), (), (), check_request(count, worker, lease, 1))
        return pulls

    def tell(
        self,
        pull: Pull | str,
        reward: float,
        *,
        price: float | None = None,
        info: Mapping[str, Any] | None = None,
        block: str | int | None = None,
    ) -> Answer:
        """The reward of a pull; it is stored when this returns.

        The first answer to a pull wins. If somebody else was faster this one changes nothing, and is not `accepted`.
        Telling the same again is fine; telling the same pull another reward is an error.

        Args:
            pull: The pull, or its id.
            reward: What came out.
            price: What it has cost, in a study whose prices are told.
            info: What else to keep with the answer, such as {"model_version": "..."}: whatever JSON can hold.
            block: What it shares with trials of other arms (a day, a game), in a study created with `shared`. An arm
                has one trial a block at most. Ask for all trials of a block before you tell the first of them.
        """
        told = self._told(pull, reward, price, info, block)
        accepted, _, done = self._desk.exchange([told], (), (), (), NO_REQUEST)
        return ANSWERS[accepted[0], done]

    def tell_many(self, answers: Iterable[tuple[Pull | str, float | Outcome]]) -> list[Answer]:
        """Many rewards at once: all are stored or, after an error, none.

        Args:
            answers: Pairs of a pull, or its id, and its reward, or an `Outcome` with more.
        """
        return list(self.exchange(answers, count=0).answers)

    def fail(self, pull: Pull | str, reason: str = "") -> Answer:
        """A trial has failed: it is counted, and tried again up to the study's `retries`; it is never a reward, unless
        the study was created with failure="worst".

        Failures are harmless where they have nothing to do with the reward: a lost connection, a full disk. Where bad
        runs are the ones that crash, the rest looks better than the arm is, and no certificate can know; there
        failure="worst" is right.

        Args:
            pull: The pull, or its id.
            reason: Why, for whoever looks at the study.
        """
        failure = pull_id_of(pull), check_reason(reason)
        accepted, _, done = self._desk.exchange((), [failure], (), (), NO_REQUEST)
        return ANSWERS[accepted[0], done]

    def give_back(self, pull: Pull | str) -> Answer:
        """A pull will not be made: it is available to others at once, and that is no failure.

        Args:
            pull: The pull, or its id.
        """
        accepted, _, done = self._desk.exchange((), (), [pull_id_of(pull)], (), NO_REQUEST)
        return ANSWERS[accepted[0], done]

    def leave(self, worker: str) -> int:
        """A worker goes: what it has open is available to others at once. Returns how many pulls that were.

        Args:
            worker: The name under which it asked.
        """
        return self._desk.leave(check_text(worker, "worker"))

    def renew(self, pulls: Iterable[Pull | str], lease: float | None = DEFAULT_LEASE) -> list[bool]:
        """Pulls are still being worked on: their leases begin anew. Tells which of them are still the caller's.

        Args:
            pulls: The pulls, or their ids.
            lease: As for `ask`.
        """
        check_many(pulls, "pulls", "a list of pulls")
        return self._desk.renew([pull_id_of(pull) for pull in pulls], check_lease(lease))

    def retry(self) -> int:
        """Try again what was given up after too many failures; returns how many pulls that are."""
        return self._desk.retry()

    def observe(
        self,
        arm: str,
        reward: float,
        *,
        price: float | None = None,
        info: Mapping[str, Any] | None = None,
        block: str | int | None = None,
    ) -> Answer:
        """A trial that was made without asking.

        Args:
            arm, reward: Which arm was tried, and what came out.
            price, info, block: As for `tell`.
        """
        paid, kept = check_price(price, self._desk.spec.search), write_info(with_block(info, block))
        trial = Trial(self._place(arm), self.check_reward(reward, arm), price=paid, info=kept)
        return ANSWERS[True, self._desk.observe([trial])]

    def observe_many(self, trials: Iterable[tuple[str, float | Outcome]]) -> list[Answer]:
        """Trials that were made without asking, in their order: all are stored or, after an error, none.

        Args:
            trials: Pairs of an arm and its reward, or an `Outcome` with more.
        """
        seen = []
        for number, (arm, given) in enumerate(pairs_of(trials, "trials", "(arm, reward)")):
            with located(f"trials[{number}]"):
                outcome = outcome_of(given)
                paid = check_price(outcome.price, self._desk.spec.search)
                reward, info = self.check_reward(outcome.reward, arm), with_block(outcome.info, outcome.block)
                seen.append(Trial(self._place(arm), reward, price=paid, info=write_info(info)))
        return [ANSWERS[True, self._desk.observe(seen)]] * len(seen) if seen else []

    def extend(
        self, *, epsilon: Tolerance | None = None, budget: int | None = None, spend: float | None = None
    ) -> bool:
        """Let a study, finished or not, go on for more: give exactly one of the three.

        Bounds hold at all times, so nothing is lost: what was told counts, late answers too, and pulls are decided as
        if this had been asked from the start. Widths, scales and levels stay those that the study began with, since
        they must not depend on the data. Each answer is right up to its own tolerance with probability 1 - delta; with
        a bound that compares pairs that is said of each answer by itself, of boxes also of all at once. At epsilon 0,
        a study that began with more fixes no answers beforehand, and takes longer than one that began with 0.

        Args:
            epsilon: A smaller tolerance, for a study with one: a number, a pair (mean, risk) in the same ratio as
                before, or a share.
            budget: A larger budget, for a study with one.
            spend: More money, for a study that may spend so much and no more.

        Returns:
            Whether there is more to try; not if what is there proves the smaller tolerance already.

        Raises:
            InvalidSpec: It is not more, or of another kind than what the study was created for.
        """
        return self._desk.extend({"epsilon": epsilon, "budget": budget, "spend": spend})

    def add_arm(self, name: str, *, price: float | None = None) -> bool:
        """One more arm, for a study that was created with `expected_arms`: also because of what was seen.

        It begins with a part of delta that was kept for it, so nothing that is said of the others is lost. A study that
        was done goes on.

        Args:
            name: One that no arm of the study has, or had.
            price: What a trial of it costs, where prices are stated.

        Returns:
            Whether there is something to try.

        Raises:
            InvalidSpec: There is no reserve, or none that is left; or the name is taken.
        """
        return self._desk.add_arm(name, price)

    def retire(self, name: str) -> bool:
        """An arm takes part no longer, in a study that was created with `expected_arms`: also because of what was seen.

        It is not tried again, and no answer has it; what was told of it stays on record, and so do answers to pulls
        that are under way.

        Args:
            name: The arm.

        Returns:
            Whether there is something to try among the others.

        Raises:
            InvalidSpec: It is the control of the task, or one of the last two; or the study has no `expected_arms`.
            UnknownName: There is no such arm.
        """
        return self._desk.retire(name)

    # --- what it has found -------------------------------------------------------------------------------------------

    def result(self, ended: Stopped = "open", *, expect: bool = True) -> Result:
        """What is known by now: the returned set, its certificate, each arm's estimates, and the pulls still expected.

        It is final once the study is done. Observations that came later are recorded, but no part of it. Whoever asks
        and tells meanwhile does not wait for it.

        Args:
            ended: What to give as the reason for a study that is not done.
            expect: Whether to say how many more pulls are expected, which takes simulations.
        """
        known_name(ended, get_args(Stopped), "ended")
        return self._desk.result(ended, expect)

    def report(self, *, expect: bool = True, history: bool = False) -> Report:
        """The result, and how the study is going: pulls under way, failures, and what they were.

        Args:
            expect: Whether the result says how many more pulls are expected, which takes simulations.
            history: Whether it says what was known on the way, for which all observations are learnt again.
        """
        return self._desk.report(expect, history)

    def known_progress(self) -> Progress:
        """How far it is, as far as this process knows: pulls made, the limit on them, the doubt that is left."""
        return self._desk.progress()

    def run(
        self,
        pull: Callable[..., Any],
        *,
        workers: Workers = 1,
        slots: int | None = None,
        worker: str | None = None,
        lease: float = RUN_LEASE,
        progress: bool | None = None,
        callback: Callable[[Progress], object] | None = None,
        trials: Trials | None = None,
    ) -> Result:
        """Make all pulls that the goal takes, and return the result. A study that was interrupted goes on.

        An exception in `pull`, or a reward that is none, is a failed trial: see `fail`. When an arm has failed too
        often, the error says why; `pull` may raise that error itself, `FailingArm`, and then the trial counts for
        nothing. A trial that went with its machine has not failed: it is tried again with another seed. Ctrl-C returns
        the result so far, and gives trials that run a few seconds (`grace`); a second one ends that.

        Args:
            pull: Makes one trial: `pull(arm)`, or `pull(arm, rng)` with a NumPy generator of that trial's own seed; it
                may be async. It returns a reward, or an `Outcome` with more.
            workers: How many trials at once, in threads or on an event loop; or who makes them: an executor, such as a
                process pool; a dask.distributed.Client, "tcp://scheduler:8786", or "dask" for a cluster on this
                machine; the module ray, or "ray". See docs/guides/cluster.md.
            slots: Unless `workers` is a number: how many trials at once; of a cluster, as many as it has room for.
            worker: A name for this process, to get its open pulls back after a restart; unless given, a new one.
            lease: Seconds after which others take over if this process dies; renewed while it lives.
            progress: As for `identify`.
            callback: Called after every answer with a `Progress`; a true return value ends the run.
            trials: `Trials(rate=..., timeout=..., retry_on=..., resources=..., grace=...)`, for this run alone:
                docs/guides/parallel.md.
        """
        from ramgape.studies.running import maker_of, run_study

        return run_study(
            self,
            maker_of(pull, self._desk.spec.search.items is not None),
            workers,
            slots,
            worker,
            lease,
            progress,
            callback,
            trials,
        )

    # --- helpers ---------------------------------------------------------------------------------------------------

    def check_outcome(self, given: object, arm: str | None = None) -> float | Outcome:
        """What a trial gave, a reward or an `Outcome`, or an error that says what is allowed.

        Args:
            given: The reward, or the outcome.
            arm: The arm, which an error names.
        """
        if not isinstance(given, Outcome) and self._desk.spec.search.spend is None:
            return self.check_reward(given, arm)
        given = outcome_of(given)
        paid = check_price(given.price, self._desk.spec.search)
        write_info(with_block(given.info, given.block))
        return Outcome(self.check_reward(given.reward, arm), paid, given.info, given.block)

    def _told_all(self, answers: Sequence[tuple[Pull | str, object]]) -> list[Told]:
        """Answers, checked; of several, an error says which of them is meant."""
        told: list[Told] = []
        try:
            for pull, reward in answers:
                told.append(self._told(pull, reward))
        except RamgapeError as error:
            if len(answers) > 1:
                error.place = f"answers[{len(told)}]"
            raise
        return told

    def _told(
        self, pull: Pull | str, reward: object, price: object = None, info: object = None, block: object = None
    ) -> Told:
        """An answer, checked."""
        alone = price is None and info is None and block is None
        outcome = outcome_of(reward) if alone else Outcome(reward, price, info, block)  # type: ignore[arg-type]
        paid, kept = check_price(outcome.price, self._desk.spec.search), with_block(outcome.info, outcome.block)
        arm = pull.arm if isinstance(pull, Pull) else None
        return Told(pull_id_of(pull), self.check_reward(outcome.reward, arm), paid, write_info(kept))


def checked_study(
    arms: Iterable[object], data: Iterable[object] | None, options: StudyOptions
) -> tuple[StudySpec, list[Trial]]:
    """What a new study is to do, and what is known already; or an error that says what cannot be meant."""
    spec = make_study_spec(arms, options)
    for arm in spec.search.names:
        require(is_text(arm), "arms", "names that are text, without halves of characters", arm)
    rows = [] if data is None else list(trials_of(data, spec))
    require_room(spec, 0, 0, len(rows))
    require_first_money(spec, rows)
    check_blocks(spec.search, [(row.arm, row.info) for row in rows])
    return spec, rows
