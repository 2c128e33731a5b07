"""`ramgape reproduce`: the paper's experiments, its numbers beside ours, a verdict on its claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.pictures import check_matplotlib
from ramgape.cli.terminal import output, watching_work
from ramgape.cli.words import number
from ramgape.spec import check_seed, whole

if TYPE_CHECKING:
    from rich.console import RenderableType

PARTS = "all, 1, 1-tight, 2, 3, 4, gaussian, gaps or theorems; several may be given."
OUT = "Where everything goes; what is already there is not computed again."
SEED = "Another seed, other rewards."
JOBS = "Processes that share the work; 0: one for each core. The numbers do not depend on it."
QUICK = "Fewer patterns and trials: half a minute instead of some."


def reproduce(
    parts: Annotated[list[str] | None, typer.Argument(metavar="PART", help=PARTS, show_default="all")] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help=OUT)] = Path("ramgape-reproduction"),
    seed: Annotated[str, typer.Option(metavar="SEED", help=SEED)] = "0",
    jobs: Annotated[str, typer.Option(metavar="COUNT", help=JOBS)] = "0",
    quick: Annotated[bool, typer.Option("--quick", help=QUICK)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of a table.")] = False,
) -> None:
    """Run the paper's experiments and write raw data (CSV), figures (PNG, SVG), summary.json and report.html.

    [bold]ramgape reproduce[/bold]
    everything, in some minutes

    [bold]ramgape reproduce 2 --out experiment2[/bold]
    one experiment: 1, 2, 3 and 4 are the paper's; 1-tight repeats the first with smaller tolerances,
    gaussian with Gaussian rewards; gaps draws appendix A; theorems checks what is proved

    Interrupted and started again, it goes on where it was.
    """
    first = check_seed(number(seed, "seed"))
    processes = whole(number(jobs, "jobs"), "jobs", "a whole number of at least 0 (0 means one for each core)", 0)
    check_matplotlib()
    with watching_work() as show:
        from ramgape.cli.workers import workers
        from ramgape.experiments.reproduction import check_parts, open_store
        from ramgape.experiments.reproduction import reproduce as run

        wanted = check_parts(parts or ["all"])
        open_store(out)
        try:
            with workers(processes) as executor:
                summary = run(wanted, out, seed=first, quick=quick, executor=executor, progress=show)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"what is finished is in {out}; the same command goes on from there") from None
    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False))
        return
    console = output()
    for table in tables(summary):
        console.print(table)
        console.print()
    console.print(f"The report is in {out / 'report.html'}, the numbers in {out / 'summary.json'}.", soft_wrap=True)


def tables(summary: dict[str, Any]) -> list[RenderableType]:
    """The paper's numbers beside ours, and the verdicts."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown: list[RenderableType] = []
    totals = Table(title="Experiment 2: total samples", box=box.SIMPLE_HEAD, title_justify="left")
    totals.add_column("pattern", justify="right")
    totals.add_column("rule")
    for heading in ("paper", "ours", "ratio"):
        totals.add_column(heading, justify="right")
    for pattern, rules in summary.get("experiment2", {}).items():
        for policy, row in rules.items():
            samples, paper = f"{row['samples']:,}", f"{row['paper']:,}"
            totals.add_row(pattern.removeprefix("pattern_"), policy, paper, samples, f"{row['ratio']:.4f}")
    if totals.row_count:
        shown.append(totals)
    verdicts = Table(title="What the paper says, and what the runs say", box=box.SIMPLE_HEAD, title_justify="left")
    verdicts.add_column("verdict", no_wrap=True)
    verdicts.add_column("claim", overflow="fold")
    colours = {"confirmed": "green", "refuted": "bold red", "not checkable": "dim"}
    for finding in summary["findings"]:
        verdicts.add_row(Text(finding["verdict"], style=colours[finding["verdict"]]), Text(finding["claim"]))
    shown.append(verdicts)
    return shown
