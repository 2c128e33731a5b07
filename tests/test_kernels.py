"""Kernels equal the reference: the truth of a problem, and the doubts that are kept up to date pull by pull."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramgape import Arm, Bernoulli, Beta, Instance
from ramgape.core import pareto
from ramgape.core.table import Table
from ramgape.search.engine import Engine
from tests.reference import search as reference
from tests.support import BOXES, REFERENCE_NAMES, SETTINGS, Move, box_from, box_of, make_engine, prepared, set_row


def repeatable(count: int) -> settings:
    """Always the same examples: a failure is a fault in the code, never bad luck of the day."""
    return settings(max_examples=count, derandomize=True, deadline=None, database=None)


BOUND_NAMES = list(SETTINGS)
REWARDS = {
    "paper": (0.0, 0.5, 1.0),
    "hoeffding": (0.0, 0.5, 1.0),
    "gaussian-paper": (-1.0, 0.0, 2.0),
    "budget": (0.0, 0.5, 1.0),
}


# --- the truth of a problem -----------------------------------------------------------------------


@st.composite
def truths(draw: st.DrawFn) -> tuple[pareto.Floats, pareto.Floats, pareto.Mask]:
    """Means, risks and an answer; so few different values that ties and duplicates are the rule."""
    arm_count = draw(st.integers(2, 12))
    steps = draw(st.sampled_from([1, 2, 4, 16]))
    values = st.lists(st.integers(0, steps), min_size=arm_count, max_size=arm_count)
    answer = st.lists(st.booleans(), min_size=arm_count, max_size=arm_count)
    return np.array(draw(values)) / steps, np.array(draw(values)) / steps, np.array(draw(answer))


@repeatable(200)
@given(truths(), st.sampled_from([0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0]))
def test_truth_equals_the_reference(truth: tuple[pareto.Floats, pareto.Floats, pareto.Mask], epsilon: float) -> None:
    means, risks, answer = truth
    front = pareto.pareto_front(means, risks)
    assert front.tolist() == reference.pareto_front(means, risks).tolist()
    assert pareto.gaps(means, risks).tolist() == reference.gaps(means, risks).tolist()
    everything = np.ones(len(means), dtype=bool)
    for returned in (answer, front, everything, ~everything):
        arguments = returned, means, risks
        assert pareto.arm_regrets(*arguments).tolist() == reference.arm_regrets(*arguments).tolist()
        assert pareto.simple_regret(*arguments) == reference.simple_regret(*arguments)
        for tolerance in (0.0, epsilon):
            assert pareto.is_epsilon_pareto(*arguments, tolerance) is reference.is_epsilon_pareto(*arguments, tolerance)
            assert pareto.is_epsilon_cover(*arguments, tolerance) is reference.is_epsilon_cover(*arguments, tolerance)
    assert pareto.is_epsilon_pareto(front, means, risks, 0.0)
    assert pareto.is_epsilon_cover(front, means, risks, 0.0)


@repeatable(100)
@given(truths(), st.data())
def test_proved_tolerances_equal_the_proof_read_arm_by_arm(
    truth: tuple[pareto.Floats, pareto.Floats, pareto.Mask], data: st.DataObject
) -> None:
    means, risks, answer = truth
    count = len(means)
    widths = st.lists(st.sampled_from([0.0, 0.25, 0.5, math.inf]), min_size=count, max_size=count)
    w, v = np.array(data.draw(widths)), np.array(data.draw(widths))
    mean_low, mean_high, risk_low, risk_high = means - w, means + w, risks - v, risks + v
    found, rivals = pareto.proved_tolerances(answer, mean_low, mean_high, risk_low, risk_high)
    for i in range(count):
        if answer[i]:
            threats = {j: min(mean_high[j] - mean_low[i], risk_high[i] - risk_low[j]) for j in range(count) if j != i}
            assert found[i] == max(threats.values())
            assert rivals[i] == min(j for j, threat in threats.items() if threat == found[i])
        else:
            covers = {j: max(mean_high[i] - mean_low[j], risk_high[j] - risk_low[i]) for j in range(count) if answer[j]}
            assert found[i] == min(covers.values(), default=math.inf)
            if math.isfinite(found[i]):
                assert rivals[i] == min(j for j, cover in covers.items() if cover == found[i])


# --- doubts, kept up to date ----------------------------------------------------------------------


def check_cache(arms: Table, search: Table) -> None:
    """Everything that is kept up to date equals what the reference implementation computes from the same numbers."""
    beats = reference.dominates(arms["average"], arms["risk"])
    front = reference.unbeaten(beats)
    box = box_of(arms)
    doubt, rival = reference.doubts(beats, box)
    unbounded = ~front & np.isinf(doubt)  # the reference names no rival among infinite shortfalls: the first cover
    rival[unbounded] = (beats & front[:, None])[:, unbounded].argmax(axis=0)

    assert arms["dominators"].tolist() == beats.sum(axis=0).tolist()
    assert arms["in_front"].tolist() == front.tolist()
    assert arms["front"][: search["front_size"][0]].tolist() == np.flatnonzero(front).tolist()

    exact = arms["exact"] == 1
    assert arms["doubt"][exact].tolist() == doubt[exact].tolist()
    assert arms["rival"][exact].tolist() == rival[exact].tolist()
    assert (arms["doubt"] >= doubt).all()  # also false for NaN
    check_second(arms, front, box)

    leader = int(doubt.argmax())
    assert search["leader"][0] == leader
    assert search["doubt"][0] == doubt[leader]
    assert exact[leader]


def check_second(arms: Table, front: reference.Bools, box: reference.Box) -> None:
    """In the front, no threat but the rival's is greater than `second`."""
    threat = np.minimum(box.mean_high[None, :] - box.mean_low[:, None], box.risk_high[:, None] - box.risk_low[None, :])
    np.fill_diagonal(threat, -np.inf)
    threat[np.arange(len(arms)), arms["rival"]] = -np.inf
    assert (threat.max(axis=1) <= arms["second"])[front].all()


