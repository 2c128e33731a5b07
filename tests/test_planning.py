"""Plans: their numbers are those of `replicate` and `lower_bound`, and they know what they do not know."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import json
import math
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from rich.console import Console
from typer.testing import CliRunner

import ramgape
from ramgape import InvalidSpec, Plan, PullForecast, Quality, RamgapeWarning, Run
from ramgape.cli import app
from ramgape.common import terminal
from ramgape.search.simulator import Simulator
from ramgape.simulation import plan as planning
from ramgape.views import forecast

CONFIDENCE: dict[str, Any] = {
    "epsilon": 0.05,
    "delta": 0.05,
    "epsilons": [0.1, 0.02, 0],
    "deltas": [0.2],
    "runs": 12,
    "seed": 3,
}
TIE = {
    "noise": "gaussian",
    "arms": [{"name": name, "distribution": "gaussian", "mean": 0.5, "variance": 0.1} for name in ("[red]", "日本")],
}


@pytest.fixture(scope="module")
def confidence() -> Plan:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RamgapeWarning)
        return ramgape.plan("paper:46", **CONFIDENCE)


@pytest.fixture(scope="module")
def budget() -> Plan:
    return ramgape.plan("paper:46", budget=1000, epsilon=0.05, runs=20, seed=3)


@pytest.fixture
def no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower bounds take most of the time; where they do not matter, there are none."""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)


def row_of(plan: Plan, epsilon: float, delta: float) -> PullForecast:
    (row,) = [row for row in plan.trials if (row.epsilon, row.delta) == (epsilon, delta)]
    return row


def numbers_of(plan: Plan) -> dict[str, Any]:
    return {key: value for key, value in plan.to_dict().items() if key != "seconds"}


# ------------------------------------------------------------------------------------- confidence


def test_the_numbers_are_those_of_replicate(confidence: Plan) -> None:
    row = confidence.chosen
    assert isinstance(row, PullForecast)
    assert (row.epsilon, row.delta) == (0.05, 0.05)
    expected = ramgape.replicate("paper:46", runs=12, seed=3, epsilon=0.05, delta=0.05)
    samples = sorted(run.samples for run in expected.runs)
    assert (row.runs, row.undecided, row.skipped, row.more_than) == (12, 0, None, None)
    assert (row.mean, row.stderr) == (expected.mean_samples, expected.mean_samples_stderr)
    assert (row.errors, row.error_interval) == (expected.errors, expected.error_interval)
    assert (row.quantile_10, row.quantile_50, row.quantile_90) == (samples[1], samples[5], samples[10])
    assert row.largest == samples[-1]
    for arm in confidence.arms:
        pulls = sum(run.pulls[arm.name] for run in expected.runs)
        assert arm.pulls == pulls / 12
        assert arm.share == pulls / sum(samples)
        assert arm.returned == sum(arm.name in run.front for run in expected.runs) / 12
        assert arm.in_front == (arm.name in expected.true_front)
    assert confidence.guessed_front == expected.true_front


def test_quantiles_are_runs_and_never_too_early() -> None:
    def run(samples: int, stopped: str) -> Run:
        return Run(0, samples, (), stopped, {}, 0.0, exact=True, eps_correct=True, seconds=0.0)

    runs = tuple(run(samples, "confidence") for samples in range(70, 0, -1))
    assert [planning._quantile(runs, percent) for percent in (10, 50, 90)] == [7, 35, 63]
    # One that gave up at 5 was not done at 5.
    capped = (run(5, "cap"), run(5, "confidence"), run(4, "confidence"))
    assert [planning._quantile(capped, percent) for percent in (10, 50, 90)] == [4, 5, None]


@pytest.mark.long
def test_the_lower_bounds_are_those_of_the_theory(confidence: Plan) -> None:
    for row in confidence.trials:
        bound = ramgape.lower_bound("paper:46", epsilon=row.epsilon, delta=row.delta)
        assert row.lower_bound == pytest.approx(bound.samples)
        assert row.mean is not None
        assert row.ratio == pytest.approx(row.mean / (bound.samples or math.nan))
    chosen = ramgape.lower_bound("paper:46", epsilon=0.05)
    assert {arm.name: arm.ideal_share for arm in confidence.arms} == chosen.allocation
    assert confidence.bound_note == chosen.note


