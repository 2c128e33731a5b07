"""The answer in plain words: what to choose, how sure that is, and where the other options stand.

The guarantee covers the answer. Which arm of it is the best in one objective is what the estimates say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import cut, plural, round_up
from ramgape.errors import printable
from ramgape.views.content import ROWS

if TYPE_CHECKING:
    from ramgape.search.result import ArmObjective, ArmReport, ControlDifference, Result

NAME_WIDTH = 40
NAMES = 5  # in a sentence; of more a number is told
IN_DOUBT = "But this assumption is in doubt"  # what a guarantee says then
DOUBT = "But the data speak against what that assumes."
LEAST_P = 0.003  # printed of rewards of which nothing is assumed


def answer_sentence(result: Result) -> str:
    """The decision, and how sure it is."""
    details = result.details
    if not result.answer and details.empty_answer == "nothing yet":
        return _too_early(result)
    if details.said:
        text = details.said
    elif details.control is not None and details.sought.startswith("the arms with "):
        text = _against_control(result)
    elif not result.answer:
        text = _none(result)
    elif result.question == "pareto":
        text = _trade_offs(result)
    else:
        text = _chosen(result)
    safest = f" Safest choice so far: {name_list(details.safest)}." if details.safest else ""
    return f"{text}{safest}{doubts(result)}"


def counts_sentence(result: Result) -> str:
    """How many trials there were, and how the options outside the answer stand."""
    details, count = result.details, len(result.arms)
    early = result.stopped in ("interrupted", "error", "callback")
    begun = f"{'Stopped after ' if early else ''}{plural(result.trials, 'trial')}"
    text = f"{begun} of {plural(count, 'option')}"
    groups: dict[str, list[str]] = {}
    for arm in choose_order(result):
        outside = arm.name not in result.answer or details.control is not None
        if outside and arm.name != details.control and arm.word not in ("best", "keep"):
            groups.setdefault(arm.word, []).append(arm.name)
    parts: list[str] = []
    for word in sorted(groups, key=lambda word: (word not in ORDER, word in ORDER and ORDER.index(word))):
        names = groups[word]
        if word.startswith(("misses ", "may ")):
            several = f"{len(names):,} {word.replace('misses', 'miss')}"
            parts.append(f"{one_name(names[0])} {word}" if len(names) == 1 else several)
        elif word and len(names) == 1:
            parts.append(f"{one_name(names[0])} is {word}")
        elif word:
            parts.append(f"{len(names):,} {'are ' if not any(' are ' in each for each in parts) else ''}{word}")
    supported = _support_words(result)
    return f"{text}{': ' if parts else ''}{', '.join(parts)}.{supported}"


def _too_early(result: Result) -> str:
    """Before every arm has the trials that evidence needs."""
    if not result.trials:
        return "Nothing is known yet: there are no trials."
    arms = choose_order(result)
    if any(not arm.trials for arm in arms):
        return "Nothing is known yet: not every option has had its first trials."
    if result.question.partition(":")[0] == "best":
        return f"So far {one_name(arms[0].name)} leads; nothing is proved. There are too few trials for a proof."
    return "Nothing is proved: there are too few trials."


ORDER = ("better", "not worse", "not better", "behind", "beaten", "likely behind", "likely beaten", "close", "open")


def _support_words(result: Result) -> str:
    """How often resamples say the same, where nothing is proved."""
    if result.status == "certified" or all(arm.support is None for arm in result.arms):
        return ""
    return " Percentages are no guarantee."


def choose_order(result: Result) -> list[ArmReport]:
    """The arms: those of the answer first, the best mean first; then a control; then the others, the nearest first."""
    details, returned = result.details, set(result.answer)
    side = -1.0 if details.direction == "minimize" else 1.0

    def place(arm: ArmReport) -> tuple[float, ...]:
        mean = math.inf if math.isnan(arm.mean) else -side * arm.mean
        if arm.name == details.control:
            return (-1.0,)
        if arm.name in returned:
            return 0.0, mean
        number = decisive(result, arm)
        if number is not None and number.behind is not None and result.question != "pareto":
            return 2.0, number.behind.estimate
        if arm.margin is not None:
            return 2.0, arm.margin
        if not returned:
            return 2.0, mean
        return 3.0, float(arm.verdict != "open"), mean

    return sorted(result.arms, key=place)


def choose_arms(result: Result, limit: int | None = ROWS) -> tuple[list[ArmReport], list[ArmReport]]:
    """The arms worth a row, at most `limit`, those of the answer first; and the rest."""
    arms = choose_order(result)
    return (arms, []) if limit is None or len(arms) <= limit else (arms[:limit], arms[limit:])


def decisive(result: Result, arm: ArmReport) -> ArmObjective | None:
    """An arm's number in the objective that the answer goes by; of several the first."""
    numbers = list(arm.objectives.values())
    return numbers[decisive_place(result)] if numbers else None


