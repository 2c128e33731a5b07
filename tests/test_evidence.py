"""The evidence rule, against its definition in plain NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ramgape.policies import evidence
from tests.support import beta_streams, make_engine


def expected_pair(samples: list[list[float]], engine: Any) -> tuple[set[int], list[float]]:
    """The comparison with the least evidence, and the squared errors behind its decisive term."""
    arms, problem = engine.arms, engine.problem[0]
    alpha, rho, epsilon = float(problem["alpha"]), float(problem["rho"]), float(problem["epsilon"])
    rewards = [np.array(sample) for sample in samples]
    pulls = np.array([len(sample) for sample in rewards])
    variances = np.array([sample.var() for sample in rewards])
    kappas = np.array([(alpha * ((x - x.mean()) ** 2 - rho * x)).var() for x in rewards])
    errors = {
        name: (pulls * values + 2.0 * (values.mean() + 1e-12)) / ((pulls + 2.0) * pulls)
        for name, values in {"mean": variances, "risk": kappas}.items()
    }
    means, risks, front = arms["average"], arms["risk"], arms["in_front"] == 1

    def strength(better: int, worse: int, what: str) -> float:
        gap = means[better] - means[worse] if what == "mean" else risks[worse] - risks[better]
        return max(gap + epsilon, 0.0) ** 2 / (errors[what][better] + errors[what][worse])

    def threat(rival: int, arm: int) -> float:
        return float(
            min(arms["mean_high"][rival] - arms["mean_low"][arm], arms["risk_high"][arm] - arms["risk_low"][rival])
        )

    candidates = []
    for arm in range(len(arms)):
        if front[arm]:
            for other in range(len(arms)):
                if other != arm and threat(other, arm) >= epsilon:
                    terms = {what: strength(arm, other, what) for what in ("mean", "risk")}
                    what = max(terms, key=lambda name: terms[name])
                    candidates.append((terms[what], {arm, other}, what))
        else:
            covers = [j for j in np.flatnonzero(front) if means[j] > means[arm] and risks[j] < risks[arm]]
            terms = [(min((strength(j, arm, what), what) for what in ("mean", "risk")), {arm, int(j)}) for j in covers]
            (value, what), pair = max(terms, key=lambda term: term[0][0])
            candidates.append((value, pair, what))
    _, pair, what = min(candidates, key=lambda candidate: candidate[0])
    return pair, [float(errors[what][arm]) for arm in sorted(pair)]


@pytest.mark.parametrize(("arm_count", "epsilon"), [(2, 0.0), (4, 0.0), (6, 0.02)])
def test_decisions_are_those_of_the_definition(arm_count: int, epsilon: float) -> None:
    engine = make_engine(arm_count, "paper", policy="evidence", epsilon=epsilon, rho=0.2)
    streams = beta_streams(arm_count, 600, 8)
    samples: list[list[float]] = [[] for _ in range(arm_count)]
    counts: dict[int, int] = {}
    for pull in range(500):
        arm = engine.ask()
        assert arm is not None
        if pull >= 2 * arm_count:
            pair, _ = expected_pair(samples, engine)
            assert arm in pair
            counts[arm] = counts.get(arm, 0) + 1
        reward = streams[arm][len(samples[arm])]
        samples[arm].append(reward)
        engine.tell(arm, reward)
    assert len(counts) > 1


def test_arms_of_a_pair_share_the_pulls_by_what_they_add_to_the_error() -> None:
    engine = make_engine(2, "paper", policy="evidence", epsilon=0.0)
    generator = np.random.default_rng(0)
    for arm in (0, 1) * 50:
        engine.tell(arm, float(generator.random() if arm else 0.4 + 0.2 * generator.random()))
    state = engine.arms, engine.search[0], engine.problem[0]
    chosen = []
    for samples in range(100, 1100):
        engine.search["samples"][0] = samples
        chosen.append(int(engine.rule.decide(*state)))
    own, others = engine.arms["mean_error"]
    share = np.mean(chosen)
    risks = engine.arms["risk_error"]
    wanted = [others / (own + others), risks[1] / risks.sum()]
    assert min(abs(share - value) for value in wanted) < 0.01


def test_the_variance_of_a_squared_reward_comes_from_power_sums() -> None:
    generator = np.random.default_rng(1)
    for rewards in (generator.beta(0.5, 0.7, 300), 0.3 + 1e-4 * generator.random(300)):
        engine = make_engine(2, "paper", rho=0.2)
        for reward in rewards:
            engine.tell(0, float(reward))
        alpha = float(engine.problem["alpha"][0])
        expected = (alpha * ((rewards - rewards.mean()) ** 2 - 0.2 * rewards)).var()
        found = evidence.risk_variance(engine.arms[0], engine.problem[0])
        assert found == pytest.approx(float(expected), rel=1e-6, abs=1e-18)
    assert math.isfinite(evidence.GOLDEN)
