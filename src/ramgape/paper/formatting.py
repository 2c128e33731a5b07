"""Names and numbers in sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ramgape.paper.looks import policy_look


def display_name(policy: str) -> str:
    """The name of a sampling rule for readers.

    >>> display_name("ra-lucb")
    'RA-LUCB'
    """
    return policy_look(policy).name


def name_outside(policy: str) -> str:
    """The name of a rule in a figure of the paper that does not have it there.

    >>> name_outside("ege-sr"), name_outside("evidence")
    ('EGE-SR (not in the paper)', 'Evidence (ours, not in the paper)')
    """
    name = display_name(policy)
    return f"{name[:-1]}, not in the paper)" if name.endswith(")") else f"{name} (not in the paper)"


def percent(share: float) -> str:
    """A share with one digit, or more where it is small.

    >>> percent(0.0234), percent(0.5), percent(0.0)
    ('2.3 %', '50 %', '0 %')
    """
    hundred = 100.0 * share
    return f"{hundred:.2g} %" if abs(hundred) < 99.5 else f"{hundred:.0f} %"


def factor(value: float) -> str:
    """A ratio in about three digits, without exponents.

    >>> factor(0.6543), factor(8.126), factor(12.34), factor(1023.7)
    ('0.654', '8.13', '12.3', '1,024')
    """
    return f"{value:,.{0 if value >= 100.0 else 1 if value >= 10.0 else 2 if value >= 1.0 else 3}f}"


def thousandths(value: float) -> str:
    """A regret, multiplied by 1000, in about three digits.

    >>> thousandths(0.0123), thousandths(0.00456), thousandths(0.0000512), thousandths(0.0)
    ('12.3', '4.56', '0.051', '0')
    """
    scaled = 1000.0 * value
    return "0" if scaled == 0.0 else f"{scaled:.{1 if scaled >= 10.0 else 2 if scaled >= 1.0 else 3}f}"


def probability(value: float) -> str:
    """The p-value of a test.

    >>> probability(0.0312), probability(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def places(value: float, digits: int = 5) -> str:
    """A number without exponents, and without zeros at its end.

    >>> places(0.000712), places(1.5, 2)
    ('0.00071', '1.5')
    """
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def format_interval(ends: tuple[float, float], digits: int = 5) -> str:
    """Two ends, without exponents.

    >>> format_interval((0.0, 0.000712)), format_interval((-0.05, 0.071), 2)
    ('0 to 0.00071', '-0.05 to 0.07')
    """
    return " to ".join(places(end, digits) for end in ends)


def ordinal(place: int) -> str:
    """Where something stands in an order.

    >>> ordinal(1), ordinal(3), ordinal(7)
    ('1st', '3rd', '7th')
    """
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }"


def ranked(place: int, superlative: str) -> str:
    """A superlative with its place, which the first does not need.

    >>> ranked(1, "largest"), ranked(2, "largest")
    ('the largest', 'the 2nd largest')
    """
    return f"the {superlative}" if place == 1 else f"the {ordinal(place)} {superlative}"


FORMATS: dict[str, Callable[[Any], str]] = {  # by what stands behind the colon in the texts
    "rule": display_name,
    "percent": percent,
    "factor": factor,
    "thousandths": thousandths,
    "probability": probability,
    **{f"places{digits}": partial(places, digits=digits) for digits in (2, 3, 5)},
}
