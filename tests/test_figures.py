"""The figures of the reproduction: what is drawn is the data, nothing overlaps, and files are always the same."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.text import Annotation

from ramgape.core.pareto import advantage, gaps
from ramgape.paper import figures
from ramgape.paper.drawing import write
from ramgape.paper.figures import MOST_POINTS
from ramgape.paper.looks import LOOKS, policy_look
from ramgape.paper.theory_figures import GapCase, dimensions, informative_from
from ramgape.views.plots import ticks
from tests.figures import assert_readable
from tests.results import make_arm

SEVEN = ("ramgape", "ra-lucb", "lie-round-robin", "round-robin", "egp", "xi-lcb", "hvi-pareto")
TEN = (*SEVEN, "evidence", "ege-sr", "ege-sh")


def points_of(axes: Axes, label: str) -> list[tuple[float, float]]:
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def legend_texts(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


# --------------------------------------------------------------------------------------- the data of the figures


def stopping_panels(rivals: Sequence[str] = ("ra-lucb", "de-round-robin", "round-robin")) -> list[Any]:
    rng = np.random.default_rng(0)
    own = rng.uniform(95e3, 150e3, 50)
    return [
        (rival, {"ε = 0.1": list(zip((own * (1.0 + 0.1 * k)).tolist(), own.tolist(), strict=True))})
        for k, rival in enumerate(rivals, 1)
    ]


def cross_panels() -> list[Any]:
    arms = [make_arm(str(i), 0.4 + 0.02 * i, 0.06 - 0.005 * (i % 4), "out") for i in range(8)]
    return [(policy, 9_615_859, arms, ("1", "3")) for policy in ("ramgape", "ra-lucb", "de-round-robin", "round-robin")]


def curve_data(policies: Sequence[str] = SEVEN, ends_at: float = 0.0) -> tuple[Any, Any]:
    pulls = np.arange(1, 10_001)
    curves = {}
    for rank, policy in enumerate(policies):
        curve = np.maximum(0.03 * np.exp(-pulls / (500.0 + 300.0 * rank)), ends_at)
        curve[curve < 1e-5] = 0.0
        curve[:20] = np.nan
        curves[policy] = {"middle_half": 0.5 * curve, "mean": curve}
    return pulls, curves


def quality_data(policies: Sequence[str] = SEVEN) -> dict[str, dict[str, Any]]:
    return {
        policy: {
            "mean": 0.004 * rank,
            "mean_interval": (0.003 * rank, 0.005 * rank),
            "middle_half_mean": 0.002 * rank,
            "wrong_share": 0.1 * rank,
            "wrong_share_interval": (0.08 * rank, 0.12 * rank),
        }
        for rank, policy in enumerate(policies)
    }


def sweep_data() -> tuple[Any, ...]:
    values = [0.01, 0.1, 1.0, 10.0]
    results = {
        policy: {
            "mean": [0.02, 0.01, 0.0, 0.01],
            "mean_interval": [(0.01, 0.03), (0.0, 0.02), (0.0, 0.0), (0.0, 0.02)],
            "wrong_share": [0.4, 0.2, 0.0, 0.3],
            "wrong_share_interval": [(0.3, 0.5), (0.1, 0.3), (0.0, 0.07), (0.2, 0.4)],
        }
        for policy in ("ramgape", "ra-lucb")
    }
    marks = {"ε = 0.05": 0.16, "ε = 0.1": 0.62, "ε = 0.1 (proof)": 0.63, "ε = 0.2": 2.5}
    flat = {
        policy: {"mean": 0.02, "wrong_share": 0.30 + 0.001 * k}
        for k, policy in enumerate(("egp", "xi-lcb", "round-robin"))
    }
    return values, results, marks, flat


def gap_case(i: tuple[float, float], j: tuple[float, float], k: tuple[float, float]) -> GapCase:
    means, risks = np.array([i[0], j[0], k[0]]), np.array([i[1], j[1], k[1]])
    lead, gap = -advantage(means, risks), gaps(means, risks)
    names = "ijk"
    pairs = ("i,k", "k,i", "i,j", "j,i")
    distances = {f"M({pair})": float(lead[names.index(pair[0]), names.index(pair[2])]) for pair in pairs}
    distances |= {f"gap {name}": float(gap[names.index(name)]) for name in names}
    return GapCase({"i": i, "j": j, "k": k}, distances)


CASE_A = gap_case((0.40, 0.02), (0.58, 0.12), (0.45, 0.15))
CASE_B = gap_case((0.40, 0.02), (0.58, 0.09), (0.50, 0.12))

CAP_ROWS = [
    (0.1, [15_000, 17_000, 17_000, 18_500, 20_000], 17_866, 20_320),
    (0.05, [70_000, 79_000, 81_000], 76_952, 87_000),
]
THEOREM = (
    [1_000, 10_000, 100_000, 1_000_000],
    [0.3, 0.1, 0.01, 0.0],
    [(0.2, 0.4), (0.05, 0.2), (0.0003, 0.05), (0.0, 0.018)],
    [1e5, 1e4, 0.1, 0.0],
)

ALL: dict[str, Callable[[], Figure]] = {
    "stopping_times": lambda: figures.stopping_times(stopping_panels()),
    "confidence_crosses": lambda: figures.confidence_crosses(cross_panels()),
    "regret_curves": lambda: figures.regret_curves(*curve_data(TEN), TEN[7:]),
    "final_quality": lambda: figures.final_quality(quality_data(TEN), TEN[7:]),
    "exploration_sweep": lambda: figures.exploration_sweep(*sweep_data()),
    "pull_shares": lambda: figures.pull_shares({policy: [0.2, 0.5, 1.0, 0.0] for policy in TEN}, uniform=0.4),
    "gap_geometry": lambda: figures.gap_geometry([CASE_A, CASE_B]),
    "pulls_against_cap": lambda: figures.pulls_against_cap(CAP_ROWS),
    "theorem_one": lambda: figures.theorem_one(*THEOREM),
}


# --------------------------------------------------------------------------------------- all of them


@cache
def drawn(name: str) -> Figure:
    """One of the figures above, drawn once for all tests that only look at it."""
    return ALL[name]()


@pytest.mark.parametrize("name", ALL)
def test_every_figure_is_readable_and_leaves_nothing_behind(name: str) -> None:
    before = dict(mpl.rcParams)
    figure = drawn(name)
    assert dict(mpl.rcParams) == before
    assert figure.get_figwidth() == 7.0
    assert_readable(figure)


@pytest.mark.parametrize("name", ["stopping_times", "final_quality"])
def test_the_same_figure_gives_the_same_files(tmp_path: Path, name: str) -> None:
    figure = drawn(name)
    paths = write(figure, tmp_path / "new" / "folder", name)
    assert [path.name for path in paths] == [f"{name}.png", f"{name}.svg"]
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"\x89PNG")
    write(figure, tmp_path / "new" / "folder", name)
    assert [path.read_bytes() for path in paths] == first
    again = write(ALL[name](), tmp_path, name)
    assert [path.read_bytes() for path in again] == first


# --------------------------------------------------------------------------------------- stopping times


def test_scatter_shows_every_point_and_the_identity_line() -> None:
    panels, figure = stopping_panels(), drawn("stopping_times")
    assert [axes.get_title() for axes in figure.axes] == ["vs RA-LUCB", "vs DE Round-Robin", "vs Round-Robin"]
    for axes, (_, series) in zip(figure.axes, panels, strict=True):
        assert points_of(axes, "ε = 0.1") == series["ε = 0.1"]
        low, high = axes.get_xlim()
        assert axes.get_ylim() == (low, high)
        assert points_of(axes, "identity") == [(low, low), (high, high)]
        assert axes.get_xscale() == "linear"
        assert "below the line: 50 of 50" in [text.get_text() for text in axes.texts]
    assert figure.legends == []


def test_scatter_turns_logarithmic_and_tells_series_apart() -> None:
    few = {"ε = 0.02 (3 patterns)": [(2e6, 1e6)], "ε = 0.1 (3 patterns)": [(9e4, 1e5), (1e5, 1e5)], "empty": []}
    figure = figures.stopping_times([("ra-lucb", few)])
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert legend_texts(figure) == list(few)
    lines = [line for line in axes.get_lines() if line.get_label() in few]
    assert len({str(line.get_marker()) for line in lines}) == 3
    assert len({to_hex(line.get_markerfacecolor()) for line in lines}) == 3
    assert axes.texts[0].get_text() == "below the line: 1 of 3\non the line: 1 of 3"
    assert_readable(figure)


@pytest.mark.parametrize("points", [[], [(5.0, 5.0)], [(0.0, 0.0)], [(100.0, 100.0)] * 3])
def test_scatter_of_few_or_equal_points(points: list[tuple[float, float]]) -> None:
    axes = figures.stopping_times([("my-rule", {"series": points})]).axes[0]
    low, high = axes.get_xlim()
    assert low < high
    assert all(low < x < high for x, _ in points)


# --------------------------------------------------------------------------------------- confidence crosses


def test_crosses_share_their_limits_and_mark_what_was_returned() -> None:
    panels, figure = cross_panels(), drawn("confidence_crosses")
    assert len(figure.axes) == 4
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1
    assert figure.axes[0].get_title() == "RAMGapE: 9,615,859 pulls"
    assert legend_texts(figure) == ["returned", "not returned", "estimated front"]
    for axes, (_, _, arms, returned) in zip(figure.axes, panels, strict=True):
        inside = [(arm.mean, arm.risk) for arm in arms if arm.name in returned]
        assert points_of(axes, "in the Pareto set (2)") == inside
        assert len(points_of(axes, "out (6)")) == 6
        assert axes.get_legend() is None
        assert {text.get_text() for text in axes.texts if isinstance(text, Annotation)} == {arm.name for arm in arms}
        bars = [collection for collection in axes.collections if isinstance(collection, LineCollection)]
        assert sum(len(collection.get_segments()) for collection in bars) == 2 * len(arms)


def test_three_panels_of_crosses_leave_no_empty_axes() -> None:
    panels = [(policy, samples, arms[:2], returned) for policy, samples, arms, returned in cross_panels()[:3]]
    assert len(figures.confidence_crosses(panels).axes) == 3


# --------------------------------------------------------------------------------------- regret


def test_curves_are_thinned_but_true() -> None:
    pulls, curves = curve_data()
    figure = figures.regret_curves(pulls, curves)
    for axes, kind in zip(figure.axes, ("middle_half", "mean"), strict=True):
        assert axes.get_xlim() == (0.0, 10_000.0)
        for policy in SEVEN:
            shown = points_of(axes, policy_look(policy).name)
            assert len(shown) <= MOST_POINTS
            assert shown[0][0] == 21  # the first that is known
            assert shown[-1][0] == 10_000
            for x, y in shown:
                assert y == curves[policy][kind][int(x) - 1]
    assert legend_texts(figure) == [policy_look(policy).name for policy in SEVEN]


def test_curves_that_fall_far_get_a_logarithmic_axis_with_zero() -> None:
    far = figures.regret_curves(*curve_data()).axes[0]
    assert far.get_yscale() == "symlog"
    assert far.get_ylabel() == "Simple regret  (linear below 0.001)"
    assert far.get_ylim()[0] < 0.0
    near = figures.regret_curves(*curve_data(ends_at=0.01)).axes[0]
    assert near.get_yscale() == "linear"


@pytest.mark.parametrize("value", [0.0, math.nan, 0.01])
def test_curves_without_any_change(value: float) -> None:
    flat = np.full(3, value)
    axes = figures.regret_curves(np.array([1, 2, 3]), {"new-rule": {"middle_half": flat, "mean": flat}}).axes[0]
    assert axes.get_ylim()[0] < 0.0 < axes.get_ylim()[1]


def test_final_quality_shows_means_and_intervals() -> None:
    results = quality_data()
    left, right = figures.final_quality(results).axes
    names = [text.get_text() for text in left.get_yticklabels()]
    assert names == [policy_look(policy).name for policy in SEVEN]
    for axes, key, marks in ((left, "mean", 3), (right, "wrong_share", 2)):
        lines = axes.get_lines()
        assert len(lines) == marks * len(SEVEN)
        for row, result in enumerate(results.values()):
            bar, dot = lines[marks * row], lines[marks * row + 1]
            assert tuple(np.asarray(bar.get_xdata())) == result[f"{key}_interval"]
            assert np.asarray(dot.get_xydata()).tolist() == [[result[key], row]]
    hollow = left.get_lines()[5]
    assert np.asarray(hollow.get_xdata()).tolist() == [results["ra-lucb"]["middle_half_mean"]]
    assert hollow.get_markerfacecolor() == "none"


def test_perfect_answers_can_be_drawn() -> None:
    nothing = {"mean": 0.0, "mean_interval": (0.0, 0.0), "middle_half_mean": 0.0}
    perfect = {**nothing, "wrong_share": 0.0, "wrong_share_interval": (0.0, 0.0)}
    for axes in figures.final_quality({"ramgape": perfect, "egp": perfect}).axes:
        assert axes.get_xlim()[0] < 0.0 < axes.get_xlim()[1]


def test_sweep_draws_curves_marks_and_levels() -> None:
    values, results, marks, flat = sweep_data()
    upper, lower = drawn("exploration_sweep").axes
    for axes, key in ((upper, "mean"), (lower, "wrong_share")):
        assert axes.get_xscale() == "log"
        assert points_of(axes, "RAMGapE") == list(zip(values, results["ramgape"][key], strict=True))
        lines = [np.asarray(line.get_xydata()) for line in axes.get_lines()]
        upright = {float(line[0, 0]) for line in lines if len(line) == 2 and line[0, 0] == line[1, 0]}
        assert upright == set(marks.values())
        level = {float(line[0, 1]) for line in lines if len(line) == 2 and line[0, 1] == line[1, 1]}
        assert level == {result[key] for result in flat.values()}
    assert {text.get_text() for text in upper.texts} == set(marks)
    assert {"EGP", "ξ-LCB", "Round-Robin"} < set(legend_texts(drawn("exploration_sweep")))


def test_sweep_of_one_value_and_nothing_else() -> None:
    one = {"mean": [0.0], "mean_interval": [(0.0, 0.0)], "wrong_share": [0.0], "wrong_share_interval": [(0.0, 0.3)]}
    upper, _ = figures.exploration_sweep([1.0], {"ramgape": one}, {}, {}).axes
    assert upper.get_xlim()[0] < 1.0 < upper.get_xlim()[1]
    assert upper.get_ylim()[0] < 0.0 < upper.get_ylim()[1]


# --------------------------------------------------------------------------------------- shares


@pytest.mark.parametrize("policies", [SEVEN, SEVEN[:1]])
def test_bars_are_the_shares_and_add_up_to_one(policies: tuple[str, ...]) -> None:
    shares = [0.25, 0.5, 1.0, 0.0, 0.3, 0.3, 0.3, 0.3]
    figure = figures.pull_shares(dict.fromkeys(policies, shares), uniform=0.4)
    assert len(figure.axes) == len(policies)
    axes = figure.axes[0]
    assert axes.get_title() == "RAMGapE\nmean 36.9%"
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    inside, outside = bars[:8], bars[8:]
    assert [bar.get_width() for bar in inside] == shares
    for first, second in zip(inside, outside, strict=True):
        assert second.get_x() == first.get_width()
        assert first.get_width() + second.get_width() == pytest.approx(1.0)
        assert first.get_facecolor() != second.get_facecolor()
    assert {float(np.asarray(line.get_xdata())[0]) for line in axes.get_lines()} == {0.4}
    assert legend_texts(figure)[-1] == "an even split (40%)"


def test_without_an_even_split_there_is_no_line() -> None:
    figure = figures.pull_shares({"ramgape": [0.5]})
    assert figure.axes[0].get_lines() == []
    assert len(legend_texts(figure)) == 2


# --------------------------------------------------------------------------------------- geometry


@pytest.mark.parametrize("case", [CASE_A, CASE_B])
def test_dimension_lines_have_the_true_lengths(case: GapCase) -> None:
    drawn = dimensions(case)
    for symbol, length in case.distances.items():
        start = rf"$\Delta_{symbol[-1]}$" if symbol.startswith("gap") else f"${symbol}$"
        (first,) = [index for index, line in enumerate(drawn) if line.text.startswith(start)]
        # A sum has a second line without a name, which begins where the first one ends.
        rest = list(itertools.takewhile(lambda line: not line.text, drawn[first + 1 :]))
        assert sum(line.length for line in (drawn[first], *rest)) == pytest.approx(length)
        for one, other in itertools.pairwise([drawn[first], *rest]):
            assert other.start == one.end
    lanes = [(line.upright, line.start[0] if line.upright else line.start[1]) for line in drawn if line.text]
    assert len(set(lanes)) == len(lanes)


def test_the_gap_of_i_has_two_parts_in_the_first_case_and_one_in_the_second() -> None:
    texts = [[line.text for line in dimensions(case)] for case in (CASE_A, CASE_B)]
    assert r"$\Delta_i$ = $M(k,i)$ + $\Delta_k$ = 0.08" in texts[0]
    assert r"$\Delta_i$ = $M(i,j)$ = 0.07" in texts[1]


def test_lengths_are_drawn_on_one_scale() -> None:
    left, right = drawn("gap_geometry").axes
    assert left.get_title() == "(a)  $M(k,i)$ < $M(i,j)$"
    assert right.get_title() == "(b)  $M(k,i)$ ≥ $M(i,j)$"
    assert left.get_xlim() == right.get_xlim()
    for axes, case in ((left, CASE_A), (right, CASE_B)):
        assert axes.get_aspect() == 1.0
        arrows = [text.arrow_patch for text in axes.texts if isinstance(text, Annotation) and not text.get_text()]
        assert len(arrows) == len(dimensions(case))
        pixels = axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])
        unit = pixels[1, 0] - pixels[0, 0]
        for arrow, line in zip(arrows, dimensions(case), strict=True):
            assert isinstance(arrow, FancyArrowPatch)
            ends = axes.transData.transform([line.start, line.end])
            assert math.dist(*ends) == pytest.approx(unit * line.length)


def test_a_gap_in_the_mean_is_drawn_level() -> None:
    case = gap_case((0.40, 0.02), (0.58, 0.10), (0.56, 0.20))
    (line,) = [line for line in dimensions(case) if line.text.startswith(r"$\Delta_k$")]
    assert not line.upright
    assert line.length == pytest.approx(0.02)
    assert_readable(figures.gap_geometry([case]))


# --------------------------------------------------------------------------------------- the theorems


def test_pulls_are_drawn_as_parts_of_the_correct_cap() -> None:
    (axes,) = drawn("pulls_against_cap").axes
    shown = [
        float(x) for line in axes.get_lines() if line.get_linestyle() == "None" for x in np.asarray(line.get_xdata())
    ]
    assert sorted(shown) == pytest.approx(sorted(count / cap for _, counts, _, cap in CAP_ROWS for count in counts))
    assert axes.texts[0].get_text() == "correct: 20,320\npaper's: 17,866\nabove it: 2 of 5"
    upright = {
        round(float(np.asarray(line.get_xdata())[0]), 9) for line in axes.get_lines() if line.get_linestyle() != "None"
    }
    assert upright == {1.0, *(round(paper / cap, 9) for _, _, paper, cap in CAP_ROWS)}


def test_equal_runs_are_drawn_beside_each_other() -> None:
    (axes,) = figures.pulls_against_cap([(0.1, [20_000] * 7, 17_866, 20_320)]).axes
    heights = [float(np.asarray(line.get_ydata())[0]) for line in axes.get_lines() if line.get_linestyle() == "None"]
    assert len(set(heights)) == 7
    assert max(map(abs, heights)) < 0.3
    (axes,) = figures.pulls_against_cap([(0.1, [20_320], 20_320, 20_320)]).axes
    assert axes.get_xlim()[0] < 1.0 < axes.get_xlim()[1]


def test_theorem_shows_shares_and_where_the_bound_says_nothing() -> None:
    budgets, frequencies, _, bounds = THEOREM
    (axes,) = drawn("theorem_one").axes
    assert points_of(axes, "observed") == list(zip(budgets[:3], frequencies[:3], strict=True))
    bound = points_of(axes, "bound")
    assert max(y for _, y in bound) == 1.0
    assert (100_000.0, 0.1) in bound
    edge = informative_from(budgets, bounds, axes.get_xlim())
    assert 10_000 < edge < 100_000
    (shade,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert shade.get_x() + shade.get_width() == pytest.approx(edge)
    # No run failed with the largest budget: an arrow from the upper end of the interval down.
    (arrow,) = [text for text in axes.texts if isinstance(text, Annotation)]
    assert arrow.xyann == (1_000_000, 0.018)


def test_theorem_with_bounds_that_never_say_anything() -> None:
    figure = figures.theorem_one([1_000], [0.0], [(0.0, 0.37)], [math.inf])
    (axes,) = figure.axes
    (shade,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == pytest.approx(axes.get_xlim())
    assert_readable(figure)


def test_theorem_with_bounds_that_always_say_something() -> None:
    (axes,) = figures.theorem_one([1_000, 2_000], [1.0, 0.5], [(0.9, 1.0), (0.4, 0.6)], [0.5, 0.25]).axes
    (shade,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert shade.get_width() == 0.0


# --------------------------------------------------------------------------------------- small parts


def test_no_two_rules_look_alike() -> None:
    looks = [(appearance.colour, appearance.dashes) for appearance in LOOKS.values()]
    assert len(set(looks)) == len(looks)
    in_one_figure = [LOOKS[policy].marker for policy in TEN]
    assert len(set(in_one_figure)) == len(in_one_figure)
    assert policy_look("something new") == policy_look("something new")
    assert policy_look("something new").name == "something new"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (999.0, "999"), (1_000.0, "1k"), (2.5e6, "2.5M"), (3e9, "3G"), (-2e4, "-20k")]
)
def test_counts_are_short(value: float, text: str) -> None:
    assert ticks.short_count(value) == text
