"""`ramgape plan`: before any trial, what a search will take if the arms are as guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.completion import instances
from ramgape.cli.options import AROUND, RunPlace, Seed, Text, gathers, option, place_of_runs, takes_options
from ramgape.cli.pictures import Output, takes_output
from ramgape.common.parsing import numbers, parse_number
from ramgape.common.terminal import output, watching_work
from ramgape.options import PLAN, PLANNED_RUNS, RUNS, Options

if TYPE_CHECKING:
    from ramgape.simulation.forecast import Plan

INSTANCE = "Your guess of the arms: a JSON file, or a built-in instance (ramgape list instances)."
EPSILONS = "Several tolerances, 0.1,0.05 say; the first stands for --epsilon. Default: some around that, and 0."
DELTAS = "Several probabilities; the first stands for --delta. Default: 0.1,0.05,0.01."
BUDGETS = "Several budgets; the first stands for --budget. Default: a quarter of that to four times as much."
COUNT = "Simulated searches of each goal; fewer where they are long, but 10 at least."


@takes_output()
@takes_options(PLAN)
@gathers("place", place_of_runs, last=True)
def plan(
    instance: Annotated[
        str, typer.Argument(metavar="INSTANCE", help=INSTANCE, show_default=False, autocompletion=instances)
    ],
    options: Options,
    out: Output,
    place: RunPlace,
    epsilons: Annotated[Text, option(AROUND, "NUMBERS", EPSILONS)] = None,
    deltas: Annotated[Text, option(AROUND, "NUMBERS", DELTAS)] = None,
    budgets: Annotated[Text, option(AROUND, "NUMBERS", BUDGETS)] = None,
    runs: Annotated[str, option(RUNS, "COUNT", COUNT)] = str(PLANNED_RUNS),
    seed: Seed = "0",
) -> None:
    """Forecast how many trials a search will take.

    Simulates searches on your guess of the arms, as a power calculation does.

    [bold]ramgape plan mine.json --epsilon 0.02 --delta 0.05[/bold]
    the expected trials, their spread, and how they change with epsilon and delta

    [bold]ramgape plan mine.json --budget 2000 --plot plan.png[/bold]
    how good the answer will be after 2,000 trials, and after fewer or more

    All numbers come from simulated searches and hold if the arms are as guessed.
    If the guess is wrong, the guarantee of a search with epsilon and delta holds
    all the same; only the number of trials changes.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    asked: dict[str, Any] = {
        "epsilons": numbers(epsilons, "epsilons"),
        "deltas": numbers(deltas, "deltas"),
        "budgets": numbers(budgets, "budgets"),
        "runs": parse_number(runs, "runs"),
        "seed": parse_number(seed, "seed"),
        **options,
    }
    planned = compute(instance, place, asked)
    if out.as_json:
        typer.echo(planned.to_json())
    else:
        output().print(replace(planned, warnings=()))  # which have been told on stderr
    out.write(planned)


def compute(instance: str, place: RunPlace, asked: dict[str, Any]) -> Plan:
    """The plan, with a bar over its simulations."""
    with watching_work() as show:
        from ramgape.simulation.plan import plan as make_plan

        with place.workers() as executor:
            return make_plan(instance, executor=executor, callback=show, keep=place.keep, **asked)
