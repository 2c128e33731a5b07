"""The API of a server: what each address gives, for whoever may ask."""

from __future__ import annotations

import csv
import html
import io
import json
import sqlite3
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import Study
from ramgape.errors import printable
from tests.results import HOSTILE
from tests.servers import call, open_server

COINS: dict[str, Any] = {"name": "coins", "arms": ["fair", "bent"], "reward_range": [0, 1], "epsilon": 0.1}
FIELDS = {"error", "message", "place", "what", "allowed", "given"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'studies.db'}"


@pytest.fixture(scope="module")
def address(place: str) -> Iterator[str]:
    with open_server(place) as found:
        yield found


@pytest.fixture
def made(address: str, request: pytest.FixtureRequest) -> int:
    """The number of a new study."""
    status, answer = call(address, "POST", "/studies", {**COINS, "name": request.node.name})
    assert status == 201
    number: int = answer["id"]
    return number


def test_a_worker_s_round(address: str, made: int) -> None:
    _, asked = call(address, "POST", f"/studies/{made}/ask", {"count": 4, "worker": "node-7"})
    assert {pull["arm"] for pull in asked["pulls"]} == {"fair", "bent"}
    _, again = call(address, "POST", f"/studies/{made}/ask", {"count": 4, "worker": "node-7"})
    assert again == asked  # it has a name
    answers = [{"pull": pull["id"], "reward": 0.5} for pull in asked["pulls"]]
    given = {"answers": answers[:2], "failed": [{"pull": answers[2]["pull"], "reason": "fell off the table"}]}
    status, exchanged = call(
        address, "POST", f"/studies/{made}/exchange", {**given, "given_back": [answers[3]["pull"]], "worker": "node-7"}
    )
    assert (status, exchanged["accepted"], exchanged["done"]) == (200, [True] * 4, False)
    assert len(exchanged["pulls"]) == 1
    assert call(address, "POST", f"/studies/{made}/tell", {"answers": answers[:2]})[1]["accepted"] == [True, True]
    assert call(address, "GET", f"/studies/{made}/progress")[1]["samples"] == 2
    pull = exchanged["pulls"][0]["id"]
    assert call(address, "POST", f"/studies/{made}/renew", {"pulls": [pull], "lease": 5})[1]["renewed"] == [True]
    (opened,) = [each for each in call(address, "GET", f"/studies/{made}/pulls")[1]["pulls"] if each["id"] == pull]
    assert (opened["worker"], 0 < opened["lease_seconds"] <= 5) == ("node-7", True)
    assert call(address, "POST", f"/studies/{made}/leave", {"worker": "node-7"})[1]["given_back"] == 1
    assert call(address, "POST", f"/studies/{made}/fail", {"pull": pull})[0] == 200
    assert call(address, "POST", f"/studies/{made}/retry")[1] == {"retried": 0, "done": False}
    rows = call(address, "GET", f"/studies/{made}/failures?arm={opened['arm']}")[1]["rows"]
    assert {row[1] for row in rows} <= {opened["arm"]}
    failed = call(address, "GET", f"/studies/{made}/failures")[1]
    assert "fell off the table" in [row[failed["columns"].index("reason")] for row in failed["rows"]]


def test_it_is_the_study_that_others_see_in_the_store(address: str, made: int, place: str) -> None:
    """Whoever writes into the same store is seen at the next request."""
    name = call(address, "GET", f"/studies/{made}")[1]["name"]
    with Study.load(name, place) as study:
        study.observe("fair", 0.25)
        shown = call(address, "GET", f"/studies/{made}")[1]
        assert shown["told"] == 1
        call(address, "POST", f"/studies/{made}/observe", {"trials": [{"arm": "bent", "reward": 1}]})
        report = study.report(expect=False)
        assert report.told == 2
    shown = call(address, "GET", f"/studies/{made}")[1]
    assert ramgape.Report.from_dict({key: shown[key] for key in report.to_dict()}).to_dict() == report.to_dict()


