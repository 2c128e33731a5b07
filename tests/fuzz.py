"""Fuzzing: every verb of the command and every public call, with values that nobody means.

Each case has a number, from which everything in it is drawn: the odd ones are commands, the even ones calls in Python.
`python -m tests.fuzz 17` makes case 17 again and says what it is; `python -m tests.fuzz 0 5000` makes the first 5,000
and prints a line for each that fails.
"""

from __future__ import annotations

import random
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main

from ramgape import RamgapeWarning
from tests import fuzz_calls, fuzz_commands
from tests.cli_support import PLAIN
from tests.fuzz_world import STORE, World

PATIENCE = 300.0  # seconds for one case, which takes some milliseconds unless something must be compiled first
MEMORY = 4 * 2**30  # bytes: whoever reads a device without end gets to know


class Hang(BaseException):
    """A case that does not end."""


class Fuzz:
    """Makes cases, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)

    def run(self, number: int) -> tuple[str, list[str]]:
        """Make a case; what it is, on one line, and what is wrong with what happened."""
        rng = random.Random(f"ramgape {number}")
        road: Any = fuzz_commands if number % 2 else fuzz_calls
        case = road.draw_case(rng, self.world)
        text = road.written(case)
        with self.ready():
            try:
                with in_time(), noticing_warnings():
                    return text, road.run_case(case, self.world, rng)
            except Hang:
                return text, [f"not done after {PATIENCE:g} seconds"]

    @contextmanager
    def ready(self) -> Iterator[None]:
        """A new folder, and an environment that is the same everywhere."""
        with pytest.MonkeyPatch.context() as patch:
            folder = self.world.renew()
            patch.chdir(folder)
            patch.setenv("XDG_STATE_HOME", f"{folder}-state")  # tokens are kept there
            patch.setenv("RAMGAPE_STORAGE", f"sqlite:///{STORE}")
            for name, value in PLAIN.items():
                patch.delenv(name, raising=False)
                if value is not None:
                    patch.setenv(name, value)
            patch.setattr(typer.main, "get_command", lambda _: fuzz_commands.command())  # which takes long to make
            yield


@contextmanager
def in_time() -> Iterator[None]:
    """End what takes too long. Compiled code cannot be ended so: whoever starts many cases must not wait for ever."""

    def ring(*_: object) -> None:
        raise Hang

    usual = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, usual)


@contextmanager
def noticing_warnings() -> Iterator[None]:
    """Take every warning but ours for an error: NumPy's about what overflows, Python's about what was left open."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=RamgapeWarning)
        warnings.filterwarnings("ignore", message="First-class function type feature is experimental")
        yield


def main(first: int, count: int | None) -> int:
    """Make cases and print what is wrong."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder))
        for number in range(first, first + (count or 1)):
            sys.stderr.write(f"case {number}\n")  # what was under way, if this process does not come to its end
            sys.stderr.flush()
            text, wrong = fuzz.run(number)
            if wrong or count is None:
                print(f"python -m tests.fuzz {number}  # {text}: {'; '.join(wrong) or 'fine'}", flush=True)  # noqa: T201
            failed += bool(wrong)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None))
