"""Where text goes, and what is shown while something runs.

Results go to stdout. Progress goes to stderr, and only if that is a terminal; it disappears when the result is there.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ramgape.common.formatting import plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Display
    from rich.progress import ProgressColumn

    from ramgape.search.identification import Progress

READY = "getting ready"
COMPILING = "compiling (once)"


def output() -> Console:
    """Where results go."""
    from rich.console import Console

    return Console(highlight=False)


def print_object(described: dict[str, Any]) -> None:
    """One JSON object where results go (ASCII, so that it survives any terminal)."""
    sys.stdout.write(json.dumps(described, indent=2, allow_nan=False) + "\n")


def messages() -> Console:
    """Where everything else goes."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def knows_unicode(console: Console) -> bool:
    """Whether more than ASCII may be written."""
    return not console.options.ascii_only


def is_watched() -> bool:
    """Whether somebody is there to see progress."""
    return sys.stderr.isatty()


@functools.cache
def tell_compiling() -> None:
    """Say why the first use takes ten seconds; only once, and above a live display, which is sent what is written."""
    with suppress(AttributeError, OSError, ValueError):  # stderr is missing, or closed
        if is_watched():
            sys.stderr.write(f"{COMPILING}\n")
            sys.stderr.flush()


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A sign of life while something goes on."""
    if not is_watched():
        yield
        return
    with _display() as display:
        display.add_task("", total=None, state=words)
        yield


@contextmanager
def watching_run(budget: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A live line on one search; what is yielded wants its progress."""
    if not is_watched():
        yield None
        return
    with _display() as display:
        task = display.add_task("", total=None, state=READY)

        def show(progress: Progress) -> None:
            done = fraction(progress, budget)
            total = None if done is None else 1.0
            display.update(task, total=total, completed=done, state=state(progress, budget))

        yield show


@contextmanager
def watching_runs(runs: int) -> Iterator[Callable[[int], None] | None]:
    """A live line on many searches; what is yielded wants the number of those that are finished."""
    if not is_watched():
        yield None
        return
    from rich.progress import TextColumn, TimeRemainingColumn

    with _display(TextColumn("left"), TimeRemainingColumn()) as display:
        task = display.add_task("", total=runs, state=count_runs(0, runs))

        def show(finished: int) -> None:
            display.update(task, completed=finished, state=count_runs(finished, runs))

        yield show


@contextmanager
def watching_work() -> Iterator[Callable[[float, float, str], None] | None]:
    """A live line on work of many parts; what is yielded wants what is done, what there is to do, and words."""
    if not is_watched():
        yield None
        return
    from rich.progress import TextColumn, TimeRemainingColumn

    with _display(TextColumn("left"), TimeRemainingColumn()) as display:
        task = display.add_task("", total=None, state=READY)

        def show(done: float, total: float, words: str) -> None:
            display.update(task, completed=done, total=total, state=f"{words}, {done / total:.0%}")

        yield show


def _display(*columns: ProgressColumn) -> Display:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Display

    console = messages()
    spinner = SpinnerColumn("dots" if knows_unicode(console) else "line")
    text = TextColumn("{task.fields[state]}", markup=False)
    bar = BarColumn(bar_width=30)
    return Display(spinner, bar, text, TimeElapsedColumn(), *columns, console=console, transient=True)


def fraction(progress: Progress, budget: bool) -> float | None:
    """How much of a search is done; None where nobody can know.

    Doubt falls like one over the root of the pulls, which tells how many more it takes to bring it below epsilon. A
    search by comparisons is as far as it has proved the places of arms, though the last ones may take longest.
    """
    spent = progress.samples / progress.limit
    if progress.spend is not None:
        spent = max(spent, (progress.spent or 0.0) / progress.spend)
    if budget:
        return spent
    if progress.unproved is not None:
        return 1.0 - progress.unproved / progress.arms
    if not progress.epsilon:
        return None
    return min(1.0, max(spent, (progress.epsilon / max(progress.doubt, progress.epsilon)) ** 2))


def state(progress: Progress, budget: bool) -> str:
    """Where a search stands, in words."""
    if budget:
        return of_budget(progress)
    if progress.unproved is not None:
        return f"{progress.samples:,} pulls, {still_open(progress)}"
    return f"{progress.samples:,} pulls, doubt {progress.doubt:.4g}, ends below {progress.epsilon:g}"


def of_budget(progress: Progress) -> str:
    """How much of a budget is used, in pulls or in money.

    >>> from ramgape.search.identification import Progress
    >>> of_budget(Progress(100, 1000, 0.1, None)), of_budget(Progress(100, 10**9, 0.1, None, spent=2.5, spend=20.0))
    ('100 of 1,000 pulls', '100 pulls for 2.5 of 20')
    """
    if progress.spend is None:
        return f"{progress.samples:,} of {progress.limit:,} pulls"
    return f"{plural(progress.samples, 'pull')} for {progress.spent or 0.0:,.4g} of {progress.spend:,.6g}"


def still_open(progress: Progress) -> str:
    """What a search by comparisons of two arms waits for.

    >>> from ramgape.search.identification import Progress
    >>> still_open(Progress(100, 1000, 0.1, 0.05, arms=10, unproved=3))
    'evidence is missing for 3 of 10 arms'
    """
    return f"evidence is missing for {progress.unproved:,} of {progress.arms:,} arms"


def count_runs(finished: int, runs: int) -> str:
    """How many runs of how many.

    >>> count_runs(12, 2000), count_runs(0, 1)
    ('12 of 2,000 runs', '0 of 1 run')
    """
    return f"{finished:,} of {plural(runs, 'run')}"
