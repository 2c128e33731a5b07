"""Names of arms, and what a server sends, are never read as code, whatever the form of the command."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ramgape import FailingArm, Study
from ramgape.commands.placeholders import Command, fill, parse_command, quote
from ramgape.commands.study_files import StudyFile, check_command, read_study_file
from ramgape.commands.trials import CommandTrials
from ramgape.commands.working import WorkerTrials, file_for_worker
from ramgape.common.checks import is_text
from ramgape.errors import InvalidSpec
from ramgape.studies.exchange import Exchange, Pull
from tests.cli_support import NO_SIGNALS, call

pytestmark = NO_SIGNALS

PULL = "9f86d081884c7d659a2f-17"
RECORD = "#!/bin/sh\nprintf '%s\\0' \"$@\" >> got\necho 0.5\n"
# As ssh does it: the words are joined for a shell elsewhere, where our variables are unknown.
SSH = """\
#!/bin/sh
shift
unset RAMGAPE_ARM RAMGAPE_SEED RAMGAPE_ITEM RAMGAPE_PULL
exec sh -c "$*"
"""

ARMS = [
    "$(touch evil)",
    "`touch evil`",
    "; touch evil",
    "\n touch evil \n",
    "& touch evil &",
    "| touch evil",
    "|| touch evil",
    "&& touch evil",
    "'; touch evil; '",
    '"; touch evil; "',
    "'$(touch evil)'",
    '"$(touch evil)"',
    "'\"; touch evil; \"'",
    "\"'; touch evil; '\"",
    "\\'; touch evil; #",
    '\\"; touch evil; #',
    "\\\\'; touch evil; #",
    "\\$(touch evil)",
    "${x:-$(touch evil)}",
    "a[$(touch evil)]",
    "x=$(touch evil)",
    "> evil",
    "2>evil",
    "<(touch evil)",
    "{seed}; touch evil; {arm}",
    "END\ntouch evil\nEND",
    "# \ntouch evil",
    "a b\t*?~!%",
    "--help",
    "é🙂\x01\x1b[31m\r\n",
]
ANSWERS: list[dict[str, Any]] = [
    {"seed": "1; touch evil"},
    {"seed": "$(touch evil)"},
    {"seed": "1\ntouch evil"},
    {"seed": "a[$(touch evil)]"},
    {"seed": "'; touch evil; '"},
    {"seed": "7"},
    {"seed": 1.5},
    {"seed": True},
    {"seed": None},
    {"seed": ["; touch evil"]},
    {"seed": {"$(touch evil)": 1}},
    {"id": "; touch evil"},
    {"id": "$(touch evil)"},
    {"id": "`touch evil`"},
    {"id": "\ntouch evil\n"},
    {"id": "'; touch evil; '"},
    {"id": "a[$(touch evil)]"},
    {"id": "a\0; touch evil"},
    {"id": "\ud800; touch evil"},
    {"id": 5},
    {"id": None},
    {"id": ["; touch evil"]},
    {"arm": "a\0; touch evil"},
    {"arm": "\udfff; touch evil"},
    {"arm": 7},
    {"item": "$(touch evil)"},
    {"item": "'; touch evil; '"},
    {"item": {"q": "`touch evil`"}},
    {"item": ["; touch evil", "\\'; touch evil; #"]},
    {"item": "a\0; touch evil"},
]
FORMS: dict[str, list[str]] = {
    "line": ["./record.sh {arm} {seed} {pull} {item}; echo 0.5  # {pull} {arm}"],
    "words": ["./record.sh", "{arm}", "{seed}", "{pull}", "{item}"],
    "sh": ["sh", "-c", "./record.sh {arm} {seed} {pull} {item}; echo 0.5"],
    "env bash": [
        "env",
        "A=b",
        "/bin/bash",
        "-euo",
        "pipefail",
        "-c",
        "./record.sh {arm} {seed} {pull} {item} | tail -1",
    ],
    "ssh": ["ssh", "host", "./record.sh", "{arm}", "{seed}", "{pull}", "{item}"],
    "timeout ssh": ["timeout", "60", "ssh", "host", "./record.sh {arm} `echo {seed}` {pull} {item}; echo 0.5"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run, with all that they need."""
    programs = tmp_path / "programs"
    work = tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    for path, text in ((programs / "ssh", SSH), (work / "record.sh", RECORD)):
        path.write_text(text)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(work)
    return work


