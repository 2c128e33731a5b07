"""A result in a rich console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ramgape.errors import printable
from ramgape.views.content import ROWS, SYMBOLS, choose_arms, facts, headline
from ramgape.views.table import GAP, fit_columns

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ramgape.search.result import ArmReport, Result

# Blue, plain and yellow differ for every kind of colour vision, and the words beside them say the same.
CONSOLE_STYLES = {"in": "bold cyan", "out": "", "undecided": "yellow"}


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """A result as rich shows it; the form of the table follows the width of the window."""

    result: Result
    limit: int | None = ROWS
    notes: Sequence[tuple[str, str]] = ()  # further facts
    first: Sequence[tuple[str, str]] = ()  # facts that come before all others
    title: str = ""  # a line above everything

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Names go in as Text, never as markup: an arm may be called "[red]"."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        arms, rest = choose_arms(self.result, self.limit)
        explained = Table.grid(padding=(0, GAP, 0, 0))
        explained.add_column(style="dim", no_wrap=True)
        explained.add_column(overflow="fold")
        for word, text in facts(self.result, self.notes, self.first):
            explained.add_row(word, Text(text))
        parts: list[RenderableType] = [Text(printable(self.title), style="bold")] if self.title else []
        parts += [Text(headline(self.result), style="bold"), Text(), explained]
        parts += [Text(), self._table(arms, options)]
        if rest:
            parts.append(Text(rest, style="dim"))
        for warning in self.result.warnings:
            parts += [Text(), Text(f"Warning: {printable(warning)}", style="yellow")]
        yield Panel(Group(*parts), expand=False, padding=(0, 1))

    def _table(self, arms: Sequence[ArmReport], options: ConsoleOptions) -> RenderableType:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        symbols = not options.ascii_only
        # The panel takes four columns, the symbols before the verdicts two.
        columns = fit_columns(self.result, arms, options.max_width - 4 - 2 * symbols)
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
        for column in columns:
            table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=True)
        for row, arm in enumerate(arms):
            cells = []
            for column in columns:
                first, *second = column.cells[row].split("\n")
                style = CONSOLE_STYLES[arm.verdict] if column.heading in ("arm", "verdict") else ""
                if column.heading == "verdict" and symbols:
                    first = f"{SYMBOLS[arm.verdict]} {first}"
                    second = [f"  {line}" for line in second]
                cells.append(Text.assemble((first, style), *((f"\n{line}", "dim") for line in second)))
            table.add_row(*cells)
        return table
