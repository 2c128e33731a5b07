"""The sampling rules as figures show them: a name for readers, a colour, a line and a marker.

Relatives share a colour (the two that eliminate by empirical gaps, the two round-robins that skip arms) and differ in
line and marker, so that rules stay apart with few colours, and without any colour at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from matplotlib.lines import Line2D

from ramgape.views.plots.style import BROWN, GREY, PALETTE, drawable

Dashes = tuple[int, tuple[float, ...]]  # as matplotlib has it: an offset, then lengths of strokes and gaps

SOLID: Dashes = (0, ())
DASHED: Dashes = (0, (5.0, 1.6))
DOTTED: Dashes = (0, (1.2, 1.4))
DASH_DOT: Dashes = (0, (6.0, 1.6, 1.2, 1.6))
DASH_DOT_DOT: Dashes = (0, (6.0, 1.4, 1.2, 1.4, 1.2, 1.4))
LONG_DASHED: Dashes = (0, (9.0, 2.2))


@dataclass(frozen=True, slots=True)
class Look:
    """How one sampling rule is drawn, in every figure alike."""

    name: str
    colour: str
    dashes: Dashes
    marker: str
    width: float = 1.5


LOOKS = {
    "ramgape": Look("RAMGapE", PALETTE["blue"], SOLID, "o", width=2.2),
    "ra-lucb": Look("RA-LUCB", PALETTE["orange"], LONG_DASHED, "s"),
    "round-robin": Look("Round-Robin", GREY, DOTTED, "X", width=1.8),
    "de-round-robin": Look("DE Round-Robin", PALETTE["bluish green"], DASH_DOT, "D"),
    "lie-round-robin": Look("LIE Round-Robin", PALETTE["bluish green"], DASHED, "^"),
    "xi-lcb": Look("ξ-LCB", PALETTE["reddish purple"], DASH_DOT, "v"),
    "hvi-pareto": Look("HVI-Pareto", PALETTE["vermillion"], DASH_DOT_DOT, "P"),
    "egp": Look("EGP", PALETTE["sky blue"], SOLID, "D"),
    "ege-sr": Look("EGE-SR", BROWN, DASHED, ">"),
    "ege-sh": Look("EGE-SH", BROWN, DASH_DOT_DOT, "<"),
    "psi-unif-elim": Look("PSI-Unif-Elim", PALETTE["vermillion"], DASHED, "h"),
    "ape": Look("APE", PALETTE["reddish purple"], LONG_DASHED, "d"),
    "successive-rejects": Look("Successive Rejects", BROWN, LONG_DASHED, ">"),
    "sequential-halving": Look("Sequential Halving", PALETTE["vermillion"], LONG_DASHED, "<"),
    "va-lucb": Look("VA-LUCB", PALETTE["sky blue"], LONG_DASHED, "h"),
    "evidence": Look("Evidence (ours)", PALETTE["black"], SOLID, "*", width=2.2),
}

# For rules that nobody has given a look: yellow is left out, which is too pale for a thin line on white.
_COLOURS = [colour for name, colour in PALETTE.items() if name != "yellow"]
_DASHES = (SOLID, DASHED, DOTTED, DASH_DOT, LONG_DASHED)
_MARKERS = "os^DvPX<>*"


def policy_look(policy: str) -> Look:
    """How to draw a sampling rule; one without an entry always gets the same look, made from its name.

    >>> policy_look("ramgape").name, policy_look("my-rule").name
    ('RAMGapE', 'my-rule')
    """
    if policy in LOOKS:
        return LOOKS[policy]
    number = crc32(policy.encode())
    number, colour = divmod(number, len(_COLOURS))
    number, dashes = divmod(number, len(_DASHES))
    return Look(policy, _COLOURS[colour], _DASHES[dashes], _MARKERS[number % len(_MARKERS)])


def look_handle(appearance: Look, size: float, line: bool = True) -> Line2D:
    """The legend of what looks so, with a marker of that size, and a line unless that is left out."""
    return Line2D(
        [],
        [],
        color=appearance.colour,
        linestyle=appearance.dashes if line else "none",
        linewidth=appearance.width,
        marker=appearance.marker,
        markersize=size,
        markeredgecolor="white",
        markeredgewidth=0.5,
        label=drawable(appearance.name),
    )


def hollow_handle(label: str) -> Line2D:
    """The legend of what hollow marks mean."""
    edges = {"markerfacecolor": "white", "markeredgecolor": GREY}
    return Line2D([], [], linestyle="none", marker="o", markersize=6.0, label=label, **edges)  # type: ignore[arg-type]


def name_outside(policy: str) -> str:
    """The name of a rule in a figure of the paper that does not have it there.

    >>> name_outside("ege-sr"), name_outside("evidence")
    ('EGE-SR (not in the paper)', 'Evidence (ours, not in the paper)')
    """
    name = policy_look(policy).name
    return f"{name[:-1]}, not in the paper)" if name.endswith(")") else f"{name} (not in the paper)"
