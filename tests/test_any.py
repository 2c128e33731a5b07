"""Rewards of any kind: what is said of them is approximate, says so, and is nearly as often right as it says."""

from __future__ import annotations

import csv
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Arm, Bernoulli, Beta, Data, Gaussian, Instance, Result, Study, Uniform, analyze, identify, simulate
from ramgape.assumptions import ASSUMPTIONS, FEWEST
from ramgape.bounds import BOUNDS, central_limit
from ramgape.commands.study_files import read_study_file
from ramgape.core.statistics import FEWEST_PULLS
from ramgape.options import Options
from ramgape.problems.unbounded import Exponential, Gamma, LogNormal, StudentT
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.spec import make_spec
from ramgape.simulation.truth import TrueArms
from ramgape.views.plots.answers import title_of
from tests.cli_support import call_json, complaint
from tests.misses import FAMILIES, FIRST_LOOKS, LEVELS, misses, shares

NAMES = ["steady", "bold", "poor"]
APPROXIMATELY = "Approximately, with probability 0.95, "


def instance_of(*arms: Any) -> Instance:
    return Instance("any", tuple(Arm(f"arm {place}", arm) for place, arm in enumerate(arms)), None, "any")


def fed(rewards: Any, **options: Any) -> Engine:
    """A search over two arms of which the first has shown these rewards."""
    engine = Engine(make_spec(["a", "b"], **{"epsilon": 0.1, "bound": "central-limit", **options}))
    engine.learn_many(np.zeros(len(rewards), np.int64), np.asarray(rewards, float), may_stop=False)
    engine.make_boxes()
    return engine


def box_of(engine: Engine) -> list[float]:
    return [float(engine.arms[side][0]) for side in ("mean_low", "mean_high", "risk_low", "risk_high")]


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_a_range_alone_is_bounded_and_nothing_is_any() -> None:
    assert make_spec(NAMES, epsilon=0.1).assumption == "unknown"
    assert make_spec(NAMES, epsilon=0.1, noise="any") == make_spec(NAMES, epsilon=0.1)
    assert make_spec(NAMES, epsilon=0.1, reward_range=(0, 1)).assumption == "bounded"
    spec = make_spec(NAMES, epsilon=0.1)
    assert (spec.bound, spec.policy) == ("central-limit-pairwise", "evidence")
    assert make_spec(NAMES, epsilon=0.1, policy="ramgape").bound == "central-limit"
    names = "central-limit", "central-limit-pairwise", "gaussian", "paper"
    assert [BOUNDS[name].rigour for name in names] == ["approximate"] * 2 + ["proved"] * 2
    assert FEWEST == FEWEST_PULLS  # written down twice, because one is part of compiled code


def test_first_looks_are_the_noises_own_unless_stated() -> None:
    spec = make_spec(NAMES, epsilon=0.1)
    assert (spec.initial_trials, spec.first_looks) == (10, ASSUMPTIONS["unknown"].first_looks) == (10, (10, 20))
    spec = make_spec(NAMES, epsilon=0.1, initial_trials=5)
    assert (spec.initial_trials, spec.first_looks) == (5, (5, 5))
    spec = make_spec(NAMES, budget=20)  # a budget may be less than the first looks of all arms
    assert (spec.initial_trials, spec.first_looks) == (2, (10, 20))
    spec = make_spec(NAMES, epsilon=0.1, reward_range=(0, 1))
    assert (spec.initial_trials, spec.first_looks) == (2, (2, 2))