def decisive_place(result: Result) -> int:
    """Which objective the answer goes by; of several the first."""
    return 1 if result.question.startswith("least-risk") and len(result.objectives) > 1 else 0


# ------------------------------------------------------------------------------------ the answer


def is_claimed(result: Result) -> bool:
    """Whether more than estimates speak for all of the answer."""
    return result.status == "certified"


def _lead(result: Result) -> str:
    """How the answer is meant."""
    if is_claimed(result):
        return "Choose "
    return "So far: " if result.stopped == "open" else "Best guess: "


def _chosen(result: Result) -> str:
    """One arm, or the m best."""
    what = result.sought or result.answer_name
    names, one = name_list(result.answer), len(result.answer) == 1
    what = what.removeprefix("the arm with ").replace("arms", "options")
    has = "It has" if one else "They are"
    ties = [arm.name for arm in result.arms if arm.name not in result.answer and arm.margin == 0.0]
    equal = f" {name_list(ties)} measured the same." if ties else ""
    if result.stopped == "complete":
        return f"Choose {names}. {has} {what}. This is exact: every item was asked of every option.{equal}"
    found = stated_tolerance(result)
    if found is None:
        if is_claimed(result) or result.stopped == "open" or result.goal.kind == "budget":
            return f"{_lead(result)}{names}, by the estimates {what}. Nothing is proved yet.{equal}"
        return f"{_lead(result)}{names} leads; nothing is proved.{equal}"
    of, alike = "it" if one else "them", _all_alike(result, found)
    within = f", or {'is' if one else 'are'} {tolerance_words(result, *found)} of {of}" if found[0] else ""
    if within and " of those whose " in what:
        within = f", {tolerance_words(result, *found)}"
    return f"{_lead(result)}{names}. {has} {what}{within} {sure(result)}{_asked(result, found)}{alike}.{equal}"


def _asked(result: Result, found: tuple[float, float | None]) -> str:
    """What was asked for, where less is proved."""
    epsilon = result.goal.epsilon
    if is_claimed(result) or not epsilon or result.goal.kind == "budget" or found[0] < epsilon:
        return ""
    return f"; {tolerance_words(result, epsilon, result.goal.risk_epsilon)} was asked for"


def _none(result: Result) -> str:
    """An answer of no arm, which is one, too."""
    word = result.empty_answer.removesuffix(", by the estimates")
    _, limited, limit = result.sought.partition(" of those whose ")
    why = f": there is none whose {limit}" if limited else ""
    if not is_claimed(result):
        return f"By the estimates {word}{why}. Nothing is proved yet."
    return f"{word[0].upper()}{word[1:]}{why} {sure(result)}."


def _against_control(result: Result) -> str:
    """Who is better than a control, who is not, and of whom nothing is proved."""
    control, what = one_name(result.control or ""), result.sought.removeprefix("the arms with ")
    plain = not result.about_risk and "margin=" not in result.question
    words: dict[str, list[str]] = {}
    for arm in result.arms:
        words.setdefault(arm.word, []).append(arm.name)
    better = words.get("better", [])
    found = stated_tolerance(result)
    by_more = f" by {round_up(found[0], 2)} or more" if found is not None and found[0] and is_claimed(result) else ""
    if better:
        verb = ("beats" if len(better) == 1 else "beat") if plain else ("has" if len(better) == 1 else "have")
        text = f"{name_list(better)} {verb} {control if plain else what}{_change(result, better)} {sure(result)}."
    elif is_claimed(result):
        return f"Keep {control}: no option has {what}{by_more} {sure(result)}."
    else:
        seems = [name for name in result.answer if name != result.control]
        lead = "So far" if result.stopped == "open" else "Best guess"
        guess = f"{name_list(seems)} may have {what}" if seems else f"keep {control}"
        text = f"{lead}: {guess}. Nothing is proved yet."
    if words.get("not better"):
        text += f" Not better{by_more}: {name_list(words['not better'])}."
    if words.get("not worse"):
        text += f" Not worse: {name_list(words['not worse'])}."
    if words.get("open") and better:
        text += f" No verdict yet on {name_list(words['open'])}."
    return text


