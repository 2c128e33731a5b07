"""Compiled code: what kernels in Python give, kept on disk, void after an edit, made once by whichever thread."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramgape.core.kernel import PACKAGE, Closed, as_kernel, fixed, inlined, is_kernel, kernel, open_kernel
from ramgape.core.rule import never
from ramgape.policies import round_robin
from ramgape.problems.instances import load_instance
from ramgape.search import engine as engines
from ramgape.search import simulator as simulators
from ramgape.search.engine import Engine
from ramgape.search.simulator import Simulator
from ramgape.simulation.simulation import simulated_spec
from tests.cli_support import environment

# --- kernels --------------------------------------------------------------------------------------------------------


@inlined
def square(number: Any) -> Any:
    return number * number


@open_kernel
def applied(function: Any, offset: Any, number: Any) -> Any:
    return function(number) + offset


@kernel
def cube(number: Any) -> Any:
    return number * square(number)


def outer(number: Any) -> Any:
    return cube(number) + 1


def test_a_kernel_is_the_function_that_it_was() -> None:
    assert square(3) == 9
    assert cube(5) == 125
    assert is_kernel(square)
    assert is_kernel(fixed(applied, square, 1))
    assert not is_kernel(lambda number: number)


def test_parts_are_filled_in_once() -> None:
    made = fixed(applied, square, 1)
    assert isinstance(made, Closed)
    assert made(3) == 10
    assert fixed(applied, square, 1) is made
    assert fixed(applied, made, 5)(3) == 15


def test_a_function_that_the_compiler_has_wrapped_is_taken_as_it_is() -> None:
    class Wrapped:
        py_func = staticmethod(outer)

    assert is_kernel(Wrapped())
    assert as_kernel(Wrapped()) is outer
    assert as_kernel(outer) is outer


def test_compiled_kernels_give_what_plain_ones_give() -> None:
    """With parts that have parts, a kernel that calls another, and a function that somebody brings from outside."""
    from numba import types

    from ramgape.core import compiled

    double = types.float64(types.float64)
    nested = fixed(applied, fixed(applied, square, 0.5), 5.0)
    for function in (square, nested, as_kernel(outer)):
        for number in (3.0, 0.1):
            assert compiled.compiled(function, double)(number) == function(number)
    assert compiled.compiled(nested, double) is compiled.compiled(nested, double)


# --- kept on disk ---------------------------------------------------------------------------------------------------

# A rule that is soon compiled, and calls a function of another file.
SMALL = """
import sys
import numpy as np
from ramgape.core import compiled
from ramgape.core.kernel import PACKAGE
from ramgape.core.table import State, empty_memory, empty_search, empty_table
from ramgape.policies import round_robin
from ramgape.search.assembly import make_problem
from ramgape.search.spec import make_spec

spec = make_spec(["a", "b", "c"], reward_range=(0, 1), epsilon=0.1)
state = State(empty_table(3), empty_memory(3, 0), empty_search(), make_problem(spec, spec.bound, spec.delta))
known = compiled.is_on_disk(round_robin.decide)
decide = compiled.compiled(round_robin.decide, compiled.DECIDE)
print(known, *(decide(*state.records) for _ in range(4)), PACKAGE)
"""


def run(program: str, source: Path = PACKAGE.parent, **more: str) -> str:
    """What a program prints in a fresh process that sees the given source folder first."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTEST_", "PYTHON"))}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**clean, "PYTHONPATH": str(source), **more},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def copy_package(folder: Path) -> Path:
    """A copy of the package's sources, without anything compiled."""
    return Path(shutil.copytree(PACKAGE, folder / "ramgape", ignore=shutil.ignore_patterns("__pycache__")))


def test_compiled_code_is_kept_found_again_and_void_after_an_edit(tmp_path: Path) -> None:
    """The compiler's own cache would not notice the edit: the function is part of another file's kernel."""
    copied, cache = copy_package(tmp_path), tmp_path / "cache"
    here = {"source": tmp_path, "NUMBA_CACHE_DIR": str(cache)}
    assert run(SMALL, **here) == f"False 0 1 2 0 {copied.resolve()}"  # type: ignore[arg-type]
    kept = {file: file.stat().st_mtime_ns for file in cache.rglob("*.nb?")}
    assert kept
    assert run(SMALL, **here) == f"True 0 1 2 0 {copied.resolve()}"  # type: ignore[arg-type]
    assert {file: file.stat().st_mtime_ns for file in cache.rglob("*.nb?")} == kept
    file = copied / "core" / "turns.py"
    text = file.read_text(encoding="utf-8")
    assert "arm = search.turn\n" in text
    file.write_text(text.replace("arm = search.turn\n", "arm = (search.turn + 1) % len(arms)\n"), encoding="utf-8")
    assert run(SMALL, **here) == f"False 1 0 2 1 {copied.resolve()}"  # type: ignore[arg-type]


