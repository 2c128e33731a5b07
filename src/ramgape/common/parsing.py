"""What is typed: numbers, and things that have a name and perhaps parameters, NAME[:VALUE | KEY=VALUE,...]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from ramgape.errors import InvalidSpec, known_name, require, shorten


def parse_number(text: str | None, what: str) -> float | int | None:
    """The number that a text means, 1e6 being whole; what is not given stays None.

    Whether it makes sense (-1, nan) is for the library to say.

    >>> parse_number("1e6", "budget"), parse_number("-0.5", "epsilon"), parse_number(None, "delta")
    (1000000, -0.5, None)
    >>> parse_number("many", "budget")
    Traceback (most recent call last):
    ramgape.errors.InvalidSpec: budget must be a number, got 'many'
    """
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        raise InvalidSpec(what=what, allowed="a number", given=shorten(text)) from None
    return int(value) if value.is_integer() else value


def number_range(texts: Sequence[str], what: str) -> tuple[float | int | None, ...]:
    """The two ends of a range.

    >>> number_range(("-1", "1e3"), "reward_range")
    (-1, 1000)
    """
    return tuple(parse_number(text, f"each end of the {what.replace('_', ' ')}") for text in texts)


def tolerance(text: str, what: str) -> Any:
    """A tolerance, or with a comma one for the mean and one for the risk, or some by name; a share stays text.

    >>> tolerance("0.02", "epsilon"), tolerance("0.01,0.005", "epsilon"), tolerance("5%", "epsilon")
    (0.02, (0.01, 0.005), '5%')
    """
    if "=" in text:
        return parse_tolerances(text, what)
    if text.strip().endswith("%"):
        return text
    if "," not in text:
        return parse_number(text, what)
    return tuple(parse_number(part.strip(), f"each part of {what}") for part in text.split(","))


def parse_tolerances(text: str, what: str) -> dict[str, float | int | str | None]:
    """Tolerances as they are typed, accuracy=0.02,quantile(latency, 0.95)=0.2; one number, or a share, by itself.

    >>> parse_tolerances("accuracy=0.02,quantile(latency, 0.95)=0.2", "epsilon")
    {'accuracy': 0.02, 'quantile(latency, 0.95)': 0.2}
    """
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append(text[start:place])
            start = place + 1
    found: dict[str, float | int | str | None] = {}
    for part in parts:
        name, equals, number = part.rpartition("=")
        name = name.strip()
        require(bool(equals) and bool(name) and name not in found, what, "written NAME=NUMBER,..., each once", text)
        found[name] = number.strip() if number.strip().endswith("%") else parse_number(number.strip(), what)
    return found


def number_or_name(text: str, what: str = "") -> float | int | str | None:
    """A number if the text is one; otherwise the text, for the library to find among its names."""
    try:
        return parse_number(text, what)
    except InvalidSpec:
        return text


def number_or_pairs(text: str, what: str) -> float | int | str | dict[str, float | int | None] | None:
    """A number for every name, NAME=NUMBER,...; one number, or a name, stays by itself. A comma in a name is %2C.

    >>> number_or_pairs("A=1,a%2C b=0.5", "price"), number_or_pairs("2", "price"), number_or_pairs("told", "price")
    ({'A': 1, 'a, b': 0.5}, 2, 'told')
    >>> number_or_pairs("A=1,A=2", "price")
    Traceback (most recent call last):
    ramgape.errors.InvalidSpec: price must be written NAME=NUMBER,..., each name once, got 'A=1,A=2'
    """
    if "=" not in text:
        return number_or_name(text, what)
    found: dict[str, float | int | None] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        name = unescape(name.strip())
        require(bool(equals) and name not in found, what, "written NAME=NUMBER,..., each name once", text)
        found[name] = parse_number(number.strip(), f"the {what} of {shorten(name)}")
    return found


def assumptions(texts: Sequence[str], what: str) -> dict[str, str]:
    """What is assumed of outcomes, NAME=TEXT each: a range LO,HI, or an assumption by name; a name alone has none.

    >>> assumptions(["accuracy=0,1", "latency=unknown"], "outcome")
    {'accuracy': '0,1', 'latency': 'unknown'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, _, assumed = text.partition("=")
        name = name.strip()
        require(bool(name) and name not in found, what, "written NAME=LO,HI or NAME=TEXT, each once", text)
        found[name] = assumed.strip()
    return found


def known_values(texts: Sequence[str], what: str) -> dict[str, dict[str, float | int | None]]:
    """Outcomes that are not measured, NAME:ARM=NUMBER,... each.

    >>> known_values(["price:small=0.2,large=2"], "known")
    {'price': {'small': 0.2, 'large': 2}}
    """
    found = {}
    for text in texts:
        name, colon, values = text.partition(":")
        pairs = number_or_pairs(values, what) if colon else None
        allowed = "written NAME:ARM=NUMBER,..., each once"
        require(isinstance(pairs, dict) and bool(name.strip()) and name.strip() not in found, what, allowed, text)
        found[name.strip()] = pairs
    return found  # type: ignore[return-value]


def as_typed(value: object, what: str) -> object:
    """A name, or a flag, for the library to check."""
    return value


def numbers(text: str | None, what: str) -> list[float | int] | None:
    """The numbers that a text lists; what is not given stays None.

    >>> numbers("0.1, 0.05,0", "epsilons"), numbers(None, "deltas")
    ([0.1, 0.05, 0], None)
    >>> numbers("0.1,", "epsilons")
    Traceback (most recent call last):
    ramgape.errors.InvalidSpec: epsilons must be numbers with commas between them, got '0.1,'
    """
    if text is None:
        return None
    read = [number_or_name(part.strip()) for part in text.split(",")]
    found = [value for value in read if value is not None and not isinstance(value, str)]
    require(len(found) == len(read), what, "numbers with commas between them", text)
    return found


def parse_named(
    text: object, known: Mapping[str, Sequence[str]], what: str, written: str = ""
) -> tuple[str, dict[str, str]]:
    """A name out of a table, and the parameters that are given with it, as text.

    Args:
        text: NAME, NAME:VALUE (of its first parameter), or NAME:KEY=VALUE,...
        known: For each name the parameters that it may have.
        what: What it is, for errors.
        written: How it is written, for errors; unless given, as the parameters have it.

    Examples:
        >>> measures = {"variance": [], "cvar": ["level"]}
        >>> parse_named("cvar:0.1", measures, "risk") == parse_named("cvar:level=0.1", measures, "risk")
        True
        >>> parse_named("cvar:alpha=0.1", measures, "risk")
        Traceback (most recent call last):
        ramgape.errors.InvalidSpec: risk must be written cvar:LEVEL, got 'cvar:alpha=0.1'
    """
    name, colon, rest = text.partition(":") if isinstance(text, str) else (text, "", "")
    name = known_name(name.strip() if isinstance(name, str) else name, known, what)
    if not colon:
        return name, {}
    parameters = {}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_") if equals else next(iter(known[name]), "")
        usable = key in known[name] and key not in parameters and (equals or part == rest)
        require(bool(usable), what, f"written {written or notation(name, known[name])}", text)
        parameters[key] = (value if equals else part).strip()
    return name, parameters


def escape(name: str) -> str:
    """A name for a place among parameters: with %XX for what would end it there, or go.

    >>> escape("a, b "), unescape(escape("50 %,"))
    ('a%2C b%20', '50 %,')
    """
    ends = {place for place, letter in enumerate(name) if not name[:place].strip() or not name[place + 1 :].strip()}
    return "".join(
        quote(letter, safe="") if letter in "%," or (letter.isspace() and place in ends) else letter
        for place, letter in enumerate(name)
    )


def unescape(text: str) -> str:
    """The name that was escaped."""
    return unquote(text)


def parse_numbers(text: object, known: Mapping[str, Sequence[str]], what: str) -> tuple[str, dict[str, float]]:
    """The same where all parameters are numbers."""
    name, parameters = parse_named(text, known, what)
    try:
        return name, {key: float(value) for key, value in parameters.items()}
    except ValueError:
        allowed = f"written {notation(name, known[name])}"
        raise InvalidSpec(what=what, allowed=allowed, given=shorten(text)) from None


def notation(name: str, parameters: Sequence[str]) -> str:
    """How a name is written with its parameters.

    >>> notation("variance", []), notation("cvar", ["level"]), notation("gaussian", ["resolution", "sigma_max"])
    ('variance', 'cvar:LEVEL', 'gaussian[:resolution=NUMBER,sigma_max=NUMBER]')
    """
    if len(parameters) > 1:
        return f"{name}[:{','.join(f'{each}=NUMBER' for each in parameters)}]"
    return ":".join([name, *(each.upper() for each in parameters)])
