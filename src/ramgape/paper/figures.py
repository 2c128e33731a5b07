"""The figures of the reproduction and of the benchmark.

Every function takes plain data, as the tables of the experiments have it, and returns a finished figure: nothing in it
moves any more, so that it gives the same files whenever it is written. All have the same width and style, and one
legend above all panels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from ramgape.paper.drawing import (
    BLACK,
    BLUE,
    DASHES,
    DOTS,
    ORANGE,
    VERMILLION,
    drawing,
    from_zero,
    grid_of_axes,
    hollow_handle,
    mark_handle,
    name_rows,
    options,
    row_of_axes,
    write_legend,
)
from ramgape.paper.formatting import display_name, name_outside
from ramgape.paper.looks import LEAST, policy_look
from ramgape.paper.paper import OWN
from ramgape.paper.theory_figures import gap_geometry as gap_geometry
from ramgape.paper.theory_figures import pulls_against_cap as pulls_against_cap
from ramgape.paper.theory_figures import theorem_one as theorem_one
from ramgape.views.plots import style, ticks
from ramgape.views.plots.crosses import draw_crosses, front_handle, windows
from ramgape.views.plots.style import GREY, PALETTE

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport

Curve = NDArray[np.floating[Any]]
Limits = tuple[float, float]
Estimate = tuple[float, float, float]  # a number with the ends of its interval
Samples = tuple[float | None, bool]  # a number of samples, and what is known of it

MEAN = "Mean reward μ"
RISK = "Scaled risk ξ = α(σ² − ρμ)"
REGRET = "Simple regret"

SERIES = (
    (BLUE, "o"),
    (VERMILLION, "^"),
    (PALETTE["bluish green"], "s"),
    (PALETTE["reddish purple"], "D"),
    (ORANGE, "v"),
)
WIDE = 20.0  # values further apart than this factor are drawn on logarithmic axes
MOST_POINTS = 250  # of a curve: of a line that trembles more than that, the dashes could not be seen
BEYOND = 8.0  # ratios that are larger, or smaller than one part in so many, are drawn at the edge


# Stopping times


def common_range(points: Sequence[tuple[float, float]]) -> tuple[Limits, bool]:
    """Limits that serve both axes alike, and whether these should be logarithmic.

    >>> common_range([(100.0, 200.0)])
    ((94.0, 206.0), False)
    >>> common_range([(10.0, 1000.0)])[1]
    True
    """
    values = list(itertools.chain(*points))
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low > 0.0 and high > WIDE * low:
        factor = (high / low) ** 0.06
        return (low / factor, high * factor), True
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0  # room for the line where all values are equal
    return (low - margin, high + margin), False


def stopping_times(
    panels: Sequence[tuple[str, Mapping[str, Sequence[tuple[float, float]]]]], own: str = OWN, apart: bool = False
) -> Figure:
    """One rule against one rival per panel: a point per problem, below the line where that rule stopped earlier.

    Args:
        panels: The rival's name, and per series the stopping times, the rival's first.
        own: The rule.
        apart: Whether each panel shows one series on its own scale, with the name of the series above it.
    """
    labels = list(dict.fromkeys(label for _, series in panels for label in series))
    several = len(labels) > 1 and not apart
    looks = dict(zip(labels, itertools.cycle(SERIES), strict=False))
    everything = [point for _, series in panels for points in series.values() for point in points]
    with drawing({1: 6.6, 2: 4.3}.get(len(panels), 3.3) + (0.25 if several else 0.0)) as figure:
        grid = row_of_axes(figure, len(panels), shared=not apart)
        for axes, (rival, series) in zip(grid, panels, strict=True):
            points = [point for group in series.values() for point in group]
            limits, logarithmic = common_range(points if apart else everything)
            axes.set(xscale="log" if logarithmic else "linear", yscale="log" if logarithmic else "linear")
            axes.set(xlim=limits, ylim=limits, aspect="equal")
            for axis in (axes.xaxis, axes.yaxis):
                (ticks.log_counts if logarithmic else ticks.linear_counts)(axis, limits)
            axes.plot(limits, limits, color=BLACK, linewidth=1.0, linestyle=DASHES, label="identity")
            for label, group in series.items():
                colour, marker = SERIES[0] if apart else looks[label]
                # A thin white edge and some transparency: points on top of each other can still be counted.
                edge = options(markersize=5.0, markeredgecolor="white", markeredgewidth=0.5, alpha=0.85)
                across, up = np.array(group, dtype=np.float64).reshape(-1, 2).T
                axes.plot(
                    across, up, linestyle="none", marker=marker, markerfacecolor=colour, label=label, zorder=3, **edge
                )
            below, equal = sum(y < x for x, y in points), sum(y == x for x, y in points)
            remark = f"below the line: {below} of {len(points)}"
            remark += f"\non the line: {equal} of {len(points)}" if equal else ""
            title = next(iter(series)) if apart else f"vs {display_name(rival)}"
            axes.set_title(title, pad=6.0 + 1.3 * len(remark.split("\n")) * style.PRINTED_TEXT)
            centered = options(horizontalalignment="center", verticalalignment="bottom", color=GREY)
            place = options(xycoords="axes fraction", xytext=(0.0, 4.0), textcoords="offset points")
            axes.annotate(remark, (0.5, 1.0), **place, **centered)
            axes.set_xlabel(f"Stopping time of\n{display_name(rival)} (pulls)")
        grid[0].set_ylabel(f"Stopping time of\n{display_name(own)} (pulls)")
        if several:
            edge = options(markeredgecolor="white", markeredgewidth=0.5)
            write_legend(
                figure,
                [mark_handle(label, marker=m, markerfacecolor=c, **edge) for label, (c, m) in looks.items()],
            )
    return figure


def samples_limits(panels: Sequence[Any]) -> Limits:
    """One axis for all panels."""
    numbers = [value for _, curves, least in panels for group in (*curves.values(), least) for value, _ in group]
    known = [value for value in numbers if value is not None]
    return min(known, default=1.0) / 1.8, max(known, default=10.0) * 4.0


def samples_handles(panels: Sequence[Any], line: bool) -> list[Line2D]:
    """The legend of all panels: methods, what they are compared with, and hollow marks if there are any."""
    methods = [
        policy_look(name).handle(line) for name in dict.fromkeys(name for _, curves, _ in panels for name in curves)
    ]
    present = {exact for _, _, group in panels for value, exact in group if value is not None}
    bar = options(linestyle="none", marker="|", markersize=11.0, markeredgewidth=1.4)
    least = [
        Line2D([], [], **({**look.line} if line else {"color": look.colour, **bar}), label=look.name)
        for exact, look in LEAST.items()
        if exact in present
    ]
    found = [point for _, curves, _ in panels for group in curves.values() for point in group]
    undecided = any(more and value is not None for value, more in found)
    handles = [*methods, *least] if line else [*least, *methods]
    return [*handles, hollow_handle("undecided: needs more")] if undecided else handles


def draw_sample_mark(axes: Axes, x: float, y: float, method: str, arrow: tuple[float, float] | None) -> None:
    """The samples of a method; hollow with an arrow where it is known to need more."""
    look = policy_look(method)
    axes.plot([x], [y], linestyle="none", **look.mark(hollow=arrow is not None), zorder=5)
    if arrow is not None:
        line = options(arrowstyle="<-", color=look.colour, linewidth=1.0, shrinkA=0.0, shrinkB=2.0)
        place = options(xytext=arrow, textcoords="offset points")
        axes.annotate("", (x, y), **place, annotation_clip=False, arrowprops=line)


Panel = tuple[str, Mapping[str, Sequence[Samples]], Sequence[Samples]]  # title, methods, bounds or references


def samples_by_instance(instances: Sequence[str], panels: Sequence[Panel]) -> Figure:
    """The samples of each method on each problem, a row each; a panel per tolerance, all on one logarithmic axis."""
    with drawing(2.0 + 0.29 * len(instances)) as figure:
        grid = row_of_axes(figure, len(panels))
        for axes, (title, curves, least) in zip(grid, panels, strict=True):
            axes.set_title(title)
            name_rows(axes, instances, striped=True)
            for row, (value, exact) in enumerate(least):
                if value is not None:
                    axes.vlines(value, row - 0.42, row + 0.42, color=LEAST[exact].colour, linewidth=1.4, zorder=3)
            shifts = np.linspace(-0.31, 0.31, len(curves)) if len(curves) > 1 else np.zeros(1)
            for shift, (method, group) in zip(shifts, curves.items(), strict=True):
                for row, (value, more) in enumerate(group):
                    if value is not None:
                        draw_sample_mark(axes, value, row + shift, method, (9.0, 0.0) if more else None)
        grid[0].set(xscale="log", xlim=samples_limits(panels))
        ticks.log_thousands(grid[0].xaxis)
        figure.supxlabel("Samples to stop")
        write_legend(figure, samples_handles(panels, line=False))
    return figure


def samples_by_tolerance(epsilons: Sequence[str], panels: Sequence[Panel]) -> Figure:
    """The samples of each method as the tolerance gets smaller, a panel per problem, all on one logarithmic axis."""
    limits = samples_limits(panels)
    with drawing(4.2) as figure:
        grid = row_of_axes(figure, len(panels))
        for axes, (title, curves, least) in zip(grid, panels, strict=True):
            bounds = {exact: [(value if kind is exact else None) for value, kind in least] for exact in LEAST}
            lines = [(LEAST[exact], values) for exact, values in bounds.items()]
            lines += [(policy_look(method), [value for value, _ in group]) for method, group in curves.items()]
            for look, values in lines:
                known = [(place, value) for place, value in enumerate(values) if value is not None]
                axes.plot(*np.array(known).reshape(-1, 2).T, **look.line, label=look.name, zorder=3)
            for method, group in curves.items():
                for place, (value, more) in enumerate(group):
                    if value is not None:
                        draw_sample_mark(axes, place, value, method, (0.0, 9.0) if more else None)
            axes.set_title(style.drawable(title))
            axes.set_xlabel("Tolerance ε")
        grid[0].set(xlim=(-0.3, len(epsilons) - 0.7), yscale="log", ylim=limits, ylabel="Samples to stop")
        grid[0].set_xticks(range(len(epsilons)), list(epsilons))
        ticks.log_counts(grid[0].yaxis, limits)
        write_legend(figure, samples_handles(panels, line=True))
    return figure


def ratios(
    label: str,
    rows: Sequence[str],
    panels: Sequence[tuple[str, Sequence[Estimate | None]]],
    unit: str,
    aims: Sequence[float] = (),
) -> Figure:
    """What one method needs or loses, divided by another's: a row per problem or group, panels side by side.

    Args:
        label: Which is divided by which.
        panels: A title, and for each row the ratio with its interval; None where it is not known.
        unit: What ratios below 1 save, such as "samples".
        aims: Further ratios at which there is a line.
    """
    less, more = ("smaller", "larger") if unit == "regret" else ("fewer", "more")
    kinds = {
        f"{less} {unit}": (BLUE, "o", BLUE),
        f"{more} {unit}": (VERMILLION, "^", VERMILLION),
        "not clear": (GREY, "s", "white"),
    }
    ends = [end for _, group in panels for ratio in group if ratio is not None for end in ratio[1:]]
    low, high = max(min([0.8, *ends]) / 1.06, 1.0 / BEYOND), min(max([1.25, *ends]) * 1.06, BEYOND)
    with drawing(1.9 + 0.27 * len(rows)) as figure:
        grid = row_of_axes(figure, len(panels))
        for axes, (title, group) in zip(grid, panels, strict=True):
            axes.set_title(title)
            name_rows(axes, rows, striped=True)
            for aim in aims:
                axes.axvline(aim, color=GREY, linewidth=1.0, linestyle=DOTS, zorder=2)
            axes.axvline(1.0, color=BLACK, linewidth=1.0, linestyle=DASHES, zorder=2)
            for row, ratio in enumerate(group):
                if ratio is not None:
                    place = 0 if ratio[2] < 1.0 else 1 if ratio[1] > 1.0 else 2
                    colour, marker, face = list(kinds.values())[place]
                    value, start, end = (min(max(number, low), high) for number in ratio)
                    axes.plot([start, end], [row, row], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=3)
                    look = options(marker=marker, markersize=5.4, markerfacecolor=face, markeredgecolor=colour)
                    axes.plot([value], [row], linestyle="none", **look, zorder=4)
        grid[0].set(xscale="log", xlim=(low, high))
        ticks.log_ratios(grid[0].xaxis, (low, high))
        figure.supxlabel(label)
        write_legend(
            figure,
            [
                mark_handle(name, color=c, linestyle="-", linewidth=1.6, marker=m, markerfacecolor=face)
                for name, (c, m, face) in kinds.items()
            ],
        )
    return figure


# What was known at the end


def confidence_crosses(panels: Sequence[tuple[str, int, Sequence[ArmReport], Collection[str]]]) -> Figure:
    """What each rule knew of every arm when it stopped: the same window in all panels.

    Args:
        panels: The rule's name, its total number of pulls, the arms, and the names of those it returned.
    """
    limits = windows([arm for _, _, arms, _ in panels for arm in arms])
    with drawing(0.8 + 3.0 * math.ceil(len(panels) / 2)) as figure:
        grid = grid_of_axes(figure, len(panels), 2)
        for axes, (policy, samples, _, _) in zip(grid, panels, strict=True):
            axes.set_title(f"{display_name(policy)}: {samples:,} pulls")
            axes.set(xlim=limits[0], ylim=limits[1])
        figure.supxlabel(f"{MEAN}  (higher is better →)")
        figure.supylabel(f"{RISK}  (← lower is better)")
        words = {"in": "returned", "out": "not returned"}
        marks = [mark_handle(word, **style.MARKS[verdict].points(5.0)) for verdict, word in words.items()]
        write_legend(figure, [*marks, front_handle()])
        for axes, (_, _, arms, returned) in zip(grid, panels, strict=True):
            # The answer is what was returned, also where the proof is missing.
            shown = [replace(arm, verdict="in" if arm.name in returned else "out") for arm in arms]
            size = options(marker_size=3.4, label_size=style.PRINTED_TEXT)
            draw_crosses(axes, shown, front=returned, limits=limits, panel=True, **size)
    return figure


# Regret under a budget


def thinned(length: int, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Indices of at most so many points of a curve, evenly spread, with the first and the last.

    >>> thinned(5).tolist(), thinned(1001, most=5).tolist()
    ([0, 1, 2, 3, 4], [0, 250, 500, 750, 1000])
    """
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.int64))