def check_orders(arms: Table) -> None:
    """The arms stand in increasing order of mean and of -risk, and each knows its place."""
    for objective, values in enumerate((arms["average"], -arms["risk"])):
        order, place = arms["order"][:, objective], arms["place"][:, objective]
        assert place[order].tolist() == list(range(len(arms)))
        assert (np.diff(values[order]) >= 0.0).all()


quarters = st.integers(0, 4).map(lambda value: value / 4)
sides = st.tuples(quarters, quarters, quarters, quarters, st.sampled_from([0, 0, 0, 0, 1, 2, 4, 8, 15])).map(
    lambda drawn: box_from(*drawn)
)


@st.composite
def tables_in_motion(draw: st.DrawFn) -> tuple[list[Move], list[Move]]:
    arm_count = draw(st.integers(2, 8))
    first = [(arm, draw(quarters), draw(quarters), draw(sides)) for arm in range(arm_count)]
    moves = draw(st.lists(st.tuples(st.integers(0, arm_count - 1), quarters, quarters, sides), max_size=25))
    return first, moves


@repeatable(150)
@given(tables_in_motion())
def test_any_change_of_one_arm_is_followed(motion: tuple[list[Move], list[Move]]) -> None:
    first, moves = motion
    engine = prepared(first)
    check_cache(engine.arms, engine.search)
    check_orders(engine.arms)
    for move in moves:
        set_row(engine, move)
        engine.rule.compare(*engine.rows.records, move[0])
        check_cache(engine.arms, engine.search)
        check_orders(engine.arms)


