"""How far each default is from the reference: `python -m benchmarks.distances`.

Mean samples to stop over what `ramgape lower-bound` says, on instances on which nothing was tuned; the geometric mean
over them, and the largest. Where a run is undecided at its cap, or no number of samples suffices, the instance is left
out and counted.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Iterator
from statistics import geometric_mean

import ramgape

FAMILIES = {"in a range": ("random-beta", "random-bernoulli"), "Gaussian": ("random-gaussian",)}
NUMBERS = range(101, 111)
QUESTIONS = [("pareto", "std"), ("best", "std")]
EPSILONS = (0.05, 0.02, 0.0)
CAP = 4_000_000
LONGEST = 50_000  # references beyond it would take minutes each


def ratios(task: str, risk: str, family: str, epsilon: float, runs: int, numbers: range) -> Iterator[tuple[float, int]]:
    """Samples over the reference on each instance that can be searched to its end, and its wrong answers."""
    for number in numbers:
        instance = f"{family}:{number}"
        least = ramgape.lower_bound(instance, epsilon=epsilon, task=task, risk=risk).samples
        if least is None or not 0.0 < least <= LONGEST:
            continue
        found = ramgape.replicate(instance, epsilon=epsilon, task=task, risk=risk, runs=runs, max_trials=CAP)
        if found.runs.table["samples"].max() < CAP:
            right = "eps_correct" if epsilon > 0.0 else "exact"
            wrong = runs - int(found.runs.table[right].sum())
            yield float(found.runs.table["samples"].mean()) / least, wrong


def main() -> None:
    """Print a table, a row for each question and tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--instances", type=int, default=len(NUMBERS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ramgape.RamgapeWarning)
    numbers = NUMBERS[: asked.instances]
    print("| rewards | task | risk | epsilon | instances | over the reference | largest | wrong |")
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for rewards, families in FAMILIES.items():
        for task, risk in QUESTIONS:
            for epsilon in EPSILONS:
                found = [one for each in families for one in ratios(task, risk, each, epsilon, asked.runs, numbers)]
                own = [ratio for ratio, _ in found]
                average = geometric_mean(own) if own else math.nan
                wrong = f"{sum(wrong for _, wrong in found)} of {asked.runs * len(found):,}"
                row = (
                    rewards,
                    task,
                    risk,
                    f"{epsilon:g}",
                    len(own),
                    f"{average:.1f}",
                    f"{max(own, default=math.nan):.1f}",
                )
                print("|", " | ".join(map(str, (*row, wrong))), "|", flush=True)


if __name__ == "__main__":
    main()
