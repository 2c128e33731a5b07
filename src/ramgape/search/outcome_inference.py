"""From a search about several outcomes to a result: verdicts, and exactly what has been proved, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ramgape.assumptions import HEAVY
from ramgape.bounds.guarantee import ASYMPTOTIC, FINITE_SAMPLE, Guarantee, shown_items
from ramgape.common.formatting import cut, list_names, plural, round_up, unseen_words
from ramgape.core.claims import Mask, Seen, certified_factor
from ramgape.errors import printable
from ramgape.questions.of_outcomes import AboveOf, BestOf, BetterThanOf, CheapestOf, ParetoOf
from ramgape.search.assumptions import objections_to, vacuous_note
from ramgape.search.lanes import MEAN, RISK
from ramgape.search.objectives import Constraint, Objective
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import Column, OutcomeSpec
from ramgape.search.quality import TrialQuality, unseen_chances
from ramgape.search.result import (
    ArmConstraint,
    ArmObjective,
    ArmReport,
    Certificate,
    Certified,
    ConstraintReport,
    Details,
    Difference,
    Goal,
    ObjectiveReport,
    Result,
    Stopped,
    Verdict,
)
from ramgape.search.strength import EACH, largest_lead

NOWHERE = (-math.inf, math.inf)
NAME_WIDTH = 40  # of an arm in a sentence


class Words:
    """How the statements of a search are put into words.

    Args:
        spec: What was asked.
        factor: What the requested tolerances are multiplied by, in what is proved.
    """

    def __init__(self, spec: OutcomeSpec, factor: float = 1.0) -> None:
        self.spec, self.factor = spec, factor

    def tolerance(self, column: Column) -> float:
        """The tolerance that is proved."""
        return self.factor * column.epsilon

    def about(self, column: Column) -> str:
        """What a column is called in a sentence."""
        statistic = column.wish.statistic
        if self.spec.plain and statistic.name == "mean":
            return "mean"
        return (
            statistic.of.alone or str(statistic.of)
            if statistic.name == "mean" and statistic.of.above is None
            else column.text
        )

    def beaten(self, columns: Sequence[Column]) -> str:
        """By how much, in all objectives: "by 0.02 or more in accuracy and, at once, by 0.001 or more in cost"."""
        if all(self.tolerance(column) == 0.0 for column in columns):
            return f"in {list_all([self.about(column) for column in columns])}" + (
                " at once" if len(columns) > 1 else ""
            )
        parts = []
        for column in columns:
            by = self.tolerance(column)
            parts.append(f"by {f'{round_up(by)} or more' if by else 'anything'} in {self.about(column)}")
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and, at once, {parts[-1]}"

    def close(self, columns: Sequence[Column]) -> str:
        """How near a cover is: "less than 0.02 behind it in accuracy and less than 0.001 in cost"."""
        parts: list[str] = []
        for column in columns:
            by = self.tolerance(column)
            behind = "" if parts else " behind it"
            if by:
                parts.append(f"less than {round_up(by)}{behind} in {self.about(column)}")
            else:
                parts.append(f"{'not worse' if column.lane < 0 else 'better'} in {self.about(column)}")
        return list_all(parts)

    def allowed(self, columns: Sequence[Column]) -> str:
        """The tolerances: "0.02 in accuracy and 0.001 in cost"; of a single objective the number."""
        if len(columns) == 1:
            return round_up(self.tolerance(columns[0]))
        known = [column for column in columns if self.tolerance(column)]
        parts = [f"{round_up(self.tolerance(column))} in {self.about(column)}" for column in known]
        return f"{list_all(parts)} at once" if len(parts) > 1 else parts[0]

    def limit(self, column: Column, side: float) -> str:
        """A limit moved by its tolerance: to where an arm of the answer keeps it (1), or a rival keeps it (-1)."""
        assert isinstance(column.wish, Constraint)
        by = self.tolerance(column)
        value = column.wish.limit - column.turn * side * by
        return f"{column.text} {'at least' if column.wish.is_more else 'at most'} {value:.6g}"

    def keeps(self, columns: Sequence[Column], side: float) -> str:
        """All limits, likewise."""
        return list_all([self.limit(column, side) for column in columns])


def list_all(parts: Sequence[str]) -> str:
    """Parts of a sentence with commas and an "and"; none is left out."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def guarantee_of(engine: OutcomeEngine) -> Guarantee:
    """What a search about several outcomes may claim, as a bound says it of a search about one."""
    spec = engine.spec
    together = any(lane.pairs for lane in engine.lanes) and spec.items is None and not spec.shared
    assumed = assumed_words(spec) + (", with arms independent of each other" if together else "")
    because = list_all([f"{name} (unknown)" for name in spec.approximate]) if spec.approximate else ""
    return Guarantee(spec.confidence_delta, ASYMPTOTIC if because else FINITE_SAMPLE, assumed, because=because)


def assumed_words(spec: OutcomeSpec) -> str:
    """What is assumed of the trials: "independent trials of each arm (accuracy in [0, 1])"."""
    assert spec.outcomes is not None
    parts = []
    order = [*spec.outcomes.declared, *spec.outcomes.measured]
    for name in sorted(spec.outcomes.measured, key=order.index):
        declared = spec.outcomes.declared.get(name)
        if declared is None or (declared.range is None and declared.noise not in ("gaussian", HEAVY)):
            parts.append(f"{name} of any kind")
        elif declared.range is not None:
            parts.append(f"{name} in [{declared.range[0]:g}, {declared.range[1]:g}]")
        elif declared.noise == HEAVY:
            known = ", ".join(f"{key} at most {value:g}" for key, value in declared.parameters)
            parts.append(f"{name} with {known}")
        else:
            parts.append(f"{name} Gaussian")
    inside = f" ({', '.join(parts)})"
    if spec.items is None:
        return f"independent trials of each arm{inside}"
    if spec.items.population:
        return f"statistics over {shown_items(spec)}, asked in random order{inside}"
    return f"items that are independent draws from a larger world, the same for all arms{inside}"


