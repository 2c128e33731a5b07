"""Counting how often a promise is broken: random problems, seeded runs, and how many of them may go wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy

from ramgape import Arm, Bernoulli, Beta, Gaussian, Instance, Result, Uniform
from ramgape.core.kernel import Kernel
from ramgape.core.pareto import gaps, pareto_front
from ramgape.problems.environments import Distribution
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.simulation.simulation import play, simulated_spec
from ramgape.simulation.truth import TrueArms
from tests.loops import compiled_loop

FALSE_ALARM = 1e-6


def most_allowed(runs: int, chance: float) -> int:
    """The number of bad runs that a chance of at most this exceeds with probability at most 1e-6."""
    return int(scipy.stats.binom.ppf(1.0 - FALSE_ALARM, runs, chance))


def instance_of(*distributions: Distribution, reward_range: tuple[float, float] = (0.0, 1.0)) -> Instance:
    arms = tuple(Arm(f"arm {place}", distribution) for place, distribution in enumerate(distributions))
    if isinstance(distributions[0], Gaussian):
        return Instance("gaussian", arms, None, "gaussian", sigma_max=0.5)
    return Instance("bounded", arms, reward_range, "bounded")


@compiled_loop
def watch(draw, learn, arms, memory, searches, problems, parameters, values, generator, count, means, risks):  # type: ignore[no-untyped-def]
    """Learn pull after pull and look at every box after every one of them.

    The first pull after which a true value lies outside its box, or 0 if none ever does.
    """
    search, problem = searches[0], problems[0]
    for pull in range(1, count + 1):
        for arm in range(len(arms)):
            learn(arms, memory, search, problem, arm, draw(parameters, values, arm, generator))
            row = arms[arm]
            # The slack is for rounding where the truth is an end of what is possible.
            if row.mean_low > means[arm] + 1e-12 or row.mean_high < means[arm] - 1e-12:
                return pull
            if row.risk_low > risks[arm] + 1e-12 or row.risk_high < risks[arm] - 1e-12:
                return pull
    return 0


def random_arm(generator: np.random.Generator, noise: str) -> Distribution:
    if noise == "gaussian":
        return Gaussian(generator.uniform(0, 1), generator.uniform(0.01, 0.25))
    kind = generator.integers(4)
    if kind == 0:
        return Bernoulli(generator.uniform(0.02, 0.98))
    if kind == 1:
        low, high = np.sort(generator.uniform(0, 1, 2))
        return Uniform(low, high)
    strength = math.exp(generator.uniform(math.log(0.2), math.log(50)))
    mean = generator.uniform(0.1, 0.9)
    return Beta(mean * strength, (1 - mean) * strength)


def random_instances(seed: int, *, noise: str, rho: float, smallest_gap: float) -> Iterator[Instance]:
    """Instances of 3 to 8 mixed arms without end, with a trade-off in each: at least two arms are Pareto optimal.

    No arm's place hangs on less than the gap.
    """
    generator = np.random.default_rng(seed)
    while True:
        instance = instance_of(*(random_arm(generator, noise) for _ in range(generator.integers(3, 9))))
        means, risks = instance.means, instance.risks(rho)
        if pareto_front(means, risks).sum() > 1 and gaps(means, risks).min() >= smallest_gap:
            yield instance


def one_run(instance: Instance, seed: int, learn: Kernel | None = None, **options: Any) -> Result:
    """A simulated search, perhaps with another way to learn."""
    options.setdefault("max_trials", 5_000_000)  # a rule that never stops is to fail, not to hang
    spec = simulated_spec(instance, **options)
    engine = Engine(spec)
    if learn is not None:
        engine.rule = engine.rule._replace(learn=learn)
    for _ in play(engine, instance, seed):
        pass
    return infer(engine, seed=seed, truth=TrueArms(instance, spec).assess(engine.answer(), spec.epsilon))


def is_wrong(result: Result) -> bool:
    """A search that ended confidently gave an answer that its guarantee rules out."""
    assert result.truth is not None
    good = result.truth.eps_correct if result.goal.epsilon else result.truth.exact
    return result.stopped == "confidence" and not good


def runs_of(count: int, seed: int, *, learn: Kernel | None = None, gap: float = 0.0, **options: Any) -> list[Result]:
    """One run of each of so many random instances."""
    noise = "gaussian" if options.get("bound") in ("gaussian", "gaussian-paper") else "bounded"
    instances = random_instances(seed, noise=noise, rho=options["rho"], smallest_gap=gap)
    return [one_run(next(instances), place, learn, **options) for place in range(count)]


def check_answers(results: Sequence[Result], delta: float, least_ended: float = 1.0) -> None:
    """Wrong in at most delta of the runs, by count; and enough runs ended for that to mean something."""
    ended = [result for result in results if result.stopped == "confidence"]
    assert len(ended) >= least_ended * len(results)
    wrong = sum(map(is_wrong, results))
    # A run that hits the cap is not wrong, so that the share among all runs is what delta bounds.
    assert wrong <= most_allowed(len(results), delta), f"{wrong} of {len(results)}, promised a share of {delta}"
    for result in ended:
        assert result.truth is not None
        assert result.certified_epsilon is not None
        assert result.goal.epsilon is not None
        assert result.certified_epsilon <= result.goal.epsilon
