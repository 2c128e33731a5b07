"""From a table of arms to a result: verdicts, and exactly what has been proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.bounds import Bound, the_bound, usual_bound
from ramgape.bounds.guarantee import APPROXIMATE, Guarantee, Rigour
from ramgape.common.formatting import cut, list_names, plural, round_up, unseen_words
from ramgape.core.comparisons import NOT_PROVED
from ramgape.core.pareto import Floats, Mask
from ramgape.core.rows import on_tables
from ramgape.core.table import Table
from ramgape.errors import printable
from ramgape.options import DEFAULT_DELTA
from ramgape.policies import rule_of
from ramgape.questions import PARETO, BetterThan, Boxes, Wanted
from ramgape.search.assembly import make_prove
from ramgape.search.assumptions import (
    Objection,
    asked_items,
    cut_off_trials,
    equal_rewards,
    objections_to,
    vacuous_note,
    warnings_of,
)
from ramgape.search.differences import differences_to_control
from ramgape.search.engine import Engine
from ramgape.search.estimands import estimand_of
from ramgape.search.naming import named_answer, safest_answer
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_inference import NAME_WIDTH, certified_by, infer_outcomes
from ramgape.search.policy_state import PolicyState
from ramgape.search.quality import TrialQuality, unseen_chances
from ramgape.search.result import (
    ArmReport,
    Certificate,
    Certified,
    Details,
    Goal,
    Result,
    Stopped,
    Truth,
)
from ramgape.search.spec import Spec
from ramgape.search.statements import objectives_of, with_statements
from ramgape.search.strength import Strength, answer_strength, guarded, rare_level, with_boxes

ONCE = "the number of trials was fixed beforehand and these data are looked at once"  # what classical tests need


class Evidence(NamedTuple):
    """Boxes that hold with probability 1 - delta, the bound behind them, how often they contradicted each other, and
    the search that made them, and what that assumes because of trials that were replaced."""

    arms: Table
    bound: str | Bound
    delta: float
    misses: int
    names: tuple[str, ...]
    engine: Engine
    conditions: Sequence[str] = ()

    @property
    def guarantee(self) -> Guarantee:
        """What they may claim."""
        return the_bound(self.bound).guarantee(self.engine.spec, self.delta)

    @property
    def rigour(self) -> Rigour:
        """Whether they hold as stated, or only nearly so."""
        return the_bound(self.bound).rigour

    def unseen(self, returned: Sequence[str]) -> str:
        """What may have gone unseen in the arm of an answer with the fewest trials; of no answer, in any arm."""
        seen = zip(self.names, self.arms["pulls"].tolist(), strict=True)
        name, pulls = min((each for each in seen if each[0] in (returned or self.names)), key=lambda each: each[1])
        return unseen_words(cut(printable(name), NAME_WIDTH), pulls, self.delta)


def gather_evidence(engine: Engine) -> Evidence:
    """The boxes of the search, or after a budget those of the confidence bound that serves such rewards.

    Every confidence bound is valid at all times at once, so it may be applied to a search that another bound steered.
    """
    spec = engine.spec
    if spec.delta is not None:
        return Evidence(_boxes(engine), spec.bound, spec.delta, engine.misses, spec.names, engine)
    bound = proving_bound(spec)
    asked = replace(spec, bound=bound, delta=DEFAULT_DELTA)
    proving = Engine.from_statistics(asked, engine.state, another_bound=True)
    proving.make_boxes()
    return Evidence(_boxes(proving), bound, DEFAULT_DELTA, proving.misses, spec.names, proving)


def _boxes(engine: Engine) -> Table:
    """The arms with the boxes that are shown: those of known arms are points once nothing is left to be proved."""
    known = engine.asked_all
    arms = with_boxes(engine.arms, known if engine.is_complete else np.zeros_like(known), engine.set_aside)
    return guarded(arms, rare_level(engine))


class Findings(NamedTuple):
    """The returned set, and what is proved of each arm."""

    answer: Mask
    tolerances: Floats  # the smallest that is proved, in the user's units of the mean
    proved: Mask  # it is below epsilon
    exact: Mask  # the arm is in, or out of, the right answer, as the one returned has it
    dominators: NDArray[np.int64]  # for an arm outside: the returned arm that dominates it
    rivals: NDArray[np.int64]  # the arms behind the tolerances
    strength: Strength | None  # what pairs prove of it, on the engine's scale


def certify(engine: Engine, evidence: Evidence) -> Findings:
    """What the boxes prove of the arms that are named; nothing before every arm has its initial pulls."""
    answer, count = named_answer(engine), len(engine.arms)
    if not engine.ready:
        nothing, nobody = np.zeros(count, dtype=bool), np.full(count, -1)
        return Findings(answer, np.full(count, math.inf), nothing, nothing, nobody, nobody, None)
    question, boxes = engine.question, Boxes(*(evidence.arms[side] for side in Boxes._fields))
    tolerances, rivals = question.tolerances(answer, boxes)
    strength = answer_strength(evidence.engine, answer)
    if strength is not None:  # both hold on the same event
        rivals = np.where(strength.tolerances < tolerances, strength.rivals, rivals)
        tolerances = np.fmin(tolerances, strength.tolerances)
    # Compared on the engine's scale, as the stopping rule does: rounding must not part the two.
    epsilon = float(engine.search["epsilon"][0])
    proved, exact = (question.settled(answer, tolerances, rivals, tolerance) for tolerance in (epsilon, 0.0))
    proving = np.where(np.isfinite(tolerances), rivals, -1)
    reasons = question.reasons(answer, engine.arms["average"], engine.arms["risk"], proving)
    dominators = np.where(exact, rivals, reasons)
    comparing = evidence.engine
    if the_bound(comparing.spec.bound).compares_pairs:
        proofs = compare_pairs(comparing, evidence.arms, answer, comparing.search)
        proved |= proofs != NOT_PROVED
        if comparing.search["epsilon"][0] > 0.0:
            strict = comparing.search.copy()
            strict["epsilon"] = 0.0
            exact |= question.exact_by_pairs(answer, compare_pairs(comparing, evidence.arms, answer, strict))
        else:
            exact |= proved
        dominators = np.where((proofs >= 0) & ~(tolerances < 0.0), proofs, dominators)
    if engine.is_complete:
        proved, exact, tolerances = np.ones(count, dtype=bool), ~engine.known.tied, np.minimum(tolerances, 0.0)
    accepted = engine.arms["accepted"]
    settled = engine.stopped == "confidence" and bool((accepted != 0).all())
    # An arm that was set aside was accepted without a proof, though its box may tell something by now.
    settled = settled and bool((engine.arms["gap"][accepted == 1] < math.inf).all())
    if settled and rule_of(engine.spec.policy).own_answer:
        # By the proof of the rule itself, from boxes of several moments; those of the last one may be wider.
        proved = np.ones(count, dtype=bool)
        exact |= engine.search["epsilon"][0] == 0.0
    below = np.nextafter(engine.spec.epsilon or 0.0, -math.inf)
    scaled = tolerances * engine.spec.span
    found = np.where(proved, np.minimum(scaled, below), scaled)
    return Findings(answer, found, proved, exact, dominators, proving, strength)


def compare_pairs(engine: Engine, arms: Table, answer: Mask, search: Table) -> NDArray[np.int64]:
    """What comparisons of two arms prove of each arm of an answer: see `prove` in core/comparisons.py."""
    proofs = np.empty(len(answer), dtype=np.int64)
    on_tables(make_prove(engine.spec))(arms, engine.memory, search, engine.problem, answer, proofs)
    return proofs


def infer(
    engine: Engine,
    stopped: Stopped | None = None,
    seed: int | None = None,
    truth: Truth | None = None,
    quality: TrialQuality | None = None,
) -> Result:
    """What a search has found, at this moment; `stopped` tells of an end that the engine does not know.

    `quality` tells of trials that gave no result, which the engine never hears of.
    """
    if isinstance(engine, OutcomeEngine):
        return infer_outcomes(engine, stopped, seed, quality)
    if not engine.ready and (engine.arms["pulls"] >= engine.spec.first_looks[0]).all():
        engine = looked_at_early(engine)
    spec, quality = engine.spec, quality or TrialQuality()
    reason = stopped or engine.stopped or "interrupted"
    trials = dict(zip(spec.names, engine.arms["pulls"].tolist(), strict=True))
    evidence = gather_evidence(engine)
    once = (ONCE,) if the_bound(evidence.bound).once else ()
    evidence = evidence._replace(conditions=(*quality.conditions(trials), *once))
    findings = certify(engine, evidence)
    if reason == "confidence" and not findings.proved.all():
        # Trials that were cut off leave it open, or another version found and stored the stop: what is not proved here
        # is not claimed.
        reason = "censored" if engine.arms["cut"].any() else "data"
    objections = objections_to(spec, engine.arms, evidence.misses, engine.alarms)
    front, safest = (
        tuple(name for name, inside in zip(spec.names, arms, strict=True) if inside)
        for arms in (findings.answer, safest_answer(engine, evidence.arms, findings.answer))
    )
    certified = None
    spread = observed_spread(engine)
    if math.isfinite(findings.tolerances.max()):
        certified = max(0.0, float(findings.tolerances.max()))
    said = certified
    if certified is not None and reason != "confidence" and says_nothing(spec, spread, certified):
        said = None
    reports = _reports(engine, evidence, findings)
    reports = with_statements(engine, findings.answer, findings.strength, findings.tolerances, reports, evidence.delta)
    guarantee = _guarantee(engine, reason, front, said, evidence, objections, reports)
    differences = differences_to_control(engine, evidence.arms, reports, front)
    no_worse = {row.name for row in differences if row.verdict == "not worse"}
    reports = tuple(replace(arm, word="not worse") if arm.name in no_worse else arm for arm in reports)
    unseen = unseen_chances(trials, evidence.delta) if evidence.rigour == APPROXIMATE else {}
    quality = replace(quality, drift=engine.alarms, unseen=unseen)
    vacuous = [vacuous_note(spec, engine.arms, "rewards", risk_label(spec))] if spec.question == PARETO else []
    details = Details(
        **asked_of(spec),
        stopped=reason,
        goal_reached=reason in ("confidence", "budget", "complete") or (reason == "spend" and spec.goal == "budget"),
        guarantee=guarantee,
        certified_epsilon=certified,
        certified_delta=None if certified is None else 0.0 if engine.is_complete else evidence.delta,
        certified_risk_epsilon=risk_tolerance(spec, certified),
        seed=seed,
        truth=truth,
        empty_answer=_nobody(engine, reason),
        differences=differences,
        notes=(
            *(() if reason == "open" else (*_notes(spec, spread), *filter(None, vacuous))),
            *_rare_note(engine, reason),
            *filter(None, [cut_off_trials(spec, engine.arms)]),
        ),
        spent=engine.spent,
        safest=safest,
        lines=spec.question.lines(wanted_of(spec, front), {arm.name: (arm.mean, arm.risk) for arm in reports}),
    )
    warnings = [objection.warning for objection in objections]
    return Result(
        arms=reports,
        answer=front,
        trials=engine.samples,
        details=details,
        objectives=objectives_of(spec),
        certified=_certified(engine, reason, said, evidence, guarantee),
        quality=quality,
        warnings=(*spec.warnings, *warnings, *warnings_of(spec, engine.arms), *quality.warnings(trials)),
    )


def _certified(
    engine: Engine, reason: Stopped, tolerance: float | None, evidence: Evidence, guarantee: str
) -> Certified | None:
    """What is proved of the answer, as plain data."""
    spec = engine.spec
    if tolerance is None:
        return None
    found = {each.text: tolerance for each in objectives_of(spec)}
    if len(found) > 1:
        found[objectives_of(spec)[1].text] = tolerance / spec.risk_weight
    factor = tolerance / spec.epsilon if spec.epsilon else (0.0 if tolerance == 0.0 else None)
    return certified_by(evidence.guarantee, found, factor, guarantee, evidence.conditions, exact=engine.is_complete)


def looked_at_early(engine: Engine) -> Engine:
    """The same search as if it had asked for no more initial pulls than evidence needs: what is known by now."""
    spec = replace(engine.spec, initial_trials=engine.spec.first_looks[0])
    looked = Engine.from_statistics(spec, engine.state, engine.sample, engine.drift_check)
    looked.elsewhere = engine.elsewhere
    looked.look(may_stop=False)
    return looked


def asked_of(spec: Spec) -> dict[str, Any]:
    """What a result says of what was asked, which is known before the first pull."""
    return {
        "goal": goal_of(spec),
        "risk": str(spec.risk),
        "risk_formula": spec.risk_formula,
        "risk_label": risk_label(spec),
        "rho": spec.rho,
        "alpha": spec.alpha,
        "noise": spec.assumption,
        "reward_range": spec.reward_range,
        "direction": spec.direction,
        "policy": spec.policy,
        "bound": str(spec.bound),
        "interval_bound": str(proving_bound(spec)),
        "rigour": rigour_of(spec),
        "estimand": estimand_of(proving_bound(spec)),
        "exploration": spec.exploration,
        "task": str(spec.question),
        "answer_name": spec.question.called,
        "sought": spec.question.sought(wanted_of(spec)),
        "control": getattr(spec.question, "control", None),
        "alarm": spec.drift,
        "extensions": spec.extensions,
        "about_risk": spec.question.about_risk,
    }


def _nobody(engine: Engine, reason: Stopped) -> str:
    """What an empty answer says, and how surely."""
    if not engine.ready:
        return "nothing yet"
    nobody, epsilon = engine.spec.question.nobody, engine.spec.epsilon
    if reason == "confidence" and epsilon and isinstance(engine.spec.question, BetterThan):
        return f"{nobody} by {round_up(epsilon)} or more"
    return nobody if reason in ("confidence", "complete") else f"{nobody}, by the estimates"


class Spread(NamedTuple):
    """How far apart the arms are by their estimates, in the user's units; infinite before all have some."""

    mean: float
    risk: float


