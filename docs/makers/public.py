"""Public names: those of `ramgape`, and of the modules for errors, problems, questions, risks and data sets."""

from __future__ import annotations

import inspect
from typing import Any

import ramgape
from ramgape import datasets

PACKAGES = ("errors", "problems", "questions", "risks")


def everything() -> dict[str, tuple[str, Any]]:
    """For every public name the module that documents it, and the object."""
    found = {}
    for name, module in ramgape._MODULES.items():
        own = module in PACKAGES and name not in ramgape.__all__
        found[name] = (f"ramgape.{module}" if own else "ramgape", getattr(ramgape, name))
    for name, thing in vars(datasets).items():
        if getattr(thing, "__module__", "") == "ramgape.datasets" and not name.startswith("_"):
            found[name] = ("ramgape.datasets", thing)
    return found


NAMES = everything()


def path_of(name: str) -> str:
    """The full path of a public name, such as ramgape.Study."""
    return f"{NAMES[name][0]}.{name}"


def classes_of(base: type) -> list[str]:
    """The public classes of a family, the one that they have in common first."""
    kinds = {name: thing for name, (_, thing) in NAMES.items() if inspect.isclass(thing) and issubclass(thing, base)}
    return sorted(kinds, key=lambda name: (kinds[name] is not base, name))


def first_words(thing: Any) -> str:
    """The first paragraph of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n\n")[0]
