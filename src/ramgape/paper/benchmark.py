"""`benchmark`: the methods of this package against each other, as a book."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from ramgape.paper import budget, race
from ramgape.paper.benchmark_scale import FULL, QUICK
from ramgape.paper.page import Cover
from ramgape.paper.report import Book, Part, Progress, publish
from ramgape.planning import lower_bound

PARTS = {
    "stopping": Part("stopping", race.plan, race.tell, needs=lower_bound.load_solver),
    "budget": Part("budget", budget.plan, budget.tell),
}

COVER = Cover(
    command="benchmark",
    title="ramgape, measured",
    lead=(
        "What each bound and each sampling rule of <code>ramgape</code> costs until it can prove its answer, beside "
        "the paper's and beside what Gaussian arms would take at least; how good the answers are that a budget buys; "
        "and how often they are wrong. On instances that were not chosen by the outcome."
    ),
    quick="few instances and runs, enough to see that everything works",
    footer="Every number is in the CSV files, one line for each method on each instance.",
)

BOOK = Book(COVER, PARTS, FULL, QUICK, figures=9)


def benchmark(
    parts: Sequence[str],
    out: Path,
    *,
    seed: int = 0,
    quick: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run parts of the benchmark ("all", or names of `PARTS`) into a folder; see `publish`."""
    return publish(BOOK, parts, out, seed=seed, quick=quick, executor=executor, progress=progress)
