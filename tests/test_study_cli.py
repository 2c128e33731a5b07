"""`ramgape study` and `ramgape storage`: what scripts rely on, what people see, and what is refused."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from rich.console import Console
from typer.testing import CliRunner, Result

import ramgape
from ramgape import Study, storage, views
from ramgape.cli import answer_worker, app, study_change, study_show
from ramgape.common import terminal
from ramgape.common.formatting import cell_width
from ramgape.storage.store import SqlStore
from ramgape.storage.versions import Upgrade
from ramgape.studies.report import Report
from ramgape.studies.specification import StudySpec
from tests.cli_support import PLAIN, environment
from tests.servers import Places

ARMS = ("--arm", "steady", "--arm", "wild", "--arm", "poor")
BUDGET = (*ARMS, "--reward-range", "-1", "1", "--budget", "12", "--rho", "0.01")
CONFIDENCE = (*ARMS, "--reward-range", "0", "1", "--epsilon", "0.05", "--delta", "0.1", "--rho", "0.01")
SECRET = "postgresql://me:geheim@host/studies"


REWARDS = {"steady": 0.5, "wild": 0.8, "poor": 0.1}
VERBS = ("create", "list", "show", "ask", "tell", "fail", "observe", "answer", "import", "export", "renew", "release",
         "retry", "delete")  # fmt: skip
ARM_KEYS = {
    *("name", "trials", "verdict", "word", "p", "support", "beaten_by", "objectives", "constraints"),
}


@pytest.fixture(scope="module", autouse=True)
def one_command() -> Iterator[None]:
    """Let the tester make the whole command from its functions once, rather than for every call."""
    command = typer.main.get_command(app)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", lambda _: command)
        yield


class Shell:
    """The command in this process, with one store."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(self, *arguments: str, stdin: str | bytes | None = None, **changes: str | None) -> Result:
        env = {**PLAIN, "RAMGAPE_STORAGE": self.url, **changes}
        return CliRunner().invoke(app, list(arguments), env=env, input=stdin)

    def study(self, *arguments: str, stdin: str | bytes | None = None) -> dict[str, Any]:
        """The one object that `ramgape study ... --json` prints."""
        result = self("study", *arguments, "--json", stdin=stdin)
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        printed: dict[str, Any] = json.loads(result.stdout)
        return printed

    def say(self, *arguments: str, stdin: str | bytes | None = None) -> str:
        """What it says to people, on stdout alone."""
        result = self("study", *arguments, stdin=stdin)
        assert (result.exit_code, result.stderr) == (0, ""), result.output
        return result.stdout

    def complaint(self, *arguments: str, stdin: str | bytes | None = None, **changes: str | None) -> str:
        """The one line on stderr, of a call that must be refused."""
        result = self(*arguments, stdin=stdin, **changes)
        assert (result.exit_code, result.stdout) == (2, ""), result.output
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr.removeprefix("error: ").strip()


class ThinShell(Shell):
    """The same as the console script has it: what a server answers is asked for before typer is there."""

    def __call__(self, *arguments: str, stdin: str | bytes | None = None, **changes: str | None) -> Result:
        runner, env = CliRunner(), {**PLAIN, "RAMGAPE_STORAGE": self.url, **changes}
        with runner.isolation(input=stdin, env=env) as streams:
            code = answer_worker(list(arguments))
            sys.stdout.flush()
            written = [stream.getvalue() for stream in streams]
        if code is None:
            assert written[2] == b""
            return super().__call__(*arguments, stdin=stdin, **changes)
        return Result(runner, *written, None, code, None)


IN_A_FILE = pytest.mark.parametrize("shell", ["sqlite"], indirect=True)  # whatever does not depend on the store
BOTH_WAYS = pytest.mark.parametrize("shell", ["sqlite", "http", "thin"], indirect=True)  # what there are two ways to


