"""The report: one page that needs nothing else, neither a network nor the files beside it."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ramgape.errors import MissingExtra
from ramgape.paper.section import Finding, Section

MARKS = {"confirmed": "✓", "refuted": "✗", "not checkable": "?"}


@dataclass(frozen=True, slots=True)
class PageText:
    """The text around the sections, of which `lead` may have tags."""

    command: str  # of `ramgape`, that makes the report
    title: str
    lead: str
    quick: str  # what the quick version is
    footer: str


def render_page(
    page_text: PageText,
    sections: Sequence[Section],
    general: Sequence[Finding],
    summary: Mapping[str, Any],
    figures: Path,
    every: bool,
) -> str:
    """The report as HTML; figures are read from their folder and become part of the page.

    Args:
        page_text: The text around the sections.
        sections: What each part contributes, in order.
        general: Findings that belong to no section.
        summary: What `summary.json` has.
        figures: The folder of the SVG files.
        every: Whether all parts of the report are there.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        allowed = 'installed for the report: pip install "ramgape[plot]"'
        raise MissingExtra(what="jinja2", allowed=allowed) from None
    environment = Environment(
        loader=PackageLoader("ramgape.paper", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    findings = [*(finding for section in sections for finding in section.findings), *general]
    verdicts: Counter[str] = Counter(finding.verdict for finding in findings)
    return environment.get_template("report.html.jinja").render(
        page_text=page_text,
        every=every,
        sections=sections,
        general=general,
        summary=summary,
        verdicts={verdict: verdicts[verdict] for verdict in MARKS},
        marks=MARKS,
        picture=lambda name: embedded(figures / f"{name}.svg"),
    )


def embedded(path: Path) -> str:
    """A picture as an address that contains it."""
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
