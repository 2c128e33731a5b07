"""Where it is shown how far something is, while it runs.

On a terminal that is two lines on stderr, which disappear at the end; in a notebook an output that is replaced; where
somebody insists and there is neither, a line of plain text now and then. It is shown by a thread of its own, so that
it lives on while a trial takes its time.
"""

from __future__ import annotations

import importlib
import math
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ramgape.common import terminal
from ramgape.errors import require

if TYPE_CHECKING:
    from rich.console import RenderableType

QUIET = 1.0  # seconds in which nothing is shown: most searches are over by then
BAR = 20  # columns
ROOM = 4  # columns at the right of a terminal that stay empty
UNITS = (("s", 60.0), ("min", 60.0), ("h", 24.0), ("days", math.inf))  # and how many of each are one of the next


class Frame(NamedTuple):
    """What is shown: how much is done, None if unknown, and two lines of words."""

    share: float | None
    first: str
    second: str = ""

    def plain(self) -> str:
        """All of it in a line."""
        done = "" if self.share is None else f"{per_cent(self.share)}: "
        return f"{done}{self.first}{'; ' if self.second else ''}{self.second}"


def per_cent(share: float) -> str:
    """A share, never more than it is.

    >>> per_cent(0.0), per_cent(0.004), per_cent(0.999)
    ('0%', '<1%', '99%')
    """
    return "<1%" if 0.0 < share < 0.01 else f"{int(100.0 * share)}%"


def time_words(seconds: float) -> str:
    """How long something takes, in one unit.

    >>> time_words(0.2), time_words(59.6), time_words(5400), time_words(86400 * 12.3)
    ('1 s', '1 min', '2 h', '12 days')
    """
    left = max(seconds, 1.0)
    for unit, size in UNITS:
        if round(left) < size:
            return f"{round(left):,} {unit}" if (round(left), unit) != (1, "days") else "1 day"
        left /= size
    raise AssertionError("unreachable: the last unit has no end")


class Surface(ABC):
    """A place where frames are shown.

    Attributes:
        pause: Seconds until the next one.
    """

    pause: float

    @abstractmethod
    def show(self, frame: Frame) -> None:
        """Show a frame in place of the one before."""

    def close(self) -> None:  # noqa: B027 - nothing to do, unless it says so
        """Leave nothing behind."""


class Terminal(Surface):
    """Two lines at the bottom of a terminal."""

    pause = 0.125

    def __init__(self) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        console = terminal.messages()
        self._unicode = terminal.knows_unicode(console)
        self._spinner = Spinner("dots" if self._unicode else "line")
        piped = sys.stdout is None or not sys.stdout.isatty()  # what goes into a pipe must not turn up here
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=not piped)
        self._live.start()

    def show(self, frame: Frame) -> None:
        self._live.update(self._lines(frame), refresh=True)

    def close(self) -> None:
        for stream in (sys.stdout, sys.stderr):  # half a line that a trial has printed
            with suppress(Exception):
                stream.flush()
        self._live.update("")
        self._live.stop()

    def _lines(self, frame: Frame) -> RenderableType:
        from rich.console import Group
        from rich.constrain import Constrain
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        bar = ProgressBar(1.0, frame.share or 0.0, width=BAR, pulse=frame.share is None)
        done = "" if frame.share is None else per_cent(frame.share)
        first, second = (
            Text(words, no_wrap=True, overflow="ellipsis" if self._unicode else "crop") for words in frame[1:]
        )
        line = Table.grid(padding=(0, 1, 0, 0))
        line.add_row(self._spinner, bar, done, first)
        lines = Group(line, Padding(second, (0, 0, 0, 2))) if frame.second else line
        # With room for the ^C of an interrupt, which the terminal shows: in a line below, it would hide one from us.
        return Constrain(lines, max(self._live.console.width - ROOM, 1))


class Notebook(Surface):
    """One output of a cell, which is replaced."""

    pause = 0.5

    def __init__(self) -> None:
        display = importlib.import_module("IPython.display").display
        self._handle: Any = display({"text/plain": "", "text/html": ""}, raw=True, display_id=True)

    def show(self, frame: Frame) -> None:
        value = "" if frame.share is None else f' value="{frame.share:.4f}"'
        done = "" if frame.share is None else f"{per_cent(frame.share)} "
        page = f'<progress max="1"{value}></progress> {escape(done + frame.first)}<br>{escape(frame.second)}'
        self._update(frame.plain(), page)

    def close(self) -> None:
        self._update("", "")

    def _update(self, text: str, page: str) -> None:
        self._handle.update({"text/plain": text, "text/html": page}, raw=True)


class Lines(Surface):
    """Lines of plain text, ever more rarely: for a log."""

    longest = 60.0

    def __init__(self) -> None:
        self.pause = 5.0

    def show(self, frame: Frame) -> None:
        self.pause = min(2.0 * self.pause, self.longest)
        sys.stderr.write(f"{frame.plain()}\n")
        sys.stderr.flush()


def in_notebook() -> bool:
    """Whether this runs in a notebook; works without IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def surface_for(progress: bool | None) -> Callable[[], Surface] | None:
    """What opens the place where frames are shown: True and False force it, None means on a terminal or in a notebook.

    Returns:
        None if nothing is shown.
    """
    require(progress is None or isinstance(progress, bool), "progress", "true, false, or None", progress)
    if progress is False:
        return None
    if in_notebook():
        return Notebook
    if terminal.is_watched():
        return Terminal
    return Lines if progress else None


class displayed:  # noqa: N801 - read as the verb of a `with`
    """Show how far something is for as long as this lasts, but for the first second; gives whether anybody watches.

    A class, since a generator would touch the exceptions that go through it, and some refuse that.

    Args:
        progress: As for `surface_for`.
        frame: What to show after so many seconds; None for nothing new.
    """

    def __init__(self, progress: bool | None, frame: Callable[[float], Frame | None]) -> None:
        self._opens, self._frame = surface_for(progress), frame
        self._over = threading.Event()
        # A notebook finds the cell by the context.
        self._thread = threading.Thread(target=copy_context().run, args=(self._show,), name="ramgape-progress")
        self._begun = time.monotonic()

    def __enter__(self) -> bool:
        if self._opens is not None:
            self._thread.start()
        return self._opens is not None

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._opens is not None:
            self._thread.join()

    def _show(self) -> None:
        if self._over.wait(QUIET):
            return
        with suppress(Exception):  # a search must not end because it cannot be shown
            assert self._opens is not None
            surface = self._opens()
            try:
                while not self._over.is_set():
                    shown = self._frame(time.monotonic() - self._begun)
                    if shown is not None:
                        surface.show(shown)
                    self._over.wait(surface.pause)
            finally:
                surface.close()
