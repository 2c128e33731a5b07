"""What the data prove without the arms that have hardly any rows, beside what they prove of all arms.

One arm with few rows has a wide box, and a certificate is as wide as the worst of the boxes that it needs. But the
boxes of all K arms hold together with probability 1 - delta, and while they do, so does whatever follows from some of
them: that of fewer arms comes for nothing, at the levels of all K. It may be chosen after looking, and for whatever
reason an arm has few rows. Comparisons of two arms are of no use here: each set of arms would need a share of delta
(docs/theory/comparisons.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from ramgape.common.formatting import plural
from ramgape.core.pareto import Mask
from ramgape.errors import SpecificationError
from ramgape.questions import Boxes
from ramgape.search.assumptions import objections_to
from ramgape.search.engine import Engine
from ramgape.search.inference import Evidence, Spread, claim_words, gather_evidence, risk_tolerance, says_nothing
from ramgape.search.result import Result

FAR_FEWER = 10  # times as many rows has a typical arm
MUCH = 2.0  # times as small as the certificate of all arms is one that is worth telling


@dataclass(frozen=True, slots=True)
class WithoutThin:
    """The answer, and what is proved of it, among all arms but those with far fewer rows than the others.

    Attributes:
        arms: Those that are set apart, with their numbers of rows, fewest first.
        front: The answer among the other arms.
        certified_epsilon, certified_risk_epsilon, certified_delta: What is certified of it, as in `Result`.
        guarantee: That in words. It holds together with all that is said of all arms, from whose intervals it follows.
    """

    arms: dict[str, int] = field(hash=False)
    front: tuple[str, ...]
    certified_epsilon: float
    certified_risk_epsilon: float | None
    certified_delta: float
    guarantee: str


def certify_without_thin(engine: Engine, result: Result, rows: Mapping[str, int]) -> WithoutThin | None:
    """What is certified without arms that have far fewer rows than others, if that is much more than with all of them.

    Of the certificates that are nearly as good as the best, the one that sets the fewest arms apart; none of the
    returned ones if it can be.

    Args:
        engine: A search that has looked at all arms.
        result: What it has found.
        rows: How many rows each arm has.
    """
    if result.goal_reached or engine.spec.items is not None:
        return None
    counts, evidence = np.array([rows[name] for name in engine.spec.names]), gather_evidence(engine)
    levels = np.unique(counts[counts * FAR_FEWER < np.median(counts)])
    found = [_certify(engine, evidence, result, counts, counts > most) for most in levels]
    before = math.inf if result.certified_epsilon is None else result.certified_epsilon
    better = [each for each in found if each is not None and each.certified_epsilon <= before / MUCH]
    better = [each for each in better if not set(each.arms) & set(result.answer)] or better
    least = min((each.certified_epsilon for each in better), default=0.0)
    return next((each for each in better if each.certified_epsilon <= MUCH * least), None)


def _certify(engine: Engine, evidence: Evidence, result: Result, counts: np.ndarray, kept: Mask) -> WithoutThin | None:
    """What boxes prove among some arms; None where that is nothing, or the task cannot be asked of them."""
    if kept.sum() < 2:
        return None
    spec = replace(engine.spec, names=tuple(np.array(engine.spec.names, object)[kept]))
    with suppress(SpecificationError):
        spec.question.check(spec.possible)  # a control that is set apart, say
        arms, question = engine.arms[kept], spec.unit_question
        answer = question.true_answer(arms["average"], arms["risk"])
        tolerances, _ = question.tolerances(answer, Boxes(*(evidence.arms[side][kept] for side in Boxes._fields)))
        epsilon = max(0.0, float(tolerances.max()) * spec.span)
        others = [arm for arm, stays in zip(result.arms, kept, strict=True) if stays]
        spread = Spread(*(float(np.ptp([getattr(arm, name) for arm in others])) for name in ("mean", "risk")))
        if not math.isfinite(epsilon) or says_nothing(spec, spread, epsilon):
            return None
        front = tuple(name for name, inside in zip(spec.names, answer, strict=True) if inside)
        alarms = [alarm for alarm in engine.alarms if alarm.arm in spec.names]
        claim = claim_words(spec, front, epsilon, evidence, objections_to(spec, arms, evidence.misses, alarms))
        apart = sorted(np.flatnonzero(~kept).tolist(), key=lambda arm: counts[arm])
        return WithoutThin(
            arms={engine.spec.names[arm]: int(counts[arm]) for arm in apart},
            front=front,
            certified_epsilon=epsilon,
            certified_risk_epsilon=risk_tolerance(spec, epsilon),
            certified_delta=evidence.delta,
            guarantee=f"Among the other {plural(len(spec.names), 'arm')}: {claim}",
        )
    return None
