"""`ramgape simulate`: one or many searches of an instance whose truth is known."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ramgape.cli.errors import INTERRUPTED, tell, warnings_told
from ramgape.cli.pictures import check_picture, write_picture
from ramgape.common.checks import check_seed, whole
from ramgape.common.parsing import parse_number
from ramgape.errors import RamgapeWarning
from ramgape.options import DEFAULT_DELTA, DEFAULT_EPSILON, DEFAULT_MAX_PULLS, DEFAULT_RHO, OPTIONS, Options
from ramgape.views.terminal import count_runs, output, waiting, watching_run, watching_runs

if TYPE_CHECKING:
    from ramgape.search.result import Result
    from ramgape.search.simulation import Replication

GOAL, RISK, METHOD, RUNS, OUTPUT = "What to ask for", "What counts as risk", "How to search", "Runs", "Output"


def option(panel: str, metavar: str, text: str) -> Any:
    """An option with a value."""
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel)


INSTANCE = (
    "A built-in instance such as paper:46, paper-gaussian:3 or paper:exp3, or a JSON file (ramgape list instances)."
)
EPSILON = (
    "Tolerance in mean and scaled risk, or MEAN,RISK: one for each, in reward units and in those of the risk (variance "
    f"- rho mean, say). 0 asks for the exact Pareto set. Unless given: {DEFAULT_EPSILON}."
)
DELTA = f"Accepted probability of a wrong answer. Unless given: {DEFAULT_DELTA}."
BUDGET = "Spend exactly this many pulls and return the best guess; in place of --delta."
RISK_MEASURE = (
    "mean-variance:RHO, variance, semivariance:TARGET, entropic:GAMMA or cvar:LEVEL (ramgape list risks). Unless "
    f"given: mean-variance:{DEFAULT_RHO}."
)
RHO = f"Short for --risk mean-variance:RHO, the risk variance - rho mean. Unless given: {DEFAULT_RHO}."
ALPHA = (
    "Factor of the risk. Unless given: 1 / (3 reward range + rho) for mean-variance and variance, 1 / (2 reward range) "
    "for semivariance, 1 for a risk in reward units or if --epsilon is MEAN,RISK."
)
RETURNED = "With --budget: the set of the last round, or of the round of smallest-doubt."
SIGMA_MAX = "For Gaussian rewards: the largest standard deviation an arm may have. Unless given: the instance's own."
RESOLUTION = "For Gaussian rewards: the step to which they were rounded, in their units. Unless given: they were not."
SEED = "Seed of the first run; run r has SEED + r, and can be repeated alone with that."
JOBS = "Processes that share the runs; 0: one for each core. The numbers do not depend on it."
PLOT = "Draw the first run into a file (.png, .svg, .pdf); needs matplotlib."

Text = str | None  # not given, or as it was typed

# The options of a search but for its goal, for all commands that search.
RiskMeasure = Annotated[Text, option(RISK, "NAME:NUMBER", RISK_MEASURE)]
Rho = Annotated[Text, option(RISK, "NUMBER", RHO)]
Alpha = Annotated[Text, option(RISK, "NUMBER", ALPHA)]
Direction = Annotated[str, option(RISK, "NAME", "maximize rewards, or minimize costs.")]
Policy = Annotated[str, option(METHOD, "NAME", "Which arm is pulled next (ramgape list policies).")]
Bound = Annotated[str, option(METHOD, "NAME", "How wide the confidence intervals are (ramgape list bounds).")]
Exploration = Annotated[
    Text,
    option(
        METHOD, "A", "With --budget and a policy of the paper: theorem (unless given), sharp, or the constant itself."
    ),
]
Returned = Annotated[str, option(METHOD, "NAME", RETURNED)]
SigmaMax = Annotated[Text, option(METHOD, "NUMBER", SIGMA_MAX)]
Resolution = Annotated[Text, option(METHOD, "NUMBER", RESOLUTION)]
InitialPulls = Annotated[str, option(METHOD, "PULLS", "Pulls of every arm before the policy decides.")]
Seed = Annotated[str, option(RUNS, "SEED", SEED)]
Jobs = Annotated[str, option(RUNS, "COUNT", JOBS)]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of a table.", rich_help_panel=OUTPUT)
]


def simulate(
    instance: Annotated[str, typer.Argument(metavar="INSTANCE", help=INSTANCE, show_default=False)],
    epsilon: Annotated[Text, option(GOAL, "NUMBER", EPSILON)] = None,
    delta: Annotated[Text, option(GOAL, "NUMBER", DELTA)] = None,
    budget: Annotated[Text, option(GOAL, "PULLS", BUDGET)] = None,
    max_pulls: Annotated[
        str, option(GOAL, "PULLS", "Give up, undecided, after this many pulls.")
    ] = f"{DEFAULT_MAX_PULLS:_}",
    risk: RiskMeasure = None,
    rho: Rho = None,
    alpha: Alpha = None,
    direction: Direction = "maximize",
    policy: Policy = "auto",
    bound: Bound = "auto",
    exploration: Exploration = None,
    returned: Returned = "last",
    sigma_max: SigmaMax = None,
    resolution: Resolution = None,
    initial_pulls: InitialPulls = "2",
    runs: Annotated[str, option(RUNS, "COUNT", "Independent repetitions.")] = "1",
    seed: Seed = "0",
    jobs: Jobs = "1",
    as_json: AsJson = False,
    plot: Annotated[Path | None, option(OUTPUT, "FILE", PLOT)] = None,
) -> None:
    """Search an instance whose truth is known, once or many times, and compare the answer with the truth.

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
    processes = check_jobs(jobs)
    if plot is not None:
        check_picture(plot, "plot")
    options = read_options(
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        max_pulls=max_pulls,
        risk=risk,
        rho=rho,
        alpha=alpha,
        direction=direction,
        policy=policy,
        bound=bound,
        exploration=exploration,
        returned=returned,
        sigma_max=sigma_max,
        resolution=resolution,
        initial_pulls=initial_pulls,
    )
    result = None
    if as_json or count > 1:
        replication = run_many(instance, count, first, processes, options)
        if as_json:
            typer.echo(replication.to_json())
        else:
            output().print(replace(replication, warnings=()))  # which have been told on stderr
    else:
        result = simulate_once(instance, first, options)
        output().print(result)
        if result.stopped == "interrupted":
            raise typer.Exit(INTERRUPTED)
    if plot is not None:
        draw(instance, first, options, result, plot)


