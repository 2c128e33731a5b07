"""What is said of simulations: many runs of a search, policies beside each other, and a lower bound."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from ramgape.common.formatting import list_names, plural, plus_minus, share, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, answer_word, asked_for, bound_words, least_word, risk_heading, wanted
from ramgape.views.explanation import Column, Explanation, Table
from ramgape.views.table import fitted, left_out, true_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ramgape.simulation.comparison import Competitor, PolicyComparison
    from ramgape.simulation.curves import CurvePoint
    from ramgape.simulation.lower_bound import LowerBound
    from ramgape.simulation.replication import Replication

NAME_WIDTH, POLICY_WIDTH = 32, 24
DISPENSABLE = ("share", "std", "mean", "returned")  # in a narrow window, first of all what stands first

# ------------------------------------------------------------------------------------- many runs


def explain_replication(replication: Replication, ascii_only: bool) -> Explanation:
    """All that is said of a replication."""
    more = len(replication.runs.names) - ROWS
    rest, columns = f"... and {more:,} more" if more > 0 else "", replicated_columns(replication)
    table = Table(partial(fitted, columns, DISPENSABLE), rest=rest, missing=partial(left_out, columns))
    said = list(replication_facts(replication, plus_minus(ascii_only)))
    return Explanation(
        [replication_title(replication), answers_right(replication)], said, [table], replication.warnings
    )


def replication_title(replication: Replication) -> str:
    """What was done, in a line."""
    runs = replication.runs
    seeds = f"seeds {runs[0].seed} to {runs[-1].seed}" if len(runs) > 1 else f"seed {runs[0].seed}"
    words = f"{plural(len(runs), 'run')} of {replication.policy}"
    return f"{printable(replication.instance)}: {words}, {seeds}"


def answers_right(replication: Replication) -> str:
    """How often the answers were right, and what they took."""
    judged, took = replication.ended_count, f"{replication.mean_samples:,.0f} pulls a run on average"
    if not judged:
        return f"No run came to an answer, with {took}."
    tolerant = replication.goal.tolerant
    right = f"{judged - replication.errors:,} of {plural(judged, 'answer')}"
    return f"{right} {'was' if judged == 1 else 'were'} right{' up to epsilon' if tolerant else ''}, with {took}."


def replicated_columns(replication: Replication) -> list[Column]:
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


def replication_facts(replication: Replication, sign: str) -> Iterator[tuple[str, str]]:
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


def draw_replication(replication: Replication) -> Axes:
    """How long the runs took, or after a budget their regret, and how often they were wrong; and the curves."""
    from ramgape.views.plots import style
    from ramgape.views.plots.runs import draw_curve, draw_errors, draw_runs

    figure, count = style.new_figure(title=replication_title(replication)), len(replication.runs)
    if replication.curves:
        figure.set_size_inches(figure.get_figwidth(), 1.7 * figure.get_figheight())
    grid = figure.add_gridspec(3 if replication.curves else 1, 2, width_ratios=(4, 1))
    axes, goal = figure.add_subplot(grid[0, 0]), replication.goal
    if goal.kind == "budget":
        draw_runs(axes, replication.runs.table["regret"].tolist(), count, "Simple regret")
    else:
        draw_runs(axes, replication.ended.table["samples"].tolist(), count, "Pulls until it was done")
    errors = figure.add_subplot(grid[0, 1])
    draw_errors(errors, replication.error_rate, replication.error_interval, goal.delta)
    if replication.curves:
        regret = figure.add_subplot(grid[1, :])
        draw_curve(regret, replication.curves, "regret")
        draw_curve(figure.add_subplot(grid[2, :], sharex=regret), replication.curves, "error_rate", goal.delta)
    return axes


# ------------------------------------------------------------------------------ policies compared


def explain_comparison(comparison: PolicyComparison, ascii_only: bool) -> Explanation:
    """All that is said of it."""
    sign = plus_minus(ascii_only)
    names = dict.fromkeys(row.instance for row in comparison.rows)
    tables = [Table(partial(policy_columns, comparison, name, sign), caption_of(name)) for name in names]
    return Explanation([comparison_title(comparison)], list(comparison_facts(comparison)), tables)


def caption_of(instance: str) -> Callable[[object], str]:
    """What stands above the table of an instance."""
    return lambda columns: f"{printable(instance)}:"


def comparison_title(comparison: PolicyComparison) -> str:
    """What was done, in a line."""
    policies, instances = ({getattr(row, name) for row in comparison.rows} for name in ("policy", "instance"))
    words = plural(len(policies), "policy", "policies"), plural(len(instances), "instance")
    return f"{words[0]} on {words[1]}, {plural(comparison.rows[0].runs, 'run')} each"


def comparison_facts(comparison: PolicyComparison) -> Iterator[tuple[str, str]]:
    """What was asked, and what the columns mean."""
    budget = comparison.goal.kind == "budget"
    what = "mean regret divided by that" if budget else "pulls divided by those"
    yield "Goal", f"fixed {comparison.goal.kind} ({asked_for(comparison.goal)})"
    yield "Ratio", f"{what} of {printable(comparison.reference)}; approximate 95 % interval"
    if not budget and any(row.ended < row.runs for row in comparison.rows):
        yield "Undecided", "where runs did not end, pulls are those until they were cut short: more are needed"
    yield "Time", f"{comparison.seconds:,.1f} s"


def policy_columns(comparison: PolicyComparison, instance: str, sign: str, width: int | None) -> list[Column]:
    """One row per policy."""
    rows, budget = [row for row in comparison.rows if row.instance == instance], comparison.goal.kind == "budget"
    shown = short_names([row.policy for row in rows], POLICY_WIDTH)
    averages = [average_words(row, sign, budget) for row in rows]
    undecided = [f"{row.runs - row.ended:,}" for row in rows]
    columns = [
        Column("policy", [shown[row.policy] for row in rows], names=True),
        Column("bound", [row.bound for row in rows]),
        Column("mean regret" if budget else "pulls", averages, right=True),
        Column("ratio", [ratio_words(row) for row in rows], right=True),
        Column("wrong", [f"{row.wrong:,} of {row.ended:,}" for row in rows], right=True),
        Column("95% interval", [interval_words(row) for row in rows], right=True),
        *([] if undecided == ["0"] * len(rows) else [Column("undecided", undecided, right=True)]),
    ]
    return fitted(columns, ("bound", "95% interval"), width)


def average_words(row: Competitor, sign: str, budget: bool) -> str:
    """The average that counts, and its standard error."""
    value, error = (row.regret, row.regret_stderr) if budget else (row.samples, row.samples_stderr)
    form = ".3g" if budget else ",.0f"
    return f"{value:{form}}" if error is None else f"{value:{form}} {sign} {error:{'.2g' if budget else form}}"


def ratio_words(row: Competitor) -> str:
    """By how much it differs from the reference."""
    if row.ratio is None or row.ratio_interval is None:
        return "1" if row.ratio is None else f"{row.ratio:.2f}"
    return f"{row.ratio:.2f} ({row.ratio_interval[0]:.2f} to {row.ratio_interval[1]:.2f})"


def interval_words(row: Competitor) -> str:
    """Where the probability of a wrong answer is."""
    if row.error_interval is None:
        return "-"
    return f"{row.error_interval[0]:.1%} to {row.error_interval[1]:.1%}"


def draw_comparison(comparison: PolicyComparison) -> Axes:
    """Pulls, or after a budget the regret, of each policy on each instance."""
    from ramgape.views.plots import style
    from ramgape.views.plots.runs import draw_competitors

    rows = comparison.rows
    names = list(dict.fromkeys(row.instance for row in rows))
    height = 1.0 + 0.35 * len(rows) + 0.6 * len(names)
    figure = style.new_figure(height=height, title=comparison_title(comparison))
    for place, name in enumerate(names):
        axes = figure.add_subplot(len(names), 1, place + 1)
        draw_competitors(axes, name, [row for row in rows if row.instance == name], comparison.goal.kind)
    return figure.axes[0]


# ---------------------------------------------------------------------------------- a lower bound


def explain_lower_bound(bound: LowerBound, ascii_only: bool) -> Explanation:
    """All that is said of a lower bound."""
    del ascii_only  # its words are plain in any case
    if bound.samples is None:
        return Explanation([bound_title(bound)], [("Reason", f"{bound.note}.")], [])
    facts = [
        ("Meaning", f"This is the {least_word(bound.exact)}: {bound.note}."),
        ("Time", f"Characteristic time T* = {bound.characteristic_time:,.1f}."),
    ]
    table = Table(lambda width: allocation_columns(bound), lambda columns: "Ideal division of the trials:")
    return Explanation([bound_title(bound)], [(word, printable(text)) for word, text in facts], [table])


def bound_title(bound: LowerBound) -> str:
    """The number in a sentence."""
    name = printable(bound.instance)
    if bound.samples is None:
        return f"{name}: no number of trials suffices"
    epsilon, in_risk = bound.epsilon if isinstance(bound.epsilon, tuple) else (bound.epsilon, None)
    goal = wanted(epsilon, in_risk, task=bound.task)
    goal = f"{goal} with probability {1.0 - bound.delta:g}"
    trials = f"{math.floor(bound.samples):,} trials on average"
    if bound.exact:
        return f"{name}: {goal} takes at least {trials}"
    return f"{name}: an ideal method would take about {trials} for {goal}"


def allocation_columns(bound: LowerBound) -> list[Column]:
    """One row per arm; of very many arms, those that need the most samples, and the others together."""
    shares, names = bound.allocation, list(bound.allocation)
    if len(names) > ROWS:
        names.sort(key=lambda name: -shares[name])
    shown = short_names(names, NAME_WIDTH)
    rows = [(shown[name], shares[name]) for name in names[:ROWS]]
    if len(names) > ROWS:
        rows.append((f"{len(names) - ROWS:,} more", math.fsum(shares[name] for name in names[ROWS:])))
    return [
        Column("arm", [name for name, _ in rows], marks=["in"] * len(rows), names=True),
        Column("share", [f"{share:.1%}" for _, share in rows], right=True),
        Column("trials", [f"{share * (bound.samples or 0.0):,.0f}" for _, share in rows], right=True),
    ]


def draw_lower_bound(bound: LowerBound) -> Axes:
    """The shares of the samples."""
    from ramgape.views.plots import style
    from ramgape.views.plots.runs import draw_allocation

    axes = style.new_figure(title="\n".join(textwrap.wrap(bound_title(bound), 90))).add_subplot()
    draw_allocation(axes, bound.allocation)
    return axes
