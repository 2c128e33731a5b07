"""`ramgape study work`: a worker in one command, against a file, a database and a server."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ramgape import Study
from ramgape.commands.working import own_name
from tests.cli_support import NO_SIGNALS, call, call_json, environment

OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "seed": 3}
# 1 or 0, by the seed; the arm says how often.
COIN = """\
#!/bin/sh
echo "of $1 by $2"
[ $(($2 % 100)) -lt $1 ] && echo 1 || echo 0
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="what these workers run are scripts of a POSIX shell")


@pytest.fixture(params=["sqlite", "postgresql", "http"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a study may be that several processes work on."""
    names = {"postgresql": "postgres_url", "http": "server_url"}
    if request.param in names:
        url: str = request.getfixturevalue(names[request.param])
        return url
    return f"sqlite:///{tmp_path / 'studies.db'}"


@pytest.fixture
def here(tmp_path: Path) -> str:
    """A file, for what does not depend on the store."""
    return f"sqlite:///{tmp_path / 'studies.db'}"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a command in it, where workers run."""
    script(tmp_path / "coin.sh", COIN)
    monkeypatch.chdir(tmp_path)


def script(path: Path, text: str) -> None:
    """An executable."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_worker_makes_all_trials(place: str) -> None:
    with Study.create("coins", ["90", "40"], storage=place, budget=40, **OPTIONS) as study:
        first = call_json(
            "study",
            "work",
            "coins",
            "--storage",
            place,
            "--max-trials",
            "7",
            "--json",
            "--",
            "./coin.sh",
            "{arm}",
            "{seed}",
        )
        assert (first["trials"], first["failed"], first["ended"], first["done"]) == (7, 0, "enough", False)
        assert first["sentence"] is None
        assert study.report(expect=False).pending == 0
        command = ("study", "work", "coins", "--storage", place, "--workers", "3", "--worker", "me", "--")
        said = call(*command, "./coin.sh", "{arm}", "{seed}")
        result = study.result(expect=False)
        assert (said.exit_code, said.stdout) == (0, f"33 trials made here; the study is done. {result.sentence}\n")
        rows = [seen.row for seen in study.backend.observations()]
        seeds = [seen.seed for seen in study.backend.observations()]
    assert {row.worker for row in rows} == {first["worker"], "me"}
    assert [row.reward for row in rows] == [
        float((seed or 0) % 100 < int(row.arm)) for row, seed in zip(rows, seeds, strict=True)
    ]
    again = call_json("study", "work", "coins", "--storage", place, "--json", "--", "./coin.sh", "{arm}", "{seed}")
    assert (again["trials"], again["ended"], again["sentence"]) == (0, "done", result.sentence)


def test_what_a_trial_knows(here: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By placeholders and by its environment; of where it is stored it knows nothing."""
    monkeypatch.setenv("RAMGAPE_TOKEN", "rg_secret")
    monkeypatch.setenv("RAMGAPE_STORAGE", here)
    known = '"$1|$2|$3|$4|$RAMGAPE_ARM|$RAMGAPE_SEED|$RAMGAPE_ITEM|$RAMGAPE_PULL|$RAMGAPE_TOKEN$RAMGAPE_STORAGE"'
    script(tmp_path / "say.sh", f"#!/bin/sh\necho {known} >> said.txt\necho 0.5\n")
    options: dict[str, Any] = {"items": ["2 + 2", {"q": 1}], "epsilon": 0.1, **OPTIONS}
    with Study.create("tests", ["a b", "$(c)"], storage=here, **options) as study:
        said = call("study", "work", "tests", "--", "./say.sh", "{arm}", "{seed}", "{item}", "{pull}")
        assert said.exit_code == 0, said.output
        told = {seen.row.pull: (seen.row.arm, seen.seed, seen.row.item) for seen in study.backend.observations()}
    lines = (tmp_path / "said.txt").read_text().splitlines()
    assert len(lines) == len(told) == 4
    for line in lines:
        arm, seed, item, pull, *same, secrets = line.split("|")
        assert [arm, seed, item, pull] == same
        assert secrets == ""
        assert told[pull] == (arm, int(seed), ["2 + 2", '{"q": 1}'].index(item))


def test_a_line_for_the_shell(here: str) -> None:
    with Study.create("coins", ["90", "4 0"], storage=here, budget=6, **OPTIONS) as study:
        said = call(
            "study",
            "work",
            "coins",
            "--storage",
            here,
            "--",
            "echo {arm} {pull} | wc -w | sed s/2/0.25/ | sed s/3/0.5/",
        )
        assert said.exit_code == 0, said.output
        seen = {(each.row.arm, each.row.reward) for each in study.backend.observations()}
        assert seen == {
            ("90", 0.25),
            ("4 0", 0.5),
        }


def test_elapsed_times(here: str) -> None:
    options: dict[str, Any] = {"direction": "minimize", "budget": 4, "seed": 1}
    with Study.create("times", ["0.01", "0.05"], storage=here, **options) as study:
        said = call("study", "work", "times", "--storage", here, "--reward", "elapsed", "--", "sleep", "{arm}")
        assert said.exit_code == 0, said.output
        for seen in study.backend.observations():
            assert seen.row.reward >= float(seen.row.arm)
            assert seen.row.info is not None
            assert json.loads(seen.row.info)["ramgape"]["exit_code"] == 0


def test_a_trial_that_fails(place: str, tmp_path: Path) -> None:
    script(tmp_path / "bad.sh", '#!/bin/sh\necho "reading $1" >&2\necho "out of memory" >&2\nexit 3\n')
    with Study.create("bad", ["a", "b"], storage=place, budget=4, retries=1, **OPTIONS) as study:
        said = call("study", "work", "bad", "--storage", place, "--", "./bad.sh", "{arm}")
        assert (said.exit_code, said.stdout) == (1, "")
        assert "has failed 2 times in a row at the same pull" in said.stderr
        assert "; in the shell: ramgape study retry bad" in said.stderr
        report = study.report(expect=False)
        assert (report.failed, report.given_up, report.told) == (2, 1, 0)
        assert "FailedTrial: exit code 3; stderr ends with 'reading" in report.failures[0].reason
        assert "out of memory" in report.failures[0].reason


def test_failures_that_count(here: str, tmp_path: Path) -> None:
    script(tmp_path / "odd.sh", "#!/bin/sh\n[ $1 = a ] && exit 1\necho 1\n")
    with Study.create("odd", ["a", "b"], storage=here, budget=8, failure="worst", **OPTIONS) as study:
        found = call_json("study", "work", "odd", "--storage", here, "--json", "--", "./odd.sh", "{arm}")
        report = study.report(expect=False)
    assert (found["done"], found["failed"]) == (True, report.failed)
    assert found["trials"] + found["failed"] == 8
    assert report.arms_failed["a"] == report.failed > 0


def test_a_timeout(here: str) -> None:
    with Study.create("slow", ["30", "40"], storage=here, budget=4, retries=0, **OPTIONS) as study:
        begun = time.monotonic()
        said = call("study", "work", "slow", "--storage", here, "--timeout", "0.1", "--", "sleep", "{arm}")
        assert time.monotonic() - begun < 25  # and not until the commands end
        assert said.exit_code == 1
        assert "timeout after 0.1 s" in study.report(expect=False).failures[0].reason


def test_enough_time(here: str) -> None:
    with Study.create("coins", ["90", "40"], storage=here, budget=10_000, **OPTIONS) as study:
        command = ("study", "work", "coins", "--storage", here, "--max-time", "0.3", "--workers", "2", "--json", "--")
        found = call_json(*command, "./coin.sh", "{arm}", "{seed}")
        report = study.report(expect=False)
    assert (found["ended"], report.pending, report.told) == ("enough", 0, found["trials"])
    assert found["trials"] > 0


def test_arms_that_come_later(here: str) -> None:
    options: dict[str, Any] = {"expected_arms": 3, "epsilon": 0.3, **OPTIONS}
    with Study.create("coins", ["90", "40"], storage=here, **options) as study:
        command = ("study", "work", "coins", "--storage", here)
        assert call(*command, "--max-trials", "2", "--", "./coin.sh", "{arm}", "{seed}").exit_code == 0
        study.add_arm("10")
        assert call(*command, "--", "./coin.sh", "{arm}", "{seed}").exit_code == 0
        assert study.result(expect=False).arm("10").pulls > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--", "./nowhere", "{arm}"), "the command must be a program that can be found"),
        (("--", "./{arm}.sh"), "arm '90' must be a program that can be found"),
        (("--", "echo '{arm}' 1"), "{arm} stands inside quotes. Write it outside of quotes, as in ./trial {arm}"),
        (("--", "sh", "-c", "echo '{arm}' 1"), "{arm} stands inside quotes. Write it outside of quotes"),
        (("--", "env", "A=b", "/bin/bash", "-ec", 'echo "{pull}"'), "the command: {pull} stands inside quotes"),
        (("--", "python3", "-c", "print('{arm}')"), "{arm} would be read as code by python3. Read the environment"),
        (("--", "{arm}"), "{arm} would choose the program. Write its folder before it, as in ./{arm}."),
        (("--reward", "time", "--", "./coin.sh"), "reward must be one of output, elapsed, got 'time'"),
        (("--timeout", "0", "--", "./coin.sh"), "timeout must be a number of seconds above 0"),
        (("--workers", "0", "--", "./coin.sh"), "workers must be a whole number of at least 1"),
        (("--max-trials", "none", "--", "./coin.sh"), "max_trials must be a number"),
        (("--max-time", "-1", "--", "./coin.sh"), "max_time must be a number of seconds above 0"),
        (("--worker", "", "--", "./coin.sh"), "worker must be text"),
    ],
)
def test_what_is_refused(here: str, arguments: tuple[str, ...], words: str) -> None:
    Study.create("coins", ["90", "40"], storage=here, budget=4, **OPTIONS).close()
    said = call("study", "work", "coins", "--storage", here, *arguments)
    assert (said.exit_code, said.stdout) == (2, "")
    assert words in said.stderr


