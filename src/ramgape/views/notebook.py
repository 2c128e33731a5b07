"""A result as HTML for a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.errors import printable
from ramgape.views.content import ROWS, SYMBOLS, choose_arms, facts, headline
from ramgape.views.table import Column, build_columns

if TYPE_CHECKING:
    from ramgape.search.result import Result

# Middle tones, readable on white and on black; the excluded arms keep the page's own colour.
HTML_COLOURS = {"in": "#2f8fd0", "out": "inherit", "undecided": "#c9791a"}


LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.45);padding:.25em .7em;vertical-align:top"
FACT = "border:0;padding:.1em 1em .1em 0;text-align:left;vertical-align:top"
NAME = "max-width:24em;overflow-wrap:anywhere;white-space:normal"
NOTE = "margin:.5em 0;text-align:left"


def page(
    result: Result,
    limit: int | None = ROWS,
    notes: Sequence[tuple[str, str]] = (),
    first: Sequence[tuple[str, str]] = (),
    title: str = "",
) -> str:
    """The result as a piece of HTML that needs nothing else and takes its colours from the page around it.

    `first` are facts that come before all others, `title` is a line above everything. Every element carries its own
    style: notebooks restyle tables, and some throw style sheets away.
    """
    arms, rest = choose_arms(result, limit)
    columns = build_columns(result, arms, "wide", limit=10_000)
    explained = "".join(
        _row(f'<td style="{FACT};opacity:.7">{word}</td><td style="{FACT}">{html.escape(text)}</td>')
        for word, text in facts(result, notes, first)
    )
    headings = "".join(f'<th scope="col" style="{_cell_style(column)}">{column.heading}</th>' for column in columns)
    rows = "".join(_row("".join(_cell(column, row, arm.verdict) for column in columns)) for row, arm in enumerate(arms))
    ending = f'<p style="{NOTE};opacity:.7">{rest}</p>' if rest else ""
    for warning in result.warnings:
        bar = f"padding-left:.6em;border-left:3px solid {HTML_COLOURS['undecided']}"
        text = html.escape(printable(warning))
        ending += f'<p style="{NOTE};{bar}"><strong>Warning:</strong> {text}</p>'
    lines = [printable(title)] if title else []
    above = "<br>".join(html.escape(line) for line in [*lines, headline(result)])
    table = '<table style="border:0;border-collapse:collapse;margin:0 0 .8em;font-variant-numeric:tabular-nums">'
    return (
        # The classes keep notebooks from reading names with dollars as formulas.
        '<div class="tex2jax_ignore mathjax_ignore" style="color:inherit;background:none;overflow-x:auto">'
        f'<p style="{NOTE};overflow-wrap:anywhere"><strong>{above}</strong></p>'
        f"{table}<tbody>{explained}</tbody></table>"
        f"{table}<thead>{_row(headings)}</thead><tbody>{rows}</tbody></table>"
        f"{ending}</div>"
    )


def _row(cells: str) -> str:
    return f'<tr style="background:none">{cells}</tr>'


def _cell_style(column: Column) -> str:
    return f"{LINE};text-align:{'right' if column.right else 'left'};white-space:nowrap"


def _cell(column: Column, row: int, verdict: str) -> str:
    text, style = html.escape(column.cells[row].strip()), _cell_style(column)
    if column.right:  # no blanks for alignment here, where letters differ in width
        text = re.sub(r"(?<=[(\[ ]) +", "", text)
    if column.heading == "arm":
        return f'<th scope="row" style="{style};{NAME}">{text}</th>'
    if column.heading == "dominated by":
        return f'<td style="{style};{NAME}">{text}</td>'
    if column.heading == "verdict":
        colour = f"color:{HTML_COLOURS[verdict]};font-weight:bold"
        return f'<td style="{style};{colour}">{SYMBOLS[verdict]} {text}</td>'
    return f'<td style="{style}">{text}</td>'
