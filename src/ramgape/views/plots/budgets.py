"""What rules achieve with a budget, one line per rule over the budgets, with intervals.

A point is an estimate with the ends of its interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.views.plots.curves import SIZES
from ramgape.views.plots.policies import Look, look_handle, policy_look

Point = tuple[float, float, float]

SPREAD = 0.3  # how far apart the marks of the rules at one budget are, in parts of the way to the next budget
ROOM = 1.5  # on a logarithmic axis, above the largest and below the smallest


def logarithmic_limits(points: Iterable[Point]) -> tuple[float, float]:
    """From below the smallest estimate that is not zero, down to which all intervals are drawn, to the largest end."""
    seen = list(points)
    lowest = min((estimate for estimate, _, _ in seen if estimate > 0.0), default=1e-3)
    highest = max((high for estimate, _, high in seen if estimate > 0.0), default=1e-2)
    return lowest / ROOM**2, highest * ROOM


def draw_over_budgets(
    axes: Axes, budgets: Sequence[int], curves: Mapping[str, Sequence[Point]], floor: float | None = None
) -> None:
    """The lines of several rules; the first is the one that the figure is about, and lies on top.

    Args:
        floor: Where what is zero is drawn, hollow, on an axis that has no zero.
    """
    step = (budgets[-1] / budgets[0]) ** (1.0 / (len(budgets) - 1)) if len(budgets) > 1 else 2.0
    for rank, (policy, points) in enumerate(curves.items()):
        appearance = policy_look(policy)
        shift = step ** (SPREAD * (rank / (len(curves) - 1) - 0.5)) if len(curves) > 1 else 1.0
        places = [budget * shift for budget in budgets]
        heights = [height(estimate, floor) for estimate, _, _ in points]
        layer = 4.0 - 0.1 * rank
        axes.plot(
            places,
            heights,
            color=appearance.colour,
            linestyle=appearance.dashes,
            linewidth=appearance.width,
            label=appearance.name,
            zorder=layer,
        )
        for place, top, (estimate, low, high) in zip(places, heights, points, strict=True):
            axes.plot(
                [place, place],
                [height(low, floor), height(high, floor)],
                color=appearance.colour,
                linewidth=1.2,
                solid_capstyle="butt",
                zorder=layer,
            )
            mark(axes, place, top, appearance, hollow=floor is not None and estimate <= 0.0, layer=layer + 0.05)
    axes.set_xscale("log")
    axes.set_xlim(budgets[0] / step**0.35, budgets[-1] * step**0.35)


def height(value: float, floor: float | None) -> float:
    """Where a value is drawn."""
    return value if floor is None else max(value, floor)


def mark(axes: Axes, x: float, y: float, appearance: Look, hollow: bool, layer: float) -> None:
    """One mark."""
    axes.plot(
        [x],
        [y],
        linestyle="none",
        marker=appearance.marker,
        markersize=SIZES.get(appearance.marker, 5.5),
        markerfacecolor="white" if hollow else appearance.colour,
        markeredgecolor=appearance.colour if hollow else "white",
        markeredgewidth=1.0 if hollow else 0.5,
        clip_on=False,  # what is zero stands on the edge
        zorder=layer,
    )


def any_zero(curves: Iterable[Mapping[str, Sequence[Point]]]) -> bool:
    """Whether the legend must tell of hollow marks."""
    return any(point[0] <= 0.0 for panel in curves for points in panel.values() for point in points)


def policy_handle(policy: str) -> Line2D:
    """The legend of a rule."""
    appearance = policy_look(policy)
    return look_handle(appearance, SIZES.get(appearance.marker, 5.5))
