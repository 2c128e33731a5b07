"""Gaussian rewards that are none are noticed on every road; rounded ones have intervals that hold; a model says so."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ramgape import CVaR, Data, Entropic, Result, Semivariance, Study, analyze, identify, simulate
from ramgape.commands.study_files import read_study_file
from ramgape.risks.measure import Measure
from ramgape.search.assembly import make_look
from ramgape.search.engine import Engine
from ramgape.search.samples import Sample
from ramgape.search.spec import make_spec
from ramgape.views.notebook import page

GAUSSIAN: dict[str, Any] = {"noise": "gaussian", "reward_range": None}
RISKS: list[Measure | str] = ["mean-variance:0.5", "variance", CVaR(0.05), Entropic(2.0), Semivariance(0.3)]
REPEATED, ABNORMAL = "rewards repeat exactly", "rewards are not normal by their kurtosis"


def by_identify(rows: list[tuple[str, float]], tmp_path: Path, **options: Any) -> Result:
    """The rows, in their order, arms in turn."""
    rewards = (reward for _, reward in rows)
    arms = list(dict(rows))
    count = len(rows)
    return identify(lambda arm: next(rewards), arms, policy="round-robin", max_trials=count, **GAUSSIAN, **options)


def by_study(rows: list[tuple[str, float]], tmp_path: Path, **options: Any) -> Result:
    """Told in part, then opened again and told the rest: replayed and told."""
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create("rows", list(dict(rows)), storage=storage, data=rows[:-5], **GAUSSIAN, **options) as study:
        pass
    with Study.load("rows", storage) as study:
        for arm, reward in rows[-5:]:
            study.observe(arm, reward)
        return study.result()


def by_analysis(rows: list[tuple[str, float]], tmp_path: Path, **options: Any) -> Result:
    return analyze(rows, **GAUSSIAN, **options).result


ROADS = [by_identify, by_study, by_analysis]
Road = Callable[..., Result]


def rows_of(*columns: Any) -> list[tuple[str, float]]:
    """Arms a, b, ... in turn, each with its rewards."""
    names = [chr(ord("a") + place) for place in range(len(columns))]
    return [
        (name, float(reward))
        for rewards in zip(*columns, strict=True)
        for name, reward in zip(names, rewards, strict=True)
    ]


def heavy_returns(generator: np.random.Generator, count: int) -> Any:
    """Like daily returns: normal, but with a volatility that comes and goes."""
    volatility, spread = np.empty(count), 0.0
    for day in range(count):
        spread = 0.97 * spread + 0.2 * generator.standard_normal()
        volatility[day] = 0.01 * math.exp(spread)
    return volatility * generator.standard_normal(count)


NOT_NORMAL: dict[str, tuple[str, Callable[[np.random.Generator], Any]]] = {
    "constants": (REPEATED, lambda generator: np.full(60, 4.0)),
    "ratings": (REPEATED, lambda generator: np.rint(generator.normal(3.6, 0.2, 60))),
    "cents": (REPEATED, lambda generator: np.round(generator.normal(0.0, 1.0, 3000), 2)),
    "in circles": (REPEATED, lambda generator: np.tile(generator.normal(size=10), 6)),
    "t(5)": (ABNORMAL, lambda generator: generator.standard_t(5, 3000)),
    "returns": (ABNORMAL, lambda generator: heavy_returns(generator, 3000)),
    "uniform": (ABNORMAL, lambda generator: generator.random(3000)),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("kind", NOT_NORMAL)
def test_rewards_that_are_not_gaussian_are_noticed(kind: str, road: Road, tmp_path: Path) -> None:
    """Chances that one is overlooked are below 1e-6: of cents 17 repetitions are expected, of heavy ones kurtosis 5.

    Two arms with the same rewards are never told apart, so every road comes to the last row.
    """
    expected, draw = NOT_NORMAL[kind]
    odd = draw(np.random.default_rng(3))
    normal = np.random.default_rng(4).normal(3.0, 1.0, len(odd))
    result = road(rows_of(odd, odd[::-1], normal), tmp_path, epsilon=0.0)
    (warning,) = [text for text in result.warnings if text.startswith(expected)]
    assert "(a, b)" in warning
    assert "But this assumption is in doubt: " in result.guarantee
    assert expected in result.guarantee


@pytest.mark.parametrize("road", ROADS)
def test_normal_rewards_raise_no_alarm(road: Road, tmp_path: Path) -> None:
    """30 arms of 2,000 rewards: a false alarm in one has a chance below 1e-7 (by kurtosis; a repetition some 1e-11)."""
    generator = np.random.default_rng(1)
    columns = [generator.normal(place, 0.1 * (1 + place), 2000) for place in range(30)]
    result = road(rows_of(*columns), tmp_path, epsilon=1e-9)
    assert result.warnings == ()
    assert "in doubt" not in result.guarantee


def test_simulations_raise_no_alarm() -> None:
    """150 arms, each with a chance of at most 1e-5: more than three alarms have one of at most 1e-10."""
    results = [simulate("random-gaussian:1", budget=3_000, seed=seed) for seed in range(15)]
    assert sum(bool(result.warnings) for result in results) <= 3


def test_few_rewards_are_no_reason_for_an_alarm() -> None:
    """Before the second, and of an arm without any, nothing is known."""
    for rows in ([("a", 1.0), ("b", 2.0)], [("a", 1.0), ("b", 2.0), ("a", 3.0)]):
        assert not [
            text for text in analyze(rows, arms=["a", "b", "c"], **GAUSSIAN).result.warnings if "repeat" in text
        ]


@pytest.mark.parametrize("size", [1e-160, 1e-80, 1e-75, 1e70, 1e90])
def test_rewards_of_any_size_are_normal(size: float) -> None:
    """Powers that are no numbers say nothing. A false alarm has a chance below 1e-8."""
    rows = rows_of(*(size * np.random.default_rng(1).standard_normal((2, 2000))))
    assert analyze(rows, **GAUSSIAN).result.warnings == ()
    assert analyze([("a", size), ("b", size)] * 9, resolution=10.0, **GAUSSIAN).result.warnings == ()


# --- rounded rewards ------------------------------------------------------------------------------


def boxes(rewards: Any, **options: Any) -> tuple[float, ...]:
    """The box that these rewards alone lead to."""
    engine = Engine(make_spec(["a", "b"], noise="gaussian", epsilon=0.1, **options))
    for reward in rewards:
        engine.tell(0, float(reward))
    fresh = Engine(engine.spec).arms[0]
    row = engine.rows.arms[0]
    for side in ("mean_low", "mean_high", "risk_low", "risk_high"):
        setattr(row, side, float(fresh[side]))
    make_look(engine.spec, engine.spec.bound)(*engine.rows)
    return tuple(float(getattr(row, side)) for side in ("mean_low", "mean_high", "risk_low", "risk_high"))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(3, 60),
    st.floats(-5.0, 5.0),
    st.sampled_from([0.01, 0.3, 2.0]),
    st.sampled_from([0.1, 1.0]),
    st.sampled_from([("gaussian", risk) for risk in RISKS] + [("gaussian-paper", "mean-variance:0.5")]),
    st.sampled_from(["maximize", "minimize"]),
)
def test_rounding_costs_no_coverage(
    seed: int, count: int, mean: float, deviation: float, step: float, method: tuple[str, Any], direction: str
) -> None:
    """The box of rounded rewards contains that of the rewards before: so it holds whenever that one does."""
    draws = np.random.default_rng(seed).normal(mean, deviation, count)
    options: dict[str, Any] = {"bound": method[0], "risk": method[1], "sigma_max": 2.0, "direction": direction}
    inner = boxes(draws, **options)
    outer = boxes(step * np.rint(draws / step), resolution=step * (1.0 + 1e-9), **options)
    for low in (0, 2):
        slack = 1e-9 * (1.0 + abs(inner[low])) if math.isfinite(inner[low]) else 0.0
        assert outer[low] <= inner[low] + slack
        assert outer[low + 1] >= inner[low + 1] - slack
        assert outer[low + 1] > outer[low] or outer[low + 1] == 0.0  # a tail so far away that its risk underflows
    assert outer[1] - outer[0] >= step


def test_integer_ratings_with_their_resolution_are_never_certified_wrongly() -> None:
    """Normal with deviation 0.2, rounded to integers: without a resolution most intervals of the means are wrong.

    With it a run is bad with probability at most 0.05, more than 18 of 100 with one below 1e-6.
    """
    means = {"a": 3.42, "b": 3.55, "c": 3.6}
    bad = {None: 0, 1.0: 0}
    for seed, resolution in itertools.product(range(100), bad):
        generator = np.random.default_rng(seed)
        rows = [(arm, float(np.rint(generator.normal(mean, 0.2)))) for _ in range(300) for arm, mean in means.items()]
        result = analyze(rows, resolution=resolution, epsilon=3.0, bound="gaussian", **GAUSSIAN).result
        bad[resolution] += any(
            not arm.mean_interval[0] <= means[arm.name] <= arm.mean_interval[1] for arm in result.arms
        )
        assert (REPEATED in result.guarantee + " ".join(result.warnings)) == (resolution is None)
        assert resolution is None or "for each arm, rounded to 1: " in result.guarantee
    assert bad[1.0] <= scipy.stats.binom.ppf(1.0 - 1e-6, 100, 0.05)
    assert bad[None] > 50


def test_a_resolution_that_is_too_small_is_noticed() -> None:
    rows = rows_of(*np.rint(np.random.default_rng(1).normal([[3.4], [3.6]], 0.4, (2, 400))))
    (warning,) = analyze(rows, resolution=0.01, **GAUSSIAN).result.warnings
    assert warning.startswith("rewards repeat more often than a resolution of 0.01 explains (a, b): ")
    assert analyze(rows, resolution=1.0, **GAUSSIAN).result.warnings == ()


def test_a_tolerance_below_the_resolution_is_mentioned() -> None:
    assert "below the resolution 1" in make_spec(["a", "b"], epsilon=0.5, resolution=1, **GAUSSIAN).warnings[0]
    assert make_spec(["a", "b"], epsilon=1.0, resolution=1, **GAUSSIAN).warnings == ()
    assert make_spec(["a", "b"], epsilon=0.0, resolution=1, **GAUSSIAN).warnings == ()


def test_a_study_file_may_state_it(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('[study]\nnoise = "gaussian"\nresolution = 0.05\nbudget = 8\n[arms]\na = "echo 1"\nb = "echo 2"\n')
    assert read_study_file(file).options["resolution"] == 0.05


# --- a model's risk, and that of the data ---------------------------------------------------------


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("risk", [CVaR(0.013), CVaR(1.0), Entropic(3.0), Entropic(1e-9), Semivariance(0.2)])
def test_a_model_s_risk_is_called_so_and_stands_beside_that_of_the_rewards(
    risk: Measure, direction: str, road: Road, tmp_path: Path
) -> None:
    columns = np.random.default_rng(2).normal(0.3, 0.5, (2, 150))
    result = road(rows_of(*columns), tmp_path, risk=risk, direction=direction, epsilon=0.0)
    for rewards, arm in zip(columns, result.arms, strict=True):
        known = Data(tuple(rewards))
        oriented = (risk, known) if direction == "maximize" else (risk.mirrored(), known.mirrored())
        assert arm.pulls == 150
        assert arm.empirical_risk == pytest.approx(oriented[0].value_of(oriented[1]), rel=1e-9)
    assert result.risk_formula == f"{risk.formula(direction == 'minimize')}, under a normal model"
    details = result.to_dict()["details"]["arms"]
    assert [arm["empirical_risk"] for arm in details] == [arm.empirical_risk for arm in result.arms]
    label = f"{risk.label(direction == 'minimize')} (normal model)"
    assert result.risk_label == label
    exact = result.explain()
    assert label in " ".join(exact.split())
    assert "in the data" in exact
    for text in (str(result), page(result), exact):
        assert "(normal model)" in " ".join(text.split())
    assert list(result.to_frame()["empirical_risk"]) == [arm.empirical_risk for arm in result.arms]


def test_where_rewards_are_not_kept_the_model_is_called_so_all_the_same() -> None:
    result = simulate("random-gaussian:1", budget=500, risk="cvar:0.1")
    assert {arm.empirical_risk for arm in result.arms} == {None}
    assert "(normal model)" in str(result)


@pytest.mark.parametrize("options", [{"risk": "cvar:0.1", "reward_range": (0, 1)}, {"noise": "gaussian"}])
def test_other_risks_are_those_of_the_rewards(options: dict[str, Any]) -> None:
    rows = rows_of(*np.random.default_rng(2).random((2, 50)))
    result = analyze(rows, **options).result
    assert {arm.empirical_risk for arm in result.arms} == {None}
    assert "model" not in str(result)


def test_rewards_are_kept_alike_one_by_one_and_many_at_once() -> None:
    generator = np.random.default_rng(1)
    arms, rewards = generator.integers(0, 5, 200), generator.normal(size=200)
    single, many = Sample(), Sample()
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        single.add(arm, reward)
    many.add_many(arms[:90], rewards[:90])
    many.add_many(arms[90:], rewards[90:])
    many.add_many(arms[:0], rewards[:0])
    for arm in range(6):
        assert single.of(arm).tolist() == many.of(arm).tolist() == rewards[arms == arm].tolist()
