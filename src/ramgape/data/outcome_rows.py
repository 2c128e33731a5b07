"""Logged trials with several outcomes: what they prove about objectives and constraints.

Trials come from a table with a row a trial, whose columns are outcomes, from one with a column `arm:outcome` for each
arm and outcome, or from tuples (arm, outcomes). What is asked about is read; other columns are left alone. Trials are
kept in memory until the last one has been read: only then is known how many arms share delta.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.assumptions import BOUNDED
from ramgape.common.checks import whole
from ramgape.common.formatting import plural
from ramgape.data.accumulator import MOST_ARMS
from ramgape.data.batch import as_number
from ramgape.data.columns import TEXT, RewardTexts, find_column, kind_of_texts
from ramgape.data.file_rows import Layout
from ramgape.data.item_tables import SAMPLE, ItemTable, Units, check_known
from ramgape.data.missing import NA_REMARK, is_missing, make_missing
from ramgape.data.reading import MOST_NEXT, UNLIMITED, Analysis, plan_pulls, share_blocks
from ramgape.data.selection import Selection
from ramgape.data.tables import LoggedTable
from ramgape.data.text_rows import TextRows
from ramgape.errors import (
    InvalidData,
    InvalidReward,
    InvalidSpec,
    RamgapeWarning,
    UnknownName,
    known_name,
    located,
    require,
    shorten,
)
from ramgape.options import ANALYZE, Options, options_for
from ramgape.search.inference import infer
from ramgape.search.objectives import outcomes_in
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import OutcomeSpec, make_outcome_spec
from ramgape.search.outcomes import declare_outcomes
from ramgape.search.result import updated
from ramgape.search.sharing import refuse_block
from ramgape.search.spec import check_names, make_spec


class LoggedTrial(NamedTuple):
    """A row: of which arm, where it stands, its outcomes as they are written, and what it is about."""

    arm: str
    place: str
    outcomes: dict[str, Any]
    item: str | None = None
    block: str | None = None
    cluster: str | None = None

    def placed(self, _: int) -> str:
        """Where it stands, for errors."""
        return self.place


class OutcomeColumns:
    """Where a table has what is asked about.

    Args:
        header: The names of the columns.
        kind_of: Tells whether a column is of texts, by its first rows.
        layout: The columns that are given.
        asked: The outcomes that are asked about.
        name: What errors call the table.
    """

    def __init__(
        self,
        header: Sequence[str],
        kind_of: Callable[[str], str | None],
        layout: Layout,
        asked: Sequence[str],
        name: str,
    ) -> None:
        require(layout.reward is None, "reward_column", "absent with objectives: they name the columns", layout.reward)
        self.header, self.name = list(header), name
        pairs = [label.rpartition(":") for label in header]
        self.wide = layout.wide or not any(each in header for each in asked)
        self.wide &= any(colon and outcome in asked for _, colon, outcome in pairs)
        self.cells: dict[str, dict[str, int]] = {}  # of each arm in a wide table: the columns of its outcomes
        self.arm = -1
        texts = [label for label in header if label not in (*asked, *layout[2:5])]
        texts = [label for label in texts if kind_of(label) == TEXT]
        item = layout.item
        if self.wide:
            for place, (arm, colon, outcome) in enumerate(pairs):
                if colon and outcome in asked:
                    self.cells.setdefault(arm, {})[outcome] = place
            item = texts[0] if item is None and len(texts) == 1 else item
        else:
            for outcome in asked:
                try:
                    find_column(outcome, self.header, "the column of every outcome", name)
                except UnknownName as error:
                    error.hint += f"; a table with a column an arm has columns such as 'small:{outcome}'"
                    raise
            arm = layout.arm or ("arm" if "arm" in header else texts[0] if len(texts) == 1 else "")
            if not arm:
                allowed = f"the column with the arms: {name} has no column 'arm' for them, and {len(texts)} of text"
                raise InvalidSpec(what="arm_column", verb="name", allowed=allowed)
            if arm not in (layout.arm, "arm"):
                warnings.warn(f"arms are read from column {arm!r}, the only text column", RamgapeWarning, stacklevel=4)
            self.arm = find_column(arm, self.header, "arm column", name)
        self.layout = layout._replace(arm=None if self.wide else self.header[self.arm], item=item, wide=self.wide)
        self.others = [
            None if label is None else find_column(label, self.header, "a column", name)
            for label in (item, layout.block, layout.cluster)
        ]
        self.asked = {} if self.wide else {outcome: self.header.index(outcome) for outcome in asked}

    def trials(self, row: Sequence[Any], number: int, place: str) -> Iterator[LoggedTrial]:
        """The trials of a row, the place of which is known."""
        item, block, cluster = (None if each is None else str(row[each]) for each in self.others)
        if self.wide:
            item = str(number) if item is None else item
            for arm, columns in self.cells.items():
                cells = {outcome: row[column] for outcome, column in columns.items()}
                yield LoggedTrial(arm, f"{place}, columns {arm}:...", cells, item, block, cluster)
            return
        item = str(number) if item is None and cluster is not None else item
        with located(place):
            require(not is_missing(row[self.arm]), "the arm", "a name", row[self.arm], InvalidData)
        cells = {outcome: row[column] for outcome, column in self.asked.items()}
        yield LoggedTrial(str(row[self.arm]), place, cells, item, block, cluster)


def of_rows(rows: TextRows, columns: OutcomeColumns, first_part: tuple[int, list[list[str]]]) -> Iterator[LoggedTrial]:
    """The trials in the rows of a file, of which the first part has been read."""
    number, width, (first, part) = 0, len(columns.header), first_part
    while part:
        for row in part:
            if not row:
                continue
            number += 1
            place = rows.place(part, row, first)
            if len(row) != width:
                with located(place):
                    require(False, "the row", f"{width} cells, as many as the header has", row, InvalidData)
            yield from columns.trials(row, number, place)
        first, part = rows.part()


def of_table(table: LoggedTable, columns: OutcomeColumns) -> Iterator[LoggedTrial]:
    """The trials in a data frame, or in a dictionary of lists."""
    used = [column for column in (columns.arm, *columns.others) if column is not None and column >= 0]
    used += [*columns.asked.values(), *(place for cells in columns.cells.values() for place in cells.values())]
    found: dict[int, list[Any]] = {place: list(table.column(table.labels[place])) for place in set(used)}
    lengths = {len(column) for column in found.values()}
    require(len(lengths) == 1, "the columns", "of one length", sorted(lengths), InvalidData)
    row: list[Any] = [None] * len(columns.header)
    for number in range(lengths.pop()):
        for place, column in found.items():
            row[place] = column[number]
        yield from columns.trials(row, number + 1, f"row {number + 1}")


def of_tuples(rows: Iterable[Any], *, items: bool, shared: bool) -> Iterator[LoggedTrial]:
    """The trials in tuples (arm, outcomes), (arm, item, outcomes) or (arm, outcomes, block)."""
    parts = "(arm, item, outcomes)" if items else "(arm, outcomes, block)" if shared else "(arm, outcomes)"
    for number, row in enumerate(rows, start=1):
        given = list(row) if isinstance(row, Sequence) and not isinstance(row, str | bytes) else []
        outcomes = given[2] if items and len(given) == 3 else given[1] if len(given) in (2, 3) else None
        if not isinstance(outcomes, Mapping) or (len(given) == 3) > (items or shared):
            raise InvalidData(place=f"row {number}", allowed=f"a tuple {parts}, outcomes by name", given=shorten(row))
        block = str(given[2]) if shared and len(given) == 3 else None
        yield LoggedTrial(str(given[0]), f"row {number}", dict(outcomes), str(given[1]) if items else None, block)


class OutcomeTable(ItemTable):
    """Outcomes of the arms on the items of a test set: vectors in place of scores."""

    def _check_rewards(self, names: Sequence[str], rewards: NDArray[np.float64], place: Any) -> None:
        """They have been checked."""

    def in_order(self, count: int) -> list[list[NDArray[np.float64]]]:
        """The outcomes of each arm in one order of the items, of which each arm has a beginning."""
        return self._in_order(count)


class OutcomeReading:
    """Trials that are being read: options that have been checked, and the trials so far.

    Args:
        options: As for `analyze`.
        arms, next_pulls, skip_empty: Likewise.
        units: What rows about items mean; None where they are about none.
    """

    def __init__(
        self,
        options: Options,
        arms: Iterable[object] | None = None,
        next_pulls: object = 10,
        *,
        skip_empty: bool = False,
        units: Units | None = None,
    ) -> None:
        allowed = f"a whole number from 0 to {MOST_NEXT:,}"
        self._next_pulls = whole(next_pulls, "next_pulls", allowed, 0)
        require(self._next_pulls <= MOST_NEXT, "next_pulls", allowed, next_pulls)
        self._options: dict[str, Any] = {"epsilon": 0.0, **options_for(options, ANALYZE), "max_trials": UNLIMITED}
        if not self._options["epsilon"] and declare_outcomes(self._options.get("outcomes"))[1]:
            del self._options["epsilon"]  # the tolerances stand among the outcomes
        block, fewest = self._options.pop("block", 1), self._options.pop("min_rows", None)
        require(block == 1, "block", "1 with objectives: a row is a trial", block)
        self._fewest = None if fewest is None else whole(fewest, "min_rows", "a whole number of at least 1", 1)
        self.selection = Selection(self._options.pop("exclude", None), self._options.pop("only", None))
        self._missing = make_missing(self._options.pop("na", None), skip_empty)
        known = self._options.pop("items", None)
        self._known = None if known is None else check_known(known)
        self._units = units
        self._trials: list[tuple[str, dict[str, float], LoggedTrial]] = []
        self._arms = dict.fromkeys([] if arms is None else check_names(arms, 1))
        self._given = arms is not None
        self._without: Counter[str] = Counter()
        self._texts: dict[str, RewardTexts] = {}
        self._blocks: set[tuple[str, str]] = set()
        self._values = self._reader()
        self.rows = 0

    def _reader(self) -> OutcomeSpec:
        """A specification for arms that are not known yet: that the rest makes sense is known before the first."""
        return make_outcome_spec(self._some_arms(), self._asked(None if self._known is None else range(2)))

    def _some_arms(self) -> list[str]:
        control = str(self._options.get("question", "")).partition("control=")[2].partition(",")[0]
        known: dict[str, Any] = self._options.get("known") or {}
        named = [str(arm) for values in known.values() if isinstance(values, Mapping) for arm in values]
        named = list(dict.fromkeys([*named, *([control] if control else [])]))
        return named if len(named) > 1 else [*named, *(f"arm {number}" for number in range(10))]

    def _asked(self, items: Any) -> dict[str, Any]:
        return self._options if items is None else {**self._options, "items": items}

    def take(self, trial: LoggedTrial) -> None:
        """Keep a trial, checked; one of an arm that is not asked about, or without an outcome, is only counted."""
        self.rows += 1
        if self.selection and not self.selection.places_in([trial.arm]):
            return
        with located(trial.place):
            if trial.arm not in self._arms:
                require(bool(trial.arm), "the arm", "a name that is not empty", trial.arm, InvalidData)
                if self._given:
                    known_name(trial.arm, self._arms, "the arm")
                most = f"one of at most {MOST_ARMS:,} different arms (do these names mean arms?)"
                require(len(self._arms) < MOST_ARMS, "the arm", most, trial.arm, InvalidData)
                self._arms[trial.arm] = None
            found = self._numbers(trial)
            if found is None:
                self._without[trial.arm] += 1
                return
            assert self._values.outcomes is not None
            try:
                read = self._values.outcomes.read(found, trial.arm)
            except InvalidReward as error:
                if self._missing is None and any(is_missing(value) or value == "" for value in trial.outcomes.values()):
                    error.hint += NA_REMARK
                raise
            if trial.block is not None:
                if (trial.arm, trial.block) in self._blocks or not trial.block:
                    refuse_block(trial.arm, trial.block)
                self._blocks.add((trial.arm, trial.block))
        self._trials.append((trial.arm, read, trial))

    def _numbers(self, trial: LoggedTrial) -> dict[str, Any] | None:
        """The outcomes as numbers, without empty ones; None if the trial is left out since one is missing."""
        found: dict[str, Any] = {}
        for name, value in trial.outcomes.items():
            if self._missing is not None and self._missing.places_in([value]):
                if self._worst_of(name) is None:
                    return None
                continue
            if isinstance(value, str):
                text = value.strip()
                if not text:
                    continue
                number = self._texts.setdefault(name, RewardTexts()).read(text)
                value = text if number is None else number
            elif isinstance(value, bool | np.bool_):
                value = float(value)
            else:
                number = as_number(value)
                value = value if number is None else number
            found[name] = value
        return found

    def _worst_of(self, name: str) -> float | None:
        assert self._values.outcomes is not None
        declared = self._values.outcomes.declared.get(name)
        return None if declared is None else declared.worst

    def infer(self) -> Analysis:
        """What the trials have shown."""
        self.selection.check(self._arms)
        counts = Counter(arm for arm, _, _ in self._trials)
        fewest = self._fewest or 0
        thin = {name: counts[name] for name in self._arms if counts[name] < fewest}
        names = [name for name in self._arms if name not in thin]
        one = self._values.asked[0] == "above"
        least = "about at least one arm" if one else "about at least two arms"
        require(len(names) >= (1 if one else 2), "the data", least, names, InvalidData)
        table = None
        if self._units is not None:
            table = self._item_table(names)
        spec = make_outcome_spec(names, self._asked(None if table is None else table.items))
        for warning in spec.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=3)
        engine = OutcomeEngine(spec)
        self._learn(engine, table, names)
        engine.look()
        result = infer(engine, engine.stopped if engine.stopped in ("confidence", "complete") else "data")
        skipped = self._without.total()
        words = []
        if skipped:
            words.append(
                f"{plural(skipped, 'row')} without an outcome left out: what is said holds only if outcomes are "
                "missing for reasons that have nothing to do with any of them"
            )
        guarantee = result.guarantee
        if table is not None:
            words += table.notes
            guarantee += "" if result.stopped == "complete" else f" {table.order_words()}"
        if thin:
            guarantee += f" Arms with fewer than {fewest:,} rows were left out ({', '.join(thin)})."
        return Analysis(
            result=updated(result, guarantee=guarantee, warnings=(*result.warnings, *words)),
            next_pulls=plan_pulls(engine, self._next_pulls),
            rows=self.rows,
            skipped=skipped,
            missing=dict(self._without),
            excluded=dict(self.selection.rows),
            min_rows=self._fewest,
            thin=thin,
        )

    def _item_table(self, names: Sequence[str]) -> OutcomeTable:
        """The trials item by item."""
        simple = make_spec(["a", "b"], reward_range=(0.0, 1.0), epsilon=0.1, drift="off")
        table = OutcomeTable(simple, self._known, names, units=self._units)
        outcomes = self._values.outcomes
        assert outcomes is not None
        for arm, read, trial in self._trials:
            if arm in names:
                vector = np.array([[read[name] for name in outcomes.measured]])
                clusters = None if trial.cluster is None else [trial.cluster]
                assert trial.item is not None
                table.add([arm], vector, trial.placed, [trial.item], clusters)
        return table

    def _learn(self, engine: OutcomeEngine, table: OutcomeTable | None, names: Sequence[str]) -> None:
        """Hand all trials to the search; on items in one order."""
        numbers = {name: number for number, name in enumerate(names)}
        if table is None:
            kept = [(numbers[arm], read) for arm, read, _ in self._trials if arm in numbers]
        else:
            assert engine.spec.outcomes is not None
            scores = table.in_order(len(names))
            kept = [
                (arm, dict(zip(engine.spec.outcomes.measured, scores[arm][place].tolist(), strict=True)))
                for place in range(max(map(len, scores), default=0))
                for arm in range(len(scores))
                if place < len(scores[arm])
            ]
        engine.add_up(np.array([arm for arm, _ in kept], np.int64), [read for _, read in kept])


def settle_outcomes(
    options: Options, layout: Layout, shuffle: int | None, *, repeats: bool = False, origin: str = ""
) -> Units | None:
    """Decide what the rows mean: with a range for each outcome, arms are compared item by item.

    Args:
        options: What was asked for, to which this is added.
        layout: The columns.
        shuffle: The seed of the order of items.
        repeats: Whether several rows about one item are repetitions.
        origin: What shuffled the items before.
    """
    about = layout.item is not None or layout.cluster is not None
    asked = options.get("items") is not None
    require(not about or layout.block is None, "block_column", "absent with items or clusters", layout.block)
    require(not asked or about or layout.wide, "item_column", "given with items", None)
    require(shuffle is None or about or asked, "shuffle", "absent without items", shuffle)
    declared, _ = declare_outcomes(options.get("outcomes"))
    names = [name for name in outcomes_in(options) if name not in (options.get("known") or {})]
    ranged = all(name in declared and declared[name].noise == BOUNDED for name in names)
    if about and not asked and ranged and not layout.wide:
        options["items"] = SAMPLE
    elif about and not asked:
        options["shared"] = True
    share_blocks(options, wide=layout.wide, named=layout.block is not None)
    if options.get("items") is None:
        return None
    return Units(repeats, layout.cluster is not None, shuffle, origin)


def asked_of(options: Mapping[str, Any]) -> list[str]:
    """The outcomes that columns are to have, of objectives that must be given."""
    if options.get("objectives") is None:
        given = ", ".join(str(name) for name in ("outcomes", "constraints", "known") if options.get(name) is not None)
        allowed = f"given beside {given}, such as 'maximize mean(accuracy)'"
        raise InvalidSpec(what="objectives", allowed=allowed)
    return [name for name in outcomes_in(options) if name not in (options.get("known") or {})]


def kind_in(
    part: Sequence[Sequence[str]], header: Sequence[str], missing: Sequence[str]
) -> Callable[[str], str | None]:
    """Tells the kind of a column by the first rows of a file."""

    def kind(label: str) -> str | None:
        place = header.index(label)
        return kind_of_texts([row[place] for row in part if len(row) == len(header)], missing)

    return kind