def check_jobs(jobs: str) -> int:
    """How many processes; 0 stands for one for each core."""
    return whole(parse_number(jobs, "jobs"), "jobs", "a whole number of at least 0 (0 means one for each core)", 0)


def read_options(**texts: Text) -> Options:
    """What was typed as the library's options; what was not given is the library's to decide."""
    read = {name: OPTIONS[name].read(text, name) for name, text in texts.items() if text is not None}
    return cast(Options, read)


def run_many(instance: str, runs: int, seed: int, jobs: int, options: Options) -> Replication:
    """All runs, with a bar over them; an interrupt says how far it came."""
    finished = 0
    try:
        with watching_runs(runs) as show:
            from ramgape.cli.workers import workers
            from ramgape.search.simulation import replicate

            def count(number: int) -> None:
                nonlocal finished
                finished = number
                if show is not None:
                    show(number)

            with workers(jobs, runs) as executor:
                return replicate(instance, runs=runs, seed=seed, executor=executor, callback=count, **options)
    except KeyboardInterrupt:
        hint = f"; --runs {finished} would show so many" if finished else ""
        raise KeyboardInterrupt(f"after {count_runs(finished, runs)}{hint}") from None


def simulate_once(instance: str, seed: int, options: Options) -> Result:
    """One run, with a live line on its doubt; a warning told on stderr is not told again with the result."""
    with watching_run(budget="budget" in options) as show, warnings_told() as told:
        import ramgape

        result = ramgape.simulate(instance, seed=seed, callback=show, **options)
    return replace(result, warnings=tuple(warning for warning in result.warnings if warning not in told))


def draw(instance: str, seed: int, options: Options, result: Result | None, path: Path) -> None:
    """The picture of the first run, which is repeated if only its numbers were kept."""
    with waiting("drawing"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RamgapeWarning)
        if result is None:
            import ramgape

            result = ramgape.simulate(instance, seed=seed, **options)
        write_picture(result, path, "plot")
    tell("written", str(path), "bold")
