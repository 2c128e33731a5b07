"""How good the answer of many searches is after so many pulls: regret and share of wrong answers, as curves.

A simulated search is held at some numbers of pulls and its answer compared with the truth, by the task's own measure
(`TrueArms.assess`). One that has ended keeps its answer, which is what its user has from then on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import check_many, whole
from ramgape.errors import require
from ramgape.search.spec import Spec
from ramgape.statistics.proportions import clopper_pearson

RATIO = 1.25  # of two numbers of pulls at which answers are looked at, where only the number of points was given
ALLOWED = "a whole number of at least 2, or whole numbers of at least 1, each above the one before"


class Checkpoint(NamedTuple):
    """The answer of one search after so many pulls: its regret, and whether it is wrong."""

    pulls: int
    regret: float
    wrong: bool


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What many searches answer after so many pulls; those that have ended keep their answers.

    Attributes:
        pulls: How many.
        runs: Searches with an answer by then; before every arm has its first pulls there is none.
        ended: Those that have ended by then.
        regret, regret_stderr: The mean of their simple regrets, and its standard error; NaN where there are none.
        wrong: How many answers are wrong: not right up to epsilon, or not exact where epsilon is 0 or absent.
        error_rate, error_rate_stderr: The share of wrong answers, and its standard error.
        error_interval: The exact 95 % confidence interval of the probability of a wrong one.
    """

    pulls: int
    runs: int
    ended: int
    regret: float
    regret_stderr: float
    wrong: int
    error_rate: float
    error_rate_stderr: float
    error_interval: tuple[float, float]


def check_checkpoints(given: int | Iterable[int] | None, spec: Spec) -> tuple[tuple[int, ...], int | None]:
    """The numbers of pulls at which answers are looked at, and of how many points they are to become, if that is given.

    Args:
        given: Numbers of pulls; or how many points there are to be; None for no curves.
        spec: What is searched for.
    """
    if given is None:
        return (), None
    if not isinstance(given, int | np.integer):
        check_many(given, "checkpoints", ALLOWED)
        points = tuple(whole(each, "each of checkpoints", ALLOWED, 1) for each in given)
        rising = all(first < second for first, second in pairwise(points))
        require(bool(points) and rising, "checkpoints", ALLOWED, points)
        return points, None
    count = whole(given, "checkpoints", ALLOWED, 2)
    first, last = len(spec.names) * spec.initial_trials, spec.limit
    if spec.budget is None:  # when the last search will have ended is not known
        steps = 2 + int(math.log(max(last / first, 1.0), RATIO))
    else:
        steps = count
    spaced = np.geomspace(min(first, last), last, steps).round().astype(int)
    return tuple(np.unique(spaced).tolist()), count


def make_curves(
    samples: NDArray[Any],
    regrets: NDArray[np.float64],
    wrong: NDArray[np.int8],
    points: Sequence[int],
    count: int | None,
) -> list[CurvePoint]:
    """The curves of many searches.

    Args:
        samples: The pulls of each search.
        regrets: Of the answer of each search at each of the points; one that has ended keeps its last.
        wrong: Whether that answer is wrong; -1 where there is none yet.
        points: The numbers of pulls.
        count: Of how many points the curves are to be, if that is given: from those at which anything could change.
    """
    places = list(range(len(points)))
    if count is not None:
        reached = sum(pulls < samples.max() for pulls in points)
        reached = min(reached + 1, len(points))
        places = np.linspace(0, reached - 1, min(count, reached)).round().astype(int).tolist()
    return [_point(samples, regrets[:, place], wrong[:, place], points[place]) for place in places]


def _point(samples: NDArray[Any], regrets: NDArray[np.float64], wrong: NDArray[np.int8], pulls: int) -> CurvePoint:
    answered = wrong >= 0
    ended, number = int((samples <= pulls).sum()), int(answered.sum())
    if not number:
        return CurvePoint(pulls, 0, ended, math.nan, math.nan, 0, math.nan, math.nan, (0.0, 1.0))
    regrets, mistakes = regrets[answered], int(wrong[answered].sum())
    rate, interval = mistakes / number, clopper_pearson(mistakes, number)
    error = float(regrets.std(ddof=1)) / math.sqrt(number) if number > 1 else math.nan
    spread = math.sqrt(rate * (1.0 - rate) / number)
    return CurvePoint(pulls, number, ended, float(regrets.mean()), error, mistakes, rate, spread, interval)
