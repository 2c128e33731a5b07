"""The lower bound: known values, small problems solved another way, and what must not change it."""

from __future__ import annotations

import io
import itertools
import json
import math
import sys
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from rich.console import Console
from typer.testing import CliRunner

from ramgape import plan
from ramgape.cli import app
from ramgape.core.pareto import is_epsilon_cover, pareto_front
from ramgape.errors import InvalidInstance, InvalidSpec, MissingExtra, UnknownName
from ramgape.problems.environments import Arm, Beta, Data, Gaussian, Instance
from ramgape.problems.instances import load_instance
from ramgape.questions import BestMean, Pareto
from ramgape.risks.table import PAPER_RISK
from ramgape.simulation import alternatives
from ramgape.simulation import lower_bound as theory
from ramgape.simulation.lower_bound import LowerBound, lower_bound
from tests.reference.lower_bound import slow_distance, slow_minimum

Floats = NDArray[np.float64]

KL = 0.9 * math.log(19.0)  # kl(0.05, 0.95)
GAP = 1.0 + 2.0 * theory.GAP

# (mean, variance) of each arm: what decides is in the name.
CASES = {
    "dominated": [(0.7, 0.10), (0.5, 0.16)],
    "dominated, nearly the same mean": [(0.52, 0.05), (0.5, 0.20)],
    "dominated, nearly the same risk": [(0.7, 0.15), (0.3, 0.16)],
    "two on the front": [(0.7, 0.20), (0.5, 0.10)],
    "two on the front, one by a hair": [(0.7, 0.105), (0.5, 0.10)],
    "small variances, far apart": [(0.7, 0.004), (0.2, 0.001)],
    "three, one dominated by both": [(0.7, 0.20), (0.6, 0.10), (0.5, 0.25)],
    "three, one in the corner": [(0.7, 0.20), (0.5, 0.10), (0.49, 0.21)],
    "three on the front": [(0.7, 0.20), (0.6, 0.15), (0.5, 0.10)],
    "three, one best": [(0.7, 0.10), (0.6, 0.12), (0.4, 0.15)],
}


def gaussian(moments: list[tuple[float, float]]) -> Instance:
    arms = tuple(Arm(f"arm {place}", Gaussian(*each)) for place, each in enumerate(moments))
    return Instance("gaussian", arms, reward_range=None, noise="gaussian", risk=PAPER_RISK)


def shares_of(bound: LowerBound) -> Floats:
    return np.array(list(bound.allocation.values()))


# ------------------------------------------------------------------------------ the reference implementation


@pytest.mark.few(5)
@pytest.mark.parametrize("epsilon", [0.0, 0.03])
@pytest.mark.parametrize("case", CASES)
def test_the_shares_keep_all_alternatives_away(case: str, epsilon: float) -> None:
    """By brute force, too: `reached` is true, and shares nearby are no better than T* allows."""
    instance = gaussian(CASES[case])
    means, risks = instance.means, instance.risks(0.01)
    bound = lower_bound(instance, epsilon=epsilon)
    assert bound.reached is not None
    assert bound.characteristic_time is not None
    assert bound.characteristic_time <= bound.reached <= GAP * bound.characteristic_time
    shares = shares_of(bound)
    answers = Pareto().right_answers(means, risks, epsilon)
    distance = max(slow_distance(instance, shares, epsilon, answer=answer) for answer in answers)
    assert distance == pytest.approx(1.0 / bound.reached, rel=2e-4)


