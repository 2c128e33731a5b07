"""The gallery: a grid of all examples, each with a picture that its blocks save, and what equal shares would need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
INDEX = (GALLERY / "index.md").read_text(encoding="utf-8")
EXAMPLES = sorted(path.stem for path in GALLERY.glob("*.md") if path.stem != "index")


def test_the_grid_shows_all_examples() -> None:
    assert sorted(re.findall(r"^:link: (\w+)$", INDEX, re.MULTILINE)) == EXAMPLES
    assert sorted(re.findall(r"^:img-top: images/(\w+)\.png$", INDEX, re.MULTILINE)) == EXAMPLES
    assert {file.stem for file in (GALLERY / "images").iterdir()} == set(EXAMPLES)
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_all_its_parts(name: str) -> None:
    text = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    for part in ("**Data**", "**Not claimed**", "qual"):  # equal shares, or an equal assignment
        assert part in text, part
    assert f"(images/{name}.png)" in text
    assert f"{name}.png" in "".join(re.findall(r"```(?:python|sh)\n(.*?)```", text, re.DOTALL))
    assert (GALLERY / "images" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
