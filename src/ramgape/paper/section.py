"""A section of a report: numbers for machines, raw data, and figures, tables and findings for readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["confirmed", "refuted", "not checkable"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, in our words, and what the runs say of it."""

    claim: str
    verdict: Verdict
    evidence: str
    source: str  # where the claim stands in the paper


@dataclass(frozen=True, slots=True)
class DataFile:
    """Raw data: a CSV file."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: the function of `figures` that draws it, with its arguments, and what a reader should see in it."""

    name: str
    function: str
    arguments: tuple[Any, ...]
    paper: str  # which figure of the paper it stands for, or "not in the paper"; nothing where that is no question
    caption: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the report; cells are text, as they are shown, with small print after the first line."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    folded: bool = False  # shown when asked for

    @property
    def words(self) -> list[bool]:
        """For each column, whether it has words, which stand to the left, rather than numbers."""
        return [any(row[place][:1].isalpha() for row in self.rows) for place in range(len(self.header))]


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
    findings: Sequence[Finding] = field(default_factory=tuple)


def judged(holds: bool) -> Verdict:
    """The verdict on a claim that could be checked."""
    return "confirmed" if holds else "refuted"
