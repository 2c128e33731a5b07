"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

# What is typed, in running text: options, placeholders, variables of the environment.
TYPED = re.compile(r"(?<![\w`-])(--[a-z][\w-]*|\{\w+\}|[A-Z]+_[A-Z_]+|ramgape list \w+)(?![\w`])")


def escaped(text: str) -> str:
    """Text in which no letter means anything to Markdown, but for what stands between backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if place % 2 else re.sub(r"([\\*_<>|])", r"\\\1", part) for place, part in enumerate(parts))


def spoken(text: str) -> str:
    """A sentence of a help text: plain, but for what is typed."""
    return "".join(f"`{part}`" if place % 2 else escaped(part) for place, part in enumerate(TYPED.split(text)))


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table, whose cells are Markdown."""
    heads = list(headings)
    body = [[cell.replace("\n", " ") for cell in row] for row in rows]
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def code(text: str) -> str:
    """Code in a cell of a table, where a bar would end the cell."""
    escaped_bar = text.replace("|", "\\|")
    return f"`{escaped_bar}`" if text else ""


def block(text: str, language: str = "text") -> str:
    """Code that stands by itself."""
    return f"```{language}\n{text}\n```\n"
