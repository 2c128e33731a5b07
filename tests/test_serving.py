"""A server at a real socket: where it listens, what it does with odd connections, how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from ramgape.cli import app
from ramgape.errors import InvalidSpec, MissingExtra, StorageError
from ramgape.web.access.limits import Settings
from ramgape.web.listening import Place
from ramgape.web.logs import Log
from ramgape.web.server import make_server
from ramgape.web.serving import ServerOptions, Serving, check_installed
from tests.cli_support import NO_SIGNALS, call, complaint, environment
from tests.guarded import small_app

pytestmark = NO_SIGNALS
DATA = Path(__file__).parent / "data"
TINY = Settings(
    max_body=0.001, max_import=0.004, body_timeout=0.3, import_timeout=0.3, header_timeout=0.3, keep_alive=1, grace=5
)
QUIET = Log(level="error")


@pytest.fixture(autouse=True)
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@contextmanager
def running(place: Place | None = None, settings: Settings = TINY) -> Iterator[tuple[Serving, Any]]:
    """A server in a thread, and what ends it."""
    serving = Serving(place or Place(port=0), ServerOptions(settings=settings, log=QUIET), small_app)
    started = threading.Event()
    server = make_server(serving.middleware, serving.place, settings, started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [serving.socket]}, daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield serving, server
    finally:
        server.should_exit = True
        thread.join(30)
        serving.close()
        assert not thread.is_alive()


def own_token(serving: Serving) -> str:
    found: str = json.loads(serving.token_file.read_text())["token"]
    return found


def raw(serving: Serving, *parts: bytes, pause: float = 0.0) -> bytes:
    """What comes back for bytes on a connection, until it is closed."""
    host, port = serving.socket.getsockname()[:2]
    with socket.create_connection((host, port), timeout=30) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
        except OSError:  # it has been closed already
            pass
        found = b""
        try:
            while part := connection.recv(65_536):
                found += part
        except ConnectionResetError:
            pass
        return found


def lines(serving: Serving, *more: str, path: str = "/api/v1/studies/1/ask", method: str = "POST") -> bytes:
    """The head of a request."""
    port = serving.socket.getsockname()[1]
    head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {own_token(serving)}"]
    return "\r\n".join([*head, "Content-Type: application/json", *more, "", ""]).encode()


CHUNKED = "Transfer-Encoding: chunked"
CHUNK = b"258\r\n" + b"x" * 600 + b"\r\n"


@pytest.mark.parametrize(
    ("why", "head", "parts", "expected"),
    [
        ("it says less than it sends: the rest is no request", ["Content-Length: 2"], [b'{}{"count": 1}'], b" [24]00 "),
        ("it says more than it sends", ["Content-Length: 900"], [b"{}"], b" 408 "),
        ("it sends more than is allowed, in chunks", [CHUNKED], [CHUNK, CHUNK, b"0\r\n\r\n"], b" 413 "),
        ("it sends chunks without end", [CHUNKED], [CHUNK] * 100, b" 413 "),
        ("it stops between two chunks", [CHUNKED], [b"2\r\n{}\r\n"], b" 408 "),
        ("it is large, and is sent whatever is said", ["Content-Length: 500000"], [b"x" * 500_000], b" 413 "),
        ("it waits to be asked for what is too large", ["Content-Length: 5000", "Expect: 100-continue"], [], b" 413 "),
        ("it says two things of its length", ["Content-Length: 2", CHUNKED], [b"2\r\n{}\r\n"], b" 4.. "),
        ("what is no HTTP", ["Content-Length: two"], [b"{}"], b" 400 "),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)  # fmt: skip
def test_odd_bodies(why: str, head: list[str], parts: list[bytes], expected: bytes) -> None:
    with running() as (serving, _):
        answer = raw(serving, lines(serving, *head), *parts)
    assert re.search(expected, answer.partition(b"\r\n")[0])
    assert answer.count(b"HTTP/1.1 200") <= (expected == b" [24]00 ")  # nothing of a body was taken for a request


def test_odd_beginnings() -> None:
    """Connections without a request, with half of one, with headers that do not end."""
    with running() as (serving, _):
        began = time.monotonic()
        assert raw(serving) == b""
        assert raw(serving, b"GET / HT") == b""
        assert raw(serving, *[b"X: y\r\n"] * 3, pause=0.2).count(b" 200 ") == 0
        assert b" 200 " not in raw(serving, b"GET / HTTP/1.1\r\n", *[b"X-Long: " + b"y" * 8000 + b"\r\n"] * 20)
        assert time.monotonic() - began < 20
        connection = HTTPConnection("127.0.0.1", serving.socket.getsockname()[1], timeout=30)
        for pause in (0.0, 0.5, 0.5):  # but one that is used, and rests, is kept
            time.sleep(pause)
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b'{"status":"ok"}'
        connection.close()


def test_slow_ones_keep_nobody_waiting() -> None:
    with running(settings=Settings(body_timeout=5, grace=0.1)) as (serving, _):
        slow = threading.Thread(target=raw, args=(serving, lines(serving, "Content-Length: 900"), b"{"), daemon=True)
        slow.start()
        assert b" 200 " in raw(serving, lines(serving, "Connection: close", path="/", method="GET"))
        assert slow.is_alive()


# --- its end ----------------------------------------------------------------------------------------------------------


def test_what_is_under_way_is_finished() -> None:
    """A stream ends as streams do, a request that has begun is answered, a new one is not heard."""
    with running(settings=Settings(grace=20)) as (serving, server), ExitStack() as stack:
        port = serving.socket.getsockname()[1]
        stream = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=30)))
        stream.request("GET", "/api/v1/studies/1/events", headers={"Authorization": f"Bearer {own_token(serving)}"})
        events = stream.getresponse()
        assert events.readline() == b": still here\n"
        with socket.create_connection(("127.0.0.1", port), timeout=30) as begun:
            begun.sendall(lines(serving, "Content-Length: 2") + b"{")
            while "ramgape_requests_under_way 2" not in serving.context.metrics.text():
                time.sleep(0.01)
            server.should_exit = True
            events.read()  # to the end, or it would raise IncompleteRead
            begun.sendall(b"}")
            answer = b""
            while part := begun.recv(65_536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 200")
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=30)


def start(*options: str, **popen: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ramgape", "serve", "--port", "0", *options]
    return subprocess.Popen(command, encoding="utf-8", env=environment(), **popen)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path, sent: signal.Signals) -> None:
    """It says where it is as one line of JSON, and ends by a signal as it should: with 0."""
    storage = f"sqlite:///{tmp_path}/s.db"
    with start("--storage", storage, "--json", "--log-format", "json", stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        assert set(said) == {"address", "login", "token_file"}
        assert said["login"].startswith(f"{said['address']}/login#code=")
        token = json.loads(Path(said["token_file"]).read_text())["token"]
        with closing(HTTPConnection(said["address"].removeprefix("http://"), timeout=60)) as connection:
            connection.request("GET", "/api/v1", headers={"Authorization": f"Bearer {token}"})
            answer = json.loads(connection.getresponse().read())
        assert (answer["role"], answer["storage"]) == ("admin", "sqlite")
        process.send_signal(sent)
        rest, log = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["serving", "request", "stopped"]
    assert token not in log


def test_enter_prints_another_link(tmp_path: Path) -> None:
    import pty  # which not every system has

    ours, theirs = pty.openpty()
    storage = f"sqlite:///{tmp_path}/s.db"
    with start("--storage", storage, "--login-link", stdin=theirs, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(3)]
        os.write(ours, b"\n")
        again = process.stdout.readline()
        process.terminate()
        process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert first[0].startswith(f"Serving {storage} at http://127.0.0.1:")
    links = [line.partition("#code=")[2].strip() for line in (first[1], again)]
    assert all(len(code) == 24 for code in links)
    assert links[0] != links[1]
    assert process.returncode == 0


def test_a_login_link_goes_to_a_terminal_or_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Output that is not a terminal is often a journal, which others can read."""

    def run(self: Serving, started: Callable[[], None]) -> None:
        started()
        self.close()

    monkeypatch.setattr(Serving, "run", run)
    typed = ("serve", "--port", "0", "--storage", f"sqlite:///{tmp_path}/s.db")
    silent = call(*typed)
    assert silent.exit_code == 0, silent.output
    assert "code=" not in silent.output
    assert "start it with --login-link; programs of yours on this machine need none" in silent.stdout
    assert "/login#code=" in call(*typed, "--login-link").stdout
    assert "/login#code=" in call(*typed, "--json").stdout
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    app(typed, standalone_mode=False)
    assert "/login#code=" in capsys.readouterr().out