def regret_curves(pulls: Curve, curves: Mapping[str, Mapping[str, Curve]], outside: Collection[str] = ()) -> Figure:
    """How the simple regret falls: to the left as the paper averages it, to the right over all trials.

    Args:
        curves: Per rule "middle_half" and "mean", both over `pulls`.
        outside: The rules among them that the paper's figure does not have.
    """
    kinds = {
        "middle_half": "mean of the middle half of the\ntrials (as in the paper)",
        "mean": "\nmean of all trials",
    }
    finite = [curve[kind][np.isfinite(curve[kind])] for curve in curves.values() for kind in kinds]
    highest = max((float(curve.max()) for curve in finite if len(curve)), default=0.0)
    lowest_end = min((float(curve[-1]) for curve in finite if len(curve)), default=0.0)
    last = float(pulls[-1])
    with drawing(5.4 if outside else 5.0) as figure:
        grid = row_of_axes(figure, 2)
        for axes, (kind, title) in zip(grid, kinds.items(), strict=True):
            axes.set_title(title)
            axes.set_xlabel("Pulls")
            for rank, (policy, both) in enumerate(curves.items()):
                look = policy_look(policy)
                known = np.flatnonzero(np.isfinite(both[kind]))
                kept = known[thinned(len(known))]
                # The marks of each curve stand elsewhere, so that curves that coincide can be told apart.
                marks = ((np.arange(5) + (rank + 0.5) / len(curves)) / 5 * (len(kept) - 1)).astype(int).clip(0)
                points = {**look.mark(), "markevery": np.unique(marks).tolist() if len(kept) else []}
                axes.plot(
                    pulls[kept], both[kind][kept], **look.line, **points, label=look.name, zorder=3.0 - 0.01 * rank
                )
        grid[0].set_xlim(0.0, last)
        ticks.linear_counts(grid[0].xaxis, (0.0, last), most=3)
        if highest > WIDE * lowest_end and highest > 0.0:
            # A curve may end at zero: the bottom of the axis is linear.
            linear = 10.0 ** math.floor(math.log10(highest / 10.0))
            grid[0].set_yscale("symlog", linthresh=linear, linscale=0.7, subs=range(2, 10))
            grid[0].set(ylim=(-0.08 * linear, 1.2 * highest), ylabel=f"{REGRET}  (linear below {linear:g})")
            ticks.plain_numbers(grid[0].yaxis)
        else:
            from_zero(grid[0].set_ylim, highest)
            grid[0].set_ylabel(REGRET)
            ticks.few(grid[0].yaxis)
        looks = {each: policy_look(each) for each in curves}
        named = {
            each: replace(look, name=name_outside(each)) if each in outside else look for each, look in looks.items()
        }
        write_legend(figure, [look.handle() for look in named.values()])
    return figure


