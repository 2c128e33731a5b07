"""What disturbs measurements, as far as it shows: one line, with a remedy that this tool has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramgape.commands.times import Times
from ramgape.common.formatting import cut, plural
from ramgape.errors import printable

CPUS = Path("/sys/devices/system/cpu")
STEADY = ("performance", "userspace")  # governors that keep the frequency
CHANGED = 0.1  # part of the frequency of a processor
BUSY = 1.0  # processes that run besides, for each processor
FEW = 0.05  # part of the runs: fewer outliers need no other measure
NAME_WIDTH = 24


class Machine(NamedTuple):
    """How the machine is at a moment: the frequencies of its processors in kHz, their governors, its load."""

    frequencies: tuple[float, ...]
    governors: frozenset[str]
    load: float

    @classmethod
    def now(cls, cpus: Path = CPUS) -> Machine:
        """As the system tells; nothing where it does not."""
        found, governors = [], set()
        for path in sorted(cpus.glob("cpu[0-9]*/cpufreq")):
            with suppress(OSError, ValueError):
                found.append(float((path / "scaling_cur_freq").read_text()))
                governors.add((path / "scaling_governor").read_text().strip())
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return cls(tuple(found), frozenset(governors), load)


def noise_words(times: Sequence[Times], drifting: Sequence[str], before: Machine, after: Machine, warmup: int) -> str:
    """What was detected, in one line; empty if nothing was."""
    return "; ".join(_signs(times, drifting, before, after, warmup))


def _signs(
    times: Sequence[Times], drifting: Sequence[str], before: Machine, after: Machine, warmup: int
) -> Iterator[str]:
    if drifting:
        names = ", ".join(_short(name) for name in drifting[:3])
        yield f"the times of {names} drift or depend on each other (--prepare restores a state before each run)"
    first = [each for each in times if each.outliers[:1] == (0,) and each.times[0] > each.mean]
    if first and not warmup:
        ratio = max(each.times[0] / min(each.times) for each in first)
        yield f"the first run of {_short(first[0].name)} took up to {ratio:.1f} times as long (--warmup 3 fills caches)"
    far = sum(len(each.outliers) for each in times) - (0 if warmup else len(first))
    runs = sum(len(each.times) for each in times)
    if far > FEW * runs or (far and runs < 1.0 / FEW):
        yield f"{plural(far, 'outlier')} in {plural(runs, 'run')} (-m 30 makes more runs; each counts for less then)"
    if before.frequencies and after.frequencies:
        change = max(abs(b / a - 1.0) for a, b in zip(before.frequencies, after.frequencies, strict=False) if a > 0.0)
        if change > CHANGED and not after.governors <= set(STEADY):
            governor = ", ".join(sorted(after.governors))
            yield (
                f"the processor changed its frequency by {100.0 * change:.0f}% (governor {governor}; "
                "--warmup 10 has it settle first)"
            )
    cores = os.cpu_count() or 1
    # Our own runs are a load of one.
    if before.load > BUSY * cores:
        busy = f"other programs are running, load {before.load:.1f} on {plural(cores, 'processor')}"
        yield f"{busy} (-m 30 averages over that)"


def _short(name: str) -> str:
    return cut(printable(name), NAME_WIDTH)
