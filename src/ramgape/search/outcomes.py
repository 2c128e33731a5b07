"""The outcomes of a trial: what is assumed of each, and what a trial gave of them.

`outcomes={"accuracy": (0, 1), "cost": "gaussian", "latency": "unknown"}` says what may be assumed of every outcome: a
range, or a noise by name with its parameters (assumptions.py). A study file has tables in place of values, with the
keys `range`, `noise`, `epsilon` and `failure`. Nothing is ever assumed because of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ramgape.assumptions import ASSUMPTIONS, BOUNDED, HEAVY, ITEMS, UNKNOWN
from ramgape.common.checks import LARGEST, SMALLEST, check_number, check_text
from ramgape.common.old_names import present_value
from ramgape.common.parsing import number_range, parse_numbers
from ramgape.errors import InvalidReward, InvalidSpec, known_name, located, require, shorten, suggestion
from ramgape.search.expressions import Expression
from ramgape.search.objectives import Wish
from ramgape.search.outcome import number_of

WORST, RETRY = "worst", "retry"
KEYS = ("range", "noise", "epsilon", "failure")  # of a table in a study file
ALLOWED = "a range such as (0, 1), 'unknown', 'gaussian' or 'heavy:kurtosis=10'"

# What is assumed besides the noise, and of which noises it can be.
STATEMENTS = ("sigma_max", "kurtosis", "cv", "resolution")


@dataclass(frozen=True, slots=True)
class DeclaredOutcome:
    """What is assumed of an outcome.

    Attributes:
        noise: By name (assumptions.py).
        range: The least and the greatest that it can be; None where that is not known.
        parameters: What is assumed besides: pairs of a name and a number, such as ("kurtosis", 10.0).
        failure: "worst" if an outcome that a trial lacks counts as the worst of its range; "retry" if it is an error.
        worst: That value, once the objectives have said which end is bad.
    """

    noise: str = UNKNOWN
    range: tuple[float, float] | None = None
    parameters: tuple[tuple[str, float], ...] = ()
    failure: str = RETRY
    worst: float | None = None

    @property
    def possible(self) -> tuple[float, float]:
        """The least and the greatest that is taken for a value of it."""
        return self.range or (0.0 if "cv" in dict(self.parameters) else -LARGEST, LARGEST)


def declare_outcomes(given: Any) -> tuple[dict[str, DeclaredOutcome], dict[str, Any]]:
    """What is assumed of outcomes, and the tolerances that stand among that.

    Args:
        given: A mapping from names to what is assumed, as `identify` has it; None for nothing.

    Raises:
        InvalidSpec: It is not written so.

    Examples:
        >>> declare_outcomes({"accuracy": (0, 1)})[0]["accuracy"].range
        (0.0, 1.0)
        >>> declare_outcomes({"accuracy": {"range": [0, 1], "epsilon": 0.02}})[1]
        {'accuracy': 0.02}
    """
    if given is None:
        return {}, {}
    require(isinstance(given, Mapping), "outcomes", f"a mapping from names to assumptions: {ALLOWED}", given)
    declared, tolerances = {}, {}
    for name, assumed in given.items():
        check_outcome_name(name)
        with located(f"outcome {shorten(name)}"):
            table: dict[str, Any] = dict(assumed) if isinstance(assumed, Mapping) else {"": assumed}
            for key in table:
                known_name(key, ("", *KEYS), "every key")
            if "epsilon" in table:
                tolerances[name] = table["epsilon"]
            declared[name] = _declare(table)
    return declared, tolerances


def check_outcome_name(name: object) -> str:
    """A name that objectives can be written with."""
    text = check_text(name, "the name of an outcome")
    require('"' not in text and "`" not in text, "the name of an outcome", "without quotes", name)
    return text


def _declare(table: Mapping[str, Any]) -> DeclaredOutcome:
    require(
        "range" not in table or "noise" not in table, "range", "absent beside noise: it says what is assumed", table
    )
    given = table.get("range", table.get("noise", table.get("")))
    failure = table.get("failure", RETRY)
    known_name(failure, (RETRY, WORST), "failure")
    if given is None or (isinstance(given, str) and not given):
        found = DeclaredOutcome()
    elif isinstance(given, str) and "," in given and ":" not in given:
        found = _ranged(number_range(given.split(","), "range"), given)
    elif isinstance(given, str):
        found = _noisy(given)
    else:
        found = _ranged(given, given)
    if failure == WORST:
        require(found.range is not None, "failure", "'worst' only with a range, of which the worst is known", failure)
    return replace(found, failure=failure)


def _ranged(ends: Any, given: Any) -> DeclaredOutcome:
    try:
        first, last = ends
    except (TypeError, ValueError):
        raise InvalidSpec(what="what is assumed", allowed=ALLOWED, given=shorten(given)) from None
    low, high = (check_number(end, "each end of the range", "a finite number", math.isfinite) for end in (first, last))
    require(high - low >= SMALLEST, "the range", "two numbers (low, high) with low < high", given)
    return DeclaredOutcome(BOUNDED, (low, high))


def _noisy(text: str) -> DeclaredOutcome:
    usable = {name: row.parameters for name, row in ASSUMPTIONS.items() if name not in (BOUNDED, ITEMS)}
    text = present_value("assumption", text)
    name = text.partition(":")[0].strip()
    require(name in usable, "what is assumed", ALLOWED, text)
    noise, parameters = parse_numbers(text, usable, "what is assumed")
    for key, value in parameters.items():
        least = 1.0 if key == "kurtosis" else SMALLEST
        check_number(value, key, f"a finite number of at least {least:g}", lambda number, least=least: number >= least)
    require(
        noise != HEAVY or bool(parameters), "heavy", "given with what is known of its tails: heavy:kurtosis=10", text
    )
    return DeclaredOutcome(noise, None, tuple(sorted(parameters.items())))


def derived(of: Expression, declared: Mapping[str, DeclaredOutcome]) -> DeclaredOutcome:
    """What may be assumed of an expression of outcomes.

    A range follows from ranges, and of an indicator always. One outcome that is moved and stretched keeps its noise. Of
    a sum of several without ranges nothing is known: sums of dependent Gaussian outcomes need not be Gaussian.
    """
    parts = [declared.get(name, DeclaredOutcome()) for name in of.outcomes]
    if of.alone is not None:
        return parts[0]
    ranges = {name: part.range for name, part in zip(of.outcomes, parts, strict=True) if part.range is not None}
    if of.above is not None or len(ranges) == len(parts):
        return DeclaredOutcome(BOUNDED, of.range(ranges))
    if len(parts) > 1:
        return DeclaredOutcome()
    ((_, factor),), (part,) = of.factors, parts
    parameters = dict(part.parameters)
    for key in ("sigma_max", "resolution"):
        if key in parameters:
            parameters[key] *= abs(factor)
    if factor < 0.0 or of.constant < 0.0:
        parameters.pop("cv", None)  # which is about values above 0; adding to them only makes it smaller
    if part.noise == HEAVY and not parameters:
        return DeclaredOutcome()
    return DeclaredOutcome(part.noise, None, tuple(sorted(parameters.items())))


def with_worst(declared: Mapping[str, DeclaredOutcome], wishes: Sequence[Wish]) -> dict[str, DeclaredOutcome]:
    """The same with the value that an outcome counts as which a trial lacks, where that was asked for.

    Raises:
        InvalidSpec: Nothing says which end of the range is bad, or what is said contradicts itself.
    """
    return {
        name: replace(each, worst=worst_value(name, each, wishes)) if each.failure == WORST else each
        for name, each in declared.items()
    }


def worst_value(name: str, declared: DeclaredOutcome | None, wishes: Sequence[Wish]) -> float:
    """The bad end of the range of an outcome, by what is wanted of it; or an error that says why there is none."""
    what = f"failure of outcome {name}"
    require(declared is not None and declared.range is not None, what, "'worst' only with a range", "no range")
    assert declared is not None
    assert declared.range is not None
    lows = {
        (wish.statistic.bad == "low") == (dict(wish.statistic.of.factors)[name] > 0.0)
        for wish in wishes
        if name in wish.statistic.of.outcomes and (wish.statistic.measure is None or wish.statistic.name != "std")
    }
    if len(lows) != 1:
        why = "contradict each other" if lows else "say nothing"
        allowed = f"absent where objectives and constraints {why} about which end of {name} is bad"
        raise InvalidSpec(what=what, allowed=allowed, given=repr(WORST))
    return declared.range[0 if lows.pop() else 1]


def read_known(given: Any, arms: Sequence[str], declared: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Outcomes that are not measured: for each a value of every arm, in their order.

    Args:
        given: A mapping from outcomes to mappings from arms to numbers; None for nothing.
        arms: The arms' names.
        declared: The outcomes of which something is assumed.
    """
    if given is None:
        return {}
    allowed = "a mapping from outcomes to values by arm, such as {'cost': {'small': 0.2, 'large': 2.0}}"
    require(isinstance(given, Mapping), "known", allowed, given)
    found = {}
    for name, values in given.items():
        check_outcome_name(name)
        require(name not in set(declared), f"known outcome {name}", "absent from outcomes: it is not measured", name)
        require(isinstance(values, Mapping), f"known outcome {name}", "a mapping from arms to numbers", values)
        by_arm = {str(arm): value for arm, value in values.items()}
        for arm in by_arm:
            known_name(arm, arms, f"every arm of known outcome {name}")
        lacking = [arm for arm in arms if arm not in by_arm]
        require(not lacking, f"known outcome {name}", "given for every arm", f"none for {', '.join(lacking[:5])}")
        found[name] = tuple(
            check_number(by_arm[arm], f"known outcome {name} of arm {arm}", "a finite number", math.isfinite)
            for arm in arms
        )
    return found


