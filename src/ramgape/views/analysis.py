"""What an analysis of logged data says beside its result: what to try next, and what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ramgape.common.formatting import list_counts, plural
from ramgape.views.explanation import Explanation
from ramgape.views.result import explain_result

if TYPE_CHECKING:
    from ramgape.search.analysis import Analysis


def explain_analysis(analysis: Analysis, ascii_only: bool) -> Explanation:
    """All that is said of an analysis: its result, and further facts."""
    notes = [("Next", next_words(analysis))]
    if analysis.skipped or analysis.block > 1:
        notes.append(("Data", data_words(analysis)))
    return explain_result(analysis.result, ascii_only, notes=notes)


def data_words(analysis: Analysis) -> str:
    """What was read, and what became of it."""
    parts = [f"{analysis.rows:,} rows"]
    if analysis.skipped:
        parts.append(f"{analysis.skipped:,} of them left out")
    if analysis.block > 1:
        parts.append(f"{plural(analysis.result.samples, 'mean')} of {analysis.block:,} consecutive rows of an arm")
    if analysis.incomplete:
        parts.append(f"{analysis.incomplete:,} left out at the ends, too few for a mean")
    return ", ".join(parts)


def next_words(analysis: Analysis) -> str:
    """Which arms to try next, and how often."""
    if not analysis.next_pulls:
        return "nothing: the question is settled" if analysis.result.goal_reached else "not asked for"
    total = sum(analysis.next_pulls.values())
    if analysis.block > 1:
        counts = list_counts(analysis.next_pulls)
        return f"{plural(total, 'mean')} of {analysis.block:,} rows each, then look again: {counts}"
    return f"{plural(total, 'pull')}, then look again: {list_counts(analysis.next_pulls)}"
