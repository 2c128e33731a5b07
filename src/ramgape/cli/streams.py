"""What is said on stderr, one line each; the exit codes, and requests to end.

0     done
1     unexpected failure: a traceback, which is a bug worth reporting; or the reader of a pipe went away; or damage that
      `storage check` has found; or a deletion that was not confirmed
2     bad input or usage
130   interrupted
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ramgape.errors import RamgapeError, RamgapeWarning, printable

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
SIGNALLED = 128  # exit codes above it stand for signals
COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE")  # variables by which colours are wanted where there is no terminal


def write_line(text: str) -> None:
    """A line where results go."""
    sys.stdout.write(f"{text}\n")


def write_json(described: dict[str, Any]) -> None:
    """One JSON object where results go (ASCII, so that it survives any terminal)."""
    write_line(json.dumps(described, indent=2, allow_nan=False))


def tell(word: str, text: str, style: str) -> None:
    """One line on stderr, never wrapped, so that scripts can read it; never with a password, nor with what a terminal
    would obey."""
    from ramgape.storage.urls import shown_in

    shown = printable(shown_in(text))
    line = f"{word}: {shown}\n" if text else f"{word}\n"
    if sys.stderr.isatty() or any(os.environ.get(name) for name in COLOURS):
        line = _coloured(word, shown, style)
    # Written to the stream rather than by a console, so that it comes out above a live display, not inside it.
    sys.stderr.write(line)
    sys.stderr.flush()


def _coloured(word: str, text: str, style: str) -> str:
    from rich.text import Text

    from ramgape.common.terminal import messages

    console = messages()
    with console.capture() as line:
        words = Text.assemble((f"{word}:" if text else word, style), " " if text else "", text)
        console.print(words, soft_wrap=True)
    return line.get()


def tell_error(error: BaseException) -> int:
    """Say what has gone wrong, as far as that is known, and give the exit code."""
    if isinstance(error, RamgapeError):
        tell("error", str(error), "bold red")
        return BAD_INPUT
    if isinstance(error, KeyboardInterrupt):
        tell("interrupted", str(error), "bold yellow")
        return INTERRUPTED
    assert isinstance(error, OSError)  # a full disk, say
    tell_unwritten(error)
    return FAILED


def tell_unwritten(error: OSError) -> None:
    """Report an error of the system, unless the reader of a pipe has gone; drop the rest of the output."""
    if not isinstance(error, BrokenPipeError):
        tell("error", str(error), "bold red")
    try:
        sys.stdout.flush()
    except OSError:
        leave_output()


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


def prepare_streams() -> None:
    """Escape letters that the terminal does not know; drop output for a closed stream."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def leave_output() -> None:
    """The pipe is closed or the disk is full: drop what Python writes when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def ending_gently() -> Iterator[list[int]]:
    """Take a request to end for a Ctrl-C, so that no command goes on without us; yields the signals that came."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, frame: object) -> None:
        came.append(number)
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)  # which may be deferred
        else:  # in the background of a script interrupts are ignored, requests to end are not
            raise KeyboardInterrupt

    requests = [signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__]
    usual = {number: signal.getsignal(number) for number in requests}
    changed = [number for number in requests if usual[number] is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number in changed:
            signal.signal(number, usual[number])


def interrupted_by(signals: Sequence[int]) -> int:
    """The exit code of a command that was interrupted by these signals, or by Ctrl-C."""
    return SIGNALLED + signals[0] if signals else INTERRUPTED