def test_compiling_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    """Even root, who may write anywhere, cannot make a folder where a file is."""
    (tmp_path / "file").write_text("")
    assert run(SMALL, NUMBA_CACHE_DIR=str(tmp_path / "file")).startswith("False 0 1 2 0")


@pytest.fixture
def stamped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A copy of the package, and what says of which sources compiled code is."""
    from ramgape.core import compiled

    copied = copy_package(tmp_path)

    def stamp(package: Path = copied) -> str:
        monkeypatch.setattr(compiled, "PACKAGE", package)
        return compiled.source_stamp.__wrapped__()

    return copied, stamp


def test_an_edit_in_any_kernel_makes_compiled_code_invalid(stamped: Any) -> None:
    copied, stamp = stamped
    original = stamp(PACKAGE)
    assert stamp() == original  # the place does not matter
    decorators = {"@kernel", "@inlined", "@open_kernel"}
    files = [file for file in sorted(copied.rglob("*.py")) if decorators & set(file.read_text("utf-8").split())]
    names = {file.name for file in files}
    assert {"loop.py", "doubt.py", "hoeffding.py", "ramgape.py", "turns.py", "environments.py"} <= names
    seen = {original}
    for file in [*files, copied / "core" / "table.py"]:  # the table is no kernel, but every kernel contains it
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "\n# edited\n", encoding="utf-8")
        seen.add(stamp())
        file.write_text(text, encoding="utf-8")
    assert len(seen) == len(files) + 2
    assert stamp() == original


def test_other_edits_leave_compiled_code_alone(stamped: Any) -> None:
    copied, stamp = stamped
    original = stamp()
    for name in ("result.py", "spec.py", "conclusion.py", "py.typed"):
        (copied / name).write_text("", encoding="utf-8")
    assert stamp() == original


def test_moved_and_new_kernels_change_the_stamp(stamped: Any) -> None:
    copied, stamp = stamped
    original = stamp()
    (copied / "bounds" / "paper.py").rename(copied / "bounds" / "qaper.py")
    moved = stamp()
    (copied / "policies" / "new.py").write_text("", encoding="utf-8")
    assert len({original, moved, stamp()}) == 3


def test_code_of_sources_long_gone_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ramgape.core import compiled

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    olds = [tmp_path / f"kernels-{number}" for number in range(6)]
    for age, old in enumerate(olds):
        old.mkdir()
        os.utime(old, (time.time() - 1_000 * age, time.time() - 1_000 * age))
    (tmp_path / "another").mkdir()
    with compiled._cache_folder() as folder:
        assert folder == compiled.cache_folder()
    assert {each.name for each in tmp_path.iterdir()} == {
        "another",
        compiled.cache_folder().name,
        *(old.name for old in olds[: compiled.FOLDERS_KEPT - 1]),
    }


# --- in simulations -------------------------------------------------------------------------------------------------


def played(seed: int = 4) -> Engine:
    """A simulated search by a rule that is soon compiled."""
    instance = load_instance("paper:46")
    engine = Engine(simulated_spec(instance, bound="hoeffding", policy="round-robin", epsilon=0.01, max_trials=1_000))
    engine.rule = engine.rule._replace(stop=never)
    engine.advance(instance.sampler(), np.random.default_rng(seed), 1_000)
    return engine


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """As in a process that has not simulated anything, with nothing on disk."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    from ramgape.core import compiled

    for known in (simulators.simulator, compiled._compiled):
        known.cache_clear()
    yield monkeypatch
    simulators.simulator.cache_clear()


