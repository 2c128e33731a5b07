"""What the searches of Experiment 1 amount to: stopping times by pattern, and how RAMGapE compares with each rival."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ramgape.common.formatting import plural
from ramgape.core.pareto import gaps
from ramgape.paper import paper
from ramgape.paper.jobs import Outcome
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.statistics import geometric_mean, sign_flip_test, sign_test
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance

Key = tuple[float, int, str]  # epsilon, pattern, policy
Outcomes = Mapping[Key, Outcome]

ROBINS = ("de-round-robin", "round-robin")
RIVALS = (RA_LUCB, *ROBINS)
CLOSE = 0.05  # stopping times within 5 % of each other, on average, are called comparable
CLEAR = 0.95  # a rule is called faster if it stops first on so many of the patterns
NEAR = 0.1  # a point is called near the line if the two stopping times are within 10 % of each other
LEVEL = 0.05  # of the tests
ENOUGH = 6  # with fewer patterns neither test can fall below its level, whatever the runs


class Comparison(NamedTuple):
    """RAMGapE against one rival, over patterns; a ratio below 1 means that RAMGapE stops earlier."""

    earlier: int
    patterns: int
    ratio: float
    sign_test: float
    mean_test: float
    farthest: float  # the ratio that is farthest from 1
    close: int  # on so many patterns the two are within 5 % of each other

    @property
    def testable(self) -> bool:
        return self.patterns >= ENOUGH

    @property
    def faster(self) -> bool:
        return self.earlier >= CLEAR * self.patterns and self.ratio < 1.0

    @property
    def comparable(self) -> bool:
        return abs(self.ratio - 1.0) <= CLOSE

    def words(self) -> str:
        return (
            f"stops first on {self.earlier} of {plural(self.patterns, 'pattern')}, with {self.ratio:.3f} times the "
            "pulls on (geometric) average"
        )


def compare_with(outcomes: Outcomes, epsilon: float, rival: str) -> Comparison:
    """RAMGapE against a rival at one tolerance."""
    own, other = samples(outcomes, epsilon, OWN), samples(outcomes, epsilon, rival)
    logarithms = [math.log(own[pattern] / other[pattern]) for pattern in own]
    return Comparison(
        earlier=sum(value < 0.0 for value in logarithms),
        patterns=len(logarithms),
        ratio=geometric_mean([own[pattern] / other[pattern] for pattern in own]),
        sign_test=sign_test(logarithms),
        mean_test=sign_flip_test(logarithms),
        farthest=math.exp(max(logarithms, key=abs)),
        close=sum(abs(math.exp(value) - 1.0) <= CLOSE for value in logarithms),
    )


def samples(outcomes: Outcomes, epsilon: float, policy: str) -> dict[int, int]:
    """Pulls until the stop, by pattern."""
    return {key[1]: outcome["samples"] for key, outcome in outcomes.items() if (key[0], key[2]) == (epsilon, policy)}


def epsilons(outcomes: Outcomes) -> list[float]:
    """The values of epsilon, in the order of the plan."""
    return list(dict.fromkeys(epsilon for epsilon, _, _ in outcomes))


def right(key: Key, outcome: Outcome) -> bool:
    """Whether an answer keeps what was promised: exact at epsilon 0, an epsilon-cover above."""
    return bool(outcome["truth"]["eps_correct"] if key[0] > 0.0 else outcome["truth"]["exact"])


def gaps_of(instance: str | Instance) -> Any:
    """The gaps of an instance at the paper's rho."""
    known = load_instance(instance)
    return gaps(known.means, known.risks(paper.RHO))


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """For machines: `epsilon_0.1.ramgape.mean` and so on, and whether the paper's claim holds there."""
    summary: dict[str, Any] = {}
    for epsilon in epsilons(outcomes):
        entry: dict[str, Any] = {}
        for policy in paper.CONFIDENCE_POLICIES:
            times = samples(outcomes, epsilon, policy)
            per_pattern = {str(pattern): number for pattern, number in times.items()}
            entry[policy] = {"mean": math.fsum(times.values()) / len(times), "per_pattern": per_pattern}
        versus = {rival: compare_with(outcomes, epsilon, rival) for rival in RIVALS}
        entry["against"] = {rival: comparison._asdict() for rival, comparison in versus.items()}
        entry["paper_claim"] = "RAMGapE stops well before both round-robins, and about when RA-LUCB does"
        entry["holds"] = versus[RA_LUCB].comparable and all(versus[rival].faster for rival in ROBINS)
        entry["wrong"] = sum(not right(key, outcome) for key, outcome in outcomes.items() if key[0] == epsilon)
        summary[f"epsilon_{epsilon:g}"] = entry
    return summary


def points(outcomes: Outcomes, epsilon: float, rival: str) -> list[tuple[float, float]]:
    """(rival's time, RAMGapE's time) on each pattern."""
    own, other = samples(outcomes, epsilon, OWN), samples(outcomes, epsilon, rival)
    return [(float(other[pattern]), float(own[pattern])) for pattern in own]


def panels(outcomes: Outcomes, rivals: Sequence[str], labels: Mapping[float, str]) -> list[tuple[str, Any]]:
    """Scatter data: for each rival, the points of each series."""
    return [(rival, {label: points(outcomes, epsilon, rival) for epsilon, label in labels.items()}) for rival in rivals]
