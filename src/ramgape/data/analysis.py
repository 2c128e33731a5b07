"""The road for trials that are over: logged rewards in, out comes what they prove and which arms to try next."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import check_many, whole
from ramgape.common.formatting import list_names, plural
from ramgape.core.statistics import FEWEST_PULLS
from ramgape.data.accumulator import USUAL_WORDS, Accumulator, Words
from ramgape.data.batch import Batch, as_number
from ramgape.data.item_tables import ItemTable, check_known
from ramgape.data.missing import is_missing, make_missing
from ramgape.data.selection import Selection
from ramgape.data.tables import Columns, arms_of, as_table, batches, check_columns, complete_columns
from ramgape.data.thin import WithoutThin, certify_without_thin
from ramgape.errors import InvalidData, InvalidReward, RamgapeWarning, located, require, shorten
from ramgape.options import ANALYZE, Options, options_for, shows_options
from ramgape.policies import POLICIES
from ramgape.questions import PARETO, make_question
from ramgape.search.engine import Engine
from ramgape.search.explained import Answered, jsonable, restore
from ramgape.search.inference import certify, gather_evidence, infer
from ramgape.search.items import Items
from ramgape.search.result import Result
from ramgape.search.sharing import refuse_block
from ramgape.search.spec import Spec, check_names, make_spec

if TYPE_CHECKING:
    pass


CHUNK = 512  # rows that are looked at together
MOST_NEXT = 10_000  # each of them is a decision
ROWS = {2: "pair", 3: "triple"}  # by how many parts they have
UNLIMITED = 2**53  # pulls: data are as many as they are


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Answered):
    """What logged rewards prove, and what to try next.

    Attributes:
        result: The Pareto set with the evidence, arm by arm; `result.stopped` is "confidence" if the data prove the
            goal, otherwise "data".
        next_pulls: How many of the next pulls each arm should get, most first; empty if the goal is reached. Fewer than
            were asked for where these alone may settle it.
        rows: Rows that were read.
        skipped: Those among them that were left out, because they had no reward; `missing` says how many of which arm.
        block: How many consecutive rows of an arm make one reward, which is their mean.
        incomplete: Rows that were left out because they do not fill a block.
        missing: How many rows of an arm had no reward, for arms that have such rows.
        excluded: The arms that were left out by name, with their rows.
        min_rows: The fewest rows with which an arm takes part, if that was asked for.
        thin: The arms with fewer, with their rows that have a reward.
        without_thin: What is certified without arms that have far fewer rows than the others, where they keep a
            certificate of all arms from saying much; it comes on top of that, at the same delta.
    """

    result: Result
    next_pulls: dict[str, int] = field(hash=False)
    rows: int
    skipped: int
    block: int = 1
    incomplete: int = 0
    missing: dict[str, int] = field(default_factory=dict, hash=False)
    excluded: dict[str, int] = field(default_factory=dict, hash=False)
    min_rows: int | None = None
    thin: dict[str, int] = field(default_factory=dict, hash=False)
    without_thin: WithoutThin | None = None

    @property
    def _found(self) -> Result:
        return self.result

    def _rows(self) -> list[dict[str, Any]]:
        """Those of the result, with how many rewards each arm lacks, and how many of the next pulls it should get."""
        return [
            {**row, "missing": self.missing.get(row["name"], 0), "next_pulls": self.next_pulls.get(row["name"], 0)}
            for row in self.result._rows()
        ]

    def named(self, reward: object) -> Analysis:
        """The same with a name for rewards, which pictures and pages have.

        Args:
            reward: The name; None for none.
        """
        name = "" if reward is None else str(reward)
        return replace(self, result=replace(self.result, reward_name=name))

    def to_dict(self) -> dict[str, Any]:
        """All that the result's `to_dict` has, and what is of the analysis alone."""
        own = [each.name for each in dataclasses.fields(self) if each.name not in ("result", "without_thin")]
        apart = None if self.without_thin is None else dataclasses.asdict(self.without_thin)
        further = {name: getattr(self, name) for name in own}
        return {**self.result.to_dict(), **jsonable({**further, "without_thin": apart, "sentence": self.sentence})}

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Analysis:
        return restore(cls, {**description, "result": description})


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
        rows: A data frame (of pandas, polars, ...): one row a trial, with columns for arms and rewards; without
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

    Examples:
        >>> import random, ramgape
        >>> draw = random.Random(1)
        >>> log = [(arm, draw.betavariate(*shape)) for _ in range(3000) for arm, shape in
        ...        {"steady": (40, 40), "wild": (2, 1), "poor": (1, 3)}.items()]
        >>> analysis = ramgape.analyze(log, reward_range=(0, 1))
        >>> analysis.result.front, analysis.result.stopped, analysis.next_pulls
        (('steady', 'wild'), 'confidence', {})
        >>> ramgape.analyze({"A": [0.2, 0.4, None], "B": [0.9]}, reward_range=(0, 1), na="drop").missing
        {'A': 1}
    """
    table = as_table(rows)
    columns = complete_columns(table, Columns(arm_column, reward_column, item_column, block_column))
    check_columns(table, columns)
    if item_column is not None:
        options.setdefault("items", "sample")
    share_blocks(options, wide=table is not None and columns.arm is None, named=block_column is not None)
    reading = Reading(options, arms, next_pulls, columns.words or USUAL_WORDS, skip_empty=skip_empty)
    long_with_items = reading.about_items and columns.arm is not None
    require(not long_with_items or item_column is not None, "item_column", "given with items, of a long table", None)
    if table is not None:
        reading.expect(arms_of(table, columns))
        with _explaining_texts(wide=columns.arm is None):
            for batch in batches(table, columns, reading.about_items, reading.selection.keeps):
                reading.take(batch, as_rewards)
        require(reading.rows > 0, "the table", "one with rows", "none", InvalidData)
        return reading.infer().named(columns.reward)
    parts = ("arm", "item", "reward") if reading.about_items else ("arm", "reward")
    check_many(rows, "rows", f"{ROWS[len(parts)]}s ({', '.join(parts)})")
    for first, chunk in _chunks(rows):
        reading.take(_as_batch(chunk, first, parts, bool(options.get("shared"))), as_rewards)
    return reading.infer()


def share_blocks(options: Options, *, wide: bool, named: bool) -> None:
    """Say that arms share blocks where they do: the rows of a wide table, or blocks that have names.

    Args:
        options: What was asked for, to which this is added.
        wide: Whether the data are a table with a column an arm.
        named: Whether they say which block a row belongs to.
    """
    items = options.get("items")
    require(not named or items is None, "items", "absent with blocks: arms are compared item by item anyway", items)
    require(not named or options.get("shared") is not False, "shared", "true, or absent, where blocks are given", False)
    if (named or wide) and items is None and options.get("shared") is None:
        options["shared"] = True


class Reading:
    """Data that are being read: options that have been checked, and what the rows so far add up to."""

    def __init__(
        self,
        options: Options,
        arms: Iterable[object] | None = None,
        next_pulls: object = 10,
        words: Words = USUAL_WORDS,
        *,
        skip_empty: bool = False,
    ) -> None:
        allowed = f"a whole number from 0 to {MOST_NEXT:,}"
        self._next_pulls = whole(next_pulls, "next_pulls", allowed, 0)
        require(self._next_pulls <= MOST_NEXT, "next_pulls", allowed, next_pulls)
        self._options = cast(Options, {"epsilon": 0.0, **options_for(options, ANALYZE), "max_pulls": UNLIMITED})
        self._block = whole(self._options.pop("block", 1), "block", "a whole number of at least 1", 1)
        self.selection = Selection(self._options.pop("exclude", None), self._options.pop("only", None))
        na, fewest = self._options.pop("na", None), self._options.pop("min_rows", None)
        self.missing = make_missing(na, skip_empty)
        self._min_rows = None if fewest is None else whole(fewest, "min_rows", "a whole number of at least 1", 1)
        # The arms' names come with the rows; that the rest makes sense should be known before the first of them.
        some = make_question(self._options.get("question", PARETO)).some_arms()
        known = self._options.pop("items", None)
        self.about_items = known is not None
        if self.about_items:
            known = check_known(known)
            self._options["items"] = known if isinstance(known, Items) else range(2)
            require(self._block == 1, "block", "1 with items, of which each is a row", self._block)
            none = "absent with items, of which none may be missing"
            require(not skip_empty, "skip_empty", none, skip_empty)
            require(na is None, "na", none, na)
            require(self._min_rows is None, "min_rows", "absent with items, of which all arms have as many", fewest)
        spec = make_spec(some, **self._options)
        _check_policy(spec.policy)
        for warning in spec.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=3)
        self._arms = None if arms is None else check_names(arms)
        kept = None if self._arms is None else [name for name in self._arms if self.selection.keeps(name)]
        self._blocks: set[tuple[str, str]] = set()  # of each arm
        self.accumulator: Accumulator = Accumulator(spec, kept, words, self._block)
        if self.about_items:
            self.accumulator = ItemTable(spec, known, kept, words)

    @property
    def skipped(self) -> int:
        """Rows that were left out for want of a reward."""
        return sum(self.accumulator.missing.values())

    @property
    def rows(self) -> int:
        """All rows that were read."""
        return self.accumulator.rows + self.skipped + self.selection.rows.total()

    def expect(self, names: Iterable[str]) -> None:
        """There are these arms, whether or not a row has one of them."""
        for name in names:
            if self.selection.keeps(name):
                self.accumulator.mention([name], lambda _: "the table")
            else:
                self.selection.rows[name] += 0

    def take(self, batch: Batch, read: Callable[[Accumulator, Batch], NDArray[np.float64]]) -> None:
        """Count rewards. Rows of arms that are not asked about, and rows without a reward, are left out and counted.

        Args:
            batch: The rows; if all values are text, that which a file has.
            read: Makes numbers of what is left, or complains.
        """
        if self.selection:
            batch = batch.at(self.selection.places_in(batch.names))
        missing = [] if self.missing is None else self.missing.places_in(batch.values)
        if missing:
            self.accumulator.mention(batch.names, batch.place)  # who has no reward is an arm all the same
            self.accumulator.skip([batch.names[place] for place in missing], batch.place)
            batch = batch.without(missing)
        if batch.blocks is not None:
            self._take_blocks(batch, batch.blocks)
        self.accumulator.add(batch.names, read(self.accumulator, batch), batch.place, batch.items)

    def _take_blocks(self, batch: Batch, blocks: Sequence[str | None]) -> None:
        """Complain of a block that has two rows of one arm, or no name."""
        for place, (arm, block) in enumerate(zip(batch.names, blocks, strict=True)):
            if block is None:
                continue
            if not block or (arm, block) in self._blocks:
                with located(batch.place(place)):
                    refuse_block(arm, block)
            self._blocks.add((arm, block))

    def infer(self) -> Analysis:
        """What the rows have shown."""
        self.selection.check((*(self._arms or ()), *self.accumulator.names))
        missing, skipped, rows = self.accumulator.missing, self.skipped, self.rows
        thin = self._set_thin_apart()
        names = self.accumulator.names
        left_out = " that are not left out" if self.selection or thin else ""
        require(len(names) >= 2, "the data", f"about at least two arms{left_out}", list(names), InvalidData)
        if isinstance(self.accumulator, ItemTable):
            self._options["items"] = self.accumulator.items
        # What there is of an arm is all there is: arms are compared whether or not another has its first look.
        spec = replace(make_spec(names, **self._options), initial_pulls=FEWEST_PULLS)
        engine = self.accumulator.make_engine(spec)
        if certify(engine, gather_evidence(engine)).proved.all():
            # An arm outside may be covered by one that does not dominate it; stopping rules do not look for that.
            engine.finish("confidence")
        ended = engine.stopped in ("confidence", "complete")
        result = infer(engine, engine.stopped if ended else "data")
        further = (*_lacking(engine, self._block), *_left_out(skipped), *_told_twice(self.accumulator))
        guarantee = " ".join([result.guarantee, *_of_blocks(self._block), *_of_thin(thin, self._min_rows)])
        counts = self.accumulator.row_counts
        return Analysis(
            result=replace(result, guarantee=guarantee, warnings=result.warnings + further),
            next_pulls=plan_pulls(engine, self._next_pulls),
            rows=rows,
            skipped=skipped,
            block=self._block,
            incomplete=self.accumulator.incomplete,
            missing=missing,
            excluded=dict(self.selection.rows),
            min_rows=self._min_rows,
            thin=thin,
            without_thin=certify_without_thin(engine, result, counts) if self._min_rows is None else None,
        )

    def _set_thin_apart(self) -> dict[str, int]:
        """Forget the arms that have too few rows to take part, and tell how many they have."""
        if self._min_rows is None:
            return {}
        counts = self.accumulator.row_counts
        thin = {name: count for name, count in counts.items() if count < self._min_rows}
        if thin:
            self.accumulator.keep([name for name in counts if name not in thin])
        return dict(sorted(thin.items(), key=lambda each: each[1]))


def _check_policy(policy: str) -> None:
    """Rules that settle arms one after the other must see them one after the other."""
    serving = [name for name, rule in POLICIES.items() if "confidence" in rule.goals and not rule.own_answer]
    allowed = f"one that can start from any data ({', '.join(['auto', *serving])})"
    require(policy in serving, "policy", allowed, policy)


def plan_pulls(engine: Engine, count: int) -> dict[str, int]:
    """Where a search would spend its next pulls, if all are handed out before the first is back; most first."""
    chosen: Counter[int] = Counter()
    while chosen.total() < count and (arm := engine.ask()) is not None:
        engine.reserve(arm)
        chosen[arm] += 1
    return {engine.spec.names[arm]: pulls for arm, pulls in chosen.most_common()}


def _of_blocks(block: int) -> tuple[str, ...]:
    """Tell what mean and risk are about, where a reward is more than a row."""
    if block == 1:
        return ()
    return (
        f"A reward is here the mean of {block:,} consecutive rows of an arm: the risk is that of such a mean, not of a "
        "single row.",
    )


def _of_thin(thin: Mapping[str, int], fewest: int | None) -> tuple[str, ...]:
    """Tell under which condition arms may be left out by their numbers of rows."""
    if not thin:
        return ()
    return (
        f"Arms with fewer than {fewest:,} rows were left out ({list_names(list(thin))}): this holds for the others if "
        "how many rows an arm has does not depend on its rewards.",
    )


def _lacking(engine: Engine, block: int) -> tuple[str, ...]:
    """Tell of arms that keep all others from being compared."""
    spec: Spec = engine.spec
    few = [name for name, pulls in zip(spec.names, engine.arms["pulls"], strict=True) if pulls < FEWEST_PULLS]
    if not few:
        return ()
    rewards = "rewards" if block == 1 else f"rewards, each the mean of {block:,} rows"
    return (
        f"arms with fewer than {FEWEST_PULLS} {rewards}, without which nothing can be compared: {list_names(few)}; "
        "they come first among the next pulls",
    )


def _left_out(skipped: int) -> tuple[str, ...]:
    """Tell what leaving out rows means for the guarantee."""
    if not skipped:
        return ()
    rows = "1 row without a reward was" if skipped == 1 else f"{skipped:,} rows without a reward were"
    return (
        f"{rows} left out: what is said holds only if a reward is missing for reasons that have nothing to do with "
        "what it would have been",
    )


def _told_twice(accumulator: Accumulator) -> tuple[str, ...]:
    """Tell of rows that say the same again."""
    repeated = getattr(accumulator, "repeated", 0)
    return (f"{plural(repeated, 'row')} told a score again, and counted once",) if repeated else ()


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


def as_rewards(accumulator: Accumulator, batch: Batch) -> NDArray[np.float64]:
    """The rewards as floats, of any type that is a number; texts are none."""
    values = batch.values
    if isinstance(values, np.ndarray):
        return values
    found = [value if type(value) is float else as_number(value) for value in values]
    if None in found:
        place = found.index(None)
        accumulator.refuse_reward(values[place], batch.names[place], batch.place(place))
    return np.array(found, np.float64)


@contextlib.contextmanager
def _explaining_texts(wide: bool) -> Iterator[None]:
    """Say what a text among the numbers of a wide table probably means."""
    try:
        yield
    except InvalidReward as error:
        if wide and error.given.startswith(("'", '"')):
            error.hint += (
                "; exclude leaves out a column that is no arm; of a table with a row a trial, arm_column and "
                "reward_column say what is where"
            )
        raise