@pytest.fixture(params=["sqlite", "thin"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    """A shell with an empty store: a file, or a server over one; with the short way to a server, or without."""
    if request.param == "sqlite":
        return Shell(f"sqlite:///{tmp_path / 'studies.db'}")
    return (Shell if request.param == "http" else ThinShell)(request.getfixturevalue("study_server"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy, which is faster than to make one."""
    file = tmp_path_factory.mktemp("template") / "studies.db"
    Shell(f"sqlite:///{file}").study("create", "models", *BUDGET)
    return file


@pytest.fixture
def study_server(servers: Places, tmp_path: Path) -> Iterator[str]:
    """A server over the file that a shell without one would have."""
    with servers.place(f"sqlite:///{tmp_path / 'studies.db'}") as url:
        yield url


@pytest.fixture
def copied(template: Path, tmp_path: Path) -> None:
    """A store with a study, before anybody opens it."""
    shutil.copy(template, tmp_path / "studies.db")


@pytest.fixture
def models(copied: None, shell: Shell) -> Shell:
    """A shell with the study `models`, for a budget of 12 pulls with rewards from -1 to 1."""
    return shell


def names_of(shell: Shell) -> list[str]:
    return [study["name"] for study in shell.study("list")["studies"]]


# --- a whole study -------------------------------------------------------------------------------------------------


SCRIPT = """
export RAMGAPE_STORAGE=sqlite:///studies.db
ramgape study create suppliers --arm Adler --arm Borges --reward-range 0 1 --budget 4
while ramgape study ask suppliers --count 4 > trials.txt && [ -s trials.txt ]; do
    while IFS="$(printf '\\t')" read -r trial arm seed; do
        reward=$(awk -v seed="$seed" 'BEGIN { srand(seed); print rand() }')
        echo "{\\"pull\\": \\"$trial\\", \\"reward\\": $reward}"
    done < trials.txt | ramgape study tell suppliers --from -
done
ramgape study show suppliers
"""


def test_a_script_runs_a_whole_study(tmp_path: Path) -> None:
    """A loop of one's own, by a real shell."""
    script = SCRIPT
    command = f'set -eu\nramgape() {{ {shlex.quote(sys.executable)} -m ramgape "$@"; }}\n{script}'
    finished = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=300
    )
    assert finished.returncode == 0, finished.stderr
    created, hint, *answers = finished.stdout.splitlines()
    assert created == "Created study suppliers in sqlite:///studies.db: 2 arms; the best answer after 4 trials."
    assert hint == "Next: ramgape study ask suppliers"
    assert answers[0] == "4 accepted. The study is done."
    assert "Study suppliers: done" in finished.stdout
    assert "100%; 4 of 4 pulls" in finished.stdout
    assert finished.stderr == "note: the study is done\n"
    with Study.load("suppliers", f"sqlite:///{tmp_path / 'studies.db'}") as study:
        assert study.done


def test_a_study_with_a_confidence_comes_to_the_library_s_answer(shell: Shell, tmp_path: Path) -> None:
    made = shell.study("create", "models", *CONFIDENCE)
    assert made["goal"] == {"kind": "confidence", "epsilon": 0.05, "delta": 0.1, "budget": None, "risk_epsilon": None,
                            "epsilon_share": None, "spend": None}  # fmt: skip
    assert (made["name"], made["created"], made["told"], made["done"]) == ("models", True, 0, False)
    assert made["arms"] == ["steady", "wild", "poor"]
    rewards = {"steady": 0.99, "wild": 0.2, "poor": 0.01}
    asked = shell.study("ask", "models", "--count", "6")
    while asked["pulls"]:
        lines = [json.dumps({**pull, "reward": rewards[pull["arm"]]}) for pull in asked["pulls"]]
        told = shell.study("tell", "models", "--from", "-", stdin="\n".join(lines))
        assert [each["id"] for each in told["pulls"]] == [pull["id"] for pull in asked["pulls"]]
        assert all(each["accepted"] for each in told["pulls"])
        asked = shell.study("ask", "models", "--count", "1000")
    assert asked == {"pulls": [], "done": True}
    shown = shell.study("show", "models")
    with Study.load("models", shell.url) as study:
        result = study.result()
    assert shown["answer"] == list(result.front) == ["steady"]
    assert (shown["done"], shown["details"]["goal_reached"], shown["details"]["expected"]) == (True, True, None)
    assert shell.study("front", "models") == {"front": ["steady"], "done": True}
    assert shell.say("front", "models") == "steady\n"
    assert "Study models: done" in shell.say("show", "models")


# --- create ----------------------------------------------------------------------------------------------------------


def test_create_says_what_was_made_and_what_comes_next(shell: Shell, tmp_path: Path) -> None:
    said = shell.say("create", "my models", *CONFIDENCE)
    assert said == (
        f"Created study my models in {shell.url}: 3 arms; an answer within 0.05, with probability 0.9.\n"
        "Next: ramgape study ask 'my models'\n"
    )
    other = f"sqlite:///{tmp_path / 'other.db'}"
    said = shell.say("create", "models", *BUDGET, "--storage", other)
    assert f"Next: ramgape study ask models --storage {other}" in said
    assert names_of(shell) == ["my models"]


def test_create_takes_all_options_of_a_search(shell: Shell) -> None:
    shell.study(
        "create", "costs", "--arm=-x", "--arm", "Ä 日本", "--noise", "gaussian", "--epsilon", "0.01,0.005",
        "--rho", "0.2", "--policy", "evidence", "--direction", "minimize", "--max-trials", "5e3",
        "--initial-trials", "4", "--sigma-max", "2", "--resolution", "1e-3", "--retries", "7",
    )  # fmt: skip
    with Study.load("costs", shell.url) as study:
        search = study.spec.search
        assert study.spec.retries == 7
    assert search.names == ("-x", "Ä 日本")
    assert (search.assumption, search.epsilon, search.risk_epsilon, search.delta) == ("gaussian", 0.01, 0.005, 0.05)
    assert (search.rho, search.policy, search.direction, search.max_trials) == (0.2, "evidence", "minimize", 5000)
    assert (search.initial_trials, search.sigma_max, search.resolution) == (4, 2.0, 0.001)


def test_arms_from_a_file(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_text("\ufeffsteady \n\n wild card\r\n", encoding="utf-8")
    goal = ("--reward-range", "0", "1", "--epsilon", "0.05")
    assert shell.study("create", "one", "--arms-file", str(file), *goal)["arms"] == ["steady", "wild card"]
    made = shell.study("create", "two", "--arm", "first", "--arms-file", "-", *goal, stdin="second\n")
    assert made["arms"] == ["first", "second"]
    file.write_bytes(b"\xff\n")
    assert "must be UTF-8 text, got byte 0xff" in shell.complaint(
        "study", "create", "three", "--arms-file", str(file), *goal
    )
    missing = str(tmp_path / "none.txt")
    assert "No such file" in shell.complaint("study", "create", "three", "--arms-file", missing, *goal)


def test_a_warm_start(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("arm,reward,note\nsteady,0.5,\nwild,1,\n", encoding="utf-8")
    assert shell.study("create", "models", *CONFIDENCE, "--data", str(file))["told"] == 2
    lines = '{"model": "poor", "score": 0.25}\n'
    columns = ("--format", "jsonl", "--arm-column", "model", "--reward-column", "score")
    made = shell.say("create", "lines", *CONFIDENCE, "--data", "-", *columns, stdin=lines)
    assert "; 1 trial completed already." in made
    for text, words in {
        "arm,reward\nsteady,0.5\nsteady,7\n": "log.csv, line 3: reward must be a number from 0 to 1, got 7.0",
        "arm,reward\nstedy,0.5\n": "line 2: arm must be one of steady, wild, poor, got 'stedy'; did you mean 'steady'?",
        "arm,reward\nsteady,1_0\n": "log.csv, line 2: reward must be a number, got '1_0'",
        "name,note,reward\nsteady,x,0.5\n": "--arm-column must name the column with the arms: ",
    }.items():
        file.write_text(text, encoding="utf-8")
        assert words in shell.complaint("study", "create", "bad", *CONFIDENCE, "--data", str(file))
    both = ("--data", "-", "--arms-file", "-")
    assert "got standard input for both" in shell.complaint("study", "create", "bad", *CONFIDENCE, *both)
    assert names_of(shell) == ["lines", "models"]


def test_a_study_that_exists(models: Shell, tmp_path: Path) -> None:
    assert "no other study" in models.complaint("study", "create", "models", *BUDGET)
    again = models.study("create", "models", *BUDGET, "--exist-ok")
    assert (again["created"], again["told"]) == (False, 0)
    assert "There is already study models" in models.say("create", "models", *BUDGET, "--exist-ok")
    other = models.complaint("study", "create", "models", *CONFIDENCE, "--exist-ok")
    assert "has another specification" in other
    file = tmp_path / "log.csv"
    file.write_text("arm,reward\nsteady,0.5\n", encoding="utf-8")
    for _ in range(2):  # the second time there is something already
        assert models.study("create", "models", *BUDGET, "--exist-ok", "--data", str(file))["told"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--noise", "bounded"), "reward_range"),
        (("--reward-range", "0", "one"), "each end of the reward range must be a number, got 'one'"),
        (("--reward-range", "1", "0"), "reward_range must be"),
        (("--reward-range", "0", "1", "--budget", "many"), "budget must be a number, got 'many'"),
        (("--reward-range", "0", "1", "--budget", "100", "--delta", "0.1"), "budget"),
        (("--reward-range", "0", "1", "--policy", "ramgap"), "did you mean 'ramgape'?"),
        (
            ("--reward-range", "0", "1", "--failure", "ignore"),
            "failure must be one of retry, worst, censored",
        ),
        (("--reward-range", "0", "1", "--retries", "-1"), "retries must be a whole number of at least 0, got -1"),
        (("--noise", "gaussian", "--failure", "worst"), "failure must be 'retry' for rewards without a range"),
        (("--reward-range", "0", "1", "--arm", "A"), "arms must be"),
        (("--reward-range", "0", "1", "--data", "log.txt"), "file must end in .csv or .jsonl"),
        (("--reward-range", "0", "1", "--data", "log.txt", "--format", "tsv"), "format must be one of csv, jsonl"),
        (
            ("--reward-range", "0", "1", "--format", "csv"),
            "--format, --arm-column and --reward-column must",
        ),
        (("--reward-range", "0", "1", "--arm-column", "who"), "must go with --data, got no data"),
        (("--reward-range", "0", "1", "--data", "none.csv"), "data must be a file that can be read, got 'none.csv'"),
    ],
)
def test_bad_studies_are_refused(shell: Shell, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    goal = () if "--budget" in arguments else ("--epsilon", "0.05")
    assert words in shell.complaint("study", "create", "models", "--arm", "A", "--arm", "B", *goal, *arguments)
    if shell.url.startswith("sqlite"):
        assert list(tmp_path.iterdir()) == []
    else:
        assert names_of(shell) == []


def test_bad_names_are_refused(shell: Shell) -> None:
    assert "name must be text of 1 to 200 characters" in shell.complaint("study", "create", "x" * 201, *BUDGET)
    assert "arms must be" in shell.complaint("study", "create", "models", "--reward-range", "0", "1")


# --- ask, tell, and the rest ----------------------------------------------------------------------------------------


@BOTH_WAYS
def test_ask(models: Shell) -> None:
    asked = models.study("ask", "models", "--count", "2")
    assert set(asked) == {"pulls", "done"}
    assert asked["done"] is False
    for pull, arm in zip(asked["pulls"], ("steady", "wild"), strict=True):
        assert set(pull) == {"id", "arm", "seed"}
        assert pull["arm"] == arm
        assert 0 <= pull["seed"] < 2**31
    (line,) = models.say("ask", "models").splitlines()
    pull, arm, seed = line.split("\t")
    assert (arm, seed.isdecimal()) == ("poor", True)
    assert re.fullmatch(r"[0-9a-f]{20}-2", pull)


@BOTH_WAYS
def test_a_named_worker_gets_its_own_back(models: Shell) -> None:
    first = models.study("ask", "models", "--count", "2", "--worker", "gpu 1", "--lease", "none")
    assert models.study("ask", "models", "--count", "2", "--worker", "gpu 1")["pulls"] == first["pulls"]
    (other,) = models.study("ask", "models", "--worker", "gpu 2")["pulls"]
    assert other["id"] not in [pull["id"] for pull in first["pulls"]]


def test_a_pull_whose_lease_ran_out_goes_to_somebody_else(models: Shell) -> None:
    (first,) = models.study("ask", "models", "--lease", "1e-6")["pulls"]
    (second,) = models.study("ask", "models")["pulls"]
    assert second["id"] == f"{first['id']}.2"
    assert models.study("tell", "models", second["id"], "0.5")["accepted"] is True
    late = models.study("tell", "models", first["id"], "0.25")
    assert late == {"pull": first["id"], "accepted": False, "done": False}
    said = models.say("tell", "models", first["id"], "0.25")
    assert said == "not accepted: the trial is completed, or another worker has it\n"


@BOTH_WAYS
def test_when_there_is_nothing_to_try(models: Shell) -> None:
    asked = models.study("ask", "models", "--count", "100")
    assert len(asked["pulls"]) == 12
    assert models.study("ask", "models") == {"pulls": [], "done": False}
    result = models("study", "ask", "models")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "note: nothing to try now: enough trials are in progress\n"


@BOTH_WAYS
@pytest.mark.parametrize("reward", ["-0.5", "-1", "-.25", "-1e-3", "-0", "0.75", "1"])
def test_rewards_as_they_are_typed(models: Shell, reward: str) -> None:
    ids = [pull["id"] for pull in models.study("ask", "models", "--count", "3")["pulls"]]
    for pull, answer in zip(ids, ((reward,), ("--reward", reward), (f"--reward={reward}",)), strict=True):
        assert models.study("tell", "models", pull, *answer) == {"pull": pull, "accepted": True, "done": False}
    told = models.study("observe", "models", "poor", reward)
    assert told == {"arm": "poor", "accepted": True, "done": False}
    assert models.say("observe", "models", "wild", "--reward", reward) == "accepted\n"
    with Study.load("models", models.url) as study:
        assert {row.reward for row in (seen.row for seen in study.backend.observations())} == {float(reward)}


@BOTH_WAYS
def test_rewards_that_are_none(models: Shell) -> None:
    (pull,) = models.study("ask", "models")["pulls"]
    tell = ("study", "tell", "models", pull["id"])
    assert "reward must be a number from -1 to 1, got -2" in models.complaint(*tell, "-2")
    assert "reward must be a number, got 'much'" in models.complaint(*tell, "much")
    assert "reward must be a number, got '--colour'" in models.complaint(*tell, "--colour")
    assert "from -1 to 1, got nan" in models.complaint(*tell, "nan")
    assert "one reward must be given" in models.complaint(*tell)
    assert "got two" in models.complaint(*tell, "0.5", "--reward", "0.5")
    assert "got neither" in models.complaint("study", "tell", "models")
    assert "one reward must be given" in models.complaint("study", "observe", "models", "poor")
    assert "did you mean 'poor'?" in models.complaint("study", "observe", "models", "pore", "0.5")
    assert models.study("show", "models")["told"] == 0


@BOTH_WAYS
def test_pulls_that_are_none(models: Shell) -> None:
    (pull,) = models.study("ask", "models")["pulls"]
    other = "a" * 6 if pull["id"][0] != "a" else "b" * 6
    for text, words in (
        ("17", "one that `ask` has given"),
        (f"{other}-0", "is it of another study"),
        ("-0.5", "`ask`"),
    ):
        assert words in models.complaint("study", "tell", "models", text, "0.5")
        assert words in models.complaint("study", "fail", "models", text.removeprefix("-"))
    assert "has handed out" in models.complaint("study", "tell", "models", pull["id"].replace("-0", "-9"), "0.5")
    models.study("tell", "models", pull["id"], "0.5")
    assert "must be 0.5, as reported before" in models.complaint("study", "tell", "models", pull["id"], "0.6")


@BOTH_WAYS
def test_many_answers_at_once(models: Shell, tmp_path: Path) -> None:
    ids = [pull["id"] for pull in models.study("ask", "models", "--count", "4")["pulls"]]
    file = tmp_path / "answers.jsonl"
    file.write_text(f'{{"pull": "{ids[0]}", "reward": -0.5}}\n\n{{"id": "{ids[1]}", "reward": 1}}\n', encoding="utf-8")
    told = models.study("tell", "models", "--from", str(file))
    assert told == {"pulls": [{"id": ids[0], "accepted": True}, {"id": ids[1], "accepted": True}], "done": False}
    assert models.say("tell", "models", "--from", str(file)) == "2 accepted.\n"  # the same again is fine
    good = json.dumps({"pull": ids[2], "reward": 0.5})
    for line, words in {
        "not JSON": "line 2 must be a JSON object, got",
        '{"reward": 1}': 'line 2 must have "pull" (or "id") and "reward"',
        f'{{"pull": "{ids[3]}"}}': 'line 2 must have "pull" (or "id") and "reward"',
        f'{{"pull": "{ids[3]}", "reward": 2}}': "line 2: reward must be a number from -1 to 1, got 2",
        f'{{"pull": "{ids[3]}", "reward": "0.5"}}': "line 2: reward must be a number from -1 to 1, got '0.5'",
        f'{{"pull": "{ids[3]}", "reward": NaN}}': "got nan",
        '{"pull": "17", "reward": 0.5}': "one that `ask` has given",
    }.items():
        text = f"{good}\n{line}\n"
        assert words in models.complaint("study", "tell", "models", "--from", "-", stdin=text)
    assert "standard input must be text in UTF-8" in models.complaint(
        "study", "tell", "models", "--from", "-", stdin=b"\xff\n"
    )
    assert "No such file" in models.complaint("study", "tell", "models", "--from", str(tmp_path / "none"))
    assert "--from must be" in models.complaint("study", "tell", "models", ids[2], "0.5", "--from", "-")
    assert models.study("tell", "models", "--from", "-", stdin="") == {"pulls": [], "done": False}
    assert models.study("show", "models")["told"] == 2


@BOTH_WAYS
def test_exchange(models: Shell, tmp_path: Path) -> None:
    """A whole round of a worker in one call."""
    first = models.study("exchange", "models", "--count", "4", "--worker", "me")
    assert (first["answers"], len(first["pulls"]), first["done"]) == ([], 4, False)
    one, two, three, four = (pull["id"] for pull in first["pulls"])
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"pull": two, "reward": -0.25, "info": {"by": "hand"}}) + "\n")
    given = ("--tell", f"{one}=-0.5", "--from", str(file), "--fail", f"{three}=no = luck", "--give-back", four)
    second = models.study("exchange", "models", *given, "--worker", "me", "--count=2", "--lease", "none")
    assert second["answers"] == [{"pull": pull, "accepted": True} for pull in (one, two, three, four)]
    assert len(second["pulls"]) == 2
    report = models.study("show", "models")
    assert (report["told"], report["failed"], report["study"]["failures"][0]["reason"]) == (2, 1, "no = luck")
    said = models(
        "study", "exchange", "models", "--tell", f"{one}=-0.5", "--give-back", two, "--worker=me", "--count=2"
    )
    assert (said.exit_code, [line.split("\t")[0] for line in said.stdout.splitlines()]) == (
        0,
        [pull["id"] for pull in second["pulls"]],
    )
    assert said.stderr == f"note: not accepted, being completed or with another worker: {two}\n"
    said = models(
        "study", "exchange", "models", "--from", "-", "--count", "0", stdin=f'{{"id": "{one}", "reward": -0.5}}'
    )
    assert (said.exit_code, said.stdout) == (0, "")
    for arguments, words in (
        (("--tell", one), "--tell must be written PULL=REWARD"),
        (("--tell", f"{one}=much"), "reward must be a number, got 'much'"),
        (("--tell", f"{one}=7"), "reward must be"),
        (("--tell", f"{one}=nan"), "reward must be"),
        (("--tell", "x=0.5"), "pull must be one that `ask` has given"),
        (("--tell", f"{one}=0.75"), "must be -0.5, as reported before, got 0.75"),
        (("--count", "some"), "count must be a number, got 'some'"),
        (("--count", "-1"), "count must be a whole number from 0 to 100,000, got -1"),
        (("--lease", "0"), "lease must be a number of seconds above 0"),
        (("--from", "nowhere.jsonl"), "data must be a file that can be read, got 'nowhere.jsonl'"),
    ):
        assert words in models.complaint("study", "exchange", "models", *arguments)


@BOTH_WAYS
def test_done(models: Shell) -> None:
    """By its exit code, for a script."""
    said = models("study", "done", "models")
    assert (said.exit_code, said.stdout, said.stderr) == (1, "no: there is more to try\n", "")
    said = models("study", "done", "models", "--json")
    assert (said.exit_code, json.loads(said.stdout)) == (1, {"done": False})
    while pulls := models.study("ask", "models", "--count", "12")["pulls"]:
        models.study("exchange", "models", "--count=0", *(f"--tell={pull['id']}=0.5" for pull in pulls))
    assert models.say("done", "models") == "yes: the study is done\n"
    assert models.study("done", "models") == {"done": True}
    assert "got 'modells'; did you mean 'models'?" in models.complaint("study", "done", "modells")


@BOTH_WAYS
def test_some_of_many_answers_are_late(models: Shell) -> None:
    (first,) = models.study("ask", "models", "--lease", "1e-6")["pulls"]
    (second,) = models.study("ask", "models")["pulls"]
    lines = [json.dumps({"id": pull["id"], "reward": 0.5}) for pull in (second, first)]
    said = models.say("tell", "models", "--from", "-", stdin="\n".join(lines))
    assert said == "1 accepted, 1 not: other answers came first.\n"


@BOTH_WAYS
def test_failures(models: Shell) -> None:
    for _ in range(4):
        (pull,) = models.study("ask", "models")["pulls"]
        failed = models.study("fail", "models", pull["id"], "--reason", "out of\nmemory")
        assert failed == {"pull": pull["id"], "accepted": True, "done": False}
    said = models.complaint("study", "ask", "models")
    assert "arm 'steady' has failed 4 times in a row" in said
    assert said.endswith("; the last time: out of memory; in the shell: ramgape study retry models")
    shown = models.study("show", "models")
    assert (shown["failed"], shown["study"]["given_up"], len(shown["study"]["failures"])) == (4, 1, 4)
    assert shown["study"]["failures"][0]["reason"] == "out of\nmemory"
    words = " ".join(models.say("show", "models").replace("│", " ").split())
    assert "Failed: 4 of steady; 1 trial given up" in words
    assert "Reasons: steady: out of memory (4 times)" in words
    assert models.study("retry", "models") == {"retried": 1, "done": False}
    assert models.say("retry", "models") == "0 trials are available again.\n"


@BOTH_WAYS
def test_give_back_and_renew(models: Shell) -> None:
    first, second = (pull["id"] for pull in models.study("ask", "models", "--count", "2")["pulls"])
    assert models.study("give-back", "models", first) == {"pull": first, "accepted": True, "done": False}
    renewed = models.study("renew", "models", first, second, "--lease", "none")
    rows = [{"id": first, "renewed": False}, {"id": second, "renewed": True}]
    assert renewed == {"pulls": rows, "done": False}
    assert models.say("renew", "models", first, second) == f"{first}\tno longer yours\n{second}\trenewed\n"
    assert models.study("ask", "models")["pulls"][0]["id"] == f"{first}.2"


@BOTH_WAYS
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "models", "--count", "0"), "count must be a whole number from 1 to 100,000, got 0"),
        (("ask", "models", "--count", "two"), "count must be a number, got 'two'"),
        (("ask", "models", "--lease", "-1"), "lease must be a number of seconds above 0"),
        (("ask", "models", "--lease", "soon"), "lease must be a number, got 'soon'"),
        (("ask", "models", "--worker", ""), "worker must be text"),
        (("renew", "models", "x", "--lease", "0"), "pull must be one"),
        (("show", "modles"), "did you mean 'models'?"),
        (("front", "modles"), "did you mean 'models'?"),
        (("delete", "modles", "--yes"), "did you mean 'models'?"),
        (("delete", "modles"), "did you mean 'models'?"),
        (("import", "models", "rows.txt"), "data must be a file that can be read, got 'rows.txt': No such file"),
        (("import", "models", "none.csv"), "data must be a file that can be read, got 'none.csv'"),
        (("export", "models", "none/rows.csv"), "file must be one that can be written, got 'none/rows.csv'"),
        (("export", "models", "-", "--format", "xml"), "format must be one of csv, jsonl, got 'xml'"),
    ],
)
def test_what_else_is_refused(models: Shell, arguments: tuple[str, ...], words: str) -> None:
    assert words in models.complaint("study", *arguments)
    assert words in models.complaint("study", *arguments, "--json")


