"""Every block of every page runs, from top to bottom in a folder of its own; examples in docstrings run by doctest."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from ramgape import registry
from tests.blocks import MARKS, RUN, SHOWN, Block, commands_of, find_blocks, reading, same

ROOT = Path(__file__).resolve().parents[1]
# What is generated from programs has its own tests.
GENERATED = ("docs/gallery", "docs/_", "docs/reference/generated", "docs/reference/api")
PAGES = {
    name: find_blocks(path.read_text(encoding="utf-8"))
    for path in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    if not (name := path.relative_to(ROOT).as_posix()).startswith(GENERATED)
}
# Pages that may have blocks which nobody can run here, and how many.
NOT_RUN = {
    "CONTRIBUTING.md": 2,
    "README.md": 2,
    "docs/project/scale.md": 2,
    "docs/guides/batch-old.md": 4,
    "docs/guides/cluster.md": 1,
    "docs/guides/logs.md": 1,
    "docs/guides/machines-old.md": 1,
    "docs/guides/server.md": 1,
    "docs/guides/studies.md": 1,
    "docs/guides/timing.md": 1,
    "docs/index.md": 1,
}


def cases(*, long: bool) -> list[str]:
    """Pages with something to run; for the long ones, with something that takes long."""
    found = {name: [each for each in blocks if each.runs] for name, blocks in PAGES.items()}
    return [name for name, blocks in found.items() if any(("long" in each.marks) == long for each in blocks)]


def go_through(name: str, blocks: list[Block], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    for variable in ("RAMGAPE_STORAGE", "RAMGAPE_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / ".state"))
    with reading(name, folder) as reader:
        for block in blocks:
            if block.runs or "output" in block.marks:
                reader.run(block)


@pytest.mark.parametrize("name", cases(long=False))
def test_a_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(name, [block for block in PAGES[name] if "long" not in block.marks], tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("name", cases(long=True))
def test_a_page_runs_as_a_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(name, PAGES[name], tmp_path, monkeypatch)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_its_blocks_are(name: str) -> None:
    """By their language: no indented ones, which say nothing."""
    assert [(block.line, block.language) for block in PAGES[name] if block.language not in (*RUN, *SHOWN)] == []


def test_few_pages_have_what_cannot_run() -> None:
    """Each with a reason that one can read."""
    marks = {
        name: [block.marks["not run"] for block in blocks if "not run" in block.marks] for name, blocks in PAGES.items()
    }
    assert {name: len(reasons) for name, reasons in marks.items() if reasons} == NOT_RUN
    assert [name for name, reasons in marks.items() if not all(len(reason) > 10 for reason in reasons)] == []


def test_no_docstring_has_code_that_does_not_run() -> None:
    """Code in a docstring stands after a prompt, where doctest finds it."""
    strings = [
        (path.name, ast.get_docstring(node) or "")
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(strings) > 1000
    assert [name for name, text in strings if "```" in text or "::\n" in text] == []


def test_blocks_are_found() -> None:
    page = """Text.

<!-- long -->
```python
x = 1
```

- in a list:

  <!-- not run: needs a cluster -->

  ```sh
  srun
  ```

<!-- long -->
A paragraph takes the mark away.

```console
$ a \\
  b
out
$ c
```

<!-- setup
y = 2
-->
```{note}
```

    indented
"""
    found = find_blocks(page)
    assert [(each.language, each.text, each.marks) for each in found] == [
        ("python", "x = 1\n", {"long": ""}),
        ("sh", "srun\n", {"not run": "needs a cluster"}),
        ("console", "$ a \\\n  b\nout\n$ c\n", {}),
        ("python", "y = 2", {"setup": ""}),
        ("", "indented\n", {}),
    ]
    assert [each.runs for each in found] == [True, False, True, True, False]
    assert found[0].line == 4
    assert commands_of(found[2].text) == [("a \\\n  b\n", "out\n"), ("c\n", "")]
    assert {mark for each in found for mark in each.marks} < set(MARKS)


def test_what_is_printed_is_compared() -> None:
    assert same("a  b\n...\nd", "a b\nc\n\nd\n")
    assert not same("a\nb", "a\nc\n")


def test_a_reader_notices_what_fails(tmp_path: Path) -> None:
    with reading("page.md", tmp_path) as reader:
        reader.run(Block(1, "sh", "export WHERE=here; echo one"))
        reader.run(Block(2, "text", "one", {"output": ""}))
        reader.run(Block(3, "console", "$ echo $WHERE\nhere\n"))
        reader.run(Block(4, "python", "x = 1"))
        reader.run(Block(5, "python", "print(x + 1)"))
        reader.run(Block(6, "text", "2", {"output": ""}))
        reader.run(Block(7, "csv", "a,1\n", {"file": "log.csv"}))
        reader.run(Block(8, "sh", "echo ready; sleep 600", {"background": "ready"}))
        for bad in (
            Block(9, "sh", "false; true"),
            Block(9, "sh", "exit 3"),
            Block(9, "console", "$ cat log.csv\nb,1\n"),
            Block(9, "python", "assert x == 2"),
            Block(9, "text", "3", {"output": ""}),
            Block(9, "sh", "true", {"background": "never"}),
        ):
            with pytest.raises(AssertionError):
                reader.run(bad)
    assert [process.returncode for process in reader.running] == [-15, 0]
    assert (tmp_path / "log.csv").read_text(encoding="utf-8") == "a,1\n"
