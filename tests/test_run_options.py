"""Each row of the option table in docs/reference/hyperfine.md by a shell: the options of hyperfine, and ours."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ramgape.commands import noise
from ramgape.commands.baseline import verdict, verdict_of
from ramgape.commands.noise import Machine, noise_words
from ramgape.commands.times import Timing
from ramgape.views.timing import distribution
from tests.cli_support import NO_SIGNALS
from tests.timing_support import call, clock, here, like_times, refused, report, times, words

__all__ = ["clock", "here"]  # fixtures
pytestmark = NO_SIGNALS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "hyperfine.md"
# Of hyperfine 1.15 to 1.20, but for those that print help and version.
# fmt: off
NAMES = (
    "warmup", "min-runs", "max-runs", "runs", "setup", "reference", "reference-name", "prepare", "conclude",
    "cleanup", "parameter-scan", "parameter-step-size", "parameter-list", "shell", "ignore-failure", "style", "sort",
    "time-unit", "export-asciidoc", "export-csv", "export-json", "export-markdown", "export-orgmode", "show-output",
    "output", "input", "command-name",
)
# fmt: on
OPTIONS = ["-N", *(f"--{name}" for name in NAMES)]
ROW = re.compile(r"^\| `(--?[\w-]+)[^|]*\| (same|different|ours only)", re.MULTILINE)


def lines(name: str) -> list[str]:
    return Path(name).read_text(encoding="utf-8").split()


def exported(*arguments: str) -> list[dict[str, object]]:
    """The results in the JSON file of a call."""
    call(*arguments, "--export-json", "x.json")
    found: list[dict[str, object]] = json.loads(Path("x.json").read_text())["results"]
    return found


def test_the_table_has_every_option_and_every_row_a_test() -> None:
    rows = dict(ROW.findall(PAGE.read_text(encoding="utf-8")))
    assert [option for option in OPTIONS if option not in rows] == []
    asked = call("--help", columns=200).stdout
    assert [option for option in rows if option not in asked] == []
    assert [option for option in rows if option not in TESTS] == []


# --- one test for each row --------------------------------------------------------------------------------------------


def warmup() -> None:
    call("echo x >> log", "-w", "3", "-r", "2")
    assert len(lines("log")) == 5


def min_runs() -> None:
    assert len(exported("true", "-N", "-m", "12", "--epsilon", "90%")[0]["times"]) >= 12  # type: ignore[arg-type]


def max_runs() -> None:
    assert len(exported("true", "-N", "-M", "11", "--epsilon", "0.001%")[0]["times"]) == 11  # type: ignore[arg-type]


def runs() -> None:
    assert [len(each["times"]) for each in exported("true", "sleep 0.001", "-N", "-r", "3")] == [3, 3]  # type: ignore[arg-type]


def setup() -> None:
    call("echo run {n} >> log", "-L", "n", "a,b", "-s", "echo setup {n} >> log", "-r", "2")
    assert lines("log")[:4] == ["setup", "a", "setup", "b"]
    assert len(lines("log")) == 12
    assert "--setup 'exit 4' must end with exit code 0" in refused("true", "-s", "exit 4", code=1)


def cleanup() -> None:
    call("echo run {n} >> log", "-L", "n", "a,b", "-c", "echo gone {n} >> log", "-r", "2")
    assert lines("log")[-4:] == ["gone", "a", "gone", "b"]


def prepare() -> None:
    call("echo run >> log", "-p", "echo before >> log", "-r", "2")
    assert lines("log") == ["before", "run"] * 2


def conclude() -> None:
    call("echo run >> log", "-C", "echo after >> log", "-p", "echo before >> log", "-r", "2")
    assert lines("log") == ["before", "run", "after"] * 2


def reference() -> None:
    shown = words(call("sleep 0.05", "--reference", "sleep 0.01", "-N", "-r", "10", columns=160).stdout)
    assert re.search(r"sleep 0.01 is \d\.\d\d times as fast as sleep 0.05", shown)
    found = report("sleep 0.01", "--reference", "sleep 0.05", "-N", "-r", "10")
    assert [arm["name"] for arm in found["arms"]] == ["sleep 0.05", "sleep 0.01"]
    assert [arm["times_as_long"] < 1.0 for arm in found["arms"]] == [False, True]


def reference_name() -> None:
    found = report("true", "--reference", "sleep 0.001", "--reference-name", "old", "-N", "-r", "2")
    assert found["arms"][0]["name"] == "old"


def parameter_scan() -> None:
    results = exported("sleep 0.00{n}", "-N", "-P", "n", "1", "3", "-r", "2")
    assert [each["command"] for each in results] == ["sleep 0.001", "sleep 0.002", "sleep 0.003"]
    assert [each["parameters"] for each in results] == [{"n": "1"}, {"n": "2"}, {"n": "3"}]


def parameter_step_size() -> None:
    results = exported("sleep {n}", "-N", "-P", "n", "0.001", "0.005", "-D", "0.002", "-r", "2")
    assert [each["parameters"] for each in results] == [{"n": "0.001"}, {"n": "0.003"}, {"n": "0.005"}]


def parameter_list() -> None:
    results = exported("echo {a} {b}", "-L", "a", "x,y", "-L", "b", "1,2", "-n", "{a}", "-r", "2")
    assert [each["command"] for each in results] == ["x (b=1)", "y (b=1)", "x (b=2)", "y (b=2)"]
    assert results[3]["parameters"] == {"a": "y", "b": "2"}


def shell() -> None:
    call('[[ a == a ]] && echo "$BASH" >> log', "--shell", "bash --norc", "-r", "2")
    assert all(line.endswith("bash") for line in lines("log"))


def no_shell() -> None:
    shown = words(call("sleep 0.01", "-N", "-r", "2", "-v").stdout)
    assert "Shell" not in shown
    assert "Shell its start" in words(call("sleep 0.01", "-r", "2").stdout)


def ignore_failure() -> None:
    assert "must end with exit code 0" in refused("exit 3", "-r", "2", code=1)
    shown = words(call("exit 3", "-i", "-r", "2").stdout)
    assert "exit 3 failed in 2 of 2 runs (exit code other than 0)" in shown


def style() -> None:
    assert call("true", "-N", "-r", "2", "--style", "none").stdout == ""
    assert "\x1b[" in call("true", "-N", "-r", "2", "--style", "color").stdout
    assert "\x1b[" not in call("true", "-N", "-r", "2", "--style", "basic").stdout
    assert "--style must be one of auto, basic" in refused("true", "--style", "loud")


def sort() -> None:
    commands = ["sleep 0.2", "sleep 0.001", "-N", "-r", "2"]

    def rows(text: str) -> list[str]:
        return re.findall(r"^\s*(sleep [\d.]+)  ", text.partition("distribution")[2], re.MULTILINE)

    assert rows(call(*commands).stdout) == ["sleep 0.001", "sleep 0.2"]
    assert rows(call(*commands, "--sort", "command").stdout) == ["sleep 0.2", "sleep 0.001"]
    assert [each["command"] for each in exported(*commands)] == ["sleep 0.2", "sleep 0.001"]
    assert [each["command"] for each in exported(*commands, "--sort", "mean-time")] == ["sleep 0.001", "sleep 0.2"]


def time_unit() -> None:
    assert "mean ± std (s)" in call("true", "-N", "-r", "2", "-u", "second").stdout
    assert "mean ± std (µs)" in call("true", "-N", "-r", "2", "-u", "microsecond", "--export-markdown", "x.md").stdout
    assert "Mean [µs]" in Path("x.md").read_text()


def export_asciidoc() -> None:
    call("sleep 0.01", "-N", "-r", "2", "--export-asciidoc", "x.adoc")
    found = Path("x.adoc").read_text().splitlines()
    assert found[:3] == ['[cols="<,>,>,>,>"]', "|===", "| Command "]
    assert found[8] == "| `sleep 0.01` "
    assert found[-2:] == ["| 1.00", "|==="] or found[-2:] == ["| 1.00 ", "|==="]


def export_csv() -> None:
    call("sleep 0.00{n}", "-N", "-L", "n", "1,2", "-r", "2", "--export-csv", "x.csv")
    rows = list(csv.DictReader(Path("x.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == [*["command", "mean", "stddev", "median", "user", "system", "min", "max"], "parameter_n"]
    assert [row["parameter_n"] for row in rows] == ["1", "2"]
    assert 0.001 < float(rows[0]["mean"]) < 5.0


def export_json() -> None:
    found = exported("sleep 0.01", "-N", "-r", "2")[0]
    keys = [
        "command",
        "mean",
        "stddev",
        "median",
        "user",
        "system",
        "min",
        "max",
        "memory_usage_byte",
        "times",
        "exit_codes",
    ]
    assert list(found) == keys


def export_markdown() -> None:
    call("sleep 0.01", "-N", "-r", "2", "--export-markdown", "x.md")
    assert Path("x.md").read_text().startswith("| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:")


def export_orgmode() -> None:
    call("sleep 0.01", "-N", "-r", "2", "--export-orgmode", "x.org")
    first, second, third = Path("x.org").read_text().splitlines()
    assert (first, second) == ("| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |", "|--+--+--+--+--|")
    assert third.startswith("| =sleep 0.01=  |  ")


def by_shell(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, whose standard output commands may inherit."""
    command = [sys.executable, "-m", "ramgape", "run", *arguments]
    known = os.environ | {"COLUMNS": "80"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=known)


