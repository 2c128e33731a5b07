"""Families of public classes, so that a new risk, task, distribution or error is in the reference by itself."""

from __future__ import annotations

import inspect

import ramgape
from makers.markdown import escaped, table

TABLED = ("Result", "Study")  # classes of many methods
FAMILIES: dict[str, type] = {
    "risks": ramgape.Measure,
    "tasks": ramgape.Question,
    "distributions": ramgape.Distribution,
    "errors": ramgape.RamgapeError,
}


def family(name: str) -> str:
    """The public classes of a family, the one that they have in common first."""
    base = FAMILIES[name]
    kinds = [getattr(ramgape, each) for each in ramgape._MODULES]
    members = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, base) and kind is not base]
    return "\n".join(documented(kind.__name__) for kind in (base, *members))


def members(name: str) -> str:
    """The public methods and properties of a class, with their first sentences."""
    kind = getattr(ramgape, name)
    found = {each: inspect.getdoc(getattr(kind, each)) for each in vars(kind) if not each.startswith("_")}
    slots = getattr(kind, "__dataclass_fields__", ())
    rows = [
        (f"{{py:obj}}`{each} <ramgape.{name}.{each}>`", escaped(text.split("\n\n")[0]).replace("\n", " "))
        for each, text in found.items()
        if text and each not in slots
    ]
    return table(("", "in short"), rows)


def documented(name: str) -> str:
    """A class with its own methods."""
    what = "autoexception" if issubclass(getattr(ramgape, name), Exception) else "autoclass"
    return f"```{{eval-rst}}\n.. {what}:: ramgape.{name}\n   :members:\n   :show-inheritance:\n```\n"
