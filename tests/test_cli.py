"""The command line: what scripts rely on, what people see, and what happens when something is wrong."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import ramgape
from ramgape.bounds import AUTOMATIC, BOUNDS
from ramgape.cli import AllCommands, demo, listing, pictures, workers
from ramgape.cli.command_table import CommandTable, StandIn
from ramgape.cli.streams import prepare_streams
from ramgape.cli.study import StudyCommands
from ramgape.common import terminal
from ramgape.policies import ALIASES, POLICIES
from ramgape.search.engine import Engine
from ramgape.simulation import replication, simulation
from ramgape.simulation.replication import Replication
from ramgape.simulation.simulation import play
from ramgape.trials.progress import Progress
from ramgape.views.simulated import replication_facts as facts
from tests.cli_support import NO_SIGNALS, call, call_json, complaint, environment, start

CONTRACT = {
    "schema_version": int,
    "versions": dict,
    "instance": str,
    "policy": str,
    "bound": str,
    "goal": dict,
    "rho": float,
    "true_front": list,
    "runs": list,
    "mean_samples": float,
    "mean_samples_stderr": float,
    "error_rate": float,
    "error_interval": list,
    "undecided_rate": float,
    "seconds": float,
    "ns_per_pull": float,
}
RUN = {
    "seed": int,
    "samples": int,
    "front": list,
    "stopped": str,
    "pulls": dict,
    "regret": float,
    "exact": bool,
    "eps_correct": bool,
}
SEARCH = ("simulate", "paper:46", "--epsilon", "0.02", "--bound", "hoeffding")


def without_times(printed: dict[str, Any]) -> dict[str, Any]:
    """What must be the same whenever and however it was computed."""
    runs = [{key: value for key, value in run.items() if key != "seconds"} for run in printed["runs"]]
    rest = {key: value for key, value in printed.items() if key not in ("seconds", "ns_per_pull", "runs")}
    return {**rest, "runs": runs}


# ------------------------------------------------------------------------------ simulate --json


def test_the_object_has_the_promised_keys_and_types() -> None:
    finished = start(*SEARCH, "--runs", "3", "--json")
    assert finished.returncode == 0
    assert finished.stderr == ""
    printed = json.loads(finished.stdout)
    assert {key: type(printed[key]) for key in CONTRACT} == CONTRACT
    assert printed["goal"] == {
        "kind": "confidence",
        "epsilon": 0.02,
        "delta": 0.05,
        "budget": None,
        "risk_epsilon": None,
        "epsilon_share": None,
        "spend": None,
    }
    assert (printed["instance"], printed["policy"], printed["bound"]) == ("paper:46", "ramgape", "hoeffding")
    assert printed["versions"]["ramgape"] == ramgape.__version__
    assert [run["seed"] for run in printed["runs"]] == [0, 1, 2]
    names = list(ramgape.load_instance("paper:46").names)
    for run in printed["runs"]:
        assert {key: type(run[key]) for key in RUN} == RUN
        assert run["stopped"] == "confidence"
        assert list(run["pulls"]) == names
        assert sum(run["pulls"].values()) == run["samples"]
    samples = [run["samples"] for run in printed["runs"]]
    assert printed["mean_samples"] == pytest.approx(sum(samples) / 3)
    assert printed["undecided_rate"] == 0.0
    low, high = printed["error_interval"]
    assert 0.0 <= low <= printed["error_rate"] <= high <= 1.0


def test_the_numbers_are_the_library_s() -> None:
    printed = call_json(*SEARCH, "--runs", "2", "--seed", "5", "--rho", "0.1", "--alpha", "0.25", "--delta", "0.1")
    expected = ramgape.replicate(
        "paper:46", runs=2, seed=5, epsilon=0.02, delta=0.1, rho=0.1, alpha=0.25, bound="hoeffding"
    )
    assert without_times(printed) == without_times(json.loads(json.dumps(expected.to_dict())))


def test_run_r_can_be_repeated_alone() -> None:
    together = call_json(*SEARCH, "--runs", "3", "--seed", "7")
    alone = call_json(*SEARCH, "--seed", "9")
    assert without_times(together)["runs"][2] == without_times(alone)["runs"][0]
    assert alone["mean_samples_stderr"] is None


def test_processes_change_nothing() -> None:
    one = call_json(*SEARCH, "--runs", "5", "--jobs", "1")
    two = call_json(*SEARCH, "--runs", "5", "--jobs", "2")
    assert without_times(one) == without_times(two)


def test_a_cap_leaves_the_question_open() -> None:
    printed = call_json(*SEARCH, "--max-trials", "1e3", "--runs", "2")
    assert [run["stopped"] for run in printed["runs"]] == ["cap", "cap"]
    assert [run["samples"] for run in printed["runs"]] == [1000, 1000]
    assert printed["undecided_rate"] == 1.0
    assert printed["error_rate"] is None
    assert printed["error_interval"] is None


@pytest.mark.parametrize("written", ["2000", "2e3", "2_000", "2000.0"])
def test_a_budget_is_spent_to_the_last_pull(written: str) -> None:
    printed = call_json("simulate", "paper:46", "--budget", written, "--epsilon", "0.02")
    none = {"delta": None, "risk_epsilon": None, "epsilon_share": None, "spend": None}
    assert printed["goal"] == {"kind": "budget", "epsilon": 0.02, "budget": 2000, **none}
    (run,) = printed["runs"]
    assert (run["samples"], run["stopped"]) == (2000, "budget")


def test_exploration_by_value_and_by_name() -> None:
    budget = ("simulate", "paper:46", "--budget", "500", "--policy", "ramgape", "--epsilon", "0.02", "--exploration")
    assert call_json(*budget, "0.5")["exploration"] == 0.5
    assert call_json(*budget, "sharp")["exploration"] > call_json(*budget, "theorem")["exploration"]


def test_the_other_options_reach_the_search() -> None:
    printed = call_json(
        "simulate", "paper-gaussian:3", "--epsilon", "0.1", "--sigma-max", "0.5", "--initial-trials", "4",
        "--max-trials", "40", "--direction", "minimize", "--policy", "round-robin",
    )  # fmt: skip
    assert (printed["bound"], printed["policy"]) == ("gaussian", "round-robin")
    assert set(printed["runs"][0]["pulls"].values()) == {4}
    fine = ("simulate", "paper-gaussian:3", "--epsilon", "0.3", "--seed", "1")
    assert call_json(*fine, "--resolution", "0.1")["mean_samples"] > call_json(*fine)["mean_samples"]
    instance = ramgape.load_instance("paper-gaussian:3")
    assert instance.names[int(instance.means.argmin())] in printed["true_front"]


def test_an_instance_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    arms = [
        {"name": "sure", "distribution": "uniform", "low": 0.4, "high": 0.6},
        {"name": "Ä 日本", "distribution": "bernoulli", "p": 0.3},
    ]
    file.write_text(json.dumps({"reward_range": [0, 1], "arms": arms}), encoding="utf-8")
    printed = call_json("simulate", str(file), "--epsilon", "0.05")
    assert (printed["instance"], printed["true_front"]) == ("mine", ["sure"])
    assert set(printed["runs"][0]["pulls"]) == {"sure", "Ä 日本"}


def test_a_warning_stays_out_of_stdout() -> None:
    finished = start("simulate", "paper:46", "--runs", "2", "--json")
    assert finished.returncode == 0
    printed = json.loads(finished.stdout)
    assert len(printed["warnings"]) == 1
    assert finished.stderr == f"warning: {printed['warnings'][0]}\n"
    assert "epsilon 0.1" in finished.stderr


# ------------------------------------------------------------------------------ simulate, for people


def test_one_run_shows_the_result() -> None:
    result = call(*SEARCH)
    expected = ramgape.simulate("paper:46", epsilon=0.02, bound="hoeffding", seed=0)
    assert result.exit_code == 0
    assert result.stderr == ""
    first, second = expected.answer
    assert (
        f"Keep {first} (highest measured mean) and {second} (lowest measured risk); drop the other 8." in result.stdout
    )
    assert f"{expected.trials:,} trials of 10 options" in result.stdout
    assert "(95% sure)" in result.stdout
    assert result.stdout.endswith("Exact statement: add --explain\n")
    assert all(letter not in result.stdout for letter in "│─╭╯")
    explained = " ".join(call(*SEARCH, "--explain").stdout.split())
    assert expected.guarantee in explained
    assert "Jointly:" in explained


def test_one_run_tells_a_warning_once() -> None:
    result = call("simulate", "paper:46")
    assert result.stderr.startswith("warning: epsilon 0.1")
    assert "arning" not in result.stdout


def test_several_runs_show_a_summary() -> None:
    result = call(*SEARCH, "--runs", "4")
    several = ramgape.replicate("paper:46", runs=4, epsilon=0.02, bound="hoeffding")
    assert result.exit_code == 0
    assert "4 runs of ramgape, seeds 0 to 3" in result.stdout
    assert f"{several.mean_samples:,.0f}" in result.stdout
    assert f"{several.mean_samples_stderr:,.0f} (mean, standard error)" in result.stdout
    assert f"{several.errors} of 4 answers beyond epsilon" in result.stdout
    (first,) = [line for line in result.stdout.splitlines() if line.split()[:2] == ["1", "in"]]
    average = sum(run.pulls["1"] for run in several.runs) / 4
    returned = sum("1" in run.front for run in several.runs)
    assert f"{returned} of 4" in first
    assert f"{average:,.0f}" in first


def shown(replication: Replication, width: int, encoding: str = "utf-8") -> str:
    """A summary as a console of this width and encoding shows it."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, force_terminal=False)
    console.print(replication)
    file.seek(0)
    return file.read()


