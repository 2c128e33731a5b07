"""A study: the durable form of a search. Ask for trials and report their results, from any number of processes."""

from __future__ import annotations

import itertools
import json
import math
import os
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack, get_args

from ramgape.common.checks import check_many, check_text, is_text
from ramgape.common.extras import load_extra
from ramgape.errors import RamgapeError, RamgapeWarning, known_name, located, require, shorten
from ramgape.options import STUDY, StudyOptions, Tolerance, Trials, shows_options
from ramgape.remote.address import is_remote
from ramgape.search.outcome import Outcome
from ramgape.search.result import Result, Stopped
from ramgape.storage import Store
from ramgape.storage.memory import MemoryStore
from ramgape.studies.active import require_first_money
from ramgape.studies.blocks import check_blocks
from ramgape.studies.entries import Results, Told, Trial, checked_outcome, measured_by, require_room
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
)
from ramgape.studies.files import FORMS, ImportBuffer, ImportedRow, outcome_column, read_rows, trials_of
from ramgape.studies.local import LocalBackend
from ramgape.studies.report import Report
from ramgape.studies.specification import StudySpec, make_study_spec
from ramgape.trials.choice import Workers
from ramgape.trials.progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from ramgape.studies.remote import RemoteBackend

IMPORTED_AT_ONCE = 10_000