def worker_file(words: list[str]) -> StudyFile:
    """What `study work NAME -- WORDS` runs."""
    study = cast(Study, SimpleNamespace(arms=("a",), name="x", measured=None))
    return file_for_worker(words, study, "output", 60.0)


@pytest.fixture
def worker(request: pytest.FixtureRequest, folder: Path) -> Iterator[Callable[[Pull], list[str]]]:
    """Make one trial; what the command was given."""
    with WorkerTrials(worker_file(FORMS[request.param])) as trials:

        def make(pull: Pull) -> list[str]:
            (folder / "got").unlink(missing_ok=True)
            assert trials.for_pull(pull) == 0.5
            return (folder / "got").read_bytes().decode().split("\0")[:-1]

        yield make


def nothing_else_ran(folder: Path) -> bool:
    return {path.name for path in folder.iterdir()} <= {"got", "record.sh", "mine.toml"}


@pytest.mark.parametrize("worker", FORMS, indirect=True)
def test_names_of_arms(worker: Callable[[Pull], list[str]], folder: Path) -> None:
    """Each comes through as it is."""
    assert len(set(ARMS)) == 30
    for arm in ARMS:
        assert worker(Pull(PULL, arm, 7, "an item")) == [arm, "7", PULL, "an item"]
        assert nothing_else_ran(folder), arm


@pytest.mark.parametrize("worker", FORMS, indirect=True)
def test_answers_of_servers(worker: Callable[[Pull], list[str]], folder: Path) -> None:
    """Text comes through as it is, but for a seed, which is a number; nothing else does."""
    assert len(ANSWERS) == 30
    for answer in ANSWERS:
        pull = Pull(**{"id": PULL, "arm": "a", "seed": 7, "item": "an item", **answer})
        item = pull.item if isinstance(pull.item, str) else json.dumps(pull.item)
        texts = [pull.arm, pull.id, item]
        if type(pull.seed) is int and all(
            isinstance(text, str) and is_text(text) and "\0" not in text for text in texts
        ):
            assert worker(pull) == [pull.arm, "7", pull.id, item]
        else:
            with pytest.raises(FailingArm, match="of a trial must be"):
                worker(pull)
        assert nothing_else_ran(folder), answer


def test_study_files(folder: Path) -> None:
    """The names of arms in a file, with lines and words."""
    forms: list[Any] = [FORMS["line"][0], *(FORMS[name] for name in ("words", "sh", "env bash", "ssh"))]
    arms = {arm: forms[turn % len(forms)] for turn, arm in enumerate(ARMS)}
    table = "\n".join(f"{json.dumps(arm, ensure_ascii=False)} = {json.dumps(command)}" for arm, command in arms.items())
    (folder / "mine.toml").write_text(f"[study]\nreward_range = [0, 1]\nbudget = 90\n[arms]\n{table}\n", "utf-8")
    file = read_study_file(folder / "mine.toml")
    assert list(file.commands) == ARMS
    with CommandTrials(file) as make:
        for arm in ARMS:
            assert make(arm, 7, "an item") == 0.5
            got = (folder / "got").read_bytes().decode().split("\0")
            assert got == [arm, "7", "{pull}", "an item", ""]  # {pull} is for workers, and stays as it is
            (folder / "got").unlink()
            assert nothing_else_ran(folder), arm


