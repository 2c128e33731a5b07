"""From files to an analysis: what a file is, is found by its content; several files are read as one table."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from ramgape.assumptions import UNKNOWN
from ramgape.common.files import BoundedLines
from ramgape.common.formatting import list_names, plural
from ramgape.data.batch import Place
from ramgape.data.columns import Layout, find_columns
from ramgape.data.formats import (
    ARCHIVE,
    FORMATS,
    PROMPTFOO,
    TOKENS_AND_TIMES,
    Format,
    Record,
    format_of,
    parse,
    runs,
    runs_of,
)
from ramgape.data.outcome_rows import asked_of, reading_of
from ramgape.data.reading import NO_LOG, LogFacts, Rows, settle
from ramgape.data.source import (
    FEATHER,
    LARGEST_DOCUMENT,
    PARQUET,
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
from ramgape.errors import InvalidData, MissingExtra, shorten
from ramgape.options import renamed

if TYPE_CHECKING:
    from ramgape.data.reading import Analysis
    from ramgape.options import Options

MOST_KEYS = 8  # in a sentence
FRAME_TYPES = {"Parquet": "read_parquet", "Feather": "read_feather", "Excel": "read_excel"}
Watch = Callable[[Source, int], None]


class FileOptions(NamedTuple):
    """How a file is written, where that is not found by itself, and what its rows mean.

    Attributes:
        delimiter, decimal, encoding: Of a CSV file; None for what its first lines show.
        shuffle: The seed of the order in which items are taken; None for that of the file.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    shuffle: int | None = None


AS_IT_SHOWS, ANY_LAYOUT = FileOptions(), Layout()


class Found(NamedTuple):
    """What a file is: rows, or records of a format."""

    kind: str
    rows: TextRows | None = None
    format: Format | None = None
    records: Sequence[Record] = ()


def recognize(source: Source, options: FileOptions) -> Found:
    """What an open file is, by its content."""
    found = _recognize(source, options)
    kind = None if found.rows is None else runs_of(found.rows.labels)
    if found.rows is None or kind is None:
        return found
    rows = [dict(zip(found.rows.labels, row, strict=True)) for part, _ in found.rows.rows() for row in part]
    return _records(kind, iter(runs(kind, rows, source.name)), source)


def _recognize(source: Source, options: FileOptions) -> Found:
    head = source.peek()
    if source.archive is not None:
        if "xl/workbook.xml" in source.archive.namelist():
            return _frame(source, "Excel")
        return _records(ARCHIVE, ARCHIVE.read(source.archive, source), source)
    if head.startswith((PARQUET, FEATHER)):
        return _frame(source, "Parquet" if head.startswith(PARQUET) else "Feather")
    if options.encoding is None:
        refuse_content(source)
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if bare.startswith((b"{", b"[")):
        return _json(source, head)
    rows = CsvReader(source, options.delimiter, options.decimal, options.encoding)
    written = "CSV" if rows.delimiter == "," else f"CSV with {DELIMITERS.get(rows.delimiter, repr(rows.delimiter))}"
    return Found(written + (" and decimal commas" if rows.decimal == "," else ""), rows)


def _records(kind: Format, records: Iterator[Record], source: Source) -> Found:
    """The records of a log, of which there must be some."""
    try:
        found = list(records)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        if isinstance(error, InvalidData):
            raise
        reason = f" ({type(error).__name__}: {shorten(str(error))})"
        raise InvalidData(what=source.name, allowed=f"{kind.name} as the tool writes it", hint=reason) from None
    if not found:
        raise InvalidData(what=source.name, allowed=f"{kind.name} with at least one trial", given="none")
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
    return InvalidData(what=source.name, allowed=allowed, given=given if found else "an empty object")


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
        self.name, self.labels = name, [str(label) for label in frame.columns]
        self._frame, self._next = frame, 0

    def _read(self) -> tuple[list[list[str]], Place]:
        first = self._next
        part = self._frame.iloc[first : first + CHUNK]
        self._next += CHUNK
        missing = part.isna().to_numpy().tolist()
        columns = [part.iloc[:, place].tolist() for place in range(len(self.labels))]
        rows = [
            ["" if gone else str(value) for value, gone in zip(values, gaps, strict=True)]
            for values, gaps in zip(zip(*columns, strict=True), missing, strict=True)
        ]
        return rows, lambda position: f"{self.name}, row {first + position + 1}"


