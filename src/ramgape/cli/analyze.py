"""`ramgape analyze`: what logged rewards prove, and which arms to try next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.errors import options_named, warnings_told
from ramgape.cli.options import OUTPUT, Text, gathers, option, takes_options
from ramgape.cli.pictures import Output, takes_output
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import output, waiting, watching_work
from ramgape.data.csv_rows import CsvRows, Layout, Source, check_delimiter, open_source
from ramgape.errors import require
from ramgape.options import ANALYZE, DATA, Options

if TYPE_CHECKING:
    from ramgape.data.analysis import Analysis

OFTEN = 20_000  # rows after which the bar moves

FILE = "A CSV file whose first line names its columns (UTF-8; .csv.gz is unpacked); - for standard input."
NEXT = "For how many further pulls to tell which arms should get them."
ARM_COLUMN = "The column with the arms' names. Default: arm, or the only text column."
REWARD_COLUMN = "The column with the rewards. Default: reward, or the only numeric column."
WIDE = (
    "A column an arm, a row an item or a moment, in place of --arm-column and --reward-column. Arms may depend on each "
    "other within a row, unless --no-shared."
)
ITEM_COLUMN = "The column with what a score is about: arms are then compared item by item (see --items)."
BLOCK_COLUMN = (
    "The column with what trials of several arms share, a day or a game: there arms may depend on each other. An arm "
    "has one row a block at most."
)
SKIP_EMPTY = "Short for --na drop: leave out rows without a reward, and count them, instead of refusing the file."
DELIMITER = "What stands between two columns: one letter, or tab."


def further_columns(
    item_column: Annotated[Text, option(DATA, "NAME", ITEM_COLUMN)] = None,
    block_column: Annotated[Text, option(DATA, "NAME", BLOCK_COLUMN)] = None,
) -> tuple[Text, Text]:
    """The columns that a table may have besides those of arms and rewards."""
    return item_column, block_column


@takes_output()
@takes_options(ANALYZE)
@gathers("further", further_columns)
def analyze(
    data: Annotated[str, typer.Argument(metavar="DATA.CSV", help=FILE, show_default=False)],
    options: Options,
    out: Output,
    arm_column: Annotated[Text, option(DATA, "NAME", ARM_COLUMN)] = None,
    reward_column: Annotated[Text, option(DATA, "NAME", REWARD_COLUMN)] = None,
    further: tuple[Text, Text] = (None, None),
    wide: Annotated[bool, typer.Option("--wide", help=WIDE, rich_help_panel=DATA)] = False,
    delimiter: Annotated[str, option(DATA, "LETTER", DELIMITER)] = ",",
    skip_empty: Annotated[bool, typer.Option("--skip-empty", help=SKIP_EMPTY, rich_help_panel=DATA)] = False,
    next_pulls: Annotated[str, typer.Option("--next", metavar="PULLS", help=NEXT, rich_help_panel=OUTPUT)] = "10",
) -> None:
    """Tell what logged rewards prove about the Pareto set, and which arms to try next.

    [bold]ramgape analyze log.csv --reward-range 0 1[/bold]
    the columns arm and reward, or the only text column and the only numeric column

    [bold]ramgape analyze log.csv --arm-column model --reward-column score --reward-range 0 1[/bold]
    the set, what is certain of each arm, and who should get the next 10 trials

    [bold]ramgape analyze flights.csv --arm-column carrier --reward-column arr_delay --direction minimize --na NA[/bold]
    costs without a range, some of them missing: who is early, and reliably so

    [bold]ramgape analyze scores.csv --wide --items population --reward-range 0 1 --question best-mean[/bold]
    a finished test set, a column an arm and a row an item: the exact answer over these items

    The file is read once, row by row: it may be larger than memory, unless it is about
    items, of which every score is kept.

    What is proved is true with probability 1 - delta, if each arm's rewards are
    independent draws from one distribution, arms are independent of each other (except
    within rows or blocks that they share), and no row is missing because of its
    reward. Without --reward-range and --noise it is so approximately, and said
    to be. How arms were chosen does not matter, and you may look again as often
    as you like while the file grows, with the same options.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    letter = check_delimiter(delimiter)
    item_column, block_column = further
    for name, column in (("--arm-column", arm_column), ("--reward-column", reward_column)):
        require(column is None or not wide, name, "absent with --wide, where every column is an arm", column)
    if item_column is not None:
        options.setdefault("items", "sample")
    about_items = options.get("items") is not None
    require(not (about_items and skip_empty), "--skip-empty", "absent with items, of which none may be missing", True)
    require(wide or not about_items or item_column is not None, "--item-column", "given with --items, or --wide", None)
    layout = Layout(arm_column, reward_column, item_column, block_column, wide)
    missing = str(options.get("na") or "").split(",")
    with warnings_told() as told, open_source(data) as source, options_named():
        rows = CsvRows(source, layout, letter, missing)
        analysis = read(source, rows, options, parse_number(next_pulls, "next"), skip_empty)
    analysis = analysis.named(rows.reward)
    if out.as_json:
        typer.echo(analysis.to_json())
    else:
        untold = tuple(warning for warning in analysis.result.warnings if warning not in told)
        output().print(replace(analysis, result=replace(analysis.result, warnings=untold)))
    out.write(analysis)


def read(source: Source, rows: CsvRows, options: Options, further: Any, skip_empty: bool) -> Analysis:
    """All rows, with a bar over the bytes of the file; an interrupt says how far it came."""
    try:
        with watching_bytes(source) as show:
            from ramgape.data.analysis import Reading, share_blocks

            share_blocks(options, wide=rows.layout.wide, named=rows.layout.block is not None)
            reading = Reading(options, next_pulls=further, words=rows.words, skip_empty=skip_empty)
            shown = 0
            for _ in rows.read_into(reading):
                if show is not None and rows.count >= shown + OFTEN:
                    shown = rows.count
                    show(shown)
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
