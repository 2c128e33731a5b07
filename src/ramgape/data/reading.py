"""Data that are being read, and what they prove: rows in, out comes an analysis."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ramgape.assumptions import BOUNDED, ITEMS, UNKNOWN
from ramgape.bounds import PAIRED_T, WELCH
from ramgape.common.checks import whole
from ramgape.common.formatting import list_names, plural, round_up
from ramgape.core.statistics import FEWEST_PULLS
from ramgape.data.accumulator import USUAL_WORDS, Accumulator, Roster, Words
from ramgape.data.batch import Batch
from ramgape.data.columns import Columns, Table, is_flag, is_number
from ramgape.data.item_tables import SAMPLE, ItemTable, Units, check_known
from ramgape.data.missing import make_missing
from ramgape.data.selection import Selection
from ramgape.data.thin import WithoutThin, certify_without_thin
from ramgape.errors import InvalidData, known_name, located, require
from ramgape.options import ANALYZE, Options, options_for
from ramgape.policies import POLICIES
from ramgape.questions import PARETO, make_question
from ramgape.search.engine import Engine
from ramgape.search.explained import Answered, jsonable, restore
from ramgape.search.inference import certify, gather_evidence, infer
from ramgape.search.items import Items
from ramgape.search.outcomes import declare_outcomes
from ramgape.search.result import Result, updated
from ramgape.search.sharing import refuse_block
from ramgape.search.spec import Spec, check_names, make_spec

MOST_NEXT = 10_000  # each of them is a decision
UNLIMITED = 2**53  # pulls: data are as many as they are
Read = Callable[[Accumulator, Batch], NDArray[np.float64]]

ANY_TIME, FIXED = "any-time", "fixed"
MOSTLY = 0.8  # of all rows must be in blocks that arms share, where they are compared on these


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
        understood: What a file was taken for: its format, and what its columns mean.
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
    understood: str = ""

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
        return replace(self, result=updated(self.result, reward_name=name))

    def to_dict(self) -> dict[str, Any]:
        """All that the result's `to_dict` has, and what is of the analysis alone."""
        own: dict[str, Any] = jsonable(dataclasses.asdict(replace(self, result=None)))  # type: ignore[arg-type]
        del own["result"]
        first = {"sentence": self.sentence, "next_pulls": own.pop("next_pulls")}
        return {**self.result.to_dict(), **first, "data": own}

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Analysis:
        return restore(cls, {**description, **description.get("data", {}), "result": description})


class LogFacts(NamedTuple):
    """What is known of rows from the log of a tool.

    Attributes:
        repeats: Whether several rows about one item are repetitions.
        unit: Whether rewards lie between 0 and 1 by the documentation of the tool.
        order: What shuffled the items, in words.
    """

    repeats: bool = False
    unit: bool = False
    order: str = ""


NO_LOG = LogFacts()


