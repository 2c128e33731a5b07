"""Whether a risk measure does what a search relies on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ramgape.problems.distributions import Bernoulli, Beta, Data, Distribution, Gaussian, Uniform
from ramgape.problems.environments import Arm, Instance
from ramgape.risks import make_risk, measure_from_dict, measure_to_dict
from ramgape.risks.measure import Measure
from ramgape.risks.table import NORMAL, RISKS, UNRANGED
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.search.units import user_risks
from ramgape.testing.coverage import check_boxes
from ramgape.testing.expecting import expect, expect_that

UNIT: tuple[Distribution, ...] = (Beta(2, 3), Beta(0.3, 0.2), Bernoulli(0.25), Uniform(0.2, 0.7), Data((0.1, 0.4, 0.4)))
REWARDS = 400


def check_risk(measure: Measure, distributions: Sequence[Distribution] = UNIT) -> None:
    """Try whether a risk measure does what a search relies on, for rewards from 0 to 1.

    - Its values for rewards in [0, 1] lie in `unit_range`.
    - `on_unit`, `power` and `offset` bring it to another scale and back.
    - `mirrored` is the same for costs.
    - The truth of a distribution and that of a large sample agree.
    - What a search estimates from rewards is what the definition says of them.
    - Boxes of a search contain the truth: seeded runs, of which a sound risk fails fewer than one in a million.
    - If it serves Gaussian rewards, its value does not rise with the mean, nor both rise and fall with the variance.
    - If it serves rewards without a range, what is estimated from them is what the definition says of them.

    Args:
        measure: The measure, with parameters that make sense for rewards in [0, 1].
        distributions: What it is tried on, in [0, 1].

    Raises:
        AssertionError: It does not; says what was expected and what came.

    Examples:
        >>> from ramgape import CVaR
        >>> check_risk(CVaR(level=0.2))
    """
    if measure.name in RISKS:
        expect(make_risk(str(measure)), measure, "what its text means")
        expect(measure_from_dict(measure_to_dict(measure)), measure, "what its description means")
    for distribution in distributions:
        _check_truth(measure, distribution)
        _check_estimate(measure, distribution)
    if NORMAL in measure.made_of:
        _check_normal(measure)
    if UNRANGED in measure.made_of:
        _check_unranged(measure)
    instance = Instance("hard", (Arm("a", Beta(0.3, 0.2)), Arm("b", Bernoulli(0.25))), (0.0, 1.0), "bounded")
    check_boxes(instance, risk=measure)


def _check_truth(measure: Measure, distribution: Distribution) -> None:
    low, high = measure.unit_range()
    truth, about = measure.value_of(distribution), f"of {distribution!r}"
    expect_that(low - 1e-9 <= truth <= high + 1e-9, f"value_of {about}", f"from {low:g} to {high:g}", truth)
    # The definition knows nothing of the scale on which a search works.
    sample = distribution.quantile((np.arange(2_000) + 0.5) / 2_000)
    expect_that(_near(measure.value_in(sample), truth, 0.01), f"value_in {about}", f"nearly {truth:g}", measure)
    for origin, span in ((-3.0, 2.0), (5.0, 0.25)):
        unit = measure.on_unit(origin, span)
        there = span**measure.power * unit.value_in(sample) + measure.offset(origin)
        here = measure.value_in(origin + span * sample)
        expect_that(_near(there, here, 1e-6), f"the value {about} on another scale", f"{here:g}", there)


def _check_estimate(measure: Measure, distribution: Distribution) -> None:
    """The search's estimate against the definition; a tail is known to a cell of the range only."""
    generator = np.random.default_rng(3)
    rewards = np.array([distribution.draw(generator) for _ in range(REWARDS)])
    for direction in ("maximize", "minimize"):
        engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), budget=1_000, risk=measure, direction=direction))
        engine.learn_many(np.zeros(REWARDS, np.int64), rewards)
        oriented, signed = engine.spec.oriented_risk, rewards if direction == "maximize" else -rewards
        wanted = engine.spec.risk_factor * oriented.value_in(signed)
        found = float(user_risks(engine.spec, engine.arms["risk"][0]))
        what = f"what is estimated of {distribution!r} to {direction}"
        expect_that(_near(found, wanted, 1.0 / 64.0), what, f"{wanted:g}", found)
        expect_that(float(engine.arms["risk_spread"][0]) >= 0.0, f"the spread of {what}", "0 or more", "less")


def _check_normal(measure: Measure) -> None:
    values = [[measure.value_of(Gaussian(mean, variance)) for variance in (0.01, 0.1, 1.0)] for mean in (0.2, 0.5, 0.9)]
    for row, further in itertools.pairwise(values):
        falls = all(new <= old + 1e-12 for old, new in zip(row, further, strict=True))
        expect_that(falls, "the risk of Gaussian rewards", "no more for a larger mean", values)
    for row in values:
        one_way = row in (sorted(row), sorted(row, reverse=True))
        expect_that(one_way, "the risk of Gaussian rewards", "rising or falling with the variance, not both", values)
    expect_that(all(math.isfinite(value) for row in values for value in row), "every value", "finite", values)


def _check_unranged(measure: Measure) -> None:
    """A tail is known to a cell of a few hundredths of the spread only."""
    for distribution in (Gaussian(0.4, 0.09), Beta(0.3, 0.2, -1.0, 2.0)):
        generator = np.random.default_rng(4)
        rewards = np.array([distribution.draw(generator) for _ in range(REWARDS)])
        engine = Engine(make_spec(["a", "b"], assumption="unknown", budget=1_000, risk=measure))
        engine.learn_many(np.zeros(REWARDS, np.int64), rewards)
        wanted, what = measure.value_in(rewards), f"what is estimated of {distribution!r} without a range"
        found = float(engine.arms["risk"][0]) / engine.spec.risk_scale
        expect_that(_near(found, wanted, 0.02), what, f"{wanted:g}", found)
        expect_that(float(engine.arms["risk_spread"][0]) >= 0.0, f"the spread of {what}", "0 or more", "less")


def _near(found: float, wanted: float, tolerance: float) -> bool:
    return abs(found - wanted) <= tolerance * max(1.0, abs(wanted))
