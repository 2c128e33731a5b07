"""Rewards with heavy tails, of which a bound on their kurtosis, their deviation or its ratio to the mean is stated.

Without any such statement nothing is certain (Bahadur and Savage 1956), and it is never taken from the data. What can
be stated: `kurtosis`, E(X - m)^4 <= k var^2; `sigma_max`, var <= sigma_max^2; `cv`, of rewards that are never negative,
var <= (cv m)^2. Write n, average and variance (plug-in) of an arm, m and t for its true mean and variance, Q for
n (variance + (average - m)^2), the sum of (X - m)^2, and q = Q / t, whose mean is n. All inequalities hold at all
times at once, each but with probability e^-L, and none has a unit.

Crude: Q / n is an average of draws of mean t, and so a martingale if time is turned round; Q / n < a t for ever but
with probability 1/a (Doob). With a = 100 e^L this costs a hundredth of e^-L, and lets t be no smaller than Q / (n a).

Upper end of the variance (kurtosis): let Y = (X - m)^2 / t, so that Y >= 0, E Y = 1 and E Y^2 <= k. Then
E e^(-u Y) <= p(u) = 1 - (1 - e^(-u k)) / k. Proof: (1 - e^(-u y)) / y is an average of e^(-s y) over s in [0, u] times
u, hence convex and falling in y >= 0, and above its tangent b - c y at y = k, where c >= 0; so
E e^(-u Y) <= E (1 - b Y + c Y^2) <= 1 - b + c k, and b - c k is (1 - e^(-u k)) / k. Equality is reached: by Y = k with
probability 1/k, else 0. (The usual 1 - u + k u^2 / 2 needs twice as many pulls before it says anything.) So
e^(-u q) p(u)^-n is a test supermartingale, and so is its mean over several u: q is at least the value `least_ratio`, a
function of n, k and L alone, at which that reaches e^L; t is at most Q over it.

Mean (kurtosis, sigma_max, or both): exp(x - x^2/6) <= 1 + x + x^2/3 for all x (Delyon 2009), so with
s = n (average - m) and v = (Q + 2 n t) / 3, exp(l s - l^2 v / 2) is a test supermartingale (Howard, Ramdas, McAuliffe
and Sekhon 2020). Mixed over a normal l of precision r t, r = 30, its logarithm is a function of q and of
h = (average - m)^2 / (variance + (average - m)^2):

    n h q / (2 w) - ln(w / r) / 2,    w = q / 3 + 2 n / 3 + r

m is rejected if this reaches L for every t that is possible. It rises with h. As q = 3 w - 2 n - 3 r, its derivative in
w has the sign of n h (2 n + 3 r) - w: it rises and then falls, so over an interval of q it is least at one of the ends.
These are n a by the crude bound, and least_ratio or, where sigma_max is stated, Q / sigma_max^2 if that is more. So a
threshold for h serves all m beyond a distance, in closed form; with sigma_max, where q grows with the distance d, too,
n d^2 / sigma_max^2 = 3 (w - w0) and the same argument in w says that with d all larger distances are rejected.

Lower end of the variance: no moment is needed. Y - 1 >= -1, so the mixture of mixture.py with reach 1, s = q - n
and v = the sum of (Y - 1)^2 rejects t. As its scale is in units of t, what it rejects need not be all below a point.
So the end climbs from the crude bound in steps [t', t'']: over such a step s is least at t'', and v, convex in 1/t,
greatest at an end, and all of the step is rejected if those values are; for every m in the interval of the mean, which
is cut into cells, as in empirical_bernstein.py.

Mean by cv: the same two ends for Y = X / m, with k = 1 + cv^2.

Standard deviation and mean-variance are functions of mean and variance, taken at the corners. Each statement of the
bound is counted: 3 events with a kurtosis (mean, variance above and below), 1 with sigma_max alone, 2 with cv, each
with its hundredth for the crude bound. With sigma_max or cv alone nothing tells the variance but the statement itself.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import is_due
from ramgape.core.kernel import inlined, kernel, open_kernel
from ramgape.core.statistics import all_sums, squared_distance
from ramgape.statistics.inversion import MOST_STEPS, SAFETY
from ramgape.statistics.mixture import SLACK, log_mixture
from ramgape.statistics.small import exp

CELLS = 8  # of the mean's interval
CRUDE = 100.0  # the crude bound fails so much less often than any other
MEAN_SCALE = 30.0  # r: the number of pulls, about, for which the mean's interval is at its best is some ten times that
VARIANCE_SCALE = 50.0  # likewise of the lower ends, in units of the variance of Y as it is stated
LARGEST_NODE, NODES = 4.0, 16  # u k = 4, 2, 1, ...: the smallest is at its best after 10^10 pulls
LEAST = 1e-150  # a variance whose square still has all its digits, as the sums of fourth powers must
FINENESS = 64.0  # a lower end is found to this part of its distance from the estimate
due = is_due


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The scales of the mixtures for lower ends: of the variance, and of a mean by `cv`."""
    record["risk_scales"] = VARIANCE_SCALE * max(record["kurtosis"] - 1.0, 0.5)
    record["mean_scales"] = VARIANCE_SCALE * max(record["cv"] ** 2, 0.5)


