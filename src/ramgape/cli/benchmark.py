"""`ramgape benchmark`: what each bound and sampling rule costs, and what a budget buys, beside the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.reports import JOBS, JSON, OUT, SEED, run_report, show_report, verdict_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.paper.report import ReportPlan

PARTS = "all, stopping or budget."
QUICK = "Fewer instances and runs: a minute instead of a quarter of an hour."


def benchmark(
    parts: Annotated[list[str] | None, typer.Argument(metavar="PART", help=PARTS, show_default="all")] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help=OUT)] = Path("ramgape-benchmark"),
    seed: Annotated[str, typer.Option(metavar="SEED", help=SEED)] = "0",
    jobs: Annotated[str, typer.Option(metavar="COUNT", help=JOBS)] = "0",
    quick: Annotated[bool, typer.Option("--quick", help=QUICK)] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
) -> None:
    """Compare all methods on many instances and write raw data (CSV), figures (PNG, SVG), summary.json and report.html.

    [bold]ramgape benchmark[/bold]
    everything

    [bold]ramgape benchmark stopping[/bold]
    samples to stop, by bound and tolerance, beside a Gaussian reference, and wrong answers (needs scipy)

    [bold]ramgape benchmark budget[/bold]
    simple regret and wrong sets after 500 to 40,000 pulls, for every policy meant for a budget

    Interrupted and started again, it goes on where it was.
    """
    summary = run_report(load_benchmark, parts, out, seed, jobs, quick)
    show_report(summary, benchmark_tables(summary), out, as_json)


def load_benchmark() -> ReportPlan:
    """The benchmark."""
    from ramgape.paper.benchmark import REPORT

    return REPORT


def benchmark_tables(summary: dict[str, Any]) -> list[RenderableType]:
    """Averages, errors, regrets, and the verdicts."""
    shown: list[RenderableType] = []
    if "stopping" in summary:
        shown += [average_table(summary["stopping"]), error_table(summary["stopping"])]
    if "budget" in summary:
        shown += [regret_table(summary["budget"]), ratio_table(summary["budget"])]
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
    for heading in ("/ reference", "paper's /", "/ default's"):
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


def regret_table(budget: dict[str, Any]) -> RenderableType:
    """Each rule under each budget, over the first group, which is the whole field."""
    from rich import box
    from rich.table import Table

    group, names = next(iter(budget["groups"].items()))
    table = Table(
        title=f"Mean regret x 1000, and wrong sets: {len(names)} {group}", box=box.SIMPLE_HEAD, title_justify="left"
    )
    table.add_column("policy", overflow="fold")
    rules: dict[str, list[str]] = {}
    for row in budget["averages"]:
        if row["group"] == group:
            rules.setdefault(row["policy"], []).append(f"{1000.0 * row['regret']:.3g}  {row['wrong_share']:.1%}")
    for column in dict.fromkeys(row["budget"] for row in budget["averages"] if row["group"] == group):
        table.add_column(f"n = {column:,}", justify="right")
    for policy, cells in rules.items():
        table.add_row(policy, *cells)
    return table


def ratio_table(budget: dict[str, Any]) -> RenderableType:
    """Our rule beside the best of the others, in each group of instances."""
    from rich import box
    from rich.table import Table

    table = Table(
        title="Mean regret of evidence, divided by that of its best rival", box=box.SIMPLE_HEAD, title_justify="left"
    )
    table.add_column("instances", overflow="fold")
    for column in dict.fromkeys(row["budget"] for row in budget["against_best_rival"]):
        table.add_column(f"n = {column:,}", justify="right")
    rows: dict[str, list[str]] = {}
    for row in budget["against_best_rival"]:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        rows.setdefault(row["group"], []).append(f"{ratio}\n{row['rival']}")
    for group, cells in rows.items():
        table.add_row(group, *cells)
    return table