def _change(result: Result, better: Sequence[str]) -> str:
    """By how much one arm is better, with its interval."""
    row = next((row for row in result.differences if row.name == better[0]), None)
    if len(better) != 1 or row is None:
        return ""
    value, (low, high), unit = change_of(result, row)
    ends = f" (95% interval {signed(low, unit)} to {signed(high, unit)})" if math.isfinite(low + high) else ""
    p = result.arm(better[0]).p
    return f": {signed(value, unit)}{ends}{'' if p is None else f', {p_words(result, p)}'}"


def change_of(result: Result, row: ControlDifference) -> tuple[float, tuple[float, float], str]:
    """A difference to a control: in per cent where that is known, else in the units of the reward."""
    if math.isfinite(row.percent + row.percent_interval[0] + row.percent_interval[1]):
        return row.percent, row.percent_interval, "%"
    numbers = list(result.arm(row.name).objectives.values())
    behind = numbers[0].behind if numbers else None
    if behind is None:
        return row.mean, row.mean_interval, ""
    costs = result.details.direction == "minimize"
    return row.mean, (behind.low, behind.high) if costs else (-behind.high, -behind.low), ""


def signed(value: float, unit: str = "") -> str:
    """A difference with its sign.

    >>> signed(22.43, "%"), signed(-0.01234)
    ('+22.4%', '-0.0123')
    """
    return f"{value:+.3g}{unit}"


def _trade_offs(result: Result) -> str:
    """Which arms of a Pareto set are best in what, which are between, and which to drop."""
    returned = set(result.answer)
    seen = [arm for arm in result.arms if arm.name in returned and math.isfinite(arm.mean) and math.isfinite(arm.risk)]
    if not seen:
        return f"{_lead(result)}{name_list(result.answer)}."
    side = -1.0 if result.direction == "minimize" else 1.0
    best = max(seen, key=lambda arm: (side * arm.mean, -arm.risk))
    safest = min(seen, key=lambda arm: (arm.risk, -side * arm.mean))
    high, low = extreme_words(result)
    rest = [arm.name for arm in sorted(seen, key=lambda arm: -side * arm.mean) if arm not in (best, safest)]
    if best is safest:
        kept = f"{one_name(best.name)} ({high} and {low})"
    else:
        kept = f"{one_name(best.name)} ({high})"
        between = f", {name_list(rest)} (in between)" if rest else ""
        kept += f"{between} and {one_name(safest.name)} ({low})"
    if best is safest and rest:
        kept += f" and {name_list(rest)} (about as good)"
    lead = "Keep " if is_claimed(result) else _lead(result)
    text = f"{lead}{kept}{_dropped(result)}."
    found = stated_tolerance(result)
    if result.stopped == "complete":
        return f"{text} This is exact: every item was asked of every option."
    if found is None:
        return f"{text} Nothing is proved yet."
    close = tolerance_words(result, *found)
    right = "This is right" if close == "exactly" else f"This is right {close}"
    return f"{text} {right} {sure(result)}{_asked(result, found)}{_all_alike(result, found)}."


def _all_alike(result: Result, found: tuple[float, float | None]) -> str:
    """That a tolerance is more than all differences, so that any option is an answer."""
    in_risk = found[0] if found[1] is None else found[1]
    alike = found[0] > result.spread[0] and in_risk > result.spread[1] and result.control is None
    return ", but all options are as close as that" if alike else ""


