"""`ramgape simulate`: one or many searches of an instance whose truth is known."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.completion import instances
from ramgape.cli.options import INSTANCE, RunPlace, Seed, Text, gathers, option, place_of_runs, takes_options
from ramgape.cli.pictures import Output, takes_output
from ramgape.cli.streams import INTERRUPTED, warnings_told
from ramgape.common.checks import check_seed, whole
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import READY, count_runs, output, waiting
from ramgape.errors import RamgapeWarning
from ramgape.options import RUNS, SIMULATE, Options

if TYPE_CHECKING:
    from ramgape.search.result import Result
    from ramgape.simulation.replication import Replication

CHECKPOINTS = "Tell regret and wrong answers along the way as well: at so many points, or after 100,300,1000 pulls."
PLOT = "Draw the first run into a file (.png, .svg, .pdf); needs matplotlib."
HTML = "Write a report of the run, or of all runs, into a file (.html) that needs no network; needs matplotlib."


@takes_output(plot=PLOT, html=HTML, explains=True)
@takes_options(SIMULATE)
@gathers("place", place_of_runs, last=True)
def simulate(
    instance: Annotated[
        str, typer.Argument(metavar="INSTANCE", help=INSTANCE, show_default=False, autocompletion=instances)
    ],
    options: Options,
    out: Output,
    place: RunPlace,
    runs: Annotated[str, option(RUNS, "COUNT", "Independent repetitions.")] = "1",
    checkpoints: Annotated[Text, option(RUNS, "COUNT", CHECKPOINTS)] = None,
    seed: Seed = "0",
) -> None:
    """Simulate searches on a problem with known truth.

    Runs one search or many, and compares the answers with the truth.

    [bold]ramgape simulate paper:46 --epsilon 0.02[/bold]
    one search that goes on until its answer is right with probability 0.95

    [bold]ramgape simulate paper:46 --epsilon 0.05 --budget 2e4 --runs 100 --jobs 0[/bold]
    a hundred searches of 20,000 pulls each, on all cores: how often are they wrong?

    Numbers may be written as 20000, 20_000 or 2e4. Ctrl-C ends a single run early
    and shows what it has found so far; with --json or several runs it prints nothing.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    first = check_seed(parse_number(seed, "seed"))
    count = whole(parse_number(runs, "runs"), "runs", "a whole number of at least 1", 1)
    points = None if checkpoints is None else read_checkpoints(checkpoints)
    plain = points is None and place.cluster is None and place.keep is None
    if count == 1 and not out.as_json and plain:
        result = simulate_once(instance, first, options)
        out.print(result)
        out.write(result)
        if result.stopped == "interrupted":
            raise typer.Exit(INTERRUPTED)
        return
    replication = run_many(instance, count, first, place, options, points)
    if out.as_json:
        typer.echo(replication.to_json())
    else:
        output().print(replace(replication, warnings=()))  # which have been told on stderr
    if out.plot or out.html:  # of single runs only the numbers were kept
        one = first_run(instance, first, options)
        out.write(one, one if count == 1 else replication)


def read_checkpoints(text: str) -> Any:
    """How many points a curve has, or the numbers of pulls themselves."""
    numbers = [parse_number(each.strip(), "checkpoints") for each in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def run_many(
    instance: str, runs: int, seed: int, place: RunPlace, options: Options, checkpoints: Any = None
) -> Replication:
    """All runs, with a bar over them; an interrupt says how far it came."""
    finished = 0
    try:
        with waiting(READY):
            from ramgape.simulation.replication import replicate

        def count(number: int) -> None:
            nonlocal finished
            finished = number

        with place.workers(runs) as executor:
            given: Any = {"executor": executor, "callback": count, "keep": place.keep, **options}
            given["checkpoints"] = checkpoints
            return replicate(instance, runs=runs, seed=seed, **given)
    except KeyboardInterrupt:
        hint = f"; --runs {finished} would show so many" if finished else ""
        hint = "; the same command goes on from there" if place.keep else hint
        raise KeyboardInterrupt(f"after {count_runs(finished, runs)}{hint}") from None


def simulate_once(instance: str, seed: int, options: Options) -> Result:
    """One run, with live lines on where it stands; a warning told on stderr is not told again with the result."""
    with waiting(READY):
        import ramgape
        import ramgape.simulation.simulation
    with warnings_told() as told:
        result = ramgape.simulate(instance, seed=seed, **options)
    return replace(result, warnings=tuple(warning for warning in result.warnings if warning not in told))


def first_run(instance: str, seed: int, options: Options) -> Result:
    """The first of many runs, once more; whatever there is to warn of has been told."""
    with waiting("drawing"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RamgapeWarning)
        import ramgape

        return ramgape.simulate(instance, seed=seed, **options)
