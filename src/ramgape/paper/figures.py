"""The figures of the reproduction and of the benchmark, put together from the panels in `plots`.

Every function takes plain data, as the tables of the experiments have it, and returns a finished figure: nothing in it
moves any more, so that it gives the same files whenever it is written.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from numpy.typing import NDArray

from ramgape.paper.paper import OWN
from ramgape.views.plots import style, ticks
from ramgape.views.plots.budgets import (
    Point as Estimate,
)
from ramgape.views.plots.budgets import (
    any_zero,
    draw_over_budgets,
    logarithmic_limits,
    policy_handle,
)
from ramgape.views.plots.caps import cap_handles, draw_caps
from ramgape.views.plots.crosses import draw_crosses, front_handle, windows
from ramgape.views.plots.curves import draw_curves, regret_axis
from ramgape.views.plots.failures import draw_failures, failure_handles
from ramgape.views.plots.geometry import GapCase, draw_gaps, extent, gap_handles, union
from ramgape.views.plots.intervals import IntervalRow, draw_rows, row_handles
from ramgape.views.plots.methods import method_handle
from ramgape.views.plots.policies import hollow_handle, policy_look
from ramgape.views.plots.ratios import Ratio, clipped, draw_ratios, ratio_handles, ratio_limits
from ramgape.views.plots.samples import (
    Least,
    Samples,
    any_undecided,
    draw_rows_of_samples,
    draw_samples_over,
    least_handles,
    limits,
)
from ramgape.views.plots.scatter import Point, common_range, draw_scatter, where_they_lie
from ramgape.views.plots.shares import draw_shares, share_handles
from ramgape.views.plots.sweep import draw_levels, draw_marks, draw_sweep, name_levels, name_marks

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport

Curve = NDArray[np.floating[Any]]

WIDTH = 7.0  # inches, of every figure
MEAN = "Mean reward μ"
RISK = "Scaled risk ξ = α(σ² − ρμ)"
REGRET = "Simple regret"
WRONG = "Wrong sets (share of trials)"
BEYOND = 8.0  # ratios that are larger, or smaller than one part in so many, are drawn at the edge


def write(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure as name.png and name.svg; the folder is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        with style.applied(printed=True):
            style.save(figure, path)
    return paths


def stopping_times(panels: Sequence[tuple[str, Mapping[str, Sequence[Point]]]], own: str = OWN) -> Figure:
    """One rule against one rival per panel: a point per instance, below the line where that rule stopped earlier.

    Args:
        panels: The rival's name, and per series the stopping times, the rival's first.
        own: The rule.
    """
    everything = [point for _, series in panels for points in series.values() for point in points]
    limits, logarithmic = common_range(everything)
    several = any(len(series) > 1 for _, series in panels)
    with _drawing({1: 6.6, 2: 4.3}.get(len(panels), 3.3) + (0.25 if several else 0.0)) as figure:
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        handles: dict[str, Line2D] = {}
        for axes, (rival, series) in zip(grid, panels, strict=True):
            drawn = draw_scatter(axes, series, limits, logarithmic)
            handles.update(zip(series, drawn, strict=True))
            count = where_they_lie([point for points in series.values() for point in points])
            _head(axes, f"vs {policy_look(rival).name}", count)
            axes.set_xlabel(f"Stopping time of\n{policy_look(rival).name} (pulls)")
        grid[0].set_ylabel(f"Stopping time of\n{policy_look(own).name} (pulls)")
        if several:
            _legend(figure, list(handles.values()))
    return figure


def stopping_times_apart(rival: str, series: Mapping[str, Sequence[Point]]) -> Figure:
    """RAMGapE against one rival, a panel per series, each on its own scale."""
    with _drawing(4.0) as figure:
        grid = figure.subplots(1, len(series), squeeze=False)[0]
        for axes, (label, points) in zip(grid, series.items(), strict=True):
            draw_scatter(axes, {label: points}, *common_range(points))
            _head(axes, label, where_they_lie(points))
            axes.set_xlabel(f"Stopping time of\n{policy_look(rival).name} (pulls)")
        grid[0].set_ylabel("Stopping time of\nRAMGapE (pulls)")
    return figure


def confidence_crosses(panels: Sequence[tuple[str, int, Sequence[ArmReport], Collection[str]]]) -> Figure:
    """What each rule knew of every arm when it stopped: the same window in all panels.

    Args:
        panels: The rule's name, its total number of pulls, the arms, and the names of those it returned.
    """
    limits = windows([arm for _, _, arms, _ in panels for arm in arms])
    rows = math.ceil(len(panels) / 2)
    with _drawing(0.8 + 3.0 * rows) as figure:
        grid = figure.subplots(rows, min(2, len(panels)), sharex=True, sharey=True, squeeze=False).ravel()
        for axes in grid[len(panels) :]:
            axes.remove()
        for axes, (policy, samples, _, _) in zip(grid, panels, strict=False):
            axes.set_title(f"{policy_look(policy).name}: {samples:,} pulls")
            axes.set(xlim=limits[0], ylim=limits[1])
        figure.supxlabel(f"{MEAN}  (higher is better →)")
        figure.supylabel(f"{RISK}  (← lower is better)")
        _legend(figure, [*map(_verdict_handle, ("in", "out")), front_handle()])
        for axes, (_, _, arms, returned) in zip(grid, panels, strict=False):
            # The answer is what was returned, also where the proof is missing.
            shown = [replace(arm, verdict="in" if arm.name in returned else "out") for arm in arms]
            draw_crosses(
                axes,
                shown,
                front=returned,
                limits=limits,
                panel=True,
                marker_size=3.4,
                label_size=style.PRINTED_TEXT,
            )
    return figure


def regret_curves(pulls: Curve, curves: Mapping[str, Mapping[str, Curve]], outside: Collection[str] = ()) -> Figure:
    """How the simple regret falls: to the left as the paper averages it, to the right over all trials.

    Args:
        curves: Per rule "middle_half" and "mean", both over `pulls`.
        outside: The rules among them that the paper does not have.
    """
    kinds = {
        "middle_half": "mean of the middle half of the\ntrials (as in the paper)",
        "mean": "\nmean of all trials",
    }
    with _drawing(5.4 if outside else 5.0) as figure:
        grid = figure.subplots(1, 2, sharex=True, sharey=True)
        handles: list[Line2D] = []
        for axes, (kind, title) in zip(grid, kinds.items(), strict=True):
            handles = draw_curves(axes, pulls, {policy: curve[kind] for policy, curve in curves.items()}, outside)
            axes.set_title(title)
            axes.set_xlabel("Pulls")
        last = float(pulls[-1]) if len(pulls) else 1.0
        grid[0].set_xlim(0.0, last)
        ticks.linear_counts(grid[0].xaxis, (0.0, last), most=3)
        linear = regret_axis(grid[0], [curve[kind] for curve in curves.values() for kind in kinds])
        grid[0].set_ylabel(REGRET if linear is None else f"{REGRET}  (linear below {linear:g})")
        _legend(figure, handles)
    return figure


def final_quality(results: Mapping[str, Mapping[str, Any]], outside: Collection[str] = ()) -> Figure:
    """How good the answers were at the end of the budget, one row per rule.

    Args:
        results: Per rule "mean", "mean_interval", "middle_half_mean" of the simple regret; "wrong_share",
            "wrong_share_interval" of the trials that returned another set than the true one.
        outside: The rules among them that the paper does not have.
    """
    remarks = dict.fromkeys(outside, "not in the paper")
    with _drawing(1.6 + 0.36 * len(results) + 0.1 * len(outside)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        draw_rows(
            left,
            [
                IntervalRow(
                    policy,
                    result["mean"],
                    result["mean_interval"],
                    result["middle_half_mean"],
                    remarks.get(policy, ""),
                )
                for policy, result in results.items()
            ],
        )
        draw_rows(
            right,
            [
                IntervalRow(
                    policy, result["wrong_share"], result["wrong_share_interval"], remark=remarks.get(policy, "")
                )
                for policy, result in results.items()
            ],
        )
        left.set_xlabel(REGRET)
        right.set_xlabel(WRONG)
        ticks.few(left.xaxis)
        ticks.percents(right.xaxis, right.get_xlim()[1])
        _legend(figure, row_handles())
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
        flat: Per rule that does not use a: "mean" and "wrong_share".
    """
    with _drawing(7.6) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        panels = ((upper, "mean", REGRET), (lower, "wrong_share", WRONG))
        for axes, kind, label in panels:
            for policy, result in results.items():
                draw_sweep(axes, values, policy, result[kind], result[f"{kind}_interval"])
            levels = {policy: level[kind] for policy, level in flat.items()}
            draw_levels(axes, levels)
            draw_marks(axes, marks)
            highs = [high for result in results.values() for _, high in result[f"{kind}_interval"]]
            highest = max([*highs, *levels.values()], default=0.0) or 1.0
            axes.set_ylim(-0.04 * highest, 1.05 * highest)
            axes.set_ylabel(label)
        places = [*values, *marks.values()]
        factor = (max(places) / min(places)) ** 0.04 if max(places) > min(places) else 2.0
        upper.set_xscale("log")
        upper.set_xlim(min(places) / factor, max(places) * factor)
        ticks.few(upper.yaxis)
        ticks.percents(lower.yaxis, lower.get_ylim()[1])
        ticks.log_numbers(lower.xaxis)
        lower.set_xlabel("Exploration constant a")
        _legend(figure, upper.get_legend_handles_labels()[0])
        # Where names stand depends on how large the panels are, and that on the room which the names need.
        names: list[Annotation] = []
        for _ in range(2):
            for name in names:
                name.remove()
            names = name_marks(upper, marks)
            for axes, kind, _label in panels:
                names += name_levels(axes, {policy: level[kind] for policy, level in flat.items()})
            figure.draw_without_rendering()
    return figure