# --- its place --------------------------------------------------------------------------------------------------------


def serving_at(place: Place) -> Serving:
    return Serving(place, ServerOptions(log=QUIET), small_app)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_strangers_reach_it_only_where_that_is_meant(host: str) -> None:
    with pytest.raises(InvalidSpec, match=r"--tls-cert and --tls-key, or --public-url .* or --insecure"):
        serving_at(Place(host, 0))
    with pytest.raises(InvalidSpec, match="--insecure"):
        serving_at(Place(host, 0, public_url="http://plain.example.org"))
    for place in (
        Place(host, 0, insecure=True),
        Place(host, 0, public_url="https://ramgape.example.org"),
        Place(host, 0, tls_cert=str(DATA / "localhost.crt"), tls_key=str(DATA / "localhost.key")),
    ):
        serving_at(place).close()


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidSpec, match=f"another program listens at 127.0.0.1:{port}: stop it, or give another"):
            serving_at(Place(port=port))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place("nowhere.invalid", 0), "host must be an address of this machine"),
        (Place("203.0.113.7", 0, insecure=True), "cannot listen at 203.0.113.7:0"),
        (Place(port=70_000), "port must be a whole number from 0 to 65535"),
        (Place(port=0, tls_cert="no-such-file"), "tls-cert must be there with tls-key"),
        (Place(port=0, tls_cert="no-such-file", tls_key="no-such-file"), "tls-cert must be a file"),
        (Place(port=0, public_url="ramgape.example.org"), "public-url must be https://HOST"),
        (Place(port=0, public_url="https://me:secret@host"), "public-url must be https://HOST"),
        (Place(port=0, allow_hosts=["a/b"]), "allow-host must be NAME or NAME:PORT"),
        (Place(port=0, trust_proxies=["proxy"]), "trust-proxy must be an IP address or a network"),
        (Place(unix="/no/such/folder/s"), "cannot listen at /no/such/folder/s"),
        (Place(unix="x" * 200), "unix must be a path of 1 to 107 bytes"),
    ],
)
def test_places_that_cannot_be_meant(place: Place, message: str) -> None:
    with pytest.raises(InvalidSpec, match=message):
        serving_at(place)


