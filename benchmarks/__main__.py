"""`make bench`: measure, print a table, write JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks import (
    asking,
    bounds,
    cluster,
    interpreted,
    pages,
    pulls,
    replications,
    rounds,
    server,
    speedup,
    starting,
    studies,
)
from benchmarks.measure import Case, Row
from ramgape import __version__

SCHEMA_VERSION = 1
HEADING = ("", "median", "", "least - greatest", "target", "goal", "met")
LINE = "{:<50} {:>9} {:<6} {:>18} {:>7} {:>5}  {}"


MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        rounds,
        pulls,
        bounds,
        speedup,
        interpreted,
        asking,
        starting,
        studies,
        server,
        pages,
        cluster,
        replications,
    )
}


def all_cases(quick: bool, only: str | None) -> list[Case]:
    """Everything that is measured, or one part, in the order of the report."""
    return [case for name, module in MODULES.items() if only in (None, name) for case in module.cases(quick)]


def measured(quick: bool, only: str | None) -> Iterator[Row]:
    """Row after row, with a line on the terminal that tells what is being measured meanwhile."""
    cases = all_cases(quick, only)
    for number, case in enumerate(cases, start=1):
        meanwhile(f"{number} of {len(cases)}: {case.name} ...")
        for row in case.measure():
            meanwhile("")
            yield row


def meanwhile(text: str) -> None:
    """Replace the last line of a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def line(row: Row) -> str:
    """A row as text."""
    verdict = {None: "", True: "yes", False: "no"}[row.reaches(row.target)]
    spread = f"{short(row.spread.low)} - {short(row.spread.high)}"
    wanted = ("" if wish is None else f"{wish:g}" for wish in (row.target, row.goal))
    return LINE.format(row.what, short(row.spread.value), row.unit, spread, *wanted, verdict).rstrip()


def short(value: float) -> str:
    """Three digits, and never an exponent."""
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def machine() -> dict[str, Any]:
    """Where these numbers come from."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "ramgape": __version__,
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short measurement of each, to see that it runs")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), help="where the numbers go")
    parser.add_argument("--only", choices=MODULES, help="one part of it")
    options = parser.parse_args()

    about = machine()
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    rows: list[Row] = []
    for row in measured(options.quick, options.only):
        if not rows or rows[-1].group != row.group:
            print(f"\n{LINE.format(row.group, *HEADING[1:])}\n{'-' * 108}")
        print(line(row), flush=True)
        rows.append(row)

    report = {
        "schema_version": SCHEMA_VERSION,
        "quick": options.quick,
        "machine": about,
        "rows": [row.to_dict() for row in rows],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"\nwritten: {options.json}")


if __name__ == "__main__":
    main()
