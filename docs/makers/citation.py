"""How to cite, from CITATION.cff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

import ramgape
from makers.markdown import block

FILE = Path(__file__).resolve().parents[2] / "CITATION.cff"


def text() -> str:
    """The software and the paper, as BibTeX."""
    cited = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    software = {
        "author": f"{{{people(cited['authors'])}}}",
        "title": cited["title"],
        "version": cited.get("version", ramgape.__version__),
        "year": str(cited.get("date-released", ""))[:4],
        "note": " ".join(cited["abstract"].split()),
    }
    parts = [cited["message"] + "\n", block(entry("software", "ramgape", software), "bibtex")]
    for paper in cited["references"]:
        fields = {
            "author": people(paper["authors"]),
            "title": paper["title"],
            "booktitle": paper["conference"]["name"],
            "series": paper["collection-title"],
            "volume": paper["volume"],
            "pages": f"{paper['start']}--{paper['end']}",
            "year": paper["year"],
            "url": paper["url"],
        }
        key = f"{paper['authors'][0]['family-names'].lower()}{paper['year']}"
        parts += [f"[{paper['title']}]({paper['url']})\n", block(entry("inproceedings", key, fields), "bibtex")]
    return "\n".join(parts)


def people(authors: list[dict[str, str]]) -> str:
    """Names as BibTeX joins them."""
    return " and ".join(
        each["name"] if "name" in each else f"{each['family-names']}, {each['given-names']}" for each in authors
    )


def entry(kind: str, key: str, fields: dict[str, Any]) -> str:
    """One entry; what is not known is left out."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
