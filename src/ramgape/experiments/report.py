"""The report: one page that needs nothing else, neither a network nor the files beside it."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramgape.errors import MissingExtra
from ramgape.experiments.chapter import Chapter, Finding

MARKS = {"confirmed": "✓", "refuted": "✗", "not checkable": "?"}


def page(chapters: Sequence[Chapter], general: Sequence[Finding], summary: Mapping[str, Any], figures: Path) -> str:
    """The report as HTML; figures are read from their folder and become part of the page."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtra('jinja2 must be installed for the report: pip install "ramgape[plot]"') from None
    environment = Environment(
        loader=PackageLoader("ramgape.experiments", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    findings = [*(finding for chapter in chapters for finding in chapter.findings), *general]
    verdicts: Counter[str] = Counter(finding.verdict for finding in findings)
    return environment.get_template("report.html.jinja").render(
        chapters=chapters,
        general=general,
        summary=summary,
        verdicts={verdict: verdicts[verdict] for verdict in MARKS},
        marks=MARKS,
        picture=lambda name: embedded(figures / f"{name}.svg"),
    )


def embedded(path: Path) -> str:
    """A picture as an address that contains it."""
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
