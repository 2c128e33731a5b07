"""An explanation in a rich console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ramgape.errors import printable
from ramgape.views.explanation import GAP, INDENT, Column, explain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ramgape.search.explained import Explained

# Blue, plain and yellow differ for every kind of colour vision, and the words beside them say the same.
CONSOLE_STYLES = {"in": "bold cyan", "open": "yellow"}


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """Something as rich shows it: what plain text says, with colours; tables follow the width of the window."""

    thing: Explained
    full: bool = False
    shell: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Names go in as Text, never as markup: an arm may be called "[red]"."""
        from rich.padding import Padding
        from rich.table import Table as Grid
        from rich.text import Text

        said = explain(self.thing, ascii_only=options.ascii_only, full=self.full)
        explained = Grid.grid(padding=(0, GAP, 0, 0))
        explained.add_column(style="dim", no_wrap=True)
        explained.add_column(overflow="fold")
        for word, text in said.facts:
            explained.add_row(word, Text(text))
        for line in said.headlines:
            yield Text(line, style="bold")
        if said.after:
            yield Text(said.after)
        if said.facts:
            yield Text()
            yield explained
        for before, part in zip((None, *said.parts), said.parts, strict=False):
            if isinstance(part, str):
                if not isinstance(before, str):
                    yield Text()
                yield Text(part)
                continue
            columns = part.fit(options.max_width - INDENT)
            caption = part.caption(columns)
            yield Text()
            if caption:
                yield Text(caption, style="dim")
            yield Padding(_table(columns), (0, 0, 0, INDENT))
            for remark in filter(None, (part.rest, part.missing(columns))):
                yield Padding(Text(remark, style="dim"), (0, 0, 0, INDENT))
        for warning in said.warnings:
            yield Text()
            yield Text(f"Warning: {printable(warning)}", style="yellow")
        last = said.last_line(self.shell)
        if last:
            yield Text()
            yield Text(last, style="dim")


def _table(columns: Sequence[Column]) -> RenderableType:
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=True)
    for row in range(len(columns[0].cells)):
        cells = []
        for column in columns:
            first, *second = column.cells[row].split("\n")
            style = CONSOLE_STYLES.get(column.marks[row], "") if column.marks else ""
            less = style if column.level else "dim"
            cells.append(Text.assemble((first, style), *((f"\n{line}", less) for line in second)))
        table.add_row(*cells)
    return table