@pytest.mark.few(2)
@pytest.mark.parametrize("wild", [False, True], ids=["small steps", "anywhere"])
@pytest.mark.parametrize("unbounded", [False, True], ids=["bounded", "unbounded"])
def test_long_walks_on_a_small_grid(wild: bool, unbounded: bool) -> None:
    generator = np.random.default_rng([wild, unbounded])
    for arm_count in (2, 3, 4, 5, 6, 8, 12):
        values = generator.integers(0, 5, (arm_count, 6))

        def row(arm: int, values: Any = values) -> Move:
            mean, risk, low, width, risk_low, risk_width = (values[arm] / 4).tolist()
            ends = int(generator.choice([0, 0, 0, 1, 2, 4, 8, 15])) if unbounded else 0
            return arm, mean, risk, box_from(low, width, risk_low, risk_width, ends)

        engine = prepared([row(arm) for arm in range(arm_count)])
        for _ in range(600):
            arm = int(generator.integers(arm_count))
            if wild:
                values[arm] = generator.integers(0, 5, 6)
            else:
                column = int(generator.integers(6))
                values[arm, column] = np.clip(values[arm, column] + generator.choice([-1, 1]), 0, 4)
            set_row(engine, row(arm))
            engine.rule.compare(*engine.rows.records, arm)
            check_cache(engine.arms, engine.search)
        check_orders(engine.arms)


def test_a_third_equal_rival_of_lower_index_takes_over() -> None:
    # Arms 1 and 2 threaten arm 3 equally, by 1; then arm 0 does, too: the first of the three is the rival.
    wide = (0.0, 1.0, 0.0, 1.0)
    weak = (0.0, 0.5, 0.0, 1.0)
    engine = prepared([(0, 0.5, 0.5, weak), (1, 0.5, 0.5, wide), (2, 0.5, 0.5, wide), (3, 0.5, 0.5, wide)])
    assert engine.arms["rival"][3] == 1
    set_row(engine, (0, 0.5, 0.5, wide))
    engine.rule.compare(*engine.rows.records, 0)
    check_cache(engine.arms, engine.search)


def test_unbounded_boxes_become_bounded_one_by_one() -> None:
    generator = np.random.default_rng(8)
    arm_count = 9
    means, risks = generator.uniform(size=(2, arm_count))
    rows: list[Move] = [
        (arm, float(means[arm]), float(risks[arm]), (-math.inf, math.inf, -math.inf, math.inf))
        for arm in range(arm_count)
    ]
    engine = prepared(rows)
    check_cache(engine.arms, engine.search)
    order = generator.permutation(arm_count)
    for finite, arm in enumerate(order, start=1):
        for width in (8.0, 0.5, 0.125):
            mean, risk = float(means[arm]), float(risks[arm])
            set_row(engine, (arm, mean, risk, (mean - width, mean + width, risk - width, risk + width)))
            engine.rule.compare(*engine.rows.records, arm)
            check_cache(engine.arms, engine.search)
            for column in ("doubt", "second"):
                assert not np.isnan(engine.arms[column]).any()
        assert np.isfinite(engine.search["doubt"][0]) == (finite == arm_count)
    assert engine.search["doubt"][0] < 1.5


# --- pull by pull, through a bound ----------------------------------------------------------------


