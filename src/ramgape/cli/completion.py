"""Shell completion: names of policies, risks, questions, bounds, assumptions and instances.

Studies are looked for where stores are (`stores.py`). A completion has a moment, and nobody to complain to: whatever
goes wrong, nothing is offered.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress


def instances(incomplete: str) -> list[str]:
    """The built-in instances; the shell itself has files."""
    from ramgape.problems.instances import instance_names

    return [name for name in instance_names() if name.startswith(incomplete)]


# By kind: the module and the tables of its names, and other names that are as good.
TABLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "policy": ("policies", ("POLICIES", "ALIASES"), ("auto",)),
    "bound": ("bounds", ("BOUNDS",), ("auto",)),
    "risk": ("risks.table", ("RISKS",), ()),
    "question": ("questions", ("QUESTIONS",), ()),
    "assumption": ("assumptions", ("ASSUMPTIONS",), ()),
}


def names_of(kind: str) -> list[str]:
    """All names of a kind, from outside as well; of risks and questions, as they begin."""
    from ramgape import registry

    module, tables, others = TABLES[kind]
    place = importlib.import_module(f"ramgape.{module}")
    known = [name for table in tables for name in getattr(place, table)]
    return [*others, *known, *(registry.names(kind) if kind in registry.GROUPS else ())]


def completer(name: str) -> Callable[[str], list[str]] | None:
    """What completes an option of this name; None where nothing does."""
    if name not in TABLES:
        return None

    def complete(incomplete: str) -> list[str]:
        found: list[str] = []
        with suppress(Exception):
            found = [each for each in names_of(name) if each.startswith(incomplete)]
        return found

    return complete