def show_output() -> None:
    assert by_shell("echo seen", "-N", "-r", "3", "--show-output").stdout.count("seen\n") == 3
    assert "--show-output must go without another --output" in refused("true", "--show-output", "--output", "null")


def output() -> None:
    where = (
        "import os, stat; m = os.fstat(1).st_mode; "
        "kind = 'pipe ' if stat.S_ISFIFO(m) else 'file ' if stat.S_ISREG(m) else 'null '; "
        "open('log', 'a').write(kind); print('x' * 200000)"
    )
    for kind, expected in (("null", "null"), ("pipe", "pipe"), ("out.txt", "file")):
        Path("log").unlink(missing_ok=True)
        call(f'{sys.executable} -c "{where}"', "-N", "-r", "2", "--output", kind)
        assert lines("log") == [expected] * 2
    assert len(Path("out.txt").read_text()) == 200_001
    assert by_shell("echo seen", "-N", "-r", "2", "--output", "inherit").stdout.count("seen\n") == 2


def read() -> None:
    Path("in.txt").write_text("some words\n")
    call("cat >> log", "--input", "in.txt", "-r", "2")
    assert lines("log") == ["some", "words"] * 2


def command_name() -> None:
    assert [each["command"] for each in exported("true", "sleep 0.001", "-n", "a", "-N", "-r", "2")] == [
        "a",
        "sleep 0.001",
    ]


