"""What figures look like: one place for colours, markers, fonts and sizes.

Figures are made without pyplot: no global list of figures, no choice of backend, nothing left behind.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, ScalarFormatter

from ramgape.errors import require

# Okabe and Ito's colours, made to differ for every kind of colour vision.
PALETTE = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "bluish green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "reddish purple": "#CC79A7",
}
GREY = "#6E6E6E"  # a tint of the palette's black, for what should stay in the background
BROWN = "#7A4A1F"  # a ninth colour, which its darkness tells from the others of the palette
SHADE = "#EBEBEB"  # behind what is excluded, or too near to tell
STRIPE = "#F4F4F4"  # behind every other row, to lead the eye from a name to its marks


@dataclass(frozen=True, slots=True)
class Mark:
    """How the arms of one verdict look; colour, shape and filling say the same thing three times."""

    label: str
    colour: str
    marker: str
    filled: bool
    important: bool
    layer: int  # what matters most is drawn last

    def points(self, size: float) -> dict[str, Any]:
        """How a marker is drawn, as matplotlib has it; `size` in points."""
        return {
            "linestyle": "none",
            "marker": self.marker,
            "markersize": size,
            "color": self.colour,
            "markerfacecolor": self.colour if self.filled else "white",
            "markeredgecolor": "white" if self.filled else self.colour,
            "markeredgewidth": 0.1 * size if self.filled else 0.18 * size,
        }


MARKS = {
    "in": Mark("in the Pareto set", PALETTE["blue"], "o", filled=True, important=True, layer=5),
    "open": Mark("open", PALETTE["vermillion"], "^", filled=True, important=True, layer=4),
    "out": Mark("out", GREY, "s", filled=False, important=False, layer=3),
}
CONTROL = Mark("control", PALETTE["black"], "D", filled=True, important=True, layer=6)

HIGHER, LOWER = "(higher is better →)", "(← lower is better)"
SIZE = (7.0, 5.0)  # inches
DOTS_PER_INCH = 200  # of a saved bitmap
SHOWN = 96  # pixels of a page in an inch
MARKER_SIZE = 6.0  # points
SMALL_MARKER = 4.5
SMALLEST_MARKER = 2.5
LINE_WIDTH = 1.1
LABEL_SIZE = 8.0

# The first one comes with matplotlib; the others know more letters, and are used where they are installed.
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "PingFang SC",
    "Hiragino Sans",
    "Arial Unicode MS",
    "Noto Emoji",
    "Symbola",
    "Segoe UI Symbol",
)

SETTINGS: dict[str, Any] = {
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": "black",
    "axes.labelsize": 9.0,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "figure.titlesize": 10.0,
    "font.size": 9.0,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.color": "black",
    "text.usetex": False,
    "xtick.color": GREY,
    "xtick.labelcolor": "black",
    "xtick.labelsize": 8.5,
    "ytick.color": GREY,
    "ytick.labelcolor": "black",
    "ytick.labelsize": 8.5,
}

# Figures for a report are printed at half their width: seven inches wide, with no letter below ten points.
PRINTED_TEXT = 10.0
PRINTED: dict[str, Any] = {
    "axes.labelsize": PRINTED_TEXT,
    "axes.titlesize": 10.5,
    "figure.labelsize": PRINTED_TEXT,
    "figure.titlesize": 10.5,
    "font.size": PRINTED_TEXT,
    "legend.fontsize": PRINTED_TEXT,
    "xtick.labelsize": PRINTED_TEXT,
    "ytick.labelsize": PRINTED_TEXT,
}

# matplotlib's settings belong to the whole process: two threads that borrow them at once could each restore
# what the other had set, for good.
_settings_in_use = threading.RLock()


@contextmanager
def applied(printed: bool = False) -> Iterator[None]:
    """Draw in this style inside the block; the user's own settings are back after it.

    Args:
        printed: With the larger letters of figures for a report.

    >>> before = mpl.rcParams["axes.grid"]
    >>> with applied():
    ...     figure = new_figure()
    >>> mpl.rcParams["axes.grid"] == before
    True
    """
    borrowed: Any = {**SETTINGS, **(PRINTED if printed else {}), "font.family": list(_families())}
    with _settings_in_use, mpl.rc_context(borrowed):
        yield


def marker_size(number: int, important: bool) -> float:
    """The size of a marker in a picture with so many of them; what matters may not vanish in a crowd."""
    if number <= 40:
        return MARKER_SIZE
    return SMALL_MARKER if important or number <= 200 else SMALLEST_MARKER


def readable_ticks(axis: Axis, limits: tuple[float, float]) -> None:
    """Every tick with its own full number: no power of ten or offset standing somewhere apart."""
    low, high = limits
    size, span = max(abs(low), abs(high)), high - low
    if 1e-3 <= size < 1e6:
        plain = ScalarFormatter(useOffset=False)
        plain.set_scientific(False)
        axis.set_major_formatter(plain)
        return
    digits = 3 + max(0, math.ceil(math.log10(size / span)))

    def write(value: float, _: float | None) -> str:
        return f"{value if abs(value) > 1e-6 * span else 0.0:.{digits}g}"

    axis.set_major_formatter(FuncFormatter(write))


def new_figure(width: float = SIZE[0], height: float = SIZE[1], title: str = "") -> Figure:
    """An empty figure that makes room for its labels, and for a title; sizes in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    if title:
        figure.suptitle(drawable(title), x=0.01, horizontalalignment="left", parse_math=False)
    return figure


