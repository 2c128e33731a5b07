"""What was known at one moment of a search, on its way."""

from __future__ import annotations

from typing import NamedTuple


class HistoryPoint(NamedTuple):
    """What was known after some pulls, in the user's units.

    Attributes:
        samples: Pulls made.
        doubt: The answer was right up to this tolerance.
        unproved: Of how many arms the evidence did not suffice, where arms are compared in pairs; None elsewhere.
        pulls, means, lows, highs: Of each arm, with the ends of its interval; empty for very many arms. After a budget
            there are no intervals on the way: NaN.
    """

    samples: int
    doubt: float
    unproved: int | None
    pulls: tuple[int, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