def test_a_certificate_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("nothing")
    serving = serving_at(Place(port=0, tls_cert=str(tmp_path / "c"), tls_key=str(tmp_path / "c")))
    with pytest.raises(StorageError, match="the certificate or its key cannot be used"):
        serving.run()


def test_tls() -> None:
    place = Place("127.0.0.1", 0, tls_cert=str(DATA / "localhost.crt"), tls_key=str(DATA / "localhost.key"))
    trusting = ssl.create_default_context(cafile=DATA / "localhost.crt")
    with running(place) as (serving, _):
        assert serving.address.startswith("https://127.0.0.1:")
        port = serving.socket.getsockname()[1]
        plain = socket.create_connection(("127.0.0.1", port), timeout=30)
        with plain, trusting.wrap_socket(plain, server_hostname="localhost") as connection:
            code = json.dumps({"code": serving.login_link().partition("#code=")[2]}).encode()
            head = ["POST /api/v1/login HTTP/1.1", f"Host: localhost:{port}", f"Origin: https://localhost:{port}"]
            head += [f"Content-Length: {len(code)}", "Content-Type: application/json", "Connection: close"]
            connection.sendall("\r\n".join([*head, "", ""]).encode() + code)
            answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"; Secure" in answer


# --- a socket of Unix -------------------------------------------------------------------------------------------------


def test_a_unix_socket_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with running(Place(unix=str(path))) as (serving, _):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert serving.address == f"unix://{path}"
        assert json.loads(serving.token_file.read_text())["address"] == serving.address
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            head = f"GET /api/v1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {own_token(serving)}\r\n"
            connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        with pytest.raises(InvalidSpec, match="another server listens at"):
            serving_at(Place(unix=str(path)))
    assert not path.exists()


def test_a_unix_socket_that_was_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    serving_at(Place(unix=str(path))).close()
    path.write_text("not a socket")
    with pytest.raises(InvalidSpec, match="unix must be the path of a socket, or of nothing yet"):
        serving_at(Place(unix=str(path)))
    assert path.read_text() == "not a socket"


# --- the server's own token -------------------------------------------------------------------------------------------


def own_file(port: int) -> Path:
    serving = serving_at(Place(port=port))
    serving.close()
    return serving.token_file


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found: int = taken.getsockname()[1]
        return found


def test_the_own_token_stays() -> None:
    port = free_port()
    file = own_file(port)
    first = json.loads(file.read_text())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert first["address"] == f"http://127.0.0.1:{port}"
    assert json.loads(own_file(port).read_text()) == first


def test_an_own_token_that_others_may_know_is_not_used_again(tmp_path: Path) -> None:
    """One that others could read, a link to somewhere else, what is no token, what is no file of tokens."""
    port = free_port()
    file = own_file(port)
    first = file.read_text()
    file.chmod(0o644)
    assert own_file(port).read_text() != first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(first)
    elsewhere.chmod(0o600)
    file.unlink()
    file.symlink_to(elsewhere)
    assert own_file(port).read_text() != first
    assert (file.is_symlink(), elsewhere.read_text()) == (False, first)
    for content in ("", "{}", '{"token": "short"}', '{"token": 7}', "[" * 9999):
        file.write_text(content)
        assert json.loads(own_file(port).read_text())["token"].startswith("rg_")


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "host must be an address that only this machine reaches"),
        (["--port", "many"], "port must be a number"),
        (["--max-body", "0"], "max-body must be a number of at least 0.001"),
        (["--grace", "-1"], "grace must be a number of at least 0"),
        (["--log-format", "xml"], "log-format must be one of plain, json"),
        (["--log-level", "loud"], "log-level must be one of debug, info, warning, error"),
        (["--storage", "http://127.0.0.1:8460"], "storage must be a store, not another server"),
    ],
)
def test_options_that_cannot_be_meant(tmp_path: Path, options: list[str], message: str) -> None:
    storage = [] if "--storage" in options else ["--storage", f"sqlite:///{tmp_path}/s.db"]
    assert message in complaint("serve", *storage, *options)
    assert not (tmp_path / "s.db").exists()


def test_without_what_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtra, match=r'fastapi must be installed for a server: pip install "ramgape\[web\]"'):
        check_installed()
