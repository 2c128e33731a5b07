"""Calls on a Dask cluster.

Dask begins a task again whose worker has died, with the same arguments and so with the same seed, and does it three
times before anybody hears of it; how often is a setting of the whole cluster. A trial must not be made twice with one
seed where the first try ended for a reason of its own. So every call is given to one worker that has room for it and to
no other, and who hears from the scheduler that a worker is gone knows which calls went with it.

All that happens on Dask's event loop is put into the inbox, and looked at by the thread that waits.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ramgape.common.formatting import plural
from ramgape.errors import WorkerLost
from ramgape.trials.backend import Function, TrialEngine
from ramgape.trials.one_trial import awaited

if TYPE_CHECKING:
    from distributed import Client

LOOK = 5.0  # seconds after which the cluster is asked again what it has; of workers that come and go it tells at once


@dataclass(eq=False, slots=True)
class DaskCall:
    """A call, and the worker that makes it; None where Dask is to find one."""

    function: Function
    arguments: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)
    address: str | None = None
    task: Any = None  # Dask's own future, once the call is handed over
    alone: bool = False
    late: bool = False  # it was abandoned


class DaskEngine(TrialEngine):
    """A client of a Dask cluster, for as long as this engine lasts: whatever it has there goes with it.

    Args:
        client: The user's client, which stays open.
        slots: How many calls at once; unless given, as many as the cluster has threads, or room for the resources.
        resources: What each call takes of those that workers were started with.
    """

    def __init__(self, client: Client, slots: int | None, resources: Mapping[str, float]) -> None:
        from distributed import Client

        super().__init__()
        known = {"security": client.security, "set_as_default": False, "name": "ramgape"}
        self._address = client.scheduler.address
        self._client: Any = Client(self._address, **known)
        self._most, self._resources = slots, dict(resources)
        self._rooms: dict[str, int] = {}  # of workers by their addresses: how many calls at once
        self._total = 0  # of all of them
        self._load: Counter[str] = Counter()  # of workers: calls that have begun and not ended
        self._late: Counter[str] = Counter()  # those among them that were abandoned
        self._reserved: set[str] = set()  # workers that make a call alone, or will as soon as they are free
        self._held: deque[str] = deque()  # the calls that wait for that, by their keys
        self._calls: dict[str, DaskCall] = {}
        self._keys: dict[Future[Any], str] = {}
        self._begun = 0
        self._looked = -math.inf
        self._away = False
        self._knock: Any = None
        self._client.subscribe_topic("all", self._hear)
        self._client.sync(self._look)
        self.wait(0.0)

    # --- what the cluster has ----------------------------------------------------------------------------------------

    def slots(self) -> int:
        """As many as were asked for, or the cluster has room for."""
        status = self._client.status
        if status == "closed":
            raise BrokenExecutor(f"the Dask scheduler at {self._address} is gone")
        if status != "running":
            self._away = True
            return 0
        self._look_now_and_then()
        if self._most is not None:
            return self._most
        set_aside = sum(self._rooms[at] - self._load[at] for at in self._reserved)
        return max(self._total - set_aside - sum(self._late.values()) + len(self._held), 0)

    @property
    def waiting(self) -> str:
        """Whether the cluster has no workers."""
        if self._client.status != "running":
            return "the Dask scheduler is out of reach"
        if not any(self._rooms.values()):
            wanted = ", ".join(f"{name}={amount:g}" for name, amount in self._resources.items())
            return f"the Dask cluster has no worker{' with ' * bool(wanted)}{wanted} yet"
        late = sum(self._late.values())
        return f"{plural(late, 'trial')} took too long, and did not end on the cluster yet" if late else ""

    def is_held(self, call: Future[Any]) -> bool:
        """Whether it waits for a worker of its own, or for any."""
        key = self._keys.get(call)
        return key is not None and (self._calls[key].task is None or not any(self._rooms.values()))

    def _look_now_and_then(self) -> None:
        now = time.monotonic()
        if self._away:
            self._away = False
            self._client.subscribe_topic("all", self._hear)  # a scheduler that was started again knows nothing of it
            self._looked = -math.inf
        if now >= self._looked + LOOK:
            self._looked = now
            self._client.loop.add_callback(self._look)
        if not any(self._rooms.values()) and self._knock is None:
            # A cluster that adapts grows for tasks that wait, and no trial may wait unnoticed.
            self._knock = self._client.submit(int, key=f"ramgape-knock-{self._begun}", pure=False, **self._chosen())

    async def _look(self) -> None:
        """Ask which workers there are, and how many calls each makes at once."""
        self._looked = time.monotonic()
        with suppress(Exception):  # of a scheduler that is out of reach
            if self._resources:
                workers = (await self._client.scheduler.identity(n_workers=-1))["workers"]
                rooms = {address: self._room(worker) for address, worker in workers.items()}
            else:
                rooms = dict(await self._client.scheduler.ncores())
            self._inbox.put(partial(self._take_rooms, rooms))

    def _room(self, worker: Mapping[str, Any]) -> int:
        given = worker.get("resources", {})
        rooms = [int(given.get(name, 0.0) / amount + 1e-9) for name, amount in self._resources.items()]
        return min(int(worker["nthreads"]), *rooms)

    def _take_rooms(self, rooms: dict[str, int]) -> None:
        gone = {call.address for call in self._calls.values() if call.address is not None} - rooms.keys()
        for address in gone:  # that reported nothing
            self._lose(address, [key for key, call in self._calls.items() if call.address == address])
        self._rooms, self._total = rooms, sum(rooms.values())
        if any(rooms.values()):
            self._drop([self._knock])
            self._knock = None
        self._reserved &= rooms.keys()
        self._place_held()

    # --- calls -------------------------------------------------------------------------------------------------------

    def _begin(self, function: Function, arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        self._begun += 1
        key = "-".join(filter(None, ("ramgape", name, str(self._begun))))
        call = self._calls[key] = DaskCall(function, arguments, alone=alone)
        self._keys[call.future] = key
        if alone:
            self._held.append(key)
            self._place_held()
        else:
            self._hand_over(key, self._roomiest())
        return call.future

    def _roomiest(self) -> str | None:
        """The worker with the most room of those that have some."""
        free = {at: room - self._load[at] for at, room in self._rooms.items() if at not in self._reserved}
        best = max(free, key=free.__getitem__, default=None)
        return best if best is not None and free[best] > 0 else None

    def _place_held(self) -> None:
        """Give calls that are to be alone to workers that make no other; or have the least busy one become free.

        Half of the workers, if there are several, are left to all other calls.
        """
        while self._held:
            free = [at for at in self._reserved if not self._load[at]]
            if free:
                self._hand_over(self._held.popleft(), free[0])
                continue
            alone = {call.address for call in self._calls.values() if call.alone}
            others = [at for at, room in self._rooms.items() if room and at not in self._reserved]
            if self._reserved - alone or not others or len(self._reserved) >= max(len(self._rooms) // 2, 1):
                return
            self._reserved.add(min(others, key=self._load.__getitem__))

    def _hand_over(self, key: str, address: str | None) -> None:
        call = self._calls[key]
        call.address = address
        where: dict[str, Any] = {} if address is None else {"workers": [address], "allow_other_workers": False}
        how = {"key": key, "pure": False, "retries": 0, **where, **self._chosen()}
        call.task = self._client.submit(awaited, call.function, *call.arguments, **how)
        if address is not None:
            self._load[address] += 1
        self._client.loop.add_callback(self._follow, key, call.task)

    def _chosen(self) -> dict[str, Any]:
        return {"resources": self._resources} if self._resources else {}

    async def _follow(self, key: str, task: Any) -> None:
        """Wait for a task, on Dask's loop."""
        from distributed import KilledWorker
        from distributed.scheduler import NoValidWorkerError

        value: Any = None
        error: BaseException | None = None
        try:
            value = await task
        except (KilledWorker, NoValidWorkerError, CancelledError) as gone:
            error = WorkerLost(str(gone))
        except BaseException as failed:  # noqa: BLE001 - raised where the call is awaited
            error = failed
        self._inbox.put(partial(self._settle, key, value, error))

    def _hear(self, event: tuple[float, object]) -> None:
        """A worker has come, or gone."""
        _, said = event
        if not isinstance(said, Mapping):  # anybody may say anything there
            return
        if said.get("action") == "remove-worker":
            keys = [*said["processing-tasks"], *said["lost-computed-tasks"]]
            self._inbox.put(partial(self._lose, said["worker"], keys))
        if said.get("action") in ("add-worker", "remove-worker"):
            self._client.loop.add_callback(self._look)

    def _lose(self, address: str, keys: Iterable[str]) -> None:
        """A worker has gone, and with it what it was at; its calls must not begin again on another worker."""
        self._total -= self._rooms.pop(address, 0)
        self._load.pop(address, None)
        self._late.pop(address, None)
        self._reserved.discard(address)
        for key in keys:
            if key in self._calls:
                self._drop([self._calls[key].task])
                self._settle(key, None, WorkerLost(f"the Dask worker at {address} has gone"))
        self._place_held()

    def _settle(self, key: str, value: Any, error: BaseException | None) -> None:
        """A call has ended; later results of it are dropped."""
        call = self._calls.pop(key, None)
        if call is None:
            return
        at = call.address
        if at is not None and at in self._rooms:
            self._load[at] -= 1
            if call.late:
                self._late[at] -= 1
            if call.alone and not self._held:
                self._reserved.discard(at)
        self._keys.pop(call.future, None)
        if not call.future.cancelled():
            if error is None:
                call.future.set_result(value)
            else:
                call.future.set_exception(error)
        self._place_held()

    # --- ends --------------------------------------------------------------------------------------------------------

    def cancel(self, calls: Iterable[Future[Any]]) -> None:
        """Take calls off the cluster. A thread of a worker goes on to its end, but its result is dropped."""
        found = {key for call in calls if (key := self._keys.get(call)) is not None}
        self._held = deque(key for key in self._held if key not in found)
        self._drop([self._calls[key].task for key in found])
        for key in found:
            self._calls[key].future.cancel()
            self._settle(key, None, None)

    def abandon(self, call: Future[Any]) -> None:
        """Its thread cannot be ended, and the worker has no other in its place: the slot is free when it has ended."""
        key = self._keys.pop(call, None)
        if key is None:
            return
        call.cancel()
        placed = self._calls[key]
        if placed.address is None:
            self._drop([self._calls.pop(key).task])
        else:
            placed.late = True
            self._late[placed.address] += 1

    def _drop(self, tasks: Iterable[Any]) -> None:
        known = [task for task in tasks if task is not None]
        if known:
            with suppress(Exception):  # of a scheduler that is gone
                self._client.cancel(known, force=True)

    def close(self) -> None:
        """Nothing of ours stays on the cluster."""
        self._drop([*(call.task for call in self._calls.values()), self._knock])
        self._calls.clear()
        with suppress(Exception):  # of a scheduler that is gone
            self._client.unsubscribe_topic("all")
            self._client.close()
