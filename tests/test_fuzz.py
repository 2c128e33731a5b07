"""Values that nobody means, given to every verb and every public call: no traceback, no hang, no silent acceptance."""

from __future__ import annotations

import inspect
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape.cli import study_show
from tests import fuzz_calls, fuzz_commands
from tests.fuzz import Fuzz
from tests.fuzz_values import Drawn

CASES, BATCH = 5_000, 250
SOME = 100
LONGEST = 1_200  # seconds for a batch, which takes some ten; a hang inside compiled code ends here
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Fuzz:
    return Fuzz(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.parametrize("road", ["calls", "commands"])
def test_some_cases(fuzz: Fuzz, road: str) -> None:
    for number in range(road == "commands", SOME, 2):
        text, wrong = fuzz.run(number)
        assert not wrong, f"python -m tests.fuzz {number}  # {text}"


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_all_cases(first: int) -> None:
    """In a process of its own, whose end shows what no exception can: a crash, or code that never returns."""
    words = [sys.executable, "-m", "tests.fuzz", str(first), str(BATCH)]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode().splitlines()
        pytest.fail(f"still under way after {LONGEST} seconds: {said[-1:]}")
    assert done.returncode == 0, done.stdout or done.stderr[-2000:]


def test_every_verb_and_every_public_call_is_among_the_cases(fuzz: Fuzz) -> None:
    """A new one is found by itself. What is rare is made a few times."""
    verbs, calls = Counter[str](), Counter[str]()
    for number in range(2 * CASES):
        rng = random.Random(f"ramgape {number}")
        if number % 2:
            verbs[fuzz_commands.draw_case(rng, fuzz.world).verb] += 1
        else:
            calls[fuzz_calls.draw_case(rng, fuzz.world).target.name] += 1
    assert min(*verbs.values(), *calls.values()) >= 3
    assert set(verbs) == {verb for verb, _ in fuzz_commands.walk(fuzz_commands.command())}
    assert set(calls) == {target.name for target in fuzz_calls.TARGETS}
    known = {name.partition(".")[0] for name in calls} | {*fuzz_calls.RECORDS, *fuzz_calls.HOLDERS, "__version__"}
    others = [getattr(ramgape, name) for name in ramgape._MODULES if name not in known]
    others.remove(ramgape.Measure)  # for others to fill in
    assert all(issubclass(each, Exception | Warning) or inspect.isabstract(each) for each in others)


# --- whether anything would be noticed ---------------------------------------------------------------------------


def call(name: str, **arguments: Any) -> fuzz_calls.Case:
    target = next(each for each in fuzz_calls.TARGETS if each.name == name)
    return fuzz_calls.Case(target, {key: Drawn(value, "good") for key, value in arguments.items()})


def verb(*words: str) -> fuzz_commands.Case:
    return fuzz_commands.Case(" ".join(words[:2]), list(words), {}, [])


def wrong_with(fuzz: Fuzz, case: Any) -> list[str]:
    road: Any = fuzz_calls if isinstance(case, fuzz_calls.Case) else fuzz_commands
    with fuzz.ready():
        found: list[str] = road.run_case(case, fuzz.world, random.Random(1))
        return found


def test_exceptions_are_noticed(fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("nobody")

    monkeypatch.setattr(ramgape, "identify", broken)
    assert wrong_with(fuzz, call("identify", epsilon=0.1)) == ["raised KeyError: 'nobody'"]
    monkeypatch.setattr(study_show, "opened_study", broken)
    (complaint,) = wrong_with(fuzz, verb("study", "show", "models"))
    assert complaint.startswith("ended with a traceback: ")


def test_what_is_accepted_in_silence_is_noticed(fuzz: Fuzz) -> None:
    case = call("Study.ask", count=1)
    case.arguments["count"] = Drawn(1, "bad")
    assert wrong_with(fuzz, case) == ["accepted count"]
    assert wrong_with(fuzz, verb("study", "show", "models")._replace(must_refuse=["name"])) == ["accepted name"]


def test_strange_output_and_changes_after_a_refusal_are_noticed(fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch) -> None:
    def half_done(name: str, storage: str | None) -> Any:
        ramgape.delete_study("gauss", "sqlite:///studies.db")
        raise ramgape.InvalidSpec("too late")

    assert wrong_with(fuzz, verb("study", "show", "nobody")) == []
    monkeypatch.setattr(study_show, "opened_study", half_done)
    assert wrong_with(fuzz, verb("study", "show", "models")) == ["was refused, and has changed the store"]
    assert list(fuzz_calls.check_text("a\x1b[2J")) == ["prints {'\\x1b'}"]
    assert list(fuzz_commands.check_json('{"a": NaN}')) != []