def test_all_goals_are_there_and_harder_ones_take_more(confidence: Plan) -> None:
    goals = [(row.epsilon, row.delta) for row in confidence.trials]
    assert goals == [(epsilon, delta) for epsilon in (0.1, 0.05, 0.02, 0.0) for delta in (0.2, 0.05)]
    for row in confidence.trials:
        for harder in confidence.trials:
            if harder.epsilon < row.epsilon and harder.delta <= row.delta:
                assert row.mean is not None
                assert harder.mean is not None
                assert harder.mean > row.mean


@pytest.mark.usefixtures("no_scipy")
def test_the_usual_goals() -> None:
    plan = ramgape.plan("paper-gaussian:46", runs=1, max_trials=2000)
    assert sorted({row.epsilon for row in plan.trials}) == [0.0, 0.0125, 0.025, 0.05, 0.1]
    assert sorted({row.delta for row in plan.trials}) == [0.01, 0.05, 0.1]
    assert (plan.goal.epsilon, plan.goal.delta) == (0.05, 0.05)
    exact = ramgape.plan("paper:46", epsilon=0, deltas=[], runs=1, max_trials=2000)
    # An epsilon of 0.1 asks for nothing here, and is left out.
    assert [row.epsilon for row in exact.trials] == [0.05, 0.025, 0.0125, 0.0]
    first = ramgape.plan("paper:46", epsilons=[0.05, 0.02], deltas=[0.2, 0.1], runs=1)
    assert (first.goal.epsilon, first.goal.delta) == (0.05, 0.2)


@pytest.mark.usefixtures("no_scipy")
def test_an_executor_changes_nothing() -> None:
    asked: Any = {"epsilons": [0.05, 0.03], "deltas": [0.1], "runs": 7}
    with ThreadPoolExecutor(2) as executor:
        other = ramgape.plan("paper:46", executor=executor, **asked)
    assert numbers_of(other) == numbers_of(ramgape.plan("paper:46", **asked))


def test_costs_are_rewards_turned_round() -> None:
    """The options reach both the simulation and the bound."""
    options: Any = {"epsilon": 0.05, "direction": "minimize", "rho": 0.3, "alpha": 0.2}
    plan = ramgape.plan("paper:46", epsilons=[], deltas=[], runs=2, **options)
    expected = ramgape.replicate("paper:46", runs=2, **options)
    assert isinstance(plan.chosen, PullForecast)
    assert plan.chosen.mean == expected.mean_samples
    assert plan.chosen.lower_bound == pytest.approx(ramgape.lower_bound("paper:46", **options).samples)


# ------------------------------------------------------------------------------------------- caps


def test_a_search_that_gave_up_is_no_answer() -> None:
    plan = ramgape.plan("paper:46", epsilon=0.05, epsilons=[], deltas=[], runs=10, seed=3, max_trials=2100)
    expected = ramgape.replicate("paper:46", runs=10, seed=3, epsilon=0.05, max_trials=2100)
    row = plan.chosen
    assert isinstance(row, PullForecast)
    assert 0 < row.undecided == 10 - len(expected.ended) < 10
    assert (row.mean, row.stderr, row.largest, row.quantile_90, row.ratio) == (None, None, None, None, None)
    assert row.quantile_10 == min(run.samples for run in expected.runs if run.stopped != "cap")
    assert row.more_than == expected.mean_samples
    assert row.error_interval == expected.error_interval
    text = str(plan)
    assert f"more than {row.more_than:,.0f} trials" in text
    assert f"{row.undecided} of 10 simulated searches gave up after 2,100, undecided" in " ".join(text.split())
    assert "> 2,100" in text


def test_where_no_first_run_is_done_nothing_harder_is_tried() -> None:
    plan = ramgape.plan(
        "paper:46", epsilon=0.05, delta=0.05, epsilons=[0.04, 0], deltas=[0.1], runs=50, max_trials=1000
    )
    by_goal = {(row.epsilon, row.delta): row for row in plan.trials}
    hopeless = by_goal[0.05, 0.1]
    assert (hopeless.runs, hopeless.undecided, hopeless.more_than) == (planning.FIRST_RUNS, planning.FIRST_RUNS, 1000.0)
    assert hopeless.error_rate is None
    for goal in ((0.05, 0.05), (0.04, 0.1), (0.04, 0.05)):
        assert (by_goal[goal].runs, by_goal[goal].skipped, by_goal[goal].more_than) == (0, "easier goal", 1000.0)
    exact = by_goal[0.0, 0.05]
    assert (exact.runs, exact.skipped, exact.more_than) == (0, "lower bound", exact.lower_bound)
    assert all(arm.pulls is None and arm.share is None and arm.returned is None for arm in plan.arms)
    text = " ".join(str(plan).split())
    assert "more than 1,000 on average; not simulated (no search was done before max_trials" in text


