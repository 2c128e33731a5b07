"""What is wanted of outcomes, as people write it: objectives and constraints.

    objectives = objective {"," objective}
    objective  = ["maximize" | "minimize"] statistic      "max" and "min" will do; "-statistic" is minimized
    constraint = statistic ("<=" | ">=") limit
    limit      = number | [number "*"] "control" [("+" | "-") number]
    statistic    see search/statistic.py

Which end of an outcome is the bad one matters for most risks, which are about rewards if more is better and about costs
if less is. `quantile(x, 0.95)` is the 0.95-quantile of x in either case. `cvar` and `spectral` average the worst share
in the direction of the objective: maximized the lowest values, minimized (or `<=`) the highest. For the others the
outcome's other objectives and constraints say whether more or less of it is better. Where that is contradictory or
missing the statistic is refused, with both readings: `low` or `high` as its last argument says which end is bad.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ramgape.common.checks import check_many, check_number
from ramgape.errors import InvalidSpec, known_name, require, shorten
from ramgape.risks.measure import Measure
from ramgape.search.expressions import Expression, Reader
from ramgape.search.statistic import MEAN, SIDES, Side, Statistic, read_statistic, risk_name, whole

Direction = Literal["maximize", "minimize"]

CONTROL = "control"
DIRECTIONS: dict[str, Direction] = {
    **dict.fromkeys(("maximize", "maximise", "max"), "maximize"),
    **dict.fromkeys(("minimize", "minimise", "min"), "minimize"),
}
MOST_OBJECTIVES, MOST_CONSTRAINTS = 8, 16
OWN_END = ("cvar", "spectral")  # averages of an end, which the objective's own direction names


@dataclass(frozen=True, slots=True)
class Objective:
    """Something that is wanted of every arm: as much or as little as possible of a statistic.

    Args:
        statistic: Text, such as "mean(accuracy)".
        direction: "maximize" or "minimize".

    Examples:
        >>> str(Objective("quantile(latency, 0.95)", "min"))
        'minimize quantile(latency, 0.95)'
    """

    statistic: Statistic
    direction: Direction

    def __post_init__(self) -> None:
        given: Any = self.statistic
        object.__setattr__(self, "statistic", given if isinstance(given, Statistic) else Statistic.parse(given))
        known_name(self.direction, DIRECTIONS, "direction")
        object.__setattr__(self, "direction", DIRECTIONS[self.direction])

    @property
    def text(self) -> str:
        """The statistic, by which results name it."""
        return self.statistic.text

    @property
    def is_more(self) -> bool:
        """Whether more of the statistic is better."""
        return self.direction == "maximize"

    def __str__(self) -> str:
        return f"{self.direction} {self.text}"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit that an arm must keep: a statistic of an outcome at most, or at least, a number.

    Args:
        statistic: Text, such as "quantile(latency, 0.95)".
        sign: "<=" or ">=".
        limit: The number; with a factor what is added to the control's part.
        factor: What the control's own value of the statistic is multiplied by, for a limit that is relative to it.

    Examples:
        >>> str(Constraint("mean(cost)", "<=", factor=1.1))
        'mean(cost) <= 1.1 * control'
    """

    statistic: Statistic
    sign: Literal["<=", ">="]
    limit: float = 0.0
    factor: float | None = None

    def __post_init__(self) -> None:
        given: Any = self.statistic
        object.__setattr__(self, "statistic", given if isinstance(given, Statistic) else Statistic.parse(given))
        known_name(self.sign, ("<=", ">="), "the sign of a constraint")
        object.__setattr__(self, "limit", check_number(self.limit, "the limit", "a finite number", math.isfinite))
        if self.factor is not None:
            factor = check_number(self.factor, "the factor", "a finite number above 0", lambda value: value > 0.0)
            object.__setattr__(self, "factor", factor)

    @property
    def is_more(self) -> bool:
        """Whether more of the statistic is better."""
        return self.sign == ">="

    @property
    def text(self) -> str:
        """In one form for all that mean the same."""
        if self.factor is None:
            return f"{self.statistic.text} {self.sign} {self.limit:.12g}"
        times = "" if self.factor == 1.0 else f"{self.factor:.12g} * "
        plus = f" {'-' if self.limit < 0.0 else '+'} {abs(self.limit):.12g}" if self.limit else ""
        return f"{self.statistic.text} {self.sign} {times}{CONTROL}{plus}"

    def __str__(self) -> str:
        return self.text


