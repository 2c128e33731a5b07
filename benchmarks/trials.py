"""What it costs in trials to decide in rounds, or with pulls under way: `python -m benchmarks.trials`.

Two tables, of the average number of trials until a search stops, over that of a search that is
told every reward before its next decision. All arms take equally long here: of the pulls under way the oldest comes
back first. Average still under way at the end are not counted; there are as many of them as were under way, less one.

Which arms are tried is not the same in two searches, so neither are the rewards, and a ratio has the error of both.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance
from ramgape.search.engine import Engine
from ramgape.simulation.replication import replicate
from ramgape.simulation.simulation import simulated_spec

INSTANCES = (
    *("paper:10", "paper:46", "paper:exp3"),
    *(f"random-beta:{number}" for number in (101, 102, 103, 104)),
    *(f"random-bernoulli:{number}" for number in (101, 102, 103)),
)
UNDER_WAY = (1, 8, 64, 200)
RISK = "mean-variance:0.01"


class Average(NamedTuple):
    """The average number of trials in several searches, and its standard error."""

    mean: float
    error: float

    @staticmethod
    def of(counts: Sequence[float]) -> Average:
        return Average(statistics.fmean(counts), statistics.stdev(counts) / math.sqrt(len(counts)))

    def over(self, other: Average) -> Average:
        """A ratio, with its standard error."""
        ratio = self.mean / other.mean
        return Average(ratio, ratio * math.hypot(self.error / self.mean, other.error / other.mean))


def play(instance: Instance, under_way: int, seed: int, options: dict[str, Any]) -> int:
    """One search with so many pulls always under way: how many have come back when it stops."""
    engine = Engine(simulated_spec(instance, **options), seed)
    generator, sampler = np.random.default_rng(seed), instance.sampler()
    pending: deque[int] = deque()
    while engine.stopped is None:
        while len(pending) < under_way and (arm := engine.ask()) is not None:
            engine.reserve(arm)
            pending.append(arm)
        arm = pending.popleft()
        engine.release(arm)
        engine.tell(arm, sampler.draw(sampler.parameters, sampler.values, arm, generator))
    return engine.samples


def trials_under_way(name: str, runs: int, options: dict[str, Any]) -> list[Average]:
    """A row of the second table: one at a time, then ratios."""
    instance = load_instance(name)
    found = [Average.of([play(instance, count, seed, options) for seed in range(runs)]) for count in UNDER_WAY]
    return [found[0], *(each.over(found[0]) for each in found[1:])]


def trials_in_rounds(name: str, runs: int, options: dict[str, Any]) -> list[Average]:
    """A row of the first table: without rounds, and the ratio with them."""
    found = [
        Average.of([run.samples for run in replicate(name, runs=runs, interleave=rounds, **options).runs])
        for rounds in (False, True)
    ]
    return [found[0], found[1].over(found[0])]


def table(heads: Sequence[str], rows: Iterable[tuple[str, list[Average]]]) -> str:
    """Markdown; the last row has the geometric means of the ratios."""
    lines = [f"| instance | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    ratios: list[list[float]] = []
    for name, (first, *others) in rows:
        shown = [f"{ratio.mean:.2f} ± {ratio.error:.2f}" for ratio in others]
        lines.append(f"| {name} | {first.mean:,.0f} | {' | '.join(shown)} |")
        ratios.append([ratio.mean for ratio in others])
    means = [f"{statistics.geometric_mean(column):.2f}" for column in zip(*ratios, strict=True)]
    return "\n".join([*lines, f"| geometric mean | | {' | '.join(means)} |"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trials", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="searches of each kind")
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--policy", default="auto")
    parser.add_argument("--bound", default="auto")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", choices=["rounds", "under-way"], help="one of the two tables")
    given = parser.parse_args()
    options = {"epsilon": given.epsilon, "policy": given.policy, "bound": given.bound, "risk": RISK}
    repeated = [[each] * len(INSTANCES) for each in (given.runs, options)]
    with ProcessPoolExecutor(given.jobs) as executor:
        if given.only != "under-way":
            rows = zip(INSTANCES, executor.map(trials_in_rounds, INSTANCES, *repeated), strict=True)
            print(table(["trials", "in rounds"], rows), end="\n\n")
        if given.only != "rounds":
            rows = zip(INSTANCES, executor.map(trials_under_way, INSTANCES, *repeated), strict=True)
            print(table(["one at a time", *(f"{count} under way" for count in UNDER_WAY[1:])], rows))


if __name__ == "__main__":
    main()