def test_nothing_is_simulated_where_a_lower_bound_is_above_the_cap() -> None:
    asked: Any = {"epsilon": 0, "epsilons": [], "deltas": [], "runs": 2, "max_trials": 2000}
    row = ramgape.plan("paper-gaussian:46", **asked).chosen
    assert isinstance(row, PullForecast)
    assert (row.runs, row.skipped, row.lower_bound_exact) == (0, "lower bound", True)
    assert row.more_than == row.lower_bound
    text = " ".join(str(ramgape.plan("paper-gaussian:46", **asked)).split())
    assert "because no method could be done before max_trials" in text
    # This one need not be right whatever the variances are.
    row = ramgape.plan("paper-gaussian:46", bound="gaussian-paper", **asked).chosen
    assert isinstance(row, PullForecast)
    assert (row.runs, row.undecided, row.skipped) == (2, 2, None)


@pytest.mark.long
def test_long_searches_have_fewer_runs() -> None:
    plan = ramgape.plan("paper:46", epsilon=0.05, delta=0.05, deltas=[0.1], epsilons=[], runs=40, max_trials=5_000)
    other, chosen = plan.trials
    first = ramgape.replicate("paper:46", runs=planning.FIRST_RUNS, epsilon=0.05, delta=0.05)
    assert chosen.runs == int(planning.CHOSEN_WORK * 5_000 / first.mean_samples)
    assert planning.FEWEST_RUNS < chosen.runs < 40
    assert other.runs == planning.FEWEST_RUNS
    assert "fewer than 40 runs where searches are long" in str(plan)


def test_a_tie_is_told() -> None:
    plan = ramgape.plan(TIE, epsilon=0, epsilons=[0.2], deltas=[], runs=3)
    row = plan.chosen
    assert isinstance(row, PullForecast)
    assert (row.skipped, row.runs, row.mean, row.more_than, row.lower_bound) == ("tie", 0, None, None, None)
    text = str(plan)
    assert "no number of trials suffices for the exact Pareto set" in text
    assert "never" in text
    assert row_of(plan, 0.2, 0.05).mean is not None


# ----------------------------------------------------------------------------------------- budget


def test_the_quality_of_a_budget(budget: Plan) -> None:
    assert [row.budget for row in budget.qualities] == [250, 500, 1000, 2000, 4000]
    row = budget.chosen
    assert isinstance(row, Quality)
    expected = ramgape.replicate("paper:46", runs=20, seed=3, budget=1000, epsilon=0.05)
    regrets = [run.regret for run in expected.runs]
    assert row.regret == pytest.approx(sum(regrets) / 20)
    assert row.inexact == sum(not run.exact for run in expected.runs)
    assert (row.beyond_epsilon, row.beyond_epsilon_interval) == (expected.errors, expected.error_interval)
    low, high = row.inexact_interval
    assert low <= row.inexact_rate <= high
    for arm in budget.arms:
        assert arm.returned == sum(arm.name in run.front for run in expected.runs) / 20
    assert budget.trials == ()