# --- show, list, front ----------------------------------------------------------------------------------------------


def test_the_object_that_show_prints(models: Shell) -> None:
    shown = models.study("show", "models")
    assert len(shown) <= 25
    promised = {"told": 0, "pending": 0, "failed": 0, "done": False, "answer": [], "schema_version": 2}
    assert {key: shown[key] for key in promised} == promised
    for arm, name in zip(shown["arms"], ("steady", "wild", "poor"), strict=True):
        assert set(arm) == ARM_KEYS
        assert (arm["name"], arm["verdict"], arm["trials"]) == (name, "open", 0)
        assert arm["objectives"]["mean(reward)"]["estimate"] is None
    assert shown["study"]["arms_pending"] == shown["study"]["arms_failed"] == {"steady": 0, "wild": 0, "poor": 0}
    for pull in models.study("ask", "models", "--count", "12")["pulls"][:11]:
        models.study("tell", "models", pull["id"], {"steady": "0.9", "wild": "0.2", "poor": "-0.9"}[pull["arm"]])
    shown = models.study("show", "models")
    assert (shown["told"], shown["pending"], shown["done"], shown["answer"]) == (11, 1, False, ["steady"])
    assert shown["details"]["expected"] == {"pulls": 1, "at_least": False}
    steady, wild, _ = shown["arms"]
    assert (steady["verdict"], wild["verdict"], wild["beaten_by"]) == ("in", "out", "steady")
    assert steady["objectives"]["mean(reward)"]["estimate"] == pytest.approx(0.9)
    number = steady["objectives"]["mean(reward)"]
    assert number["low"] < 0.9 < number["high"] <= 1.0
    assert sum(arm["trials"] for arm in shown["arms"]) == 11
    front = models("study", "front", "models")
    assert front.stdout == "steady\n"
    assert front.stderr == "note: the study is not done: these are the arms that look best so far\n"


