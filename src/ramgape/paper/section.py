"""What an experiment contributes to a report: numbers, data files, figures, tables and findings.

The prose of sections, captions and claims is in `texts.toml`, with the names of numbers in braces; `paper` stands there
for the constants of the paper. The code of an experiment computes the numbers and the verdicts.
"""

from __future__ import annotations

import functools
import string
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from ramgape.paper import paper
from ramgape.paper.formatting import FORMATS
from ramgape.paper.tables import Columns, DataFile, Grid, table


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and what the runs say about it."""

    claim: str
    verdict: Literal["confirmed", "refuted", "not checkable"]
    evidence: str
    source: str  # where the claim is made


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: the function of `figures` that draws it with its arguments, and the caption."""

    name: str
    function: str
    arguments: tuple[Any, ...]
    paper: str  # the figure of the paper that it stands for, "not in the paper", or "" in the benchmark
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """One experiment, written up."""

    name: str
    title: str
    text: Sequence[str]
    summary: dict[str, Any]
    settings: dict[str, str]
    data_files: Sequence[DataFile] = ()
    drawings: Sequence[Drawing] = ()
    grids: Sequence[Grid] = ()
    findings: Sequence[Finding] = ()


@functools.cache
def texts() -> dict[str, Any]:
    """The prose of both reports."""
    return tomllib.loads(resources.files("ramgape.paper").joinpath("texts.toml").read_text(encoding="utf-8"))


class _Words(string.Formatter):
    """Texts with numbers: {share:percent} is written by `FORMATS`, both ends of an interval alike; None is empty."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return ""
        if format_spec not in FORMATS:
            return format(value, format_spec)
        parts = value if isinstance(value, tuple | list) else [value]
        return " to ".join(FORMATS[format_spec](part) for part in parts)


WORDS = _Words()


def fill(text: str, values: Mapping[str, Any]) -> str:
    """A text with its numbers filled in; lines may break anywhere.

    >>> fill("at most {cap:,}\\npulls, with δ = {paper.DELTA:g}", {"cap": 5000})
    'at most 5,000 pulls, with δ = 0.05'
    """
    return WORDS.vformat(" ".join(text.split()), (), {"paper": paper, **values})


def finding(claim: str, holds: bool | None, each: Iterable[Mapping[str, Any]] = (), /, **values: Any) -> Finding:
    """A claim by its name in the texts, with its verdict; None means that the runs cannot tell.

    Args:
        each: The numbers of every case; the text `each` says them one by one, and their list is called `told`.
        values: Other numbers of the claim and its evidence.
    """
    text = dict(texts()["claims"][claim])
    if "each" in text:
        separator = text.pop("separator", "; ")
        values["told"] = separator.join(fill(text["each"], {**values, **case}) for case in each)
        del text["each"]
    verdict: Any = "not checkable" if holds is None else "confirmed" if holds else "refuted"
    return Finding(verdict=verdict, **{part: fill(words, values) for part, words in text.items()})


def figure(name: str, arguments: tuple[Any, ...], /, **values: Any) -> Drawing:
    """A figure by its name in the texts, with what its function draws."""
    text = texts()["figures"][name]
    caption, file = fill(text["caption"], values), text.get("file", name).format(**values)
    return Drawing(file, text["function"], arguments, text.get("paper", "").format(**values), caption)


def grid(
    name: str, rows: Iterable[Any], /, further: Columns[Any] = (), note: str = "", folded: bool = False, **values: Any
) -> Grid:
    """A table by its name in the texts: each column is a heading and the text of a cell, with the row's own names.

    Args:
        rows: The records; one that is no mapping is called `row` in the cells.
        further: Columns behind these, as functions.
        note: Below it, where the text has none.
        values: Other numbers of the title, the headings and the cells.
    """
    text = texts()["tables"][name]

    def column(cell: str) -> Any:
        return lambda row: WORDS.vformat(
            cell, (), {"paper": paper, **values, **(row if isinstance(row, Mapping) else {"row": row})}
        )

    columns = [(fill(heading, values), column(cell)) for heading, cell in text["columns"]]
    note = fill(text["note"], values) if "note" in text else note
    return table(fill(text["title"], values), list(rows), [*columns, *further], note, folded)


def note(name: str, /, **values: Any) -> str:
    """The words below a table."""
    return fill(texts()["notes"][name], values)


def section(key: str, scale: Any, seed: int, values: Mapping[str, Any], /, name: str = "", **parts: Any) -> Section:
    """A section by its name in the texts, with the settings that belong to it.

    A paragraph with `when` is shown only if the value of that name is true.
    """
    text, values = texts()["sections"][key], {"scale": scale, "seed": seed, **values}
    shown = [each["text"] for each in text["paragraphs"] if "when" not in each or values[each["when"]]]
    common = texts()["settings"].get(text.get("common"), {})
    settings = {label: fill(words, values) for label, words in {**common, **text.get("settings", {})}.items()}
    paragraphs = [fill(paragraph, values) for paragraph in shown]
    return Section(name or key, fill(text["title"], values), paragraphs, settings=settings, **parts)
