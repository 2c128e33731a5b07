"""Tokens: made, listed, revoked, by commands and by servers at the same time; what is counted and what is logged."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ramgape.errors import InvalidSpec, StorageError, UnknownName, UnknownStudy
from ramgape.web.access.limits import Settings
from ramgape.web.access.roles import ROLES, Access
from ramgape.web.access.token_file import TokenFile, new_secret
from ramgape.web.access.tokens import LOOK_AGAIN, WRITE_USES, Clocks, Tokens
from ramgape.web.errors import Forbidden
from ramgape.web.logs import Log, ToLog
from ramgape.web.metrics import FAMILIES, Metrics
from tests.cli_support import call, call_json, complaint, environment


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "folder" / "tokens.json")


class Clock:
    """A clock that is moved by hand; it begins with the real one, since the file has moments of that."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


# --- roles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_what_those_before_it_may(role: str) -> None:
    access = Access("somebody", role)
    for wanted in ROLES[: ROLES.index(role) + 1]:
        access.require(wanted)
    for wanted in ROLES[ROLES.index(role) + 1 :]:
        with pytest.raises(Forbidden, match=f"the role of a token must be '{wanted}'"):
            access.require(wanted)
    assert access.only_reading().role == "read"


def test_a_study_that_is_not_for_him_does_not_exist() -> None:
    access = Access("somebody", "admin", ("supp*", "model-[ab]"))
    assert [access.sees(name) for name in ("suppliers", "model-a", "model-c", "Suppliers", "my supp")] == [
        *(True, True, False, False, False)
    ]
    with pytest.raises(UnknownStudy):
        access.require("read", "model-c")


# --- the file ---------------------------------------------------------------------------------------------------------


def test_a_file_holds_no_token(file: TokenFile) -> None:
    made, secret = file.add("work", ["supp*"], 30, "node-7")
    assert re.fullmatch(r"rg_[\w-]{43}", secret)
    assert secret not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.read() == {made.id: next(iter(file.read().values()))}
    kept = file.read()[made.id]
    assert (kept.name, kept.role, kept.studies, kept.last_used) == ("node-7", "work", ("supp*",), None)
    assert kept.expires is not None
    assert kept.expires - kept.created == pytest.approx(30 * 86_400, abs=2)