def extreme_words(result: Result) -> tuple[str, str]:
    """What the best mean and the best risk are called."""
    turned = len(result.objectives) > 1 and result.objectives[1].direction == "maximize"
    mean = "lowest" if result.details.direction == "minimize" else "highest"
    return f"{mean} measured mean", f"{'highest' if turned else 'lowest'} measured {short_risk(result)}"


def short_risk(result: Result) -> str:
    """What a risk is called where there is little room: "std", "worst 20%"."""
    details = result.details
    if details.risk == "std":
        return "std"
    if details.risk.startswith("mean-variance"):
        return "risk"
    return details.risk_label.replace("average of the ", "").replace(" %", "%")


def _dropped(result: Result) -> str:
    """Which options are left out."""
    others = [arm.name for arm in choose_order(result) if arm.name not in result.answer]
    if not others:
        return ""
    verb = "drop" if is_claimed(result) else "behind so far:"
    return f"; {verb} {name_list(others)}" if len(others) <= 4 else f"; {verb} the other {len(others):,}"


# --------------------------------------------------------------------------------- how sure it is


def sure(result: Result) -> str:
    """How sure a statement is, in brackets; nearly so where the guarantee is asymptotic."""
    delta = result.certified_delta
    delta = (result.goal.delta if result.stopped == "confidence" else delta) if delta is None else delta
    level = math.floor(1e4 * (1.0 - (delta or 0.05)) + 1e-6) / 100.0
    about = f", about {result.estimand}" if result.estimand else ""
    return f"({'about ' if result.rigour == 'approximate' else ''}{level:g}% sure{about})"


def doubts(result: Result) -> str:
    """That the data speak against what was said, if they do."""
    in_doubt = result.quality.drift or IN_DOUBT in result.guarantee
    if not in_doubt or result.stopped == "complete" or stated_tolerance(result) is None:
        return ""
    return f" {DOUBT}"


def unseen_sentence(result: Result) -> str:
    """What may have gone unseen in the arm of the answer with the fewest trials, of rewards of any kind."""
    unseen = result.quality.unseen
    names = [name for name in result.answer if name in unseen] or list(unseen)
    if not names:
        return ""
    name = max(names, key=lambda each: unseen[each])
    most = round_up(100.0 * unseen[name], 2)
    return (
        f"Approximate: in the {result.arm(name).trials:,} trials of {one_name(name)}, an event with a chance of up to "
        f"{most}% may have gone unseen."
    )


def stated_tolerance(result: Result) -> tuple[float, float | None] | None:
    """Up to what the answer is right, in mean and, where that differs, in risk; None where nothing useful is proved."""
    if result.stopped == "complete":
        return 0.0, None
    if result.certified_epsilon is None or not result.is_informative:
        return None
    return result.certified_epsilon, result.certified_risk_epsilon


def tolerance_words(result: Result, in_mean: float, in_risk: float | None) -> str:
    """A tolerance in words."""
    if not result.about_risk:
        return f"within {round_up(in_mean, 2)}" if in_mean else "exactly"
    if result.question.startswith("least-risk"):
        in_mean = in_mean if in_risk is None else in_risk
        return f"within {round_up(in_mean, 2)}" if in_mean else "exactly"
    if in_risk is None:
        return f"within {round_up(in_mean, 2)}" if in_mean else "exactly"
    return f"within {round_up(in_mean, 2)} in mean and {round_up(in_risk, 2)} in {short_risk(result)}"


def p_words(result: Result, p: float) -> str:
    """A p-value: two digits, rounded up; never less than is meant.

    Nothing is said below 0.003 where nothing is assumed of rewards.
    """
    least = LEAST_P if result.rigour == "approximate" else 0.001
    if p < least:
        return f"p < {least:g}"
    return f"p = {round_up(p, 2)}"


# ------------------------------------------------------------------------------------------ names


def one_name(name: str) -> str:
    """An arm in a sentence."""
    return cut(printable(name), NAME_WIDTH)


def name_list(names: Sequence[str]) -> str:
    """Arms in a sentence.

    >>> name_list(["A"]), name_list(["A", "B", "C"]), name_list("ABCDEFGH")
    ('A', 'A, B and C', 'A, B, C, D, E and 3 more')
    """
    shown = [one_name(name) for name in names[:NAMES]]
    if len(names) > NAMES:
        shown.append(f"{len(names) - NAMES:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
