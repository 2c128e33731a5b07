"""What an analysis of logged data says beside its result: what to try next, and what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ramgape.common.formatting import list_counts, plural

if TYPE_CHECKING:
    from ramgape.search.analysis import Analysis


def analysis_notes(analysis: Analysis) -> list[tuple[str, str]]:
    """Further facts, as pairs of a word and its explanation."""
    notes = [("Next", next_words(analysis))]
    if analysis.skipped:
        notes.append(("Data", f"{analysis.rows:,} rows, {analysis.skipped:,} of them left out"))
    return notes


def next_words(analysis: Analysis) -> str:
    """Which arms to try next, and how often."""
    if not analysis.next_pulls:
        return "nothing: the question is settled" if analysis.result.goal_reached else "not asked for"
    total = sum(analysis.next_pulls.values())
    return f"{plural(total, 'pull')}, then look again: {list_counts(analysis.next_pulls)}"
