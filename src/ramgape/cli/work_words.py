"""What the commands of workers read and say, whichever way they reach the study: in this process, or on a server.

Pulls are what JSON has of them: "id", "arm", "seed", and "item" where there are any. Nothing heavy is imported here.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ramgape.cli.streams import FAILED, tell, write_json, write_line
from ramgape.common.files import name_of, opened, read_number, read_objects
from ramgape.common.parsing import parse_number
from ramgape.errors import FailingArm, InvalidSpec, printable, shorten

SHOWN = 8  # pulls in a message

Json = dict[str, Any]


# --- what is read ----------------------------------------------------------------------------------------------------


def one_reward(argument: str | None, given: str | None) -> float:
    """The reward as a number, from where it stands; whether it is possible is for the study to say."""
    if (argument is None) == (given is None):
        got = "none" if given is None else "two"
        allowed = "given, as the last argument or with --reward"
        raise InvalidSpec(what="one reward", allowed=allowed, given=got)
    return read_reward(str(argument if given is None else given))


def read_reward(text: str) -> float:
    """A reward as it is typed."""
    with suppress(ValueError):
        return read_number(text)
    raise InvalidSpec(what="reward", allowed="a number", given=shorten(text)) from None


def details(price: str | None, info: str | None) -> Json:
    """What is told beside a reward."""
    found: Json = {}
    if price is not None:
        found["price"] = parse_number(price, "price")
    if info is not None:
        try:
            found["info"] = json.loads(info)
        except (ValueError, RecursionError):
            raise InvalidSpec(what="info", allowed="a JSON object", given=shorten(info)) from None
    return found


def lease_of(text: str) -> float | None:
    """Seconds; None for ever."""
    return None if text.lower() == "none" else parse_number(text, "lease")


def told_pairs(texts: Sequence[str]) -> list[tuple[str, float]]:
    """Pulls and their rewards, each as PULL=REWARD."""
    found = []
    for text in texts:
        pull, equals, reward = text.partition("=")
        if not equals:
            raise InvalidSpec(what="--tell", allowed="written PULL=REWARD", given=shorten(text))
        found.append((pull, read_reward(reward)))
    return found


def failed_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Pulls whose trials have failed and why, each as PULL or PULL=REASON."""
    return [(pull, reason) for pull, _, reason in (text.partition("=") for text in texts)]


def read_answers(file: str) -> Iterator[tuple[str, str, Json]]:
    """The answers in a file: of each its place, its pull, and "reward", "price" and "info" as they stand there."""
    from ramgape.data.csv_rows import reading

    with reading(file) as stream, opened(stream):
        source = name_of(stream)
        for line, found in read_objects(stream, source):
            place = f"{source}, line {line}"
            pull = found.get("pull", found.get("id"))
            if not isinstance(pull, str) or "reward" not in found:
                allowed = '"pull" (or "id") and "reward"'
                raise InvalidSpec(place=place, verb="have", allowed=allowed, given=shorten(found))
            yield place, pull, {name: found.get(name) for name in ("reward", "price", "info")}


def hint_retry(error: FailingArm, name: str) -> None:
    """Say what to do about an arm that fails, to whoever reads it in a shell."""
    error.hint += f"; in the shell: ramgape study retry {shlex.quote(name)}"


# --- what is said ----------------------------------------------------------------------------------------------------


def show_pulls(pulls: Sequence[Json], done: bool, as_json: bool) -> None:
    """The next trials to make."""
    if as_json:
        write_json({"pulls": list(pulls), "done": done})
        return
    write_pulls(pulls, done)


def write_pulls(pulls: Sequence[Json], done: bool) -> None:
    """A line for each; on stderr why there is none."""
    for each in pulls:
        item = f"\t{printable(json.dumps(each['item']))}" if "item" in each else ""
        write_line(f"{each['id']}\t{printable(each['arm'])}\t{each['seed']}{item}")
    if not pulls:
        tell("note", "the study is done" if done else "nothing to try now: enough pulls are under way", "bold")


def show_answer(accepted: bool, done: bool, about: Json, as_json: bool) -> None:
    """What became of it."""
    if as_json:
        write_json({**about, "accepted": accepted, "done": done})
        return
    words = "accepted" if accepted else "not accepted: the pull is answered already, or with somebody else"
    write_line(f"{words}{'; the study is done' if done else ''}")


def show_answers(pulls: Sequence[str], accepted: Sequence[bool], done: bool, as_json: bool) -> None:
    """What became of many."""
    if as_json:
        rows = [{"id": pull, "accepted": each} for pull, each in zip(pulls, accepted, strict=True)]
        write_json({"pulls": rows, "done": done})
        return
    late = len(accepted) - sum(accepted)
    words = f", {late:,} not: other answers came first" if late else ""
    write_line(f"{sum(accepted):,} accepted{words}.{' The study is done.' if done else ''}")


def show_exchange(
    given: Sequence[str], accepted: Sequence[bool], next_pulls: Sequence[Json], done: bool, as_json: bool
) -> None:
    """What became of what was given, and the next trials to make; as text only the pulls go to stdout."""
    pairs = list(zip(given, accepted, strict=True))
    if as_json:
        answers = [{"pull": pull, "accepted": each} for pull, each in pairs]
        write_json({"answers": answers, "pulls": list(next_pulls), "done": done})
        return
    late = [pull for pull, each in pairs if not each]
    if late:
        shown = f"{', '.join(late[:SHOWN])}{', ...' if len(late) > SHOWN else ''}"
        tell("note", f"not accepted, being answered already or with somebody else: {shown}", "bold")
    write_pulls(next_pulls, done)


def show_renewed(pulls: Sequence[str], renewed: Sequence[bool], done: bool, as_json: bool) -> None:
    """Which pulls are still the caller's."""
    if as_json:
        rows = [{"id": pull, "renewed": each} for pull, each in zip(pulls, renewed, strict=True)]
        write_json({"pulls": rows, "done": done})
        return
    for pull, each in zip(pulls, renewed, strict=True):
        write_line(f"{pull}\t{'renewed' if each else 'no longer yours'}")


def show_done(done: bool, as_json: bool) -> int:
    """Whether the study is done; the exit code that says it to a script."""
    if as_json:
        write_json({"done": done})
    else:
        write_line("yes: the study is done" if done else "no: there is more to try")
    return 0 if done else FAILED