def certified_by(
    guarantee: Guarantee,
    tolerance: Mapping[str, float],
    factor: float | None,
    words: str,
    conditions: Sequence[str],
    *,
    exact: bool,
) -> Certified:
    """What is proved of an answer, as plain data.

    Args:
        guarantee: By which it is proved.
        tolerance, factor, words: As in `Certified`.
        conditions: What is assumed besides.
        exact: Everything is known.
    """
    return Certified(
        tolerance=dict(tolerance),
        factor=factor,
        confidence=1.0 if exact else 1.0 - guarantee.level,
        kind="exact" if exact else guarantee.kind,
        guarantee=words,
        assumptions=() if exact else (guarantee.assumptions, *conditions),
    )


def claim_of(engine: OutcomeEngine, answer: Mask, factor: float) -> str:
    """What is proved of an answer, up to so many times the tolerances."""
    spec, question, words = engine.spec, engine.asked, Words(engine.spec, factor)
    names = [name for name, inside in zip(spec.names, answer.tolist(), strict=True) if inside]
    others = [name for name, inside in zip(spec.names, answer.tolist(), strict=True) if not inside]
    objectives, limits = spec.objectives, spec.constraints
    listed = list_names(names)
    if isinstance(question, ParetoOf):
        return _pareto_claim(words, names, others, objectives, limits)
    if isinstance(question, BestOf):
        if not names:
            return f"no arm keeps {_all_of(limits)}{words.keeps(limits, -1.0)}."
        best = f"no arm {f'that keeps {words.keeps(limits, -1.0)} ' if limits else ''}is "
        by = words.tolerance(objectives[0])
        best += (
            f"{round_up(by)} or more better in {words.about(objectives[0])}"
            if by
            else f"better in {words.about(objectives[0])}"
        )
        if not limits:
            return f"{best.replace('no arm', 'no other arm')} than {listed}."
        return f"{listed} keeps {words.keeps(limits, 1.0)}, and {best}."
    if isinstance(question, AboveOf):
        return _above_claim(words, names, others)
    if isinstance(question, CheapestOf):
        quality, cost = objectives
        rivals = spec.asked[1].get("rivals", 0.5 * spec.asked[1]["within"])
        by = words.tolerance(cost)
        cheaper = f"cheaper by {round_up(by)} or more" if by else "cheaper"
        return (
            f"{listed} is less than {spec.asked[1]['within']:g} behind the best in {words.about(quality)}, "
            f"and no arm that is at most {rivals:g} behind the best is {cheaper} in {words.about(cost)}."
        )
    if isinstance(question, BetterThanOf):
        return _control_claim(spec, words, names, others)
    by = words.tolerance(objectives[0])
    if not by:
        return f"{listed} are the {len(names)} best in {words.about(objectives[0])}."
    return f"no other arm is {round_up(by)} or more better in {words.about(objectives[0])} than any of {listed}."


def _all_of(limits: Sequence[Column]) -> str:
    return "all of: " if len(limits) > 1 else ""


def _pareto_claim(
    words: Words, names: Sequence[str], others: Sequence[str], objectives: Sequence[Column], limits: Sequence[Column]
) -> str:
    listed, by = list_names(names), words.beaten(objectives)
    exact = all(words.tolerance(column) == 0.0 for column in objectives)
    if not names:
        return f"no arm keeps {_all_of(limits)}{words.keeps(limits, -1.0)}."
    known = [column for column in objectives if column.lane < 0]
    if exact and not limits:
        measured = [words.about(column) for column in objectives if column.lane >= 0]
        if known:
            fixed = list_all([words.about(column) for column in known])
            where = f"in {list_all(measured)} at the same or a better {fixed}"
            return f"{listed} are exactly the arms that no other arm beats {where}."
        return f"{listed} are exactly the arms that no other arm beats {by}."
    one = len(names) == 1
    who = listed if one else f"none of {listed}"
    first = ""
    if limits:
        first = f"{listed if one else f'each of {listed}'} keeps {words.keeps(limits, 1.0)}; "
    rival = f"an arm that keeps {words.keeps(limits, -1.0)}" if limits else "another arm"
    text = f"{first}{f'{who} is not' if one else f'{who} is'} beaten {by} by {rival}"
    if others:
        breaks = f" does not keep {words.keeps(limits, -1.0)}, or" if limits else ""
        cover = f"{listed} is" if one else "one of them is"
        text += f"; and every other arm{breaks}{' has' if not one else ''} {cover} {words.close(objectives)}"
        text = text.replace("every other arm has one of them is", "for every other arm one of them is")
        text = text.replace(f"every other arm {listed} is", f"for every other arm {listed} is")
        text = text.replace("or has one of them is", "or one of them is")
    return f"{text}."


