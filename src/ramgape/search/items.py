"""The items of a test set: questions, pictures, days, of which a trial takes one."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import whole
from ramgape.errors import InvalidSpec, require, shorten

FEWEST_ITEMS = 2
MOST_SCORES = 20_000_000  # of all arms on all items, which are kept: 8 bytes each


@dataclass(frozen=True, slots=True)
class Items:
    """A test set, the same for all arms, in one random order.

    Args:
        values: The items, at least two, none of them twice: what `pull(arm, item)` gets.
        population: Whether these items are all that matters. Then mean and risk are those over these items, and an arm
            that has been asked all of them is known exactly. If not, they are a sample of a larger world, about which
            something is to be found out: arms are compared on the same items all the same.
        repeats: How often an item may be asked of an arm, for scores that vary. What is estimated is then the average
            over so many trials of each item.

    Examples:
        >>> from ramgape import Items
        >>> len(Items(["2 + 2", "3 * 3"], repeats=5))
        10
        >>> Items(["2 + 2", "2 + 2"])
        Traceback (most recent call last):
        ramgape.errors.InvalidSpec: items must be all different, got '2 + 2' as the 1st and as the 2nd
    """

    values: tuple[Any, ...]
    population: bool = True
    repeats: int = 1

    def __post_init__(self) -> None:
        given: Any = self.values
        if isinstance(given, str | bytes | dict | Set) or not isinstance(given, Iterable):  # sets have no order
            raise InvalidSpec(what="items", allowed=f"a list of at least {FEWEST_ITEMS}", given=shorten(given))
        values = tuple(given)
        require(len(values) >= FEWEST_ITEMS, "items", f"at least {FEWEST_ITEMS}", list(values))
        object.__setattr__(self, "values", values)
        check_different(values)
        require(isinstance(self.population, bool), "population", "true or false", self.population)
        repeats = whole(self.repeats, "repeats", "a whole number of at least 1", 1)
        # One item's scores are no independent draws of a world of items.
        require(self.population or repeats == 1, "repeats", "1 where items are a sample of a larger world", repeats)
        object.__setattr__(self, "repeats", repeats)

    def __len__(self) -> int:
        """The most trials of an arm."""
        return len(self.values) * self.repeats

    @property
    def names(self) -> tuple[str, ...]:
        """Their texts."""
        return tuple(map(str, self.values))

    def order(self, seed: int | None) -> NDArray[np.int64]:
        """The trials in random order, the same for all arms: the number of the item, and what is over it counts its
        repetitions.

        Args:
            seed: Of the order; None for one by chance.
        """
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))  # not that of rewards or rounds
        return generator.permutation(len(self))


def check_budget_fits(items: Items | None, arm_count: int, budget: int) -> None:
    """Complain about a budget beyond the last item of the last arm."""
    most = arm_count * len(items or ())
    allowed = f"at most {most:,}: then every arm has been asked everything"
    require(items is None or budget <= most, "budget", allowed, budget)


def check_different(values: Iterable[object]) -> None:
    """Complain about an item that is there twice; what cannot be looked up, as an array, is not compared."""
    places: dict[object, int] = {}
    for place, value in enumerate(values):
        try:
            first = places.setdefault(value, place)
        except TypeError:
            continue
        if first != place:
            twice = f"{shorten(value)} as the {_ordinal(first + 1)} and as the {_ordinal(place + 1)}"
            raise InvalidSpec(what="items", allowed="all different", given=twice)


def make_items(given: Any) -> Items:
    """Items, or a list of them, which is all there is."""
    return given if isinstance(given, Items) else Items(given)


def check_size(trials: int, arm_count: int) -> None:
    """Complain about more scores than can be kept."""
    allowed = f"so many that arms times items times repeats is at most {MOST_SCORES:,}"
    require(arm_count * trials <= MOST_SCORES, "items", allowed, f"{arm_count:,} x {trials:,}")


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else endings.get(number % 10, 'th')}"
