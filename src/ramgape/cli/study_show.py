"""`ramgape study show`, `list` and `front`: what people look at, and what scripts take away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from ramgape.cli.gate import Gate, takes_gate
from ramgape.cli.options import AsJson, Name, Storage
from ramgape.cli.pictures import Output, takes_output
from ramgape.cli.stores import existing_storage, opened_study
from ramgape.cli.streams import tell, write_json
from ramgape.common.terminal import output, plain_table, waiting
from ramgape.storage.urls import shown

if TYPE_CHECKING:
    from rich.table import Table

    from ramgape.studies.report import StudySummary

NAME_WIDTH = 32
MOST_FOR_RICH = 200  # studies in a list
COUNTS = ("arms", "trials", "open", "failed")
HEADINGS = ("study", "goal", *COUNTS, "done", "created")


@takes_output(explains=True)
@takes_gate()
def show(name: Name, out: Output, gate: Gate, storage: Storage = None) -> None:
    """Show the progress and the answer of a study."""
    with gate:
        with waiting("reading"), opened_study(name, storage) as study:
            report = study.report(history=out.html is not None)
        if out.as_json:
            write_json(report.to_dict())
        elif not gate.takes_stdout:
            out.print(report)
        out.write(report)
        gate.write(report, report.result, out.plot)
    gate.leave(report.result)


def front(name: Name, storage: Storage = None, as_json: AsJson = False) -> None:
    """Print the names of the returned arms.

    One per line. A note on stderr says if they are not final.
    """
    with waiting("reading"), opened_study(name, storage) as study:
        result, done = study.result(expect=False), study.done
    if as_json:
        write_json({"front": list(result.answer), "done": done})
        return
    from ramgape.errors import printable

    for arm in result.answer:
        typer.echo(printable(arm))
    if not done:
        tell("note", "the study is not done: these are the arms that look best so far", "bold")


def list_studies(storage: Storage = None, as_json: AsJson = False) -> None:
    """List all studies."""
    url = existing_storage(storage)
    from ramgape.studies.catalog import list_studies

    studies = list_studies(url)
    if as_json:
        write_json({"studies": [study.to_dict() for study in studies]})
    elif len(studies) > MOST_FOR_RICH:
        typer.echo(plain_table_of(studies))
    elif studies:
        output().print(table_of(studies))
    else:
        typer.echo(f"No studies in {shown(url)} yet. To make one: ramgape study create --help")


def table_of(studies: Sequence[StudySummary]) -> Table:
    """One row a study."""
    from rich.text import Text

    rows = [(Text(name), *others) for name, *others in cells_of(studies)]
    return plain_table(HEADINGS, rows, numbers=COUNTS, whole=("created",))


def plain_table_of(studies: Sequence[StudySummary]) -> str:
    """The same columns as lines that are never folded: rich takes a second and a half for a thousand rows."""
    from ramgape.common.formatting import cell_width, pad

    rows = [HEADINGS, *cells_of(studies)]
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    right = [heading in COUNTS for heading in HEADINGS]
    lines = ("  ".join(map(pad, row, widths, right)).rstrip() for row in rows)
    return "\n".join(lines)


def cells_of(studies: Sequence[StudySummary]) -> Iterator[tuple[str, ...]]:
    """What the list tells of each study."""
    from ramgape.common.formatting import short_names
    from ramgape.views.content import asked_for

    names = short_names((study.name for study in studies), NAME_WIDTH)
    for study in studies:
        counts = (len(study.arms), study.told, study.pending, study.failed)
        created = study.created_at.partition("T")[0]
        yield (
            names[study.name],
            asked_for(study.goal),
            *(f"{count:,}" for count in counts),
            "yes" if study.done else "no",
            created,
        )