def test_a_report_is_sent_once(address: str, made: int) -> None:
    connection = HTTPConnection(address.removeprefix("http://"))
    connection.request("GET", f"/api/v1/studies/{made}")
    first = connection.getresponse()
    first.read()
    for headers, status in (({"If-None-Match": first.headers["ETag"]}, 304), ({"If-None-Match": '"other"'}, 200)):
        connection.request("GET", f"/api/v1/studies/{made}", headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
    connection.close()


def test_a_study_is_made_once(address: str) -> None:
    asked = {**COINS, "name": "once", "data": [["fair", 0.5], ["bent", 1.0]], "risk": "cvar:0.2", "seed": 3}
    status, first = call(address, "POST", "/studies", {**asked, "exist_ok": False}, Idempotency_Key="mine")
    assert (status, first["told"], first["specification"]["search"]["risk"]["name"]) == (201, 2, "cvar")
    again = call(address, "POST", "/studies", {**asked, "exist_ok": False}, Idempotency_Key="mine")
    assert (again[0], again[1]["id"], again[1]["told"]) == (201, first["id"], 2)
    assert call(address, "POST", "/studies", asked)[0] == 200
    assert call(address, "POST", "/studies", {**asked, "exist_ok": False})[1]["error"] == "StudyExists"
    assert call(address, "POST", "/studies", {**asked, "epsilon": 0.2})[0] == 409


def test_nameless_requests_have_a_key(address: str, made: int) -> None:
    trials = {"trials": [{"arm": "fair", "reward": 0.5}]}
    for path, body in (("observe", trials), ("ask", {"count": 2})):
        answers = [call(address, "POST", f"/studies/{made}/{path}", body, Idempotency_Key=path) for _ in range(2)]
        assert answers[0] == answers[1]
        assert answers[0][0] == 200
    shown = call(address, "GET", f"/studies/{made}")[1]
    assert (shown["told"], shown["pending"]) == (1, 2)
    status, answer = call(address, "POST", f"/studies/{made}/ask", {"count": 3}, Idempotency_Key="ask")
    assert (status, answer["error"]) == (409, "KeyReused")
    assert call(address, "POST", f"/studies/{made}/ask", {}, Idempotency_Key="two words")[0] == 422


def test_files_in_and_out(address: str, made: int) -> None:
    file = b"arm,reward,worker\nfair,0.5,me\nbent,1,\n"
    path = f"/studies/{made}/import?format=csv&source=mine.csv"
    for _ in range(2):
        assert call(address, "POST", path, file, Idempotency_Key="file") == (200, {"imported": 2, "done": False})
    status, answer = call(address, "POST", path, b"arm,reward\nfair,2\n")
    assert (status, answer["error"], answer["place"]) == (422, "InvalidReward", "mine.csv, line 2")
    assert call(address, "POST", path, b"\xff\xfe")[1]["allowed"] == "text in UTF-8"
    rows = list(csv.DictReader(io.StringIO(call(address, "GET", f"/studies/{made}/export.csv")[1].decode())))
    assert [(row["arm"], float(row["reward"]), row["worker"]) for row in rows] == [("fair", 0.5, "me"), ("bent", 1, "")]
    lines = call(address, "GET", f"/studies/{made}/export.jsonl")[1].splitlines()
    assert [json.loads(line)["reward"] for line in lines] == [0.5, 1.0]
    assert call(address, "POST", f"/studies/{made}/import?format=jsonl", b"\n".join(lines))[1]["imported"] == 2


def test_pages_of_observations(address: str, made: int) -> None:
    trials = [{"arm": "fair" if at % 3 else "bent", "reward": at / 100, "info": {"at": at}} for at in range(25)]
    call(address, "POST", f"/studies/{made}/observe", {"trials": trials})

    def walk(query: str, forward: bool) -> list[int]:
        found: list[int] = []
        place: int | None = -1 if forward else None
        while True:
            step = "" if place is None else f"&{'after' if forward else 'before'}={place}"
            page = call(address, "GET", f"/studies/{made}/observations?limit=4{query}{step}")[1]
            assert len(page["rows"]) <= 4
            found += [row[0] for row in page["rows"]]
            if page["next"] is None:
                return found
            place = page["next"]

    assert walk("", True) == list(range(25))
    assert walk("", False) == list(range(24, -1, -1))
    assert walk("&arm=bent", False) == list(range(24, -1, -3))
    assert walk("&arm=bent", True) == list(range(0, 25, 3))
    assert walk("&worker=nobody", True) == walk("&failed=true", False) == []
    assert call(address, "GET", f"/studies/{made}/observations?arm=nothing")[0] == 422


def test_the_list(address: str, made: int) -> None:
    names = [study["name"] for study in call(address, "GET", "/studies")[1]["studies"]]
    assert names == sorted(names)
    found: list[str] = []
    after = ""
    while after is not None:
        page = call(address, "GET", f"/studies?limit=2{f'&after={after}' if after else ''}")[1]
        found += [study["name"] for study in page["studies"]]
        after = page["next"]
    assert found == names
    (only,) = call(address, "GET", "/studies?name=test_the_list")[1]["studies"]
    assert (only["id"], only["state"]) == (made, "waiting")
    call(address, "POST", f"/studies/{made}/ask", {})
    assert call(address, "GET", "/studies?name=test_the_list&state=running")[1]["studies"][0]["id"] == made
    assert call(address, "GET", "/studies?text=THE_LI")[1]["studies"][0]["id"] == made
    assert call(address, "GET", "/studies?name=nobody")[1]["studies"] == []


def test_more_is_asked_and_arms_come_and_go(address: str) -> None:
    asked = {**COINS, "name": "coming", "expected_arms": 4}
    number = call(address, "POST", "/studies", asked)[1]["id"]
    for _ in range(2):
        answer = call(address, "POST", f"/studies/{number}/arms", {"name": "new"}, Idempotency_Key="new")[1]
        assert answer["arms"] == ["fair", "bent", "new"]
    answer = call(address, "DELETE", f"/studies/{number}/arms?name=new", Idempotency_Key="old")[1]
    assert answer["arms"] == ["fair", "bent"]
    assert call(address, "POST", f"/studies/{number}/extend", {"epsilon": 0.05}) == (200, {"more": True, "done": False})
    assert call(address, "POST", f"/studies/{number}/extend", {"epsilon": 0.5})[0] == 422
    assert call(address, "GET", f"/studies/{number}")[1]["specification"]["search"]["epsilon"] == 0.05


def test_pictures(address: str, made: int) -> None:
    call(address, "POST", f"/studies/{made}/observe", {"trials": [{"arm": "fair", "reward": 0.5}] * 3})
    call(address, "POST", f"/studies/{made}/observe", {"trials": [{"arm": "bent", "reward": 0.9}] * 3})
    for path, beginning in (
        ("plane.png?width=400", b"\x89PNG"),
        ("plane.svg", b"<?xml"),
        ("report.html", b"<!doctype"),
    ):
        status, content = call(address, "GET", f"/studies/{made}/{path}")
        assert (status, content[: len(beginning)]) == (200, beginning)


def test_pictures_of_any_arms(address: str) -> None:
    """A backslash in a name was part of a replacement template, and the page an error."""
    names = [*HOSTILE, "plain"]
    asked = {"name": "hostile", "arms": names, "reward_range": [0, 1], "epsilon": 0.1}
    number = call(address, "POST", "/studies", asked)[1]["id"]
    trials = [{"arm": name, "reward": turn / 8} for turn in (1, 7) for name in names]
    call(address, "POST", f"/studies/{number}/observe", {"trials": trials})
    for path in ("plane.png?width=400", "plane.svg", "report.html"):
        status, content = call(address, "GET", f"/studies/{number}/{path}")
        assert status == 200, content
    assert b"<script" not in content
    assert html.escape(printable(HOSTILE[1])).encode() in content


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "/studies/999999", None, 404, "UnknownStudy"),
        ("GET", "/studies/many", None, 422, "Unprocessable"),
        ("GET", "/nothing", None, 404, "NotFound"),
        ("PUT", "/studies", None, 405, "MethodNotAllowed"),
        ("POST", "/studies", b"{", 422, "Unprocessable"),
        ("POST", "/studies", {**COINS, "colour": "red"}, 422, "Unprocessable"),
        ("POST", "/studies", {**COINS, "epsilon": -1}, 422, "InvalidSpec"),
        ("POST", "/studies", {**COINS, "policy": "nothing"}, 422, "UnknownName"),
        ("POST", "/studies", {**COINS, "name": "a\nb"}, 422, "InvalidSpec"),
        ("POST", "/studies/{id}/ask", {"count": True}, 422, "Unprocessable"),
        ("POST", "/studies/{id}/ask", {"count": 0}, 422, "Unprocessable"),
        ("POST", "/studies/{id}/ask", {"lease": -1}, 422, "Unprocessable"),
        ("POST", "/studies/{id}/tell", {"answers": [{"pull": "nothing", "reward": 1}]}, 422, "Unprocessable"),
        ("POST", "/studies/{id}/tell", {"answers": [{"pull": f"{'0' * 20}-1", "reward": 1}]}, 404, "UnknownPull"),
        ("POST", "/studies/{id}/tell", {"answers": [{"pull": f"{'0' * 20}-1", "reward": "1"}]}, 422, "Unprocessable"),
        ("POST", "/studies/{id}/tell", b'{"answers": [{"pull": "x", "reward": NaN}]}', 422, "Unprocessable"),
        ("POST", "/studies/{id}/observe", {"trials": [{"arm": "fair", "reward": 2}]}, 422, "InvalidReward"),
        ("POST", "/studies/{id}/extend", {}, 422, "InvalidSpec"),
        ("POST", "/studies/{id}/arms", {"name": "new"}, 422, "InvalidSpec"),
        ("POST", "/studies/{id}/import?format=xml", b"", 422, "Unprocessable"),
        ("POST", "/studies/{id}/import?format=csv", b"", 422, "InvalidSpec"),
        ("DELETE", "/studies/{id}?confirm=another", None, 422, "InvalidSpec"),
    ],
)
def test_what_is_wrong_is_said(
    address: str, method: str, path: str, body: Any, status: int, error: str, request: pytest.FixtureRequest
) -> None:
    number = call(address, "POST", "/studies", {**COINS, "name": "to be misused"})[1]["id"]
    found = call(address, method, path.replace("{id}", str(number)), body)
    assert (found[0], found[1]["error"], set(found[1])) == (status, error, FIELDS), found


