"""A study in a storage that this process opens: every operation is one transaction, or joins a shared one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Any, TypeVar

from ramgape.errors import (
    DamagedStore,
    FailingArm,
    InvalidData,
    KeyReused,
    RamgapeError,
    StudyExists,
    require,
    shorten,
    unknown_study,
)
from ramgape.search.result import Result, Stopped, updated
from ramgape.storage import Store, open_store
from ramgape.storage.checksums import damaged
from ramgape.storage.memory import MemoryStore
from ramgape.storage.records import FailureRow, Moment, ObservationRow, PullRow, RequestRow, unpack_outcomes
from ramgape.storage.urls import PATIENCE, parse_url
from ramgape.studies.arrivals import with_arm, without_arm
from ramgape.studies.backend import Backend, FailedAttempt, Observed
from ramgape.studies.blocks import check_new_blocks
from ramgape.studies.entries import Results, Told, Trial
from ramgape.studies.exchange import (
    SEEDS,
    Pull,
    PullId,
    Request,
    base_seed,
    first_attempt,
    is_unique,
    new_key,
    seed_of,
    write_pull_id,
)
from ramgape.studies.files import ImportBuffer, ImportedRow, write_rows
from ramgape.studies.report import LAST_ANSWERS, Inference, Report, draft_report, failing_arm, write_time
from ramgape.studies.session import StudySession
from ramgape.studies.specification import StudySpec
from ramgape.studies.state import StudyState
from ramgape.trials.progress import Progress, progress_of

if TYPE_CHECKING:
    from ramgape.trials.monitoring import ProgressMonitor

NUMBER = attrgetter("number")  # of a pull
ANOTHER_KEY = "a new one: this one is that of another request, which was carried out"

Given = TypeVar("Given")


class PartlyDone(Exception):
    """An operation failed after it had changed something in a shared transaction."""


class LocalBackend(Backend):
    """A study in a storage that this process has open."""

    def __init__(self, session: StudySession, storage: str | Store) -> None:
        self.session = session
        self.storage = storage
        self._seed = base_seed(session.spec.seed, session.row.key) & SEEDS
        self._inference: Inference | None = None  # the last one that was looked at
        self._joined: tuple[int, Moment] | None = None  # a thread whose operations share a transaction, and its time

    # --- create, open ------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, storage: str | Store, name: str, spec: StudySpec, exist_ok: bool, rows: Sequence[Trial] = (), key: str = ""
    ) -> LocalBackend:
        """Create a study with the trials made already; with `exist_ok`, or the same `key`, open the one that exists.

        A study with the same `key` was made by an earlier call of the same request.
        """
        backend = cls._create(storage, name, spec, exist_ok, key)
        if rows:
            with backend.session.writing as (state, now):
                if not state.told:  # others may have created it at the same moment, with the same data
                    state.open_batch(len(rows))
                    state.add(rows, now)
                    state.close_batch()
        return backend

    @classmethod
    def _create(cls, storage: str | Store, name: str, spec: StudySpec, exist_ok: bool, key: str) -> LocalBackend:
        store = open_store(storage, create=True)
        try:
            made = store.create_study(name, key or new_key(), spec.to_text(), round(time.time(), 6))
            while made is None and store.find_study(name) is None:  # it was the key that another study has
                if key:
                    allowed = "a new one: this one is that of another study, which was made"
                    raise KeyReused(what="the key of a request", allowed=allowed, given=shorten(key))
                made = store.create_study(name, new_key(), spec.to_text(), round(time.time(), 6))
            if made is not None:
                return cls(StudySession(store, spec, made), storage)
            backend = cls._open(store, name, storage)
            if not exist_ok and backend.session.row.key != key:
                allowed, hint = f"that of no other study in {store.url}", "; load it, or create it with exist_ok"
                raise StudyExists(what="name", allowed=allowed, given=shorten(name), hint=hint)
        except BaseException:
            store.close()
            raise
        differences = backend.spec.differences(spec)
        if differences and backend.spec.first().differences(spec):
            backend.close()
            raise StudyExists(
                f"study {shorten(name)} in {store.url} has another specification: {'; '.join(differences)}"
            )
        return backend

    @classmethod
    def load(cls, name: str, storage: str | Store) -> LocalBackend:
        """Open a study that exists."""
        store = open_store(storage, create=False)
        try:
            return cls._open(store, name, storage)
        except BaseException:
            store.close()
            raise

    @classmethod
    def _open(cls, store: Store, name: str, storage: str | Store) -> LocalBackend:
        row = store.find_study(name)
        if row is None:
            raise unknown_study(name, store.study_names(), store.url)
        spec = StudySpec.from_text(row.specification)
        return cls(StudySession(store, spec, row), storage)

    def close(self) -> None:
        """Close the storage."""
        self.session.close()

    # --- properties --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.session.row.name

    @property
    def url(self) -> str:
        """Where the storage is."""
        return self.session.store.url

    @property
    def spec(self) -> StudySpec:
        """The specification of the study."""
        return self.session.spec

    @property
    def durable(self) -> bool:
        """Whether the storage outlasts the process."""
        return not isinstance(self.session.store, MemoryStore)

    @property
    def patience(self) -> float:
        """For how many seconds to wait for other processes, as the URL says."""
        if not self.durable:
            return 0.0
        return parse_url(self.storage).patience if isinstance(self.storage, str) else PATIENCE

    # --- transactions ------------------------------------------------------------------------------------------------

    def together(self, operations: Sequence[Callable[[], Given]]) -> list[Given | Exception]:
        """Carry out several operations in one transaction; return the result or the error of each.

        An operation that fails has changed nothing, and the others count. If one had changed something before it
        failed, or an unexpected error occurred, each is carried out by itself.
        """
        if len(operations) == 1:
            return [attempt(operations[0])]
        outcomes: list[Given | Exception] = []
        all_made = False
        try:
            with self._sharing():
                for operation in operations:
                    before = self._changes()
                    try:
                        outcomes.append(operation())
                    except RamgapeError as error:
                        if self._changes() != before:
                            raise PartlyDone from error
                        outcomes.append(error)
                all_made = True
        except RamgapeError as error:  # the store's
            return [error] * len(operations)
        except Exception as error:  # noqa: BLE001 - the others must not fail with it
            if all_made:  # it is the commit that failed, or perhaps did not
                return [error] * len(operations)
            return [attempt(operation) for operation in operations]
        return outcomes

    def once(self, key: str, digest: str, operate: Callable[[], str]) -> str:
        """Carry out a request once: repeated with the same key, it gets its first answer and changes nothing.

        The storage keeps key and answer in the transaction of the change. A request that changed nothing is not kept.

        Args:
            key: By which a request says that it is the same.
            digest: Of what it asks for: another request may not have the same key.
            operate: Gives the answer.
        """
        with self._sharing() as (state, now):
            made = self.session.find_request(key)
            if made is not None:
                require(made.digest == digest, "the key of a request", ANOTHER_KEY, key, KeyReused)
                return made.answer
            before = state.changes.count()
            answer = operate()
            after = self.session.known  # another state, if the study has another specification now
            assert after is not None
            if after is not state or after.changes.count() != before:
                after.changes.requests.append(RequestRow(key, digest, answer, now.time))
            return answer

    @contextmanager
    def _sharing(self) -> Iterator[tuple[StudyState, Moment]]:
        """Open a transaction that all operations of this thread share."""
        with self._transaction(write=True) as (state, now):
            before, self._joined = self._joined, (threading.get_ident(), now)
            try:
                yield state, now
            finally:
                self._joined = before

    def _changes(self) -> int:
        """How much the transaction in progress has changed."""
        state = self.session.known
        return 0 if state is None else state.changes.count()

    def _transaction(self, write: bool) -> AbstractContextManager[tuple[StudyState, Moment]]:
        """A transaction of its own, or the shared one of this thread; it gives the current state and the time."""
        joined = self._joined
        if joined is None or joined[0] != threading.get_ident():
            return self.session.writing if write else self.session.reading
        assert self.session.known is not None
        return nullcontext((self.session.known, joined[1]))

    # --- pulls -------------------------------------------------------------------------------------------------------

    def exchange(self, results: Results, request: Request) -> tuple[list[bool], list[Pull], bool]:
        """Take in results and hand out trials: which were accepted, the next ones, whether the goal is reached."""
        rows: list[PullRow] = []
        with self._transaction(write=True) as (state, now):
            for each in results.told:
                if each.info is not None:
                    self._check_told_blocks(state, results.told)
                    break
            accepted = state.take_in(results, now, self.session.find_answer)
            if request.wanted:
                known = frozenset(map(NUMBER, request.known)) if request.known else frozenset()
                try:
                    rows = state.ask(*request[:3], known, now, alone=not accepted)
                except FailingArm as failing:
                    raise self._explained(state, str(failing)) from None
            done = state.done
        return accepted, list(map(self._pull, rows)), done

    def leave(self, worker: str) -> int:
        """Release the open trials of a worker; return how many there were."""
        with self._transaction(write=True) as (state, _):
            return state.leave(worker)

    def workers(self) -> list[str]:
        """The workers that have open trials."""
        with self._transaction(write=False) as (state, _):
            return state.workers

    def renew(self, pull_ids: Sequence[PullId], seconds: float) -> list[bool]:
        """Renew leases; return which of the trials are still the caller's."""
        with self._transaction(write=True) as (state, now):
            return state.renew(pull_ids, seconds, now)

    def retry(self) -> int:
        """Make trials that were given up available; return how many."""
        with self._transaction(write=True) as (state, _):
            return state.retry()

    def observe(self, trials: Sequence[Trial]) -> bool:
        """Record trials made elsewhere, one after the other; return whether the goal is reached."""
        with self._transaction(write=True) as (state, now):
            check_new_blocks(self.session, state, [(each.arm, each.info) for each in trials])
            state.observe(trials, now)
            return state.done

    def take_in(self, buffer: ImportBuffer) -> None:
        """Record a batch of trials made elsewhere."""
        with self._transaction(write=True) as (state, now):
            self._refuse_known(state, buffer)
            state.open_batch(buffer.count)
            for trials in buffer:
                check_new_blocks(self.session, state, [(each.arm, each.info) for each in trials])
                state.add(trials, now)
                self.session.flush()
            state.close_batch()

    def _refuse_known(self, state: StudyState, buffer: ImportBuffer) -> None:
        """Refuse trials of an export that the study has already: they would count twice."""
        coming: set[str] = set()
        for name in (first_attempt(each.origin) for trials in buffer for each in trials if is_unique(each.origin)):
            require(name not in coming, f"trial {name}", "in the file once", "twice", InvalidData)
            coming.add(name)
        for row in (row for page in self.session.pages(0, state.told if coming else 0) for row in page):
            known = row.origin if row.token is None else write_pull_id(row.token, row.number or 0, 1)
            if known is not None and first_attempt(known) in coming:
                allowed = "new to the study, which has it already and would count it twice"
                raise InvalidData(what=f"trial {known}", allowed=allowed)

    def _check_told_blocks(self, state: StudyState, told: Sequence[Told]) -> None:
        """Refuse blocks in which an arm has a trial already; the same result reported again is no second trial."""
        fresh = {each.pull_id.number: each.info for each in told if each.info is not None}
        pulls = ((state.open.get(number), info) for number, info in fresh.items())
        unanswered = [(pull.arm, info) for pull, info in pulls if pull is not None and pull.answer is None]
        check_new_blocks(self.session, state, unanswered)

    def _pull(self, row: PullRow) -> Pull:
        number, attempt = row.number, row.attempt
        seed = seed_of(self._seed, number, attempt)
        items = self.session.spec.search.items
        item = None if items is None or row.item is None else items.values[row.item]
        return Pull(write_pull_id(row.token, number, attempt), self.session.spec.search.names[row.arm], seed, item)

    def _explained(self, state: StudyState, arm: str) -> FailingArm:
        """The error that says why an arm gets no more trials."""
        place = self.places[arm]
        failures = [each for each in self._failures() if each.arm == place]
        return failing_arm(arm, failures, state.spec.retries)

    # --- larger goals and other arms ---------------------------------------------------------------------------------

    def extend(self, asked: Mapping[str, Any]) -> bool:
        """Continue with a larger goal; return whether there is more to try."""
        from ramgape.studies.extending import extended

        with self._transaction(write=True) as (state, now):
            spec = extended(state.spec, dict(asked), state.told, state.done, now.time)
            return not (state if spec == state.spec else self.session.change(spec)).done

    def add_arm(self, name: str, price: float | None) -> bool:
        """Add an arm; return whether there is more to try."""
        with self._transaction(write=True) as (state, now):
            spec = with_arm(state.spec, name, price, state.told, write_time(now.time))
            return not self.session.change(spec).done

    def retire(self, name: str) -> bool:
        """Retire an arm; return whether there is more to try."""
        with self._transaction(write=True) as (state, now):
            spec = without_arm(state.spec, name, state.told, write_time(now.time))
            return not self.session.change(spec).done

    # --- results -----------------------------------------------------------------------------------------------------

    def is_done(self) -> bool:
        """Whether the goal is reached."""
        with self._transaction(write=False) as (state, _):
            return state.done

    def result(self, ended: Stopped, expect: bool) -> Result:
        """The result so far; other operations do not wait for it."""
        with self._transaction(write=False) as (state, _):
            inference = self._inference_of(state)
        return inference.result(ended, expect)

    def report(self, expect: bool, history: bool) -> Report:
        """The result so far, and how the study is going."""
        with self._transaction(write=False) as (state, _):
            store, row = self.session.store, self.session.row
            failures = self._failures()
            if len(failures) != state.failed:
                damaged(store.url, f"there are {len(failures)} of {state.failed} failures")
            last: Sequence[ObservationRow] = ()
            with suppress(DamagedStore):  # remarks are not part of the result; readers of the rows get the error
                last = store.read_rows(row.id, max(state.told - LAST_ANSWERS, 0), state.told)
            inference, draft = self._inference_of(state), draft_report(row, state, failures, last)
            points = self.session.history() if history else tuple
        return Report(result=updated(inference.result("open", expect), history=points()), **draft)

    def _inference_of(self, state: StudyState) -> Inference:
        """Infer from a copy of the search, so that no operation waits; cached until the study changes."""
        if self._inference is None or not self._inference.is_of(state):
            self._inference = Inference(state, self.session.quality())
        return self._inference

    def progress(self) -> Progress:
        """How far it is, as far as this process knows."""
        return self._look(lambda state: progress_of(state.engine))

    def show(self, monitor: ProgressMonitor) -> None:
        """Show the progress of the search, as far as this process knows it."""
        self._look(lambda state: monitor.observe(state.engine))

    def _look(self, look: Callable[[StudyState], Given]) -> Given:
        if self.session.known is not None:
            return look(self.session.known)
        with self._transaction(write=False) as (state, _):
            return look(state)

    # --- all trials --------------------------------------------------------------------------------------------------

    def observations(self) -> Iterator[Observed]:
        """All observations so far, in their order."""
        return map(self.described, self.session.observations())

    def described(self, row: ObservationRow) -> Observed:
        """An observation, as people read it."""
        pull, seed = row.origin, None
        if row.number is not None:
            seed = seed_of(self._seed, row.number, row.attempt)
            if row.token is not None:
                pull = write_pull_id(row.token, row.number, row.attempt)
        known = (self.spec.search.names[row.arm], row.reward, row.failed, row.worker, row.told_at, pull)
        outcomes = None if row.outcomes is None else unpack_outcomes(row.outcomes, self.outcome_names)
        return Observed(ImportedRow(*known, row.item, row.price, row.info, outcomes), seed)

    def export(self, path: str | os.PathLike[str] | IO[str], form: str) -> int:
        """Write all observations into a file, or to a stream; return how many."""
        return write_rows(path, form, lambda: (seen.row for seen in self.observations()))

    @property
    def outcome_names(self) -> list[str]:
        """The names of all outcomes that trials have given, as far as this process knows."""
        return [] if self.session.known is None else self.session.known.outcome_names

    def failures(self) -> list[FailedAttempt]:
        """All attempts that failed."""
        with self._transaction(write=False):
            rows = self._failures()
        return [
            FailedAttempt(
                write_pull_id(each.token, each.number, each.attempt),
                self.spec.search.names[each.arm],
                each.worker,
                each.reason,
                each.failed_at,
                seed_of(self._seed, each.number, each.attempt),
            )
            for each in rows
        ]

    def _failures(self) -> list[FailureRow]:
        return self.session.store.read_failures(self.session.row.id)


def attempt(operation: Callable[[], Given]) -> Given | Exception:
    """Return the result of an operation, or its error."""
    try:
        return operation()
    except Exception as error:  # noqa: BLE001 - raised where it was asked for
        return error
