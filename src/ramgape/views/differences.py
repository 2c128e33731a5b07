"""How arms compare with a control: a table of differences with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import Digits, cut, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, is_turned
from ramgape.views.explanation import Column
from ramgape.views.table import fitted, risk_heading

if TYPE_CHECKING:
    from ramgape.search.result import ControlDifference, Result

NAME_WIDTH = 24

Estimated = tuple[float, tuple[float, float]]


def difference_caption(result: Result, columns: Sequence[Column]) -> str:
    """What the numbers are."""
    return f"Difference to {cut(printable(result.control or ''), 40)}"


def difference_columns(result: Result, width: int | None) -> list[Column]:
    """A row for each arm but the control."""
    rows = result.differences[:ROWS]
    verdicts = {arm.name: arm.verdict for arm in result.arms}
    names, marks = short_names((row.name for row in rows), NAME_WIDTH), [verdicts[row.name] for row in rows]
    heading = risk_heading(result.risk, result.alpha, result.risk_label)
    risks = shown_risks(result, rows)
    columns = [
        Column("arm", [names[row.name] for row in rows], marks=marks, names=True),
        *_estimated("mean", [(row.mean, row.mean_interval) for row in rows]),
        *_estimated("%", [(row.percent, row.percent_interval) for row in rows]),
    ]
    if result.about_risk:
        columns += _estimated(heading, risks)
    return fitted(columns, (f"{heading} from, to", "% from, to"), width)


def shown_risks(result: Result, rows: Sequence[ControlDifference]) -> list[Estimated]:
    """Differences in risk, as people are shown it."""
    if is_turned(result.arms):
        return [(-row.risk, (-row.risk_interval[1], -row.risk_interval[0])) for row in rows]
    return [(row.risk, row.risk_interval) for row in rows]


def _estimated(heading: str, values: Sequence[Estimated]) -> list[Column]:
    """An estimate, and where it is."""
    digits = Digits.of([value for value, _ in values], [interval for _, interval in values])
    ends = [digits.interval(*interval) for _, interval in values]
    shown = [f"{'+' if value > 0.0 else ''}{digits.text(value)}" for value, _ in values]
    known = [all(map(math.isfinite, interval)) for _, interval in values]
    intervals = [f"[{low}, {high}]" if any_known else "-" for (low, high), any_known in zip(ends, known, strict=True)]
    return [Column(heading, shown, right=True), Column(f"{heading} from, to", intervals, right=True)]
