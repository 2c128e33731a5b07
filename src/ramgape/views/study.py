"""How a study is going: its result as it stands, and above it what it is to do, how far it is, and what went wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ramgape.common.formatting import cut, list_counts, list_names, plural, round_up
from ramgape.errors import printable
from ramgape.trials.progress_words import more_words, share_done, state
from ramgape.trials.surfaces import per_cent
from ramgape.views.content import ENDINGS, wanted
from ramgape.views.explanation import Explanation
from ramgape.views.result import explain_result

if TYPE_CHECKING:
    from ramgape.search.result import Expectation, Goal, Result
    from ramgape.studies.arrivals import RetiredArm
    from ramgape.studies.report import Report

BAR = 24  # letters
BLOCKS, LETTERS = "█░", "#."  # done and left, in a bar
REASONS, REASON_WIDTH, NAME_WIDTH = 5, 120, 40


def explain_study(report: Report, ascii_only: bool, *, full: bool = False) -> Explanation:
    """What is said of a study: its result as it stands, with more above it."""
    first = study_facts(report, LETTERS if ascii_only else BLOCKS)
    return explain_result(report.result, ascii_only, full=full, first=first, title=study_title(report))


def study_title(report: Report) -> str:
    """Name and state."""
    if not report.done:
        state = "in progress" if report.told or report.pending else "not started"
    else:
        state = "done" if report.result.goal_reached else f"undecided, {ENDINGS[report.result.stopped]}"
    return f"Study {cut(printable(report.name), 40)}: {state}"


def study_facts(report: Report, letters: str) -> list[tuple[str, str]]:
    """What to know of a study beside its result, as pairs of a word and its explanation."""
    facts = [
        ("Goal", goal_of(report.result)),
        ("Progress", progress_words(report, letters)),
    ]
    facts.append(("Trials", trial_words(report)))
    if report.pending:
        facts.append(("In progress", list_counts(report.arms_pending)))
    if report.waits_for is not None:
        facts.append(("Waits for", waiting_words(*report.waits_for)))
    if report.failed:
        given_up = f"; {plural(report.given_up, 'trial')} given up" if report.given_up else ""
        facts.append(("Failed", f"{list_counts(report.arms_failed)}{given_up}"))
    if report.certificate is not None:
        facts.append(("Certified", f"by ramgape {report.certificate.version}, {report.certificate.made_at[:10]}"))
    if report.info:
        facts.append(("Info", info_words(report)))
    if report.retired:
        facts.append(("Retired", "; ".join(map(retired_words, report.retired))))
    reasons = reason_words(report)
    if reasons:
        facts.append(("Reasons", reasons))
    return facts


def waiting_words(pull: str, arm: str, worker: str | None) -> str:
    """The trial that other results wait for, and what to do about it."""
    of = f"{cut(printable(arm), NAME_WIDTH)}{f', worker {cut(printable(worker), NAME_WIDTH)}' if worker else ''}"
    return f"trial {pull} ({of}): report it, or release it with `ramgape study release`"


def info_words(report: Report) -> str:
    """What the last results carry beside their rewards."""
    parts = []
    for key, values in list(report.info.items())[:REASONS]:
        shown = [f"{cut(printable(value), NAME_WIDTH)} ({times:,})" for value, times in list(values.items())[:REASONS]]
        more = f" and {len(values) - REASONS:,} others" if len(values) > REASONS else ""
        parts.append(f"{cut(printable(key), NAME_WIDTH)} {', '.join(shown)}{more}")
    return f"with the last results: {'; '.join(parts)}"


def retired_words(arm: RetiredArm) -> str:
    """What is recorded of an arm that went."""
    seen = f", mean {arm.mean:.4g}, std {arm.std:.3g}" if arm.pulls else ""
    return f"{cut(printable(arm.name), NAME_WIDTH)} ({plural(arm.pulls, 'trial')}{seen}), on {arm.retired_at[:10]}"


def goal_of(result: Result) -> str:
    """What was asked for; with several outcomes, the tolerance of each objective."""
    if not result.details.said or not result.goal.epsilon:
        return goal_words(result.goal, result.rigour, result.task)
    tolerances = list_names([f"{each.epsilon or 0.0:g} in {each.text}" for each in result.objectives])
    answer = "an answer" if result.task == "pareto" else f"an answer to {printable(result.task)}"
    return goal_words(result.goal, result.rigour, what=f"{answer} within {tolerances}")


def goal_words(goal: Goal, rigour: str = "proved", task: str = "pareto", what: str = "") -> str:
    """What was asked for.

    >>> from ramgape.search.result import Goal
    >>> goal_words(Goal("confidence", 0.05, 0.1, None)), goal_words(Goal("budget", None, None, 2000))
    ('an answer within 0.05, with probability 0.9', 'the best answer after 2,000 trials')
    """
    money = "" if goal.spend is None else f"for at most {goal.spend:,.6g}"
    if goal.budget is not None:
        return f"the best answer after {goal.budget:,} trials{f', {money}' if money else ''}"
    if goal.kind == "budget":
        return f"the best answer {money}"
    assert goal.delta is not None
    how = "approximately with" if rigour == "approximate" else "with"
    what = what or wanted(goal.epsilon, goal.risk_epsilon, goal.epsilon_share, task)
    return f"{what}, {how} probability {1.0 - goal.delta:.6g}{f', {money}' if money else ''}"


def progress_words(report: Report, letters: str) -> str:
    """A bar, where it is known how far the study is, and what that says."""
    done, words = standing(report)
    if done is None:
        return words
    full = int(done * BAR)  # only what is done is full
    return f"{letters[0] * full}{letters[1] * (BAR - full)} {per_cent(done)}; {words}"


def standing(report: Report) -> tuple[float | None, str]:
    """How much of a study is done, where that is known, and what it waits for."""
    progress, budget = report.progress, report.result.goal.kind == "budget"
    if not budget:  # the search looks at most arms only now and then
        progress = replace(progress, doubt=report.doubt)
    words = state(progress, budget)
    if report.done and not budget and report.result.details.said:  # several outcomes, each in its unit
        reached = report.result.goal_reached
        words = "right up to the tolerances, as asked" if reached else "not proved up to the tolerances"
    elif report.done and not budget and math.isfinite(report.doubt):
        found = f"right within {round_up(report.doubt)}" if report.doubt > 0.0 else "right"
        asked = f"within {progress.epsilon:g}" if progress.epsilon else "the exact answer"
        words = f"{found}, as asked" if report.result.goal_reached else f"{found}, {asked} was asked for"
    done = 1.0 if report.result.goal_reached else share_done(progress, budget, report.result.expected)
    return (None if report.done and not report.result.goal_reached else done), words


def trial_words(report: Report) -> str:
    """How many there are, and how many there may still be."""
    tried = all(arm.trials for arm in report.result.arms)
    if report.done or (tried and report.result.expected is None):  # no forecast for several outcomes
        return count_words(report)
    return f"{count_words(report)}; {expected_words(report.result.expected, report.result.goal.budget is not None)}"


def count_words(report: Report) -> str:
    """How many trials there are."""
    late = f" ({report.late:,} of them after the end, and not counted)" if report.late else ""
    counts = {"waiting for earlier trials": report.held, "in progress": report.pending, "failed": report.failed}
    counts["lost with their machines"] = report.lost
    return ", ".join(
        [f"{report.told:,} completed{late}", *(f"{count:,} {word}" for word, count in counts.items() if count)]
    )


def expected_words(expected: Expectation | None, exact: bool = False) -> str:
    """How many more trials are expected.

    >>> from ramgape.search.result import Expectation
    >>> expected_words(Expectation(1278)), expected_words(Expectation(199_999, at_least=True))
    ('about 1,300 more expected', 'at least 190,000 more expected')
    """
    if expected is not None and exact:
        return f"{expected.pulls:,} more until the budget is spent"
    if expected is None:
        return "how many more is not known before every arm has its first trials"
    return f"{more_words(expected)} expected"


def reason_words(report: Report) -> str:
    """Why trials failed, the latest reason first, and how often: together as many as have failed."""
    parts = []
    for arm, reason, times in report.reasons[:REASONS]:
        often = f" ({times:,} times)" if times > 1 else ""
        said = cut(printable(" ".join(reason.split())), REASON_WIDTH) or "no reason given"
        parts.append(f"{cut(printable(arm), NAME_WIDTH)}: {said}{often}")
    others = sum(times for _, _, times in report.reasons[REASONS:])
    if others:
        parts.append(f"{others:,} for other reasons")
    return "; ".join(parts)
