"""Two arms with Gaussian rewards compared at once, instead of by the gap between their boxes.

A hypothesis about two arms says where two means and two variances lie. For each such point there is a process that is
a nonnegative supermartingale with expectation at most 1 if the point is the truth, given everything that was seen of
all arms: a product of one factor for each arm. Mixtures of t-tests, which make the boxes, have no such products, since
they are martingales only for those who do not know the scale of the rewards. A hypothesis is rejected when the products
reach e^level at all of its points that the boxes allow; the boxes are those of bounds/gaussian.py.

**Means.** X - m is symmetric about 0 at the true m, so for every l >= 0 the product of e^(l y) / cosh(l y), y = X - m,
is a martingale, and so is its mixture over l >= 0 with a half-normal density of precision r. Each factor grows with y.
So the evidence that a mean is above m is the greater the lower m is, and on a cell it is at least what it is at the
upper end. Because ln cosh(root of u) is concave in u, for any a, which the data may choose,

    ln cosh(l y) <= ln cosh(a) + (tanh(a) / (2 a)) (l^2 y^2 - a^2),

and with s, v the sums of y and y^2 over n pulls, w = v tanh(a) / a, the logarithm of the mixture is at least

    n (a tanh(a) / 2 - ln cosh(a)) + s^2 / (2 (w + r)) + ln(r / (w + r)) / 2 + ln 2 Phi(s / root of (w + r)).

tanh(a) = s / root of (n v), times v / (v + r), is nearly the best. r is a number of pulls times the variance of the
hypothesis, so that rewards need no unit, and that variance is known up to the box: as a function of ln r the mixture is
a unimodal function of ln l convolved with the density of ln |normal|, which is log-concave, hence unimodal itself
(Ibragimov 1956). So it is least at an end.

**Risks.** The evidence that the variance of an arm is below sigma^2, at the point (m, sigma^2), is a mixture of
likelihood ratios of normal distributions with variance sigma^2 / t, t > 1, and a mean that is itself normal about m
with variance sigma^2 / (t g): with D = (average - m)^2 and c = g / (n + g) each is the exponential of

    ln(c) / 2 + (n / 2) (ln t - ((t - 1) variance - (1 - t c) D) / sigma^2),

where without the mixture over the mean, c = 1, D would cost much. It is linear in D and in 1 / sigma^2, hence least at
ends of what they can be. For the evidence that a variance is above sigma^2, t < 1 and the mean m itself: the least is
where (variance + D) / sigma^2 is least, which has a closed form. Mean and variance are tied by the risk: for the former
the interval of the mean is cut into cells. Both are monotone in the risk, hence least at an end of a cell of risks.

What is mixed are products at a common scale: a number of pulls that it is best for.

Rewards rounded to a step of 2 h (`resolution`) are draws moved by at most h each. The evidence about means grows with
every reward, so that for draws it is at least what it is for rewards if m is taken h farther. The deviation of the
draws is within h of the one seen; and so is their average, as if m, but not its share in the risk, were h farther.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ramgape.bounds import gaussian
from ramgape.bounds.pairwise import mean_compared, risk_compared
from ramgape.core import comparisons
from ramgape.core.comparisons import sums
from ramgape.core.kernel import fixed, inlined, kernel
from ramgape.statistics import vectors
from ramgape.statistics.bets import log_average
from ramgape.statistics.inversion import SAFETY
from ramgape.statistics.mixture import SLACK, log_tail, stirling
from ramgape.statistics.scan import LIKELIEST, proved_on, unlimited

BOXES = 0.2  # of delta
BOX_MEAN_PRIOR, BOX_VARIANCE_PRIOR = 4.0, 2.0  # as in bounds/gaussian.py; boxes are wanted early here
MEAN_PRIORS = 2.0, 20.0, 200.0  # r over the variance, in pulls
PULLS = 30.0, 300.0, 3000.0  # that a component of the risk's evidence is best for; also g
NODES, TOP, RATIO = 8, 4.0, 1.6  # |ln t| = TOP RATIO^-k in units of its scale
CELLS = 8
MOST_LEAN = 0.9999
LOG_TWO = math.log(2.0)
CERTAIN = 1e300  # evidence against what is impossible
due, moment_intervals = gaussian.due, gaussian.moment_intervals

# |ln t|, and weights: those of a half-normal density of variance 20 / pulls.
_PULLS = np.array(PULLS)[:, None]
_LOGARITHMS = np.sqrt(20.0 / _PULLS) * TOP * RATIO ** -np.arange(NODES)
_DENSITIES = _LOGARITHMS * np.exp(-(_LOGARITHMS**2) * _PULLS / 40.0)
LOGARITHMS, FACTORS, WEIGHTS = (
    tuple(map(tuple, rows.tolist()))
    for rows in (_LOGARITHMS, np.exp(_LOGARITHMS), _DENSITIES / _DENSITIES.sum(axis=1, keepdims=True))
)


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons, and what the boxes need."""
    record["mean_scales"], record["risk_scales"] = BOX_MEAN_PRIOR, BOX_VARIANCE_PRIOR
    comparisons.set_levels(record, arm_count, delta, BOXES)


