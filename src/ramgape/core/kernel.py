"""The decorators that every compiled function wears; the only place with compiler options.

A kernel is compiled when it is first needed, for the types it is needed with, and kept on disk. Numba's own
disk cache notices edits only in the file that holds the function, although a kernel contains the code of all
the kernels it calls; here a cached kernel is valid only for the very same sources of the whole package.

Kernels allocate nothing, so they are compiled without reference counting: the atomic counters would cost more than
the arithmetic of a round. Division follows IEEE 754 instead of raising, and no fast-math option is set: the same
rewards give the same bits on every road through the code.

Most kernels are only ever called by others. For those they are compiled without the code that takes arguments from
Python, which is a quarter of the compiler's work; a kernel that Python calls has that code, too.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import cgutils, event
from numba.core.caching import FunctionCache, NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys
from numba.extending import intrinsic

from ramgape.common.interrupts import interrupts_deferred

Kernel = Callable[..., Any]
Function = TypeVar("Function", bound=Kernel)

PACKAGE = Path(__file__).resolve().parents[1]
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
CALLED_BY_KERNELS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
COMPILED_PARTS = ("core", "bounds", "policies", "risks", "problems/environments.py")
SYMBOLS_KNOWN = ((0, 68),)  # versions of Numba whose `add_symbol`s were read


@functools.cache
def source_stamp() -> str:
    """A digest of every source file that can end up inside a kernel."""
    digest = hashlib.sha256()
    for part in COMPILED_PARTS:
        path = PACKAGE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def kernel(function: Function) -> Function:
    """Compile a function on first use."""
    return _compile(function)


def long_kernel(function: Function) -> Function:
    """A kernel that lets other threads run meanwhile: for loops of many rounds, on tables that nobody else changes."""
    return _compile(function, nogil=True)


def inlined(function: Function) -> Function:
    """A kernel that is always made part of its caller: for the small steps of every round, where a call would cost
    as much as what it does."""
    return _compile(function, forceinline=True)


def open_kernel(function: Function) -> Function:
    """A kernel whose first parameters are kernels: made part of what `fixed` closes it to, and kept nowhere else."""
    return numba.njit(forceinline=True, **OPTIONS)(function)  # type: ignore[no-any-return]


@functools.cache
def as_kernel(function: Any) -> Kernel:
    """A function from outside, compiled in every process; a kernel as it is."""
    return function if isinstance(function, Dispatcher) else _compile(function, kept=False)


@functools.cache
def fixed(function: Any, *parts: Any, nogil: bool = False) -> Kernel:
    """The kernel that an open one is with these for its first parameters; found on disk like any other.

    It is written out as source, in which the parts stand for the first parameters: a closure would be compiled anew in
    every process, and an open kernel that is called would be one more thing to compile. Kernels from outside the
    package are compiled in every process: nobody notices when what they call has been edited. `nogil` makes it a
    `long_kernel`.
    """
    if numba.config.DISABLE_JIT:
        return lambda *rest: function(*parts, *rest)
    parts = tuple(map(as_kernel, parts))
    opened = function.py_func
    taken = [f"{part.py_func.__module__}.{part.py_func.__name__}" for part in parts]
    name = f"{opened.__name__}_{hashlib.sha256(' '.join(taken).encode()).hexdigest()[:12]}"
    own = all(map(_is_kept, parts)) and all(name.startswith("ramgape.") for name in taken)
    (written,) = ast.parse(textwrap.dedent(inspect.getsource(opened))).body
    assert isinstance(written, ast.FunctionDef)
    written.name, written.decorator_list = name, []
    closed = [parameter.arg for parameter in written.args.args[: len(parts)]]
    del written.args.args[: len(parts)]
    names = {**opened.__globals__, **dict(zip(closed, parts))}
    return _written(name, ast.Module([written], []), names, opened, own, nogil=nogil)


def address_of(function: Kernel, signature: Any) -> Any:
    """Where the code of a kernel stands that was compiled for a signature, for `calling` the same signature."""
    if numba.config.DISABLE_JIT:
        return function
    compiled = function.get_compile_result(signature)  # type: ignore[attr-defined]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def calling(signature: Any) -> Kernel:
    """What calls a kernel by its address: whoever calls so is compiled once, whichever kernel it is.

    A kernel that is handed over as a function does the same for loops, but takes 200 microseconds on its way from
    Python.
    """
    if numba.config.DISABLE_JIT:
        return lambda function, *arguments: function(*arguments)

    def call(typing: Any, address: Any, *arguments: Any) -> Any:
        def write(context: Any, builder: Any, _: Any, values: Any) -> Any:
            convention, (result, given) = context.call_conv, (signature.return_type, signature.args)
            pointer = convention.get_function_type(result, given).as_pointer()
            code, inputs = builder.inttoptr(values[0], pointer), cgutils.unpack_tuple(builder, values[1])
            status, output = convention.call_function(builder, code, result, given, inputs)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return output

        return signature.return_type(types.int64, types.StarArgTuple(signature.args)), write

    return intrinsic(call)  # type: ignore[no-any-return]


def _is_kept(function: Any) -> bool:
    """Whether a kernel is kept on disk."""
    return isinstance(function._cache, UnopenedCache | KernelCache)


def _written(name: str, source: ast.Module, names: dict[str, Any], beside: Kernel, own: bool, **options: Any) -> Kernel:
    """A kernel that is written out, under the name of the file where another one stands."""
    names = {**names, "__name__": beside.__module__}
    exec(compile(source, beside.__code__.co_filename, "exec"), names)
    function: Kernel = names[name]
    return _compile(function, kept=own, **options)


def on_compile(call: Callable[[], object]) -> None:
    """Have a function called when the compiler begins with a kernel that was not on disk, and will be the next time."""
    event.register("numba:compile", CompileListener(call))


class CompileListener(event.Listener):  # type: ignore[misc]
    """Tells of kernels, and of nothing else that Numba compiles."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self._call()

    def on_end(self, event: Any) -> None:
        pass