def pull_shares(shares: Mapping[str, Sequence[float]], uniform: float | None = None) -> Figure:
    """How each rule divided its pulls between Pareto arms and others, trial by trial.

    Args:
        uniform: The share of Pareto arms among all arms, which is what an even split would give them.
    """
    columns = min(4, len(shares))
    rows = math.ceil(len(shares) / columns)
    with _drawing(0.9 + 2.1 * rows) as figure:
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.ravel()[len(shares) :]:
            axes.remove()
        for index, (axes, (policy, group)) in enumerate(zip(grid.ravel(), shares.items(), strict=False)):
            draw_shares(axes, group, uniform)
            mean = sum(group) / len(group) if len(group) else math.nan
            axes.set_title(f"{policy_look(policy).name}\nmean {mean:.1%}")
            lowest = index + columns >= len(shares)
            axes.tick_params(labelbottom=lowest, labelleft=index % columns == 0)
        figure.supxlabel("Share of the pulls (%)")
        figure.supylabel("Trial")
        _legend(figure, share_handles(uniform))
    return figure


def gap_geometry(cases: Sequence[GapCase]) -> Figure:
    """The gaps of three arms as lengths, all on one scale, one panel per case."""
    limits = union([extent(case) for case in cases])
    (left, right), (bottom, top) = limits
    panel = (WIDTH - 0.8) / len(cases) - 0.15  # the width of one, in inches
    with _drawing(1.2 + panel * (top - bottom) / (right - left)) as figure:
        grid = figure.subplots(1, len(cases), sharex=True, sharey=True, squeeze=False)[0]
        for letter, axes, case in zip("abcdefgh", grid, cases, strict=False):
            draw_gaps(axes, case, limits)
            relation = "<" if case.distances["M(k,i)"] < case.distances["M(i,j)"] else "≥"
            axes.set_title(f"({letter})  $M(k,i)$ {relation} $M(i,j)$")
            axes.set_xlabel(f"{MEAN}  (higher is better →)")
        grid[0].set_ylabel("Scaled risk ξ  (← lower is better)")
        _legend(figure, gap_handles())
    return figure


