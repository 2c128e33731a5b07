"""`ramgape analyze`: what logged rewards prove, and which arms to try next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from ramgape.cli.errors import options_named
from ramgape.cli.gate import Gate, takes_gate
from ramgape.cli.options import OUTPUT, Text, gathers, option, takes_options
from ramgape.cli.pictures import Output, takes_output
from ramgape.cli.streams import warnings_told
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import waiting, watching_work
from ramgape.data.columns import Layout
from ramgape.data.files import FileOptions
from ramgape.errors import require
from ramgape.options import ANALYZE, DATA, Options

if TYPE_CHECKING:
    from ramgape.data.files import Watch
    from ramgape.data.source import Source

OFTEN = 20_000  # rows after which the bar moves

FILES = "Tables or logs of a known tool (see above), or patterns such as logs/*.eval; - for standard input."
NEXT = "Show which arms should get this many further trials."
ARM_COLUMN = "The column with the arms. Default: arm, or the only text column; of a log the model, command, ..."
REWARD_COLUMN = "The column with the rewards, or the outcome of a log. Default: reward, or the only numeric column."
WIDE = (
    "Read a table with a column an arm and a row an item or a moment. Arms may depend on each other within a row, "
    "unless --no-shared. The only text column names the items."
)
ITEM_COLUMN = "The column with what a score is about: arms are then compared item by item (see --items)."
BLOCK_COLUMN = (
    "The column with what trials of several arms share, a day or a game: there arms may depend on each other. An arm "
    "has one row a block at most."
)
CLUSTER_COLUMN = "The column with the cluster of an item, such as the text it is about. Evidence counts clusters."
SKIP_EMPTY = "Short for --na drop: leave out rows without a reward, and count them, instead of refusing the file."
DELIMITER = "The letter between two columns, or tab. Default: what the first lines show."
DECIMAL = "The decimal mark, a point or a comma. Default: what the first lines show."
ENCODING = "The encoding of the text, such as cp1252. Default: utf-8, or utf-16 where the file says so."
SHUFFLE = "Take items in a random order with this seed. Default: the order of the file."


def file_layout(
    arm_column: Annotated[Text, option(DATA, "NAME", ARM_COLUMN, "--arm-column", "--arm")] = None,
    reward_column: Annotated[Text, option(DATA, "NAME", REWARD_COLUMN)] = None,
    item_column: Annotated[Text, option(DATA, "NAME", ITEM_COLUMN)] = None,
    block_column: Annotated[Text, option(DATA, "NAME", BLOCK_COLUMN)] = None,
    cluster_column: Annotated[Text, option(DATA, "NAME", CLUSTER_COLUMN)] = None,
    wide: Annotated[bool, typer.Option("--wide", help=WIDE, rich_help_panel=DATA)] = False,
) -> Layout:
    """The columns of a table."""
    for name, column in (("--arm-column", arm_column), ("--reward-column", reward_column)):
        require(column is None or not wide, name, "absent with --wide, where every column is an arm", column)
    return Layout(arm_column, reward_column, item_column, block_column, cluster_column, wide)


def file_options(
    delimiter: Annotated[Text, option(DATA, "LETTER", DELIMITER)] = None,
    decimal: Annotated[Text, option(DATA, "MARK", DECIMAL)] = None,
    encoding: Annotated[Text, option(DATA, "NAME", ENCODING)] = None,
    shuffle: Annotated[Text, option(DATA, "SEED", SHUFFLE)] = None,
) -> FileOptions:
    """How files are written."""
    seed = None if shuffle is None else parse_number(shuffle, "shuffle")
    return FileOptions(delimiter, decimal, encoding, seed)  # type: ignore[arg-type]


@takes_output(explains=True)
@takes_gate()
@takes_options(ANALYZE)
@gathers("layout", file_layout)
@gathers("written", file_options)
def analyze(
    data: Annotated[list[str], typer.Argument(metavar="FILE...", help=FILES, show_default=False)],
    options: Options,
    out: Output,
    gate: Gate,
    layout: Layout,
    written: FileOptions,
    skip_empty: Annotated[bool, typer.Option("--skip-empty", help=SKIP_EMPTY, rich_help_panel=DATA)] = False,
    next_pulls: Annotated[str, typer.Option("--next", metavar="TRIALS", help=NEXT, rich_help_panel=OUTPUT)] = "10",
) -> None:
    """Find the best arms in logged results.

    Shows the answer, what the results prove, and which arms to try next.

    [bold]ramgape analyze log.csv --reward-range 0 1[/bold]
    the columns arm and reward, or the only text column and the only numeric column

    [bold]ramgape analyze log.csv --arm-column model --reward-column score --reward-range 0 1[/bold]
    the set, what is certain of each arm, and which arms should get the next 10 trials

    [bold]ramgape analyze runs.csv --objective 'max mean(accuracy)' --objective 'min mean(cost)'[/bold]
    [bold]    --constraint 'quantile(latency, 0.95) <= 2' --epsilon accuracy=0.02,cost=0.001[/bold]
    several outcomes of each trial, which are columns; a wide table has columns model:outcome

    [bold]ramgape analyze logs/*.eval[/bold]
    logs of inspect_ai: models are compared on the same samples

    [bold]ramgape analyze main.json branch.json --question better-than:control=main --exit-code[/bold]
    a gate in a pipeline: 0 proved, 1 refuted, 3 undecided

    [bold]ramgape analyze flights.csv --arm-column carrier --reward-column arr_delay --direction minimize --na NA[/bold]
    costs without a range, some of them missing: who is early, and reliably so

    [bold]ramgape analyze scores.csv --wide --items population --reward-range 0 1 --question best[/bold]
    a finished test set, a column an arm and a row an item: the exact answer over these items

    Recognized by content: CSV, JSON lines, JSON arrays, Parquet, Feather, Excel, packed files
    (.gz, .xz, .zip), and logs of inspect_ai, lm-evaluation-harness, promptfoo, deepeval,
    hyperfine, pytest-benchmark, Google Benchmark, criterion, asv, MLflow and W&B.

    A table is read once, row by row: it may be larger than memory, unless it is about
    items, of which every score is kept.

    What is proved is true with probability 1 - delta, if each arm's rewards are
    independent draws from one distribution, arms are independent of each other (except
    within rows or blocks that they share), and no row is missing because of its
    reward. Without --reward-range and --assumption it is approximate. How arms were chosen
    does not matter, and you may look again as often as you like while the file grows,
    with the same options.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    With --exit-code: 0 proved, 1 refuted, 3 undecided, 2 any error.
    """
    with gate, warnings_told() as told, options_named(), watching_files(len(data)) as watch:
        from ramgape.data.files import analyze_files

        further = parse_number(next_pulls, "next")
        layout = plain_outcome(options, layout)
        analysis = analyze_files(data, options, layout, written, next_pulls=further, skip_empty=skip_empty, watch=watch)
    with gate:
        if out.as_json:
            typer.echo(analysis.to_json())
        elif not gate.takes_stdout:
            untold = tuple(warning for warning in analysis.result.warnings if warning not in told)
            out.print(replace(analysis, result=replace(analysis.result, warnings=untold)))
        out.write(analysis)
        gate.write(analysis, analysis.result, out.plot)
    gate.leave(analysis.result)


def plain_outcome(options: Options, layout: Layout) -> Layout:
    """An outcome that is only named, --outcome score: the column with the rewards, of which nothing is assumed."""
    named = [name for name, assumed in (options.get("outcomes") or {}).items() if not assumed]
    if len(named) != 1 or options.get("objectives") is not None or len(options["outcomes"] or {}) != 1:
        return layout
    require(layout.reward is None, "--outcome", "absent beside --reward-column, which means the same", named[0])
    del options["outcomes"]
    return layout._replace(reward=named[0])


@contextmanager
def watching_files(count: int) -> Iterator[Watch]:
    """A live line on files; what is yielded wants a file and the number of rows. The length of a pipe is unknown."""
    with waiting("reading") if count > 1 else watching_work() as show:
        shown = 0

        def move(source: Source, rows: int) -> None:
            nonlocal shown
            if show is not None and source.size is not None and rows >= shown + OFTEN:
                shown = rows
                show(min(source.position(), source.size), source.size, f"{rows:,} rows")

        yield move
