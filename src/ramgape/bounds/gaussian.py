"""Gaussian rewards of unknown variance: no `sigma_max` is needed, and the intervals hold at all times at once.

Mean: a mixture of t-tests (Wang and Ramdas 2023) is a martingale whatever the variance; at level alpha,
(average - m)^2 <= variance (B - 1) / (1 - B k) with k = c / (n + c), B = ((n + c) / (c alpha^2))^(1/n), and nothing is
known while B k >= 1. Variance: n times the plug-in variance is sigma^2 times a sum of n - 1 independent squared
standard normals; mixing their likelihood ratios over a gamma density of shape a gives, for q = n variance / sigma^2,
ln M = q/2 + a ln a - ln Gamma(a) + ln Gamma(a + (n-1)/2) - (a + (n-1)/2) ln(a + q/2), which is least at q = n - 1 and
exceeds ln(1/alpha) with probability at most alpha. Both at alpha = delta / (2 K). The risk comes from both.

Rewards rounded to a stated step r (`resolution`): each is a draw moved by at most h = r/2. Then the average of the
draws is within h of the one seen. So is their plug-in deviation, which is the length of the centred rewards over the
root of n: moving the rewards by e changes it by at most the deviation of e, and that is at most the root of the average
of e^2. The inequalities above hold for the draws, whose deviation lies between max(0, d - h) and d + h with d the one
seen: every end is taken where it is farthest, and that of the mean h farther still. So no interval has width 0, however
often rewards repeat; mean and variance are those before the rounding.

c sets for how many pulls the mean's interval is at its best, and a likewise for the variance. Both are fixed in
advance, and depend on no unit of rewards: a tolerance of any size leads to 10 for both, none at all to 150 and 50. On
the paper's instances that was within a sixth of the best for tolerances from 0.3 to 0.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import is_due
from ramgape.core.kernel import kernel
from ramgape.statistics.inversion import MOST_STEPS
from ramgape.statistics.small import exp

PRIORS = 10.0, 10.0  # c and a
EXACT_PRIORS = 150.0, 50.0  # where nothing is tolerated, and searches are long
FINENESS = 1e-4  # of the logarithm of a ratio of variances
due = is_due


def constants(record: Any, arm_count: int, delta: float) -> None:
    """c and a."""
    record["mean_scales"], record["risk_scales"] = PRIORS if record["epsilon"] > 0.0 else EXACT_PRIORS


@kernel
def squared_radius(count, variance, level, prior):
    """The greatest (average - m)^2 that is not rejected; infinite where nothing is known yet."""
    # B - 1 from the logarithm, since B is close to 1 after many pulls
    logarithm = (math.log((count + prior) / prior) + 2.0 * level) / count
    room = 1.0 - math.exp(logarithm) * (prior / (count + prior))
    return variance * math.expm1(logarithm) / room if room > 0.0 else math.inf


@kernel
def log_likelihood(count, ratio, prior):
    """ln M at q = ratio."""
    posterior = prior + 0.5 * (count - 1.0)
    gammas = math.lgamma(posterior) - math.lgamma(prior)
    return 0.5 * ratio + prior * math.log(prior) + gammas - posterior * math.log(prior + 0.5 * ratio)


@kernel
def end_of_ratio(count, level, prior, side):
    """The q on one side of n - 1 at which ln M reaches the level, or a little beyond: 0 if none below does."""
    middle = count - 1.0
    step = side * 0.5
    for _ in range(MOST_STEPS):
        if not log_likelihood(count, middle * exp(step), prior) < level:
            break
        if step < -50.0:
            return 0.0
        step *= 2.0
    near, far = 0.0, step
    for _ in range(MOST_STEPS):
        if abs(far - near) <= FINENESS * abs(far):
            break
        half = 0.5 * (near + far)
        if log_likelihood(count, middle * math.exp(half), prior) < level:
            near = half
        else:
            far = half
    return middle * exp(far)


@kernel
def moment_intervals(row, problem):
    """Ends for mean and variance; the present interval of the mean may be narrower than the new one."""
    count, level, half = float(row.pulls), row.level, 0.5 * problem.resolution
    least_variance = most_variance = row.variance
    if half > 0.0:
        deviation = math.sqrt(row.variance)
        least_variance, most_variance = max(deviation - half, 0.0) ** 2, (deviation + half) ** 2
    radius = math.sqrt(squared_radius(count, most_variance, level, problem.mean_scales[0])) + half
    prior = problem.risk_scales[0]
    least, most = end_of_ratio(count, level, prior, -1.0), end_of_ratio(count, level, prior, 1.0)
    variance_low = count * least_variance / most
    variance_high = count * most_variance / least if least > 0.0 else math.inf
    low, high = max(row.average - radius, row.mean_low), min(row.average + radius, row.mean_high)
    return low, high, variance_low, variance_high