def observed_spread(engine: Engine) -> Spread:
    """The largest differences between two arms in mean and in risk."""
    seen = PolicyState(engine.spec, engine.state)
    if not engine.ready:
        return Spread(math.inf, math.inf)
    return Spread(float(np.ptp(seen.mean)), float(np.ptp(seen.risk)))


def says_nothing(spec: Spec, spread: Spread, tolerance: float) -> bool:
    """Whether a tolerance is more than all differences, so that any answer is right by the estimates."""
    return tolerance > spread.mean and (not spec.question.about_risk or tolerance / spec.risk_weight > spread.risk)


def _notes(spec: Spec, spread: Spread) -> tuple[str, ...]:
    """That an objective, or both, decided nothing."""
    told: tuple[str, ...] = ()
    if spec.risk.dear and spec.rewards.ranged and spec.question.about_risk:
        told = (*told, spec.risk.dear)
    if spec.shares is not None:
        told = (
            *told,
            "delta is shared with arms that come later; what is said is about the arms there are now",
        )
    if not spec.epsilon:
        return told
    label = "scaled risk" if spec.risk_factor != 1.0 else risk_label(spec)
    found = [
        (f"epsilon {tolerance:.3g} is more than all differences in {name}, {round_up(seen)}")
        for name, tolerance, seen in (
            ("mean", spec.epsilon, spread.mean),
            (label, spec.epsilon / spec.risk_weight, spread.risk),
        )[: 2 if spec.question.about_risk else 1]
        if tolerance > seen
    ]
    if len(found) == (2 if spec.question.about_risk else 1):
        what = ", and ".join(found)
        return (*told, f"{what}: by these estimates any arm is an answer; a smaller epsilon says more")
    return (*told, *(f"{each}: that objective decided nothing" for each in found))


