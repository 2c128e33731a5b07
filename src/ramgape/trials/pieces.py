"""Pieces of work that depend on nothing but their arguments, made by an engine: as many as it takes, in any order.

Such a piece may be made twice, so that one whose machine has died is simply made again elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from typing import Any, NamedTuple

from ramgape.errors import TrialError, WorkerLost, require
from ramgape.trials.backend import Function, TrialEngine
from ramgape.trials.choice import engine_of, is_dask, is_ray, places_of
from ramgape.trials.executors import ExecutorEngine

AHEAD = 2  # pieces for each slot: the next one is there when one is done
LOOK = 5.0  # seconds after which it is asked again how many slots there are
LOSSES = 3  # how often a piece is made again whose machines die

ALLOWED = (
    'None, a concurrent.futures.Executor, a dask.distributed.Client, "tcp://SCHEDULER:8786", "dask", the module ray, '
    'or "ray"'
)

# What takes pieces: an Executor, a Client of Dask, the module ray, the name of a cluster; None for right here. What
# comes of a piece does not depend on it.
Makers = Any


class Piece(NamedTuple):
    """A call to be made somewhere."""

    function: Function
    arguments: tuple[Any, ...]


def check_executor(executor: Makers) -> None:
    """Complain before the first piece rather than in the middle of one."""
    known = executor is None or isinstance(executor, TrialEngine) or is_dask(executor) or is_ray(executor)
    require(known or callable(getattr(executor, "submit", None)), "executor", ALLOWED, executor)


@contextmanager
def engine_for(executor: Makers) -> Iterator[TrialEngine | None]:
    """What makes pieces; None for right here. Whatever was only named is closed in the end."""
    check_executor(executor)
    if executor is None or isinstance(executor, TrialEngine):
        yield executor
    elif isinstance(executor, Executor) or is_ray(executor) or is_dask(executor):
        with engine_of(made, executor) as engine:
            yield engine
    else:
        yield ExecutorEngine(executor, places_of(executor), own=False)


@contextmanager
def cluster_of(address: str) -> Iterator[TrialEngine | None]:
    """The engine of a cluster from its URL."""
    require(is_dask(address) or is_ray(address), "cluster", "tcp://SCHEDULER:8786, dask or ray", address)
    with engine_for(address) as engine:
        yield engine


def made(
    engine: TrialEngine, take: Callable[[], Piece | None], tell: Callable[[str], object] = str
) -> Iterator[tuple[Piece, Any]]:
    """Pieces with what came of them, as they are finished.

    Args:
        engine: What makes them.
        take: Gives the next one whenever there is room for it; None if there is none at the moment. What comes of a
            piece may make it give more.
        tell: Is told what the engine waits for, in words, and of nothing when it waits no longer.

    Raises:
        TrialError: The machines that made a piece have died again and again, or so has an executor.
    """
    under_way: dict[Future[Any], tuple[Piece, int]] = {}
    left: deque[tuple[Piece, int]] = deque()  # of which the next is known, and those that were lost
    try:
        while True:
            while not left or len(under_way) < AHEAD * engine.slots():
                if not left:
                    if (piece := take()) is None:
                        break
                    left.append((piece, 0))
                    continue
                piece, losses = left.popleft()
                under_way[engine.start(piece.function, *piece.arguments)] = piece, losses
            if not under_way and not left:
                return
            tell(engine.waiting)
            ended = [future for future in engine.wait(LOOK) if future in under_way]  # others may be of work before this
            for future in ended:
                piece, losses = under_way.pop(future)
                try:
                    result = future.result()
                except WorkerLost as lost:
                    if losses == LOSSES:
                        raise TrialError(f"{losses + 1} workers have died at the same work: {lost}") from lost
                    left.appendleft((piece, losses + 1))
                else:
                    yield piece, result
    except BrokenExecutor as error:
        raise TrialError(f"what makes the runs is gone: {error}") from error
    finally:
        engine.cancel(list(under_way))
