"""The studies that the server has open, each with a queue of commits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter

from ramgape.errors import UnknownStudy
from ramgape.storage import Store, open_store
from ramgape.storage.records import StudyRow
from ramgape.storage.store import SqlStore
from ramgape.studies.local import LocalBackend
from ramgape.studies.study import Study
from ramgape.web.access.limits import charged
from ramgape.web.commit_queue import CommitQueue, CommittedBatch, Operation
from ramgape.web.metrics import Metrics
from ramgape.web.streams import ListStream, StudyStream

LOOKS = 4  # at a study at once: who waits for its store keeps none waiting who asks for something else
LISTS = 16  # likewise at the list of studies
MOST_OPEN = 256  # open at a time; beyond that, those unused for longest are closed


Given = TypeVar("Given")


class OpenStudy:
    """An open study.

    Attributes:
        id, name: Of the study.
        study: To read; changes go through `make`.
        after_commit: Called after every transaction of ours, in the thread of the queue; they must be quick.
        live: What those who follow it are sent.
        used_at: When it was last asked for.
    """

    def __init__(self, row: StudyRow, storage: str, metrics: Metrics) -> None:
        self.id, self.name = row.id, row.name
        self.backend = LocalBackend.load(row.name, storage)
        self.study = Study(self.backend)
        self.study.done  # noqa: B018 - compiled, and learnt, before others wait for it
        self._looks = CapacityLimiter(LOOKS)
        self.live = StudyStream(self.backend.session, partial(LocalBackend.load, row.name, storage), self.in_thread)
        self.after_commit: list[Callable[[], None]] = [self.live.committed]
        self.used_at = time.monotonic()
        self._metrics = metrics
        self._reclaimed: tuple[object, int] = None, 0  # by a state, as far as it is counted
        self._commits = CommitQueue(self.backend, self._after)

    async def in_thread(self, look: Callable[[], Given]) -> Given:
        """Run what reads the study, or changes it alone, in another thread, since it may take long."""
        return await anyio.to_thread.run_sync(charged, look, limiter=self._looks)

    def make(self, operation: Operation) -> asyncio.Future[object]:
        """Have something done that changes the study, in a transaction with whatever else waits."""
        return self._commits.submit(operation)

    def _after(self, batch: CommittedBatch) -> None:
        self._count(batch)
        for hook in self.after_commit:
            with suppress(Exception):  # a subscriber must not stop the work
                hook()

    def _count(self, batch: CommittedBatch) -> None:
        metrics, state = self._metrics, self.backend.session.known
        metrics.count("ramgape_transactions_total")
        metrics.observe("ramgape_transaction_operations", batch.operations)
        metrics.observe("ramgape_transaction_seconds", batch.seconds)
        metrics.observe("ramgape_queue_wait_seconds", batch.queued)
        metrics.observe("ramgape_lock_wait_seconds", batch.locked_out)
        if state is not None:
            before = self._reclaimed[1] if self._reclaimed[0] is state else 0
            if state.reclaimed > before:
                metrics.count("ramgape_expired_leases_total", state.reclaimed - before)
            self._reclaimed = state, state.reclaimed

    @property
    def subscribers(self) -> int:
        """How many follow it."""
        return len(self.live.subscribers)

    def hurry(self) -> None:
        """Wait for nothing that may take long; to be called before `close`."""
        self._commits.hurry()

    def close(self) -> None:
        """Finish what waits, and let go of the store."""
        self._commits.close()
        self.live.close()
        self.study.close()


class Found(NamedTuple):
    """What a list shows of a study's answer."""

    front: list[str]
    doubt: float
    sentence: str


