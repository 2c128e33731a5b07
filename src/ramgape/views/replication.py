"""What is said of many runs: how long they took, how often they were wrong, and where the pulls went."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from ramgape.common.formatting import list_names, plural, plus_minus, share, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, answer_word, asked_for, bound_words, risk_heading
from ramgape.views.explanation import Column, Explanation, Table
from ramgape.views.table import fitted, left_out, true_columns

if TYPE_CHECKING:
    from ramgape.simulation.curves import CurvePoint
    from ramgape.simulation.replication import Replication

NAME_WIDTH = 32
DISPENSABLE = ("share", "std", "mean", "returned")  # in a narrow window, first of all what stands first


def explain_replication(replication: Replication, ascii_only: bool) -> Explanation:
    """All that is said of a replication."""
    more = len(replication.runs.names) - ROWS
    rest, columns = f"... and {more:,} more" if more > 0 else "", arm_columns(replication)
    table = Table(partial(fitted, columns, DISPENSABLE), rest=rest, missing=partial(left_out, columns))
    said = list(facts(replication, plus_minus(ascii_only)))
    return Explanation([headline(replication), sentence(replication)], said, [table], replication.warnings)


def headline(replication: Replication) -> str:
    """What was done, in a line."""
    runs = replication.runs
    seeds = f"seeds {runs[0].seed} to {runs[-1].seed}" if len(runs) > 1 else f"seed {runs[0].seed}"
    words = f"{plural(len(runs), 'run')} of {replication.policy}"
    return f"{printable(replication.instance)}: {words}, {seeds}"


def sentence(replication: Replication) -> str:
    """How often the answers were right, and what they took."""
    judged, took = replication.ended_count, f"{replication.mean_samples:,.0f} pulls a run on average"
    if not judged:
        return f"No run came to an answer, with {took}."
    tolerant = replication.goal.tolerant
    right = f"{judged - replication.errors:,} of {plural(judged, 'answer')}"
    return f"{right} {'was' if judged == 1 else 'were'} right{' up to epsilon' if tolerant else ''}, with {took}."


def arm_columns(replication: Replication) -> list[Column]:
    """One row per arm."""
    runs, truth = len(replication.runs), set(replication.true_front)
    returned, pulls = replication.runs.returned, replication.runs.pulls
    names = list(pulls)
    if len(names) > ROWS:  # those that matter: in the truth, in an answer, or much tried
        names.sort(key=lambda name: (name not in truth, -returned[name], -pulls[name]))
    names, samples = names[:ROWS], sum(pulls.values())
    shown = short_names(names, NAME_WIDTH)
    marks = ["in" if name in truth else "" for name in names]
    known = {arm.name: arm for arm in replication.arms}
    heading = risk_heading(replication.risk, replication.alpha, replication.risk_label)
    values = true_columns([known[name] for name in names], heading) if known else []
    return [
        Column("arm", [shown[name] for name in names], marks=marks, names=True),
        Column("truth", ["in" if name in truth else "out" for name in names], marks=marks),
        *values,
        Column("returned", [f"{returned[name]:,} of {runs:,}" for name in names], right=True),
        Column("pulls a run", [f"{pulls[name] / runs:,.0f}" for name in names], right=True),
        Column("share", [share(pulls[name], samples) for name in names], right=True),
    ]


def facts(replication: Replication, sign: str) -> Iterator[tuple[str, str]]:
    """The numbers, with a word in front of each."""
    runs, goal = replication.runs, replication.goal
    regrets = runs.table["regret"]
    method = f"bound {bound_words(replication.bound)}, risk {replication.risk}"
    yield "Goal", f"fixed {goal.kind} ({asked_for(goal)}), {method}"
    asked = "" if replication.task == "pareto" else f" to {printable(replication.task)}"
    right = list_names(replication.true_front) or "that no arm is one"
    yield "Truth", f"the {answer_word(replication.task)}{asked} is {right}"
    yield "Pulls", pulls_of(replication, sign)
    if runs.spent is not None:
        yield "Spent", f"{fmean(runs.spent):,.6g} on average, {runs.spent.max():,.6g} at most"
    yield "Wrong", errors_of(replication)
    exact = int(runs.table["exact"].sum())
    yield "Exact", f"{exact:,} of {len(runs):,} answers are exactly the true {answer_word(replication.task)}"
    yield "Regret", f"{fmean(regrets):.3g} on average, {regrets.max():.3g} at most (simple regret)"
    if goal.kind == "confidence":
        waiting = int(runs.stopped_by("constant").sum())
        capped = len(runs) - replication.ended_count - waiting
        limit = "number of pulls" if goal.spend is None else "number of pulls, or spent the money"
        why = f"; {waiting:,} waited for an arm whose rewards are all equal" if waiting else ""
        yield "Undecided", f"{capped:,} of {len(runs):,} runs reached the largest allowed {limit}{why}"
    if replication.curves:
        last = len(replication.curves) - 1
        places = dict.fromkeys(round(part * last / 4) for part in range(5))
        yield "Curves", "; ".join(curve_words(replication.curves[place]) for place in places)
    yield "Speed", f"{replication.ns_per_pull:,.0f} ns a pull; {replication.seconds:,.2f} s in all"


def curve_words(point: CurvePoint) -> str:
    """What answers are worth after so many pulls.

    >>> from ramgape.simulation.curves import CurvePoint
    >>> curve_words(CurvePoint(1000, 50, 0, 0.01234, 0.002, 3, 0.06, 0.03, (0.01, 0.17)))
    'after 1,000 pulls regret 0.0123, 6.0% wrong'
    """
    if not point.runs:
        return f"after {point.pulls:,} pulls no answer yet"
    return f"after {point.pulls:,} pulls regret {point.regret:.3g}, {point.error_rate:.1%} wrong"


def pulls_of(replication: Replication, sign: str) -> str:
    """Average, its standard error, the extremes, and two quantiles."""
    samples = np.sort(replication.runs.table["samples"])
    if samples[0] == samples[-1]:
        return f"{samples[0]:,} in every run"
    mean, error = replication.mean_samples, replication.mean_samples_stderr or 0.0
    half, most = (samples[math.ceil(part * len(samples)) - 1] for part in (0.5, 0.9))
    within = f"half of the runs took at most {half:,}, 90% at most {most:,}"
    return f"{mean:,.0f} {sign} {error:,.0f} (mean, standard error), from {samples[0]:,} to {samples[-1]:,}; {within}"


def errors_of(replication: Replication) -> str:
    """How often the answer was wrong, and how often it may be."""
    rate, interval = replication.error_rate, replication.error_interval
    if rate is None or interval is None:
        return "unknown, since no run came to an answer"
    judged = f"{replication.errors:,} of {replication.ended_count:,} answers"
    tolerant = replication.goal.tolerant
    meaning = "beyond epsilon" if tolerant else f"not exactly the true {answer_word(replication.task)}"
    return f"{judged} {meaning}, {rate:.1%} (95% interval {interval[0]:.1%} to {interval[1]:.1%})"
