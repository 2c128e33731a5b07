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
    if analysis.skipped:
        notes.append(("Data", f"{analysis.rows:,} rows, {analysis.skipped:,} of them left out"))
    return explain_result(analysis.result, ascii_only, notes=notes)


def next_words(analysis: Analysis) -> str:
    """Which arms to try next, and how often."""
    if not analysis.next_pulls:
        return "nothing: the question is settled" if analysis.result.goal_reached else "not asked for"
    total = sum(analysis.next_pulls.values())
    return f"{plural(total, 'pull')}, then look again: {list_counts(analysis.next_pulls)}"
