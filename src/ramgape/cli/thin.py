"""The commands of workers where a server has the study: without typer, NumPy or a database, in a tenth of a second.

Whatever is not plain here, a call for help, an argument that is not understood, a value that the server refuses, is
left to the ordinary commands, which then find out for themselves what to say.
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from ramgape.cli.streams import tell_error
from ramgape.cli.work_words import (
    details,
    failed_pairs,
    hint_retry,
    lease_of,
    one_reward,
    read_answers,
    show_answer,
    show_answers,
    show_done,
    show_exchange,
    show_pulls,
    show_renewed,
    told_pairs,
)
from ramgape.common.parsing import parse_number
from ramgape.errors import DataError, FailingArm, RamgapeError, SpecificationError
from ramgape.remote.address import is_remote
from ramgape.remote.answers import DONE
from ramgape.remote.connection import ServerConnection
from ramgape.remote.studies import Json, RemoteStudy, known_study

STANDARD_INPUT = "-"
FLAG: Any = False  # for options without a value
NOTHING: Mapping[str, Any] = {"count": 0, "worker": None, "lease": None, "known": []}  # is asked for


class Shape(NamedTuple):
    """What a command takes: the names of its arguments (the last may be many), and its options with their defaults.

    An option whose default is a list may be given many times.
    """

    arguments: tuple[str, ...]
    options: Mapping[str, Any]
    least: int  # arguments
    many: bool = False
    negative: bool = False  # arguments may begin with a dash


COMMON: Mapping[str, Any] = {"--storage": None, "--json": FLAG}
ASKS: Mapping[str, Any] = {"--count": "1", "--worker": None, "--lease": "3600", **COMMON}
SHAPES = {
    "ask": Shape(("name",), ASKS, 1),
    "tell": Shape(
        ("name", "pull", "reward"),
        {"--reward": None, "--from": None, "--price": None, "--info": None, **COMMON},
        1,
        negative=True,
    ),
    "exchange": Shape(("name",), {"--tell": [], "--from": None, "--fail": [], "--give-back": [], **ASKS}, 1),
    "fail": Shape(("name", "pull"), {"--reason": "", **COMMON}, 2),
    "give-back": Shape(("name", "pull"), COMMON, 2),
    "renew": Shape(("name", "pulls"), {"--lease": "3600", **COMMON}, 2, many=True),
    "done": Shape(("name",), COMMON, 1),
}


class Unclear(Exception):
    """Arguments that the ordinary commands are to read."""


def answer(arguments: Sequence[str], storage: str | None) -> int | None:
    """Do what `ramgape study` is asked to, and give the exit code; None where the ordinary command is to do it.

    Args:
        arguments: The command and its words.
        storage: Where the study is, unless an option says so.
    """
    try:
        shape = SHAPES.get(arguments[0]) if arguments else None
        if shape is None:
            return None
        given = parse_words(shape, arguments[1:])
        url = given.pop("storage") or storage
        return perform(arguments[0], url, given) if is_remote(url) else None
    except (Unclear, SpecificationError, DataError):
        return None
    except (RamgapeError, KeyboardInterrupt, OSError) as error:
        return tell_error(error)


def parse_words(shape: Shape, words: Sequence[str]) -> dict[str, Any]:
    """Arguments and options by their names."""
    left, arguments = list(words), []
    found = {name: list(value) if isinstance(value, list) else value for name, value in shape.options.items()}
    while left:
        word = left.pop(0)
        if word == "--":
            arguments += left
            break
        name, equals, value = word.partition("=")
        if name in found:
            if found[name] is FLAG or found[name] is True:
                if equals:
                    raise Unclear
                found[name] = True
                continue
            if not equals and not left:
                raise Unclear
            text = value if equals else left.pop(0)
            found[name] = [*found[name], text] if isinstance(found[name], list) else text
        elif word.startswith("-") and len(word) > 1 and not (shape.negative and _is_number(word)):
            raise Unclear
        else:
            arguments.append(word)
    most = math.inf if shape.many else len(shape.arguments)
    if not shape.least <= len(arguments) <= most:
        raise Unclear
    if shape.many:
        place = len(shape.arguments) - 1
        arguments = [*arguments[:place], arguments[place:]]  # type: ignore[list-item]
    named: dict[str, Any] = dict.fromkeys(shape.arguments)
    named |= dict(zip(shape.arguments, arguments, strict=False))
    return named | {_option(name): value for name, value in found.items()}


def _option(name: str) -> str:
    """What an option is called here: --reward is another thing than the argument of that name."""
    return {"--reward": "reward_option", "--json": "as_json", "--from": "source"}.get(name, name[2:].replace("-", "_"))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def perform(verb: str, url: str, given: dict[str, Any]) -> int:
    """Do what is asked for, and show what came of it."""
    name = given.pop("name")
    with closing(There(url, name)) as study:
        try:
            return VERBS[verb](study, **given) or 0
        except FailingArm as error:
            hint_retry(error, name)
            raise


class There:
    """A study on a server, which is looked for when it is first needed: by then all arguments have been read."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = url, name
        self._connection: ServerConnection | None = None

    def row(self) -> Json:
        """What the server's list says of it."""
        self._connection = ServerConnection(self._url)
        return known_study(self._connection, self._name)

    def found(self) -> RemoteStudy:
        """The study itself."""
        number = self.row()["id"]
        assert self._connection is not None
        return RemoteStudy(self._connection, number)

    def done(self) -> bool:
        """Whether its goal is reached."""
        row = self.row()
        assert self._connection is not None
        with self._connection.understanding("GET /studies"):
            DONE(row, "the study")
        return bool(row["done"])

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()


