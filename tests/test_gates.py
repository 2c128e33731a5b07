"""Gates in a pipeline: exit codes, summaries, the action, and `ramgape.check` inside a test."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ramgape
from ramgape.errors import InvalidReward, InvalidSpec, RequirementRefuted, RequirementUndecided
from tests.cli_support import call, environment

ROOT = Path(__file__).parent.parent
PROVED, REFUTED, BAD, UNDECIDED = 0, 1, 2, 3


def log(path: Path, branch: float, trials: int) -> Path:
    """Scores of main, of mean 0.5, and of a branch."""
    draw = random.Random(1)
    rows = [f"{arm},{draw.betavariate(20 * mean, 20 * (1 - mean))}" for _ in range(trials)
            for arm, mean in (("main", 0.5), ("branch", branch))]  # fmt: skip
    path.write_text("arm,reward\n" + "\n".join(rows))
    return path


@pytest.mark.parametrize(
    ("branch", "trials", "code", "word"),
    [(0.5, 600, PROVED, "proved"), (0.2, 200, REFUTED, "refuted"), (0.5, 20, UNDECIDED, "undecided")],
)
def test_no_regression(branch: float, trials: int, code: int, word: str, tmp_path: Path) -> None:
    path, summary = log(tmp_path / "log.csv", branch, trials), tmp_path / "gate.md"
    asked = ("--question", "better-than:control=main,margin=-0.1", "--epsilon", "0.02", "--reward-range", "0", "1")
    found = call("analyze", str(path), *asked, "--exit-code", "--summary", str(summary))
    assert found.exit_code == code, found.output
    text = summary.read_text()
    assert text.startswith("### ")
    assert f"ramgape: {word}" in text.splitlines()[0]
    assert "branch" in text
    assert "| " in text


def test_a_margin_in_per_cent_is_one_of_the_range(tmp_path: Path) -> None:
    path = log(tmp_path / "log.csv", 0.5, 600)
    asked = ("analyze", str(path), "--epsilon", "0.02", "--exit-code", "--question")
    found = call(*asked, "better-than:control=main,margin=-10%", "--reward-range", "0", "1")
    assert found.exit_code == PROVED, found.output
    same = call(*asked, "better-than:control=main,margin=-0.1", "--reward-range", "0", "1")
    assert found.stdout == same.stdout
    alone = call(*asked, "better-than:control=main,margin=-10%")
    assert alone.exit_code == BAD
    assert "per cent are of a reward_range, which is not given, got '-10%'" in alone.stderr.replace(
        "--reward-range", "reward_range"
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nothing.csv",), BAD),
        (("{log}", "--question", "better-than:control=nobody"), BAD),
        (("{log}", "--epsilon", "-1"), BAD),
        (("{log}",), UNDECIDED),
    ],
)
def test_errors_are_no_verdicts(arguments: tuple[str, ...], code: int, tmp_path: Path) -> None:
    path = log(tmp_path / "log.csv", 0.5, 20)
    found = call("analyze", *(each.format(log=path) for each in arguments), "--exit-code")
    assert found.exit_code == code, found.output


def test_a_summary_may_be_the_output(tmp_path: Path) -> None:
    found = call("analyze", str(log(tmp_path / "log.csv", 0.5, 20)), "--summary", "-")
    assert found.exit_code == 0
    assert found.stdout.startswith("### ")
    assert "### " not in found.stdout[3:]


@pytest.mark.parametrize(("branch", "code"), [(0.8, PROVED), (0.2, REFUTED), (0.5, UNDECIDED)])
def test_a_study_is_a_gate(branch: float, code: int, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'gate.db'}"
    draw = random.Random(3)
    question = "better-than:control=main"
    study = ramgape.Study.create(
        "gate", ["main", "branch"], storage=storage, reward_range=(0, 1), question=question, epsilon=0.05
    )
    for _ in range(120 if code != UNDECIDED else 10):
        if study.done:
            break
        for trial in study.ask(2):
            mean = 0.5 if trial.arm == "main" else branch
            study.tell(trial, draw.betavariate(20 * mean, 20 * (1 - mean)))
    study.close()
    found = call("study", "show", "gate", "--storage", storage, "--exit-code", "--summary", "-")
    assert found.exit_code == code, found.output
    assert found.stdout.startswith("### ")


# ------------------------------------------------------------------------------------------ the action


def action_lines() -> str:
    """The shell lines of the action's last step, except for the installation."""
    text = (ROOT / "action.yml").read_text()
    assert len(text.splitlines()) <= 40
    lines = text.partition("      run: |\n")[2].splitlines()
    assert "pip install" in lines[0]
    return "\n".join(line.strip() for line in lines[1:])


@pytest.mark.parametrize(
    ("branch", "trials", "undecided", "code", "verdict"),
    [
        (0.5, 600, "fail", PROVED, "proved"),
        (0.2, 200, "pass", REFUTED, "refuted"),
        (0.5, 20, "fail", UNDECIDED, "undecided"),
        (0.5, 20, "pass", PROVED, "undecided"),
    ],
)
def test_the_action(branch: float, trials: int, undecided: str, code: int, verdict: str, tmp_path: Path) -> None:
    log(tmp_path / "a log.csv", branch, trials)
    (tmp_path / "ramgape").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ramgape "$@"\n')
    (tmp_path / "ramgape").chmod(0o755)
    question = "--question better-than:control=main,margin=-0.1 --epsilon 0.02 --reward-range 0 1"
    changes = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "COMMAND": f"analyze 'a log.csv' {question}",
        "UNDECIDED": undecided,
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", action_lines()],
        cwd=tmp_path,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert (tmp_path / "output").read_text() == f"verdict={verdict}\n"
    assert f"ramgape: {verdict}" in (tmp_path / "summary.md").read_text()