@pytest.mark.parametrize("most", [200, 1])
def test_list(models: Shell, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """In plain columns, where there are very many, as well as by rich."""
    monkeypatch.setattr(study_show, "MOST_FOR_RICH", most)
    models.study("create", "a [red] study", *CONFIDENCE)
    models.study("observe", "models", "poor", "0.5")
    models.study("ask", "models", "--count", "2")
    first, second = models.study("list")["studies"]
    assert (first["name"], first["goal"]["epsilon"], first["done"]) == ("a [red] study", 0.05, False)
    assert first["arms"] == ["steady", "wild", "poor"]
    assert (second["name"], second["told"], second["pending"], second["failed"]) == ("models", 1, 2, 0)
    head, *rows = models.say("list").splitlines()
    assert head.split() == ["study", "goal", "arms", "trials", "open", "failed", "done", "created"]
    assert [row.split()[:3] for row in rows if row.startswith("a")] == [["a", "[red]", "study"]]
    assert rows[-1].split()[:7] == ["models", "budget=12", "3", "1", "2", "0", "no"]


@IN_A_FILE
def test_one_study_is_not_looked_for_in_the_whole_list(models: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 10,000 studies in a store a list takes a quarter of a second, and used to take as much at every creation."""
    monkeypatch.setattr(SqlStore, "list_studies", None)
    assert models.study("create", "another", *BUDGET)["told"] == 0
    assert "must be confirmed by --yes" in models.complaint("study", "delete", "another")
    assert models.study("delete", "another", "--yes") == {"deleted": "another"}


@IN_A_FILE
def test_a_list_makes_no_search_of_every_study(models: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StudySpec, "from_text", None)
    assert names_of(models) == ["models"]


def test_an_empty_store(models: Shell) -> None:
    assert models.say("delete", "models", "--yes") == "Deleted study models.\n"
    assert models.study("list") == {"studies": []}
    assert models.say("list") == f"No studies in {models.url} yet. To make one: ramgape study create --help\n"


@IN_A_FILE
def test_no_store(shell: Shell, tmp_path: Path) -> None:
    for arguments in (
        ("study", "list"),
        ("study", "show", "models"),
        ("study", "delete", "models"),
        ("storage", "upgrade"),
    ):
        said = shell.complaint(*arguments)
        assert said == f"there is no store at {shell.url}: no such file; ramgape study create makes one"
    (tmp_path / "studies.db").write_text("a text of some length, which is no database at all" * 20)
    said = shell.complaint("study", "list")
    assert shell.url in said
    assert list(tmp_path.iterdir()) == [tmp_path / "studies.db"]


# --- what people see -------------------------------------------------------------------------------------------------


def rendered(thing: Any, width: int, encoding: str = "utf-8") -> str:
    """What a console of this width and encoding shows."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=file, width=width, force_terminal=False).print(thing)
    file.seek(0)
    return file.read()


def words_of(report: Report, width: int = 100) -> str:
    return " ".join(rendered(report, width).replace("│", " ").split())


@pytest.fixture
def study() -> Iterator[Study]:
    options = {"reward_range": (0, 1), "epsilon": 0.05, "rho": 0.01, "in_order": False}
    with Study.create("models", ["steady", "wild", "poor"], **options) as made:
        yield made


def test_the_picture_of_a_study_that_has_not_begun(study: Study) -> None:
    words = words_of(study.report())
    assert "Study models: not started" in words
    assert "Goal an answer within 0.05, with probability 0.95" in words
    assert "Progress nothing is known of some arms yet Trials" in words
    assert "0 completed; how many more is not known before every arm has its first trials" in words
    assert "In progress" not in words
    assert "Failed" not in words


@pytest.mark.forecasts
def test_the_picture_of_a_study_under_way(study: Study) -> None:
    for _ in range(30):
        for pull in study.ask():
            study.tell(pull, REWARDS[pull.arm])
    for pull in study.ask(3)[:1]:
        study.fail(pull, "the printer\nis on fire")
    report = study.report()
    words = words_of(report)
    assert "Study models: in progress" in words
    assert re.search(r"Progress █*░+ <?\d+%; evidence is missing for \d of 3 arms", words)
    assert re.search(r"30 completed, 3 in progress, 1 failed; about [\d,]+ more expected", words)
    expected = report.result.expected
    assert expected is not None
    assert f"{int(100 * 30 / (30 + expected.pulls))}%; evidence" in words
    pending = [f"{count} of {name}" for name, count in report.arms_pending.items() if count]
    assert f"In progress {', '.join(pending)}" in words
    assert "the printer is on fire" in words
    exact = " ".join(views.as_text(report, full=True).split())
    assert "With probability at least" in exact
    for arm in report.result.arms:
        assert f"{arm.trials}" in words
    plain = str(report)
    assert plain.splitlines()[0] == "Study models: in progress"
    assert re.search(r"Progress: +[█#]*[░.]+ <?\d+%; evidence", plain)
    page = report._repr_html_()
    assert "<strong>Study models: in progress<br>So far: " in page
    assert ">Progress</td>" in page


def test_the_picture_of_a_study_that_is_done(study: Study) -> None:
    late = study.ask(2)
    while not study.done:
        for pull in study.ask():
            study.tell(pull, REWARDS[pull.arm])
    study.tell(late[0], 0.5)
    report = study.report()
    words = words_of(report)
    told = report.result.samples + 1
    assert "Study models: done" in words
    assert re.search(r"█{24} 100%; right within 0\.0\d+, as asked", words)
    assert f"{told} completed (1 of them after the end, and not counted), 1 in progress" in words
    assert "expected" not in words


def test_the_picture_of_a_study_that_was_given_up() -> None:
    with Study.create("coins", ["a", "b"], reward_range=(0, 1), epsilon=0.01, max_trials=20) as study:
        while not study.done:
            study.tell_many([(pull, 0.5) for pull in study.ask()])
        words = words_of(study.report())
    assert "Study coins: undecided, max_trials was reached" in words
    assert re.search(r"Progress right within 0\.\d+, within 0.01 was asked for Trials 20 completed", words)


def test_the_picture_of_a_budget_and_of_an_exact_question() -> None:
    with Study.create("coins", ["a", "b"], reward_range=(0, 1), budget=40) as study:
        study.tell_many([(pull, 0.5) for pull in study.ask(10)])
        words = words_of(study.report())
    assert "Goal the best answer after 40 trials" in words
    assert "██████░░░░░░░░░░░░░░░░░░ 25%; 10 of 40 pulls" in words
    assert "10 completed; 30 more until the budget is spent" in words
    with Study.create("coins", ["a", "b"], reward_range=(0, 1), epsilon=0) as study:
        study.tell_many([(pull, 0.5) for pull in study.ask(100)])
        words = words_of(study.report())
    assert "Goal the exact Pareto set, with probability 0.95" in words
    assert re.search(r"Progress evidence is missing for 2 of 2 arms", words)
    assert "100 completed" in words


def test_pictures_fit_the_window_whatever_the_names_are() -> None:
    arms = ["x" * 10_000, "y" * 5_000 + "z" * 5_000, "日本" * 3_000, "[red]two\nlines"]
    arms += [f"model {number}" for number in range(56)]
    with Study.create("n" * 200, arms, reward_range=(0, 1), budget=500) as study:
        study.fail(study.ask()[0], "r" * 5_000)
        for pull in study.ask(200):
            study.tell(pull, 0.5)
        study.ask(100)
        report = study.report()
    for width in (60, 80, 120):
        lines = rendered(report, width).splitlines()
        assert max(map(cell_width, lines)) <= width
        assert len(lines) < 200
        assert any("... and 48 more" in line for line in lines)
        assert any("model" in line for line in lines)
    summary = [
        ramgape.StudySummary("n" * 200, report.created_at, tuple(arms), report.result.goal, 10**9, 5, 10**6, True)
    ]
    for width in (60, 80, 120):
        assert max(map(len, rendered(study_show.table_of(summary), width).splitlines())) <= width


def test_a_terminal_that_knows_few_letters(study: Study) -> None:
    study.tell_many([(pull, REWARDS[pull.arm]) for pull in study.ask(20)])
    shown = rendered(study.report(), 80, encoding="ascii")
    assert shown.isascii()
    assert re.search(r"Progress +(#*\.+ <?\d+%;|evidence)", shown)


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_observations_go_out_and_come_back(models: Shell, tmp_path: Path, form: str) -> None:
    for pull in models.study("ask", "models", "--count", "5", "--worker", "Ä")["pulls"]:
        models.study("tell", "models", pull["id"], "-0.1")
    file = tmp_path / f"rows.{form}"
    exported = models.study("export", "models", str(file))
    assert exported == {"exported": 5, "file": str(file), "format": form, "done": False}
    streamed = models("study", "export", "models", "-", "--format", form, PYTHONIOENCODING="ascii")
    assert streamed.stdout_bytes == file.read_bytes()
    assert f"5 observations written to {file}." in models.say("export", "models", str(file))
    models.study("create", "copy", *BUDGET)
    assert models.study("import", "copy", str(file)) == {"imported": 5, "done": False}
    again = tmp_path / f"again.{form}"
    models.study("export", "copy", str(again))
    assert again.read_bytes() == file.read_bytes()
    models.study("create", "stream", *BUDGET)
    said = models.say("import", "stream", "-", "--format", form, stdin=file.read_bytes())
    assert said == "5 trials imported.\n"


@pytest.mark.parametrize(
    ("file", "content", "guessed"),
    [
        ("a.csv", "model,score\nsteady,0.5\nwild,-0.5\n", "'model', the only text column; rewards are read from"),
        ("a.jsonl", '{"model": "steady", "score": 0.5}\n{"model": "wild", "score": 1}\n', "column 'score', the only"),
        ("a.csv", "told_at,worker,score,arm\n2024-01-01T00:00:00Z,w,0.5,wild\n,,1,wild\n", "warning: rewards are read"),
        ("a.csv", "arm,reward,note\nsteady,0.5,x\nwild,1,y\n", ""),
        ("a.csv", "arm,reward\nsteady,True\nwild,no\n", ""),
        ("a.jsonl", '{"arm": "steady", "reward": "yes"}\n{"arm": "wild", "reward": "FALSE"}\n', ""),
    ],
)
def test_import_finds_the_columns(models: Shell, tmp_path: Path, file: str, content: str, guessed: str) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    for command in (
        ("import", "models", str(tmp_path / file)),
        ("create", "new", *BUDGET, "--data", str(tmp_path / file)),
    ):
        result = models("study", *command)
        assert result.exit_code == 0, result.output
        assert guessed in result.stderr
        assert bool(guessed) == ("read from column" in result.stderr)
        assert "2 trials" in result.stdout


def test_import_of_other_files(models: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(b"model,score\nsteady,0.5\nwild,-0.5\n"))
    columns = ("--arm-column", "model", "--reward-column", "score")
    monkeypatch.setattr(terminal, "is_watched", lambda: True)  # with somebody there, a sign of life
    result = models("study", "import", "models", str(packed), *columns)
    assert (result.exit_code, result.stdout) == (0, "2 trials imported.\n")
    monkeypatch.undo()
    broken = {
        packed: (gzip.compress(b"model,score\n" * 9)[:20], "log.csv.gz must be whole"),
        tmp_path / "rows.csv": (b"arm,reward\nsteady,0.5\nwild,5\n", "rows.csv, line 3: reward must be a number from"),
        tmp_path / "rows.jsonl": (b'{"arm": "steady"}\n', "--reward-column must name the column with the rewards"),
        tmp_path / "some.jsonl": (b'{"arm": "wild", "reward": 1}\n{"arm": "wild"}', "line 2 must have 'reward'"),
        tmp_path / "true.csv": (
            b"arm,reward\nwild,True\nwild,1\n",
            "line 3: reward must be true or false (or t, f, yes",
        ),
        tmp_path / "one.csv": (b"arm,reward\nwild,1\nwild,True\n", "line 3: reward must be a number, like the rewards"),
        tmp_path / "head.csv": (b"model,score\n", "no text column among model, score"),
        tmp_path / "two.csv": (b"day,model,score\nMon,wild,0.5\n", "2 text columns (day, model)"),
        tmp_path / "text.jsonl": (b"steady 0.5\n", "text.jsonl, line 1 must be a JSON object"),
        tmp_path / "bytes.csv": (b"arm,reward\nsteady,\xff\n", "bytes.csv must be text in UTF-8, got byte 0xff"),
        tmp_path / "empty.csv": (b"", "empty.csv must begin with a header"),
    }
    for file, (content, words) in broken.items():
        file.write_bytes(content)
        assert words in models.complaint("study", "import", "models", str(file))
    rows = b"arm,reward\n" + b"steady,0.5\n" * 11
    said = models.complaint("study", "import", "models", "-", stdin=rows)
    assert "room for 10 more" in said
    assert "standard input, line 2: reward" in models.complaint(
        "study", "import", "models", "-", stdin="arm,reward\nsteady,7\n"
    )
    assert models.study("show", "models")["told"] == 2
    assert "--json must go with a file" in models.complaint("study", "export", "models", "-", "--json")


# --- delete ----------------------------------------------------------------------------------------------------------


def test_delete_needs_a_yes_where_nobody_can_be_asked(models: Shell) -> None:
    assert "--yes" in models.complaint("study", "delete", "models")
    assert names_of(models) == ["models"]
    assert models.study("delete", "models", "--yes") == {"deleted": "models"}
    assert names_of(models) == []


def test_delete_asks_at_a_terminal(models: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_change, "can_ask", lambda: True)
    models.study("observe", "models", "poor", "0.5")
    for answer in ("n\n", "\n", ""):
        result = models("study", "delete", "models", stdin=answer)
        assert result.exit_code == 1
        assert "Delete study models with 1 observations, for good? [y/N]:" in result.stderr
        assert "note: nothing is deleted" in result.stderr
        assert names_of(models) == ["models"]
    result = models("study", "delete", "models", "--json", stdin="y\n")
    assert result.exit_code == 0
    assert json.loads(result.stdout.removeprefix(" y\n")) == {"deleted": "models"}  # the tester's own echo goes first
    assert names_of(models) == []


# --- stores ----------------------------------------------------------------------------------------------------------


@IN_A_FILE
def test_where_studies_are_kept(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell.study("create", "in the variable", *BUDGET)
    made = shell("study", "create", "here", *BUDGET, RAMGAPE_STORAGE=None)
    assert "in sqlite:///ramgape.db" in made.stdout
    shell("study", "create", "there", *BUDGET, "--storage", "sqlite:///there.db")
    for arguments, names in {
        (): ["in the variable"],
        ("--storage", "sqlite:///ramgape.db"): ["here"],
        ("--storage", f"sqlite:///{tmp_path / 'there.db'}"): ["there"],
    }.items():
        assert [study["name"] for study in shell.study("list", *arguments)["studies"]] == names
    empty = shell("study", "list", "--json", RAMGAPE_STORAGE="")  # as if it were not set
    assert json.loads(empty.stdout)["studies"][0]["name"] == "here"
    assert "storage must be sqlite:///FILE, postgresql" in shell.complaint("study", "list", "--storage", "studies.db")
    assert "no such folder" in shell.complaint("study", "create", "x", *BUDGET, "--storage", "sqlite:///no/where.db")


@IN_A_FILE
@pytest.mark.parametrize(
    "url", [SECRET, f"{SECRET}?sslmode=require", "postgresql://host/studies?password=geheim", "host=h password=geheim"]
)
@pytest.mark.parametrize(
    "arguments",
    [("study", "list"), ("study", "show", "x"), ("study", "create", "x", *BUDGET), ("storage", "upgrade"),
     ("study", "tell", "x", "y", "0.5"), ("study", "delete", "x", "--yes")],
)  # fmt: skip
def test_a_password_on_the_command_line_is_refused(shell: Shell, url: str, arguments: tuple[str, ...]) -> None:
    said = shell.complaint(*arguments, "--storage", url)
    assert "RAMGAPE_STORAGE" in said
    assert "~/.pgpass" in said
    assert "geheim" not in said


@pytest.mark.parametrize("url", ["http://me:geheim@host", "https://geheim@host", "https://host?token=geheim"])
@pytest.mark.parametrize("arguments", [("study", "list"), ("study", "ask", "x"), ("study", "tell", "x", "y", "0.5")])
def test_no_token_on_the_command_line(shell: Shell, url: str, arguments: tuple[str, ...]) -> None:
    for said in (
        shell.complaint(*arguments, "--storage", url),
        shell.complaint(*arguments, RAMGAPE_STORAGE=url),
    ):
        assert "storage must be without a user, a password or a token" in said
        assert "RAMGAPE_TOKEN" in said
        assert "geheim" not in said


@IN_A_FILE
@pytest.mark.parametrize(
    "arguments",
    [
        ("study", "show", "models", SECRET),
        ("study", "show", SECRET, "--storage", SECRET),
        ("study", "show", SECRET),
        ("study", "tell", "models", "pull", "0.5", f"--storag={SECRET}"),
        ("study", "tell", "models", "pull", SECRET),
        ("study", SECRET),
        (SECRET,),
    ],
)
def test_a_password_in_the_wrong_place_is_not_repeated(models: Shell, arguments: tuple[str, ...]) -> None:
    result = models(*arguments)
    assert result.exit_code == 2
    assert "geheim" not in result.output.replace("\n", "")


@IN_A_FILE
def test_a_password_in_the_variable_is_not_shown(shell: Shell) -> None:
    address = "postgresql://me:geheim@127.0.0.1:1/studies"
    for arguments in (("study", "list"), ("study", "create", "models", *BUDGET), ("storage", "upgrade", "--json")):
        said = shell.complaint(*arguments, RAMGAPE_STORAGE=address)
        assert "postgresql://me:***@127.0.0.1:1/studies cannot be reached" in said
        assert "geheim" not in said


@IN_A_FILE
def test_upgrade(models: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    version = storage.upgrade(models.url).after
    result = models("storage", "upgrade", "--json")
    described = {"storage": models.url, "from": version, "to": version, "changed": False}
    assert json.loads(result.stdout) == described
    assert models("storage", "upgrade").stdout == f"{models.url} has version {version} already: nothing to do.\n"
    monkeypatch.setattr(storage, "upgrade", lambda url: Upgrade("0001", "0002"))
    assert models("storage", "upgrade").stdout == f"{models.url} is upgraded from version 0001 to 0002.\n"
    assert json.loads(models("storage", "upgrade", "--json").stdout)["changed"] is True


# --- help ------------------------------------------------------------------------------------------------------------


@IN_A_FILE
@pytest.mark.parametrize("arguments", [(), *((verb,) for verb in VERBS)])
def test_help(shell: Shell, arguments: tuple[str, ...]) -> None:
    result = shell("study", *arguments, "--help")
    assert (result.exit_code, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= 80
    words = result.stdout.split()
    if not arguments:
        assert [verb for verb in VERBS if verb not in words] == []
    else:
        assert [name for name in ("--json", "--storage") if name not in words] == []
