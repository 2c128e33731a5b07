"""`ramgape reproduce`: its numbers are those of the library, its verdicts follow from them, and nothing is lost."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from typer.testing import CliRunner

import ramgape
from ramgape.cli import app
from ramgape.core.pareto import gaps
from ramgape.paper import beyond, exact, figures, paper, regret, reproduction, stopping
from ramgape.paper.geometry import CASES, gap_case
from ramgape.paper.jobs import Job, run_job
from ramgape.paper.regret import FURTHER
from ramgape.paper.report import ResultCache, publish, unique
from ramgape.paper.reproduction import REPORT
from ramgape.paper.scale import FULL, QUICK
from ramgape.paper.section import Finding, Section
from ramgape.paper.statistics import (
    geometric_mean,
    mean_interval,
    middle_half_mean,
    sign_flip_test,
    sign_test,
)
from ramgape.paper.tables import Grid
from ramgape.problems.instances import load_instance
from ramgape.simulation.kept import write_whole
from ramgape.simulation.simulation import simulated_spec

POLICIES = paper.CONFIDENCE_POLICIES
PARTS = REPORT.parts


def without_times(summary: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on when and how it was computed."""
    return {key: value for key, value in summary.items() if key != "seconds"}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# The whole of it, once


@pytest.mark.long
def test_quick_mode_from_end_to_end(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "all", "--quick", "--out", str(tmp_path), "--jobs", "2", "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary == json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["parts"] == list(PARTS)
    assert (summary["scale"], summary["seed"]) == ("quick", 0)
    check_totals(summary["experiment2"])
    check_stopping_times(summary)
    check_regrets(summary, tmp_path)
    check_theorems(summary["theorems"])
    check_beyond(summary)
    check_findings(summary["findings"])
    check_files(tmp_path)
    check_report(tmp_path / "report.html", summary)


def check_totals(experiment: dict[str, Any]) -> None:
    """Experiment 2: within 2 % of the paper's, exact sets, and the golden number of the README."""
    assert experiment["pattern_46"]["ramgape"]["samples"] == 9_615_859
    assert {pattern: list(rules) for pattern, rules in experiment.items()} == {
        f"pattern_{pattern}": list(rules) for pattern, rules in QUICK.totals.items()
    }
    fronts = {"pattern_46": ["1", "2"], "pattern_10": ["1", "2", "3", "5", "6", "8"]}
    for pattern, rules in experiment.items():
        for row in rules.values():
            assert row["ratio"] == row["samples"] / row["paper"] == pytest.approx(1.0, abs=0.02)
            assert row["front"] == fronts[pattern]


def check_stopping_times(summary: dict[str, Any]) -> None:
    """Experiment 1: the claim holds at the paper's epsilon, and each number is that of `simulate`."""
    experiment = summary["experiment1"]
    assert list(experiment) == ["epsilon_0.1", "epsilon_0.05", "epsilon_0.02"]
    entry = experiment["epsilon_0.1"]
    assert entry["holds"] is True
    assert isinstance(entry["paper_claim"], str)
    for policy in POLICIES:
        assert entry[policy]["mean"] == pytest.approx(np.mean(list(entry[policy]["per_pattern"].values())))
        assert list(entry[policy]["per_pattern"]) == [str(pattern) for pattern in QUICK.patterns[0.1]]
    with pytest.warns(ramgape.RamgapeWarning):
        alone = ramgape.simulate("paper:10", epsilon=0.1, bound="paper", policy="ra-lucb", seed=0)
    assert entry["ra-lucb"]["per_pattern"]["10"] == alone.samples
    tighter = [experiment[key]["ramgape"]["per_pattern"]["46"] for key in experiment]
    assert tighter == sorted(tighter)
    gaussian = summary["gaussian"]["epsilon_0.1"]
    assert gaussian["holds"] is True
    assert (
        gaussian["ramgape"]["per_pattern"]["3"]
        == ramgape.simulate("paper-gaussian:3", epsilon=0.1, bound="gaussian-paper", seed=0).samples
    )


def check_regrets(summary: dict[str, Any], out: Path) -> None:
    """Experiments 3 and 4: finals, curves and shares agree with each other and with `replicate`."""
    for number in (3, 4):
        experiment = summary[f"experiment{number}"]
        finals = experiment["final_regret"]
        assert list(finals) == list(paper.BUDGET_POLICIES)
        with pytest.warns(ramgape.RamgapeWarning):
            alone = ramgape.replicate(
                f"paper:exp{number}", runs=QUICK.trials, epsilon=0.1, budget=paper.HORIZON, policy="xi-lcb"
            )
        arms = len(alone.runs[0].pulls)
        regrets = [run.regret for run in alone.runs]
        assert finals["xi-lcb"]["mean"] == pytest.approx(np.mean(regrets))
        assert finals["xi-lcb"]["middle_half_mean"] == pytest.approx(scipy.stats.trim_mean(regrets, 0.25))
        assert finals["xi-lcb"]["wrong_share"] == np.mean([not run.exact for run in alone.runs])
        assert experiment["exploration"] == pytest.approx((10_000 - 2 * arms) * 0.01 / (16 * arms))
        share = np.mean([sum(run.pulls[arm] for arm in alone.true_front) for run in alone.runs]) / paper.HORIZON
        assert experiment["pulling_ratio"]["xi-lcb"]["mean"] == pytest.approx(share)
        curves = [row for row in rows_of(out / "data" / f"experiment{number}-curves.csv") if row["policy"] == "xi-lcb"]
        assert int(curves[0]["pull"]) == 2 * arms
        assert int(curves[-1]["pull"]) == paper.HORIZON
        assert float(curves[-1]["mean"]) == pytest.approx(finals["xi-lcb"]["mean"])
        assert float(curves[-1]["middle_half"]) == pytest.approx(finals["xi-lcb"]["middle_half_mean"])
        further = experiment["not_in_the_paper"]["final_regret"]
        assert list(further) == ["evidence", "ege-sr", "ege-sh"]
        check_further(further, number, out)
        for result in (*finals.values(), *further.values()):
            low, high = result["wrong_share_interval"]
            assert low <= result["wrong_share"] <= high
    assert summary["experiment3"]["pareto_arms"] == 4
    assert summary["experiment3"]["theorem_1_bound"] == pytest.approx(114_889, rel=1e-4)


def check_further(further: dict[str, Any], number: int, out: Path) -> None:
    """The rules that are not in the paper have the numbers of `replicate`, and the data say which they are."""
    alone = ramgape.replicate(f"paper:exp{number}", runs=QUICK.trials, budget=paper.HORIZON, policy="ege-sh")
    assert further["ege-sh"]["mean"] == pytest.approx(np.mean([run.regret for run in alone.runs]))
    for name in ("curves", "trials"):
        marks = {(row["policy"], row["in_paper"]) for row in rows_of(out / "data" / f"experiment{number}-{name}.csv")}
        assert marks == {
            *((policy, "True") for policy in paper.BUDGET_POLICIES),
            *((policy, "False") for policy in further),
        }


def check_theorems(theorems: dict[str, Any]) -> None:
    for row in theorems["good_event"]:
        assert row["good"] == row["runs"] == QUICK.event_trials
        assert row["wrong"] == 0
    caps = theorems["pulls_per_arm"]["epsilon_0.1"]
    assert (caps["paper_cap"], caps["correct_cap"]) == (17_866, 20_320)
    assert caps["runs_above_correct_cap"] == 0
    few, *_, many = theorems["theorem_1"]
    assert few["bound"] > 1.0 > many["bound"]
    assert few["last"] > 0 == many["last"]


def check_findings(findings: list[dict[str, str]]) -> None:
    """Every finding is whole, and those that do not hang on the number of runs come out as known."""
    verdicts = {finding["claim"]: finding["verdict"] for finding in findings}
    assert len(verdicts) == len(findings) > 30
    assert set(verdicts.values()) == {"confirmed", "refuted", "not checkable"}
    for finding in findings:
        assert all(finding[key] for key in ("claim", "verdict", "evidence", "source"))

    def verdict(words: str) -> str:
        (claim,) = [claim for claim in verdicts if words in claim]
        return verdicts[claim]

    assert verdict("total sample counts") == "confirmed"
    assert verdict("2.1 runs on pattern 10") == "refuted"
    assert verdict("makes Experiment 1 a test") == "refuted"
    assert verdict("Experiment 3 uses a problem of its own") == "refuted"
    assert verdict("large regret in Experiment 4") == "refuted"
    assert verdict("equally wide") == "confirmed"
    assert verdict("2β(T) < ε") == "confirmed"
    assert verdict("M(i,k) = M(i,j)") == "confirmed"
    assert verdict("Section 2's definition") == "refuted"


def check_beyond(summary: dict[str, Any]) -> None:
    """Ours beside the paper's: the same searches as in the other parts, and those of `simulate` with its defaults."""
    chapter = summary["beyond"]
    assert list(chapter["samples"]) == ["epsilon_0.1", "epsilon_0.05", "epsilon_0"]
    for key in ("epsilon_0.1", "epsilon_0.05"):
        assert chapter["samples"][key]["paper"] == summary["experiment1"][key]["ramgape"]["per_pattern"]
    exact = chapter["samples"]["epsilon_0"]
    assert exact["paper"]["46"] == 9_615_859
    alone = ramgape.simulate("paper:46", epsilon=0.0, seed=0)
    assert (alone.policy, alone.bound) == (chapter["ours"]["policy"], chapter["ours"]["bound"])
    assert exact["ours"]["46"] == alone.samples
    assert all(entry["wrong"] == {"paper": 0, "ours": 0} for entry in chapter["samples"].values())
    for number in (3, 4):
        assert chapter[f"experiment{number}"]["paper"] == summary[f"experiment{number}"]["duel"]["ramgape"]


def check_files(out: Path) -> None:
    """Each figure as bitmap and vectors; no trace of unfinished files; raw data that repeat the summary."""
    figures = out / "figures"
    names = {path.stem for path in figures.glob("*.png")}
    assert names == {path.stem for path in figures.glob("*.svg")}
    assert len(names) == 18
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in figures.glob("*.png"))
    assert not list(out.rglob("*.part"))
    rows = rows_of(out / "data" / "experiment2.csv")
    total = sum(int(row["pulls"]) for row in rows if (row["pattern"], row["policy"]) == ("46", "ramgape"))
    assert total == 9_615_859


