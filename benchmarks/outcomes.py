"""`python -m benchmarks.outcomes`: trials that several objectives and limits take, with four ways to search.

Problems have 10 arms whose means are uniform in [0.2, 0.8] in every objective, with Beta outcomes of standard deviation
0.1 to 0.3 and a correlation of 0.3 within a trial. The goal is at most 0.35 of the trials of round robin with intervals
for each arm, in the geometric mean over all questions.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from ramgape.problems.distributions import Beta
from ramgape.problems.vector_problems import VectorProblem
from ramgape.search.single_outcome import make_engine
from ramgape.simulation.vectors import assess, play_vectors, true_table, vector_spec

ARMS, EPSILON, DELTA, GOAL = 10, 0.05, 0.05, 0.35
BOXES = "empirical-bernstein"
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "RAMGapE": {"policy": "ramgape"},
    "APE": {"policy": "ape", "bound": BOXES},
    "round robin": {"policy": "round-robin", "bound": BOXES},
}
NAMES = "uvwxyz"
QUESTIONS: dict[str, tuple[int, dict[str, Any]]] = {
    **{f"pareto of {d}": (d, {"objectives": list(NAMES[:d])}) for d in (2, 3, 4, 6)},
    "pareto of 2, 1 limit": (3, {"objectives": ["u", "v"], "constraints": "mean(w) >= 0.5"}),
    "best, 2 limits": (3, {"objectives": "u", "constraints": ["mean(v) >= 0.4", "mean(w) >= 0.4"]}),
    "cheapest within 0.1": (2, {"objectives": ["u", "v"], "question": "cheapest:within=0.1"}),
}


def problem_of(dimensions: int, seed: int) -> VectorProblem:
    """A random problem."""
    rng = np.random.default_rng(seed)
    means, deviations = rng.uniform(0.2, 0.8, (ARMS, dimensions)), rng.uniform(0.1, 0.3, (ARMS, dimensions))
    totals = means * (1.0 - means) / deviations**2 - 1.0
    arms = {
        f"arm {arm}": {
            name: Beta(float(means[arm, d] * totals[arm, d]), float((1.0 - means[arm, d]) * totals[arm, d]))
            for d, name in enumerate(NAMES[:dimensions])
        }
        for arm in range(ARMS)
    }
    return VectorProblem(arms, dict.fromkeys(NAMES[:dimensions], (0, 1)), 0.3)


def measured(dimensions: int, asked: dict[str, Any], way: dict[str, Any], seed: int) -> tuple[int, int, bool, float]:
    """Trials, the size of the answer, whether it is right, and milliseconds a trial."""
    problem = problem_of(dimensions, seed)
    tolerances = dict.fromkeys(NAMES[:dimensions], EPSILON)
    if "cheapest" in str(asked):
        del tolerances[NAMES[0]]
    spec = vector_spec(problem, {**asked, "epsilon": tolerances, "delta": DELTA, **way})
    engine, begun = make_engine(spec, seed, keep=False), time.process_time()
    play_vectors(engine, problem, seed)  # type: ignore[arg-type]
    spent = 1e3 * (time.process_time() - begun) / engine.samples
    answer = engine.answer()
    right = assess(spec, true_table(problem, spec), answer).eps_correct
    return engine.samples, int(answer.sum()), right, spent


def main() -> None:
    """Measure, print a table, and perhaps write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=16)
    parser.add_argument("--only", help="questions whose name has this in it")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows, ratios = [], []
    print(
        f"{'question':<22}{'returned':>9}"
        + "".join(f"{name:>13}" for name in WAYS)
        + f"{'ratio':>8}{'wrong':>7}{'ms':>6}"
    )
    for question, (dimensions, asked) in QUESTIONS.items():
        if given.only and given.only not in question:
            continue
        found: dict[str, list[tuple[int, int, bool, float]]] = {}
        for name, way in WAYS.items():
            if name != "APE" or (question.startswith("pareto") and "limit" not in question):
                found[name] = [measured(dimensions, asked, way, seed) for seed in range(given.problems)]
        mean = {name: float(np.exp(np.mean(np.log([run[0] for run in runs])))) for name, runs in found.items()}
        ratio = mean["default"] / mean["round robin"]
        ratios.append(ratio)
        wrong = sum(not run[2] for runs in found.values() for run in runs)
        size = float(np.mean([run[1] for run in found["default"]]))
        spent = float(np.mean([run[3] for run in found["default"]]))
        cells = "".join(f"{mean[name]:>13,.0f}" if name in mean else f"{'-':>13}" for name in WAYS)
        print(f"{question:<22}{size:>9.1f}{cells}{ratio:>8.2f}{wrong:>7}{spent:>6.2f}", flush=True)
        rows.append(
            {"question": question, "returned": size, "trials": mean, "ratio": ratio, "wrong": wrong, "ms": spent}
        )
    whole = float(np.exp(np.mean(np.log(ratios))))
    print(f"geometric mean of the ratios: {whole:.2f} (goal {GOAL}, {'met' if whole <= GOAL else 'missed'})")
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "ratio": whole, "goal": GOAL}, indent=2))


if __name__ == "__main__":
    main()
