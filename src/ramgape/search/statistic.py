"""Statistics of outcomes: `mean(accuracy)`, `quantile(latency, 0.95)`, `share(latency > 2)`.

    statistic = "mean" "(" expression ")" | expression
              | "share" "(" expression ("<" | "<=" | ">" | ">=") number ")"
              | risk "(" expression {"," parameter} ["," ("low" | "high")] ")"

A bare expression means its mean. `risk` is the name of a registered risk, with the parameters that it has elsewhere:
`std(x)`, `quantile(x, 0.95)`, `spectral(x, 0.05=0.3, 0.25=0.7)`. "low" and "high" say which end of the outcome is bad,
where that does not follow from the objectives (search/objectives.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, TypeVar

from ramgape.errors import InvalidSpec, RamgapeError, require, suggestion
from ramgape.risks import make_risk
from ramgape.risks.measure import Measure
from ramgape.risks.table import RISKS
from ramgape.search.expressions import Expression, Reader, read_expression

Side = Literal["low", "high"]
Read = TypeVar("Read")

MEAN, SHARE = "mean", "share"
SIDES: tuple[Side, ...] = ("low", "high")
ANY_END = ("std", "variance", "quantile")  # the same number whichever end is bad
PARAMETER_NEEDED = ("quantile",)  # whose usual parameter is about the bad end, and so would be another number for costs
EXAMPLES = {
    "statistic": "mean(accuracy)",
    "objective": "maximize mean(accuracy)",
    "constraint": "quantile(latency, 0.95) <= 2",
}


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number that sums up an outcome of an arm's trials: its mean, a risk, or a share of trials.

    Attributes:
        name: "mean" or the name of a risk. A share of trials is the mean of an indicator.
        of: The expression of outcomes that it is of.
        measure: The risk with its parameters as they were written; None for a mean.
        side: Which end of the outcome is bad, where the text says it.
        bad: The same as it was found out (`sided`); None before.
    """

    name: str
    of: Expression
    measure: Measure | None = None
    side: Side | None = None
    bad: Side | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, text: str) -> Statistic:
        """The statistic that a text means."""
        return whole(text, "statistic", read_statistic)

    @property
    def text(self) -> str:
        """In one form for all that mean the same."""
        if self.of.above is not None:
            return f"{SHARE}({self.of})"
        _, _, parameters = str(self.measure or "").partition(":")
        return f"{self.name}({', '.join(filter(None, [str(self.of), *parameters.split(','), self.side or '']))})"

    @property
    def needs_side(self) -> bool:
        """Whether its value depends on which end of the outcome is bad."""
        return self.measure is not None and self.name not in ANY_END

    @property
    def power(self) -> int:
        """Of the outcome's unit: 1 for a mean, 2 for a variance, 0 for a share."""
        return int(self.of.above is None) if self.measure is None else self.measure.power

    @property
    def by_the_end(self) -> Measure | None:
        """The risk as the engine knows it: a quantile's level counts from the bad end, 0.05 where 0.95 was written."""
        if self.name == "quantile" and self.bad == "high":
            level = float(1 - Decimal(repr(self.measure.level)))  # type: ignore[union-attr]
            return make_risk(f"quantile:{level!r}")
        return self.measure

    def __str__(self) -> str:
        return self.text


def whole(text: Any, what: str, read: Callable[[Reader], Read]) -> Read:
    """What a text means, all of it."""
    require(isinstance(text, str), what, f"text such as {EXAMPLES[what]!r}", text)
    reader = Reader(text, what)
    found = read(reader)
    if reader.next.kind != "end":
        is_limit = what == "objective" and reader.at("<=", ">=", "<", ">")
        reader.fail("nothing more here", hint="; a limit belongs into constraints" * is_limit)
    return found


def read_statistic(reader: Reader) -> Statistic:
    place, name = reader.next.place, _function_name(reader)
    if name is None:
        return _checked(reader, Statistic(MEAN, read_expression(reader)), place)
    reader.expect("(")
    if name == MEAN:
        found = Statistic(MEAN, read_expression(reader))
    elif name == SHARE:
        found = Statistic(MEAN, _read_indicator(reader))
    else:
        found = _read_risk(reader, name, place)
    reader.expect(")")
    return _checked(reader, found, place)


def _checked(reader: Reader, found: Statistic, place: int) -> Statistic:
    if not found.of.outcomes:
        reader.fail("an outcome: a number alone is the same for all arms", place)
    return found


def _function_name(reader: Reader) -> str | None:
    """The name of a statistic, taken, if one with a parenthesis comes next."""
    if (dashed := risk_name(reader, 0)) is not None:
        for _ in range(2 * dashed.count("-") + 1):
            reader.take()
        return dashed
    if reader.next.kind != "name" or reader.after()[:2] != ("sign", "("):
        return None
    token = reader.next
    name = _known(reader, token.text) or _known(reader, token.text.replace("_", "-"))
    if name is None:
        usable = [MEAN, SHARE, *reader.risks]
        reader.fail(f"a statistic ({', '.join(usable)})", hint=suggestion(token.text, usable))
    reader.take()
    return name


def _known(reader: Reader, name: str) -> str | None:
    """The name itself if it is that of a statistic."""
    return name if name in (MEAN, SHARE, *RISKS) or name in reader.risks else None


def risk_name(reader: Reader, offset: int) -> str | None:
    """The name of a risk with dashes in it, from here on, if a parenthesis follows."""
    parts = []
    while (token := reader.after(offset)).kind == "name":
        parts.append(token.text)
        sign = reader.after(offset + 1)
        if sign[:2] == ("sign", "("):
            name = "-".join(parts)
            return _known(reader, name) if len(parts) > 1 else None
        if sign[:2] != ("sign", "-"):
            return None
        offset += 2
    return None


def _read_indicator(reader: Reader) -> Expression:
    """The comparison in a share: whether an expression exceeds a number, or falls short of it."""
    place = reader.next.place
    found = read_expression(reader)
    if not reader.at("<", "<=", ">", ">="):
        reader.fail("a comparison here, such as share(latency > 2)")
    sign = reader.take().text
    above = reader.number() - found.constant
    if not found.outcomes:
        reader.fail("an outcome: a number alone is the same for all arms", place)
    turn = 1.0 if sign[0] == ">" else -1.0
    return replace(Expression(found.factors).scaled(turn), above=turn * above + 0.0, strict="=" not in sign)


def _read_risk(reader: Reader, name: str, place: int) -> Statistic:
    of = read_expression(reader)
    side: Side | None = None
    parameters = []
    while reader.skip(","):
        if reader.next.kind == "name" and reader.next.text in SIDES and reader.after()[:2] == ("sign", ")"):
            side = SIDES[SIDES.index(reader.take().text)]
            break
        parameters.append(_read_parameter(reader))
    try:
        if name in PARAMETER_NEEDED and not parameters:
            raise InvalidSpec(what=f"{name}", allowed=f"written {name}({of}, 0.95)")
        measure = make_risk(":".join([name, *filter(None, [",".join(parameters)])]))
    except RamgapeError as error:
        reader.fail(f"a risk that exists ({error})", place)
    if side is not None and name in ANY_END:
        reader.fail(f"neither 'low' nor 'high': {name} is the same number for both")
    return Statistic(name, of, measure, side)


def _read_parameter(reader: Reader) -> str:
    """A number, or a name or number with a number: level=0.1, 0.05=0.3."""
    key = ""
    if reader.after()[:2] == ("sign", "=") and reader.next.kind in ("name", "number"):
        key = reader.take().text + reader.take().text
    return f"{key}{reader.number('a number here, or low or high as the last one')!r}"