def _rare_note(engine: Engine, reason: Stopped) -> tuple[str, ...]:
    """How many trials the arms of the answer need for the rare events that are to be seen."""
    spec, lacking = engine.spec, engine.lacks_trials
    if spec.rare is None or reason == "open" or not lacking.any():
        return ()
    needed = math.ceil(float(engine.problem["rare_trials"][0]))
    names = list_names([name for name, lacks in zip(spec.names, lacking, strict=True) if lacks])
    return (f"rare={spec.rare:g} asks for {needed:,} trials of each arm of the answer: {names} had fewer",)


def level_of_intervals(spec: Spec) -> float:
    """The probability that any interval of any arm fails, of means and of risks: at most that, or approximately."""
    bound, delta = the_bound(proving_bound(spec)), DEFAULT_DELTA if spec.delta is None else spec.delta
    return delta * bound.sides / bound.sides_for(spec.question.about_risk)


def risk_label(spec: Spec) -> str:
    """What people call the risk."""
    label = spec.risk.label(spec.direction == "minimize")
    return f"{label} (normal model)" if spec.modelled else label


def rigour_of(spec: Spec) -> Rigour:
    """Whether what a search says of its arms is proved, or only approximate."""
    return the_bound(proving_bound(spec)).rigour


def proving_bound(spec: Spec) -> str | Bound:
    """The bound of the search, or after a budget the one that serves such rewards."""
    if spec.delta is not None:
        return spec.bound
    in_risk = spec.shares_seeds and spec.question.about_risk
    pairs = spec.question.compares_pairs and not (spec.shared or in_risk)
    seeds = spec.shares_seeds
    return usual_bound(spec.assumption, spec.risk.made_of, "confidence", pairs=pairs, seeds=seeds, collects=False)


