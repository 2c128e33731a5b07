"""Many runs as the share of them that stayed within a number, and the shares of the arms in a lower bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ramgape.common.formatting import short_names
from ramgape.views.plots import style
from ramgape.views.plots.ticks import log_counts

if TYPE_CHECKING:
    from ramgape.simulation.comparison import Competitor
    from ramgape.simulation.curves import CurvePoint

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


def draw_errors(axes: Axes, rate: float | None, interval: tuple[float, float] | None, delta: float | None) -> None:
    """Draw the share of wrong answers with its interval, beside what is allowed; nothing where there was no answer."""
    if rate is not None and interval is not None:
        low, high = interval
        axes.errorbar([0.0], [rate], [[rate - low], [high - rate]], fmt="o", color=style.PALETTE["blue"], capsize=6.0)
    top = max(0.05, *(interval or (1.0,)), delta or 0.0)
    _allow(axes, delta)
    axes.set_xlim(-1.0, 1.0)
    axes.set_ylim(-0.02 * top, 1.1 * top)
    axes.set_xticks([])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("Wrong answers (95 % interval)")


def draw_curve(axes: Axes, points: Sequence[CurvePoint], what: str, delta: float | None = None) -> None:
    """Draw the mean regret or the share of wrong answers over the pulls, with two standard errors or the interval."""
    known = [point for point in points if point.runs]
    pulls, values = [point.pulls for point in known], [getattr(point, what) for point in known]
    spans = [point.error_interval for point in known]
    if what == "regret":
        errors = [2.0 * point.regret_stderr for point in known]
        spans = [(value - error, value + error) for value, error in zip(values, errors, strict=True)]
    else:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        _allow(axes, delta)
    lows, highs = [max(low, 0.0) for low, _ in spans], [high for _, high in spans]
    axes.fill_between(pulls, lows, highs, color=style.PALETTE["blue"], alpha=0.2, linewidth=0.0)
    axes.plot(pulls, values, color=style.PALETTE["blue"], marker="o", markersize=3.0)
    axes.set_xscale("log")
    if pulls:
        log_counts(axes.xaxis, (pulls[0], max(pulls[-1], 2.0 * pulls[0])))
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("Pulls")
    axes.set_ylabel("Mean regret (2 standard errors)" if what == "regret" else "Wrong answers (95 % interval)")


def _allow(axes: Axes, delta: float | None) -> None:
    if delta is not None:
        axes.axhline(delta, color=style.GREY, linestyle=(0, (4.0, 2.0)), label=f"allowed {delta:g}")
        axes.legend(loc="upper right")


def draw_competitors(axes: Axes, title: str, rows: Sequence[Competitor], goal: str) -> None:
    """Draw what each policy took, with two standard errors: pulls, or after a budget the regret."""
    budget = goal == "budget"
    values = [row.regret if budget else row.samples for row in rows]
    errors = [2.0 * ((row.regret_stderr if budget else row.samples_stderr) or 0.0) for row in rows]
    shown, places = short_names([row.policy for row in rows], NAME_WIDTH), range(len(rows))
    axes.barh(places, values, xerr=errors, color=style.PALETTE["blue"], ecolor=style.GREY, capsize=3.0)
    axes.set_yticks(places, [style.drawable(shown[row.policy]) for row in rows], parse_math=False)
    axes.invert_yaxis()
    axes.set_title(style.drawable(title), loc="left", parse_math=False)
    axes.set_xlabel("Mean regret (2 standard errors)" if budget else "Pulls (2 standard errors)")


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
