"""`ramgape analyze`: what logged rewards prove, and which arms to try next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.csv_rows import Rows, Source, check_delimiter, open_source
from ramgape.cli.errors import warnings_told
from ramgape.cli.options import OUTPUT, AsJson, option, takes_options
from ramgape.common.parsing import parse_number
from ramgape.options import ANALYZE, DATA, Options
from ramgape.views.terminal import output, waiting, watching_work

if TYPE_CHECKING:
    from ramgape.search.analysis import Analysis

OFTEN = 20_000  # rows after which the bar moves

FILE = "A CSV file whose first line names its columns (UTF-8; .csv.gz is unpacked); - for standard input."
NEXT = "For how many further pulls to tell which arms should get them."
SKIP_EMPTY = "Leave out rows without a reward, and count them, instead of refusing the file."
DELIMITER = "What stands between two columns: one letter, or tab."


@takes_options(ANALYZE)
def analyze(
    data: Annotated[str, typer.Argument(metavar="DATA.CSV", help=FILE, show_default=False)],
    arm_column: Annotated[str, option(DATA, "NAME", "The column with the arms' names.")],
    reward_column: Annotated[str, option(DATA, "NAME", "The column with the rewards.")],
    options: Options,
    delimiter: Annotated[str, option(DATA, "LETTER", DELIMITER)] = ",",
    skip_empty: Annotated[bool, typer.Option("--skip-empty", help=SKIP_EMPTY, rich_help_panel=DATA)] = False,
    next_pulls: Annotated[str, typer.Option("--next", metavar="PULLS", help=NEXT, rich_help_panel=OUTPUT)] = "10",
    as_json: AsJson = False,
) -> None:
    """Tell what logged rewards prove about the Pareto set, and which arms to try next.

    [bold]ramgape analyze log.csv --arm-column model --reward-column score --reward-range 0 1[/bold]
    the set, what is certain of each arm, and who should get the next 10 trials

    The file is read once, row by row: it may be larger than memory.

    What is proved is true with probability 1 - delta, if each arm's rewards are
    independent draws from one distribution and no row is missing because of its
    reward. Without --reward-range and --noise it is so approximately, for large
    samples, and said to be. How arms were chosen does not matter, and you may look again as often
    as you like while the file grows, with the same options.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
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
