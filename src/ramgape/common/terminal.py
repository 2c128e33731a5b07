"""Where text goes, and what is shown while something runs.

Results go to stdout. Progress goes to stderr, and only if that is a terminal; it disappears when the result is there.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ramgape.common.formatting import plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Display
    from rich.progress import ProgressColumn
    from rich.table import Table

READY = "getting ready"


def output() -> Console:
    """Where results go."""
    from rich.console import Console

    return Console(highlight=False)


def messages() -> Console:
    """Where everything else goes."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def plain_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]] = (),
    *,
    numbers: Container[str] = (),
    whole: Container[str] = (),
    leading: int = 0,
) -> Table:
    """A table without a frame, whose first column stands out.

    Args:
        headings, rows: What is in it; texts are markup of rich.
        numbers: The headings of columns that are aligned to the right.
        whole: The headings of columns that are never broken.
        leading: How many lines are left between two rows.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", leading=leading)
    for heading in headings:
        style, side = "" if table.columns else "bold cyan", "right" if heading in numbers else "left"
        table.add_column(heading, style=style, justify=side, overflow="fold", no_wrap=heading in whole)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    return table


def knows_unicode(console: Console) -> bool:
    """Whether more than ASCII may be written."""
    return not console.options.ascii_only


def is_watched() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def compiling() -> Iterator[None]:
    """Say on one line of stderr that something is being compiled, and how long it took."""
    begun = time.monotonic()
    _write("compiling this kind of simulation, once (up to a minute) ...", "\n" if is_watched() else " ")
    yield
    if not is_watched():
        _write(f"done in {time.monotonic() - begun:.0f} s", "\n")


@functools.cache
def tell_slow() -> None:
    """Say once that simulations would be faster with the compiler."""
    _write("Simulations run some hundred times faster with Numba: pip install 'ramgape[fast]'", "\n")


def _write(words: str, end: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # stderr is missing, or closed
        sys.stderr.write(words + end)
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


def count_runs(finished: int, runs: int) -> str:
    """How many runs of how many.

    >>> count_runs(12, 2000), count_runs(0, 1)
    ('12 of 2,000 runs', '0 of 1 run')
    """
    return f"{finished:,} of {plural(runs, 'run')}"
