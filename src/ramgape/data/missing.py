"""Which values stand for a reward that is missing: they are left out, and counted, only if that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import require

DROP = "drop"
NA_REMARK = f'; na="{DROP}" leaves out what is missing, and counts it: is it missing by chance?'


class Missing(NamedTuple):
    """What is missing.

    Attributes:
        texts: Texts that say so; an empty one always does, and so does None.
        unknown: Whether NaN, and what else is not equal to itself, says so as well.
    """

    texts: frozenset[str]
    unknown: bool

    def places_in(self, values: Sequence[Any] | NDArray[np.float64]) -> list[int]:
        """Where values are missing."""
        if isinstance(values, np.ndarray):
            return np.flatnonzero(np.isnan(values)).tolist() if self.unknown else []
        return [place for place, value in enumerate(values) if self._says(value)]

    def _says(self, value: Any) -> bool:
        if isinstance(value, str):
            return value.strip() in self.texts
        return value is None or (self.unknown and is_missing(value))


def make_missing(na: Any, skip_empty: bool) -> Missing | None:
    """What is asked to be left out, if anything is.

    >>> make_missing("drop", False).texts, sorted(make_missing("NA, null", False).texts)
    (frozenset({''}), ['', 'NA', 'null'])
    """
    if na is None:
        return Missing(frozenset([""]), unknown=False) if skip_empty else None
    allowed = f'"{DROP}", or texts that stand for a missing value such as "NA,NaN,null"'
    texts: Any = () if na == DROP else na.split(",") if isinstance(na, str) else na
    require(isinstance(texts, Iterable) and not isinstance(texts, bytes), "na", allowed, na)
    listed = list(texts)
    require(all(isinstance(text, str) for text in listed), "na", allowed, na)
    return Missing(frozenset(["", *(text.strip() for text in listed)]), unknown=True)


def is_missing(value: Any) -> bool:
    """Whether a value is none: None, NaN, NaT, or pandas' NA, whose comparison with itself is undefined."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return type(value).__name__ == "NAType"
    except ValueError:  # an array
        return False