# -------------------------------------------------------------------------------------- inside a test


def coin(chance: float, seed: int = 1) -> Callable[[], bool]:
    draw = random.Random(seed)
    return lambda: draw.random() < chance


def test_a_requirement_is_proved_and_ends_early() -> None:
    result = ramgape.check(coin(0.97), at_least=0.8)
    assert result.answer
    assert result.trials < 100


def test_a_requirement_is_refuted_with_its_evidence() -> None:
    with pytest.raises(AssertionError, match=r"refuted at 95% confidence: a mean of 0\.\d+ in \d+ trials") as caught:
        ramgape.check(coin(0.4), at_least=0.8, max_trials=400)
    assert isinstance(caught.value, RequirementRefuted)
    assert caught.value.partial_result.trials < 100


def test_an_undecided_requirement_is_another_error() -> None:
    with pytest.raises(AssertionError, match="undecided") as caught:
        ramgape.check(coin(0.8), at_least=0.8, max_trials=60)
    assert isinstance(caught.value, RequirementUndecided)
    assert not isinstance(caught.value, RequirementRefuted)
    assert caught.value.partial_result.trials == 60


def test_failed_assertions_are_failed_trials() -> None:
    outcomes = coin(0.97)

    def trial() -> bool:
        assert outcomes()
        return True

    assert ramgape.check(trial, at_least=0.8).answer

    async def later() -> bool:
        return trial()

    assert ramgape.check(later, at_least=0.8).answer


@pytest.mark.parametrize("value", [None, "yes", 2, float("nan")])
def test_a_trial_must_score(value: object) -> None:
    with pytest.raises(InvalidReward):
        ramgape.check(lambda: value, at_least=0.8)


def test_other_errors_pass_through() -> None:
    with pytest.raises(ZeroDivisionError):
        ramgape.check(lambda: 1 / 0, at_least=0.8)
    for wrong in ({"at_least": 1.0}, {"at_least": 0.8, "confidence": 1.0}, {"at_least": 0.8, "max_trials": 0}):
        with pytest.raises(InvalidSpec):
            ramgape.check(coin(0.9), **wrong)  # type: ignore[arg-type]


def verdicts(chance: float, runs: int) -> Iterator[type]:
    for seed in range(runs):
        try:
            ramgape.check(coin(chance, seed), at_least=0.5, confidence=0.7, max_trials=150)
            yield type(None)
        except AssertionError as error:
            yield type(error)


def test_verdicts_at_the_requirement_are_rarely_given() -> None:
    """At a true share of 0.5 each verdict is wrong half of the time at most: "above" always is.

    60 runs at confidence 0.7: more than 30 wrong verdicts have a chance below 0.001 if the level holds.
    """
    wrong = [kind is type(None) for kind in verdicts(0.5, 60)]
    assert sum(wrong) <= 30


def test_times_have_a_summary(tmp_path: Path) -> None:
    options = ("--reference", "sleep 0.2", "--exit-code", "--summary", str(tmp_path / "times.md"))
    found = call("run", "sleep 0.02", *options)
    assert found.exit_code == PROVED, found.output
    text = (tmp_path / "times.md").read_text()
    assert "ramgape: proved" in text.splitlines()[0]
    assert "| sleep 0.02 | fastest |" in text


@pytest.mark.parametrize(
    ("scores", "code", "says"),
    [
        ({"m": [1.0] * 40}, PROVED, "m has a mean of 0.8 or more (95% sure)."),
        ({"m": [0.0, 1.0] * 20}, REFUTED, "No option has a mean of 0.8 or more (95% sure)."),
        ({"m": [1.0, 1.0, 1.0, 0.0]}, UNDECIDED, "Nothing is proved yet."),
        (
            {"m": [1.0] * 40, "n": [0.0] * 40, "o": [1.0, 1.0, 1.0, 0.0, 1.0] * 2},
            REFUTED,
            "m has a mean of 0.8 or more; n does not (95% sure); o is open.",
        ),
    ],
)
def test_logged_scores_above_a_floor(scores: dict[str, list[float]], code: int, says: str, tmp_path: Path) -> None:
    """Also of one arm alone, and of a column with any name."""
    path = tmp_path / "scores.csv"
    rows = [f"{arm},{score}" for arm, values in scores.items() for score in values]
    path.write_text("\n".join(["model,score", *rows]))
    found = call("analyze", str(path), "--question", "above:0.8", "--reward-range", "0", "1", "--exit-code")
    assert found.exit_code == code, found.output
    assert says in " ".join(found.stdout.split())
    summary = call("analyze", str(path), "--question", "above:0.8", "--reward-range", "0", "1", "--summary", "-").stdout
    assert "Confidence regions" not in summary


def test_a_log_above_a_floor() -> None:
    path = str(ROOT / "tests" / "data" / "logs" / "inspect-large.eval")
    found = call("analyze", path, "--question", "above:0.3", "--exit-code")
    assert found.exit_code == PROVED, found.output
    assert "mockllm/large has a mean of 0.3 or more" in found.stdout


def test_one_arm_with_several_workers() -> None:
    draw = random.Random(1)
    asked = {"question": "above:0.5", "reward_range": (0, 1), "epsilon": 0.0, "max_trials": 300}
    result = ramgape.identify(lambda arm: float(draw.random() < 0.8), ["only"], workers=3, **asked)
    assert result.answer == ("only",)
