"""The empirical-Bernstein mixture and the bounds built on it, against integration and against their definitions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ramgape import lower_bound, replicate
from ramgape.bounds import empirical_bernstein, gaussian, stitched
from ramgape.core.box import GROWTH
from ramgape.core.rows import one_row
from ramgape.core.statistics import all_sums, squared_distance
from ramgape.core.table import empty_search
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.statistics import inversion
from ramgape.statistics.mixture import SLACK, is_rejected, log_mixture


def integrated(total: float, squares: float, reach: float, scale: float) -> float:
    """ln M by integration over u = -ln(1 - c l), where the prior is smooth and the whole half-line is used."""

    def psi(u: float) -> float:
        """psi(l) at l = (1 - e^-u) / c."""
        return (u - (1.0 - math.exp(-u))) / reach**2

    def exponent(u: float) -> float:
        return total * (1.0 - math.exp(-u)) / reach - psi(u) * (squares + scale)

    grid = np.geomspace(1e-9, 200.0, 20_000)
    top = max(exponent(u) for u in grid)
    best = float(grid[int(np.argmax([exponent(u) for u in grid]))])
    width = reach / math.sqrt(squares + scale)
    edges = [0.0, *sorted({max(1e-12, best + k * width) for k in (-30, -5, 0, 5, 30)}), 60.0]
    value = math.fsum(
        scipy.integrate.quad(lambda u: math.exp(exponent(u) - top), low, high, limit=200)[0]
        for low, high in itertools.pairwise(edges)
        if high > low
    )
    edges = [0.0, *sorted({k * reach / math.sqrt(scale) for k in (1, 5, 30)}), 60.0]
    mass = math.fsum(
        scipy.integrate.quad(lambda u: math.exp(-psi(u) * scale), low, high, limit=200)[0]
        for low, high in itertools.pairwise(edges)
        if high > low
    )
    return top + math.log(value / mass)


@pytest.mark.parametrize("reach", [1.0, 0.3, 0.01, 1e-4])
@pytest.mark.parametrize("scale", [30.0, 1.0, 0.03])
@pytest.mark.parametrize(("count", "spread", "drift"), [(10, 0.25, 0.2), (1000, 0.1, 0.03), (100_000, 0.01, 0.002)])
def test_the_closed_form_is_never_above_the_integral_and_close_to_it(
    reach: float, scale: float, count: int, spread: float, drift: float
) -> None:
    """y is at least -reach, so small reaches go with small spreads."""
    size = min(1.0, reach)
    total, squares = count * drift * size, count * (spread * size**2 + (drift * size) ** 2)
    exact = integrated(total, squares, reach, scale)
    found = log_mixture(total, squares, reach, scale)
    assert found <= exact + 1e-7
    assert found >= exact - 0.75  # what the bounds on the two incomplete gamma functions may cost


def test_a_vanishing_reach_is_the_normal_limit() -> None:
    total, squares, scale = 30.0, 50.0, 3.0
    limit = (
        0.5 * math.log(scale / (squares + scale))
        + total**2 / (2.0 * (squares + scale))
        + math.log(2.0 * scipy.special.ndtr(total / math.sqrt(squares + scale)))
    )
    for reach in (1e-6, 1e-8, 1e-150, 0.0):
        assert log_mixture(total, squares, reach, scale) == pytest.approx(limit, abs=2e-3)
        assert log_mixture(total, squares, reach, scale) <= limit + 1e-9


@given(
    total=st.floats(1e-3, 1e4),
    squares=st.floats(0.0, 1e5),
    reach=st.floats(1e-6, 1.0),
    growth=st.floats(1.0, 5.0),
    scale=st.sampled_from([0.03, 0.1, 1.0, 3.0, 30.0]),
)
@settings(deadline=None)
def test_more_reach_or_more_spread_is_less_evidence(
    total: float, squares: float, reach: float, growth: float, scale: float
) -> None:
    """Why a search over hypotheses and an upper bound on a cell are allowed; up to the bounds' own roughness."""
    evidence = log_mixture(total, squares, reach, scale)
    assert log_mixture(total, squares * growth + 1e-9, reach, scale) <= evidence + 1e-6 + 0.1
    assert log_mixture(total, squares, reach * growth, scale) <= evidence + 1e-6 + 0.25


def test_two_scales_are_averaged() -> None:
    total, squares, reach = 40.0, 60.0, 0.5
    one, other = (log_mixture(total, squares, reach, scale) for scale in (1.0, 30.0))
    level = math.log((math.exp(one) + math.exp(other)) / 2.0)
    scales = np.array([1.0, 30.0])
    assert is_rejected(total, squares, reach, scales, level - 1e-9)
    assert not is_rejected(total, squares, reach, scales, level + 1e-9)
    assert not is_rejected(0.0, squares, reach, scales, -100.0)
    assert not is_rejected(-5.0, squares, reach, scales, -100.0)
    single = np.array([3.0, 3.0])
    alone = log_mixture(total, squares, reach, 3.0)
    assert is_rejected(total, squares, reach, single, alone)
    assert not is_rejected(total, squares, reach, single, alone + 1e-9)
    assert SLACK > 0.0


