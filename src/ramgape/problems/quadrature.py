"""Expectations by numerical integration, for functions of which nothing is known; they may have kinks.

Gauss's rule on many small parts, finer towards both ends of a range, where a density may be infinite, and about the
mean, where all of it may be. What lies beyond the last part counts as if it lay at the end.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Nodes = tuple[Floats, Floats]  # points, and the probability that each stands for

NODES = 8  # on each part
DEPTH = 100  # halvings towards an end
STEPS = np.arange(-12.0, 12.05, 0.1)  # parts about the mean, in standard deviations


def between(edges: Floats) -> Nodes:
    """Points and lengths of Gauss's rule on each part between two edges."""
    points, lengths = np.polynomial.legendre.leggauss(NODES)
    middles, halves = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    return (middles[:, None] + halves[:, None] * points).ravel(), (halves[:, None] * lengths).ravel()


@functools.cache
def uniform_nodes() -> Nodes:
    """Of the uniform distribution on [0, 1]."""
    return between(np.linspace(0.0, 1.0, 257))


@functools.cache
def normal_nodes() -> Nodes:
    """Of the standard normal distribution."""
    points, lengths = between(STEPS)
    weights = lengths * np.exp(-0.5 * points * points)
    return points, weights / weights.sum()


@functools.lru_cache(maxsize=1024)
def beta_nodes(a: float, b: float) -> Nodes:
    """Of the Beta distribution; both shapes from about 0.01 to a million."""
    mean = a / (a + b)
    deviation = math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    halvings = 0.5 ** np.arange(1.0, DEPTH + 1.0, 0.25)
    inner = np.linspace(0.0, 1.0, 129)[1:-1]
    about = mean + deviation * STEPS
    edges = np.unique(np.concatenate([halvings, inner, about[(about > 0.0) & (about < 1.0)]]))
    # Each half is measured from its own end, so that what is close to 1 is not lost.
    lower, upper = edges[edges <= 0.5], np.unique(np.concatenate([1.0 - edges[edges >= 0.5], halvings]))
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    parts = []
    for near, far, ends in ((a, b, lower), (b, a, upper)):
        points, lengths = between(ends)
        density = np.exp(logarithm + (near - 1.0) * np.log(points) + (far - 1.0) * np.log1p(-points))
        rest = math.exp(logarithm + near * math.log(ends[0])) / near
        parts.append((np.append(points, 0.0), np.append(lengths * density, rest)))
    (low, low_weights), (high, high_weights) = parts
    weights = np.concatenate([low_weights, high_weights])
    return np.concatenate([low, 1.0 - high]), weights / weights.sum()
