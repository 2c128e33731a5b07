"""What is said of a result, a plan, a study, ..., in a form that no renderer is preferred by.

A headline, the facts behind it, tables and remarks, the warnings. `text`, `console` and `notebook` dress it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ramgape.common.formatting import cell_width

GAP = 2  # blanks between two columns of a text table
INDENT = 2  # blanks before it

Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Args:
        heading: What stands above it, in one line or two.
        cells: One for each row; a cell may have several lines.
        right: Whether it is aligned to the right.
        marks: For each row "in", "open" or "", which decides its colour; empty for a column without colours.
        names: Whether these are names that users gave, which may be long.
        level: Whether all lines of a cell matter alike; else the first one does.
    """

    heading: str
    cells: list[str]
    right: bool = False
    marks: Sequence[str] = ()
    names: bool = False
    level: bool = False

    @property
    def width(self) -> int:
        """The columns of a terminal that it takes."""
        return max(cell_width(line) for cell in (self.heading, *self.cells) for line in cell.split("\n"))


def total_width(columns: Sequence[Column]) -> int:
    """The columns of a terminal that a table takes."""
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


@dataclass(frozen=True, slots=True)
class Table:
    """A table in the richest form that there is room for.

    Args:
        fit: The columns for a width; None stands for any.
        caption: What stands above it, which may depend on the columns shown.
        rest: What stands below it: a sentence on the rows that are left out.
        missing: What stands below the columns shown: a sentence on what there was no room for.
    """

    fit: Callable[[int | None], list[Column]]
    caption: Callable[[Sequence[Column]], str] = lambda columns: ""
    rest: str = ""
    missing: Callable[[Sequence[Column]], str] = lambda columns: ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is said.

    Args:
        headlines: The most important, in a line or two.
        facts: What stands behind it, as pairs of a word and its explanation.
        parts: Tables, and remarks of a line each.
        warnings: What speaks against it.
        brief: The same in a few words, where the headlines are sentences.
        after: A line after the headlines, which says where the rest stands.
        more: What the exact statement is called, to which the last line points; empty for none.
    """

    headlines: Sequence[str]
    facts: Facts
    parts: Sequence[Table | str]
    warnings: Sequence[str] = ()
    brief: str = ""
    more: str = ""
    after: str = ""

    def last_line(self, shell: bool) -> str:
        """Where more is said: an option in the shell, a method in Python."""
        return f"{self.more}: {'add --explain' if shell else 'result.explain()'}" if self.more else ""


# By the name of a class: the module of this package, and the function in it.
BUILDERS = {
    "Result": ("result", "explain_result"),
    "Analysis": ("analysis", "explain_analysis"),
    "Report": ("study", "explain_study"),
    "Timing": ("timing", "explain_timing"),
    "Plan": ("forecast", "explain_plan"),
    "Replication": ("simulated", "explain_replication"),
    "PolicyComparison": ("simulated", "explain_comparison"),
    "LowerBound": ("simulated", "explain_lower_bound"),
}


def explain(thing: Any, ascii_only: bool = False, *, full: bool = False) -> Explanation:
    """What is shown of a thing.

    Args:
        thing: An instance of a class in `BUILDERS`.
        ascii_only: Whether the output can show ASCII only.
        full: Whether to say all that is known, of a thing that is usually shown in short.
    """
    in_full = {"full": True} if full and hasattr(thing, "sentence") else {}
    explanation: Explanation = serving(BUILDERS, thing)(thing, ascii_only, **in_full)
    return explanation


def serving(functions: dict[str, tuple[str, str]], thing: Any) -> Any:
    """The function for a thing, by the name of its class or of a class that it comes from."""
    module, name = next(functions[kind.__name__] for kind in type(thing).__mro__ if kind.__name__ in functions)
    return getattr(import_module(f"ramgape.views.{module}"), name)