@kernel
def log_symmetric(count, distance, variance, least_scale, most_scale):
    """ln of the evidence that a mean is on one side of a value, where the average is at a `distance` on that side;
    for the worst r between two."""
    if not distance > -math.inf:  # of an interval that is not known yet
        return -math.inf
    squares = count * (variance + distance * distance)
    total = count * distance
    gain = 0.0
    if distance > 0.0:
        lean = min(distance / math.sqrt(variance + distance * distance), MOST_LEAN) * squares / (squares + most_scale)
        if lean > 1e-4:
            angle = math.atanh(lean)
            gain = 0.5 * count * (angle * lean + math.log1p(-lean * lean))
            squares *= lean / angle
    squares *= SAFETY
    evidence = math.inf
    for scale in (least_scale, most_scale):
        spread = squares + scale
        evidence = min(evidence, 0.5 * math.log(scale / spread) + log_tail(total / math.sqrt(spread)))
    return gain + evidence + LOG_TWO - SLACK


@kernel
def log_below(place, count, variance, distances, variances):
    """ln of one component of the evidence that a variance is below the least of `variances`, the first of two ends, at
    its least; the square of the mean's distance from the average, too, lies between two."""
    pulls = PULLS[place]
    part = pulls / (count + pulls)
    largest, total = -math.inf, 0.0
    for node in range(NODES):
        factor = FACTORS[place][node]
        room = 1.0 - factor * part
        slope = room * (distances[0] if room > 0.0 else distances[1]) - (factor - 1.0) * variance
        term = 0.5 * count * (LOGARITHMS[place][node] + slope / (variances[0] if slope < 0.0 else variances[1]))
        if term > largest:
            total, largest = total * math.exp(largest - term), term
        total += WEIGHTS[place][node] * math.exp(term - largest)
    return 0.5 * math.log(part) + largest + math.log(total) - SLACK


@kernel
def log_above(place, count, ratio):
    """ln of one component of the evidence that a variance is above sigma^2, from the sum of (X - m)^2 / sigma^2."""
    largest, total = -math.inf, 0.0
    for node in range(NODES):
        term = 0.5 * ((1.0 - 1.0 / FACTORS[place][node]) * ratio - count * LOGARITHMS[place][node])
        if term > largest:
            total, largest = total * math.exp(largest - term), term
        total += WEIGHTS[place][node] * math.exp(term - largest)
    return largest + math.log(total) - SLACK


@inlined
def moments_of(known, shift):
    """Count, average and variance of rewards of which sums are known."""
    count, mean = known[0], known[1] / known[0]
    return count, shift + mean, max(known[2] / count - mean * mean, 0.0)


