"""Many runs as a table: how long they took, how often they were wrong, and where the pulls went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ramgape.common.formatting import list_names, share, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, asked_for

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ramgape.search.simulation import Replication

NAME_WIDTH = 32


@dataclass(frozen=True, slots=True)
class Summary:
    """A replication as rich shows it."""

    replication: Replication

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Names go in as Text, never as markup."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        explained = Table.grid(padding=(0, 2, 0, 0))
        explained.add_column(style="dim", no_wrap=True)
        explained.add_column(overflow="fold")
        for word, text in facts(self.replication, "+/-" if options.ascii_only else "±"):
            explained.add_row(word, Text(text))
        parts: list[RenderableType] = [Text(headline(self.replication), style="bold"), Text(), explained, Text()]
        parts += self._table()
        yield Panel(Group(*parts), expand=False, padding=(0, 1))

    def _table(self) -> list[RenderableType]:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        runs = len(self.replication.runs)
        returned = Counter(name for run in self.replication.runs for name in run.front)
        pulls = total_pulls(self.replication)
        samples = sum(pulls.values())
        names = list(pulls)
        if len(names) > ROWS:  # those that matter: in the truth, in an answer, or much tried
            names.sort(key=lambda name: (name not in self.replication.true_front, -returned[name], -pulls[name]))
        shown = short_names(names, NAME_WIDTH)
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("arm", no_wrap=True)
        table.add_column("truth")
        for heading in ("returned", "pulls a run", "share"):
            table.add_column(heading, justify="right", no_wrap=True)
        for name in names[:ROWS]:
            true = name in self.replication.true_front
            style = "bold cyan" if true else ""
            table.add_row(
                Text(shown[name], style=style),
                Text("in" if true else "out", style=style),
                f"{returned[name]:,} of {runs:,}",
                f"{pulls[name] / runs:,.0f}",
                share(pulls[name], samples),
            )
        if len(names) <= ROWS:
            return [table]
        return [table, Text(f"... and {len(names) - ROWS:,} more", style="dim")]


def total_pulls(replication: Replication) -> Counter[str]:
    """How often all runs together pulled each arm, in the order of the arms."""
    total: Counter[str] = Counter()
    for run in replication.runs:
        total.update(run.pulls)
    return total


def headline(replication: Replication) -> str:
    """What was done, in a line."""
    seeds = f"seeds {replication.runs[0].seed} to {replication.runs[-1].seed}"
    return f"{printable(replication.instance)}: {len(replication.runs):,} runs of {replication.policy}, {seeds}"


def facts(replication: Replication, plus_minus: str) -> Iterator[tuple[str, str]]:
    """The numbers, with a word in front of each."""
    runs, goal = replication.runs, replication.goal
    regrets = [run.regret for run in runs]
    yield "Goal", f"fixed {goal.kind} ({asked_for(goal)}), bound {replication.bound}, risk {replication.risk}"
    yield "Truth", f"the Pareto set is {list_names(replication.true_front)}"
    yield "Pulls", pulls_of(replication, plus_minus)
    yield "Wrong", errors_of(replication)
    exact = sum(run.exact for run in runs)
    yield "Exact", f"{exact:,} of {len(runs):,} answers are exactly the true Pareto set"
    yield "Regret", f"{fmean(regrets):.3g} on average, {max(regrets):.3g} at most (simple regret)"
    if goal.kind == "confidence":
        capped = len(runs) - len(replication.ended)
        yield "Undecided", f"{capped:,} of {len(runs):,} runs reached the largest allowed number of pulls"
    yield "Speed", f"{replication.ns_per_pull:,.0f} ns a pull; {replication.seconds:,.2f} s in all"


def pulls_of(replication: Replication, plus_minus: str) -> str:
    """Average, its standard error, and the extremes."""
    samples = [run.samples for run in replication.runs]
    if min(samples) == max(samples):
        return f"{samples[0]:,} in every run"
    mean, error = replication.mean_samples, replication.mean_samples_stderr or 0.0
    return f"{mean:,.0f} {plus_minus} {error:,.0f} (mean, standard error), from {min(samples):,} to {max(samples):,}"


def errors_of(replication: Replication) -> str:
    """How often the answer was wrong, and how often it may be."""
    rate, interval = replication.error_rate, replication.error_interval
    if rate is None or interval is None:
        return "unknown, since no run came to an answer"
    judged = f"{replication.errors:,} of {len(replication.ended):,} answers"
    meaning = "beyond epsilon" if replication.goal.epsilon else "not exactly the true Pareto set"
    return f"{judged} {meaning}, {rate:.1%} (95% interval {interval[0]:.1%} to {interval[1]:.1%})"
