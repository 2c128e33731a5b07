"""Quantities that change from pull to pull, one curve per sampling rule."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ramgape.views.plots.policies import name_outside, policy_look
from ramgape.views.plots.ticks import few, plain_numbers

MOST_POINTS = 250  # of a curve: of a line that trembles more than that, the dashes could not be seen
FAR = 20.0  # curves that fall by more than this factor need a logarithmic axis
MARKERS = 5  # on each curve
SIZES = {"*": 9.0, "X": 6.5, "P": 6.5}  # thin shapes need more room

Floats = NDArray[np.floating[Any]]


def thinned(length: int, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Indices of at most so many points of a curve, evenly spread, with the first and the last.

    >>> thinned(5).tolist(), thinned(1001, most=5).tolist()
    ([0, 1, 2, 3, 4], [0, 250, 500, 750, 1000])
    """
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.int64))


def draw_curves(axes: Axes, x: Floats, curves: Mapping[str, Floats], outside: Collection[str] = ()) -> list[Line2D]:
    """Draw the curves of several sampling rules over the same x; returns one handle per rule.

    Args:
        outside: Rules that the paper's figure does not have; the legend says so.
    """
    handles = []
    for rank, (policy, curve) in enumerate(curves.items()):
        appearance = policy_look(policy)
        known = np.flatnonzero(np.isfinite(curve))
        kept = known[thinned(len(known))] if len(known) else known
        (handle,) = axes.plot(
            x[kept],
            curve[kept],
            color=appearance.colour,
            linestyle=appearance.dashes,
            linewidth=appearance.width,
            marker=appearance.marker,
            markersize=SIZES.get(appearance.marker, 5.5),
            markeredgecolor="white",
            markeredgewidth=0.5,
            markevery=_marked(len(kept), rank, len(curves)),
            label=name_outside(policy) if policy in outside else appearance.name,
            # The first is the one that the figure is about.
            zorder=3.0 - 0.01 * rank,
        )
        handles.append(handle)
    return handles


def regret_axis(axes: Axes, curves: Iterable[Floats]) -> float | None:
    """An axis from zero, which is perfect, to the largest value of the curves.

    Where a curve ends far below that, the axis is logarithmic, but for a linear piece at the bottom, since a curve may
    end at zero; the value that the linear piece reaches up to is returned.
    """
    finite = [curve[np.isfinite(curve)] for curve in curves]
    highest = max((float(curve.max()) for curve in finite if len(curve)), default=0.0)
    lowest_end = min((float(curve[-1]) for curve in finite if len(curve)), default=0.0)
    if highest <= FAR * lowest_end or highest <= 0.0:
        axes.set_ylim(-0.03 * (highest or 1.0), 1.05 * (highest or 1.0))
        few(axes.yaxis)
        return None
    linear = 10.0 ** math.floor(math.log10(highest / 10.0))
    axes.set_yscale("symlog", linthresh=linear, linscale=0.7, subs=range(2, 10))
    axes.set_ylim(-0.08 * linear, 1.2 * highest)
    plain_numbers(axes.yaxis)
    return linear


def _marked(length: int, rank: int, number: int) -> list[int]:
    """Where a curve has its markers: each curve elsewhere, so that curves that coincide can be told apart."""
    if length == 0:
        return []
    places = (np.arange(MARKERS) + (rank + 0.5) / number) / MARKERS
    return sorted({int(place * (length - 1)) for place in places})
