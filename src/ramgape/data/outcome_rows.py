"""Logged trials with several outcomes: what they prove about objectives and constraints.

Trials come from a table with a row a trial, whose columns are outcomes, from one with a column `arm:outcome` for each
arm and outcome, or from tuples (arm, outcomes). What is asked about is read; other columns are left alone. Trials are
kept in memory until the last one has been read: only then is known how many arms share delta.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.common.formatting import plural
from ramgape.data.accumulator import Roster
from ramgape.data.batch import Batch, as_number
from ramgape.data.columns import Layout, RewardTexts
from ramgape.data.item_tables import ItemTable, Units
from ramgape.data.missing import NA_REMARK, is_missing
from ramgape.data.reading import Analysis, Read, Reading, Rows, plan_pulls
from ramgape.errors import InvalidData, InvalidReward, InvalidSpec, RamgapeWarning, located, require, shorten
from ramgape.options import OF_OUTCOMES, Options
from ramgape.search.inference import infer
from ramgape.search.objectives import outcomes_in
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import REWARD, is_about_outcomes, make_outcome_spec
from ramgape.search.outcomes import declare_outcomes
from ramgape.search.result import updated
from ramgape.search.spec import check_names, make_spec


class LoggedTrial(NamedTuple):
    """A trial: its arm, its outcomes, where it stands, and what it is about."""

    arm: str
    outcomes: dict[str, float]
    batch: Batch
    position: int

    def scores(self, names: Sequence[str]) -> tuple[Any, ...]:
        """What a table of items takes: the arm, the outcomes as a vector, the place, the item and its cluster."""
        assert self.batch.items is not None
        clusters = None if self.batch.clusters is None else [self.batch.clusters[self.position]]
        vector = np.array([[self.outcomes[name] for name in names]])
        item = [self.batch.items[self.position]]
        return [self.arm], vector, lambda _: self.batch.place(self.position), item, clusters


def of_tuples(rows: Iterable[Any], *, items: bool, shared: bool) -> Iterator[Batch]:
    """The trials in tuples (arm, outcomes), (arm, item, outcomes) or (arm, outcomes, block)."""
    parts = "(arm, item, outcomes)" if items else "(arm, outcomes, block)" if shared else "(arm, outcomes)"
    for number, row in enumerate(rows, start=1):
        place = f"row {number}"
        given = list(row) if isinstance(row, Sequence) and not isinstance(row, str | bytes) else []
        outcomes = given[2] if items and len(given) == 3 else given[1] if len(given) in (2, 3) else None
        if not isinstance(outcomes, Mapping) or (len(given) == 3) > (items or shared):
            raise InvalidData(place=place, allowed=f"a tuple {parts}, outcomes by name", given=shorten(row))
        block = str(given[2]) if shared and len(given) == 3 else None
        about = ([str(given[1])] if items else None, None if block is None else [block])
        yield Batch([str(given[0])], [dict(outcomes)], lambda _, place=place: place, *about)  # type: ignore[misc]


class OutcomeTable(ItemTable):
    """Outcomes of the arms on the items of a test set: vectors in place of scores."""

    def _check_rewards(self, names: Sequence[str], rewards: NDArray[np.float64], place: Any) -> None:
        """They have been checked."""

    def in_order(self, count: int) -> list[list[NDArray[np.float64]]]:
        """The outcomes of each arm in one order of the items, of which each arm has a beginning."""
        return self._in_order(count)


class OutcomeReading(Rows):
    """Trials with several outcomes that are being read: options that have been checked, and the trials so far.

    Args:
        options, next_pulls, skip_empty, units: As for `Rows`.
        asked: The outcomes that rows have, in this order.
        arms: All arms, if they are known.
    """

    def __init__(
        self,
        options: Options,
        asked: Sequence[str],
        arms: Iterable[object] | None = None,
        next_pulls: object = 10,
        *,
        skip_empty: bool = False,
        units: Units | None = None,
    ) -> None:
        super().__init__(options, next_pulls, skip_empty, units)
        if not self._options["epsilon"] and declare_outcomes(self._options.get("outcomes"))[1]:
            del self._options["epsilon"]  # the tolerances stand among the outcomes
        require(self._block == 1, "block", "1 with objectives: a row is a trial", self._block)
        self._asked = tuple(asked)
        kept = None if arms is None else [name for name in check_names(arms, 1) if self.selection.keeps(name)]
        self.roster = Roster(kept)
        self._trials: list[LoggedTrial] = []
        self._texts: dict[str, RewardTexts] = {}
        # That the rest makes sense is known before the first arm is.
        self._values = make_outcome_spec(self._some_arms(), self._options_with(range(2) if self.about_items else None))

    def _some_arms(self) -> list[str]:
        control = str(self._options.get("question", "")).partition("control=")[2].partition(",")[0]
        known = self._options.get("known") or {}
        named = [str(arm) for values in known.values() if isinstance(values, Mapping) for arm in values]
        named = list(dict.fromkeys([*named, *([control] if control else [])]))
        return named if len(named) > 1 else [*named, *(f"arm {number}" for number in range(10))]

    def _options_with(self, items: Any) -> dict[str, Any]:
        return {**self._options, **({} if items is None else {"items": items})}

    def lacks(self, batch: Batch) -> list[int]:
        """The rows without an outcome for which nothing stands."""
        if self.missing is None:
            return []
        assert self._values.outcomes is not None
        declared = self._values.outcomes.declared
        worst = {name for name, outcome in declared.items() if outcome.worst is not None}
        return [
            position
            for position in range(len(batch.names))
            if any(
                name not in worst and self.missing.places_in([value]) for name, value in self._cells(batch, position)
            )
        ]

    def _cells(self, batch: Batch, position: int) -> Iterable[tuple[str, Any]]:
        """The outcomes of a row as they are written."""
        cells = batch.values[position]
        if isinstance(cells, Mapping):
            return cells.items()
        return zip(self._asked, cells if len(self._asked) > 1 else (cells,), strict=True)

    def add(self, batch: Batch, read: Read) -> None:
        """Keep trials, checked."""
        self.roster.count(batch.names, batch.place)
        assert self._values.outcomes is not None
        for position, arm in enumerate(batch.names):
            try:
                outcomes = self._values.outcomes.read(self._numbers(batch, position), arm)
            except InvalidReward as error:
                empty = any(is_missing(value) or value == "" for _, value in self._cells(batch, position))
                error.hint += NA_REMARK if self.missing is None and empty else ""
                with located(batch.place(position)):
                    raise
            self._trials.append(LoggedTrial(arm, outcomes, batch, position))

    def _numbers(self, batch: Batch, position: int) -> dict[str, Any]:
        """The outcomes of a row as numbers, without empty ones."""
        found: dict[str, Any] = {}
        for name, value in self._cells(batch, position):
            if self.missing is not None and self.missing.places_in([value]):
                continue
            if isinstance(value, str):
                text = value.strip()
                if not text:
                    continue
                number = self._texts.setdefault(name, RewardTexts()).read(text)
                found[name] = text if number is None else number
            else:
                number = as_number(value)
                found[name] = value if number is None else number
        return found

    def infer(self) -> Analysis:
        """What the trials have shown."""
        self.selection.check(self.roster.names)
        fewest = self._min_rows or 0
        thin = {name: count for name, count in self.roster.row_counts.items() if count < fewest}
        names = [name for name in self.roster.names if name not in thin]
        one = self._values.asked[0] == "above"
        least = "about at least one arm" if one else "about at least two arms"
        require(len(names) >= (1 if one else 2), "the data", least, names, InvalidData)
        table = None
        if self._units is not None:
            table = self._item_table(names)
        spec = make_outcome_spec(
            names, self._options_with(table.items if table is not None and self.about_items else None)
        )
        for warning in spec.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=3)
        engine = OutcomeEngine(spec)
        self._learn(engine, table, names)
        engine.look()
        result = infer(engine, engine.stopped if engine.stopped in ("confidence", "complete") else "data")
        words = list(self.spaced())
        if self.skipped:
            words.append(
                f"{plural(self.skipped, 'row')} without an outcome left out: what is said holds only if outcomes are "
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
            skipped=self.skipped,
            missing=self.roster.missing,
            excluded=dict(self.selection.rows),
            min_rows=self._min_rows,
            thin=thin,
        )

    def _item_table(self, names: Sequence[str]) -> OutcomeTable:
        """The trials item by item."""
        simple = make_spec(["a", "b"], reward_range=(0.0, 1.0), epsilon=0.1, drift="off")
        table = OutcomeTable(simple, self._known, names, units=self._units)
        assert self._values.outcomes is not None
        for trial in self._trials:
            if trial.arm in names:
                table.add(*trial.scores(self._values.outcomes.measured))
        return table

    def _learn(self, engine: OutcomeEngine, table: OutcomeTable | None, names: Sequence[str]) -> None:
        """Hand all trials to the search; on items in one order."""
        numbers = {name: number for number, name in enumerate(names)}
        if table is None:
            kept = [(numbers[each.arm], each.outcomes) for each in self._trials if each.arm in numbers]
        else:
            assert engine.spec.outcomes is not None
            scores = table.in_order(len(names))
            kept = [
                (arm, dict(zip(engine.spec.outcomes.measured, scores[arm][place].tolist(), strict=True)))
                for place in range(max(map(len, scores), default=0))
                for arm in range(len(scores))
                if place < len(scores[arm])
            ]
        engine.add_up(np.array([arm for arm, _ in kept], np.int64), [outcomes for _, outcomes in kept])


def asked_of(options: Options) -> tuple[str, ...]:
    """The outcomes that columns are to have; none where there is one reward, whatever its column is called."""
    if all(options.get(name) is None for name in OF_OUTCOMES):
        return ()
    if options.get("objectives") is None:
        given = ", ".join(str(name) for name in ("outcomes", "constraints", "known") if options.get(name) is not None)
        allowed = f"given beside {given}, such as 'maximize mean(accuracy)'"
        raise InvalidSpec(what="objectives", allowed=allowed)
    return tuple(name for name in outcomes_in(options) if name not in (options.get("known") or {}))


def reading_of(
    options: Options,
    layout: Layout,
    arms: Iterable[object] | None,
    next_pulls: object,
    skip_empty: bool,
    units: Units | None,
    stacklevel: int,
) -> Rows:
    """What reads rows, of one reward each or of several outcomes; warnings are told with a stack level."""
    if not is_about_outcomes(options):
        reading = Reading(options, arms, next_pulls, layout.words, skip_empty=skip_empty, units=units)
        for warning in reading.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=stacklevel)
        return reading
    asked = layout.outcomes or (REWARD,)
    return OutcomeReading(options, asked, arms, next_pulls, skip_empty=skip_empty, units=units)
