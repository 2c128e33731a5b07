"""Numbers as they are typed."""

from __future__ import annotations

from ramgape.errors import InvalidSpec, shorten


def number(text: str | None, what: str) -> float | int | None:
    """The number that a text means, 1e6 being whole; what is not given stays None.

    Whether it makes sense (-1, nan) is for the library to say.

    >>> number("1e6", "budget"), number("-0.5", "epsilon"), number(None, "delta")
    (1000000, -0.5, None)
    >>> number("many", "budget")
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


def number_or_name(text: str | None) -> float | int | str | None:
    """A number if the text is one; otherwise the text, for the library to find among its names."""
    try:
        return number(text, "")
    except InvalidSpec:
        return text
