"""How often runs failed, against a bound on the chance of that."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ramgape.views.plots import style, ticks

OBSERVED = style.PALETTE["blue"]
BOUND = style.PALETTE["vermillion"]
SHADE = "#EDEDED"
TINIEST = 1e-300  # a bound of zero has no logarithm
LOWEST = 1e-6  # nothing smaller can be observed, whatever a bound may promise


def draw_failures(
    axes: Axes,
    budgets: Sequence[float],
    frequencies: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    bounds: Sequence[float],
) -> None:
    """Draw the observed shares over the budget, with their intervals, and the bound where it is below 1.

    A share of zero has no place on a logarithmic axis: its interval is drawn from its upper end, with an arrow down.
    """
    axes.set_xscale("log")
    axes.set_yscale("log")
    bottom = floor(frequencies, intervals, bounds)
    axes.set_ylim(bottom, 1.6)
    factor = (max(budgets) / min(budgets)) ** 0.06 if max(budgets) > min(budgets) else 1.5
    limits = (min(budgets) / factor, max(budgets) * factor)
    axes.set_xlim(*limits)
    ticks.log_counts(axes.xaxis, limits)
    ticks.log_percents(axes.yaxis)

    edge = informative_from(budgets, bounds, limits)
    corner = [(edge, 1.0)] if budgets[0] < edge < budgets[-1] else []
    axes.axvspan(limits[0], edge, color=SHADE, linewidth=0.0, zorder=0.5)
    cut = sorted([*zip(budgets, (min(max(bound, TINIEST), 1.0) for bound in bounds), strict=True), *corner])
    axes.plot(
        [budget for budget, _ in cut],
        [bound for _, bound in cut],
        color=BOUND,
        linewidth=2.0,
        linestyle=(0, (5, 1.6)),
        label="bound",
        zorder=3,
    )
    for budget, share, (low, high) in zip(budgets, frequencies, intervals, strict=True):
        if share > 0.0:
            axes.plot([budget, budget], [max(low, bottom), high], color=OBSERVED, linewidth=1.6, zorder=4)
        else:
            axes.annotate(
                "",
                (budget, bottom),
                xytext=(budget, high),
                arrowprops={"arrowstyle": "-|>", "color": OBSERVED, "linewidth": 1.6, "shrinkA": 0.0, "shrinkB": 0.0},
                zorder=4,
            )
            axes.plot([budget], [high], linestyle="none", marker="_", markersize=10.0, color=OBSERVED, zorder=4)
    seen = [(budget, share) for budget, share in zip(budgets, frequencies, strict=True) if share > 0.0]
    axes.plot(
        [budget for budget, _ in seen],
        [share for _, share in seen],
        linestyle="none",
        marker="o",
        markersize=7.0,
        color=OBSERVED,
        label="observed",
        zorder=5,
    )


def floor(frequencies: Sequence[float], intervals: Sequence[tuple[float, float]], bounds: Sequence[float]) -> float:
    """The lower end of the axis: a power of ten below all that was observed, and below the bound if that is near.

    >>> floor([0.5, 0.0], [(0.4, 0.6), (0.0, 0.04)], [1.0, 0.5])
    0.01
    """
    shown = [share for share in frequencies if share > 0.0]
    shown += [high for share, (_, high) in zip(frequencies, intervals, strict=True) if share == 0.0]
    least = min([value for value in shown if value > 0.0], default=0.1)
    near = [bound for bound in bounds if max(LOWEST, 1e-2 * least) <= bound < least]
    return min(0.01, float(10.0 ** math.floor(math.log10(min([least, *near])) - 0.5)))


def informative_from(budgets: Sequence[float], bounds: Sequence[float], limits: tuple[float, float]) -> float:
    """The budget from which on the bound stays below 1: the edge of the picture where that is never so.

    >>> informative_from([1.0, 100.0], [10.0, 0.1], (0.5, 200.0))
    10.0
    >>> informative_from([1.0, 100.0], [10.0, 2.0], (0.5, 200.0))
    200.0
    """
    if bounds[-1] >= 1.0:
        return limits[1]
    last = max((index for index, bound in enumerate(bounds) if bound >= 1.0), default=-1)
    if last < 0:
        return limits[0]
    if not math.isfinite(bounds[last]) or bounds[last + 1] <= 0.0:
        return budgets[last]
    # Where the straight line between the two, on these axes, comes down to 1.
    part = math.log(bounds[last]) / (math.log(bounds[last]) - math.log(bounds[last + 1]))
    return float(budgets[last] * (budgets[last + 1] / budgets[last]) ** part)


def failure_handles() -> list[Line2D | Patch]:
    """The legend of this picture."""
    return [
        Line2D([], [], color=OBSERVED, marker="o", markersize=7.0, linewidth=1.6, label="observed share, 95% interval"),
        Line2D([], [], color=OBSERVED, marker="v", markersize=7.0, linewidth=1.6, label="no such run: 95% upper end"),
        Line2D([], [], color=BOUND, linewidth=2.0, linestyle=(0, (5, 1.6)), label="bound of Theorem 1, at most 1"),
        Patch(color=SHADE, label="bound above 1: says nothing"),
    ]
