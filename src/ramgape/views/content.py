"""What is worth saying of a result: a headline, the facts behind it, and the arms worth a row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from functools import partial
from typing import TYPE_CHECKING

from ramgape.assumptions import ASSUMPTIONS
from ramgape.bounds import BOUNDS, ONE_LOOK
from ramgape.bounds.guarantee import APPROXIMATE
from ramgape.common.formatting import NAMES_IN_HEADLINE, confidence, cut, list_counts, list_names, plural, round_up
from ramgape.errors import printable
from ramgape.search.quality import KINDS

if TYPE_CHECKING:
    from ramgape.search.quality import Alarm
    from ramgape.search.result import ArmReport, Goal, Result

ROWS = 50  # a longer table is scrolled past, not read


def least_word(exact: bool | None) -> str:
    """What to call the number of samples that `lower_bound` computes: a bound only where it is one."""
    return "lower bound" if exact else "reference"


def is_approximate(bound: str) -> bool:
    """Whether intervals of this bound hold only nearly as often as they state."""
    return bound in BOUNDS and BOUNDS[bound].rigour == APPROXIMATE


def bound_words(bound: str) -> str:
    """A bound, and that it is approximate if it is."""
    return f"{bound} (approximate)" if is_approximate(bound) else bound


def answer_word(task: str) -> str:
    """What to call the answer in a sentence about many."""
    return "Pareto set" if task == "pareto" else "answer"


def true_words(task: str) -> str:
    """What the right answer is called: where there is one word for it, that."""
    return "Pareto set" if task == "pareto" else "right answer"


def headline(result: Result) -> str:
    """What was found, in a line with the names of the returned arms; if no arm was, what that says."""
    counts = f"{len(result.answer):,} of {plural(len(result.arms), 'arm')}"
    word = result.answer_name if result.answer or result.empty_answer == "nothing yet" else result.empty_answer
    named = f": {list_names(result.answer) or result.empty_answer}" if word == result.answer_name else ""
    return f"{word[:1].upper()}{word[1:]}{named} ({counts}), after {plural(result.trials, 'trial')}"


def certified_words(result: Result) -> str:
    """Up to which tolerance the answer is right, and how surely; for a result of which that is known."""
    if result.stopped == "complete":
        return "exactly, with nothing left to chance"
    within, in_risk = round_up(result.certified_epsilon or 0.0), result.certified_risk_epsilon
    apart = "" if in_risk is None else f" in mean and {round_up(in_risk)} in risk"
    how = "approximately with" if result.rigour == "approximate" else "with"
    chance = (
        ""
        if result.certified_delta is None
        else f", {how} probability {1.0 - float(round_up(result.certified_delta)):.6g}"
    )
    return f"{'exactly' if within == '0' else f'within {within}{apart}'}{chance}"


def facts(
    result: Result, notes: Sequence[tuple[str, str]] = (), first: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """What stands behind the headline, as pairs of a word and its explanation; `notes` and `first` are further ones."""
    drift = [("Drift", alarm_words(result))] if result.quality.drift else []
    lines = [*first, *drift, ("Guarantee", result.guarantee)]
    if result.is_informative:
        lines.append(("Certified", _certified(result)))
    if result.certified is not None:
        lines.append(("Jointly", jointly(result)))
    lines.append(("Intervals", TOGETHER) if result.bound in ONE_LOOK else ("Singly", SINGLY))
    quality = quality_words(result)
    if quality:
        lines.append(("Data", quality))
    lines += notes
    if result.spent is not None:
        lines.append(("Spent", spending_words(result)))
    lines += [("Stopped", _ending(result)), ("Question", _objectives(result)), ("Method", _method(result))]
    if result.extensions:
        lines.append(("Extended", extension_words(result)))
    if result.truth is not None:
        lines.append(("Truth", _truth(result)))
    lines += [("Note", note) for note in result.notes]
    return [(word, printable(text)) for word, text in lines]


SINGLY = (
    "each 95% interval and each p-value holds by itself, at any time, also if the search stopped because of it; "
    "several of them need not hold together"
)


TOGETHER = (
    "the 95% intervals of differences hold together, for one look at trials whose number was fixed beforehand; each "
    "p-value holds by itself, for that look"
)


def jointly(result: Result) -> str:
    """Which statements hold together with the answer."""
    parts = ["the guarantee", "the confidence regions of all options, which `intervals('all')` has"]
    numbers = [number for arm in result.arms for number in arm.objectives.values()]
    if result.question != "pareto" and any(math.isfinite(number.at_most_behind) for number in numbers):
        parts.insert(1, "for every option by how much it is behind the best at most (`at_most_behind`)")
    delta = result.certified_delta or 0.0
    return f"with probability {confidence(delta)} all of these hold: {'; '.join(parts)}"


def quality_words(result: Result) -> str:
    """Failures, timeouts, missing outcomes and drift, and what is assumed because of them; empty without any."""
    quality, parts = result.quality, []
    for kind, words in KINDS.items():
        counts = getattr(quality, kind)
        if counts:
            parts.append(f"{words}: {list_counts(counts)}")
    for arm, outcomes in quality.missing.items():
        parts.append(f"missing for {cut(printable(arm), 40)}, counted as the worst: {list_counts(outcomes)}")
    if quality.drift:
        parts.append(f"drift: {list_names([f'{each.arm} ({each.kind})' for each in quality.drift])}")
    assumed = result.conditions
    if quality.drift and result.certified is not None:
        assumed = [*assumed, "the drift is a false alarm"]
    if assumed:
        parts.append(f"the guarantee assumes that {', and that '.join(assumed)}")
    return "; ".join(parts)


def spending_words(result: Result) -> str:
    """What pulls have cost, in all and of each arm."""
    assert result.spent is not None
    limit = "" if result.goal.spend is None else f" of {result.goal.spend:,.6g}"
    arms = sorted(result.arms, key=lambda arm: -(arm.spent or 0.0))[:NAMES_IN_HEADLINE]
    parts = [f"{cut(printable(arm.name), 40)} {arm.spent or 0.0:,.6g}" for arm in result.arms if arm in arms]
    return f"{result.spent:,.6g}{limit}: {', '.join(parts)}{', ...' if len(result.arms) > len(arms) else ''}"


def extension_words(result: Result) -> str:
    """From what, and after how many trials, a study was to go on for more."""
    parts = []
    for each in result.extensions:
        goal = wanted(each.epsilon, each.risk_epsilon, each.epsilon_share)
        before = goal if each.budget is None else f"a budget of {each.budget:,}"
        if each.spend is not None:
            before = f"{each.spend:g} to spend"
        reached = "reached" if each.done else "not reached yet"
        parts.append(f"after {plural(each.told, 'trial')}, on {each.extended_at[:10]}, from {before} ({reached})")
    return f"to go on for more, {'; '.join(parts)}"


SIGNS = {
    "level": "their level moved",
    "spread": "their spread changed",
    "memory": "each has to do with the one before",
    "clusters": "large and small deviations come in clusters",
}


def alarm_words(result: Result) -> str:
    """Which rewards are not what every proof assumes, and how sure that is."""
    signs = list(map(partial(_signs, result.alarms), dict.fromkeys(alarm.kind for alarm in result.alarms)))
    count = len(result.alarms)
    names = cut(printable(result.alarms[0].arm), 80) if count == 1 else f"{count:,} of {len(result.arms):,} arms"
    level = "" if result.alarm is None else f" with probability at most {round_up(result.alarm)}"
    claimed = "said to be proved" if result.rigour == "proved" else "claimed"
    return (
        f"the rewards of {names} are not independent draws from one distribution ({'; '.join(signs)}). "
        f"If all were, such an alarm would come{level}. What is {claimed} rests on that assumption."
    )


def _signs(alarms: Sequence[Alarm], kind: str) -> str:
    """What gave some arms away, who they are unless it is the only one, and the least evidence against one of them."""
    alike = [alarm for alarm in alarms if alarm.kind == kind]
    who = f": {list_names([alarm.arm for alarm in alike])}" if len(alarms) > 1 else ""
    least = "" if len(alike) == 1 else "at least "
    return f"{SIGNS[kind]}{who}; evidence {least}{odds(min(alarm.evidence for alarm in alike))} to 1"


def odds(evidence: float) -> str:
    """A large number, never more than it is.

    >>> odds(1240.7), odds(3.27e9), odds(250.0)
    ('1,240', '3.2e+9', '250')
    """
    if evidence < 1e9:
        return f"{math.floor(evidence):,}"
    with localcontext(prec=2, rounding=ROUND_FLOOR):
        return f"{+Decimal(evidence):.1e}"


def _certified(result: Result) -> str:
    """The tolerance and its chance of failure, and how many arms are proved beyond any tolerance."""
    assert result.certified_epsilon is not None
    tolerance = round_up(result.certified_epsilon)
    if result.details.said and result.certified is not None:
        allowed = [f"{text} {round_up(by)}" for text, by in result.certified.tolerance.items()]
        tolerance = f"{tolerance} times the requested ones ({', '.join(allowed)})"
    if result.certified_risk_epsilon is not None:
        tolerance = f"({tolerance}, {round_up(result.certified_risk_epsilon)})"
    level = "" if result.certified_delta is None else f", confidence {confidence(result.certified_delta)}"
    certificates: Counter[str] = Counter(arm.certificate for arm in result.arms if arm.name != result.control)
    how = "approximately" if result.rigour == "approximate" else "proved"
    words = {"in": f"{how} in", "out": f"{how} out", "within-epsilon": "within the tolerance", "none": "not proved"}
    counts = ", ".join(f"{certificates[key]:,} {text}" for key, text in words.items() if certificates[key])
    first = "approximate: " if result.rigour == "approximate" else ""
    if result.stopped == "complete":
        return f"exact, nothing is left to chance; arms: {counts}"
    return f"{first}tolerance {tolerance}{level}; arms: {counts}"


ENDINGS = {
    "confidence": "goal reached",
    "budget": "the budget was used up",
    "spend": "there is no money for another trial",
    "cap": "max_trials was reached",
    "complete": "every item was asked of every arm",
    "exhausted": "there are no items left",
    "constant": "nothing can be said of an arm whose rewards are all equal",
    "censored": "trials that were cut off keep the answer open",
    "interrupted": "interrupted",
    "error": "an error ended it",
    "callback": "a callback ended it",
    "data": "the data leave it undecided",
    "open": "not yet",
}


def _ending(result: Result) -> str:
    goal = result.goal
    asked = asked_of(result)
    reached = "; goal reached" if result.goal_reached else "; goal not reached"
    reached = "" if result.stopped == "confidence" else reached
    ending = f"{ENDINGS[result.stopped]}{reached}" + (f" ({asked})" if asked else "")
    if goal.epsilon_share is None:
        return ending
    whole = "the smallest absolute mean after the first looks" if result.reward_range is None else "the reward range"
    return f"{ending}; epsilon is {100.0 * goal.epsilon_share:g}% of {whole}"


def asked_of(result: Result) -> str:
    """The numbers of a result's goal; of several outcomes a tolerance for each."""
    if not result.details.said or result.goal.epsilon is None:
        return asked_for(result.goal)
    found = {each.text: each.epsilon for each in result.objectives}
    found |= {each.text: each.epsilon for each in result.constraints}
    tolerances = ", ".join(f"{text} {by:g}" for text, by in found.items() if by)
    rest = asked_for(replace(result.goal, epsilon=None))
    return f"tolerances {tolerances}; {rest}" if tolerances else rest


