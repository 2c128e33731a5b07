"""What goes wrong, as one line on stderr and an exit code.

0     done
1     unexpected failure: a traceback, which is a bug worth reporting; or the reader of a pipe went away; or damage that
      `storage check` has found; or a deletion that was not confirmed
2     bad input or usage
130   interrupted
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from ramgape.errors import RamgapeError, RamgapeWarning, printable
from ramgape.storage.urls import shown_in

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
# Arguments that were not understood. Typer has Click's class inside itself or beside it, depending on its version.
USAGE: type[Exception] = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "UsageError")


class Commands(TyperGroup):
    """The commands, guarded as a whole."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments before a command."""
        with usage_printable():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run one."""
        with guarded():
            return super().invoke(ctx)


@contextmanager
def usage_printable() -> Iterator[None]:
    """Let a complaint about arguments quote them without a password, and without what a terminal would obey."""
    try:
        yield
    except USAGE as error:
        error.message = printable(shown_in(error.message))  # type: ignore[attr-defined]
        raise


@contextmanager
def guarded() -> Iterator[None]:
    """Tell of the library's errors and warnings, of an interrupt and of a closed pipe, without a traceback."""
    try:
        with warnings_told(), usage_printable():
            yield
    except RamgapeError as error:
        tell("error", str(error), "bold red")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt as interrupt:
        tell("interrupted", str(interrupt), "bold yellow")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:  # a full disk, say
        tell_unwritten(error)
        raise typer.Exit(FAILED) from None


def tell_unwritten(error: OSError) -> None:
    """Say what the system would not do, unless it is only that nobody reads on; and let the rest of the output go."""
    if not isinstance(error, BrokenPipeError):
        tell("error", str(error), "bold red")
    try:
        sys.stdout.flush()
    except OSError:
        leave_output()


@contextmanager
def output_flushed() -> Iterator[None]:
    """See to it that the output has arrived; Python itself would complain of that only in passing."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        tell_unwritten(error)
        raise SystemExit(FAILED) from None


@contextmanager
def warnings_told() -> Iterator[list[str]]:
    """Show the library's warnings as lines, without Python's file and line; yields those shown so far."""
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", RamgapeWarning)
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, RamgapeWarning):
                told.append(str(message))
                tell("warning", str(message), "bold yellow")
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        yield told


def tell(word: str, text: str, style: str) -> None:
    """One line on stderr, never wrapped, so that scripts can read it; never with a password, nor with what a terminal
    would obey."""
    from rich.text import Text

    from ramgape.views.terminal import messages

    console = messages()
    with console.capture() as line:
        shown = printable(shown_in(text))
        words = Text.assemble((f"{word}:" if text else word, style), " " if text else "", shown)
        console.print(words, soft_wrap=True)
    # Written to the stream rather than by the console, so that it comes out above a live display, not inside it.
    sys.stderr.write(line.get())
    sys.stderr.flush()


def prepare_streams() -> None:
    """Write out letters that the terminal does not know, rather than fail; let what nobody wants go nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started this process
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def leave_output() -> None:
    """Nobody reads on, or there is no room: let what Python still wants to write at its end go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
