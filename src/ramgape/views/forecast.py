"""What is said of a plan: a sentence, the facts behind it, a table of goals or budgets, and what becomes of arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from ramgape.common.formatting import Digits, list_names, plural, plus_minus, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, bound_words, is_approximate, least_word, risk_heading, true_words, wanted
from ramgape.views.explanation import Column, Explanation, Table
from ramgape.views.table import fitted, left_out, true_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ramgape.simulation.forecast import ArmForecast, Plan, PullForecast, Quality

NAME_WIDTH = 32
# What a narrow window can do without, first of all what stands first.
DISPENSABLE = ("error", "10%", "50%", "ratio", "runs", "95% interval")
DISPENSABLE_OF_ARMS = ("95% interval", "ideal share", "reference share", "share", "std", "mean", "returned")
MARK = "*"  # beside the row that was asked for


def explain_plan(plan: Plan, ascii_only: bool) -> Explanation:
    """All that is said of a plan."""
    rows: Sequence[PullForecast | Quality] = plan.trials or plan.qualities
    goals = marked(trials_columns(plan) if plan.trials else quality_columns(plan), [row is plan.chosen for row in rows])
    shown = most_important(plan.arms)
    arms = marked(arm_columns(plan, shown), [arm.in_front for arm in shown])
    rest = f"... and {len(plan.arms) - len(shown):,} more" if len(shown) < len(plan.arms) else ""
    table = Table(partial(fitted, goals, DISPENSABLE), partial(caption, plan), missing=partial(left_out, goals))
    of_arms = Table(partial(fitted, arms, DISPENSABLE_OF_ARMS), rest=rest, missing=partial(left_out, arms))
    parts: list[Table | str] = [table, *notes(plan), of_arms]
    return Explanation([headline(plan)], list(facts(plan, plus_minus(ascii_only))), parts, plan.warnings)


def marked(columns: Sequence[Column], important: Sequence[bool]) -> list[Column]:
    """The columns with rows that stand out."""
    marks = ["in" if stands_out else "" for stands_out in important]
    return [replace(column, marks=marks) for column in columns]


# ------------------------------------------------------------------------------------- sentences


def headline(plan: Plan) -> str:
    """What to expect, in a sentence."""
    name = printable(plan.instance)
    if plan.trials:
        return f"{name}: {expected_trials(cast('PullForecast', plan.chosen))} for {asked_words(plan)}"
    row = cast("Quality", plan.chosen)
    right = f"{1.0 - row.inexact_rate:.2g}"
    return f"{name}: {row.budget:,} trials return exactly the {true_words(plan.task)} with probability {right}"


def title(plan: Plan) -> str:
    """The headline of a figure, in two lines."""
    bound = "" if plan.qualities else f", bound {bound_words(plan.bound)}"
    return f"{headline(plan)}\nif the arms are as guessed; policy {plan.policy}{bound}"


def asked_words(plan: Plan) -> str:
    """The chosen confidence goal in words."""
    epsilon, delta = plan.goal.epsilon or 0.0, plan.goal.delta or 0.0
    what = wanted(epsilon, plan.goal.risk_epsilon, task=plan.task)
    how = "approximately with" if is_approximate(plan.bound) else "with"
    return f"{what} {how} probability {1.0 - delta:g}"


def expected_trials(row: PullForecast) -> str:
    """How many trials, in words."""
    if row.skipped == "tie":
        return "no number of trials suffices"
    if row.mean is not None:
        return f"about {row.mean:,.3g} trials" if row.mean < 1000.0 else f"about {rounded(row.mean)} trials"
    return f"more than {row.more_than:,.0f} trials"


def rounded(value: float) -> str:
    """A count in about three digits.

    >>> rounded(3887.2), rounded(81097.0)
    ('3,890', '81,100')
    """
    return f"{float(f'{value:.3g}'):,.0f}"


def caption(plan: Plan, columns: Sequence[Column]) -> str:
    """What the numbers of the table are, as far as they are shown."""
    if not plan.trials:
        return f"Quality of the answer by budget ({MARK} as asked)"
    headings = [column.heading for column in columns]
    *others, last = [heading for heading in headings if heading.endswith("%")]
    parts = f"{', '.join(others)} and {last}" if others else last
    error = ", its standard error," if "error" in headings else ""
    within = f"the number within which {parts} of the searches were done"
    unit = " (in mean; that in risk in proportion)" if plan.goal.risk_epsilon else ""
    return f"Trials by epsilon{unit} and delta: the mean{error} and {within} ({MARK} as asked)"


def facts(plan: Plan, sign: str) -> Iterator[tuple[str, str]]:
    """The numbers behind the headline, with a word in front of each."""
    front = list_names(plan.guessed_front) or "that no arm is one"
    answer = "their Pareto set" if plan.task == "pareto" else f"the answer to {printable(plan.task)}"
    yield "Guess", f"if the arms are as guessed; {answer} is {front}"
    if plan.goal.epsilon_share is not None:
        share = f"{100.0 * plan.goal.epsilon_share:g}%"
        yield "Epsilon", f"{share} of the reward range, or without one of the smallest absolute mean"
    if plan.trials:
        yield from trials_facts(plan, cast("PullForecast", plan.chosen), sign)
    else:
        yield from quality_facts(plan, cast("Quality", plan.chosen), sign)
    yield "Method", f"policy {plan.policy}, bound {bound_words(plan.bound)}, risk {plan.risk}"
    if plan.trials:
        what = "what is said (approximately)" if is_approximate(plan.bound) else "the guarantee"
        yield "Otherwise", f"if the guess is wrong, {what} holds all the same; only the number of trials changes"
    else:
        yield "Otherwise", "a budget comes with no guarantee: if the guess is wrong, all of this may be wrong"


def trials_facts(plan: Plan, row: PullForecast, sign: str) -> Iterator[tuple[str, str]]:
    """What is expected of the chosen confidence goal."""
    if row.mean is not None:
        error = f" {sign} {row.stderr:,.0f} on average (standard error)" if row.stderr is not None else ""
        yield "Trials", f"{row.mean:,.0f}{error}, from {runs_of(row.runs)}"
        most = f"half of the searches need at most {row.quantile_50:,}, the longest took {row.largest:,}"
        yield "Plan for", f"{row.quantile_90:,} to be done with probability 0.9; {most}"
    elif row.skipped == "tie":
        yield "Trials", f"{plan.bound_note}; an epsilon above 0 helps"
    elif row.skipped:
        yield "Trials", f"more than {row.more_than:,.0f} on average; not simulated ({SKIPPED[row.skipped]})"
    else:
        given_up = f"{row.undecided:,} of {runs_of(row.runs)} gave up after {plan.max_trials:,}, undecided"
        yield "Trials", f"more than {row.more_than:,.0f} on average: {given_up}; a larger max_trials tells more"
    if row.error_rate is not None and row.error_interval is not None:
        low, high = row.error_interval
        judged = f"{row.errors:,} of {row.runs - row.undecided:,} answers"
        yield "Wrong", f"{judged} (95% interval {low:.1%} to {high:.1%}); {row.delta:g} is allowed"
    if row.lower_bound is not None:
        times = f"; the mean is {row.ratio:.1f} times that" if row.ratio is not None else ""
        least = f"about {rounded(row.lower_bound)} trials on average"
        if row.lower_bound_exact:
            yield "Bound", f"at least {least}, whatever the method{times}"
        else:
            yield "Reference", f"an ideal method would take {least}{times}"
    elif row.skipped != "tie":
        yield "Reference", f"unknown: {plan.bound_note}"


def quality_facts(plan: Plan, row: Quality, sign: str) -> Iterator[tuple[str, str]]:
    """What is expected of the chosen budget."""
    error = f" {sign} {row.regret_stderr:.2g}" if row.regret_stderr is not None else ""
    yield "Regret", f"{row.regret:.3g}{error} (mean simple regret, standard error), from {runs_of(row.runs)}"
    low, high = row.inexact_interval
    yield (
        "Wrong",
        (
            f"{row.inexact:,} of {row.runs:,} answers are not exactly the {true_words(plan.task)}, "
            f"{row.inexact_rate:.1%} (95% interval {low:.1%} to {high:.1%})"
        ),
    )
    if row.beyond_epsilon_interval is not None:
        low, high = row.beyond_epsilon_interval
        yield (
            "",
            (
                f"{row.beyond_epsilon:,} are wrong by more than epsilon, {row.beyond_epsilon_rate:.1%} "
                f"(95% interval {low:.1%} to {high:.1%})"
            ),
        )


SKIPPED = {
    "tie": "no number of trials suffices: the answer hangs on a tie",
    "lower bound": "no method could be done before max_trials",
    "easier goal": "no search was done before max_trials where less was asked for",
    "time": "simulations take long without Numba",
}


def notes(plan: Plan) -> list[str]:
    """What the table leaves open."""
    if not plan.trials:
        return []
    told = list(least_notes(plan))
    if any(row.undecided for row in plan.trials):
        told.append(f"> with runs: some searches gave up, undecided, after {plan.max_trials:,} trials (max_trials)")
    told += [
        f"{'-' if reason == 'time' else '>'} without runs: not simulated, because {SKIPPED[reason]}"
        for reason in ("lower bound", "easier goal", "time")
        if any(row.skipped == reason for row in plan.trials)
    ]
    if any(row.skipped == "tie" for row in plan.trials):
        told.append(f"never: {SKIPPED['tie']}")
    if any(0 < row.runs < plan.runs and row.runs > row.undecided for row in plan.trials):
        told.append(f"fewer than {plan.runs:,} runs where searches are long (max_trials)")
    return told


def least_notes(plan: Plan) -> Iterator[str]:
    """What there is to compare the means with: for the chosen goal in full, for others where it is of another kind."""
    chosen = cast("PullForecast", plan.chosen)
    if chosen.lower_bound is not None:
        yield f"{least_heading(plan)} ({MARK}) is the {least_word(chosen.lower_bound_exact)}: {plan.bound_note}"
    for exact in (True, False):
        others = dict.fromkeys(f"{row.epsilon:g}" for row in plan.trials if row.lower_bound_exact is exact)
        if others and chosen.lower_bound_exact is not exact:
            yield f"for epsilon {list_names(list(others))} it is the {least_word(exact)}"


def least_heading(plan: Plan) -> str:
    """What stands above the numbers to compare with: a bound only if all of them are."""
    return "reference" if any(row.lower_bound_exact is False for row in plan.trials) else "bound"


def runs_of(runs: int) -> str:
    """So many simulated searches."""
    return plural(runs, "simulated search", "simulated searches")


# ---------------------------------------------------------------------------------------- tables


def trials_columns(plan: Plan) -> list[Column]:
    """One row per goal; what is the same in the row above is left out."""
    rows = plan.trials
    firsts = [index == 0 or rows[index - 1].epsilon != row.epsilon for index, row in enumerate(rows)]
    columns = [
        Column("epsilon", [f"{row.epsilon:g}" if first else "" for row, first in zip(rows, firsts, strict=True)]),
        Column("delta", [f"{row.delta:g}{f' {MARK}' if row is plan.chosen else ''}" for row in rows]),
        Column("mean", [mean_cell(row) for row in rows], right=True),
        Column("error", [count(row.stderr) for row in rows], right=True),
        Column("10%", [count(row.quantile_10) for row in rows], right=True),
        Column("50%", [count(row.quantile_50) for row in rows], right=True),
        Column("90%", [quantile_cell(row.quantile_90, row.runs, plan.max_trials) for row in rows], right=True),
        Column("wrong", [f"{row.errors:,}" if row.error_rate is not None else "-" for row in rows], right=True),
    ]
    if any(row.lower_bound is not None for row in rows):
        columns += [
            Column(least_heading(plan), [count(row.lower_bound) for row in rows], right=True),
            Column("ratio", ["-" if row.ratio is None else f"{row.ratio:.1f}" for row in rows], right=True),
        ]
    if any(row.runs != plan.runs for row in rows):
        columns.append(Column("runs", [f"{row.runs:,}" for row in rows], right=True))
    return columns


def mean_cell(row: PullForecast) -> str:
    """The mean, or what it exceeds."""
    if row.skipped == "tie":
        return "never"
    if row.more_than is not None:
        return f"> {row.more_than:,.0f}"
    return count(row.mean)


def quantile_cell(value: int | None, runs: int, max_trials: int) -> str:
    """A quantile; beyond the cap it is only known to be larger."""
    return f"> {max_trials:,}" if value is None and runs else count(value)


def count(value: float | None) -> str:
    """A number of trials; a dash where there is none."""
    return "-" if value is None else f"{value:,.0f}"


def quality_columns(plan: Plan) -> list[Column]:
    """One row per budget."""
    rows = plan.qualities
    regrets = [row.regret for row in rows]
    errors = [row.regret_stderr or 0.0 for row in rows]
    digits = Digits.of(regrets, [(0.0, error) for error in errors])
    columns = [
        Column("budget", [f"{row.budget:,}{f' {MARK}' if row is plan.chosen else ''}" for row in rows]),
        Column("regret", [digits.text(regret) for regret in regrets], right=True),
        Column("error", [digits.text(error) for error in errors], right=True),
        Column("not exact", [f"{row.inexact_rate:.1%}" for row in rows], right=True),
        Column("95% interval", [between(row.inexact_interval) for row in rows], right=True),
    ]
    if any(row.beyond_epsilon is not None for row in rows):
        columns += [
            Column("beyond epsilon", [f"{row.beyond_epsilon_rate:.1%}" for row in rows], right=True),
            Column("95% interval", [between(row.beyond_epsilon_interval) for row in rows], right=True),
        ]
    return columns


def between(interval: tuple[float, float] | None) -> str:
    """An interval of shares."""
    return "-" if interval is None else f"{interval[0]:.1%} to {interval[1]:.1%}"


def most_important(arms: Sequence[ArmForecast]) -> list[ArmForecast]:
    """All arms as they were given; of very many those in the Pareto set, and those with the most trials."""
    if len(arms) <= ROWS:
        return list(arms)
    return sorted(arms, key=lambda arm: (not arm.in_front, -(arm.pulls or 0.0)))[:ROWS]


def arm_columns(plan: Plan, arms: Sequence[ArmForecast]) -> list[Column]:
    """One row per arm. How often it is returned is a question under a budget; else there is hardly a doubt."""
    names = short_names((arm.name for arm in arms), NAME_WIDTH)
    columns = [
        Column("arm", [names[arm.name] for arm in arms], names=True),
        Column("guess", ["in" if arm.in_front else "out" for arm in arms]),
        *true_columns(arms, risk_heading(plan.risk, plan.alpha, plan.risk_label)),
        Column("returned", [percent_or_dash(arm.returned) for arm in arms], right=True),
        Column("trials", [count(arm.pulls) for arm in arms], right=True),
        Column("share", [percent_or_dash(arm.share) for arm in arms], right=True),
    ]
    if plan.qualities:
        after = [column.heading for column in columns].index("returned") + 1
        columns.insert(after, Column("95% interval", [between(arm.returned_interval) for arm in arms], right=True))
    if any(arm.ideal_share is not None for arm in arms):
        heading = "ideal share" if cast("PullForecast", plan.chosen).lower_bound_exact else "reference share"
        columns.append(Column(heading, [percent_or_dash(arm.ideal_share) for arm in arms], right=True))
    return columns


def percent_or_dash(part: float | None) -> str:
    """A share; a dash where there is none."""
    return "-" if part is None else f"{part:.1%}"


def draw_plan(plan: Plan) -> Axes:
    """The trials against epsilon, a line for each delta; or the quality of the answer against the budget."""
    from ramgape.views.plots import plan as plots
    from ramgape.views.plots import style

    figure = style.new_figure(title=title(plan))
    if plan.trials:
        plots.draw_trials(figure.add_subplot(), plan.trials)
    else:
        plots.draw_qualities(figure, plan.qualities)
    return figure.axes[0]
