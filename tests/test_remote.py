"""Talking to a server: addresses, tokens, repeats, errors that come back as they were."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest

from ramgape import errors
from ramgape.errors import (
    FailingArm,
    InvalidReward,
    InvalidSpec,
    RamgapeError,
    StorageError,
    StorageUnavailable,
    UnknownPull,
    UnknownStudy,
    known_name,
    located,
    require,
)
from ramgape.remote import answers
from ramgape.remote.address import parse_address, shown_address
from ramgape.remote.answers import error_in
from ramgape.remote.connection import ServerConnection, request_key
from ramgape.remote.credentials import find_credentials
from ramgape.remote.studies import RemoteStudy, all_studies, known_study
from tests.fake_server import Asked, Says, fake_server

TOKEN = "rg_" + "x" * 43


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No token of whoever runs the tests, and short pauses."""
    monkeypatch.delenv("RAMGAPE_TOKEN", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("ramgape.remote.connection.FIRST_PAUSE", 0.001)
    monkeypatch.setattr("ramgape.remote.connection.LEAST_WAIT", 0.2)


def described(error: RamgapeError, name: str = "") -> dict[str, Any]:
    """What a server sends of an error."""
    parts = {part: getattr(error, part) or None for part in ("place", "what", "allowed", "given")}
    return {"error": name or type(error).__name__, "message": str(error), **parts}


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "plain", "patience"),
        [
            ("http://127.0.0.1:8460", "http://127.0.0.1:8460", 60.0),
            ("http://host:8460/", "http://host:8460", 60.0),
            ("HTTPS://Host/", "https://host", 60.0),
            ("https://host:443/base/path/?timeout=2.5", "https://host/base/path", 2.5),
            ("http://[::1]:8460?timeout=0", "http://[::1]:8460", 0.0),
            ("http://[2001:DB8::1]/a", "http://[2001:db8::1]/a", 60.0),
            ("unix:///run/ramgape.sock", "unix:///run/ramgape.sock", 60.0),
            ("unix:///run/my%20socket?timeout=1", "unix:///run/my socket", 1.0),
        ],
    )
    def test_forms(self, url: str, plain: str, patience: float) -> None:
        address = parse_address(url)
        assert (str(address), address.patience) == (plain, patience)

    @pytest.mark.parametrize(
        ("url", "words"),
        [
            ("http://", "must be http://HOST:PORT"),
            ("http://:8460", "must be http://HOST:PORT"),
            ("http://host:0", "must be http://HOST:PORT"),
            ("http://host:99999", "must be http://HOST:PORT"),
            ("http://host:eighty", "must be http://HOST:PORT"),
            ("http://[::1", "must be http://HOST:PORT"),
            ("http://ho st", "must be http://HOST:PORT"),
            ("http://host/a b", "must be http://HOST:PORT"),
            ("http://host/a#b", "must be http://HOST:PORT"),
            ("http://host\\@other", "without a user, a password or a token"),
            ("http://host?mode=5", "no option but timeout"),
            ("http://host?timeout=long", "timeout must be a number of seconds"),
            ("http://host?timeout=-1", "timeout must be a number of seconds"),
            ("unix://relative.sock", "the whole path of a socket"),
            ("unix:///", "the whole path of a socket"),
            ("unix:///" + "x" * 200, "the whole path of a socket"),
        ],
    )
    def test_what_is_none(self, url: str, words: str) -> None:
        with pytest.raises(StorageError, match=words):
            parse_address(url)

    @pytest.mark.parametrize(
        "url",
        [
            "http://me:s3cret@host:8460",
            "https://s3cret@host",
            "https://host?token=s3cret",
            "https://host/?code=s3cret&timeout=5",
            "https://me:s3/cret@host",
        ],
    )
    def test_secrets_are_refused_and_not_shown(self, url: str) -> None:
        with pytest.raises(StorageError, match="without a user, a password or a token") as caught:
            parse_address(url)
        assert "cret" not in str(caught.value)
        assert "cret" not in shown_address(url)


