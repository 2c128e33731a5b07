"""One trial, wherever it is made: all that a machine of a cluster imports of ours, so it imports next to nothing.

NumPy's generator is imported where a trial wants one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def make_trial(pull: Callable[..., Any], with_generator: bool, arm: str, seed: int, *item: Any) -> Any:
    """One trial, wherever it is made."""
    if not with_generator:
        return pull(arm, *item)
    from numpy.random import default_rng

    return pull(arm, *item, default_rng(seed))


async def await_trial(pull: Callable[..., Any], with_generator: bool, arm: str, seed: int, *item: Any) -> Any:
    """The same, where it must be awaited."""
    return await make_trial(pull, with_generator, arm, seed, *item)


def awaited(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call; an awaitable is awaited where the call is made."""
    result = function(*arguments)
    if not hasattr(type(result), "__await__"):
        return result
    import asyncio

    async def wait_for() -> Any:
        return await result

    return asyncio.run(wait_for())