def settle_layout(axes: Axes) -> None:
    """Where text fits depends on where the axes stand, which the layout of the whole figure decides."""
    axes.figure.figure.draw_without_rendering()


def write_legend(axes: Axes, handles: Sequence[Artist]) -> None:
    """A legend above the axes, where no data are, in as many rows as its width asks for."""
    for columns in range(len(handles), 0, -1):
        legend = axes.legend(
            handles=list(handles),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            borderpad=0.0,
            columnspacing=1.4,
            handletextpad=0.4,
            handlelength=1.6,
            ncols=columns,
        )
        if legend.get_window_extent().width <= axes.get_window_extent().width:
            break


def write_legend_below(figure: Any, handles: Sequence[Artist]) -> None:
    """A legend below all axes of a figure, in as many rows as its width asks for."""
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(handles=list(handles), loc="outside lower left", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure; the same figure gives the same file."""
    require(isinstance(path, str | os.PathLike), "path", "the path of a file", path)
    known = sorted(figure.canvas.get_supported_filetypes())
    ending = Path(path).suffix.lower().removeprefix(".")
    require(ending in known, "the ending of the path", f"one of {', '.join(known)}", os.fspath(path))
    # Vector formats carry the time of writing by default.
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with _settings_in_use, mpl.rc_context({"svg.hashsalt": "ramgape"}):
        figure.savefig(path, format=ending, dpi=DOTS_PER_INCH, metadata=stamps.get(ending))


def write_png(figure: Figure, stream: IO[bytes]) -> None:
    """The same as a bitmap into a stream, for a notebook."""
    with _settings_in_use, mpl.rc_context():
        figure.savefig(stream, format="png", dpi=DOTS_PER_INCH)


def write_svg(figure: Figure, stream: IO[str]) -> None:
    """The same as SVG into a stream, for a page."""
    with _settings_in_use, mpl.rc_context({"svg.hashsalt": "ramgape"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})


def drawable(text: str) -> str:
    """The text with a box for every character that no installed font has, and without invisible joiners."""
    invisible, box = "\N{ZERO WIDTH JOINER}\N{VARIATION SELECTOR-16}", "\N{WHITE SQUARE}"
    visible = (letter for letter in text if letter not in invisible)
    return "".join(letter if letter.isascii() or ord(letter) in _letters() else box for letter in visible)


def in_legend(text: str) -> str:
    """The same for a legend, which would take what stands between two dollars for a formula."""
    return drawable(text).replace("$", r"\$")


@cache
def _families() -> tuple[str, ...]:
    installed = set(font_manager.get_font_names())
    return tuple(family for family in FONTS if family in installed)


@cache
def _letters() -> frozenset[int]:
    paths = [font_manager.findfont(family) for family in _families()]
    return frozenset(code for path in paths for code in font_manager.get_font(path).get_charmap())
