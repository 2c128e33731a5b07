"""What every figure must be: readable."""

from __future__ import annotations

import itertools

from matplotlib.figure import Figure
from matplotlib.text import Text

from ramgape.views.plots import style


def assert_readable(figure: Figure) -> None:
    """No text below ten points, none outside the figure, and no two on top of each other."""
    figure.draw_without_rendering()
    boxes = []
    for axes in figure.axes:
        # Axes keep labels for ticks beyond their limits, which are not drawn.
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if tick.label1.get_text() and tick.label1.get_visible() and low <= tick.get_loc() <= high:
                    boxes.append(tick.label1)
        boxes += [axes.xaxis.label, axes.yaxis.label, axes.title, *axes.texts]
    boxes += [text for legend in figure.legends for text in legend.get_texts()]
    shown = [text for text in boxes if text.get_text().strip() and text.get_visible()]
    # The box of the letters alone: the line from a name back to its point may cross other names.
    extents = [(text.get_text(), Text.get_window_extent(text)) for text in shown]
    for text in shown:
        assert text.get_fontsize() >= style.PRINTED_TEXT, text
    for name, box in extents:
        assert box.x0 >= -1, name
        assert box.y0 >= -1, name
        assert box.x1 <= figure.bbox.x1 + 1, name
        assert box.y1 <= figure.bbox.y1 + 1, name
    for (first, one), (second, other) in itertools.combinations(extents, 2):
        assert not one.padded(-1.0).overlaps(other.padded(-1.0)), (first, second)