class Page(HTMLParser):
    """The addresses, links and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.links: list[str] = []
        self.places: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            {"src": self.sources, "href": self.links, "id": self.places}.get(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def check_report(path: Path, summary: dict[str, Any]) -> None:
    """The page stands alone, all its links lead somewhere, and it has the numbers."""
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    assert len(page.sources) == 18
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "<script" not in html
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", html)
    assert "url(" not in html
    for link in page.links:
        assert link[1:] in page.places if link.startswith("#") else (path.parent / link).is_file()
    for number in ("9,697,292", "9,615,859", "0.9916", "17,866", "20,320"):
        assert number in page.text
    assert all(finding["claim"] in page.text for finding in summary["findings"])
    assert "quick version" in page.text
    assert "nan" not in page.text.lower().split()


# Time, order, interruption


def run_part(out: Path, *parts: str, **options: Any) -> dict[str, Any]:
    return publish(REPORT, parts, out, quick=True, **options)


def test_the_executor_changes_nothing_but_the_time(tmp_path: Path) -> None:
    alone = run_part(tmp_path / "alone", "gaussian")
    with ThreadPoolExecutor(3) as threads:
        together = run_part(tmp_path / "together", "gaussian", executor=threads)
    assert without_times(alone) == without_times(together)
    for name in ("data/gaussian.csv", "figures/gaussian.svg", "figures/gaussian.png"):
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "together" / name).read_bytes()


def test_another_seed_gives_other_numbers(tmp_path: Path) -> None:
    first, second = (run_part(tmp_path / str(seed), "gaussian", seed=seed) for seed in (0, 1))
    assert first["gaussian"]["epsilon_0.1"]["ramgape"] != second["gaussian"]["epsilon_0.1"]["ramgape"]
    assert second["gaussian"]["epsilon_0.1"]["ramgape"]["per_pattern"]["10"] == (
        ramgape.simulate("paper-gaussian:10", epsilon=0.1, bound="gaussian-paper", seed=1).samples
    )


def test_what_is_on_disk_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run_part(tmp_path, "gaussian")

    def fail(job: Job, compile_first: bool) -> None:
        raise AssertionError(f"computed again: {job}")

    monkeypatch.setattr("ramgape.paper.report.run_job", fail)
    assert without_times(run_part(tmp_path, "gaussian")) == without_times(before)
    with pytest.raises(AssertionError, match="computed again"):
        run_part(tmp_path, "gaussian", seed=1)


DAMAGES: tuple[Callable[[str], str], ...] = (
    lambda text: text[: len(text) // 2],
    lambda text: "",
    lambda text: "null",
    lambda text: text.replace('"samples": ', '"samples": 1', 1).replace('"seed": 0', '"seed": 7'),
    lambda text: re.sub(r'"code": "[0-9a-f]+"', '"code": "0"', text),
)


def test_a_damaged_file_is_never_taken_for_a_result(tmp_path: Path) -> None:
    """Each kind of damage on every fifth file, of twenty: any one that were believed would show in the numbers."""
    before = run_part(tmp_path, "gaussian")
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == 20
    for place, path in enumerate(runs):
        whole = path.read_text(encoding="utf-8")
        broken = DAMAGES[place % 5](whole)
        assert broken != whole
        path.write_text(broken, encoding="utf-8")
    assert without_times(run_part(tmp_path, "gaussian")) == without_times(before)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "numbers.json"
    write_whole(path, "old")

    def fail(handle: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGKILL, id="kill", marks=pytest.mark.long), pytest.param(signal.SIGINT, id="interrupt")],
)
def test_interrupted_and_started_again_it_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    command = [
        sys.executable,
        "-m",
        "ramgape",
        "reproduce",
        "gaussian",
        "--quick",
        "--jobs",
        "2",
        "--out",
        str(tmp_path),
    ]
    runs = tmp_path / "runs"
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and (not runs.is_dir() or len(list(runs.glob("*.json"))) < 3):
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    survived = {path.name: path.stat().st_mtime_ns for path in runs.glob("*.json")}
    assert len(survived) >= 3
    if number == signal.SIGINT and process.returncode != 0:
        assert process.returncode == 130
        assert "goes on from there" in errors
    again = run_part(tmp_path, "gaussian")
    assert {path.name: path.stat().st_mtime_ns for path in runs.glob("*.json") if path.name in survived} == survived
    fresh = run_part(tmp_path / "fresh", "gaussian")
    assert without_times(again) == without_times(fresh)


def test_a_second_part_joins_the_first(tmp_path: Path) -> None:
    run_part(tmp_path, "gaps")
    both = run_part(tmp_path, "gaussian")
    assert both["parts"] == ["gaussian", "gaps"]
    assert {"gaussian", "gaps"} <= set(both)
    mine = tmp_path / "data" / "notes.txt"
    mine.write_text("not ours to remove", encoding="utf-8")
    assert run_part(tmp_path, "gaps", seed=1)["parts"] == ["gaps"]  # another seed, another report
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.parent.name != "runs"}
    assert found - {"data", "figures", "runs"} == {
        "data/gaps.csv",
        "data/notes.txt",
        "figures/gaps.png",
        "figures/gaps.svg",
        "report.html",
        "summary.json",
    }


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("[]", marks=pytest.mark.long),
        pytest.param("5", marks=pytest.mark.long),
        "not JSON",
        '{"files": 5, "parts": "gaps", "scale": "quick", "seed": 0}',
        '{"files": ["../precious.csv", "data/../../precious.csv"], "parts": [], "scale": "quick", "seed": 0}',
    ],
)
def test_a_summary_that_is_not_ours_does_no_harm(tmp_path: Path, content: str) -> None:
    precious, out = tmp_path / "precious.csv", tmp_path / "out"
    precious.write_text("1", encoding="utf-8")
    out.mkdir()
    (out / "summary.json").write_text(content, encoding="utf-8")
    assert run_part(out, "gaps")["parts"] == ["gaps"]
    assert precious.exists()


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    seen: list[tuple[float, float, str]] = []
    run_part(tmp_path, "gaussian", progress=lambda *state: seen.append(state))
    shares = [done / total for done, total, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert {words for _, _, words in seen} == {"simulating", "drawing"}


def test_the_full_plan_is_the_papers() -> None:
    one = PARTS["1"].plan(FULL, 0)
    assert len(one) == 2 * 50 * 4
    assert {job.arguments["bound"] for job in one.values()} == {"paper"}
    assert len(PARTS["gaussian"].plan(FULL, 0)) == 50 * 4
    for name in ("3", "4"):
        traces = [job for key, job in PARTS[name].plan(FULL, 0).items() if key[0] == "trace"]
        assert {job.arguments["policy"] for job in traces} == set(paper.BUDGET_POLICIES)
        further = [job for key, job in PARTS[name].plan(FULL, 0).items() if key[0] == "further"]
        assert {job.arguments["policy"] for job in further} == {"evidence", "ege-sr", "ege-sh"}
        for job in (*traces, *further):
            assert (job.kind, job.arguments["trials"], job.arguments["budget"]) == ("regret_traces", 50, 10_000)
    shared = [*PARTS["2"].plan(FULL, 0).values(), *PARTS["1-tight"].plan(FULL, 0).values()]
    assert len(unique(shared)) == len(shared) - 8  # Experiment 2 is part of the tight runs, and not run twice


def test_our_defaults_are_put_to_the_papers_questions() -> None:
    """The chapter beyond the paper adds searches of ours, with the options of the paper's, which are made once.

    The bound is the default at tolerance 0, for all tolerances.
    """
    others = {job_key(job) for name, part in PARTS.items() if name != "beyond" for job in part.plan(FULL, 0).values()}
    planned = PARTS["beyond"].plan(FULL, 0)
    assert {kind for kind, *_ in planned} == {"paper", "ours", "trials", "traces"}
    new = {key: job for key, job in planned.items() if job_key(job) not in others}
    assert {key[0] for key in new} == {"ours", "trials"}
    for (kind, first, second), job in new.items():
        twin = planned["paper" if kind == "ours" else "trials", first, second if kind == "ours" else paper.OWN]
        free = {name: value for name, value in job.arguments.items() if name not in ("policy", "bound")}
        assert free == {name: twin.arguments[name] for name in free}
        given = {name: free[name] for name in ("epsilon", "delta", "rho", "budget") if name in free}
        given |= {"epsilon": 0.0} if "epsilon" in given else {}
        spec = simulated_spec(load_instance("paper:46"), **given)
        assert (job.arguments["policy"], job.arguments.get("bound", "none")) == (spec.policy, spec.bound)
    assert len([key for key in new if key[0] == "ours"]) == 2 * 50 + 2


def job_key(job: Job) -> str:
    return json.dumps([job.kind, job.arguments], sort_keys=True)


def test_where_ours_is_as_good_as_theirs() -> None:
    """Counted by hand: the last pull at which the curve is above 0.2, or unknown, is the third."""

    def outcomes(ours: list[float | None]) -> dict[Any, Any]:
        return {
            ("trials", 3, "ramgape"): {"regret": [0.2, 0.4, 0.0]},
            ("trials", 3, "evidence"): {"regret": [0.1, 0.2, 0.0]},
            ("traces", 3, "ramgape"): {"mean": [None, 0.5, 0.4, 0.3, 0.2]},
            ("traces", 3, "evidence"): {"mean": ours},
        }

    found = beyond.compare_regrets(outcomes([None, 0.1, 0.3, 0.2, 0.1]), 3)
    assert (found.ratio, found.reached) == (pytest.approx(0.5), 4)
    assert beyond.compare_regrets(outcomes([None, 0.1, 0.3, 0.2, 0.9]), 3).reached is None


def test_stopping_times_can_be_guessed_well_enough_for_a_progress_bar() -> None:
    for policy, samples in {"ramgape": 9_615_859, "round-robin": 43_131_692}.items():
        assert 0.4 < stopping.expected_pulls("paper:46", 0.0, policy) / samples < 2.5


# Bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["5"], "part must be one of"),
        (["1-tigth"], "did you mean '1-tight'"),
        (["gaps", "--seed", "-1"], "seed must be"),
        (["gaps", "--jobs", "-1"], "jobs must be a whole number of at least 0"),
        (["gaps", "--jobs", "two"], "jobs must be a number"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = CliRunner().invoke(app, ["reproduce", "gaps", "--out", str(tmp_path / "file")])
    assert done.exit_code == 2
    assert "out must be a folder that can be written" in done.stderr


def test_without_json_a_table_and_the_place_of_the_report(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "gaps", "--quick", "--out", str(tmp_path), "--jobs", "1"])
    assert done.exit_code == 0
    assert "confirmed" in done.stdout
    assert str(tmp_path / "report.html") in done.stdout


# Verdicts follow from the numbers


def fake_search(samples: int, epsilon: float, right: bool = True) -> dict[str, Any]:
    arm = {"name": "1", "pulls": samples, "mean": 0.5, "mean_interval": [0.4, 0.6], "risk_interval": [0.0, 0.2]}
    truth = {"front": ["1"], "regret": 0.0, "exact": right, "eps_correct": right}
    return {"samples": samples, "front": ["1"], "truth": truth, "arms": [arm], "seed": 0, "section_2": right}


def fake_outcomes(times: dict[str, int], epsilon: float = 0.1) -> dict[stopping.Key, dict[str, Any]]:
    """The same time on 20 patterns, but for a little noise."""
    return {
        (epsilon, pattern, policy): fake_search(pulls + 7 * pattern, epsilon)
        for pattern in range(1, 21)
        for policy, pulls in times.items()
    }


def test_the_claim_on_stopping_times_can_fail() -> None:
    as_claimed = {"ramgape": 1000, "ra-lucb": 1020, "de-round-robin": 1500, "round-robin": 3000}
    assert stopping.summarize(fake_outcomes(as_claimed))["epsilon_0.1"]["holds"]
    for policy, pulls in {"ra-lucb": 1500, "de-round-robin": 900, "round-robin": 1000}.items():
        outcomes = fake_outcomes({**as_claimed, policy: pulls})
        assert not stopping.summarize(outcomes)["epsilon_0.1"]["holds"]
        verdicts = {finding.claim: finding.verdict for finding in stopping.claims(outcomes, 0.1, "Here", "nowhere")}
        assert list(verdicts.values()).count("refuted") == 1
        (refuted,) = [claim for claim, verdict in verdicts.items() if verdict == "refuted"]
        assert stopping.display_name(policy) in refuted


def test_a_wrong_answer_is_counted() -> None:
    outcomes = fake_outcomes(dict.fromkeys(POLICIES, 1000))
    outcomes[0.1, 3, "ra-lucb"] = fake_search(1000, 0.1, right=False)
    assert stopping.summarize(outcomes)["epsilon_0.1"]["wrong"] == 1


def test_totals_far_from_the_papers_are_refuted() -> None:
    outcomes = {(46, policy): fake_search(total, 0.0) for policy, total in paper.TOTALS[46].items()}
    assert exact.reproduced(outcomes).verdict == "confirmed"
    outcomes[46, "ramgape"] = fake_search(round(1.03 * paper.TOTALS[46]["ramgape"]), 0.0)
    assert exact.reproduced(outcomes).verdict == "refuted"
    assert exact.summarize(outcomes)["pattern_46"]["ramgape"]["ratio"] == pytest.approx(1.03)


def test_unequal_widths_are_refuted() -> None:
    assert exact.balanced({(46, "ramgape"): fake_search(10, 0.0)}).verdict == "confirmed"
    unequal = fake_search(10, 0.0)
    unequal["arms"][0]["risk_interval"] = [0.0, 0.3]
    assert exact.balanced({(46, "ramgape"): unequal}).verdict == "refuted"


@pytest.mark.parametrize("broken", ["1", "3", "4"])
def test_the_overall_claim_needs_all_of_its_parts(broken: str) -> None:
    def section(name: str, holds: bool) -> Section:
        finding = Finding(
            f"... {reproduction.SETTINGS[name]} ...", "confirmed" if holds else "refuted", "evidence", "source"
        )
        rules = {rule: {"mean": float(place)} for place, rule in enumerate(paper.BUDGET_POLICIES)}
        summary = {"epsilon_0.1": {"holds": holds}, "pulling_ratio": rules, "final_regret": rules}
        return Section(name, "", (), summary, {}, findings=[finding])

    sections = {name: section(name, holds=True) for name in reproduction.SETTINGS}
    assert reproduction.overall(sections)[0].verdict == "confirmed"
    assert reproduction.overall({**sections, broken: section(broken, holds=False)})[0].verdict == "refuted"
    del sections[broken]
    left = reproduction.overall(sections)
    assert all(finding.verdict == "not checkable" for finding in left)
    assert len(left) == (3 if broken == "1" else 1)  # nothing is said of experiments that were not run


def test_agreement_is_a_rank_correlation() -> None:
    shares, regrets = [0.77, 0.69, 0.69, 0.63, 0.12], [0.002, 0.0, 0.02, 0.0, 0.004]
    summary = {
        "pulling_ratio": {str(rule): {"mean": share} for rule, share in enumerate(shares)},
        "final_regret": {str(rule): {"mean": regret} for rule, regret in enumerate(regrets)},
    }
    expected = scipy.stats.spearmanr(shares, [-regret for regret in regrets]).statistic
    assert reproduction.agreement(Section("3", "", (), summary, {})) == pytest.approx(expected)


def fake_budget_runs(own: float = 1.0, **scales: float) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Seven rules whose regret falls alike, but for a factor; the last tenth of the trials is twice as bad."""
    falling = np.where(np.arange(paper.HORIZON) < 19, np.nan, 0.03 * np.exp(-np.arange(paper.HORIZON) / 1500.0))
    outcomes: dict[tuple[Any, ...], dict[str, Any]] = {}
    for policy in paper.BUDGET_POLICIES:
        factor = own if policy == "ramgape" else scales.get(policy.replace("-", "_"), 3.0)
        values = [None if np.isnan(value) else factor * value for value in falling]
        regrets = [factor * float(falling[-1])] * 18 + [2.0 * factor * float(falling[-1])] * 2
        outcomes["trace", policy] = {
            "arms": 10,
            "pareto_arms": 4,
            "started": 19,
            "exploration": 1.0,
            "middle_half": values,
            "mean": values,
            "final": regrets,
            "pareto_share": [0.5 if policy == "ramgape" else 0.4] * 20,
            "pareto_share_by_stage": [[0.4, 0.5, 0.5, 0.6]] * 20,
        }
        if policy in ("ramgape", "ra-lucb", "round-robin"):
            outcomes["comparison", policy] = {"regret": regrets}
        for value in (0.1, 1.0):
            outcomes["sweep", policy, value] = {"regret": regrets}
    return outcomes


