"""The road for trials that are over: logged rewards in, out comes what they prove and which arms to try next."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Unpack, cast

from ramgape.common.checks import check_many
from ramgape.data.batch import Batch
from ramgape.data.columns import Layout, Table, find_columns
from ramgape.data.formats import runs, runs_of
from ramgape.data.item_tables import Units
from ramgape.data.missing import is_missing
from ramgape.data.outcome_rows import asked_of, of_tuples, reading_of
from ramgape.data.reading import NO_LOG, Analysis, settle
from ramgape.data.tables import as_rewards, as_table
from ramgape.errors import InvalidData, located, require, shorten
from ramgape.options import ANALYZE, Options, renamed, shows_options

CHUNK = 512  # rows that are looked at together
ROWS = {2: "pair", 3: "triple"}  # by how many parts they have


@shows_options(ANALYZE)
def analyze(
    rows: Any,
    *,
    arms: Iterable[object] | None = None,
    next_pulls: int = 10,
    skip_empty: bool = False,
    arm_column: Any = None,
    reward_column: Any = None,
    item_column: Any = None,
    block_column: Any = None,
    cluster_column: Any = None,
    wide: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    shuffle: int | None = None,
    **options: Unpack[Options],
) -> Analysis:
    """Find what logged rewards prove about the Pareto set, and which arms to try next.

    With probability 1 - delta everything that is said to be proved is true, if each arm's rewards are independent draws
    from one distribution, and whether a row was logged does not depend on its reward. Which arm was tried when may have
    depended on everything before: any adaptive sampling is fine, dropping bad rows is not. Arms must be independent of
    each other, unless they share rows or blocks (`shared`, as by default in a table with a column an arm): there they
    may depend on each other in any way, if no arm skips a block because of its rewards. The bounds hold at all times
    at once, so it is fine to look again whenever there are more rows, with the same options and the same arms. Delta
    is shared among the arms: if further ones may turn up between two looks, name all of them from the start (`arms`).

    Args:
        rows: The path of a file, a pattern such as `"logs/*.eval"`, or a list of them: a table (CSV, JSON, Parquet,
            Excel) or a log of a known tool, recognized by its content (docs/guides/logs.md). Or a data frame (of
            pandas, polars, ...): one row a trial, with columns for arms and rewards; without
            these one column an arm. Or a dictionary of lists, an arm's rewards each. Or pairs (arm, reward), in the
            order in which they came; read once, and not kept, but for the rewards (8 bytes each) with noise="gaussian"
            and a risk beyond mean and variance, which are shown beside the model's value. With `items` triples (arm,
            item, reward), in any order, or a table, which is long with an `item_column`, or wide with a row an item.
            With `shared` also triples (arm, reward, block).
        {options}
        arms: All arms there are, if some may have no row yet; unless given, those that turn up.
        next_pulls: For how many pulls to tell which arm to try, by `policy`.
        skip_empty: Leave out rows whose reward is None, and count them, instead of refusing them; `na` leaves out NaN,
            too.
        arm_column: Of a table with a row a trial: the column with the arms' names. Default: `arm`, or the only column
            of text.
        reward_column: The column with the rewards. Default: `reward`, or the only column of numbers.
        item_column: The column with what a score is about; in a wide table it is no arm.
        block_column: The column with what trials of several arms share, for example a day; in a wide table it is no
            arm. Of an arm a block has one trial at most.
        cluster_column: The column with the cluster that an item belongs to, for example the text that several questions
            are about: evidence then counts clusters, whose score is the mean of their items.
        wide: Whether a file is a table with a column an arm.
        delimiter, decimal, encoding: How a CSV file is written; unless given, its first lines show it.
        shuffle: The seed of a random order in which items are taken. Default: the order of the data.

    Examples:
        >>> import random, ramgape
        >>> draw = random.Random(1)
        >>> log = [(arm, draw.betavariate(*shape)) for _ in range(3000) for arm, shape in
        ...        {"steady": (40, 40), "wild": (2, 1), "poor": (1, 3)}.items()]
        >>> analysis = ramgape.analyze(log, reward_range=(0, 1))
        >>> analysis.result.answer, analysis.result.stopped, analysis.next_pulls
        (('steady', 'wild'), 'confidence', {})
        >>> ramgape.analyze({"A": [0.2, 0.4, None], "B": [0.9]}, reward_range=(0, 1), na="drop").missing
        {'A': 1}
    """
    options = cast("Options", renamed(options))
    layout = Layout(arm_column, reward_column, item_column, block_column, cluster_column, wide, asked_of(options))
    if _are_paths(rows):
        from ramgape.data.files import FileOptions, analyze_files

        written = FileOptions(delimiter, decimal, encoding, shuffle)
        further: dict[str, Any] = {"arms": arms, "next_pulls": next_pulls, "skip_empty": skip_empty}
        return analyze_files(rows, options, layout, written, **further)
    for name, value in {"delimiter": delimiter, "decimal": decimal, "encoding": encoding, "wide": wide or None}.items():
        require(value is None, name, "absent where the data are no file", value)
    given = as_table(rows)
    if given is None:
        return _analyze_tuples(rows, options, layout, arms, next_pulls, skip_empty, shuffle)
    table: Table = given
    facts, understood, kind = NO_LOG, "", runs_of(table.labels)
    if kind is not None and layout[:6] == Layout()[:6]:
        from ramgape.data.files import complete_options, merge

        log = merge(kind, [("", runs(kind, given.dictionaries(), table.name))], layout)
        complete_options(options, kind, log)
        table, layout, facts, understood = log.rows, log.layout, log.facts, log.understood
    columns = find_columns(table, layout)
    layout = columns.layout
    units = settle(options, table, columns, shuffle, facts)
    reading = reading_of(options, layout, arms, next_pulls, skip_empty, units, 3)
    if layout.wide:
        reading.expect(str(arm) for arm in columns.rewards)
    read = table.reader(columns)
    for part in table.parts():
        for batch in columns.batches(part, 0 if reading.numbers_rows else None, reading.selection.keeps):
            reading.take(batch, read)
    require(reading.rows > 0, "the table", "one with rows", "none", InvalidData)
    analysis = reading.infer().named(None if layout.outcomes else layout.reward)
    return replace(analysis, understood=understood)


def _analyze_tuples(
    rows: Any,
    options: Options,
    layout: Layout,
    arms: Iterable[object] | None,
    next_pulls: int,
    skip_empty: bool,
    shuffle: int | None,
) -> Analysis:
    """The same of tuples."""
    named = [label for label in layout[:5] if label is not None]
    require(not named, "arm_column, reward_column, item_column and the like", "absent where rows are tuples", named)
    items, shared = options.get("items") is not None, bool(options.get("shared"))
    require(items or shuffle is None, "shuffle", "absent without items", shuffle)
    units = Units(seed=shuffle) if items and (layout.outcomes or shuffle is not None) else None
    reading = reading_of(options, layout, arms, next_pulls, skip_empty, units, 4)
    if layout.outcomes:
        check_many(rows, "rows", "tuples (arm, outcomes)")
        batches = of_tuples(rows, items=items, shared=shared)
    else:
        parts = ("arm", "item", "reward") if items else ("arm", "reward")
        check_many(rows, "rows", f"{ROWS[len(parts)]}s ({', '.join(parts)})")
        batches = (_as_batch(chunk, first, parts, shared) for first, chunk in _chunks(rows))
    for batch in batches:
        reading.take(batch, as_rewards)
    require(reading.rows > 0 or not layout.outcomes, "the data", "about at least one trial", "none", InvalidData)
    return reading.infer()


def _are_paths(rows: Any) -> bool:
    """Whether data are given by the path of a file, or by a list of paths."""
    if isinstance(rows, list | tuple) and rows:
        return all(isinstance(each, str | os.PathLike) for each in rows)
    return isinstance(rows, str | os.PathLike)


# --------------------------------------------------------------------------------- rows of Python


def _chunks(rows: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """The rows in small lists, each with the number of its first row, counted from 1."""
    source, first = iter(rows), 1
    while chunk := list(islice(source, CHUNK)):
        yield first, chunk
        first += len(chunk)


def _as_batch(chunk: list[Any], first: int, parts: tuple[str, ...], shared: bool) -> Batch:
    """Rows that have these parts, and perhaps a block if arms share them; the first row has this number."""

    def place(position: int) -> str:
        return f"row {first + position}"

    rows = [_as_tuple(row, parts, shared, place(position)) for position, row in enumerate(chunk)]
    columns = dict(zip((*parts, "block"), zip(*rows, strict=True), strict=True))
    names = [_as_name(arm, place(position)) for position, arm in enumerate(columns["arm"])]
    items = [str(item) for item in columns["item"]] if "item" in columns else None
    blocks = [None if is_missing(block) else str(block) for block in columns["block"]] if shared else None
    return Batch(names, columns["reward"], place, items, blocks)


def _as_tuple(row: Any, parts: tuple[str, ...], shared: bool, place: str) -> tuple[Any, ...]:
    """What a row has, and its block or None, if that is as much as it should."""
    if not isinstance(row, str | bytes):  # two letters are no pair
        with contextlib.suppress(TypeError):
            found = tuple(islice(row, len(parts) + 2))
            if len(found) == len(parts):
                return (*found, None)
            if shared and len(found) == len(parts) + 1:
                return found
    allowed = f"a {ROWS[len(parts)]} ({', '.join(parts)})" + (", or with a block behind it" if shared else "")
    raise InvalidData(place=place, allowed=allowed, given=shorten(row))


def _as_name(arm: object, place: str) -> str:
    """An arm's name."""
    if isinstance(arm, str):
        return arm
    with located(place):
        require(not is_missing(arm), "the arm", "a name", arm, InvalidData)
    return str(arm)