@inlined
def own_level(row, problem):
    """L: an arm's level, shared among the events that the statements take."""
    events = 3.0 if problem.kurtosis >= 1.0 else 1.0 if problem.sigma_max > 0.0 else 0.0
    if problem.cv > 0.0:
        events += 2.0
    return row.level + math.log(events * (1.0 + 1.0 / CRUDE))


@kernel
def least_ratio(count, kurtosis, level):
    """The least q that is not rejected, or a little less; 0 while every one is possible.

    The logarithm of the mean over nodes is convex and falls with q: Newton's steps climb towards the end and never pass
    it. They begin at the best of the nodes alone, which have their ends in closed form.
    """
    level += SLACK
    ratio, node = 0.0, LARGEST_NODE
    for place in range(NODES):
        ratio = max(ratio, (node_constant(count, kurtosis, node, place) - level) * kurtosis / node)
        node *= 0.5
    for _ in range(MOST_STEPS):
        largest, total, slope, node = -math.inf, 0.0, 0.0, LARGEST_NODE
        for place in range(NODES):
            height = node_constant(count, kurtosis, node, place) - node / kurtosis * ratio
            if height > largest:
                factor = math.exp(largest - height)
                largest, total, slope = height, total * factor, slope * factor
            weight = math.exp(height - largest)
            total, slope = total + weight, slope + weight * node / kurtosis
            node *= 0.5
        excess = largest + math.log(total) - level
        if excess < 0.0:  # by rounding, or before anything is known
            return 0.0 if ratio == 0.0 else ratio * (1.0 - 1e-9)
        step = excess * total / slope
        if step <= 1e-6 * ratio:
            break
        ratio += step
    return ratio


@inlined
def node_constant(count, kurtosis, node, place):
    """The logarithm of a node's weight, 1 / (2 (place + 3)), which together are less than 1, and of p^-n."""
    return -math.log(2.0 * (place + 3.0)) - count * math.log1p(math.expm1(-node) / kurtosis)


@inlined
def threshold(count, ratio, level):
    """The least h that is rejected at q = ratio."""
    spread = ratio / 3.0 + 2.0 * count / 3.0 + MEAN_SCALE
    return 2.0 * spread * (level + 0.5 * math.log(spread / MEAN_SCALE)) / (count * ratio)


@inlined
def distance_of(variance, share):
    """(average - m)^2 for a given h; infinite where nothing is known yet."""
    return variance * share / (1.0 - share) if share < 1.0 else math.inf


@kernel
def known_distance(count, variance, most, level):
    """(average - m)^2 at which q = Q / most is rejected; infinite where nothing is known yet."""
    start = count * (variance / most + 2.0) / 3.0 + MEAN_SCALE
    spread = start
    for _ in range(MOST_STEPS):  # climbs to the smallest solution
        room = 1.0 - (level + 0.5 * math.log(spread / MEAN_SCALE)) / (1.5 * count)
        if room <= 0.0:
            return math.inf
        if start / room <= spread * (1.0 + 1e-9):
            break
        spread = start / room
    spread *= 1.0 + 1e-6
    if 1.5 * count * (1.0 - start / spread) - 0.5 * math.log(spread / MEAN_SCALE) < level:
        return math.inf
    return 3.0 * (spread - start) * most / count