def budget_verdicts(outcomes: dict[tuple[Any, ...], dict[str, Any]]) -> dict[str, str]:
    words = {
        "fast": "converges fast",
        "steady": "falls steadily",
        "accurate": "accurately",
        "best": "equals the best",
        "others": "every other rule",
        "shift": "later shifts",
        "share": "significantly larger share",
        "fastest": "drops fastest",
        "twin": "much faster than RA-LUCB",
        "a": "the a of the theorem suits",
    }
    found = list(regret.findings(4, outcomes))
    return {key: finding.verdict for key, text in words.items() for finding in found if text in finding.claim}


def test_claims_under_a_budget_can_hold_and_can_fail() -> None:
    as_claimed = budget_verdicts(fake_budget_runs())
    assert as_claimed.pop("accurate") == "refuted"  # every set is wrong
    assert len(as_claimed) == 9
    assert set(as_claimed.values()) == {"confirmed"}

    level = budget_verdicts(fake_budget_runs(ra_lucb=1.01))  # a hair is not enough, whichever way it falls
    assert (level["fastest"], level["twin"], level["others"], level["best"]) == (
        "confirmed",
        "refuted",
        "refuted",
        "confirmed",
    )
    behind = budget_verdicts(fake_budget_runs(ra_lucb=0.5, round_robin=0.5))
    assert {behind[key] for key in ("fast", "fastest", "twin", "others", "best")} == {"refuted"}

    outcomes = fake_budget_runs()
    own = outcomes["trace", "ramgape"]
    own["middle_half"] = own["middle_half"][:19] + own["middle_half"][:18:-1]  # it rises
    own["pareto_share"] = [0.3] * 20
    own["pareto_share_by_stage"] = [[0.6, 0.5, 0.5, 0.4]] * 20
    outcomes["sweep", "ramgape", 1.0] = {"regret": [1.0] * 20}
    outcomes["comparison", "ramgape"] = {"regret": [0.0] * 20}
    assert budget_verdicts(outcomes) == {
        "fast": "refuted",
        "steady": "refuted",
        "accurate": "confirmed",
        "best": "confirmed",
        "others": "confirmed",
        "shift": "refuted",
        "share": "refuted",
        "fastest": "confirmed",
        "twin": "confirmed",
        "a": "refuted",
    }


