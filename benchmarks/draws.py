"""The unit of most ratios: one draw of a reward in a compiled loop.

`draw_all` is the loop of a simulation with everything but the draw taken out: it calls the same function in the same
way, through a declared type. A draw costs more for some arms than for others (Beta shapes below 1 are drawn by
rejection), so it draws from the very arms that the measured search has pulled, as often, in random order.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from benchmarks.measure import seconds
from ramgape.core.compiled import DRAW, compiled
from ramgape.core.kernel import kernel
from ramgape.problems.environments import Arm, Beta, Instance, Sampler
from ramgape.problems.instances import load_instance
from ramgape.risks.table import PAPER_RISK

Ints = NDArray[np.int64]

SEQUENCE = types.Array(types.int64, 1, "C")
DRAW_ALL = types.float64(types.FunctionType(DRAW), SEQUENCE, *DRAW.args[:2], DRAW.args[3])


@kernel
def draw_all(draw: Any, sequence: Any, parameters: Any, values: Any, generator: Any) -> Any:
    """The sum of one reward of each arm in a sequence."""
    total = 0.0
    for arm in sequence:
        total += draw(parameters, values, arm, generator)
    return total


def draw_seconds(sampler: Sampler, sequence: Ints) -> float:
    """Processor time for drawing a reward of each arm in a sequence."""
    loop, draw = compiled(draw_all, DRAW_ALL), compiled(sampler.draw, DRAW)
    generator = np.random.default_rng(1)
    return seconds(loop, draw, sequence, sampler.parameters, sampler.values, generator)


def shuffled(pulls: Ints) -> Ints:
    """Every arm as often as it was pulled, in random order."""
    return np.random.default_rng(2).permutation(np.repeat(np.arange(len(pulls)), pulls))


@functools.cache
def instance_of(arm_count: int) -> Instance:
    """The instance for a number of arms: the paper's for 10 and 100, else a random one of its kind."""
    named = {10: "paper:exp3", 100: "paper:exp4"}
    return load_instance(named[arm_count]) if arm_count in named else random_instance(arm_count)


def random_instance(arm_count: int, seed: int = 0) -> Instance:
    """Beta arms with means in [0.4, 0.6] and variances in [0.01, 0.2], as in the paper."""
    generator = np.random.default_rng(seed)
    arms = []
    for number in range(1, arm_count + 1):
        mean, variance = generator.uniform(0.4, 0.6), generator.uniform(0.01, 0.2)
        size = mean * (1.0 - mean) / variance - 1.0
        arms.append(Arm(str(number), Beta(mean * size, (1.0 - mean) * size)))
    return Instance(f"random:{arm_count}", tuple(arms), (0.0, 1.0), "bounded", risk=PAPER_RISK)
