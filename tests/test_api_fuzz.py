"""Requests that nobody would send, by the thousand: each is answered, and none as if the server had made a mistake."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ramgape.web.access.roles import Access
from ramgape.web.app import make_app
from ramgape.web.open_studies import OpenStudies
from tests.guarded import request
from tests.servers import open_door

NUMBERS: list[Any] = [0, 1, -1, 0.5, 2**31, 2**63, -(2**70), 1e308, -1e308, 5e-324, 1e-9, 3, 17, True, False, None]
TEXTS = [
    "",
    "a",
    "b",
    "coins",
    "\0",
    "\n",
    "é",
    "\ud800",
    "💡" * 50,
    "x" * 300,
    "=1+1",
    "none",
    "5%",
    "cvar:0.1",
    "../..",
]
WEIRD: list[Any] = [[], {}, [[]], {"a": {"b": [1, None]}}, [1, 2], ["a", "b"], [["a", 1]], {"arm": "a", "reward": 0.5}]
OPTIONS = ["epsilon", "delta", "budget", "reward_range", "risk", "task", "noise", "policy", "bound", "items", "price"]
OPTIONS += ["spend", "failure", "retries", "seed", "expected_arms", "max_trials", "alarm", "in_order", "exploration"]
SENSIBLE: dict[str, Any] = {
    "epsilon": 0.3,
    "budget": 20,
    "reward_range": [0, 1],
    "risk": "std",
    "seed": 1,
    "retries": 0,
}
VERBS = [
    "exchange",
    "ask",
    "tell",
    "fail",
    "give-back",
    "renew",
    "leave",
    "observe",
    "retry",
    "extend",
    "arms",
    "import",
]
LOOKS = ["", "/observations", "/failures", "/pulls", "/progress", "/export.csv", "/export.jsonl"]


class Fuzzer:
    """Makes requests, some of which are nearly right: with pulls that were handed out, say."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.pulls = [f"{'0' * 20}-1", "nothing", ""]

    def value(self) -> Any:
        dice = self.dice
        return dice.choice(dice.choice([NUMBERS, TEXTS, WEIRD, self.pulls]))

    def often(self, likely: Any) -> Any:
        """What is likely to be right, mostly."""
        return likely if self.dice.random() < 0.8 else self.value()

    def told(self) -> dict[str, Any]:
        told = {"pull": self.often(self.dice.choice(self.pulls)), "reward": self.often(self.dice.random())}
        for name in ("price", "info", "colour"):
            if self.dice.random() < 0.1:
                told[name] = self.value()
        return told

    def body(self, verb: str) -> Any:
        dice = self.dice
        if dice.random() < 0.05:
            return self.value()
        some: list[Any] = [dice.choice(self.pulls) for _ in range(dice.randrange(3))]
        made: dict[str, dict[str, Any]] = {
            "exchange": {
                "answers": [self.told() for _ in range(dice.randrange(3))],
                "failed": [{"pull": each, "reason": self.often("broken")} for each in some[:1]],
                "given_back": some[1:],
                "count": self.often(dice.randrange(5)),
                "worker": self.often(dice.choice(["me", "you", None])),
            },
            "ask": {"count": self.often(dice.randrange(4)), "worker": self.often("me"), "lease": self.often(60)},
            "tell": {"answers": [self.told() for _ in range(dice.randrange(4))]},
            "fail": {"pull": self.often(dice.choice(self.pulls)), "reason": self.often("broken")},
            "give-back": {"pulls": self.often(some)},
            "renew": {"pulls": self.often(some), "lease": self.often(1)},
            "leave": {"worker": self.often("me")},
            "observe": {"trials": [{"arm": self.often("a"), "reward": self.often(0.25)} for _ in range(2)]},
            "extend": {dice.choice(["epsilon", "budget", "spend"]): self.often(dice.choice([0.01, 500]))},
            "arms": {"name": self.often(f"new {dice.randrange(9)}")},
        }
        found = made.get(verb, {})
        return {key: value for key, value in found.items() if dice.random() < 0.95}

    def study(self) -> dict[str, Any]:
        dice = self.dice
        made: dict[str, Any] = {"name": self.often(f"study {dice.randrange(5)}"), "arms": self.often(["a", "b", "c"])}
        made |= {"reward_range": self.often([0, 1]), "epsilon": self.often(0.3)}
        for name in dice.sample(OPTIONS, dice.randrange(4)):
            made[name] = self.often(SENSIBLE.get(name, self.value()))
        if dice.random() < 0.2:
            made["data"] = self.often([["a", 0.5]])
        return made

    def query(self) -> str:
        names = [
            "before",
            "after",
            "limit",
            "arm",
            "worker",
            "failed",
            "expect",
            "name",
            "state",
            "text",
            "format",
            "confirm",
        ]
        pairs = [(name, self.value()) for name in self.dice.sample(names, self.dice.randrange(3))]
        return "&".join(f"{name}={quote(str(value), errors='replace')}" for name, value in pairs)

    def request(self) -> tuple[str, str, bytes, str]:
        """Method, path, body, kind of body."""
        dice = self.dice
        number = dice.choice([1, 1, 1, 2, 3, 99, "x", -1, 2**63])
        place, roll = f"/api/v1/studies/{number}", dice.random()
        if roll < 0.15:
            return "GET", f"{place}{dice.choice(LOOKS)}?{self.query()}", b"", ""
        if roll < 0.2:
            return "GET", f"/api/v1/studies?{self.query()}", b"", ""
        if roll < 0.23:
            return (
                dice.choice(["DELETE", "PUT", "OPTIONS"]),
                f"{place}{dice.choice(['', '/arms'])}?{self.query()}",
                b"",
                "",
            )
        kind = "application/json" if dice.random() < 0.95 else dice.choice(["text/plain", "", "application/xml"])
        if roll < 0.33:
            return "POST", "/api/v1/studies", self.written(self.study()), kind
        verb = dice.choice(VERBS)
        if verb == "import":
            file = dice.choice([b"arm,reward\na,0.5\n", b"", b"\xff", b"arm\n1\n", b'{"arm": "a", "reward": 0.5}\n'])
            return "POST", f"{place}/import?format={dice.choice(['csv', 'jsonl', 'x'])}", file, "text/csv"
        return "POST", f"{place}/{verb}", self.written(self.body(verb)), kind

    def written(self, body: Any) -> bytes:
        text = json.dumps(body).encode()
        roll = self.dice.random()
        if roll < 0.03:
            return text[: self.dice.randrange(len(text) + 1)]
        return text.replace(b"0.5", b"NaN") if roll < 0.05 else text

    def learn(self, answer: bytes) -> None:
        """Pulls that were handed out are worth telling."""
        for pull in json.loads(answer).get("pulls", ()):
            if isinstance(pull, dict):
                self.pulls = [*self.pulls[-30:], pull["id"]]


