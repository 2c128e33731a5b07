"""Every visible block of every page runs as printed, in an empty folder with nothing but the package in reach."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

import pytest

from docs.blocks import MARKS, RUN, SHOWN, Block, commands_of, find_blocks, reading, same
from docs.refresh import refresh, rewritten

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): find_blocks(path.read_text(encoding="utf-8"))
    for path in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
}
# Another Python to run the pages with, such as that of an environment with the built wheel.
PYTHON = os.environ.get("RAMGAPE_PAGES_PYTHON", "")
# Pages with blocks that cannot run here, and how many.
NOT_RUN = {
    "CONTRIBUTING.md": 2,
    "README.md": 1,
    "docs/guides/ci.md": 1,
    "docs/guides/cluster.md": 4,
    "docs/index.md": 1,
    "docs/project/benchmarks.md": 2,
    "docs/start/install.md": 2,
    "docs/theory/sample-complexity.md": 1,
}


def pages_with(*, long: bool) -> list[str]:
    """Pages with something to run; with `long`, with something that takes long."""
    return [
        name
        for name, blocks in PAGES.items()
        if any(each.runs and (not long or "long" in each.marks) for each in blocks)
    ]


def run_page(name: str, folder: Path, *, whole: bool) -> None:
    python, sources = (PYTHON, None) if PYTHON else (sys.executable, ROOT / "src")
    with reading(name, folder, python, sources) as reader:
        for block in PAGES[name]:
            reader.run(block, whole)


@pytest.mark.parametrize("name", pages_with(long=False))
def test_a_page_runs(name: str, tmp_path: Path) -> None:
    run_page(name, tmp_path, whole=False)


@pytest.mark.long
@pytest.mark.parametrize("name", pages_with(long=True))
def test_a_page_runs_as_printed(name: str, tmp_path: Path) -> None:
    run_page(name, tmp_path, whole=True)


@pytest.mark.parametrize("name", PAGES)
def test_every_block_names_its_language(name: str) -> None:
    assert [(block.line, block.language) for block in PAGES[name] if block.language not in (*RUN, *SHOWN)] == []


def test_nothing_hidden_runs() -> None:
    """No setup in comments; a shorter run differs in numbers alone; the text names a file that it asks to save."""
    hidden = [name for name in PAGES if re.search(r"<!-- (setup|less)", (ROOT / name).read_text(encoding="utf-8"))]
    assert hidden == []
    for name, blocks in PAGES.items():
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        for block in blocks:
            shapes = {re.sub(r"[\d.,_]+", "#", text) for text in (block.text, block.shorter or block.text)}
            assert len(shapes) == 1, f"{name}:{block.line}"
            said = re.sub(r"<!--.*?-->", "", "\n".join(lines[: block.line]))
            assert block.marks.get("file", "") in said, f"{name}:{block.line}"


def test_few_pages_have_what_cannot_run() -> None:
    """Each with a reason."""
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

<!-- long: 1 -> 2 -->
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

```{note}
```

    indented
"""
    found = find_blocks(page)
    assert [(each.language, each.text, each.marks) for each in found] == [
        ("python", "x = 1\n", {"long": "1 -> 2"}),
        ("sh", "srun\n", {"not run": "needs a cluster"}),
        ("console", "$ a \\\n  b\nout\n$ c\n", {}),
        ("", "indented\n", {}),
    ]
    assert [each.runs for each in found] == [True, False, True, False]
    assert [each.shorter for each in found] == ["x = 2\n", None, None, None]
    assert (found[0].line, found[0].end) == (4, 6)
    assert commands_of(found[2].text) == [("a \\\n  b\n", "out\n"), ("c\n", "")]
    assert {mark for each in found for mark in each.marks} < set(MARKS)


@pytest.mark.parametrize(
    ("wanted", "got", "equal"),
    [
        ("a  b\n...\nd", "a b\nc\n\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("took about 1.2 s", "took 13.4 s", True),
        ("took about 1,200 s", "took about 9 s", True),
        ("took about 1.2 s", "took long s", False),
        ("at ...:1", "at host:1", True),
        ("a\nb", "a\nc\n", False),
        ("a", "a\nb", False),
    ],
)
def test_what_is_printed_is_compared(wanted: str, got: str, equal: bool) -> None:
    assert same(wanted, got) is equal


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
            Block(9, "python", "import tests"),
            Block(9, "python", "import docs"),
            Block(9, "text", "3", {"output": ""}),
            Block(9, "sh", "true", {"background": "never"}),
        ):
            with pytest.raises(AssertionError):
                reader.run(bad)
        reader.run(Block(10, "python", "print(1)", {"long": ""}), whole=False)
        reader.run(Block(11, "text", "not compared", {"output": ""}))
        reader.run(Block(12, "python", "print(100)", {"long": "100 -> 1"}), whole=False)
        reader.run(Block(13, "text", "100", {"output": ""}))
    assert [process.returncode for process in reader.running] == [-15, 0]
    assert (tmp_path / "log.csv").read_text(encoding="utf-8") == "a,1\n"


def test_outputs_are_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docs.refresh.ROOT", tmp_path)
    page = tmp_path / "page.md"
    fence = "```"
    text = f"{fence}python\nprint('a\\nb\\nc')\n{fence}\n\n<!-- output -->\n{fence}text\n{{}}{fence}\n"
    page.write_text(text.format("x\n...\n") + f"\n{fence}console\n$ echo new\nold\n$ echo b\nb\n{fence}\n")
    assert refresh(page, whole=False) == []
    again = text.format("a\n...\n") + f"\n{fence}console\n$ echo new\nnew\n$ echo b\nb\n{fence}\n"
    assert page.read_text(encoding="utf-8") == again
    assert rewritten("a\n...\nz\n", "1\n2\n3\n") == "1\n...\n3\n"
    assert rewritten("took about 2 s\n", "took 3 minutes\n") is None
