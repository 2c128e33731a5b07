"""An engine owns its state: copies are apart, ends are told, answers are read, and nobody else writes its tables."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import load_instance
from ramgape.core.table import STATISTICS
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec

SOURCE = Path(ramgape.__file__).parent
ENGINES = ("search/engine.py", "search/lanes.py", "search/outcome_engine.py", "search/spending.py")
WRITERS = ("core", "bounds", "policies", "risks", "search/assembly.py", *ENGINES)
OPTIONS: dict[str, Any] = {"reward_range": (0.0, 1.0), "epsilon": 0.05}


def started(pulls: int, **options: Any) -> Engine:
    """A search of five arms after some pulls."""
    engine, generator = Engine(make_spec(range(5), **{**OPTIONS, **options})), np.random.default_rng(1)
    for _ in range(pulls):
        arm = engine.ask()
        assert arm is not None
        engine.tell(arm, generator.random())
    return engine


def go_on(engine: Engine, pulls: int) -> list[int | None]:
    """Pull on; which arms those were."""
    generator, arms = np.random.default_rng(2), []
    for _ in range(pulls):
        arms.append(engine.ask())
        if arms[-1] is not None:
            engine.tell(arms[-1], generator.random())
    return arms


# ----------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "round-robin", "psi-unif-elim"])
def test_a_copy_goes_on_alike_and_apart(policy: str) -> None:
    engine = started(33, policy=policy)
    before = engine.arms.tobytes(), engine.search.tobytes()
    twin = engine.copy()
    assert (twin.arms.tobytes(), twin.search.tobytes()) == before
    found = go_on(twin, 40)
    assert (engine.arms.tobytes(), engine.search.tobytes()) == before
    assert go_on(engine, 40) == found
    assert engine.arms.tobytes() == twin.arms.tobytes()


def test_a_copy_knows_what_is_under_way_and_where_the_rule_stands() -> None:
    engine = started(21, policy="ra-lucb")
    engine.reserve(3, 2)
    twin = engine.copy()
    assert (twin.pending, twin.decision) == (engine.pending, engine.decision)
    assert twin.ask() == engine.ask()
    twin.release(3)
    assert engine.pending == (0, 0, 0, 2, 0)
    assert twin.pending == (0, 0, 0, 1, 0)


def test_a_copy_has_rewards_of_its_own() -> None:
    spec = make_spec(["a", "b"], noise="gaussian", epsilon=0.1, risk="cvar:0.1")
    engine = Engine(spec)
    engine.tell(0, 1.0)
    twin = engine.copy()
    twin.tell(0, 2.0)
    assert engine.sample is not None
    assert twin.sample is not None
    assert engine.sample.of(0).tolist() == [1.0]
    assert twin.sample.of(0).tolist() == [1.0, 2.0]


# ------------------------------------------------------------------------------------------- ends


@pytest.mark.parametrize("reason", ["confidence", "callback", "interrupted", "data"])
def test_an_end_from_elsewhere_is_an_end(reason: Any) -> None:
    engine = started(20)
    assert engine.stopped is None
    engine.finish(reason)
    assert engine.stopped == reason
    assert engine.ask() is None
    engine.finish("error")
    assert engine.stopped == reason, "the first reason stays"
    assert engine.copy().stopped == reason


def test_no_other_end_comes_after_the_last_pull() -> None:
    engine = started(20, max_trials=20)
    engine.finish("callback")
    assert engine.stopped == "cap"


def test_an_end_that_is_no_proof_leaves_the_set_of_smallest_doubt() -> None:
    instance, engines = load_instance("paper:46"), []
    for reason in ("callback", "confidence"):
        engine = Engine(simulated_spec(instance, epsilon=0.0, returned="smallest-doubt", bound="paper", rho=0.9))
        engine.advance(instance.sampler(), np.random.default_rng(0), 200)
        engine.finish(reason)  # type: ignore[arg-type]
        engines.append(engine)
    given_up, proved = engines
    assert (given_up.answer() == (given_up.arms["kept"] == 1)).all()
    assert (proved.answer() == (proved.arms["in_front"] == 1)).all()
    assert infer(given_up).stopped == "callback"


def test_nothing_is_returned_before_every_arm_has_its_first_pulls() -> None:
    assert not started(9).answer().any()
    assert started(10).answer().any()


# ------------------------------------------------------------------------------------- statistics


def test_a_search_from_statistics_is_the_one_that_learnt_them() -> None:
    engine = started(60, bound="hoeffding", policy="round-robin")
    found = Engine.from_statistics(engine.spec, engine.state)
    assert found.samples == 60
    assert not found.ready
    found.look()
    for column in (*STATISTICS, "in_front", "dominators"):
        assert np.array_equal(found.arms[column], engine.arms[column], equal_nan=True), column
    assert found.answer().tolist() == engine.answer().tolist()


# ---------------------------------------------------------------------------------- who may write


def writes_to_a_table(node: ast.AST) -> bool:
    """Whether a statement assigns to an item of something's `arms` or `search`."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = [each for target in node.targets for each in ast.walk(target) if isinstance(each, ast.expr)]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    written = [target.value for target in targets if isinstance(target, ast.Subscript)]
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("arms", "memory", "search", "problem")
        for value in written
        for part in ast.walk(value)
    )


def test_only_the_engine_writes_its_tables() -> None:
    assert writes_to_a_table(ast.parse('engine.search["stopped"] = 1').body[0])
    assert writes_to_a_table(ast.parse("copy.arms[:], copy.search[:] = a, b").body[0])
    assert writes_to_a_table(ast.parse('engine.arms["pulls"][0] += 1').body[0])
    guilty = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith(WRITERS):
            guilty += [
                f"{place}:{node.lineno}"
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.stmt) and writes_to_a_table(node)
            ]
    assert guilty == []