def _above_claim(words: Words, names: Sequence[str], others: Sequence[str]) -> str:
    """Which arms are beyond a threshold, and which are not."""
    column = words.spec.columns[0]
    assert isinstance(column.wish, Constraint)
    by, at, more = words.tolerance(column), column.wish.limit, column.wish.is_more
    beyond = f"{'above' if more else 'below'} {at - column.turn * by:.6g}"
    strictly, at_a_tie = ("below", "at most") if more else ("above", "at least")
    short = f"{strictly if by else at_a_tie} {at + column.turn * by:.6g}"
    parts = [
        f"{column.text} of {list_names(each)} is {where}" for each, where in ((names, beyond), (others, short)) if each
    ]
    return f"{'; '.join(parts)}."


def _control_claim(spec: OutcomeSpec, words: Words, names: Sequence[str], others: Sequence[str]) -> str:
    control, margin = spec.asked[1]["control"], spec.asked[1].get("margin", 0.0)
    met, failed = [], []  # what arms inside meet, and what those outside do not meet all of
    for column in spec.columns:
        by, about = words.tolerance(column), words.about(column)
        if isinstance(column.wish, Objective):
            met.append(f"{_ahead_words(margin, 'more than')} in {about}")
            failed.append(f"{_ahead_words(margin + by, 'at least' if by else 'more than')} in {about}")
        else:
            met.append(f"{column.wish}" + (f" (within {round_up(by)})" if by else ""))
            failed.append(f"{column.wish}" + (f" by {by:.6g} or more" if by else ""))
    parts = []
    if names:
        parts.append(f"{list_names(names)} {'is' if len(names) == 1 else 'are'}, against {control}, {list_all(met)}")
    others = [name for name in others if name != control]
    if others:
        one, many = ("is", "does") if len(others) == 1 else ("are", "do")
        not_met = f"{many} not meet all of this against {control}: {list_all(failed)}"
        parts.append(
            f"{list_names(others)} {not_met if len(failed) > 1 else f'{one} not, against {control}, {failed[0]}'}"
        )
    return f"{'; '.join(parts)}."


def _ahead_words(lead: float, how: str) -> str:
    """By how much an arm is ahead: "more than 0.1 better", "better", "less than 0.1 behind"."""
    if lead == 0.0:
        return "better"
    if lead > 0.0:
        return f"{how} {lead:.6g} better"
    return f"{'less than' if how == 'more than' else 'at most'} {-lead:.6g} behind"


def assured(engine: OutcomeEngine, statement: str, answer: Mask, conditions: Sequence[str] = ()) -> str:
    """A statement with its probability, its assumptions, and what may have gone unseen."""
    remarks = []
    if engine.spec.approximate:
        pulls = engine.arms["pulls"]
        arm = int(np.where(answer if answer.any() else True, pulls, np.iinfo(pulls.dtype).max).argmin())
        name = cut(printable(engine.spec.names[arm]), NAME_WIDTH)
        unseen = unseen_words(name, int(pulls[arm]), engine.spec.confidence_delta)
        remarks = [f"{unseen[0].upper()}{unseen[1:]}."]
    return guarantee_of(engine).sentence(statement, conditions, remarks)


def infer_outcomes(
    engine: OutcomeEngine,
    stopped: Stopped | None = None,
    seed: int | None = None,
    quality: TrialQuality | None = None,
) -> Result:
    """What a search has found, at this moment; as `infer` for one outcome."""
    spec, quality = engine.spec, quality or TrialQuality()
    reason: Stopped = stopped or engine.stopped or "interrupted"
    trials = dict(zip(spec.names, engine.arms["pulls"].tolist(), strict=True))
    answer, seen = engine.answer(), engine.seen()
    complete = engine.is_complete
    if complete:
        answer = exact_answer(engine)
    proved = _proved(engine, answer, reason, complete)
    factor = _factor(engine, seen, answer, reason, complete)
    reasons = _reasons(engine, answer) if engine.ready else [""] * len(spec.names)
    reports = _reports(engine, seen, answer, proved, reason, reasons)
    conditions = quality.conditions(trials)
    guarantee = _guarantee(engine, answer, reason, factor, conditions, complete, proved)
    objections = [
        f"{lane.of}: {objection.warning}" if not spec.plain else objection.warning
        for lane in engine.lanes
        for objection in objections_to(lane.spec, lane.table, lane.rows.searches[0].misses)
    ]
    equal = _equal_values(engine)
    unseen = unseen_chances(trials, spec.confidence_delta) if spec.approximate else {}
    certified = None
    if factor is not None:
        tolerance = {column.text: factor * column.epsilon for column in spec.columns}
        certified = certified_by(guarantee_of(engine), tolerance, factor, guarantee, conditions, exact=complete)
    front = tuple(name for name, inside in zip(spec.names, answer.tolist(), strict=True) if inside)
    first = spec.columns[0]
    bounds = ", ".join(dict.fromkeys(str(lane.spec.bound) for lane in engine.lanes))
    details = Details(
        stopped=reason,
        goal_reached=reason in ("confidence", "budget", "complete") or (reason == "spend" and spec.goal == "budget"),
        goal=Goal(spec.goal, spec.epsilon, spec.delta, spec.budget, None, None, spec.spend),
        guarantee=guarantee,
        policy=spec.policy,
        bound=bounds,
        interval_bound=bounds,
        noise=spec.assumption,
        direction="maximize" if first.wish.is_more else "minimize",
        certified_epsilon=factor,
        certified_delta=None if factor is None else 0.0 if complete else spec.confidence_delta,
        seed=seed,
        task=spec.asked_text,
        risk="std",
        risk_formula="",
        risk_label="",
        about_risk=len(spec.columns) > 1,
        notes=tuple(_notes(engine, answer)),
        rigour="approximate" if spec.approximate else "proved",
        alarm=spec.drift,
        answer_name=_called(engine),
        empty_answer="no arm keeps the limits" if isinstance(engine.asked, BestOf | ParetoOf) else "no arm does",
        sought=question_words(spec),
        control=spec.asked[1].get("control"),
        spent=engine.spent,
        said=answer_sentence(engine, answer, reason, reasons, factor, proved),
        observed=tuple((spec.names[arm], outcomes) for arm, outcomes in engine.told),
    )
    return Result(
        arms=reports,
        answer=front,
        trials=engine.samples,
        details=details,
        objectives=tuple(
            ObjectiveReport(column.text, column.wish.direction, column.epsilon)
            for column in spec.objectives
            if isinstance(column.wish, Objective)
        ),
        constraints=tuple(ConstraintReport(str(column.wish), column.epsilon) for column in spec.constraints),
        certified=certified,
        quality=replace(quality, drift=engine.alarms, missing=engine.missing, unseen=unseen),
        warnings=(
            *spec.warnings,
            *objections,
            *filter(None, [equal]),
            *_alarm_words(engine),
            *quality.warnings(trials),
        ),
    )