@inlined
def variance_at(problem, risk, mean):
    """The variance behind a risk, which is a mean-variance or a standard deviation, at a mean."""
    if problem.risk_power == 2.0:
        return risk / problem.alpha + (problem.rho * mean if problem.rho > 0.0 else 0.0)
    deviation = max(risk, 0.0) / problem.alpha
    return deviation * deviation


@kernel
def ends_of_variance(row, problem):
    """What the boxes leave of an arm's variance.

    That of the risk tells little of it where the mean counts for more. The interval in bounds/gaussian.py has, with
    p = a + (n - 1)/2 and y = (a + q/2) / p, its ends where y - 1 - ln y is z = (level + a constant) / p; the greater y
    is at most 1 + root of 2 z + z, and the lesser at least exp(-(root of 2 z) - 2 z / 3).
    """
    half, prior = 0.5 * problem.resolution, problem.risk_scales[0]
    posterior = prior + 0.5 * (row.pulls - 1.0)
    excess = (row.level + 0.5 * math.log(posterior / prior) + stirling(prior) - stirling(posterior) + SLACK) / posterior
    root = math.sqrt(2.0 * excess)
    most, least = posterior * (1.0 + root + excess) - prior, posterior * math.exp(-root - excess / 1.5) - prior
    deviation = math.sqrt(row.variance)
    low = 0.5 * row.pulls * max(deviation - half, 0.0) ** 2 / most
    high = 0.5 * row.pulls * (deviation + half) ** 2 / least if least > 0.0 else math.inf
    low = max(low, variance_at(problem, row.risk_low, row.mean_low))
    return low, min(high, variance_at(problem, row.risk_high, row.mean_high))


@inlined
def evidence_on_mean(known, row, problem, mean, side):
    """ln of the evidence that a mean is above (side 1) or below (-1) a value, of each of the components."""
    half = 0.5 * problem.resolution
    count, average, variance = moments_of(known, row.shift)
    least, most = ends_of_variance(row, problem)
    least, most = least + half * half, most + half * half
    if not 0.0 < least <= most < math.inf:
        return -math.inf, -math.inf, -math.inf
    distance = side * (average - mean) - half
    first, second, third = MEAN_PRIORS
    return (
        log_symmetric(count, distance, variance, first * least, first * most),
        log_symmetric(count, distance, variance, second * least, second * most),
        log_symmetric(count, distance, variance, third * least, third * most),
    )


