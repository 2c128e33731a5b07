"""`ramgape reproduce`: the paper's experiments, its numbers beside ours, a verdict on its claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.options import CLUSTER, processes_or_cluster
from ramgape.cli.reports import JOBS, JSON, OUT, SEED, run_report, show_report, titled_table, verdict_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.paper.report import ReportPlan

PARTS = "all, 1, 1-tight, 2, 3, 4, gaussian, gaps, theorems or beyond; several may be given."
QUICK = "Fewer patterns and trials: half a minute instead of some."


def reproduce(
    parts: Annotated[list[str] | None, typer.Argument(metavar="PART", help=PARTS, show_default="all")] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help=OUT)] = Path("ramgape-reproduction"),
    seed: Annotated[str, typer.Option(metavar="SEED", help=SEED)] = "0",
    jobs: Annotated[str, typer.Option(metavar="COUNT", help=JOBS)] = "0",
    cluster: Annotated[str | None, typer.Option(metavar="URL", help=CLUSTER)] = None,
    quick: Annotated[bool, typer.Option("--quick", help=QUICK)] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
) -> None:
    """Reproduce the experiments of the paper.

    Writes raw data (CSV), figures (PNG, SVG), summary.json and report.html.

    [bold]ramgape reproduce[/bold]
    everything, in some minutes

    [bold]ramgape reproduce 2 --out experiment2[/bold]
    one experiment: 1, 2, 3 and 4 are the paper's; 1-tight repeats the first with smaller tolerances,
    gaussian with Gaussian rewards; gaps draws appendix A; theorems checks what is proved;
    beyond searches the paper's experiments with our defaults

    Interrupted and started again, it goes on where it was.
    """
    summary = run_report(load_reproduction, parts, out, seed, processes_or_cluster(jobs, cluster, "0"), quick)
    show_report(summary, reproduction_tables(summary), out, as_json)


def load_reproduction() -> ReportPlan:
    """The paper."""
    from ramgape.paper.reproduction import REPORT

    return REPORT


def reproduction_tables(summary: dict[str, Any]) -> list[RenderableType]:
    """The paper's numbers beside ours, and the verdicts."""
    shown: list[RenderableType] = []
    columns = ("pattern", "rule", "paper", "ours", "ratio")
    totals = titled_table("Experiment 2: total samples", *columns, words="rule")
    for pattern, rules in summary.get("experiment2", {}).items():
        for policy, row in rules.items():
            samples, paper = f"{row['samples']:,}", f"{row['paper']:,}"
            totals.add_row(pattern.removeprefix("pattern_"), policy, paper, samples, f"{row['ratio']:.4f}")
    if totals.row_count:
        shown.append(totals)
    if ours := summary.get("beyond"):
        shown.append(beyond_table(ours["samples"]))
    shown.append(verdict_table(summary, "What the paper says, and what the runs say"))
    return shown


def beyond_table(samples: dict[str, Any]) -> RenderableType:
    """What the same guarantee takes with our defaults."""
    columns = ("experiment", "epsilon", "patterns", "the paper's", "ours", "times fewer")
    table = titled_table("Beyond the paper: samples to the same guarantee, with our defaults", *columns)
    table.caption = "Means over patterns; how many times fewer is a geometric one."
    table.caption_justify = "left"
    for epsilon, row in samples.items():
        theirs, ours = (sum(row[side].values()) / len(row[side]) for side in ("paper", "ours"))
        table.add_row(
            str(row["experiment"]), epsilon.removeprefix("epsilon_"), str(len(row["ours"])),
            f"{theirs:,.0f}", f"{ours:,.0f}", f"{row['ratio']:,.0f}",
        )  # fmt: skip
    return table
