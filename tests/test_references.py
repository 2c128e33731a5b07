"""The least number of trials is called a lower bound only where it is one, and a reference elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ramgape
from ramgape.cli import app
from ramgape.cli.benchmark import benchmark_tables
from ramgape.common.terminal import output
from ramgape.paper import benchmark_stopping, figures
from ramgape.paper.scale import LINE_UPS
from ramgape.paper.section import Section
from ramgape.simulation.forecast import PullForecast
from tests.races import PLACES, TIMES, fake_outcomes

# The square of the distance from the mean is a constant, which makes variances easy to learn: Gaussian arms with these
# means and variances would take 17,368 trials.
TWO_POINTS: dict[str, Any] = {
    "name": "two points",
    "reward_range": [0, 1],
    "arms": [
        {"name": "A", "distribution": "data", "values": [0.55, 0.95]},
        {"name": "B", "distribution": "data", "values": [0.045, 0.455]},
    ],
}
TOO_MUCH = ("lower bound", "no method", "at least about", "can better")


def assert_modest(text: str) -> None:
    """None of what can be said of a bound alone."""
    words = " ".join(text.replace("│", " ").split())
    assert [claim for claim in TOO_MUCH if claim in words] == []


GAUSSIAN: dict[str, Any] = {"name": "declared Gaussian", "noise": "gaussian", "arms": TWO_POINTS["arms"]}
ONCE: dict[str, Any] = {"epsilons": [], "deltas": [], "runs": 2, "seed": 0, "max_trials": 10_000}


def test_no_search_is_below_the_lower_bound() -> None:
    """For laws in the range it is a bound; what Gaussian arms would take is none."""
    planned = ramgape.plan(TWO_POINTS, risk="variance", epsilon=0, **ONCE)
    row = planned.chosen
    assert isinstance(row, PullForecast)
    assert row.lower_bound == pytest.approx(787, rel=0.03)
    assert row.lower_bound_exact is True
    # Searches take 6,100 +- 300: that one of two reaches 10,000 is beyond ten standard deviations.
    assert (row.runs, row.undecided, row.skipped) == (2, 0, None)
    assert row.mean is not None
    assert row.lower_bound < row.mean < 10_000
    assert row.ratio == pytest.approx(row.mean / row.lower_bound)
    words = " ".join(str(planned).split())
    assert f"trials on average, whatever the method; the mean is {row.ratio:.1f} times that" in words
    assert "bound (*) is the lower bound: for rewards of any kind between 0 and 1 it is exact" in words


def test_a_plan_calls_it_a_reference() -> None:
    planned = ramgape.plan(TWO_POINTS, risk="variance", epsilon=0.01, **ONCE)
    assert_modest(str(planned))
    assert_modest(json.dumps(planned.to_dict()))
    words = " ".join(str(planned).split())
    assert "an ideal method would take about" in words
    assert "reference (*) is the reference: for rewards of any kind between 0 and 1 it is asymptotic" in words
    legend = planned.plot().axes.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert_modest("\n".join(texts))
    assert "reference" in texts


def test_rewards_that_are_not_as_declared_have_a_reference() -> None:
    bound = ramgape.lower_bound(GAUSSIAN, risk="variance")
    assert (round(bound.samples or 0.0), bound.exact) == (17_368, False)
    assert_modest(str(bound))


def test_a_plan_tells_bounds_and_references_apart() -> None:
    plan = ramgape.plan("paper-gaussian:46", epsilon=0.05, epsilons=[0], deltas=[], runs=1, max_trials=50_000)
    assert [row.lower_bound_exact for row in plan.trials] == [False, True]
    words = " ".join(str(plan).split())
    assert "reference (*) is the reference: for Gaussian arms" in words
    assert "for epsilon 0 it is the lower bound" in words
    (axes,) = plan.plot().figure.axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][-2:] == ["lower bound", "reference"]
    exact = ramgape.plan("paper-gaussian:46", epsilon=0, epsilons=[], deltas=[], runs=1, max_trials=50_000)
    words = " ".join(str(exact).split())
    assert "Bound: at least about 4,290 trials on average, whatever the method" in words
    assert "bound (*) is the lower bound: for Gaussian arms" in words


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "two.json"
    written.write_text(json.dumps(GAUSSIAN), encoding="utf-8")
    return written


def said(*arguments: str) -> str:
    environment = {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "TERMINAL_WIDTH": None}
    result = CliRunner().invoke(app, list(arguments), env=environment)
    assert result.exit_code == 0, result.output
    assert "--json" in arguments or max(map(len, result.stdout.splitlines())) <= 80
    return result.stdout


def test_the_commands_call_it_a_reference(file: Path) -> None:
    once = ("--epsilons", "0", "--deltas", "0.05", "--runs", "1")
    for arguments in (
        ("lower-bound", str(file), "--rho", "0"),
        ("lower-bound", str(file), "--epsilon", "0.05"),
        ("plan", str(file), "--epsilon", "0", "--risk", "variance", "--max-trials", "1000", *once),
        ("simulate", str(file), "--epsilon", "0.05", "--max-trials", "1000"),
        ("list", "instances"),
        ("list", "bounds"),
        ("benchmark", "--help"),
        ("plan", "--help"),
    ):
        assert_modest(said(*arguments))
    described = json.loads(said("lower-bound", str(file), "--rho", "0", "--json"))
    assert described["exact"] is False
    assert described["samples"] == pytest.approx(17_368, abs=1)


def test_a_tie_is_one_for_rewards_of_every_kind(tmp_path: Path) -> None:
    arms = [{"name": name, "distribution": "bernoulli", "p": 0.3} for name in "AB"]
    tie = tmp_path / "tie.json"
    tie.write_text(json.dumps({"reward_range": [0, 1], "arms": arms}), encoding="utf-8")
    bound = ramgape.lower_bound(tie)
    assert (bound.samples, bound.exact) == (None, True)
    shown = said("lower-bound", str(tie))
    assert "tie: no number of trials suffices" in shown
    assert_modest(shown)


def test_the_help_says_when_it_is_a_bound() -> None:
    words = " ".join(said("lower-bound", "--help").split())
    assert "a lower bound for every algorithm that is right for all rewards in the declared range" in words
    assert "Then it is a reference and no bound" in words
    assert_modest(said("--help"))


def page(section: Section) -> Iterator[str]:
    """Everything that a section says, in its figures as well."""
    yield from section.text
    for grid in section.grids:
        yield "\n".join([grid.title, *grid.header, *(job for row in grid.rows for job in row), grid.note])
    for finding in section.findings:
        yield f"{finding.claim}\n{finding.evidence}"
    for drawing in section.drawings:
        yield drawing.caption
        figure = getattr(figures, drawing.function)(*drawing.arguments)
        texts = [*figure.legends[0].get_texts(), *(axes.xaxis.label for axes in figure.axes)]
        yield "\n".join(text.get_text() for text in texts)


def test_the_benchmark_calls_it_a_reference(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where methods are below it, and where a tie leaves nothing to compare with."""
    outcomes, scale = fake_outcomes({**TIMES, "pairwise + evidence": 0.4}, PLACES, epsilons=(0.05, 0.0))
    outcomes["least", "paper:10", 0.0] = {"samples": None, "exact": True}
    section = benchmark_stopping.make_section(scale, 0, outcomes)
    whole = "\n".join(page(section))
    assert_modest(whole)
    assert whole.count("reference") > 4
    kinds = {(row["instance"], row["epsilon"]): row["least_exact"] for row in section.summary["measurements"]}
    assert set(kinds.values()) == {False, None}
    assert kinds["paper:10", 0.0] is None
    for table in benchmark_tables(
        {"stopping": section.summary, "findings": [asdict(each) for each in section.findings]}
    ):
        output().print(table)
    shown = capsys.readouterr().out
    assert "/ reference" in shown
    assert_modest(shown)


def test_the_benchmark_calls_a_bound_a_bound() -> None:
    methods = dict.fromkeys((method.name for method in LINE_UPS["gaussian"].methods), 6.0)
    outcomes, scale = fake_outcomes(methods, {"random-gaussian:1": 1_000.0})
    whole = "\n".join(page(benchmark_stopping.make_section(scale, 0, outcomes)))
    assert "it is a lower bound: no method that is right on all such instances can better it" in whole
    assert "how many times the lower bound that is (R)" in whole