def test_commands_and_study_files_need_no_range(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rewards = np.random.default_rng(12).normal((0.0, 3.0), size=(60, 2))
    log.write_text("arm,reward\n" + "".join(f"a,{low}\nb,{high}\n" for low, high in rewards), encoding="utf-8")
    columns = ("--arm-column", "arm", "--reward-column", "reward")
    printed = call_json("analyze", str(log), *columns)
    assert (printed["details"]["noise"], printed["details"]["rigour"]) == ("unknown", "approximate")
    assert "at both ends" in complaint("analyze", str(log), *columns, "--reward-range", "0", "inf")
    file = tmp_path / "mine.toml"
    arms = '[arms]\nlow = "echo 1"\nhigh = "echo 2"\n'
    file.write_text(f"[study]\nepsilon = 0.1\n{arms}", encoding="utf-8")
    assert make_spec(NAMES, **read_study_file(file).options).assumption == "unknown"
    timing = '[study]\nepsilon = 0.1\nreward = "elapsed"\ntimeout = 2\n'
    for stated, noise in (("", "unknown"), ("bounded", "bounded"), ("gaussian:resolution=1", "gaussian")):
        line = f'noise = "{stated}"\n' if stated else ""
        file.write_text(f"{timing}{line}{arms}", encoding="utf-8")
        options = {key: value for key, value in read_study_file(file).options.items() if key in Options.__annotations__}
        assert make_spec(NAMES, **options).assumption == noise


# --- boxes ------------------------------------------------------------------------------------------------------------


def wanted_box(rewards: Any, level: float) -> list[float]:
    """The same in plain numbers, from the rewards themselves."""
    rewards = np.asarray(rewards, float)
    n, mean, deviation = len(rewards), rewards.mean(), rewards.std()
    prior = central_limit.PRIOR

    def reach(ratio: float, spread: float, skew: float) -> float:
        return max(np.roots([1.0, -ratio * skew, -ratio * spread]))

    logarithm = (math.log((n + prior) / prior) + 2 * level) / n
    ratio = math.expm1(logarithm) / (1 - math.exp(logarithm) * prior / (n + prior))
    lean = ((rewards - mean) ** 3).mean() / deviation**2
    low, high = reach(ratio, deviation**2, max(-lean, 0)), reach(ratio, deviation**2, max(lean, 0))
    squares = (rewards - mean) ** 2
    spread = squares.var() / (4 * deviation**2)
    lean = ((squares - squares.mean()) ** 3).mean() / squares.var()
    lean = (lean - squares.var() / deviation**2) / (2 * deviation)
    spread = (n * spread + 30 * deviation**2) / (n + 30)
    ratio = (n + prior) / n**2 * (math.log((n + prior) / prior) + 2 * level)
    above = reach(ratio, spread, 1.5 * (n * max(lean, 0) + 60 * 4 * deviation) / (n + 60))
    below = reach(ratio, spread, -min(0.5 * lean * n / (n + 30), math.sqrt(spread)) if lean > 0 else -lean)
    return [mean - low, mean + high, deviation - below, deviation + above]


@pytest.mark.parametrize("law", ["normal", "exponential", "random", "standard_cauchy"])
@pytest.mark.parametrize("count", [20, 101, 2_000])
def test_boxes_are_what_the_formulas_say(law: str, count: int) -> None:
    rewards = getattr(np.random.default_rng(1), law)(size=count)
    engine = fed(rewards)
    assert box_of(engine) == pytest.approx(wanted_box(rewards, math.log(2 * 2 / 0.05)), rel=1e-6)


@pytest.mark.parametrize("risk", ["std", "variance", "mean-variance:0.5"])
def test_how_a_spread_grows_is_its_third_moment(risk: str) -> None:
    rewards = np.random.default_rng(2).gamma(2.0, size=300)
    engine = fed(rewards, risk=risk)
    row = engine.arms[0]
    rho = 0.5 if risk.endswith("0.5") else 0.0
    parts = (rewards - rewards.mean()) ** 2 - rho * (rewards - rewards.mean())
    skew = ((parts - parts.mean()) ** 3).mean() / parts.var()
    if risk == "std":
        skew = (skew - parts.var() / rewards.var()) / (2.0 * rewards.std())
    assert row["risk_skew"] == pytest.approx(float(engine.problem["alpha"][0]) * skew, rel=1e-9)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize(("scale", "offset"), [(1e-6, 0.0), (1.0, 1e6), (1e9, -1e12), (60.0, 1e4)])
def test_nothing_depends_on_units_or_offsets(scale: float, offset: float, direction: str) -> None:
    """In any unit, far from 0 or not: the same box, but for what the numbers themselves have lost."""
    rewards = np.random.default_rng(3).gamma(2.0, size=200)
    plain, moved = (box_of(fed(values, direction=direction)) for values in (rewards, offset + scale * rewards))
    sign = 1.0 if direction == "maximize" else -1.0
    expected = [scale * plain[0] + sign * offset, scale * plain[1] + sign * offset, scale * plain[2], scale * plain[3]]
    lost = 1e-15 * (abs(offset) + scale)
    assert moved == pytest.approx(expected, rel=1e-9, abs=100 * lost)


def test_nothing_is_said_before_the_first_looks() -> None:
    rewards = np.random.default_rng(4).normal(size=30)
    unknown = [-math.inf, math.inf]
    assert box_of(fed(rewards[:9])) == unknown * 2
    assert box_of(fed(rewards[:10]))[2:] == unknown
    assert box_of(fed(rewards[:19]))[2:] == unknown
    assert np.isfinite(box_of(fed(rewards[:19]))[:2]).all()
    assert np.isfinite(box_of(fed(rewards[:20]))).all()
    assert np.isfinite(box_of(fed(rewards[:16], initial_trials=16))).all()


# --- arms whose rewards are all equal ---------------------------------------------------------------------------------

WITH_A_CONSTANT = (Gaussian(1.0, 0.25), Gaussian(2.0, 1.0), Gaussian(0.0, 1.0), Data((1.5, 1.5)))


@pytest.mark.parametrize("policy", ["ramgape", "evidence", "ra-lucb", "round-robin", "psi-unif-elim", "ape"])
def test_a_constant_arm_ends_a_search_that_waits_for_it(policy: str) -> None:
    result = simulate(instance_of(*WITH_A_CONSTANT), epsilon=0.3, risk="std", policy=policy, seed=3, max_trials=20_000)
    assert (result.stopped, result.goal_reached) == ("constant", False)
    assert 1_000 <= result.arm("arm 3").pulls <= 1_010  # a rule of pairs may take it along once more
    assert "all rewards of arm 3 are equal" in result.guarantee
    assert "a stated range (reward_range), or the step to which rewards were rounded" in result.guarantee
    assert result.arm("arm 3").verdict == "open"
    assert "arm 3" in result.front  # nothing speaks against it; nor does it push others out
    assert "arm 1" in result.front
    assert result.arm("arm 3").mean_interval == (-math.inf, math.inf)
    assert result.arm("arm 3").risk_interval == (0.0, math.inf)
    assert {arm.certificate for arm in result.arms if arm.name in result.front} <= {"none"}
    assert result.certified_epsilon is None
    if policy in ("ramgape", "evidence"):  # no pull of another arm helps
        assert result.samples < 1_300


def test_arms_that_are_all_constant_end_a_search_too() -> None:
    result = simulate(instance_of(Data((1.5, 1.5)), Data((2.5, 2.5))), epsilon=0.3, risk="std", max_trials=20_000)
    assert result.stopped == "constant"
    assert 2_000 <= result.samples <= 2_020  # looks are a hundredth of the pulls apart
    assert "each of these arms gave equal rewards only: arm 0, arm 1" in result.guarantee


def constant_or_drawn(generator: np.random.Generator) -> Any:
    return lambda arm: 1.5 if arm == "still" else float(generator.normal({"a": 1.0, "b": 2.0}[arm], 0.5))


def test_studies_end_there_too_and_say_the_same_when_opened_again(tmp_path: Path) -> None:
    arms, options = ["a", "b", "still"], {"epsilon": 0.3, "risk": "std"}
    draw = constant_or_drawn(np.random.default_rng(5))
    assert identify(draw, arms, **options).stopped == "constant"
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    with Study.create("still", arms=arms, storage=storage, seed=1, **options) as study:
        while pulls := study.ask(count=100):
            study.tell_many([(pull, draw(pull.arm)) for pull in pulls])
        told = study.result()
    with Study.load("still", storage=storage) as study:
        again = study.result()
    assert told.stopped == again.stopped == "constant"
    assert (told.samples, told.arms) == (again.samples, again.arms)


def test_an_arm_that_varies_after_all_is_taken_back() -> None:
    engine = fed([1.5] * 1_000)
    assert engine.set_aside.tolist() == [True, False]
    engine.learn_many(np.zeros(1, np.int64), np.array([2.0]), may_stop=False)
    assert engine.set_aside.tolist() == [False, False]
    engine.learn_many(np.zeros(200, np.int64), np.linspace(1.0, 2.0, 200), may_stop=False)
    assert np.isfinite(box_of(engine)).all()


def test_what_was_accepted_while_it_was_set_aside_is_not_proved_when_it_varies_after_all() -> None:
    """With pulls under way a reward that differs may come after the decision: the others were accepted without it."""
    engine = Engine(make_spec(["a", "b"], epsilon=0.3, policy="psi-unif-elim"))
    drawn = np.random.default_rng(6).normal(size=1_000)
    engine.learn_many(np.tile([0, 1], 1_000), np.column_stack([np.full(1_000, 1.5), drawn]).ravel())
    assert engine.stopped == "constant"
    engine.learn_many(np.zeros(200, np.int64), np.linspace(1.4, 1.6, 200), may_stop=False)
    assert not engine.set_aside.any()
    assert not infer(engine).arm("b").certified  # which a beats in both
    assert infer(engine).stopped == "data"


def test_equal_rewards_are_named_where_nothing_waits_for_them() -> None:
    rows = [("a", 1.0)] * 30 + [("b", value) for value in np.linspace(0.0, 1.0, 30)]
    result = analyze(rows).result
    assert (result.stopped, result.noise, result.rigour) == ("data", "unknown", "approximate")
    assert any(warning.startswith("all rewards of a are equal") for warning in result.warnings)


# --- what is said -----------------------------------------------------------------------------------------------------


def easy(**options: Any) -> Result:
    generator = np.random.default_rng(6)
    means = {"steady": 10.0, "bold": 12.0, "poor": 8.0}
    deviations = {"steady": 0.5, "bold": 2.0, "poor": 2.5}

    def pull(arm: str) -> float:
        return float(np.clip(generator.normal(means[arm], deviations[arm]), 0.0, 20.0))

    return identify(pull, NAMES, **{"risk": "std", **options})


def test_results_say_that_they_are_approximate_in_every_view() -> None:
    result = easy(epsilon=0.5)
    assert (result.stopped, result.front, result.rigour) == ("confidence", ("steady", "bold"), "approximate")
    assumed = "for independent draws from one distribution for each arm, with arms independent of each other: "
    assert result.guarantee.startswith(APPROXIMATELY + assumed)
    stored = json.loads(result.to_json())
    assert stored["details"]["rigour"] == "approximate"
    assert stored["certified"]["kind"] == "asymptotic"
    assert Result.from_dict(result.to_dict()) == result
    text, page = str(result), result._repr_html_()
    assert "about 95% sure" in title_of(result, 7.0)
    for shown in (text, page, result.explain()):
        assert "pproximate" in shown
        assert "proved" not in shown.replace("not proved", "")
    assert "With probability at least" not in text


def test_bounded_and_gaussian_results_are_proved() -> None:
    for options in ({"reward_range": (0, 20)}, {"noise": "gaussian"}):
        result = easy(epsilon=1.0, **options)
        assert (result.stopped, result.rigour) == ("confidence", "proved")
        assert result.guarantee.startswith("With probability at least 0.95, ")
        assert "pproximate" not in str(result)


def test_sentences_name_what_may_have_gone_unseen() -> None:
    """In the arm of the answer with the fewest trials, whatever the others have had: 1 - 0.05 ** (1 / 10) is 0.259."""
    rewards = {"A": [0.1, 0.3] * 100, "B": [5.1, 5.3] * 5, "C": [1.1, 1.3] * 60}
    result = analyze(rewards, epsilon=0.5, task="best", alarm="off", shared=False).result
    limit = "n event with probability up to 26% may have gone unseen in the 10 trials of B"
    assert (result.stopped, result.front) == ("confidence", ("B",))
    assert result.guarantee.endswith(f"no arm has a mean 0.5 or more above that of B. A{limit}.")
    assert result.sentence == "Choose B. It has the highest mean (about 95% sure)."
    assert f"A{limit}" in " ".join(result.explain().split())
    assert "large samples" not in " ".join(str(result).split())
    nobody = analyze(rewards, epsilon=0.5, task="better-than:control=B", alarm="off", shared=False).result
    assert (nobody.front, nobody.goal_reached) == ((), True)
    assert nobody.guarantee.endswith(f"A{limit}.")


def test_a_budget_is_judged_approximately_afterwards() -> None:
    result = easy(budget=600)
    assert (result.stopped, result.samples, result.rigour) == ("budget", 600, "approximate")
    assert (result.policy, result.bound, result.interval_bound) == ("evidence", "none", "central-limit-pairwise")
    assert result.guarantee.startswith(APPROXIMATELY)
    assert all(np.isfinite(arm.mean_interval + arm.risk_interval).all() for arm in result.arms)


def test_a_replication_says_so_too() -> None:
    replication = ramgape.replicate(instance_of(*WITH_A_CONSTANT), runs=2, epsilon=0.3, risk="std", seed=1)
    assert replication.ended == ()
    assert "bound central-limit-pairwise (approximate)" in " ".join(str(replication).split())
    assert "2 waited for an arm whose rewards are all equal" in " ".join(str(replication).split())


def test_goals_of_studies_and_plans_say_so_too(tmp_path: Path) -> None:
    with Study.create("any", arms=NAMES, epsilon=0.3, storage=f"sqlite:///{tmp_path}/studies.db") as study:
        assert "an answer within 0.3, approximately with probability 0.95" in " ".join(str(study.report()).split())
    plan = ramgape.plan(instance_of(*WITH_A_CONSTANT[:3]), epsilons=[2.0], runs=1)
    assert "an answer within 2 approximately with probability 0.95" in " ".join(str(plan).split())


# --- the roads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", ["std", "mean-variance:0.1"])
def test_simulated_and_told_rewards_lead_to_the_same_bits(risk: str) -> None:
    instance = instance_of(Exponential(1.0), LogNormal(0.0, 0.5), StudentT(5.0), Gamma(2.0))
    spec = make_spec(instance.names, epsilon=0.3, risk=risk, max_trials=3_000)
    generator, sampler = np.random.default_rng(7), instance.sampler()
    played, told = Engine(spec), Engine(spec)
    trace = np.zeros(3_000, ramgape.core.table.TRACE)
    played.advance(sampler, generator, 3_000, TrueArms(instance, spec).table(), trace)
    generator = np.random.default_rng(7)
    while (arm := told.ask()) is not None:
        told.tell(arm, sampler.draw(sampler.parameters, sampler.values, arm, generator))
    assert (played.samples, played.stopped) == (told.samples, told.stopped)
    assert played.arms.tobytes() == told.arms.tobytes()
    assert played.memory.tobytes() == told.memory.tobytes()
    assert infer(played) == infer(told)


# --- how often it is right --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["Bernoulli(0.1)", "lognormal(0.5)"])
def test_misses_are_hardly_more_than_stated(family: str) -> None:
    """The long test below in small, on the two families that are hardest for mean and std.

    A correct program misses in about .04 of the runs; more than .1 of 400 comes with a chance of about 1e-7.
    """
    for last in misses(FAMILIES[family], 0.05, 400, pulls=1_000, seed=8):
        assert shares(last)[FIRST_LOOKS.index(30)] <= 0.1


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_misses_of_every_family(family: str) -> None:
    """At most twice nominal at .05 from the 30th pull on; at .005 and .001 at most three times, from the 20th.

    With other seeds no family was missed in more than .04, .005 and .0015 of the runs
    (docs/theory/rewards-of-any-kind.md). If the truth is .05, .006 and .002, more than is allowed of 4,000 runs
    comes with a chance of 1e-6 at most.
    """
    for level, look, most in zip(LEVELS, (30, 20, 20), (0.1, 0.015, 0.006), strict=True):
        for last in misses(FAMILIES[family], level, 4_000, seed=9):
            assert shares(last)[FIRST_LOOKS.index(look)] <= most


SHIFTS, SCALES = (0.0, 0.35, 0.1, -0.3, 0.2), (1.0, 1.3, 0.8, 1.1, 0.9)


def five_arms(family: str) -> Instance:
    """Of one family: chances, or the same distribution moved and stretched, in units of its deviation."""
    if family.startswith("Bernoulli"):
        chance = FAMILIES[family].mean
        return instance_of(*(Bernoulli(chance * factor) for factor in (1.0, 1.3, 0.8, 1.1, 0.5)))
    deviation = math.sqrt(FAMILIES[family].variance)

    def moved(shift: float, scale: float) -> Any:
        shift *= deviation
        match FAMILIES[family]:
            case Gaussian(mean, variance):
                return Gaussian(mean + shift, variance * scale**2)
            case Uniform():
                return Uniform(shift, shift + scale)
            case Beta(a, b):
                return Beta(a, b, low=shift, high=shift + scale)
            case Gamma(shape):
                return Gamma(shape, scale=scale, location=shift)
            case Exponential():
                return Exponential(scale=scale, location=shift)
            case LogNormal(mu, sigma):
                return LogNormal(mu, sigma, scale=scale, location=shift)
            case StudentT(df):
                return StudentT(df, scale=scale, location=shift)

    return instance_of(*itertools.starmap(moved, zip(SHIFTS, SCALES, strict=True)))


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_whole_searches_are_wrong_at_most_twice_as_often_as_stated(family: str) -> None:
    """400 searches with epsilon a sixth of a deviation; a correct program is wrong far less often than 2 delta."""
    instance = five_arms(family)
    epsilon = math.sqrt(FAMILIES[family].variance) / 6.0
    outcome = ramgape.replicate(instance, runs=400, epsilon=epsilon, delta=0.05, risk="std", seed=10)
    assert len(outcome.ended) == 400
    assert outcome.errors <= 2 * 0.05 * 400


# --- twelve models ----------------------------------------------------------------------------------------------------


def twelve_models() -> Instance:
    """Accuracies of twelve models, 400 recorded fits each (tests/data/make_twelve_models.py)."""
    path = Path(__file__).parent / "data" / "twelve_models.csv"
    with path.open(encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    right = np.array(rows, float) / 509.0
    arms = (Arm(name, Data(tuple(column))) for name, column in zip(names, right.T.tolist(), strict=True))
    return Instance("twelve models", tuple(arms), None, "any")


def check_twelve_models(runs: int) -> None:
    """Epsilon .01 in mean and std: at most 700 pulls on average, wrong in at most twice delta of the runs.

    Of 200 runs the mean was 501 with a standard error of 6, and none was wrong.
    """
    outcome = ramgape.replicate(twelve_models(), runs=runs, epsilon=0.01, risk="std", seed=11)
    assert outcome.bound == "central-limit-pairwise"
    assert len(outcome.ended) == runs
    assert outcome.mean_samples <= 700
    assert outcome.errors <= 2 * 0.05 * runs


def test_twelve_models_take_few_fits() -> None:
    check_twelve_models(20)


@pytest.mark.long
def test_twelve_models_take_few_fits_on_average() -> None:
    check_twelve_models(200)
