"""Whether a bound does what a search relies on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ramgape.assumptions import ASSUMPTIONS, ITEMS
from ramgape.bounds import Bound, the_bound
from ramgape.problems.distributions import Bernoulli, Beta, Data, Gaussian, Scores, Uniform
from ramgape.problems.environments import Arm, Instance
from ramgape.problems.unbounded import Exponential, StudentT
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.testing.coverage import check_boxes
from ramgape.testing.expecting import expect_that

# Near an end, rare large values, two points, and what looks like nothing at first.
HARD = {
    "bounded": (Bernoulli(0.02), Bernoulli(0.5), Beta(0.1, 0.3), Data((0.5,) * 30 + (1.0,))),
    "gaussian": (Gaussian(0.3, 0.01), Gaussian(-1.0, 1.0)),
    "unknown": (Gaussian(0.3, 0.01), Uniform(-1.0, 1.0), Beta(2.0, 5.0)),
    "heavy": (StudentT(5.0), Exponential(-1.0), Bernoulli(0.1)),  # of kurtosis 9 at most
    ITEMS: tuple(Scores(values) for values in ((0.0, 1.0) * 30, (0.5,) * 59 + (1.0,), (0.0,) * 58 + (0.9, 1.0))),
}
TEST_SET, LARGE_SET = 60, 20_000  # items


def check_bound(bound: str | Bound, risks: Sequence[Any] = ("mean-variance:0.5",), **options: Any) -> None:
    """Try whether a bound does what a search relies on: that its boxes hold at all times at once.

    - On rewards that make it hard, seeded runs lose the truth no more often than delta allows; a sound bound fails that
      with probability 1e-6 at most, for each risk and noise.
    - With a smaller delta boxes are not narrower.
    - With ten thousand rewards they are narrower than with a hundred, and they are not empty.

    Args:
        bound: The bound, or a name.
        risks: With which it is tried.
        **options: What else a search with it needs, `sigma_max` say; for heavy tails `kurtosis=9`.

    Raises:
        AssertionError: It does not; says what was expected and what came.

    Examples:
        >>> check_bound("hoeffding")
    """
    chosen = the_bound(bound)
    if chosen.means_only:
        options = {"question": "best", **options}
    for assumption in chosen.assumptions:
        reward_range = (0.0, 1.0) if ASSUMPTIONS[assumption].ranged else None
        for risk in risks:
            arms = tuple(Arm(str(number), hard) for number, hard in enumerate(HARD[assumption]))
            instance = Instance("hard", arms, reward_range, assumption, items=TEST_SET if assumption == ITEMS else None)
            check_boxes(instance, bound=bound, risk=risk, **options)
            _check_widths(bound, assumption, risk, options)


def _check_widths(bound: str | Bound, assumption: str, risk: Any, options: dict[str, Any]) -> None:
    generator, widths = np.random.default_rng(1), {}
    rewards = generator.beta(2.0, 2.0, 10_000) if ASSUMPTIONS[assumption].ranged else generator.normal(0.5, 0.2, 10_000)
    asked: dict[str, Any] = {"reward_range": (0, 1)} if ASSUMPTIONS[assumption].ranged else {"assumption": assumption}
    if assumption == ITEMS:
        asked["items"] = range(LARGE_SET)
    for delta in (0.05, 0.001):
        for count in (100, 10_000):
            engine = Engine(make_spec(["a", "b"], epsilon=0.0, delta=delta, bound=bound, risk=risk, **asked, **options))
            engine.learn_many(np.zeros(count, np.int64), rewards[:count])
            row = engine.arms[0]
            box = row["mean_high"] - row["mean_low"], row["risk_high"] - row["risk_low"]
            expect_that(min(box) >= 0.0, f"the box of {count} rewards", "no less than empty", box)
            widths[delta, count] = box
    for side, what in enumerate(("mean",) if the_bound(bound).means_only else ("mean", "risk")):
        for count in (100, 10_000):
            wider = widths[0.001, count][side] >= widths[0.05, count][side]
            expect_that(wider, f"the interval of the {what}", "no narrower for a smaller delta", widths)
        narrower = widths[0.05, 10_000][side] < widths[0.05, 100][side]
        expect_that(narrower, f"the interval of the {what}", "narrower with more rewards", widths)
