"""Pictures of tasks: the line that decides, the answer, and how arms compare with a control."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle

import ramgape
from ramgape import BestMean, BestScore, BetterThan, LeastRisk, Pareto, Question, Result, Top, simulate
from ramgape.errors import InvalidSpec, RamgapeWarning
from ramgape.problems.environments import Arm, Beta, Instance
from ramgape.questions import PlaneLine, Wanted
from ramgape.search.result import ControlDifference
from ramgape.views.plots import style
from ramgape.views.plots.lines import cut_by, reaching
from tests.results import NOT_PULLED, make_arm, make_result

INSTANCE = Instance(
    "four",
    (Arm("a", Beta(30, 70)), Arm("b", Beta(12, 8)), Arm("c", Beta(1.6, 0.4)), Arm("d", Beta(65, 35))),
    (0.0, 1.0),
    "bounded",
    risk="std",
)
LONG = "gradient boosting with a learning rate of 0.{} and all else as it was in the winter before, 日本 $x$"


def wanted(*returned: str, **others: Any) -> Wanted:
    return Wanted(returned, 0.0, None, "standard deviation", **others)


def legend_of(axes: Axes) -> list[str]:
    legends = [axes.get_legend(), *axes.figure.figure.legends]
    return [text.get_text() for legend in legends if legend is not None for text in legend.get_texts()]


def line_named(axes: Axes, words: str) -> Line2D:
    (line,) = [line for line in axes.get_lines() if words in str(line.get_label())]
    return line


def shades(axes: Axes) -> list[Polygon]:
    return [patch for patch in axes.patches if to_hex(patch.get_facecolor()).upper() == style.SHADE]


def compared(
    *values: float, verdicts: str = "", control: str = "now", wide: float = 0.05, margin: float = 0.02, **others: Any
) -> Result:
    """A result with a control of mean 0.5, and arms whose means differ from that by these."""
    words = {"i": "in", "o": "out", "?": "open"}
    arms = [make_arm(control, 0.5, 0.1, "out")]
    arms += [
        make_arm(f"arm {place}", 0.5 + value, 0.1 + value / 2, words[verdict])  # type: ignore[arg-type]
        for place, (value, verdict) in enumerate(zip(values, verdicts or "i" * len(values), strict=True))
    ]
    arms = [make_arm(arm.name, **NOT_PULLED) if math.isnan(arm.mean) else arm for arm in arms]
    both = others.get("about_risk", False)
    task = BetterThan(control, margin=margin, objective="both" if both else "mean")
    costs = others.get("direction") == "minimize"
    differences = tuple(
        ControlDifference(
            arm.name,
            arm.mean - 0.5,
            (arm.mean - 0.5 - wide, arm.mean - 0.5 + wide),
            0.0,
            (-1.0, 1.0),
            arm.risk - 0.1,
            (arm.risk - 0.15, arm.risk - 0.05),
            {"in": "better", "out": "not better", "open": "open"}[arm.verdict],  # type: ignore[arg-type]
        )
        for arm in arms[1:]
    )
    asked: dict[str, Any] = {
        "task": str(task),
        "answer_name": task.called,
        "empty_answer": task.nobody,
        "control": control,
        "differences": differences,
        "about_risk": False,
        "risk": "std",
        "risk_label": "standard deviation",
        "rho": None,
        "alpha": None,
        "lines": task.lines(wanted(costs=costs), {arm.name: (arm.mean, arm.risk) for arm in arms}),
    }
    return make_result(*arms, **{**asked, **others})


# ------------------------------------------------------------------------------------ lines of tasks


@pytest.mark.parametrize(
    ("task", "told", "expected"),
    [
        (Pareto(), wanted("a"), ()),
        (BestMean(), wanted("a"), ()),
        (Top(2), wanted("a"), ()),
        (LeastRisk(), wanted("a"), ()),
        (BestMean(0.02), wanted("a"), ((0.0, -1.0, -0.02, "ceiling: standard deviation at most 0.02"),)),
        (BestMean(-0.3), wanted(turned=True), ((0.0, -1.0, 0.3, "floor: standard deviation at least 0.3"),)),
        (LeastRisk(0.6), wanted("a"), ((1.0, 0.0, 0.6, "floor: mean at least 0.6"),)),
        (LeastRisk(0.6), wanted("a", costs=True), ((-1.0, 0.0, -0.6, "ceiling: mean at most 0.6"),)),
        (BestScore(2.0), wanted("a"), ((1.0, -2.0, 0.3, "as good as a: the same mean - 2 standard deviation"),)),
        (
            BestScore(2.0),
            wanted("a", costs=True),
            ((-1.0, -2.0, -0.7, "as good as a: the same mean + 2 standard deviation"),),
        ),
        (BestScore(2.0), wanted("unseen"), ()),
        (BetterThan("a"), wanted(), ((1.0, 0.0, 0.5, "mean of a"),)),
        (BetterThan("a", margin=0.25), wanted(costs=True), ((-1.0, 0.0, -0.25, "mean of a minus 0.25"),)),
        (
            BetterThan("a", margin=0.25, objective="both"),
            wanted(),
            ((1.0, 0.0, 0.75, "mean of a plus 0.25"), (0.0, -1.0, -0.1, "standard deviation of a")),
        ),
        (BetterThan("unseen"), wanted(), ()),
    ],
    ids=str,
)
def test_what_an_answer_goes_by(task: Question, told: Wanted, expected: tuple[Any, ...]) -> None:
    lines = task.lines(told, {"a": (0.5, 0.1), "unseen": (math.nan, math.nan)})
    found = [(line.mean_weight, line.risk_weight, line.words) for line in lines]
    assert found == [(mean, risk, words) for mean, risk, _, words in expected]
    assert [line.value for line in lines] == pytest.approx([value for *_, value, _ in expected])
    assert [line.limit for line in lines] == [not isinstance(task, BestScore)] * len(lines)


def test_lines_stand_in_results_and_come_back() -> None:
    result = simulate(INSTANCE, task="best:max-risk=0.2", epsilon=0.1, seed=1)
    assert result.lines == (PlaneLine(0.0, -1.0, -0.2, "ceiling: standard deviation at most 0.2"),)
    assert Result.from_dict(result.to_dict()) == result
    assert simulate(INSTANCE, epsilon=0.1, seed=1).lines == ()


@pytest.mark.parametrize("line", [(1.0, 0.0, 0.3), (0.0, -1.0, -1.5), (1.0, -0.4, 0.25), (-1.0, 2.0, 0.5)], ids=str)
def test_what_is_excluded_lies_on_the_wrong_side(line: tuple[float, float, float]) -> None:
    drawn = PlaneLine(*line, "")
    ends, outside = cut_by(drawn, ((0.0, 1.0), (0.0, 2.0)))
    sides = [line[0] * x + line[1] * y - line[2] for x, y in outside]
    assert max(sides) <= 1e-12
    assert sum(abs(side) < 1e-12 for side in sides) == len(ends) == 2
    area = 0.5 * sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(outside, outside[1:] + outside[:1], strict=True))
    grid = np.stack(np.meshgrid(np.linspace(0.0, 1.0, 401), np.linspace(0.0, 2.0, 401)))
    share = float((line[0] * grid[0] + line[1] * grid[1] < line[2]).mean())
    assert area == pytest.approx(2.0 * share, abs=0.02)


def test_a_line_far_away_does_not_squeeze_the_arms() -> None:
    limits = (0.0, 1.0), (0.0, 1.0)
    near = reaching(limits, [PlaneLine(0.0, -1.0, -2.0, "")])
    assert near[0] == limits[0]
    assert near[1] == (0.0, pytest.approx(2.12))
    assert reaching(limits, [PlaneLine(1.0, 0.0, 50.0, ""), PlaneLine(1.0, -1.0, 50.0, "")]) == limits
    assert cut_by(PlaneLine(1.0, 0.0, 50.0, ""), limits) == ([], [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])


# ------------------------------------------------------------------------------------------ the plane


def ceiling(*arms: Any, limit: float = 0.12, **others: Any) -> Result:
    lines = BestMean(limit).lines(wanted(), {})
    asked: dict[str, Any] = {
        "task": f"best:max-risk={limit}",
        "answer_name": "best arm",
        "empty_answer": "no arm is feasible",
        "lines": lines,
        "risk": "std",
        "risk_label": "standard deviation",
    }
    return make_result(*arms, **{**asked, **others})


def test_the_ceiling_and_the_answer() -> None:
    result = ceiling(make_arm("A", 0.4, 0.05), make_arm("B", 0.7, 0.2, "out"), make_arm("C", 0.3, 0.04, "out"))
    axes = result.plot().axes
    assert legend_of(axes) == ["best arm (1)", "out (2)", "ceiling: standard deviation at most 0.12"]
    assert np.asarray(line_named(axes, "ceiling").get_ydata()) == pytest.approx(0.12)
    (shade,) = shades(axes)
    assert shade.get_xy()[:, 1].min() == pytest.approx(0.12)
    assert "estimated front" not in legend_of(axes)


def test_nobody_is_feasible() -> None:
    arms = [make_arm(name, 0.4 + place / 10, 0.2 + place / 50, "out") for place, name in enumerate("ABC")]
    axes = ceiling(*arms, limit=0.1).plot().axes
    assert legend_of(axes) == ["out (3)", "ceiling: standard deviation at most 0.1"]
    assert axes.figure.figure.get_suptitle().startswith("No arm is feasible")
    low, high = axes.get_ylim()
    assert low < 0.1 < high


def test_a_ceiling_out_of_sight_is_told() -> None:
    axes = ceiling(make_arm("A", 0.4, 0.05), make_arm("B", 0.7, 0.07, "out"), limit=9.0).plot().axes
    assert "ceiling: standard deviation at most 9 (outside the picture)" in legend_of(axes)
    assert axes.get_ylim()[1] < 1.0
    assert shades(axes) == []


def test_the_answer_so_far_has_a_ring() -> None:
    arms = make_arm("A", 0.4, 0.05, "open"), make_arm("B", 0.7, 0.2, "open")
    axes = ceiling(*arms, front=("A",)).plot().axes
    assert "best arm so far (1)" in legend_of(axes)
    assert np.asarray(line_named(axes, "so far").get_xydata()).tolist() == [[0.4, 0.05]]
    assert "so far" not in " ".join(legend_of(make_result(*arms, front=("A",)).plot().axes))  # the front has its stairs


def test_equal_scores_are_a_line_through_the_best() -> None:
    arms = make_arm("A", 0.5, 0.1), make_arm("B", 0.4, 0.2, "out")
    lines = BestScore(2.0).lines(wanted("A"), {arm.name: (arm.mean, arm.risk) for arm in arms})
    axes = make_result(*arms, task="best-score:weight=2.0", answer_name="best arm", lines=lines).plot().axes
    points = np.asarray(line_named(axes, "as good as A").get_xydata())
    assert points[:, 0] - 2.0 * points[:, 1] == pytest.approx(0.3)
    assert shades(axes) == []


def test_a_risk_that_nobody_asked_for_and_nothing_is_known_of() -> None:
    arms = [make_arm("A", 0.4, 0.05), make_arm("B", 0.3, 0.06, "out", risk_interval=(-math.inf, math.inf))]
    for about_risk in (True, False):
        axes = make_result(*arms, task="best", about_risk=about_risk).plot(regions=True).axes
        bars = [bar for group in axes.collections if isinstance(group, LineCollection) for bar in group.get_segments()]
        (height,) = [np.ptp(bar[:, 1]) for bar in bars if (bar[:, 0] == 0.3).all()]
        assert (height > 0.0) == about_risk


# --------------------------------------------------------------------------- arms against the control


def test_a_row_for_each_arm_the_best_on_top() -> None:
    axes = compared(0.1, -0.1, 0.2, 0.03, verdicts="ioi?").plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["arm 2", "arm 0", "arm 3", "arm 1"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert legend_of(axes) == [
        "better (2)",
        "open (1)",
        "not better (1)",
        "control: now",
        "mean of now plus 0.02",
        "tolerance 0.05",
        "equal shares of the trials",
    ]
    (band,) = (shade for shade in shades(axes) if isinstance(shade, Rectangle))
    assert (band.get_x(), band.get_width()) == pytest.approx((0.02, 0.05))
    told = "lines: 95% intervals, each by itself"
    assert axes.get_xlabel() == f"Difference in mean reward to now  (higher is better →)\n{told}"
    assert np.asarray(line_named(axes, "mean of now").get_xdata()) == pytest.approx(0.02)
    assert set(np.asarray(line_named(axes, "control").get_xdata())) == {0.0}


def test_verdicts_differ_in_colour_shape_and_filling() -> None:
    axes = compared(0.1, -0.1, 0.03, verdicts="io?").plot().axes
    marks = [line for line in axes.get_lines() if line.get_marker() not in ("None", None)]
    looks = {(to_hex(line.get_color()), line.get_marker()) for line in marks}
    assert looks == {(to_hex(mark.colour), mark.marker) for mark in style.MARKS.values()}


def test_costs_are_better_to_the_left() -> None:
    axes = compared(0.1, -0.1, verdicts="oi", direction="minimize").plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["arm 1", "arm 0"]
    assert axes.get_xlabel().startswith("Difference in mean cost to now  (← lower is better)\n")
    assert np.asarray(line_named(axes, "mean of now minus").get_xdata()) == pytest.approx(-0.02)
    (band,) = (shade for shade in shades(axes) if isinstance(shade, Rectangle))
    assert (band.get_x(), band.get_width()) == pytest.approx((-0.07, 0.05))


def test_without_a_margin_one_line_and_without_a_tolerance_no_band() -> None:
    goal = replace(compared(0.1).goal, epsilon=None, kind="budget", budget=100)
    axes = compared(0.1, margin=0.0, goal=goal).plot().axes
    assert legend_of(axes) == ["better (1)", "control: now", "equal shares of the trials"]


def test_both_objectives_stand_side_by_side() -> None:
    axes = compared(0.1, -0.1, verdicts="io", about_risk=True).plot().axes
    means, risks, trials = axes.figure.figure.axes
    assert axes is means
    assert risks.get_xlabel().startswith("Difference in standard deviation\n(← lower is better)")
    assert risks.get_ylim() == means.get_ylim() == trials.get_ylim()
    assert legend_of(axes).count("control: now") == 1
    own = Figure().add_subplot()
    assert compared(0.1, about_risk=True).plot(own).axes is own
    assert own.figure.figure.axes == [own]


def test_a_tolerance_in_risk_of_its_own() -> None:
    asked = replace(compared(0.1).goal, risk_epsilon=0.01)
    axes = compared(0.1, about_risk=True, goal=asked).plot().axes
    assert [text for text in legend_of(axes) if "tolerance" in text] == ["tolerance 0.05", "tolerance 0.01"]


def test_the_plane_is_there_as_well() -> None:
    axes = compared(0.1, -0.1, verdicts="io").plot(plane=True).axes
    assert axes.get_xlabel().startswith("Mean reward")
    assert legend_of(axes) == ["better (1)", "out (1)", "control", "mean of now plus 0.02"]
    assert line_named(axes, "control").get_marker() == style.CONTROL.marker
    with pytest.raises(InvalidSpec, match="plane must be True or False, got 1"):
        compared(0.1).plot(plane=1)  # type: ignore[arg-type]


def test_long_names_many_arms_and_arms_without_pulls(tmp_path: Path) -> None:
    values = [math.nan if place == 7 else 0.3 * math.sin(place) for place in range(70)]
    result = compared(*values, control=LONG.format(9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = result.plot().axes
        result.save_plot(tmp_path / "control.png")
    figure = axes.figure.figure
    figure.draw_without_rendering()
    assert axes.get_xlabel().endswith("\n... and 31 more (30 in, 1 open)")
    assert r"\$x\$" in " ".join(legend_of(axes))
    assert sum("no trials yet" in text.get_text() for text in axes.texts) <= 1
    rows = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert all(one.y0 > other.y1 - 1.0 for one, other in itertools.pairwise(rows))
    assert all(box.x0 >= 0.0 for box in rows)
    assert axes.xaxis.label.get_window_extent().x1 <= figure.bbox.x1
    title = figure._suptitle  # type: ignore[attr-defined]
    assert title.get_window_extent().x1 <= figure.bbox.x1
    assert compared(math.nan).plot().axes.texts[0].get_text() == "no trials yet"


# --------------------------------------------------------------------------- intervals of differences


@pytest.mark.few(2)
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("objective", ["mean", "both"])
def test_intervals_tell_what_is_proved_of_an_arm(objective: str, direction: Any) -> None:
    """And hold, in a run with probability 0.95; in fact far more often, and in these seeded ones always."""
    task, sign = BetterThan("b", margin=0.05, objective=objective), 1.0 if direction == "maximize" else -1.0
    means = dict(zip(INSTANCE.names, sign * INSTANCE.means, strict=True))
    for seed in range(8):
        result = simulate(INSTANCE, task=task, epsilon=0.04, seed=seed, direction=direction)
        for row in result.differences:
            low, high = sorted(sign * end for end in row.mean_interval)
            assert low <= means[row.name] - means["b"] <= high
            arm = result.arm(row.name)
            tolerance = 0.0 if arm.certificate in ("in", "out") else 0.04
            if arm.verdict == "in":
                assert low >= 0.05 - tolerance
                assert objective == "mean" or row.risk_interval[1] <= tolerance
            elif objective == "mean":
                assert high <= 0.05 + tolerance
            assert row.percent_interval[0] <= row.percent <= row.percent_interval[1]


# ---------------------------------------------------------------------------------------------- plans


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("best", ("c",)),
        ("best:max-risk=0.2", ("d",)),
        ("best:max-risk=0.01", ()),
        ("least-risk:min-mean=0.5", ("d",)),
        ("best-score:weight=1.5", ("d",)),
        ("top:2", ("c", "d")),
        ("better-than:control=b,margin=0.01,objective=both", ("d",)),
    ],
)
def test_a_plan_for_every_task(task: str, answer: tuple[str, ...]) -> None:
    """Its numbers are those of `replicate`; a wrong answer has a chance of less than 0.05 and did not occur."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RamgapeWarning)
        planned = ramgape.plan(INSTANCE, task=task, epsilon=0.1, epsilons=[], deltas=[], runs=4)
        repeated = ramgape.replicate(INSTANCE, task=task, epsilon=0.1, runs=4)
    (row,) = planned.trials
    assert (row.mean, row.errors) == (repeated.mean_samples, 0)
    assert planned.guessed_front == answer
    assert {arm.name for arm in planned.arms if arm.in_front} == set(answer)
    words = " ".join(str(planned).split())
    assert f"for an answer to {planned.task} within 0.1 with probability 0.95" in words
    assert f"the answer to {planned.task} is {', '.join(answer) or 'that no arm is one'}" in words
    if task.startswith(("best:", "least-risk")) or task == "best":
        bound = ramgape.lower_bound(INSTANCE, task=task, epsilon=0.1)
        assert row.lower_bound == pytest.approx(bound.samples)
        assert row.mean > row.lower_bound
        assert ("whatever the method" if bound.exact else "an ideal method would take about") in words
    else:
        assert row.lower_bound is None
        assert planned.bound_note.startswith(
            f"nothing of the kind is known for question {planned.task}, only for pareto"
        )