class TestToken:
    def test_places_in_their_order(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        folder = tmp_path / "state" / "ramgape" / "servers"
        folder.mkdir(parents=True)
        (folder / "8460.json").write_text(json.dumps({"address": "http://127.0.0.1:8460", "token": "rg_file"}))
        (folder / "broken.json").write_text("{")
        (folder / "other.json").write_text(json.dumps({"address": "unix:///run/r.sock", "token": "rg_socket"}))

        def token_for(url: str, given: str | None = None) -> str | None:
            return find_credentials(parse_address(url), given).token

        assert token_for("http://localhost:8460") == "rg_file"
        assert token_for("http://[::1]:8460?timeout=3") == "rg_file"
        assert token_for("unix:///run/r.sock") == "rg_socket"
        # What one server has left is no other's business.
        assert token_for("http://localhost:8461") is None
        assert token_for("https://localhost:8460") is None
        assert token_for("http://elsewhere:8460") is None
        monkeypatch.setenv("RAMGAPE_TOKEN", "rg_variable")
        assert token_for("http://localhost:8460") == "rg_variable"
        assert token_for("http://localhost:8460", "rg_given") == "rg_given"

    @pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ü", "x" * 2000])
    def test_what_is_none_is_not_shown(self, token: str) -> None:
        with pytest.raises(InvalidSpec, match="token must be 1 to 1,000 printable characters") as caught:
            ServerConnection("http://host", token)
        assert token not in str(caught.value) or not token

    def test_it_never_shows_itself(self) -> None:
        connection = ServerConnection("http://host", TOKEN)
        assert TOKEN not in repr(connection) + repr(vars(connection)) + str(connection)
        assert repr(find_credentials(parse_address("http://host"))) == "<no token>"


class TestRefusals:
    def test_errors_are_the_same(self) -> None:
        def raised(what: Any) -> RamgapeError:
            with pytest.raises(RamgapeError) as caught:
                what()
            return caught.value

        def placed() -> None:
            with located("file.csv, line 3"):
                require(False, "reward", "from 0 to 1", 1.5, InvalidReward)

        def fail(error: RamgapeError) -> None:
            raise error

        found = [
            raised(lambda: known_name("ramgap", ["ramgape", "egp"], "policy")),
            raised(placed),
            raised(lambda: fail(InvalidSpec(verb="have", allowed="'arm'", given="nothing"))),
            raised(lambda: fail(InvalidSpec(what="pull", message="odd", allowed="fine", hint="; really"))),
            raised(lambda: fail(UnknownPull(what="pull", allowed="one that `ask` has given", given="'x'"))),
            raised(lambda: fail(FailingArm("arm 'A' has failed; mend it", hint="; in the shell: retry"))),
            raised(lambda: fail(StorageError("no option but timeout", given="'x'", hint="!"))),
            raised(lambda: fail(UnknownStudy("study must be one of those, got 'x'"))),
            raised(lambda: fail(StorageError())),
        ]
        for error in found:
            back = error_in(json.loads(json.dumps(described(error))))
            assert type(back) is type(error)
            assert str(back) == str(error)
            for part in ("place", "what", "allowed", "given"):
                assert getattr(back, part) == getattr(error, part)
            if error.allowed:
                assert (back.message, back.verb, back.hint) == (error.message, error.verb, error.hint)

    def test_every_class_comes_back(self) -> None:
        classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, RamgapeError)]
        for each in classes:
            assert type(error_in({"error": each.__name__, "message": "so it is"})) is each

    @pytest.mark.parametrize("answer", [{}, {"error": "KeyError", "message": "x"}, {"error": None, "message": None}])
    def test_others_are_errors_of_the_store(self, answer: dict[str, Any]) -> None:
        assert type(error_in(answer)) is StorageError

    def test_a_message_that_was_cut(self) -> None:
        error = InvalidSpec(what="arms", allowed="short", given="x" * 5000)
        assert str(error_in(described(error))) == str(error)


