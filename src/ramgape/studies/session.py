"""The transactions of a study: each reads what other processes have written, changes the state, and writes that.

Threads take turns. After an error nothing of an operation remains, neither in the storage nor in memory.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict

import numpy as np

from ramgape.errors import DamagedStore, RamgapeError, StorageError, StorageUnavailable, shorten
from ramgape.search.explained import jsonable
from ramgape.search.history_point import HistoryPoint
from ramgape.search.outcome import TOLD_PRICES
from ramgape.search.quality import TrialQuality, with_names
from ramgape.storage.checksums import chain_over, damaged, next_chain
from ramgape.storage.protocol import Store
from ramgape.storage.records import AnswerRow, Changes, Moment, ObservationRow, RequestRow, StudyRow
from ramgape.studies.entries import Seen, columns_of
from ramgape.studies.report import Certificate, Inference
from ramgape.studies.specification import StudySpec
from ramgape.studies.state import StudyState, names_in
from ramgape.trials.history import Recorder

FORK_PATIENCE = 10.0  # seconds that a fork waits for the operations of other threads
PAGE = 1_000  # observations that are read at a time: without a write-ahead log nothing is committed meanwhile
TIMED_OUT = ("TimeoutError", "FailedTrial: timeout", "timeout")  # how the reasons of such failures begin
SNAPSHOT_EVERY = 1_000  # observations: to learn so many again takes about a second


class StudySession:
    """One study in one process."""

    def __init__(self, store: Store, spec: StudySpec, row: StudyRow) -> None:
        self.store = store
        self.spec = spec
        self.row = row
        self._lock = threading.RLock()
        self._holder: int | None = None  # the thread with an operation under way
        self._state: StudyState | None = None
        self._place = 0  # of the first observation that is not written yet
        self._time = 0.0  # of the transaction under way
        self.waited = 0.0  # seconds that the transaction under way, or the last one, has waited for the store
        self._flushed = False  # some of those in the transaction under way are
        self._ended = False  # the study had ended, with its present goal, before the transaction under way
        self._snapshot_at = 0  # observations that the last snapshot stands for, as far as is known here
        self._interval = max(SNAPSHOT_EVERY, 10 * len(spec.search.names))  # observations between two of them
        # The state, up to date, and the time; with `writing`, what changes in it is written at the end.
        self.writing, self.reading = Transaction(self, True), Transaction(self, False)
        _SESSIONS.add(self)

    @property
    def is_changed(self) -> bool:
        """Whether the state differs from what is stored."""
        return self._flushed or (self._state is not None and self._state.changes.any())

    @property
    def known(self) -> StudyState | None:
        """The state after the last transaction."""
        return self._state

    def observations(self) -> Iterator[ObservationRow]:
        """All observations so far, in their order.

        Each page is read in a transaction of its own, so a slow reader does not keep others from writing. Observations
        are only ever added at the end, so the pages belong together.
        """
        with self.reading as (state, _):
            told = state.told
        chain, where = 0, self.store.url
        for start in range(0, told, PAGE):
            stop = min(start + PAGE, told)
            with self.reading:
                page = self.store.read_rows(self.row.id, start, stop)
            if len(page) != stop - start:
                damaged(where, f"there are {len(page)} of {stop - start} observations from {start} on")
            for row in page:
                chain = next_chain(chain, row.arm, row.reward)
                if chain != row.chain:
                    damaged(where, "an observation does not belong behind the one before it")
                yield row

    def pages(self, start: int, stop: int) -> Iterator[list[ObservationRow]]:
        """Observations from one place to before another, some at a time, inside a transaction."""
        for first in range(start, stop, PAGE):
            yield self.store.read_rows(self.row.id, first, min(first + PAGE, stop))

    def quality(self) -> TrialQuality:
        """Count the trials that gave no result, inside a transaction."""
        state, names = self._state, self.spec.search.names
        assert state is not None
        failures = self.store.read_failures(self.row.id) if state.failed else []
        found: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
        for each in failures:
            found[each.reason.startswith(TIMED_OUT)][each.arm] += 1
        return TrialQuality(
            failures=with_names(found[False], names),
            timeouts=with_names(found[True], names),
            expired=with_names(state.expired, names),
            lost=with_names(state.lost_of, names),
            counted=self.spec.counts_failures,
            overtaken=not self.spec.in_order and self._is_overtaken(state),
        )

    def _is_overtaken(self, state: StudyState) -> bool:
        """Whether a result was counted before that of an earlier trial."""
        numbers = np.array(self.store.read_answered(self.row.id, 0), np.int64)
        early = [pull.number for pull in state.open.values() if not pull.given_up]
        return bool((np.diff(numbers) < 0).any() or min(early, default=math.inf) < numbers.max(initial=-1))

    def history(self) -> Callable[[], tuple[HistoryPoint, ...]]:
        """Read all observations before the end, inside a transaction; what is returned finds what was known on the way.

        To be called after the transaction: it learns all of them again, and others must be able to write meanwhile.
        """
        state = self._state
        assert state is not None
        again = StudyState(self.spec, self.row)
        recorder, seen = Recorder(again.engine), self._read(state.row(), 0).part(0, state.told - state.late)

        def points() -> tuple[HistoryPoint, ...]:
            start = 0
            while start < len(seen.arms):
                stop = min(start + recorder.pulls_until_next, len(seen.arms))
                again.learn_many(seen.part(start, stop), may_stop=False)
                recorder.note()
                start = stop
            return recorder.points()

        return points

    # --- transactions ----------------------------------------------------------------------------------------------

    def find_answer(self, number: int) -> AnswerRow | None:
        """The result of a trial, also one that is not written yet; to be called inside a transaction."""
        assert self._state is not None
        unwritten = (row.answer() for row in self._state.changes.observations if row.number == number)
        return next(unwritten, None) or self.store.read_answer(self.row.id, number)

    def find_request(self, key: str) -> RequestRow | None:
        """The request of a key, if it was made; likewise. A storage of your own may keep none."""
        assert self._state is not None
        unwritten = (made for made in self._state.changes.requests if made.key == key)
        read = getattr(self.store, "read_request", None)
        return next(unwritten, None) or (None if read is None else read(self.row.id, key))

    def begin(self, write: bool) -> tuple[StudyState, Moment]:
        """Begin a transaction, and catch up with what others have written."""
        try:
            self._lock.acquire()
        except BaseException:
            if self._holder is None and self._lock._is_owned():  # type: ignore[attr-defined]
                self._lock.release()  # an interrupt came just after it
            raise
        if self._holder is not None:
            self._lock.release()
            raise StorageError(
                f"study {self.row.name!r} must be left alone by whatever interrupts an operation on it, such as a "
                "signal handler: have it set a flag, and look at that between two operations"
            )
        self._holder = threading.get_ident()
        try:
            before = time.perf_counter()
            row, now = self.store.begin(self.row.id, write)
            self.waited = time.perf_counter() - before
        except StorageUnavailable:
            self.undo(unchanged=True)
            raise
        except BaseException:
            self.undo()
            raise
        try:
            if row.specification != self.row.specification:  # more was asked for, or a copy restored
                self.spec, self.row, self._state = StudySpec.from_text(row.specification), row, None
            if self._state is None:
                self._state = self._new_state(row)
            if not self._state.is_of(row):
                self._catch_up(row, now)
            self._place, self._ended, self._time = self._state.told, self._state.done, now.time
            return self._state, now
        except BaseException:
            self.undo()
            raise

    def _new_state(self, row: StudyRow) -> StudyState:
        """A state to catch up from: that of a snapshot that can be relied on, or an empty one.

        The snapshot has its own checksum, and the last observation in it must be stored, sound and with the same check
        value of all before it.
        """
        state, self._snapshot_at = StudyState(self.spec, self.row), 0
        if row.told < SNAPSHOT_EVERY:
            return state
        with suppress(DamagedStore):  # then all is read
            snapshot = self.store.read_snapshot(self.row.id)
            if snapshot is not None and snapshot.told <= row.told:
                last = self.store.read_rows(self.row.id, snapshot.told - 1, snapshot.told)
                if [seen.chain for seen in last] == [snapshot.chain] and state.restore(snapshot):
                    self._snapshot_at = snapshot.told
        return state

    def _save_snapshot(self, state: StudyState) -> None:
        """Store what was learned from the observations. These are stored already, so an error here loses nothing."""
        self._snapshot_at = state.told
        snapshot = state.snapshot()
        if snapshot is not None:
            with suppress(Exception):
                self.store.save_snapshot(self.row.id, snapshot)

    def _catch_up(self, row: StudyRow, now: Moment) -> None:
        """Read what others have written since the state was up to date, and no more than that."""
        store, study, state = self.store, self.row.id, self._state
        assert state is not None
        seen = columns_of((), self.spec.search, ()) if row.told == state.told else self._read(row, state.told)
        if len(seen.arms) != row.told - state.told or chain_over(state.chain, seen.arms, seen.rewards) != row.chain:
            if not state.told:
                damaged(store.url, f"the observations of study {shorten(row.name)} are not what was written")
            self._state, self._snapshot_at = StudyState(self.spec, self.row), 0  # perhaps a copy was restored
            return self._catch_up(row, now)
        anew = not state.revision or row.revision <= state.revision  # a store that was restored may have gone back
        answered = None if anew else store.read_answered(study, state.told) if len(seen.arms) else []
        batches = store.read_batches(study, state.told) if row.batches != state.batches else []
        if len(batches) != row.batches - state.batches:
            damaged(store.url, f"there are {len(batches)} of {row.batches - state.batches} batches")
        pulls = store.read_pulls(study, now, None if anew else state.revision)
        state.catch_up(row, seen, batches, pulls, answered)
        return None

    def _read(self, row: StudyRow, start: int) -> Seen:
        """The observations from a place on, in the transaction in progress."""
        search = self.spec.search
        if getattr(search, "outcomes", None) is None and search.price != TOLD_PRICES:
            return Seen(*self.store.read_observations(row.id, start))
        # From whole rows, each with its own checksum: the chain covers arms and rewards only.
        rows = (each for page in self.pages(start, row.told) for each in page)
        return columns_of(rows, search, names_in(row))

    def flush(self) -> None:
        """Write the observations so far, in the transaction in progress, so a long import need not fit into memory."""
        assert self._state is not None
        rows = self._state.changes.observations
        self._flushed = True
        self.store.add_observations(self.row.id, rows, self._place)
        self._place += len(rows)
        rows.clear()

    def change(self, spec: StudySpec) -> StudyState:
        """Give the study a specification with a larger goal or other arms, in the transaction in progress.

        All observations are learned again, as they are when the study is opened later.
        """
        before, store, study = self._state, self.store, self.row.id
        assert before is not None
        assert not self.is_changed  # which would be lost
        row = before.row()._replace(specification=spec.to_text())
        if spec.arm_changes != self.spec.arm_changes:
            row = row._replace(decision=before.stands())  # the rule says it by numbers that other arms have now
        state = StudyState(spec, row)
        pulls = list(before.open.values())
        state.begin_again(row, self._read(row, 0), store.read_batches(study, 0), pulls)
        self.spec, self.row, self._state, self._snapshot_at, self._ended = spec, row, state, 0, False
        return state

    def commit(self) -> None:
        """Write what has changed, if anything, and end the transaction."""
        state = self._state
        assert state is not None
        try:
            if self._flushed or state.changes.any():
                if state.done and not self._ended:
                    self._certify(state)
                state.revision += 1
                if state.changes.new_pulls:
                    state.changes.settle()
                self.store.write(state.row(), state.changes, self._place)
                self.store.commit()
                state.changes = Changes()
                self._flushed = False
            else:
                self.store.rollback()
        except BaseException:
            self.undo()
            raise
        try:
            if state.told - self._snapshot_at >= self._interval:
                self._save_snapshot(state)
        finally:
            self._holder = None
            self._lock.release()

    def _certify(self, state: StudyState) -> None:
        """Note what is certified at the end, with the version that certifies it."""
        with suppress(Exception):  # the answer that ended the study must be stored, whatever becomes of this
            proved = Certificate.of(Inference(state, self.quality()).result("open", expect=False), self._time)
            state.certificate = None if proved is None else jsonable(asdict(proved))

    def undo(self, unchanged: bool = False) -> None:
        """End the transaction as if it had never been. Unless nothing has changed, all is read again next time."""
        try:
            if not unchanged or self.is_changed:
                self._state = None
                self._flushed = False
            self.store.rollback()
        finally:
            self._holder = None
            self._lock.release()

    def close(self) -> None:
        """Close the storage, unless a signal handler calls this during an operation of its own thread."""
        with self._lock:
            if self._holder is not None:
                return
            self.store.close()

    def interrupt(self) -> None:
        """End the wait of the operation in progress for the storage; may be called from any thread."""
        interrupt = getattr(self.store, "interrupt", None)  # one from outside may have none
        if interrupt is not None:
            interrupt()

    def pause(self) -> bool:
        """Wait for operations in progress and block new ones until `resume`; False if that takes too long."""
        return self._lock.acquire(timeout=FORK_PATIENCE)

    def resume(self) -> None:
        """Go on after a pause."""
        self._lock.release()

    def renew_after_fork(self) -> None:
        """The child's own lock if another thread has the parent's: that thread is not here to release it."""
        if self._holder not in (None, threading.get_ident()):
            self._lock, self._holder, self._state = threading.RLock(), None, None


class Transaction:
    """One operation on a study. A class, since entering a generator would take longer than many an operation."""

    __slots__ = ("_session", "_write")

    def __init__(self, session: StudySession, write: bool) -> None:
        self._session = session
        self._write = write

    def __enter__(self) -> tuple[StudyState, Moment]:
        return self._session.begin(self._write)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._write:
            self._session.commit()
        else:
            # A step that raises our own errors has changed nothing, though those before it may; an interrupt may come
            # anywhere.
            self._session.undo(unchanged=kind is None or issubclass(kind, RamgapeError))


# A fork waits for the operations of other threads: half of a transaction is of no use to a child, and SQLite would take
# the parent's locks for the child's own.
_SESSIONS: weakref.WeakSet[StudySession] = weakref.WeakSet()
_PAUSED = threading.local()


def _before_fork() -> None:
    _PAUSED.sessions = [session for session in list(_SESSIONS) if session.pause()]


def _after_fork() -> None:
    while _PAUSED.sessions:
        _PAUSED.sessions.pop().resume()


def _after_fork_in_child() -> None:
    _after_fork()
    for session in list(_SESSIONS):
        session.renew_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