def _compile(function: Function, *, kept: bool = True, **options: Any) -> Function:
    compiled = _dispatcher(function, kept, options)
    if not numba.config.DISABLE_JIT:
        callee = Callee(compiled, lambda: _dispatcher(function, kept, {**options, **CALLED_BY_KERNELS}))
        compiled.get_call_template, compiled.get_overload = callee.get_call_template, callee.get_overload
    return compiled  # type: ignore[no-any-return]


def _dispatcher(function: Kernel, kept: bool, options: dict[str, Any]) -> Any:
    compiled = numba.njit(**OPTIONS, **options)(function)
    if not numba.config.DISABLE_JIT:
        compiled.compile = _deferring(compiled.compile)
        if kept:
            compiled._cache = UnopenedCache(compiled)
    return compiled


class Callee:
    """What other kernels call when they call a kernel: its code alone, unless it is there with all that Python needs.

    The two methods are what Numba asks a kernel for when it compiles a caller.
    """

    def __init__(self, whole: Any, make_code: Callable[[], Any]) -> None:
        self._whole = whole
        self._make_code = make_code

    @functools.cached_property
    def _code(self) -> Any:
        code = self._make_code()
        code._compiling_counter = self._whole._compiling_counter  # so that one that calls itself finds itself
        return code

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for these types, or find it on disk."""
        whole = self._whole
        _, types = whole.fold_argument_types(args, kws)
        is_whole = types in whole.overloads or whole.is_compiling or not whole._can_compile
        return Dispatcher.get_call_template(whole if is_whole else self._code, args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What was compiled for these types."""
        try:
            return Dispatcher.get_overload(self._whole, sig)
        except KeyError:
            return Dispatcher.get_overload(self._code, sig)


def _deferring(compile_now: Kernel) -> Kernel:
    """The compiler, for which an interrupt waits: it calls Python from its own code, where it would be lost."""

    def compile_later(signature: Any) -> Any:
        with interrupts_deferred():
            return compile_now(signature)

    return compile_later


class UnopenedCache(NullCache):  # type: ignore[misc]
    """Of a kernel that nobody has needed by itself so far: most are only ever part of others, and to look for the
    folder of each takes a while."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            cache = KernelCache(self._dispatcher)
        except RuntimeError:  # no folder to keep compiled code in: compile again in every process
            cache = NullCache()
        self._dispatcher._cache = cache
        return cache.load_overload(sig, target_context)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of a kernel on disk."""

    def __init__(self, dispatcher: Any) -> None:
        function = dispatcher.py_func
        super().__init__(function)
        self._called_by = "kernels" if dispatcher.targetoptions.get("no_cpython_wrapper") else "Python"
        file = self._cache_file
        self._ours = function.__module__.startswith(f"{__package__.partition('.')[0]}.")
        file._source_stamp = source_stamp() if self._ours else (source_stamp(), file._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is there for a signature.

        Numba would first import all that its compiler needs, SciPy's linear algebra where there is one: half of the
        time of a short process. What was found needs none of it, but for the symbols of the runtime, because our
        kernels neither hash nor run in parallel; and on a miss the compiler sees to it itself. A missing symbol would
        end the process, so this is done only for our kernels, and with those versions for which it was looked up.
        """
        if not self._ours or numba.version_info.short not in SYMBOLS_KNOWN:
            return super().load_overload(sig, target_context)
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), self._called_by
