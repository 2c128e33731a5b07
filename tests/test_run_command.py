"""`ramgape run`: study files, commands in processes of their own, and what is left of them: nothing."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import ramgape
from ramgape.cli import app, stores
from ramgape.cli.streams import ending_gently
from ramgape.commands import trials
from ramgape.commands.study_files import StudyFile, read_study_file
from ramgape.commands.trials import CommandTrials, Finished, reward_of
from ramgape.studies.running import is_gone
from tests.cli_support import NO_SIGNALS, PLAIN, environment

pytestmark = NO_SIGNALS

ARMS = """
[arms]
low = "echo 0.25"
high = "echo working...; echo 0.75; echo"
"""
STUDY = """
[study]
reward_range = [0, 1]
budget = 8
risk = "mean-variance:0.01"
storage = "sqlite:///studies.db"
"""
PYTHON = sys.executable


@pytest.fixture(autouse=True)
def _no_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAMGAPE_STORAGE", raising=False)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a study file."""

    def make(study: str = STUDY, arms: str = ARMS, name: str = "mine.toml") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(study) + textwrap.dedent(arms), encoding="utf-8")
        return path

    return make


def call(*arguments: str | Path) -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, ["run", *map(str, arguments)], env=PLAIN)


def report(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """What it prints with --json."""
    result = call(*arguments, "--json")
    assert result.exit_code == code, result.output
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def refused(*arguments: str | Path) -> str:
    """The one line of a call that must be refused before anything has happened."""
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").strip()


def described(folder: Path, command: Any, **changes: Any) -> StudyFile:
    """A study of one command, for single trials."""
    fixed = {"path": folder / "x.toml", "name": "x", "commands": {"arm": command}, "folder": folder, "storage": None}
    usual = {"reward": "output", "timeout": 20.0, "options": {"retries": 0}}
    return StudyFile(**{**fixed, **usual, **changes})


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Callable[..., CommandTrials]]:
    """Trials of one command; nothing of them is left behind."""
    with ExitStack() as stack:
        yield lambda command, hidden=trials.OUR_STORE, **changes: stack.enter_context(
            CommandTrials(described(tmp_path, command, **changes), hidden=hidden)
        )


def alive(process: int) -> bool:
    """Whether a process runs; one that is dead but not yet buried does not."""
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(process, 0)
        if Path("/proc/self/stat").exists():
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return True
    return False


def eventually(condition: Callable[[], Any]) -> Any:
    """What a condition says as soon as it is true."""
    end = time.monotonic() + 300
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


# --- one trial ---------------------------------------------------------------------------------------------------


