"""Many runs as the share of them that stayed within a number, and the shares of the arms in a lower bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ramgape.common.formatting import short_names
from ramgape.views.plots import style

MOST_NAMES, NAME_WIDTH = 40, 28


def draw_runs(axes: Axes, values: Sequence[float], runs: int, label: str) -> None:
    """Draw, for every value, the share of the runs that are not above it; and the mean, if every run has a value."""
    ordered = sorted(values)
    steps = [(rank + 1) / runs for rank in range(len(ordered))]
    axes.step([*ordered[:1], *ordered], [*[0.0][: len(ordered)], *steps], where="post", color=style.PALETTE["blue"])
    if len(ordered) == runs:
        mean = fmean(ordered)
        axes.axvline(mean, color=style.GREY, linestyle=(0, (4.0, 2.0)), label=f"mean {mean:,.4g}")
        axes.legend(loc="lower right")
    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(label)
    axes.set_ylabel("Runs at or below")


def draw_allocation(axes: Axes, shares: Mapping[str, float]) -> None:
    """Draw a bar for each arm, the largest of very many, the first at the top."""
    names = sorted(shares, key=lambda name: -shares[name])[:MOST_NAMES] if len(shares) > MOST_NAMES else list(shares)
    shown = short_names(names, NAME_WIDTH)
    places = range(len(names))
    axes.barh(places, [shares[name] for name in names], color=style.PALETTE["blue"])
    axes.set_yticks(places, [style.drawable(shown[name]) for name in names], parse_math=False)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("Share of the samples, ideal for Gaussian arms")
