"""`ramgape study create`: how a study begins."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ramgape.cli.csv_rows import open_source
from ramgape.cli.simulate import (
    DELTA,
    GOAL,
    Alpha,
    AsJson,
    Bound,
    Direction,
    Exploration,
    InitialPulls,
    Policy,
    Resolution,
    Returned,
    Rho,
    RiskMeasure,
    SigmaMax,
    Text,
    option,
    read_options,
)
from ramgape.cli.stores import Storage, storage_url
from ramgape.cli.study_files import ARM_COLUMN, REWARD_COLUMN, Format, WarmStart
from ramgape.common.checks import check_seed, whole
from ramgape.common.parsing import number_range, parse_number
from ramgape.errors import InvalidData, InvalidSpec, StudyExists
from ramgape.storage.urls import shown
from ramgape.views.terminal import output, print_object, waiting

if TYPE_CHECKING:
    from ramgape.options import Options
    from ramgape.studies.report import StudySummary
    from ramgape.studies.study import Study

ARMS, TRIALS, START = "What to choose from", "What a trial is", "Start"
EPSILON = (
    "Tolerance in mean and scaled risk, or MEAN,RISK: one for each, in reward units and in those of the risk (variance "
    "- rho mean, say). 0 asks for the exact Pareto set. Either this or --budget must be given."
)
ARM = "An arm, by its name; give it once for each."
ARMS_FILE = "A file with one name a line, beside or instead of --arm; - for standard input."
REWARD_RANGE = "Two numbers that no reward can leave, or --noise gaussian in its place."
NOISE = "gaussian, for Gaussian rewards, which have no range."
BUDGET = "Ask for exactly this many pulls and return the best guess; in place of --delta."
FAILURE = "What a failed trial is: one to retry, or the worst reward there is."
RETRIES = "How often a trial is tried again before it is given up."
IN_ORDER = (
    "Hold an arm's answers back until those to its earlier pulls are in: for rewards that have to do with how long a "
    "trial takes, when several are under way."
)
EXPIRED = "What an expired lease is: a trial to retry with somebody else or, with --failure worst, to fail."
SEED = "For a study that can be repeated: the seeds of its trials come from it. Unless given: a random one."
DATA = "A file with trials made already: .csv with a header, or .jsonl with one JSON object a line; - for stdin."
EXIST_OK = "If there is such a study already, it is fine, provided that it is the same."


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the study.", show_default=False)],
    arm: Annotated[list[str] | None, option(ARMS, "NAME", ARM)] = None,
    arms_file: Annotated[Text, option(ARMS, "FILE", ARMS_FILE)] = None,
    reward_range: Annotated[tuple[str, str] | None, option(TRIALS, "LO HI", REWARD_RANGE)] = None,
    noise: Annotated[Text, option(TRIALS, "NAME", NOISE)] = None,
    failure: Annotated[str, option(TRIALS, "NAME", FAILURE)] = "retry",
    retries: Annotated[str, option(TRIALS, "COUNT", RETRIES)] = "3",
    in_order: Annotated[bool, typer.Option("--in-order", help=IN_ORDER, rich_help_panel=TRIALS)] = False,
    expired: Annotated[str, option(TRIALS, "NAME", EXPIRED)] = "retry",
    seed: Annotated[Text, option(TRIALS, "SEED", SEED)] = None,
    epsilon: Annotated[Text, option(GOAL, "NUMBER", EPSILON)] = None,
    delta: Annotated[Text, option(GOAL, "NUMBER", DELTA)] = None,
    budget: Annotated[Text, option(GOAL, "PULLS", BUDGET)] = None,
    max_pulls: Annotated[Text, option(GOAL, "PULLS", "Give up, undecided, after this many pulls.")] = None,
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
    data: Annotated[Text, option(START, "FILE", DATA)] = None,
    form: Format = None,
    arm_column: Annotated[str, option(START, "NAME", ARM_COLUMN)] = "arm",
    reward_column: Annotated[str, option(START, "NAME", REWARD_COLUMN)] = "reward",
    exist_ok: Annotated[bool, typer.Option("--exist-ok", help=EXIST_OK, rich_help_panel=START)] = False,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Make a new study.

    [bold]ramgape study create models --arm A --arm B --reward-range 0 1 --epsilon 0.05 --delta 0.05[/bold]
    trials until the answer is right up to 0.05, with probability 0.95

    [bold]ramgape study create models --arms-file names.txt --noise gaussian --budget 500[/bold]
    the best answer that 500 trials can buy
    """
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
    if reward_range is not None:
        options["reward_range"] = cast(tuple[float, float], number_range(reward_range, "reward_range"))
    if noise is not None:
        options["noise"] = noise
    if arms_file == data == "-":
        given = "standard input for both"
        raise InvalidSpec(what="one of --arms-file and --data", allowed="a file", given=given)
    names = [*(arm or []), *([] if arms_file is None else read_names(arms_file))]
    if data is None and (form, arm_column, reward_column) != (None, "arm", "reward"):
        what = "--format, --arm-column and --reward-column"
        raise InvalidSpec(what=what, verb="go", allowed="with --data", given="no data")
    url = storage_url(storage)
    first = None if seed is None else check_seed(parse_number(seed, "seed"))
    attempts = whole(parse_number(retries, "retries"), "retries", "a whole number of at least 0", 0)
    start = None if data is None else WarmStart(data, form, arm_column, reward_column)
    trials = {"failure": failure, "retries": attempts, "seed": first, "in_order": in_order, "expired": expired}
    with waiting("creating"):
        study, new = make(name, names, url, exist_ok, start, options, **trials)
    study.close()
    from ramgape.studies.catalog import find_summary

    made = find_summary(name, url)
    if made is None:
        from ramgape.storage.rows import deleted_meanwhile

        raise deleted_meanwhile(shown(url))
    if as_json:
        print_object(describe(made, url, new))
    else:
        tell_next(made, url, new, storage)