def test_a_summary_fits_wide_and_narrow_terminals() -> None:
    several = ramgape.replicate("paper:exp4", runs=2, budget=1000, epsilon=0.02)
    for width in (60, 80, 120):
        lines = shown(several, width).splitlines()
        assert max(map(len, lines)) <= width
    assert "... and 50 more" in shown(several, 80)
    assert shown(several, 80, encoding="ascii").isascii()


def test_a_summary_knows_what_was_not_judged() -> None:
    capped = ramgape.replicate("paper:46", runs=2, epsilon=0.02, max_trials=100)
    said = dict(facts(capped, "+/-"))
    assert said["Wrong"] == "unknown, since no run came to an answer"
    assert said["Undecided"].startswith("2 of 2 runs")
    assert said["Pulls"] == "100 in every run"
    spent = dict(facts(ramgape.replicate("paper:46", runs=2, budget=100), "+/-"))
    assert "not exactly the true Pareto set" in spent["Wrong"]
    assert "Undecided" not in spent


def test_a_picture_of_the_first_run(tmp_path: Path) -> None:
    one, many = tmp_path / "one.png", tmp_path / "many.png"
    assert call(*SEARCH, "--plot", str(one)).exit_code == 0
    result = call(*SEARCH, "--runs", "2", "--json", "--plot", str(many))
    assert json.loads(result.stdout)["instance"] == "paper:46"
    assert result.stderr == f"written: {many}\n"
    assert one.read_bytes().startswith(b"\x89PNG")
    assert one.read_bytes() == many.read_bytes()


