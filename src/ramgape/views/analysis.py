"""What an analysis of logged data says beside its result: what to try next, and what was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ramgape.common.formatting import NAMES_IN_HEADLINE, confidence, cut, list_counts, list_names, plural, round_up
from ramgape.errors import printable
from ramgape.views.explanation import Explanation
from ramgape.views.result import explain_result
from ramgape.views.sentence import DOUBT, IN_DOUBT, NAMES, answer_sentence, name_list, tolerance_words

if TYPE_CHECKING:
    from ramgape.data.reading import Analysis

MOST_SHARES = 6  # of arms with missing rewards


def explain_analysis(analysis: Analysis, ascii_only: bool, *, full: bool = False) -> Explanation:
    """All that is said of an analysis: its result, and further facts."""
    notes = []
    if full and (analysis.without_thin is not None or analysis.thin):
        notes.append(("Thin", thin_words(analysis)))
    if full or analysis.next_pulls:
        notes.append(("Next", next_words(analysis)))
    if analysis.understood or analysis.skipped or analysis.block > 1 or analysis.excluded:
        notes.append(("Data", data_words(analysis)))
    return explain_result(analysis.result, ascii_only, full=full, notes=notes, more=apart_sentence(analysis))


def analysis_sentence(analysis: Analysis) -> str:
    """The answer in plain words, with and without arms that have few rows."""
    return " ".join(filter(None, (answer_sentence(analysis.result), apart_sentence(analysis))))


def data_words(analysis: Analysis) -> str:
    """What was read, and what became of it."""
    parts = [plural(analysis.rows, "row")]
    if analysis.skipped:
        parts.append(f"{analysis.skipped:,} of them left out without a reward ({missing_words(analysis)})")
    if analysis.excluded:
        others, rows = len(analysis.excluded), sum(analysis.excluded.values())
        listed = f"{others:,} other arms ({plural(rows, 'row')})" if others > NAMES else list_rows(analysis.excluded)
        parts.append(f"left out by name {listed}")
    if analysis.block > 1:
        parts.append(f"{plural(analysis.result.trials, 'mean')} of {analysis.block:,} consecutive rows of an arm")
    if analysis.incomplete:
        parts.append(f"{analysis.incomplete:,} left out at the ends, too few for a mean")
    return f"{analysis.understood}; " * bool(analysis.understood) + ", ".join(parts)


def missing_words(analysis: Analysis) -> str:
    """Of which arms the rewards are missing, those with the largest shares of missing ones first."""
    rewards = {arm.name: analysis.block * arm.trials for arm in analysis.result.arms} | analysis.thin
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


def apart_sentence(analysis: Analysis) -> str:
    """The answer without arms that have few rows: where they spoil the certificate, it is what people came for."""
    result, apart = analysis.result, analysis.without_thin
    if apart is None:
        return ""
    names = list(apart.arms)
    who = f"{name_list(names)}, which {'has' if len(names) == 1 else 'have'} few rows"
    answer = "it" if set(apart.front) == set(result.answer) else name_list(apart.front or [result.empty_answer])
    verb = "is" if answer == "it" or len(apart.front) < 2 else "are"
    how = "approximately " if result.rigour == "approximate" else ""
    close = tolerance_words(result, apart.certified_epsilon, apart.certified_risk_epsilon)
    right = f"right {close}," if apart.certified_epsilon else "right,"
    doubt = f" {DOUBT}" if IN_DOUBT in apart.guarantee else ""
    return f"Without {who}, {answer} {verb} {how}{right} with probability {confidence(apart.certified_delta)}.{doubt}"


def thin_words(analysis: Analysis) -> str:
    """Which arms have so few rows that they stand apart, and what is proved without them."""
    apart = analysis.without_thin
    if apart is None:
        return f"left out, with fewer than {analysis.min_rows:,} rows: {list_rows(analysis.thin)}"
    result, count = analysis.result, len(analysis.result.arms)
    few = "1 arm with few rows spoils" if len(apart.arms) == 1 else f"{len(apart.arms):,} arms with few rows spoil"
    mark = " (approximate)" if result.rigour == "approximate" else ""
    before = "nothing is certified"
    if result.certified_epsilon is not None:
        useless = "" if result.is_informative else ", more than all differences between arms"
        before = f"epsilon is {round_up(result.certified_epsilon)}{mark}{useless}"
    answer, fewest = list_names(apart.front) or result.empty_answer, max(apart.arms.values()) + 1
    claim, in_doubt, _ = apart.guarantee.partition(IN_DOUBT)  # of which a warning says more
    return (
        f"{few} the certificate: {list_rows(apart.arms)}. With all {count:,} arms {before}; without these it is "
        f"{round_up(apart.certified_epsilon)}{mark}, for {answer}. {claim}{f'{in_doubt}.' if in_doubt else ''} Both "
        f"hold at once, whatever the reason for few rows, since delta is shared among all {count:,} arms. (To leave "
        f"these out: min_rows={fewest}, or --min-rows {fewest}.)"
    )


def next_words(analysis: Analysis) -> str:
    """Which arms to try next, and how often."""
    if not analysis.next_pulls:
        return "nothing: the question is settled" if analysis.result.goal_reached else "not asked for"
    total = sum(analysis.next_pulls.values())
    if analysis.block > 1:
        counts = list_counts(analysis.next_pulls)
        return f"{plural(total, 'mean')} of {analysis.block:,} rows each, then look again: {counts}"
    return f"{plural(total, 'trial')}, then look again: {list_counts(analysis.next_pulls)}"