def make(
    name: str,
    arms: list[str],
    url: str,
    exist_ok: bool,
    start: WarmStart | None,
    options: Options,
    **trials: Any,
) -> tuple[Study, bool]:
    """The study, and whether it is new."""
    from ramgape.studies.study import Study

    def attempt(exist_ok: bool) -> Study:
        if start is None:
            return Study.create(name, arms, storage=url, exist_ok=exist_ok, **trials, **options)
        with start.located():
            return Study.create(name, arms, storage=url, exist_ok=exist_ok, data=start.pairs(), **trials, **options)

    try:
        return attempt(exist_ok=False), True
    except StudyExists:
        if not exist_ok:
            raise
    return attempt(exist_ok=True), False


def read_names(path: str) -> list[str]:
    """The lines of a file that are not empty."""
    with open_source(path) as source:
        try:
            lines = source.text.read().splitlines()
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise InvalidData(place=source.name, allowed="UTF-8 text", given=f"byte 0x{byte:02x}") from None
    return [line.strip() for line in lines if line.strip()]


def describe(study: StudySummary, url: str, new: bool) -> dict[str, Any]:
    """For JSON."""
    return {"storage": shown(url), "created": new, **study.to_dict()}


def tell_next(study: StudySummary, url: str, new: bool, storage: str | None) -> None:
    """For people: what there is now, and what to do with it."""
    from rich.text import Text as Line

    from ramgape.common.formatting import plural
    from ramgape.errors import printable
    from ramgape.views.study import goal_words

    facts = [plural(len(study.arms), "arm"), goal_words(study.goal)]
    if study.told:
        facts.append(f"{plural(study.told, 'trial')} told already")
    verb = "Created" if new else "There is already"
    where = "" if storage is None else f" --storage {shlex.quote(storage)}"
    step = f"ramgape study {'show' if study.done else 'ask'} {shlex.quote(study.name)}{where}"
    console = output()
    console.print(Line(f"{verb} study {printable(study.name)} in {shown(url)}: {'; '.join(facts)}."), soft_wrap=True)
    console.print(Line(f"Next: {printable(step)}"), soft_wrap=True)
