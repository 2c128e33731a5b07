"""Older names of options, values and attributes: they work everywhere, and nothing shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")

OPTION_NAMES = {
    "task": "question",
    "noise": "assumption",
    "max_pulls": "max_trials",
    "initial_pulls": "initial_trials",
    "alarm": "drift",
}
COMMANDS = {"front": "answer", "give-back": "release"}  # of `ramgape study`
FLAGS = {"--give-back": "--release"}  # of `ramgape study exchange`
VALUES = {name: {"best-mean": "best"} for name in ("question", "task")} | {
    name: {"any": "unknown"} for name in ("assumption", "noise")
}
# Of results, and keys of their JSON.
ATTRIBUTES = {"front": "answer", "samples": "trials", "pulls": "trials", "max_pulls": "max_trials"}


def present_value(option: str, value: Value) -> Value:
    """The value of an option as it is written now: its name, before parameters, may be an older one.

    >>> present_value("question", "best-mean:max-risk=2"), present_value("assumption", "any"), present_value("risk", 1)
    ('best:max-risk=2', 'unknown', 1)
    """
    if not isinstance(value, str) or option not in VALUES:
        return value
    name, colon, rest = value.partition(":")
    written: Any = f"{VALUES[option].get(name.strip(), name)}{colon}{rest}"
    return written  # type: ignore[no-any-return]


def reading(names: Mapping[str, str]) -> Callable[[Any, str], Any]:
    """A `__getattr__` that gives attributes under their older names."""

    def __getattr__(self: Any, name: str) -> Any:  # noqa: N807 - it becomes the method of a class
        if name in names:
            return getattr(self, names[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    return __getattr__


def present_flag(argument: str) -> str:
    """A word of a command line, with the present name of an option in place of an older one."""
    flag, equals, value = argument.partition("=")
    return f"{FLAGS.get(flag, flag)}{equals}{value}"