# --- the bounds ------------------------------------------------------------------------------------------


def filled(bound: str, rewards: Any, **options: Any) -> tuple[Any, Any]:
    """The row of an arm that has seen these rewards, and its problem; the other arm has seen none."""
    engine = told(bound, rewards, **options)
    return engine.rows.arms[0], engine.rows.problems[0]


def told(bound: str, rewards: Any, **options: Any) -> Engine:
    """A search whose first arm has seen these rewards."""
    noise: dict[str, Any] = {"noise": "gaussian"} if bound == "gaussian" else {"reward_range": (0.0, 1.0)}
    engine = Engine(make_spec(["a", "b"], bound=bound, **{"epsilon": 0.0, **noise, **options}))
    for reward in rewards:
        engine.tell(0, float(reward))
    return engine


def test_power_sums_give_the_spread_of_squared_rewards() -> None:
    generator = np.random.default_rng(0)
    for rewards in (generator.beta(0.3, 0.4, 500), 0.7 + 1e-5 * generator.random(500), np.full(50, 0.25)):
        row, _ = filled("empirical-bernstein", rewards)
        for centre in (0.1, float(rewards.mean()), 0.9):
            for risk in (0.0, 0.1):
                direct = ((rewards - centre) ** 2 - 0.2 * rewards - risk) ** 2
                found = squared_distance(all_sums(row), row.shift, centre, 0.2, risk)
                assert found == pytest.approx(float(direct.sum()), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("shape", [(0.3, 0.4), (5.0, 1.0), (400.0, 600.0)])
def test_ends_of_the_mean_are_rejected_and_a_little_inside_they_are_not(
    shape: tuple[float, float], epsilon: float
) -> None:
    rewards = np.random.default_rng(1).beta(*shape, 400)
    row, problem = filled("empirical-bernstein", rewards, epsilon=epsilon, rho=0.01)
    # The ends of the moment, not the best there ever were.
    row.mean_low, row.mean_high, row.risk_low, row.risk_high = 0.0, 1.0, -1.0, 1.0
    empirical_bernstein.moments_box(row, np.empty(0), one_row(empty_search()), problem)
    width = row.average - row.mean_low
    statistics = (int(row.pulls), row.average, row.variance, problem.mean_scales, row.level)
    assert inversion.rejects_mean(*statistics, row.mean_low - 0.01 * width)
    assert not inversion.rejects_mean(*statistics, row.mean_low + 0.05 * width)
    for side, end in ((1.0, "risk_low"), (-1.0, "risk_high")):
        value = getattr(row, end) / problem.alpha
        estimate = row.risk / problem.alpha
        assert not empirical_bernstein.rejects_risk(row, problem, side, value + 0.05 * (estimate - value))


def test_no_cell_is_more_lenient_than_the_mean_it_contains() -> None:
    """Whatever the true mean is, the test of a risk on cells rejects only what the test at that mean rejects."""
    generator = np.random.default_rng(2)
    for shape in ((0.3, 0.4), (2.0, 3.0), (40.0, 60.0)):
        rewards = generator.beta(*shape, 300)
        row, problem = filled("empirical-bernstein", rewards, rho=0.3)
        rho = float(problem.rho)
        for side in (1.0, -1.0):
            for risk in np.linspace(-0.3, 0.25, 200):
                if not empirical_bernstein.rejects_risk(row, problem, side, float(risk)):
                    continue
                for mean in np.linspace(row.mean_low, row.mean_high, 25):
                    values = side * ((rewards - mean) ** 2 - rho * rewards - risk)
                    possible = side * ((np.linspace(0, 1, 2001) - mean) ** 2 - rho * np.linspace(0, 1, 2001) - risk)
                    reach = max(0.0, -float(possible.min()))
                    total, squares = float(values.sum()), float((values**2).sum())
                    assert is_rejected(total, squares, reach, problem.risk_scales, row.level - 1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_the_scale_of_a_mean_variance_grows_with_rho(epsilon: float) -> None:
    """From that of a squared distance to that of rho times the mean, which is all that is left of it; in any units."""
    problems = {
        rho: Engine(make_spec(["a", "b"], reward_range=(0, 10), epsilon=10 * epsilon, rho=10 * rho)).problem[0]
        for rho in (0.0, 0.01, 0.1, 1000.0)
    }
    usual = [0.1, 0.1] if epsilon else [0.03, 1.0]
    for rho in (0.0, 0.01, 0.1):
        assert problems[rho]["risk_scales"].tolist() == usual
    large = problems[1000.0]
    assert large["risk_scales"] == pytest.approx(1e6 * large["mean_scales"])


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"bound": "pairwise", "policy": "evidence"}])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_a_large_rho_costs_no_more_than_a_small_one(rho: float, options: dict[str, Any]) -> None:
    """In units of the reference for Gaussian arms. Of the four the largest was 6.95, with a standard error of 0.18.

    So the limit is nearly six of them away, and the chance of a false alarm below 1e-7. It was 9.7 to 15 before.
    """
    reference = lower_bound("paper:46", epsilon=0.02, rho=rho).samples
    assert reference is not None
    runs = replicate("paper:46", epsilon=0.02, rho=rho, runs=100, seed=0, **options).runs
    assert sum(run.samples for run in runs) / len(runs) <= 8.0 * reference