def _notes(engine: OutcomeEngine, answer: Mask) -> list[str]:
    """What helps to read the answer."""
    if not isinstance(engine.asked, ParetoOf):
        return []
    count, objectives = int(answer.sum()), len(engine.spec.objectives)
    if {(column.lane, column.part) for column in engine.spec.columns} == {(0, MEAN), (0, RISK)}:
        lane = engine.lanes[0]
        risk = lane.spec.risk.label(lane.spec.direction == "minimize")
        return [*filter(None, [vacuous_note(lane.spec, lane.table, f"values of {lane.of}", risk)])]
    if objectives >= 4 and 2 * count > len(answer):
        return [
            f"{count} of {len(answer)} arms are undominated, as is usual with {objectives} objectives: limits "
            "(constraints) in place of some of them narrow the answer"
        ]
    return []


def _called(engine: OutcomeEngine) -> str:
    name = engine.spec.asked[0]
    known = {
        "pareto": "Pareto set",
        "best": "best arm",
        "cheapest": "cheapest good arm",
        "above": "above the threshold",
    }
    known |= {"better-than": f"better than {engine.spec.asked[1].get('control')}"}
    return known.get(name, f"the {engine.spec.asked[1].get('count')} best arms")


def question_words(spec: OutcomeSpec) -> str:
    """What was asked, in words."""
    wishes = "; ".join(str(column.wish) for column in spec.columns)
    return f"{spec.asked_text}: {wishes}"


def exact_answer(engine: OutcomeEngine) -> Mask:
    """The answer where every item has been asked of every arm; what rounding may have changed is equal."""
    seen = engine.seen()
    seen.estimate = np.round(seen.estimate, 9)
    question = engine.asked
    thin, question_thin = False, getattr(question, "thin", None)
    if isinstance(question, ParetoOf):
        question.thin = thin
    answer: Mask = question.answer_of(seen)
    if isinstance(question, ParetoOf) and question_thin is not None:
        question.thin = question_thin
    return answer


def _proved(engine: OutcomeEngine, answer: Mask, reason: str, complete: bool) -> Mask:
    """The arms whose place is proved up to the tolerances."""
    count = len(answer)
    if complete or reason == "confidence":
        return np.ones(count, bool)
    if not engine.ready or engine.spec.goal == "budget":
        return np.zeros(count, bool)
    plan = engine.plan()
    question, found = engine.asked, ~plan.unproved
    if isinstance(question, ParetoOf):
        # Of single arms: one outside needs a limit that it breaks, or a cover that is proved to be in.
        seen = engine.seen()
        _, covered, _, _, outside = question.promises(seen, plan.answer)
        inside = found & plan.answer
        by_cover = (covered[inside] == np.inf).any(axis=0) if inside.any() else np.zeros(count, bool)
        found = np.where(plan.answer, found, (outside == np.inf) | by_cover)
    elif isinstance(question, BestOf | CheapestOf):
        found = np.zeros(count, bool)  # the claims are about one arm against all others
    return np.asarray(found)


def _factor(engine: OutcomeEngine, seen: Seen, answer: Mask, reason: str, complete: bool) -> float | None:
    """What is proved, in multiples of the tolerances; None where nothing is, or nothing that tells arms apart."""
    if complete:
        return 0.0
    if reason == "confidence":
        return 1.0 if engine.common_epsilon else 0.0
    if not engine.ready or not isinstance(engine.asked, ParetoOf) or not engine.common_epsilon:
        return None
    found, d = certified_factor(seen, answer, 100.0), engine.asked.objectives
    if found is None or (found * engine.asked.epsilon[:d] > np.ptp(seen.estimate[:, :d], axis=0)).all():
        return None  # any answer is right by more than all differences
    return float(f"{found * 1.0005:.4g}")


def _equal_values(engine: OutcomeEngine) -> str:
    """Which arms have shown equal values alone of an outcome of which nothing is assumed."""
    parts = []
    for lane in engine.lanes:
        if lane.spec.rewards.ranged:
            continue
        same = [
            name
            for name, row in zip(engine.spec.names, lane.rows.arms, strict=True)
            if row.pulls >= lane.spec.first_looks[0] and row.variance == 0.0
        ]
        if same:
            parts.append(
                f"all values of {lane.of} are equal for {list_names(same)}, which tells nothing of how they may vary: "
                f"declare a range, outcomes={{'{lane.of}': (low, high)}}, or pass the values as known"
            )
    return "; ".join(parts)


