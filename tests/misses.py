"""How often approximate intervals and comparisons miss, at any time at all: families of rewards, and compiled loops.

python -m tests.misses          the tables of docs/theory/rewards-of-any-kind.md about intervals, in about a minute
python -m tests.misses pairs    those about comparisons of two arms, likewise
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape import Bernoulli, Beta, Gaussian, Uniform
from ramgape.bounds.central_limit_pairwise import mean_evidence, risk_evidence
from ramgape.core.table import State
from ramgape.problems.distribution import Distribution
from ramgape.problems.environments import Arm, Instance
from ramgape.problems.unbounded import Exponential, Gamma, LogNormal, StudentT
from ramgape.risks import make_risk
from ramgape.search.assembly import make_learn, make_state
from ramgape.search.spec import Spec, make_spec
from tests.loops import compiled_loop

FAMILIES: dict[str, Distribution] = {
    "normal": Gaussian(0.0, 1.0),
    "uniform": Uniform(0.0, 1.0),
    "Bernoulli(0.5)": Bernoulli(0.5),
    "Bernoulli(0.1)": Bernoulli(0.1),
    "Beta(2, 5)": Beta(2.0, 5.0),
    "Beta(0.5, 0.5)": Beta(0.5, 0.5),
    "gamma(2)": Gamma(2.0),
    "exponential": Exponential(),
    "lognormal(0.5)": LogNormal(0.0, 0.5),
    "t(5)": StudentT(5.0),
}
LEVELS = (0.05, 0.005, 0.001)
FIRST_LOOKS = (10, 20, 30, 100)
PULLS = 3_000  # a look after every one of them
Counts = NDArray[np.int64]


@compiled_loop
def last_misses(learn, arms, memory, searches, problems, rewards, mean, risk):  # type: ignore[no-untyped-def]
    """Every arm is a run of its own: the last pull after which its box was without the true mean, the true risk."""
    in_mean, in_risk = np.zeros(len(arms), np.int64), np.zeros(len(arms), np.int64)
    for arm in range(len(arms)):
        row = arms[arm]
        for pull in range(rewards.shape[1]):
            learn(arms, memory, searches[0], problems[0], arm, rewards[arm, pull])
            if not row.mean_low <= mean <= row.mean_high:
                in_mean[arm] = pull + 1
            if not row.risk_low <= risk <= row.risk_high:
                in_risk[arm] = pull + 1
    return in_mean, in_risk


@compiled_loop
def drawn(draw, parameters, values, generator, runs, pulls):  # type: ignore[no-untyped-def]
    """Rewards of the first arm of an instance: a row for each run."""
    rewards = np.empty((runs, pulls))
    for run in range(runs):
        for pull in range(pulls):
            rewards[run, pull] = draw(parameters, values, 0, generator)
    return rewards


def spec_of(runs: int, risk: str) -> Spec:
    """A search over so many arms, of which the first looks are at the first of `FIRST_LOOKS`."""
    return make_spec(
        [str(run) for run in range(runs)], epsilon=0.0, risk=risk, initial_trials=FIRST_LOOKS[0], max_trials=2**40
    )


def rewards_of(family: Distribution, runs: int, pulls: int, seed: int) -> NDArray[np.float64]:
    """A row of rewards for each run."""
    sampler = Instance("one", (Arm("a", family), Arm("b", family)), None, "any").sampler()
    generator = np.random.default_rng(seed)
    return np.asarray(drawn(sampler.draw, sampler.parameters, sampler.values, generator, runs, pulls))


def misses(family: Distribution, level: float, runs: int, risk: str = "std", seed: int = 1, pulls: int = PULLS) -> Any:
    """The last misses of mean and risk in each run, at a level for mean and risk each, from the first look on."""
    spec = spec_of(runs, risk)
    state: State = make_state(spec, spec.bound, spec.delta)
    state.arms["level"] = math.log(1.0 / level)
    truth = family.mean, spec.unit_scale * make_risk(risk).value_of(family)
    rewards = rewards_of(family, runs, pulls, seed)
    return last_misses(make_learn(spec, spec.bound), *state, rewards, *truth)


@compiled_loop
def largest_evidence(learn, arms, memory, searches, problems, rewards, others, epsilons):  # type: ignore[no-untyped-def]
    """Every two arms are a run of their own: the largest evidence for claims that are just false.

    That the first is ahead of the second in mean and in risk, and the second of the first.
    """
    largest = np.full((len(rewards), 2, 2), -np.inf)
    ratio = others.shape[1] // rewards.shape[1]
    for run in range(len(rewards)):
        for pull in range(rewards.shape[1]):
            learn(arms, memory, searches[0], problems[0], 2 * run, rewards[run, pull])
            for place in range(pull * ratio, (pull + 1) * ratio):
                learn(arms, memory, searches[0], problems[0], 2 * run + 1, others[run, place])
            for side in range(2):
                row, rival, found = arms[2 * run + side], arms[2 * run + 1 - side], largest[run, side]
                sign, problem, count, others_count = 1.0 - 2.0 * side, problems[0], row.pulls, rival.pulls
                epsilon = sign * epsilons[0]
                term = mean_evidence(row, rival, problem, epsilon, count, row.average, others_count, rival.average)
                found[0] = max(found[0], term)
                epsilon = sign * epsilons[1]
                term = risk_evidence(row, rival, problem, epsilon, count, row.risk, others_count, rival.risk)
                found[1] = max(found[1], term)
    return largest


def false_claims(
    family: Distribution, rival: Distribution, runs: int, risk: str = "std", *, pulls: Any = (400, 400), seed: int = 1
) -> NDArray[np.float64]:
    """The largest evidence in each run, with so many pulls in turn, that an arm is ahead by what it is not."""
    spec = make_spec([str(arm) for arm in range(2 * runs)], epsilon=0.0, risk=risk, max_trials=2**40)
    state: State = make_state(spec, "central-limit", spec.delta)
    measure = make_risk(risk)
    in_risk = spec.unit_scale * (measure.value_of(family) - measure.value_of(rival))
    rewards, others = rewards_of(family, runs, pulls[0], seed), rewards_of(rival, runs, pulls[1], seed + 1_000)
    learn = make_learn(spec, "central-limit", boxes=False)
    return np.asarray(largest_evidence(learn, *state, rewards, others, (rival.mean - family.mean, in_risk)))


def claim_shares(evidence: NDArray[np.float64]) -> list[float]:
    """The part of the runs in which the evidence reached each level, for the worse of the two arms."""
    return [float((evidence >= math.log(1.0 / level)).mean(axis=0).max()) for level in LEVELS]


def brief(part: float) -> str:
    """A share as the tables have it."""
    return f"{part:.4f}"[1:].rstrip("0.") or "0"


def shares(last: Counts) -> list[float]:
    """The part of the runs with a miss at or after each first look."""
    return [float((last >= look).mean()) for look in FIRST_LOOKS]


def main(runs: int = 4_000, risk: str = "std") -> None:
    """Both tables, in Markdown."""
    tables: dict[str, list[str]] = {"mean": [], risk: []}
    for name, family in FAMILIES.items():
        cells: dict[str, list[str]] = {"mean": [], risk: []}
        for level in LEVELS:
            for what, last in zip(cells, misses(family, level, runs, risk, seed=2), strict=True):
                cells[what].append(" / ".join(map(brief, shares(last))))
        for what, row in cells.items():
            tables[what].append(f"| {name} | {' | '.join(row)} |")
    for what, rows in tables.items():
        heading = " | ".join(f"nominal {level:g}" for level in LEVELS)
        sys.stdout.write(f"\n| {what} | {heading} |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")


def print_pairs(runs: int = 4_000, risk: str = "std") -> None:
    """False claims about two arms of one family, with as many pulls each, and with one pull for four of the rival."""
    names = "mean, 1 : 1", "mean, 1 : 4", f"{risk}, 1 : 1", f"{risk}, 1 : 4"
    sys.stdout.write(f"\n| | {' | '.join(names)} |\n|---|---|---|---|---|\n")
    for name, family in FAMILIES.items():
        evidence = [false_claims(family, family, runs, risk, pulls=(400, 400 * ratio), seed=2) for ratio in (1, 4)]
        cells = [" / ".join(map(brief, claim_shares(found[:, :, side]))) for side in (0, 1) for found in evidence]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["pairs"]:
        print_pairs(*[int(number) for number in sys.argv[2:3]], *sys.argv[3:4])
    else:
        main(*[int(number) for number in sys.argv[1:2]], *sys.argv[2:3])
