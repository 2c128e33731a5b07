"""The confidence crosses: what is drawn where, and what stands beside it."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Annotation, Text

from ramgape.errors import InvalidSpec
from ramgape.search.result import ArmReport, Result
from ramgape.views.plots import style
from ramgape.views.plots.crosses import Direction, draw_crosses, pareto_stairs
from ramgape.views.plots.window import window
from tests.results import HOSTILE, NOT_PULLED, make_arm, make_result


def three_verdicts() -> Result:
    return make_result(
        make_arm("A", 0.4, 0.05),
        make_arm("B", 0.3, 0.20, "out", dominated_by="A"),
        make_arm("C", 0.7, 0.15),
        make_arm("U", 0.5, 0.12, "open"),
    )


def lines_by_label(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_label()): line for line in axes.get_lines()}


def points_of(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def legend_texts(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def names_shown(axes: Axes) -> list[Annotation]:
    return [text for text in axes.texts if isinstance(text, Annotation)]


def assert_labels_apart_and_inside(axes: Axes) -> None:
    axes.figure.figure.draw_without_rendering()
    frame = axes.get_window_extent()
    # The box of the letters alone: the thin line back to the point may cross other labels.
    boxes = [(name.get_text(), Text.get_window_extent(name)) for name in names_shown(axes)]
    for (first, one), (second, other) in itertools.combinations(boxes, 2):
        assert not one.overlaps(other), (first, second)
    for text, box in boxes:
        assert frame.x0 - 1 <= box.x0, text
        assert box.x1 <= frame.x1 + 1, text
        assert frame.y0 - 1 <= box.y0, text
        assert box.y1 <= frame.y1 + 1, text


# --------------------------------------------------------------------------------------- the crosses


def test_verdicts_differ_in_colour_marker_and_filling() -> None:
    lines = lines_by_label(three_verdicts().plot().axes)
    returned, out, undecided = lines["keep (2)"], lines["out (1)"], lines["open (1)"]
    assert [line.get_marker() for line in (returned, out, undecided)] == ["o", "s", "^"]
    assert to_hex(returned.get_color()) == style.PALETTE["blue"].lower()
    assert to_hex(undecided.get_color()) == style.PALETTE["vermillion"].lower()
    assert to_hex(out.get_color()) == style.GREY.lower()
    assert to_hex(returned.get_markerfacecolor()) == style.PALETTE["blue"].lower()
    assert to_hex(out.get_markerfacecolor()) == "#ffffff"
    assert points_of(returned) == [(0.4, 0.05), (0.7, 0.15)]
    assert points_of(out) == [(0.3, 0.20)]


def test_regions_are_drawn_on_demand() -> None:
    result = three_verdicts()
    assert not any(isinstance(each, LineCollection) for each in result.plot().axes.collections)
    axes = result.plot(regions=True).axes
    assert "confidence regions; overlap is fine: arms are compared directly" in legend_texts(axes)
    bars = [collection for collection in axes.collections if isinstance(collection, LineCollection)]
    segments = [segment.tolist() for collection in bars for segment in collection.get_segments()]
    assert len(segments) == 2 * len(result.arms)
    for arm in result.arms:
        assert [[arm.mean_interval[0], arm.risk], [arm.mean_interval[1], arm.risk]] in segments
        assert [[arm.mean, arm.risk_interval[0]], [arm.mean, arm.risk_interval[1]]] in segments


def test_an_arrow_goes_from_each_dropped_arm_to_the_one_that_beats_it() -> None:
    axes = three_verdicts().plot().axes
    arrows = [each for each in axes.texts if isinstance(each, Annotation) and each.arrow_patch and not each.get_text()]
    assert [(arrow.xyann, arrow.xy) for arrow in arrows] == [((0.3, 0.20), (0.4, 0.05))]
    (worse,) = [patch for patch in axes.patches if isinstance(patch, Polygon)]
    assert worse.get_path().contains_point((0.3, 0.20))
    assert not any(worse.get_path().contains_point(point) for point in ((0.4, 0.04), (0.7, 0.14), (0.75, 0.2)))
    assert "best corner ↘" in [text.get_text() for text in axes.texts]
    costs = make_result(direction="minimize").plot().axes
    assert "↙ best corner" in [text.get_text() for text in costs.texts]


def test_legend_counts_the_arms() -> None:
    assert legend_texts(three_verdicts().plot().axes) == [
        "keep (2)",
        "open (1)",
        "out (1)",
        "estimated front",
        "measured worse in both",
        "dropped in favor of",
    ]


def test_axes_are_labelled_in_words_and_symbols() -> None:
    axes = make_result().plot().axes
    assert axes.get_xlabel().startswith("Mean reward μ")
    assert axes.get_ylabel().startswith("Risk ξ = α(σ² − ρμ)")
    axes = make_result(direction="minimize").plot().axes
    assert axes.get_xlabel().startswith("Mean cost μ")
    assert axes.get_ylabel().startswith("Risk ξ = α(σ² + ρμ)")


def test_the_figure_has_a_title_of_its_own() -> None:
    figure = make_result().plot().figure
    assert isinstance(figure, Figure)
    assert " ".join(figure.get_suptitle().split()) == make_result().sentence
    uncertain = (
        make_result(certified_epsilon=None, certified_delta=None, stopped="cap", goal_reached=False).plot().figure
    )
    assert isinstance(uncertain, Figure)
    assert " ".join(uncertain.get_suptitle().split()).endswith("Nothing is proved yet.")
    many = make_result(*(make_arm(f"an arm with a long name {place}", place / 9.0, place / 9.0) for place in range(9)))
    assert len(many.plot().figure.get_suptitle().split("\n")) <= 3


def test_given_axes_are_drawn_on_and_returned() -> None:
    figure = Figure(figsize=(8, 3))
    left, right = figure.subplots(1, 2)
    assert make_result().plot(left).axes is left
    assert len(left.get_lines()) == 3
    assert right.get_lines() == []
    assert figure.get_suptitle() == ""


def test_plain_objects_will_do() -> None:
    axes = Figure().subplots()
    draw_crosses(axes, [make_arm("A"), make_arm("B", 0.2, 0.4, "out")])
    assert {name.get_text() for name in names_shown(axes)} == {"A", "B"}


# --------------------------------------------------------------------------------------- the stairs


def test_stairs_run_from_the_safest_arm_to_the_best_mean() -> None:
    axes = make_result().plot().axes
    corners = points_of(lines_by_label(axes)["estimated front"])
    assert corners[1:-1] == [(0.4, 0.05), (0.4, 0.15), (0.7, 0.15)]
    assert corners[0] == (axes.get_xlim()[0], 0.05)
    assert corners[-1] == (0.7, axes.get_ylim()[1])


def test_stairs_turn_round_for_costs() -> None:
    axes = make_result(direction="minimize").plot().axes
    corners = points_of(lines_by_label(axes)["estimated front"])
    assert corners[0] == (axes.get_xlim()[1], 0.05)
    assert corners[1:-1] == [(0.4, 0.05), (0.4, 0.20), (0.3, 0.20)]


coordinates = st.integers(0, 6).map(float)


@given(
    st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=12),
    st.sampled_from(["maximize", "minimize"]),
)
def test_stairs_are_the_border_of_what_is_dominated(points: list[tuple[float, float]], direction: Direction) -> None:
    better = 1.0 if direction == "maximize" else -1.0
    corners = pareto_stairs(points, direction)
    outer = corners[::2]  # the others are the inner corners between them
    assert set(outer) <= set(points)
    for mean, risk in points:
        assert any(better * m >= better * mean and r <= risk for m, r in outer)
    for mean, risk in outer:
        assert not any(better * m > better * mean and r < risk for m, r in points)
    for (mean, risk), (next_mean, next_risk) in itertools.pairwise(outer):
        assert better * next_mean > better * mean
        assert next_risk >= risk


# --------------------------------------------------------------------------------------- the window


ends = st.one_of(st.floats(0.0, 1e6), st.just(math.inf))


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), ends, ends), max_size=8))
def test_window_is_finite_and_shows_every_estimate(arms: list[tuple[float, float, float]]) -> None:
    low, high = window([value for value, _, _ in arms], [(value - a, value + b) for value, a, b in arms])
    assert math.isfinite(low)
    assert math.isfinite(high)
    assert low < high
    assert all(low < value < high for value, _, _ in arms)


def test_vacuous_intervals_do_not_blow_up_the_axes() -> None:
    arms = [
        make_arm("A", 0.4, 0.10, mean_interval=(-math.inf, math.inf), risk_interval=(-1e9, 1e9)),
        make_arm("B", 0.6, 0.20, mean_interval=(-50.0, 50.0), risk_interval=(-math.inf, math.inf)),
    ]
    axes = make_result(*arms).plot(regions=True).axes
    assert axes.get_xlim()[1] - axes.get_xlim()[0] < 4 * 0.2
    assert axes.get_ylim()[1] - axes.get_ylim()[0] < 4 * 0.1
    bars = axes.collections[0]
    assert isinstance(bars, LineCollection)
    for segment in bars.get_segments():
        assert all(math.isfinite(number) for point in segment.tolist() for number in point)
    (left, _), (right, _) = bars.get_segments()[0].tolist()
    assert left < axes.get_xlim()[0]
    assert right > axes.get_xlim()[1]


def test_narrow_intervals_are_shown_whole() -> None:
    axes = make_result().plot(regions=True).axes
    low, high = axes.get_xlim()
    for arm in make_result().arms:
        assert low < arm.mean_interval[0]
        assert arm.mean_interval[1] < high


def test_an_arm_far_out_stands_at_the_border_with_its_numbers() -> None:
    arms = [make_arm(f"arm {i}", 0.4 + 0.02 * i, 0.1 + 0.01 * i, "in" if i == 5 else "out") for i in range(6)]
    axes = make_result(*arms, make_arm("broken", 140.0, 9.0, "out")).plot().axes
    assert axes.get_xlim()[1] < 1.0
    assert axes.get_ylim()[1] < 1.0
    assert "broken\nmean 140\nrisk 9" in {name.get_text() for name in names_shown(axes)}
    arrows = [line for line in axes.get_lines() if isinstance(line.get_marker(), tuple)]
    (x, y) = points_of(arrows[-1])[0]
    assert (x, y) == pytest.approx((axes.get_xlim()[1], axes.get_ylim()[1]), rel=0.05)
    assert (x, y) < (axes.get_xlim()[1], axes.get_ylim()[1])


def test_what_is_in_the_answer_is_never_left_out() -> None:
    arms = [make_arm(f"arm {i}", 0.4 + 0.02 * i, 0.1, "out") for i in range(6)]
    axes = make_result(*arms, make_arm("best", 140.0, 0.1)).plot().axes
    assert axes.get_xlim()[1] > 140.0


def test_a_very_uncertain_arm_squeezes_nobody() -> None:
    arms = [make_arm(f"arm {i}", 0.4 + 0.05 * i, 0.1 + 0.02 * i, "out") for i in range(6)]
    unsure = make_arm("new", 0.5, 0.15, "open", mean_interval=(-90.0, 90.0), risk_interval=(0.0, math.inf))
    without, axes = make_result(*arms).plot(regions=True).axes, make_result(*arms, unsure).plot(regions=True).axes
    assert axes.get_xlim() == pytest.approx(without.get_xlim())
    assert axes.get_ylim() == pytest.approx(without.get_ylim())


def test_nothing_impossible_is_on_an_axis() -> None:
    arms = [
        make_arm(name, mean, 0.02, mean_interval=(0.0, 1.0), risk_interval=(0.0, 0.3))
        for name, mean in (("A", 0.05), ("B", 0.95))
    ]
    axes = make_result(*arms, risk="std", risk_label="standard deviation", alpha=None).plot().axes
    assert axes.get_ylim()[0] == 0.0
    assert axes.get_xlim() == (0.0, 1.0)
    assert axes.get_ylabel().startswith("Standard deviation")
    assert not set("μσξρα") & set(axes.get_xlabel() + axes.get_ylabel())


def test_the_axis_has_the_users_word() -> None:
    assert make_result(reward_name="delay in $").plot().axes.get_xlabel().startswith("Mean delay in $")


@pytest.mark.few(2)
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e5, 1e12])
def test_ticks_carry_their_whole_number(scale: float) -> None:
    arms = [
        make_arm(
            name,
            m * scale,
            r * scale,
            mean_interval=(m * scale, m * scale),
            risk_interval=(r * scale, r * scale),
        )
        for name, m, r in (("A", 1.0, 1.0), ("B", 2.0, 3.0))
    ]
    axes = make_result(*arms).plot().axes
    for axis in (axes.xaxis, axes.yaxis):
        assert axis.get_offset_text().get_text() == ""
        for tick in axis.get_major_ticks():
            text = tick.label1.get_text().replace("\N{MINUS SIGN}", "-")
            assert float(text) == pytest.approx(tick.get_loc(), abs=1e-9 * scale)


# --------------------------------------------------------------------------------------- the names


def spread_apart(number: int, returned: Sequence[int]) -> list[ArmReport]:
    """Arms scattered without any pattern that would suit the labels."""
    return [
        make_arm(f"arm {i}", (i * 0.618) % 1.0, (i * 0.7548) % 1.0, "in" if i in returned else "out", pulls=10)
        for i in range(number)
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("number", [1, 5, 10, 30])
def test_few_arms_are_all_named_without_overlaps(number: int) -> None:
    axes = make_result(*spread_apart(number, returned=[0])).plot().axes
    assert {name.get_text() for name in names_shown(axes)} == {f"arm {i}" for i in range(number)}
    assert_labels_apart_and_inside(axes)


def test_of_many_arms_only_the_returned_are_named() -> None:
    axes = make_result(*spread_apart(100, returned=[3, 40, 77])).plot().axes
    names = {name.get_text() for name in names_shown(axes)}
    assert names
    assert names <= {"arm 3", "arm 40", "arm 77"}
    assert_labels_apart_and_inside(axes)


def test_a_returned_arm_is_named_even_if_undecided() -> None:
    arms = [make_arm(f"arm {i}", i / 80, 1.0 - i / 80, "open") for i in range(80)]
    axes = make_result(*arms, front=("arm 7",)).plot().axes
    assert [name.get_text() for name in names_shown(axes)] == ["arm 7"]


def test_names_have_the_colour_of_their_arm() -> None:
    colours = {name.get_text(): to_hex(name.get_color()) for name in names_shown(three_verdicts().plot().axes)}
    assert colours["A"] == colours["C"] == style.PALETTE["blue"].lower()
    assert colours["B"] == style.GREY.lower()
    assert colours["U"] == style.PALETTE["vermillion"].lower()


def test_equal_arms_get_their_names_side_by_side() -> None:
    axes = make_result(*(make_arm(f"arm {i}") for i in range(6))).plot().axes
    assert len(names_shown(axes)) == 6
    assert_labels_apart_and_inside(axes)


def test_odd_names_are_drawn_as_written() -> None:
    names = ["$x_1$", "[red]", "a" * 70, "日本 \N{ROCKET}", "two\nlines"]
    axes = make_result(*(make_arm(name, 0.2 * i, 0.2 * i) for i, name in enumerate(names))).plot().axes
    shown = [name.get_text() for name in names_shown(axes)]
    assert "$x_1$" in shown
    assert not any(name.get_parse_math() for name in names_shown(axes))
    assert "a" * 13 + "..." + "a" * 12 in shown
    assert "two\\nlines" in shown
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # above all: a letter that is missing from the font
        axes.figure.figure.draw_without_rendering()


def test_hostile_names_are_drawn_as_written() -> None:
    axes = make_result(*(make_arm(name, 0.05 * i, 0.05 * i) for i, name in enumerate(HOSTILE))).plot().axes
    shown = {name.get_text() for name in names_shown(axes)}
    assert all(name in HOSTILE for name in shown if "..." not in name)  # which long ones have
    assert len([name for name in shown if "\\" in name]) == len([name for name in HOSTILE if "\\" in name])
    axes.figure.figure.draw_without_rendering()


def test_arms_without_pulls_are_counted_but_not_drawn() -> None:
    axes = make_result(make_arm("seen"), make_arm("unseen", **NOT_PULLED)).plot().axes
    assert legend_texts(axes)[-1] == "without pulls, not drawn (1)"
    assert [name.get_text() for name in names_shown(axes)] == ["seen"]


def test_no_arm_was_pulled() -> None:
    axes = make_result(make_arm("unseen", **NOT_PULLED), samples=0).plot().axes
    assert [text.get_text() for text in axes.texts] == ["no arm has been pulled yet"]


def test_legend_and_labels_fit_small_axes() -> None:
    figure = Figure(figsize=(3.0, 3.0), layout="constrained")
    axes = three_verdicts().plot(figure.subplots()).axes
    figure.draw_without_rendering()
    legend = axes.get_legend()
    assert legend is not None
    for thing in (legend, axes.xaxis.label, axes.yaxis.label):
        box = thing.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


# --------------------------------------------------------------------------------------- the style


def test_drawing_leaves_nothing_behind() -> None:
    before = dict(mpl.rcParams)
    modules = set(sys.modules)
    make_result().plot()
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in set(sys.modules) - modules


def test_the_style_is_undone_after_an_error() -> None:
    before = dict(mpl.rcParams)
    with pytest.raises(KeyError), style.applied():
        raise KeyError
    assert dict(mpl.rcParams) == before


def test_the_users_own_settings_do_not_leak_in() -> None:
    with mpl.rc_context({"axes.grid": False, "font.size": 30.0, "axes.facecolor": "black"}):
        axes = make_result().plot().axes
    assert to_hex(axes.get_facecolor()) == "#ffffff"
    assert axes.xaxis.label.get_fontsize() == style.SETTINGS["axes.labelsize"]


@pytest.mark.few(3)
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_saved_plots_have_the_format_of_their_ending(tmp_path: Path, ending: str, start: bytes) -> None:
    path = tmp_path / f"crosses.{ending}"
    make_result().save_plot(path)
    first = path.read_bytes()
    assert first.startswith(start)
    make_result().save_plot(path)
    assert path.read_bytes() == first


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpec, match=r"the ending of the path must be one of .*png.*, got"):
        make_result().save_plot(tmp_path / "crosses.doc")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_path_and_what_are_no_axes() -> None:
    with pytest.raises(InvalidSpec, match=r"^path must be the path of a file, got True$"):
        make_result().save_plot(True)  # type: ignore[arg-type]
    with pytest.raises(InvalidSpec, match=r"^axes must be axes of matplotlib, or None, got 5$"):
        make_result().plot(5)  # type: ignore[arg-type]
