"""Intervals for a mean by inverting the mixture test: the end is the innermost value found that is rejected.

Everything here is about values in [0, 1]. Why a search for the crossing is allowed, although the reach of the mixture
moves with the hypothesis: outside an event of probability e^-level no value beyond the truth is ever rejected, so any
rejected value is a valid end of the interval, at whatever point the search has come upon it.
"""

from __future__ import annotations

from ramgape.core.kernel import kernel, open_kernel
from ramgape.statistics.mixture import is_rejected

FINENESS = 256.0  # an end is found to this part of its distance from the estimate
COARSENESS = 128.0  # the same where looking is dearer: mostly a single look tells that an end stays for now
MOST_STEPS = 64  # of any search: halved so often, nothing is left between two floats
SAFETY = 1.0 + 1e-9  # for sums of squares, which may have been rounded down


@kernel
def rejects_mean(count, average, variance, scales, level, mean):
    """Whether a mean below the average is too low."""
    distance = average - mean
    return is_rejected(count * distance, count * (variance + distance * distance) * SAFETY, mean, scales, level)


@kernel
def lowest_mean(count, average, variance, scales, level, known):
    """The largest mean found that is rejected as too low; `known` if that cannot be bettered."""
    if known >= average or not rejects_mean(count, average, variance, scales, level, known):
        return known
    low, step = known, (average - known) / 64.0
    for _ in range(MOST_STEPS):
        if low + step >= average or not rejects_mean(count, average, variance, scales, level, low + step):
            break
        low += step
        step *= 2.0
    high = min(low + step, average)
    for _ in range(MOST_STEPS):
        if high - low <= (average - low) / FINENESS:
            break
        middle = 0.5 * (low + high)
        if rejects_mean(count, average, variance, scales, level, middle):
            low = middle
        else:
            high = middle
    return low


@kernel
def highest_mean(count, average, variance, scales, level, known):
    """The same from above: the smallest mean found that is rejected as too high."""
    return 1.0 - lowest_mean(count, 1.0 - average, variance, scales, level, 1.0 - known)


@open_kernel
def innermost(rejects, row, past, problem, estimate, known):
    """The value found that is rejected nearest to an estimate, from a known end of the interval inwards."""
    end, step = known, (estimate - known) / COARSENESS
    for _ in range(MOST_STEPS):
        if abs(step) >= abs(estimate - end) or not rejects(row, past, problem, end + step):
            break
        end += step
        step *= 2.0
    inner = end + step if abs(step) < abs(estimate - end) else estimate
    for _ in range(MOST_STEPS):
        if abs(inner - end) <= abs(estimate - end) / COARSENESS:
            break
        middle = 0.5 * (end + inner)
        if rejects(row, past, problem, middle):
            end = middle
        else:
            inner = middle
    return end