def _alarm_words(engine: OutcomeEngine) -> list[str]:
    return [
        f"trials of {alarm.arm} are not independent draws from one distribution ({alarm.kind}, by trial {alarm.pull:,})"
        for alarm in engine.alarms
    ]


def _level(engine: OutcomeEngine, column: Column) -> float | None:
    """What evidence for each end of a 95% interval must reach, besides boxes; None where those fail too often."""
    taken = engine.lanes[column.lane].taken
    return math.log(2.0 / (EACH - taken)) if taken < EACH else math.inf if taken <= EACH + 1e-12 else None


def _interval(engine: OutcomeEngine, arm: int, column: Column) -> tuple[float, float]:
    """An arm's own interval as people know it, anytime-valid at 95%."""
    if column.lane < 0:
        value = column.turn * column.values[arm]
        return value, value
    level = _level(engine, column)
    if level is None:
        return NOWHERE
    low, high = engine.lanes[column.lane].interval(arm, column.part, level)
    turn = column.turn * column.sign
    return (turn * low, turn * high) if turn > 0.0 else (turn * high, turn * low)


def _reports(
    engine: OutcomeEngine, seen: Seen, answer: Mask, proved: Mask, reason: str, reasons: Sequence[str]
) -> tuple[ArmReport, ...]:
    spec, reports = engine.spec, []
    by = _dominators(engine, answer) if engine.ready else [None] * len(answer)
    found = engine.asked.doubts(seen, answer)[0] if engine.ready else np.full(len(answer), math.inf)
    exact = not engine.common_epsilon or engine.is_complete
    open_ended = spec.goal == "confidence" or not engine.ready
    for arm, name in enumerate(spec.names):
        pulls = int(seen.pulls[arm])
        objectives: dict[str, ArmObjective] = {}
        constraints: dict[str, ArmConstraint] = {}
        regions: dict[str, tuple[float, float]] = {}
        for place, column in enumerate(spec.columns):
            value = column.shown(float(seen.estimate[arm, place])) if pulls or column.lane < 0 else math.nan
            se = math.sqrt(float(engine.arms["spread"][arm, place]) / pulls) * column.unit if pulls else math.nan
            low, high = _interval(engine, arm, column)
            if isinstance(column.wish, Objective):
                regions[column.text] = _region(column, seen, arm, place)
                other = by[arm]
                rival = None if other is None or not engine.ready else _behind(engine, seen, arm, other, place)
                objectives[column.text] = ArmObjective(value, 0.0 if column.lane < 0 else se, low, high, rival)
            else:
                ends = (low, high)
                kept = _kept(engine, arm, place)
                if isinstance(engine.asked, AboveOf) and kept != "open":
                    ends = _with_verdict(column, kept == "kept", ends)
                constraints[str(column.wish)] = ArmConstraint(value, *ends, kept)
        first: Any = next(iter((objectives or constraints).values()))
        rest = list(objectives.values())[1:2]
        verdict: Verdict = "in" if answer[arm] else "out"
        if open_ended and not proved[arm]:
            verdict = "open"
        certificate: Certificate = "none"
        if proved[arm]:
            certificate = ("in" if answer[arm] else "out") if exact else "within-epsilon"
        other = by[arm]
        reports.append(
            ArmReport(
                name=name,
                verdict=verdict,
                certified=bool(proved[arm]),
                beaten_by=None if other is None or answer[arm] else spec.names[other],
                trials=pulls,
                mean=first.estimate,
                mean_interval=(first.low, first.high),
                risk=rest[0].estimate if rest else math.nan,
                risk_interval=(rest[0].low, rest[0].high) if rest else NOWHERE,
                variance=math.nan,
                doubt=max(float(found[arm]) + engine.common_epsilon, 0.0),
                certificate=certificate,
                risk_shown=rest[0].estimate if rest else math.nan,
                risk_shown_interval=(rest[0].low, rest[0].high) if rest else NOWHERE,
                price=None if engine.spending is None else engine.price_of(arm),
                spent=None if engine.spending is None else float(engine.spending[arm]),
                word=_word(engine, arm, bool(answer[arm]), bool(proved[arm]), objectives, constraints, reasons[arm]),
                objectives=objectives,
                constraints=constraints,
                why=reasons[arm],
                regions=regions,
            )
        )
    return tuple(reports)


def _behind(engine: OutcomeEngine, seen: Seen, arm: int, other: int, place: int) -> Difference:
    """By how much an arm is behind another one in an objective, with its own anytime-valid interval."""
    column = engine.spec.columns[place]
    lead = float(seen.estimate[other, place] - seen.estimate[arm, place])
    level = None if column.lane < 0 else _level(engine, column)
    if column.lane < 0 or level is None:
        ends = (lead, lead) if column.lane < 0 else NOWHERE
        return Difference(lead * column.unit, *(end * column.unit for end in ends))
    error, proofs = math.sqrt(float(seen.error[arm, place] + seen.error[other, place])), engine.proofs

    def least(one: int, two: int, sign: float) -> float:
        known = float(seen.low[one, place] - seen.high[two, place])
        return largest_lead(lambda x: proofs.ahead(one, two, place, -x, level), sign * lead, known, error, level)

    return Difference(lead * column.unit, least(other, arm, 1.0) * column.unit, -least(arm, other, -1.0) * column.unit)