@kernel
def squared_radius(count, variance, problem, ratio, level):
    """(average - m)^2 beyond which every m is rejected, whatever the variance is."""
    variance *= SAFETY
    least = distance_of(variance, threshold(count, count * CRUDE * exp(level), level))
    found = math.inf
    if ratio > 0.0:
        found = distance_of(variance, threshold(count, ratio, level))
    if problem.sigma_max > 0.0:
        found = min(found, known_distance(count, variance, problem.sigma_max * problem.sigma_max, level))
    return max(least, found)


@open_kernel
def climb(rejects, row, problem, estimate, crude, level, low, high):
    """The end of what is rejected from the crude bound on; steps are longer while they succeed, else shorter."""
    end, step = estimate / crude, math.log(4.0)
    for _ in range(4 * MOST_STEPS):
        if not LEAST < end < estimate or step * FINENESS < math.log(estimate / end):
            break
        if rejects(row, problem, end, end * math.exp(step), level, low, high):
            end *= math.exp(step)
            step *= 2.0
        else:
            step *= 0.5
    return end


@inlined
def rejects_variances(row, problem, least, most, level, low, high):
    """Whether all variances from `least` to `most` are too low, for every mean from `low` to `high`."""
    count, half = float(row.pulls), 0.5 * (high - low) / CELLS
    for cell in range(CELLS):
        centre = low + (2 * cell + 1) * half
        away = abs(row.average - centre)
        near = max(0.0, away - half)
        total = count * (row.variance + near * near) / most - count
        if total <= 0.0:
            return False
        wider = 2.0 * away + half
        drift = half * math.sqrt(count * (4.0 * row.variance + wider * wider))
        first = (math.sqrt(max(squared_distance(all_sums(row), row.shift, centre, 0.0, least), 0.0)) + drift) / least
        second = (math.sqrt(max(squared_distance(all_sums(row), row.shift, centre, 0.0, most), 0.0)) + drift) / most
        squares = max(first * first, second * second, total * total / count) * SAFETY
        if log_mixture(total, squares, 1.0, problem.risk_scales[0]) < level:
            return False
    return True


@inlined
def rejects_means(row, problem, least, most, level, low, high):
    """Whether all means from `least` to `most` are too low, for rewards that are never negative."""
    count, average = float(row.pulls), abs(row.average)
    total = count * average / most - count
    if total <= 0.0:
        return False
    first, second = average - least, average - most
    squares = count * max(
        (row.variance + first * first) / (least * least), (row.variance + second * second) / (most * most)
    )
    return log_mixture(total, squares * SAFETY, 1.0, problem.mean_scales[0]) >= level


@kernel
def moment_intervals(row, problem):
    """Ends for mean and variance; the present interval of the mean may be narrower than the new one."""
    count, level = float(row.pulls), own_level(row, problem)
    crude, ratio = CRUDE * exp(level), 0.0
    if problem.kurtosis >= 1.0:
        ratio = least_ratio(count, problem.kurtosis, level)
    radius = math.sqrt(squared_radius(count, row.variance, problem, ratio, level))
    low, high = row.average - radius, row.average + radius
    if problem.cv > 0.0:
        size, side = abs(row.average), math.copysign(1.0, problem.span)  # costs are negated
        most = least_ratio(count, 1.0 + problem.cv * problem.cv, level)
        greatest = count * size / most if most > 0.0 else math.inf
        least = climb(rejects_means, row, problem, size, crude, level, 0.0, 0.0)
        low, high = max(low, min(side * least, side * greatest)), min(high, max(side * least, side * greatest))
    low, high = max(low, row.mean_low), min(high, row.mean_high)
    variance_low, variance_high = 0.0, math.inf
    if low <= high and high - low < math.inf:
        if problem.kurtosis >= 1.0:
            variance_low = climb(rejects_variances, row, problem, row.variance, crude, level, low, high)
        far = max(row.average - low, high - row.average)
        if ratio > 0.0:
            variance_high = count * (row.variance + far * far) * SAFETY / ratio
    if problem.sigma_max > 0.0:
        variance_high = min(variance_high, problem.sigma_max * problem.sigma_max)
    if problem.cv > 0.0:
        variance_high = min(variance_high, (problem.cv * max(abs(low), abs(high))) ** 2)
    return low, high, variance_low, variance_high
