"""`reproduce`: the paper's experiments as a book."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from ramgape.paper import crosses, geometry, overall, regret, stopping, theorems
from ramgape.paper.page import Cover
from ramgape.paper.report import Book, Part, Progress, publish
from ramgape.paper.scale import FULL, QUICK

PARTS = {
    "1": Part("experiment1", stopping.plan_one, stopping.tell_one),
    "1-tight": Part("experiment1", stopping.plan_tight, stopping.tell_tight),
    "2": Part("experiment2", crosses.plan, crosses.tell),
    "3": Part("experiment3", regret.plan_three, regret.tell_three),
    "4": Part("experiment4", regret.plan_four, regret.tell_four),
    "gaussian": Part("gaussian", stopping.plan_gaussian, stopping.tell_gaussian),
    "gaps": Part("gaps", geometry.plan, geometry.tell),
    "theorems": Part("theorems", theorems.plan, theorems.tell),
}

COVER = Cover(
    command="reproduce",
    title="RAMGapE, reproduced",
    lead=(
        "Every experiment of <em>Risk-Averse Best Arm Set Identification with Fixed Budget and Fixed Confidence</em> "
        "(Nonaga, Tabata, Mizuno, Komatsuzaki; ACML 2025), run again: the paper's numbers beside ours, its figures "
        "drawn from new runs, and a verdict on each of its claims that runs can test."
    ),
    quick="few patterns and trials, enough to see that everything works",
    footer=(
        "The paper's numbers are quoted from its tables and captions; its figures are not copied, but drawn anew from "
        "our runs."
    ),
)

BOOK = Book(COVER, PARTS, FULL, QUICK, figures=17, overall=overall.findings)


def reproduce(
    parts: Sequence[str],
    out: Path,
    *,
    seed: int = 0,
    quick: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run parts of the paper ("all", or names of `PARTS`) into a folder; see `publish`."""
    return publish(BOOK, parts, out, seed=seed, quick=quick, executor=executor, progress=progress)
