"""Random instances that are the same everywhere: a broad field on which methods are compared.

    random-beta:1 ... random-beta:20              mean uniform from 0.3 to 0.7, a + b log-uniform from 0.25 to 50
    random-bernoulli:1 ... random-bernoulli:20    p uniform from 0.02 to 0.98
    random-gaussian:1 ... random-gaussian:20      mean uniform from 0 to 1, variance uniform from 0.002 to 0.2

Numbers go on: above 20 they are in no list, and serve for what must not have been looked at before, such as the last
test of a rule that was tuned on the first twenty. Each has 3 to 50 arms, log-uniform. They are made by
`random.Random.random`, whose numbers no version of Python changes; nothing about them was chosen by how any method does
on them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable

from ramgape.problems.environments import Arm, Bernoulli, Beta, Distribution, Gaussian, Instance
from ramgape.risks.table import PAPER_RISK

COUNT = 20  # of each family, in lists
NUMBER = re.compile("[1-9][0-9]{0,17}")
FIRST_NUMBERS = 1_000  # numbers below have the seeds that they had when there were no others
FEWEST_ARMS, MOST_ARMS = 3, 50
LARGEST_VARIANCE = 0.2  # of a Gaussian arm


def log_uniform(draw: random.Random, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return low * math.exp(draw.random() * math.log(high / low))


def uniform(draw: random.Random, low: float, high: float) -> float:
    """A number between two."""
    return low + (high - low) * draw.random()


def random_beta(draw: random.Random) -> Beta:
    """From U-shaped to bell-shaped, and leaning either way."""
    mean, concentration = uniform(draw, 0.3, 0.7), log_uniform(draw, 0.25, 50.0)
    return Beta(round(mean * concentration, 4), round((1.0 - mean) * concentration, 4))


def random_bernoulli(draw: random.Random) -> Bernoulli:
    """A coin that is not quite certain."""
    return Bernoulli(round(uniform(draw, 0.02, 0.98), 4))


def random_gaussian(draw: random.Random) -> Gaussian:
    """Means and variances as wide apart as those of the paper."""
    return Gaussian(round(uniform(draw, 0.0, 1.0), 4), round(uniform(draw, 0.002, LARGEST_VARIANCE), 4))


FAMILIES: dict[str, Callable[[random.Random], Distribution]] = {
    "random-beta": random_beta,
    "random-bernoulli": random_bernoulli,
    "random-gaussian": random_gaussian,
}


def random_names() -> list[str]:
    """The names of those that are listed."""
    return [f"{family}:{number}" for family in FAMILIES for number in range(1, COUNT + 1)]


def numbered_alike(name: str) -> list[str]:
    """The names with the number of this one, one of each family; none if that is no number.

    >>> numbered_alike("randm-beta:137")[0], numbered_alike("random-beta:0137")
    ('random-beta:137', [])
    """
    number = name.rpartition(":")[2]
    return [f"{family}:{number}" for family in FAMILIES] if NUMBER.fullmatch(number) else []


def random_seed(family: str, number: int) -> int:
    """What an instance is drawn from; no two have the same.

    >>> random_seed("random-gaussian", 20), random_seed("random-gaussian", 1_000)
    (2020, 1000002)
    """
    place = list(FAMILIES).index(family)
    return FIRST_NUMBERS * place + number if number < FIRST_NUMBERS else FIRST_NUMBERS * number + place


def random_instance(name: str) -> Instance:
    """The instance with one of these names.

    >>> [len(random_instance(f"random-beta:{number}").arms) for number in range(1, 6)]
    [4, 44, 6, 6, 17]
    """
    family, number = name.split(":")
    draw = random.Random(random_seed(family, int(number)))
    count = round(log_uniform(draw, FEWEST_ARMS, MOST_ARMS))
    arms = tuple(Arm(str(index), FAMILIES[family](draw)) for index in range(1, count + 1))
    if family == "random-gaussian":
        largest = math.sqrt(LARGEST_VARIANCE)
        return Instance(name, arms, reward_range=None, noise="gaussian", sigma_max=largest, risk=PAPER_RISK)
    return Instance(name, arms, reward_range=(0.0, 1.0), noise="bounded", risk=PAPER_RISK)
