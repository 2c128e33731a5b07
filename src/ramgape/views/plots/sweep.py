"""What happens as one constant is turned up: a curve with a band per rule, and lines for what does not depend on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text

from ramgape.views.plots import style
from ramgape.views.plots.labels import spread_apart
from ramgape.views.plots.policies import policy_look

ROW = 1.35  # distance of two rows of text, in letters' heights


def draw_sweep(
    axes: Axes, values: Sequence[float], policy: str, results: Sequence[float], bands: Sequence[tuple[float, float]]
) -> None:
    """Draw one rule's results over the values of the constant, with the intervals as a band."""
    appearance = policy_look(policy)
    if len(values) > 1:
        axes.fill_between(
            values,
            [low for low, _ in bands],
            [high for _, high in bands],
            color=appearance.colour,
            alpha=0.15,
            linewidth=0.0,
        )
    else:
        axes.vlines(values, [low for low, _ in bands], [high for _, high in bands], color=appearance.colour, alpha=0.5)
    axes.plot(
        values,
        results,
        color=appearance.colour,
        linestyle=appearance.dashes,
        linewidth=appearance.width,
        marker=appearance.marker,
        markersize=6.0,
        markeredgecolor="white",
        markeredgewidth=0.5,
        label=appearance.name,
        zorder=4,
    )


def draw_levels(axes: Axes, levels: Mapping[str, float]) -> None:
    """Draw rules that do not use the constant as thin lines; `name_levels` names them."""
    for policy, level in levels.items():
        appearance = policy_look(policy)
        axes.axhline(level, color=appearance.colour, linestyle=appearance.dashes, linewidth=1.2, zorder=2)


def name_levels(axes: Axes, levels: Mapping[str, float]) -> list[Annotation]:
    """Name thin lines in the margin to the right: names that would overlap are moved apart, with a line back.

    The axes must have their final limits and height.
    """
    pixels = axes.figure.figure.dpi / 72.0
    size = style.PRINTED_TEXT
    heights = [float(axes.transData.transform((1.0, level))[1]) for level in levels.values()]
    names = []
    places = spread_apart(heights, ROW * size * pixels)
    for (policy, level), height, place in zip(levels.items(), heights, places, strict=True):
        appearance = policy_look(policy)
        moved = (place - height) / pixels
        names.append(
            axes.annotate(
                style.drawable(appearance.name),
                (1.0, level),
                xycoords=axes.get_yaxis_transform(),
                xytext=(14.0, moved),
                textcoords="offset points",
                verticalalignment="center",
                fontsize=size,
                color="black",
                parse_math=False,
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": appearance.colour,
                    "linewidth": 1.0,
                    "shrinkA": 1.0,
                    "shrinkB": 0.0,
                    # From the left edge of the text, not from its middle.
                    "relpos": (0.0, 0.5),
                },
            )
        )
    return names


def draw_marks(axes: Axes, marks: Mapping[str, float]) -> None:
    """Draw vertical lines at certain values of the constant; `name_marks` names them."""
    for value in marks.values():
        axes.axvline(value, color=style.PALETTE["black"], linewidth=1.0, linestyle=(0, (1, 2)), zorder=1.5)


def name_marks(axes: Axes, marks: Mapping[str, float]) -> list[Annotation]:
    """Name vertical lines above the axes, in as many rows as it takes.

    The axes must have their final limits and width.
    """
    pixels = axes.figure.figure.dpi / 72.0
    rows: list[float] = []  # where the last text of each row ends
    names = []
    for label, value in sorted(marks.items(), key=lambda mark: mark[1]):
        name = axes.annotate(
            label,
            (value, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0.0, 3.0),
            textcoords="offset points",
            horizontalalignment="center",
            verticalalignment="bottom",
            parse_math=False,
            annotation_clip=False,
            bbox={"facecolor": "white", "linewidth": 0.0, "pad": 0.5},
            arrowprops={
                "arrowstyle": "-",
                "linestyle": (0, (1, 2)),
                "relpos": (0.5, 0.0),
                "shrinkA": 0.0,
                "shrinkB": 0.0,
            },
        )
        name.get_window_extent()  # finds out where it stands; the box of the letters alone is without the line down
        box = Text.get_window_extent(name)
        row = next((row for row, end in enumerate(rows) if end < box.x0), len(rows))
        rows[row : row + 1] = [box.x1 + 6.0 * pixels]
        name.set_position((0.0, 3.0 + row * ROW * style.PRINTED_TEXT))
        name.set_zorder(9.0 - 0.1 * row)  # over the lines that come down from higher rows
        names.append(name)
    return names
