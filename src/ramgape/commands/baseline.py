"""An earlier export, by this tool or by hyperfine, and whether commands are slower now."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramgape.commands.times import Times, times_interval
from ramgape.errors import InvalidData, require

if TYPE_CHECKING:
    from ramgape.commands.times import Timing

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"
EXIT_CODES = {PROVED: 0, REFUTED: 1, UNDECIDED: 3}
LARGEST = 2**28  # bytes


@dataclass(frozen=True, slots=True)
class Baseline:
    """Earlier runs of commands.

    Attributes:
        path: The file.
        times: Of each command.
        machine: Where they were made; empty where the file does not say.
    """

    path: str
    times: tuple[Times, ...]
    machine: Mapping[str, Any]

    def of(self, name: str) -> Times | None:
        """The runs that a command is compared with: those of the same name, or of the only command there is."""
        same = next((each for each in self.times if each.name == name), None)
        return self.times[0] if same is None and len(self.times) == 1 else same

    def differences(self) -> list[str]:
        """In what this machine differs from the earlier one."""
        here = this_machine()
        return [
            f"{key} {self.machine[key]} then, {here[key]} now"
            for key in here
            if key in self.machine and self.machine[key] != here[key]
        ]

    def verdicts(self, timing: Timing, tolerance: float) -> Iterator[tuple[Times, Times, tuple[float, float], str]]:
        """Each command that has a baseline, that, where the ratio is, and what is proved of it."""
        for each in timing.times:
            if (earlier := self.of(each.name)) is not None:
                ends = times_interval(each, earlier)
                yield each, earlier, ends, verdict(ends, tolerance)

    def to_dict(self, timing: Timing) -> dict[str, Any]:
        """What comes out of the comparison."""
        rows = self.verdicts(timing, timing.tolerance or 0.0)
        return {
            "file": self.path,
            "machine_differs": self.differences(),
            "commands": [
                {"name": each.name, "times_as_long": each.mean / earlier.mean, "interval": list(ends), "verdict": told}
                for each, earlier, ends, told in rows
            ],
        }


def verdict(ends: tuple[float, float], tolerance: float) -> str:
    """Whether a command is proved to take no more than 1 + tolerance times as long, or proved to take more.

    >>> verdict((0.97, 1.03), 0.05), verdict((1.2, 1.4), 0.05), verdict((0.9, 1.2), 0.05)
    ('proved', 'refuted', 'undecided')
    """
    low, high = ends
    if high <= 1.0 + tolerance:
        return PROVED
    return REFUTED if low > 1.0 + tolerance else UNDECIDED


def this_machine() -> dict[str, Any]:
    """What times depend on, as far as it is known."""
    found: dict[str, Any] = {
        "system": f"{platform.system()} {platform.release()}",
        "host": platform.node(),
        "architecture": platform.machine(),
        "processors": os.cpu_count() or 0,
    }
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        found |= {"processor": models[0]} if models else {}
    return found


def read_baseline(path: str) -> Baseline:
    """The runs in a JSON file of this tool or of hyperfine."""
    with_times = "a JSON file that --export-json of this tool or of hyperfine wrote"
    try:
        require(Path(path).stat().st_size <= LARGEST, "--baseline", with_times, path, InvalidData)
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidData(what="--baseline", allowed=with_times, given=repr(path), hint=f": {error}") from None
    results = found.get("results") if isinstance(found, dict) else None
    require(isinstance(results, list) and bool(results), "--baseline", with_times, path, InvalidData)
    machine = found.get("machine")
    rows = tuple(_row(each, path) for each in results or ())
    return Baseline(path, rows, machine if isinstance(machine, dict) else {})


def _row(each: Any, path: str) -> Times:
    allowed = f"in {path}: a command with its times, each a number of seconds"
    times = each.get("times") if isinstance(each, dict) else None
    usable = isinstance(times, list) and all(
        isinstance(time, int | float) and math.isfinite(time) and time >= 0.0 for time in times
    )
    require(usable and bool(times) and isinstance(each.get("command"), str), "every result", allowed, each, InvalidData)
    assert times is not None
    codes = each.get("exit_codes")
    return Times(
        each["command"],
        tuple(map(float, times)),
        tuple(codes) if isinstance(codes, list) else (),
        failed=int(each.get("cut_off") or 0),
    )


def verdict_of(timing: Timing) -> str:
    """Whether what is asked is proved: of commands with a baseline or a reference, that none is slower than that."""
    tolerance, report = timing.tolerance or 0.0, timing.report
    if timing.baseline is not None:
        found = {told for *_, told in timing.baseline.verdicts(timing, tolerance)}
    elif timing.reference is not None:
        others = [each for each in timing.times if each is not timing.compared]
        found = {verdict(timing.ratio_interval(each), tolerance) for each in others}
    else:
        reached = timing.ended == "enough" if report is None else report.result.goal_reached
        found = {PROVED if reached else UNDECIDED}
    return next(each for each in (REFUTED, UNDECIDED, PROVED) if each in found or each == PROVED)