def goal_of(spec: Spec) -> Goal:
    """What a specification asks for."""
    return Goal(spec.goal, spec.epsilon, spec.delta, spec.budget, spec.risk_epsilon, spec.epsilon_share, spec.spend)


def risk_tolerance(spec: Spec, tolerance: float | None) -> float | None:
    """The tolerance in risk that goes with one in the mean, where they differ or were given apart."""
    one_for_both = spec.risk_epsilon is None and spec.risk_weight == 1.0
    return None if tolerance is None or one_for_both else tolerance / spec.risk_weight


def _certificate(findings: Findings, arm: int) -> Certificate:
    """What is proved of an arm."""
    if findings.exact[arm]:
        return "in" if findings.answer[arm] else "out"
    return "within-epsilon" if findings.proved[arm] else "none"


def _reports(engine: Engine, evidence: Evidence, findings: Findings) -> tuple[ArmReport, ...]:
    """Every arm, in the user's units."""
    spec, ready = engine.spec, engine.ready
    seen = PolicyState(
        spec, engine.state._replace(arms=with_boxes(evidence.arms, engine.asked_all, evidence.engine.set_aside))
    )
    proved, returned, reason = findings.proved.tolist(), findings.answer.tolist(), findings.dominators.tolist()
    rivals, margins = findings.rivals.tolist(), _margins(engine, findings.answer)
    means, mean_lows, mean_highs = seen.mean.tolist(), seen.mean_low.tolist(), seen.mean_high.tolist()
    least, most = spec.risk.possible  # which bounds that do not narrow their boxes know nothing of
    risks = seen.risk.tolist()
    risk_lows, risk_highs = seen.risk_low.clip(least, most).tolist(), seen.risk_high.clip(least, most).tolist()
    pulls, variances = seen.pulls.tolist(), (evidence.arms["variance"] * spec.span**2).tolist()
    spending = engine.spending
    open_ended = not ready or spec.goal == "confidence"
    costs = spec.direction == "minimize"
    return tuple(
        ArmReport(
            name=name,
            verdict="open" if open_ended and not (ready and proved[arm]) else "in" if returned[arm] else "out",
            certified=proved[arm],
            beaten_by=None if returned[arm] or not ready or reason[arm] in (-1, arm) else spec.names[reason[arm]],
            trials=pulls[arm],
            mean=means[arm],
            mean_interval=(mean_lows[arm], mean_highs[arm]),
            risk=risks[arm],
            risk_interval=(risk_lows[arm], risk_highs[arm]),
            variance=variances[arm],
            # Nothing is in doubt of a control.
            doubt=float(findings.tolerances[arm]) if findings.tolerances[arm] > -math.inf else 0.0,
            certificate=_certificate(findings, arm),
            empirical_risk=_empirical_risk(engine, arm),
            std=math.sqrt(variances[arm]),
            risk_shown=spec.risk.shown(risks[arm], costs),
            risk_shown_interval=shown_interval(spec, risk_lows[arm], risk_highs[arm]),
            rival=None if rivals[arm] in (-1, arm) else spec.names[rivals[arm]],
            price=None if spending is None else engine.price_of(arm),
            spent=None if spending is None else float(spending[arm]),
            margin=margins[arm] if ready else None,
            cut_off=int(engine.arms["cut"][arm]),
        )
        for arm, name in enumerate(spec.names)
    )


