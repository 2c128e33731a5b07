"""Arms of your own for simulations: a distribution with a quantile, and any function of a generator."""

from dataclasses import dataclass

import numpy as np

import ramgape


@dataclass(frozen=True)
class Kumaraswamy(ramgape.Distribution):
    """1 - (1 - x^a)^b is the share of rewards below x; mean, variance and all risks follow by integration."""

    a: float
    b: float

    def quantile(self, shares):
        return (1.0 - (1.0 - np.asarray(shares)) ** (1.0 / self.b)) ** (1.0 / self.a)


def crashing(rng: np.random.Generator) -> float:
    """Good, but for one time in ten; of a function nothing is known, so its truth is estimated from 100,000 draws."""
    return 0.0 if rng.random() < 0.1 else rng.beta(9, 2)


if __name__ == "__main__":
    arms = (
        ramgape.Arm("steady", Kumaraswamy(5, 3)),
        ramgape.Arm("crashing", crashing),
        ramgape.Arm("poor", ramgape.Beta(2, 5)),
    )
    problem = ramgape.Instance("own", arms, reward_range=(0, 1), noise="bounded")
    result = ramgape.simulate(problem, risk="cvar:0.1", epsilon=0.1, seed=1)
    print(f"Pareto set {', '.join(result.front)}, after {result.samples:,} pulls; the truth: {result.truth.front}")
