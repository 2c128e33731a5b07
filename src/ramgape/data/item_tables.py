"""Logged scores on the items of a test set, in any order and perhaps incomplete.

Arms are compared on the items that both have. Scores come row by row; at the end they are put into one order of items
in which every arm has a beginning: first the items of all arms, then those of all but the arm with fewest, and so on.
An arm whose items are no part of those of all arms with more items leaves the rest of its scores unused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import whole
from ramgape.common.formatting import list_names, plural
from ramgape.data.accumulator import USUAL_WORDS, Accumulator, Numbering, Words
from ramgape.data.batch import Place
from ramgape.errors import InvalidData, located, require, shorten
from ramgape.search.engine import Engine
from ramgape.search.items import Items, check_different, check_size, make_items
from ramgape.search.spec import Spec

POPULATION, SAMPLE = "population", "sample"
MOST_NAMED = 5  # arms, or items, in a sentence


class Units(NamedTuple):
    """What the rows about items mean.

    Attributes:
        average: Whether several rows about one item are repetitions, whose mean is its score. Otherwise a second row
            must say the same again.
        clustered: Whether items belong to clusters: then evidence counts clusters, whose score is the mean of their
            items.
        seed: Of the order in which items are taken; None for that of the data.
        origin: What shuffled them before they were logged, in words; empty if nothing did.
    """

    average: bool = False
    clustered: bool = False
    seed: int | None = None
    origin: str = ""


class ItemTable(Accumulator):
    """Scores that turn up row by row, in any order, each with the item that it is about.

    `known` says what the items are: "population", all there are; "sample", some of a larger world; how many there are
    in all, of which those in the data are a random sample; or a list of all of them. Without it, scores have no range:
    arms are then judged one by one, with an item as a block that they share.
    """

    def __init__(
        self,
        spec: Spec,
        known: Any,
        arms: Iterable[str] | None = None,
        words: Words = USUAL_WORDS,
        units: Units | None = None,
        called: str = "item",
    ) -> None:
        super().__init__(spec, arms, words)
        self._called = called
        self._known, self._units = known, units or Units()
        self._items = Numbering()
        if isinstance(known, Items):
            check_different(known.names)
            self._items.update((name, place) for place, name in enumerate(known.names))
        if self._units.clustered:
            allowed = "population or sample with clusters, whose number is not known"
            require(known in (None, POPULATION, SAMPLE), "items", allowed, known)
        self._scores: dict[tuple[int, int], Any] = {}
        self._times: Counter[tuple[int, int]] = Counter()  # that a score was told, where these are repetitions
        self._clusters: dict[int, str] = {}  # of the items
        self.repeated = 0
        self.notes: tuple[str, ...] = ()
        self.used = 1.0  # the part of the scores with which arms are compared

    def add(
        self,
        names: Sequence[str],
        rewards: NDArray[np.float64],
        place: Place,
        items: Sequence[str] | None = None,
        clusters: Sequence[str] | None = None,
    ) -> None:
        """Take in one score for each name and item."""
        assert items is not None
        self._check_rewards(names, rewards, place)
        numbers, count = self.mention(names, place).tolist(), len(self._items)
        scores = rewards.tolist() if rewards.ndim == 1 else list(rewards)  # of several outcomes a vector each
        for position, (arm, item, reward) in enumerate(zip(numbers, items, scores, strict=True)):
            number = self._items[item]
            cell = arm, number
            if isinstance(self._known, Items) and len(self._items) > count:
                with located(place(position)):
                    require(False, "the item", "one of the items that there are", item, InvalidData)
            if clusters is not None and self._clusters.setdefault(number, clusters[position]) != clusters[position]:
                with located(place(position)):
                    allowed = f"always the same, {self._clusters[number]!r}"
                    require(False, f"the cluster of item {item!r}", allowed, clusters[position], InvalidData)
            earlier = self._scores.get(cell)
            if self._units.average:
                self._times[cell] += 1
                self._scores[cell] = reward if earlier is None else earlier + (reward - earlier) / self._times[cell]
                continue
            self.repeated += earlier is not None
            self._scores[cell] = reward
            if earlier is not None and not np.array_equal(earlier, reward):
                with located(place(position)):
                    what = f"the score of arm {names[position]!r} on item {item!r}"
                    require(False, what, f"the only one, or {earlier!r} again", reward, InvalidData)
        self.rows += len(names)

    @property
    def items(self) -> Items:
        """What the test set is, as far as the data show."""
        found = tuple(dict.fromkeys(self._clusters.values())) if self._units.clustered else tuple(self._items)
        allowed = f"about at least two {'clusters of items' if self._units.clustered else 'items'}"
        require(len(found) >= 2, "the data", allowed, plural(len(found), "item"), InvalidData)
        if isinstance(self._known, Items):
            return self._known
        if isinstance(self._known, int):
            allowed = f"at least {len(found):,}, as many as the data have"
            require(self._known >= len(found), "items", allowed, self._known)
            check_size(self._known, len(self.names))
            return Items(tuple(range(self._known)))
        return Items(found, population=self._known == POPULATION)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of all items."""
        return tuple(self._items)

    def make_engine(self, spec: Spec) -> Engine:
        """A search that has learnt all scores, item by item."""
        scores = self._in_order(len(spec.names))
        self.used = sum(map(len, scores)) / max(len(self._scores), 1)
        longest = max(map(len, scores), default=0)
        rows = [
            (arm, scores[arm][place])
            for place in range(longest)
            for arm in range(len(scores))
            if place < len(scores[arm])
        ]
        arms, rewards = np.array([arm for arm, _ in rows], np.int64), np.array([score for _, score in rows], np.float64)
        if spec.items is None:
            told = self.rows
            names = self.names
            super().add([names[arm] for arm in arms.tolist()], rewards, lambda _: "the data")
            self.rows = told
            return super().make_engine(spec)
        engine = Engine(spec)
        engine.add_up(arms, rewards)
        engine.look()
        return engine

    def _in_order(self, arm_count: int) -> list[list[Any]]:
        """The scores of each arm in one order of the items, of which each arm has a beginning."""
        seen: list[set[int]] = [set() for _ in range(arm_count)]
        for arm, item in self._scores:
            seen[arm].add(item)
        every = sorted(set().union(*seen))  # in the order in which they turned up
        used = list(seen)
        by_size = sorted(range(arm_count), key=lambda arm: -len(seen[arm]))
        for earlier, arm in pairwise(by_size):
            used[arm] = seen[arm] & used[earlier]
        if self._units.clustered:
            used = [set(used[by_size[-1]]) for _ in seen]  # the means of a cluster must be about the same items
        self._note_gaps(every, seen, used)
        if self._units.seed is not None:
            shuffled = np.random.default_rng(self._units.seed).permutation(len(every)).tolist()
            every = [every[place] for place in shuffled]
        often = Counter(item for mine in used for item in mine)
        order = sorted((item for item in every if often[item]), key=lambda item: -often[item])
        if not self._units.clustered:
            return [[self._scores[arm, item] for item in order if item in used[arm]] for arm in range(arm_count)]
        groups: dict[str, list[int]] = {}
        for item in order:
            groups.setdefault(self._clusters[item], []).append(item)
        return [
            [np.mean([self._scores[arm, item] for item in group], axis=0) for group in groups.values()]
            for arm in range(arm_count)
        ]

    def _note_gaps(self, every: Sequence[int], seen: Sequence[set[int]], used: Sequence[set[int]]) -> None:
        """Say which arms lack items, and on which items arms are compared."""
        few = [arm for arm, mine in enumerate(seen) if len(mine) < len(every)]
        if not few:
            return
        texts = tuple(self._items)
        parts = []
        for arm in few[:MOST_NAMED]:
            lacking = [texts[item] for item in every if item not in seen[arm]]
            which = list_names([shorten(name) for name in lacking], MOST_NAMED)
            part = f"{self.names[arm]} has {len(seen[arm]):,} of {len(every):,} {self._called}s (without {which})"
            unused = len(seen[arm]) - len(used[arm])
            parts.append(part + (f", {unused:,} of them unused" if unused else ""))
        more = f"; {plural(len(few) - MOST_NAMED, 'more arm')} likewise" if len(few) > MOST_NAMED else ""
        which = f"the {self._called}s that {'all arms have' if self._units.clustered else 'both have'}"
        self.notes = (
            f"incomplete: {'; '.join(parts)}{more}. Two arms are compared on {which}; this holds if "
            f"{self._called}s are missing for reasons that have nothing to do with the scores",
        )

    def order_words(self) -> str:
        """What the guarantee assumes of the order of items."""
        if self._units.seed is not None:
            return f"Items are taken in random order (seed {self._units.seed})."
        if self._units.origin:
            return f"Items are taken in the order of the data, which {self._units.origin}."
        return (
            "Items are taken in the order of the data: this assumes that the order has nothing to do with the scores "
            "(shuffle=SEED, or --shuffle SEED, needs no such assumption, if you look once)."
        )


def check_known(given: Any) -> Any:
    """What is said of the items of logged scores."""
    if isinstance(given, str):
        if given in (POPULATION, SAMPLE):
            return given
        allowed = "population, all there are; sample, some of a larger world; or how many there are in all"
        require(given.strip().isdecimal(), "items", allowed, given)
        given = int(given)
    if isinstance(given, int):
        return whole(given, "items", "a whole number of at least 2", 2)
    items = make_items(given)
    require(items.repeats == 1, "the repeats of items", "1 for logged scores, one an arm and item", items.repeats)
    return items