@pytest.mark.few(4)
@pytest.mark.parametrize("epsilon", [0.0, 0.03])
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.long) if len(CASES[case]) > 2 else case for case in CASES]
)
def test_the_shares_for_the_standard_deviation_do_so_too(case: str, epsilon: float) -> None:
    """At epsilon 0 they are those of the variance, which has the same Pareto set; else they are its own."""
    instance = gaussian(CASES[case])
    bound = lower_bound(instance, risk="std", epsilon=epsilon)
    assert (bound.risk, bound.rho, bound.alpha) == ("std", None, None)
    assert bound.reached is not None
    answers = Pareto().right_answers(instance.means, np.sqrt(instance.variances), epsilon)
    away = [slow_distance(instance, shares_of(bound), epsilon, answer=each, deviation=True) for each in answers]
    assert max(away) == pytest.approx(1.0 / bound.reached, rel=2e-4)
    if epsilon == 0.0:
        for other in (lower_bound(instance, risk="variance"), lower_bound(instance, rho=0)):
            assert bound.samples == pytest.approx(other.samples, rel=1e-9)
            assert bound.allocation == pytest.approx(other.allocation, abs=1e-6)
            assert bound.exact == other.exact


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.0, 0.03])
@pytest.mark.parametrize("case", [case for case, moments in CASES.items() if len(moments) == 2])
def test_two_arms_by_brute_force(case: str, epsilon: float) -> None:
    """The whole problem: of all shares, those that keep the nearest alternative farthest away."""
    instance = gaussian(CASES[case])
    best = 0.0
    for answer in Pareto().right_answers(instance.means, instance.risks(0.01), epsilon):

        def nearness(share: float, answer: Any = answer) -> float:
            return -slow_distance(instance, np.array([share, 1.0 - share]), epsilon, answer=answer)

        found = scipy.optimize.minimize_scalar(
            nearness, bounds=(0.001, 0.999), method="bounded", options={"xatol": 1e-3}
        )
        best = max(best, -found.fun)
    bound = lower_bound(instance, epsilon=epsilon)
    assert bound.characteristic_time == pytest.approx(1.0 / best, rel=2.0 * theory.GAP)


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case, moments in CASES.items() if len(moments) == 3])
def test_no_shares_of_three_arms_do_better(case: str) -> None:
    instance = gaussian(CASES[case])
    bound = lower_bound(instance)
    assert bound.characteristic_time is not None
    generator = np.random.default_rng(2)
    for _ in range(6):
        shares = 0.7 * shares_of(bound) + 0.3 * generator.dirichlet(np.ones(3))
        assert slow_distance(instance, shares) <= (1.0 + 1e-6) / bound.characteristic_time


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_random_instances_by_brute_force(seed: int) -> None:
    """Several arms on the front and several outside: no way to escape is overlooked, whatever the shares."""
    generator = np.random.default_rng(seed)
    count, epsilon = int(generator.integers(3, 6)), float(generator.choice([0.0, 0.02]))
    means = generator.uniform(0.2, 0.8, count)
    variances = 0.02 + 0.3 * np.clip(means - 0.2 + generator.uniform(-0.15, 0.3, count), 0.0, 1.0) ** 1.5
    instance = gaussian(list(zip(means.tolist(), variances.tolist(), strict=True)))
    arms = alternatives.Gaussians(means, variances, 0.01)
    weights = generator.dirichlet(np.ones(count))
    answer = pareto_front(means, instance.risks(0.01))
    families = [kind(arms, answer, epsilon, epsilon * 3.01) for kind in (alternatives.Duels, alternatives.Escapes)]
    found = min((alternatives.nearest(family, weights) @ weights).min(initial=math.inf) for family in families)
    assert found == pytest.approx(slow_distance(instance, weights, epsilon), rel=1e-3)
    arms, answer = alternatives.Gaussians(means, variances, 0.0, root=True), pareto_front(means, variances)
    families = [kind(arms, answer, epsilon, epsilon) for kind in (alternatives.Duels, alternatives.Escapes)]
    found = min((alternatives.nearest(family, weights) @ weights).min(initial=math.inf) for family in families)
    slow = slow_distance(instance, weights, epsilon, answer=answer, deviation=True)
    assert found == pytest.approx(slow, rel=1e-3)


def test_a_known_closed_form() -> None:
    """Two arms of one variance, told apart by their means: the second one's risk is out of reach of the first's."""
    instance = gaussian([(1.0, 1.0), (0.9, 50.0)])
    # Only the means can change places; moving a mean by d costs ln(1 + d^2 / variance) / 2, about d^2 / (2 variance).
    expected = 2.0 * (1.0 + math.sqrt(50.0)) ** 2 / 0.1**2
    bound = lower_bound(instance, rho=0.0)
    assert bound.characteristic_time == pytest.approx(expected, rel=0.01)
    assert bound.allocation["arm 1"] == pytest.approx(math.sqrt(50.0) / (1.0 + math.sqrt(50.0)), abs=0.02)