@dataclass(frozen=True, slots=True)
class TrialOutcomes:
    """Reads what trials give: by name what is measured, in the order of the columns what a search learns.

    Attributes:
        declared: What is assumed of the outcomes that are asked about.
        columns: What is learned of a trial: expressions of these outcomes.
        known: Outcomes that are not measured, with a value for each arm.
    """

    declared: Mapping[str, DeclaredOutcome]
    columns: tuple[Expression, ...]
    known: Mapping[str, tuple[float, ...]]

    @property
    def measured(self) -> tuple[str, ...]:
        """The outcomes that a trial must give."""
        names = (name for each in self.columns for name in each.outcomes if name not in self.known)
        return tuple(dict.fromkeys(names))

    @property
    def worst(self) -> dict[str, float]:
        """What those outcomes count as that a trial may lack."""
        return {name: each.worst for name, each in self.declared.items() if each.worst is not None}

    def read(self, given: object, arm: str | None) -> dict[str, float]:
        """All outcomes of a trial as floats, also those that nobody asks about; without those that count as the worst.

        Args:
            given: What the trial gave.
            arm: The arm, which errors name, if it is known.

        Raises:
            InvalidReward: It is no mapping; an outcome is absent, or is no number that it can be.
        """
        if not isinstance(given, Mapping):
            example = ", ".join(f"{name!r}: ..." for name in self.measured)
            allowed = f"a mapping of outcomes by name, {{{example}}}"
            raise InvalidReward(what=_trial_of(arm), verb="return", allowed=allowed, given=shorten(given))
        found = {}
        for name, value in given.items():
            if isinstance(value, float | int) and name in self.declared and value is not True and value is not False:
                low, high = self.declared[name].possible
                if low <= value <= high:  # as nearly always
                    found[name] = float(value)
                    continue
            if value is None and (declared := self.declared.get(name)) is not None and declared.worst is not None:
                continue  # counts as the worst
            found[name] = self._check(name, value, arm)
        for name in self.measured:
            if name not in found:
                self._check_missing(name, given, arm)
        return found

    def _check(self, name: object, value: object, arm: str | None) -> float:
        if not isinstance(name, str) or name in self.known:
            why = "text" if not isinstance(name, str) else "one that is not known beforehand"
            what = f"the name of every outcome{'' if arm is None else f' of arm {arm}'}"
            raise InvalidReward(what=what, allowed=why, given=shorten(name))
        low, high = self.declared.get(name, DeclaredOutcome()).possible
        number = number_of(value)
        if not low <= number <= high:
            stated = f"a number from {low:g} to {high:g}" if abs(high) < LARGEST else "a finite number"
            stated += " of at least 0, as its cv says" if low == 0.0 and high == LARGEST else ""
            hint = "" if name in self.measured else "; remarks about a trial belong into ramgape.Outcome(info=...)"
            what = f"outcome {name}{'' if arm is None else f' of arm {arm}'}"
            raise InvalidReward(what=what, allowed=stated, given=shorten(value), hint=hint)
        return number

    def _check_missing(self, name: str, given: Mapping[str, object], arm: str | None) -> None:
        """Complain of an outcome that a trial has not given, unless it counts as the worst."""
        if name in self.worst:
            return
        there = [str(key) for key in given if key not in self.measured]
        shown = ", ".join(str(key) for key in given) or "nothing"
        raise InvalidReward(
            what=_trial_of(arm), verb="return", allowed=f"outcome {name}", given=shown, hint=suggestion(name, there)
        )

    def values(self, outcomes: Mapping[str, float], arm: int) -> tuple[float, ...]:
        """What a search learns of a trial.

        Args:
            outcomes: As `read` gives them.
            arm: The arm's number.
        """
        if self.known or self.worst:
            outcomes = {**self.worst, **outcomes, **{name: values[arm] for name, values in self.known.items()}}
        return tuple([each.value(outcomes) for each in self.columns])


def _trial_of(arm: str | None) -> str:
    return "a trial" if arm is None else f"a trial of arm {shorten(arm)}"


def check_used(declared: Mapping[str, Any], known: Mapping[str, Any], wishes: Sequence[Wish]) -> None:
    """Complain of an outcome in an objective or a constraint that is not declared, where any are.

    A typing error in a name would otherwise be noticed only by the first trial.
    """
    if not declared:
        return
    there = [*declared, *known]
    for wish in wishes:
        for name in wish.statistic.of.outcomes:
            if name not in there:
                kind = type(wish).__name__.lower()
                raise InvalidSpec(
                    what=f"{kind} {shorten(str(wish))}",
                    allowed=f"about outcomes that are declared ({', '.join(there)})",
                    given=name,
                    hint=suggestion(name, there),
                )