# ------------------------------------------------------------------------------ complaints


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--epsilon", "-1"), "epsilon must be a finite number of at least 0, or a pair (mean, risk), got -1"),
        (("--epsilon=-0.5",), "epsilon must be a finite number of at least 0, or a pair (mean, risk), got -0.5"),
        (("--epsilon", "nan"), "epsilon must be a finite number of at least 0, or a pair (mean, risk), got nan"),
        (("--epsilon", "inf"), "epsilon must be a finite number of at least 0, or a pair (mean, risk), got inf"),
        (("--epsilon", "small"), "epsilon must be a number, got 'small'"),
        (("--delta", "-inf"), "delta must be between 0 and 1"),
        (("--rho", "nan"), "rho must be"),
        (("--alpha", "0"), "alpha must be"),
        (("--sigma-max", "-1"), "sigma_max must be"),
        (("--budget", "1.5"), "budget must be a whole number of at least 20"),
        (("--budget", "nan"), "budget must be a whole number"),
        (("--budget", "1e400"), "budget must be a whole number"),
        (("--budget", "-5"), "budget must be a whole number"),
        (("--budget", "many"), "budget must be a number, got 'many'"),
        (("--budget", "100", "--delta", "0.1"), "max_trials"),
        (("--budget", "100", "--exploration", "-1"), "exploration must be"),
        (("--budget", "100", "--policy", "ramgape", "--exploration", "shrp"), "did you mean 'sharp'?"),
        (("--budget", "100", "--returned", "first"), "returned must be"),
        (("--budget", "100", "--bound", "paper"), "bound must be one that serves"),
        (("--max-trials", "3"), "max_trials must be"),
        (("--initial-trials", "1"), "initial_trials must be"),
        (("--direction", "up"), "direction must be"),
        (("--policy", "ramgap"), "did you mean 'ramgape'?"),
        (("--bound", "hoefding"), "did you mean 'hoeffding'?"),
        (("--runs", "0"), "runs must be a whole number of at least 1, got 0"),
        (("--runs", "1.5"), "runs must be"),
        (("--seed", "-1"), "seed must be a whole number of at least 0, got -1"),
        (("--seed", "0.5"), "seed must be"),
        (("--jobs", "-1"), "jobs must be a whole number of at least 0"),
        (("--jobs", "nan"), "jobs must be"),
        (("--plot", "picture.xyz"), "plot must be a file that ends in one of"),
        (("--plot", "no/such/folder/picture.png"), "plot must be in a folder that exists"),
    ],
)
@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_bad_values_reach_the_library_s_own_words(
    arguments: tuple[str, ...], words: str, extra: tuple[str, ...]
) -> None:
    assert words in complaint("simulate", "paper:46", *arguments, *extra)


