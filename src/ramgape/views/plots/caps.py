"""Runs against a bound on their pulls: how near the most pulled arm of each run came to it, and who went over."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.views.plots import style

HALF = 0.3  # of the height of a row that dots may take
NEXT = 0.08  # distance of two dots above each other, where there are few
BINS = 70  # dots nearer than this part of the axis lie above each other

Row = tuple[float, Sequence[int], int, int]  # epsilon, most pulls of an arm in each run, the paper's cap, the cap

BELOW = {"color": style.PALETTE["blue"], "marker": "o"}
ABOVE = {"color": style.PALETTE["vermillion"], "marker": "^"}


def draw_caps(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a row of dots per epsilon, one dot per run, as parts of the correct cap."""
    ratios = [[count / cap for count in counts] for _, counts, _, cap in rows]
    everything = [*(ratio for group in ratios for ratio in group), *(paper / cap for _, _, paper, cap in rows), 1.0]
    low, high = min(everything), max(everything)
    margin = 0.06 * ((high - low) or 1.0)
    axes.set_xlim(low - margin, high + margin)
    axes.axvline(1.0, color=style.PALETTE["black"], linewidth=1.6, zorder=2)
    for height, ((_, counts, paper, cap), group) in enumerate(zip(rows, ratios, strict=True)):
        axes.plot(
            [paper / cap, paper / cap],
            [height - 0.42, height + 0.42],
            color=style.PALETTE["black"],
            linewidth=1.4,
            linestyle=(0, (3, 1.5)),
            zorder=2,
        )
        offsets = swarm(group, (high - low) / BINS, HALF)
        for over, look in ((False, BELOW), (True, ABOVE)):
            chosen = [index for index, count in enumerate(counts) if (count > paper) == over]
            axes.plot(
                [group[index] for index in chosen],
                [height + offsets[index] for index in chosen],
                linestyle="none",
                markersize=5.0,
                markeredgecolor="white",
                markeredgewidth=0.4,
                zorder=3,
                **look,  # type: ignore[arg-type]
            )
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_yticks(range(len(rows)), [f"ε = {epsilon:g}" for epsilon, *_ in rows])
    axes.tick_params(axis="y", length=0.0)
    axes.grid(visible=False, axis="y")
    for height, (_, counts, paper, cap) in enumerate(rows):
        above = sum(count > paper for count in counts)
        axes.annotate(
            f"correct: {cap:,}\npaper's: {paper:,}\nabove it: {above:,} of {len(counts):,}",
            (1.0, height),
            xycoords=axes.get_yaxis_transform(),
            xytext=(8.0, 0.0),
            textcoords="offset points",
            verticalalignment="center",
            annotation_clip=False,
        )


def swarm(values: Sequence[float], width: float, half: float) -> list[float]:
    """How far to move each dot up or down so that dots nearer than `width` do not hide each other.

    >>> swarm([0.0, 5.0, 5.1], width=1.0, half=0.3)
    [0.0, 0.0, 0.08]
    """
    bins: dict[int, list[int]] = {}
    for index, value in enumerate(values):
        bins.setdefault(round(value / width) if width > 0.0 else 0, []).append(index)
    most = max((len(members) for members in bins.values()), default=1)
    step = min(half / max(1, most // 2), NEXT)
    offsets = [0.0] * len(values)
    for members in bins.values():
        for rank, index in enumerate(members):  # 0, 1, -1, 2, -2, ...
            offsets[index] = (rank + 1) // 2 * (1 if rank % 2 else -1) * step + 0.0
    return offsets


def cap_handles() -> list[Line2D]:
    """The legend of these rows."""
    black = style.PALETTE["black"]
    return [
        Line2D([], [], linestyle="none", markersize=6.0, label="one run", **BELOW),  # type: ignore[arg-type]
        Line2D([], [], linestyle="none", markersize=6.0, label="above the paper's cap", **ABOVE),  # type: ignore[arg-type]
        Line2D([], [], color=black, linewidth=1.4, linestyle=(0, (3, 1.5)), label="the paper's cap"),
        Line2D([], [], color=black, linewidth=1.6, label="the correct cap"),
    ]
