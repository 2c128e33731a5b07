"""The road for trials that are over: logged rewards in, out comes what they prove and which arms to try next."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from ramgape.common.checks import check_many, whole
from ramgape.common.formatting import list_names, plural
from ramgape.core.statistics import FEWEST_PULLS
from ramgape.errors import InvalidData, RamgapeWarning, require, shorten
from ramgape.options import ANALYZE, Options, options_for, shows_options
from ramgape.policies import POLICIES
from ramgape.search.accumulator import USUAL_WORDS, Accumulator, Words
from ramgape.search.engine import Engine
from ramgape.search.explained import Explained, restore
from ramgape.search.inference import certify, gather_evidence, infer
from ramgape.search.item_tables import ItemTable, check_known
from ramgape.search.items import Items
from ramgape.search.result import Result
from ramgape.search.spec import Spec, make_spec
from ramgape.tasks import PARETO, make_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ramgape.views.explanation import Explanation
    from ramgape.views.plots.plot import Plot

CHUNK = 512  # rows that are looked at together
MOST_NEXT = 10_000  # each of them is a decision
UNLIMITED = 2**53  # pulls: data are as many as they are


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Explained):
    """What logged rewards prove, and what to try next.

    Attributes:
        result: The Pareto set with the evidence, arm by arm; `result.stopped` is "confidence" if the data prove the
            goal, otherwise "data".
        next_pulls: How many of the next pulls each arm should get, most first; empty if the goal is reached. Fewer than
            were asked for where these alone may settle it.
        rows: Rows that were read.
        skipped: Those among them that were left out, because they had no reward.
        block: How many consecutive rows of an arm make one reward, which is their mean.
        incomplete: Rows that were left out because they do not fill a block.
    """

    result: Result
    next_pulls: dict[str, int] = field(hash=False)
    rows: int
    skipped: int
    block: int = 1
    incomplete: int = 0

    def explanation(self, ascii_only: bool = False) -> Explanation:
        """All that is said of it, for whoever shows it."""
        from ramgape.views.analysis import explain_analysis

        return explain_analysis(self, ascii_only)

    def _rows(self) -> list[dict[str, Any]]:
        """Those of the result, and how many of the next pulls each arm should get."""
        return [{**row, "next_pulls": self.next_pulls.get(row["name"], 0)} for row in self.result._rows()]

    def plot(self, axes: Axes | None = None, *, plane: bool = False) -> Plot:
        """The picture of the result.

        Args:
            axes: Where to draw; unless given, in a figure of its own.
            plane: Whether to draw the mean-risk plane although there is a control.
        """
        return self.result.plot(axes, plane=plane)

    def to_dict(self) -> dict[str, Any]:
        """All that the result's `to_dict` has, and what is of the analysis alone."""
        counts = {name: getattr(self, name) for name in ("rows", "skipped", "block", "incomplete")}
        further = {**counts, "next_pulls": dict(self.next_pulls)}
        return {**self.result.to_dict(), **further}

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Analysis:
        return restore(cls, {**description, "result": description})


@shows_options(ANALYZE)
def analyze(
    rows: Iterable[tuple[Any, ...]],
    *,
    arms: Iterable[object] | None = None,
    next_pulls: int = 10,
    skip_empty: bool = False,
    **options: Unpack[Options],
) -> Analysis:
    """Find what logged rewards prove about the Pareto set, and which arms to try next.

    With probability 1 - delta everything that is said to be proved is true, if each arm's rewards are independent draws
    from one distribution, and whether a row was logged does not depend on its reward. Which arm was tried when may have
    depended on everything before: any adaptive sampling is fine, dropping bad rows is not. The bounds hold at all times
    at once, so it is fine to look again whenever there are more rows, with the same options and the same arms. Delta
    is shared among the arms: if further ones may turn up between two looks, name all of them from the start (`arms`).

    Args:
        rows: Pairs (arm, reward), in the order in which they came; read once, and not kept, but for the rewards (8
            bytes each) with noise="gaussian" and a risk beyond mean and variance, which are shown beside the model's
            value. With `items` triples (arm, item, reward), in any order.
        {options}
        arms: All arms there are, if some may have no row yet; unless given, those that turn up.
        next_pulls: For how many pulls to tell which arm to try, by `policy`.
        skip_empty: Leave out rows whose reward is None, and count them, instead of refusing them.

    Examples:
        >>> import random, ramgape
        >>> draw = random.Random(1)
        >>> log = [(arm, draw.betavariate(*shape)) for _ in range(3000) for arm, shape in
        ...        {"steady": (40, 40), "wild": (2, 1), "poor": (1, 3)}.items()]
        >>> analysis = ramgape.analyze(log, reward_range=(0, 1))
        >>> analysis.result.front, analysis.result.stopped, analysis.next_pulls
        (('steady', 'wild'), 'confidence', {})
    """
    reading = Reading(options, arms, next_pulls)
    check_many(rows, "rows", "triples (arm, item, reward)" if reading.about_items else "pairs (arm, reward)")
    require(
        not (reading.about_items and skip_empty), "skip_empty", "absent with items, of which none may be missing", True
    )
    for first, chunk in _chunks(rows):
        _read_pairs(reading, chunk, first, skip_empty)
    return reading.infer()


