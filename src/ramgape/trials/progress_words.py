"""Where a search stands, in words: pulls, the answer so far, what is open, how many more and for how long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ramgape.common.formatting import list_names, plural, round_up, short_names
from ramgape.trials.surfaces import Frame, time_words

if TYPE_CHECKING:
    from ramgape.search.result import Expectation
    from ramgape.trials.progress import Progress

NAMES, NAME_WIDTH = 6, 20


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a search stands, and what is expected of it.

    Attributes:
        progress: Pulls made and what is known.
        budget: Whether it ends when a budget is used up.
        answer: What would be returned now; None before every arm has its first pulls.
        pair: Of what is open, an arm and the one it is compared with; that may be missing, or both.
        expected: How many more pulls; None if unknown.
        pace: Seconds that a pull takes; None before there is something to go by.
    """

    progress: Progress
    budget: bool
    answer: tuple[str, ...] | None = None
    pair: tuple[str, ...] = ()
    expected: Expectation | None = None
    pace: float | None = None

    def frame(self, seconds: float) -> Frame:
        """What is shown of it when it has been running for so many seconds."""
        share = share_done(self.progress, self.budget, self.expected)
        return Frame(share, pulls_line(self, seconds), answer_line(self))


# --- in words ---------------------------------------------------------------------------------------------------------


def share_done(progress: Progress, budget: bool, expected: Expectation | None) -> float | None:
    """How much of a search is done: of the pulls made and those still expected the part that was made.

    Under a budget it is the part of that which is used. None if it is unknown, or if many more may come.

    >>> from ramgape.trials.progress import Progress
    >>> from ramgape.search.result import Expectation
    >>> share_done(Progress(250, 10**9, 0.3, 0.1), False, Expectation(750))
    0.25
    """
    if budget:
        money = 0.0 if progress.spend is None else (progress.spent or 0.0) / progress.spend
        return min(1.0, max(progress.samples / progress.limit, money))
    if expected is None or expected.at_least:
        return None
    return progress.samples / max(progress.samples + expected.pulls, 1)


def state(progress: Progress, budget: bool) -> str:
    """What a search waits for.

    >>> from ramgape.trials.progress import Progress
    >>> state(Progress(2, 1000, float("inf"), 0.05), False), state(Progress(100, 1000, 0.1, 0.05), False)
    ('nothing is known of some arms yet', 'right within 0.1 so far, ends when it is within 0.05')
    >>> state(Progress(100, 1000, 0.1, 0.05, arms=10, unproved=3), False)
    'evidence is missing for 3 of 10 arms'
    """
    if budget:
        return of_budget(progress)
    if not math.isfinite(progress.doubt):
        return "nothing is known of some arms yet"
    if progress.unproved is not None:
        return f"evidence is missing for {progress.unproved:,} of {progress.arms:,} arms"
    end = f"within {progress.epsilon:g}" if progress.epsilon else "exact"
    return f"right within {round_up(max(progress.doubt, 0.0))} so far, ends when it is {end}"


def of_budget(progress: Progress) -> str:
    """How much of a budget is used, in pulls or in money.

    >>> from ramgape.trials.progress import Progress
    >>> of_budget(Progress(100, 1000, 0.1, None)), of_budget(Progress(100, 10**9, 0.1, None, spent=2.5, spend=20.0))
    ('100 of 1,000 pulls', '100 pulls for 2.5 of 20')
    """
    if progress.spend is None:
        return f"{progress.samples:,} of {progress.limit:,} pulls"
    return f"{plural(progress.samples, 'pull')} for {progress.spent or 0.0:,.4g} of {progress.spend:,.6g}"


def more_words(expected: Expectation) -> str:
    """How many more pulls are expected, in as many digits as such a guess is worth.

    >>> from ramgape.search.result import Expectation
    >>> more_words(Expectation(1278)), more_words(Expectation(199_999, at_least=True))
    ('about 1,300 more', 'at least 190,000 more')
    """
    coarse = 10 ** max(len(str(expected.pulls)) - 2, 0)
    if expected.at_least:
        return f"at least {expected.pulls // coarse * coarse:,} more"
    return f"about {round(expected.pulls / coarse) * coarse:,} more"


def pulls_line(standing: Standing, seconds: float) -> str:
    """Pulls made, in which time, how many more and for how long."""
    progress, expected = standing.progress, standing.expected
    made = of_budget(progress) if standing.budget else plural(progress.samples, "pull")
    parts = [f"{made} in {time_words(seconds)}"]
    if expected is not None and not standing.budget:
        parts.append(more_words(expected))
    if expected is not None and standing.pace is not None:
        least = "at least " if expected.at_least else ""
        parts.append(f"{least}{time_words(expected.pulls * standing.pace)} left")
    return ", ".join(parts)


def answer_line(standing: Standing) -> str:
    """The answer so far, and what is open.

    >>> from ramgape.trials.progress import Progress
    >>> answer_line(Standing(Progress(100, 1000, 0.1, 0.05, arms=10, unproved=3), False, ("A", "B"), ("C", "A")))
    'so far A, B; 3 of 10 arms undecided, such as C against A'
    """
    if standing.answer is None:
        return "a first look at every arm"
    names = short_names((*standing.answer, *standing.pair), NAME_WIDTH)
    parts = [f"so far {list_names([names[name] for name in standing.answer], NAMES) or 'no arm'}"]
    unproved, pair = standing.progress.unproved, " against ".join(names[name] for name in standing.pair)
    if not standing.budget and unproved is not None:
        example = f", such as {pair}" if pair else ""
        parts.append(f"{unproved:,} of {standing.progress.arms:,} arms undecided{example}")
    elif pair:
        parts.append(f"undecided {pair}")
    return "; ".join(parts)
