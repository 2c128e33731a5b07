"""How strongly data speak against a mean: the empirical-Bernstein mixture, on sums alone.

For y >= -c and 0 <= l < 1/c, exp(l y - psi(l) y^2) <= 1 + l y, where psi(l) = (-ln(1 - c l) - c l) / c^2 (Fan, Grama
and Liu 2015, Lemma 4.1). So for independent y_i of mean 0 the product of the left sides is a test supermartingale for
every l, and so is any mixture of them over l. With a gamma density of scale r (Howard, Ramdas, McAuliffe and Sekhon
2021) the mixture depends on the data only through s = sum of y and v = sum of y^2. It exceeds e^L at any time at all
with probability at most e^-L: a hypothesis under which it does is rejected.

The logarithm is computed in the form that stays exact when c is tiny, with bounds in place of the two incomplete gamma
functions; what rounding could add is taken off. Everything here errs towards rejecting less.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
ROOT_HALF = math.sqrt(0.5)
THIRD_OF_ROOT = 1.0 / (3.0 * math.sqrt(2.0 * math.pi))
SLACK = 1e-6  # more than all rounding, and than what the series below leave out


@inlined
def stirling(size):
    """ln Gamma(size) minus Stirling's formula for it."""
    if size > 8.0:  # from here on three terms leave out less than 1e-10; below, lgamma itself loses no digits
        inverse = 1.0 / size
        square = inverse * inverse
        return inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))
    return math.lgamma(size) - ((size - 0.5) * math.log(size) - size + HALF_LOG_TWO_PI)


@inlined
def log_prior_mass(prior):
    """The logarithm of the prior's mass, or a little more."""
    return math.log(min(1.0, 0.5 + THIRD_OF_ROOT / math.sqrt(prior) + 1e-4))


@kernel
def log_mixture(total, squares, reach, scale):
    """ln M of s = `total` > 0 and v = `squares`, where no y is below -`reach`, for the scale r; or a little less."""
    spread = squares + scale
    square_reach = max(reach * reach, 1e-300)  # a reach of 0 makes the limit: a normal mixture
    lean = reach * total / spread
    if lean < 0.01:
        # a (e - ln(1 + e)) as a series, since a e^2 = s^2 / (v + r) needs no division by a tiny reach
        drift = total * total / spread * (0.5 - lean * (1.0 / 3.0 - lean * (0.25 - lean * (0.2 - lean / 6.0))))
    else:
        drift = spread / square_reach * (lean - math.log1p(lean))
    prior = scale / square_reach
    # Of the incomplete gamma function in the numerator at least so much: half, or all but its lower tail.
    mass = max(0.5, 1.0 - math.exp(-drift))
    shape = stirling(spread / square_reach) - stirling(prior)
    return 0.5 * math.log(scale / spread) + shape + drift + math.log(mass) - log_prior_mass(prior) - SLACK


@inlined
def log_tail(value):
    """value^2 / 2 + ln Phi(value) for value <= 0, or a little less."""
    if value > -5.0:
        return 0.5 * value * value + math.log(0.5 * math.erfc(-value * ROOT_HALF))
    return math.log(-value / (1.0 + value * value)) - HALF_LOG_TWO_PI


@kernel
def log_mixture_below(total, most_squares, least_squares, reach, scale):
    """The same for s = `total` <= 0, where v is only known to lie between two values."""
    prior = scale / max(reach * reach, 1e-300)
    decay = 0.5 * math.log(scale / (most_squares + scale))
    tail = log_tail(total / math.sqrt(least_squares + scale))
    return decay + tail - stirling(prior) - log_prior_mass(prior) - SLACK


@kernel
def log_evidence(total, most_squares, least_squares, reach, scales):
    """ln of the mean of two mixtures with these scales, for any s; v between two values."""
    evidence = -math.inf
    for place in range(2):
        if total > 0.0:
            term = log_mixture(total, most_squares, reach, scales[place])
        else:
            term = log_mixture_below(total, most_squares, least_squares, reach, scales[place])
        if place == 0:
            evidence = term
        elif scales[1] != scales[0]:  # the mean of both, with the larger one taken out so that nothing overflows
            larger, smaller = max(evidence, term), min(evidence, term)
            evidence = larger + math.log1p(math.exp(smaller - larger)) - math.log(2.0)
    return evidence


@kernel
def is_rejected(total, squares, reach, scales, level):
    """Whether the mean of two mixtures with these scales, which may be one, reaches e^level."""
    if not 0.0 < total < math.inf:  # infinite for a mean that nothing is known of
        return False
    first = log_mixture(total, squares, reach, scales[0])
    if scales[0] == scales[1]:
        return first >= level
    if first >= level + math.log(2.0):  # half of it is enough, whatever the other one is
        return True
    second = log_mixture(total, squares, reach, scales[1])
    larger, smaller = max(first, second), min(first, second)
    return larger + math.log1p(math.exp(smaller - larger)) - math.log(2.0) >= level
