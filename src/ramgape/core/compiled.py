"""Kernels compiled, for simulations of many trials. The only module that imports Numba.

What is compiled is kept on disk. Numba's own cache notices edits only in the file that holds a function, although the
code of a kernel contains that of all it calls. So each state of the sources has a folder of its own.

Division follows IEEE 754, and no fast-math option is set: the same rewards give the same bits as in plain Python.
Kernels allocate nothing, so they do without reference counting, whose atomic counters would cost more than a round.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import shutil
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from ramgape.core.kernel import KERNELS, PACKAGE, Closed, Kernel
from ramgape.core.table import ARM, PROBLEM, SEARCH, TRACE, TRUTH

OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
COMPILED_PARTS = ("core", "bounds", "policies", "questions", "risks", "statistics", "problems/environments.py")
FOLDERS_KEPT = 4  # of compiled code, one for each state of the sources

_lock = threading.RLock()  # Numba's settings are global, and so are the functions that it knows


def _table(columns: np.dtype[np.void]) -> Any:
    return types.Array(numba.from_dtype(columns), 1, "C")


_arms, _memory = _table(ARM), types.Array(types.float64, 2, "C")
_search, _problem = numba.from_dtype(SEARCH), numba.from_dtype(PROBLEM)
_state = (_arms, _memory, _search, _problem)
_values = types.Array(types.float64, 1, "C")
_generator = numba.typeof(np.random.Generator(np.random.PCG64(0)))

DRAW = types.float64(_memory, _values, types.int64, _generator)
LEARN = types.void(*_state, types.int64, types.float64)
COMPARE = types.void(*_state, types.int64)
DECIDE = types.int64(*_state)
STOP = types.boolean(*_state)
STEPS = (DRAW, LEARN, COMPARE, DECIDE, STOP)
ADVANCE = types.int64(
    *map(types.FunctionType, STEPS),
    *(_arms, _memory, _table(SEARCH), _table(PROBLEM)),
    *(_memory, _values, _generator, types.int64, _table(TRUTH), _table(TRACE)),
    *(_arms, _table(SEARCH)),
)


@functools.cache
def written_out(function: Kernel) -> Kernel:
    """A kernel as one plain function: the source of an open one, in which its parts stand for the first parameters."""
    if not isinstance(function, Closed):
        return function
    parts = [written_out(part) if callable(part) else part for part in function.args]
    taken = " ".join(_full_name(part) if callable(part) else repr(part) for part in parts)
    opened: Any = function.source
    name = f"{opened.__name__}_{hashlib.sha256(taken.encode()).hexdigest()[:12]}"
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(opened))).body
    assert isinstance(source, ast.FunctionDef)
    source.name, source.decorator_list = name, []
    closed = [parameter.arg for parameter in source.args.args[: len(parts)]]
    del source.args.args[: len(parts)]
    names = {**opened.__globals__, **dict(zip(closed, parts, strict=True)), "__name__": opened.__module__}
    exec(compile(ast.Module([source], []), opened.__code__.co_filename, "exec"), names)
    KERNELS[names[name]] = {}
    return names[name]  # type: ignore[no-any-return]


def compiled(function: Kernel, signature: Any, *, nogil: bool = False) -> Any:
    """A kernel compiled for one signature, or found on disk. Kernels from outside are compiled in every process."""
    with _lock:  # whoever needs the same kernel waits for it
        return _compiled(function, signature, nogil)


@functools.cache
def _compiled(function: Kernel, signature: Any, nogil: bool) -> Any:
    with _cache_folder() as folder:
        plain = written_out(function)
        _register_kernels()
        keep = folder is not None and _is_ours(function)
        return numba.njit(signature, cache=keep, nogil=nogil, **OPTIONS)(plain)


def is_on_disk(function: Kernel) -> bool:
    """Whether a kernel is likely to be found on disk, so that it need not be compiled."""
    folder = cache_folder()
    with suppress(OSError):
        return _is_ours(function) and any(folder.glob(f"*/*.{written_out(function).__name__}-*.nbi"))
    return False


@functools.cache
def _known() -> set[Kernel]:
    return set()


def _register_kernels() -> None:
    """Let the compiler know all kernels, those that are new since the last time."""
    known = _known()
    # Whatever stands for a closed kernel is a kernel itself, so that new ones may come up meanwhile.
    while new := [function for function in KERNELS if function not in known]:
        for function in new:
            known.add(function)
            register_jitable(**OPTIONS, **KERNELS[function])(function)
            for name in function.__code__.co_names:
                closed = function.__globals__.get(name)
                if isinstance(closed, Closed) and closed not in known:
                    known.add(closed)
                    overload(closed, jit_options=OPTIONS, strict=False)(_standing_for(written_out(closed)))


def _standing_for(plain: Kernel) -> Kernel:
    """What tells the compiler which function a kernel means that names a closed one."""
    return lambda *_: plain


def _full_name(function: Kernel) -> str:
    return f"{function.__module__}.{function.__name__}"


def _is_ours(function: Kernel) -> bool:
    """Whether all source of a kernel belongs to this package, so that the folder's name tells of every edit."""
    if isinstance(function, Closed):
        return all(_is_ours(part) for part in (function.source, *filter(callable, function.args)))
    return _full_name(function).startswith("ramgape.")


@functools.cache
def source_stamp() -> str:
    """A digest of every source file that can end up inside a kernel."""
    digest = hashlib.sha256()
    for part in COMPILED_PARTS:
        path = PACKAGE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled code of these sources is kept."""
    place = os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "ramgape")
    return Path(place).expanduser() / f"kernels-{source_stamp()}"


@contextmanager
def _cache_folder() -> Iterator[Path | None]:
    """Have Numba keep its code in this folder; None where no folder can be written."""
    folder: Path | None = cache_folder()
    usual = numba.config.CACHE_DIR
    try:
        assert folder is not None
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old(folder)
        numba.config.CACHE_DIR = str(folder)
    except OSError:
        folder = None
    try:
        yield folder
    finally:
        numba.config.CACHE_DIR = usual


def _forget_old(folder: Path) -> None:
    """Remove the code of sources that were in use longest ago."""
    with suppress(OSError):
        others = sorted(folder.parent.glob("kernels-*"), key=lambda each: each.stat().st_mtime, reverse=True)
        for old in others[FOLDERS_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