class Rows:
    """Rows that are being read: what all data have in common, whatever came of a trial.

    Args:
        options: Those of `analyze`.
        next_pulls: For how many pulls to tell which arm to try.
        skip_empty: Whether rows without a reward are left out.
        units: What rows about items mean; None where they are about none.
    """

    roster: Roster
    warnings: tuple[str, ...] = ()  # of what is asked for

    def __init__(self, options: Options, next_pulls: object, skip_empty: bool, units: Units | None) -> None:
        allowed = f"a whole number from 0 to {MOST_NEXT:,}"
        self._next_pulls = whole(next_pulls, "next_pulls", allowed, 0)
        require(self._next_pulls <= MOST_NEXT, "next_pulls", allowed, next_pulls)
        self._options = cast(Options, {"epsilon": 0.0, **options_for(options, ANALYZE), "max_trials": UNLIMITED})
        self._block = whole(self._options.pop("block", 1), "block", "a whole number of at least 1", 1)
        fewest = self._options.pop("min_rows", None)
        self._min_rows = None if fewest is None else whole(fewest, "min_rows", "a whole number of at least 1", 1)
        self.selection = Selection(self._options.pop("exclude", None), self._options.pop("only", None))
        self.missing = make_missing(self._options.pop("na", None), skip_empty)
        known = self._options.pop("items", None)
        self._known = None if known is None else check_known(known)
        self._units = units
        self._blocks: set[tuple[str, str]] = set()  # of each arm

    @property
    def about_items(self) -> bool:
        """Whether arms are compared item by item."""
        return self._known is not None

    @property
    def numbers_rows(self) -> bool:
        """Whether a row that is about nothing else is to say which one it is."""
        return self._units is not None

    @property
    def skipped(self) -> int:
        """Rows that were left out for want of a reward."""
        return sum(self.roster.missing.values())

    @property
    def rows(self) -> int:
        """All rows that were read."""
        return self.roster.rows + self.skipped + self.selection.rows.total()

    def expect(self, names: Iterable[str]) -> None:
        """There are these arms, whether or not a row has one of them."""
        for name in names:
            if self.selection.keeps(name):
                self.roster.mention([name], lambda _: "the table")
            else:
                self.selection.rows[name] += 0

    def lacks(self, batch: Batch) -> list[int]:
        """The rows that are left out for want of a reward."""
        return [] if self.missing is None else self.missing.places_in(batch.values)

    def take(self, batch: Batch, read: Read) -> None:
        """Count rewards. Rows of arms that are not asked about, and rows without a reward, are left out and counted.

        Args:
            batch: The rows; if all values are text, that which a file has.
            read: Makes numbers of what is left, or complains.
        """
        if self.selection:
            batch = batch.at(self.selection.places_in(batch.names))
            if not batch.names:
                return
        missing = self.lacks(batch)
        if missing:
            self.roster.mention(batch.names, batch.place)  # who has no reward is an arm all the same
            self.roster.skip([batch.names[place] for place in missing], batch.place)
            batch = batch.without(missing)
        for place, (arm, block) in enumerate(zip(batch.names, batch.blocks or (), strict=False)):
            if block is None:
                continue
            if not block or (arm, block) in self._blocks:
                with located(batch.place(place)):
                    refuse_block(arm, block)
            self._blocks.add((arm, block))
        self.add(batch, read)

    def add(self, batch: Batch, read: Read) -> None:
        """Count the rewards of rows that have some."""
        raise NotImplementedError

    def infer(self) -> Analysis:
        """What the rows have shown."""
        raise NotImplementedError

    def spaced(self) -> tuple[str, ...]:
        """Tell of names that only blanks tell apart."""
        alike: dict[str, list[str]] = {}
        for name in self.roster.names:
            alike.setdefault(name.strip(), []).append(name)
        found = [" and ".join(map(repr, names)) for names in alike.values() if len(names) > 1]
        return (f"arms that only blanks tell apart: {list_names(found)}",) if found else ()


