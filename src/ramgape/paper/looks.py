"""How figures show sampling rules and methods: a name for readers, a color, a line and a marker.

Related rules share a color (the two that eliminate by empirical gaps, the two round-robins that skip arms) and differ
in line and marker, so that rules can be told apart with few colors, and without any color at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
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

SIZES = {"*": 9.0, "X": 6.5, "P": 6.5, "D": 4.8, "s": 4.8}  # shapes of one size look unequal


@dataclass(frozen=True, slots=True)
class Look:
    """How one rule or method is drawn, in every figure alike."""

    name: str
    colour: str
    dashes: Dashes
    marker: str
    width: float = 1.5

    @property
    def line(self) -> dict[str, Any]:
        """How its line is drawn."""
        return {"color": self.colour, "linestyle": self.dashes, "linewidth": self.width}

    def mark(self, hollow: bool = False) -> dict[str, Any]:
        """How its marker is drawn; a hollow one says that the number is a limit, or zero."""
        return {
            "marker": self.marker,
            "markersize": SIZES.get(self.marker, 5.5),
            "markerfacecolor": "white" if hollow else self.colour,
            "markeredgecolor": self.colour if hollow else "white",
            "markeredgewidth": 1.0 if hollow else 0.5,
        }

    def handle(self, line: bool = True) -> Line2D:
        """Its entry in a legend."""
        style = self.line if line else {"linestyle": "none"}
        return Line2D([], [], **style, **self.mark(), label=drawable(self.name))


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

_PAPER = (GREY, DOTTED, "X", 1.8)
_RIVAL = (PALETTE["vermillion"], LONG_DASHED, "D", 1.8)
_DEFAULT = (PALETTE["blue"], SOLID, "o", 2.2)
_STITCHED = "empirical-bernstein-stitched + ramgape"

# The methods of the benchmark, a bound with a sampling rule each.
METHODS = {
    "paper + ramgape": Look("paper + ramgape", *_PAPER),
    "gaussian-paper + ramgape": Look("gaussian-paper + ramgape", *_PAPER),
    "empirical-bernstein + ramgape": Look("empirical-bernstein + ramgape", *_RIVAL),
    "gaussian + ramgape": Look("gaussian + ramgape", *_RIVAL),
    _STITCHED: Look(_STITCHED, PALETTE["sky blue"], DASHED, "s"),
    "pairwise + ramgape": Look("pairwise + ramgape", PALETTE["orange"], DASH_DOT, "^"),
    "pairwise + evidence": Look("pairwise + evidence (default at epsilon 0)", *_DEFAULT),
    "gaussian-pairwise + evidence": Look("gaussian-pairwise + evidence (default)", *_DEFAULT),
}

# What the samples are compared with, by whether it is a bound.
LEAST = {
    True: Look("lower bound", PALETTE["black"], DASHED, "|", 1.3),
    False: Look("reference", PALETTE["reddish purple"], DASHED, "|", 1.6),
}

# For rules without an entry; yellow is too pale for a thin line on white.
_COLOURS = [colour for name, colour in PALETTE.items() if name != "yellow"]
_DASHES = (SOLID, DASHED, DOTTED, DASH_DOT, LONG_DASHED)
_MARKERS = "os^DvPX<>*"


def policy_look(policy: str) -> Look:
    """How to draw a rule or a method; one without an entry always gets the same look, made from its name.

    >>> policy_look("ramgape").name, policy_look("my-rule").name
    ('RAMGapE', 'my-rule')
    """
    if policy in LOOKS or policy in METHODS:
        return LOOKS.get(policy) or METHODS[policy]
    number, colour = divmod(crc32(policy.encode()), len(_COLOURS))
    number, dashes = divmod(number, len(_DASHES))
    return Look(policy, _COLOURS[colour], _DASHES[dashes], _MARKERS[number % len(_MARKERS)])
