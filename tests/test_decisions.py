"""Pages on decisions have one form, are short, and none is missing from their table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "project" / "adr"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))
PARTS = ["Context", "Decision", "What else was tried", "Consequences"]


def test_decisions_are_numbered_without_gaps_and_listed_by_their_titles() -> None:
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\d+) \| \[(.+?)\]\((.+?)\) \|", index, flags=re.MULTILINE)
    titles = [page.read_text(encoding="utf-8").splitlines()[0] for page in PAGES]
    assert [f"# {number}. {title}" for number, title, _ in listed] == titles
    assert [name for _, _, name in listed] == [page.name for page in PAGES]
    assert [int(page.name[:4]) for page in PAGES] == list(range(1, len(PAGES) + 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_is_one_page_of_one_form(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == PARTS
    assert re.search(r"^\*\*Status:\*\* \w+", text, flags=re.MULTILINE)
    assert len(text.split()) <= 400
    for address in re.findall(r"\]\((?!\w+:|#)([^)#]+)", text):
        assert (page.parent / address).is_file(), address
