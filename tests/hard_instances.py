"""Instances made to break a rule that stops: ties, near ties, rare events, chains, duplicates, two arms and a hundred.

On an instance of `TEMPTING` a false claim looks as true as it can: what would have to be wrong for a wrong answer lies
on the boundary, or just beyond it. On one of `STARVING` the estimates of some arms say for a long time that nothing is
left to learn about them (a coin near 0 or 1, or near 1/2 for its variance), while a proof needs more of them.
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.problems.distributions import Bernoulli, Beta, Data
from ramgape.problems.environments import Arm, Distribution, Instance


class HardCase(NamedTuple):
    """An instance, the tolerance at which it is hard, and where a search may be given up."""

    instance: Instance
    epsilon: float
    cap: int = 20_000


def instance_of(name: str, *distributions: Distribution) -> Instance:
    """Arms with rewards in [0, 1]."""
    arms = tuple(Arm(str(number), each) for number, each in enumerate(distributions, start=1))
    return Instance(name, arms, reward_range=(0.0, 1.0), noise="bounded", risk="mean-variance:0.01")


def coins(*probabilities: float) -> list[Distribution]:
    """Arms that pay 1 with these probabilities, and otherwise nothing."""
    return [Bernoulli(probability) for probability in probabilities]


def seldom(usual: float, exception: float, one_in: int) -> Data:
    """An arm that pays the same but for one time in so many."""
    return Data([usual] * (one_in - 1) + [exception])


def spread_out(mean: float, concentration: float) -> Beta:
    """A Beta arm by its mean and by a + b: the more, the narrower."""
    return Beta(mean * concentration, (1.0 - mean) * concentration)


def chain(length: int, mean_step: float, first: float = 0.5) -> list[Distribution]:
    """Arms each of which has less variance than the next, and a mean that is more by so much (or the same, or less)."""
    return [spread_out(first - place * mean_step, 40.0 * 0.6**place) for place in range(length)]


TEMPTING = [
    # The same mean: both arms are on the front, and one false claim about means is all that a wrong answer takes.
    HardCase(instance_of("two arms with one mean", *chain(2, 0.0)), 0.0, 10_000),
    HardCase(instance_of("a chain with one mean", *chain(6, 0.0)), 0.0, 10_000),
    HardCase(instance_of("a chain, each just dominating the next", *chain(6, 0.01)), 0.0, 10_000),
    HardCase(instance_of("a chain, all on the front by a hair", *chain(6, -0.01)), 0.0, 10_000),
    # At the boundary of what epsilon forgives: each arm is beaten by exactly epsilon in the mean, and by more in risk.
    HardCase(instance_of("a chain of steps of epsilon", *chain(5, 0.02)), 0.02),
    HardCase(instance_of("a chain of steps just below epsilon", *chain(5, 0.019)), 0.02),
    # One risk: coins p and 1 - p have one variance.
    HardCase(instance_of("coins with one variance", *coins(0.4, 0.6)), 0.0, 10_000),
    HardCase(instance_of("duplicates", *coins(0.3, 0.3, 0.3), *[spread_out(0.5, 10.0)] * 2), 0.02),
    # What decides shows itself once in five hundred draws.
    HardCase(
        instance_of("a rare prize", seldom(0.4, 1.0, 500), Data([0.4, 0.402]), spread_out(0.45, 30.0)), 0.0, 10_000
    ),
    HardCase(instance_of("a rare loss", seldom(0.5, 0.0, 500), spread_out(0.495, 900.0), Data([0.48])), 0.005),
    HardCase(instance_of("rare coins", *coins(0.002, 0.004, 0.008, 0.3)), 0.005),
    HardCase(instance_of("all on the front", *(spread_out(0.3 + 0.05 * n, 60.0 * 0.6**n) for n in range(8))), 0.01),
    HardCase(instance_of("a hundred arms", *(spread_out(0.5 - 0.002 * n, 60.0 * 0.95**n) for n in range(100))), 0.05),
]

# How many times as many samples `evidence` took as `ramgape` when it looked at estimates alone.
STARVING = [
    HardCase(instance_of("9.0: coins near 1/2, one near 0", *coins(0.02, 0.52, 0.49)), 0.01),
    HardCase(instance_of("6.5: coins at 1/2, one near 0", *coins(0.5, 0.005, 0.51)), 0.02),
    HardCase(instance_of("6.0: two coins near 1/2", *coins(0.52, 0.505)), 0.02),
    HardCase(instance_of("3.0: coins at 1/2, a rare one", *coins(0.5, 0.505, 0.002)), 0.05),
    HardCase(instance_of("2.4: almost sure", *coins(1.0, 0.02, 0.998)), 0.02),
    HardCase(instance_of("2.4: near 0, near 1", *coins(0.99, 0.02, 0.0, 0.01, 0.995), spread_out(0.3, 0.5)), 0.02),
    HardCase(instance_of("2.1: rare loss", *coins(0.02, 0.005, 0.02), seldom(0.9, 0.0, 100)), 0.02),
    HardCase(instance_of("2.0: sure, almost sure, even", *coins(0.51, 0.999, 1.0, 0.01)), 0.02),
    HardCase(instance_of("1.8: two alike", *coins(0.9, 0.9)), 0.02),
]