Wish = Objective | Constraint


def make_objectives(given: Any) -> tuple[Objective, ...]:
    """Objectives, from one text with commas between them, from one object, or from a list of either.

    >>> [str(each) for each in make_objectives("accuracy, -cost, min std(latency)")]
    ['maximize mean(accuracy)', 'minimize mean(cost)', 'minimize std(latency)']
    """
    found: list[Objective] = []
    for each in _listed(given, "objectives", Objective):
        found += [each] if isinstance(each, Objective) else whole(each, "objective", _read_objectives)
    require(bool(found), "objectives", "at least one, such as 'maximize mean(accuracy)'", given)
    _check_list(found, "objectives", MOST_OBJECTIVES)
    return tuple(found)


def make_constraints(given: Any) -> tuple[Constraint, ...]:
    """Constraints, from one or a list of texts and objects; none from None."""
    listed = [] if given is None else _listed(given, "constraints", Constraint)
    found = [each if isinstance(each, Constraint) else whole(each, "constraint", _read_constraint) for each in listed]
    _check_list(found, "constraints", MOST_CONSTRAINTS)
    return tuple(found)


def outcomes_in(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The outcomes that objectives and constraints are about, also those that are not measured.

    >>> outcomes_in({"objectives": "accuracy", "constraints": "mean(cost + 2*tokens) <= 1"})
    ('accuracy', 'cost', 'tokens')
    """
    wishes: list[Wish] = [*make_objectives(options["objectives"]), *make_constraints(options.get("constraints"))]
    return tuple(dict.fromkeys(name for wish in wishes for name in wish.statistic.of.outcomes))


def _listed(given: Any, what: str, kind: type) -> list[Any]:
    if isinstance(given, str | kind):
        return [given]
    check_many(given, what, f"a list of texts or of ramgape.{kind.__name__}")
    return list(given)


def _check_list(found: Sequence[Wish], what: str, most: int) -> None:
    allowed = f"at most {most}" + (": state limits (constraints) for the others" if what == "objectives" else "")
    require(len(found) <= most, what, allowed, len(found))
    seen: dict[str, Wish] = {}
    for each in found:
        first = seen.setdefault(each.text, each)
        if first is not each:
            both = f"{str(each)!r} twice" if str(first) == str(each) else f"{str(first)!r} and {str(each)!r}"
            raise InvalidSpec(what=what, allowed="about different statistics", given=both)


# ---------------------------------------------------------------------------------------------------------- the grammar


def _read_objectives(reader: Reader) -> list[Objective]:
    found = [_read_objective(reader)]
    while reader.skip(","):
        found.append(_read_objective(reader))
    return found


def _read_constraint(reader: Reader) -> Constraint:
    statistic = read_statistic(reader)
    if reader.at("<", ">", "="):
        reader.fail("<= or >= here")
    if not reader.at("<=", ">="):
        reader.fail("<= or >= and a limit here")
    sign = reader.take().text
    factor, limit = _read_limit(reader)
    return Constraint(statistic, sign, limit, factor)  # type: ignore[arg-type]


def _read_objective(reader: Reader) -> Objective:
    """A statistic, and the direction that is written with it; without one a mean is maximized."""
    first = reader.next
    said: Direction | None = None
    if first.kind == "name" and first.text in DIRECTIONS and reader.after().kind in ("name", "number"):
        said = DIRECTIONS[reader.take().text]
    elif reader.at("-") and _is_single_term(reader):
        reader.take()
        said = "minimize"
    elif first.kind == "name" and first.text in DIRECTIONS and reader.after().text in ("(", "-"):
        said = DIRECTIONS[reader.take().text]
    place = reader.next.place
    statistic = read_statistic(reader)
    if said is None and statistic.name != MEAN:
        reader.fail(f"'maximize' or 'minimize' before {statistic.text}", place)
    return Objective(statistic, said or "maximize")


def _is_single_term(reader: Reader) -> bool:
    """Whether a leading minus belongs to all that follows, up to a comma or the end, so that it means "minimize"."""
    depth, offset = 0, 1
    while (token := reader.after(offset)).kind != "end":
        if token.kind == "sign":
            depth += (token.text == "(") - (token.text == ")")
            # "mean-variance(x)" is the name of a risk; any other + or - outside of parentheses makes a sum.
            if depth == 0 and token.text in "+-" and risk_name(reader, offset - 1) is None:
                return False
            if depth == 0 and token.text == ",":
                return True
        offset += 1
    return True


def _read_limit(reader: Reader) -> tuple[float | None, float]:
    """What the control's value is multiplied by, if it is named, and a number."""
    place, factor, limit = reader.next.place, None, 0.0
    if reader.next[:2] == ("name", CONTROL):
        reader.take()
        factor = reader.number() if reader.skip("*") else 1.0
    else:
        limit = reader.number(f"a number or {CONTROL!r} here")
        if reader.skip("*"):
            if reader.next[:2] != ("name", CONTROL):
                reader.fail(f"{CONTROL!r} here")
            reader.take()
            factor, limit = limit, 0.0
    if factor is not None and reader.at("+", "-"):
        turn = -1.0 if reader.take().text == "-" else 1.0
        limit = turn * reader.number()
    if factor is not None and factor <= 0.0:
        reader.fail(f"a factor of {CONTROL} above 0", place)
    return factor, limit


# --------------------------------------------------------------------------------------------------- which end is bad


def sided(wishes: Sequence[Wish]) -> list[Wish]:
    """Objectives and constraints with the bad end of every statistic found out.

    Raises:
        InvalidSpec: Nothing says which end is bad, or what is said contradicts itself.
    """
    return [_settled(wish, _ends(wish.statistic.of, wishes)) for wish in wishes]


def _ends(of: Expression, wishes: Iterable[Wish]) -> set[Side]:
    """The bad ends of an expression that means, quantiles, averages of an end and words name."""
    found: set[Side] = set()
    for each in wishes:
        statistic = each.statistic
        if str(statistic.of) != str(of):
            continue
        if statistic.side is not None:
            found.add(statistic.side)
        elif statistic.name in (MEAN, "quantile", *OWN_END):
            found.add("low" if each.is_more else "high")
    return found


def _settled(wish: Wish, told: set[Side]) -> Wish:
    statistic = wish.statistic
    own: Side = "low" if wish.is_more else "high"
    if statistic.name in (MEAN, "quantile"):
        bad = own
    elif statistic.side is not None or len(told) == 1:
        bad = statistic.side or min(told)
    elif not statistic.needs_side:
        bad = "low"  # a spread is the same for both
    else:
        why = "nothing says" if not told else "objectives and constraints contradict each other about"
        low, high = (replace(statistic, side=end) for end in SIDES)
        raise InvalidSpec(
            f"{statistic} has two readings, and {why} which end of {statistic.of} is bad: "
            f"write {low} if low values are bad, or {high} if high ones are"
        )
    if statistic.measure is not None and statistic.name != "quantile":
        _check_direction(wish, statistic.measure, bad)
    return replace(wish, statistic=replace(statistic, bad=bad))


def _check_direction(wish: Wish, measure: Measure, bad: Side) -> None:
    """Complain where more risk is asked for, or the best share in place of the worst."""
    wants_more = measure.shown(1.0, bad == "high") < 0.0  # what people are shown is the risk's negative
    if wants_more != wish.is_more:
        known = "maximized, or limited by >=" if wants_more else "minimized, or limited by <="
        raise InvalidSpec(what=str(wish.statistic), allowed=f"{known}: less risk is better", given=shorten(str(wish)))
