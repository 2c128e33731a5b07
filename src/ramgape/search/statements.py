"""What a result says of each arm beside its verdict: its numbers, differences, p-value, support, and a word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ramgape.core.pareto import Mask
from ramgape.questions import BetterThan, Pareto
from ramgape.questions.best import MEAN as BY_MEAN
from ramgape.questions.best import Best
from ramgape.search.engine import Engine
from ramgape.search.result import ArmObjective, ArmReport, Difference, ObjectiveReport
from ramgape.search.spec import Spec
from ramgape.search.strength import Single, Strength, single_statements, support
from ramgape.search.units import user_rewards

MEAN, RISK = 0, 1


def objectives_of(spec: Spec, reward: str = "reward") -> tuple[ObjectiveReport, ...]:
    """What was wanted of every arm."""
    costs = spec.direction == "minimize"
    asked = [ObjectiveReport(f"mean({reward})", "minimize" if costs else "maximize", spec.epsilon)]
    if spec.question.about_risk:
        _, _, parameters = str(spec.risk).partition(":")
        text = f"{spec.risk.name}({', '.join(filter(None, [reward, *parameters.split(',')]))})"
        in_risk = None if spec.epsilon is None else spec.epsilon / spec.risk_weight
        turned: Literal["maximize", "minimize"] = "maximize" if spec.risk.shown(1.0, costs) < 0.0 else "minimize"
        asked.append(ObjectiveReport(text, turned, in_risk))
    return tuple(asked)


def with_statements(
    engine: Engine,
    answer: Mask,
    strength: Strength | None,
    tolerances: NDArray[np.float64],
    reports: Sequence[ArmReport],
    delta: float,
) -> tuple[ArmReport, ...]:
    """The reports with all that is said of an arm by itself and beside another one.

    Args:
        engine: The search.
        answer: The arms that are named.
        strength: What pairs prove of the answer; None where they prove nothing.
        tolerances: What is proved of each arm's place, in units of the mean.
        reports: The arms, in the user's units.
        delta: The accepted probability of a wrong answer.
    """
    spec = engine.spec
    if not engine.ready:
        return _early(engine, reports)
    keeps = np.ones(len(reports), dtype=bool)
    if isinstance(engine.question, Best):
        keeps = engine.question.reaches(engine.arms["average"], engine.arms["risk"])
    references = np.where(keeps | answer, _references(engine, answer, strength, reports), -1)
    single = single_statements(engine, answer, references)
    shares = support(engine, answer) if spec.goal == "budget" else None
    most = tolerances if isinstance(spec.question, Pareto) else np.full(len(reports), math.inf)
    if strength is not None and not isinstance(spec.question, Pareto):
        most = strength.most * spec.span
    texts = [each.text for each in objectives_of(spec)]
    made = []
    for arm, report in enumerate(reports):
        found = {text: _objective(engine, arm, j, report, single, float(most[arm])) for j, text in enumerate(texts)}
        p = float(single.p[arm])
        row = replace(
            report,
            objectives=found,
            p=None if math.isnan(p) else p,
            support=None if shares is None else float(shares[arm]),
        )
        word = _word(spec, row, bool(answer[arm]), delta) if keeps[arm] else _missing(engine, single, arm)
        made.append(replace(row, word=word))
    return tuple(made)


def _missing(engine: Engine, single: Single, arm: int) -> str:
    """The word for an arm that misses the limit on its other objective: surely by its own interval, or perhaps."""
    question = engine.question
    assert isinstance(question, Best)
    assert question.floor is not None
    other = RISK if question.score == BY_MEAN else MEAN
    return "misses the limit" if single.high[arm, other] < question.floor else "may miss the limit"


def _early(engine: Engine, reports: Sequence[ArmReport]) -> tuple[ArmReport, ...]:
    """What is known before every arm has the trials that evidence needs: estimates, and how often they stand."""
    shares, spec = support(engine, np.zeros(len(reports), dtype=bool)), engine.spec
    made = []
    for arm, report in enumerate(reports):
        se = math.sqrt(report.variance / (report.trials - 1)) if report.trials > 1 else math.nan
        numbers = [ArmObjective(report.mean, se, -math.inf, math.inf)]
        numbers.append(ArmObjective(report.risk_shown, math.nan, -math.inf, math.inf))
        found = {each.text: number for each, number in zip(objectives_of(spec), numbers, strict=False)}
        share = None if shares is None else float(shares[arm])
        made.append(replace(report, objectives=found, support=share, word="open"))
    return tuple(made)


def _references(
    engine: Engine, answer: Mask, strength: Strength | None, reports: Sequence[ArmReport]
) -> NDArray[np.int64]:
    """The arm that each is compared with: the leader, the control, the arm that beats it, or its nearest rival."""
    spec, count = engine.spec, len(reports)
    if isinstance(spec.question, BetterThan):
        control = spec.question.among(spec.names).place
        return np.where(np.arange(count) == control, -1, control)
    numbers = {name: arm for arm, name in enumerate(spec.names)}
    if isinstance(spec.question, Pareto):
        behind = np.full(count, -1) if strength is None else strength.rivals.copy()
        for arm, report in enumerate(reports):
            other = report.beaten_by or report.rival
            if (not answer[arm] or behind[arm] < 0) and other is not None:
                behind[arm] = numbers[other]
        return behind
    if not answer.any():
        return np.full(count, -1)
    best = int(np.where(answer, engine.arms["average"], -math.inf).argmax())
    if spec.question.about_risk and not spec.question.compares_pairs:
        inside = np.flatnonzero(answer)
        best = int(inside[0]) if len(inside) == 1 else best
    return np.where(np.arange(count) == best, -1, best)


def _objective(engine: Engine, arm: int, j: int, report: ArmReport, single: Single, most: float) -> ArmObjective:
    """One number of an arm, in the user's units."""
    spec = engine.spec
    costs = spec.direction == "minimize"
    pulls = report.trials
    unit = spec.span if j == MEAN else spec.span / spec.risk_weight  # of a difference
    low, high = float(single.low[arm, j]), float(single.high[arm, j])
    if j == MEAN:
        estimate, se = report.mean, math.sqrt(report.variance / (pulls - 1)) if pulls > 1 else math.nan
        ends = float(user_rewards(spec, low)), float(user_rewards(spec, high))
    else:
        estimate = report.risk_shown
        spread = float(engine.arms["risk_spread"][arm])
        se = unit * math.sqrt(spread / pulls) if pulls and spread > 0.0 else math.nan
        middle = -float(engine.arms["risk"][arm])
        least, greatest = spec.risk.possible
        ends = tuple(  # type: ignore[assignment]
            spec.risk.shown(min(max(report.risk - unit * (end - middle), least), greatest), costs)
            for end in (low, high)
        )
    other = int(single.references[arm])
    behind = None
    if other >= 0:
        column = engine.arms["average"] if j == MEAN else -engine.arms["risk"]
        seen = unit * float(column[other] - column[arm])
        behind = Difference(seen, unit * float(single.behind_low[arm, j]), unit * float(single.behind_high[arm, j]))
    at_most = most if j == MEAN else most / spec.risk_weight
    at_most = math.inf if math.isnan(at_most) else max(at_most, 0.0)
    return ArmObjective(estimate, se, min(ends), max(ends), behind, at_most)


def _word(spec: Spec, arm: ArmReport, inside: bool, delta: float) -> str:
    """An arm's place in a word: what is proved, what its own interval says, or that it is open."""
    if isinstance(spec.question, BetterThan):
        return _word_beside_control(spec.question.control, arm, inside)
    found = [each.behind for each in arm.objectives.values()]
    known = [each for each in found if each is not None]
    if isinstance(spec.question, Pareto):
        if inside:
            return "keep"
        if arm.certificate == "out" or (arm.p is not None and arm.p <= delta):
            return "beaten"
        if arm.trials < spec.first_looks[0] or not known:
            return "open"
        return "likely beaten" if all(each.low > 0.0 for each in known) else "close"
    if inside:
        return "best"
    if (arm.p is not None and arm.p <= delta) or arm.certificate == "out":
        return "behind"
    if arm.trials < spec.first_looks[0] or not known:
        return "open"
    decisive = known if len(known) == 1 else known[:1]
    return "likely behind" if all(each.low > 0.0 for each in decisive) else "close"


def _word_beside_control(control: str, arm: ArmReport, inside: bool) -> str:
    if arm.name == control:
        return "control"
    if arm.certified:
        return "better" if inside else "not better"
    return "open"
