"""No name has two meanings: of the classes of a package, and of all that is exported."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import ramgape

PACKAGE = Path(ramgape.__file__).parent


@functools.cache
def definitions() -> dict[str, set[tuple[str, str]]]:
    """Where each public class and function is defined: its kind, and the module."""
    found: dict[str, set[tuple[str, str]]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                kind = "class" if isinstance(node, ast.ClassDef) else "function"
                found.setdefault(node.name, set()).add((kind, path.relative_to(PACKAGE).as_posix()))
    return found


def test_a_class_stands_for_one_thing_in_its_package() -> None:
    several = {}
    for name, places in definitions().items():
        packages = [place.split("/")[0] for kind, place in places if kind == "class"]
        if len(set(packages)) < len(packages):
            several[name] = sorted(places)
    assert several == {}


def test_what_is_exported_is_defined_once() -> None:
    """Beside the commands that are called as the functions that they call."""
    for name in ramgape._MODULES:
        places = [place for _, place in definitions().get(name, ()) if not place.startswith("cli/")]
        assert len(places) <= 1, (name, places)
