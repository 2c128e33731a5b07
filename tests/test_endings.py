"""Every search inside compiled code ends, whatever the rewards: nothing else could end it, not even Ctrl-C."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

from ramgape.core.kernel import PACKAGE

PATIENCE = 900  # seconds until a hang is taken for one: kernels may have to be compiled first

# The loops without a fixed number of steps that kernels may have, and why they end. A bisection is not to be among
# them: it has MOST_STEPS, because rounding, or data that contradict themselves, may keep it from moving.
ENDING = {
    "core/order.py: move": "goes on by a place each time",
    "core/comparisons.py: find_blocker": "goes on once at most, with another level",
    "core/doubt.py: find_leader": "makes one row more exact each time",
    "policies/evidence_budget.py: compare": "makes one row more exact each time",
    "policies/de_round_robin.py: decide": "a circle in which some arm is always in the front",
    "core/elimination.py: reject_successively": "begins a phase each time",
    "core/elimination.py: halve": "settles an open arm each time, of those there are two at least",
    "core/elimination.py: begin_halving": "doubles until it has reached the number of arms",
    "risks/evar.py: estimate": "halves whole numbers",
    "risks/evar.py: is_too_low": "leaves one cell out each time, at least",
    "risks/evar.py: narrow": "goes on by a band each time, whose ends are exact: there are 64 to a unit",
    "risks/spectral.py: narrow": "goes on by a step each time, of which there are eight",
    "statistics/wealth.py: cells_of": "goes on by a cell each time, at least 0.15 over the number of trials wide",
    "problems/environments.py: chosen_part": "goes on by a part of the mixture each time",
}


def test_only_loops_that_are_known_to_end_have_no_fixed_number_of_steps() -> None:
    from ramgape.core.compiled import COMPILED_PARTS

    found = set()
    for part in COMPILED_PARTS:
        path = PACKAGE / part
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            if file.name == "compiled.py":
                continue  # which compiles the others
            for function in ast.walk(ast.parse(file.read_text())):
                if isinstance(function, ast.FunctionDef) and any(
                    isinstance(node, ast.While) for node in ast.walk(function)
                ):
                    found.add(f"{file.relative_to(PACKAGE).as_posix()}: {function.name}")
    assert found == set(ENDING)


def test_searches_end_where_an_average_leaves_its_interval() -> None:
    """Then every risk may be rejected right up to the estimate, and a bisection no longer moves.

    Rewards that change their distribution are noticed, every time. Others make an average leave now and then.
    """
    command = [sys.executable, "-m", "tests.drifting_coins"]
    root = Path(__file__).parents[1]
    run = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    misses = json.loads(run.stdout)
    assert all(misses["drift"])
    assert all(misses["drift, pairwise"])
    assert 0 < sum(map(bool, misses["independent"])) < 25