def _word(
    engine: OutcomeEngine,
    arm: int,
    inside: bool,
    proved: bool,
    objectives: Mapping[str, ArmObjective],
    constraints: Mapping[str, ArmConstraint],
    why: str,
) -> str:
    """An arm's place in a word."""
    question = engine.asked
    limits = [each.verdict for each in constraints.values()]
    if isinstance(question, AboveOf):
        return {"kept": "meets it", "missed": "misses it", "open": "open"}[limits[0]]
    if isinstance(question, BetterThanOf):
        if arm == question.control:
            return "control"
        if proved:
            return "better" if inside else "not better"
        return "not worse" if question.is_no_worse(engine.seen(), engine.proofs, arm) else "open"
    if inside:
        return "keep" if isinstance(question, ParetoOf) else "best"
    if "missed" in limits:
        return "misses a limit"
    if isinstance(question, CheapestOf) or why.startswith("breaks"):
        return why.replace("breaks", "may break") if why.startswith("breaks") else why
    found = [each.behind for each in objectives.values() if each.behind is not None]
    beaten = "beaten" if isinstance(question, ParetoOf) else "behind"
    if not found:
        return "open"
    if proved and not engine.common_epsilon:
        return beaten
    if isinstance(question, ParetoOf):
        return f"likely {beaten}" if all(each.low > 0.0 for each in found) else "close"
    return f"likely {beaten}" if found[0].low > 0.0 else "close"


def _region(column: Column, seen: Seen, arm: int, place: int) -> tuple[float, float]:
    """An arm's simultaneous interval as people know it."""
    low, high = (column.shown(float(box[arm, place])) for box in (seen.low, seen.high))
    return min(low, high), max(low, high)


def _with_verdict(column: Column, kept: bool, ends: tuple[float, float]) -> tuple[float, float]:
    """An interval with what the verdict proves: on that side of the threshold, or of its tolerance."""
    assert isinstance(column.wish, Constraint)
    at = column.wish.limit + (-1.0 if kept else 1.0) * column.turn * column.epsilon
    low, high = ends
    return (max(low, at), high) if kept == column.wish.is_more else (low, min(high, at))


def _kept(engine: OutcomeEngine, arm: int, place: int) -> Any:
    """Whether an arm keeps a limit: what is proved of it by itself, up to the tolerance.

    Near a limit both may be proved up to the tolerance; said is what the estimate says, too.
    """
    question, seen = engine.asked, engine.seen()
    lead = float(seen.estimate[arm, place])
    if isinstance(question, AboveOf):
        return {1: "kept", -1: "missed", 0: "open"}[int(question.verdicts()[arm])]
    if isinstance(question, ParetoOf | BestOf):
        number = place - question.objectives
        if engine.spec.goal == "budget":
            kept, missed = seen.low[arm, place] >= 0.0, seen.high[arm, place] < 0.0
        else:
            kept = question.safe.promise(seen, question.levels.safe)[arm, number] == np.inf
            missed = question.unsafe.promise(seen, question.levels.unsafe)[arm, number] == np.inf
    elif isinstance(question, BetterThanOf) and engine.spec.goal != "budget" and arm != question.control:
        lead = 0.0 if question.holds(seen)[arm, place] else -1.0
        kept, missed = (each[arm, place] == np.inf for each in question.promises(seen))
    else:
        return "open"
    return "kept" if kept and lead >= 0.0 else "missed" if missed and lead < 0.0 else "open"


def _dominators(engine: OutcomeEngine, answer: Mask) -> list[int | None]:
    """For an arm outside: the returned arm that is ahead of it; None where it is a limit, or nobody."""
    question, seen = engine.asked, engine.seen()
    count, found = len(answer), [None] * len(answer)
    result: list[int | None] = list(found)
    if isinstance(question, ParetoOf):
        d = question.objectives
        lead = (seen.estimate[:, None, :d] - seen.estimate[None, :, :d]).min(axis=2)
        lead = np.where(answer[:, None], lead, -np.inf)
        keeps = np.asarray((seen.estimate[:, d:] >= 0.0).all(axis=1))
        for arm in range(count):
            if not answer[arm] and keeps[arm] and answer.any():
                result[arm] = int(lead[:, arm].argmax())
    elif isinstance(question, BestOf | CheapestOf) and answer.any():
        best = int(answer.argmax())
        keeps = np.asarray((seen.estimate[:, question.objectives :] >= 0.0).all(axis=1))
        for arm in range(count):
            if not answer[arm] and (keeps[arm] or isinstance(question, CheapestOf)):
                result[arm] = best
    elif isinstance(question, BetterThanOf):
        result = [None if arm == question.control else question.control for arm in range(count)]
    elif not isinstance(question, AboveOf) and answer.any():
        last = int(np.where(answer, seen.estimate[:, 0], np.inf).argmin())
        result = [None if answer[arm] else last for arm in range(count)]
    return result


