"""Loops over kernels that take millions of steps, as tests that count failures do: compiled when they are first called.

Everything else in the tests runs kernels as they are, without a compiler.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled_loop(function: Loop) -> Loop:
    """A loop that may call any kernel; parameters called draw, learn, compare, decide and stop take steps of a rule.

    It is compiled once for all rules, which are handed over by their declared types, as in simulations.
    """
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*given: Any) -> Any:
        import numba
        from numba import types

        from ramgape.core import compiled

        steps = {"draw", "learn", "compare", "decide", "stop"}
        kinds = {name: getattr(compiled, name.upper()) for name in names if name in steps}
        taken = [
            compiled.compiled(value, kinds[name]) if name in kinds else value
            for name, value in zip(names, given, strict=True)
        ]
        signature = tuple(
            types.FunctionType(kinds[name]) if name in kinds else numba.typeof(value)
            for name, value in zip(names, taken, strict=True)
        )
        return _compiled(function, signature)(*taken)

    return call  # type: ignore[return-value]


@functools.cache
def _compiled(function: Callable[..., Any], signature: tuple[Any, ...]) -> Callable[..., Any]:
    import numba

    from ramgape.core import compiled

    compiled._register_kernels()
    return numba.njit(signature, error_model="numpy")(function)  # type: ignore[no-any-return]


@compiled_loop
def learn_in_loop(learn: Any, arms: Any, memory: Any, searches: Any, problems: Any, rewards: Any) -> None:
    """Learn a row of rewards for each arm; nothing is compared."""
    for arm in range(len(rewards)):
        for reward in rewards[arm]:
            learn(arms, memory, searches[0], problems[0], arm, reward)
