"""The reference implementation, checked by hand: what the compiled engine is compared with must be right first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.reference import search as reference

# Four arms in sixteenths, exact in floating point: 0 beats 2 by (3, 2), 1 beats 3 by (3, 3), and that is all.
MEANS = np.array([8.0, 13.0, 5.0, 10.0]) / 16
RISKS = np.array([4.0, 9.0, 6.0, 12.0]) / 16
FRONT = [True, True, False, False]

# Pattern 46 of the paper's table: Beta (a, b) of ten arms, of which the first two are Pareto optimal.
PATTERN_46 = np.array(
    [
        (0.1200, 0.0800),
        (13.5171, 9.8779),
        (3.8536, 3.0829),
        (0.8722, 0.7631),
        (0.2983, 0.2854),
        (1.8504, 1.9345),
        (0.5385, 0.6154),
        (0.1690, 0.2113),
        (0.3314, 0.4536),
        (0.9091, 1.3636),
    ]
)


def box_around(
    means: reference.Floats, risks: reference.Floats, mean_radius: float, risk_radius: float
) -> reference.Box:
    return reference.Box(means - mean_radius, means + mean_radius, risks - risk_radius, risks + risk_radius)


def state_of(
    means: list[float],
    risks: list[float],
    *,
    pulls: list[int] | None = None,
    radius: float | list[float] = 0.0,
    epsilon: float = 0.0,
    alpha: float = 0.25,
) -> reference.State:
    mu, xi, width = np.array(means), np.array(risks), np.array(radius)
    box = reference.Box(mu - width, mu + width, xi - width, xi + width)
    counts = np.array(pulls or [2] * len(means), dtype=np.int64)
    return reference.State(counts, mu, xi, box, epsilon, alpha)


def recorder(draw: Callable[[int], float]) -> tuple[Callable[[int], float], list[int]]:
    """The same arms, with a list of the pulls made."""
    order: list[int] = []

    def record(arm: int) -> float:
        order.append(arm)
        return draw(arm)

    return record, order


def beta_arms(parameters: reference.Floats, seed: int) -> Callable[[int], float]:
    generator = np.random.default_rng(seed)
    return lambda arm: float(generator.beta(parameters[arm, 0], parameters[arm, 1]))


def tables_with_ties(count: int) -> list[tuple[reference.Floats, reference.Floats]]:
    generator = np.random.default_rng(7)
    tables = []
    for _ in range(count):
        arm_count = int(generator.integers(1, 8))
        tables.append((generator.integers(0, 5, arm_count) / 4, generator.integers(0, 5, arm_count) / 4))
    return tables


# --- Section 2 ------------------------------------------------------------------------------------


def test_dominance_is_strict_in_both_objectives() -> None:
    beats = reference.dominates(MEANS, RISKS)
    assert {(int(j), int(i)) for j, i in np.argwhere(beats)} == {(0, 2), (1, 3)}
    assert reference.pareto_front(MEANS, RISKS).tolist() == FRONT


def test_duplicates_and_weakly_dominated_arms_stay_in_the_front() -> None:
    means = np.array([0.5, 0.5, 0.5, 0.25, 0.25])
    risks = np.array([0.25, 0.25, 0.5, 0.25, 0.5])
    # 1 repeats 0; 2 and 3 are as good as 0 in one objective and worse in the other; 4 is worse in both
    assert reference.pareto_front(means, risks).tolist() == [True, True, True, True, False]


def test_gaps_by_hand() -> None:
    # outside: (3, 2) -> 2 and (3, 3) -> 3
    # arm 0: 5 from arm 1; 0 + 2 by arm 2; 2 + 3 by arm 3
    # arm 1: 5 from arm 0; 3 + 2 by arm 2; 0 + 3 by arm 3
    assert (reference.gaps(MEANS, RISKS) * 16).tolist() == [2, 3, 2, 3]


def test_gap_between_close_front_arms_and_of_duplicates() -> None:
    # M is .25 one way (the risk) and .125 the other (the mean): the smaller counts
    assert reference.gaps(np.array([0.5, 0.625]), np.array([0.25, 0.5])).tolist() == [0.125, 0.125]
    assert reference.gaps(np.array([0.5, 0.5]), np.array([0.25, 0.25])).tolist() == [0.0, 0.0]
    assert reference.gaps(np.array([0.5]), np.array([0.25])).tolist() == [math.inf]


def test_gap_outside_takes_the_best_dominator() -> None:
    # arm 2 is beaten by (4, 1) and by (2, 3): the larger of the minima, 2
    means, risks = np.array([6.0, 4.0, 2.0]) / 16, np.array([7.0, 5.0, 8.0]) / 16
    assert reference.gaps(means, risks)[2] * 16 == 2


def test_regret_counts_the_wrongly_placed_arms() -> None:
    wrong = np.array([True, False, False, True])
    assert (reference.arm_regrets(wrong, MEANS, RISKS) * 16).tolist() == [0, 3, 0, 3]
    assert reference.simple_regret(wrong, MEANS, RISKS) * 16 == 3
    assert reference.simple_regret(np.array(FRONT), MEANS, RISKS) == 0


@pytest.mark.parametrize(
    ("returned", "epsilon", "pareto", "cover"),
    [
        (FRONT, 0.0, True, True),
        ([True, True, True, False], 0.0, False, False),  # arm 2 is dominated
        ([True, False, False, False], 0.0, False, False),  # arm 1 is not
        (FRONT, 2 / 16, True, True),
        (FRONT, 3 / 16, False, True),  # arm 2 is behind by 2 only: Section 2 wants it returned
        ([True, True, True, False], 3 / 16, True, True),
        ([True, True, True, True], 3 / 16, False, False),  # arm 3 is behind by exactly 3
        ([True, True, True, True], 4 / 16, True, True),
        ([True, False, False, False], 5 / 16, False, False),  # arm 1 has a mean higher by exactly 5
        ([True, False, False, False], 6 / 16, False, True),
        ([False, False, False, False], 6 / 16, False, False),
    ],
)
def test_epsilon_conditions(returned: list[bool], epsilon: float, pareto: bool, cover: bool) -> None:
    mask = np.array(returned)
    assert reference.is_epsilon_pareto(mask, MEANS, RISKS, epsilon) is pareto
    assert reference.is_epsilon_cover(mask, MEANS, RISKS, epsilon) is cover


def test_gaps_equal_the_formula_read_arm_by_arm() -> None:
    for means, risks in tables_with_ties(300):
        arms = range(len(means))

        def beats(j: int, i: int, mu: reference.Floats = means, xi: reference.Floats = risks) -> bool:
            return bool(mu[j] > mu[i] and xi[j] < xi[i])

        def m(i: int, j: int, mu: reference.Floats = means, xi: reference.Floats = risks) -> float:
            return float(min(mu[j] - mu[i], xi[i] - xi[j]))

        def larger(i: int, j: int, mu: reference.Floats = means, xi: reference.Floats = risks) -> float:
            return float(max(mu[i] - mu[j], xi[j] - xi[i]))

        front = [i for i in arms if not any(beats(j, i) for j in arms)]
        rest = [i for i in arms if i not in front]
        gap = {i: max(m(i, j) for j in front if beats(j, i)) for i in rest}
        for i in front:
            inside = [min(larger(i, j), larger(j, i)) for j in front if j != i]
            outside = [max(larger(j, i), 0.0) + gap[j] for j in rest]
            gap[i] = min([*inside, *outside], default=math.inf)
        assert reference.gaps(means, risks).tolist() == [gap[i] for i in arms]


# --- estimates and bounds -------------------------------------------------------------------------


def test_estimates_divide_by_the_number_of_pulls() -> None:
    estimates = reference.Estimates(2)
    for reward in (0.0, 0.5, 1.0, 1.0):
        estimates.observe(1, reward)
    assert estimates.pulls.tolist() == [0, 4]
    assert estimates.means[1] == 0.625
    assert estimates.variances[1] == 0.171875  # mean of squares .5625, less .625 squared
    assert reference.default_alpha(1.0) == 0.25
    assert reference.mean_variance(estimates.means, estimates.variances, 1.0, 0.25)[1] == 0.25 * (0.171875 - 0.625)


@pytest.mark.parametrize("centre", [0.5, None])
def test_estimates_do_not_drift(centre: float | None) -> None:
    estimates = reference.Estimates(1, centre)
    rewards = np.random.default_rng(3).beta(0.12, 0.08, 50_000)
    for reward in rewards.tolist():
        estimates.observe(0, reward)
    mean = math.fsum(rewards.tolist()) / len(rewards)
    variance = math.fsum((rewards - mean) ** 2) / len(rewards)
    assert estimates.means[0] == pytest.approx(mean, rel=1e-15)
    assert estimates.variances[0] == pytest.approx(variance, rel=1e-14)


def test_estimates_far_from_zero_keep_their_variance() -> None:
    estimates = reference.Estimates(1, centre=None)
    for reward in (1e9, 1e9 + 1, 1e9 + 2):
        estimates.observe(0, reward)
    assert estimates.variances[0] == pytest.approx(2 / 3, rel=1e-12)


def test_paper_radius_and_the_cap_on_pulls_per_arm() -> None:
    assert reference.paper_radius(np.array([2]), 10, 0.05)[0] == pytest.approx(math.sqrt(2 * math.log(1600)))
    pulls = np.arange(2, 30_000)
    narrow = 2 * reference.paper_radius(pulls, 10, 0.05) < 0.1
    assert pulls[narrow].min() == 20_320
    assert narrow[pulls >= 20_320].all()


def test_paper_intervals_are_equally_wide_at_the_default_scale() -> None:
    setting = reference.Setting(arm_count=2, epsilon=0.1, rho=1.0, alpha=0.25, delta=0.05)
    pulls, means, variances = np.array([2, 64]), np.array([0.5, 0.25]), np.array([0.25, 0.0])
    box = reference.paper_box(pulls, means, variances, setting)
    radius = reference.paper_radius(pulls, 2, 0.05)
    np.testing.assert_allclose(box.mean_high - means, radius)
    np.testing.assert_allclose(means - box.mean_low, radius)
    np.testing.assert_allclose(box.risk_high, radius - 0.0625)  # both risks are -1/16
    np.testing.assert_allclose(box.risk_low, -radius - 0.0625)
    assert box.mean_high[0] > 1  # not clipped


def test_hoeffding_is_half_as_wide_and_clipped() -> None:
    setting = reference.Setting(arm_count=2, epsilon=0.1, rho=0.5, alpha=1 / 3.5, delta=0.05)
    pulls, means, variances = np.array([2, 10_000]), np.array([0.5, 0.5]), np.array([0.25, 0.04])
    box = reference.hoeffding_box(pulls, means, variances, setting)
    smallest, largest = reference.possible_range(0.5, 1 / 3.5)
    assert [side[0] for side in box] == [0.0, 1.0, smallest, largest]
    half = reference.paper_radius(pulls, 2, 0.05)[1] / 2
    assert box.mean_high[1] - 0.5 == pytest.approx(half)
    assert (box.risk_high[1] - box.risk_low[1]) / 2 == pytest.approx(half * (1.25 + 0.5) / (3 + 0.5))


@pytest.mark.parametrize("rho", [0.0, 0.01, 0.5, 1.0, 3.0])
def test_possible_range_holds_every_bernoulli_arm_and_is_attained(rho: float) -> None:
    m = np.linspace(0, 1, 10_001)
    risk = 0.2 * (m * (1 - m) - rho * m)
    smallest, largest = reference.possible_range(rho, 0.2)
    assert smallest == pytest.approx(min(risk.min(), -rho * 0.2))
    assert largest == pytest.approx(risk.max(), abs=1e-9)


def test_gaussian_radii_by_hand() -> None:
    setting = reference.Setting(arm_count=5, epsilon=0.1, rho=0.5, alpha=0.4, delta=0.1, sigma_max=0.5)
    box = reference.gaussian_paper_box(np.array([4]), np.array([3.0]), np.array([0.2]), setting)
    log_term = math.log(4 * 5 * 16 / 0.1)  # > 4, so the linear branch of the maximum
    mean_radius = 0.5 * math.sqrt(2 / 4 * log_term)
    variance_radius = 8 * 0.25 * log_term / 4 + 2 * 0.25 / 4 * log_term
    assert box.mean_low[0] == pytest.approx(3 - mean_radius)
    assert box.risk_high[0] == pytest.approx(0.4 * ((0.2 + variance_radius) - 0.5 * (3 - mean_radius)))
    assert box.risk_low[0] == pytest.approx(0.4 * ((0.2 - variance_radius) - 0.5 * (3 + mean_radius)))


def test_budget_constants_and_radius() -> None:
    assert reference.exploration_constant("theorem", 10_000, 10, 0.1) == pytest.approx(9980 * 0.01 / 160)
    assert reference.exploration_constant("sharp", 10_000, 10, 0.1) == pytest.approx(9980 * 0.01 / 40)
    setting = reference.Setting(arm_count=1, epsilon=0.1, rho=1.0, alpha=0.25, exploration=9.0)
    box = reference.budget_box(np.array([4]), np.array([0.5]), np.array([0.25]), setting)
    assert [float(side[0]) for side in box] == [-1.0, 2.0, -1.5625, 1.4375]


def test_intersection_keeps_the_old_box_of_an_arm_that_missed() -> None:
    one = np.array([1.0, 1.0])
    old = reference.Box(0.0 * one, 0.5 * one, 0.0 * one, 0.5 * one)
    new = reference.Box(np.array([0.25, 0.6]), np.array([0.75, 0.8]), np.array([-1.0, 0.1]), np.array([0.25, 0.2]))
    box, missed = reference.intersect(old, new)
    assert missed.tolist() == [False, True]
    assert [side.tolist() for side in box] == [[0.25, 0.0], [0.5, 0.5], [0.0, 0.0], [0.25, 0.5]]


# --- V_i and p ------------------------------------------------------------------------------------


def test_doubts_by_hand() -> None:
    # half-widths 1 (mean) and 2 (risk), in sixteenths: mean differences grow by 2, risk differences by 4
    # V_0 = max over 1, 2, 3 of min(5+2, -5+4), min(-3+2, -2+4), min(2+2, -8+4) = -1, by 1 before 2
    # V_1 = max over 0, 2, 3 of min(-5+2, 5+4), min(-8+2, 3+4), min(-3+2, -3+4) = -1, by 3
    # V_2 = max(-3+2, -2+4) = 2, by its only dominator 0;  V_3 = max(-3+2, -3+4) = 1, by 1
    doubt, rival = reference.doubts(reference.dominates(MEANS, RISKS), box_around(MEANS, RISKS, 1 / 16, 2 / 16))
    assert (doubt * 16).tolist() == [-1, -1, 2, 1]
    assert rival.tolist() == [1, 3, 0, 1]


def test_doubts_equal_the_formula_read_arm_by_arm() -> None:
    generator = np.random.default_rng(11)
    for means, risks in tables_with_ties(300):
        arms = range(len(means))
        w, v = (generator.integers(0, 3, len(means)) / 8 for _ in "ab")
        box = reference.Box(means - w, means + w, risks - v, risks + v)
        beats = [[means[j] > means[i] and risks[j] < risks[i] for i in arms] for j in arms]
        front = [i for i in arms if not any(beats[j][i] for j in arms)]
        doubt, rival = reference.doubts(reference.dominates(means, risks), box)
        for i in arms:
            if i in front:
                values = [
                    (min(box.mean_high[j] - box.mean_low[i], box.risk_high[i] - box.risk_low[j]), -j)
                    for j in arms
                    if j != i
                ]
                best, minus_j = max(values, default=(-math.inf, 0))
                expected = best, -minus_j
            else:
                expected = min(
                    (max(box.mean_high[i] - box.mean_low[j], box.risk_high[j] - box.risk_low[i]), j)
                    for j in front
                    if beats[j][i]
                )
            assert (doubt[i], rival[i]) == expected


# --- the policies' decisions ----------------------------------------------------------------------


def hand_state(pulls: list[int]) -> reference.State:
    """The state of `test_doubts_by_hand`: m_t = 2, p_t = 0."""
    box = box_around(MEANS, RISKS, 1 / 16, 2 / 16)
    return reference.State(np.array(pulls, dtype=np.int64), MEANS, RISKS, box, epsilon=1 / 16, alpha=0.25)


@pytest.mark.parametrize(("pulls", "arm"), [([2, 2, 2, 2], 2), ([3, 2, 4, 2], 0), ([5, 2, 4, 2], 2)])
def test_ramgape_pulls_the_less_pulled_of_the_two(pulls: list[int], arm: int) -> None:
    assert reference.RAMGapE().decide(hand_state(pulls)) == (arm,)


def test_ra_lucb_pulls_leader_then_rival() -> None:
    assert reference.RALUCB().decide(hand_state([2, 2, 2, 2])) == (2, 0)


def test_ties_go_to_the_lowest_index() -> None:
    same = state_of([0.5] * 3, [0.25] * 3, radius=0.125)
    assert same.leader_and_rival == (0, 1)
    assert reference.XiLCB().decide(same) == (0,)
    assert reference.EGP().decide(same) == (0,)
    assert reference.HVIPareto().decide(same) == (0,)  # nothing is outside the front


def test_round_robin_goes_round() -> None:
    policy = reference.RoundRobin()
    assert [policy.decide(hand_state([2] * 4))[0] for _ in range(6)] == [0, 1, 2, 3, 0, 1]


def test_de_round_robin_skips_arms_surely_outside() -> None:
    policy = reference.DERoundRobin()
    # V_3 = 1/16 is not above epsilon = 1/16; V_2 = 2/16 is
    assert [policy.decide(hand_state([2] * 4))[0] for _ in range(5)] == [0, 1, 2, 0, 1]


def test_lie_round_robin_skips_the_least_doubt() -> None:
    policy = reference.LIERoundRobin()
    # V_0 and V_1 are both least: the lower index is skipped
    assert [policy.decide(hand_state([2] * 4))[0] for _ in range(5)] == [1, 2, 3, 1, 2]
    assert reference.LIERoundRobin().decide(state_of([0.5], [0.25])) == (0,)


def test_xi_lcb_looks_at_the_lower_end_of_the_risk() -> None:
    state = state_of([0.5, 0.5, 0.5], [0.25, 0.375, 0.5], radius=[0.0, 0.25, 0.25])
    assert reference.XiLCB().decide(state) == (1,)


def test_hvi_pareto_by_hand() -> None:
    state = state_of([0.5, 0.75, 0.375, 0.25], [-0.0625, 0.0, 0.03125, -0.03125])
    # reference point (0, 1/16)
    # inside: .5 * .125 against .75 * .0625; outside: .375 * .03125 against .25 * .09375
    assert state.front.tolist() == FRONT
    assert reference.HVIPareto().decide(state) == (1, 3)


def test_egp_by_hand() -> None:
    # Vhat in sixteenths, over all j != i:
    # 0, inside: max of min(-5, 5), min(3, 2), min(-2, 8) = 2
    # 1, inside: max of min(5, -5), min(8, -3), min(3, 3) = 3
    # 2, outside: min of max(3, 2), max(8, -3), max(5, -6) = 3
    # 3, outside: min of max(-2, 8), max(3, 3), max(-5, 6) = 3
    assert reference.EGP().decide(hand_state([2] * 4)) == (0,)
    # the bonus is the wider of the two half-widths: at arm 3 now 4/16, by the mean, against 2/16
    box = hand_state([2] * 4).box
    wide = box._replace(mean_high=box.mean_high + np.array([0, 0, 0, 6]) / 16)
    state = reference.State(np.array([2] * 4), MEANS, RISKS, wide, epsilon=0.0, alpha=0.25)
    assert reference.EGP().decide(state) == (3,)


# --- the loop -------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", list(reference.POLICIES))
@pytest.mark.parametrize("budget", [6, 7, 60])
def test_a_budget_is_spent_exactly_after_two_pulls_each(policy: str, budget: int) -> None:
    draw, order = recorder(beta_arms(PATTERN_46[:3], seed=1))
    result = reference.run(policy, "budget", draw, 3, epsilon=0.1, budget=budget, rho=0.01)
    assert order[:6] == [0, 1, 2, 0, 1, 2]
    assert result.stopped == "budget"
    assert result.samples == len(order) == budget
    assert result.pulls.tolist() == np.bincount(order, minlength=3).tolist()
    assert result.front.tolist() == reference.pareto_front(result.means, result.risks).tolist()


@pytest.mark.parametrize("policy", list(reference.POLICIES))
def test_a_cap_is_never_called_confidence(policy: str) -> None:
    draw, order = recorder(beta_arms(PATTERN_46, seed=2))
    result = reference.run(policy, "paper", draw, 10, epsilon=0.01, delta=0.05, rho=0.01, max_trials=51)
    assert (result.stopped, result.samples, len(order)) == ("cap", 51, 51)


def test_the_first_test_comes_after_two_pulls_each() -> None:
    # radius sqrt(2 ln 320) = 3.4 at T = 2: with epsilon = 7 nothing is in doubt, with 6 all is
    draw, order = recorder(lambda arm: 0.5)
    at_once = reference.run("ra-lucb", "paper", draw, 2, epsilon=7.0, delta=0.05, rho=0.0, max_trials=100)
    assert (at_once.stopped, order, at_once.front.tolist()) == ("confidence", [0, 1, 0, 1], [True, True])
    later = reference.run("ra-lucb", "paper", draw, 2, epsilon=6.0, delta=0.05, rho=0.0, max_trials=100)
    assert later.stopped == "confidence"
    assert later.samples > 4
    assert later.samples % 2 == 0  # whole rounds of two


def test_an_only_arm_is_returned_at_once() -> None:
    for policy in reference.POLICIES:
        result = reference.run(policy, "paper", lambda arm: 0.5, 1, epsilon=0.0, delta=0.05, rho=0.0)
        assert (result.stopped, result.samples, result.front.tolist()) == ("confidence", 2, [True])
        spent = reference.run(policy, "budget", lambda arm: 0.5, 1, epsilon=0.1, budget=9, rho=0.0)
        assert spent.samples == 9


def test_hoeffding_boxes_only_shrink() -> None:
    boxes = [
        reference.run(
            "round-robin",
            "hoeffding",
            beta_arms(PATTERN_46, seed=4),
            10,
            epsilon=0.0,
            delta=0.05,
            rho=0.01,
            max_trials=n,
        ).boxes
        for n in (20, 200, 2000)
    ]
    for wide, narrow in itertools.pairwise(boxes):
        assert (narrow.mean_low >= wide.mean_low).all()
        assert (narrow.mean_high <= wide.mean_high).all()
        assert (narrow.risk_low >= wide.risk_low).all()
        assert (narrow.risk_high <= wide.risk_high).all()


@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "round-robin", "de-round-robin"])
def test_easy_arms_are_told_apart(policy: str) -> None:
    # means .8, .5, .2; risks .0089, .0008, .0059: the second beats the third, and that is all
    parameters = np.array([[4.0, 1.0], [50.0, 50.0], [1.6, 6.4]])
    result = reference.run(
        policy,
        "hoeffding",
        beta_arms(parameters, seed=5),
        3,
        epsilon=0.04,
        delta=0.05,
        rho=0.0,
        max_trials=200_000,
    )
    mean = parameters[:, 0] / parameters.sum(axis=1)
    variance = mean * (1 - mean) / (parameters.sum(axis=1) + 1)
    risk = reference.mean_variance(mean, variance, 0.0, 1 / 3)
    assert result.stopped == "confidence"
    assert result.V.max() < 0.04
    assert reference.is_epsilon_cover(result.front, mean, risk, 0.04)
    assert reference.simple_regret(result.front, mean, risk) < 0.04
    assert not result.missed.any()


def test_gaussian_rewards() -> None:
    generator = np.random.default_rng(6)
    result = reference.run(
        "ramgape",
        "gaussian_paper",
        lambda arm: float(generator.normal((100.6, 100.4)[arm], 0.1)),
        2,
        epsilon=0.1,
        delta=0.05,
        rho=0.01,
        sigma_max=0.1,
    )
    assert result.stopped == "confidence"
    assert (result.boxes.mean_low < [100.6, 100.4]).all()
    assert (result.boxes.mean_high > [100.6, 100.4]).all()
    assert result.risks == pytest.approx(-result.means * 0.01 / 3.01, abs=0.02)


@pytest.mark.long
def test_paper_bound_on_pattern_46() -> None:
    result = reference.run("ramgape", "paper", beta_arms(PATTERN_46, seed=1), 10, epsilon=0.1, delta=0.05, rho=0.01)
    assert result.stopped == "confidence"
    assert result.pulls.max() <= 20_320
