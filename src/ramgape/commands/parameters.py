"""Parameters of commands: `{name}` stands for each value of a list, or of a range of numbers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ramgape.errors import InvalidSpec, require

MOST_VALUES = 1000  # of one parameter, and commands in all
TAKEN = ("arm", "seed", "item", "trial", "pull")  # placeholders that every command has


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name that commands contain in braces, and the values that it takes."""

    name: str
    values: tuple[str, ...]


def scanned(name: str, first: str, last: str, step: str | None) -> Parameter:
    """A range of numbers, both ends included, as far as the steps reach.

    >>> scanned("threads", "1", "4", None).values, scanned("delay", "0.3", "0.7", "0.2").values
    (('1', '2', '3', '4'), ('0.3', '0.5', '0.7'))
    """
    what = f"--parameter-scan {name}"
    low, high, by = (_number(text, what) for text in (first, last, "1" if step is None else step))
    whole = step is not None or (low == low.to_integral_value() and high == high.to_integral_value())
    require(whole, what, "between whole numbers, or with a --parameter-step-size", f"{first} to {last}")
    require(low <= high, what, "from the least value to the greatest", f"{first} to {last}")
    require(by > 0, "--parameter-step-size", "a number above 0", step)
    count = int((high - low) / by) + 1
    require(count <= MOST_VALUES, what, f"a scan of at most {MOST_VALUES:,} values", count)
    return Parameter(_checked(name), tuple(f"{low + by * each:f}" for each in range(count)))


def listed(name: str, text: str) -> Parameter:
    r"""Values between commas; a comma after a backslash is part of a value.

    >>> listed("compiler", "gcc,clang").values, listed("flags", r"-O2,-Wl\,-s").values
    (('gcc', 'clang'), ('-O2', '-Wl,-s'))
    """
    values = tuple(part.replace("\\,", ",") for part in re.split(r"(?<!\\),", text))
    require(len(values) <= MOST_VALUES, f"--parameter-list {name}", f"at most {MOST_VALUES:,} values", len(values))
    return Parameter(_checked(name), values)


def _number(text: str, what: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise InvalidSpec(what=what, allowed="given with numbers", given=repr(text)) from None
    require(number.is_finite(), what, "given with finite numbers", text)
    return number


def _checked(name: str) -> str:
    allowed = f"a name without braces and blanks, and none of {', '.join(TAKEN)}"
    require(bool(name) and not re.search(r"[{}\s]", name) and name not in TAKEN, "a parameter", allowed, name)
    return name


def combinations(parameters: Sequence[Parameter]) -> list[dict[str, str]]:
    """All combinations of values, by name; the first parameter changes first.

    >>> combinations([Parameter("a", ("1", "2")), Parameter("b", ("x",))])
    [{'a': '1', 'b': 'x'}, {'a': '2', 'b': 'x'}]
    >>> combinations([])
    [{}]
    """
    names = [parameter.name for parameter in parameters]
    require(len(set(names)) == len(names), "parameters", "given once for each name", names)
    backwards = itertools.product(*(parameter.values for parameter in reversed(parameters)))
    return [dict(zip(names, reversed(values), strict=True)) for values in backwards]


def substituted(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of parameters in it.

    >>> substituted("make -j {threads} {other}", {"threads": "4"})
    'make -j 4 {other}'
    """
    return re.sub(r"\{([^{}\s]+)\}", lambda found: values.get(found[1], found[0]), text)


def unused(parameters: Iterable[Parameter], texts: Iterable[str]) -> list[str]:
    """The parameters that stand in none of the texts."""
    known = list(texts)
    return [each.name for each in parameters if not any(f"{{{each.name}}}" in text for text in known)]
