"""What comes from outside: it is a file with an end, its numbers are plain, and no terminal obeys what it says."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import ramgape
from ramgape.cli import app
from ramgape.commands.trials import Finished, reward_of
from ramgape.common.files import as_text, read_number
from ramgape.storage.urls import parse_url, scrub, shown_in
from tests.cli_support import NO_SIGNALS, PLAIN, environment

COLUMNS = ("--arm-column", "arm", "--reward-column", "reward", "--reward-range", "0", "1")


def call(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(app, list(arguments), env=PLAIN, **options)


def complaint(*arguments: str, **options: Any) -> str:
    """The one line on stderr, of a call that must be refused."""
    result = call(*arguments, **options)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.strip().isprintable()
    return result.stderr.removeprefix("error: ").strip()


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ramgape.Study:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    monkeypatch.setenv("RAMGAPE_STORAGE", url)
    return ramgape.Study.create("models", ["A", "B"], budget=100, reward_range=(0, 1), storage=url)


# --- numbers -----------------------------------------------------------------------------------------------------

NO_NUMBERS = ("1_5", "0_1", "٣", "0.٣", "１", "1 5", "", "0x1", "one")


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_in_data(text: str, study: ramgape.Study, tmp_path: Path) -> None:
    """Not in a log, not in an import of either form, not as an argument, and not as the output of a command."""
    with pytest.raises(ValueError, match=r"not a number|could not convert"):
        read_number(text)
    log = tmp_path / "log.csv"
    log.write_text(f"arm,reward\nA,0.5\nB,{text}\n", encoding="utf-8")
    assert "log.csv, line 3: column 'reward' must be a number from 0 to 1" in complaint("analyze", str(log), *COLUMNS)
    assert "line 3: reward must be a number, got" in complaint("study", "import", "models", str(log))
    lines = tmp_path / "log.jsonl"
    lines.write_text(json.dumps({"arm": "A", "reward": text}), encoding="utf-8")
    assert "line 1: reward must be a number, got" in complaint("study", "import", "models", str(lines))
    assert "reward must be a number, got" in complaint("study", "observe", "models", "A", text)
    (pull,) = study.ask()
    assert "reward must be a number, got" in complaint("study", "tell", "models", pull.id, text)
    with pytest.raises(ramgape.FailedTrial, match="must be a number"):
        reward_of(Finished(0, 1.0, text, ""), "output", None)
    assert study.report().told == 0


def test_numbers_as_they_come(study: ramgape.Study, tmp_path: Path) -> None:
    """Blanks of any kind around them, exponents, signs; and options keep their underscores."""
    log = tmp_path / "log.csv"
    log.write_text("arm,reward\nA, 5e-1\nB,\N{NO-BREAK SPACE}+.25\n", encoding="utf-8")
    found = call("analyze", str(log), *COLUMNS, "--json", "--delta", "0.0_5")
    assert [arm["objectives"]["mean(reward)"]["estimate"] for arm in json.loads(found.stdout)["arms"]] == [0.5, 0.25]
    assert study.import_csv(log) == 2


# --- files without an end -------------------------------------------------------------------------------------------


def no_files(folder: Path) -> list[Path]:
    os.mkfifo(folder / "fifo")
    return [folder / "fifo", *filter(Path.exists, map(Path, ("/dev/full", "/dev/zero")))]


@NO_SIGNALS
def test_what_is_no_file_is_refused(tmp_path: Path, study: ramgape.Study) -> None:
    """A FIFO would be waited for, and a device read, for ever."""
    for path in map(str, no_files(tmp_path)):
        calls = [
            ("analyze", path, *COLUMNS),
            ("study", "import", "models", path, "--format", "csv"),
            ("study", "tell", "models", "--from", path),
            ("run", path),
            ("simulate", path),
        ]
        for arguments in calls:
            assert "it is a FIFO or a device, not a file" in complaint(*arguments)
        for read in (study.import_csv, study.import_jsonl):
            with pytest.raises(OSError, match="it is a FIFO or a device"):
                read(path)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system has no such names for open files")
def test_what_a_shell_hands_over_is_read(tmp_path: Path) -> None:
    """`ramgape analyze <(zcat log.csv.gz)`: a pipe, but one that somebody writes into."""
    reader, writer = os.pipe()
    os.write(writer, b"arm,reward\nA,0.5\nB,0.25\n")
    os.close(writer)
    try:
        assert call("analyze", f"/dev/fd/{reader}", *COLUMNS).exit_code == 0
    finally:
        os.close(reader)


class Endless(io.RawIOBase):
    """A line that never ends; how much of it was read."""

    def __init__(self, start: bytes) -> None:
        self.start, self.read_so_far = start, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = (self.start + b"x" * len(buffer))[: len(buffer)]
        self.start = b""
        buffer[: len(found)] = found
        self.read_so_far += len(found)
        return len(found)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_line_without_end_is_refused_soon(form: str, study: ramgape.Study) -> None:
    endless = Endless(b'arm,reward\nA,0.5\nB,"' if form == "csv" else b'{"arm": "A", "reward": 0.5}\n\n{"arm": "')
    stream = as_text(io.BufferedReader(endless), "log")
    with pytest.raises(ramgape.InvalidData, match="log, line 3, must be at most 500,000 bytes long"):
        (study.import_csv if form == "csv" else study.import_jsonl)(stream)
    assert endless.read_so_far < 1_000_000
    assert study.report().told == 0


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_of_a_file_is_not_too_long(pack: Callable[[bytes], bytes], tmp_path: Path, study: ramgape.Study) -> None:
    """Many columns are no way around it."""
    path = tmp_path / ("log.csv.gz" if pack is gzip.compress else "log.csv")
    path.write_bytes(pack(b"arm,reward\nA,0.5\n" + b"," * 2_000_000))
    assert "line 3, must be at most 500,000 bytes long" in complaint("analyze", str(path), *COLUMNS)
    assert "line 3, must be at most 500,000 bytes long" in complaint("study", "import", "models", str(path))
    path.write_bytes(pack(b"arm,reward\n" + b"A,0.5\nB,0.25\n" * 100_000 + b"A,0." + b"5" * 100_000))
    assert call("analyze", str(path), *COLUMNS).exit_code == 0


def test_a_whole_file_is_not_too_large(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    with path.open("wb") as file:
        file.truncate(100_000_000)  # takes no room, and would take long
    assert "got '" + str(path) + "': it has more than 1,048,576 bytes" in complaint("run", str(path))
    assert "it has more than 67,108,864 bytes" in complaint("simulate", str(path))


# --- what is printed ---------------------------------------------------------------------------------------------

EVIL = "\x1b[31m[bold]x\r\nerror: none\u202e\x07"


def test_no_error_moves_the_cursor(study: ramgape.Study, tmp_path: Path) -> None:
    """Names, headers and reasons are written out, brackets stay as they are, and an error stays on its line."""
    log = tmp_path / "log.csv"
    log.write_text(f'"{EVIL}",b\nA,1\n', encoding="utf-8", newline="")
    said = complaint("analyze", str(log), *COLUMNS)
    assert r"arm column of log.csv must be one of \x1b[31m[bold]x\r\nerror: none\u202e\x07, b" in said
    log.write_text(f'"{EVIL}",b,c\nA,B,1\n', encoding="utf-8", newline="")
    assert r"\x1b[31m[bold]x\r\n" in complaint("study", "import", "models", str(log))
    assert r"\x1b[31m[bold]x\r\n" in complaint("study", "observe", "models", EVIL, "1")
    made = ramgape.Study.create("evil", [EVIL, "b"], budget=9, reward_range=(0, 1))
    with pytest.raises(ramgape.UnknownName, match=r"arm must be one of \\x1b\[31m") as caught:
        made.observe("c", 1.0)
    assert str(caught.value).isprintable()


def test_no_complaint_about_arguments_does() -> None:
    for arguments in ((EVIL,), (f"--{EVIL}",), ("list", EVIL), ("list", "policies", f"--{EVIL}")):
        result = call(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert not {"\x1b", "\r", "\x07", "\u202e"} & set(result.stderr)
        assert r"\x1b[31m[bold]x" in result.stderr.replace("\n", "")


def test_a_failed_command_says_nothing_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    command = json.dumps(r"printf '\033[31m[bold]' >&2; exit 3")
    study = "[study]\nbudget = 8\nreward_range = [0, 1]\nstorage = 'sqlite:///x.db'\n"
    path.write_text(f"{study}[arms]\na = 'echo 1'\nb = {command}\n", encoding="utf-8")
    result = call("run", str(path))
    assert result.exit_code == 1
    assert r"\x1b[31m[bold]" in result.stderr
    assert "\x1b" not in result.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no such device")
@pytest.mark.parametrize("arguments", [("--help",), ("list", "policies")])
def test_output_that_finds_no_room(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "ramgape", *arguments]
        finished = subprocess.run(
            command, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (finished.returncode, finished.stderr) == (1, "error: [Errno 28] No space left on device\n")


# --- passwords ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("password", ["QQ QQ", "Q Q Q", "Q@Q Q", "77 Q", "Q/Q Q", "Q  Q"])
@pytest.mark.parametrize("form", ["postgresql://me:{}@host/x", "postgresql://host/x?password={}"])
def test_a_password_with_a_blank_is_hidden(form: str, password: str) -> None:
    url = form.format(password)
    for text in (url, f"unexpected argument ({url})", f"got '{url}'; did you mean sqlite:///x.db?", f"{url} and {url}"):
        assert not {"Q", "7"} & set(shown_in(text))
    assert shown_in(f"got '{url}'; did you mean sqlite:///x.db?").endswith("'; did you mean sqlite:///x.db?")


def test_passwords_are_looked_for_in_linear_time() -> None:
    """The time of this test: minutes, where every letter of a long word begins a search to its end."""
    for word in ("x", "?", "x://", "://x ", " password"):
        assert shown_in(word * 100_000).startswith(word)
    assert shown_in("x" * 100_000 + "://me:secret@host").endswith("x://me:***@host")


def test_a_cut_file_is_an_error_wherever_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.csv.gz").write_bytes(gzip.compress(b"arm,reward\na,0.5\n" * 9)[:-9])
    create = ("study", "create", "new", "--reward-range", "0", "1", "--budget", "9")
    for arguments in (
        (*create, "--arms-file", "cut.csv.gz"),
        (*create, "--arm", "a", "--arm", "b", "--data", "cut.csv.gz"),
        ("analyze", "cut.csv.gz", "--arm-column", "arm", "--reward-column", "reward", "--reward-range", "0", "1"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "cut.csv.gz" in done.stderr


def test_names_of_files_are_shown_and_never_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url = "sqlite:///\x1b[2J.db"
    ramgape.Study.create("new", ["a", "b"], storage=url, reward_range=(0, 1), budget=9).close()
    for arguments in (
        ("study", "export", "new", "\x1b[3J.csv", "--storage", url),
        ("storage", "backup", "\x1b[3J.db", "--storage", url),
        ("storage", "upgrade", "--storage", url),
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0
        assert "[" in done.stdout
        assert done.stdout.strip().isprintable()
    long = CliRunner().invoke(app, ("storage", "backup", "x" * 300, "--storage", url))
    assert (long.exit_code, long.stdout) == (2, "")
    assert "File name too long" in long.stderr
    assert "Q" not in scrub(f"cannot\nconnect: {url}", parse_url(url).secrets)