def test_without_an_epsilon_only_exact_answers_count() -> None:
    """The default epsilon of a budget sets how much it explores, and nobody asked for it."""
    plan = ramgape.plan("paper:46", budgets=[40, 30], runs=3)
    assert plan.goal.budget == 40
    assert [(row.budget, row.beyond_epsilon) for row in plan.qualities] == [(30, None), (40, None)]
    # A quarter of it would be too few for two pulls of each arm.
    assert [row.budget for row in ramgape.plan("paper:46", budget=60, runs=1).qualities] == [30, 60, 120, 240]


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": -1}, "epsilon must be a finite number of at least 0, or a pair (mean, risk), got -1"),
        ({"epsilons": [0.1, "x"]}, "epsilon must be a finite number of at least 0, a pair (mean, risk), or a share"),
        ({"epsilons": 0.1}, "epsilons must be a sequence of numbers, got 0.1"),
        ({"epsilons": "0.1"}, "epsilons must be a sequence of numbers, got '0.1'"),
        ({"deltas": [1.5]}, "delta must be between 0 and 1, both excluded, got 1.5"),
        ({"budgets": [5]}, "budget must be a whole number of at least 20"),
        ({"budgets": []}, "budgets must be at least one, or a budget given beside them"),
        ({"budget": 100, "epsilons": [0.1]}, "epsilons must be absent under a budget"),
        ({"budget": 100, "deltas": [0.1]}, "deltas must be absent under a budget"),
        ({"budget": 100, "delta": 0.1}, "delta must not be given together with budget"),
        ({"runs": 0}, "runs must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be"),
        ({"callback": 3}, "callback must be a function"),
        ({"max_trials": 3}, "max_trials must be a whole number of at least 20"),
        ({"noise": "gaussian"}, "assumption must be absent"),
    ],
)
def test_bad_input(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        ramgape.plan("paper:46", **options)
    assert words in str(caught.value)


@pytest.mark.usefixtures("no_scipy")
def test_an_epsilon_that_asks_for_nothing_is_told_once() -> None:
    with pytest.warns(RamgapeWarning, match="epsilon 0.09 exceeds") as told:
        plan = ramgape.plan("paper:46", epsilon=0.2, epsilons=[0.1, 0.09, 0.05], runs=1)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert plan.warnings == (str(told[0].message),)
    assert "Warning: epsilon 0.09 exceeds" in str(plan)


# ------------------------------------------------------------------------------ without a lower bound


@pytest.mark.usefixtures("no_scipy")
def test_without_scipy() -> None:
    plan = ramgape.plan("paper:46", epsilon=0.05, deltas=[], runs=2)
    assert all(row.lower_bound is None and row.ratio is None for row in plan.trials)
    assert all(row.mean is not None for row in plan.trials)
    assert all(arm.ideal_share is None for arm in plan.arms)
    assert 'pip install "ramgape[theory]"' in plan.bound_note
    text = str(plan)
    assert plan.bound_note in " ".join(text.split())
    assert "ratio" not in text
    assert isinstance(plan.plot().figure, Figure)


def test_a_constant_arm_that_is_declared_gaussian_has_no_lower_bound() -> None:
    arms = [
        {"name": "steady", "distribution": "data", "values": [0.5]},
        {"name": "coin", "distribution": "bernoulli", "p": 0.3},
    ]
    asked: dict[str, Any] = {"epsilon": 0.05, "epsilons": [], "deltas": [], "runs": 2}
    plan = ramgape.plan({"noise": "gaussian", "arms": arms}, **asked, max_trials=1000)
    assert plan.bound_note.startswith("the variance of arm 'steady' must be above 0")
    plan = ramgape.plan({"reward_range": [0, 1], "arms": arms}, **asked)
    assert isinstance(plan.chosen, PullForecast)
    assert plan.chosen.mean is not None
    assert plan.chosen.ratio is not None
    assert plan.chosen.ratio > 1.0


# ------------------------------------------------------------------------------- JSON, text, pictures

CONTRACT = {
    "schema_version": int,
    "versions": dict,
    "instance": str,
    "goal": dict,
    "policy": str,
    "bound": str,
    "rho": float,
    "alpha": float,
    "direction": str,
    "max_trials": int,
    "runs": int,
    "seed": int,
    "guessed_front": list,
    "chosen": dict,
    "trials": list,
    "qualities": list,
    "arms": list,
    "bound_note": str,
    "seconds": float,
    "warnings": list,
}
TRIALS = """epsilon delta runs undecided skipped mean stderr quantile_10 quantile_50 quantile_90 largest more_than
    errors error_rate error_interval lower_bound ratio lower_bound_exact"""
QUALITY = """budget runs regret regret_stderr inexact inexact_rate inexact_interval beyond_epsilon beyond_epsilon_rate
    beyond_epsilon_interval"""


def test_the_dictionary_is_json(confidence: Plan, budget: Plan) -> None:
    for plan, row in ((confidence, TRIALS), (budget, QUALITY)):
        described = plan.to_dict()
        assert json.loads(json.dumps(described, allow_nan=False)) == described
        assert {key: type(described[key]) for key in CONTRACT} == CONTRACT
        assert list(described["chosen"]) == row.split()
        assert described["chosen"] in described["trials"] + described["qualities"]
        assert [arm["name"] for arm in described["arms"]] == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_fits_and_says_what_it_rests_on(confidence: Plan, budget: Plan, width: int) -> None:
    for plan in (confidence, budget):
        console = Console(file=io.StringIO(), width=width)
        console.print(plan)
        assert isinstance(console.file, io.StringIO)
        lines = console.file.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        words = " ".join(line.strip("│ ") for line in lines)
        assert "if the arms are as guessed" in words
        assert "…" not in words
    assert str(confidence).replace("±", "").isascii()
    assert "the guarantee holds all the same" in " ".join(str(confidence).split())
    assert "a budget comes with no guarantee" in " ".join(str(budget).split())
    assert repr(confidence).startswith("<Plan: paper:46: about ")
    assert repr(budget).startswith("<Plan: paper:46: 1,000 trials return exactly the Pareto set with probability ")


def test_names_are_no_markup_and_many_arms_are_cut() -> None:
    assert "[red]" in str(ramgape.plan(TIE, epsilon=0.2, epsilons=[], deltas=[], runs=1))
    many = ramgape.plan("paper:exp4", budget=300, budgets=[], runs=1)
    assert "... and 50 more" in str(many)
    shown = forecast.most_important(many.arms)
    assert sum(arm.in_front for arm in shown) == len(many.guessed_front)


def test_the_picture_of_trials(confidence: Plan, tmp_path: Path) -> None:
    (axes,) = confidence.plot().figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "0.02", "0.05", "0.1"]
    drawn = {round(float(y), 6) for line in axes.get_lines() for y in line.get_ydata()}
    for row in confidence.trials:
        assert round(row.mean or 0.0, 6) in drawn
        assert round(row.lower_bound or 0.0, 6) in drawn
    legend = axes.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["δ = 0.05", "δ = 0.2", "10% to 90% of the searches", "lower bound", "reference"]
    confidence.save_plot(tmp_path / "plan.svg")
    assert "<svg" in (tmp_path / "plan.svg").read_text(encoding="utf-8")