@kernel
def least_on_mean(cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of means, that the row's is above it and the rival's below it plus epsilon."""
    start, end = cell
    own = evidence_on_mean(sums(row, past, problem, since), row, problem, end, 1.0)
    others = evidence_on_mean(sums(rival, rival_past, problem, since), rival, problem, start + epsilon, -1.0)
    return log_average(own[0] + others[0], own[1] + others[1], own[2] + others[2])


def log_symmetrics(count, distance, variance, scales):
    """`log_symmetric` of many distances, float[N], for plain Python."""
    squares = count * (variance + distance * distance)
    leans = np.minimum(distance / np.sqrt(variance + distance * distance), MOST_LEAN) * squares / (squares + scales[1])
    leaning = leans > 1e-4
    lean = np.where(leaning, leans, 0.5)
    angle = np.arctanh(lean)
    gain = np.where(leaning, 0.5 * count * (angle * lean + np.log1p(-lean * lean)), 0.0)
    squares = np.where(leaning, squares * lean / angle, squares) * SAFETY
    ends = [
        0.5 * np.log(scale / (squares + scale)) + vectors.log_tail(count * distance / np.sqrt(squares + scale))
        for scale in scales
    ]
    return np.where(distance > -math.inf, gain + np.minimum(*ends) + LOG_TWO - SLACK, -math.inf)


def evidence_on_means(known, row, problem, means, side):
    """`evidence_on_mean` of many values, float[3, N], for plain Python."""
    half = 0.5 * problem.resolution
    count, average, variance = moments_of(known, row.shift)
    least, most = (end + half * half for end in ends_of_variance(row, problem))
    if not 0.0 < least <= most < math.inf:
        return np.full((3, len(means)), -math.inf)
    distance = side * (average - means) - half
    return np.stack([log_symmetrics(count, distance, variance, (r * least, r * most)) for r in MEAN_PRIORS])


def least_on_means(starts, stops, row, past, rival, rival_past, problem, epsilon, since, level):
    """`least_on_mean` on many cells, float[N], for plain Python."""
    own = evidence_on_means(sums(row, past, problem, since), row, problem, stops, 1.0)
    others = evidence_on_means(sums(rival, rival_past, problem, since), rival, problem, starts + epsilon, -1.0)
    return vectors.log_average(own + others)


mean_ahead = fixed(mean_compared, fixed(proved_on, LIKELIEST, unlimited, least_on_mean, least_on_means))


@kernel
def evidence_below(known, row, problem, risk):
    """ln of the evidence that an arm's risk is below a value, whatever its mean, of each of the components."""
    half = 0.5 * problem.resolution
    if not row.mean_high - row.mean_low < math.inf:
        return -math.inf, -math.inf, -math.inf
    count, average, variance = moments_of(known, row.shift)
    variance = (math.sqrt(variance) + half) ** 2 * SAFETY
    cells = CELLS if problem.rho > 0.0 else 1
    width = (row.mean_high - row.mean_low + 2.0 * half) / cells
    smallest, greatest = ends_of_variance(row, problem)
    first = second = third = CERTAIN
    for cell in range(cells):
        mean = row.mean_low - half + cell * width
        least = max(variance_at(problem, risk, mean - half), smallest)
        if least > greatest:  # such a variance is impossible
            continue
        if not least > 0.0:
            return -math.inf, -math.inf, -math.inf
        away = abs(average - mean - 0.5 * width)
        distances, variances = (max(away - 0.5 * width, 0.0) ** 2, (away + 0.5 * width) ** 2), (least, greatest)
        first = min(first, log_below(0, count, variance, distances, variances))
        second = min(second, log_below(1, count, variance, distances, variances))
        third = min(third, log_below(2, count, variance, distances, variances))
    return first, second, third


@kernel
def evidence_above(known, row, problem, risk):
    """ln of the evidence that an arm's risk is above a value, whatever its mean, of each of the components."""
    half, rho = 0.5 * problem.resolution, problem.rho
    count, average, variance = moments_of(known, row.shift)
    variance = max(math.sqrt(variance) - half, 0.0) ** 2 / SAFETY
    # Where (variance + (average - m)^2) / (sigma^2 at m) is least.
    middle = variance_at(problem, risk, average + half)
    offset = 0.0
    if rho > 0.0:
        root = math.sqrt(middle * middle + rho * rho * variance)
        offset = rho * variance / (middle + root) if middle > 0.0 else (root - middle) / rho
    mean = min(max(average + offset, row.mean_low - half), row.mean_high + half)
    possible = variance_at(problem, risk, mean + half)
    ratio = 0.0
    if possible > 0.0:
        ratio = count * (variance + (average - mean) * (average - mean)) / possible
    elif not variance_at(problem, risk, row.mean_high + 2.0 * half) > 0.0:
        return CERTAIN, CERTAIN, CERTAIN
    return log_above(0, count, ratio), log_above(1, count, ratio), log_above(2, count, ratio)


@kernel
def least_on_risk(cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of risks, that the row's is below it and the rival's above it less epsilon."""
    start, end = cell
    below = evidence_below(sums(row, past, problem, since), row, problem, start)
    above = evidence_above(sums(rival, rival_past, problem, since), rival, problem, end - epsilon)
    return log_average(below[0] + above[0], below[1] + above[1], below[2] + above[2])


variances_at = vectors.on_arrays(variance_at)


def log_mixed(terms):
    """ln of the mixtures over the nodes, float[3, NODES, ...]."""
    largest = terms.max(axis=1)
    weights = np.array(WEIGHTS).reshape(terms.shape[:2] + (1,) * (terms.ndim - 2))
    return largest + np.log((weights * np.exp(terms - largest[:, None])).sum(axis=1)) - SLACK


def evidences_below(known, row, problem, risks):
    """`evidence_below` of many values, float[3, N], for plain Python."""
    half = 0.5 * problem.resolution
    if not row.mean_high - row.mean_low < math.inf:
        return np.full((3, len(risks)), -math.inf)
    count, average, variance = moments_of(known, row.shift)
    variance = (math.sqrt(variance) + half) ** 2 * SAFETY
    cells = CELLS if problem.rho > 0.0 else 1
    width = (row.mean_high - row.mean_low + 2.0 * half) / cells
    smallest, greatest = ends_of_variance(row, problem)
    mean = row.mean_low - half + np.arange(cells) * width
    least = np.maximum(variances_at(problem, risks[:, None], mean - half), smallest)  # float[N, cells]
    away = np.abs(average - mean - 0.5 * width)
    factors, logarithms, pulls = np.array(FACTORS)[:, :, None], np.array(LOGARITHMS)[:, :, None], np.array(PULLS)
    part = pulls / (count + pulls)
    room = 1.0 - factors * part[:, None, None]
    distances = np.where(room > 0.0, np.maximum(away - 0.5 * width, 0.0) ** 2, (away + 0.5 * width) ** 2)
    slope = (room * distances - (factors - 1.0) * variance)[:, :, None]  # float[3, NODES, 1, cells]
    terms = 0.5 * count * (logarithms[:, :, None] + slope / np.where(slope < 0.0, least, greatest))
    found = 0.5 * np.log(part)[:, None, None] + log_mixed(terms)
    possible = least <= greatest
    found = np.where(possible, found, CERTAIN).min(axis=2)
    return np.where((possible & ~(least > 0.0)).any(axis=1), -math.inf, found)


def evidences_above(known, row, problem, risks):
    """`evidence_above` of many values, float[3, N], for plain Python."""
    half, rho = 0.5 * problem.resolution, problem.rho
    count, average, variance = moments_of(known, row.shift)
    variance = max(math.sqrt(variance) - half, 0.0) ** 2 / SAFETY
    middle = variances_at(problem, risks, average + half)
    offset = 0.0
    if rho > 0.0:
        root = np.sqrt(middle * middle + rho * rho * variance)
        offset = np.where(middle > 0.0, rho * variance / (middle + root), (root - middle) / rho)
    mean = np.minimum(np.maximum(average + offset, row.mean_low - half), row.mean_high + half)
    possible = variances_at(problem, risks, mean + half)
    ratio = np.where(possible > 0.0, count * (variance + (average - mean) * (average - mean)) / possible, 0.0)
    factors, logarithms = np.array(FACTORS)[:, :, None], np.array(LOGARITHMS)[:, :, None]
    found = log_mixed(0.5 * ((1.0 - 1.0 / factors) * ratio - count * logarithms))
    never = ~(possible > 0.0) & ~(variances_at(problem, risks, row.mean_high + 2.0 * half) > 0.0)
    return np.where(never, CERTAIN, found)


def least_on_risks(starts, stops, row, past, rival, rival_past, problem, epsilon, since, level):
    """`least_on_risk` on many cells, float[N], for plain Python."""
    below = evidences_below(sums(row, past, problem, since), row, problem, starts)
    above = evidences_above(sums(rival, rival_past, problem, since), rival, problem, stops - epsilon)
    return vectors.log_average(below + above)


risk_ahead = fixed(risk_compared, fixed(proved_on, LIKELIEST, unlimited, least_on_risk, least_on_risks))
