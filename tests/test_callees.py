"""Kernels that other kernels call: compiled without what Python needs, and with it when Python calls them, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import pytest
from numba import types
from numba.core import event

from ramgape.core.kernel import as_kernel, fixed, inlined, kernel, open_kernel
from ramgape.core.rule import compile_for

pytestmark = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="the compiler is off: nothing is compiled to be called"
)


class Compiled(event.Listener):  # type: ignore[misc]
    """Writes down what is compiled or found on disk, and whether Python can call it."""

    def __init__(self) -> None:
        self.found: list[tuple[str, bool]] = []

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        self.found.append((dispatcher.py_func.__name__, "no_cpython_wrapper" not in dispatcher.targetoptions))

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compiling() -> Iterator[list[tuple[str, bool]]]:
    listener = Compiled()
    with event.install_listener("numba:compile", listener):
        yield listener.found


def test_only_what_python_calls_is_made_for_python() -> None:
    inner = as_kernel(lambda number: number + 1)

    def outer(number: Any) -> Any:
        return inner(number) + inner(2 * number)

    called = as_kernel(outer)
    with compiling() as found:
        assert called(3) == 11
    assert found == [("outer", True), ("<lambda>", False)]
    with compiling() as found:
        assert inner(3) == 4
        assert inner(0.5) == 1.5
        assert called(3) == 11
    assert found == [("<lambda>", True)] * 2


def test_what_is_there_for_python_serves_kernels() -> None:
    inner = as_kernel(lambda number: number + 1)
    assert inner(3) == 4
    outer = as_kernel(lambda number: inner(number))
    with compiling() as found:
        assert outer(3) == 4
    assert found == [("<lambda>", True)]


def test_types_that_are_settled_stay_so() -> None:
    """A rule is compiled for declared types and no other; what calls it with others converts them."""
    inner = as_kernel(lambda number: number / 2)
    compile_for(inner, types.float64(types.float64))
    outer = as_kernel(lambda number: inner(number))
    assert outer(3) == 1.5
    assert inner.signatures == [(types.float64,)]


@kernel
def factorial(number: Any) -> Any:
    if number < 2:
        return 1
    return number * factorial(number - 1)


@kernel
def factorial_and_one(number: Any) -> Any:
    return factorial(number) + 1


@pytest.mark.parametrize("call", [factorial_and_one, factorial])
def test_one_that_calls_itself(call: Any) -> None:
    assert call(5) == 120 + (call is factorial_and_one)
    assert factorial_and_one(5.0) == 121.0
    assert factorial(5.0) == 120.0


@inlined
def square(number: Any) -> Any:
    return number * number


@open_kernel
def applied(function: Any, number: Any) -> Any:
    return function(number) + 1


def test_parts_of_what_is_written_out() -> None:
    written = fixed(applied, square)
    assert written(3) == 10
    assert square(3) == 9
    assert as_kernel(lambda number: written(number))(4) == 17
