"""Names beside points, without overlaps: each tries a few places around its point and takes the freest.

Greedy, in the order given: the first names have the best choice. A name that fits nowhere is left out,
because two names on top of each other are worth less than one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from numpy.typing import NDArray

from ramgape.views.plots import style

Point = tuple[float, float]
Boxes = NDArray[np.float64]  # in pixels, one row per box: left, bottom, right, top

# Distances from the marker in points; the far ones get a thin line back to it.
DISTANCES = (5.0, 12.0, 22.0, 36.0, 54.0)
NEAR = 12.0
GAP = 3.0  # between two labels in a row
# Degrees. Slanting places first: straight ones lie on the arm's own cross.
ANGLES = (40, 140, -40, -140, 15, 165, -15, -165, 75, 105, -75, -105)

# What it costs to stand on something, in points of distance.
COST_OF_LINE = 12.0
COST_OF_MARKER = 60.0
MOST_CROSSED = 0.5  # lines, by a name that one can do without


@dataclass(frozen=True, slots=True)
class Label:
    """A name and the point it belongs to, in data coordinates."""

    text: str
    x: float
    y: float
    colour: str
    dispensable: bool = False  # rather left out than far from its point, in a crowd


def place_labels(
    axes: Axes,
    labels: Sequence[Label],
    markers: Boxes,
    lines: Boxes,
    crowded: bool = False,
    size: float = style.LABEL_SIZE,
) -> list[Annotation]:
    """Write the labels off each other and, as far as possible, off markers and lines.

    The axes must have their final limits and place; `boxes_around` makes the boxes. Where it is crowded, a
    label that would hide a marker is left out as well, and a dispensable one that finds no free place nearby.
    """
    pixels = axes.figure.dpi / 72.0  # in a point
    frame = axes.get_window_extent()
    taken: Boxes = np.empty((0, 4))
    written = []
    for label in labels:
        probe = _write(axes, label, size)
        extent = probe.get_window_extent()
        probe.remove()
        anchor = axes.transData.transform((label.x, label.y))
        best: tuple[float, float, Boxes] | None = None
        for distance, box in _places(anchor, extent.width, extent.height, pixels):
            inside = frame.contains(box[0], box[1]) and frame.contains(box[2], box[3])
            if not inside or _overlaps(box, taken) > 0:
                continue
            hidden = _overlaps(box, markers)
            crossed = float(_crossings(box, lines).sum())
            if crowded and (hidden > 0 or (label.dispensable and (distance > NEAR or crossed > MOST_CROSSED))):
                continue
            cost = distance + COST_OF_MARKER * hidden + COST_OF_LINE * crossed
            if best is None or cost < best[0]:
                best = cost, distance, box
        if best is not None:
            _, distance, box = best
            offset = ((box[:2] + box[2:]) / 2.0 - anchor) / pixels
            written.append(_write(axes, label, size, (float(offset[0]), float(offset[1])), leader=distance > NEAR))
            taken = np.vstack([taken, box + GAP * pixels * np.array([-1.0, 0.0, 1.0, 0.0])])
    return written


def boxes_around(axes: Axes, lines: Sequence[tuple[Point, Point]], margin: float) -> Boxes:
    """Boxes in pixels around lines given by two points in data coordinates, `margin` points wider."""
    if not lines:
        return np.empty((0, 4))
    ends = axes.transData.transform(np.array(lines, dtype=np.float64).reshape(-1, 2)).reshape(-1, 2, 2)
    wider = margin * axes.figure.dpi / 72.0
    return np.hstack([ends.min(axis=1) - wider, ends.max(axis=1) + wider])


def _places(anchor: NDArray[np.float64], width: float, height: float, pixels: float) -> Iterator[tuple[float, Boxes]]:
    """The places to try, near ones first: how far each is, in points, and the box it takes."""
    half = np.array([width, height]) / 2.0
    for distance in DISTANCES:
        for angle in ANGLES:
            direction = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
            # A label beside its point starts there; one straight above or below is centred on it.
            centre = anchor + direction * distance * pixels + half * np.clip(2.0 * direction, -1.0, 1.0)
            yield distance, np.concatenate([centre - half, centre + half])


def _overlaps(box: Boxes, others: Boxes) -> int:
    """How many of the others have a part in common with the box."""
    common = (others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])
    return int(common.all(axis=1).sum())


def _crossings(box: Boxes, lines: Boxes) -> NDArray[np.float64]:
    """How far each line runs through the box: 0 not at all, 1 from side to side."""
    low, high = np.maximum(lines[:, :2], box[:2]), np.minimum(lines[:, 2:], box[2:])
    common: NDArray[np.float64] = np.clip((high - low) / (box[2:] - box[:2]), 0.0, 1.0)
    return np.where(common.min(axis=1) > 0.0, common.max(axis=1), 0.0)


def _write(axes: Axes, label: Label, size: float, offset: Point = (0.0, 0.0), leader: bool = False) -> Annotation:
    line = {"arrowstyle": "-", "color": label.colour, "linewidth": 0.5, "shrinkA": 0.0, "shrinkB": 3.0}
    return axes.annotate(
        style.drawable(label.text),
        (label.x, label.y),
        xytext=offset,
        textcoords="offset points",
        horizontalalignment="center",
        verticalalignment="center",
        fontsize=size,
        color=label.colour,
        parse_math=False,  # a name may contain dollars
        zorder=10,
        path_effects=[patheffects.withStroke(linewidth=2.0, foreground="white")],
        arrowprops=line if leader else None,
    )
