"""More is asked of a study: a smaller tolerance, or a larger budget, in pulls or in money."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ramgape.bounds import the_bound
from ramgape.common.checks import check_number, whole
from ramgape.errors import InvalidSpec, require
from ramgape.search.extension import Extension
from ramgape.search.items import check_budget_fits
from ramgape.search.outcome_spec import OutcomeSpec
from ramgape.search.spec import Spec, check_tolerance, exploration_constant, parse_share, with_warnings
from ramgape.studies.report import write_time
from ramgape.studies.specification import StudySpec

RATIO = 1e-9  # of two tolerances: what is less than this apart is the same


def extended(spec: StudySpec, asked: dict[str, Any], told: int, done: bool, time: float) -> StudySpec:
    """The specification that asks for more, with a note of when that was; the same one if it asks for that already.

    Args:
        spec: What has been asked for until now.
        asked: What is asked for now: one of epsilon, budget and spend.
        told, done, time: How many observations there are, whether the study is at its end, and the present moment.

    Raises:
        InvalidSpec: It is not more.
    """
    search, epsilon, budget, spend = spec.search, asked["epsilon"], asked["budget"], asked["spend"]
    allowed = "absent with several outcomes, whose tolerances stay: import the trials into a study with smaller ones"
    require(epsilon is None or not isinstance(search, OutcomeSpec), "epsilon", allowed, epsilon)
    if sum(value is not None for value in asked.values()) != 1:
        given = ", ".join(f"{name}={value!r}" for name, value in asked.items() if value is not None)
        raise InvalidSpec(
            what="extend", allowed="given one of epsilon, budget and spend", given=given or "none of them"
        )
    if spend is not None:
        more = more_money(search, spend)
    elif budget is None:
        require(search.budget is None, "epsilon", "absent for a study with a budget: give a larger budget", epsilon)
        more = smaller_tolerance(search, epsilon)
    else:
        allowed = "absent for a study with a confidence: give a smaller epsilon"
        require(search.budget is not None, "budget", allowed, budget)
        more = larger_budget(search, budget)
    if all(getattr(search, name) == value for name, value in more.items()):
        return spec
    allowed = f"given before the cap on pulls, max_trials={search.max_trials}, is reached"
    require(epsilon is None or told < search.max_trials, "a smaller epsilon", allowed, f"{told:,} observations")
    before = ("epsilon", "risk_epsilon", "epsilon_share", "budget", "exploration", "spend")
    note = Extension(told, done, write_time(time), **{name: getattr(search, name) for name in before})
    changed = replace(search, **more, extensions=(*search.extensions, note))
    if isinstance(search, OutcomeSpec):
        return replace(spec, search=changed)
    changed = replace(changed, warnings=search.question.check(search.possible))
    return replace(
        spec, search=with_warnings(changed) if epsilon is not None else replace(changed, warnings=search.warnings)
    )


def smaller_tolerance(search: Spec, epsilon: Any) -> dict[str, Any]:
    """The fields of a search that change with its tolerance."""
    share = parse_share(epsilon)
    if search.is_open:
        now = search.epsilon_share or 0.0
        allowed = f"a share of at most {100.0 * now:g}%, as the study has one: a study can only go on for more"
        require(share is not None and share <= now, "epsilon", allowed, epsilon)
        return {"epsilon_share": share}
    tolerance, in_risk = check_tolerance(epsilon) if share is None else (share * search.span, None)
    assert tolerance is not None
    assert search.epsilon is not None
    require(share is None or search.rewards.ranged, "epsilon", "a number, as the study has one", epsilon)
    allowed = f"at most {search.epsilon:g}, which was asked for until now: a study can only go on for more"
    require(tolerance <= search.epsilon, "epsilon", allowed, epsilon)
    weight = search.risk_weight
    if in_risk:
        allowed = f"a pair (mean, risk) in the ratio that the study began with, {weight:g}, or one number"
        require(math.isclose(tolerance / in_risk, weight, rel_tol=RATIO), "epsilon", allowed, epsilon)
    if tolerance == search.epsilon:
        return {}
    apart = search.risk_epsilon is not None and tolerance > 0.0
    return {"epsilon": tolerance, "risk_epsilon": tolerance / weight if apart else None, "epsilon_share": share}


def larger_budget(search: Spec, budget: Any) -> dict[str, Any]:
    """The fields of a search that change with its budget: a width that was chosen by that grows with it."""
    assert search.budget is not None
    allowed = f"a whole number of at least {search.budget}, the budget until now: a study can only go on for more"
    budget = whole(budget, "budget", allowed, search.budget)
    check_budget_fits(search.items, len(search.names), budget)
    constant, bound, arms = search.exploration, search.bound, len(search.names)
    if constant is not None:
        for name in the_bound(bound).kernels.DENOMINATORS if search.epsilon is not None else ():
            if exploration_constant(name, bound, arms, search.budget, search.epsilon, search.span) == constant:
                constant = exploration_constant(name, bound, arms, budget, search.epsilon, search.span)
                break
    return {"budget": budget, "exploration": constant}


def more_money(search: Spec, spend: Any) -> dict[str, Any]:
    """The fields of a search that change with what it may spend."""
    require(search.spend is not None, "spend", "absent for a study that may spend whatever it takes", spend)
    allowed = f"a finite number of at least {search.spend:g}, the money until now: a study can only go on for more"
    return {"spend": check_number(spend, "spend", allowed, lambda value: value >= (search.spend or 0.0))}
