"""The gallery: its scripts say what is so, at a small scale, and the pages that are shown are those of the scripts.

That pages are also those of the present sources of ramgape is what `make gallery` sees to, and a long test looks after:
with the short tests any change of a source would fail until all examples have been run in full.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs import gallery_runner as runner

GALLERY = runner.GALLERY
HELPERS = {"recorded"}  # beside the scripts
SCALE = "0.05"


@pytest.mark.filterwarnings("default")  # as whoever runs a script has them
@pytest.mark.parametrize("name", runner.EXAMPLES)
def test_what_an_example_says_is_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small scale leaves the data as they are and makes fewer trials; the assertions at the end are the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAMGAPE_GALLERY_SCALE", SCALE)
    printed = runner.execute(GALLERY / f"{name}.py")
    assert any(printed)
    assert {file.name for file in tmp_path.glob("*.svg")} == set(runner.pictures_of(name)) != set()


@pytest.mark.parametrize("name", runner.EXAMPLES)
def test_a_page_is_that_of_its_script_and_data(name: str) -> None:
    assert runner.stale(name, ("script", "data")) == [], "run `make gallery`, and commit what it writes"


@pytest.mark.long
@pytest.mark.parametrize("name", runner.EXAMPLES)
def test_a_page_is_that_of_the_present_code(name: str) -> None:
    assert runner.stale(name) == [], "run `make gallery`, and commit what it writes"


def test_the_index_shows_all_examples() -> None:
    assert (GALLERY / "index.md").read_text(encoding="utf-8") == runner.index()
    assert {file.stem for file in GALLERY.glob("*.py")} == set(runner.EXAMPLES) | HELPERS
    assert {file.stem for file in GALLERY.glob("*.md")} == {*runner.EXAMPLES, "index"}
    shown = {picture for name in runner.EXAMPLES for picture in runner.pictures_of(name)}
    assert {file.name for file in (GALLERY / "images").iterdir()} == shown
    assert list(json.loads((GALLERY / "digests.json").read_text(encoding="utf-8"))) == sorted(runner.EXAMPLES)


@pytest.mark.parametrize("name", runner.EXAMPLES)
def test_an_example_has_all_its_parts(name: str) -> None:
    blocks = runner.blocks_of(GALLERY / f"{name}.py")
    text = "\n".join(body for is_text, body in blocks if is_text)
    assert re.match(r"# \w.+\n\n\w", text)  # a title, and the question
    for part in ("**Data**", "**What it shows.**", "**What it does not prove.**"):
        assert text.count(part) == 1, part
    is_text, last = blocks[-1]
    assert not is_text
    assert "assert " in last


# --- the runner -------------------------------------------------------------------------------------------------------

SCRIPT = """# %% [markdown]
# # A title
#
# A question, and ![a picture](images/made.svg)

# %%
from pathlib import Path

Path("made.svg").write_text("<svg/>")
print("two", "words ")

# %%
assert {claim}
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gallery with one script, whose claim is true."""
    (tmp_path / "recorded.py").write_bytes((GALLERY / "recorded.py").read_bytes())
    (tmp_path / "made.py").write_text(SCRIPT.format(claim="True"))
    monkeypatch.setattr(runner, "GALLERY", tmp_path)
    monkeypatch.setattr(runner, "EXAMPLES", {"made": ()})
    return tmp_path


def test_a_script_becomes_a_page(small: Path) -> None:
    assert runner.stale("made") == ["script", "data", "code", "libraries", "page"]
    runner.make("made")
    page = (small / "made.md").read_text()
    assert "# A title\n\nA question" in page
    assert '```python\nfrom pathlib import Path\n\nPath("made.svg")' in page
    assert "```text\ntwo words\n```" in page
    assert (small / "images" / "made.svg").read_text() == "<svg/>"
    assert runner.stale("made") == []
    assert "## [A title](made.md)" in runner.index()


def test_what_has_changed_is_noticed(small: Path) -> None:
    runner.make("made")
    (small / "made.md").write_text("by hand")
    assert runner.stale("made") == ["page"]
    (small / "images" / "made.svg").unlink()
    assert runner.stale("made") == ["page"]
    (small / "made.py").write_text(SCRIPT.format(claim="1 + 1 == 2"))
    assert runner.stale("made", ["script", "code"]) == ["script", "page"]


def test_a_claim_that_is_not_so_leaves_the_page_alone(small: Path) -> None:
    runner.make("made")
    page, noted = (small / "made.md").read_bytes(), (small / "digests.json").read_bytes()
    (small / "made.py").write_text(SCRIPT.format(claim="1 + 1 == 3"))
    with pytest.raises(SystemExit, match=r"(?s)made.py has failed.*AssertionError"):
        runner.make("made")
    assert ((small / "made.md").read_bytes(), (small / "digests.json").read_bytes()) == (page, noted)


def test_a_script_has_its_time(tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text("# %%\nimport time\n\ntime.sleep(600)\n")
    with pytest.raises(SystemExit, match=r"slow.py takes more than 0.2 seconds"):
        runner.run(script, tmp_path, limit=0.2)