def _margins(engine: Engine, answer: Mask) -> list[float]:
    """By how much estimates put arms inside an answer or outside; nothing could move a control."""
    means, risks = engine.arms["average"], engine.arms["risk"]
    found = -engine.question.tolerances(answer, Boxes(means, means, risks, risks))[0] * engine.spec.span
    return [margin + 0.0 if math.isfinite(margin) else 0.0 for margin in found.tolist()]


def shown_interval(spec: Spec, low: float, high: float) -> tuple[float, float]:
    """An interval of the risk as people are shown it, whose sign may be the other one."""
    costs = spec.direction == "minimize"
    first, second = spec.risk.shown(low, costs), spec.risk.shown(high, costs)
    return min(first, second), max(first, second)


def _empirical_risk(engine: Engine, arm: int) -> float | None:
    """Where the risk is a model's value: that of the rewards themselves, if all of them were kept."""
    rewards = engine.sample.of(arm) if engine.sample is not None else np.empty(0)
    if not len(rewards) or len(rewards) != engine.arms["pulls"][arm]:
        return None
    spec = engine.spec
    return spec.risk_factor * spec.oriented_risk.value_in(rewards if spec.direction == "maximize" else -rewards)


def _guarantee(
    engine: Engine,
    stopped: str,
    returned: Sequence[str],
    certified: float | None,
    evidence: Evidence,
    objections: Sequence[Objection],
    reports: Sequence[ArmReport],
) -> str:
    """What has been proved, in words, and whether the data speak against what that assumes."""
    spec, samples = engine.spec, engine.samples
    if engine.is_complete:
        claim = spec.question.claim(wanted_of(spec, returned))
        equals = list_names([name for name, tied in zip(spec.names, engine.known.tied, strict=True) if tied])
        ties = f" As good: {equals}." if equals else ""
        return f"Exact, since {asked_items(spec)} has been asked of every arm: {claim}{ties}"
    if stopped == "confidence":
        assert spec.epsilon is not None
        return claim_words(spec, returned, spec.epsilon, evidence, objections, proved=True)
    if stopped == "censored":
        return f"Undecided: {cut_off_trials(spec, engine.arms)}."
    if stopped == "constant":
        return f"Undecided: {equal_rewards(spec, engine.arms)}"
    none_left = f"there are no {'seeds' if spec.shares_seeds else 'items'} left, and {samples:,} trials"
    if stopped == "exhausted" and certified is None:
        return f"Undecided: {none_left} prove nothing of a larger world."
    if certified is None:
        guess = "the returned set is the best guess after" if stopped != "data" else "it is a best guess from"
        number = f"{samples:,} {'trials' if stopped != 'data' else 'rewards'}"
        if single := _single_arms(spec, reports):
            return (
                f"Of the answer as a whole nothing useful is known yet: {guess} {number}. Of single arms: "
                f"{assured(spec, single, evidence, objections, returned)}"
            )
        if stopped == "data":
            return f"The data prove nothing yet; what is returned is a best guess from {number}."
        return f"Nothing is proved yet; {guess} {number}."
    proved = all(arm.certificate == "in" for arm in reports if arm.name in returned)
    supported = claim_words(spec, returned, certified, evidence, objections, proved=proved)
    if stopped == "spend" and spec.goal == "confidence":
        return f"Undecided: the money, {spec.spend:g} in all, did not last until the goal. So far: {supported}"
    if stopped == "exhausted":
        return f"Undecided: {none_left} were not enough. So far: {supported}"
    if stopped == "cap":
        return f"Undecided: the limit of {spec.max_trials:,} trials came before the goal. So far: {supported}"
    if stopped == "data":
        return f"The data leave it undecided. So far: {supported}"
    if stopped == "open":
        return f"Not at its end yet. So far: {supported}"
    if stopped not in ("budget", "spend"):
        return f"Stopped before the goal. So far: {supported}"
    return f"{supported} (Bound {evidence.bound}, applied afterwards.) {_theorem(spec)}".rstrip()


