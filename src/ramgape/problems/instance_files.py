"""Instance files: JSON that describes arms, read so that an error names its place.

    {"name": "mine", "reward_range": [0, 1], "arms": [
      {"name": "A", "distribution": "beta", "a": 2.0, "b": 3.0},
      {"name": "B", "distribution": "bernoulli", "p": 0.4},
      {"name": "C", "distribution": "uniform", "low": 0.2, "high": 0.9},
      {"name": "D", "distribution": "data", "values": [0.1, 0.4]}]}

or `"noise"`, "gaussian" or "heavy:kurtosis=10" say, in place of `"reward_range"`, optionally
`"sigma_max"`, or neither (assumption "unknown"); then arms may be of any distribution, without bounds as well, such as

      {"name": "G", "distribution": "gaussian", "mean": 0.5, "variance": 0.04}
      {"name": "T", "distribution": "student-t", "df": 5, "location": 0.5, "scale": 0.2}
      {"name": "L", "distribution": "lognormal", "mu": 0, "sigma": 0.5}
      {"name": "E", "distribution": "exponential", "scale": 2}
      {"name": "H", "distribution": "gamma", "shape": 3}
      {"name": "P", "distribution": "pareto", "shape": 5}
      {"name": "M", "distribution": "mixture", "weights": [0.9, 0.1], "parts": [
        {"distribution": "gaussian", "mean": 1, "variance": 1}, {"distribution": "exponential", "scale": -5}]}

A test set has `"items"`, how many, and of every arm a score for each of them, in the same order for all arms:

    {"reward_range": [0, 1], "items": 3, "arms": [
      {"name": "A", "distribution": "scores", "values": [1, 0, 1]},
      {"name": "B", "distribution": "scores", "values": [1, 1, 0]}]}

The keys of an arm are the arguments of its distribution; `name` may be missing at the top and is then the file's own.
`"risk"`, "cvar:0.1" say, is what searches are about unless they ask for another.

Every value is checked once, by the constructors in `environments` and `distributions`; their complaints are
about an argument, and here its place is put in front: `mine.json: arms[2].` + `a must be ...`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ramgape.assumptions import BOUNDED, ITEMS, UNKNOWN
from ramgape.common.files import LARGEST_FILE, read_whole
from ramgape.errors import InvalidInstance, RamgapeError, UnknownName, known_name, require, shorten
from ramgape.problems.distribution import Distribution
from ramgape.problems.environments import DISTRIBUTIONS, Arm, Instance
from ramgape.problems.mixtures import Mixture


def instance_from_dict(description: Any, name: str = "instance") -> Instance:
    """The instance that a dict in the form of an instance file describes; `name` if it states none."""
    allowed = 'an object such as {"reward_range": [0, 1], "arms": [...]}'
    require(isinstance(description, Mapping), "an instance", allowed, description, error=InvalidInstance)
    with inside("top level"):
        check_keys(description, ("name", "reward_range", "noise", "sigma_max", "risk", "items", "arms"))
    check_given(description, ("arms",))
    listed = isinstance(description["arms"], (list, tuple))
    require(listed, "arms", "a list of arms", description["arms"], error=InvalidInstance)
    return Instance(
        name=description.get("name", name),
        arms=tuple(arm_from_dict(arm, f"arms[{place}]") for place, arm in enumerate(description["arms"])),
        reward_range=description.get("reward_range"),
        noise=description.get("noise", usual_assumption(description)),
        sigma_max=description.get("sigma_max"),
        risk=description.get("risk"),
        items=description.get("items"),
    )


def usual_assumption(description: Mapping[str, Any]) -> str:
    """What rewards are, unless it is stated."""
    if description.get("items") is not None:
        return ITEMS
    return UNKNOWN if description.get("reward_range") is None else BOUNDED


def arm_from_dict(description: Any, place: str) -> Arm:
    allowed = 'an object such as {"name": "A", "distribution": "beta", "a": 2, "b": 3}'
    require(isinstance(description, Mapping), place, allowed, description, error=InvalidInstance)
    with inside(owner=f"{place}."):
        check_given(description, ("name", "distribution"))
    distribution = distribution_from_dict(description, place, ("name",))
    with inside(owner=f"{place}."):
        return Arm(description["name"], distribution)


def distribution_from_dict(description: Mapping[str, Any], place: str, further: tuple[str, ...] = ()) -> Distribution:
    """The distribution that an object describes, with keys for its arguments and further ones."""
    with inside(owner=f"{place}."):
        check_given(description, ("distribution",))
        kind = DISTRIBUTIONS[known_name(description["distribution"], DISTRIBUTIONS, "distribution")]
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    with inside(place):
        check_keys(description, (*further, "distribution", *(field.name for field in fields)))
    with inside(owner=f"{place}."):
        check_given(description, (field.name for field in fields if field.default is dataclasses.MISSING))
        arguments = {field.name: description[field.name] for field in fields if field.name in description}
    if kind is Mixture and isinstance(arguments["parts"], (list, tuple)):
        arguments["parts"] = [
            distribution_from_dict(part, f"{place}.parts[{number}]") if isinstance(part, Mapping) else part
            for number, part in enumerate(arguments["parts"])
        ]
    with inside(owner=f"{place}."):
        return kind(**arguments)


def check_keys(description: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    """Complain about a key that means nothing here, and about one that stands twice."""
    for key in description:
        known_name(key, allowed, "every key")
    repeated = getattr(description, "repeated", None)
    require(repeated is None, "every key", "given once", repeated, error=InvalidInstance)


def check_given(description: Mapping[str, Any], keys: Iterable[str]) -> None:
    for key in keys:
        require(key in description, key, "given", description, error=InvalidInstance)


@contextlib.contextmanager
def inside(place: str = "", owner: str = "") -> Iterator[None]:
    """Put a place in front of any complaint raised in the block, or an owner in front of what it is about."""
    try:
        yield
    except (InvalidInstance, UnknownName) as error:
        what, allowed = f"{owner}{error.what}", error.allowed
        place = ": ".join(filter(None, (place, error.place)))
        raise InvalidInstance(place=place, what=what, allowed=allowed, given=error.given, hint=error.hint) from None


def read_text(
    path: Path, what: str = "instance file", error: type[RamgapeError] = InvalidInstance, most: int = LARGEST_FILE
) -> str:
    """The text of a file of at most so many bytes, or an error that says what it was to be."""
    try:
        # Windows editors put a byte order mark in front, which is no part of the text
        return io.TextIOWrapper(io.BytesIO(read_whole(path, most)), encoding="utf-8-sig").read()
    except UnicodeDecodeError as found:
        bad = shorten(found.object[found.start : found.start + 1])
        raise error(place=str(path), allowed="UTF-8 text", given=f"{bad} at byte {found.start}") from None
    except FileNotFoundError:
        raise error(what=what, allowed="an existing file", given=repr(str(path))) from None
    except IsADirectoryError:
        raise error(what=what, allowed="a file", given=f"the directory {str(path)!r}") from None
    except (OSError, ValueError) as found:  # a ValueError is a path with a null byte
        reason = f": {getattr(found, 'strerror', None) or found}"
        raise error(what=what, allowed="readable", given=repr(str(path)), hint=reason) from None


class JsonObject(dict[str, Any]):
    """A JSON object that remembers a key standing twice; plain parsing would keep the last without a word."""

    repeated: str | None = None

    @classmethod
    def from_pairs(cls, pairs: list[tuple[str, Any]]) -> JsonObject:
        parsed = cls()
        for key, value in pairs:
            if key in parsed:
                parsed.repeated = key
            parsed[key] = value
        return parsed


def parse(path: Path, text: str) -> Any:
    # NaN and Infinity pass here: the check of the value they stand for knows its place
    try:
        return json.loads(text, object_pairs_hook=JsonObject.from_pairs)
    except json.JSONDecodeError as error:
        lines = text.split("\n")
        line = shorten(lines[error.lineno - 1].strip())
        what = f"{path}, line {error.lineno}, column {error.colno},"
        raise InvalidInstance(what=what, allowed="valid JSON", given=line, hint=f": {error.msg}") from None
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits; brackets without end
        raise InvalidInstance(place=str(path), allowed=f"valid JSON of ordinary size: {error}") from None