def test_unknown_instances(tmp_path: Path) -> None:
    assert "did you mean 'paper:46'?" in complaint("simulate", "papr:46")
    assert "existing file" in complaint("simulate", str(tmp_path / "none.json"))
    broken = tmp_path / "broken.json"
    broken.write_text('{"arms": [}', encoding="utf-8")
    assert "line 1, column 11" in complaint("simulate", str(broken))


def test_complaints_with_several_processes_leave_none_behind() -> None:
    assert "epsilon must be" in complaint("simulate", "paper:46", "--epsilon", "-1", "--runs", "4", "--jobs", "2")


@pytest.mark.parametrize("arguments", [("simulate",), ("simulate", "paper:46", "--colour"), ("simulat",), ("list",)])
def test_bad_usage(arguments: tuple[str, ...]) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_picture_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert 'pip install "ramgape[plot]"' in complaint(*SEARCH, "--plot", "picture.png")


def test_a_picture_that_cannot_be_written(tmp_path: Path) -> None:
    class Unwritable:
        def save_plot(self, path: Path) -> None:
            raise PermissionError(13, "Permission denied")

    with pytest.raises(ramgape.InvalidSpec, match=r"can be written.*Permission denied"):
        pictures.write_file(Unwritable().save_plot, tmp_path / "picture.png", "plot")
    assert "a file, not a folder" in complaint(*SEARCH, "--plot", str(tmp_path))
    assert "name too long" in complaint(*SEARCH, "--plot", f"{'x' * 300}.png")


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(replication, "replicate", fail)
    result = call(*SEARCH, "--json")
    assert isinstance(result.exception, ZeroDivisionError)
    assert result.exit_code == 1


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(replication, "replicate", fail)
    result = call(*SEARCH, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: [Errno 28] No space left on device\n"


# ------------------------------------------------------------------------------ interrupts, pipes, encodings


def test_an_interrupt_shows_what_one_run_has_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(engine: Engine, *arguments: object, **options: object) -> Iterator[float]:
        for seconds in play(engine, *arguments, **options):  # type: ignore[arg-type]
            yield seconds
            raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "play", interrupted)
    result = call("simulate", "paper:46", "--epsilon", "0", "--bound", "paper")
    assert result.exit_code == 130
    assert result.stdout.startswith("Best guess: ")
    assert "This is right within" in result.stdout