def test_rules_that_are_not_in_the_paper_are_shown_but_judge_nothing() -> None:
    outcomes = fake_budget_runs()
    for outcome in outcomes.values():
        outcome.setdefault("wrong", outcome.get("mean"))
    before = list(regret.findings(4, outcomes))
    perfect = {
        **outcomes["trace", "ramgape"],
        "middle_half": [None] * 19 + [0.0] * (paper.HORIZON - 19),
        "mean": [None] * 19 + [0.0] * (paper.HORIZON - 19),
        "final": [0.0] * 20,
        "pareto_share": [0.99] * 20,
    }
    further = {("further", policy): perfect for policy in FURTHER}
    assert list(regret.findings(4, {**outcomes, **further})) == before
    scale = replace(QUICK, explorations=(0.1, 1.0))
    section = regret.make_section(4, scale, 0, {**outcomes, **further})
    assert list(section.findings) == before
    assert list(section.summary["final_regret"]) == list(paper.BUDGET_POLICIES)
    assert reproduction.agreement(section) == reproduction.agreement(regret.make_section(4, scale, 0, outcomes))
    curves, final, *_ = section.drawings
    assert "made for an answer after the last pull only" in curves.caption
    legend = figures.regret_curves(*curves.arguments).legends[0]
    assert [text.get_text() for text in legend.get_texts()][-3:] == [
        "Evidence (ours, not in the paper)",
        "EGE-SR (not in the paper)",
        "EGE-SH (not in the paper)",
    ]
    rows = figures.final_quality(*final.arguments).axes[0].get_yticklabels()
    assert [text.get_text() for text in rows][-2:] == ["EGE-SR\n(not in the paper)", "EGE-SH\n(not in the paper)"]


