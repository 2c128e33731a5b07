"""Shell completion: names of policies, risks, questions, bounds, assumptions and instances.

Studies are looked for where stores are (`stores.py`). A completion has a moment, and nobody to complain to: whatever
goes wrong, nothing is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress


def instances(incomplete: str) -> list[str]:
    """The built-in instances; the shell itself has files."""
    from ramgape.problems.instances import instance_names

    return [name for name in instance_names() if name.startswith(incomplete)]


def policies() -> Iterable[str]:
    """All policies, from outside as well."""
    from ramgape import registry
    from ramgape.policies import ALIASES, POLICIES

    return ["auto", *POLICIES, *ALIASES, *registry.names("policy")]


def bounds() -> Iterable[str]:
    """All bounds."""
    from ramgape import registry
    from ramgape.bounds import BOUNDS

    return ["auto", *BOUNDS, *registry.names("bound")]


def risks() -> Iterable[str]:
    """All risks, as they begin."""
    from ramgape import registry
    from ramgape.risks.table import RISKS

    return [*RISKS, *registry.names("risk")]


def questions() -> Iterable[str]:
    """All questions, as they begin."""
    from ramgape import registry
    from ramgape.questions import QUESTIONS

    return [*QUESTIONS, *registry.names("question")]


def assumptions() -> Iterable[str]:
    """What rewards may be."""
    from ramgape.assumptions import ASSUMPTIONS

    return list(ASSUMPTIONS)


LISTS: dict[str, Callable[[], Iterable[str]]] = {
    "policy": policies,
    "bound": bounds,
    "risk": risks,
    "question": questions,
    "assumption": assumptions,
}


def completer(name: str) -> Callable[[str], list[str]] | None:
    """What completes an option of this name; None where nothing does."""
    if name not in LISTS:
        return None

    def complete(incomplete: str) -> list[str]:
        found: list[str] = []
        with suppress(Exception):
            found = [each for each in LISTS[name]() if each.startswith(incomplete)]
        return found

    return complete
