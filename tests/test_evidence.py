"""The evidence rule, against its definition in plain NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.core.table import State
from ramgape.search.engine import Engine
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms
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
        name: (pulls * values + 2.0 * (values.mean() + 1e-12)) / ((pulls + 2.0) * pulls) + 0.5 * (weight / pulls) ** 2
        for name, values, weight in (("mean", variances, 1.0), ("risk", kappas, alpha))
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
    chosen = []
    for samples in range(100, 1100):
        engine.rows.searches[0].samples = samples
        chosen.append(int(engine.rule.decide(*engine.rows.records)))
    own, others = engine.arms["error"][:, 0]
    share = np.mean(chosen)
    risks = engine.arms["error"][:, 1]
    wanted = [others / (own + others), risks[1] / risks.sum()]
    assert min(abs(share - value) for value in wanted) < 0.01


@pytest.mark.long
@pytest.mark.parametrize(
    ("arms", "chance", "epsilon", "cap"),
    [(2, 0.001, 0.002, 10_000), (5, 0.001, 0.002, 30_000), (10, 0.001, 0.005, 14_000)],
)
def test_arms_that_have_shown_nothing_yet_are_not_starved(arms: int, chance: float, epsilon: float, cap: int) -> None:
    """Equal coins that rarely show heads: one that has not looks as if it were known exactly.

    The default rule ends within these caps in 39, 40 and 40 of 40 runs, and so does this one; before it allowed for
    what it has not seen, it did so in 11, 1 and 5. If it ends with a chance of 0.97, a false alarm has one of 1e-7.
    """
    coins = [{"name": str(arm), "distribution": "bernoulli", "p": chance} for arm in range(arms)]
    instance = {"name": "coins", "reward_range": [0, 1], "arms": coins}
    runs = ramgape.replicate(instance, epsilon=epsilon, policy="evidence", runs=40, seed=0, max_trials=cap).runs
    assert sum(run.stopped == "confidence" for run in runs) >= 30


def test_the_variance_of_a_squared_reward_comes_from_power_sums() -> None:
    generator = np.random.default_rng(1)
    for rewards in (generator.beta(0.5, 0.7, 300), 0.3 + 1e-4 * generator.random(300)):
        engine = make_engine(2, "paper", rho=0.2)
        for reward in rewards:
            engine.tell(0, float(reward))
        alpha = float(engine.problem["alpha"][0])
        expected = (alpha * ((rewards - rewards.mean()) ** 2 - 0.2 * rewards)).var()
        found = engine.arms["risk_spread"][0]
        assert found == pytest.approx(float(expected), rel=1e-6, abs=1e-18)


# --- under a budget ---------------------------------------------------------------------------------


def foreseen(engine: Any) -> State:
    """The tables when the pulls under way are back; what is written there stays there."""
    state: State = engine._as_tables(engine._foresee())
    return state


def squared_errors(engine: Any, samples: list[list[float]]) -> list[np.ndarray[Any, Any]]:
    """Of the means and of the risks, when the pulls under way are back."""
    ahead = foreseen(engine)
    arms, search = ahead.arms, ahead.search[0]
    pulls = arms["pulls"].astype(float)
    factors = np.empty(len(arms))
    for arm, sample in enumerate(samples):
        off = np.array(sample) - np.mean(sample)
        # The two values with this skewness are taken with chances of which this is the product.
        product = 1.0 / (4.0 + np.mean(off**3) ** 2 / np.mean(off**2) ** 3)
        chance = 0.5 + math.sqrt(max(0.25 - product, 0.0))
        n = pulls[arm]
        corrected = (n * chance + 1.0) / (n + 2.0)  # as if each had been seen once more
        factors[arm] = corrected * (1.0 - corrected) / product
    return [
        (pulls * factors * values + weight * prior) / ((pulls + weight) * pulls)
        for values, prior, weight in (
            (arms["variance"], float(search["mean_prior"]), 2.0),
            (arms["risk_spread"], float(search["risk_prior"]), 12.0),
        )
    ]


def expected_costs(engine: Any, samples: list[list[float]]) -> tuple[np.ndarray[Any, Any], list[int]]:
    """The doubt about each arm and the arm behind it when the pulls under way are back, from all pairs."""
    arms, errors = foreseen(engine).arms, squared_errors(engine, samples)
    values = [arms["average"], -arms["risk"]]  # more is better

    def cost(size: float, certainty: float) -> float:
        return math.log(size / (1.0 + certainty) ** 2) - certainty

    def terms(one: int, other: int) -> list[tuple[float, float]]:
        """By objective: how far one is ahead, and the squared error of that."""
        return [(float(v[one] - v[other]), float(e[one] + e[other])) for v, e in zip(values, errors, strict=True)]

    def threat(arm: int, rival: int) -> float:
        ahead = terms(arm, rival)
        certainty = sum(d * d / e for d, e in ahead if d > 0.0)
        return cost(min(e if d > 0.0 else e + d * d for d, e in ahead), certainty)

    def shortfall(arm: int, cover: int) -> float:
        mean, risk = terms(cover, arm)
        return max(cost(min(e, f + g * g), d * d / e) for (d, e), (g, f) in ((mean, risk), (risk, mean)))

    count = len(arms)
    beats = [[all(d > 0.0 for d, _ in terms(j, i)) for j in range(count)] for i in range(count)]
    front = [not any(row) for row in beats]
    assert front == (arms["in_front"] == 1).tolist()
    doubts, rivals = [], []
    for arm in range(count):
        if front[arm]:
            found = max((threat(arm, j), -j) for j in range(count) if j != arm)
        else:
            found = min((shortfall(arm, j), j) for j in range(count) if front[j] and beats[arm][j])
        doubts.append(found[0])
        rivals.append(abs(found[1]))
    return np.array(doubts), rivals


def shrunken_front(engine: Any) -> list[bool]:
    """The arms that none dominates when estimates are drawn towards their average."""
    arms = engine.arms
    values = []
    for name, error in (("average", arms["error"][:, 0]), ("risk", arms["error"][:, 1])):
        scatter = arms[name].var(ddof=1)
        spread = max(scatter - error.mean(), 0.1 * scatter)
        values.append(arms[name].mean() + spread / (spread + error) * (arms[name] - arms[name].mean()))
    return [not ((values[0] > mean) & (values[1] < risk)).any() for mean, risk in zip(*values, strict=True)]


@pytest.mark.parametrize("arm_count", [2, 3, 8])
def test_expected_costs_are_kept_up_to_date(arm_count: int) -> None:
    engine = make_engine(arm_count, "none", policy="evidence", budget=3000, rho=0.2, epsilon=None)
    streams = [iter(stream) for stream in beta_streams(arm_count, 3000, 5)]
    generator = np.random.default_rng(arm_count)
    under_way: list[int] = []
    samples: list[list[float]] = [[] for _ in range(arm_count)]
    explored = 0
    for _ in range(1200):
        arm = engine.ask()
        assert arm is not None
        if generator.random() < 0.2:  # now and then a pull takes longer than others
            engine.reserve(arm)
            under_way.append(arm)
            arm = under_way.pop(0) if len(under_way) > 3 else -1
            if arm >= 0:
                engine.release(arm)
        if arm >= 0:
            samples[arm].append(next(streams[arm]))
            engine.tell(arm, samples[arm][-1])
        if not engine.search["ready"][0]:
            continue
        doubts, rivals = expected_costs(engine, samples)
        assert engine.answer().tolist() == shrunken_front(engine)
        ahead = foreseen(engine)
        arms, search = ahead.arms, ahead.search[0]
        exact = arms["exact"] == 1
        assert arms["doubt"][exact] == pytest.approx(doubts[exact], rel=1e-9)
        assert (arms["doubt"] >= doubts - 1e-9 * abs(doubts)).all()
        leader = int(search["leader"])
        assert doubts[leader] == pytest.approx(doubts.max(), rel=1e-12)
        assert doubts[leader] == pytest.approx(arms["doubt"][leader])
        chosen = int(engine.rule.decide(*engine._foresee().records))
        fewest = int(arms["pulls"].argmin())
        explored += chosen == fewest and chosen not in (leader, rivals[leader])
        assert chosen in (leader, int(arms["rival"][leader]), fewest)
    assert explored < 0.12 * 1200


def test_a_batch_is_spread_and_nearly_as_good() -> None:
    """Regret of batches of 20, over 25 seeded runs each, at most 1.5 times that of single pulls (measured: 0.7)."""
    instance = ramgape.load_instance("random-beta:5")
    spec = simulated_spec(instance, budget=2000)
    regrets: dict[int, list[float]] = {1: [], 20: []}
    largest = 0
    for size, found in regrets.items():
        for seed in range(25):
            generator, engine = np.random.default_rng(seed), Engine(spec)
            while engine.stopped is None:
                batch = []
                while len(batch) < size and (arm := engine.ask()) is not None:
                    engine.reserve(arm)
                    batch.append(arm)
                if engine.search["ready"][0] and size > 1:
                    largest = max(largest, int(np.bincount(batch).max()))
                for arm in batch:
                    engine.release(arm)
                    engine.tell(arm, instance.draw(arm, generator))
            assert engine.samples == 2000
            assert not any(engine.pending)
            found.append(TrueArms(instance, spec).assess(engine.answer(), spec.epsilon).regret)
    assert np.mean(regrets[20]) <= 1.5 * np.mean(regrets[1])
    assert largest < 20


def test_it_may_be_stopped_at_any_moment() -> None:
    """It has no horizon: what a longer run has found by then is what a shorter one finds."""
    known = ramgape.load_instance("random-gaussian:4")
    short = ramgape.simulate(known, budget=700, seed=3)
    longer = ramgape.identify(
        lambda arm, rng: known.draw(int(arm) - 1, rng),
        known.names,
        noise="gaussian",
        risk=known.risk,
        budget=5000,
        seed=3,
        callback=lambda progress: progress.samples >= 700,
    )
    assert [arm.pulls for arm in longer.arms] == [arm.pulls for arm in short.arms]
    assert longer.front == short.front


def test_less_regret_than_the_rules_of_the_paper_and_the_rivals() -> None:
    """Twenty seeded runs on each of nine instances at n = 2,000: about half of the best rival's; 0.8 is asked."""
    names = [f"random-{family}:{number}" for family in ("beta", "bernoulli", "gaussian") for number in (2, 6, 12)]

    def regret(policy: str, **options: Any) -> float:
        found = [ramgape.replicate(name, runs=20, budget=2000, policy=policy, **options) for name in names]
        return float(np.mean([run.regret for replication in found for run in replication.runs]))

    rivals = [regret("ramgape", epsilon=0.08), regret("round-robin", epsilon=0.08), regret("ege-sr"), regret("ege-sh")]
    assert regret("evidence") < 0.8 * min(rivals)