def pulls_against_cap(rows: Sequence[tuple[float, Sequence[int], int, int]]) -> Figure:
    """The most pulled arm of every run, as a part of the correct cap on its pulls.

    Args:
        rows: Epsilon, the largest number of pulls of one arm in each run, the paper's cap, the correct cap.
    """
    with _drawing(1.6 + 1.0 * len(rows)) as figure:
        axes = figure.subplots()
        draw_caps(axes, rows)
        axes.set_xlabel("Pulls of the most pulled arm, as a part of the correct cap")
        _legend(figure, cap_handles())
    return figure


def theorem_one(
    budgets: Sequence[float],
    frequencies: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    bounds: Sequence[float],
) -> Figure:
    """How often the simple regret reached epsilon, against the chance of that which Theorem 1 allows."""
    with _drawing(4.6) as figure:
        axes = figure.subplots()
        draw_failures(axes, budgets, frequencies, intervals, bounds)
        axes.set_xlabel("Budget n (pulls)")
        axes.set_ylabel("Runs with simple regret ≥ ε")
        _legend(figure, failure_handles())
    return figure


Panel = tuple[str, Mapping[str, Sequence[Samples]], Sequence[Least]]  # title, methods, bounds or references


def samples_by_instance(instances: Sequence[str], panels: Sequence[Panel]) -> Figure:
    """What each method needs on each instance, a row each; a panel per tolerance, all on one logarithmic axis."""
    with _drawing(2.0 + 0.29 * len(instances)) as figure:
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (_, curves, least) in zip(grid, panels, strict=True):
            draw_rows_of_samples(axes, curves, least)
        _name_rows(grid, instances, [title for title, _, _ in panels], _sample_limits(panels))
        ticks.log_thousands(grid[0].xaxis)
        figure.supxlabel("Samples to stop")
        _legend(figure, _sample_handles(panels, line=False))
    return figure


