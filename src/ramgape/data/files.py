"""From files to an analysis: what a file is, is found by its content; several files are read as one table."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from ramgape.common.files import BoundedLines, NamedText
from ramgape.common.formatting import list_names, plural
from ramgape.data.columns import is_number
from ramgape.data.file_rows import FileOptions, FileRows, Layout
from ramgape.data.formats import (
    ARCHIVE,
    FORMATS,
    MLFLOW,
    PROMPTFOO,
    RUNS,
    TOKENS_AND_TIMES,
    WANDB,
    Format,
    Record,
    format_of,
    is_mlflow,
    is_wandb,
    open_archive,
    parse,
    runs,
)
from ramgape.data.item_tables import SAMPLE, Units
from ramgape.data.source import (
    FEATHER,
    IN_MEMORY,
    LARGEST_DOCUMENT,
    PARQUET,
    ZIP,
    Source,
    expand,
    open_source,
    refuse_content,
)
from ramgape.data.text_rows import (
    CHUNK,
    DELIMITERS,
    LONGEST_OBJECT,
    CsvReader,
    JsonReader,
    RecordRows,
    TextRows,
    check_decimal,
    check_delimiter,
    read_lines,
)
from ramgape.errors import InvalidData, MissingExtra, located, require, shorten
from ramgape.options import OF_OUTCOMES, renamed

if TYPE_CHECKING:
    from ramgape.data.reading import Analysis
    from ramgape.options import Options

MOST_KEYS = 8  # in a sentence
FRAME_TYPES = {"Parquet": "read_parquet", "Feather": "read_feather", "Excel": "read_excel"}
Watch = Callable[[Source, int], None]


AS_IT_SHOWS, ANY_LAYOUT = FileOptions(), Layout()


class Found(NamedTuple):
    """What a file is: rows, or records of a format."""

    kind: str
    rows: TextRows | None = None
    format: Format | None = None
    records: Sequence[Record] = ()


def recognize(source: Source, options: FileOptions) -> Found:
    """What an open file is, by its content."""
    head = source.peek()
    if head.startswith(ZIP):
        archive = open_archive(source)
        if "xl/workbook.xml" in archive.namelist():
            return _frame(source, "Excel")
        return _records(ARCHIVE, ARCHIVE.read(archive, source), source)
    if head.startswith((PARQUET, FEATHER)):
        return _frame(source, "Parquet" if head.startswith(PARQUET) else "Feather")
    refuse_content(source)
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if bare.startswith((b"{", b"[")):
        return _json(source, head)
    rows = CsvReader(source, options.delimiter, options.decimal, options.encoding)
    for name, fits in ((MLFLOW, is_mlflow), (WANDB, is_wandb)):
        if fits(rows.header):
            found = runs(name, list(_dictionaries(rows)), lambda text: is_number(str(text)), source.name)
            return _records(RUNS[name], iter(found), source)
    written = "CSV" if rows.delimiter == "," else f"CSV with {DELIMITERS.get(rows.delimiter, repr(rows.delimiter))}"
    return Found(written + (" and decimal commas" if rows.decimal == "," else ""), rows)


def _dictionaries(rows: TextRows) -> Iterator[Mapping[str, str]]:
    """All rows of a table that is kept in memory."""
    while True:
        first, part = rows.part()
        if not part:
            return
        for row in part:
            with located(rows.place(part, row, first)):
                allowed = f"{len(rows.header)} cells, as many as the header has"
                require(len(row) in (0, len(rows.header)), "the row", allowed, row, InvalidData)
            if row:
                yield dict(zip(rows.header, row, strict=True))


def _records(kind: Format, records: Iterator[Record], source: Source) -> Found:
    """The records of a log, of which there must be some."""
    try:
        found = list(records)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        if isinstance(error, InvalidData):
            raise
        reason = f" ({type(error).__name__}: {shorten(str(error))})"
        raise InvalidData(what=source.name, allowed=f"{kind.name} as the tool writes it", hint=reason) from None
    require(bool(found), source.name, f"{kind.name} with at least one trial", "none", InvalidData)
    return Found(kind.name, None, kind, found)


# -------------------------------------------------------------------------------------------- JSON


def _json(source: Source, head: bytes) -> Found:
    """JSON lines, an array of objects, or the document of a tool."""
    first = source.content.readline(LARGEST_DOCUMENT + 1)
    if len(first) > LARGEST_DOCUMENT:
        allowed = f"at most {LARGEST_DOCUMENT:,} bytes long"
        raise InvalidData(what=f"{source.name}, line 1,", allowed=allowed, given="a longer one")
    first = first.removeprefix(b"\xef\xbb\xbf")
    row = None
    if first.lstrip().startswith(b"{"):
        try:
            row = parse(first, source.name)
        except InvalidData:
            row = None
    more = bool(source.peek().strip())
    if isinstance(row, dict) and (more or format_of(row, lines=False) is None):
        lines = read_lines(source, first.decode("utf-8"), _rest(source))
        kind = format_of(row, lines=True)
        if kind is not None:
            return _records(kind, kind.read(lines, source), source)
        if not more and not any(isinstance(value, str | int | float) for value in row.values()):
            raise _unknown(source, row)
        return Found("JSON lines", JsonReader(source.name, lines))
    found = row if row is not None else parse(first + source.document(), source.name)
    if isinstance(found, list):
        for number, each in enumerate(found, start=1):
            place, given = f"{source.name}, object {number}", shorten(each)
            if not isinstance(each, dict):
                raise InvalidData(place=place, allowed="an object with the keys of columns", given=given)
        kind = format_of(found[0], lines=True) if found else None
        numbered = enumerate(found, start=1)
        if kind is not None:
            return _records(kind, kind.read(numbered, source), source)
        return Found("JSON array", JsonReader(source.name, numbered, "object"))
    kind = format_of(found, lines=False)
    if kind is None:
        raise _unknown(source, found)
    return _records(kind, kind.read(found, source), source)


def _unknown(source: Source, found: Any) -> InvalidData:
    """A document that no tool of the list writes."""
    names = ", ".join(each.name for each in FORMATS)
    allowed = f"JSON lines, a JSON array of objects, or the JSON of a known tool ({names})"
    given = f"an object with {list_names(list(found), MOST_KEYS)}" if isinstance(found, dict) else shorten(found)
    return InvalidData(what=source.name, allowed=allowed, given=given or "an empty object")


def _rest(source: Source) -> Iterator[str]:
    """The lines after the first."""
    bounded = BoundedLines(cast(IO[bytes], source.content), source.name, LONGEST_OBJECT, before=1)
    text = io.TextIOWrapper(cast(IO[bytes], bounded), encoding="utf-8")
    try:
        yield from text
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidData(what=source.name, allowed="UTF-8 text", given=f"byte 0x{byte:02x}") from None


# -------------------------------------------------------------------------------------- data frames


class FrameRows(TextRows):
    """The rows of a data frame, some at a time."""

    def __init__(self, name: str, frame: Any) -> None:
        self.name, self.header = name, [str(label) for label in frame.columns]
        self._frame, self._next = frame, 0

    def part(self) -> tuple[int, list[list[str]]]:
        first = self._next
        part = self._frame.iloc[first : first + CHUNK]
        self._next += len(part)
        missing = part.isna().to_numpy().tolist()
        columns = [part.iloc[:, place].tolist() for place in range(len(self.header))]
        rows = [
            ["" if gone else str(value) for value, gone in zip(values, gaps, strict=True)]
            for values, gaps in zip(zip(*columns, strict=True), missing, strict=True)
        ]
        return first + 1, rows

    def place(self, part: Sequence[Sequence[str]], wanted: Sequence[str], first: int) -> str:
        line = first + next(place for place, row in enumerate(part) if row is wanted)
        return f"{self.name}, row {line}"


def _frame(source: Source, kind: str) -> Found:
    """A file that pandas reads."""
    extra = f'installed to read {kind} files such as {source.name}: pip install "ramgape[logs]"'
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra(what="pandas", allowed=extra) from None
    try:
        frame = getattr(pd, FRAME_TYPES[kind])(io.BytesIO(source.document()))
    except ImportError as error:
        missing = "openpyxl" if kind == "Excel" else "pyarrow"
        raise MissingExtra(what=str(error.name or missing), allowed=extra) from None
    except Exception as error:  # noqa: BLE001 - of whatever kind the packages raise for a damaged file
        reason = next(iter(f"{error}".splitlines()), type(error).__name__)
        raise InvalidData(what=source.name, allowed=f"a whole {kind} file", hint=f" ({shorten(reason)})") from None
    return Found(kind, FrameRows(source.name, frame))


# ------------------------------------------------------------------------------------ records as rows


class Log(NamedTuple):
    """Records of one format as rows, with what their columns mean."""

    rows: TextRows
    layout: Layout
    outcomes: tuple[str, ...]
    understood: str
    origin: str


def merge(kind: Format, parts: Sequence[tuple[str, Sequence[Record]]], layout: Layout) -> Log:
    """The records of one or several files as a table.

    Args:
        kind: What they are.
        parts: The records of each file, with what tells it from the others.
        layout: The columns that are given.
    """
    labels: dict[str, None] = {}
    outcomes: dict[str, None] = {}
    found: list[tuple[Record, dict[str, Any]]] = []
    for file, records in parts:
        for record in records:
            mine = {**record.labels, "file": file}
            labels.update(dict.fromkeys(mine))
            outcomes.update(dict.fromkeys(record.outcomes))
            found.append((record, mine))
    if kind.item is not None and len({mine.get("task") for _, mine in found}) > 1:
        for _, mine in found:
            mine[kind.item] = f"{mine.get('task')}/{mine[kind.item]}"
    used = [name for name in outcomes if any(record.outcomes.get(name) is not None for record, _ in found)]
    require(bool(used), f"the {kind.name}", "with at least one score or time", "none", InvalidData)
    arm = layout.arm or _choose_arm(kind, [mine for _, mine in found], labels)
    if arm not in labels and layout.arm is None:
        for _, mine in found:
            mine[arm] = " | ".join(str(mine.get(part)) for part in arm.split(" | "))
        labels[arm] = None
    header = [name for name in labels if name not in used] + used
    rows = [
        [record.outcomes[name] if name in record.outcomes and name in used else mine.get(name) for name in header]
        for record, mine in found
    ]
    item = layout.item or (kind.item if layout.arm != kind.item else None)
    main = layout.reward or used[0]
    table = RecordRows(f"the {kind.name}", header, rows, [each.place for each, _ in found])
    arms = {str(mine.get(arm)) for _, mine in found}
    words = [plural(len(arms), kind.arms if arm == kind.arm else "arm") + ("" if arm == kind.arm else f" ({arm})")]
    if item is not None:
        words.append(plural(len({str(mine.get(item)) for _, mine in found}), kind.items))
    epochs = {mine["epoch"] for _, mine in found if "epoch" in mine}
    words += [plural(len(epochs), "epoch")] * (len(epochs) > 1) + [plural(len(found), "trial")] * (item is None)
    words.append(f"outcome{'s' * (len(used) > 1)} {list_names([repr(name) for name in used], MOST_KEYS)}")
    told = f"; compared by {main!r}" if len(used) > 1 else ""
    seeds = sorted({str(mine["shuffled"]) for _, mine in found if "shuffled" in mine})
    origin = (
        f"its tool has shuffled (seed {', '.join(seeds)})"
        if seeds and all("shuffled" in mine for _, mine in found)
        else ""
    )
    chosen = layout._replace(arm=arm, reward=main, item=item)
    return Log(table, chosen, tuple(used), f"{kind.name}: {', '.join(words)}{told}", origin)


def _file_labels(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    """What tells files apart: their names, or the folders they are in where all have the same name."""
    names = [os.fspath(path).removesuffix(".gz").replace(os.sep, "/") for path in paths]
    parts = [(name.rpartition(".")[0] or name).split("/") for name in names]
    while len({each[-1] for each in parts}) == 1 and len(parts) > 1 and all(len(each) > 1 for each in parts):
        parts = [each[:-1] for each in parts]
    short = [each[-1] for each in parts]
    return short if len(set(short)) == len(short) else ["/".join(each) for each in parts]


def _choose_arm(kind: Format, found: Sequence[Mapping[str, Any]], labels: Iterable[str]) -> str:
    """The label by which arms differ: the usual one, or what differs where that is the same everywhere."""

    def count(label: str) -> int:
        return len({str(mine.get(label)) for mine in found})

    if kind.name == PROMPTFOO and count("provider") > 1 and count("prompt") > 1:
        return "provider | prompt"
    if kind.item is None and count("file") > 1:  # the same benchmark in several files: before and after a change
        pairs = {(mine.get("file"), mine.get(kind.arm)) for mine in found}
        if len(pairs) > count(kind.arm):
            return "file" if count(kind.arm) == 1 else f"file | {kind.arm}"
        return kind.arm
    if count(kind.arm) > 1:
        return kind.arm
    others = ["prompt"] if kind.name == PROMPTFOO else [name for name in labels if name.startswith("task_args.")]
    return next((name for name in (*others, "file") if count(name) > 1), kind.arm)


# ------------------------------------------------------------------------------------------ analysis


def analyze_files(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    options: Options,
    layout: Layout = ANY_LAYOUT,
    written: FileOptions = AS_IT_SHOWS,
    *,
    arms: Iterable[object] | None = None,
    next_pulls: Any = 10,
    skip_empty: bool = False,
    watch: Watch | None = None,
) -> Analysis:
    """What logged rewards in files prove; several files are one table.

    Args:
        paths: The files, patterns such as logs/*.eval, or - for standard input.
        options: As for `analyze`.
        layout: The columns, as far as they are given.
        written: How the files are written.
        arms, next_pulls, skip_empty: As for `analyze`.
        watch: What is called now and then with the file and the number of rows so far.
    """
    from ramgape.data.reading import Reading

    options = cast("Options", renamed(options))
    written = written._replace(delimiter=check_delimiter(written.delimiter), decimal=check_decimal(written.decimal))
    missing = str(options.get("na") or "").split(",")
    reading: Reading | None = None
    kind: Found | None = None
    logs: list[tuple[str, Sequence[Record]]] = []
    rows: FileRows | None = None

    def start(rows: FileRows, log: Log | None = None, format_: Format | None = None) -> Reading:
        units = settle(options, rows.layout, rows.binary, written.shuffle, log, format_)
        left_out = skip_empty or (log is not None and rows.layout.item is not None)
        return Reading(options, arms, next_pulls, rows.words, skip_empty=left_out, units=units)

    files = expand(paths)
    if any(options.get(name) is not None for name in OF_OUTCOMES):
        return _analyze_outcomes(files, options, layout, written, arms, next_pulls, skip_empty, watch)
    for path in files:
        with open_source(path) as source:
            found = recognize(source, written)
            if (kind is not None and (found.format is None) != (kind.format is None)) or (
                kind is not None and found.format is not None and found.kind != kind.kind
            ):
                given = f"{found.kind} after {kind.kind}"
                raise InvalidData(what=source.name, allowed="of the same kind as the files before it", given=given)
            kind = kind or found
            if found.rows is None:
                logs.append((source.name, found.records))
                continue
            rows = FileRows(found.rows, layout, missing, 0 if rows is None else rows.count)
            layout = rows.layout
            reading = reading or start(rows)
            try:
                for _ in rows.read_into(reading):
                    if watch is not None:
                        watch(source, rows.count)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"after {rows.count:,} rows") from None
    assert kind is not None
    understood = ""
    if kind.format is not None:
        labels = _file_labels(files)
        log = merge(kind.format, [(label, records) for label, (_, records) in zip(labels, logs, strict=True)], layout)
        rows = FileRows(log.rows, log.layout, missing)
        reading, understood = start(rows, log, kind.format), log.understood
        for _ in rows.read_into(reading):
            pass
    assert reading is not None
    assert rows is not None
    analysis = reading.infer()
    many = f"{len(files):,} files, " if len(files) > 1 else ""
    return replace(
        analysis.named(rows.layout.reward), understood=many + (understood or describe(kind.kind, rows.layout))
    )


def _analyze_outcomes(
    files: Sequence[Any],
    options: Options,
    layout: Layout,
    written: FileOptions,
    arms: Iterable[object] | None,
    next_pulls: Any,
    skip_empty: bool,
    watch: Watch | None,
) -> Analysis:
    """The same for trials with several outcomes."""
    from ramgape.data.outcome_rows import (
        OutcomeColumns,
        OutcomeReading,
        asked_of,
        kind_in,
        of_rows,
        settle_outcomes,
    )

    asked, missing = asked_of(options), str(options.get("na") or "").split(",")
    reading: OutcomeReading | None = None
    understood, logs = "", list[tuple[str, Sequence[Record]]]()
    kind: Found | None = None

    def take(source: Source | None, rows: TextRows, log: Log | None = None) -> str:
        nonlocal reading, layout
        first = rows.part()
        given = layout if log is None else log.layout._replace(reward=None)
        columns = OutcomeColumns(rows.header, kind_in(first[1], rows.header, missing), given, asked, rows.name)
        layout = columns.layout
        if reading is None:
            repeats, origin = log is not None and layout.item is not None, "" if log is None else log.origin
            units = settle_outcomes(options, layout, written.shuffle, repeats=repeats, origin=origin)
            reading = OutcomeReading(options, arms, next_pulls, skip_empty=skip_empty or repeats, units=units)
        for trial in of_rows(rows, columns, first):
            reading.take(trial)
            if watch is not None and source is not None:
                watch(source, reading.rows)
        return f"outcomes {list_names(asked, MOST_KEYS)}"

    for path in files:
        with open_source(path) as source:
            found = recognize(source, written)
            same = kind is None or (found.kind, found.format is None) == (kind.kind, kind.format is None)
            given = "" if kind is None else f"{found.kind} after {kind.kind}"
            require(same, source.name, "of the same kind as the files before it", given, InvalidData)
            kind = found
            if found.rows is None:
                logs.append((source.name, found.records))
            else:
                about = take(source, found.rows)
                understood = f"{describe(found.kind, layout)}; {about}"
    assert kind is not None
    if kind.format is not None:
        log = merge(kind.format, logs, layout)
        declared = dict(options.get("outcomes") or {})
        options["outcomes"] = {name: (0.0, 1.0) for name in asked if kind.format.unit(name)} | declared
        take(None, log.rows, log)
        understood = log.understood.partition("; compared by")[0]
    assert reading is not None
    many = f"{len(files):,} files, " if len(files) > 1 else ""
    return replace(reading.infer(), understood=many + understood)


@contextmanager
def rewritten(path: str | os.PathLike[str], layout: Layout) -> Iterator[tuple[IO[str], Layout] | None]:
    """A log, or a table of another form, as CSV with commas; None of what is such a table, or JSON lines, already.

    Args:
        path: The file.
        layout: The columns that are given; those of a log are found.
    """
    with open_source(path) as source, tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
        usual = os.fspath(path).endswith((".csv", ".jsonl"))
        try:
            found = recognize(source, AS_IT_SHOWS)
        except InvalidData:
            if not usual:
                raise
            found = Found("CSV")  # whose reader says what is wrong with it
        rows, kept = found.rows, None
        if found.format is not None:
            log = merge(found.format, [(label, found.records) for label in _file_labels([path])], layout)
            rows, layout = log.rows, layout._replace(arm=log.layout.arm, reward=log.layout.reward)
            kept = {layout.arm, layout.block, *log.outcomes}
        elif usual and found.kind in ("CSV", "JSON lines"):
            yield None
            return
        assert rows is not None
        places = [place for place, name in enumerate(rows.header) if kept is None or name in kept]
        to = NamedText(file, os.fspath(path))
        writer = csv.writer(to)
        writer.writerow([rows.header[place] for place in places])
        while part := rows.part()[1]:
            writer.writerows([[row[place] for place in places] for row in part])
        to.seek(0)
        yield to, layout


def describe(kind: str, layout: Layout) -> str:
    """What the columns of a plain table were taken for."""
    roles = zip(("arms", "rewards", "items", "blocks", "clusters"), layout[:5], strict=True)
    parts = [f"{role} in column {column!r}" for role, column in roles if column is not None]
    return f"{kind}, {', '.join(['a column an arm', *parts] if layout.wide else parts)}"


def check_shuffle(seed: object) -> None:
    """A seed, or None."""
    usable = seed is None or (isinstance(seed, int) and seed >= 0)
    require(usable, "shuffle", "a seed, a whole number of at least 0", seed)


def settle(
    options: Options,
    layout: Layout,
    binary: tuple[bool, bool],
    shuffle: int | None,
    log: Log | None = None,
    kind: Format | None = None,
) -> Units | None:
    """Decide what the rows mean, where the options do not say it; options are completed.

    A score that is a word (pass, fail, C, I), one that a tool defines between 0 and 1, and one about an item that is 0
    or 1 in the first rows, has the range 0 to 1; any other value is an error later. With a range, arms are compared
    item by item; without one, each arm by itself, with the items as blocks that arms share.

    Args:
        options: What was asked for.
        layout: The columns.
        binary: Whether the first rewards are 0 and 1 alone, or words for them; and whether they are words.
        shuffle: The seed of the order of items.
        log, kind: The log that the rows are from, if they are.

    Returns:
        What the rows about items mean; None where they are about none.
    """
    check_shuffle(shuffle)
    outcome = str(layout.reward)
    if kind is not None:
        less = kind.direction == "minimize" or outcome in TOKENS_AND_TIMES
        options.setdefault("direction", "minimize" if less else "maximize")
    about = layout.item is not None or layout.cluster is not None
    asked = options.get("items") is not None
    require(not about or layout.block is None, "block_column", "absent with items or clusters", layout.block)
    bounded = options.get("assumption") in (None, "bounded", "items")
    known = binary[1] or (binary[0] and about) or (kind is not None and kind.unit(outcome))
    if options.get("reward_range") is None and bounded and known:
        options["reward_range"] = (0.0, 1.0)
    if about and not asked and bounded and options.get("reward_range") is not None:
        options["items"] = SAMPLE
    elif about and not asked:
        options["shared"] = True
    from ramgape.data.reading import share_blocks

    require(not asked or about or layout.wide, "item_column", "given with items", None)
    share_blocks(options, wide=layout.wide, named=layout.block is not None)
    if not (about or asked):
        return None
    repeats = log is not None and layout.item is not None
    return Units(repeats, layout.cluster is not None, shuffle, log.origin if log is not None else "")
