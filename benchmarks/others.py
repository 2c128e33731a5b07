"""The plain NumPy loop beside ours, ask and tell from Python, and the way to the first pull."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import numpy_loop
from ramgape.engine import Engine
from ramgape.instances import load_instance
from ramgape.simulation import simulated_spec

FIRST_PULL = """
import time
begun = time.perf_counter()
import ramgape
moments = []
def pull(arm):
    moments.append(time.perf_counter())
    return 0.5
ramgape.identify(pull, ["a", "b"], reward_range=(0, 1), epsilon=0.1, max_pulls=4)
print(moments[0] - begun)
"""
SIMULATION = """
import time
begun = time.perf_counter()
import ramgape
ramgape.simulate("paper:46", epsilon=0.05, max_pulls=20)
print(time.perf_counter() - begun)
"""


def against_numpy(name: str, pulls: int, repeats: int) -> list[float]:
    """How many times faster a pull is in the compiled loop than in the NumPy loop, draws included; taking turns."""
    instance = load_instance(name)
    sampler, count = instance.sampler(), len(instance.names)
    spec = simulated_spec(instance, epsilon=0.0, bound="paper")
    shapes = [(arm.distribution.a, arm.distribution.b) for arm in instance.arms]  # type: ignore[union-attr]
    found = []
    for repeat in range(repeats):
        generator = np.random.default_rng(repeat)

        def pull(arm: int, generator: np.random.Generator = generator) -> float:
            return float(generator.beta(*shapes[arm]))

        begun = time.perf_counter()
        numpy_loop.run(
            "ramgape",
            "paper",
            pull,
            count,
            epsilon=0.0,
            delta=0.05,
            rho=spec.rho,
            max_pulls=pulls,
        )
        slow = (time.perf_counter() - begun) / pulls
        engine = Engine(spec)
        engine.prepare(sampler)
        begun = time.perf_counter()
        made = engine.advance(sampler, np.random.default_rng(repeat), 200 * pulls)
        found.append(slow * made / (time.perf_counter() - begun))
    return found


def ask_and_tell(pairs: int, repeats: int) -> list[float]:
    """Microseconds for one ask and one tell in memory."""
    instance = load_instance("paper:exp3")
    spec = simulated_spec(instance, epsilon=0.0, bound="hoeffding")
    rewards = np.random.default_rng(0).random(pairs).tolist()
    found = []
    for _ in range(repeats):
        engine = Engine(spec)
        begun = time.perf_counter()
        for reward in rewards:
            arm = engine.ask()
            assert arm is not None
            engine.tell(arm, engine.check_reward(reward))
        found.append(1e6 * (time.perf_counter() - begun) / pairs)
    return found


def first_use(repeats: int) -> dict[str, list[float]]:
    """Seconds to the first pull in a new process: with nothing compiled yet, and with everything on disk."""
    found: dict[str, list[float]] = {"identify, first use ever": [], "identify, later process": []}
    found |= {"simulate, first use ever": [], "simulate, later process": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for word, code in (("identify", FIRST_PULL), ("simulate", SIMULATION)):
                folder = str(Path(cache) / word)
                found[f"{word}, first use ever"].append(_seconds(code, folder))
                found[f"{word}, later process"].append(_seconds(code, folder))
    return found


def _seconds(code: str, cache: str) -> float:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(run.stdout)


def help_seconds(repeats: int) -> list[float]:
    """Seconds for `ramgape --help`."""
    found = []
    for _ in range(repeats):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "ramgape", "--help"], capture_output=True, check=True)
        found.append(time.perf_counter() - begun)
    return found


def middle(values: list[float]) -> dict[str, Any]:
    """Median and extremes."""
    return {"value": statistics.median(values), "low": min(values), "high": max(values)}
