"""A picture inside a page: SVG in the page's colours, light or dark, drawn for wide and again for narrow screens.

Scaled down to a telephone a wide picture would have letters of six pixels.
"""

from __future__ import annotations

import html
import io
import re
from typing import TYPE_CHECKING, Any

from ramgape.errors import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ramgape.search.explained import Explained

WIDE, NARROW, TALLER = 7.0, 3.75, 1.15  # inches; and how much taller than wide a narrow one is
# What the colours of figures become on a dark page. On a light one they stay as they are.
DARK = {
    "#ffffff": "#16191d",
    "#000000": "#e8e8e8",
    "#6e6e6e": "#9aa0a6",
    "#7a4a1f": "#c8976a",
    "#ebebeb": "#2a2e33",
    "#f4f4f4": "#1e2226",
    "#e4e4e4": "#30353b",
    "#0072b2": "#56b4e9",
    "#d55e00": "#ff8a4c",
    "#009e73": "#2fcf9f",
    "#cc79a7": "#e3a0c4",
    "#e69f00": "#f2bb4a",
    "#56b4e9": "#8fd0f5",
}


def variable(colour: str) -> str:
    """A colour of figures as a page has it.

    >>> variable("#0072b2")
    'var(--p-0072b2,#0072b2)'
    """
    return f"var(--p-{colour[1:]},{colour})"


def dark_colours() -> str:
    """The variables of a dark page, as CSS."""
    return "".join(f"--p-{light[1:]}:{dark};" for light, dark in DARK.items())


def pictures(thing: Explained, description: str) -> str:
    """Its picture, for wide and for narrow screens; a page shows one of the two (`looks/report.css`).

    Args:
        description: What the picture shows, for screen readers.
    """
    wide, narrow = (inline_svg(draw(thing, width), description, f"p{width:g}-") for width in (WIDE, NARROW))
    return f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'


def draw(thing: Explained, width: float) -> Figure:
    """Its picture, so many inches wide; without the title, which the page has."""
    from ramgape.views.plots import style
    from ramgape.views.plots.answers import draw_result
    from ramgape.views.plots.plot import Plot

    found: Any = getattr(thing, "result", thing)
    if hasattr(found, "arms") and hasattr(found, "answer"):
        with style.applied():
            return Plot(draw_result(found, width=width)).figure
    figure = thing.plot().figure
    figure.suptitle("")
    if width < WIDE:
        make_narrow(figure, width)
    return figure


def make_narrow(figure: Figure, width: float) -> None:
    """Make a finished figure narrower; its legends get as many rows as they need then."""
    from ramgape.views.plots import style

    figure.set_size_inches(width, TALLER * width)
    legends = {axes: legend for axes in figure.axes if (legend := axes.get_legend()) is not None}
    for legend in legends.values():
        legend.remove()
    with style.applied():
        for axes, legend in legends.items():
            style.settle_layout(axes)
            style.write_legend(axes, [handle for handle in legend.legend_handles if handle is not None])


def inline_svg(figure: Figure, description: str, prefix: str) -> str:
    """A figure as SVG for a page: its colours are variables, its ids begin with a prefix, and it says what it shows."""
    from ramgape.views.plots import style

    written = io.StringIO()
    style.write_svg(figure, written)
    text = written.getvalue()
    text = re.sub(r"<(metadata|style)\b.*?</\1>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    text = re.sub("|".join(DARK), lambda found: variable(found.group()), text, flags=re.IGNORECASE)
    # The description has names in it, so it is never part of a replacement template, where a backslash means something.
    title = f'<title id="{prefix}title">{html.escape(printable(description))}</title>'
    opening, rest = text.split(">", 1)
    return f'{opening} role="img" aria-labelledby="{prefix}title">\n {title}{rest}'