def _frame(source: Source, kind: str) -> Found:
    """A file that pandas reads."""
    extra = f'installed to read {kind} files such as {source.name}: pip install "ramgape[logs]"'
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra(what="pandas", allowed=extra) from None
    try:
        content: Any = io.BytesIO(source.document())
        sheets = ""
        if kind == "Excel":
            content = pd.ExcelFile(content)
            first, *more = content.sheet_names
            sheets = f", sheet {first!r} (the first of {len(more) + 1})" if more else ""
        frame = getattr(pd, FRAME_TYPES[kind])(content)
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index()
    except ImportError as error:
        missing = "openpyxl" if kind == "Excel" else "pyarrow"
        raise MissingExtra(what=str(error.name or missing), allowed=extra) from None
    except Exception as error:  # noqa: BLE001 - of whatever kind the packages raise for a damaged file
        reason = next(iter(f"{error}".splitlines()), type(error).__name__)
        raise InvalidData(what=source.name, allowed=f"a whole {kind} file", hint=f" ({shorten(reason)})") from None
    return Found(kind + sheets, FrameRows(source.name, frame))


# ------------------------------------------------------------------------------------ records as rows


class Log(NamedTuple):
    """Records of one format as rows, with what their columns mean."""

    rows: RecordRows
    layout: Layout
    outcomes: tuple[str, ...]
    understood: str
    facts: LogFacts


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
    scores = [name for name in used if kind.item is None or name not in TOKENS_AND_TIMES]
    if not scores and layout.reward is None and not layout.outcomes:
        allowed = f"at least one score{'' if kind.item is not None else ' or time'}"
        hint = f"; it has {list_names(used)}, which --reward-column may name" if used else ""
        raise InvalidData(what=f"the {kind.name}", verb="have", allowed=allowed, given="none", hint=hint)
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
    main = layout.reward or next(iter(scores), "")
    table = RecordRows(f"the {kind.name}", header, rows, [each.place for each, _ in found])
    arms = {str(mine.get(arm)) for _, mine in found}
    words = [plural(len(arms), kind.arms if arm == kind.arm else "arm") + ("" if arm == kind.arm else f" ({arm})")]
    if item is not None:
        words.append(plural(len({str(mine.get(item)) for _, mine in found}), kind.items))
    epochs = {mine["epoch"] for _, mine in found if "epoch" in mine}
    words += [plural(len(epochs), "epoch")] * (len(epochs) > 1) + [plural(len(found), "trial")] * (item is None)
    words.append(f"outcome{'s' * (len(used) > 1)} {list_names([repr(name) for name in used], MOST_KEYS)}")
    told = f"; compared by {main!r}" if len(used) > 1 and not layout.outcomes else ""
    seeds = sorted({str(mine["shuffled"]) for _, mine in found if "shuffled" in mine})
    shuffled = bool(seeds) and all("shuffled" in mine for _, mine in found)
    order = f"its tool has shuffled (seed {', '.join(seeds)})" if shuffled else ""
    facts = LogFacts(item is not None, kind.unit(main), order)
    chosen = layout._replace(arm=arm, reward=None if layout.outcomes else main, item=item)
    return Log(table, chosen, tuple(used), f"{kind.name}: {', '.join(words)}{told}", facts)


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
    """What logged trials in files prove; several files are one table.

    Args:
        paths: The files, patterns such as logs/*.eval, or - for standard input.
        options: As for `analyze`.
        layout: The columns, as far as they are given.
        written: How the files are written.
        arms, next_pulls, skip_empty: As for `analyze`.
        watch: What is called now and then with the file and the number of rows so far.
    """
    options = cast("Options", renamed(options))
    written = written._replace(delimiter=check_delimiter(written.delimiter), decimal=check_decimal(written.decimal))
    missing = str(options.get("na") or "").split(",")
    layout = layout._replace(outcomes=asked_of(options))
    reading: Rows | None = None
    first: Found | None = None
    logs: list[Sequence[Record]] = []
    count = 0

    def take(rows: TextRows, source: Source | None = None, log: LogFacts = NO_LOG) -> None:
        nonlocal layout, reading, count
        columns = find_columns(rows, layout, missing)
        layout = columns.layout
        if reading is None:
            units = settle(options, rows, columns, written.shuffle, log)
            reading = reading_of(options, layout, arms, next_pulls, skip_empty or log.repeats, units, 5)
        if layout.wide:
            reading.expect(str(arm) for arm in columns.rewards)
        read = rows.reader(columns)
        for part in rows.parts():
            for batch in columns.batches(part, count if reading.numbers_rows else None, reading.selection.keeps):
                reading.take(batch, read)
            count += part.length(0)
            if watch is not None and source is not None:
                watch(source, count)

    files = expand(paths)
    for path in files:
        with open_source(path) as source:
            found = recognize(source, written)
            first = first or found
            if (found.format and found.kind) != (first.format and first.kind):
                given = f"{found.kind} after {first.kind}"
                raise InvalidData(what=source.name, allowed="of the same kind as the files before it", given=given)
            if found.rows is None:
                logs.append(found.records)
                continue
            try:
                take(found.rows, source)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"after {count:,} rows") from None
    assert first is not None
    if first.format is None:
        understood = describe(first.kind, layout)
    else:
        log = merge(first.format, list(zip(_file_labels(files), logs, strict=True)), layout)
        complete_options(options, first.format, log)
        layout = log.layout
        take(log.rows, None, log.facts)
        understood = log.understood
    assert reading is not None
    many = f"{len(files):,} files, " if len(files) > 1 else ""
    analysis = reading.infer().named(None if layout.outcomes else layout.reward)
    return replace(analysis, understood=many + understood)


