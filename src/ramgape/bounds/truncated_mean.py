"""The truncated mean, for rewards with heavy tails whose standard deviation is at most stated.

Rewards that are far off are left out, and the fewer the more rewards there are (Bubeck, Cesa-Bianchi and Lugosi 2013,
Bandits with heavy tail). They state a bound u on E X^2, truncate the t-th reward at sqrt(u t / L), and prove an error
of at most 4 sqrt(u L / n) at one n. Here it is proved at all times at once, with 1.79 in place of 4:

Let Z = X - c for a centre c, d = m - c for the true mean m, u = s^2 + d^2 >= E Z^2, and Y = Z where |Z| <= B, else 0.
As (e^x - 1 - x) / x^2 rises, e^(l Y) <= 1 + l Y + (e^(l B) - 1 - l B) Y^2 / B^2. Take l B = x = 1.2564, at which
e^x - 1 - x = x. What E Y lacks of d is at most E Z^2 / B over |Z| > B, so that

    E e^(l Y) <= 1 + l d + x E(Z^2; |Z| > B) / B^2 + x E(Z^2; |Z| <= B) / B^2 <= exp(l d + x u / B^2)

and by Ville's inequality for exp(sum of l Y - n (l d + x u / B^2)), at all n at once, but with probability e^-L,

    (sum of Y) / n - d < u / B + L B / (x n)

and likewise for -Z. With B = s sqrt(x n / L) this is 1.79 s sqrt(L / n), for d = 0. So that every n has a B that suits
it, there are 32 of them, fixed in advance: s, 2 s, 4 s, ..., the j-th with L + ln(2.7 (j + 3)) in place of L, a union
that costs less than e^-L in all. Sums between two of them are kept, and all of the intervals count.

As u has d in it, each inequality is a quadratic one; it leaves d below its smaller root, or above the larger one. The
centre is the median of the first 16 rewards, which do not count otherwise. It is farther than r s from m only if 8 of
16 rewards are, which has probability 12,870 r^-16 at most on either side (Chebyshev): r is such that this is a
hundredth of e^-L. Where the larger root is beyond r s, d is below the smaller one. Each end fails with probability
1.01 e^-L, which the level allows for.

The order of the rewards matters, as the first 16 are set apart. It says nothing of a risk.
"""

from __future__ import annotations

import math

from ramgape.core.box import is_due, narrow_mean_alone
from ramgape.core.kernel import inlined, kernel
from ramgape.statistics.small import insert

APART = 16  # the rewards that the centre is made of
THRESHOLDS = 32  # the last is at its best after 10^19 pulls
SHARES = 2.7  # the sum of 1 / (j + 3) over all thresholds is less
COLUMNS = APART + THRESHOLDS
TILT = 1.2564312086261697  # x, where e^x - 1 - x = x
CRUDE = 100.0  # the centre is too far off so much less often than any other end fails
HALVES = math.log(12_870.0 * CRUDE)  # the ways in which 8 of 16 rewards may be far off
due = is_due


@inlined
def threshold_of(place, deviation):
    """B."""
    return math.ldexp(deviation, place)


@kernel
def remember(row, past, problem, value):
    """Add a reward to the sum of those between two thresholds; the first ones are kept in order of size."""
    own = past[len(past) - COLUMNS :]
    if row.pulls < APART:
        insert(own, 0, row.pulls, value)
        return
    distance = value - centre_of(own)
    place = 0
    if abs(distance) > problem.sigma_max:
        place = math.ceil(math.log2(abs(distance) / problem.sigma_max))
    if place < THRESHOLDS:
        own[APART + place] += distance


@inlined
def centre_of(own):
    """c."""
    return own[APART // 2 - 1] + 0.5 * (own[APART // 2] - own[APART // 2 - 1])


@inlined
def most_above(average, threshold, error, deviation, reach):
    """The most that d is by one threshold, if d is at most `reach`: the smaller root of d - average = u / B + error."""
    constant = average + deviation * deviation / threshold + error
    square = 1.0 - 4.0 * constant / threshold
    if square <= 0.0:
        return reach
    root = math.sqrt(square)
    if 0.5 * threshold * (1.0 + root) <= reach:
        return reach
    return min(2.0 * constant / (1.0 + root), reach)


@kernel
def box(row, past, search, problem):
    """The interval of the mean; nothing is known of the risk."""
    own, count, deviation = past[len(past) - COLUMNS :], float(row.pulls - APART), problem.sigma_max
    if count < 0.0:
        return
    level = row.level + math.log1p(1.0 / CRUDE)
    reach = deviation * math.exp((level + HALVES) / APART)
    above = below = reach
    total = 0.0
    for place in range(THRESHOLDS if count > 0.0 else 0):
        total += own[APART + place]
        threshold = threshold_of(place, deviation)
        error = (level + math.log(SHARES * (place + 3.0))) * threshold / (TILT * count)
        above = min(above, most_above(total / count, threshold, error, deviation, reach))
        below = min(below, most_above(-total / count, threshold, error, deviation, reach))
    narrow_mean_alone(row, search, centre_of(own) - below, centre_of(own) + above)