def asked_for(goal: Goal) -> str:
    """The numbers of a goal; a tolerance that is a share of unknown means as that share.

    >>> from ramgape.search.result import Goal
    >>> asked_for(Goal("confidence", None, 0.05, None, epsilon_share=0.1))
    'epsilon=10%, delta=0.05'
    """
    names = {"epsilon": goal.epsilon, "risk epsilon": goal.risk_epsilon, "delta": goal.delta, "budget": goal.budget}
    names["spend"] = goal.spend
    numbers = [f"{name}={value:,.6g}" for name, value in names.items() if value is not None]
    is_open = goal.epsilon is None and goal.epsilon_share is not None
    return ", ".join([f"epsilon={100.0 * (goal.epsilon_share or 0.0):g}%", *numbers] if is_open else numbers)


def wanted(
    epsilon: float | None, risk_epsilon: float | None = None, share: float | None = None, task: str = "pareto"
) -> str:
    """What a tolerance asks for.

    >>> wanted(0.02), wanted(0.01, 0.005), wanted(0.0)
    ('an answer within 0.02', 'an answer within 0.01 in mean and 0.005 in risk', 'the exact Pareto set')
    >>> wanted(0.02, task="best"), wanted(0.0, task="best")
    ('an answer to best within 0.02', 'the exact answer to best')
    >>> wanted(None, share=0.05)
    'an answer within 5% of the smallest absolute mean after the first looks'
    """
    answer = "answer" if task == "pareto" else f"answer to {printable(task)}"
    if epsilon is None and share is not None:
        return f"an {answer} within {100.0 * share:g}% of the smallest absolute mean after the first looks"
    if epsilon is None:
        return f"an {answer} within the tolerances"  # of several outcomes
    if not epsilon:
        return f"the exact {'Pareto set' if task == 'pareto' else answer}"
    apart = "" if risk_epsilon is None else f" in mean and {risk_epsilon:g} in risk"
    return f"an {answer} within {epsilon:g}{apart}"


