"""A trial of a search in plain Python, as real searches run: milliseconds of processor time to ask and to tell.

Most trials only add a reward; every so often one looks whether the answer is proved, and that one takes longest. So
each search has three rows: the mean, the median and the worst. Targets are for the mean, and 100 ms for the worst trial
of up to 100 arms, since other threads of a server wait for it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Case, Row, Spread, clock
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec

GROUP = "a trial in plain Python"
SIZES = (4, 10, 30, 100, 1_000)
TRIALS = {1_000: 3_000}  # so many arms have two trials each before anything is compared; of others
USUAL_TRIALS = 1_500
WORST = 100.0  # milliseconds
RANGE: dict[str, Any] = {"epsilon": 0.05, "reward_range": (0.0, 1.0)}
ITEMS = 500

# What is asked, and the targets for means at the sizes that have one.
SEARCHES: dict[str, tuple[dict[str, Any], dict[int, float]]] = {
    "range, std": (RANGE, {10: 3.0, 100: 7.0, 1_000: 20.0}),
    "unknown": ({"epsilon": 0.05}, {10: 1.0, 1_000: 20.0}),
    "range, cvar": ({**RANGE, "risk": "cvar:0.1"}, {10: 2.0, 1_000: 20.0}),
    "range, quantile": ({**RANGE, "risk": "quantile:0.1"}, {10: 2.0, 1_000: 20.0}),
    "range, best mean": ({**RANGE, "task": "best"}, {10: 3.0, 1_000: 20.0}),
    "items, best mean": ({**RANGE, "task": "best", "items": list(range(ITEMS))}, {10: 3.0}),
}


def cases(quick: bool) -> Iterator[Case]:
    """Three rows for every kind of search and number of arms."""
    for name, (options, targets) in SEARCHES.items():
        for arm_count in (4,) if quick else SIZES:
            if arm_count <= 100 or "items" not in options:
                trials = 60 if quick else TRIALS.get(arm_count, USUAL_TRIALS)
                yield searched(f"{name}, K = {arm_count}", arm_count, trials, options, targets.get(arm_count))


def searched(name: str, arm_count: int, trials: int, options: dict[str, Any], target: float | None) -> Case:
    """One search, to its end or to so many trials. Only those after the first two of each arm count."""

    def measure() -> Iterator[Row]:
        taken = [1e3 * each for each in seconds_of_trials(arm_count, trials, options)][2 * arm_count :]
        details = {"trials": len(taken)}
        rows: list[tuple[str, Callable[[list[float]], float], float | None]] = [
            ("mean", statistics.fmean, target),
            ("median", statistics.median, None),
            ("worst", max, WORST if arm_count <= 100 else None),
        ]
        for what, summary, wanted in rows:
            yield Row(GROUP, f"{name}, {what}", "ms", Spread.of([summary(taken)]), wanted, details=details)

    return Case(name, measure)


def seconds_of_trials(arm_count: int, trials: int, options: dict[str, Any]) -> list[float]:
    """The processor time of every trial of a search among arms that are neither alike nor far apart."""
    generator = np.random.default_rng(arm_count)
    centres, widths = generator.uniform(0.3, 0.7, arm_count), generator.uniform(0.05, 0.2, arm_count)
    engine, taken = Engine(make_spec(range(arm_count), **options), 1), []
    for deviation in generator.standard_normal(trials).tolist():
        begun = clock()
        arm = engine.ask()
        if arm is None:
            break
        engine.tell(arm, min(max(float(centres[arm] + deviation * widths[arm]), 0.0), 1.0))
        taken.append(clock() - begun)
    return taken
