"""Calls on a Ray cluster. Each has a process of its own, so that none dies with another, but by a whole machine."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from ramgape.errors import WorkerLost
from ramgape.trials.backend import Function, TrialEngine
from ramgape.trials.one_trial import awaited

LOOK = 5.0  # seconds after which the cluster is asked again what it has
LOST = ("WorkerCrashedError", "NodeDiedError", "OutOfMemoryError", "ObjectLostError", "LocalRayletDiedError")
OWN = {"CPU": "num_cpus", "GPU": "num_gpus"}  # resources that are options of their own


class RayEngine(TrialEngine):
    """Ray, to which this process is connected.

    Args:
        ray: The module.
        slots: How many calls at once; unless given, as many as the cluster has room for.
        resources: What each call takes; one CPU unless something is said of it.
    """

    cancels = True  # its process is ended

    def __init__(self, ray: Any, slots: int | None, resources: Mapping[str, float]) -> None:
        super().__init__()
        self._ray, self._most = ray, slots
        self._needs = {"CPU": 1.0, **resources}
        options: dict[str, Any] = {key: self._needs[name] for name, key in OWN.items() if name in self._needs}
        options["resources"] = {name: amount for name, amount in resources.items() if name not in OWN}
        self._remote = ray.remote(max_retries=0, **options)(awaited)
        self._function: tuple[Function, Any] | None = None  # the last one, and what stands for it on the cluster
        self._lost = tuple(kind for name in LOST if (kind := getattr(ray.exceptions, name, None)) is not None)
        self._calls: dict[Future[Any], Any] = {}
        self._room, self._looked = 0, -math.inf

    def slots(self) -> int:
        """As many as were asked for, or the cluster has room for; one at least, so that a cluster may grow for it."""
        now = time.monotonic()
        if now >= self._looked + LOOK:
            self._looked = now
            given = self._ray.cluster_resources()
            self._room = min(int(given.get(name, 0.0) / amount + 1e-9) for name, amount in self._needs.items())
        return max(self._room, 1) if self._most is None else self._most

    @property
    def waiting(self) -> str:
        """Whether the cluster has no workers."""
        if self._room:
            return ""
        wanted = ", ".join(f"{name}={amount:g}" for name, amount in self._needs.items())
        return f"the Ray cluster has no room for {wanted} yet"

    def is_held(self, call: Future[Any]) -> bool:
        """Whether it waits for a machine."""
        return not self._room

    def _begin(self, function: Function, arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        if self._function is None or self._function[0] is not function:
            self._function = function, self._ray.put(function)  # sent once, however large
        task = self._remote.options(name=f"ramgape-{name}").remote(self._function[1], *arguments)
        future: Future[Any] = Future()
        self._calls[future] = task
        task.future().add_done_callback(lambda ended: self._inbox.put(partial(self._settle, future, ended)))
        return future

    def _settle(self, future: Future[Any], ended: Future[Any]) -> None:
        """A call has ended; later results of it are dropped."""
        if self._calls.pop(future, None) is None:
            return
        error = ended.exception()
        if error is None:
            future.set_result(ended.result())
        elif isinstance(error, (*self._lost, self._ray.exceptions.TaskCancelledError)):
            said = f"{error}".strip().partition("\n")[0]  # the rest is advice
            future.set_exception(WorkerLost(f"{type(error).__name__}: {said}"))
        else:
            future.set_exception(getattr(error, "cause", None) or error)  # the trial's own, and not Ray's of it

    def cancel(self, calls: Iterable[Future[Any]]) -> None:
        """End the processes of calls."""
        for call in calls:
            task = self._calls.pop(call, None)
            if task is not None:
                with suppress(Exception):  # it has ended
                    self._ray.cancel(task, force=True)
                call.cancel()

    def close(self) -> None:
        """Nothing of ours stays on the cluster."""
        self.cancel(list(self._calls))
        self._function = None