def _objectives(result: Result) -> str:
    if result.details.said:
        return result.details.sought
    if result.sought:
        scaled = result.alpha not in (None, 1.0) and result.about_risk
        factor = f"; scaled risk = {result.alpha:.4g} ({result.risk_formula})" if scaled else ""
        return f"{result.sought}{factor}"
    mean = "low" if result.direction == "minimize" else "high"
    if result.alpha in (None, 1.0):
        return f"{mean} mean and {'high' if is_turned(result.arms) else 'low'} {result.risk_label}"
    return f"{mean} mean and low risk, risk = alpha ({result.risk_formula}), alpha={result.alpha:.4g}"


def shows_plane(result: Result) -> bool:
    """Whether the picture of a result is two objectives against each other; else it has a row for each arm."""
    trade_off = len(result.objectives) == 2 and not result.constraints and result.control is None
    return trade_off and result.question.partition(":")[0] not in ("top", "cheapest")


def risk_axis(result: Result) -> str | None:
    """What stands at the axis of a risk; None for the mean-variance, which has its own letters."""
    if result.risk.startswith("mean-variance"):
        return None
    label = result.details.risk_label
    return label[0].upper() + label[1:]


def risk_heading(risk: str, alpha: float | None, label: str) -> str:
    """What stands above a column of risks."""
    return "std" if risk == "std" else "scaled risk" if alpha not in (None, 1.0) else label