def test_a_command_knows_its_trial(
    tmp_path: Path, commands: Callable[..., CommandTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed and arm in the line and in the environment, other braces as they are, no input."""
    line = "pwd; cat; echo {arm} {seed} {other} {{seed}} $RAMGAPE_ARM $RAMGAPE_SEED | awk '{print}'"
    finished = commands(line).run("arm", 17)
    assert finished.output.splitlines() == [str(tmp_path), "arm 17 {other} {17} arm 17"]
    words = ("sh", "-c", 'echo "$0 $1"', "{arm} {seed}", "$HOME {x}")
    finished = commands(words).run("arm", 17)
    assert finished.output == "arm 17 $HOME {x}\n"
    assert finished.code == 0


NASTY = "a b'c\"d$(touch evil)`touch evil`;touch evil&\n*{seed}\\"


def test_a_name_is_one_word_of_the_line(tmp_path: Path, commands: Callable[..., CommandTrials]) -> None:
    """Whatever an arm is called, the shell reads none of it."""
    lines = ("printf '<%s>' {arm} x{arm}y", "printf '<%s>' $(printf '%s' {arm}) ; printf '<%s>' x{arm}y")
    for line, first in zip(lines, ("<" + NASTY + ">", None), strict=True):
        output = commands(line, commands={NASTY: line}).run(NASTY, 17).output
        assert output.endswith(f"<x{NASTY}y>")
        assert first is None or output.startswith(first)
    assert not (tmp_path / "evil").exists()


STORE = {"RAMGAPE_STORAGE": "sqlite:///x.db", "PGPASSWORD": "secret", "PGPASSFILE": "/passwords", "OTHER": "seen"}


@pytest.mark.parametrize(("hidden", "seen"), [(("RAMGAPE_STORAGE",), 3), (trials.OUR_STORE + trials.OUR_PASSWORD, 1)])
def test_a_command_does_not_know_the_store(
    hidden: tuple[str, ...], seen: int, commands: Callable[..., CommandTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in STORE.items():
        monkeypatch.setenv(name, value)
    found = commands("env", hidden=hidden).run("arm", 1).output.splitlines()
    assert {f"{name}={value}" for name, value in STORE.items() if name not in hidden} <= set(found)
    assert sum(line.partition("=")[0] in STORE for line in found) == seen


def test_the_seed_is_that_of_the_pull(commands: Callable[..., CommandTrials]) -> None:
    assert commands("echo {seed}")("arm", 123) == 123.0


def test_of_much_output_the_end_is_kept(commands: Callable[..., CommandTrials]) -> None:
    script = (
        "import sys\nfor _ in range(300): sys.stdout.write('x' * 10000); sys.stderr.write('y' * 10000)\nprint('\\n1')"
    )
    finished = commands((PYTHON, "-c", script)).run("arm", 1)
    assert finished.output.endswith("x\n1\n")
    assert len(finished.output) == len(finished.errors) == trials.KEPT


@pytest.mark.parametrize(
    ("finished", "message"),
    [
        (Finished(0, 1.0, "almost 0.5\n", ""), "must be a number, got 'almost 0.5'; nothing on stderr"),
        (Finished(0, 1.0, " \n\n", "e" * 500), r"must be a number, got ''; stderr ends with '\.\.\.e{197}'$"),
        (Finished(0, 1.0, "x" * 5000, ""), r"got 'x{190,}\.\.\.; nothing"),
        (Finished(3, 1.0, "0.5", "a\nwhy"), r"exit code 3; stderr ends with 'a\\nwhy'"),
        (Finished(-9, 1.0, "0.5", ""), "ended by SIGKILL"),
        (Finished(0, 2.0, "0.5", ""), "timeout after 2 s"),
    ],
)
def test_what_has_no_reward_has_failed(finished: Finished, message: str) -> None:
    with pytest.raises(ramgape.FailedTrial, match=message):
        reward_of(finished, "output", 2.0)


@pytest.mark.parametrize(("text", "reward"), [("1\n0.5", 0.5), ("x\r\n -1e-3 \r\n\n", -0.001), ("\xa07", 7.0)])
def test_the_last_line_is_the_reward(text: str, reward: float) -> None:
    assert reward_of(Finished(0, 1.0, text, "warning"), "output", 2.0) == reward


def stubborn(folder: Path) -> str:
    """A command with a child and a grandchild that ignore requests to end; their numbers are in files."""
    child = (
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > grandchild; sleep 300; sleep 300' & echo $$ > child; wait; wait"
    )
    (folder / "child.sh").write_text(child, encoding="utf-8")
    return "sh child.sh & sh child.sh"


def descendants(folder: Path) -> list[int]:
    files = [folder / name for name in ("child", "grandchild")]
    return [int(file.read_text()) for file in files if file.exists() and file.read_text().strip()]


def test_a_timeout_ends_the_whole_tree(
    tmp_path: Path, commands: Callable[..., CommandTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "GRACE", 0.2)
    for timeout in (1, 5, 25, 125):  # until there is time enough for both to start, also on a busy machine
        make = commands(stubborn(tmp_path), timeout=float(timeout))
        with pytest.raises(ramgape.FailedTrial, match=f"timeout after {timeout} s"):
            make("arm", 1)
        if len(processes := descendants(tmp_path)) == 2:
            break
    assert len(processes) == 2
    assert eventually(lambda: not any(map(alive, processes)))  # killed, but a process that is not ours dies when it may


def test_nothing_goes_on_after_the_command(commands: Callable[..., CommandTrials]) -> None:
    """What it left in the background would disturb the next trial; and the pipes that it holds open do not keep us."""
    finished = commands("sleep 300 & echo $!").run("arm", 1)
    assert eventually(lambda: not alive(int(finished.output)))


# In a session of its own: as a child, as a daemon that nobody waits for, and without the environment of its trial.
ESCAPED = "sh -c 'echo $$ > escaped; exec sleep 300'"
WAIT = "while [ ! -s escaped ]; do sleep 0.01; done"
ESCAPES = {
    "child": f"setsid {ESCAPED}; ",
    "daemon": f"setsid {ESCAPED} & {WAIT}; ",
    "cleared": f"env -i $(which setsid) {ESCAPED} & {WAIT}; ",
}
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who has left a process group")


@ON_LINUX
@pytest.mark.parametrize("escape", ESCAPES)
def test_a_timeout_ends_what_has_left_the_group(
    escape: str, tmp_path: Path, commands: Callable[..., CommandTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "GRACE", 0.2)
    for timeout in (1, 5, 25, 125):  # until there is time enough for it to start, also on a busy machine
        with pytest.raises(ramgape.FailedTrial, match=f"timeout after {timeout} s"):
            commands(f"{ESCAPES[escape]} sleep 300", timeout=float(timeout))("arm", 1)
        if (tmp_path / "escaped").exists():
            break
    assert eventually(lambda: not alive(int((tmp_path / "escaped").read_text())))


@ON_LINUX
@pytest.mark.parametrize("escape", ["daemon", "cleared"])
def test_no_daemon_goes_on_after_the_command(
    escape: str, tmp_path: Path, commands: Callable[..., CommandTrials]
) -> None:
    """And the trials of others are left alone."""
    neighbour, make = commands("echo $$ > other; sleep 300"), commands(f"{ESCAPES[escape]} echo 1")
    thread = threading.Thread(target=lambda: neighbour.run("arm", 2), daemon=True)
    thread.start()
    other = int(eventually(lambda: (tmp_path / "other").exists() and (tmp_path / "other").read_text().strip()))
    assert make("arm", 1) == 1.0
    assert eventually(lambda: not alive(int((tmp_path / "escaped").read_text())))
    assert alive(other)
    neighbour.close()
    thread.join()


def test_closing_ends_what_other_threads_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "GRACE", 0.2)
    make = CommandTrials(described(tmp_path, stubborn(tmp_path), timeout=None))
    failures = []

    def work() -> None:
        try:
            make("arm", 1)
        except ramgape.FailedTrial as error:
            failures.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    processes = eventually(lambda: len(found := descendants(tmp_path)) == 2 and found)
    make.close()
    thread.join()
    assert len(failures) == 1
    assert eventually(lambda: not any(map(alive, processes)))
    with pytest.raises(ramgape.FailedTrial, match="being left"):
        make.run("arm", 2)


class Command:
    """A command that ends with the exit codes of a list, one run after the other; the seeds of its runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *codes: int) -> None:
        self.seeds: list[int] = []
        left = iter(codes)

        def run(_: CommandTrials, arm: str, seed: int, item: object = None) -> Finished:
            self.seeds.append(seed)
            code = next(left)
            return Finished(abs(code), 9.0 if code < 0 else 1.0, "0.5", "why")

        monkeypatch.setattr(CommandTrials, "run", run)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ((127,), "arm 'arm' must be a command that can be started, got exit code 127; stderr ends with 'why'"),
        ((1, 126), "arm 'arm' must be a command that can be started, got exit code 126"),
        ((1, 2, 3), "must be a command that can succeed, got nothing but failures in its first 3 runs, .* exit code 3"),
    ],
)
def test_a_command_that_cannot_work(
    codes: tuple[int, ...], message: str, commands: Callable[..., CommandTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is seen at once, in the first trial, and with other seeds: nothing is ever counted of it."""
    made = Command(monkeypatch, *codes)
    with pytest.raises(ramgape.FailingArm, match=message):
        commands("false", reward="elapsed", options={"failure": "worst"})("arm", 7)
    assert len(set(made.seeds)) == len(codes)


@pytest.mark.parametrize(
    "codes", [(1, 0, 1, 1, 1), (1, 2, 0, 1, 1), (1, -1, 1, -1, 0), (-1, -1, -1, 1, 0), (0, 1, 1, 1, 1)]
)
def test_a_command_that_fails_at_times(
    codes: tuple[int, ...], commands: Callable[..., CommandTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has succeeded once may fail, and a timeout (here below 0) shows at least that it runs."""
    made, make = Command(monkeypatch, *codes), commands("false", timeout=5.0)
    while len(made.seeds) < len(codes):
        told = codes[len(made.seeds)]  # the first run is the trial, the others are there to see
        with pytest.raises(ramgape.FailedTrial) if told else nullcontext():
            make("arm", len(made.seeds))


def test_what_succeeded_in_an_earlier_run_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Command(monkeypatch, 1, 1)
    with CommandTrials(described(tmp_path, "false"), proven=["arm"]) as make, pytest.raises(ramgape.FailedTrial):
        make("arm", 1)
    assert len(made.seeds) == 1


# --- study files -------------------------------------------------------------------------------------------------


BAD_STUDIES = {
    "epsilom = 0.1": "got 'epsilom'; did you mean 'epsilon'?",
    "epsilon = -1": "epsilon must be a finite number of at least 0",
    'epsilon = "small"': "epsilon must be",
    "epsilon = [0.1]": "epsilon must be a pair",
    "delta = 2\nepsilon = 0.1": "delta must be",
    "budget = 1": "budget must be",
    "budget = 2026-01-01": "budget must be",
    'reward = "elapse"': "reward must be one of output, elapsed, got 'elapse'; did you mean 'elapsed'?",
    "timeout = 0": "timeout must be a number of seconds above 0",
    "timeout = nan": "timeout must be a number of seconds above 0",
    "timeout = true": "timeout must be a number of seconds above 0",
    'rate = "60/day"': "the unit of rate '60/day' must be one of s, min, h, got 'day'",
    "rate = 0": "rate must be a number above 0 per second",
    "retries = -1": "retries must be a whole number of at least 0",
    'failure = "wurst"': "failure must be one of retry, worst, censored, got 'wurst'; did you mean 'worst'?",
    "reward_range = [1, 0]": "reward_range must be two finite numbers",
    'noise = "gauss"': "assumption must be one of unknown, bounded, gaussian",
    "name = 5": "name must be text",
    'name = ""': "name must be text",
    'policy = "ramgap"': "got 'ramgap'; did you mean 'ramgape'?",
    'risk = "cvar:2"': "the level of risk cvar must be a number from 1e-6 to 1, got 2",
    'cwd = "nowhere"': "cwd must be an existing folder, as seen from this file, got 'nowhere'",
    "cwd = 1": "cwd must be the path of a folder, got 1",
    'storage = "studies.db"': "storage must be sqlite:///FILE, postgresql",
    "storage = 1": "storage must be a URL",
    'storage = "postgresql://me:secret@host/x"': "storage must be without a password in a file, got 'postgresql://me:***@host/x'",
    'reward = "elapsed"': "timeout must be given with reward = 'elapsed'",
    'reward = "elapsed"\ntimeout = 1\ndirection = "maximize"': "direction must be 'minimize' with reward",
    'reward = "elapsed"\ntimeout = 1\nreward_range = [0, 2]': "reward_range must be absent with reward",
    'reward = "elapsed"\ntimeout = 1\nnoise = "gaussian"\nexpired = "late"': "expired must be one of retry, fail",
    'noise = "gaussian"\nfailure = "worst"': "failure must be 'retry' for rewards without a range, which have no "
    "worst one, unless `worst` says what it is, got 'worst'",
}


@pytest.mark.parametrize("lines", BAD_STUDIES)
def test_a_bad_study_is_refused_at_once(lines: str, write: Callable[..., Path], tmp_path: Path) -> None:
    needed = "" if "reward_range" in lines or "noise" in lines or "elapsed" in lines else "reward_range = [0, 1]\n"
    goal = "" if "budget" in lines or "epsil" in lines else "budget = 8\n"
    storage = "" if "storage" in lines else 'storage = "sqlite:///studies.db"\n'
    path = write(
        f"[study]\n{needed}{goal}{storage}{lines}\n", '[arms]\na = "touch ran; echo 1"\nb = "touch ran; echo 1"\n'
    )
    message = refused(path)
    assert message.startswith(f"{path}, [study]: ")
    assert BAD_STUDIES[lines] in message
    assert "secret" not in message
    assert sorted(os.listdir(tmp_path)) == ["mine.toml"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ("", "mine.toml: [arms] must be a table of the file, got None"),
        ("[arms]\na = 'echo 1'", "[arms]: arms must be at least two, each with its command, got ['a']"),
        (
            "[arms]\na = 'echo 1'\nb = 2",
            "[arms]: arm 'b' must be a command: text for the shell, or a list of words, got 2",
        ),
        ("[arms]\na = 'echo 1'\nb = ' '", "arm 'b' must be a command"),
        ("[arms]\na = 'echo 1'\nb = []", "arm 'b' must be a command"),
        ("[arms]\na = 'echo 1'\nb = ['echo', 1]", "arm 'b' must be a command"),
        ("[arms]\na = 'echo 1'\nb = \"a\\u0000b\"", "arm 'b' must be a command"),
        ("[arms]\na = 'echo 1'\nb = ['no-such-program-here']", "arm 'b' must be a program that can be found"),
        ("[arms]\na = 'echo 1'\nb = ['./mine.toml']", "arm 'b' must be a program that can be found"),
        ("[arms]\na = 'echo 1'\na = 'echo 2'", "mine.toml must be valid TOML: "),
        ("[arms", "mine.toml must be valid TOML: "),
        ("[arm]\na = 'echo 1'", "of study, arms, price, outcomes, known, got 'arm'; did you mean 'arms'?"),
    ],
)
def test_bad_arms_are_refused_at_once(arms: str, message: str, write: Callable[..., Path]) -> None:
    assert message in refused(write(arms=arms))


@pytest.mark.parametrize(
    "line",
    [
        "echo '{arm}'",
        'echo "x {seed} y"',
        "sh -c 'echo \"$1\" {arm}'",
        'x="$(echo "{arm}")"',
        'x="`echo "{arm}"`"',
        'echo "$(echo {arm})"',
        r"echo \{arm}",
        r'echo "\"{arm}"',
        "echo it's {arm}",
        "cat <<END\n{arm}\nEND",
    ],
)
def test_a_placeholder_in_quotes_is_refused(line: str, write: Callable[..., Path]) -> None:
    message = refused(write(arms=f"[arms]\na = 'echo 1'\nb = {json.dumps(line)}"))
    name = "seed" if "{seed}" in line else "arm"
    assert f"[arms]: arm 'b': {{{name}}} stands " in message
    assert f"Write it outside of quotes, as in ./trial {{{name}}}; inside double quotes," in message
    assert f"write $RAMGAPE_{name.upper()}." in message


@pytest.mark.parametrize(
    "line",
    [
        "echo {arm} '{print}' x{seed}y",
        "echo $(echo {arm}) `echo {seed}`",
        'echo "$(date)" {arm} "`date`"',
        r"echo \"{arm}\"",
        "echo {arm} # it's fine\necho {seed}",
        "cat <<END > {arm}.txt\nwords\nEND",
    ],
)
def test_a_placeholder_outside_quotes_is_fine(line: str, write: Callable[..., Path]) -> None:
    arms = f"[arms]\na = 'echo 1'\nb = {json.dumps(line)}\nc = ['echo', \"'{{arm}}' {{seed}}\"]"
    assert read_study_file(write(arms=arms)).commands["b"] == line


def test_bad_files_are_refused(tmp_path: Path, write: Callable[..., Path]) -> None:
    assert "study file must be an existing file, got" in refused(tmp_path / "none.toml")
    assert "study file must be a file, got the directory" in refused(tmp_path)
    path = write()
    path.write_bytes(b"\xff")
    assert "must be UTF-8 text" in refused(path)
    path.write_text("a = " + "[" * 100_000, encoding="utf-8")
    assert "must be valid TOML" in refused(path)
    assert "jobs must be a whole number" in refused(write(), "--jobs", "-1")


def test_what_a_file_leaves_open(write: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = read_study_file(write('[study]\nreward = "elapsed"\ntimeout = 3\nepsilon = [0.1, 0.2]\ncwd = "data"\n'))
    assert (file.name, file.failure, file.folder, file.storage) == ("mine", "worst", tmp_path / "data", None)
    usual = {"failure": "worst", "in_order": True, "direction": "minimize", "epsilon": [0.1, 0.2]}
    assert file.options == {**usual, "interleave": True, "worst": 3.0}
    assert file.earlier[-1] == {**usual, "reward_range": [0.0, 3.0]}
    fastest = '[study]\nreward = "elapsed"\ntimeout = 3\nepsilon = 0.1\ntask = "best"\n'
    file = read_study_file(write(fastest))
    assert (file.options["failure"], file.options["worst"]) == ("censored", 3.0)
    assert [each["failure"] for each in file.earlier] == ["worst", "worst"]
    bounded = '[study]\nreward = "elapsed"\ntimeout = 3\nepsilon = 0.1\n'
    for said in ('noise = "bounded"\n', "reward_range = [0.0, 3]\n", "interleave = false\nreward_range = [0, 3]\n"):
        file = read_study_file(write(bounded + said))
        assert (file.options["reward_range"], "worst" in file.options) == ([0.0, 3.0], False)
        assert file.options["interleave"] == ("interleave" not in said)
    file = read_study_file(write('[study]\nname = "n"\nrisk = "variance"\nstorage = "sqlite:////tmp/x.db?timeout=1"\n'))
    assert (file.name, file.failure, file.timeout, file.reward) == ("n", "retry", None, "output")
    assert file.storage == "sqlite:////tmp/x.db?timeout=1"
    assert read_study_file(write()).storage == f"sqlite:///{tmp_path}/studies.db"


# --- storage -----------------------------------------------------------------------------------------------------


def test_where_a_study_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stores.storage_url(None) == "sqlite:///ramgape.db"
    assert stores.storage_url(None, "sqlite:///file.db") == "sqlite:///file.db"
    monkeypatch.setenv("RAMGAPE_STORAGE", "postgresql://me:secret@host/x")
    assert stores.storage_url(None, "sqlite:///file.db") == "postgresql://me:secret@host/x"
    assert stores.storage_url("sqlite:///option.db", "sqlite:///file.db") == "sqlite:///option.db"
    with pytest.raises(ramgape.StorageError, match=r"without a password.*got 'postgresql://me:\*\*\*@h"):
        stores.storage_url("postgresql://me:secret@host/x")
    with pytest.raises(ramgape.StorageError, match="storage must be sqlite:///FILE, postgresql"):
        stores.storage_url("ramgape.db")


def test_a_password_on_the_command_line_is_refused(write: Callable[..., Path]) -> None:
    message = refused(write(), "--storage", "postgresql://me:secret@host/x")
    assert "without a password" in message
    assert "secret" not in message


# --- whole studies -----------------------------------------------------------------------------------------------


def test_a_study_runs_and_is_there_afterwards(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write()
    first = call(path)
    assert first.exit_code == 0, first.output
    assert "Study mine: done\nBest guess: high (highest measured mean and lowest measured risk)" in first.stdout
    assert "8 trials of 2 options" in first.stdout
    assert first.stderr == ""
    assert ramgape.Study.load("mine", f"sqlite:///{tmp_path / 'studies.db'}").result().front == ("high",)
    again = report(path)
    assert (again["told"], again["done"], again["answer"], again["name"]) == (8, True, ["high"], "mine")
    changed = refused(write(STUDY.replace("8", "9")))
    assert "has another specification: budget is 8 in the store, 9 here; give it another name in" in changed
    assert "ramgape study delete mine" in changed
    other = report(write(), "--storage", f"sqlite:///{tmp_path / 'other.db'}", "--jobs", "2")
    assert (other["told"], other["done"], other["answer"]) == (8, True, ["high"])


def test_two_at_once(write: Callable[..., Path], tmp_path: Path) -> None:
    """Each trial waits until it sees another one: with one at a time none would ever end."""
    wait = "touch here-$$; while [ $(ls | grep -c '^here-') -lt 2 ]; do sleep 0.01; done; echo 0.{seed}"
    arms = f"""[arms]\na = "{wait}"\nb = "{wait}"\n"""
    found = report(write(STUDY + "timeout = 60\n", arms), "--jobs", "2")
    assert (found["told"], found["failed"]) == (8, 0)


def test_an_arm_that_fails_again_and_again(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(STUDY + "retries = 1\n", ARMS.replace('"echo 0.25"', '"mkdir once || cat missing-file && echo 0.25"'))
    result = call(path)
    assert result.exit_code == 1
    assert "arm 'low' has failed 2 times in a row" in result.stderr
    assert "FailedTrial: exit code 1; stderr ends with" in result.stderr
    assert "missing-file" in result.stderr
    assert "mend the command in" in result.stderr
    assert "Study mine: in progress" in result.stdout
    assert "low failed 2 times, high never" in " ".join(result.stdout.split())
    (tmp_path / "missing-file").write_text("")
    mended = report(path)
    assert (mended["done"], mended["told"], mended["failed"]) == (True, 8, 2)


@pytest.mark.parametrize("command", ['"exit 7"', '"./no-such-program"', '["./mine.toml"]', '"kill -9 $$"'])
def test_a_broken_command_is_an_error_and_no_slow_arm(command: str, write: Callable[..., Path], tmp_path: Path) -> None:
    arms = f'[arms]\nquick = "true"\nbroken = {command}\n'
    if command.startswith("["):  # found at the door, and no program all the same
        (tmp_path / "mine.toml").touch(0o755)
    unhurried = TIMED.replace("timeout = 2", "timeout = 120")  # none of them waits for it
    path = write(unhurried, arms)
    result = call(path)
    assert result.exit_code == 1, result.output
    assert "error: arm 'broken' must be a command that can" in result.stderr
    assert f"mend the command in {path}" in result.stderr
    mended = report(write(unhurried, arms.replace(command, '"true"')))
    assert (mended["done"], mended["told"], mended["failed"]) == (True, 8, 0)


def test_an_output_that_is_out_of_range_has_failed(write: Callable[..., Path]) -> None:
    found = report(write(STUDY + 'failure = "worst"\n', ARMS.replace("echo 0.25", "echo 1.5")))
    arms = {arm["name"]: arm for arm in found["arms"]}
    assert arms["low"]["objectives"]["mean(reward)"]["estimate"] == 0.0
    assert found["study"]["arms_failed"] == {"low": arms["low"]["trials"], "high": 0}
    assert arms["low"]["trials"] > 0
    assert "reward must be a number from 0 to 1, got 1.5" in found["study"]["failures"][0]["reason"]


TIMED = """
[study]
reward = "elapsed"
timeout = 2
budget = 8
risk = "mean-variance:0.01"
storage = "sqlite:///studies.db"
"""


def test_times_and_timeouts(write: Callable[..., Path]) -> None:
    """What takes too long, and what ends with an error, counts as the timeout: the worst time, not the best."""
    arms = '[arms]\nquick = "true"\nendless = "sleep 300"\nbroken = "mkdir once || exit 7"\n'
    result = call(write(TIMED + "retries = 2\n", arms), "--jobs", "2")
    assert result.exit_code == 0, result.output
    assert "warning: 2 trials at once disturb each other's times" in result.stderr
    assert "retries has no effect with failure = 'worst'" in result.stderr
    assert "each counts as the worst time there is, 2 s" in result.stderr
    assert "of 'endless'" in result.stderr
    found = report(write(TIMED + "retries = 2\n", arms))
    means = {arm["name"]: arm["objectives"]["mean(elapsed)"]["estimate"] for arm in found["arms"]}
    assert means["endless"] == 2.0
    assert 0.0 < means["quick"] < 1.0 < means["broken"]
    failed = found["study"]["arms_failed"]
    assert f"endless: FailedTrial: timeout after 2 s; nothing on stderr ({failed['endless']} times)" in result.stderr
    assert "exit code 7" in result.stderr
    assert found["answer"] == ["quick"]
    assert found["settings"]["direction"] == "minimize"
    assert (found["details"]["noise"], found["details"]["reward_range"]) == ("unknown", None)
    assert found["details"]["rigour"] == "approximate"


def test_timeouts_that_are_left_out_are_told(write: Callable[..., Path], tmp_path: Path) -> None:
    flaky = "if mkdir tried; then sleep 300; fi"
    path = write(TIMED + 'failure = "retry"\n', f'[arms]\nflaky = "{flaky}; true"\nquick = "true"\n')
    result = call(path)
    assert result.exit_code == 0, result.output
    assert "failed: 1 trial (1 of 'flaky'): none of them counts" in result.stderr
    assert "the times look better than they are" in result.stderr
    assert "timeout after 2 s" in result.stderr


def test_signals_are_left_alone_in_other_threads() -> None:
    """Outside the main thread no signal is ours to handle."""
    came: list[object] = []

    def work() -> None:
        with ending_gently() as signals:
            came.append(signals)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert came == [[]]


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, "1"), (signal.SIGINT, "2"), (signal.SIGTERM, "1")])
def test_an_interrupt_and_going_on(
    number: signal.Signals, jobs: str, write: Callable[..., Path], tmp_path: Path
) -> None:
    """The result so far, no process left, and the same command finishes what is missing."""
    slow = "if [ -e go ]; then echo 0.5; else echo $$ > running; sleep 300; fi"
    path = write(arms=f'[arms]\nslow = "{slow}"\nhigh = "echo 0.75"\n')
    command = [PYTHON, "-m", "ramgape", "run", str(path), "--jobs", jobs, "--json"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), text=True, **streams) as started:  # type: ignore[call-overload]
        running = tmp_path / "running"
        eventually(lambda: running.exists() and running.read_text().strip())
        started.send_signal(number)
        output, errors = started.communicate(timeout=300)
    assert started.returncode == 128 + number
    assert eventually(lambda: not alive(int(running.read_text())))
    so_far = json.loads(output)
    assert not so_far["done"]
    assert so_far["pending"] >= 1
    assert so_far["failed"] == 0
    assert "run it again to go on" in errors
    (tmp_path / "go").touch()
    after = report(path)
    assert (after["done"], after["told"], after["failed"], after["answer"]) == (True, 8, 0, ["high"])


