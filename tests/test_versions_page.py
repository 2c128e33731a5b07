"""The page that says what version numbers promise has the numbers that the program has."""

from __future__ import annotations

import re
from pathlib import Path

from ramgape.paper import report
from ramgape.search import explained
from ramgape.search.engine import STATE_FORMAT
from ramgape.storage.versions import newest_version
from ramgape.studies import specification
from ramgape.web.access import token_file
from ramgape.web.app import BASE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "versions.md"


def test_numbers_of_formats_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (.+?) \|.*\| (\d+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert dict(rows) == {
        "JSON of results": str(explained.SCHEMA_VERSION),
        "`summary.json` of `ramgape reproduce` and `ramgape benchmark`": str(report.SCHEMA_VERSION),
        "HTTP": BASE.removeprefix("/api/v"),
        "tables of a store": newest_version(),
        "specification of a stored study": str(specification.FORMAT),
        "tokens of a server": str(token_file.VERSION),
        "snapshots": str(STATE_FORMAT),
    }