def test_the_picture_of_what_is_not_known() -> None:
    plan = ramgape.plan("paper:46", epsilon=0.05, epsilons=[0], deltas=[], runs=1, max_trials=100)
    (axes,) = plan.plot().figure.axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "δ = 0.05",
        "lower bound",
        "reference",
        "more than this",
    ]
    (axes,) = ramgape.plan(TIE, epsilon=0, epsilons=[], deltas=[], runs=1).plot().figure.axes
    assert [text.get_text() for text in axes.texts] == ["no number\nsuffices"]


@pytest.mark.usefixtures("no_scipy")
def test_the_picture_of_many_epsilons() -> None:
    epsilons = [0.01 * step for step in range(9)]
    (axes,) = ramgape.plan("paper:46", epsilons=epsilons, deltas=[], runs=1, max_trials=100).plot().figure.axes
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {60.0}


def test_the_picture_of_a_budget(budget: Plan) -> None:
    upper, lower = budget.plot().figure.axes
    assert list(upper.get_lines()[0].get_ydata()) == [row.regret for row in budget.qualities]
    inexact, beyond = lower.get_lines()
    assert list(inexact.get_ydata()) == [row.inexact_rate for row in budget.qualities]
    assert list(beyond.get_ydata()) == [row.beyond_epsilon_rate for row in budget.qualities]
    assert [label.get_text() for label in lower.get_xticklabels()] == ["250", "500", "1k", "2k", "4k"]
    plain = ramgape.plan("paper:46", budget=40, budgets=[], runs=1)
    assert plain.plot().figure.axes[1].get_legend() is None


# ------------------------------------------------------------------------------------- the command


def call(*arguments: str) -> Any:
    environment = {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "TERMINAL_WIDTH": None}
    return CliRunner().invoke(app, ["plan", *arguments], env=environment)


ASKED = ("paper:46", "--epsilon", "0.05", "--epsilons", "0.04, 0", "--deltas", "0.1", "--runs", "3", "--seed", "3")


