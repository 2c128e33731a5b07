"""What to expect of a search: its trials against epsilon, or the quality of its answer against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from ramgape.views.plots import style, ticks

if TYPE_CHECKING:
    from ramgape.simulation.forecast import PullForecast, Quality

# Yellow is too pale for a line on white; markers tell the lines apart without any colour.
COLOURS = [style.PALETTE[name] for name in ("bluish green", "blue", "vermillion", "reddish purple", "orange")]
MARKERS = "o^sDv"
# By whether it is exact: what the least number of trials is called, its line and its marks.
LEAST: dict[bool, tuple[str, dict[str, Any]]] = {
    True: ("lower bound", {"linestyle": (0, (4.0, 2.0)), "marker": "_", "markersize": 8.0}),
    False: ("reference", {"linestyle": (0, (1.0, 1.5)), "marker": "x", "markersize": 5.0}),
}
LEFT = 2.2  # how much farther to the left 0 stands than the smallest other epsilon, as a factor
DODGE = 0.018  # of the width: what lies between two lines
EDGE = 1.25  # what lies between the outermost points and the edges, as a factor
MOST_LEVEL = 8  # numbers under the axis that have room without being turned
ABOVE = 1.8  # room for arrows, as a factor
OUTSIDE: Any = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}  # legends stand above the axes: bars are everywhere
NORMAL = 1.96  # standard errors to each side of a mean with 95 % confidence


def draw_trials(axes: Axes, rows: Sequence[PullForecast]) -> None:
    """Draw the means with bars from the 10 % to the 90 % quantile, one line per delta, and the least beside them.

    The least is dashed where it is a lower bound, and dotted where it is a reference. Both axes are logarithmic. An
    epsilon of 0 has its own place at the left, apart from the lines. Lines for different deltas lie close together:
    they stand side by side, and have bars, because bands would hide each other.
    """
    axes.set_xscale("log")
    axes.set_yscale("log")
    epsilons = sorted({row.epsilon for row in rows})
    smallest = next((epsilon for epsilon in epsilons if epsilon > 0.0), 1.0)
    places = {epsilon: epsilon or smallest / LEFT for epsilon in epsilons}
    limits = (places[epsilons[0]] / EDGE, places[epsilons[-1]] * EDGE)
    deltas = sorted({row.delta for row in rows})
    for rank, delta in enumerate(deltas):
        dodge = (limits[1] / limits[0]) ** (DODGE * ((len(deltas) - 1) / 2 - rank))
        for exact in (True, False):
            own = [row for row in rows if row.delta == delta and (row.epsilon == 0.0) == exact]
            draw_line(axes, own, [dodge * places[row.epsilon] for row in own], appearance(rank))
    if len(epsilons) > 1 and epsilons[0] == 0.0:
        axes.axvline(smallest / LEFT**0.5, color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_autoscalex_on(False)  # a single point has no width
    axes.set_xlim(*limits)
    axes.set_xticks([places[epsilon] for epsilon in epsilons], [f"{epsilon:g}" for epsilon in epsilons])
    if len(epsilons) > MOST_LEVEL:
        axes.tick_params(axis="x", rotation=60)
    if any(row.more_than is not None for row in rows):
        axes.set_ylim(top=ABOVE * axes.get_ylim()[1])
    ticks.log_counts(axes.yaxis, axes.get_ylim())
    axes.set_xlabel("tolerance ε")
    axes.set_ylabel("trials")
    for epsilon in sorted({row.epsilon for row in rows if row.skipped == "tie"}):
        axes.text(
            places[epsilon],
            0.5,
            "no number\nsuffices",
            transform=axes.get_xaxis_transform(),
            horizontalalignment="center",
            verticalalignment="center",
            backgroundcolor="white",
        )
    axes.legend(handles=trials_handles(rows, deltas), ncols=3, **OUTSIDE)


def appearance(rank: int) -> dict[str, Any]:
    """Colour and marker of the line of one delta."""
    return {"color": COLOURS[rank % len(COLOURS)], "marker": MARKERS[rank % len(MARKERS)]}


def draw_line(axes: Axes, rows: Sequence[PullForecast], places: Sequence[float], look: dict[str, Any]) -> None:
    """Draw the goals of one delta: what is known of their trials, and their lower bounds or references."""
    for place, row in zip(places, rows, strict=True):
        if row.quantile_10 is not None and row.quantile_90 is not None:
            axes.vlines(
                place, row.quantile_10, row.quantile_90, color=look["color"], linewidth=2.5, alpha=0.45, zorder=2
            )
        if row.more_than is not None:  # an arrow up from what the mean is larger than
            axes.annotate(
                "",
                (place, row.more_than),
                xytext=(0.0, 18.0),
                textcoords="offset points",
                arrowprops={"arrowstyle": "<|-", "color": look["color"], "shrinkA": 0.0, "shrinkB": 0.0},
            )
            axes.plot(place, row.more_than, markersize=6.0, linestyle="none", zorder=4, **look)
    known = [(place, row.mean) for place, row in zip(places, rows, strict=True) if row.mean is not None]
    axes.plot(
        [place for place, _ in known],
        [mean for _, mean in known],
        linewidth=1.4,
        markersize=6.0,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=4,
        **look,
    )
    for exact, (_, line) in LEAST.items():
        least = [
            (place, row.lower_bound)
            for place, row in zip(places, rows, strict=True)
            if row.lower_bound and row.lower_bound_exact is exact
        ]
        axes.plot(
            [place for place, _ in least],
            [value for _, value in least],
            color=look["color"],
            linewidth=1.2,
            zorder=3,
            **line,
        )


def trials_handles(rows: Sequence[PullForecast], deltas: Sequence[float]) -> list[Line2D]:
    """The legend of this picture, in the order of the lines from top to bottom."""
    grey = style.GREY
    handles = [
        Line2D([], [], linewidth=1.4, label=f"δ = {delta:g}", **appearance(rank)) for rank, delta in enumerate(deltas)
    ]
    if any(row.quantile_90 is not None for row in rows):
        handles.append(
            Line2D([], [], color=grey, linestyle="none", marker="|", markersize=11.0, markeredgewidth=2.5, alpha=0.5)
        )
        handles[-1].set_label("10% to 90% of the searches")
    for exact, (name, line) in LEAST.items():
        if any(row.lower_bound and row.lower_bound_exact is exact for row in rows):
            handles.append(Line2D([], [], color=grey, linewidth=1.2, label=name, **line))
    if any(row.more_than is not None for row in rows):
        handles.append(Line2D([], [], color=grey, linestyle="none", marker=r"$\uparrow$", markersize=9.0))
        handles[-1].set_label("more than this")
    return handles


def draw_qualities(figure: Figure, rows: Sequence[Quality]) -> None:
    """Draw the regret and the share of wrong answers, one above the other, over the budget; bars are 95 % intervals."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    budgets = [row.budget for row in rows]
    upper.set_xscale("log")
    limits = (budgets[0] / EDGE, budgets[-1] * EDGE)
    upper.set_xlim(*limits)
    upper.xaxis.set_minor_locator(NullLocator())
    upper.set_xticks(budgets, [ticks.short_count(budget) for budget in budgets])
    lower.set_xlabel("budget, in trials; bars are 95% intervals")

    means = [(row.regret, NORMAL * (row.regret_stderr or 0.0)) for row in rows]
    regrets = [(mean, (max(0.0, mean - error), mean + error)) for mean, error in means]
    draw_estimates(upper, budgets, regrets, COLOURS[1], "o")
    upper.set_ylabel("simple regret")
    upper.set_ylim(0.0, (1.08 * max(high for _, (_, high) in regrets)) or 1.0)
    style.readable_ticks(upper.yaxis, upper.get_ylim())

    inexact = [(row.inexact_rate, row.inexact_interval) for row in rows]
    beyond = [
        (row.beyond_epsilon_rate, row.beyond_epsilon_interval)
        for row in rows
        if row.beyond_epsilon_rate is not None and row.beyond_epsilon_interval is not None
    ]
    dodge = (limits[1] / limits[0]) ** (DODGE / 2) if beyond else 1.0
    draw_estimates(lower, [budget / dodge for budget in budgets], inexact, COLOURS[2], "s")
    lower.set_ylabel("not exactly the Pareto set")
    if beyond:
        draw_estimates(lower, [budget * dodge for budget in budgets], beyond, COLOURS[0], "^")
        lower.set_ylabel("share of wrong answers")
        names = ("not exactly the Pareto set", "wrong by more than ε")
        lower.legend(lower.get_lines(), names, ncols=2, **OUTSIDE)
    lower.set_ylim(0.0, 1.0)
    ticks.percents(lower.yaxis)


def draw_estimates(
    axes: Axes,
    places: Sequence[float],
    estimates: Sequence[tuple[float, tuple[float, float]]],
    colour: str,
    marker: str,
) -> None:
    """Draw estimates with bars for their intervals, joined by a line."""
    axes.plot(
        places,
        [value for value, _ in estimates],
        color=colour,
        marker=marker,
        linewidth=1.4,
        markersize=6.0,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=4,
        clip_on=False,  # a share of 0 is a whole dot
    )
    lows, highs = [low for _, (low, _) in estimates], [high for _, (_, high) in estimates]
    axes.vlines(places, lows, highs, color=colour, linewidth=2.5, alpha=0.45, zorder=3)