# -------------------------------------------------------------------------------- moving one arm


@pytest.mark.few(4)
@pytest.mark.parametrize("rho", [0.0, 0.01, 0.5, 3.0])
def test_moves_have_a_closed_form(rho: float) -> None:
    arm = alternatives.Gaussians(np.array(0.4), np.array(0.2), rho)
    moments, weight = np.array([[0.4, 0.2]]), np.ones(1)
    in_mean, in_risk = np.array([1.0, 0.0]), np.array([rho, -1.0])
    for mean, change in itertools.product((-0.3, 0.2, 0.4, 0.6, 1.2), (-0.15, -0.1, 0.0, 0.1, 0.6)):
        risk = float(arm.risks) + change
        worse = slow_minimum(moments, weight, [(-in_mean, -mean), (-in_risk, risk)])
        better = slow_minimum(moments, weight, [(in_mean, mean), (in_risk, -risk)])
        assert alternatives.worsened(arm, np.array(mean), np.array(risk)) == pytest.approx(worse, rel=1e-4, abs=1e-7)
        assert alternatives.improved(arm, np.array(mean), np.array(risk)) == pytest.approx(better, rel=1e-4, abs=1e-7)


def test_without_rho_a_risk_cannot_be_negative() -> None:
    arm = alternatives.Gaussians(np.array(0.4), np.array(0.2), 0.0)
    assert alternatives.improved(arm, np.array(0.5), np.array(-0.01)) == math.inf


# ------------------------------------------------------------------------------------ known values


@pytest.mark.parametrize(
    ("name", "low", "high"), [("paper-gaussian:10", 4443.0, 4511.0), ("paper-gaussian:46", 1615.0, 1646.0)]
)
def test_the_paper_s_patterns(name: str, low: float, high: float) -> None:
    """Intervals that an independent prototype computed."""
    bound = lower_bound(name)
    assert bound.characteristic_time is not None
    assert bound.reached is not None
    assert max(low, bound.characteristic_time) <= min(high, bound.reached)
    assert bound.samples == pytest.approx(bound.characteristic_time * KL)
    assert bound.exact
    assert bound.note.startswith("for Gaussian arms with unknown means and variances it is exact, for every delta")


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "samples"), [("paper:10", 2_300.0), ("paper:46", 1_300.0)])
def test_the_paper_s_patterns_with_a_tolerance(name: str, samples: float) -> None:
    bound = lower_bound(name, epsilon=0.02)
    assert bound.samples == pytest.approx(samples, rel=0.05)
    assert "asymptotic (delta to 0), for every algorithm: the easiest to prove of the" in bound.note


def test_rewards_that_are_declared_gaussian_and_are_not_have_a_reference() -> None:
    known = load_instance("paper:46")
    bound = lower_bound(Instance("said", known.arms, None, "gaussian", risk=PAPER_RISK))
    assert not bound.exact
    assert bound.note.startswith("no bound, since these rewards are not Gaussian and a method may need fewer samples")
    assert "For those it is exact, for every delta" in bound.note
    assert bound.samples == pytest.approx(lower_bound("paper-gaussian:46").samples, rel=theory.GAP)


def test_laws_in_a_range_with_small_gaps_are_like_gaussians() -> None:
    """Near a law only its first moments count, and those of the pattern's Beta arms are nearly those of normal ones."""
    bound = lower_bound("paper:46")
    assert bound.exact
    assert bound.note.startswith("for rewards of any kind between 0 and 1 it is exact, for every delta")
    assert bound.samples == pytest.approx(lower_bound("paper-gaussian:46").samples, rel=0.05)