class Reading:
    """Data that are being read: options that have been checked, and what the rows so far add up to."""

    def __init__(
        self,
        options: Options,
        arms: Iterable[object] | None = None,
        next_pulls: object = 10,
        words: Words = USUAL_WORDS,
    ) -> None:
        allowed = f"a whole number from 0 to {MOST_NEXT:,}"
        self._next_pulls = whole(next_pulls, "next_pulls", allowed, 0)
        require(self._next_pulls <= MOST_NEXT, "next_pulls", allowed, next_pulls)
        self._options = cast(Options, {"epsilon": 0.0, **options_for(options, ANALYZE), "max_pulls": UNLIMITED})
        self._block = whole(self._options.pop("block", 1), "block", "a whole number of at least 1", 1)
        # The arms' names come with the rows; that the rest makes sense should be known before the first of them.
        some = make_task(self._options.get("task", PARETO)).some_arms()
        known = self._options.pop("items", None)
        self.about_items = known is not None
        if self.about_items:
            known = check_known(known)
            self._options["items"] = known if isinstance(known, Items) else range(2)
            require(self._block == 1, "block", "1 with items, of which each is a row", self._block)
        spec = make_spec(some, **self._options)
        _check_policy(spec.policy)
        for warning in spec.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=3)
        self.accumulator: Accumulator = Accumulator(spec, arms, words, self._block)
        if self.about_items:
            self.accumulator = ItemTable(spec, known, arms, words)
        self.skipped = 0

    def infer(self) -> Analysis:
        """What the rows have shown."""
        names = self.accumulator.names
        require(len(names) >= 2, "the data", "about at least two arms", list(names), InvalidData)
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
        further = (*_lacking(engine, self._block), *_left_out(self.skipped), *_told_twice(self.accumulator))
        guarantee = " ".join([result.guarantee, *_of_blocks(self._block)])
        return Analysis(
            result=replace(result, guarantee=guarantee, warnings=result.warnings + further),
            next_pulls=plan_pulls(engine, self._next_pulls),
            rows=self.accumulator.rows + self.skipped,
            skipped=self.skipped,
            block=self._block,
            incomplete=self.accumulator.incomplete,
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
        f"{rows} left out: what is proved holds only if a reward is missing for reasons that have nothing to do with "
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


def _read_pairs(reading: Reading, chunk: Sequence[Any], first: int, skip_empty: bool) -> None:
    """Hand pairs over to an accumulator, or triples."""
    items = None
    if reading.about_items:
        triples = [_as_triple(row, number) for number, row in enumerate(chunk, start=first)]
        items = [item for _, item, _ in triples]
        pairs = [(arm, reward) for arm, _, reward in triples]
    else:
        pairs = [_as_pair(row, number) for number, row in enumerate(chunk, start=first)]
    places = list(range(first, first + len(chunk)))

    def place(position: int) -> str:
        return f"row {places[position]}"

    if skip_empty and any(reward is None for _, reward in pairs):
        reading.accumulator.mention([name for name, _ in pairs], place)  # who has no reward is an arm all the same
        places = [number for number, (_, reward) in zip(places, pairs, strict=True) if reward is not None]
        pairs = [pair for pair in pairs if pair[1] is not None]
        reading.skipped += len(chunk) - len(pairs)
    rewards = [
        reward if type(reward) is float else _as_float(reading.accumulator, reward, place(position))
        for position, (_, reward) in enumerate(pairs)
    ]
    reading.accumulator.add([name for name, _ in pairs], np.array(rewards, np.float64), place, items)


def _as_pair(row: Any, number: int) -> tuple[str, Any]:
    """An arm's name and a reward, whatever that is."""
    if not isinstance(row, str | bytes):  # two letters are no pair
        with contextlib.suppress(TypeError, ValueError):
            arm, reward = row
            return str(arm), reward
    raise InvalidData(place=f"row {number}", allowed="a pair (arm, reward)", given=shorten(row))


def _as_triple(row: Any, number: int) -> tuple[str, str, Any]:
    """An arm's name, an item's and a reward, whatever that is."""
    if not isinstance(row, str | bytes):
        with contextlib.suppress(TypeError, ValueError):
            arm, item, reward = row
            return str(arm), str(item), reward
    raise InvalidData(place=f"row {number}", allowed="a triple (arm, item, reward)", given=shorten(row))


def _as_float(accumulator: Accumulator, reward: object, place: str) -> float:
    """A reward of any type that is a number; texts are none."""
    if hasattr(type(reward), "__float__") and not isinstance(reward, str | bytes | np.complexfloating):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(reward)  # type: ignore[arg-type]
    return accumulator.refuse_reward(reward, place)
