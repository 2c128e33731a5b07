"""`ramgape analyze`: what logged rewards prove, and which arms to try next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ramgape.cli.csv_rows import Rows, Source, check_delimiter, open_source
from ramgape.cli.errors import warnings_told
from ramgape.cli.simulate import (
    DELTA,
    GOAL,
    METHOD,
    OUTPUT,
    Alpha,
    AsJson,
    Bound,
    Direction,
    Policy,
    Resolution,
    Rho,
    RiskMeasure,
    Text,
    option,
    read_options,
)
from ramgape.common.parsing import number_range, parse_number
from ramgape.errors import InvalidSpec
from ramgape.views.terminal import output, waiting, watching_work

if TYPE_CHECKING:
    from ramgape.options import Options
    from ramgape.search.analysis import Analysis

DATA = "What is in the file"
OFTEN = 20_000  # rows after which the bar moves

FILE = "A CSV file whose first line names its columns (UTF-8; .csv.gz is unpacked); - for standard input."
REWARD_RANGE = "Two numbers that no reward can leave, or --noise gaussian in its place; never guessed from the data."
EPSILON = (
    "Tolerance in mean and scaled risk, or MEAN,RISK: one for each. Unless given: 0, which asks for the exact Pareto "
    "set."
)
SIGMA_MAX = "For bound gaussian-paper: the largest standard deviation an arm may have."
NEXT = "For how many further pulls to tell which arms should get them."
SKIP_EMPTY = "Leave out rows without a reward, and count them, instead of refusing the file."
DELIMITER = "What stands between two columns: one letter, or tab."


def analyze(
    data: Annotated[str, typer.Argument(metavar="DATA.CSV", help=FILE, show_default=False)],
    arm_column: Annotated[str, option(DATA, "NAME", "The column with the arms' names.")],
    reward_column: Annotated[str, option(DATA, "NAME", "The column with the rewards.")],
    reward_range: Annotated[tuple[str, str] | None, option(DATA, "LO HI", REWARD_RANGE)] = None,
    noise: Annotated[Text, option(DATA, "NAME", "gaussian, for Gaussian rewards, which have no range.")] = None,
    delimiter: Annotated[str, option(DATA, "LETTER", DELIMITER)] = ",",
    skip_empty: Annotated[bool, typer.Option("--skip-empty", help=SKIP_EMPTY, rich_help_panel=DATA)] = False,
    epsilon: Annotated[Text, option(GOAL, "NUMBER", EPSILON)] = None,
    delta: Annotated[Text, option(GOAL, "NUMBER", DELTA)] = None,
    risk: RiskMeasure = None,
    rho: Rho = None,
    alpha: Alpha = None,
    direction: Direction = "maximize",
    policy: Policy = "auto",
    bound: Bound = "auto",
    sigma_max: Annotated[Text, option(METHOD, "NUMBER", SIGMA_MAX)] = None,
    resolution: Resolution = None,
    next_pulls: Annotated[str, typer.Option("--next", metavar="PULLS", help=NEXT, rich_help_panel=OUTPUT)] = "10",
    as_json: AsJson = False,
) -> None:
    """Tell what logged rewards prove about the Pareto set, and which arms to try next.

    [bold]ramgape analyze log.csv --arm-column model --reward-column score --reward-range 0 1[/bold]
    the set, what is certain of each arm, and who should get the next 10 trials

    The file is read once, row by row: it may be larger than memory.

    What is proved is true with probability 1 - delta, if each arm's rewards are
    independent draws from one distribution and no row is missing because of its
    reward. How arms were chosen does not matter, and you may look again as often
    as you like while the file grows, with the same options.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    options = read_options(
        epsilon=epsilon,
        delta=delta,
        risk=risk,
        rho=rho,
        alpha=alpha,
        direction=direction,
        policy=policy,
        bound=bound,
        sigma_max=sigma_max,
        resolution=resolution,
    )
    if reward_range is None and noise is None:
        allowed = "given (--reward-range LO HI), or --noise gaussian; it is never guessed"
        raise InvalidSpec(what="reward range", allowed=allowed)
    if reward_range is not None:
        options["reward_range"] = cast(tuple[float, float], number_range(reward_range, "reward_range"))
    options["noise"] = noise
    letter = check_delimiter(delimiter)
    further = parse_number(next_pulls, "next")
    with warnings_told() as told, open_source(data) as source:
        rows = Rows(source, arm_column, reward_column, letter, skip_empty)
        analysis = read(source, rows, options, further, (f"column {arm_column!r}", f"column {reward_column!r}"))
    if as_json:
        typer.echo(analysis.to_json())
        return
    untold = tuple(warning for warning in analysis.result.warnings if warning not in told)
    output().print(replace(analysis, result=replace(analysis.result, warnings=untold)))


def read(source: Source, rows: Rows, options: Options, further: Any, words: tuple[str, str]) -> Analysis:
    """All rows, with a bar over the bytes of the file; an interrupt says how far it came."""
    try:
        with watching_bytes(source) as show:
            from ramgape.search.analysis import Reading

            reading = Reading(options, next_pulls=further, words=words)
            shown = 0
            for _ in rows.read_into(reading.accumulator):
                if show is not None and rows.count >= shown + OFTEN:
                    shown = rows.count
                    show(shown)
            reading.skipped = rows.skipped
            return reading.infer()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"after {rows.count:,} rows") from None


@contextmanager
def watching_bytes(source: Source) -> Iterator[Callable[[int], None] | None]:
    """A live line on a file; what is yielded wants the number of rows. Nobody knows how long a pipe is."""
    size = source.size
    if size is None:
        with waiting("reading"):
            yield None
        return
    with watching_work() as show:

        def show_rows(count: int) -> None:
            if show is not None:
                show(min(source.position(), size), size, f"{count:,} rows")

        yield show_rows