def name() -> None:
    call("true", "sleep 0.001", "-N", "-r", "2", "--name", "kept")
    assert "nothing was run" in call("true", "sleep 0.001", "-N", "-r", "2", "--name", "kept").stderr


def budget_time() -> None:
    shown = words(call("sleep 0.05", "-N", "--budget-time", "300ms", "--epsilon", "0.01%").stdout)
    assert "the time was up" in shown
    assert 1 <= int(re.findall(r"Runs (\d+) run", shown)[0]) <= 6


def baseline() -> None:
    call("sleep 0.02", "-N", "-r", "10", "--export-json", "old.json")
    shown = words(call("sleep 0.3", "-N", "-r", "10", "--baseline", "old.json", columns=120).stdout)
    assert re.search(
        r"takes \d+\.\d\d times as long as before \(\d+\.\d\d to \d+\.\d\d\): slower by more than 5%", shown
    )
    found = json.loads(Path("old.json").read_text())
    found["machine"]["processor"] = "abacus"
    Path("old.json").write_text(json.dumps(found))
    shown = words(call("sleep 0.02", "-N", "-r", "2", "--baseline", "old.json").stdout)
    assert "another machine: processor abacus then," in shown
    del found["machine"]
    Path("old.json").write_text(json.dumps(found))
    shown = words(call("sleep 0.02", "-N", "-r", "2", "--baseline", "old.json").stdout)
    assert "old.json does not say on which machine it was made" in shown
    found["results"].append(found["results"][0] | {"command": "other"})
    Path("old.json").write_text(json.dumps(found))
    message = "--baseline must be a file that has one of these commands: sleep 0.02, other"
    assert message in refused("true", "--baseline", "old.json")


def exit_code() -> None:
    call("sleep 0.1", "-N", "-r", "10", "--export-json", "old.json")
    call("sleep 0.6", "-N", "--baseline", "old.json", "--exit-code", code=1)
    call("sleep 0.01", "-N", "-r", "2", "--baseline", "old.json", "--exit-code", code=3)
    call("sleep 0.01", "-N", "-r", "30", "--baseline", "old.json", "--exit-code", code=0)
    call("exit 3", "--exit-code", code=2)


def quiet() -> None:
    shown = words(call("sleep 0.01", "-N", "-r", "2", "-q").stdout)
    assert shown.startswith("sleep 0.01 takes ")
    assert "distribution" not in shown


def verbose() -> None:
    shown = words(call("sleep 0.01", "sleep 0.02", "-N", "-r", "10", "-v", columns=120).stdout)
    assert re.search(r"Median \d+\.\d ms, peak memory at most [\d.]+ MB, \d+ outliers?: sleep 0.01", shown)
    assert "5% of the shortest mean after the first rounds" in shown


