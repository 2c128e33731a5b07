"""Every search inside compiled code ends, whatever the rewards: nothing else could end it, not even Ctrl-C."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ramgape.core.kernel import COMPILED_PARTS, PACKAGE
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec

PATIENCE = 900  # seconds until a hang is taken for one: kernels may have to be compiled first
PULLS = 20_000

# The loops without a fixed number of steps that kernels may have, and why they end. A bisection is not to be among
# them: it has MOST_STEPS, because rounding, or data that contradict themselves, may keep it from moving.
ENDING = {
    "core/order.py: move": "goes on by a place each time",
    "core/doubt.py: find_leader": "makes one row more exact each time",
    "policies/evidence_budget.py: compare": "makes one row more exact each time",
    "policies/de_round_robin.py: decide": "a circle in which some arm is always in the front",
    "policies/ege_sr.py: compare": "begins a phase each time",
    "policies/ege_sh.py: compare": "settles an open arm each time, of those there are two at least",
    "policies/ege_sh.py: begin_phase": "doubles until it has reached the number of arms",
    "risks/cvar.py: estimate_risk": "goes on by a cell each time",
}


def test_only_loops_that_are_known_to_end_have_no_fixed_number_of_steps() -> None:
    found = set()
    for part in COMPILED_PARTS:
        path = PACKAGE / part
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            for function in ast.walk(ast.parse(file.read_text())):
                if isinstance(function, ast.FunctionDef) and any(
                    isinstance(node, ast.While) for node in ast.walk(function)
                ):
                    found.add(f"{file.relative_to(PACKAGE).as_posix()}: {function.name}")
    assert found == set(ENDING)


def misses_of(seed: int, before: float, after: float, pulls: int, **options: Any) -> int:
    """Two coins, in turn, that change after so many pulls: how often intervals were contradicted, when it has ended."""
    engine = Engine(make_spec(range(2), reward_range=(0.0, 1.0), epsilon=0.0, **options))
    chances = np.where(np.arange(PULLS) < pulls, before, after)
    rewards = np.random.default_rng(seed).random(PULLS) < chances
    engine.learn_many(np.arange(PULLS) % 2, rewards.astype(float))
    return int(engine.search["misses"][0])


CASES: dict[str, dict[str, Any]] = {
    "drift": {"before": 0.3, "after": 0.6, "pulls": 4_000},
    "drift, pairwise": {"before": 0.3, "after": 0.6, "pulls": 4_000, "bound": "pairwise", "policy": "evidence"},
    "independent": {"before": 0.5, "after": 0.5, "pulls": 0, "delta": 0.8},
}


def play() -> None:
    """All cases, in a process that can be killed."""
    misses = {name: [misses_of(seed, **case) for seed in range(50)] for name, case in CASES.items()}
    json.dump(misses, sys.stdout)


def test_searches_end_where_an_average_leaves_its_interval() -> None:
    """Then every risk may be rejected right up to the estimate, and a bisection no longer moves.

    Rewards that change their distribution are noticed, every time. Others make an average leave now and then.
    """
    command = [sys.executable, "-c", "from tests.test_endings import play; play()"]
    root = Path(__file__).parents[1]
    run = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    misses = json.loads(run.stdout)
    assert all(misses["drift"])
    assert all(misses["drift, pairwise"])
    assert 0 < sum(map(bool, misses["independent"])) < 25
