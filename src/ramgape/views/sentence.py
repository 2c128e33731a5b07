"""The answer in plain words: what to choose, for what, and how sure that is.

What the guarantee covers is said as it is. Which returned arm is the best in one objective it does not cover: where the
intervals leave that open, it is "measured".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import confidence, cut, round_up, unseen_words
from ramgape.errors import printable
from ramgape.views.content import is_turned, risk_heading

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, Result

NAME_WIDTH = 40
NAMES, LINE = 5, 80  # in a sentence; of more names, or longer ones, a number is told
CHOOSE = "Choose "
IN_DOUBT = "But this assumption is in doubt"  # what a guarantee says then
DOUBT = "But the data speak against what that assumes."
CLAIMED = ("confidence", "complete")  # ends at which the answer is what was asked for


def answer_sentence(result: Result) -> str:
    """All of it: one sentence on the answer, one on how sure it is."""
    if not result.answer and result.empty_answer == "nothing yet":
        begun = "not every arm has had its first trials" if result.trials else "there are no trials"
        return f"Nothing can be said yet: {begun}."
    safest = f" Safest choice so far: {name_list(result.safest)}." if result.safest else ""
    return f"{_some(result) if result.answer else _none(result)}. {assurance(result)}{safest}"


# ------------------------------------------------------------------------------------ the answer


def is_claimed(result: Result) -> bool:
    """Whether more than estimates speak for all of the answer."""
    return result.stopped in CLAIMED or (result.goal_reached and result.is_informative)


def _lead(result: Result) -> str:
    """How the answer is meant."""
    if is_claimed(result):
        return CHOOSE
    return "So far: " if result.stopped == "open" else "Best guess: "


def _some(result: Result) -> str:
    """An answer of some arms."""
    names, question = name_list(result.answer), result.question
    if result.control is not None and question.startswith("the arms with "):
        return _better(result, question[14:])
    if question.startswith("the arm with "):
        return f"{_lead(result)}{names} for {question[13:]}{_ties(result)}"
    if question or result.task != "pareto":
        return f"{_lead(result)}{names}: {question or result.answer_name}{_ties(result)}"
    return f"{_lead(result)}{_trade_offs(result)}"


def _better(result: Result, what: str) -> str:
    """The arms that are better than a control; of those that are not proved to be so, that they may be."""
    proved = [name for name in result.answer if result.arm(name).certificate == "in"]
    guessed = [name for name in result.answer if name not in proved]
    said = f"{name_list(proved)} {'has' if len(proved) == 1 else 'have'} {what}" if proved else ""
    if guessed:
        lead = "So far: " if result.stopped == "open" else "Best guess: "
        may = f"{name_list(guessed)} may"
        return f"{said}; {lead.lower()}{may}, too" if proved else f"{lead}{may} have {what}"
    others = len(result.arms) - len(result.answer) - 1
    return f"{said}; no other arm does{_by_more(result)}" if others and result.stopped in CLAIMED else said


def _by_more(result: Result) -> str:
    """By how much an arm outside is not better than a control."""
    found = stated_tolerance(result)
    if found is None or not found[0]:
        return ""
    return f" by {tolerance_words(result, *found).removeprefix('within ')} or more"


def _none(result: Result) -> str:
    """An answer of no arm, which is one, too."""
    if result.control is not None and result.question.startswith("the arms with "):
        name, what = one_name(result.control), result.question[14:]
        if result.stopped in CLAIMED:
            return f"Keep {name}: no arm has {what}{_by_more(result)}"
        lead = "So far" if result.stopped == "open" else "Best guess"
        return f"{lead}: keep {name}; no arm is proved to have {what}"
    word = result.empty_answer.removesuffix(", by the estimates")
    _, limited, limit = result.question.partition(" of those whose ")
    why = f": there is none whose {limit}" if limited else ""
    return f"{f'{word[0].upper()}{word[1:]}' if is_claimed(result) else f'By the estimates {word}'}{why}"


def _trade_offs(result: Result) -> str:
    """Who of a Pareto set is best in what, who is between, and that the others are beaten."""
    returned = set(result.answer)
    seen = [arm for arm in result.arms if arm.name in returned and math.isfinite(arm.mean) and math.isfinite(arm.risk)]
    if not seen:
        return name_list(result.answer)
    side = -1.0 if result.direction == "minimize" else 1.0
    best = max(seen, key=lambda arm: (side * arm.mean, -arm.risk))
    safest = min(seen, key=lambda arm: (arm.risk, -side * arm.mean))
    proved = _extremes(result, best, safest, side)
    risk = "risk" if result.risk.startswith("mean-variance") else result.risk_label
    ahead = any(side * arm.mean > side * best.mean for arm in result.arms)
    high = _extreme("lowest" if side < 0.0 else "highest", "mean", proved[0], ahead)
    ahead = any(arm.risk < safest.risk for arm in result.arms)
    low = _extreme("highest" if is_turned(result.arms) else "lowest", risk, proved[1], ahead)
    parts = [f"{one_name(best.name)} for {high}, {one_name(safest.name)} for {low}"]
    if best is safest:
        parts = [f"{one_name(best.name)} for {high} and {low}"]
    ends = [(arm.mean, arm.risk) for arm in (best, safest)]
    rest = [arm for arm in seen if arm is not best and arm is not safest]
    twins = [arm for arm in rest if (arm.mean, arm.risk) in ends]
    between = [arm for arm in rest if side * arm.mean > side * safest.mean and arm.risk < best.risk]
    alike = [arm for arm in rest if arm not in twins and arm not in between]
    if twins:
        parts.append(f"{name_list([arm.name for arm in twins])} measured the same")
    if between:
        parts.append(_between(between, best, safest))
    if alike:
        parts.append(f"{name_list([arm.name for arm in alike])} may be as good")
    beaten = ("is beaten", "are beaten") if is_claimed(result) else ("looks beaten", "look beaten")
    return f"{'; '.join(parts)}{_others(result, *beaten)}"


def _extreme(word: str, what: str, proved: bool, ahead: bool) -> str:
    """What an arm is the best in; where others were measured to be ahead, if by no more than is tolerated, nearly."""
    return f"{'nearly ' if ahead and not proved else ''}the {word} {'' if proved else 'measured '}{what}"


def _extremes(result: Result, best: ArmReport, safest: ArmReport, side: float) -> tuple[bool, bool]:
    """Whether intervals prove, up to the tolerance that is told, that these have the best mean and the best risk."""
    found = stated_tolerance(result)
    if found is None:
        return False, False
    in_mean, in_risk = found[0], found[0] if found[1] is None else found[1]
    if not is_claimed(result):
        in_mean = in_risk = 0.0

    def mean_ends(arm: ArmReport) -> tuple[float, float]:
        low, high = arm.mean_interval
        return (low, high) if side > 0.0 else (-high, -low)

    return (
        all(mean_ends(best)[0] > mean_ends(arm)[1] - in_mean for arm in result.arms if arm is not best),
        all(safest.risk_interval[1] < arm.risk_interval[0] + in_risk for arm in result.arms if arm is not safest),
    )


def _between(arms: Sequence[ArmReport], best: ArmReport, safest: ArmReport) -> str:
    """The arms between two; of many their number, and the one that gives up least of both."""
    names = [arm.name for arm in arms]
    if len(arms) <= NAMES and (len(arms) < 3 or sum(map(len, names)) <= LINE):
        return f"{name_list(names)} {'is' if len(arms) == 1 else 'are'} between"

    def kept(arm: ArmReport) -> float:
        in_mean = (arm.mean - safest.mean) / (best.mean - safest.mean)
        return in_mean + (best.risk - arm.risk) / (best.risk - safest.risk)

    return f"{len(arms):,} are between, of which {one_name(max(arms, key=kept).name)} gives up least of both"


def _others(result: Result, one: str, several: str) -> str:
    """What is said of the arms outside the answer."""
    returned = {*result.answer, result.control}
    others = [arm.name for arm in result.arms if arm.name not in returned]
    if not others:
        return ""
    return f"; {one_name(others[0])} {one}" if len(others) == 1 else f"; the others {several}"


def _ties(result: Result) -> str:
    """The arms outside the answer that were measured to be as good."""
    ties = [arm.name for arm in result.arms if arm.name not in result.answer and arm.margin == 0.0]
    return f"; {name_list(ties)} measured the same" if ties else ""


# --------------------------------------------------------------------------------- how sure it is


def assurance(result: Result) -> str:
    """How sure it is, in a sentence, with what may have gone unseen, and what in the data speaks against it."""
    return f"{_assured(result)}{_unseen(result)}{doubts(result)}"


def doubts(result: Result) -> str:
    """That the data speak against what was said, if they do."""
    in_doubt = result.alarms or IN_DOUBT in result.guarantee
    if not in_doubt or result.stopped == "complete" or stated_tolerance(result) is None:
        return ""
    return f" {DOUBT}"


def _assured(result: Result) -> str:
    if result.stopped == "complete":
        return "This is exact: every item was asked of every arm."
    found = stated_tolerance(result)
    if result.stopped == "confidence":
        assert found is not None
        in_mean, in_risk = found[0], found[0] if found[1] is None else found[1]
        close = in_mean > result.spread[0] and in_risk > result.spread[1]
        return f"{_right(result, found)}{'; but all arms are as close as that' if close else ''}."
    if result.goal.kind == "budget":
        return "Nothing is proved of this." if found is None else f"{_right(result, found)}."
    number, count = sum(arm.verdict == "undecided" for arm in result.arms), len(result.arms)
    told = "Nothing is proved yet" if number == count else "Not proved yet"
    if found is not None:
        told = f"So far {_right(result, found, start='this')}"
        if result.goal.epsilon is not None and found[0] >= result.goal.epsilon:
            told += f", not {tolerance_words(result, result.goal.epsilon, result.goal.risk_epsilon)} as asked"
    every = f"{number:,} of {count:,} arms"
    if number == count:
        every = "both arms" if count == 2 else f"all {count:,} arms"
    return f"{told}: {every} {'is' if number == 1 else 'are'} undecided." if number else f"{told}."


def _right(result: Result, found: tuple[float, float | None], start: str = "This") -> str:
    """That an answer is right up to a tolerance, and how often such a sentence is."""
    delta = result.goal.delta if result.stopped == "confidence" else result.certified_delta
    how = "approximately " if result.rigour == "approximate" else ""
    said = result.control is not None and result.stopped in CLAIMED  # with the answer
    close = f" {tolerance_words(result, *found)}," if found[0] and not said else ""
    about = f", about {result.estimand}" if result.estimand else ""
    assumed = "".join(f", if {condition}" for condition in result.conditions)
    return f"{start} is {how}right{close} with probability {confidence(delta or 0.0)}{about}{assumed}"


def _unseen(result: Result) -> str:
    """How probable an event may be that the arm of the answer with the fewest trials has not shown, if that matters."""
    delta = result.goal.delta if result.stopped == "confidence" else result.certified_delta
    if result.rigour != "approximate" or not delta or stated_tolerance(result) is None:
        return ""
    seen = [arm for arm in result.arms if arm.name in result.answer] or result.arms
    fewest = min(seen, key=lambda arm: arm.pulls)
    words = unseen_words(one_name(fewest.name), fewest.trials, delta)
    return f" {words[0].upper()}{words[1:]}."


def stated_tolerance(result: Result) -> tuple[float, float | None] | None:
    """Up to what the answer is right, in mean and, where that differs, in risk; None where nothing is proved."""
    if result.stopped == "complete":
        return 0.0, None
    if result.stopped == "confidence":
        epsilon, proved = result.goal.epsilon or 0.0, result.certified_epsilon
        if result.goal.risk_epsilon is not None or result.certified_risk_epsilon is None:
            return epsilon, result.goal.risk_epsilon
        # Risks have a unit of their own, whose worth in units of the mean these two tell.
        return (epsilon, epsilon * result.certified_risk_epsilon / proved) if proved else (0.0, None)
    if not result.is_informative or result.certified_epsilon is None:
        return None
    return result.certified_epsilon, result.certified_risk_epsilon


def tolerance_words(result: Result, in_mean: float, in_risk: float | None) -> str:
    """A tolerance in words."""
    if in_risk is None or not result.about_risk:
        return f"within {round_up(in_mean)}" if in_mean else "exactly"
    label = risk_heading(result.risk, result.alpha, result.risk_label)
    if result.task == "least-risk":
        return f"within {round_up(in_risk)}"
    return f"within {round_up(in_mean)} in mean and {round_up(in_risk)} in {label}"


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
