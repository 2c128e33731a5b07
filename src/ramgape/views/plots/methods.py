"""The methods of the benchmark, a bound with a sampling rule each, as figures show them."""

from __future__ import annotations

from matplotlib.lines import Line2D

from ramgape.views.plots import style
from ramgape.views.plots.policies import DASH_DOT, DASHED, DOTTED, LONG_DASHED, SOLID, Look, look_handle, policy_look

_PAPER = (style.GREY, DOTTED, "X", 1.8)
_DEFAULT = (style.PALETTE["blue"], SOLID, "o", 2.2)
_RIVAL = (style.PALETTE["vermillion"], LONG_DASHED, "D", 1.8)

METHODS = {
    "paper + ramgape": Look("paper + ramgape", *_PAPER),
    "gaussian-paper + ramgape": Look("gaussian-paper + ramgape", *_PAPER),
    "empirical-bernstein + ramgape": Look("empirical-bernstein + ramgape", *_RIVAL),
    "gaussian + ramgape": Look("gaussian + ramgape", *_RIVAL),
    "empirical-bernstein-stitched + ramgape": Look(
        "empirical-bernstein-stitched + ramgape", style.PALETTE["sky blue"], DASHED, "s"
    ),
    "pairwise + ramgape": Look("pairwise + ramgape", style.PALETTE["orange"], DASH_DOT, "^"),
    "pairwise + evidence": Look("pairwise + evidence (default)", *_DEFAULT),
    "gaussian-pairwise + evidence": Look("gaussian-pairwise + evidence (default)", *_DEFAULT),
}

# What the samples are compared with, by whether it is a bound.
LEAST = {
    True: Look("lower bound", style.PALETTE["black"], DASHED, "|", 1.3),
    False: Look("Gaussian reference", style.PALETTE["reddish purple"], DASHED, "|", 1.6),
}
SIZES = {"X": 6.0, "D": 4.6, "s": 4.8, "^": 5.4, "o": 5.4}


def method_look(method: str) -> Look:
    """How to draw a method; one without an entry always gets the same look, made from its name."""
    return METHODS.get(method) or policy_look(method)


def method_marker_size(appearance: Look) -> float:
    """Shapes of one size look unequal."""
    return SIZES.get(appearance.marker, 5.4)


def method_handle(method: str, line: bool) -> Line2D:
    """The legend of a method."""
    appearance = method_look(method)
    return look_handle(appearance, method_marker_size(appearance), line)
