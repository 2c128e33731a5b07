"""What it is worth to know prices: `python -m benchmarks.prices`.

A table: what all trials of a search cost until it stops, for a rule that knows what a trial of
each arm costs over the same rule that does not. Half of the arms, by a draw that is fixed for each instance, cost ten
times as much. With --others it is measured on the ten instances of benchmarks/trials.py. Which arms are tried is not
the same in two searches, so a ratio has the error of both.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from benchmarks import trials
from benchmarks.trials import Average, table
from ramgape.problems.instances import load_instance
from ramgape.simulation.replication import replicate
from ramgape.simulation.runs import Run

INSTANCES = (
    *(f"paper:{number}" for number in (10, 46, 22, 30)),
    *(f"random-beta:{number}" for number in (3, 8, 14, 21, 5, 30)),
)
DEARER = 10.0
POLICIES = ("evidence", "ramgape")


def prices_of(name: str, number: int) -> dict[str, float]:
    """Of the arms of an instance: half of them are dear."""
    names = load_instance(name).names
    drawn = np.random.default_rng(number).permutation([1.0, DEARER] * ((len(names) + 1) // 2))
    return dict(zip(names, drawn.tolist(), strict=False))


def cost_of(run: Run, price: Mapping[str, float]) -> float:
    """What a search has cost, whether it knew so or not."""
    return sum(price[arm] * pulls for arm, pulls in run.pulls.items())


def costs(
    name: str, number: int, runs: int, policies: Sequence[str], options: dict[str, Any]
) -> tuple[list[Average], int]:
    """A row of the table, for each policy: without prices, and the ratio with them; and how many answers were wrong."""
    price, found, wrong = prices_of(name, number), [], 0
    for policy in policies:
        blind = replicate(name, runs=runs, policy=policy, **options)
        aware = replicate(name, runs=runs, policy=policy, price=price, **options)
        first, second = (Average.of([cost_of(run, price) for run in each.runs]) for each in (blind, aware))
        found += [first, second.over(first)]
        wrong += aware.errors
    return found, wrong


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prices", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="searches of each kind")
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--others", action="store_true", help="the instances of benchmarks/trials.py")
    parser.add_argument("--policy", action="append", choices=POLICIES, help="this one alone; may be repeated")
    given = parser.parse_args()
    policies = given.policy or POLICIES
    instances = trials.INSTANCES if given.others else INSTANCES
    count = len(instances)
    with ProcessPoolExecutor(given.jobs) as executor:
        options = {"epsilon": given.epsilon}
        common = ([each] * count for each in (given.runs, policies, options))
        rows = list(executor.map(costs, instances, range(count), *common))
    for place, policy in enumerate(policies):
        parts = [averages[2 * place : 2 * place + 2] for averages, _ in rows]
        print(table([f"{policy}, price-blind", "with prices"], zip(instances, parts, strict=True)), end="\n\n")
    print(f"wrong answers: {sum(wrong for _, wrong in rows)} of {count * given.runs * len(policies):,}")


if __name__ == "__main__":
    main()
