"""The few special functions that exact risks of rewards need, without SciPy.

DLMF is the NIST Digital Library of Mathematical Functions. Shares of [0, 1] are passed as a pair (x, y) with
y = 1 - x, because either of them may be far smaller than the spacing of floats at 1. Shapes from 0.01 to 1e6
reach about 1e-12 of the value; far beyond (up to 1e100) everything stays finite, with fewer digits.
"""

from __future__ import annotations

import math
import statistics
from itertools import count

NORMAL = statistics.NormalDist()
EPSILON = 2.0**-53
LEAST = 1e-300
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)

# From here on a Beta distribution is so close to a normal one that two terms of Temme's expansion are exact,
# whereas the continued fraction would take a number of steps that grows with the root of the shape.
NEARLY_NORMAL = 1e7

# The step of the trapezoidal rule; half of it changes no result by more than rounding does.
SINH_STEP = 1.0 / 32.0


def log1p_minus(u: float) -> float:
    """ln(1 + u) - u, also where both nearly cancel: ln(1 + u) = 2 artanh(u / (2 + u)), DLMF 4.6.1 and 4.37.3."""
    if not -0.3 < u < 0.4:
        return math.log1p(u) - u
    ratio = u / (2.0 + u)
    square = ratio * ratio
    tail = math.fsum(square**power / (2 * power + 3) for power in range(16))
    return ratio * (2.0 * square * tail - u)


def expm1_minus(u: float) -> float:
    """exp(u) - 1 - u, also where all of it nearly cancels."""
    if abs(u) > 1.0:
        return math.expm1(u) - u
    term, total = u * u / 2.0, 0.0
    for order in range(3, 24):
        total += term
        term *= u / order
    return total


def stirling_error(a: float) -> float:
    """ln Gamma(a) less Stirling's (a - 1/2) ln a - a + ln(2 pi) / 2: DLMF 5.11.1."""
    if a < 16.0:
        return math.lgamma(a) - (a - 0.5) * math.log(a) + a - HALF_LOG_2_PI
    inverse = 1.0 / a
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188)))))


def deviance(a: float, b: float, x: float, y: float) -> float:
    """-ln((x / x0)^a (y / y0)^b) where x0 = a / (a + b): zero at x0, positive elsewhere.

    The linear terms of both logarithms cancel; they are left out, so that large shapes lose no digits (the
    idea is Loader's, for the binomial distribution).
    """
    distance = x * b - y * a
    left, right = distance / a, -distance / b
    # beside -1 the subtraction in `distance` has lost the digits that the logarithm would show
    low = math.log(x * ((a + b) / a)) - left if left < -0.5 else log1p_minus(left)
    high = math.log(y * ((a + b) / b)) - right if right < -0.5 else log1p_minus(right)
    return max(-(a * low + b * high), 0.0)


def log_beta_weight(a: float, b: float, x: float, y: float) -> float:
    """ln(x^a y^b / B(a, b)): the density of ln(x / y) when x follows Beta(a, b)."""
    if x <= 0.0 or y <= 0.0:
        return -math.inf
    total = a + b
    if total < 50.0:
        scale = (a / total) * b * (math.gamma(total + 1.0) / math.gamma(a + 1.0) / math.gamma(b + 1.0))
        return math.log(scale) + a * math.log(x) + b * math.log(y) if scale > 0.0 else -math.inf
    errors = stirling_error(total) - stirling_error(a) - stirling_error(b)
    return 0.5 * math.log((a / total) * b) - HALF_LOG_2_PI + errors - deviance(a, b, x, y)


