"""New processes: the way to the first pull, with nothing compiled yet and with everything on disk, and the help.

Seconds on the wall, as a user waits for them, from the first line of a script that begins with `import ramgape`; the
processor's seconds of the whole process stand in the JSON beside them, because they mind other processes less.

The compile cache is a fresh temporary folder, named by NUMBA_CACHE_DIR: empty for the first use, and then used again.
Only simulations use it. The cache that these benchmarks use themselves stays as it is.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import Case, Row, Spread

resource: Any = importlib.import_module("resource") if find_spec("resource") else None  # not on Windows

FIRST_PULL = "to the first pull"
COMMAND = "the command"

HEAD = "import time; begun = time.perf_counter(); import ramgape"
IDENTIFY = f"""{HEAD}
def pull(arm):
    moments.append(time.perf_counter())
    return 0.5
moments = []
ramgape.identify(pull, ["a", "b"], reward_range=(0, 1), epsilon=0.05, max_trials=4)
print(moments[0] - begun)
"""
SIMULATE = f"""{HEAD}
ramgape.simulate("paper:46", epsilon=0.05, max_trials=20)
print(time.perf_counter() - begun)
"""


class Took(NamedTuple):
    """How long a process took: what it printed, the time until it ended, and the processor's time."""

    printed: str
    wall: float
    processor: float


def cases(quick: bool) -> Iterator[Case]:
    """First uses and later ones, then the help."""
    repeats = 1 if quick else 5
    yield first_pull("identify", IDENTIFY, repeats, 5.0, 1.0)
    if not quick:
        yield first_pull("simulate", SIMULATE, repeats, None, None)
    if find_spec("ramgape.cli") is not None:
        yield show_help(1 if quick else 11)


def first_pull(word: str, script: str, repeats: int, first_target: float | None, later_target: float | None) -> Case:
    """A script in a new process with an empty cache, and again in another with what the first has left there."""

    def measure() -> Iterator[Row]:
        first, later = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                first.append(run(sys.executable, "-c", script, cache=folder))
                later.append(run(sys.executable, "-c", script, cache=folder))
        for when, found, target in (("first use ever", first, first_target), ("later process", later, later_target)):
            spread = Spread.of([float(took.printed) for took in found])
            details = {"processor_seconds": Spread.of([took.processor for took in found])._asdict()}
            yield Row(FIRST_PULL, f"{word}, {when}", "s", spread, target, details=details)

    return Case(f"{word} in a new process", measure)


def show_help(repeats: int) -> Case:
    """`ramgape --help`, and how many empty Python processes it is worth."""

    def measure() -> Iterator[Row]:
        script = Path(sys.executable).with_name("ramgape")
        command = [str(script)] if script.exists() else [sys.executable, "-m", "ramgape"]
        times, ratios = [], []
        for _ in range(repeats):
            shown, empty = run(*command, "--help"), run(sys.executable, "-c", "pass")
            times.append(shown.wall)
            ratios.append(shown.processor / empty.processor)
        yield Row(COMMAND, "ramgape --help", "s", Spread.of(times), 0.3)
        yield Row(COMMAND, "ramgape --help, in empty processes", "times", Spread.of(ratios))

    return Case("ramgape --help", measure)


def run(*command: str, cache: str | None = None) -> Took:
    """Run a command to its end."""
    environment = os.environ if cache is None else os.environ | {"NUMBA_CACHE_DIR": cache}
    processor = children_seconds()
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Took(done.stdout, time.perf_counter() - begun, children_seconds() - processor)


def children_seconds() -> float:
    """Processor time of all processes that were started here and have ended."""
    if resource is None:
        times = os.times()  # coarser
        return times.children_user + times.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(used.ru_utime + used.ru_stime)
