"""Errors: their tree, the parts of their messages, and how these travel."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path

import pytest

import ramgape
from ramgape import errors
from ramgape.errors import (
    DataError,
    InvalidInstance,
    InvalidReward,
    InvalidSpec,
    RamgapeError,
    SpecificationError,
    StorageError,
    UnknownName,
    known_name,
    located,
    require,
)

KINDS = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, RamgapeError)]
SOURCES = sorted((Path(ramgape.__file__).parent).rglob("*.py"))


def drawn_tree() -> dict[str, str]:
    """Each class in the drawing, with the one above it."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ((?:[ │├└─])*)([A-Z]\w+Error|[A-Z]\w+)(?:  |$)", line)
        if found and found[2] != "RamgapeWarning":
            depth = len(found[1]) // 5
            above[depth:] = [found[2]]
            parents[found[2]] = above[depth - 1] if depth else ""
    return parents


def test_the_drawing_is_the_tree() -> None:
    real = {each.__name__: each.__bases__[0].__name__ if each is not RamgapeError else "" for each in KINDS}
    assert drawn_tree() == real


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_public_and_travels(kind: type[RamgapeError]) -> None:
    assert getattr(ramgape, kind.__name__) is kind
    error = kind(place="log.csv, line 3", what="reward", allowed="a number", given="'x'", hint="; why?")
    error.partial_result, error.untold = {"front": ["A"]}, (("a-1", 0.5),)
    error.add_note("after 3 rewards")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == str(error) == "log.csv, line 3: reward must be a number, got 'x'; why?"
    assert str(pickle.loads(pickle.dumps(kind("in one piece")))) == "in one piece"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InvalidSpec("plain"), "plain"),
        (InvalidSpec(), ""),
        (InvalidSpec("plain", place="here", given="1"), "here: plain, got 1"),
        (InvalidSpec(what="file", verb="end", allowed="in .csv", given="'x'"), "file must end in .csv, got 'x'"),
        (InvalidSpec(place="row 3", allowed="a pair", given="7"), "row 3 must be a pair, got 7"),
        (InvalidSpec(what="epsilon", allowed="given"), "epsilon must be given"),
        (InvalidSpec("two\nlines"), "two\\nlines"),
    ],
)
def test_the_form_of_a_message(error: InvalidSpec, text: str) -> None:
    assert str(error) == text
    assert repr(error) == f"InvalidSpec({text!r})"


def test_complaints_have_parts() -> None:
    with pytest.raises(InvalidSpec) as caught:
        require(False, "delta", "between 0 and 1", 1.5)
    assert (caught.value.place, caught.value.what, caught.value.allowed) == ("", "delta", "between 0 and 1")
    assert caught.value.given == "1.5"
    with pytest.raises(UnknownName) as unknown:
        known_name("ramgap", ["ramgape", "egp"], "policy")
    assert (unknown.value.what, unknown.value.given) == ("policy", "'ramgap'")
    assert unknown.value.allowed == "one of ramgape, egp"
    assert unknown.value.hint == "; did you mean 'ramgape'?"


def test_a_place_is_added_to_the_same_error() -> None:
    first = InvalidReward(what="reward", allowed="a number", given="'x'")
    first.partial_result = "kept"
    with pytest.raises(InvalidReward) as caught, located("log.csv"), located("line 3"):
        raise first
    assert caught.value is first
    assert (first.place, first.what, first.partial_result) == ("log.csv: line 3", "reward", "kept")
    assert str(first) == "log.csv: line 3: reward must be a number, got 'x'"


def test_a_place_is_for_the_errors_that_are_meant() -> None:
    with pytest.raises(StorageError) as caught, located("mine.toml"):
        raise StorageError("full")
    assert caught.value.place == ""
    with pytest.raises(StorageError, match=r"^mine.toml: full$"), located("mine.toml", RamgapeError):
        raise StorageError("full")
    with pytest.raises(KeyError), located("mine.toml", RamgapeError):
        raise KeyError("no error of ours")


def test_places_of_instances_data_and_studies(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"reward_range": [0, 1], "arms": [{"name": "A", "distribution": "beta", "a": 0, "b": 1}]}')
    with pytest.raises(InvalidInstance) as wrong:
        ramgape.load_instance(path)
    assert (wrong.value.place, wrong.value.what, wrong.value.given) == (str(path), "arms[0].a", "0")
    with pytest.raises(InvalidReward) as beyond:
        ramgape.analyze([("A", 0.5), ("B", 7.0)], reward_range=(0, 1))
    assert (beyond.value.place, beyond.value.what, beyond.value.given) == ("row 2", "the reward", "7.0")
    with pytest.raises(UnknownName) as unknown:
        ramgape.Study.create("s", ["A", "B"], budget=10, reward_range=(0, 1), data=[("A", 1.0), ("C", 0.5)])
    assert (unknown.value.place, unknown.value.what, unknown.value.given) == ("data[1]", "arm", "'C'")
    assert issubclass(SpecificationError, ValueError)
    assert issubclass(DataError, ValueError)


def test_no_message_is_written_by_hand_or_read_back() -> None:
    """Where an error says what must be, its parts say so; and nobody looks for them in its text."""
    by_hand = re.compile(r"raise (?!AssertionError)\w+\(\s*f?[\"'][^\n]* must [^\n]*\bgot\b")
    read_back = re.compile(r"str\(error\)\.|type\(error\)\(f")
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        assert not by_hand.search(text), source
        found = read_back.search(text)
        assert not found or source.name == "sqlite.py", source  # which reads what SQLite says