def test_the_loop_changes_over_when_compiling_pays_and_nobody_can_tell(
    fresh: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = played()
    assert capfd.readouterr().err == ""  # too short a simulation
    fresh.setattr(simulators, "WORTH", 0.0)
    fresh.setattr(engines, "AT_A_TIME", 300)
    simulators.simulator.cache_clear()
    changed = played()
    assert simulators.simulator.cache_info().currsize == 1
    for mine, other in zip(changed.state, plain.state, strict=True):
        assert mine.tobytes() == other.tobytes()
    said = capfd.readouterr().err
    assert "compiling this kind of simulation, once" in said
    assert "done in" in said
    simulators.simulator.cache_clear()
    assert played().arms.tobytes() == plain.arms.tobytes()  # found on disk
    assert capfd.readouterr().err == ""


def test_without_the_compiler_simulations_run_and_say_once_how_they_would_be_faster(
    fresh: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from ramgape.common.terminal import tell_slow

    fresh.setattr(simulators, "has_compiler", lambda: False)
    fresh.setattr(simulators, "WORTH", 0.0)
    fresh.setattr(simulators.time, "thread_time", time.perf_counter)
    tell_slow.cache_clear()
    assert played().samples == played(5).samples == 1_000
    assert capfd.readouterr().err.count("pip install 'ramgape[fast]'") == 1


def test_the_compiler_may_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in (("1", False), ("0", True)):
        monkeypatch.setenv("NUMBA_DISABLE_JIT", value)
        assert simulators.has_compiler.__wrapped__() is expected


def test_an_interrupt_waits_until_the_compiler_has_ended(fresh: pytest.MonkeyPatch) -> None:
    """Numba would drop it, or be left half ready."""
    from ramgape.core import compiled

    steps = []

    def compile_slowly(*given: Any, **more: Any) -> Any:
        steps.append("begun")
        os.kill(os.getpid(), signal.SIGINT)
        steps.append("done")

    fresh.setattr(compiled, "compiled", compile_slowly)
    loop = Simulator(played().rule, load_instance("paper:46").sampler().draw, False)
    with pytest.raises(KeyboardInterrupt):
        loop._compile()
    assert steps == ["begun", "done"] * 6
    assert loop.is_compiled


THREADS = 4


def test_a_kernel_is_compiled_once_however_many_threads_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait until it can be handed over; they used to find it half ready, or its compilation disabled."""
    from ramgape.core import compiled

    usual, made, together = compiled.numba.njit, [], threading.Barrier(THREADS)

    def slow(*given: Any, **more: Any) -> Any:
        made.append(given)
        time.sleep(0.1)  # for the others to come
        found = usual(*given, **more)
        time.sleep(0.1)
        return found

    monkeypatch.setattr(compiled.numba, "njit", slow)
    wanted = as_kernel(lambda number: number + 3)

    def need(_: int) -> int:
        together.wait()
        return compiled.compiled(wanted, compiled.types.int64(compiled.types.int64))(4)  # type: ignore[no-any-return]

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(need, range(THREADS))) == [7] * THREADS
    assert len(made) == 1


def test_other_threads_run_while_trials_are_simulated() -> None:
    """The compiled loop lets them; the one in Python takes turns with them as all Python does."""
    from ramgape.core import compiled

    spec = simulated_spec(load_instance("paper:46"), bound="hoeffding", policy="round-robin", epsilon=0.01)
    engine = Engine(spec)
    sampler = load_instance("paper:46").sampler()
    steps = (sampler.draw, engine.rule.learn, engine.rule.compare, round_robin.decide, never)
    loop = compiled.compiled(simulators.advance_at_once, compiled.ADVANCE, nogil=True)
    taken = [compiled.compiled(step, kind) for step, kind in zip(steps, compiled.STEPS, strict=True)]
    with engine._tables() as state:
        drawn = sampler.parameters, sampler.values, np.random.default_rng(1)
        rest = engines.UNKNOWN, engines.UNWATCHED, *engines.NO_TABLES
        thread = threading.Thread(target=loop, args=(*taken, *state, *drawn, 1_000_000, *rest))
        seen = set()
        thread.start()
        while thread.is_alive():
            seen.add(int(state.search["samples"][0]))
        thread.join()
    assert engine.samples == 1_000_000
    assert seen - {0, 1_000_000}


FIRST_USE = """
from concurrent.futures import ThreadPoolExecutor
import ramgape
from ramgape.search import engine, simulator
simulator.WORTH, engine.AT_A_TIME = 0.0, 8

def study(number):
    with ramgape.Study.create(f"study-{number}", ["a", "b"], epsilon=0.2, reward_range=(0, 1), storage=None) as made:
        return made.run(lambda arm: 0.5, progress=False).samples

with ThreadPoolExecutor(4) as pool:
    runs = ramgape.replicate("paper:46", runs=8, seed=1, epsilon=0.2, delta=0.1, executor=pool).runs
    alone = ramgape.replicate("paper:46", runs=8, seed=1, epsilon=0.2, delta=0.1).runs
    assert [each.samples for each in runs] == [each.samples for each in alone]
    assert len(set(pool.map(study, range(8)))) == 1
"""


@pytest.mark.long  # all is compiled anew
@pytest.mark.parametrize("fresh_cache", [False, True])
def test_first_use_by_several_threads(fresh_cache: bool, tmp_path: Path) -> None:
    """In a new process, whether kernels are on disk already or not."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)} if fresh_cache else {}
    command = [sys.executable, "-W", "ignore", "-c", FIRST_USE]
    finished = subprocess.run(command, env={**environment(), **cache}, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