def _single_arms(spec: Spec, reports: Sequence[ArmReport]) -> str:
    """How many arms are known to be in the answer, or out of it, though the answer as a whole is not."""
    control = getattr(spec.question, "control", None)
    words = {"in": "in the right answer", "out": "out of the right answer", "within-epsilon": "right within epsilon"}
    found = {key: sum(arm.certificate == key for arm in reports if arm.name != control) for key in words}
    parts = [f"{plural(found[key], 'arm')} {'is' if found[key] == 1 else 'are'} {words[key]}" for key in words]
    return ", ".join(part for part, count in zip(parts, found.values(), strict=True) if count) + (
        "." if any(found.values()) else ""
    )


def claim_words(
    spec: Spec,
    returned: Sequence[str],
    epsilon: float,
    evidence: Evidence,
    objections: Sequence[Objection],
    *,
    proved: bool = False,
) -> str:
    """The statement that holds up to epsilon; numbers are rounded so that it never says too much.

    `proved` says that the returned arms are proved to be in the right answer without a tolerance.
    """
    wanted = wanted_of(spec, returned, epsilon)._replace(proved=proved)
    return assured(spec, spec.question.claim(wanted), evidence, objections, returned)


def assured(
    spec: Spec, statement: str, evidence: Evidence, objections: Sequence[Objection], returned: Sequence[str]
) -> str:
    """A statement with its probability, under which assumption it holds, and what the data say against that."""
    remarks = []
    if evidence.rigour == APPROXIMATE:
        unseen = evidence.unseen(returned)
        remarks.append(f"{unseen[0].upper()}{unseen[1:]}.")
    if objections:
        remarks.append(f"But this assumption is in doubt: {'; '.join(objection.brief for objection in objections)}.")
    return evidence.guarantee.sentence(statement, evidence.conditions, remarks)


