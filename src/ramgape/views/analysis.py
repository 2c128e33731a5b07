"""What an analysis of logged data says beside its result: what to try next, and what was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ramgape.common.formatting import NAMES_IN_HEADLINE, cut, list_counts, list_names, plural, round_up
from ramgape.errors import printable
from ramgape.views.explanation import Explanation
from ramgape.views.result import explain_result

if TYPE_CHECKING:
    from ramgape.search.analysis import Analysis

MOST_SHARES = 6  # of arms with missing rewards


def explain_analysis(analysis: Analysis, ascii_only: bool) -> Explanation:
    """All that is said of an analysis: its result, and further facts."""
    notes = []
    if analysis.without_thin is not None or analysis.thin:
        notes.append(("Thin", thin_words(analysis)))
    notes.append(("Next", next_words(analysis)))
    if analysis.skipped or analysis.block > 1 or analysis.excluded:
        notes.append(("Data", data_words(analysis)))
    return explain_result(analysis.result, ascii_only, notes=notes)


def data_words(analysis: Analysis) -> str:
    """What was read, and what became of it."""
    parts = [f"{analysis.rows:,} rows"]
    if analysis.skipped:
        parts.append(f"{analysis.skipped:,} of them left out without a reward ({missing_words(analysis)})")
    if analysis.excluded:
        parts.append(f"left out by name {list_rows(analysis.excluded)}")
    if analysis.block > 1:
        parts.append(f"{plural(analysis.result.samples, 'mean')} of {analysis.block:,} consecutive rows of an arm")
    if analysis.incomplete:
        parts.append(f"{analysis.incomplete:,} left out at the ends, too few for a mean")
    return ", ".join(parts)


def missing_words(analysis: Analysis) -> str:
    """Of which arms the rewards are missing, those with the largest shares of missing ones first."""
    rewards = {arm.name: analysis.block * arm.pulls for arm in analysis.result.arms} | analysis.thin
    shares = {name: count / (count + rewards.get(name, 0)) for name, count in analysis.missing.items()}
    first = sorted(shares, key=lambda name: -shares[name])[:MOST_SHARES]
    parts = [f"{cut(printable(name), 40)} {100.0 * shares[name]:.1f}%" for name in first]
    rest = len(shares) - len(first)
    return ", ".join(parts) + (f", {plural(rest, 'more arm')} less" if rest else "")


def list_rows(rows: Mapping[str, int]) -> str:
    """Arms and how many rows they have.

    >>> list_rows({"OO": 29, "HA": 1})
    'OO (29 rows), HA (1 row)'
    """
    shown = [f"{cut(printable(name), 40)} ({plural(count, 'row')})" for name, count in rows.items()]
    rest = len(shown) - NAMES_IN_HEADLINE
    return ", ".join(shown[:NAMES_IN_HEADLINE]) + (f" and {plural(rest, 'more arm')}" if rest > 0 else "")


def thin_words(analysis: Analysis) -> str:
    """Which arms have so few rows that they stand apart, and what is proved without them."""
    apart = analysis.without_thin
    if apart is None:
        return f"left out, with fewer than {analysis.min_rows:,} rows: {list_rows(analysis.thin)}"
    result, count = analysis.result, len(analysis.result.arms)
    few = "1 arm with few rows spoils" if len(apart.arms) == 1 else f"{len(apart.arms):,} arms with few rows spoil"
    before = (
        "nothing is certified" if result.certified_epsilon is None else f"it is {round_up(result.certified_epsilon)}"
    )
    after = f"it is {round_up(apart.certified_epsilon)}" if apart.certified_epsilon else "it is exact"
    answer = list_names(apart.front) or result.empty_answer
    return (
        f"{few} the certificate: {list_rows(apart.arms)}. With all {count:,} arms {before}; without these {after}, for "
        f"{answer}. {apart.guarantee} Both hold at once, whatever the reason for few rows, since delta is shared among "
        f"all {count:,} arms. (min_rows {max(apart.arms.values()) + 1:,} leaves these out.)"
    )


def next_words(analysis: Analysis) -> str:
    """Which arms to try next, and how often."""
    if not analysis.next_pulls:
        return "nothing: the question is settled" if analysis.result.goal_reached else "not asked for"
    total = sum(analysis.next_pulls.values())
    if analysis.block > 1:
        counts = list_counts(analysis.next_pulls)
        return f"{plural(total, 'mean')} of {analysis.block:,} rows each, then look again: {counts}"
    return f"{plural(total, 'pull')}, then look again: {list_counts(analysis.next_pulls)}"