class Reading(Rows):
    """Data with one reward a trial that are being read, and what the rows so far add up to."""

    def __init__(
        self,
        options: Options,
        arms: Iterable[object] | None = None,
        next_pulls: object = 10,
        words: Words = USUAL_WORDS,
        *,
        skip_empty: bool = False,
        units: Units | None = None,
    ) -> None:
        super().__init__(options, next_pulls, skip_empty, units)
        self._fixed = known_name(self._options.pop("stopping", ANY_TIME), (ANY_TIME, FIXED), "stopping") == FIXED
        # The arms' names come with the rows; that the rest makes sense should be known before the first of them.
        ends = None if self._options.get("reward_range") is None else (0.0, 1.0)  # of which names do not depend
        some = make_question(self._options.get("question", PARETO), ends).some_arms()
        if units is not None:
            require(self._min_rows is None, "min_rows", "absent with items", self._min_rows)
        if self.about_items:
            self._options["items"] = self._known if isinstance(self._known, Items) else range(2)
            require(self._block == 1, "block", "1 with items, of which each is a row", self._block)
        spec = make_spec(some, **self._options)
        _check_policy(spec.policy)
        if self._fixed:
            check_fixed(spec)
        self.warnings = spec.warnings
        self._arms = None if arms is None else check_names(arms)
        kept = None if self._arms is None else [name for name in self._arms if self.selection.keeps(name)]
        self.accumulator: Accumulator = Accumulator(spec, kept, words, self._block)
        if self.about_items or units is not None:
            self.accumulator = ItemTable(spec, self._known, kept, words, units)
        self._paired: ItemTable | None = None  # the same by block, where arms are compared on the blocks they share
        if self._pairs_blocks(spec, units):
            self._paired = ItemTable(spec, None, kept, words, called="block")

    @property
    def roster(self) -> Roster:  # type: ignore[override]
        """The arms."""
        return self.accumulator

    def _pairs_blocks(self, spec: Spec, units: Units | None) -> bool:
        """Whether arms that share blocks are compared by their differences, which needs rewards of any kind."""
        usual = all(self._options.get(name, "auto") == "auto" for name in ("policy", "bound"))
        served = spec.question.compares_pairs and not spec.question.about_risk and spec.assumption == UNKNOWN
        plain = self._block == 1 and self._min_rows is None and (units is None or units == Units(seed=units.seed))
        return spec.shared and usual and served and plain

    @property
    def numbers_rows(self) -> bool:
        """Whether a row that is about nothing else is to say which one it is."""
        return super().numbers_rows or self._paired is not None

    def add(self, batch: Batch, read: Read) -> None:
        rewards = read(self.accumulator, batch)
        self.accumulator.add(batch.names, rewards, batch.place, batch.items, batch.clusters)
        if self._paired is not None:
            blocks = batch.items if batch.blocks is None else batch.blocks
            if blocks is None or None in blocks:
                self._paired = None
            else:
                self._paired.add(batch.names, rewards, batch.place, cast(Sequence[str], blocks))

    def infer(self) -> Analysis:
        """What the rows have shown."""
        self.selection.check((*(self._arms or ()), *self.accumulator.names))
        missing, skipped, rows = self.accumulator.missing, self.skipped, self.rows
        thin = self._set_thin_apart()
        names = self.accumulator.names
        left_out = " that are not left out" if self.selection or thin else ""
        require(len(names) >= 2, "the data", f"about at least two arms{left_out}", list(names), InvalidData)
        table = self.accumulator if isinstance(self.accumulator, ItemTable) else None
        if table is not None and self.about_items:
            self._options["items"] = table.items
        # What there is of an arm is all there is: arms are compared whether or not another has its first look.
        spec = replace(make_spec(names, **self._options), initial_trials=FEWEST_PULLS)
        paired = self._on_blocks()
        engine = self.accumulator.make_engine(spec) if paired is None else paired
        at_any_time = finish(engine)
        notes: tuple[str, ...] = ()
        if self._fixed:
            allowed = "any-time where arms share blocks and not all arms have the same"
            require(paired is not None or not spec.shared, "stopping", allowed, FIXED)
            looks = (FEWEST_PULLS, spec.first_looks[1])
            once = WELCH if paired is None else PAIRED_T
            asked = replace(engine.spec, bound=once, first_looks=looks, initial_trials=FEWEST_PULLS)
            source = self.accumulator if paired is None or self._paired is None else self._paired
            engine = source.make_engine(asked)
            notes = cost_of_any_time(finish(engine), at_any_time)
        ended = engine.stopped in ("confidence", "complete")
        result = infer(engine, engine.stopped if ended else "data")
        gaps = () if table is None else table.notes
        if paired is not None and self._paired is not None:
            gaps = self._paired.notes
        further = (
            *_lacking(engine, self._block),
            *_left_out(skipped),
            *_told_twice(self.accumulator),
            *gaps,
            *self.spaced(),
        )
        order = () if table is None or paired is not None or result.stopped == "complete" else (table.order_words(),)
        guarantee = " ".join([result.guarantee, *_of_blocks(self._block), *_of_thin(thin, self._min_rows), *order])
        counts = self.accumulator.row_counts
        return Analysis(
            result=updated(result, guarantee=guarantee, warnings=result.warnings + further, notes=result.notes + notes),
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

    def _on_blocks(self) -> Engine | None:
        """A search that compares arms by their differences on the blocks that they share; None if too few are shared.

        Which it is depends on the blocks that arms have, and not on their rewards.
        """
        table = self._paired
        if table is None or len(table.names) < 2 or len(table.names) != len(self.accumulator.names):
            return None
        further = tuple(f"(further block {number})" for number in range(1, self._next_pulls + 1))
        blocks = (*table.blocks, *further)
        if len(table.blocks) < FEWEST_PULLS:
            return None
        options = cast(Options, {**self._options, "shared": None, "seeds": blocks})
        spec = replace(
            make_spec(table.names, **options), initial_trials=FEWEST_PULLS, drift=self.accumulator.spec.drift
        )
        engine = table.make_engine(spec)
        return engine if table.used >= MOSTLY else None

    def _set_thin_apart(self) -> dict[str, int]:
        """Forget the arms that have too few rows to take part, and tell how many they have."""
        if self._min_rows is None:
            return {}
        counts = self.accumulator.row_counts
        thin = {name: count for name, count in counts.items() if count < self._min_rows}
        if thin:
            self.accumulator.keep([name for name in counts if name not in thin])
        return dict(sorted(thin.items(), key=lambda each: each[1]))


def finish(engine: Engine) -> float:
    """Let a search end if its data prove the goal; the tolerance that they prove, which may be infinite."""
    findings = certify(engine, gather_evidence(engine))
    if not engine.lacks_trials.any() and findings.proved.all():
        # An arm outside may be covered by one that does not dominate it; stopping rules do not look for that.
        engine.finish("confidence")
    return max(float(findings.tolerances.max()), 0.0)


def check_fixed(spec: Spec) -> None:
    """Complain of what classical tests do not serve."""
    served = spec.assumption == UNKNOWN and spec.question.compares_pairs and spec.goal == "confidence"
    allowed = "any-time unless arms are compared in pairs, with assumption unknown and no items"
    require(served and spec.items is None, "stopping", allowed, FIXED)


def cost_of_any_time(once: float, at_any_time: float) -> tuple[str, ...]:
    """What a single look proves more than one of many, in words."""
    if not math.isfinite(once):
        return ("this is one look at a fixed number of trials; do not look again when there are more",)
    now, many = (
        "nothing yet" if not math.isfinite(each) else f"it within {round_up(each)}" if each > 0.0 else "it exactly"
        for each in (max(once, 0.0), max(at_any_time, 0.0))
    )
    return (
        f"this is one look at a fixed number of trials, and proves the answer {now.removeprefix('it ')}; checked at "
        f"any time, however often, the same data prove {many}",
    )


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


def settle(options: Options, table: Table, columns: Columns, shuffle: int | None, log: LogFacts) -> Units | None:
    """Decide what the rows mean, where the options do not say it; options are completed.

    With a range, arms are compared item by item; without one, each arm by itself, with the items as blocks that arms
    share.

    Args:
        options: What was asked for.
        table: The rows.
        columns: What is where.
        shuffle: The seed of the order of items.
        log: What is known of the log that they are from.

    Returns:
        What the rows about items mean; None where they are about none.
    """
    if shuffle is not None:
        whole(shuffle, "shuffle", "a seed, a whole number of at least 0", 0)
    layout, asked = columns.layout, options.get("items") is not None
    about, named = layout.item is not None or layout.cluster is not None, layout.block is not None
    require(not (about and named), "block_column", "absent with items or clusters", layout.block)
    require(about or layout.wide or not asked, "item_column", "given with items", None)
    ranged = _settle_ranges(options, table, columns, about, log.unit)
    if about and not asked and ranged:
        options["items"] = SAMPLE
    share_blocks(options, shared=(about and not asked and not ranged) or layout.wide, named=named)
    about |= asked
    require(about or shuffle is None, "shuffle", "absent without items", shuffle)
    repeats = log.repeats and layout.item is not None
    return Units(repeats, layout.cluster is not None, shuffle, log.order) if about else None


def share_blocks(options: Options, *, shared: bool, named: bool) -> None:
    """Say that arms share blocks where they do: the rows of a wide table, or blocks that have names.

    Args:
        options: What was asked for, to which this is added.
        shared: Whether arms share rows.
        named: Whether they say which block a row belongs to.
    """
    items = options.get("items")
    require(not named or items is None, "items", "absent with blocks: arms are compared item by item anyway", items)
    require(not named or options.get("shared") is not False, "shared", "true, or absent, where blocks are given", False)
    if (named or shared) and items is None and options.get("shared") is None:
        options["shared"] = True


def _settle_ranges(options: Options, table: Table, columns: Columns, about: bool, unit: bool) -> bool:
    """Whether rewards, or all outcomes, have a range with which arms are compared item by item.

    A score that is a word (pass, fail, C, I), one that a tool defines between 0 and 1, and one about an item that is 0
    or 1 in the first rows, has the range 0 to 1; any other value is an error later.
    """
    asked = columns.layout.outcomes
    if asked:
        given = options.get("outcomes")
        if given is None and about:
            known = [_is_binary(table, columns, number)[0] for number in range(len(asked))]
            given = {name: (0.0, 1.0) if of_unit else UNKNOWN for name, of_unit in zip(asked, known, strict=True)}
            options["outcomes"] = given
        declared = declare_outcomes(given)[0]
        ranged = all(name in declared and declared[name].noise == BOUNDED for name in asked)
        return ranged and not columns.layout.wide
    if options.get("assumption") not in (None, BOUNDED, ITEMS):
        return False
    if options.get("reward_range") is None and (about or not table.in_memory):
        binary, words = _is_binary(table, columns, 0)
        if unit or words or (binary and about):
            options["reward_range"] = (0.0, 1.0)
    return options.get("reward_range") is not None


def _is_binary(table: Table, columns: Columns, number: int) -> tuple[bool, bool]:
    """Whether the first values of an outcome are 0 and 1 or words for them; and whether they are words."""
    places = [each[number] for each in columns.rewards.values()]
    cells = {str(value).strip().lower() for place in places for value in table.first(place)}
    words = bool(cells) and all(map(is_flag, cells))
    return words or (bool(cells) and all(is_number(cell) and float(cell) in (0.0, 1.0) for cell in cells)), words
