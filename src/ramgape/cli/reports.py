"""What the commands that make a report share: `reproduce` and `benchmark`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramgape.cli.options import RunPlace
from ramgape.cli.pictures import check_matplotlib
from ramgape.common.checks import check_seed
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import watching_work
from ramgape.errors import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ramgape.paper.report import ReportPlan

OUT = "Where everything goes; what is already there is not computed again."
SEED = "Another seed, other rewards."
JOBS = "Processes that share the work; 0: one for each core. The numbers do not depend on it."
JSON = "Print the summary as JSON instead of a table."


def run_report(
    load: Callable[[], ReportPlan], parts: Sequence[str] | None, out: Path, seed: str, place: RunPlace, quick: bool
) -> dict[str, Any]:
    """Write a report, showing how far it is; returns its summary. `load` imports what takes long to import."""
    first = check_seed(parse_number(seed, "seed"))
    check_matplotlib()
    with watching_work() as show:
        from ramgape.paper.report import open_cache, publish

        report = load()
        wanted = report.check_parts(parts or ["all"])
        open_cache(out)
        try:
            with place.workers() as executor:
                return publish(report, wanted, out, seed=first, quick=quick, executor=executor, progress=show)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"what is finished is in {out}; the same command goes on from there") from None


def show_report(summary: dict[str, Any], tables: Sequence[RenderableType], out: Path, as_json: bool) -> None:
    """Print the summary, or tables and where the report is."""
    import json

    import typer

    from ramgape.common.terminal import output

    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False))
        return
    console = output()
    for table in tables:
        console.print(table)
        console.print()
    where = f"The report is in {out / 'report.html'}, the numbers in {out / 'summary.json'}."
    console.print(printable(where), markup=False, soft_wrap=True)


def titled_table(title: str, *columns: str, words: str = "") -> Table:
    """An empty table of numbers; the column called `words` has words."""
    from rich.table import Table

    table = Table(title=title, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", title_justify="left")
    for column in columns:
        if column == words:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right")
    return table


def verdict_table(summary: dict[str, Any], title: str) -> RenderableType:
    """Each claim with its verdict."""
    from rich.text import Text

    verdicts = titled_table(title)
    verdicts.add_column("verdict", no_wrap=True)
    verdicts.add_column("claim", overflow="fold")
    colours = {"confirmed": "green", "refuted": "bold red", "not checkable": "dim"}
    for finding in summary["findings"]:
        verdicts.add_row(Text(finding["verdict"], style=colours[finding["verdict"]]), Text(finding["claim"]))
    return verdicts
