"""Estimates with their intervals, one row per sampling rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.views.plots import style
from ramgape.views.plots.policies import policy_look


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """What is known of one rule: an estimate, its interval, and perhaps a second way to measure the same."""

    policy: str
    estimate: float
    interval: tuple[float, float]
    other: float | None = None
    remark: str = ""  # below the name


def draw_rows(axes: Axes, rows: Sequence[IntervalRow]) -> None:
    """Draw the rows from top to bottom: a filled dot with a bar, and a hollow diamond for the other measure."""
    for height, row in enumerate(rows):
        colour = policy_look(row.policy).colour
        axes.plot(row.interval, [height, height], color=colour, linewidth=2.2, solid_capstyle="butt", zorder=3)
        axes.plot([row.estimate], [height], linestyle="none", marker="o", markersize=7.0, color=colour, zorder=4)
        if row.other is not None:
            axes.plot(
                [row.other],
                [height],
                linestyle="none",
                marker="D",
                # Larger than the dot and hollow: both can be seen where they coincide.
                markersize=9.0,
                markerfacecolor="none",
                markeredgecolor=style.PALETTE["black"],
                markeredgewidth=1.2,
                zorder=5,
            )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [named(row) for row in rows])
    axes.tick_params(axis="y", length=0.0)
    axes.grid(visible=False, axis="y")
    highest = max((max(row.estimate, row.interval[1], row.other or 0.0) for row in rows), default=0.0)
    # From zero, which is perfect; a little to the left of it, so that a dot at zero is whole.
    axes.set_xlim(-0.05 * (highest or 1.0), 1.06 * (highest or 1.0))


def named(row: IntervalRow) -> str:
    """What stands before a row."""
    return f"{policy_look(row.policy).name}\n({row.remark})" if row.remark else policy_look(row.policy).name


def row_handles() -> list[Line2D]:
    """The legend of the two marks."""
    black = style.PALETTE["black"]
    return [
        Line2D(
            [], [], color=black, marker="o", markersize=7.0, linewidth=2.2, label="mean of all trials, 95% interval"
        ),
        Line2D(
            [],
            [],
            linestyle="none",
            marker="D",
            markersize=9.0,
            markerfacecolor="none",
            markeredgecolor=black,
            markeredgewidth=1.2,
            label="mean of the middle half",
        ),
    ]
