"""The public surface explains its parameters and fields in the Google form, so that a reference can be made of it."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ramgape
import ramgape.testing
from ramgape.bounds import Bound
from ramgape.core.kernel import is_kernel
from ramgape.options import OPTIONS
from ramgape.questions import Boxes, Pareto, Question, Wanted
from ramgape.search.policy_state import PolicyState
from ramgape.storage import Store

THINGS: list[Any] = [
    *(getattr(ramgape, name) for name in ramgape._MODULES),
    *(getattr(ramgape.testing, name) for name in ramgape.testing.__all__),
    *(Bound, Boxes, Pareto, PolicyState, Store, Question, Wanted),
]
CLASSES = [thing for thing in THINGS if inspect.isclass(thing)]

COLUMNS = re.compile(r"^ *\w+ {3,}\w", re.MULTILINE)  # "name    meaning"


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions and methods, each once; what overrides another is explained where that stands.

    Kernels are named for what they are in a search: the class explains them.
    """
    for thing in THINGS:
        if inspect.isfunction(thing) and not is_kernel(thing):
            yield thing.__name__, thing
    for kind in dict.fromkeys(base for each in CLASSES for base in each.__mro__):
        if kind.__module__.startswith("ramgape."):
            for name, member in vars(kind).items():
                function = getattr(member, "__func__", member)
                overrides = [base for base in kind.__mro__[1:] if getattr(vars(base).get(name), "__doc__", None)]
                is_public = not name.startswith("_") and not is_kernel(function)
                if inspect.isfunction(function) and is_public and not overrides:
                    yield f"{kind.__name__}.{name}", function


def section(text: str, *headings: str) -> str:
    """What stands under one of these headings, or nothing."""
    found = re.search(rf"^({'|'.join(headings)}):\n((?: +.*\n|\n)+)", inspect.cleandoc(text) + "\n", re.MULTILINE)
    return "" if found is None else found[2]


@pytest.mark.parametrize(("name", "function"), list(functions()), ids=lambda value: value if type(value) is str else "")
def test_parameters_are_explained(name: str, function: Callable[..., Any]) -> None:
    assert function.__doc__
    heads = re.findall(r"^    ([\w*, ]+):", section(function.__doc__, "Args"), re.MULTILINE)
    named = set(re.findall(r"\w+", " ".join(heads)))
    assert set(inspect.signature(function).parameters) - {"self", "cls"} <= named
    assert not COLUMNS.search(function.__doc__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_fields_are_explained(kind: Any) -> None:
    fields = [each.name for each in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
    fields += getattr(kind, "_fields", ())
    said = set(re.findall(r"\w+", section(kind.__doc__ or "", "Args", "Attributes")))
    assert kind.__doc__
    assert {name for name in fields if not (kind is ramgape.Search and OPTIONS[name].shown)} <= said
    assert not COLUMNS.search(kind.__doc__)
