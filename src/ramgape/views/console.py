"""An explanation in a rich console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ramgape.errors import printable
from ramgape.views.explanation import GAP, Column, explain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ramgape.search.explained import Explained

# Blue, plain and yellow differ for every kind of colour vision, and the words beside them say the same.
CONSOLE_STYLES = {"in": "bold cyan", "undecided": "yellow"}
FRAME = 4  # columns that the frame around everything takes


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """Something as rich shows it; the form of its tables follows the width of the window."""

    thing: Explained

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Names go in as Text, never as markup: an arm may be called "[red]"."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table as Grid
        from rich.text import Text

        said = explain(self.thing, ascii_only=options.ascii_only)
        explained = Grid.grid(padding=(0, GAP, 0, 0))
        explained.add_column(style="dim", no_wrap=True)
        explained.add_column(overflow="fold")
        for word, text in said.facts:
            explained.add_row(word, Text(text))
        lines: list[RenderableType] = [*(Text(line, style="bold") for line in said.headlines), Text(), explained]
        for before, part in zip((None, *said.parts), said.parts, strict=False):
            if isinstance(part, str):
                lines += [*([] if isinstance(before, str) else [Text()]), Text(part, style="dim")]
                continue
            columns = part.fit(options.max_width - FRAME)
            caption = part.caption(columns)
            lines += [Text(), Text(caption, style="dim"), Text()] if caption else [Text()]
            lines.append(_table(columns))
            lines += [Text(remark, style="dim") for remark in (part.rest, part.missing(columns)) if remark]
        for warning in said.warnings:
            lines += [Text(), Text(f"Warning: {printable(warning)}", style="yellow")]
        yield Panel(Group(*lines), expand=False, padding=(0, 1))


def _table(columns: Sequence[Column]) -> RenderableType:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
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