def test_a_study_is_deleted_by_its_name(address: str, made: int) -> None:
    call(address, "POST", f"/studies/{made}/ask", {})
    name = call(address, "GET", f"/studies/{made}")[1]["name"]
    assert call(address, "DELETE", f"/studies/{made}?confirm={name}")[0] == 204
    assert call(address, "GET", f"/studies/{made}")[0] == 404
    assert call(address, "POST", f"/studies/{made}/ask", {})[0] == 404


def test_roles(tmp_path: Path) -> None:
    """Whoever may look may not work, and a worker may not make, change or delete."""
    place = f"sqlite:///{tmp_path / 'studies.db'}"
    Study.create("once", COINS["arms"], storage=place, reward_range=(0, 1), epsilon=0.1).close()
    for role, allowed in (("read", ["GET"]), ("work", ["GET", "ask"])):
        with open_server(place, role) as address:
            number = call(address, "GET", "/studies?name=once")[1]["studies"][0]["id"]
            for what, (method, path, body) in {
                "GET": ("GET", f"/studies/{number}", None),
                "ask": ("POST", f"/studies/{number}/ask", {}),
                "retry": ("POST", f"/studies/{number}/retry", None),
                "extend": ("POST", f"/studies/{number}/extend", {"epsilon": 0.01}),
                "import": ("POST", f"/studies/{number}/import?format=csv", b"arm,reward\n"),
                "create": ("POST", "/studies", COINS),
                "delete": ("DELETE", f"/studies/{number}?confirm=once", None),
            }.items():
                status, answer = call(address, method, path, body)
                assert status == (200 if what in allowed else 403), (role, what, answer)


def test_a_store_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    with open_server(f"sqlite:///{tmp_path / 'studies.db'}?timeout=0.1") as address:
        number = call(address, "POST", "/studies", COINS)[1]["id"]
        call(address, "POST", f"/studies/{number}/ask", {})
        with sqlite3.connect(tmp_path / "studies.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            status, answer = call(address, "POST", f"/studies/{number}/ask", {})
            assert (status, answer["error"]) == (503, "StorageUnavailable")
            other.execute("ROLLBACK")
        assert call(address, "POST", f"/studies/{number}/ask", {})[0] == 200
