"""A report: one file with everything inside, which opens without a network, is read on any screen, and prints.

The answer in a sentence, what speaks against it, the picture, the table, where the trials went, what is proved and what
is not, and what was asked, with which versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ramgape.common.formatting import plural, round_up
from ramgape.views import fragments as page
from ramgape.views.content import alarm_words, asked_for, asked_of, bound_words, risk_axis, shows_plane
from ramgape.views.picture import pictures
from ramgape.views.table import ONE_DIRECTION

if TYPE_CHECKING:
    from ramgape.search.explained import Explained
    from ramgape.search.result import Result
from ramgape.views.explanation import Explanation, explain

PROVED = (
    "Drift",
    "Guarantee",
    "Certified",
    "Jointly",
    "Singly",
    "Intervals",
    "Unseen",
    "Truth",
)
MOST_BARS = 50
BLOCKS = "█░ "  # of a bar, which a terminal needs


def document(thing: Explained, versions: Mapping[str, str | None]) -> str:
    """All that is said of something, its pictures, and what it was made with."""
    said = explain(thing, full=True)
    found: Any = getattr(thing, "result", thing)
    is_result = hasattr(found, "guarantee")
    body = page.answer_heading(said.headlines) + page.note(said.after)
    if is_result and found.quality.drift:
        body += page.callout("Drift", alarm_words(found))
    body += "".join(page.callout("Warning", warning) for warning in said.warnings)
    body += page.figure(pictures(thing, said.headlines[-1]), picture_caption(found) if is_result else "")
    parts = [page.note(part) if isinstance(part, str) else page.table(part) for part in said.parts]
    if is_result:
        body += page.section("The arms", *parts)
        if shows_plane(found):  # rows have their trials beside them
            body += page.section("Where the trials went", allocation(found))
        body += over_time(found)
        body += page.section("What is proved, and what is not", proofs(found, said))
        rest = [(word, text.lstrip(BLOCKS)) for word, text in said.facts if word not in PROVED]
        body += page.section("In detail", page.definitions(rest))
    else:
        body += page.section("In detail", page.definitions(said.facts))
        body += page.section("In numbers", *parts)
    body += page.section("What was asked", page.definitions(list(settings(found))))
    made = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{page.escaped(said.headlines[-1])}</title>\n<style>{page.style_sheet()}</style>\n</head>\n<body>\n"
        f"<main>\n{body}</main>\n<footer><p>Made with {page.escaped(made)}.</p></footer>\n</body>\n</html>\n"
    )


def picture_caption(result: Result) -> str:
    """How to read the picture of a result."""
    if not shows_plane(result):
        lead = result.question.partition(":")[0] in ONE_DIRECTION or result.control is not None
        what = "its difference to the one that others are compared with" if lead else "its numbers"
        how = f"Each row is an arm: {what}, with a 95% interval, and how many trials it had."
        return f"{how} An arrow at the border stands for a number beyond it. The table below has all numbers."
    how = "Each point is an arm: its measured numbers in both objectives."
    beaten = " An arrow goes from each dropped arm to one that is kept in its favor." if result.task == "pareto" else ""
    return f"{how}{beaten} Arms at the border lie beyond it. The table below has all numbers."


# --------------------------------------------------------------------------------------- the trials


def allocation(result: Result) -> str:
    """How often each arm was tried; of very many those that were tried most."""
    counts = {arm.name: arm.trials for arm in result.arms}
    most = dict(sorted(counts.items(), key=lambda pair: -pair[1])[:MOST_BARS])
    rest = sum(counts.values()) - sum(most.values())
    more = f"... and {plural(rest, 'pull')} of {len(counts) - len(most):,} more arms" if len(counts) > len(most) else ""
    return page.bars(most, {arm.name: arm.verdict for arm in result.arms}) + page.note(more)


def over_time(result: Result) -> str:
    """What was left open, as far as that was noted on the way."""
    history = result.history
    if len(history) < 2:
        return ""
    return page.section("How it went", _progress(result, [point.samples for point in history]))


def _progress(result: Result, samples: list[int]) -> str:
    """What was left open, over the pulls."""
    history, goal = result.history, result.goal
    if goal.kind == "budget":
        return ""
    if history[-1].unproved is not None:
        left = [float(point.unproved or 0) for point in history]
        words = f"Arms whose place was not proved yet, from {left[0]:,.0f} to {left[-1]:,.0f}; it ends at none."
        return page.note(words) + page.line(samples, left, 0.0, words)
    doubts = [point.doubt for point in history]
    end = round_up(max(doubts[-1], 0.0)) if math.isfinite(doubts[-1]) else "unknown"
    words = f"Doubt: the answer was right up to this tolerance. At the end {end}"
    words += "." if goal.epsilon is None else f"; the dashed line is what was asked for, {goal.epsilon:g}."
    return page.note(words) + page.line(samples, [max(doubt, 0.0) for doubt in doubts], goal.epsilon, words)


# --------------------------------------------------------------------------------------- what is proved


def proofs(result: Result, said: Explanation) -> str:
    """What has been proved, under which assumptions, and what rests on estimates alone."""
    told = [(word, text) for word, text in said.facts if word in PROVED and word != "Drift"]
    rigour = "approximate: intervals hold nearly as often as they state (central limit theorem); rare events go unseen"
    told.append(("Rigour", rigour if result.rigour == "approximate" else "proved: intervals hold as they are stated"))
    told.append(("Estimates", estimates_only(result)))
    if result.alarm is not None:
        found = "drift was detected, see above" if result.quality.drift else "no drift or dependence detected"
        told.append(("Drift check", f"{found} (false-alarm rate {round_up(100.0 * result.alarm)}%)"))
    else:
        told.append(("Drift check", "off: nothing here would show that rewards drift or depend on each other"))
    return page.definitions(told)


def estimates_only(result: Result) -> str:
    """What rests on estimates alone."""
    rests = ["the means and risks themselves (their intervals say how well they are known)"]
    open_arms = [arm.name for arm in result.arms if arm.certificate == "none" and arm.name != result.control]
    if not result.is_informative:
        rests.insert(0, "the answer")
    elif open_arms:
        rests.append(f"the place of {plural(len(open_arms), 'arm')} that is not certified")
    if len(result.answer) > 1:
        rests.append("which of the returned arms is the best one for you")
    if result.expected is not None:
        rests.append("how many more trials it will take")
    return f"by estimates alone: {'; '.join(rests)}"


# --------------------------------------------------------------------------------------- what was asked


def settings(thing: Any) -> Iterator[tuple[str, str]]:
    """All that was asked, and what it was made of."""
    if (asked := getattr(thing, "asked", None)) is not None:
        yield from asked.items()
        return
    if not hasattr(thing, "guarantee"):
        for field in fields(thing):
            value = getattr(thing, field.name)
            if isinstance(value, str | int | float) and value != "" and not isinstance(value, bool):
                yield field.name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value}"
        if goal := getattr(thing, "goal", None):
            yield "goal", asked_for(goal)
        return
    yield "Question", thing.task
    yield "Goal", f"fixed {thing.goal.kind}: {asked_of(thing) or 'as few trials as it takes'}"
    yield "Arms", f"{len(thing.arms):,}"
    if thing.about_risk and not thing.said:
        yield "Risk", f"{thing.risk} ({risk_axis(thing) or thing.risk_formula})"
    if thing.alpha not in (None, 1.0):
        yield "Scale of the risk", f"alpha {thing.alpha:.6g}, rho {thing.rho:g}"
    if not thing.said:  # several outcomes have their own
        yield "Direction", thing.direction
    if thing.reward_name:
        yield "Reward", thing.reward_name
    yield "Assumption", thing.noise
    if thing.reward_range is not None:
        yield "Reward range", f"{thing.reward_range[0]:g} to {thing.reward_range[1]:g}"
    yield "Policy", thing.policy
    yield "Bound", bound_words(thing.bound)
    if thing.interval_bound != thing.bound:
        yield "Intervals by", bound_words(thing.interval_bound)
    if thing.exploration is not None:
        yield "Exploration", f"{thing.exploration:.6g}"
    yield "Drift check", "off" if thing.alarm is None else f"{thing.alarm:g}"
    yield "Seed", "none" if thing.seed is None else str(thing.seed)
