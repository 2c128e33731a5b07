"""`ramgape benchmark`: what each bound and sampling rule costs, beside the paper's and the lower bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.books import JOBS, JSON, OUT, SEED, make_book, show_book, verdict_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.experiments.book import Book

PARTS = "all or stopping."
QUICK = "Fewer instances and runs: half a minute instead of some."


def benchmark(
    parts: Annotated[list[str] | None, typer.Argument(metavar="PART", help=PARTS, show_default="all")] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help=OUT)] = Path("ramgape-benchmark"),
    seed: Annotated[str, typer.Option(metavar="SEED", help=SEED)] = "0",
    jobs: Annotated[str, typer.Option(metavar="COUNT", help=JOBS)] = "0",
    quick: Annotated[bool, typer.Option("--quick", help=QUICK)] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
) -> None:
    """Compare all methods on many instances and write raw data (CSV), figures (PNG, SVG), summary.json and report.html.

    [bold]ramgape benchmark stopping[/bold]
    samples to stop, by bound and tolerance, beside the paper's and the lower bound; how often answers are wrong

    Interrupted and started again, it goes on where it was. Needs scipy.
    """
    summary = make_book(load, parts, out, seed, jobs, quick)
    show_book(summary, tables(summary), out, as_json)


def load() -> Book:
    """The benchmark."""
    from ramgape.experiments.benchmark import BOOK

    return BOOK


def tables(summary: dict[str, Any]) -> list[RenderableType]:
    """Averages, errors, and the verdicts."""
    shown: list[RenderableType] = []
    if "stopping" in summary:
        shown += [average_table(summary["stopping"]), error_table(summary["stopping"])]
    shown.append(verdict_table(summary, "What the runs say"))
    return shown


def average_table(stopping: dict[str, Any]) -> RenderableType:
    """Each method at each tolerance."""
    from rich import box
    from rich.table import Table

    table = Table(
        title="Samples to stop: geometric means over instances (how many)", box=box.SIMPLE_HEAD, title_justify="left"
    )
    table.add_column("epsilon", justify="right")
    table.add_column("method", overflow="fold")
    for heading in ("/ lower bound", "paper's /", "/ default's"):
        table.add_column(heading, justify="right")

    def shown(value: float | None, count: int) -> str:
        return "" if value is None else f"{value:,.2f} ({count})"

    for row in stopping["averages"]:
        table.add_row(
            f"{row['epsilon']:g}",
            row["method"],
            shown(row["over_least"], row["least_count"]),
            shown(row["saving"], row["saving_count"]),
            shown(row["over_default"], row["default_count"]),
        )
    return table


def error_table(stopping: dict[str, Any]) -> RenderableType:
    """Each method, over everything."""
    from rich import box
    from rich.table import Table

    table = Table(title=f"Wrong answers; delta = {stopping['delta']:g}", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("method", overflow="fold")
    for heading in ("ended runs", "wrong", "95 % interval", "undecided"):
        table.add_column(heading, justify="right")
    for row in stopping["errors"]:
        if row["epsilon"] is None:
            low, high = row["interval"] or (0.0, 1.0)
            interval = f"{low:.5f} to {high:.5f}"
            table.add_row(row["method"], f"{row['ended']:,}", str(row["wrong"]), interval, str(row["undecided"]))
    return table