class Reference:
    """Estimates and boxes of every arm, by the reference implementation, from the same rewards."""

    def __init__(self, engine: Engine) -> None:
        spec = engine.spec
        self.bound = REFERENCE_NAMES[spec.bound]
        self.estimates = reference.Estimates(len(spec.names), centre=None if spec.assumption == "gaussian" else 0.5)
        self.boxes: dict[int, reference.Box] = {}
        self.setting = reference.Setting(
            arm_count=len(spec.names),
            epsilon=float(spec.epsilon or 0.0),
            rho=spec.rho,
            alpha=spec.alpha,
            delta=spec.delta,
            exploration=spec.exploration,
            sigma_max=spec.sigma_max,
        )

    def observe(self, arm: int, reward: float) -> None:
        estimates = self.estimates
        estimates.observe(arm, reward)
        if estimates.pulls[arm] < 2:
            return
        one = slice(arm, arm + 1)
        new = reference.BOUNDS[self.bound](
            estimates.pulls[one], estimates.means[one], estimates.variances[one], self.setting
        )
        if self.bound in reference.INTERSECTED and arm in self.boxes:
            new, _ = reference.intersect(self.boxes[arm], new)
        self.boxes[arm] = new

    def check(self, arms: Table, arm: int) -> None:
        row, estimates = arms[arm], self.estimates
        assert row["pulls"] == estimates.pulls[arm]
        assert row["average"] == pytest.approx(estimates.means[arm], rel=1e-13, abs=1e-14)
        assert row["variance"] == pytest.approx(estimates.variances[arm], rel=1e-12, abs=1e-14)
        if arm not in self.boxes:
            return
        risk = self.setting.alpha * (estimates.variances[arm] - self.setting.rho * estimates.means[arm])
        assert row["risk"] == pytest.approx(risk, rel=1e-12, abs=1e-14)
        for side, value in zip(BOXES, self.boxes[arm], strict=True):
            assert row[side] == pytest.approx(value[0], rel=1e-12, abs=1e-13)


@st.composite
def pulls_of_few_values(draw: st.DrawFn, bound: str) -> tuple[int, list[tuple[int, float]]]:
    """Pulls in any order whatever: the first ones need not even go round."""
    arm_count = draw(st.integers(2, 8))
    values = draw(st.sampled_from([REWARDS[bound], REWARDS[bound][::2], REWARDS[bound][:1]]))
    arm = st.integers(0, arm_count - 1)
    early = [(place, draw(st.sampled_from(values))) for place in (*range(arm_count), *range(arm_count))]
    pulls = st.tuples(arm, st.sampled_from(values))
    return arm_count, draw(st.lists(pulls, max_size=6)) + early + draw(st.lists(pulls, max_size=40))


@pytest.mark.few(2)
@pytest.mark.parametrize("bound", BOUND_NAMES)
def test_every_pull_is_followed(bound: str) -> None:
    @repeatable(60)
    @given(pulls_of_few_values(bound), st.sampled_from([0.0, 0.01, 1.0]))
    def follow(drawn: tuple[int, list[tuple[int, float]]], rho: float) -> None:
        arm_count, pulls = drawn
        engine = make_engine(arm_count, bound, rho=rho)
        reference = Reference(engine)
        for arm, reward in pulls:
            engine.tell(arm, reward)
            reference.observe(arm, reward)
            reference.check(engine.arms, arm)
            ready = bool((engine.arms["pulls"] >= 2).all())
            assert engine.search["ready"][0] == ready
            if ready:
                check_cache(engine.arms, engine.search)
            else:
                assert engine.search["doubt"][0] == math.inf

    follow()


@pytest.mark.few(3)
@pytest.mark.parametrize("arm_count", [4, 7])
@pytest.mark.parametrize("bound", BOUND_NAMES)
def test_long_searches_of_equal_arms(bound: str, arm_count: int) -> None:
    """Arms that give two rewards each are level again and again."""
    generator = np.random.default_rng([arm_count, len(bound)])
    for _ in range(2):
        engine = make_engine(arm_count, bound, rho=float(generator.choice([0.0, 0.5])))
        reference = Reference(engine)
        low, high = REWARDS[bound][0], REWARDS[bound][-1]
        for pull in range(400):
            arm = int(pull % arm_count if pull < 2 * arm_count else generator.integers(arm_count))
            if engine.search["ready"][0] and generator.random() < 0.5:
                # Often the rule's own choice, which keeps the leaders close together.
                arm = int(engine.rule.decide(*engine.rows.records))
            reward = high if generator.random() < 0.5 else low
            engine.tell(arm, reward)
            reference.observe(arm, reward)
            reference.check(engine.arms, arm)
            if engine.search["ready"][0]:
                check_cache(engine.arms, engine.search)