def test_a_file_that_others_could_read_is_its_owners_again(file: TokenFile) -> None:
    file.add("read")
    file.path.chmod(0o644)
    file.add("read")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"role": "king"}, UnknownName),
        ({"role": "read", "studies": []}, InvalidSpec),
        ({"role": "read", "studies": ["a\nb"]}, InvalidSpec),
        ({"role": "read", "studies": ["x"] * 101}, InvalidSpec),
        ({"role": "read", "days": 0}, InvalidSpec),
        ({"role": "read", "days": float("nan")}, InvalidSpec),
        ({"role": "read", "days": 1e9}, InvalidSpec),
        ({"role": "read", "name": "a\x1bb"}, InvalidSpec),
        ({"role": "read", "name": ""}, InvalidSpec),
    ],
)
def test_tokens_that_cannot_be_meant(file: TokenFile, options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        file.add(**options)  # type: ignore[arg-type]
    assert not file.path.exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "null",
        '{"version": 2, "tokens": []}',
        '{"version": 1, "tokens": [{}]}',
        '{"version": 1, "tokens": {"a": 1}}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_damaged_file_lets_nobody_in(file: TokenFile, content: str) -> None:
    """A server does not start with one; one that runs knows only its owner, until the file is whole again."""
    clock, told, own = Clock(), list[str](), new_secret()
    made, secret = file.add("admin")
    tokens = Tokens(file, own, Clocks(clock, clock), told.append)
    assert tokens.find(secret.encode()) == made
    whole = file.path.read_bytes()
    file.path.write_bytes(content.encode("utf-8", "surrogateescape"))
    clock.now += LOOK_AGAIN
    assert tokens.find(secret.encode()) is None
    assert tokens.find(own.encode()) is not None
    assert len(told) == 1
    with pytest.raises(StorageError, match="is no file of tokens"):
        Tokens(file, own)
    with pytest.raises(StorageError):
        file.add("read")  # which would have lost the others
    file.path.write_bytes(whole + b"\n")
    clock.now += LOOK_AGAIN
    assert tokens.find(secret.encode()) == made


def test_a_file_that_goes_takes_its_tokens_along(file: TokenFile) -> None:
    clock = Clock()
    _, secret = file.add("admin")
    tokens = Tokens(file, new_secret(), Clocks(clock, clock))
    file.path.unlink()
    assert tokens.find(secret.encode()) is not None
    clock.now += LOOK_AGAIN
    assert tokens.find(secret.encode()) is None


def test_uses_are_written_once_a_minute(file: TokenFile) -> None:
    clock = Clock()
    made, _ = file.add("read")
    tokens = Tokens(file, new_secret(), Clocks(clock, clock))
    assert tokens.note_use(made)
    tokens.write_uses()
    first = file.read()[made.id].last_used
    assert first == pytest.approx(clock.now, abs=1)
    clock.now += WRITE_USES - 1
    assert not tokens.note_use(made)
    clock.now += 1
    assert tokens.note_use(made)
    tokens.write_uses()
    assert file.read()[made.id].last_used == pytest.approx(clock.now, abs=1)
    file.revoke(made.id)
    tokens.note_use(made)
    tokens.write_uses()
    assert file.read() == {}  # a note brings nobody back


def test_processes_change_the_file_at_the_same_time(file: TokenFile) -> None:
    """Six at once, ten tokens each: none is lost, and whoever reads finds a whole file."""
    code = (
        "import sys, pathlib; from ramgape.web.access.token_file import TokenFile\n"
        "file = TokenFile(pathlib.Path(sys.argv[1]))\n"
        "for _ in range(10):\n    file.add('read'); file.read()"
    )
    command = [sys.executable, "-c", code, str(file.path)]
    started = [subprocess.Popen(command, env=environment()) for _ in range(6)]
    assert [each.wait(120) for each in started] == [0] * 6
    assert len(file.read()) == 60
    assert sorted(each.name for each in file.path.parent.iterdir()) == ["tokens.json", "tokens.json.lock"]


# --- the commands -----------------------------------------------------------------------------------------------------


def test_the_life_of_a_token(tmp_path: Path) -> None:
    where = ("--tokens", str(tmp_path / "t.json"))
    options = ("--role", "work", "--study", "suppliers*", "--days", "30", "--name", "node 7")
    made = call_json("token", "new", *where, *options)
    assert (made["role"], made["studies"], made["name"]) == ("work", ["suppliers*"], "node 7")
    (listed,) = call_json("token", "list", *where)["tokens"]
    assert listed == {name: value for name, value in made.items() if name != "token"}
    shown = call("token", "list", *where).stdout
    assert all(word in shown for word in (made["id"], "node 7", "suppliers*", "never"))
    assert max(map(len, shown.splitlines())) <= 80
    assert made["token"] not in shown
    assert call_json("token", "revoke", made["id"], *where) == {"revoked": made["id"]}
    assert "There are no tokens" in call("token", "list", *where).stdout
    assert "the id of a token must be one of" in complaint("token", "revoke", made["id"], *where)


def test_a_new_token_stands_alone_on_stdout(tmp_path: Path) -> None:
    """So that a script can take it: TOKEN=$(ramgape token new)."""
    result = call("token", "new", "--forever", "--tokens", str(tmp_path / "t.json"))
    assert re.fullmatch(r"rg_[\w-]{43}\n", result.stdout)
    assert "until it is revoked" in result.stderr
    (kept,) = TokenFile(tmp_path / "t.json").read().values()
    assert (kept.role, kept.studies, kept.expires) == ("work", ("*",), None)


def test_tokens_stand_in_the_folder_of_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    call("token", "new")
    assert len(TokenFile(tmp_path / "ramgape" / "tokens.json").read()) == 1


@pytest.mark.parametrize("options", [("--role", "king"), ("--days", "0"), ("--days", "soon"), ("--name", "")])
def test_options_of_a_token(tmp_path: Path, options: tuple[str, ...]) -> None:
    complaint("token", "new", "--tokens", str(tmp_path / "t.json"), *options)
    assert not (tmp_path / "t.json").exists()


# --- numbers ----------------------------------------------------------------------------------------------------------

SAMPLE = re.compile(r'(\w+)(\{(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?[\d.e+-]+|\+Inf)')


def test_numbers_have_the_form_of_prometheus() -> None:
    metrics = Metrics()
    nasty = 'a"b\\c\nd{}'
    metrics.count("ramgape_requests_total", route=nasty, method="GET", status=200)
    metrics.count("ramgape_requests_total", 2, route=nasty, method="GET", status=200)
    for value in (0.001, 0.0011, 7.0, 100.0):
        metrics.observe("ramgape_lock_wait_seconds", value)
    metrics.gauge("ramgape_open_studies", lambda: 3)
    lines = metrics.text().splitlines()
    samples = [SAMPLE.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(samples)
    assert 'ramgape_requests_total{route="a\\"b\\\\c\\nd{}",method="GET",status="200"} 3' in lines
    assert 'ramgape_lock_wait_seconds_bucket{le="0.001"} 1' in lines
    assert 'ramgape_lock_wait_seconds_bucket{le="10"} 3' in lines
    assert 'ramgape_lock_wait_seconds_bucket{le="+Inf"} 4' in lines
    assert "ramgape_lock_wait_seconds_sum 107.0021" in lines
    assert "ramgape_open_studies 3" in lines
    assert "ramgape_transactions_total 0" in lines
    for name, family in FAMILIES.items():
        assert lines.count(f"# TYPE {name} {family.kind}") == 1


PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "server.md").read_text(encoding="utf-8")


def test_every_number_is_explained() -> None:
    rows = [f"| `{name}` | {each.kind} | {', '.join(each.labels)} | {each.text} |" for name, each in FAMILIES.items()]
    assert [row for row in rows if row not in PAGE] == []


def test_every_limit_is_explained() -> None:
    for each in dataclasses.fields(Settings):
        row = re.search(rf"^\| `--{each.name.replace('_', '-')}` \| ([\d,]+)[ \w]* \| (.*) \|$", PAGE, re.MULTILINE)
        assert row is not None, each.name
        assert (float(row[1].replace(",", "")), row[2]) == (each.default, each.metadata["text"])


# --- logs -------------------------------------------------------------------------------------------------------------


def test_lines_of_a_log_stay_lines() -> None:
    """Whatever names people choose; and in JSON they come back."""
    plain, written = io.StringIO(), io.StringIO()
    for log in (Log("plain", stream=plain), Log("json", stream=written)):
        log.request("GET", "/api/v1", 200, 0.0123, token='two\nlines "and" \x1b[31m', study=None)
        log.write("debug", "nobody wants to know")
        log.write("error", "cannot open postgresql://me:secret@host/studies")
    assert len(plain.getvalue().splitlines()) == len(written.getvalue().splitlines()) == 2
    assert plain.getvalue().isascii()
    assert "\x1b" not in plain.getvalue()
    first = json.loads(written.getvalue().splitlines()[0])
    assert (first["status"], first["ms"], first["token"]) == (200, 12.3, 'two\nlines "and" \x1b[31m')
    assert "study" not in first
    assert "secret" not in plain.getvalue() + written.getvalue()


def test_what_the_machinery_says_is_logged() -> None:
    stream = io.StringIO()
    logger = logging.getLogger("tests.machinery")
    logger.propagate = False
    handler = ToLog(Log("json", stream=stream))
    logger.addHandler(handler)
    try:
        raise ValueError("postgresql://me:secret@host/studies")
    except ValueError:
        logger.exception("it has failed")
    logger.info("it goes on")
    logger.removeHandler(handler)
    (line,) = stream.getvalue().splitlines()
    said = json.loads(line)
    assert (said["level"], said["event"]) == ("error", "it has failed")
    assert "ValueError" in said["traceback"]
    assert "secret" not in line
