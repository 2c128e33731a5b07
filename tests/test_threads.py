"""Several threads at once: kernels are compiled once, and long loops let the others run."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

from ramgape.core.rule import compile_for
from tests.cli_support import environment
from tests.support import make_engine

THREADS = 4


def test_a_kernel_is_compiled_once_however_many_threads_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait until it can be handed over; they used to find it half ready, or its compilation disabled."""

    @numba.njit
    def kernel(number: Any) -> Any:
        return number

    signature = types.int64(types.int64)
    usual, calls, together = kernel.compile, [], threading.Barrier(THREADS)

    def slow(wanted: Any) -> Any:
        calls.append(wanted)
        time.sleep(0.1)  # for the others to come
        compiled = usual(wanted)
        time.sleep(0.1)
        return compiled

    monkeypatch.setattr(kernel, "compile", slow)

    def need(_: int) -> bool:
        together.wait()
        compile_for(kernel, signature)
        return bool(kernel.signatures) and not kernel._can_compile

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(need, range(THREADS))) == [True] * THREADS
    assert calls == [signature]


def test_other_threads_run_while_rewards_are_learnt() -> None:
    """Somebody else sees the count of pulls on its way, which nobody could who had to wait for the end."""
    engine = make_engine(2, "budget", budget=20_000_000)
    chosen = np.arange(1_000_000) % 2
    rewards = np.random.default_rng(1).uniform(size=len(chosen))
    engine.learn_many(chosen[:2], rewards[:2])  # compiled, and ready
    for _ in range(10):  # on a busy machine the one that looks may sleep all the while
        before = engine.samples
        thread = threading.Thread(target=engine.learn_many, args=(chosen, rewards))
        seen = set()
        thread.start()
        while thread.is_alive():
            seen.add(engine.samples)
        thread.join()
        assert engine.samples == before + 1_000_000
        if between := seen - {before, engine.samples}:
            break
    assert between


FIRST_USE = """
from concurrent.futures import ThreadPoolExecutor
import ramgape

def study(number):
    with ramgape.Study.create(f"study-{number}", ["a", "b"], epsilon=0.2, reward_range=(0, 1), storage=None) as made:
        return made.run(lambda arm: 0.5, progress=False).samples

with ThreadPoolExecutor(4) as pool:
    runs = ramgape.replicate("paper:46", runs=8, seed=1, epsilon=0.2, delta=0.1, executor=pool).runs
    alone = ramgape.replicate("paper:46", runs=8, seed=1, epsilon=0.2, delta=0.1).runs
    assert [each.samples for each in runs] == [each.samples for each in alone]
    assert len(set(pool.map(study, range(8)))) == 1
"""


@pytest.mark.long
@pytest.mark.parametrize("fresh", [False, True])
def test_first_use_by_several_threads(fresh: bool, tmp_path: Path) -> None:
    """In a new process, whether kernels are on disk already or not."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)} if fresh else {}
    command = [sys.executable, "-W", "ignore", "-c", FIRST_USE]
    finished = subprocess.run(command, env={**environment(), **cache}, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
