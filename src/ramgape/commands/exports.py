"""What was measured of commands, in files of the forms that hyperfine writes, so that its scripts can read them."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from ramgape.commands.baseline import this_machine
from ramgape.commands.counted_runs import cut_off_words, exits_words
from ramgape.commands.times import Times
from ramgape.common.formatting import Unit, named_unit, time_unit
from ramgape.errors import printable
from ramgape.search.explained import jsonable
from ramgape.studies.files import written

Writer = Callable[[Sequence[Times], "str | None"], str]  # of commands, and the unit of their times


def as_json(measured: Sequence[Times], unit: str | None = None) -> str:
    """One object: "results", in the order of the commands, with every run in its order; all in seconds and bytes.

    Fields that hyperfine has not: "cut_off", of a command with such runs; "outcomes", what runs have printed; and
    "machine", where they were made.
    """
    results = [
        _summary(each)
        | {"memory_usage_byte": list(each.memories), "times": list(each.times), "exit_codes": list(each.exit_codes)}
        | ({"parameters": dict(each.parameters)} if each.parameters else {})
        | ({"cut_off": each.failed} if each.failed else {})
        | ({"outcomes": {name: list(values) for name, values in each.outcomes.items()}} if each.outcomes else {})
        for each in measured
        if each.times
    ]
    found = jsonable({"results": results, "machine": this_machine()})
    return json.dumps(found, indent=2, allow_nan=False) + "\n"


def _summary(each: Times) -> dict[str, str | float | None]:
    return {
        "command": each.name,
        "mean": each.mean,
        "stddev": each.std if len(each.times) > 1 else None,
        "median": statistics.median(each.times),
        "user": each.user,
        "system": each.system,
        "min": min(each.times),
        "max": max(each.times),
    }


def as_csv(measured: Sequence[Times], unit: str | None = None) -> str:
    """A line for each command, in seconds; parameters in columns of their own."""
    seen = [each for each in measured if each.times]
    names = list(dict.fromkeys(name for each in seen for name in each.parameters))
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*(_summary(seen[0]) if seen else ()), *(f"parameter_{name}" for name in names)])
    for each in seen:
        known = jsonable(_summary(each)).values()
        cells = ["" if value is None else value for value in known]
        rows.writerow([*cells, *(each.parameters.get(name, "") for name in names)])
    return text.getvalue()


def as_markdown(measured: Sequence[Times], unit: str | None = None) -> str:
    """A table; "Relative" is how many times as long as the fastest, with the standard deviation of the quotient of two
    runs: what hyperfine means by it, and no interval. Below it, which runs were cut off, and which failed."""

    def row(cells: Sequence[str]) -> str:
        name, *rest = cells
        escaped = name.replace("|", "\\|")
        return f"| `{escaped}` | {' | '.join(rest)} |"

    def heading(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |\n|:---|---:|---:|---:|---:|"

    return _table(measured, unit, heading, row)


def as_orgmode(measured: Sequence[Times], unit: str | None = None) -> str:
    """The same for Emacs."""
    return _table(
        measured,
        unit,
        lambda cells: f"| {cells[0]}  |  {' |  '.join(cells[1:])} |\n|--+--+--+--+--|",
        lambda cells: f"| ={cells[0]}=  |  {' |  '.join(cells[1:])} |",
    )


def as_asciidoc(measured: Sequence[Times], unit: str | None = None) -> str:
    """The same for AsciiDoc."""

    def lines(cells: Sequence[str]) -> str:
        return "".join(f"| {cell} \n" for cell in cells)

    def row(cells: Sequence[str]) -> str:
        return "\n" + lines([f"`{cells[0]}`".replace("|", "\\|"), *cells[1:]]).rstrip("\n")

    return _table(measured, unit, lambda cells: f'[cols="<,>,>,>,>"]\n|===\n{lines(cells)}'.rstrip("\n"), row, "|===")


def _table(
    measured: Sequence[Times],
    unit_name: str | None,
    heading: Callable[[Sequence[str]], str],
    row: Callable[[Sequence[str]], str],
    end: str = "",
) -> str:
    seen = [each for each in measured if each.times]
    if not seen:
        return ""
    fastest = min(seen, key=lambda each: each.mean)
    unit = named_unit(unit_name) or time_unit(fastest.mean)
    head = ["Command", *(f"{what} [{unit.name}]" for what in ("Mean", "Min", "Max")), "Relative"]
    lines = [heading(head)]
    for each in seen:
        relative = "1.00" if each is fastest else _relative(each, fastest)
        ends = unit.text(min(each.times)), unit.text(max(each.times))
        lines.append(row([printable(each.name), _mean(each, unit), *ends, relative]))
    lines += [end] if end else []
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


FORMATS: dict[str, Writer] = {
    "asciidoc": as_asciidoc,
    "csv": as_csv,
    "json": as_json,
    "markdown": as_markdown,
    "orgmode": as_orgmode,
}


def write_export(path: Path, form: str, measured: Sequence[Times], unit: str | None) -> None:
    """Write a file in one of the formats."""
    text = FORMATS[form](measured, unit)
    with written(path) as stream:
        stream.write(text)
