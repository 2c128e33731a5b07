"""A rule: the four functions that make an algorithm, and their declared types.

    learn  (arms, memory, search, problem, arm, reward)   add a reward to one arm; its estimates and its box
    compare(arms, memory, search, problem, arm)           what depends on several arms: front, doubts, leader
    decide (arms, memory, search, problem)                which arm to pull next
    stop   (arms, memory, search, problem)                enough?

Types are declared so that the compiled loop, which receives these functions, is compiled once and found on disk again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core.compiler_lock import global_compiler_lock

from ramgape.core.kernel import Kernel
from ramgape.core.table import arms_type, memory_type, problem_type, search_type, trace_type, truth_type

_state = (arms_type, memory_type, search_type, problem_type)
_parameters = types.Array(types.float64, 2, "C")
_values = types.Array(types.float64, 1, "C")
_generator = numba.typeof(np.random.Generator(np.random.PCG64(0)))
ROWS = (arms_type, memory_type, types.Array(search_type, 1, "C"), types.Array(problem_type, 1, "C"))

DRAW = types.float64(_parameters, _values, types.int64, _generator)
LEARN = types.void(*_state, types.int64, types.float64)
COMPARE = types.void(*_state, types.int64)
DECIDE = types.int64(*_state)
STOP = types.boolean(*_state)
ADVANCE = types.int64(
    *(types.FunctionType(signature) for signature in (DRAW, LEARN, COMPARE, DECIDE, STOP)),
    *ROWS,
    *(_parameters, _values, _generator, types.int64, truth_type, trace_type),
    *(arms_type, types.Array(search_type, 1, "C")),
)
REPLAY = types.int64(
    *(types.FunctionType(signature) for signature in (LEARN, COMPARE, STOP)),
    *ROWS,
    *(types.Array(types.int64, 1, "C"), _values, types.boolean),
)

LOOK = types.void(*ROWS)
PROVE = types.void(*ROWS, types.Array(types.boolean, 1, "C"), types.Array(types.int64, 1, "C"))


class Rule(NamedTuple):
    """The functions of one algorithm."""

    learn: Kernel
    compare: Kernel
    decide: Kernel
    stop: Kernel

    def compiled(self) -> Rule:
        """The same rule, ready to run."""
        for function, signature in zip(self, (LEARN, COMPARE, DECIDE, STOP), strict=True):
            compile_for(function, signature)
        return self


def compile_for(function: Kernel, signature: Any) -> None:
    """Compile a kernel for one signature and no other, or find it on disk; nothing if the compiler is off.

    Of several threads that need it at once, one does so, and the others wait until it is ready to be handed over.
    """
    if isinstance(function, numba.core.dispatcher.Dispatcher) and function._can_compile:
        with global_compiler_lock:
            if function._can_compile:
                function.compile(signature)
                function.disable_compile()