@pytest.mark.long
def test_fifty_arms_on_the_front() -> None:
    generator = np.random.default_rng(3)
    means, variances = np.sort(generator.uniform(0.2, 0.8, 50)), np.sort(generator.uniform(0.01, 0.2, 50))
    bound = lower_bound(gaussian(list(zip(means.tolist(), variances.tolist(), strict=True))), epsilon=0.05)
    assert bound.reached is not None
    assert bound.characteristic_time is not None
    assert bound.reached <= GAP * bound.characteristic_time
    assert not bound.exact
    assert "only for algorithms that answer with the exact Pareto set" in bound.note


# ------------------------------------------------------------------------------ right answers


@pytest.mark.parametrize("seed", range(20))
def test_right_answers_are_all_that_are_right(seed: int) -> None:
    generator = np.random.default_rng(seed)
    means, risks = generator.uniform(0.0, 1.0, (2, 6))
    epsilon = float(generator.choice([0.0, 0.05, 0.1, 0.2]))
    sets = [np.array(choice) for choice in itertools.product((False, True), repeat=6)]
    right = {tuple(each) for each in sets if is_epsilon_cover(each, means, risks, epsilon)}
    found = Pareto().right_answers(means, risks, epsilon)
    assert (found[0] == pareto_front(means, risks)).all()
    assert {tuple(each) for each in found} == right
    assert len(found) == len(right)
    assert Pareto().is_only_answer(means, risks, epsilon) == (len(right) == 1)


def test_a_tolerance_that_leaves_one_answer_is_exact() -> None:
    instance = gaussian([(0.9, 0.1), (0.4, 0.9)])
    bound = lower_bound(instance, epsilon=0.05)
    assert bound.exact
    assert "one right answer" in bound.note


# ---------------------------------------------------------------------------- what must not matter


def test_shares_add_up_and_follow_their_arms() -> None:
    instance = load_instance("paper:46")
    turned = Instance("turned", instance.arms[::-1], instance.reward_range, instance.noise, risk=PAPER_RISK)
    bound, other = lower_bound(instance), lower_bound(turned)
    assert sum(bound.allocation.values()) == pytest.approx(1.0)
    assert min(bound.allocation.values()) >= 0.0
    assert tuple(bound.allocation) == instance.names
    assert tuple(other.allocation) == turned.names
    assert other.characteristic_time == pytest.approx(bound.characteristic_time, rel=theory.GAP)
    for name, share in bound.allocation.items():
        assert other.allocation[name] == pytest.approx(share, abs=0.02)


@pytest.mark.few(2)
@pytest.mark.parametrize("epsilon", [0.0, 0.02])
def test_units_do_not_matter(epsilon: float) -> None:
    """Rewards in [0, 10] instead of [0, 1], rho and epsilon going along; and costs instead of rewards."""
    instance = load_instance("paper:46")
    shapes = [(arm.name, arm.distribution) for arm in instance.arms]
    stretched = tuple(Arm(name, Beta(each.a, each.b, 0.0, 10.0)) for name, each in shapes if isinstance(each, Beta))
    mirrored = tuple(Arm(name, Beta(each.b, each.a, -1.0, 0.0)) for name, each in shapes if isinstance(each, Beta))
    expected = lower_bound(instance, epsilon=epsilon)
    wide = Instance("wide", stretched, reward_range=(0.0, 10.0), noise="bounded")
    costs = Instance("costs", mirrored, reward_range=(-1.0, 0.0), noise="bounded")
    for found in (
        lower_bound(wide, rho=0.1, epsilon=10.0 * epsilon),
        lower_bound(costs, rho=0.01, epsilon=epsilon, direction="minimize"),
        lower_bound(instance, epsilon=epsilon, alpha=1.0 / 3.01),
    ):
        assert found.samples == pytest.approx(expected.samples, rel=theory.GAP)
        assert list(found.allocation.values()) == pytest.approx(list(expected.allocation.values()), abs=0.02)


@pytest.mark.long
def test_more_is_asked_more_is_needed() -> None:
    by_delta = [lower_bound("paper:46", delta=delta).samples for delta in (0.5, 0.1, 0.05, 0.001)]
    assert by_delta == sorted(by_delta, key=lambda samples: samples or 0.0)
    assert by_delta[0] == 0.0
    by_epsilon = [lower_bound("paper:46", epsilon=epsilon).samples for epsilon in (0.1, 0.02, 0.005, 0.0)]
    assert by_epsilon == sorted(by_epsilon, key=lambda samples: samples or 0.0)


