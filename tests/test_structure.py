"""How the code is built: no import cycle, pages that name files that exist, and tests that stand by themselves."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]


def read(folder: str) -> dict[str, str]:
    """The text of every module in a folder, by its path there."""
    top = ROOT / folder
    return {path.relative_to(top).as_posix(): path.read_text(encoding="utf-8") for path in top.rglob("*.py")}


SOURCES, TESTS, BENCHMARKS = read("src/ramgape"), read("tests"), read("benchmarks")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(sources: dict[str, str]) -> Iterator[tuple[str, Function]]:
    """Every function, nested ones and methods included, with its place."""
    for file, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                yield f"{file}: {node.name}", node


# --- the package ------------------------------------------------------------------------------------------------------


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Nor by an import inside a function; only what a type checker alone imports is left out."""
    graph = grimp.build_graph("ramgape", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(imported).prepare()  # names a cycle if there is one


# --- the pages --------------------------------------------------------------------------------------------------------

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_files_that_exist(page: Path) -> None:
    """A module by its path, or by the end of it; a link to a file beside the page."""
    folders = ("src", "tests", "docs", "examples", "benchmarks", "tools")
    modules = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)  # blocks run elsewhere
    named = set(re.findall(r"\w[\w./-]*\.py\b", text))
    assert [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in modules)] == []
    linked = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in linked if not (page.parent / link).exists()] == []


# --- the tests --------------------------------------------------------------------------------------------------------


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function itself, not in those that it defines."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*Function.__args__, ast.Lambda, ast.ClassDef)):
            yield child
            yield from own_nodes(child)


def returns_early(function: Function) -> bool:
    return any(isinstance(node, ast.Return) for node in own_nodes(function))


def test_no_test_returns_before_it_asserts() -> None:
    """A test has nothing to return: a case that it is not about is left out where its cases are listed."""
    tests = [(place, function) for place, function in functions(TESTS) if function.name.startswith("test_")]
    assert len(tests) > 1000
    assert [place for place, function in tests if returns_early(function)] == []
    (early,) = ast.parse("def test_it(x):\n    if x:\n        return\n    assert not x").body
    (fine,) = ast.parse("def test_it(x):\n    def one():\n        return 1\n    assert one()").body
    assert isinstance(early, ast.FunctionDef)
    assert isinstance(fine, ast.FunctionDef)
    assert returns_early(early)
    assert not returns_early(fine)


def test_no_test_module_is_imported() -> None:
    """What tests share stands in modules that are no tests, also for processes that a test starts."""
    pattern = re.compile(r"tests\.test_|from tests import .*\btest_")
    assert [file for file, text in [*TESTS.items(), *BENCHMARKS.items()] if pattern.search(text)] == []
    assert pattern.search('command = [sys.executable, "-m", "tests' + '.test_endings"]')