def test_significance_is_not_judged_from_few_patterns() -> None:
    times = {"ramgape": 1000, "ra-lucb": 1020, "de-round-robin": 1500, "round-robin": 3000}
    outcomes = {key: outcome for key, outcome in fake_outcomes(times).items() if key[1] <= 5}
    verdicts = [finding.verdict for finding in stopping.claims(outcomes, 0.1, "Here", "nowhere")]
    assert verdicts == ["not checkable", "not checkable", "confirmed"]
    verdicts = [finding.verdict for finding in stopping.claims(outcomes, 0.1, "Here", "nowhere", significantly=False)]
    assert verdicts == ["confirmed"] * 3


def test_only_returned_arms_tell_whether_the_rightmost_is_spared() -> None:
    outcome = fake_search(10, 0.0)
    arm = outcome["arms"][0]
    outcome["arms"] = [
        {**arm, "name": name, "mean": mean, "pulls": pulls}
        for name, mean, pulls in (("1", 0.6, 400), ("2", 0.5, 500), ("3", 0.4, 9000))
    ]
    outcome["front"] = ["1", "2"]
    assert exact.spares_far_right({(46, "ramgape"): outcome}, "ramgape").verdict == "refuted"
    outcome["arms"][1]["pulls"] = 5000
    assert exact.spares_far_right({(46, "ramgape"): outcome}, "ramgape").verdict == "confirmed"