def final_quality(results: Mapping[str, Mapping[str, Any]], outside: Collection[str] = ()) -> Figure:
    """How good the answers were at the end of the budget, one row per rule.

    Args:
        results: Per rule "mean", "mean_interval", "middle_half_mean" of the simple regret; "wrong_share",
            "wrong_share_interval" of the trials that returned another set than the true one.
        outside: The rules among them that the paper does not have.
    """
    names = [
        f"{display_name(policy)}\n(not in the paper)" if policy in outside else display_name(policy)
        for policy in results
    ]
    hollow = options(marker="D", markersize=9.0, markerfacecolor="none", markeredgecolor=BLACK, markeredgewidth=1.2)
    with drawing(1.6 + 0.36 * len(results) + 0.1 * len(outside)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, key in ((left, "mean"), (right, "wrong_share")):
            name_rows(axes, names)
            for row, (policy, result) in enumerate(results.items()):
                look = options(color=policy_look(policy).colour)
                axes.plot(result[f"{key}_interval"], [row, row], **look, linewidth=2.2, solid_capstyle="butt", zorder=3)
                axes.plot([result[key]], [row], linestyle="none", marker="o", markersize=7.0, **look, zorder=4)
                if axes is left:  # larger than the dot and hollow: both can be seen where they coincide
                    axes.plot([result["middle_half_mean"]], [row], linestyle="none", **hollow, zorder=5)
            columns = (key, f"{key}_interval", "middle_half_mean" if axes is left else key)
            from_zero(
                axes.set_xlim, float(max(np.max(result[name]) for result in results.values() for name in columns))
            )
        left.set_xlabel(REGRET)
        right.set_xlabel("Wrong sets (share of trials)")
        ticks.few(left.xaxis)
        ticks.percents(right.xaxis, right.get_xlim()[1])
        mean = mark_handle("mean of all trials, 95% interval", color=BLACK, marker="o", linestyle="-", linewidth=2.2)
        write_legend(figure, [mean, mark_handle("mean of the middle half", **hollow)])
    return figure


def exploration_sweep(
    values: Sequence[float],
    results: Mapping[str, Mapping[str, Any]],
    marks: Mapping[str, float],
    flat: Mapping[str, Mapping[str, float]],
) -> Figure:
    """What the exploration constant a does to the rules that use it, and where the paper's values of a stand.

    Args:
        results: Per rule "mean", "mean_interval", "wrong_share", "wrong_share_interval", one entry per value.
        marks: A label, such as "ε = 0.1", and the value of a that goes with it.
        flat: Per rule that does not use a: "mean" and "wrong_share", drawn as thin lines.
    """
    with drawing(7.6) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axes, kind in ((upper, "mean"), (lower, "wrong_share")):
            for policy, result in results.items():
                look = policy_look(policy)
                lows, highs = np.array(result[f"{kind}_interval"]).T
                axes.fill_between(values, lows, highs, color=look.colour, alpha=0.15, linewidth=0.5)
                axes.plot(values, result[kind], **look.line, **look.mark(), label=look.name, zorder=4)
            for policy, level in flat.items():
                axes.axhline(level[kind], **{**policy_look(policy).line, "linewidth": 1.2}, zorder=2)
            for value in marks.values():
                axes.axvline(value, color=BLACK, linewidth=1.0, linestyle=(0, (1, 2)), zorder=1.5)
            tops = [np.max(result[f"{kind}_interval"]) for result in results.values()]
            from_zero(axes.set_ylim, float(max([*tops, *(level[kind] for level in flat.values())], default=0.0)))
        for rank, (label, value) in enumerate(sorted(marks.items(), key=lambda mark: mark[1])):
            above = options(xycoords=upper.get_xaxis_transform(), textcoords="offset points")
            above |= options(xytext=(0.0, 3.0 + 14.0 * (rank % 2)), horizontalalignment="center")
            upper.annotate(label, (value, 1.0), **above, annotation_clip=False)
        places = [*values, *marks.values()]
        factor = (max(places) / min(places)) ** 0.04 if max(places) > min(places) else 2.0
        upper.set(xscale="log", xlim=(min(places) / factor, max(places) * factor), ylabel=REGRET)
        lower.set(xlabel="Exploration constant a", ylabel="Wrong sets (share of trials)")
        ticks.few(upper.yaxis)
        ticks.percents(lower.yaxis, lower.get_ylim()[1])
        ticks.log_numbers(lower.xaxis)
        levels = [
            mark_handle(display_name(policy), **{**policy_look(policy).line, "linewidth": 1.2}) for policy in flat
        ]
        write_legend(figure, [*(policy_look(policy).handle() for policy in results), *levels])
    return figure


def pull_shares(shares: Mapping[str, Sequence[float]], uniform: float | None = None) -> Figure:
    """How each rule divided its pulls between Pareto arms and others: a bar per trial, in two colors.

    Args:
        uniform: The share of Pareto arms among all arms, which is what an even split would give them.
    """
    columns = min(4, len(shares))
    split = options(color=BLACK, linewidth=1.4, linestyle=DASHES)
    with drawing(0.9 + 2.1 * math.ceil(len(shares) / columns)) as figure:
        grid = grid_of_axes(figure, len(shares), columns)
        for place, (axes, (policy, group)) in enumerate(zip(grid, shares.items(), strict=True)):
            trials, rest = range(1, len(group) + 1), [1.0 - share for share in group]
            # Bars that touch would show hair lines where they are drawn with soft edges.
            solid = options(height=1.0, linewidth=0.0, antialiased=False)
            axes.barh(trials, group, color=BLUE, **solid)
            axes.barh(trials, rest, left=group, color=ORANGE, **solid)
            if uniform is not None:
                axes.axvline(uniform, color="white", linewidth=2.4)
                axes.axvline(uniform, **split)
            axes.grid(visible=False)
            axes.set(xlim=(0.0, 1.0), ylim=(len(group) + 0.5, 0.5), xticks=[0.0, 0.5, 1.0])  # the first trial on top
            axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
            axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10]))
            axes.set_title(f"{display_name(policy)}\nmean {sum(group) / max(len(group), 1):.1%}")
            axes.tick_params(labelbottom=place + columns >= len(shares), labelleft=place % columns == 0)
        figure.supxlabel("Share of the pulls (%)")
        figure.supylabel("Trial")
        handles: list[Artist] = [Patch(color=BLUE, label="pulls of Pareto arms")]
        handles.append(Patch(color=ORANGE, label="pulls of other arms"))
        if uniform is not None:
            share = f"{uniform:.3g}" if uniform < 0.01 else f"{uniform:.0%}"
            handles.append(mark_handle(f"an even split ({share})", **split))
        write_legend(figure, handles)
    return figure


