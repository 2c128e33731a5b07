"""Values that are kept in order of size."""

from __future__ import annotations

from ramgape.core.kernel import inlined


@inlined
def insert(values, first, count, value):
    """Put a value among so many, which stand in order from `first` on; behind them there is room for one."""
    place = first + count
    for _ in range(count):
        if values[place - 1] <= value:
            break
        values[place] = values[place - 1]
        place -= 1
    values[place] = value
