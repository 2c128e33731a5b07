"""`make bench`: measure, print a table, write JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks import others, rounds

Row = dict[str, Any]


def row(group: str, what: str, unit: str, measured: Row, target: float | None, goal: float | None, more: bool) -> Row:
    """One line of the table; `more` where a larger value is better."""
    met = None
    if target is not None:
        met = measured["value"] >= target if more else measured["value"] <= target
    return {"group": group, "what": what, "unit": unit, **measured, "target": target, "goal": goal, "met": met}


def measurements(quick: bool) -> Iterator[Row]:
    """Everything, one row after the other."""
    repeats = 1 if quick else 5
    for what, measure, target, goal in rounds.cases(quick):
        ratio = measure()
        measured = {"value": ratio.median, "low": ratio.low, "high": ratio.high, "draw_ns": ratio.draw_ns}
        yield row("a round, in draws", what, "draws", measured, target, goal, more=False)
    for name, pulls, target in (("paper:exp3", 3000, 100.0), ("paper:exp4", 600, None)):
        count = 10 if name == "paper:exp3" else 100
        found = others.against_numpy(name, max(pulls // (10 if quick else 1), 2 * count), repeats)
        what = f"RAMGapE, K = {count}: compiled against a plain NumPy loop"
        yield row("speed-up", what, "times", others.middle(found), target, None, more=True)
    found = others.ask_and_tell(500 if quick else 20_000, repeats)
    yield row("from Python", "one ask and one tell in memory", "us", others.middle(found), 20.0, None, more=False)
    for what, seconds in others.first_use(1 if quick else 3).items():
        target = {"identify, first use ever": 5.0, "identify, later process": 1.0}.get(what)
        yield row("to the first pull", what, "s", others.middle(seconds), target, None, more=False)
    yield row("command line", "ramgape --help", "s", others.middle(others.help_seconds(repeats)), 0.3, None, more=False)


def show(entry: Row) -> str:
    """A row as text."""
    verdict = {None: "", True: "met", False: "NOT MET"}[entry["met"]]
    wanted = "" if entry["target"] is None else f"{entry['target']:g}"
    goal = "" if entry["goal"] is None else f"{entry['goal']:g}"
    spread = f"{entry['low']:.3g} to {entry['high']:.3g}"
    return (
        f"{entry['what']:<58} {entry['value']:>9.3g} {entry['unit']:<6} {spread:<16} {wanted:>7} {goal:>5}  {verdict}"
    )


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short measurement of each, to see that it runs")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), help="where the numbers go")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for entry in measurements(options.quick):
        if not rows or rows[-1]["group"] != entry["group"]:
            heading = f"{entry['group']:<58} {'median':>9} {'':<6} {'from ... to':<16} {'target':>7} {'goal':>5}"
            print(f"\n{heading}\n{'-' * 112}")
        print(show(entry), flush=True)
        rows.append(entry)
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"schema_version": 1, "machine": machine, "rows": rows}, indent=2) + "\n")
    print(f"\nwritten: {options.json}", file=sys.stderr)


if __name__ == "__main__":
    main()
