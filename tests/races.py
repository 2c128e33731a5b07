"""Outcomes of the benchmark made by hand: methods that take so many times the least of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ramgape.paper.scale import LINE_UPS, BenchmarkScale
from ramgape.problems.instances import load_instance

PAPER, STITCHED, PAIRWISE, RIVAL, DEFAULT = (method.name for method in LINE_UPS["bounded"].methods)


def fake_race(*samples: int, cap: int = 10**9, wrong: int = 0) -> dict[str, Any]:
    """Runs with these samples; those at the cap did not stop; the first few that did are wrong."""
    right = [place >= wrong for place in range(len(samples))]
    return {
        "samples": list(samples),
        "stopped": ["cap" if number >= cap else "confidence" for number in samples],
        "exact": right,
        "eps_correct": right,
    }


def fake_outcomes(
    times: Mapping[str, float], instances: Mapping[str, float], epsilons: tuple[float, ...] = (0.0,), runs: int = 20
) -> tuple[dict[Any, Any], BenchmarkScale]:
    """Methods that take so many times the least of each instance, with a spread of 1 %."""
    outcomes: dict[Any, Any] = {}
    for instance, least in instances.items():
        for epsilon in epsilons:
            exact = load_instance(instance).noise == "gaussian" and epsilon == 0.0
            outcomes["least", instance, epsilon] = {"samples": least, "exact": exact}
            for method, factor in times.items():
                samples = [round(factor * least * (0.99 if run % 2 else 1.01)) for run in range(runs)]
                outcomes["runs", instance, epsilon, method] = fake_race(*samples)
    return outcomes, BenchmarkScale("fake", dict.fromkeys(instances, runs), epsilons, 10**9, 1e9, runs, runs, 10**9)


TIMES = {PAPER: 2000.0, STITCHED: 12.0, PAIRWISE: 7.0, RIVAL: 8.0, DEFAULT: 2.9}
PLACES = {"paper:10": 10_000.0, "paper:46": 4_000.0, "random-beta:1": 1_000.0}