def is_turned(arms: Sequence[ArmReport]) -> bool:
    """Whether people are shown risks with the other sign, more being better."""
    return any(arm.risk_shown == -arm.risk != 0.0 for arm in arms)


def _method(result: Result) -> str:
    parts = [f"policy {result.policy}", f"bound {bound_words(result.bound)}"]
    if result.interval_bound != result.bound:
        parts.append(f"intervals by {bound_words(result.interval_bound)}")
    if result.reward_range is not None:
        parts.append(f"rewards in [{result.reward_range[0]:g}, {result.reward_range[1]:g}]")
    words = "" if result.noise not in ASSUMPTIONS else ASSUMPTIONS[result.noise].words
    if words:
        parts.append(words)
    if result.exploration is not None:
        parts.append(f"exploration {result.exploration:.4g}")
    if result.seed is not None:
        parts.append(f"seed {result.seed}")
    return ", ".join(parts)


def _truth(result: Result) -> str:
    assert result.truth is not None
    word = answer_word(result.task)
    if result.truth.exact:
        return f"the answer is exactly the true {'one' if word == 'answer' else word}"
    verdict = "correct up to epsilon" if result.truth.eps_correct else "wrong by more than epsilon"
    regret = "" if math.isnan(result.truth.regret) else f", simple regret {round_up(result.truth.regret)}"
    return f"{verdict}{regret}; the true {word} is {list_names(result.truth.front) or 'that no arm is one'}"