TESTS: dict[str, Callable[[], None]] = {
    "--warmup": warmup,
    "--min-runs": min_runs,
    "--max-runs": max_runs,
    "--runs": runs,
    "--setup": setup,
    "--cleanup": cleanup,
    "--prepare": prepare,
    "--conclude": conclude,
    "--reference": reference,
    "--reference-name": reference_name,
    "--parameter-scan": parameter_scan,
    "--parameter-step-size": parameter_step_size,
    "--parameter-list": parameter_list,
    "--shell": shell,
    "-N": no_shell,
    "--ignore-failure": ignore_failure,
    "--style": style,
    "--sort": sort,
    "--time-unit": time_unit,
    "--export-asciidoc": export_asciidoc,
    "--export-csv": export_csv,
    "--export-json": export_json,
    "--export-markdown": export_markdown,
    "--export-orgmode": export_orgmode,
    "--show-output": show_output,
    "--output": output,
    "--input": read,
    "--command-name": command_name,
    "--name": name,
    "--budget-time": budget_time,
    "--baseline": baseline,
    "--exit-code": exit_code,
    "--quiet": quiet,
    "--verbose": verbose,
}


@pytest.mark.parametrize("option", TESTS)
def test_what_an_option_does(option: str) -> None:
    TESTS[option]()


# --- a command alone --------------------------------------------------------------------------------------------------


def test_a_command_alone_is_run_until_its_mean_is_known(clock: Callable[..., list[str]]) -> None:
    order = clock(lambda rng, arm, _: like_times(rng, 0.02, 0.05, 0.0), 1)
    found = report("work")
    mean = found["arms"][0]["objectives"]["mean(elapsed)"]
    assert mean["low"] < 0.02 < mean["high"]
    assert mean["high"] - mean["low"] <= 0.1 * mean["estimate"]
    assert (found["schema_version"], found["status"], found["question"], found["answer"]) == (
        2,
        "certified",
        "mean",
        ["work"],
    )
    assert found["objectives"][0]["unit"] == "s"
    assert found["sentence"].startswith("work takes ")
    assert found["certified"]["tolerance"]["mean(elapsed)"] <= 0.05 * mean["estimate"]
    assert 10 <= len(order) <= 40
    order = clock(lambda rng, arm, _: like_times(rng, 0.5, 0.5, 0.0), 1)
    shown = words(call("work").stdout)
    assert len(order) == 10  # no more than 3 seconds of runs, as hyperfine
    assert "enough runs were made" in shown


@pytest.mark.parametrize("spread", [0.05, 0.5])
def test_the_interval_of_a_mean_covers_although_runs_stop_by_it(spread: float, clock: Callable[..., list[str]]) -> None:
    """Of 200 searches that stop as soon as the interval is narrow. If 96 % were covered, more than 24 misses would
    come with a chance of 1e-6; and the seeds are fixed. Here there are none."""
    misses = 0
    for seed in range(200):
        generator, made = np.random.default_rng(seed), list[float]()
        while len(made) < 400:
            made.append(like_times(generator, 1.0, spread, 0.0))
            if len(made) >= 10 and len(made) % 10 == 0:
                low, high = times("x", *made).mean_interval
                if high - low < 0.1:
                    break
        misses += not low <= 1.0 <= high
    assert misses <= 24


def test_a_command_alone_can_be_cut_off_and_interrupted(clock: Callable[..., list[str]]) -> None:
    clock(lambda rng, arm, run: 2.0 if run % 2 else 0.5, 1)
    shown = words(call("work", "--timeout", "2", "-r", "10", "-u", "second").stdout)
    assert re.match(r"work was cut off at 2 s in 5 of 10 runs, so these took at least 1\.25\d* s on average\.", shown)

    def draw(rng: object, arm: str, run: int) -> float:
        if run == 3:
            raise KeyboardInterrupt
        return 0.1

    clock(draw, 1)
    result = call("work", code=130)
    assert "of 3 runs, too few for an interval" in words(result.stdout)
    assert "interrupted: 3 runs were made" in result.stderr


# --- baselines, noise, bars -------------------------------------------------------------------------------------------