# The pieces


def test_gap_cases_are_the_two_of_the_appendix() -> None:
    a, b = (gap_case(CASES[name]) for name in "ab")
    assert a.distances["M(k,i)"] < a.distances["M(i,j)"]
    assert b.distances["M(k,i)"] >= b.distances["M(i,j)"]
    for case in (a, b):
        means, risks = np.array(list(case.arms.values())).T
        assert [case.distances[f"gap {name}"] for name in "ijk"] == pytest.approx(gaps(means, risks))
        (mean_i, risk_i), (mean_k, risk_k) = case.arms["i"], case.arms["k"]
        assert case.distances["M(i,k)"] == pytest.approx(max(mean_i - mean_k, risk_k - risk_i))


def test_no_simple_regret_exceeds_the_range_of_the_risk() -> None:
    generator = np.random.default_rng(0)
    largest = 0.0
    for _ in range(2000):
        means = generator.choice([0.0, generator.random(), 1.0], 4)
        variances = means * (1.0 - means) * generator.choice([0.0, 1.0], 4)
        largest = max(largest, float(gaps(means, (variances - paper.RHO * means) / (3.0 + paper.RHO)).max()))
    assert 0.9 * paper.largest_regret() < largest <= paper.largest_regret() + 1e-12


def test_the_cap_is_the_smallest_number_of_pulls_that_suffices() -> None:
    for epsilon in (0.1, 0.05, 0.02):
        cap = paper.correct_cap(epsilon)
        assert 2.0 * paper.radius(cap) < epsilon <= 2.0 * paper.radius(cap - 1)


