"""How arms compare with a control: a table of differences with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import Digits, cut, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, choose_arms, is_turned, risk_heading
from ramgape.views.explanation import Column, total_width

if TYPE_CHECKING:
    from ramgape.search.result import ControlDifference, Result

NAME_WIDTH = 24

Estimated = tuple[float, tuple[float, float]]


def difference_caption(result: Result, columns: Sequence[Column]) -> str:
    """What the numbers are."""
    return f"Difference to {cut(printable(result.control or ''), 40)}"


def difference_columns(result: Result, width: int | None) -> list[Column]:
    """A row for each arm but the control, in the order of the table of arms; intervals in a second line if need be."""
    wide = _columns(result, " ")
    return wide if width is None or total_width(wide) <= width else _columns(result, "\n")


def _columns(result: Result, gap: str) -> list[Column]:
    order = {arm.name: place for place, arm in enumerate(choose_arms(result, limit=None)[0])}
    rows = sorted(result.differences, key=lambda row: order[row.name])[:ROWS]
    verdicts = {arm.name: arm.verdict for arm in result.arms}
    names, marks = short_names((row.name for row in rows), NAME_WIDTH), [verdicts[row.name] for row in rows]
    columns = [
        Column("arm", [names[row.name] for row in rows], marks=marks, names=True),
        _estimated("mean", [(row.mean, row.mean_interval) for row in rows], gap),
        _estimated("%", [(row.percent, row.percent_interval) for row in rows], gap),
    ]
    if result.about_risk:
        heading = risk_heading(result.risk, result.alpha, result.risk_label)
        columns.append(_estimated(heading, shown_risks(result, rows), gap))
    return columns


def shown_risks(result: Result, rows: Sequence[ControlDifference]) -> list[Estimated]:
    """Differences in risk, as people are shown it."""
    if is_turned(result.arms):
        return [(-row.risk, (-row.risk_interval[1], -row.risk_interval[0])) for row in rows]
    return [(row.risk, row.risk_interval) for row in rows]


def _estimated(heading: str, values: Sequence[Estimated], gap: str) -> Column:
    """An estimate, and where it is."""
    digits = Digits.of([value for value, _ in values], [interval for _, interval in values])
    cells = []
    for value, interval in values:
        low, high = digits.interval(*interval)
        known = all(map(math.isfinite, interval))
        cells.append(f"{'+' if value > 0.0 else ''}{digits.text(value)}{gap}{f'[{low}, {high}]' if known else '-'}")
    return Column(heading, cells, right=True)