def test_intervals_adapt_to_the_variance() -> None:
    generator = np.random.default_rng(3)
    calm, wild = generator.uniform(0.49, 0.51, 2000), generator.integers(0, 2, 2000)
    widths = {}
    for name, rewards in {"calm": calm, "wild": wild}.items():
        for bound in ("empirical-bernstein", "empirical-bernstein-stitched", "hoeffding"):
            row, _ = filled(bound, rewards)
            widths[name, bound] = float(row.mean_high - row.mean_low)
    assert widths["calm", "hoeffding"] == pytest.approx(widths["wild", "hoeffding"], rel=0.1)
    assert widths["calm", "empirical-bernstein"] < 0.1 * widths["wild", "empirical-bernstein"]
    assert widths["calm", "empirical-bernstein"] < widths["calm", "empirical-bernstein-stitched"]
    assert widths["wild", "empirical-bernstein"] < widths["wild", "empirical-bernstein-stitched"]


def test_boxes_are_renewed_lazily_and_only_shrink() -> None:
    boxes = {"policy": "ramgape", "bound": "empirical-bernstein"}
    engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.0, **boxes))
    generator = np.random.default_rng(4)
    row: Any = engine.rows.arms[0]
    before, renewals = np.array([0.0, 1.0]), 0
    for pull in range(1, 5001):
        engine.tell(0, float(generator.random()))
        box = np.array([row.mean_low, row.mean_high])
        assert box[0] >= before[0]
        assert box[1] <= before[1]
        if row.renewal > pull:
            renewals += row.renewal == pull + 1 + pull // GROWTH
        before = box
    assert 400 < renewals < 700


def test_the_stitched_boundary_is_the_published_one() -> None:
    for squares in (1.0, 7.0, 1e4):
        height = (
            1.4 * math.log(math.log(2.0 * squares)) + math.log(scipy.special.zeta(1.4) / math.log(2.0) ** 1.4) + 5.0
        )
        first, second = (2.0**0.25 + 2.0**-0.25) / math.sqrt(2.0), (math.sqrt(2.0) + 1.0) / 2.0
        expected = math.sqrt(first**2 * squares * height + (second * height) ** 2) + second * height
        assert stitched.boundary(squares, 1.0, 5.0) == pytest.approx(expected, rel=1e-7)
        assert stitched.boundary(squares / 16.0, 0.25, 5.0) == pytest.approx(expected / 4.0, rel=1e-7)


def test_spreads_are_about_the_estimates_before_each_reward() -> None:
    rewards = np.random.default_rng(5).beta(2.0, 1.0, 100)
    mean_spread, square_spread = told("empirical-bernstein-stitched", rewards).memory[0]
    expected = [0.5, *np.cumsum(rewards)[:-1] / np.arange(1, 100)]
    assert mean_spread == pytest.approx(float(((rewards - expected) ** 2).sum()))
    squares = (rewards - 0.5) ** 2
    expected = [0.125, *np.cumsum(squares)[:-1] / np.arange(1, 100)]
    assert square_spread == pytest.approx(float(((squares - expected) ** 2).sum()))


@pytest.mark.parametrize("count", [2, 10, 1000, 10**6])
def test_the_ends_of_a_gaussian_variance_are_where_the_mixture_reaches_the_level(count: int) -> None:
    level, prior = 6.0, 20.0
    low, high = (gaussian.end_of_ratio(float(count), level, prior, side) for side in (-1.0, 1.0))
    assert low < count - 1 < high
    for end in (low, high):
        if end > 0.0:
            assert level <= gaussian.log_likelihood(float(count), end, prior) < level + 0.01
    # By integration: the likelihood ratio of a precision scaled by g, over a gamma density with mean 1 and this shape.
    ratio, half = 1.3 * (count - 1), 0.5 * (count - 1)
    if count <= 1000:
        value, _ = scipy.integrate.quad(
            lambda g: (
                math.exp(half * math.log(g) + 0.5 * ratio * (1.0 - g))
                * math.exp(
                    prior * math.log(prior) - scipy.special.gammaln(prior) + (prior - 1.0) * math.log(g) - prior * g
                )
            ),
            1e-9,
            20.0,
            limit=500,
            points=[0.5, 0.8, 1.0, 1.2],
        )
        assert gaussian.log_likelihood(float(count), ratio, prior) == pytest.approx(math.log(value), abs=1e-6)


def test_a_gaussian_mean_is_unknown_at_first_and_then_found() -> None:
    generator = np.random.default_rng(6)
    rewards = generator.normal(5.0, 2.0, 4000)
    early, _ = filled("gaussian", rewards[:3])
    assert (early.mean_low, early.mean_high) == (-math.inf, math.inf)
    late, _ = filled("gaussian", rewards)
    assert late.mean_low < 5.0 < late.mean_high
    assert late.mean_high - late.mean_low < 0.4
