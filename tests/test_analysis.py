"""Logged data: the same numbers as a search would have, nothing said that is not proved, nothing dropped unseen."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from typer.testing import CliRunner

from ramgape import InvalidData, InvalidReward, InvalidSpec, RamgapeWarning, UnknownName, analyze
from ramgape.assumptions import ASSUMPTIONS
from ramgape.bounds import BOUNDS
from ramgape.cli import app
from ramgape.common import terminal
from ramgape.core.table import STATISTICS
from ramgape.data import accumulator
from ramgape.data.reading import MOST_NEXT, Analysis, Reading
from ramgape.policies import POLICIES
from ramgape.risks.cvar import NODES
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.support import BOXES

BOUNDED: dict[str, Any] = {"reward_range": (0.0, 1.0)}
SHAPES = {"steady": (40.0, 40.0), "wild": (2.0, 1.0), "poor": (1.0, 3.0)}
OTHER_RISKS = ["std", "variance", "semivariance:0.5", "entropic:2", "cvar:0.1"]
METHODS = [
    *(
        (bound, "mean-variance:0.01")
        for bound, known in BOUNDS.items()
        if "confidence" in known.goals
        and known.assumptions != ("items",)
        and not known.paired  # which have tables of their own
    ),
    ("empirical-bernstein", "std"),
    ("empirical-bernstein", "cvar:0.1"),
    ("gaussian", "std"),
]
OTHERS = [  # each of which takes the compiler seconds
    *((bound, "std") for bound in ("empirical-bernstein-stitched", "hoeffding", "paper", "gaussian-paper")),
    *((bound, risk) for bound in ("empirical-bernstein", "gaussian") for risk in OTHER_RISKS),
]
FURTHER = [pytest.param(*method, marks=pytest.mark.long) for method in OTHERS if method not in METHODS]
ANALYZE = ("--arm-column", "arm", "--reward-column", "reward", "--reward-range", "0", "1")
PLAIN: dict[str, str | None] = {"COLUMNS": "80", "FORCE_COLOR": None, "_TYPER_FORCE_DISABLE_TERMINAL": "1"}


def log_of(rounds: int, seed: int = 1) -> list[tuple[str, float]]:
    """Every arm in turn."""
    generator = np.random.default_rng(seed)
    return [(arm, float(generator.beta(*shape))) for _ in range(rounds) for arm, shape in SHAPES.items()]


def options_for(bound: str, risk: str) -> dict[str, Any]:
    noise = BOUNDS[bound].assumptions[0]
    kind: dict[str, Any] = {"reward_range": (-1.0, 2.0)} if ASSUMPTIONS[noise].ranged else {"noise": noise}
    stated: dict[str, Any] = {"gaussian-paper": {"sigma_max": 0.6}, "heavy": {"kurtosis": 9.0}}.get(bound, {})
    if BOUNDS[bound].terms.means_only:
        stated = {"sigma_max": 0.6, "task": "best"}
    return {**kind, "bound": bound, "risk": risk, **stated}


# ---------------------------------------------------------------------- the numbers of a search


@pytest.mark.few(2)
@pytest.mark.parametrize(("bound", "risk"), [*METHODS, *FURTHER])
def test_the_numbers_are_those_of_a_search(bound: str, risk: str) -> None:
    options = options_for(bound, risk)
    log = log_of(200)
    told = Engine(make_spec(SHAPES, epsilon=0.0, **options))
    for arm, reward in log:
        told.tell(list(SHAPES).index(arm), reward)
    reading = Reading({"epsilon": 0.0, **options})  # type: ignore[typeddict-item]
    names, rewards = zip(*log, strict=True)
    reading.accumulator.add(names, np.array(rewards), str)
    engine = reading.accumulator.make_engine(make_spec(reading.accumulator.names, epsilon=0.0, **options))

    for column in STATISTICS:
        assert np.array_equal(told.arms[column], engine.arms[column], equal_nan=True), column
    # Beyond, nodes that an interval was made of, or what was known when an answer was designated: no statistics.
    kept = NODES if risk == "cvar:0.1" else engine.memory.shape[1]
    assert np.array_equal(told.memory[:, :kept], engine.memory[:, :kept])
    assert engine.samples == told.samples == 600
    assert engine.search["ready"][0] == 1
    for column in ("in_front", "dominators"):
        assert np.array_equal(engine.arms[column], told.arms[column])
    if not BOUNDS[bound].narrows:
        for side in BOXES:
            assert np.array_equal(engine.arms[side], told.arms[side]), side
        assert engine.arms["exact"].all()
        exact = told.arms["exact"] == 1  # of the others an upper bound is kept, until it matters
        assert exact.any()
        for column in ("doubt", "rival"):
            assert np.array_equal(engine.arms[column][exact], told.arms[column][exact]), column
        assert (engine.arms["doubt"] <= told.arms["doubt"]).all()
    for low, high in (("mean_low", "mean_high"), ("risk_low", "risk_high")):
        # Boxes of the last moment: valid, so they overlap with those that were narrowed all the time.
        assert (engine.arms[low] <= told.arms[high]).all()
        assert (engine.arms[high] >= told.arms[low]).all()
        if bound in ("hoeffding", "empirical-bernstein-stitched"):  # renewed with every pull
            assert (engine.arms[low] <= told.arms[low]).all()
            assert (engine.arms[high] >= told.arms[high]).all()


def test_blocks_and_further_arms_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    log = [(f"arm {number // 20}", float(value)) for number, value in enumerate(generator.random(1400))]
    whole = analyze(log, **BOUNDED).to_dict()
    monkeypatch.setattr(accumulator, "BLOCK", 100)
    parts = analyze(iter(log), **BOUNDED).to_dict()
    assert parts == whole
    assert [arm["name"] for arm in whole["arms"]] == [f"arm {number}" for number in range(70)]
    assert {arm["trials"] for arm in whole["arms"]} == {20}


def test_costs_are_minimised() -> None:
    log = [(arm, 100.0 - 100.0 * reward) for arm, reward in log_of(2000)]
    result = analyze(log, reward_range=(0, 100), direction="minimize").result
    rewards = analyze([(arm, 100.0 - cost) for arm, cost in log], reward_range=(0, 100)).result
    assert result.front == rewards.front == ("steady", "wild")
    assert result.arm("poor").dominated_by == "steady"
    assert result.arm("poor").mean == pytest.approx(100.0 - rewards.arm("poor").mean)


# ------------------------------------------------------------------------------- what is proved


def test_everything_proved() -> None:
    analysis = analyze(log_of(3000), **BOUNDED)
    result = analysis.result
    assert (result.stopped, result.goal_reached, result.front) == ("confidence", True, ("steady", "wild"))
    assert [arm.certificate for arm in result.arms] == ["in", "in", "out"]
    assert (analysis.next_pulls, analysis.rows, analysis.skipped) == ({}, 9000, 0)
    assert "exactly the Pareto set" in result.guarantee
    assert "Next:        nothing: the question is settled" in analysis.explain()
    assert "Next:" not in str(analysis)


def test_something_left_open() -> None:
    analysis = analyze(log_of(70), **BOUNDED, next_pulls=30)
    result = analysis.result
    assert (result.stopped, result.goal_reached) == ("data", False)
    assert result.guarantee.startswith("The data leave it undecided. So far: With probability at least 0.95")
    assert sum(analysis.next_pulls.values()) == 30
    assert list(analysis.next_pulls.values()) == sorted(analysis.next_pulls.values(), reverse=True)
    said = " ".join(analysis.explain().split())
    assert "the data leave it undecided; goal not reached (epsilon=0, delta=0.05)" in said
    assert "Next:        30 trials, then look again: " in str(analysis)
    # The same data prove more if less is asked for.
    assert analyze(log_of(70), **BOUNDED, epsilon=0.25).result.goal_reached
    assert analyze(log_of(70), **BOUNDED, epsilon=0.08, rho=0.01).result.goal_reached
    assert analyze(log_of(70), **BOUNDED, next_pulls=0).next_pulls == {}


def test_a_proof_that_no_stopping_rule_looks_for_counts() -> None:
    """An arm outside the set that is within epsilon of a returned arm which does not dominate it."""
    generator = np.random.default_rng(9)
    shapes, counts = generator.uniform(2.0, 6.0, (4, 2)), generator.integers(100, 1500, 4)
    log = [(str(arm), float(reward)) for arm in range(4) for reward in generator.beta(*shapes[arm], counts[arm])]
    boxes = {"policy": "ramgape", "bound": "empirical-bernstein"}
    asked: dict[str, Any] = {**BOUNDED, "epsilon": 0.06, "rho": 0.01, **boxes}
    reading = Reading(asked)  # type: ignore[arg-type]
    reading.accumulator.add([arm for arm, _ in log], np.array([reward for _, reward in log]), str)
    engine = reading.accumulator.make_engine(make_spec(reading.accumulator.names, **asked))
    assert engine.stopped is None
    result = analyze(log, **asked).result
    assert (result.stopped, result.goal_reached) == ("confidence", True)
    assert all(arm.certified for arm in result.arms)
    assert result.certified_epsilon is not None
    assert result.certified_epsilon < 0.06


def test_nothing_proved() -> None:
    result = analyze(log_of(2), noise="gaussian").result
    assert result.certified_epsilon is None
    assert result.guarantee == "The data prove nothing yet; what is returned is a best guess from 6 rewards."
    assert {arm.verdict for arm in result.arms} == {"open"}


def test_an_arm_with_too_few_rewards_comes_first() -> None:
    analysis = analyze([*log_of(500), ("new", 0.5)], **BOUNDED, arms=[*SHAPES, "new", "unseen"], next_pulls=3)
    result = analysis.result
    assert (result.front, result.stopped) == ((), "data")
    assert {arm.certificate for arm in result.arms} == {"none"}
    assert result.arm("unseen").pulls == 0
    assert math.isnan(result.arm("unseen").mean)
    assert result.arm("steady").mean_interval[0] > 0.4  # reported all the same
    assert analysis.next_pulls == {"unseen": 2, "new": 1}
    assert "fewer than 2 rewards" in result.warnings[0]
    assert "new, unseen" in result.warnings[0]


@pytest.mark.parametrize("bound", ["auto", "pairwise"])
@pytest.mark.parametrize("policy", [name for name, policy in POLICIES.items() if not policy.own_answer])
def test_every_policy_can_tell_what_is_next(policy: str, bound: str) -> None:
    rho = 0.01 if bound == "pairwise" else None  # it compares mean-variances only
    analysis = analyze(log_of(20), **BOUNDED, policy=policy, bound=bound, rho=rho, next_pulls=12)
    assert sum(analysis.next_pulls.values()) == 12
    assert set(analysis.next_pulls) <= set(SHAPES)
    assert analysis.result.policy == policy


@pytest.mark.parametrize("policy", [name for name, policy in POLICIES.items() if policy.own_answer])
def test_policies_with_an_answer_of_their_own_are_refused(policy: str) -> None:
    with pytest.raises(InvalidSpec, match=r"policy must be one that (can|serves) "):
        analyze([], **BOUNDED, policy=policy)


def adaptive_log(generator: np.random.Generator, chances: Iterable[float], count: int) -> list[tuple[str, float]]:
    """Coins, mostly the one that did best so far: as people try things."""
    arms = list(chances)
    sums, pulls = np.ones(len(arms)), np.full(len(arms), 2.0)
    log = []
    for _ in range(count):
        arm = int(generator.integers(len(arms)) if generator.random() < 0.5 else (sums / pulls).argmax())
        reward = float(generator.random() < arms[arm])
        sums[arm] += reward
        pulls[arm] += 1.0
        log.append((str(arm), reward))
    return log


@pytest.mark.long
def test_what_is_proved_is_true_however_often_one_looks() -> None:
    """A run is bad if at any of four looks at a growing log an interval misses the truth or a proof is wrong.

    That has probability 0.2 at most, so more bad runs than `allowed` have probability 1e-6 at most. The test can fail:
    there are proofs in more runs than that, and three coins are so much alike that in more runs than that the empirical
    front is wrong at one of the looks.
    """
    runs, delta, chances = 200, 0.2, (0.5, 0.9, 0.93, 0.95)
    allowed = int(scipy.stats.binom.ppf(1.0 - 1e-6, runs, delta))
    alpha = 1.0 / 3.01
    means, risks = np.array(chances), np.array([alpha * (p * (1.0 - p) - 0.01 * p) for p in chances])
    beaten = (means[:, None] < means[None, :]) & (risks[:, None] > risks[None, :])
    truth = {str(arm): "out" if beaten[arm].any() else "in" for arm in range(len(chances))}
    assert set(truth.values()) == {"in", "out"}
    bad = proofs = guesses = 0
    for seed in range(runs):
        log = adaptive_log(np.random.default_rng(seed), chances, 2000)
        wrong = guessed_wrong = proved = False
        for look in (30, 200, 700, 2000):
            result = analyze(log[:look], **BOUNDED, arms=truth, rho=0.01, delta=delta).result
            for arm in result.arms:
                mean, risk = means[int(arm.name)], risks[int(arm.name)]
                wrong |= not arm.mean_interval[0] <= mean <= arm.mean_interval[1]
                wrong |= not arm.risk_interval[0] <= risk <= arm.risk_interval[1]
                wrong |= arm.certificate in ("in", "out") and arm.certificate != truth[arm.name]
                proved |= arm.certificate != "none"
            guessed_wrong |= set(result.front) != {name for name, place in truth.items() if place == "in"}
        bad += wrong
        proofs += proved
        guesses += guessed_wrong
    assert bad <= allowed
    assert proofs > allowed
    assert guesses > allowed


# ---------------------------------------------------------------------------- how it shows itself


def test_an_analysis_is_plain_data() -> None:
    analysis = analyze(log_of(40), **BOUNDED)
    written = json.loads(analysis.to_json())
    assert written == analysis.to_dict() == {**analysis.result.to_dict(), **written}
    counts = {"rows", "skipped", "missing", "excluded", "min_rows", "thin", "without_thin", "block", "incomplete"}
    assert set(written) - set(analysis.result.to_dict()) == {"data", "next_pulls"}
    assert set(written["data"]) == {*counts, "understood"}
    assert (written["data"]["rows"], written["data"]["skipped"], written["trials"]) == (120, 0, 120)
    assert written["details"]["stopped"] == "data"
    assert written["next_pulls"] == analysis.next_pulls
    assert pickle.loads(pickle.dumps(analysis)) == analysis
    assert repr(analysis).startswith("<Analysis: Pareto set: ")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("count", [2, 40])
def test_it_fits_its_window(width: int, count: int) -> None:
    from rich.console import Console

    generator = np.random.default_rng(4)
    names = [f"a rather long name, [red]number {number}[/red]\nof many \N{GRINNING FACE}" for number in range(count)]
    log = [(name, float(generator.random())) for _ in range(5) for name in names]
    analysis = analyze(log, **BOUNDED, next_pulls=100)
    console = Console(width=width)
    with console.capture() as shown:
        console.print(analysis)
    lines = shown.get().splitlines()
    assert max(map(len, lines)) <= width
    assert any("Next" in line for line in lines)
    page = analysis._repr_html_()
    assert "then look again" in page
    assert "[red]number 1[/red]" in page.replace("...", "")
    str(analysis).encode("utf-8")


# ---------------------------------------------------------------------------------- rows of Python


@pytest.mark.parametrize(
    ("rows", "options", "error", "words"),
    [
        (
            [("a", 0.1), ("b", 1.5)],
            {},
            InvalidReward,
            "row 2: the reward must be a number from 0 to 1, got 1.5 for arm 'b'",
        ),
        ([("a", math.nan)], {}, InvalidReward, "row 1: the reward must be a number from 0 to 1, got nan"),
        ([("a", "0.1")], {}, InvalidReward, "got '0.1'"),
        ([("a", None)], {}, InvalidReward, "got None"),
        ([("a", 10**400)], {}, InvalidReward, "row 1: the reward"),
        ([("a", 1j)], {}, InvalidReward, "row 1: the reward"),
        ([("a", math.inf)], {"reward_range": None, "noise": "gaussian"}, InvalidReward, "a finite number from -1e"),
        ([("a", 0.1), "bc"], {}, InvalidData, "row 2 must be a pair (arm, reward), got 'bc'"),
        ([("a", 0.1), 3], {}, InvalidData, "row 2 must be a pair"),
        ([("a", 0.1, 2)], {}, InvalidData, "row 1 must be a pair"),
        ([("a", 0.1), ("", 0.2)], {}, InvalidData, "row 2: the arm must be a name that is not empty"),
        ([("a", 0.1), ("a", 0.2)], {}, InvalidData, "the data must be about at least two arms, got ['a']"),
        ([], {}, InvalidData, "the data must be about at least two arms, got []"),
        ([("a", 0.1), ("bb", 0.2)], {"arms": ["a", "b"]}, UnknownName, "row 2: the arm must be one of a, b, got 'bb'"),
        ([], {"arms": ["a", "a"]}, InvalidSpec, "arms must be names that are all different"),
        ("ab", {}, InvalidData, "data must be a file that can be read, got 'ab'"),
        (7, {}, InvalidSpec, "rows must be pairs"),
        ([], {"reward_range": (1, 1)}, InvalidSpec, "reward_range must be two finite numbers"),
        ([], {"reward_range": None, "noise": "bounded"}, InvalidSpec, "reward_range must be two finite numbers"),
        ([], {"next_pulls": -1}, InvalidSpec, "next_pulls must be a whole number from 0 to 10,000, got -1"),
        ([], {"next_pulls": MOST_NEXT + 1}, InvalidSpec, "next_pulls must be a whole number from 0 to 10,000"),
        ([], {"bound": "budget"}, InvalidSpec, "bound must be one that serves"),
        ([], {"delta": 2}, InvalidSpec, "delta must be between 0 and 1"),
    ],
)
def test_what_is_refused(rows: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as refused:
        analyze(rows, **{**BOUNDED, **options})
    assert words in str(refused.value)


def test_too_many_arms_are_probably_none() -> None:
    with pytest.raises(InvalidData, match=r"row 5001: the arm must be one of at most 5,000 different arms"):
        analyze(((number, 0.5) for number in itertools.count()), **BOUNDED)


def test_bad_options_are_refused_before_the_first_row() -> None:
    def rows() -> Iterable[tuple[str, float]]:
        raise AssertionError
        yield

    with pytest.raises(InvalidSpec):
        analyze(rows(), **BOUNDED, epsilon=-1)


def test_rewards_of_any_type_that_is_a_number() -> None:
    from decimal import Decimal
    from fractions import Fraction

    log: list[Any] = [("a", 1), ("a", True), ["b", np.float32(0.5)], ("b", Fraction(1, 2)), (3, Decimal("0.25"))]
    analysis = analyze(log, **BOUNDED)
    assert {arm.name: arm.mean for arm in analysis.result.arms} == {"a": 1.0, "b": 0.5, "3": 0.25}


def test_rows_without_a_reward_can_be_left_out() -> None:
    log = [("a", 0.1), ("lost", None), ("b", 0.2), ("a", None), ("a", 0.3)]
    analysis = analyze(log, **BOUNDED, skip_empty=True)
    assert (analysis.rows, analysis.skipped, analysis.result.samples) == (5, 2, 3)
    assert [arm.pulls for arm in analysis.result.arms] == [2, 0, 1]  # an arm without any reward is an arm
    assert "2 rows without a reward were left out: what is said holds only if" in analysis.result.warnings[-1]
    with pytest.raises(InvalidReward, match="row 3: the reward"):
        analyze([("a", 0.1), ("b", None), ("c", "x")], **BOUNDED, skip_empty=True)


def test_a_warning_is_given_once() -> None:
    with pytest.warns(RamgapeWarning, match="exceeds the whole possible range") as told:
        analysis = analyze(log_of(5), **BOUNDED, epsilon=2.0)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert len(analysis.result.warnings) == 1


# ------------------------------------------------------------------------------------- the command


def call(*arguments: str, **more: Any) -> Any:
    return CliRunner().invoke(app, ["analyze", *arguments], env=PLAIN, **more)


def write(folder: Path, content: str | bytes, name: str = "log.csv") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def as_csv(log: Iterable[tuple[str, float]], delimiter: str = ",", end: str = "\n") -> str:
    rows = [f"{number}{delimiter}{reward!r}{delimiter}{arm}{end}" for number, (arm, reward) in enumerate(log)]
    return f"id{delimiter}reward{delimiter}arm{end}{''.join(rows)}"


def test_the_command_says_what_the_library_says(tmp_path: Path) -> None:
    log = log_of(700)
    result = call(write(tmp_path, as_csv(log)), *ANALYZE, "--next", "7", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == of_a_file(analyze(log, **BOUNDED, next_pulls=7).named("reward"))


def test_the_command_shows_a_table(tmp_path: Path) -> None:
    result = call(write(tmp_path, as_csv(log_of(40))), *ANALYZE)
    assert (result.exit_code, result.stderr) == (0, "")
    words = " ".join(result.stdout.replace("│", " ").split())
    assert "Next: 10 trials, then look again: " in words
    assert "Data: CSV, arms in column 'arm', rewards in column 'reward'; 120 rows" in words
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_other_options_reach_the_analysis(tmp_path: Path) -> None:
    options = "--noise gaussian --epsilon 0.5,0.1 --delta 0.1 --risk cvar:0.2 --direction minimize --policy ra-lucb"
    path = write(tmp_path, as_csv(log_of(100)))
    further = ("--bound", "gaussian", "--resolution", "1e-3")
    result = call(path, *ANALYZE[:4], *options.split(), *further, "--json")
    written = json.loads(result.stdout)
    assert "for each arm, rounded to 0.001: " in written["details"]["guarantee"]
    assert all(isinstance(arm["empirical_risk"], float) for arm in written["details"]["arms"])
    goal = {"kind": "confidence", "epsilon": 0.5, "delta": 0.1, "budget": None, "risk_epsilon": 0.1}
    assert written["details"]["goal"] == {**goal, "epsilon_share": None, "spend": None}
    assert [written["details"][key] for key in ("noise", "risk", "direction", "policy", "bound")] == [
        "gaussian",
        "cvar:0.2",
        "minimize",
        "ra-lucb",
        "gaussian",
    ]


def of_a_file(analysis: Analysis) -> dict[str, Any]:
    """What the command says of the same data in a plain file."""
    return replace(analysis, understood="CSV, arms in column 'arm', rewards in column 'reward'").to_dict()


FORMS = {
    "a mark at the beginning": b"\xef\xbb\xbf" + as_csv(log_of(30)).encode(),
    "carriage returns": as_csv(log_of(30), end="\r\n").encode(),
    "old line breaks": as_csv(log_of(30), end="\r").encode(),
    "empty lines": as_csv(log_of(30), end="\n\n").encode(),
    "no end": as_csv(log_of(30)).rstrip().encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_files_as_they_come(form: str, tmp_path: Path) -> None:
    expected = of_a_file(analyze(log_of(30), **BOUNDED).named("reward"))
    assert json.loads(call(write(tmp_path, FORMS[form]), *ANALYZE, "--json").stdout) == expected


def test_other_ways_in(tmp_path: Path) -> None:
    expected = of_a_file(analyze(log_of(30), **BOUNDED).named("reward"))
    text = as_csv(log_of(30))
    packed = write(tmp_path, gzip.compress(text.encode()), "log.csv.gz")
    assert json.loads(call(packed, *ANALYZE, "--json").stdout) == expected
    assert json.loads(call("-", *ANALYZE, "--json", input=text).stdout) == expected
    for letter, written in ((";", ";"), ("\t", "tab"), ("\t", "\\t")):
        path = write(tmp_path, as_csv(log_of(30), letter))
        for options in (("--delimiter", written), ()):
            found = json.loads(call(path, *ANALYZE, *options, "--json").stdout)
            expected["data"]["understood"] = found["data"]["understood"]
            assert found == expected
            assert found["data"]["understood"].startswith(
                f"CSV with {'tab' if letter == chr(9) else repr(letter)}, arms in"
            )


def test_names_with_anything_inside(tmp_path: Path) -> None:
    names = ["a, b", 'say "hi"', "two\nlines", "\N{GRINNING FACE}", " spaces ", "carriage\r\nreturn"]
    quoted = "".join(f'"{name.replace(chr(34), 2 * chr(34))}",0.{number}\n' * 2 for number, name in enumerate(names))
    written = json.loads(call(write(tmp_path, f'"arm",reward\n{quoted}'), *ANALYZE, "--json").stdout)
    assert [arm["name"] for arm in written["arms"]] == names
    complaint = call(write(tmp_path, f'"arm",reward\n{quoted}x,2\n'), *ANALYZE).stderr
    assert complaint.startswith("error: log.csv, line 18: column 'reward' must be a number from 0 to 1, got 2.0")


BAD_FILES = {
    "arm,reward\nA,0.5\nB,abc\n": "log.csv, line 3: column 'reward' must be a number from 0 to 1, got 'abc'",
    "arm,reward\nA,0.5\n\nB,-0.1\n": "log.csv, line 4: column 'reward' must be a number from 0 to 1, got -0.1",
    "arm,reward\nA,nan\n": "log.csv, line 2: column 'reward' must be a number from 0 to 1, got nan",
    "arm,reward\nA,-inf\n": "log.csv, line 2: column 'reward' must be a number from 0 to 1, got -inf",
    "arm,reward\nA,0_1\n": "log.csv, line 2: column 'reward' must be a number from 0 to 1, got '0_1'",
    "arm,reward\nA,0.1\nA, \n": "from 0 to 1 (--skip-empty leaves out rows without one), got ' '",
    "arm,reward\nA,0.1\nB\n": "log.csv, line 3: the row must be 2 cells, as many as the header has, got ['B']",
    "arm,reward\nA,0.1,1\n": "log.csv, line 2: the row must be 2 cells, as many as the header has, got",
    "arm,reward\n,0.1\n": "log.csv, line 2: column 'arm' must be a name that is not empty, got ''",
    "arm,score\nA,0.1\n": "reward column of log.csv must be one of arm, score, got 'reward'",
    "arm,Reward\nA,0.1\n": "got 'reward'; did you mean 'Reward'?",
    "arm,reward,arm\nA,0.1,B\n": "arm column must be the name of one column of log.csv, not of 2, got 'arm'",
    "arm\nA\n": "log.csv, line 1 must be the names of at least two columns with ',' between them, got only 'arm'",
    "": "log.csv must be a CSV file whose first line names its columns, got an empty file",
    "\n\n": "log.csv must be a CSV file whose first line names its columns, got an empty file",
    "arm,reward\n": "the data must be about at least two arms, got []",
    'arm,reward\nB,0.1\n"A,0.1\n': "log.csv, line 3 must be CSV, got: unexpected end of data",
    'arm,reward\n"A"x,0.1\n': "log.csv, line 2 must be CSV, got: ',' expected after '\"'",
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_files_that_are_refused(content: str, tmp_path: Path) -> None:
    result = call(write(tmp_path, content), *ANALYZE)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert BAD_FILES[content] in result.stderr


def test_a_reward_far_down_is_found(tmp_path: Path) -> None:
    lines = ["arm,reward", *(f"{arm},0.5" for arm in "AB" * 3000)]
    lines[4321] = "A,7"
    assert "log.csv, line 4322: column 'reward'" in call(write(tmp_path, "\n".join(lines)), *ANALYZE).stderr


def test_files_that_are_no_text(tmp_path: Path) -> None:
    for content, name, words in (
        (b"arm,reward\nA,0.5\n\xff,1\n", "a.csv", "a.csv must be UTF-8 text, got byte 0xff"),
        (
            "arm,reward\nA,0.5\n".encode("utf-16-le"),
            "b.csv",
            "b.csv must be a table or a log of trials, got binary data",
        ),
        (b"\x1f\x8barm,reward\n", "c.csv.gz", "c.csv.gz must be whole: it is packed, and cannot be unpacked"),
        (gzip.compress(as_csv(log_of(5)).encode())[:-9], "d.csv.gz", "d.csv.gz must be whole: it is packed"),
    ):
        result = call(write(tmp_path, content, name), *ANALYZE)
        assert result.exit_code == 2
        assert words in result.stderr
    for path, words in ((str(tmp_path / "none.csv"), "No such file"), (str(tmp_path), "Is a directory")):
        result = call(path, *ANALYZE)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: data must be a file that can be read, got ")
        assert words in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*ANALYZE[:4], "--noise", "bounded"), "reward_range must be two finite numbers (low, high) with low < high"),
        ((*ANALYZE[:5], "1", "0"), "reward_range must be two finite numbers (low, high) with low < high"),
        ((*ANALYZE[:5], "0", "much"), "each end of the reward range must be a number, got 'much'"),
        ((*ANALYZE, "--noise", "gaussian"), "reward_range must be absent with assumption gaussian"),
        ((*ANALYZE, "--delimiter", "::"), "delimiter must be one letter such as ; or |, or tab, got '::'"),
        ((*ANALYZE, "--next", "some"), "next must be a number, got 'some'"),
        ((*ANALYZE, "--policy", "psi-unif-elim"), "policy must be one that can start from any data"),
        (
            (*ANALYZE[:3], "arm", *ANALYZE[4:]),
            "the columns for arms, rewards, items, blocks and clusters must be different",
        ),
    ],
)
def test_arguments_that_are_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    result = call(write(tmp_path, as_csv(log_of(3))), *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_range_below_zero(tmp_path: Path) -> None:
    path = write(tmp_path, as_csv(log_of(3)))
    written = json.loads(call(path, *ANALYZE[:5], "-1", "1e0", "--json").stdout)
    assert written["details"]["reward_range"] == [-1.0, 1.0]


def test_rows_without_a_reward_are_counted_and_told(tmp_path: Path) -> None:
    path = write(tmp_path, "arm,reward\nA,0.5\nB,\n\nB,0.2\nA, \nA,0.1\nB,0.3\nC,\n")
    written = json.loads(call(path, *ANALYZE, "--skip-empty", "--json").stdout)
    assert (written["data"]["rows"], written["data"]["skipped"], written["trials"]) == (7, 3, 4)
    assert [(arm["name"], arm["trials"]) for arm in written["arms"]] == [("A", 2), ("B", 2), ("C", 0)]
    shown = " ".join(call(path, *ANALYZE, "--skip-empty").stdout.replace("│", " ").split())
    assert "7 rows, 3 of them left out" in shown
    assert "Warning: 3 rows without a reward were left out: what is said holds only if" in shown


def test_a_warning_is_told_on_stderr_only(tmp_path: Path) -> None:
    result = call(write(tmp_path, as_csv(log_of(3))), *ANALYZE, "--epsilon", "2")
    assert result.exit_code == 0
    assert result.stderr.count("warning: epsilon 2 exceeds") == 1
    assert "exceeds" not in result.stdout


def test_progress_and_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_watched", lambda: True)
    monkeypatch.setattr("ramgape.cli.analyze.OFTEN", 1)
    path = write(tmp_path, as_csv(log_of(400)))
    result = call(path, *ANALYZE, "--json")
    assert json.loads(result.stdout)["data"]["rows"] == 1200
    assert json.loads(call("-", *ANALYZE, "--json", input=as_csv(log_of(30))).stdout)["data"]["rows"] == 90

    takes = Reading.take

    def interrupted(reading: Reading, *arguments: Any) -> None:
        if reading.rows:
            raise KeyboardInterrupt
        takes(reading, *arguments)

    monkeypatch.setattr(Reading, "take", interrupted)
    monkeypatch.setattr(terminal, "is_watched", lambda: False)
    result = call(path, *ANALYZE)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "interrupted: after 512 rows\n"


MEMORY = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from ramgape.data.files import analyze_files

def read(count):
    block = "".join(f"{arm},0.{number:03}\\n" for number in range(1000) for arm in "ABCDE")
    path = Path(sys.argv[1], "log.csv")
    path.write_text("arm,reward\\n" + block * (count // 5000))
    assert analyze_files(path, {"reward_range": (0.0, 1.0)}).rows == count
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(read(200_000), read(2_000_000))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell how much memory a process had")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MEMORY, str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    few, many = map(int, finished.stdout.split())
    kilobytes = 1024 if sys.platform == "darwin" else 1
    assert many - few < 30_000 * kilobytes  # the rewards alone would be 16 MB, their texts 100


def test_a_tally_starts_with_nothing() -> None:
    reading = Reading({"reward_range": (0.0, 1.0)}, arms=["a", "b"])
    assert reading.accumulator.names == ("a", "b")
    analysis = reading.infer()
    assert (analysis.rows, analysis.result.samples, analysis.next_pulls) == (0, 0, {"a": 5, "b": 5})