@pytest.mark.parametrize("calls", [1_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_no_request_is_a_mistake_of_the_server(tmp_path: Path, calls: int) -> None:
    """Seeded: the same requests each time."""
    studies = OpenStudies(f"sqlite:///{tmp_path / 'studies.db'}")
    app = open_door(make_app(studies), Access("tests", "admin"))
    fuzzer, statuses = Fuzzer(1), Counter[int]()

    async def ask_all() -> None:
        first = json.dumps({"name": "coins", "arms": ["a", "b"], "reward_range": [0, 1], "budget": 5000}).encode()
        await request(app, "POST", "/api/v1/studies", [first], [(b"content-type", b"application/json")])
        for _ in range(calls):
            method, path, body, kind = fuzzer.request()
            headers = [(b"content-type", kind.encode())] if kind else []
            answer = await request(app, method, path, [body], headers)
            statuses[answer.status] += 1
            assert answer.status < 500, (method, path, body, answer)
            if answer.status >= 400:
                assert set(answer.json) == {"error", "message", "place", "what", "allowed", "given"}
            elif path.endswith(("/ask", "/exchange")):
                fuzzer.learn(answer.body)

    asyncio.run(ask_all())
    studies.close()
    assert statuses[200] > calls / 10  # not everything was refused at the door
    assert {404, 409, 422} <= set(statuses)
