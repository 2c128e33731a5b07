"""Numbers as they are typed."""

from __future__ import annotations

from ramgape.errors import InvalidSpec, require, shorten


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
        raise InvalidSpec(f"{what} must be a number, got {shorten(text)}") from None
    return int(value) if value.is_integer() else value


def number_range(texts: tuple[str, str] | None) -> tuple[float, float] | None:
    """The two ends of the reward range.

    >>> number_range(("-1", "1e3")), number_range(None)
    ((-1, 1000), None)
    """
    if texts is None:
        return None
    low, high = (parse_number(text, "each end of the reward range") for text in texts)
    assert low is not None
    assert high is not None
    return low, high


def tolerance(text: str | None) -> float | tuple[float | int | None, ...] | None:
    """A tolerance, or with a comma one for the mean and one for the risk.

    >>> tolerance("0.02"), tolerance("0.01,0.005"), tolerance(None)
    (0.02, (0.01, 0.005), None)
    """
    if text is None or "," not in text:
        return parse_number(text, "epsilon")
    return tuple(parse_number(part.strip(), "each part of epsilon") for part in text.split(","))


def number_or_name(text: str | None) -> float | int | str | None:
    """A number if the text is one; otherwise the text, for the library to find among its names."""
    try:
        return parse_number(text, "")
    except InvalidSpec:
        return text


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
