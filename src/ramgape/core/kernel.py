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
    """An open kernel, one whose first parameters are kernels or constants, with these filled in."""

    @property
    def __name__(self) -> str:
        return self.func.__name__

    @property
    def __module__(self) -> str:  # type: ignore[override]
        return self.func.__module__


@functools.cache
def fixed(function: Any, *parts: Any) -> Kernel:
    """The kernel that an open one is with these for its first parameters."""
    return Closed(function, *(as_kernel(part) if callable(part) else part for part in parts))