def _reasons(engine: OutcomeEngine, answer: Mask) -> list[str]:
    """Why each arm is where it is, shortly."""
    spec, question, seen = engine.spec, engine.asked, engine.seen()
    dominators, words, found = _dominators(engine, answer), Words(spec), []
    for arm in range(len(answer)):
        text = ""
        if isinstance(question, ParetoOf | BestOf | CheapestOf) and not answer[arm]:
            broken = [
                place
                for place in range(question.objectives, len(spec.columns))
                if seen.estimate[arm, place] < 0.0 or _kept(engine, arm, place) == "missed"
            ]
            if broken:
                text = f"breaks {list_all([str(spec.columns[place].wish) for place in broken])}"
            elif dominators[arm] is not None:
                text = f"behind {spec.names[dominators[arm]]}"  # type: ignore[index]
            if isinstance(question, CheapestOf):
                best = int(answer.argmax())
                near = seen.estimate[arm, 0] >= seen.estimate[:, 0].max() - question.within
                dearer = seen.estimate[arm, 1] < seen.estimate[best, 1]
                text = (
                    f"{'more expensive' if dearer else 'no cheaper'} than {spec.names[best]}"
                    if near
                    else f"worse in {words.about(spec.columns[0])}"
                )
        elif isinstance(question, BetterThanOf) and arm != question.control and not answer[arm]:
            holds = question.holds(seen)[arm]
            failing = [
                f"not better in {words.about(column)}"
                if isinstance(column.wish, Objective)
                else f"breaks {column.wish}"
                for column, held in zip(spec.columns, holds.tolist(), strict=True)
                if not held
            ]
            text = list_all(failing) if failing else ""
        elif isinstance(question, ParetoOf) and answer[arm] and answer.sum() > 1:
            leading = [
                f"{_extreme(column)} {words.about(column)}"
                for place, column in enumerate(spec.objectives)
                if seen.estimate[arm, place] >= seen.estimate[answer, place].max()
            ]
            text = list_all(leading) if leading else "in between"
        found.append(text)
    return found


def answer_sentence(
    engine: OutcomeEngine, answer: Mask, reason: str, reasons: Sequence[str], factor: float | None, proved: Mask
) -> str:
    """The answer in plain words: what to choose, what to drop, and how sure that is."""
    spec, question = engine.spec, engine.asked
    if not engine.ready:
        return f"Nothing is known yet, after {plural(engine.samples, 'trial')}."
    names = [name for name, inside in zip(spec.names, answer.tolist(), strict=True) if inside]
    control = spec.asked[1].get("control")
    out = [
        (name, why)
        for name, inside, why in zip(spec.names, answer.tolist(), reasons, strict=True)
        if not inside and name != control
    ]
    claimed = reason in ("confidence", "complete") or (spec.goal == "budget" and factor is not None)
    guess = "" if claimed else "So far: " if reason == "open" else "Best guess: "
    limits = list_all([str(column.wish) for column in spec.constraints]) if spec.constraints else ""
    dropped = ""
    words, close = Words(spec, 1.0 if factor is None else factor), ""
    if isinstance(question, ParetoOf | BestOf | CheapestOf) and not names:
        text = f"no option keeps {_all_of(spec.constraints)}{limits}"
    elif isinstance(question, ParetoOf):
        details = [
            f"{name} ({why})" if why else name
            for name, inside, why in zip(spec.names, answer.tolist(), reasons, strict=True)
            if inside
        ]
        text = f"keep {list_all(details) if len(details) <= 4 else list_names(names)}{_dropped(out)}"
        if claimed and engine.common_epsilon and len(names) > 1 and any(map(words.tolerance, spec.objectives)):
            close = f"and none beats another by {words.allowed(spec.objectives)}"
    elif isinstance(question, CheapestOf):
        quality, cost = spec.objectives
        text = f"choose {names[0]}. It is less than {spec.asked[1]['within']:g} behind the best {words.about(quality)}"
        text += ", and no option that is about as good is cheaper"
        close = f"up to {words.allowed([cost])}" if claimed and words.tolerance(cost) else ""
    elif isinstance(question, BestOf):
        column = spec.columns[0]
        among = f" of those with {limits}" if limits else ""
        text = f"choose {names[0]}. It has the {_extreme(column)} {words.about(column)}{among}"
        close = f"or is within {words.allowed([column])} of it" if claimed and words.tolerance(column) else ""
        dropped = _dropped(out) if limits else ""
    elif isinstance(question, AboveOf):
        wish = spec.columns[0].wish
        statistic, more = words.about(spec.columns[0]), "or more" if wish.is_more else "or less"
        at = f"{'an' if statistic[0] in 'aeiou' else 'a'} {statistic} of {wish.limit:g} {more}"  # type: ignore[union-attr]
        verdicts = question.verdicts().tolist()
        if not claimed and spec.goal == "confidence" and any(verdicts):
            known: dict[int, list[str]] = {1: [], -1: [], 0: []}
            for name, verdict in zip(spec.names, verdicts, strict=True):
                known[verdict].append(name)
            by = words.tolerance(spec.columns[0])
            at += f" within {round_up(by)}" if by else ""
            parts = [f"{list_all(known[1])} {'has' if len(known[1]) == 1 else 'have'} {at}"] if known[1] else []
            does = f"{'does' if len(known[-1]) == 1 else 'do'} not" + f" have {at}" * (not parts)
            parts += [f"{list_all(known[-1])} {does}"] if known[-1] else []
            approximate = "about " if spec.approximate else ""
            is_open = f"{list_all(known[0])} {'is' if len(known[0]) == 1 else 'are'} open"
            return f"{'; '.join(parts)} ({approximate}{100.0 * (1.0 - spec.confidence_delta):.4g}% sure); {is_open}."
        text = f"{list_all(names)} {'has' if len(names) == 1 else 'have'} {at}" if names else f"no option has {at}"
        rest = [name for name, _ in out]
        text += f"; {list_all(rest)} {'do' if len(rest) > 1 else 'does'} not" if rest and names else ""
        by = words.tolerance(spec.columns[0])
        close = f"within {round_up(by)}" if claimed and by else ""
    elif isinstance(question, BetterThanOf):
        better, worse, left = _places(spec, answer, proved)
        if not claimed and (better or worse):
            parts = [f"{list_all(better)} {'beats' if len(better) == 1 else 'beat'} {control}"] if better else []
            parts += [f"not better{'' if better else f' than {control}'}: {list_all(worse)}"] if worse else []
            still = f"; {list_all(left)} {'is' if len(left) == 1 else 'are'} open" if left else ""
            text = f"{'; '.join(parts)} ({'about ' if spec.approximate else ''}"
            text += f"{100.0 * (1.0 - spec.confidence_delta):.4g}% sure){still}."
            return text if better else text[0].upper() + text[1:]
        verb = "beats" if len(names) == 1 else "beat"
        text = f"{list_all(names)} {verb} {control}" if names else f"keep {control}: no option is shown to be better"
        text += _dropped(out, "not better:")
    else:
        column = spec.columns[0]
        text = f"choose {list_all(names)}. They have the {_extreme(column)} {words.about(column)}"
        close = f"up to {words.allowed([column])}" if claimed and words.tolerance(column) else ""
    sure = f" ({'about ' if spec.approximate else ''}{100.0 * (1.0 - spec.confidence_delta):.4g}% sure)"
    if reason == "complete":
        close, sure = "exact: every item was asked of every option", ""
    text = f"{text}{', ' if close else ''}{close}{sure if claimed else ''}."
    text += f" {dropped[2].upper()}{dropped[3:]}." if dropped else ""
    text += "" if claimed or factor is not None else " Nothing is proved yet."
    # A name stays as it was given; what begins with our words is a sentence.
    named = bool(names) and text.startswith(list_all(names))
    return guess + text if guess or named else text[0].upper() + text[1:]


