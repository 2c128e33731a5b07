"""What was measured of commands, in files of the form that hyperfine writes, so that its scripts can read them."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from ramgape.commands.counted_runs import cut_off_words, exits_words
from ramgape.commands.times import Times
from ramgape.common.formatting import Unit, time_unit
from ramgape.common.whole_files import is_stream
from ramgape.errors import InvalidSpec, printable, require, shorten
from ramgape.search.explained import jsonable
from ramgape.studies.files import written

Writer = Callable[[Sequence[Times]], str]


def as_json(measured: Sequence[Times]) -> str:
    """One object: "results", in the order of the commands, with every run in its order; all in seconds.

    A command with runs that were cut off has their number in a field that hyperfine has not, "cut_off".
    """
    results = [
        {
            "command": each.name,
            "mean": each.mean,
            "stddev": each.std if len(each.times) > 1 else None,
            "median": statistics.median(each.times),
            "user": each.user,
            "system": each.system,
            "min": min(each.times),
            "max": max(each.times),
            "times": list(each.times),
            "exit_codes": list(each.exit_codes),
            **({"cut_off": each.failed} if each.failed else {}),
        }
        for each in measured
        if each.times
    ]
    return json.dumps(jsonable({"results": results}), indent=2, allow_nan=False) + "\n"


def as_markdown(measured: Sequence[Times]) -> str:
    """A table; "Relative" is how many times as long as the fastest, with the standard deviation of the quotient of two
    runs: what hyperfine means by it, and no interval. Below it, which runs were cut off, and which failed."""
    seen = [each for each in measured if each.times]
    if not seen:
        return ""
    fastest = min(seen, key=lambda each: each.mean)
    unit = time_unit(fastest.mean)
    lines = [f"| Command | Mean [{unit.name}] | Min [{unit.name}] | Max [{unit.name}] | Relative |"]
    lines.append("|:---|---:|---:|---:|---:|")
    for each in seen:
        name = printable(each.name).replace("|", "\\|")
        relative = "1.00" if each is fastest else _relative(each, fastest)
        ends = f"{unit.text(min(each.times))} | {unit.text(max(each.times))}"
        lines.append(f"| `{name}` | {_mean(each, unit)} | {ends} | {relative} |")
    lines += [f"\n{printable(note)}" for note in (cut_off_words(seen), exits_words(seen)) if note]
    return "\n".join(lines) + "\n"


def _mean(each: Times, unit: Unit) -> str:
    if each.failed:
        return f"≥ {unit.text(each.mean)}"
    return f"{unit.text(each.mean)} ± {unit.text(each.std)}" if len(each.times) > 1 else unit.text(each.mean)


def _relative(each: Times, fastest: Times) -> str:
    value = each.mean / fastest.mean if fastest.mean > 0.0 else math.nan
    if each.failed or fastest.failed:
        return "-" if fastest.failed else f"≥ {value:.2f}"
    parts = [one.std / one.mean if len(one.times) > 1 and one.mean > 0.0 else 0.0 for one in (each, fastest)]
    return f"{value:.2f} ± {value * math.hypot(*parts):.2f}"


def check_target(path: Path | None, what: str) -> None:
    """Complain about a file that cannot be written, before anything is run for it."""
    if path is None or is_stream(path):
        return
    try:
        there, folder = path.parent.is_dir(), path.is_dir()
    except OSError as error:  # a name that is too long, say
        raise InvalidSpec(what=what, allowed="a file", given=shorten(str(path)), hint=f": {error.strerror}") from None
    require(there, what, "in a folder that exists", str(path))
    require(not folder, what, "a file, not a folder", str(path))


def write_export(path: Path | None, what: str, write: Writer, measured: Sequence[Times]) -> None:
    """Write one, if that is wanted."""
    if path is None:
        return
    text = write(measured)
    try:
        with written(path) as stream:
            stream.write(text)
    except OSError as error:
        allowed, hint = "a file that can be written", f": {error.strerror or error}"
        raise InvalidSpec(what=what, allowed=allowed, given=repr(str(path)), hint=hint) from None