def test_a_gate_against_a_baseline_is_seldom_wrong() -> None:
    """Equal commands are refuted, and slower ones proved, in at most 5 %: of 300 each. Here never."""
    wrong = 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        same, slower = ([like_times(generator, mean, 0.1) for _ in range(20)] for mean in (1.0, 1.1))
        old = times("old", *(like_times(generator, 1.0, 0.1) for _ in range(20)))
        pairs = ((same, "refuted"), (slower, "proved"))
        wrong += sum(verdict(Timing((old,)).ratio_interval(times("new", *made)), 0.05) == told for made, told in pairs)
    assert wrong <= 30


def test_the_worst_verdict_counts() -> None:
    quick, slow = times("quick", *[0.1, 0.101] * 10), times("slow", *[0.2, 0.201] * 10)
    timing = Timing((quick, slow), reference="quick", tolerance=0.05)
    assert verdict_of(timing) == "refuted"
    assert verdict_of(Timing((quick, slow), reference="slow", tolerance=0.05)) == "proved"
    assert verdict_of(Timing((quick,), ended="enough")) == "proved"
    assert verdict_of(Timing((quick,), ended="runs")) == "undecided"


def test_noise_is_told_with_a_remedy() -> None:
    calm = Machine((), frozenset(), 0.0)
    steady = times("work", *[0.1, 0.101, 0.102] * 10)
    assert noise_words([steady], [], calm, calm, 0) == ""
    first = times("work", 0.9, *[0.1, 0.101, 0.102] * 10)
    assert noise_words([first], [], calm, calm, 0) == (
        "the first run of work took up to 9.0 times as long (--warmup 3 fills caches)"
    )
    assert "1 outlier" not in noise_words([first], [], calm, calm, 0)
    far = times("work", *[0.1, 0.101, 0.102] * 5, 0.9)
    assert noise_words([far], [], calm, calm, 0).startswith("1 outlier in 16 runs (-m 30")
    assert "drift or depend on each other" in noise_words([steady], ["work"], calm, calm, 0)
    fast, slow = (Machine((each, each), frozenset({"powersave"}), 0.0) for each in (3e6, 2e6))
    assert "changed its frequency by 33% (governor powersave" in noise_words([steady], [], fast, slow, 0)
    fixed = slow._replace(governors=frozenset({"performance"}))
    assert noise_words([steady], [], fast, fixed, 0) == ""
    busy = calm._replace(load=2.0 * (os.cpu_count() or 1))
    assert noise_words([steady], [], busy, calm, 0).startswith("other programs are running, load ")


def test_frequencies_are_read_where_the_system_tells(tmp_path: Path) -> None:
    for number, (kilohertz, governor) in enumerate((("2000000", "powersave"), ("3000000", "performance"))):
        folder = tmp_path / f"cpu{number}" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_cur_freq").write_text(f"{kilohertz}\n")
        (folder / "scaling_governor").write_text(f"{governor}\n")
    found = Machine.now(tmp_path)
    assert found.frequencies == (2e6, 3e6)
    assert found.governors == {"powersave", "performance"}
    assert noise.Machine.now(tmp_path / "nowhere").frequencies == ()


def test_a_distribution_has_a_letter_for_every_part() -> None:
    assert distribution([1.0] * 5, 5) == "▁▁█▁▁"
    assert len(distribution([1.0, 2.0, 9.0], 16)) == 16
    assert distribution([], 3) == "   "


def test_outcomes_that_a_command_prints_are_kept() -> None:
    line = """echo working; echo '{"ratio": 2.5, "codec": "lz4"}'"""
    found = exported(line, "--output", "pipe", "-r", "2")[0]
    assert found["outcomes"] == {"ratio": [2.5, 2.5]}
    assert "ratio 2.5" in call(line, "--output", "pipe", "-r", "2", "-v").stdout
    assert "outcomes" not in exported("echo 1", "--output", "pipe", "-r", "2")[0]


def test_the_picture_and_the_page(clock: Callable[..., list[str]]) -> None:
    clock(lambda rng, arm, _: like_times(rng, 0.01 * float(arm.split()[1])), 1)
    call("work {n}", "-P", "n", "1", "4", "--plot", "x.svg", "--html", "x.html")
    for name in ("x.svg", "x.html"):
        text = Path(name).read_text()
        for part in ("work 1", "Times as long as", "mean and its 95% interval", "Mean time (ms)"):
            assert part in text or part in re.sub(r"<!--|-->", "", text)
    page = re.sub(r"<svg.*?</svg>|<style.*?</style>", "", Path("x.html").read_text(), flags=re.DOTALL)
    said = re.sub(r"<[^>]+>", " ", page)
    assert not re.search(r"\b(arm|arms|reward|rewards|pull|pulls|trial|trials)\b", said)
    assert "work 4" in said
