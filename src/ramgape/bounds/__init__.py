"""The bounds by name, and the one table of which bound serves which noise, risk and goal.

A bound is a module with three functions: `estimate` turns an arm's statistics into a risk and a box; `learn` adds a
reward first; `constants` writes into the problem what both need of delta and K. `BOUNDS` is the only list; a module is
loaded, and its kernel compiled, when it is first used.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import NamedTuple

from ramgape.errors import known_name, require
from ramgape.risks.table import RISKS

ALL_RISKS = tuple(RISKS)
MOMENTS = tuple(name for name, risk in RISKS.items() if not risk.own_kernels)  # for which every bound has kernels


class Bound(NamedTuple):
    """What a bound is for."""

    module: str
    noises: tuple[str, ...]
    risks: tuple[str, ...]
    goals: tuple[str, ...]
    narrows: bool  # boxes start at what is possible and are intersected over time
    meaning: str


BOUNDS: dict[str, Bound] = {
    "empirical-bernstein": Bound(
        "empirical_bernstein",
        ("bounded",),
        ALL_RISKS,
        ("confidence",),
        True,
        "mixtures that adapt to each arm's variance; 70 to 3,500 times fewer pulls than the paper's",
    ),
    "pairwise": Bound(
        "pairwise",
        ("bounded",),
        MOMENTS,
        ("confidence",),
        True,
        "compares two arms at once instead of by their boxes; with policy evidence fewest pulls on most instances",
    ),
    "empirical-bernstein-stitched": Bound(
        "stitched",
        ("bounded",),
        MOMENTS,
        ("confidence",),
        True,
        "the same idea in closed form; a quarter wider",
    ),
    "gaussian": Bound(
        "gaussian",
        ("gaussian",),
        ALL_RISKS,
        ("confidence",),
        True,
        "Gaussian rewards of unknown variance; no sigma_max is needed",
    ),
    "paper": Bound(
        "paper",
        ("bounded",),
        MOMENTS,
        ("confidence",),
        False,
        "the paper's Hoeffding-Azuma radius; neither clipped nor intersected",
    ),
    "hoeffding": Bound(
        "hoeffding",
        ("bounded",),
        MOMENTS,
        ("confidence",),
        True,
        "the same proof with the constants it allows; at least 4 times fewer pulls",
    ),
    "gaussian-paper": Bound(
        "gaussian_paper",
        ("gaussian",),
        MOMENTS,
        ("confidence",),
        False,
        "the paper's appendix: Gaussian rewards with a known sigma_max",
    ),
    "budget": Bound(
        "budget",
        ("bounded", "gaussian"),
        ALL_RISKS,
        ("budget",),
        False,
        "the paper's sqrt(a/T) for a fixed budget; steers, proves only what Theorem 1 does",
    ),
    "none": Bound(
        "none",
        ("bounded", "gaussian"),
        ALL_RISKS,
        ("budget",),
        True,
        "no intervals while searching, for policies that need none: evidence, and those that eliminate",
    ),
}

# What `auto` stands for: tight, and with intervals that say themselves what was proved.
USUAL = {
    ("bounded", "confidence"): "empirical-bernstein",
    ("gaussian", "confidence"): "gaussian",
    ("bounded", "budget"): "budget",
    ("gaussian", "budget"): "budget",
}
AUTOMATIC = {(noise, risk, goal): bound for (noise, goal), bound in USUAL.items() for risk in BOUNDS[bound].risks}


def resolve_bound(name: str, noise: str, risk: str, goal: str) -> str:
    """The bound meant by a name, or an error that lists the bounds which serve.

    >>> resolve_bound("auto", "bounded", "mean-variance", "confidence")
    'empirical-bernstein'
    """
    known_name(name, ["auto", *BOUNDS], "bound")
    serving = [
        known
        for known, bound in BOUNDS.items()
        if noise in bound.noises and risk in bound.risks and goal in bound.goals
    ]
    if name == "auto" and (noise, risk, goal) in AUTOMATIC:
        return AUTOMATIC[noise, risk, goal]
    if name not in serving:
        choices = ", ".join(["auto", *serving]) if serving else "none exists yet"
        require(False, "bound", f"one that serves {noise} rewards, risk {risk} and a fixed {goal} ({choices})", name)
    return name


def bound_module(name: str) -> ModuleType:
    """The module that implements a bound."""
    return importlib.import_module(f"ramgape.bounds.{BOUNDS[name].module}")