def test_a_command_that_a_shell_cannot_start(here: str) -> None:
    with Study.create("coins", ["90", "40"], storage=here, budget=4, **OPTIONS) as study:
        said = call("study", "work", "coins", "--storage", here, "--", "./nowhere {arm} 2>&1")
        assert said.exit_code == 1
        assert "must be a command that can be started, got exit code 127" in said.stderr
        report = study.report(expect=False)
        assert report.failed == 0  # it is given back
        assert len(study.ask(1, "somebody else")) == study.report(expect=False).pending == 1


def test_a_command_without_the_arm(here: str) -> None:
    Study.create("coins", ["90", "40"], storage=here, budget=4, **OPTIONS).close()
    said = call("study", "work", "coins", "--storage", here, "--", "echo", "0.5")
    assert said.exit_code == 0
    assert "warning: the command has no {arm}" in said.stderr


def test_names_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOSTNAME", "node-7")
    assert own_name().startswith(f"node-7:{os.getpid()}:")
    assert own_name() != own_name()
    monkeypatch.setenv("SLURM_JOB_ID", "99")
    assert own_name().startswith("slurm-99:node-7:")
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "98")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "4")
    assert own_name().startswith("slurm-98-4:node-7:")


@pytest.mark.few(2)
@NO_SIGNALS
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end(place: str, tmp_path: Path, number: signal.Signals) -> None:
    """Its trials are ended, and what it had is there for others."""
    script(tmp_path / "long.sh", "#!/bin/sh\necho $$ >> begun.txt\nsleep 300\necho 1\n")
    with Study.create("long", ["a", "b"], storage=place, budget=9, **OPTIONS) as study:
        command = [sys.executable, "-m", "ramgape", "study", "work", "long", "--workers", "2"]
        worker = subprocess.Popen(
            [*command, "--json", "--", "./long.sh", "{arm}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(RAMGAPE_STORAGE=place),
        )
        begun = tmp_path / "begun.txt"
        while worker.poll() is None and (not begun.exists() or begun.read_text().count("\n") < 2):
            time.sleep(0.02)
        assert study.report(expect=False).pending == 2
        worker.send_signal(number)
        output, errors = worker.communicate(timeout=60)
        assert worker.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130}[number], errors
        assert json.loads(output)["ended"] == "interrupted"
        assert errors.endswith("interrupted: trials in progress are released\n")
        assert "Traceback" not in errors
        for line in begun.read_text().split():
            with pytest.raises(ProcessLookupError):
                os.kill(int(line), 0)
        assert len(study.ask(2, "somebody else")) == 2
        report = study.report(expect=False)
        assert (report.failed, report.told, report.pending) == (0, 0, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who has left a process group")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_with_a_trial_that_has_left_its_group(here: str, tmp_path: Path, number: signal.Signals) -> None:
    """As a daemon does; with two trials at once."""
    script(tmp_path / "long.sh", "#!/bin/sh\nsetsid sh -c 'echo $$ >> begun.txt; exec sleep 300' &\nsleep 300\n")
    begun = tmp_path / "begun.txt"
    begun.touch()
    with Study.create("long", ["a", "b"], storage=here, budget=9, **OPTIONS):
        command = [
            sys.executable,
            "-m",
            "ramgape",
            "study",
            "work",
            "long",
            "--workers",
            "2",
            "--",
            "./long.sh",
            "{arm}",
        ]
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=environment(RAMGAPE_STORAGE=here)
        ) as worker:
            while worker.poll() is None and begun.read_text().count("\n") < 2:
                time.sleep(0.02)
            worker.send_signal(number)
            _, errors = worker.communicate(timeout=60)
    assert worker.returncode == 128 + number, errors
    for line in begun.read_text().split():  # killed, and buried by the worker or by the system
        end = time.monotonic() + 60
        while Path(f"/proc/{line}").exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert not Path(f"/proc/{line}").exists()