def test_good_events_are_counted_by_run() -> None:
    arguments = {"instance": "paper:exp3", "seed": 0, "trials": 6, "budget": 200, "policy": "round-robin"}
    narrow = run_job(Job("good_event", {**arguments, "epsilon": 0.1, "exploration": 1e-6}))
    wide = run_job(Job("good_event", {**arguments, "epsilon": 0.1, "exploration": 10.0}))
    assert narrow["good"] == [False] * 6
    assert wide["good"] == [True] * 6


def test_statistics_agree_with_scipy() -> None:
    generator = np.random.default_rng(1)
    values = generator.exponential(size=50)
    assert middle_half_mean(values) == pytest.approx(scipy.stats.trim_mean(values, 0.25))
    assert middle_half_mean(np.stack([values, 2.0 * values], axis=1)) == pytest.approx(
        [scipy.stats.trim_mean(values, 0.25), 2.0 * scipy.stats.trim_mean(values, 0.25)]
    )
    assert geometric_mean(values.tolist()) == pytest.approx(scipy.stats.gmean(values))
    differences = generator.normal(0.3, 1.0, 30)
    assert sign_test(differences.tolist()) == pytest.approx(
        scipy.stats.binomtest(int((differences > 0).sum()), 30).pvalue
    )
    expected = scipy.stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(2)
    ).pvalue
    assert sign_flip_test(differences.tolist()) == pytest.approx(expected, abs=0.01)
    low, high = mean_interval(values.tolist())
    theirs = scipy.stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(3))
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval), rel=0.02)


def test_columns_of_words_stand_to_the_left() -> None:
    assert Grid("", ("rule", "pulls"), [["RAMGapE", "1,000"], ["ξ-LCB", ""]]).words == [True, False]


def test_a_cache_knows_jobs_apart(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    jobs = [Job("search", {"seed": seed}) for seed in (0, 1)]
    cache.save(jobs[0], {"samples": 5})
    assert cache.load(jobs[0]) == {"samples": 5}
    assert cache.load(jobs[1]) is None
