"""An explanation as HTML for a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ramgape.errors import printable
from ramgape.views.explanation import Column, Table, explain
from ramgape.views.fragments import html_table

if TYPE_CHECKING:
    from ramgape.search.explained import Explained

# Middle tones, readable on white and on black; what is not marked keeps the page's own colour.
HTML_COLOURS = {"in": "#2f8fd0", "open": "#c9791a"}

GRID = "border:0;border-collapse:collapse;margin:0 0 .8em;font-variant-numeric:tabular-nums"
LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.45);padding:.25em .7em;vertical-align:top"
FACT = "border:0;padding:.1em 1em .1em 0;text-align:left;vertical-align:top"
NAME = "min-width:6em;max-width:24em;overflow-wrap:anywhere;white-space:normal"
NOTE = "margin:.5em 0;text-align:left"


def page(thing: Explained) -> str:
    """All that is said of something, as HTML that needs nothing else and takes its colours from the page around it.

    Every element carries its own style: notebooks restyle tables, and some throw style sheets away.
    """
    said = explain(thing)
    explained = "".join(
        _row(f'<td style="{FACT};opacity:.7">{word}</td><td style="{FACT}">{html.escape(text)}</td>')
        for word, text in said.facts
    )
    parts = "".join(_remark(part) if isinstance(part, str) else _table(part) for part in said.parts)
    for warning in said.warnings:
        bar = f"padding-left:.6em;border-left:3px solid {HTML_COLOURS['open']}"
        text = html.escape(printable(warning))
        parts += f'<p style="{NOTE};{bar}"><strong>Warning:</strong> {text}</p>'
    after = f'<p style="{NOTE}">{html.escape(said.after)}</p>' if said.after else ""
    above = "<br>".join(map(html.escape, said.headlines))
    return (
        # The classes keep notebooks from reading names with dollars as formulas.
        '<div class="tex2jax_ignore mathjax_ignore" style="color:inherit;background:none;overflow-x:auto">'
        f'<p style="{NOTE};overflow-wrap:anywhere"><strong>{above}</strong></p>{after}'
        f'<table style="{GRID}"><tbody>{explained}</tbody></table>{parts}</div>'
    )


def _remark(text: str) -> str:
    return f'<p style="{NOTE};opacity:.7">{html.escape(text)}</p>' if text else ""


def _table(table: Table) -> str:
    columns = table.fit(None)
    return f"{_remark(table.caption(columns))}{html_table(columns, _styled)}{_remark(table.rest)}"


def _row(cells: str) -> str:
    return f'<tr style="background:none">{cells}</tr>'


def _styled(tag: str, column: Column | None, mark: str) -> str:
    """The style of an element of a table, in the element itself."""
    if column is None:
        return f' style="{GRID}"' if tag == "table" else ' style="background:none"'
    style = f"{LINE};text-align:{'right' if column.right else 'left'};white-space:nowrap"
    style += f";{NAME}" if column.names else ""
    return f' style="{style}{f";color:{HTML_COLOURS[mark]};font-weight:bold" if mark else ""}"'