class TestCalls:
    def test_question_and_answer(self) -> None:
        with fake_server(lambda asked: Says({"you": asked.json()})) as fake:
            connection = ServerConnection(f"{fake.url}/base/", TOKEN)
            assert connection.call("POST", "/studies", {"name": "é"}, query={"a": 1, "b": None}, key="k1") == {
                "you": {"name": "é"}
            }
            connection.close()
        (asked,) = fake.asked
        assert (asked.method, asked.path) == ("POST", "/base/api/v1/studies?a=1")
        assert asked.headers["Authorization"] == f"Bearer {TOKEN}"
        assert asked.headers["Idempotency-Key"] == "k1"
        assert asked.headers["Content-Type"] == "application/json"

    def test_nothing_to_say(self) -> None:
        with fake_server(lambda _: Says(b"", 204)) as fake:
            connection = ServerConnection(fake.url)
            assert connection.call("DELETE", "/studies/1") is None
            assert connection.call("DELETE", "/studies/1") is None
            connection.close()
        assert "Authorization" not in fake.asked[0].headers
        assert fake.asked[0].peer == fake.asked[1].peer

    def test_over_a_socket(self, tmp_path: Path) -> None:
        with fake_server(lambda asked: Says([asked.path]), path=tmp_path / "s.sock") as fake:
            connection = ServerConnection(fake.url)
            assert connection.call("GET", "/x") == ["/api/v1/x"]
            assert connection.call("GET", "/y") == ["/api/v1/y"]
            connection.close()
        assert fake.asked[0].headers["Host"] == "localhost"

    def test_connections_are_kept_also_after_an_error(self) -> None:
        answers = iter([Says([1]), Says(described(UnknownPull("no such pull")), 404), Says([3])])
        with fake_server(lambda _: next(answers)) as fake:
            connection = ServerConnection(fake.url)
            connection.call("GET", "/")
            with pytest.raises(UnknownPull, match="no such pull"):
                connection.call("POST", "/", {})
            connection.call("GET", "/")
            connection.close()
        assert len({each.peer for each in fake.asked}) == 1

    def test_a_server_that_restarts_is_no_reason_to_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ramgape.remote.connection.time.sleep", lambda _: pytest.fail("it waits"))
        with fake_server(lambda _: Says([1], headers={"Connection": "close"})) as fake:
            assert [ServerConnection(fake.url).call("GET", "/") for _ in range(3)] == [[1]] * 3
        with fake_server(lambda _: Says([2])) as fake:
            other = ServerConnection(fake.url)
            other.call("GET", "/")
            port = other.address.port
        with fake_server(lambda _: Says([3]), port=port):
            assert other.call("GET", "/") == [3]
            other.close()

    def test_threads_have_connections_of_their_own(self) -> None:
        together = threading.Barrier(4, timeout=20)

        def script(_: Asked) -> Says:
            together.wait()
            return Says([1])

        with fake_server(script) as fake:
            connection = ServerConnection(fake.url)
            threads = [threading.Thread(target=connection.call, args=("GET", "/")) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            connection.close()
        assert len({each.peer for each in fake.asked}) == 4

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork could one share a connection")
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
    def test_a_fork_does_not_share_them(self) -> None:
        with fake_server(lambda _: Says([1])) as fake:
            connection = ServerConnection(fake.url)
            connection.call("GET", "/mine")
            child = multiprocessing.get_context("fork").Process(target=connection.call, args=("GET", "/forked"))
            child.start()
            child.join(20)
            connection.call("GET", "/mine")
            connection.close()
        peers = {each.path: each.peer for each in fake.asked}
        assert child.exitcode == 0
        assert peers["/api/v1/mine"] != peers["/api/v1/forked"]
        assert [each.peer for each in fake.asked].count(peers["/api/v1/mine"]) == 2

    def test_a_stream(self) -> None:
        with fake_server(lambda _: Says(b"arm,reward\n" * 20_000, headers={"Content-Type": "text/csv"})) as fake:
            connection = ServerConnection(fake.url)
            pieces = list(connection.stream("/export.csv"))
            assert b"".join(pieces) == b"arm,reward\n" * 20_000
            assert len(pieces) > 1
            assert connection.call  # and it can be used again
            connection.close()

    def test_a_stream_that_breaks_off(self) -> None:
        said = Says(b"arm,reward\n", headers={"Content-Length": "1000", "Connection": "close"})
        with fake_server(lambda _: said) as fake:
            connection = ServerConnection(fake.url)
            with pytest.raises(StorageUnavailable, match="broke off"):
                list(connection.stream("/export.csv"))

    def test_a_stream_that_is_refused(self) -> None:
        with fake_server(lambda _: Says(described(UnknownStudy("no such study")), 404)) as fake:
            connection = ServerConnection(fake.url)
            with pytest.raises(UnknownStudy, match="no such study"):
                next(connection.stream("/export.csv"))
            connection.close()


class TestRepeats:
    def test_until_it_arrives(self) -> None:
        unavailable = described(StorageUnavailable("the store is locked"))
        answers = iter(
            [
                Says(cut=True),
                Says(b"", headers={"Content-Length": "9", "Connection": "close"}),  # gone after the head
                Says(b'{"done"', headers={"Content-Length": "14", "Connection": "close"}),  # and within the body
                Says(unavailable, 503),
                Says(b"<html>", 502, {"Content-Type": "text/html"}),
                Says({"error": "TooMany", "message": "slowly"}, 429, {"Retry-After": "0.01"}),
                Says(b"", 504),
                Says({"done": True}),
            ]
        )
        with fake_server(lambda _: next(answers)) as fake:
            connection = ServerConnection(fake.url)
            assert connection.call("POST", "/x", {"a": 1}, key=request_key()) == {"done": True}
            connection.close()
        assert len(fake.asked) == 8
        assert len({each.body for each in fake.asked}) == 1
        assert len({each.headers["Idempotency-Key"] for each in fake.asked}) == 1

    @pytest.mark.parametrize(
        ("said", "words"),
        [
            (Says(cut=True), "cannot be used now"),
            (Says(b"", 503), "it answers 503 Service Unavailable"),
            (Says(described(StorageUnavailable("the disk is full")), 503), "the disk is full"),
            (Says({"error": "TooMany", "message": "slowly"}, 429, {"Retry-After": "3600"}), "slowly"),
        ],
    )
    def test_patience_is_over(self, said: Says, words: str) -> None:
        with fake_server(lambda _: said) as fake:
            connection = ServerConnection(f"{fake.url}?timeout=0.05")
            with pytest.raises(StorageUnavailable, match=words):
                connection.call("GET", "/x")
            connection.close()
        assert fake.asked

    def test_no_patience_is_one_try(self) -> None:
        with fake_server(lambda _: Says(b"", 503)) as fake:
            connection = ServerConnection(f"{fake.url}?timeout=0")
            with pytest.raises(StorageUnavailable):
                connection.call("GET", "/x")
            connection.close()
        assert len(fake.asked) == 1

    def test_a_store_that_is_damaged_is_not_waited_for(self) -> None:
        with fake_server(lambda _: Says(described(errors.DamagedStore("torn")), 503)) as fake:
            connection = ServerConnection(fake.url)
            with pytest.raises(errors.DamagedStore, match="torn"):
                connection.call("GET", "/x")
            connection.close()
        assert len(fake.asked) == 1

    def test_nobody_there(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}?timeout=0.05"
            with pytest.raises(StorageUnavailable, match="Connection refused"):
                ServerConnection(url).call("GET", "/x")
        with pytest.raises(StorageUnavailable, match="No such file"):
            ServerConnection("unix:///nowhere/at/all.sock?timeout=0").call("GET", "/x")

    def test_a_server_that_never_answers(self) -> None:
        waiting = threading.Event()

        def script(_: Asked) -> Says:
            waiting.wait(20)
            return Says([1])

        with fake_server(script) as fake:
            connection = ServerConnection(f"{fake.url}?timeout=0.05")
            with pytest.raises(StorageUnavailable, match="no answer in time"):
                connection.call("GET", "/x")
            waiting.set()
            connection.close()

    def test_what_only_a_key_makes_safe_has_one(self) -> None:
        def script(asked: Asked) -> Says:
            sent = asked.json()
            told = [True] * len(sent.get("answers", []))
            return Says({"done": False, "accepted": told, "pulls": [], "renewed": [True] * len(sent.get("pulls", []))})

        with fake_server(script) as fake:
            study = RemoteStudy(ServerConnection(fake.url), 7)
            asks: dict[str, Any] = {"lease": None, "known": []}
            study.exchange({}, count=1, worker=None, **asks)
            study.exchange({}, count=1, worker="me", **asks)
            study.exchange({"answers": [{"pull": "a-1", "reward": 0.5}]}, count=0, worker=None, **asks)
            study.renew(["a-1"], 60.0)
            study.post("observe", {"trials": []}, answers.DONE, once=True)
            study.connection.close()
        assert ["Idempotency-Key" in each.headers for each in fake.asked] == [True, False, False, False, True]
        assert fake.asked[0].path == "/api/v1/studies/7/exchange"


class TestOtherServers:
    def error(self, said: Says, token: str | None = None) -> StorageError:
        with fake_server(lambda _: said) as fake:
            connection = ServerConnection(fake.url, token)
            with pytest.raises(StorageError) as caught:
                connection.call("GET", "/x")
            connection.close()
        assert len(fake.asked) == 1
        assert TOKEN not in str(caught.value)
        assert type(caught.value) is StorageError
        return caught.value

    @pytest.mark.parametrize("status", [200, 404, 501])
    def test_pages_are_no_answers(self, status: int) -> None:
        said = Says(b"<html>hello", status, {"Content-Type": "text/html; charset=utf-8"})
        assert "there is no server of ramgape at http://127.0.0.1" in str(self.error(said))
        assert "with 'text/html'" in str(self.error(said))

    def test_broken_json(self) -> None:
        assert "there is no server of ramgape" in str(self.error(Says(b"{")))

    def test_redirections_are_told(self) -> None:
        error = self.error(Says(b"", 301, {"Location": "https://other/api/v1/x"}), TOKEN)
        assert "sends its clients to 'https://other/api/v1/x'" in str(error)

    def test_no_token(self) -> None:
        words = str(self.error(Says({"error": "Unauthorized", "message": "a token is needed"}, 401)))
        assert "wants a token, and there is none" in words
        assert "RAMGAPE_TOKEN" in words
        assert "ramgape/servers" in words

    def test_a_token_that_is_not_known(self) -> None:
        words = str(self.error(Says({"error": "Unauthorized", "message": "it has expired"}, 401), TOKEN))
        assert "does not know the token from the argument token: it has expired" in words

    def test_a_token_that_may_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAMGAPE_TOKEN", TOKEN)
        words = str(self.error(Says({"error": "Forbidden", "message": "role must be admin"}, 403)))
        assert "does not let the token from RAMGAPE_TOKEN do that: role must be admin" in words

    def test_other_refusals_are_told(self) -> None:
        assert "host is not" in str(self.error(Says({"error": "Misdirected", "message": "host is not ours"}, 421)))


class TestCertificates:
    @pytest.fixture
    def certificate(self, tmp_path: Path) -> tuple[Path, Path]:
        """One for localhost, signed by nobody but itself."""
        key, file = tmp_path / "key.pem", tmp_path / "certificate.pem"
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        subprocess.run(
            [*made, "-keyout", key, "-out", file, "-days", "2", *names], check=True, stderr=subprocess.DEVNULL
        )
        return file, key

    def test_a_stranger_is_refused_at_once(self, certificate: tuple[Path, Path]) -> None:
        with fake_server(lambda _: Says([1]), certificate=certificate) as fake:
            with pytest.raises(StorageError, match=r"certificate of https://localhost:\d+ is not trusted") as caught:
                ServerConnection(fake.url, TOKEN).call("GET", "/x")
            assert "SSL_CERT_FILE" in str(caught.value)
        assert not fake.asked

    def test_one_that_is_named(self, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        with fake_server(lambda _: Says([1]), certificate=certificate) as fake:
            connection = ServerConnection(fake.url, TOKEN)
            assert connection.call("GET", "/x") == [1]
            assert connection.call("GET", "/x") == [1]
            connection.close()
        assert len({each.peer for each in fake.asked}) == 1


class TestStudies:
    def script(self, asked: Asked) -> Says:
        names = [f"study {number}" for number in range(5)]
        rows = [{"id": number, "name": name} for number, name in enumerate(names)]
        if "name=" in asked.path:
            return Says({"studies": [row for row in rows if f"name=study+{row['id']}" in asked.path], "next": None})
        after = unquote_plus(asked.path.partition("after=")[2].partition("&")[0])
        first = names.index(after) + 1 if after else 0
        more = first + 2 < len(rows)
        return Says({"studies": rows[first : first + 2], "next": names[first + 1] if more else None})

    def test_found_listed_or_unknown(self) -> None:
        with fake_server(self.script) as fake:
            connection = ServerConnection(fake.url)
            assert known_study(connection, "study 3")["id"] == 3
            assert [each["id"] for each in all_studies(connection)] == [0, 1, 2, 3, 4]
            words = rf"one of those in {fake.url} \('study 0', .*\), got 'study 7'; did you mean 'study 4'\?"
            with pytest.raises(UnknownStudy, match=words):
                known_study(connection, "study 7")
            connection.close()


def test_it_is_light() -> None:
    """The shell waits for this at every call."""
    heavy = ["numpy", "typer", "rich", "asyncio", "dataclasses", "ramgape.storage", "ramgape.studies"]
    code = f"import sys, ramgape.remote.studies; print([each for each in {heavy} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
