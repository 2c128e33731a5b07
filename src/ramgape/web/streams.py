"""Who watches studies, and what they are sent: server-sent events.

Each study has one task while it has subscribers. It makes a picture when something has changed, at most four a second
and more rarely where one takes long, and hands the same bytes to all. Each subscriber has a slot for one event: a slow
one misses what is out of date, and delays no other.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import closing, suppress
from typing import Any, TypeVar

from ramgape.errors import RamgapeError, UnknownStudy
from ramgape.search.result import Expectation
from ramgape.storage.records import StudyRow
from ramgape.studies.local import LocalBackend
from ramgape.studies.session import StudySession
from ramgape.trials.monitoring import Forecaster
from ramgape.trials.remaining import expect_pulls
from ramgape.web.frame import make_frame
from ramgape.web.history import History
from ramgape.web.snapshot import Snapshot, make_picture, take_snapshot

PERIOD = 0.25  # seconds between two pictures, at least
COST = 20.0  # and so many times as long as one takes
FOREIGN = 0.5  # seconds after which others, who write to the same store, are looked for
KEEP_ALIVE = 15.0  # seconds without an event, before a comment says that the stream still stands
RETRY = b"retry: 2000\n\n"  # milliseconds after which a browser comes back
STILL_HERE = b": still here\n\n"
FAILURE_PAUSE = 5.0  # seconds between two counts of failures by arm
LIST_PERIOD = 1.0  # seconds between two looks at the list, at least
LOST = 2.0  # seconds after which a store that cannot be reached is tried again

Made = TypeVar("Made")
RunInThread = Callable[[Callable[[], Made]], Awaitable[Made]]


def event(name: str, data: Any, number: int | None = None) -> bytes:
    """One event of a stream.

    >>> event("picture", {"told": 3}, 7)
    b'id: 7\\nevent: picture\\ndata: {"told":3}\\n\\n'
    """
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {name}\ndata: {json.dumps(data, separators=(',', ':'), allow_nan=False)}\n\n".encode()


class Slot:
    """What one monitor is to be sent next: one event, the latest, and a frame that it needs for that."""

    def __init__(self) -> None:
        self._event: bytes | None = None
        self._frame = b""
        self._filled = asyncio.Event()

    def offer(self, latest: bytes | None, frame: bytes = b"") -> None:
        """Put the latest event in, in place of one that was not fetched; None ends the stream."""
        self._event, self._frame = latest, frame or self._frame
        self._filled.set()

    async def take(self) -> bytes | None:
        """The event, when there is one; a comment if there is none for long."""
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                await self._filled.wait()
        except TimeoutError:
            return STILL_HERE
        self._filled.clear()
        frame, self._frame = self._frame, b""
        return None if self._event is None else frame + self._event


class Subscribers:
    """Those who watch the same thing, and the task that shows it to them while there are any."""

    def __init__(self, show: Callable[[], Awaitable[None]]) -> None:
        self._show = show
        self._slots: set[Slot] = set()
        self._task: asyncio.Task[None] | None = None
        self.latest: bytes | None = None
        self.over = False

    def __len__(self) -> int:
        return len(self._slots)

    def publish(self, latest: bytes, frame: bytes = b"") -> None:
        """Give all of them an event; with a frame, which none misses, where the frame has changed."""
        self.latest = latest
        for slot in self._slots:
            slot.offer(latest, frame)

    def end(self) -> None:
        """There is nothing more to see; from any thread."""
        self.over = True
        for slot in list(self._slots):
            slot.offer(None)

    async def stream(self, first: bytes | None) -> AsyncIterator[bytes]:
        """What one of them is sent, from the first event on, for as long as it watches."""
        slot = Slot()
        self._slots.add(slot)
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._run())
            if first is not None:
                yield first
            while not self.over and (sent := await slot.take()) is not None:
                yield sent
        finally:
            self._slots.discard(slot)

    async def _run(self) -> None:
        while self._slots and not self.over:
            await self._show()


class StudyStream:
    """One study that is open here: its pictures, its past, and who watches it.

    Args:
        session: The study, with its store.
        open_again: Opens it once more, with a connection of its own, for what takes long.
        run: Runs something in a thread.
    """

    def __init__(
        self,
        session: StudySession,
        open_again: Callable[[], LocalBackend],
        run: RunInThread[Any] = asyncio.to_thread,
    ) -> None:
        self.session, self._open_again, self._run = session, open_again, run
        self.history = History()
        self.subscribers = Subscribers(self._show)
        self.picture: dict[str, Any] | None = None
        self._making = threading.Lock()  # of what follows, in whichever thread it is made
        self._key: tuple[Any, ...] = ()
        self._event = b""  # the picture, as watchers are sent it
        self._frame, self._framed = b"", b""  # that of another specification than at first; and which one was sent
        self._specification = ""
        self._cost = 0.0
        self._forecaster = Forecaster()
        self._failed: Mapping[str, int] | None = None
        self._counted: tuple[int, float] = 0, 0.0  # failures that were counted, and when to count again
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._recalling: asyncio.Task[None] | None = None

    def committed(self) -> None:
        """To be called after every commit, by the thread that made it, before it goes on: it only looks."""
        state = self.session.known
        if state is not None and self.history.is_due(state.engine) and self.session.pause():
            try:
                self.history.note(state.engine)
            finally:
                self.session.resume()
        if self._loop is not None and len(self.subscribers) and not self._changed.is_set():
            with suppress(RuntimeError):  # the loop is closed: the server stops
                self._loop.call_soon_threadsafe(self._changed.set)

    async def events(self, known: str | None = None) -> AsyncIterator[bytes]:
        """The stream of one monitor.

        Args:
            known: The number of the last event that it has.
        """
        self._loop = asyncio.get_running_loop()
        self.remember()
        first = self.subscribers.latest
        if first is not None and known is not None and first.startswith(f"id: {known}\n".encode()):
            first = None
        async for sent in self.subscribers.stream(first):
            yield sent

    async def present(self) -> dict[str, Any]:
        """The picture of this moment, for those who do not watch."""
        await self._run(self._make)
        assert self.picture is not None
        return self.picture

    def remember(self) -> None:
        """Have what is missing of the past looked for, in the background."""
        if self.history.has_gaps and (self._recalling is None or self._recalling.done()):
            self._recalling = asyncio.create_task(self._recall())

    async def _recall(self) -> None:
        def recall() -> None:
            with closing(self._open_again()) as backend:
                self.history.recall(backend.session)

        with suppress(RamgapeError):  # a page without its past is better than none
            await self._run(recall)

    def close(self) -> None:
        """End all streams."""
        self._forecaster.over.set()
        self.subscribers.end()

    # --- pictures ----------------------------------------------------------------------------------------------------

    async def _show(self) -> None:
        """One picture, if something has changed, and a pause."""
        self._changed.clear()
        begun = time.monotonic()
        try:
            made = await self._run(self._make)
        except UnknownStudy:
            self.subscribers.publish(event("gone", {}))
            await asyncio.sleep(PERIOD)  # so that it is fetched
            self.subscribers.end()
            return
        except Exception as error:  # noqa: BLE001 - subscribers are told, and the next picture is shown again
            words = type(error).__name__ if isinstance(error, RamgapeError) else "a mistake of the server"
            self.subscribers.publish(event("trouble", {"message": f"the study cannot be shown now: {words}"}))
            await asyncio.sleep(LOST)
            return
        if made is not self.subscribers.latest:  # which may be an older one, or that there was trouble
            frame = self._frame if self._frame is not self._framed else b""
            self._framed = self._frame
            self.subscribers.publish(made, frame)
        pause = max(PERIOD, COST * self._cost)
        await asyncio.sleep(max(pause - (time.monotonic() - begun), 0.0))
        with suppress(TimeoutError):
            async with asyncio.timeout(FOREIGN):
                await self._changed.wait()

    def _make(self) -> bytes:
        """The present picture as an event; the same object, if nothing has changed. In a thread."""
        with self._making:
            return self._made()

    def _made(self) -> bytes:
        begun = time.thread_time()
        look = take_snapshot(self.session)
        self.history.note(look.inference.engine)
        expected, failed = self._forecast(look), self._failures(look)
        key = look.revision, expected, failed, look.available  # a lease may run out, and nothing is written
        if key == self._key and self.picture is not None:
            return self._event
        least = self.history.least
        self.picture = make_picture(look, expected=expected, least=least, failed=failed)
        self._key, self._cost = key, time.thread_time() - begun
        if self.session.row.specification != self._specification:  # of arms that came, say
            before, self._specification = self._specification, self.session.row.specification
            if before:
                self._frame = event("frame", make_frame(self.session.row, self.session.spec))
        self._event = event("picture", self.picture, look.revision)
        return self._event

    def _forecast(self, look: Snapshot) -> Expectation | None:
        """How many more trials: guessed now and then, on a copy, in another thread."""
        engine = look.inference.engine
        if look.draft["done"]:
            return None
        if engine.spec.goal == "budget":
            return expect_pulls(engine)
        self._forecaster.consider(engine)
        return self._forecaster.expected(engine.samples)

    def _failures(self, look: Snapshot) -> Mapping[str, int] | None:
        """How many trials of each arm have failed: counted when there are more, but not all the time."""
        count, (counted, due) = look.draft["failed"], self._counted
        if self._failed is None or (count != counted and time.monotonic() >= due):
            begun, session = time.monotonic(), self.session
            names = self.session.spec.search.names
            with session.reading:
                rows = session.store.read_failures(session.row.id) if count else []
            self._failed = Counter(names[row.arm] for row in rows)
            self._counted = count, time.monotonic() + max(FAILURE_PAUSE, COST * (time.monotonic() - begun))
        return self._failed


class ListStream:
    """The list of studies, and who watches it: looked at once for all of them.

    Args:
        rows: All studies: their rows in the store, and how many of their pulls are under way.
        found_at: The revision of a study, by its number, whose answer is known.
        described: One of them, as the list has it.
        run: Runs something in a thread.
    """

    def __init__(
        self,
        rows: Callable[[], list[tuple[StudyRow, int]]],
        found_at: Callable[[int], int | None],
        described: Callable[[StudyRow, int], dict[str, Any]],
        run: RunInThread[Any] = asyncio.to_thread,
    ) -> None:
        self._rows, self._found_at, self._described, self._run = rows, found_at, described, run
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}  # by number: what it was made of, and the row
        self._began = False
        self._looked_at, self._pause = 0.0, LIST_PERIOD
        self._looking: asyncio.Future[None] | None = None

    async def events(self, sees: Callable[[str], bool]) -> AsyncIterator[bytes]:
        """What has changed since one began to watch: `changed` with rows, `gone` with numbers.

        Args:
            sees: Whether this monitor may see a study of that name.
        """
        yield RETRY
        await self._look()
        known, said = dict(self._known), time.monotonic()
        while True:
            await asyncio.sleep(self._pause)
            await self._look()
            now = self._known
            changed = [row for number, (_, row) in now.items() if number not in known or known[number][1] is not row]
            changed = [row for row in changed if sees(row["name"])]
            gone = [number for number, (_, row) in known.items() if number not in now and sees(row["name"])]
            known = dict(now)
            sent = (event("changed", changed) if changed else b"") + (event("gone", gone) if gone else b"")
            if not sent and time.monotonic() - said > KEEP_ALIVE:
                sent = STILL_HERE
            if sent:
                said = time.monotonic()
                yield sent

    async def _look(self) -> None:
        """Look at all studies, unless that was done just now."""
        if self._looking is None and time.monotonic() - self._looked_at >= 0.9 * self._pause:
            self._looking = asyncio.ensure_future(self._run(self._refresh))
        if self._looking is not None:
            try:
                await asyncio.shield(self._looking)
            except RamgapeError:  # the store cannot be read now: the list stays as it was
                self._pause = LOST
            finally:
                self._looking, self._looked_at = None, time.monotonic()

    def _refresh(self) -> None:
        """In a thread: a row that is as it was stays the same object, and of one that rests nothing is asked.

        Studies that are there from the start are not described before they change: no monitor is sent them.
        """
        begun = time.thread_time()
        found: dict[int, tuple[Any, dict[str, Any]]] = {}
        for row, pending in self._rows():
            key, before = (row.revision, pending, row.specification, self._found_at(row.id)), self._known.get(row.id)
            if before is not None and before[0] == key:
                found[row.id] = before
                continue
            described = self._described(row, pending) if self._began else {"name": row.name}
            found[row.id] = key, before[1] if before is not None and before[1] == described else described
        self._known, self._began = found, True
        self._pause = max(LIST_PERIOD, COST * (time.thread_time() - begun))
