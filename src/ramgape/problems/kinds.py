"""The distributions by the names that they have in instance files: the only list."""

from __future__ import annotations

from ramgape.problems.distribution import Distribution
from ramgape.problems.distributions import Bernoulli, Beta, Data, Gaussian, Scores, Uniform
from ramgape.problems.mixtures import Mixture
from ramgape.problems.unbounded import Exponential, Gamma, LogNormal, Lomax, StudentT

DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.kind: kind
    for kind in (
        Beta,
        Bernoulli,
        Uniform,
        Data,
        Scores,
        Gaussian,
        StudentT,
        LogNormal,
        Exponential,
        Gamma,
        Lomax,
        Mixture,
    )
}
