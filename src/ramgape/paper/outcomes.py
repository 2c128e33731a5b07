"""What many trials under a budget amount to: how good their answers are, how soon, and where their pulls went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.common.proportions import clopper_pearson
from ramgape.paper.jobs import Outcome
from ramgape.paper.statistics import mean_interval, middle_half_mean

# ("trace", policy), ("further", policy), ("comparison", policy) or ("sweep", policy, value of a)
Key = tuple[Any, ...]
Outcomes = Mapping[Key, Outcome]

FURTHER = ("evidence", "ege-sr", "ege-sh")  # not in the paper: shown beside its rules, and in no verdict on it


def quality(regrets: Sequence[float]) -> dict[str, Any]:
    """How good the answers of many trials are, with intervals."""
    wrong = sum(regret > 0.0 for regret in regrets)
    return {
        "middle_half_mean": float(middle_half_mean(regrets)),
        "mean": float(np.mean(regrets)),
        "mean_interval": mean_interval(regrets),
        "wrong_share": wrong / len(regrets),
        "wrong_share_interval": clopper_pearson(wrong, len(regrets)),
        "trials": len(regrets),
    }


def traces_of(outcomes: Outcomes, kind: str = "trace") -> dict[str, Outcome]:
    """The watched trials of the paper's rules; of those that it does not have, if the kind is "further"."""
    return {key[1]: outcome for key, outcome in outcomes.items() if key[0] == kind}


def finals(outcomes: Outcomes, kind: str = "trace") -> dict[str, dict[str, Any]]:
    """The quality of each of these rules after the last pull."""
    return {policy: quality(outcome["final"]) for policy, outcome in traces_of(outcomes, kind).items()}


def closer_comparison(outcomes: Outcomes) -> dict[str, dict[str, Any]]:
    """The same, from more trials of few rules."""
    return {policy: quality(outcome["regret"]) for policy, outcome in traces_of(outcomes, "comparison").items()}


def sweep(outcomes: Outcomes) -> dict[str, dict[str, list[Any]]]:
    """The same as lists over the values of a."""
    results: dict[str, dict[str, list[Any]]] = {}
    for key, outcome in outcomes.items():
        if key[0] == "sweep":
            lists = results.setdefault(key[1], {"exploration": []})
            lists["exploration"].append(key[2])
            for name, value in quality(outcome["regret"]).items():
                lists.setdefault(name, []).append(value)
    return results


def curve(outcome: Outcome, name: str) -> NDArray[np.float64]:
    """A curve over pulls; NaN before the start."""
    return np.array([np.nan if value is None else value for value in outcome[name]], dtype=np.float64)


def area(outcome: Outcome, name: str) -> float:
    """The average of a curve over all pulls after the start: small if it falls soon and far."""
    return float(np.nanmean(curve(outcome, name)))


def stage_shares(outcome: Outcome) -> list[float]:
    """The share of pulls of Pareto arms in each quarter of a run, averaged over the trials."""
    return [float(share) for share in np.mean(outcome["pareto_share_by_stage"], axis=0)]
