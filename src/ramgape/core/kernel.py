"""The decorators of kernels: plain functions of numbers and rows, written so that a compiler can take them, too.

A real search calls them as they are, on rows of plain Python objects (core/rows.py). Where millions of trials are
simulated, `ramgape.core.compiled` compiles the same functions for the same tables. Kernels allocate nothing, raise
nothing and see only numbers, rows and other kernels; so both give the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Kernel = Callable[..., Any]
Function = TypeVar("Function", bound=Kernel)

PACKAGE = Path(__file__).resolve().parents[1]
INLINED: dict[str, Any] = {"forceinline": True}
KERNELS: dict[Kernel, dict[str, Any]] = {}  # every kernel, with its options for the compiler
IN_PLAIN_PYTHON: dict[Kernel, Kernel] = {}  # open kernels that plain Python does not run: what it calls instead


def kernel(function: Function) -> Function:
    """Register a function that can be compiled. It stays a plain function."""
    KERNELS[function] = {}
    return function


def inlined(function: Function) -> Function:
    """Register a kernel that is always made part of its caller: a call would cost as much as what it does."""
    KERNELS[function] = INLINED
    return function


def open_kernel(function: Function) -> Function:
    """Register a kernel whose first parameters are kernels or constants, which `fixed` fills in."""
    KERNELS[function] = INLINED
    return function


def interpreted_by(substitute: Kernel) -> Callable[[Function], Function]:
    """Let plain Python call another function, which uses NumPy, in place of an open kernel that the compiler takes.

    Both have the same parameters and must come to the same result.
    """

    def register(function: Function) -> Function:
        IN_PLAIN_PYTHON[function] = substitute
        return function

    return register


def is_kernel(function: object) -> bool:
    """Whether a function can be compiled: it is a kernel, or wraps one as Numba's functions do."""
    return isinstance(function, Closed) or function in KERNELS or hasattr(function, "py_func")


def as_kernel(function: Any) -> Kernel:
    """A function from outside as a kernel: a plain function, also where Numba has wrapped it."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, Closed):
        KERNELS.setdefault(plain, {})
    return plain  # type: ignore[no-any-return]


class Closed(functools.partial):  # type: ignore[type-arg]
    """An open kernel, one whose first parameters are kernels or constants, with these filled in.

    Attributes:
        source: The open kernel, which the compiler takes; `func` is what plain Python calls.
    """

    source: Any

    @property
    def __name__(self) -> str:
        return self.source.__name__  # type: ignore[no-any-return]

    @property
    def __module__(self) -> str:  # type: ignore[override]
        return self.source.__module__  # type: ignore[no-any-return]


@functools.cache
def fixed(function: Any, *parts: Any) -> Kernel:
    """The kernel that an open one is with these for its first parameters."""
    called = IN_PLAIN_PYTHON.get(function, function)
    closed = Closed(called, *(as_kernel(part) if callable(part) else part for part in parts))
    closed.source = function
    return closed