def complete_options(options: Options, kind: Format, log: Log) -> None:
    """Add to the options what is known of the outcomes of a log."""
    asked = log.layout.outcomes
    if asked and options.get("outcomes") is None and any(map(kind.unit, asked)):
        options["outcomes"] = {name: (0.0, 1.0) if kind.unit(name) else UNKNOWN for name in asked}
    if not asked and (kind.direction == "minimize" or log.layout.reward in TOKENS_AND_TIMES):
        options.setdefault("direction", "minimize")


@contextmanager
def table_of(path: str | os.PathLike[str], layout: Layout) -> Iterator[tuple[TextRows, Layout] | None]:
    """The rows of a log, or of a table of another form; None of CSV with commas, and JSON lines, by their names.

    Args:
        path: The file.
        layout: The columns that are given; those of a log are found.
    """
    with open_source(path) as source:
        usual = os.fspath(path).endswith((".csv", ".jsonl"))
        try:
            found = recognize(source, AS_IT_SHOWS)
        except InvalidData:
            if not usual:
                raise
            found = Found("CSV")  # whose reader says what is wrong with it
        if usual and found.kind in ("CSV", "JSON lines"):
            yield None
            return
        if found.format is None:
            assert found.rows is not None
            yield found.rows, layout
            return
        log = merge(found.format, [(label, found.records) for label in _file_labels([path])], layout)
        layout = layout._replace(arm=log.layout.arm, reward=log.layout.reward)
        kept = {layout.arm, layout.block, *log.outcomes}  # other labels may have names that mean something in a study
        yield log.rows.only([place for place, name in enumerate(log.rows.labels) if name in kept]), layout


def describe(kind: str, layout: Layout) -> str:
    """What the columns of a plain table were taken for."""
    roles = zip(("arms", "rewards", "items", "blocks", "clusters"), layout[:5], strict=True)
    parts = ["a column an arm" + " and outcome" * bool(layout.outcomes)] * layout.wide
    parts += [f"{role} in column {column!r}" for role, column in roles if column is not None]
    parts += [f"outcomes {list_names(layout.outcomes, MOST_KEYS)}"] * bool(layout.outcomes)
    return f"{kind}, {', '.join(parts)}"