def test_the_command_prints_the_library_s_numbers() -> None:
    result = call(*ASKED, "--jobs", "1", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = ramgape.plan("paper:46", epsilon=0.05, epsilons=[0.04, 0], deltas=[0.1], runs=3, seed=3)
    printed = json.loads(result.stdout)
    assert {key: printed[key] for key in numbers_of(expected)} == numbers_of(expected)


def test_the_command_shows_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_watched", lambda: True)
    file = tmp_path / "plan.png"
    result = call(*ASKED, "--plot", str(file))
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "if the arms are as guessed" in result.stdout
    assert "0.1 *" in result.stdout
    assert file.read_bytes().startswith(b"\x89PNG")
    assert "written: " in result.stderr
    shown = call("paper:46", "--budget", "1e2", "--runs", "2").stdout
    assert "100 trials return exactly the Pareto set" in shown


@pytest.mark.usefixtures("no_scipy")
def test_the_command_tells_a_warning_once() -> None:
    result = call("paper:46", "--epsilon", "0.1", "--epsilons", "0.2,0.1", "--runs", "1")
    assert result.exit_code == 0
    assert result.stderr.count("warning: epsilon 0.1 exceeds") == 1
    assert "exceeds" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--epsilons", "0.1;0.2"), "epsilons must be numbers with commas between them, got '0.1;0.2'"),
        (("--budgets", ""), "budgets must be numbers with commas between them, got ''"),
        (("--epsilon", "small"), "epsilon must be a number, got 'small'"),
        (("--jobs", "-1"), "jobs must be a whole number of at least 0"),
        (("--runs", "0"), "runs must be a whole number of at least 1, got 0"),
        (("--budget", "100", "--deltas", "0.1"), "deltas must be absent under a budget, got [0.1]"),
        (("--plot", "none/plan.png"), "plot must be in a folder that exists"),
    ],
)
def test_the_command_complains(arguments: tuple[str, ...], words: str) -> None:
    result = call("paper:46", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {words}")


def test_the_command_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert 'pip install "ramgape[plot]"' in call("paper:46", "--plot", "plan.png").stderr


def test_progress_goes_from_nothing_to_all() -> None:
    seen: list[tuple[float, float, str]] = []
    asked: Any = {"epsilon": 0.05, "delta": 0.05, "epsilons": [0], "deltas": [0.1], "runs": 7}
    ramgape.plan("paper:46", **asked, callback=lambda *news: seen.append(news))
    done = [part / whole for part, whole, _ in seen]
    assert done == sorted(done)
    assert 0.0 < done[0] < 0.1
    assert done[-1] == pytest.approx(1.0)
    assert [words for *_, words in seen[::7]] == [
        "epsilon 0.05, delta 0.1",
        "epsilon 0.05, delta 0.05",
        "epsilon 0, delta 0.1",
        "epsilon 0, delta 0.05",
    ]


def test_two_tolerances_keep_their_ratio() -> None:
    pair = ramgape.plan("paper:46", epsilon=(0.04, 0.16), epsilons=[0.06], deltas=[], runs=5)
    scaled = ramgape.plan("paper:46", epsilon=0.04, alpha=0.25, epsilons=[0.06], deltas=[], runs=5)
    assert [row.epsilon for row in pair.trials] == [0.06, 0.04]
    assert [row.mean for row in pair.trials] == [row.mean for row in scaled.trials]
    assert [row.lower_bound for row in pair.trials] == pytest.approx([row.lower_bound for row in scaled.trials])
    assert pair.goal.risk_epsilon == 0.16
    with pytest.raises(ramgape.InvalidSpec, match="each of epsilons must be a number"):
        ramgape.plan("paper:46", epsilon=(0.04, 0.16), epsilons=[(0.1, 0.1)], runs=5)


LONG_DELAYS: dict[str, Any] = {
    "noise": "any",
    "arms": [
        {"name": "bus", "distribution": "exponential", "scale": 10},
        {"name": "walk", "distribution": "gaussian", "mean": 16, "variance": 4},
    ],
}


def test_a_share_of_the_smallest_mean_is_told_wherever_a_guess_is_simulated() -> None:
    planned = ramgape.plan(LONG_DELAYS, epsilon="10%", direction="minimize", epsilons=[], deltas=[], runs=5)
    assert (planned.goal.epsilon, planned.goal.epsilon_share, planned.rigour) == (1.0, 0.1, "approximate")
    text = " ".join(str(planned).split())
    assert "an answer within 1 approximately with probability 0.95" in text
    assert "10% of the reward range, or without one of the smallest absolute mean" in text
    assert [(arm.mean, arm.std, arm.risk_shown) for arm in planned.arms] == [(10.0, 10.0, 10.0), (16.0, 2.0, 2.0)]
    assert planned.bound_note.startswith("noise must be bounded or gaussian for a lower bound")
    assert ramgape.lower_bound({**LONG_DELAYS, "noise": "gaussian"}, epsilon="10%").epsilon == 1.0
    many = ramgape.replicate(LONG_DELAYS, epsilon="10%", runs=2)
    shown = " ".join(str(many).split())
    assert "(epsilon=10%, delta=0.05)" in shown
    assert "answers beyond epsilon" in shown
    assert (many.rigour, many.to_dict()["rigour"]) == ("approximate", "approximate")


# ------------------------------------------------------------------------------ without the compiler


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """In some seconds instead of a minute, which has the same parts."""
    monkeypatch.setattr("ramgape.simulation.pace.has_compiler", lambda: False)
    monkeypatch.setattr("ramgape.search.simulator.has_compiler", lambda: False)
    monkeypatch.setattr("ramgape.search.engine.simulator", Simulator)  # not what another test has compiled
    for module in ("pace", "plan"):
        monkeypatch.setattr(f"ramgape.simulation.{module}.SECONDS", 6.0)
    monkeypatch.setattr("ramgape.simulation.pace.LONGEST", 2.0)


@pytest.mark.usefixtures("no_scipy", "no_compiler")
def test_without_the_compiler_a_plan_makes_fewer_runs_and_says_how_few() -> None:
    options: dict[str, Any] = {"epsilon": 0.08, "epsilons": [0.08, 0.07], "deltas": [0.05], "runs": 1000}
    begun = time.perf_counter()
    with pytest.warns(RamgapeWarning, match="without Numba") as told:
        plan = ramgape.plan("paper:46", **options)
    assert time.perf_counter() - begun < 20.0
    chosen = plan.chosen
    assert isinstance(chosen, PullForecast)
    assert 1 <= chosen.runs < 1000
    (words,) = (str(each.message) for each in told)
    assert f"{chosen.runs} of 1,000 searches of the chosen goal" in words
    assert plan.warnings == (words,)
    assert 'pip install "ramgape[fast]"' in " ".join(str(plan).split())


@pytest.mark.usefixtures("no_scipy", "no_compiler")
def test_without_the_compiler_runs_are_the_same_and_short() -> None:
    options: dict[str, Any] = {"epsilon": 0.08, "deltas": [], "epsilons": [], "seed": 3}
    with pytest.warns(RamgapeWarning, match="without Numba"):
        plan = ramgape.plan("paper:46", runs=2, **options)
    made = ramgape.replicate("paper:46", epsilon=0.08, runs=2, seed=3, max_trials=plan.max_trials)
    assert math.fsum(arm.pulls or 0.0 for arm in plan.arms) == pytest.approx(made.mean_samples)
    with pytest.warns(RamgapeWarning, match="searches gave up after"):
        hard = ramgape.plan("paper:46", runs=1000, **{**options, "epsilon": 1e-6})
    assert isinstance(hard.chosen, PullForecast)
    assert (hard.chosen.runs, hard.chosen.undecided) == (2, 2)


@pytest.mark.usefixtures("no_compiler")
def test_without_the_compiler_budgets_that_take_too_long_are_left_out() -> None:
    with pytest.warns(RamgapeWarning, match=r"the regret is known up to .* \(95%\); pip"):
        plan = ramgape.plan("paper:46", budget=400, budgets=[200, 10**6], runs=1000)
    assert [row.budget for row in plan.qualities] == [200, 400]
    assert all(1 <= row.runs < 1000 for row in plan.qualities)
    with pytest.raises(ramgape.MissingExtra, match=r'budget of 100,000,000: pip install "ramgape\[fast\]"'):
        ramgape.plan("paper:46", budget=10**8, budgets=[], runs=10)


def test_goals_without_time_are_told(confidence: Plan) -> None:
    rows = (*confidence.trials[:-1], dataclasses.replace(confidence.trials[-1], skipped="time", runs=0, mean=None))
    rows = (*rows[:-1], dataclasses.replace(rows[-1], more_than=None, stderr=None, ratio=None))
    assert "not simulated, because simulations take long without Numba" in str(
        dataclasses.replace(confidence, trials=rows)
    )
