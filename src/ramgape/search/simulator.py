"""The loop over simulated trials: in plain Python at first, compiled when that has taken as long as compiling might.

Compiling the functions of a rule takes 5 to 40 seconds, and a simulation of a thousand trials in plain Python one or
two. Both give the same bits, so the loop may change over at any trial. Code that is on disk is used at once. Whoever
knows that simulations will be long has their code compiled before the first trial (`compiled_at_once`).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from ramgape.common.interrupts import interrupts_deferred
from ramgape.common.terminal import compiling, tell_slow
from ramgape.core.kernel import Kernel
from ramgape.core.loop import advance_at_once, advance_in_rounds
from ramgape.core.rule import Rule

WORTH = 10.0  # seconds in plain Python after which compiling pays
_AT_ONCE: ContextVar[bool] = ContextVar("at once", default=False)


@functools.cache
def has_compiler() -> bool:
    """Whether Numba is installed and may compile."""
    disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return not disabled and importlib.util.find_spec("numba") is not None


@contextmanager
def compiled_at_once(wanted: bool = True) -> Iterator[None]:
    """Compile simulations within this context before their first trial: for work that is known to be long."""
    before = _AT_ONCE.set(wanted)
    try:
        yield
    finally:
        _AT_ONCE.reset(before)


class Simulator:
    """The loop over trials of one rule, and what draws their rewards.

    Args:
        rule: The four functions.
        draw: Draws a reward.
        in_rounds: Whether trials are decided in rounds.
    """

    def __init__(self, rule: Rule, draw: Kernel, in_rounds: bool) -> None:
        self._steps = (draw, *rule)
        self._loop = advance_in_rounds if in_rounds else advance_at_once
        self._compiled: tuple[Any, ...] | None = None
        self._seconds = 0.0
        self._looked = -1.0

    @property
    def is_compiled(self) -> bool:
        """Whether `advance` may be called."""
        return self._compiled is not None

    def prepare(self) -> None:
        """Load the compiled code if it is on disk; compile it if that is to be done at once."""
        if self._compiled is None and has_compiler():
            from ramgape.core import compiled

            there = all(map(compiled.is_on_disk, (self._loop, *self._steps)))
            if there or _AT_ONCE.get():
                with nullcontext() if there else compiling():
                    self._compile()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time of trials in plain Python; compile when they have taken too long."""
        begun = time.thread_time()
        yield
        self._seconds += time.thread_time() - begun
        if self._seconds - self._looked < 1.0:
            return
        self._looked = self._seconds
        self.prepare()
        if self._compiled is None and self._seconds > WORTH:
            if has_compiler():
                with compiling():
                    self._compile()
            else:
                tell_slow()

    def _compile(self) -> None:
        from ramgape.core import compiled

        with interrupts_deferred():
            steps = [compiled.compiled(step, kind) for step, kind in zip(self._steps, compiled.STEPS, strict=True)]
            self._compiled = compiled.compiled(self._loop, compiled.ADVANCE, nogil=True), *steps

    def advance(self, *tables: Any) -> int:
        """Simulate in the compiled loop: see `advance` in core/loop.py."""
        assert self._compiled is not None
        loop, *steps = self._compiled
        with interrupts_deferred():
            return int(loop(*steps, *tables))


@functools.lru_cache(maxsize=256)
def simulator(rule: Rule, draw: Kernel, in_rounds: bool) -> Simulator:
    """The simulator of a rule in this process."""
    return Simulator(rule, draw, in_rounds)