def wanted_of(spec: Spec, returned: Sequence[str] = (), epsilon: float = 0.0) -> Wanted:
    """What sentences about an answer speak of."""
    risk, costs = risk_label(spec) if spec.risk_factor == 1.0 else "scaled risk", spec.direction == "minimize"
    turned = spec.risk.shown(1.0, costs) < 0.0
    return Wanted(returned, epsilon, risk_tolerance(spec, epsilon), risk, costs, turned)


def _theorem(spec: Spec) -> str:
    """What Theorem 1 adds, which is about the set at the round of smallest doubt."""
    if spec.exploration is None:
        return ""
    assert spec.budget is not None
    if spec.extensions:
        return "The paper's Theorem 1 proves nothing of a budget that was extended."
    count = len(spec.names)
    chance = 4.0 * count * spec.budget * math.exp(-2.0 * spec.exploration)
    if not spec.rewards.ranged or spec.policy != "ramgape" or spec.epsilon is None or chance >= 1.0:
        return "The paper's Theorem 1 proves nothing here."
    # The theorem takes the risk to be estimated at least as well as the mean.
    if spec.rho is None or spec.risk_scale * (3.0 * spec.span + spec.rho) > 1.0 + 1e-9:
        return "The paper's Theorem 1 proves nothing for this scale of the risk."
    widest = the_bound(spec.bound).kernels.exploration("sharp", count, spec.budget, spec.epsilon / spec.span)
    if spec.exploration > widest or spec.returned != "smallest-doubt":
        return "The paper's Theorem 1 proves nothing of this set."
    return (
        f"By the paper's Theorem 1 its simple regret is {spec.epsilon:g} or more with probability at most {chance:.3g}."
    )