@pytest.mark.parametrize(("finished", "words"), [(0, "after 0 of 5 runs"), (3, "after 3 of 5 runs; --runs 3")])
def test_an_interrupt_prints_nothing_partial_of_many_runs(
    monkeypatch: pytest.MonkeyPatch, finished: int, words: str
) -> None:
    def interrupted(*arguments: object, callback: Callable[[int], object], **options: object) -> None:
        if finished:
            callback(finished)
        raise KeyboardInterrupt

    monkeypatch.setattr(replication, "replicate", interrupted)
    for extra in ((), ("--json",)):
        result = call(*SEARCH, "--runs", "5", *extra)
        assert (result.exit_code, result.stdout) == (130, "")
        assert result.stderr.startswith(f"interrupted: {words}")


class AtTerminal:
    """The command with a terminal as its stderr; a thread reads along, so that it is never held up."""

    def __init__(self, *arguments: str) -> None:
        import pty

        self.seen = b""
        self._news = threading.Condition()
        self._controller, end = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ramgape", *arguments],
            stdout=subprocess.PIPE,
            stderr=end,
            env=environment(TERM="xterm", COLUMNS="120"),
            text=True,
            # Tests that were started in the background ignore interrupts, and what they start would, too.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        os.close(end)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                some = os.read(self._controller, 4096)
            except OSError:  # how Linux says that the other end is closed
                some = b""
            with self._news:
                self.seen += some
                self._news.notify_all()
            if not some:
                return

    def wait_for(self, words: bytes) -> None:
        """Until these words have been shown."""
        with self._news:
            found = self._news.wait_for(lambda: words in self.seen, timeout=300)
        if not found:
            self.process.kill()
        assert found, self.seen

    def finish(self) -> str:
        """All of its stdout."""
        try:
            stdout, _ = self.process.communicate(timeout=300)
        finally:
            self.process.kill()
            self._reader.join()
            os.close(self._controller)
        return stdout


@NO_SIGNALS
def test_ctrl_c_at_a_terminal() -> None:
    started = AtTerminal("simulate", "paper:exp4", "--epsilon", "1e-5", "--bound", "paper")
    started.wait_for(b"so far ")
    started.process.send_signal(signal.SIGINT)
    stdout = started.finish()
    assert b"getting ready" in started.seen
    assert started.process.returncode == 130
    assert "Stopped after " in stdout  # whether anything is proved by then depends on the machine


@NO_SIGNALS
def test_progress_goes_to_a_terminal_and_json_to_stdout() -> None:
    started = AtTerminal(*SEARCH, "--runs", "3", "--json")
    printed = json.loads(started.finish())
    assert started.process.returncode == 0
    assert b"getting ready" in started.seen  # three short runs may be over before anything else is shown
    assert len(printed["runs"]) == 3


@NO_SIGNALS
@pytest.mark.parametrize("arguments", [("list", "policies"), ("list", "instances", "--json"), ("--help",)])
def test_a_reader_that_goes_away(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "ramgape", *arguments]
        finished = subprocess.run(
            command, stdout=writing, stderr=subprocess.PIPE, timeout=300, check=False, env=environment()
        )
    finally:
        os.close(writing)
    assert finished.stderr == b""