Quality = tuple[str, Mapping[str, Sequence[Estimate]], Mapping[str, Sequence[Estimate]]]  # title, regrets, wrong sets


def quality_by_budget(budgets: Sequence[int], panels: Sequence[Quality]) -> Figure:
    """How good the answers of each rule are after so many pulls, a column per group of problems.

    Above the mean regret on logarithmic axes, below the share of wrong sets; all columns on the same axes.
    """
    policies = list(dict.fromkeys(policy for _, regrets, _ in panels for policy in regrets))
    regrets = [point for _, regrets, _ in panels for points in regrets.values() for point in points]
    positive = [point for point in regrets if point[0] > 0.0]
    low = min((estimate for estimate, _, _ in positive), default=1e-3) / 2.25
    high = 1.5 * max((end for _, _, end in positive), default=1e-2)
    step = (budgets[-1] / budgets[0]) ** (1.0 / (len(budgets) - 1)) if len(budgets) > 1 else 2.0
    with drawing(6.6) as figure:
        grid = figure.subplots(2, len(panels), sharex=True, sharey="row", squeeze=False)
        for column, (title, *both) in zip(grid.T, panels, strict=True):
            column[0].set_title(style.drawable(title))
            for axes, rules, floor in zip(column, both, (low, -math.inf), strict=True):
                for rank, (policy, points) in enumerate(rules.items()):
                    look, layer = policy_look(policy), 4.0 - 0.1 * rank  # the first is what the figure is about
                    places = np.array(budgets) * step ** (0.3 * (rank / max(len(rules) - 1, 1) - 0.5))
                    heights = np.maximum(np.array(points), floor)
                    axes.plot(places, heights[:, 0], **look.line, label=look.name, zorder=layer)
                    axes.vlines(places, heights[:, 1], heights[:, 2], color=look.colour, linewidth=1.2, zorder=layer)
                    for place, height, point in zip(places, heights[:, 0], points, strict=True):
                        hollow = floor > 0.0 and point[0] <= 0.0  # a logarithmic axis has no zero
                        mark = {**look.mark(hollow), "linestyle": "none", "clip_on": False}
                        axes.plot([place], [height], **mark, zorder=layer + 0.05)
        upper, lower = grid[:, 0]
        upper.set(yscale="log", ylim=(low, high), ylabel="Mean simple regret")
        lower.set(ylim=(-0.03, 1.03), ylabel="Wrong sets (share of runs)")
        lower.set(xscale="log", xlim=(budgets[0] / step**0.35, budgets[-1] * step**0.35))
        ticks.log_numbers(upper.yaxis)
        ticks.percents(lower.yaxis)
        ticks.these_counts(lower.xaxis, budgets)
        figure.supxlabel("Budget n (pulls)")
        zero = [hollow_handle("zero: no wrong set")] if len(positive) < len(regrets) else []
        write_legend(figure, [*(policy_look(policy).handle() for policy in policies), *zero])
    return figure