def incomplete_beta(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """The regularised incomplete beta function I_x(a, b), and 1 - I_x(a, b), each with its own digits.

    These are the chances that Beta(a, b) falls below and above x, by the continued fraction DLMF 8.17.22.

    >>> incomplete_beta(2, 1, 0.5, 0.5)
    (0.25, 0.75)
    """
    if x <= 0.0:
        return 0.0, 1.0
    if y <= 0.0:
        return 1.0, 0.0
    if min(a, b) > NEARLY_NORMAL:
        return _nearly_normal(a, b, x, y)
    if x * (b + 1.0) > y * (a + 1.0):  # that is x > (a + 1) / (a + b + 2), where the fraction converges slowly
        upper, lower = incomplete_beta(b, a, y, x)
        return lower, upper
    weight = math.exp(log_beta_weight(a, b, x, y))
    lower = min(weight * _beta_fraction(a, b, x, y), 1.0) if weight > 0.0 else 0.0
    return lower, 1.0 - lower


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """Every second convergent of DLMF 8.17.22, in the form of DiDonato and Morris (1992), by Lentz's method.

    That form contains a y - b x in place of a - (a + b) x, which would lose digits beside x = 1.
    """
    distance = a * y - b * x + 1.0
    value = numerator = a * distance / (a + 1.0) or LEAST
    inverse = 0.0
    for step in range(1, 100_000):
        middle = a + 2.0 * step - 1.0
        excess = step * (b - step) * x / middle
        above = (a + step - 1.0) * ((a + b + step - 1.0) / middle) * x * excess
        below = step + excess + (a + step) * (distance + step * (1.0 + y)) / (middle + 2.0)
        numerator = below + above / numerator or LEAST
        inverse = 1.0 / (below + above * inverse or LEAST)
        change = numerator * inverse
        value *= change
        if abs(change - 1.0) <= 2.0 * EPSILON:
            break
    return 1.0 / value


def _nearly_normal(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """Temme's uniform expansion of I_x(a, b) for large shapes, DLMF 8.18(ii); two terms are enough."""
    total = a + b
    spread = math.sqrt((a / total) * (b / total) / total)
    distance = (x * (b / total) - y * (a / total)) / spread
    root = math.copysign(math.sqrt(2.0 * deviance(a, b, x, y)), distance)
    if abs(distance) < 1e-3 or root == 0.0:
        correction = (b / total - a / total) / (3.0 * spread * total)
    else:
        correction = 1.0 / root - 1.0 / distance
    correction *= normal_density(root)
    lower, upper = normal_share(root) + correction, normal_share(-root) - correction
    return min(max(lower, 0.0), 1.0), min(max(upper, 0.0), 1.0)


def inverse_incomplete_beta(a: float, b: float, share: float) -> tuple[float, float]:
    """The pair (x, 1 - x) with I_x(a, b) = share: the quantile of Beta(a, b), for 0 < share < 1.

    Newton's method for ln I as a function of w = ln(x / y). That function is concave and increasing (the
    density of w is log-concave), so from the second step on the steps climb to the root without passing it.
    In the tails it is nearly straight, so that quantiles like 1e-300 take only a few steps. What cannot be
    told from 0 is 0.

    >>> x, y = inverse_incomplete_beta(2, 1, 0.25)
    >>> round(x, 12), round(y, 12)
    (0.5, 0.5)
    """
    total = a + b
    if share > incomplete_beta(a, b, a / total, b / total)[0]:  # the upper tail is the lower one, mirrored
        y, x = _lower_quantile(b, a, 1.0 - share)
    else:
        x, y = _lower_quantile(a, b, share)
    return x, y


def _lower_quantile(a: float, b: float, share: float) -> tuple[float, float]:
    """The quantile of a share that lies below the mean."""
    right = place = math.log(a) - math.log(b)
    left = -math.inf
    x, y = a / (a + b), b / (a + b)
    for _ in range(200):
        lower = incomplete_beta(a, b, x, y)[0]
        weight = math.exp(log_beta_weight(a, b, x, y))
        if lower < share:
            left = place
        else:
            right = place
        step = math.log(share / lower) * (lower / weight) if lower > 0.0 and weight > 0.0 else math.inf
        if not left <= place + step <= right:  # from where everything underflows there is no slope to follow
            step = (left + right) / 2.0 - place if left > -math.inf else right - place
        place += step
        if place < -700.0:
            return 0.0, 1.0
        x, y = logistic(place), logistic(-place)
        if abs(step) <= 4.0 * EPSILON * max(abs(place), 1.0):
            break
    return x, y


def logistic(place: float) -> float:
    """1 / (1 + exp(-place))."""
    if place >= 0.0:
        return 1.0 / (1.0 + math.exp(-place))
    odds = math.exp(place)
    return odds / (1.0 + odds)


def beta_shortfall(a: float, b: float, x: float, y: float) -> float:
    """E((x - B)+^2) for B from Beta(a, b) and 0 <= x <= 1.

    By DLMF 8.17.20 it takes one incomplete beta function, much as for the normal distribution. Far in the
    lower tail its terms cancel; there stands the integral itself, which Euler's transformation (DLMF 15.8.1)
    turns into a series of positive terms,

        2 x^(a + 2) y^(b + 2) / (a (a + 1) (a + 2) B(a, b)) 2F1(a + b + 2, 3; a + 3; x).
    """
    if x <= 0.0:
        return 0.0
    total = a + b
    distance = x * (b / total) - y * (a / total)
    variance = (a / total) * (b / total) / (total + 1.0)
    log_weight = log_beta_weight(a, b, x, y)
    weight = math.exp(log_weight)
    growth = (distance * distance + variance) * incomplete_beta(a, b, x, y)[0]
    slope = (distance * (total + 2.0) / (total + 1.0) + (a / total - b / total) / (total + 1.0)) / total
    value = growth + slope * weight
    if value > 1e-3 * growth or min(a, b) > NEARLY_NORMAL or log_weight == -math.inf:
        return max(value, 0.0)
    term, series = 1.0, 0.0
    for order in count():
        series += term
        term *= x * ((total + 2.0 + order) * (3.0 + order)) / ((a + 3.0 + order) * (1.0 + order))
        if term <= EPSILON * (1.0 - x) * series or order > 1_000_000:
            break
    return 2.0 * math.exp(log_weight + 2.0 * math.log(x * y)) * series / (a * (a + 1.0) * (a + 2.0))


def beta_log_laplace(a: float, b: float, gamma: float) -> float:
    """ln E exp(-gamma B) for B from Beta(a, b): the logarithm of Kummer's 1F1(a; a + b; -gamma), for gamma > 1.

    Kummer's series needs about gamma terms, and the expansion for large gamma only serves small shapes. So
    the integral is taken instead, over w = ln(x / y), where the integrand has a single peak, at the root of
    gamma x^2 - (a + b + gamma) x + a. The peak's height is known exactly; the rest of the integral is summed by
    the trapezoidal rule after a sinh substitution, which converges exponentially fast and copes with the
    tails exp(a w) and exp(-b w) however small the shapes (Trefethen and Weideman, 2014).
    """
    total = a + b
    root = math.hypot(total - gamma, 2.0 * math.sqrt(gamma) * math.sqrt(b))
    x = max(2.0 * a / (total + gamma + root), LEAST)
    y = 2.0 * b / (total - gamma + root) if total > gamma else (gamma - total + root) / (2.0 * gamma)
    curvature = x * y * root
    if curvature > 1e10:  # Laplace's method, DLMF 2.3(iii), errs by about 1 / curvature
        area = math.sqrt(2.0 * math.pi / curvature)
    else:
        scale = min(1.0 / math.sqrt(curvature), 1.0) if curvature > 0.0 else 1.0
        area = scale * SINH_STEP
        area += _beside_peak(a, b, x, y, -gamma, scale, area)
        area += _beside_peak(b, a, y, x, gamma, scale, area)
    return log_beta_weight(a, b, x, y) - gamma * x + math.log(area)


def _beside_peak(a: float, b: float, x: float, y: float, slope: float, scale: float, known: float) -> float:
    """The integral of (x'^a y'^b e^(slope x')) / (x^a y^b e^(slope x)) over ln(x' / y') on the side where x' > x."""
    total, least, area = a + b, min(b, 1.0), 0.0
    for place in count(1):
        distance = scale * math.sinh(place * SINH_STEP)
        growth = x * math.expm1(distance) if distance < 700.0 else math.inf
        risen = -math.expm1(-distance)
        if x < y and growth < 1.0:
            moved = y * growth / (1.0 + growth)
            height = a * distance - total * math.log1p(growth)
        else:  # the same, without what overflows or cancels when y is the small one
            rest = math.exp(-distance) + x * risen
            moved = y * x * risen / rest
            height = -b * distance - total * (math.log1p(-y * risen) if y * risen < 0.5 else math.log(rest))
        height += slope * moved
        area += scale * SINH_STEP * math.cosh(place * SINH_STEP) * math.exp(height)
        if height < math.log((known + area) * least) - 42.0:
            break
    return area


def centred_beta_log_laplace(a: float, b: float, gamma: float) -> float | None:
    """ln E exp(-gamma (B - mean)) from the central moments, or None where they cancel or grow.

    The moments follow from each other: (a + b + k + 1) mu(k + 2) = (k + 1) (v mu(k) + (1 - 2 m) mu(k + 1)) with
    v = m (1 - m), by integrating the derivative of (x - m)^(k + 1) x^a (1 - x)^b.
    """
    total = a + b
    share, rest = a / total, b / total
    earlier, term = 1.0, 0.0  # (-gamma)^k mu(k) / k!, for k = 0 and k = 1
    value = size = 0.0
    for order in range(200):
        spread = share * rest * gamma * gamma / (order + 2.0) * earlier
        skew = (rest - share) * gamma * (order + 1.0) / (order + 2.0) * term
        earlier, term = term, (spread - skew) / (total + order + 1.0)
        value, size = value + term, size + abs(term)
        if not size <= min(30.0 * value, 100.0):
            return None
        if abs(term) + abs(earlier) <= EPSILON * value:
            return math.log1p(value)
    return None


def normal_density(z: float) -> float:
    return math.exp(-0.5 * z * z - HALF_LOG_2_PI)


def normal_share(z: float) -> float:
    """The chance that a standard normal variable falls below z: DLMF 7.2.2."""
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


def normal_quantile(share: float) -> float:
    """The inverse of `normal_share`, for 0 < share < 1."""
    return NORMAL.inv_cdf(share)


def normal_shortfall(z: float) -> float:
    """E((z - Z)+^2) for a standard normal Z: (z^2 + 1) Phi(z) + z phi(z).

    Where these cancel, it is a repeated integral of the error function, DLMF 7.18; the ratios of neighbouring
    ones have positive continued fractions, from the recurrence DLMF 7.18.7.
    """
    if z > -2.0:
        return (z * z + 1.0) * normal_share(z) + z * normal_density(z)
    ratio = 0.0
    for order in range(200, 1, -1):
        ratio = order / (ratio - z)
    second = ratio
    first = 1.0 / (second - z)
    return first * second * normal_share(z)


def log_gamma_weight(a: float, x: float) -> float:
    """The logarithm of x^a e^-x / Gamma(a), without the terms that cancel for large shapes."""
    ratio = x / a
    cancelled = math.log(ratio) - (ratio - 1.0) if ratio < 0.5 else log1p_minus((x - a) / a)
    return a * cancelled - stirling_error(a) - HALF_LOG_2_PI + 0.5 * math.log(a)


def incomplete_gamma(a: float, x: float) -> tuple[float, float]:
    """P(a, x) and Q(a, x) = 1 - P: a series (DLMF 8.11.4) up to x = a + 1, a continued fraction (8.9.2) beyond."""
    if x <= 0.0:
        return 0.0, 1.0
    weight = math.exp(log_gamma_weight(a, x)) / a
    if x <= a + 1.0:
        term = total = 1.0
        for order in count(1):
            term *= x / (a + order)
            total += term
            if term <= EPSILON * total:
                break
        share = min(weight * total, 1.0)
        return share, 1.0 - share
    # Lentz's way to evaluate the fraction
    denominator = x + 1.0 - a
    first, second = 1.0 / LEAST, 1.0 / denominator
    fraction = second
    for order in count(1):
        factor = -order * (order - a)
        denominator += 2.0
        second = 1.0 / (factor * second + denominator or LEAST)
        first = denominator + factor / first or LEAST
        fraction *= first * second
        if abs(first * second - 1.0) <= 2.0 * EPSILON:
            break
    share = min(weight * a * fraction, 1.0)
    return 1.0 - share, share


def gamma_quantile(a: float, share: float, above: bool) -> float:
    """The x below which, or above which, lies a share of the Gamma distribution of shape a; 0 < share < 1.

    Newton's method for the logarithm of the share as a function of ln x, which is concave; halved where it would leave
    what is known. What cannot be told from 0 is 0.
    """
    if share > 0.5:  # the other side tells more shares apart
        share, above = 1.0 - share, not above
    side, left, right = int(above), -math.inf, math.inf
    place = math.log(a)
    for _ in range(200):
        found = incomplete_gamma(a, math.exp(place))[side]
        if (found < share) != above:
            left = place
        else:
            right = place
        slope = math.exp(log_gamma_weight(a, math.exp(place))) / found if found > 0.0 else 0.0
        step = math.log(share / found) / slope * (-1.0 if above else 1.0) if slope > 0.0 else math.inf
        if not left <= place + step <= right:
            usable = math.isfinite(left) and math.isfinite(right)
            step = (left + right) / 2.0 - place if usable else (1.0 if left == place else -1.0) * (1.0 + abs(place))
        place += step
        if place < -700.0:
            return 0.0
        if abs(step) <= 4.0 * EPSILON * max(abs(place), 1.0):
            break
    return math.exp(place)