def samples_against(
    own: str, base: str, instances: Sequence[str], panels: Sequence[tuple[str, Sequence[Ratio]]]
) -> Figure:
    """How many samples one method needs beside another, a row per instance and a panel per tolerance."""
    shown = ratio_limits([ratio for _, ratios in panels for ratio in ratios])
    with _drawing(2.0 + 0.24 * len(instances)) as figure:
        _ratio_panels(figure, instances, panels, shown)
        figure.supxlabel(f"Samples of {own},\ndivided by those of {base}")
        _legend(figure, ratio_handles())
    return figure


def samples_by_tolerance(epsilons: Sequence[str], panels: Sequence[Panel]) -> Figure:
    """What each method needs as the tolerance gets smaller, a panel per instance, all on one logarithmic axis."""
    shown = _sample_limits(panels)
    with _drawing(4.2) as figure:
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (title, curves, least) in zip(grid, panels, strict=True):
            draw_samples_over(axes, curves, least)
            axes.set_title(style.drawable(title))
            axes.set_xlabel("Tolerance ε")
        grid[0].set_xticks(range(len(epsilons)), list(epsilons))
        grid[0].set_yscale("log")
        grid[0].set_ylim(*shown)
        ticks.log_counts(grid[0].yaxis, shown)
        grid[0].set_ylabel("Samples to stop")
        _legend(figure, _sample_handles(panels, line=True))
    return figure


def _sample_limits(panels: Sequence[Panel]) -> tuple[float, float]:
    """One axis for all panels."""
    curves = [points for _, curves, _ in panels for points in curves.values()]
    return limits(curves, [value for _, _, least in panels for value, _ in least])


def _sample_handles(panels: Sequence[Panel], line: bool) -> list[Line2D]:
    """The legend of all panels: methods, what they are compared with, and hollow marks where there are any."""
    methods = [
        method_handle(method, line) for method in dict.fromkeys(name for _, curves, _ in panels for name in curves)
    ]
    least = least_handles((least for _, _, least in panels), line=line)
    undecided = any_undecided(curves for _, curves, _ in panels)
    handles = [*methods, *least] if line else [*least, *methods]
    return [*handles, hollow_handle("undecided: needs more")] if undecided else handles


Quality = tuple[str, Mapping[str, Sequence[Estimate]], Mapping[str, Sequence[Estimate]]]  # title, regrets, wrong sets


def quality_by_budget(budgets: Sequence[int], panels: Sequence[Quality]) -> Figure:
    """How good the answers of each rule are after so many pulls, a column per field of instances.

    Above the mean regret on logarithmic axes, below the share of wrong sets; all fields on the same axes.
    """
    policies = list(dict.fromkeys(policy for _, regrets, _ in panels for policy in regrets))
    limits = logarithmic_limits(point for _, regrets, _ in panels for points in regrets.values() for point in points)
    with _drawing(6.6) as figure:
        grid = figure.subplots(2, len(panels), sharex=True, sharey="row", squeeze=False)
        for (upper, lower), (title, regrets, wrong) in zip(grid.T, panels, strict=True):
            draw_over_budgets(upper, budgets, regrets, limits[0])
            draw_over_budgets(lower, budgets, wrong)
            upper.set_title(style.drawable(title))
        upper, lower = grid[:, 0]
        upper.set_yscale("log")
        upper.set_ylim(*limits)
        ticks.log_numbers(upper.yaxis)
        lower.set_ylim(-0.03, 1.03)
        ticks.percents(lower.yaxis)
        ticks.these_counts(lower.xaxis, budgets)
        upper.set_ylabel("Mean simple regret")
        lower.set_ylabel("Wrong sets (share of runs)")
        figure.supxlabel("Budget n (pulls)")
        handles = [policy_handle(policy) for policy in policies]
        if any_zero(regrets for _, regrets, _ in panels):
            handles.append(hollow_handle("zero: no wrong set"))
        _legend(figure, handles)
    return figure