def test_a_box_that_contradicts_an_older_one_is_not_believed() -> None:
    engine = make_engine(2, "hoeffding")
    reference = Reference(engine)
    for pull in range(2400):
        arm, reward = pull % 2, 0.0 if pull < 800 else 1.0
        engine.tell(arm, reward)
        reference.observe(arm, reward)
        reference.check(engine.arms, arm)
        if pull >= 4:
            check_cache(engine.arms, engine.search)
    assert engine.search["misses"][0] > 0
    assert (engine.arms["average"] > engine.arms["mean_high"]).all()


def many_arms(arm_count: int, kind: str) -> Instance:
    generator = np.random.default_rng(arm_count)
    arms: list[Beta | Bernoulli] = []
    for arm in range(arm_count):
        if kind == "scattered":  # few in the front
            arms.append(Beta(*generator.uniform(0.2, 5.0, 2)))
        elif kind == "trade-off":  # nearly all in the front: the higher the mean, the larger the variance
            mean, share = 0.3 + 0.4 * arm / arm_count, 0.1 + 0.8 * arm / arm_count
            size = 1.0 / share - 1.0
            arms.append(Beta(mean * size, (1.0 - mean) * size))
        else:  # many ties
            arms.append(Bernoulli(float(generator.integers(1, 4)) / 4))
    named = tuple(Arm(str(place), arm) for place, arm in enumerate(arms))
    return Instance(kind, named, reward_range=(0.0, 1.0), noise="bounded")


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", ["scattered", "trade-off", "ties"])
@pytest.mark.parametrize(
    ("arm_count", "bound", "policy"),
    [
        (100, "paper", "ramgape"),
        (100, "hoeffding", "ra-lucb"),
        (100, "budget", "lie-round-robin"),
        (300, "paper", "round-robin"),
        (300, "budget", "ramgape"),
        (300, "hoeffding", "de-round-robin"),
    ],
)
def test_many_arms(kind: str, arm_count: int, bound: str, policy: str) -> None:
    instance = many_arms(arm_count, kind)
    engine = make_engine(arm_count, bound, policy=policy, epsilon=0.01)
    generator = np.random.default_rng(5)
    engine.advance(instance.sampler(), generator, 2 * arm_count)
    for _ in range(50):
        check_cache(engine.arms, engine.search)
        assert engine.advance(instance.sampler(), generator, 53) == 53
    check_cache(engine.arms, engine.search)
    check_orders(engine.arms)


def test_the_front_of_the_round_of_smallest_doubt_is_kept() -> None:
    engine = make_engine(5, "budget", returned="smallest-doubt", exploration=0.05)
    generator = np.random.default_rng(3)
    smallest, kept = math.inf, []
    changes = 0
    for pull in range(400):
        arm = pull % 5
        engine.tell(arm, float(generator.beta(1.0 + arm, 2.0)))
        if not engine.search["ready"][0]:
            continue
        doubt, _ = reference.doubts(
            reference.dominates(engine.arms["average"], engine.arms["risk"]), box_of(engine.arms)
        )
        if doubt.max() < smallest:
            smallest, kept = doubt.max(), engine.arms["in_front"].tolist()
            changes += 1
        assert engine.search["smallest_doubt"][0] == smallest
        assert engine.arms["kept"].tolist() == kept
    assert changes > 10


@pytest.mark.long
@settings(deadline=None, max_examples=4000)
@given(tables_in_motion())
def test_any_change_of_one_arm_is_followed_at_length(motion: tuple[list[Move], list[Move]]) -> None:
    first, moves = motion
    engine = prepared(first)
    for move in moves:
        set_row(engine, move)
        engine.rule.compare(*engine.rows.records, move[0])
        check_cache(engine.arms, engine.search)
