"""Parts from outside, by name: policies, risks, bounds, questions, stores and readers of other packages.

They arrive in two ways: a program calls `register`, or an installed package states an entry point in a group such as
`ramgape.policies`, which is loaded when its name is first used. What the package itself contains stands in the
tables beside it (`POLICIES`, `RISKS`, `BOUNDS`, `QUESTIONS`, the schemes of stores), and a name from there is never
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ramgape.errors import known_name, require

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = {
    "policy": "ramgape.policies",
    "risk": "ramgape.risks",
    "bound": "ramgape.bounds",
    "question": "ramgape.questions",
    "store": "ramgape.stores",
    "reader": "ramgape.readers",
}
NAME = re.compile(r"[a-z][a-z0-9_-]*")  # nothing that means something in "NAME:KEY=VALUE", a URL or a shell

_registered: dict[str, dict[str, Any]] = {kind: {} for kind in GROUPS}


def register(kind: str, name: Any, thing: Any) -> None:
    """Give a thing from outside a name, so that it can be asked for wherever a built-in one can.

    A name holds in this process only. Where studies are kept and continued elsewhere, or trials are spread over
    processes, the module that registers it must be imported there as well, or be installed with an entry point.

    Args:
        kind: "policy", "risk", "bound", "question", "store" or "reader".
        name: Lower-case letters, digits, "-" and "_"; for a store the scheme of its URLs.
        thing: A policy is a function `policy(state) -> arm number` or a compiled `decide`; a risk a subclass of
            `ramgape.Measure`; a bound a `ramgape.bounds.Bound`; a question a `ramgape.questions.Question`, or a
            function that makes one; a store a function `opener(url, create=...)` that gives a
            `ramgape.storage.Store`; a reader of logs a `ramgape.extend.Format`. `ramgape.extend` has all of them on
            one page, and a check for each.

    Raises:
        UnknownName: There is no such kind.
        InvalidSpec: The name is not written so, or another thing has it.

    Examples:
        >>> import ramgape
        >>> ramgape.register("policy", "first", lambda state: 0)
        >>> arms = [ramgape.Arm("a", ramgape.Beta(9, 1)), ramgape.Arm("b", ramgape.Beta(1, 9))]
        >>> problem = ramgape.Instance("two", tuple(arms), reward_range=(0, 1), noise="bounded")
        >>> ramgape.simulate(problem, policy="first", budget=10).arm("a").pulls
        8
    """
    kind = "question" if kind == "task" else kind  # its older name
    known_name(kind, GROUPS, "kind")
    sound = isinstance(name, str) and NAME.fullmatch(name) is not None
    require(sound, f"the name of a {kind}", "lower-case letters, digits, '-' and '_', a letter first", name)
    there = _registered[kind].get(name, thing)
    require(there is thing, f"the name of a {kind}", "one that no other has", name)
    _registered[kind][name] = thing


def _stated(kind: str) -> Iterable[EntryPoint]:
    """The entry points of installed packages; what reads them is imported only here, or every process would wait."""
    from importlib import metadata

    return metadata.entry_points(group=GROUPS[kind])


def names(kind: str) -> list[str]:
    """All names that things of a kind from outside have."""
    stated = [entry.name for entry in _stated(kind)]
    return list(dict.fromkeys([*_registered[kind], *stated]))


class InstalledExtension(NamedTuple):
    """An installed extension, for lists.

    Attributes:
        kind: As for `register`.
        name: By which it is asked for.
        package: The installed package that states it; empty for what this process has registered.
        meaning: In a line; why, if it cannot be loaded.
        usable: Whether it could be loaded.
    """

    kind: str
    name: str
    package: str
    meaning: str
    usable: bool = True


def extensions(kind: str, built_in: Iterable[str] = ()) -> list[InstalledExtension]:
    """All things of a kind from outside; one that cannot be loaded is among them, and says why.

    Args:
        kind: As for `register`.
        built_in: The names that the package itself has, which come first.
    """
    own = set(built_in)
    found = {name: InstalledExtension(kind, name, "", _meaning(thing)) for name, thing in _registered[kind].items()}
    for entry in _stated(kind):
        package = "" if entry.dist is None else entry.dist.name
        try:
            found[entry.name] = InstalledExtension(kind, entry.name, package, _meaning(entry.load()))
        except Exception as error:  # noqa: BLE001 - whatever a module does when it is imported
            why = f"cannot be loaded: {type(error).__name__}: {error}"
            found[entry.name] = InstalledExtension(kind, entry.name, package, why, usable=False)
    return [each for each in found.values() if each.name not in own]


def _meaning(thing: Any) -> str:
    """What a thing is, in a line: its `meaning`, or the first line of its documentation."""
    stated = getattr(thing, "meaning", None) or getattr(thing, "__doc__", None)
    return stated.strip().partition("\n")[0] if isinstance(stated, str) else ""


def is_registered(kind: str, name: str, thing: object) -> bool:
    """Whether a thing from outside has this name here."""
    return _registered[kind].get(name) is thing


def find(kind: str, name: object, built_in: Iterable[str], what: str | None = None) -> Any:
    """The thing of this name from outside, or None if the name is a built-in one.

    Args:
        kind: As for `register`.
        name: What was asked for.
        built_in: The names that the package itself has, which come first.
        what: What an error calls it; the kind unless given.

    Raises:
        UnknownName: Nothing has this name; suggests the nearest.
    """
    own = list(built_in)
    if name in own:
        return None
    if isinstance(name, str) and name in _registered[kind]:
        return _registered[kind][name]
    for entry in _stated(kind):
        if entry.name == name:
            thing = entry.load()
            register(kind, entry.name, thing)
            return thing
    known_name(name, [*own, *names(kind)], what or kind)
    raise AssertionError("unreachable: a known name was found above")