def test_a_terminal_that_knows_few_letters(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    arms = [
        {"name": "[red]日本", "distribution": "uniform", "low": 0.4, "high": 0.6},
        {"name": "B", "distribution": "bernoulli", "p": 0.3},
    ]
    file.write_text(json.dumps({"reward_range": [0, 1], "arms": arms}), encoding="utf-8")
    finished = start("simulate", str(file), "--epsilon", "0.05", "--runs", "2", PYTHONIOENCODING="ascii")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.isascii()
    assert "[red]\\u65e5\\u672c" in finished.stdout


def test_streams_that_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    prepare_streams()
    streams: list[Any] = [sys.stdout, sys.stderr]
    for stream in streams:
        assert stream.write("nobody reads this")
        stream.close()


# ------------------------------------------------------------------------------ what is shown meanwhile


def test_displays_when_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_watched", lambda: True)
    for arguments in (
        SEARCH,
        (*SEARCH, "--runs", "2"),
        ("simulate", "paper:46", "--budget", "1000", "--epsilon", "0.02"),
    ):
        result = call(*arguments)
        assert result.exit_code == 0
        assert "of 10 options" in result.stdout or "2 runs of ramgape" in result.stdout


def test_workers_are_as_many_as_wanted() -> None:
    assert workers.available_cores() >= 1
    with workers.workers(jobs=8, runs=1) as executor:
        assert executor is None
    with workers.workers(jobs=2, runs=5) as executor:
        assert executor is not None
        assert executor.submit(os.getpid).result() != os.getpid()


# ------------------------------------------------------------------------------ list, demo, version, help


def test_list_policies() -> None:
    printed = call_json("list", "policies")["policies"]
    described = {row["name"]: (tuple(row["goals"]), tuple(row["paper_goals"]), row["meaning"]) for row in printed}
    assert described == {name: (about.goals, about.paper_goals, about.meaning) for name, about in POLICIES.items()}
    table = call("list", "policies").stdout
    assert all(name in table for name in (*POLICIES, *ALIASES))
    assert {row["name"]: row["policy"] for row in call_json("list", "policies")["aliases"]} == {
        "ugape": "ramgape",
        "lucb": "ra-lucb",
    }


def test_list_bounds() -> None:
    printed = call_json("list", "bounds")
    described = {
        row["name"]: (
            tuple(row["assumptions"]),
            tuple(row["risks"]),
            tuple(row["goals"]),
            row["narrows"],
            row["meaning"],
        )
        for row in printed["bounds"]
    }
    assert described == {
        name: (bound.assumptions, bound.risks, bound.goals, bound.narrows, bound.meaning)
        for name, bound in BOUNDS.items()
    }
    assert {(row["assumption"], row["risk"], row["goal"]): row["bound"] for row in printed["auto"]} == AUTOMATIC
    table = call("list", "bounds").stdout
    assert all(name in table for name in [*BOUNDS, "auto"])
    assert set(AUTOMATIC.values()) <= {
        line.split()[0] for line in table.split("stands for:")[1].splitlines() if line.strip()
    }


def test_list_instances() -> None:
    printed = call_json("list", "instances")["instances"]
    assert [row["name"] for row in printed] == ramgape.instance_names()
    first = next(row for row in printed if row["name"] == "paper:exp4")
    assert first == {
        "name": "paper:exp4", "arms": 100, "noise": "bounded", "reward_range": [0.0, 1.0], "sigma_max": None,
    }  # fmt: skip
    table = call("list", "instances").stdout
    assert all(name in table for name in ("paper:1 ... 50", "paper:exp3", "random-beta:1 ... 20", "mine.json"))


def test_the_example_of_an_instance_file_works(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(listing.FILE_EXAMPLE, encoding="utf-8")
    assert ramgape.load_instance(file).names == ("A", "B", "C", "D")
    assert listing.FILE_EXAMPLE in call("list", "instances").stdout


def test_list_something_else() -> None:
    assert "did you mean 'policies'?" in complaint("list", "policy")


def test_the_demo_tells_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("demo")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "ramgape-demo.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["ramgape-demo.png"]
    words = " ".join(result.stdout.split())
    assert "Keep Fast Fox (lowest measured mean)" in words
    assert "Steady Snail (lowest measured std)" in words
    assert "ramgape-demo.png" in words
    ours, equal = re.search(
        r"([\d,]+) trials; equal shares would have needed about ([\d,]+) for the same certainty\.", words
    ).groups()  # type: ignore[union-attr]
    assert int(equal.replace(",", "")) > 1.5 * int(ours.replace(",", ""))
    assert all(f" ramgape {command} " in words for command in ("run", "analyze", "simulate"))
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_demo_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(demo, "EPSILON", 3.0)
    result = call("demo", "--seed", "3")
    assert result.exit_code == 0
    assert 'No picture: matplotlib must be installed for pictures: pip install "ramgape[plot]"' in result.stdout
    assert "Try next" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_s_live_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "is_watched", lambda: True)
    monkeypatch.setattr(demo, "EPSILON", 3.0)
    assert call("demo", "--out", str(tmp_path / "picture.svg")).exit_code == 0
    assert "<svg" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    depot = demo.Depot()
    console = Console(file=io.StringIO(), width=80, force_terminal=False)
    console.print(depot.view())
    generator = np.random.default_rng(0)
    sent = [depot.send("Fast Fox", generator) for _ in range(100)]
    depot.notice(Progress(100, 10**9, 1.25, 0.5))
    console.print(depot.view())
    assert isinstance(console.file, io.StringIO)
    before, after = console.file.getvalue().split("getting ready")
    assert "Fast Fox" in before
    (row,) = [line.split() for line in after.splitlines() if line.startswith("Fast Fox")]
    assert row[2:5] == ["100", f"{np.mean(sent):.1f}", f"{np.std(sent):.1f}"]
    assert "right within 1.25 so far, ends when it is within 0.5" in after


def test_the_demo_can_be_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(depot: demo.Depot, progress: Progress) -> None:
        if progress.samples == 1000:
            raise KeyboardInterrupt

    monkeypatch.setattr(demo.Depot, "notice", interrupt)
    result = call("demo", "--out", str(tmp_path / "picture.png"))
    assert result.exit_code == 130
    assert "Stopped after 1,000 trials of 8 options" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    assert "out must be in a folder that exists" in complaint("demo", "--out", str(tmp_path / "none" / "picture.png"))
    assert "seed must be" in complaint("demo", "--seed", "-1")


def test_version() -> None:
    assert call("--version").stdout == f"ramgape {ramgape.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("simulate",), ("analyze",), ("plan",), ("run",), ("demo",), ("list",)])
def test_help(arguments: tuple[str, ...]) -> None:
    result = call(*arguments, "--help")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert max(map(len, result.stdout.splitlines())) <= 80
    words = " ".join(result.stdout.split())
    if arguments in ((), ("simulate",)):
        assert "Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted" in words
    if arguments == ("simulate",):
        promised = "policy bound epsilon delta budget exploration risk alpha runs seed jobs max-trials json"
        assert [name for name in promised.split() if f"--{name} " not in words] == []


@pytest.mark.parametrize("table", [AllCommands, StudyCommands])
def test_the_table_of_commands_says_what_they_say_themselves(table: type[CommandTable]) -> None:
    """The first paragraph of their help, which is shown before they are imported."""
    group = table(name="all")
    for name, line in table.lines.items():
        assert isinstance(group.commands[name], StandIn)
        command = group.load(name)
        assert (command.name, " ".join(command.help.split("\n\n")[0].split())) == (name, line.says)
        assert group.load(name) is command


def test_help_imports_no_command() -> None:
    code = "import sys; from ramgape.cli import app; app(['--help'], standalone_mode=False); print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = printed.splitlines()[-1].split()
    loaded = {name.removeprefix("ramgape.cli.") for name in modules if name.startswith("ramgape.cli.")}
    assert loaded == {"commands", "command_table", "errors", "help", "streams"}
    assert "numpy" not in modules