@pytest.mark.parametrize(
    ("pull", "words"),
    [
        (
            Pull(PULL, "a", cast(int, "1; touch evil")),
            "the seed of a trial must be a whole number, got '1; touch evil'",
        ),
        (Pull(PULL, "a\0b", 7), "arm of a trial must be text without NUL"),
    ],
)
def test_a_worker_of_a_hostile_server_says_so(
    pull: Pull, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = f"sqlite:///{folder.parent / 'studies.db'}"
    Study.create("x", ["a", "b"], storage=here, budget=4, reward_range=(0, 1)).close()
    usual = Study.exchange

    def exchange(self: Study, *given: Any, count: int = 0, **more: Any) -> Exchange:
        usual(self, count=0, worker="w")
        return Exchange((), (pull,) if count else (), False)

    monkeypatch.setattr(Study, "exchange", exchange)
    said = call("study", "work", "x", "--storage", here, "--max-trials", "3", "--", *FORMS["line"])
    assert (said.exit_code, said.stdout) == (1, ""), said.output
    assert words in said.stderr
    assert nothing_else_ran(folder)


# --- which commands are accepted ------------------------------------------------------------------------------------


FINE: list[Command] = [
    "./t {arm} {seed}",
    "echo $(echo {arm}) `echo {seed}`",
    "x={arm}; ./t $x",
    "export A={arm}; ./t",
    "FOO={arm} ./t x",
    "./{arm}.sh {seed}",
    ". ./{arm}.sh",
    "case {arm} in fast) echo 1;; slow) ./t {arm};; esac",
    "for i in {arm} b; do ./t $i; done",
    "if ./t {arm}; then echo 1; fi",
    "echo $(( {seed} % 3 ))",
    "[ {seed} -gt 3 ] && echo 1",
    "( cd x && ./t {arm} ) 2>&1 | tail -1",
    "echo $(date) {arm} > out-{seed}.txt 2>/dev/null",
    "bash -euo pipefail t.sh {arm}",
    "python3 t.py {arm}; perl t.pl {arm}; node t.js --x={arm}",
    "python3 -c 'import sys; print(1)' {arm}",
    "sh -c './t \"$1\"' sh {arm}",
    "awk -v seed={seed} 'BEGIN{print seed}'",
    "sed -n -e 1p {arm}.txt",
    "./run.py eval {arm}",
    "./t.sh --lang python {arm}",
    "make && ./t {arm}",
    "timeout 5 env A={arm} ./t",
    ("nice", "-n", "5", "timeout", "-k", "1", "9", "nohup", "stdbuf", "-oL", "time", "sh", "-c", "./t {arm}"),
    ("ssh", "-p", "22", "-tt", "me@host", "./t", "{arm}", "{seed}"),
    ("timeout", "9", "ssh", "host", "cd x && ./t {arm} | tail -1"),
    ("ssh", "host"),
    ("sh", "-c", 'echo "$0 $1"', "{arm} {seed}", "$HOME {x}"),
    ("bash", "t.sh", "-c", "{arm}"),
    ("python3", "-uc", "print(1)", "{arm}"),
    ("./{arm}.sh",),
    ("echo", "'{arm}' {seed}"),
    ("nice", "-n", "{arm}", "./t"),
    ("awk", "-v", "x={arm}", "BEGIN{print x}"),
    ("awk", "-f", "p.awk", "{arm}"),
    ("flock", "file", "./t", "{arm}"),
    ("sbatch", "--wait", "t.sh", "{arm}"),
]
READ_AS_CODE: list[Command] = [
    "eval echo {arm}",
    "true; eval {arm}",
    "(eval {arm})",
    "$(eval {arm})",
    "`eval {arm}`",
    "case x in a) eval {arm};; esac",
    "$(case x in a) eval {arm};; b) :;; esac)",
    "sh -c {arm}",
    "bash -c echo\\ {arm}",
    "$SHELL -c {arm}",
    "find . | xargs sh -c {arm}",
    "ssh host ./t {arm}",
    "echo {arm} | sh",
    "echo {arm} | bash -s",
    "echo {arm} | python3 -",
    "echo {arm} | ssh host",
    "bash <<< {arm}",
    "python3 -c {arm}",
    "perl -ne {arm}",
    "awk {arm}",
    "awk -vx=e {arm}",
    "sed s/x/{arm}/",
    "sed -n -e {arm}",
    "{arm}",
    "x=1 {arm} --x",
    "true && {arm}",
    "if {arm}; then echo 1; fi",
    "{ {arm}; }",
    "exec {arm}",
    "xargs {arm}",
    "bash {arm}",
    "python3 {arm}.py",
    ". {arm}",
    "echo $(( {arm} ))",
    "(( {pull} ))",
    "let x={arm}",
    "[[ {arm} -eq 1 ]]",
    "a[{arm}]=1",
    "declare -i x={arm}",
    "echo ${x:-{arm}}",
    "export {arm}",
    "trap {arm} EXIT",
    "printf {arm} x",
    "printf -v {arm} x",
    "test -v {arm}",
    "env -S {arm}",
    "su -c {arm}",
    "make {arm}",
    "flock file -c {arm}",
    ("sh", "-c", "{arm}"),
    ("zsh", "-c", "{seed}"),
    ("sh", "-c", "eval {arm}"),
    ("bash", "-c", "sh -c {arm}"),
    ("bash", "--rcfile", "{arm}", "-c", "x"),
    ("docker", "exec", "c", "sh", "-c", "echo '{arm}'"),
    ("find", ".", "-exec", "sh", "-c", "echo '{arm}'", ";"),
    ("env", "{arm}", "./t"),
    ("env", "-S", "sh -c {arm}"),
    ("env", "-S{arm}", "x"),
    ("ssh", "{arm}", "./t"),
    ("ssh", "-oProxyCommand={arm}", "h", "./t"),
    ("ssh", "h", "ssh", "g", "./t", "{arm}"),
    ("ssh", "h", "echo '{arm}'"),
    ("ssh", "h", "eval", "{arm}"),
    ("ssh", "h", "{arm}"),
    ("env", "python3", "-uc", "{arm}"),
    ("perl", "-e", "1", "-e", "{arm}"),
    ("perl", "{arm}"),
    ("node", "--eval={arm}"),
    ("node", "-pe", "{arm}"),
    ("php", "-r", "{arm}"),
    ("awk", 'BEGIN{print "{arm}"}'),
    ("sed", "s/x/{arm}/", "f"),
    ("{arm}",),
    ("timeout", "{arm}", "./t"),
    ("timeout", "--signal", "KILL", "5", "{arm}"),
    ("python3", "{arm}.py"),
    ("make", "{arm}"),
    ("flock", "file", "-c", "./t {arm}"),
    ("nice", "flock", "-w", "5", "file", "--command", "./t {arm}"),
    ("sbatch", "--wait", "--wrap", "./t {arm}"),
    ("sbatch", "--wait", "--wrap=./t {arm}"),
]


@pytest.mark.parametrize("command", FINE, ids=str)
def test_placeholders_that_are_accepted(command: Command) -> None:
    parse_command(command)


@pytest.mark.parametrize("command", READ_AS_CODE, ids=str)
def test_placeholders_that_would_be_read_as_code(command: Command, folder: Path) -> None:
    """The error names what is wrong, and then what to write."""
    given = command if isinstance(command, str) else list(command)
    with pytest.raises(InvalidSpec, match=r"arm 'a': .*(\{\w+\}|its input).*\. \w.*\.$"):
        check_command("a", given, folder)


def test_a_name_does_not_choose_a_program_elsewhere(folder: Path) -> None:
    """Only one in the folder that the user wrote."""
    for command in (["./{arm}.sh"], "./{arm}.sh", ["sh", "-c", "./{arm}.sh"], ["sh", "./{arm}.sh"]):
        check_command("record", command, folder)
        with pytest.raises(InvalidSpec, match=r"arm must be the name of a file, without /, got '\.\./evil'"):
            check_command("../evil", command, folder)
        with pytest.raises(FailingArm, match="is part of the path of the program"):
            fill(command if isinstance(command, str) else tuple(command), {"arm": "../evil"})


def test_scripts_where_variables_do_not_travel() -> None:
    """In a container, behind sudo and env -i the script sets them itself."""
    known = {"arm": "a'b", "seed": "7"}
    for before in (["docker", "run", "image"], ["sudo"], ["env", "-i"]):
        filled = fill((*before, "sh", "-c", "./t {arm}"), known)
        assert filled[-1] == "export RAMGAPE_ARM='a'\"'\"'b'; ./t \"$RAMGAPE_ARM\""
    assert fill(("env", "A=b", "sh", "-c", "./t {arm}"), known)[-1] == './t "$RAMGAPE_ARM"'


def test_quoting() -> None:
    texts = [*ARMS, "", "\\", "'", "\\\\''"]
    script = "printf '%s\\0' " + " ".join(map(quote, texts))
    for shell in ("sh", "bash"):
        output = subprocess.run([shell, "-c", script], capture_output=True, check=True).stdout
        assert output.decode().split("\0")[:-1] == texts
