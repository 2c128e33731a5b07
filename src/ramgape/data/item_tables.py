"""Logged scores on the items of a test set: a table with a row an item and a column an arm, which must be complete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import whole
from ramgape.common.formatting import plural
from ramgape.data.accumulator import USUAL_WORDS, Accumulator, Numbering, Words
from ramgape.data.batch import Place
from ramgape.errors import InvalidData, located, require, shorten
from ramgape.search.engine import Engine
from ramgape.search.items import Items, check_different, check_size, make_items
from ramgape.search.spec import Spec

POPULATION, SAMPLE = "population", "sample"
SHUFFLED = 0  # the seed of the order in which items are looked at: files are sorted by whatever makes them hard


class ItemTable(Accumulator):
    """Scores that turn up row by row, in any order, each with the item that it is about.

    `known` says what the items are: "population", all there are; "sample", some of a larger world; how many there are
    in all, of which those in the data are a random sample; or a list of all of them.
    """

    gapless = True

    def __init__(
        self, spec: Spec, known: Any, arms: Iterable[object] | None = None, words: Words = USUAL_WORDS
    ) -> None:
        super().__init__(spec, arms, words)
        self._known = known
        self._items = Numbering()
        if isinstance(known, Items):
            check_different(known.names)
            self._items.update((name, place) for place, name in enumerate(known.names))
        self._scores: dict[tuple[int, int], float] = {}
        self.repeated = 0

    def add(
        self, names: Sequence[str], rewards: NDArray[np.float64], place: Place, items: Sequence[str] | None = None
    ) -> None:
        """Take in one score for each name and item; the same again is counted once, another one is an error."""
        assert items is not None
        self._check_rewards(names, rewards, place)
        numbers, count = self.mention(names, place).tolist(), len(self._items)
        for position, (arm, item, reward) in enumerate(zip(numbers, items, rewards.tolist(), strict=True)):
            cell = arm, self._items[item]
            if isinstance(self._known, Items) and len(self._items) > count:
                with located(place(position)):
                    require(False, "the item", "one of the items that there are", item, InvalidData)
            earlier = self._scores.get(cell)
            self.repeated += earlier is not None
            self._scores[cell] = reward
            if earlier not in (None, reward):
                with located(place(position)):
                    what = f"the score of arm {names[position]!r} on item {item!r}"
                    require(False, what, f"the only one, or {earlier!r} again", reward, InvalidData)
        self.rows += len(names)

    @property
    def items(self) -> Items:
        """What the test set is, as far as the data show."""
        found = tuple(self._items)
        allowed = "about at least two items"
        require(len(found) >= 2, "the data", allowed, plural(len(found), "item"), InvalidData)
        if isinstance(self._known, Items):
            return self._known
        if isinstance(self._known, int):
            allowed = f"at least {len(found):,}, as many as the data have"
            require(self._known >= len(found), "items", allowed, self._known)
            check_size(self._known, len(self.names))
            return Items(tuple(range(self._known)))
        return Items(found, population=self._known == POPULATION)

    def make_engine(self, spec: Spec) -> Engine:
        """A search that has learnt all scores, item by item in random order."""
        seen = sorted({item for _, item in self._scores})
        order = np.random.default_rng(SHUFFLED).permutation(np.array(seen, np.int64))
        arms, rewards = np.arange(len(spec.names)), []
        for item in order.tolist():
            for arm, name in enumerate(spec.names):
                score = self._scores.get((arm, item))
                if score is None:
                    what = f"the score of arm {shorten(name)} on item {shorten(tuple(self._items)[item])}"
                    allowed = "given: in a test set every arm has one on every item"
                    raise InvalidData(what=what, allowed=allowed, given="none")
                rewards.append(score)
        engine = Engine(spec)
        engine.add_up(np.tile(arms, len(order)), np.array(rewards, np.float64))
        engine.look()
        return engine


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
