"""Each arm against a control: where its differences are, and what is proved of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ramgape.bounds import the_bound
from ramgape.core.control_pairs import difference_ends
from ramgape.core.rows import Rows
from ramgape.core.table import Table
from ramgape.questions import BetterThan
from ramgape.search.engine import Engine
from ramgape.search.result import ArmReport, ControlDifference, ControlVerdict
from ramgape.search.spec import Spec
from ramgape.search.strength import ratio_interval


def differences_to_control(
    engine: Engine, arms: Table, reports: Sequence[ArmReport], returned: Sequence[str]
) -> tuple[ControlDifference, ...]:
    """Each arm against the control, if there is one."""
    spec = engine.spec
    if not isinstance(spec.question, BetterThan):
        return ()
    claimed = [_claimed(spec, spec.question, arm, arm.name in returned) for arm in reports]
    if engine.ready and the_bound(spec.bound).compares_pairs:
        state = Rows.of(engine.state._replace(arms=arms))
        ends = spec.span * difference_ends(state, the_bound(spec.bound).kernels.mean_ahead)
        ends = ends if spec.direction == "maximize" else -ends[:, ::-1]
        claimed = [
            (_both(low, high, *means), riskiest)
            for (low, high), (means, riskiest) in zip(ends.tolist(), claimed, strict=True)
        ]
    control = next(arm for arm in reports if arm.name == spec.question.control)
    found = []
    for arm, known in zip(reports, claimed, strict=True):
        if arm is not control:
            row = difference_between(arm, control, *known)
            low, high = ratio_interval(engine, spec.names.index(arm.name), spec.names.index(control.name))
            if math.isfinite(high):
                row = replace(row, percent_interval=(100.0 * (low - 1.0), 100.0 * (high - 1.0)))
            found.append(replace(row, verdict=_control_verdict(spec, spec.question, arm, row, arm.name in returned)))
    return tuple(found)


def _control_verdict(
    spec: Spec, question: BetterThan, arm: ArmReport, row: ControlDifference, returned: bool
) -> ControlVerdict:
    """What is proved of an arm: by its certificate; that it is not worse by where its differences are."""
    if arm.certified:
        return "better" if returned else "not better"
    epsilon, (low, high) = spec.epsilon or 0.0, row.mean_interval
    least = low if spec.direction == "maximize" else -high
    in_risk = not question.about_risk or row.risk_interval[1] < epsilon / spec.risk_weight
    return "not worse" if least > question.margin - epsilon and in_risk else "open"


def _claimed(spec: Spec, question: BetterThan, arm: ArmReport, returned: bool) -> tuple[tuple[float, float], float]:
    """Where the difference in mean is, and the most in risk, by what is proved of an arm's place, perhaps by pairs."""
    if not arm.certified or not (returned or question.objective == "mean"):
        return (-math.inf, math.inf), math.inf
    allowed = 0.0 if arm.certificate in ("in", "out") else spec.epsilon or 0.0
    low, high = (question.margin - allowed, math.inf) if returned else (-math.inf, question.margin + allowed)
    riskiest = allowed / spec.risk_weight if question.about_risk else math.inf
    return ((low, high) if spec.direction == "maximize" else (-high, -low)), riskiest


def difference_between(
    arm: ArmReport, control: ArmReport, claimed: tuple[float, float] = (-math.inf, math.inf), riskiest: float = math.inf
) -> ControlDifference:
    """While boxes and claims hold, so do the intervals of differences and of their parts of the control's mean."""
    (low, high), ends = arm.mean_interval, control.mean_interval
    known = (ends[0] > 0.0 or ends[1] < 0.0) and all(map(math.isfinite, (low, high, *ends)))
    percents = [[100.0 * (end - base) / abs(base) for base in ends] for end in (low, high)] if known else []
    claims = [[100.0 * end / abs(base) for base in ends] for end in claimed] if known else []
    size, (least, most) = abs(control.mean), arm.risk_interval
    return ControlDifference(
        name=arm.name,
        mean=arm.mean - control.mean,
        mean_interval=_both(low - ends[1], high - ends[0], *claimed),
        percent=100.0 * (arm.mean - control.mean) / size if size > 0.0 else math.nan,
        percent_interval=_both(min(percents[0]), max(percents[1]), min(claims[0]), max(claims[1]))
        if known
        else (-math.inf, math.inf),
        risk=arm.risk - control.risk,
        risk_interval=_both(least - control.risk_interval[1], most - control.risk_interval[0], -math.inf, riskiest),
    )


def _both(low: float, high: float, least: float, most: float) -> tuple[float, float]:
    """What two intervals have in common; the first, if that is nothing."""
    common = max(low, least), min(high, most)
    return common if common[0] <= common[1] else (low, high)
