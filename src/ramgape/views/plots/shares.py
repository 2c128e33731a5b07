"""How the pulls were divided, trial by trial: one bar per trial, in two colours."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ramgape.views.plots.style import PALETTE

INSIDE = PALETTE["blue"]
OUTSIDE = PALETTE["orange"]


def draw_shares(axes: Axes, shares: Sequence[float], uniform: float | None = None) -> None:
    """Draw each trial's share of pulls on Pareto arms, and the rest, which went to the others.

    Args:
        uniform: The share that an even split over all arms would give, drawn as a line.
    """
    trials = range(1, len(shares) + 1)
    rest = [1.0 - share for share in shares]
    # Bars that touch would show hair lines where they are drawn with soft edges.
    axes.barh(trials, shares, height=1.0, color=INSIDE, linewidth=0.0, antialiased=False)
    axes.barh(trials, rest, height=1.0, left=shares, color=OUTSIDE, linewidth=0.0, antialiased=False)
    if uniform is not None:
        axes.axvline(uniform, color="white", linewidth=2.4)
        axes.axvline(uniform, color=PALETTE["black"], linewidth=1.4, linestyle=(0, (3, 1.5)))
    axes.grid(visible=False)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(len(shares) + 0.5, 0.5)  # the first trial on top, as a table has it
    axes.set_xticks([0.0, 0.5, 1.0])
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10]))


def share_handles(uniform: float | None) -> list[Patch | Line2D]:
    """The legend of these bars."""
    handles: list[Patch | Line2D] = [
        Patch(color=INSIDE, label="pulls of Pareto arms"),
        Patch(color=OUTSIDE, label="pulls of other arms"),
    ]
    if uniform is not None:
        label = f"an even split ({uniform:.3g})" if uniform < 0.01 else f"an even split ({uniform:.0%})"
        handles.append(
            Line2D([], [], color=PALETTE["black"], linewidth=1.4, linestyle=(0, (3, 1.5)), label=label),
        )
    return handles
