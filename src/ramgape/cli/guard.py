"""What goes wrong, as one line on stderr and an exit code.

0     done
1     unexpected failure: a traceback, which is a bug worth reporting; or the reader of a pipe went away; or damage that
      `storage check` has found
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

from ramgape.errors import RamgapeError, RamgapeWarning
from ramgape.storage.urls import shown_in

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
# Arguments that were not understood. Typer has Click's class inside itself or beside it, depending on its version.
USAGE: type[Exception] = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "UsageError")


class Commands(TyperGroup):
    """The commands, guarded as a whole."""

    def invoke(self, ctx: Any) -> Any:
        """Run one."""
        with guarded():
            return super().invoke(ctx)


@contextmanager
def guarded() -> Iterator[None]:
    """Tell of the library's errors and warnings, of an interrupt and of a closed pipe, without a traceback."""
    try:
        with warnings_told():
            yield
    except USAGE as error:
        error.message = shown_in(error.message)  # type: ignore[attr-defined]
        raise
    except RamgapeError as error:
        tell("error", str(error), "bold red")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt as interrupt:
        tell("interrupted", str(interrupt), "bold yellow")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        leave_pipe()
        raise typer.Exit(FAILED) from None
    except OSError as error:  # a full disk, say
        tell("error", str(error), "bold red")
        raise typer.Exit(FAILED) from None


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
    """One line on stderr, never wrapped, so that scripts can read it; and never with a password."""
    from rich.text import Text

    from ramgape.terminal import messages

    console = messages()
    with console.capture() as line:
        words = Text.assemble((f"{word}:" if text else word, style), " " if text else "", shown_in(text))
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


def leave_pipe() -> None:
    """Nobody reads on: let what Python still wants to write at its end go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
