"""Whether a policy does what a search relies on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ramgape.policies import POLICIES, is_compiled
from ramgape.problems.environments import Arm, Bernoulli, Beta, Instance
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulate
from ramgape.testing.expecting import expect, expect_that

EASY = Instance(
    "easy", (Arm("good", Beta(24, 12)), Arm("fair", Beta(12, 24)), Arm("poor", Beta(3, 33))), (0.0, 1.0), "bounded"
)
GOALS: dict[str, dict[str, Any]] = {
    "confidence": {"epsilon": (0.2, 0.1), "delta": 0.1, "max_trials": 20_000},
    "budget": {"epsilon": (0.2, 0.1), "budget": 60},
}


def check_policy(policy: str | Callable[..., Any], goals: Sequence[str] = ("confidence", "budget")) -> None:
    """Try whether a policy does what a search relies on.

    It names arms that there are, whatever the data: few and many, equal and different, with several pulls under way.
    Asked twice about the same state it says the same, and it changes nothing in it. Under a budget it spends exactly
    that; for a confidence it comes to an end on an easy problem, with a right answer.

    Args:
        policy: A function of a `PolicyState`, a compiled `decide`, or a name.
        goals: Under which it is meant to run.

    Raises:
        AssertionError: It does not; says what was expected and what came.
        InvalidSpec: It returned something that is no arm's number.

    Examples:
        >>> check_policy(lambda state: state.pulls.argmin())
    """
    for goal in goals:
        options = GOALS[goal]
        for arm_count in (2, 7):
            _check_decisions(policy, arm_count, options)
        result = simulate(EASY, policy=policy, seed=1, **options)
        expect(result.stopped, goal, f"why a search for a fixed {goal} on an easy problem ended")
        if goal == "budget":
            expect(result.trials, options["budget"], "the pulls that a budget has paid for")
        else:
            expect_that(result.truth is not None and result.truth.eps_correct, "the answer", "right", result.answer)


def _check_decisions(policy: str | Callable[..., Any], arm_count: int, options: dict[str, Any]) -> None:
    """Decisions on coins, of which many are alike: ties everywhere."""
    generator = np.random.default_rng(arm_count)
    names = [str(number) for number in range(arm_count)]
    spec = make_spec(names, reward_range=(0, 1), policy=policy, **{**options, **_room(options)})
    engine, coins = Engine(spec), [Bernoulli(chance) for chance in generator.choice([0.0, 0.5, 1.0], arm_count)]
    remembers = (isinstance(policy, str) and policy in POLICIES) or is_compiled(spec.decide)
    for _ in range(200):
        before = [table.copy() for table in engine.state]
        arm = engine.ask()
        if arm is None:
            return
        if not remembers:  # a plain function has nowhere to note where it stands
            expect(engine.ask(), arm, "what a policy says when it is asked the same again")
            for old, new in zip(before, engine.state, strict=True):
                expect(new.tobytes(), old.tobytes(), "what a policy leaves behind in the tables of a search")
        for _ in range(int(generator.integers(3))):  # pulls under way, which never come back
            engine.reserve(arm)
            further = engine.ask()
            engine.release(arm)
            expect_that(further is None or further in range(arm_count), "an arm", "one of the search", further)
        engine.tell(arm, coins[arm].draw(generator))


def _room(options: dict[str, Any]) -> dict[str, Any]:
    return {"budget": 300} if "budget" in options else {"max_trials": 300}