# ----------------------------------------------------------------------------- ties and complaints


@pytest.mark.parametrize(
    "moments",
    [
        [(0.5, 0.1), (0.5, 0.1)],
        [(0.5, 0.1), (0.5, 0.2)],
        [(0.1 + 0.2, 0.1), (0.3, 0.2), (0.7, 0.3)],
    ],
)
def test_a_tie_is_never_settled(moments: list[tuple[float, float]]) -> None:
    bound = lower_bound(gaussian(moments))
    assert (bound.samples, bound.characteristic_time, bound.reached, bound.allocation) == (None, None, None, {})
    assert bound.note.startswith("no number of trials suffices: the Pareto set hangs on a tie")
    assert json.loads(json.dumps(bound.to_dict(), allow_nan=False))["samples"] is None
    assert lower_bound(gaussian(moments), epsilon=0.05).samples is not None


def test_nearly_a_tie_takes_very_long() -> None:
    bound = lower_bound(gaussian([(0.5, 0.1), (0.5 + 1e-6, 0.2)]), rho=0.0)
    assert bound.samples is not None
    assert bound.samples > 1e11


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delta": 0.0}, "delta must be between 0 and 1, both excluded, got 0.0"),
        ({"epsilon": -0.1}, "epsilon must be a finite number of at least 0, or a pair (mean, risk), got -0.1"),
        ({"epsilon": math.inf}, "epsilon must be a finite number of at least 0, or a pair (mean, risk), got inf"),
        ({"rho": -1}, "rho must be a finite number of at least 0, got -1"),
        ({"alpha": 0}, "alpha must be a finite number above 0, got 0"),
        ({"risk": "std", "rho": 1}, "rho must be absent together with risk, which has its own parameter, got 1"),
        (
            {"risk": "std", "alpha": 1},
            "alpha must be absent, unless the risk is mean-variance; epsilon as a pair (mean, risk) has a tolerance "
            "for each, got 1",
        ),
        ({"risk": "cvar:0.1"}, "risk must be std, variance or mean-variance, for a lower bound, got 'cvar:0.1'"),
    ],
)
def test_bad_values(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        lower_bound("paper:46", **options)
    assert str(caught.value) == words


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{"delta": 5e-324}, {"rho": 5e-324}, {"epsilon": 1e100}, {"rho": 1e9}], ids=str)
def test_extreme_values(options: dict[str, Any]) -> None:
    bound = lower_bound("paper:46", **options)
    assert bound.samples is not None
    assert math.isfinite(bound.samples)


def test_a_rho_that_leaves_nothing_of_the_variance() -> None:
    with pytest.raises(InvalidInstance, match="rho must be small enough for a lower bound"):
        lower_bound("paper:46", rho=1e20)
    assert "rho must be small enough" in plan("paper:46", rho=1e20, epsilons=[], deltas=[], runs=1).bound_note


def test_a_bad_direction() -> None:
    with pytest.raises(UnknownName, match="did you mean 'minimize'"):
        lower_bound("paper:46", direction="minimise")  # type: ignore[arg-type]


def test_what_a_search_takes_and_a_bound_does_not() -> None:
    with pytest.raises(InvalidSpec, match="policy must be left out of lower-bound: it is an option of identify"):
        lower_bound("paper:46", policy="egp")


def test_a_constant_arm() -> None:
    arms = (Arm("sure", Data((0.5, 0.5))), Arm("open", Beta(2, 2)))
    with pytest.raises(InvalidInstance, match=r"the variance of arm 'sure' must be above 0 .* got 0\.0"):
        lower_bound(Instance("constant", arms, None, "gaussian"))
    assert lower_bound(Instance("constant", arms, (0.0, 1.0), "bounded"), risk="std", epsilon=0.1).samples is not None


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtra, match=r'pip install "ramgape\[theory\]"'):
        lower_bound("paper:46")


# --------------------------------------------------------------------------------------- the command