class OpenStudies:
    """The studies of one store, by their numbers.

    Args:
        storage: The URL of the store; it is made if there is none.
        metrics: What is counted of them.
    """

    def __init__(self, storage: str, metrics: Metrics | None = None) -> None:
        self.storage = storage
        self.metrics = metrics or Metrics()
        self._store = open_store(storage, create=True)
        self._lock = threading.Lock()  # of the store, which one thread uses at a time
        self._lists, self._openings = CapacityLimiter(LISTS), CapacityLimiter(LISTS)
        self._open: dict[int, OpenStudy] = {}
        self._opening: dict[int, asyncio.Task[OpenStudy]] = {}
        self._found: dict[int, tuple[int, Found]] = {}  # by number: at which revision, and what
        self._looking: set[int] = set()
        self.listed: ListStream | None = None  # for those who watch the list
        self._looker = ThreadPoolExecutor(1, "ramgape-looker")

    async def in_thread(self, look: Callable[[], Given]) -> Given:
        """What the store gives; in another thread."""
        return await anyio.to_thread.run_sync(charged, look, limiter=self._lists)

    @property
    def open(self) -> dict[int, OpenStudy]:
        """Those that are open, by number."""
        return self._open

    async def opened(self, study_id: int) -> OpenStudy:
        """A study, opened if need be."""
        found = self._open.get(study_id)
        if found is None:
            task = self._opening.get(study_id)
            if task is None:
                task = self._opening[study_id] = asyncio.ensure_future(self._enter(study_id))
                task.add_done_callback(lambda _: self._opening.pop(study_id, None))
            found = await asyncio.shield(task)
        found.used_at = time.monotonic()
        return found

    async def _enter(self, study_id: int) -> OpenStudy:
        row = await self.in_thread(partial(self.row, study_id))
        opened = await anyio.to_thread.run_sync(OpenStudy, row, self.storage, self.metrics, limiter=self._openings)
        self._open[study_id] = opened
        idle = sorted((each for each in self._open.values() if not each.subscribers), key=lambda each: each.used_at)
        for each in idle[: max(len(self._open) - MOST_OPEN, 0)]:
            del self._open[each.id]
            await self.in_thread(each.close)
        return opened

    async def leave(self, study_id: int) -> None:
        """Close a study, for example because it is deleted."""
        opened = self._open.pop(study_id, None)
        if opened is not None:
            await self.in_thread(opened.close)

    # --- what was found -----------------------------------------------------------------------------------------------

    def found(self, row: StudyRow) -> Found | None:
        """The answer of a study by now; None if it was not read since it changed: then it is read soon."""
        known = self._found.get(row.id)
        if known is not None and known[0] == row.revision:
            return known[1]
        if row.id not in self._looking:
            self._looking.add(row.id)
            self._looker.submit(self._look, row)
        return None if known is None else known[1]

    def found_at(self, study_id: int) -> int | None:
        """At which revision of a study its answer was last read."""
        known = self._found.get(study_id)
        return None if known is None else known[0]

    def _look(self, row: StudyRow) -> None:
        """Look at a study whose answer a list shows; of one that cannot be read, there is none."""
        with suppress(Exception):
            opened = self._open.get(row.id)
            backend = LocalBackend.load(row.name, self.storage) if opened is None else opened.backend
            result = backend.result("open", False)
            if opened is None:
                backend.close()
            doubt = max(arm.doubt for arm in result.arms)
            self._found[row.id] = row.revision, Found(list(result.answer), doubt, result.sentence)
        self._looking.discard(row.id)

    # --- the store ----------------------------------------------------------------------------------------------------

    def row(self, study_id: int) -> StudyRow:
        """The row of a study, by its number."""
        with self.store() as store:
            try:
                return store.begin(study_id, False)[0]
            except UnknownStudy:
                raise unknown_number(study_id) from None
            finally:
                store.rollback()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store, for one thread at a time."""
        with self._lock:
            yield self._store

    def close(self) -> None:
        """Let go of the store. Whatever waits for it by now waits no longer."""
        self._looker.shutdown(wait=False, cancel_futures=True)
        studies = list(self._open.values())
        for opened in studies:
            opened.hurry()
        if isinstance(self._store, SqlStore):
            self._store.interrupt()
        for opened in studies:
            opened.close()
        self._open.clear()
        with self._lock:
            self._store.close()


def unknown_number(study_id: int) -> UnknownStudy:
    """What to say of a number that no study has, or none that one may see."""
    return UnknownStudy(what="study", allowed="the number of one in the list of studies", given=str(study_id))