def _places(spec: OutcomeSpec, answer: Mask, proved: Mask) -> tuple[list[str], list[str], list[str]]:
    """Of the arms beside a control those proved to be in the answer, those proved to be out, and all others."""
    found: tuple[list[str], list[str], list[str]] = ([], [], [])
    for name, inside, known in zip(spec.names, answer.tolist(), proved.tolist(), strict=True):
        if name != spec.asked[1]["control"]:
            found[(0 if inside else 1) if known else 2].append(name)
    return found


def _extreme(column: Column) -> str:
    """Which end of a statistic is best."""
    return "highest" if column.wish.is_more else "lowest"


def _dropped(out: Sequence[tuple[str, str]], verb: str = "drop") -> str:
    """Which arms are left out, those with the same reason together."""
    if not out or len(out) > 6:
        return f"; {verb} the other {len(out):,}" if out else ""
    by_reason: dict[str, list[str]] = {}
    for name, why in out:
        by_reason.setdefault(why, []).append(name)
    parts = [f"{list_all(names)} ({why})" if why else list_all(names) for why, names in by_reason.items()]
    return f"; {verb} {list_all(parts)}"


def _guarantee(
    engine: OutcomeEngine,
    answer: Mask,
    reason: str,
    factor: float | None,
    conditions: Sequence[str],
    complete: bool,
    proved: Mask,
) -> str:
    spec = engine.spec
    trials = plural(engine.samples, "trial")
    if complete:
        assert spec.items is not None
        exact = claim_of(engine, answer, 0.0)
        return f"Exact, since each of these {len(spec.items.values):,} items has been asked of every arm: {exact}"
    if reason == "confidence":
        return assured(engine, claim_of(engine, answer, 1.0), answer, conditions)
    above = isinstance(engine.asked, AboveOf)
    if above and engine.ready:
        verdicts = engine.asked.verdicts()  # type: ignore[attr-defined]
        if (verdicts != 0).any() and spec.goal == "confidence":
            kept, missed = ([spec.names[arm] for arm in np.flatnonzero(verdicts == side)] for side in (1, -1))
            parts = _above_claim(Words(spec), kept, missed)
            still = plural(int((verdicts == 0).sum()), "arm")
            return f"Undecided for {still}. So far: {assured(engine, parts, answer, conditions)}"
    if isinstance(engine.asked, BetterThanOf) and spec.goal == "confidence":
        better, worse, left = _places(spec, answer, proved)
        if better or worse:
            claim = _control_claim(spec, Words(spec), better, worse)
            return f"Undecided for {plural(len(left), 'arm')}. So far: {assured(engine, claim, answer, conditions)}"
    if factor is not None:
        times = "" if factor == 1.0 else f" Proved within {factor:g} times the tolerances."
        before = "" if spec.goal == "budget" else "Undecided. So far: "
        return f"{before}{assured(engine, claim_of(engine, answer, factor), answer, conditions)}{times}"
    if proved.any():
        known = {
            "in the answer": [name for name, p, a in zip(spec.names, proved, answer, strict=True) if p and a],
            "out of it": [name for name, p, a in zip(spec.names, proved, answer, strict=True) if p and not a],
        }
        parts_known = "; ".join(f"{list_names(names)} {where}" for where, names in known.items() if names)
        return f"Undecided after {trials}; the answer is a best guess. Proved within the tolerances: {parts_known}."
    return f"Nothing is proved yet; the answer is a best guess after {trials}."