def str_in_console(bound: LowerBound) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(bound)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def words_of(*arguments: str) -> str:
    """What the command says, without the frame around it."""
    return " ".join(call(*arguments).stdout.replace("│", " ").split())


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["lower-bound", *arguments], env={"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"})


def test_the_command_prints_the_library_s_numbers() -> None:
    result = call("paper:46", "--delta", "0.1", "--epsilon", "0.02", "--rho", "0.1", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    expected = lower_bound("paper:46", delta=0.1, epsilon=0.02, rho=0.1).to_dict()
    assert {key: printed[key] for key in expected} == expected
    asked = {key: printed[key] for key in ("instance", "delta", "epsilon", "rho")}
    assert asked == {"instance": "paper:46", "delta": 0.1, "epsilon": 0.02, "rho": 0.1}


def test_the_command_shows_a_table() -> None:
    result = call("paper:46")
    assert result.exit_code == 0
    assert result.stdout == str_in_console(lower_bound("paper:46"))
    words = words_of("paper:46")
    assert "the exact Pareto set with probability 0.95 takes at least 4,2" in words
    assert "This is the lower bound: for rewards of any kind between 0 and 1 it is exact" in words
    several = words_of("paper:46", "--epsilon", "0.02")
    assert "an ideal method would take about 1,3" in several
    assert "trials on average for an answer within 0.02 with probability 0.95" in several
    assert "This is the reference: for rewards of any kind between 0 and 1 it is asymptotic" in several
    exact = words_of("paper-gaussian:46")
    assert "takes at least 4," in exact
    assert "This is the lower bound: for Gaussian arms with unknown means and variances it is exact" in exact


@pytest.mark.long
def test_the_command_with_many_arms_and_with_a_tie(tmp_path: Any) -> None:
    assert "50 more" in call("paper:exp4", "--epsilon", "0.1").stdout
    file = tmp_path / "tie.json"
    arm = {"distribution": "gaussian", "mean": 0.5, "variance": 0.1}
    arms = [{"name": "[bold]", **arm}, {"name": "[/x]", **arm}]
    file.write_text(json.dumps({"noise": "gaussian", "arms": arms}), encoding="utf-8")
    assert call(str(file)).stdout.splitlines()[1].strip("│ ") == "tie: no number of trials suffices"
    shown = call(str(file), "--epsilon", "0.1").stdout
    assert "[bold]" in shown
    assert "[/x]" in shown


def test_the_command_complains() -> None:
    for arguments, words in (
        (("paper:46", "--delta", "2"), "error: delta must be between 0 and 1, both excluded, got 2\n"),
        (("paper:46", "--rho", "much"), "error: rho must be a number, got 'much'\n"),
        (("papr:46",), "did you mean 'paper:46'?\n"),
    ):
        result = call(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.endswith(words)


# ------------------------------------------------------------------------------------- the best mean


def best_mean(moments: list[tuple[float, float]], **options: Any) -> LowerBound:
    return lower_bound(gaussian(moments), task="best", **options)


def farthest(moments: list[tuple[float, float]], epsilon: float) -> float:
    """1/T* of three arms by brute force: on a fine grid of shares, by the formula for two arms that meet in mean."""
    means, variances = np.array(moments).T
    steps = np.linspace(0.002, 0.998, 499)
    first, second = (grid.ravel() for grid in np.meshgrid(steps, steps))
    shares = np.stack([first, second, 1.0 - first - second], axis=1)[first + second < 0.999]
    found = 0.0
    for best in np.flatnonzero(means > means.max() - max(epsilon, 1e-12)):
        others = [arm for arm in range(3) if arm != best]
        apart = (means[best] - means[others] + epsilon) ** 2
        spreads = variances[best] / shares[:, [best]] + variances[others] / shares[:, others]
        found = max(found, float((0.5 * apart / spreads).min(axis=1).max()))
    return found


@pytest.mark.parametrize("deviations", [(1.0, 1.0), (0.2, 3.0)])
@pytest.mark.parametrize(("epsilon", "gap"), [(0.0, 0.5), (0.1, 0.5), (0.1, 0.02)])
def test_the_best_of_two_means_has_a_closed_form(deviations: tuple[float, float], epsilon: float, gap: float) -> None:
    """Samples in proportion to the deviations; a tolerance adds to the gap."""
    one, two = deviations
    bound = best_mean([(0.3, one**2), (0.3 - gap, two**2)], epsilon=epsilon)
    expected = 2.0 * (one + two) ** 2 / (gap + epsilon) ** 2
    assert bound.characteristic_time is not None
    assert expected / GAP <= bound.characteristic_time <= expected * (1.0 + 1e-9)
    assert bound.samples == pytest.approx(bound.characteristic_time * KL)
    assert bound.allocation["arm 0"] == pytest.approx(one / (one + two), abs=0.02)
    assert bound.task == "best"
    assert bound.exact == (gap >= epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize(
    "moments",
    [
        [(0.7, 0.1), (0.6, 0.1), (0.5, 0.1)],
        [(0.7, 0.3), (0.699, 0.001), (0.69, 0.3)],  # with a tolerance the second is the easiest answer
        [(0.2, 0.02), (0.9, 0.5), (0.8, 2.0)],
    ],
)
def test_the_best_of_three_means_by_brute_force(moments: list[tuple[float, float]], epsilon: float) -> None:
    bound = best_mean(moments, epsilon=epsilon)
    assert bound.characteristic_time is not None
    assert bound.characteristic_time == pytest.approx(1.0 / farthest(moments, epsilon), rel=2.0 * theory.GAP)


def test_the_easiest_of_three_right_answers_is_told() -> None:
    bound = best_mean([(0.7, 0.3), (0.699, 0.001), (0.69, 0.3)], epsilon=0.05)
    assert "the easiest to prove of the 3 answers that epsilon allows is arm 1" in bound.note
    assert not bound.exact


def test_the_best_mean_is_a_matter_of_means_alone() -> None:
    """Whatever the risk; costs are rewards turned round; laws in a range are much the same."""
    expected = lower_bound("paper-gaussian:46", task="best")
    assert expected.exact
    assert expected.note.startswith("for Gaussian arms, even if their variances are known, it is exact")
    assert "since there is one right answer, the best arm" in expected.note
    other = lower_bound("paper-gaussian:46", task=BestMean(), risk="cvar:0.1")
    assert (other.samples, other.risk) == (expected.samples, "cvar:0.1")
    assert lower_bound("paper-gaussian:46", task="top:1").samples == expected.samples
    laws = lower_bound("paper:46", task="best")
    assert laws.exact
    assert laws.samples == pytest.approx(expected.samples, rel=0.02)
    turned = gaussian([(-0.3, 0.1), (-0.8, 0.2), (-0.9, 0.1)])
    costs = lower_bound(turned, task="best", direction="minimize")
    assert costs.samples == pytest.approx(best_mean([(0.3, 0.1), (0.8, 0.2), (0.9, 0.1)]).samples)


def test_equal_means_are_never_told_apart() -> None:
    bound = best_mean([(0.5, 0.1), (0.5, 0.2), (0.1, 0.1)])
    assert bound.samples is None
    assert bound.note.startswith("no number of trials suffices: the best arm hangs on a tie")
    assert best_mean([(0.5, 0.1), (0.5, 0.2), (0.1, 0.1)], epsilon=0.05).samples is not None
    assert best_mean([(0.5, 0.1), (0.3, 0.2), (0.3, 0.1)]).samples is not None


@pytest.mark.parametrize("task", ["top:2", "best-score:weight=1", "better-than:control=1"])
def test_of_other_tasks_no_bound_is_known(task: str) -> None:
    words = "question must be pareto, best or least-risk, since of others no lower bound is known here, got"
    with pytest.raises(InvalidSpec, match=words):
        lower_bound("paper:46", task=task)
    result = call("paper:46", "--task", task)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", " ").split())


def test_the_command_for_the_best_mean() -> None:
    words = words_of("paper:46", "--task", "best")
    assert "the exact answer to best with probability 0.95 takes at least 3,7" in words
