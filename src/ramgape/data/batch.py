"""Rows of logged data that are handed over together, on their way from a table, a file or an iterable."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Place = Callable[[int], str]  # where a row stands, by its place among those handed over


class Batch(NamedTuple):
    """Some rows.

    Attributes:
        names: Their arms.
        values: What stands for their rewards: numbers in an array, or anything.
        place: What errors call the place of a row.
        items: What the rewards are scores on, of a test set.
        blocks: What they share with those of other arms; None where that is nothing.
        clusters: To which cluster of dependent items each item belongs.
    """

    names: Sequence[str]
    values: Sequence[Any] | NDArray[np.float64]
    place: Place
    items: Sequence[str] | None = None
    blocks: Sequence[str | None] | None = None
    clusters: Sequence[str] | None = None

    def at(self, places: Sequence[int]) -> Batch:
        """Some of them."""
        if len(places) == len(self.names):
            return self
        values = self.values
        return Batch(
            [self.names[place] for place in places],
            values[places] if isinstance(values, np.ndarray) else [values[place] for place in places],
            lambda position: self.place(places[position]),
            None if self.items is None else [self.items[place] for place in places],
            None if self.blocks is None else [self.blocks[place] for place in places],
            None if self.clusters is None else [self.clusters[place] for place in places],
        )

    def without(self, places: Sequence[int]) -> Batch:
        """All but some of them."""
        gone = set(places)
        return self.at([place for place in range(len(self.names)) if place not in gone])


def as_number(value: object) -> float | None:
    """The float that a reward of any type stands for; None for what is no number, such as a text."""
    if hasattr(type(value), "__float__") and not isinstance(value, str | bytes | np.complexfloating):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(value)  # type: ignore[arg-type]
    return None