def regret_against(
    own: str, groups: Sequence[str], panels: Sequence[tuple[str, Sequence[Ratio]]], aims: Sequence[float]
) -> Figure:
    """The mean regret of one rule beside the best of the others, a row per group of instances, a panel per budget.

    Args:
        aims: Ratios at which there is a line, beside the one at which both are equal.
    """
    shown = ratio_limits([ratio for _, ratios in panels for ratio in ratios], BEYOND)
    inside = [(title, [ratio and clipped(ratio, shown) for ratio in ratios]) for title, ratios in panels]
    with _drawing(1.8 + 0.3 * len(groups)) as figure:
        _ratio_panels(figure, groups, inside, shown, aims)
        figure.supxlabel(f"Mean regret of {policy_look(own).name}, divided by that of its best rival")
        _legend(figure, ratio_handles("smaller regret", "larger regret"))
    return figure


def pulls_against(
    label: str, rows: Sequence[str], panels: Sequence[tuple[str, Sequence[Ratio]]], aims: Sequence[float]
) -> Figure:
    """The pulls of one search beside those of another, a row per instance, a panel per tolerance.

    Args:
        label: What is divided by what.
        aims: Ratios at which there is a line, beside the one at which both are equal.
    """
    shown = ratio_limits([ratio for _, ratios in panels for ratio in ratios], BEYOND)
    inside = [(title, [ratio and clipped(ratio, shown) for ratio in ratios]) for title, ratios in panels]
    with _drawing(1.8 + 0.3 * len(rows)) as figure:
        _ratio_panels(figure, rows, inside, shown, aims)
        figure.supxlabel(label)
        _legend(figure, ratio_handles("fewer pulls", "more pulls"))
    return figure


def _ratio_panels(
    figure: Figure,
    rows: Sequence[str],
    panels: Sequence[tuple[str, Sequence[Ratio]]],
    shown: tuple[float, float],
    aims: Sequence[float] = (),
) -> None:
    """Ratios, panels side by side."""
    grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (_, ratios) in zip(grid, panels, strict=True):
        draw_ratios(axes, ratios, aims)
    _name_rows(grid, rows, [title for title, _ in panels], shown)
    ticks.log_ratios(grid[0].xaxis, shown)


def _name_rows(grid: Sequence[Axes], rows: Sequence[str], titles: Sequence[str], shown: tuple[float, float]) -> None:
    """The names of rows to the left of all panels, whose logarithmic axis is the same."""
    for axes, title in zip(grid, titles, strict=True):
        axes.set_title(title)
        axes.tick_params(axis="y", length=0.0)
    grid[0].set_yticks(range(len(rows)), [style.drawable(name) for name in rows])
    grid[0].set_xscale("log")
    grid[0].set_xlim(*shown)


@contextmanager
def _drawing(height: float) -> Iterator[Figure]:
    """A figure to draw on inside the block; after it everything stays where it is."""
    with style.applied(printed=True):
        figure = style.new_figure(WIDTH, height)
        engine = figure.get_layout_engine()
        assert isinstance(engine, ConstrainedLayoutEngine)
        engine.set(wspace=0.05)  # the last number of one panel may not touch the first of the next
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def _head(axes: Axes, title: str, remark: str) -> None:
    """A title with a remark in plain grey below it."""
    lines = remark.count("\n") + 1
    axes.set_title(title, pad=6.0 + 1.3 * lines * style.PRINTED_TEXT)
    axes.annotate(
        remark,
        (0.5, 1.0),
        xycoords="axes fraction",
        xytext=(0.0, 4.0),
        textcoords="offset points",
        horizontalalignment="center",
        verticalalignment="bottom",
        color=style.GREY,
    )


def _legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """One legend for all panels, above them, in as few rows as the width allows."""
    for rows in range(1, len(handles) + 1):
        legend = figure.legend(
            handles=list(handles),
            loc="outside upper center",
            ncols=math.ceil(len(handles) / rows),
            handlelength=2.6,
            columnspacing=1.4,
            handletextpad=0.5,
        )
        if rows == len(handles) or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()


def _verdict_handle(verdict: str) -> Line2D:
    mark = style.MARKS[verdict]
    return Line2D(
        [],
        [],
        color=mark.colour,
        marker=mark.marker,
        markersize=5.0,
        markerfacecolor=mark.colour if mark.filled else "white",
        markeredgecolor=mark.colour,
        label={"in": "returned", "out": "not returned"}[verdict],
    )
