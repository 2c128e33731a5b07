"""Trials of exact bets over those of `pairwise`, on held-out problems, with wrong answers: `python -m benchmarks.bets`.

Problems have K arms of one family (Beta, coins, tenths, truncated normal, the same with 2% zeros), drawn from a seed
that nothing was tuned on. A run is a search in plain Python, to its end or to a limit of trials, with the same rewards
in the same order for both bounds. The ratio is of mean trials; a run that reaches the limit counts with the limit. The
table has the mean trials, the wrong answers and the CPU milliseconds per trial of each bound.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec

Floats = NDArray[np.float64]
FAMILIES = ("beta", "coins", "tenths", "truncated", "zeros")
LIMIT = 30_000
STORED = 20_000  # rewards of each arm from which a run draws


class Problem(NamedTuple):
    """Arms: how rewards are drawn, and the true mean and standard deviation, float[K] each."""

    draw: Callable[[np.random.Generator, int, int], Floats]
    means: Floats
    deviations: Floats


def make_problem(family: str, count: int, seed: int) -> Problem:
    """A problem with means between 0.3 and 0.9 and, but for coins, deviations between 0.04 and 0.25."""
    generator = np.random.default_rng([seed, count, FAMILIES.index(family)])
    means = generator.uniform(0.3, 0.9, count)
    if family == "coins":
        return Problem(
            lambda rng, arm, size: (rng.random(size) < means[arm]) * 1.0, means, np.sqrt(means * (1.0 - means))
        )
    widths = np.minimum(generator.uniform(0.04, 0.25, count), 0.6 * np.sqrt(means * (1.0 - means)))
    if family == "beta":
        size = means * (1.0 - means) / widths**2 - 1.0
        return Problem(
            lambda rng, arm, number: rng.beta(means[arm] * size[arm], (1.0 - means[arm]) * size[arm], number),
            means,
            widths,
        )
    values, chances = np.linspace(0.0, 1.0, 11 if family == "tenths" else 2001), []
    for mean, width in zip(means, widths, strict=True):
        weight = np.exp(-0.5 * ((values - mean) / width) ** 2)
        weight /= weight.sum()
        if family == "zeros":
            weight *= 0.98
            weight[0] += 0.02
        chances.append(weight)
    table = np.array(chances)
    averages = table @ values
    return Problem(
        lambda rng, arm, number: rng.choice(values, number, p=table[arm]),
        averages,
        np.sqrt(table @ values**2 - averages**2),
    )


def is_right(problem: Problem, answer: NDArray[np.bool_], task: str, epsilon: float) -> bool:
    """Whether an answer is right up to epsilon."""
    means, risks = problem.means, problem.deviations
    if task == "best":
        return bool(means[answer].min() > means.max() - epsilon or means[answer].min() == means.max())
    for arm in range(len(means)):
        others = np.arange(len(means)) != arm
        if answer[arm]:
            if epsilon > 0.0:
                beaten = (means >= means[arm] + epsilon) & (risks <= risks[arm] - epsilon)
            else:
                beaten = (means > means[arm]) & (risks < risks[arm])
            if (beaten & others).any():
                return False
        elif not ((means > means[arm] - epsilon) & (risks < risks[arm] + epsilon) & answer).any():
            return False
    return True


def run(family: str, count: int, seed: int, turn: int, bound: str, options: dict[str, Any]) -> tuple[int, bool, float]:
    """One search: its trials, whether its answer is right, or none was given, and CPU seconds."""
    problem = make_problem(family, count, seed)
    generator = np.random.default_rng([seed, count, turn, FAMILIES.index(family)])
    stored = [problem.draw(generator, arm, STORED).tolist() for arm in range(count)]
    task = options["task"]
    asked = {key: value for key, value in options.items() if key != "task" or value != "pareto"}
    spec = make_spec(list(map(str, range(count))), reward_range=(0.0, 1.0), bound=bound, **asked)
    engine, taken, begun = Engine(spec), [0] * count, time.process_time()
    while engine.samples < LIMIT:
        arm = engine.ask()
        if arm is None:
            break
        engine.tell(arm, stored[arm][taken[arm] % STORED])
        taken[arm] += 1
    used = time.process_time() - begun
    if not engine.stopped:
        return engine.samples, True, used
    return engine.samples, is_right(problem, engine.answer(), task, options["epsilon"]), used


def measure(job: tuple[str, int, int, int, dict[str, Any], tuple[str, str]]) -> list[tuple[float, float, int, float]]:
    """One problem: mean trials of both bounds, standard errors, wrong answers, milliseconds per trial."""
    family, count, seed, runs, options, bounds = job
    found = []
    for bound in bounds:
        done = [run(family, count, seed, turn, bound, options) for turn in range(runs)]
        trials = np.array([each[0] for each in done], dtype=float)
        wrong = sum(not each[1] for each in done)
        error = trials.std(ddof=1) / math.sqrt(runs) if runs > 1 else math.nan
        found.append((trials.mean(), error, wrong, 1e3 * sum(each[2] for each in done) / trials.sum()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare two bounds on held-out problems.")
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--risk", default="std")
    parser.add_argument("--task", default="pareto")
    parser.add_argument("--arms", default="3,5,10,30")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--bounds", default="bets,pairwise")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    options = {"epsilon": asked.epsilon, "delta": asked.delta, "risk": asked.risk, "task": asked.task}
    jobs = [
        (family, int(count), asked.seed, asked.runs, options, tuple(asked.bounds.split(",")))
        for count in asked.arms.split(",")
        for family in asked.families.split(",")
    ]
    ratios, wrong = [], np.zeros(2, dtype=int)
    print(options, f"runs={asked.runs} seed={asked.seed}")
    with ProcessPoolExecutor(asked.processes) as pool:
        for job, (new, old) in zip(jobs, pool.map(measure, jobs), strict=True):
            ratios.append(new[0] / old[0])
            wrong += new[2], old[2]
            print(
                f"{job[0]:>10} K={job[1]:<3} {new[0]:8.0f} ± {new[1]:<5.0f} {old[0]:8.0f} ± {old[1]:<5.0f} "
                f"{ratios[-1]:.2f}  wrong {new[2]} {old[2]}  ms {new[3]:.2f} {old[3]:.2f}",
                flush=True,
            )
    geometric = math.exp(np.log(ratios).mean())
    print(f"geometric mean {geometric:.3f}, worst {max(ratios):.2f}, wrong {wrong[0]} against {wrong[1]}")


if __name__ == "__main__":
    main()