class Study:
    """A search that lasts: its specification and all its trials, in a database or in memory.

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

    def __init__(self, backend: LocalBackend | RemoteBackend) -> None:
        """For `create` and `load`."""
        self.backend = backend
        weakref.finalize(self, backend.close)

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
            name: Its name in the storage.
            arms: Their names; other objects are named by their text.
            storage: "sqlite:///file.db", "postgresql://user@host/database", "http://host:8460" (a server), a storage
                of your own, or None: in memory.
            exist_ok: Open the study of that name if there is one; its specification must be the same.
            data: Trials made already: pairs (arm, reward), or mappings with these two keys and optionally "block". They
                are one batch, which is checked once, at its end, so their order does not matter.
            token: For a server. Default: RAMGAPE_TOKEN, or the token that the server has left on this machine.
            {options}

        Returns:
            The study, open.

        Raises:
            InvalidSpec: An option is wrong, or options contradict each other.
            StudyExists: The storage has another study of that name.
        """
        name = check_text(name, "name")
        spec, rows = checked_study(arms, data, options)
        backend: LocalBackend | RemoteBackend
        if is_remote(storage):
            from ramgape.studies.remote import RemoteBackend

            backend = RemoteBackend.create(storage, token, name, spec, exist_ok, rows, options)
        else:
            backend = LocalBackend.create(MemoryStore() if storage is None else storage, name, spec, exist_ok, rows)
        study = cls(backend)
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
            from ramgape.studies.remote import RemoteBackend

            return cls(RemoteBackend.load(storage, token, name))
        return cls(LocalBackend.load(name, storage))

    def close(self) -> None:
        """Close the storage. Results are stored already; a study need not be closed."""
        self.backend.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Older names of methods."""
        kind, _, form = name.partition("_")
        if kind in ("import", "export") and form in FORMS:
            return partial(self.import_trials if kind == "import" else self.export_trials, form=form)
        if name == "save_plot":
            return self.report(expect=False).save_plot
        raise AttributeError(f"a study has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<Study {shorten(self.name)} in {self.backend.url}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the study again where it arrives."""
        storage = self.backend.storage
        if not isinstance(storage, str):
            raise TypeError("a study in memory cannot be sent to another process: give it a storage by its URL")
        return Study.load, (self.name, storage)

    # --- properties ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name in the storage."""
        return self.backend.name

    @property
    def spec(self) -> StudySpec:
        """The specification: the search, and how trials are handled."""
        return self.backend.spec

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of its arms, without retired ones."""
        return tuple(self.backend.places)

    @property
    def done(self) -> bool:
        """Whether the goal is reached. Once true, it stays true unless you continue the study (`extend`, `add_arm`)."""
        return self.backend.is_done()

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
        """Report results and get the next trials, in one transaction: all results are accepted or, after an error,
        none.

        Args:
            answers: Pairs of a trial, or its id, and its reward, or an `Outcome` with more; see `tell`.
            failed: Pairs of a trial, or its id, and the reason why it failed; see `fail`.
            given_back: Trials, or their ids, that will not be made; see `give_back`.
            lost: Trials, or their ids, that were lost with the machine that made them: released, and counted.
            count: How many trials to hand out afterwards; 0 for none.
            worker: The name of the worker; see `ask`.
            lease: For how many seconds the trials are handed out; see `ask`.
            known: Trials that the worker has already: `count` new ones come besides these.

        Returns:
            Which results were accepted, the next trials, and whether the goal is reached.

        Raises:
            FailingArm: As `ask`, but only if nothing was reported: no result is refused for what comes next.
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
        accepted, pulls, done = self.backend.exchange(Results(told, failures, backs, gone), request)
        return Exchange(tuple([ANSWERS[each, done] for each in accepted]), tuple(pulls), done)

    def ask(self, count: int = 1, worker: str | None = None, lease: float | None = DEFAULT_LEASE) -> list[Pull]:
        """Get the next trials: up to `count`, none when the goal is reached or enough trials are in progress.

        Args:
            count: How many.
            worker: The name of the worker. After a restart it first gets its own open trials back; `count` is then how
                many it has open. Without a name all trials are new.
            lease: Seconds after which an unreported trial goes to another worker; None: never.
        """
        _, pulls, _ = self.backend.exchange(Results(), check_request(count, worker, lease, 1))
        return pulls

    def tell(
        self,
        pull: Pull | str,
        reward: float | Mapping[str, float],
        *,
        price: float | None = None,
        info: Mapping[str, Any] | None = None,
        block: str | int | None = None,
    ) -> Answer:
        """Report the reward of a trial; it is stored when this returns.

        The first result of a trial counts. A later one, from another attempt, changes nothing and is not `accepted`.
        You may report the same result again; another reward for the same attempt is an error.

        Args:
            pull: The trial, or its id.
            reward: A number or, where trials have several outcomes, a mapping of these by name.
            price: What the trial cost, in a study whose prices are reported.
            info: More to store with the result, such as {"model_version": "..."}: anything that JSON can hold.
            block: What it shares with trials of other arms (a day, a game), in a study created with `shared`. An arm
                has at most one trial in a block. Ask for all trials of a block before you report the first of them.
        """
        told = self._told(pull, reward, price, info, block)
        accepted, _, done = self.backend.exchange(Results([told]), NO_REQUEST)
        return ANSWERS[accepted[0], done]

    def tell_many(self, answers: Iterable[tuple[Pull | str, float | Outcome]]) -> list[Answer]:
        """Report many results at once: all are stored or, after an error, none.

        Args:
            answers: Pairs of a trial, or its id, and its reward, or an `Outcome` with more.
        """
        return list(self.exchange(answers, count=0).answers)

    def fail(self, pull: Pull | str, reason: str = "") -> Answer:
        """Report that a trial failed: it is counted, and tried again up to the study's `retries`. With failure="worst"
        it counts as the worst reward instead.

        Failures do no harm if they have nothing to do with the reward: a lost connection, a full disk. If bad runs are
        the ones that crash, the others make the arm look better than it is, and no certificate can know. Then create
        the study with failure="worst".

        Args:
            pull: The trial, or its id.
            reason: Why, for the study's reports.
        """
        failure = pull_id_of(pull), check_reason(reason)
        accepted, _, done = self.backend.exchange(Results(failed=[failure]), NO_REQUEST)
        return ANSWERS[accepted[0], done]

    def give_back(self, pull: Pull | str) -> Answer:
        """Release a trial that will not be made: others can get it at once. This does not count as a failure.

        Args:
            pull: The trial, or its id.
        """
        accepted, _, done = self.backend.exchange(Results(given_back=[pull_id_of(pull)]), NO_REQUEST)
        return ANSWERS[accepted[0], done]

    def leave(self, worker: str) -> int:
        """Release all open trials of a worker; return how many there were.

        Args:
            worker: The name with which it asked.
        """
        return self.backend.leave(check_text(worker, "worker"))

    def renew(self, pulls: Iterable[Pull | str], lease: float | None = DEFAULT_LEASE) -> list[bool]:
        """Renew the leases of trials in progress; return for each whether it is still the caller's.

        Args:
            pulls: The trials, or their ids.
            lease: As for `ask`.
        """
        check_many(pulls, "pulls", "a list of pulls")
        return self.backend.renew([pull_id_of(pull) for pull in pulls], check_lease(lease))

    def retry(self) -> int:
        """Try again what was given up after too many failures; return how many trials that are."""
        return self.backend.retry()

    def observe(
        self,
        arm: str,
        reward: float | Mapping[str, float],
        *,
        price: float | None = None,
        info: Mapping[str, Any] | None = None,
        block: str | int | None = None,
    ) -> Answer:
        """Record a trial made without asking.

        Args:
            arm, reward: The arm, and its reward or outcomes.
            price, info, block: As for `tell`.
        """
        trial = self._seen(arm, Outcome(reward, price, info, block))
        return ANSWERS[True, self.backend.observe([trial])]

    def observe_many(self, trials: Iterable[tuple[str, float | Outcome]]) -> list[Answer]:
        """Record trials made without asking, in their order: all are stored or, after an error, none.

        Args:
            trials: Pairs of an arm and its reward, or an `Outcome` with more.
        """
        seen = []
        for number, (arm, given) in enumerate(pairs_of(trials, "trials", "(arm, reward)")):
            with located(f"trials[{number}]"):
                seen.append(self._seen(arm, given))
        return [ANSWERS[True, self.backend.observe(seen)]] * len(seen) if seen else []

    def extend(
        self, *, epsilon: Tolerance | None = None, budget: int | None = None, spend: float | None = None
    ) -> bool:
        """Continue a study, done or not, with a larger goal: pass exactly one of the three.

        Bounds are anytime-valid, so nothing is lost: all trials count, late ones too, and the next are chosen as if
        the study had been created for this goal. Widths, scales and levels stay those that the study began with, since
        they must not depend on the data. Each answer is right up to its own tolerance with probability 1 - delta. A
        bound that compares pairs says so of each answer by itself, boxes also of all at once. A study that began
        with a tolerance and is extended to epsilon 0 takes longer than one that began with 0.

        Args:
            epsilon: A smaller tolerance, for a study with one: a number, a pair (mean, risk) in the same ratio as
                before, or a share.
            budget: A larger budget, for a study with one.
            spend: More money, for a study with a limit on what it spends.

        Returns:
            Whether there is more to try; False if the trials so far prove the smaller tolerance already.

        Raises:
            InvalidSpec: The goal is not larger, or of another kind than that of the study.
        """
        return self.backend.extend({"epsilon": epsilon, "budget": budget, "spend": spend})

    def add_arm(self, name: str, *, price: float | None = None) -> bool:
        """Add an arm to a study that was created with `expected_arms`. You may decide so because of its results.

        The arm gets a part of delta that was reserved for it, so all that was proved of the others stays. A study that
        was done goes on.

        Args:
            name: A name that no arm of the study has or had.
            price: What a trial of it costs, where prices are declared.

        Returns:
            Whether there is more to try.

        Raises:
            InvalidSpec: The study has no reserve, or none left; or the name is taken.
        """
        return self.backend.add_arm(name, price)

    def retire(self, name: str) -> bool:
        """Retire an arm of a study that was created with `expected_arms`. You may decide so because of its results.

        It is not tried again and is in no answer. Its trials stay on record, also those that are still in progress.

        Args:
            name: The arm.

        Returns:
            Whether there is more to try among the others.

        Raises:
            InvalidSpec: It is the control of the question, or one of the last two; or the study has no `expected_arms`.
            UnknownName: There is no such arm.
        """
        return self.backend.retire(name)

    # --- results -----------------------------------------------------------------------------------------------------

    def result(self, ended: Stopped = "open", *, expect: bool = True) -> Result:
        """The answer so far, its certificate, each arm's estimates, and how many more trials are expected.

        It is final once the study is done. Later observations are recorded, but are not part of it. Workers do not wait
        while it is computed.

        Args:
            ended: The reason to show for a study that is not done.
            expect: Whether to say how many more trials are expected, which takes simulations.
        """
        known_name(ended, get_args(Stopped), "ended")
        return self.backend.result(ended, expect)

    def report(self, *, expect: bool = True, history: bool = False) -> Report:
        """The result, and how the study is going: trials in progress, failures and their reasons.

        Args:
            expect: Whether the result says how many more trials are expected, which takes simulations.
            history: Whether the result has a history, for which all observations are learned again.
        """
        return self.backend.report(expect, history)

    # --- files and pictures ----------------------------------------------------------------------------------------

    def import_trials(
        self,
        path: str | os.PathLike[str] | IO[str],
        form: str | None = None,
        *,
        arm_column: str | None = None,
        reward_column: str | None = None,
        block_column: str | None = None,
    ) -> int:
        """Import trials from a file or a stream and return how many; if any row is invalid, nothing is imported.

        The rows are one batch, which is checked once, at its end: only the drift check uses their order. Files that
        `export_trials` wrote come back without loss. A trial of such a file that the study has already is an error: it
        would count twice.

        Args:
            path: The file, or an open stream. A file may also be a table or a log of any kind that `ramgape.analyze`
                reads; what it is shows by its content.
            form: "csv" with a header, or "jsonl" with one JSON object a line. Default: by the file.
            arm_column: The column with the arms. Default: `arm`, or the only text column.
            reward_column: The column with the rewards. Default: `reward`, or the only numeric column. Where trials have
                several outcomes, all numeric columns are outcomes.
            block_column: The column with the blocks, in a study created with `shared`: see `tell`.
        """
        if form is None and isinstance(path, str | os.PathLike):
            from ramgape.data.columns import Layout
            from ramgape.data.files import table_of

            with table_of(path, Layout(arm_column, reward_column, None, block_column)) as found:
                if found is not None:
                    table, layout = found
                    return self._import(read_rows(table, "csv", *layout[:2], layout.block, outcomes=self.measured))
        columns = (arm_column, reward_column, block_column)
        return self._import(read_rows(path, format_of(path, form), *columns, outcomes=self.measured))

    def _import(self, rows: Iterator[tuple[str, ImportedRow]]) -> int:
        with ImportBuffer() as trials:
            self._read_into(trials, rows)
            if trials.count:
                self.backend.take_in(trials)
            return trials.count

    def _read_into(self, trials: ImportBuffer, rows: Iterator[tuple[str, ImportedRow]]) -> None:
        """Read and check all rows before the study is locked: the file may be slow, or wrong."""
        while chunk := list(itertools.islice(rows, IMPORTED_AT_ONCE)):
            trials.add([self._imported(place, row) for place, row in chunk])

    def export_trials(self, path: str | os.PathLike[str] | IO[str], form: str | None = None) -> int:
        """Write all trials, in their order, to a file or a stream; return how many.

        Args:
            path: The file, which appears when it is complete, or an open stream.
            form: As for `import_trials`.
        """
        return self.backend.export(path, format_of(path, form))

    def trials_frame(self, *, failures: bool = False) -> DataFrame:
        """Return all observations as a pandas data frame, one row each, in their order: what `export_trials` writes,
        and more.

        The columns are arm, reward, failed (a failure that counts as the worst reward), worker, told_at, pull, item (by
        place in the list of items), price, info (a mapping), seed (of a trial that was asked for) and reason (why it
        failed). Where trials have several outcomes, each has a column in place of the reward. The index is the place of
        an observation.

        Args:
            failures: Whether failed attempts that do not count come below the others, with NaN for a reward.

        Raises:
            MissingExtra: pandas is not installed.

        Examples:
            >>> import ramgape
            >>> study = ramgape.Study.create("coins", arms=["fair", "bent"], reward_range=(0, 1), budget=4)
            >>> result = study.run(lambda arm: {"fair": 0.5, "bent": 0.75}[arm])
            >>> study.trials_frame().groupby("arm")["reward"].mean().to_dict()
            {'bent': 0.75, 'fair': 0.5}
        """
        require(isinstance(failures, bool), "failures", "true or false", failures)
        pandas = load_extra("pandas", "frame")
        reasons = {each.pull: each for each in self.backend.failures()}
        rows, outcomes = [], dict[str, str]()
        for row, seed in self.backend.observations():
            known, failure = row._asdict(), None if row.pull is None else reasons.pop(row.pull, None)
            known["info"] = None if row.info is None else json.loads(row.info)
            for name, value in (known.pop("outcomes") or {}).items():
                known[outcomes.setdefault(name, outcome_column(name))] = value
            rows.append({**known, "seed": seed, "reason": None if failure is None else failure.reason})
        for each in reasons.values() if failures else ():
            known = ImportedRow(each.arm, math.nan, True, each.worker, each.failed_at, each.pull)._asdict()
            rows.append({**known, "seed": each.seed, "reason": each.reason})
        values = ["reward"] if self.measured is None else list(outcomes.values())
        columns = ["arm", *values, *ImportedRow._fields[2:-1], "seed", "reason"]
        frame: DataFrame = pandas.DataFrame(rows, columns=columns)
        kinds = dict.fromkeys((*values, "price"), "float64") | {"failed": "bool", "item": "Int64", "seed": "Int64"}
        moments = pandas.to_datetime(frame["told_at"], unit="s", utc=True, errors="coerce")  # the year 10,000 has none
        return frame.astype(kinds).assign(told_at=moments)

    def _imported(self, place: str, row: ImportedRow) -> Trial:
        with located(place):
            arm = self._place(row.arm)
            given: Any = Outcome(row.reward if row.outcomes is None else row.outcomes, row.price)
            reward, price, _, outcomes = checked_outcome(self.backend.spec.search, given, row.arm)
        return Trial(arm, reward, *row[2:7], price, row.info, outcomes)

    def plot(self, axes: Axes | None = None, *, plane: bool = False) -> Any:
        """Draw the present result; see `Result.plot`.

        Args:
            axes: Where to draw. Default: a figure of its own.
            plane: Whether to draw the mean-risk plane although there is a control.
        """
        return self.report(expect=False).plot(axes, plane=plane)

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the report as a page: one file that needs no network.

        Args:
            path: The file.
        """
        self.report(history=True).save_html(path)

    def _repr_html_(self) -> str | None:
        """The report for a notebook; None if it cannot be read, so that the notebook shows one line instead."""
        try:
            return self.report()._repr_html_()
        except RamgapeError:
            return None

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
        """Make trials until the goal is reached, and return the result. A study that was interrupted continues.

        If `pull` raises an exception or returns an impossible reward, the trial has failed: see `fail`. When an arm has
        failed too often, the error says why. `pull` may raise that error itself, `FailingArm`; then the trial does not
        count. A trial that is lost with its machine has not failed: it is tried again with another seed. Ctrl-C returns
        the result so far, after a few seconds for running trials (`grace`); a second Ctrl-C ends these.

        Args:
            pull: Makes one trial: `pull(arm)`, or `pull(arm, rng)` with a NumPy generator of that trial's own seed; it
                may be async. It returns a reward, or an `Outcome` with more.
            workers: How many trials at once, in threads or on an event loop; or an executor that makes them, such as a
                process pool; a dask.distributed.Client, "tcp://scheduler:8786", or "dask" for a cluster on this
                machine; the module ray, or "ray". See docs/guides/cluster.md.
            slots: How many trials at once, unless `workers` is a number. Default: as many as a cluster has room for.
            worker: A name for this process, to get its open trials back after a restart. Default: a new name.
            lease: Seconds after which others take over if this process dies; renewed while it runs.
            progress: As for `identify`.
            callback: Called after every result with a `Progress`; a true return value ends the run.
            trials: `Trials(rate=..., timeout=..., retry_on=..., resources=..., grace=...)`, for this run alone:
                docs/guides/parallel.md.
        """
        from ramgape.studies.running import maker_of, run_study

        return run_study(
            self,
            maker_of(pull, self.backend.spec.search.items is not None),
            workers,
            slots,
            worker,
            lease,
            progress,
            callback,
            trials,
        )

    # --- helpers ---------------------------------------------------------------------------------------------------

    @property
    def measured(self) -> tuple[str, ...] | None:
        """The outcomes in objectives and constraints; None where trials give a single reward."""
        outcomes = measured_by(self.backend.spec.search)
        return None if outcomes is None else outcomes.measured

    def _place(self, arm: object) -> int:
        """The number of an arm, by its name."""
        place = self.backend.places.get(arm) if isinstance(arm, str) else None
        if place is None:
            known_name(arm, self.arms, "arm")
            raise AssertionError(arm)
        return place

    def _told_all(self, answers: Sequence[tuple[Pull | str, object]]) -> list[Told]:
        """Check results; with several, an error names the one concerned."""
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
        """Check a result."""
        if price is not None or info is not None or block is not None:
            reward = Outcome(reward, price, info, block)  # type: ignore[arg-type]
        arm = pull.arm if isinstance(pull, Pull) else None
        return Told(pull_id_of(pull), *checked_outcome(self.backend.spec.search, reward, arm))

    def _seen(self, arm: object, given: object) -> Trial:
        """Check a trial made without asking."""
        reward, price, info, outcomes = checked_outcome(self.backend.spec.search, given, arm)
        return Trial(self._place(arm), reward, price=price, info=info, outcomes=outcomes)


def checked_study(
    arms: Iterable[object], data: Iterable[object] | None, options: StudyOptions
) -> tuple[StudySpec, list[Trial]]:
    """Check what a new study is created with; return its specification and the trials made already."""
    spec = make_study_spec(arms, options)
    for arm in spec.search.names:
        require(is_text(arm), "arms", "names that are text, without halves of characters", arm)
    rows = [] if data is None else list(trials_of(data, spec))
    require_room(spec, 0, 0, len(rows))
    require_first_money(spec, rows)
    check_blocks(spec.search, [(row.arm, row.info) for row in rows])
    return spec, rows


def format_of(path: object, form: str | None) -> str:
    """The format of a file: as given, or by the file's ending."""
    if form is None:
        form = Path(path).suffix[1:] if isinstance(path, str | os.PathLike) else "csv"
    return known_name(form, FORMS, "format")
