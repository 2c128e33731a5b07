"""The engine for `workers`: a number, an executor, or a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from types import ModuleType
from typing import Any

from ramgape.common.checks import check_number, whole
from ramgape.common.extras import load_extra
from ramgape.errors import InvalidSpec, require
from ramgape.trials.backend import Function, TrialEngine
from ramgape.trials.executors import ExecutorEngine, engine_here

Workers = Any  # int | Executor | Client | the module ray | str; a client's type is not known where Dask is not there

SCHEMES = ("tcp://", "tls://", "ucx://", "ws://", "wss://", "inproc://")  # of Dask schedulers
CLOSING = 1.0  # seconds for a client that has never been connected
ALLOWED = (
    'a whole number of at least 1, or an Executor, a dask.distributed.Client, "tcp://scheduler:8786", "dask", '
    'the module ray, or "ray"'
)


@contextmanager
def engine_of(
    make: Function,
    workers: Workers,
    slots: int | None = None,
    *,
    timeout: float | None = None,
    resources: Mapping[str, float] | None = None,
) -> Iterator[TrialEngine]:
    """What makes the calls of a function, until it is closed.

    Args:
        make: The function, which may be async.
        workers: How many calls at once here; or what makes them, which stays as it is unless it is given by name.
        slots: In the second case, how many calls at once; unless given, as many as there is room for.
        timeout: Whether anybody will stop waiting for a call.
        resources: On a cluster, what each call takes.
    """
    if slots is not None:
        slots = whole(slots, "slots", "a whole number of at least 1", 1)
    wanted = check_resources(resources)
    with ExitStack() as stack:
        engine: TrialEngine
        if is_ray(workers):
            engine = ray_engine(stack, slots, wanted)
        elif is_dask(workers):
            engine = dask_engine(stack, workers, slots, wanted)
        else:
            require(not wanted, "resources", "absent without a cluster: only Dask and Ray know any", resources)
            engine = plain_engine(make, workers, slots, timeout)
        stack.callback(engine.close)
        yield engine


def check_resources(resources: object) -> dict[str, float]:
    """What a call takes, by name."""
    allowed = 'a mapping of names to numbers above 0: {"GPU": 1}'
    require(resources is None or isinstance(resources, Mapping), "resources", allowed, resources)
    found: dict[str, float] = {}
    for name, amount in resources.items() if isinstance(resources, Mapping) else ():
        require(isinstance(name, str) and name != "", "resources", allowed, resources)
        found[name] = check_number(amount, f"resources[{name!r}]", "a number above 0", lambda value: value > 0.0)
    return found


def plain_engine(make: Function, workers: Workers, slots: int | None, timeout: float | None) -> ExecutorEngine:
    """Threads of this process, or an executor of the user."""
    if isinstance(workers, Executor):
        return ExecutorEngine(workers, slots or places_of(workers), own=False)
    count = whole(workers, "workers", ALLOWED, 1)
    require(slots is None, "slots", "absent without an executor: `workers` is how many trials are made at once", slots)
    return engine_here(make, count, timeout)


def places_of(executor: Any) -> int:
    """How many calls an executor makes at once, as far as it tells."""
    client = getattr(executor, "_client", None)  # of Dask's own executor
    if client is not None and is_dask(client):
        threads: dict[str, int] = client.nthreads()
        return max(sum(threads.values()), 1)
    known: int | None = getattr(executor, "_max_workers", None)
    return known or os.cpu_count() or 1


# --- Dask -------------------------------------------------------------------------------------------------------------


def is_dask(workers: Workers) -> bool:
    """Whether a Dask cluster is meant. Who has a client of it has imported it."""
    if isinstance(workers, str):
        return workers == "dask" or workers.startswith(SCHEMES)
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(workers, distributed.Client)


def dask_engine(stack: ExitStack, workers: Workers, slots: int | None, resources: dict[str, float]) -> TrialEngine:
    """A cluster by its client, by its address, or one on this machine for as long as it is needed."""
    from ramgape.trials.on_dask import DaskEngine

    distributed = load_extra("distributed", "dask")
    if isinstance(workers, str):
        where: object = workers
        if workers == "dask":
            where = stack.enter_context(distributed.LocalCluster(dashboard_address=":0"))
        workers = stack.enter_context(dask_client(distributed.Client, where))
    require(not workers.asynchronous, "workers", "a client that is not asynchronous", workers)
    return DaskEngine(workers, slots, resources)


def dask_client(kind: Any, where: Any) -> Any:
    """A client of a scheduler; of one that cannot be reached nothing stays, which would wait again as Python ends."""
    client = kind.__new__(kind)
    try:
        client.__init__(where, set_as_default=False)
    except (OSError, ValueError) as error:
        with suppress(Exception):
            client.close(timeout=CLOSING)
        hint = f" ({error})"
        raise InvalidSpec(what="the Dask scheduler", allowed="one that answers", given=where, hint=hint) from None
    return client


# --- Ray --------------------------------------------------------------------------------------------------------------


def is_ray(workers: Workers) -> bool:
    """Whether Ray is meant."""
    return workers == "ray" or (isinstance(workers, ModuleType) and workers.__name__ == "ray")


def ray_engine(stack: ExitStack, slots: int | None, resources: dict[str, float]) -> TrialEngine:
    """The cluster that this process is connected to; or the one that Ray finds or starts, until it is not needed."""
    from ramgape.trials.on_ray import RayEngine

    ray = load_extra("ray", "ray")
    if not ray.is_initialized():
        ray.init()
        stack.callback(ray.shutdown)
    return RayEngine(ray, slots, resources)