def test_after_a_crash_nothing_waits_for_a_lease(tmp_path: Path) -> None:
    """The open trial of a process that is gone is made at once, and is no lost one; that of another machine is left."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    here = platform.node() or "run"
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    assert is_gone(f"{here}:{gone.pid}:abcdef")
    for other in (f"{here}:{os.getpid()}:abcdef", f"elsewhere:{gone.pid}:abcdef", "worker", f"{here}:x:y", "a:b"):
        assert not is_gone(other)
    with ramgape.Study.create("mine", ["a", "b"], storage=url, budget=8) as study:
        study.ask(worker=f"{here}:{gone.pid}:abcdef", lease=3600.0)
        result = study.run(lambda arm, seed: 0.5, progress=False)
        assert (result.trials, result.quality.expired) == (8, {})


@pytest.mark.long
@pytest.mark.parametrize("registered", [True, False] if sys.platform == "linux" else [True])
def test_when_we_are_killed_the_commands_end_too(registered: bool, write: Callable[..., Path], tmp_path: Path) -> None:
    """Also what ignores requests to end; and what has no mark in its environment, or was not yet written down."""
    child = stubborn(tmp_path)
    path = write(arms=f'[arms]\nslow = "{"env -i " * registered}sh -c \'{child}\'"\nhigh = "echo 0.75"\n')
    script = "import tempfile; from ramgape.cli import main; from ramgape.commands import trials; {}main()"
    elsewhere = "own, real = tempfile.TemporaryFile(), trials.Launcher; "
    elsewhere += "trials.Launcher = lambda folder, _, place: real(folder, own.fileno(), place); "
    forget = "" if registered else elsewhere
    command = [PYTHON, "-c", script.format(forget), "run", str(path)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as started:
        processes = eventually(lambda: len(found := descendants(tmp_path)) == 2 and found)
        started.kill()
    assert started.returncode == -signal.SIGKILL
    assert eventually(lambda: not any(map(alive, processes)))