def ask(study: There, count: str, worker: str | None, lease: str, as_json: bool) -> None:
    """The next pulls."""
    request = _request(count, worker, lease)
    if request["count"] == 0:
        raise Unclear
    found = study.found().exchange([], [], [], **request)
    show_pulls(found["pulls"], found["done"], as_json)


def tell_reward(
    study: There,
    pull: str | None,
    reward: str | None,
    reward_option: str | None,
    source: str | None,
    price: str | None,
    info: str | None,
    as_json: bool,
) -> None:
    """The reward of a pull, or of many."""
    if source is None and pull is not None:
        answer = _told(pull, {"reward": one_reward(reward, reward_option), **details(price, info)})
        found = study.found().exchange([answer], [], [], **NOTHING)
        show_answer(found["accepted"][0], found["done"], {"pull": pull}, as_json)
    elif source is not None and pull is None and reward_option is None:
        answers = _answers_in(source)
        found = study.found().exchange(answers, [], [], **NOTHING)
        show_answers([each["pull"] for each in answers], found["accepted"], found["done"], as_json)
    else:
        raise Unclear


def exchange(
    study: There,
    tell: list[str],
    source: str | None,
    fail: list[str],
    give_back: list[str],
    count: str,
    worker: str | None,
    lease: str,
    as_json: bool,
) -> None:
    """What came out, and the next pulls."""
    request = _request(count, worker, lease)
    answers = [_told(pull, {"reward": reward}) for pull, reward in told_pairs(tell)]
    answers += _answers_in(source) if source is not None else []
    failed = [{"pull": pull, "reason": reason} for pull, reason in failed_pairs(fail)]
    found = study.found().exchange(answers, failed, give_back, **request)
    given = [each["pull"] for each in [*answers, *failed]] + give_back
    show_exchange(given, found["accepted"], found["pulls"], found["done"], as_json)


def fail(study: There, pull: str, reason: str, as_json: bool) -> None:
    """A trial has failed."""
    found = study.found().exchange([], [{"pull": pull, "reason": reason}], [], **NOTHING)
    show_answer(found["accepted"][0], found["done"], {"pull": pull}, as_json)


def give_back(study: There, pull: str, as_json: bool) -> None:
    """A pull will not be made."""
    found = study.found().exchange([], [], [pull], **NOTHING)
    show_answer(found["accepted"][0], found["done"], {"pull": pull}, as_json)


def renew(study: There, pulls: list[str], lease: str, as_json: bool) -> None:
    """Pulls are still being worked on."""
    seconds = lease_of(lease)
    found = study.found().renew(pulls, seconds)
    show_renewed(pulls, found["renewed"], found["done"], as_json)


def done(study: There, as_json: bool) -> int:
    """Whether there is no more to try."""
    return show_done(study.done(), as_json)


def _request(count: str, worker: str | None, lease: str) -> Json:
    return {"count": parse_number(count, "count"), "worker": worker, "lease": lease_of(lease), "known": []}


def _told(pull: str, told: Mapping[str, Any]) -> Json:
    """An answer for the server, with JSON in between, which knows of no number beyond all others."""
    reward = told["reward"]
    if isinstance(reward, float) and not math.isfinite(reward):
        raise Unclear
    return {"pull": pull} | {name: value for name, value in told.items() if value is not None or name == "reward"}


def _answers_in(file: str) -> list[Json]:
    if file == STANDARD_INPUT:  # which is to be read again, perhaps
        sys.stdin = io.TextIOWrapper(io.BytesIO(sys.stdin.buffer.read()))
    try:
        return [_told(pull, told) for _, pull, told in read_answers(file)]
    finally:
        if file == STANDARD_INPUT:
            sys.stdin.buffer.seek(0)


VERBS: dict[str, Callable[..., int | None]] = {
    "ask": ask,
    "tell": tell_reward,
    "exchange": exchange,
    "fail": fail,
    "give-back": give_back,
    "renew": renew,
    "done": done,
}
