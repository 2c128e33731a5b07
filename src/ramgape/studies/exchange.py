"""What a study and its workers exchange: pulls, results, and what became of them.

A pull is written `9f86d081884c7d659a2f-17`: a random token and its number in the study. A further attempt at the same
pull is `9f86d081884c7d659a2f-17.2`. The storage keeps the token with the pull, so the name of a pull of another study,
or of the same study before it was restored from a copy, is never taken for one of this study.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from ramgape.common.checks import as_float, check_many, check_text, is_text, whole
from ramgape.errors import InvalidReward, InvalidSpec, UnknownPull, require, shorten

DEFAULT_LEASE = 3600.0  # seconds
RUN_LEASE = 60.0  # of `run`, which renews it
LONGEST_REASON = 2000
LONGEST_INFO = 10_000
MOST_AT_ONCE = 100_000  # pulls that one ask gives

TOKEN_BYTES = 10  # 80 bits
KEY_BYTES = 8
# Names from before every pull had a token of its own have the key of their study in its place, of six digits.
PATTERN = re.compile(r"([0-9a-f]{20}|[0-9a-f]{6})-(0|[1-9][0-9]{0,15})(?:\.([1-9][0-9]{0,8}))?", re.ASCII)

# Seeds fit into 31 bits, since many programs take no larger ones. Up to so many pulls all attempts have different ones.
DISTINCT_PULLS = 2**25
SEEDS = 0x7FFFFFFF  # the largest


class PullId(NamedTuple):
    """An attempt at a pull, by its name."""

    token: str
    number: int
    attempt: int


class Pull(NamedTuple):
    """One trial to make. Tell its reward with it, or with its id.

    Attributes:
        id: By which it is told.
        arm: What to try, by name.
        seed: For the randomness of this trial.
        item: What of a test set to try it on; None where there is none.
    """

    id: str
    arm: str
    seed: int
    item: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an answer. It is true if the answer was accepted.

    Attributes:
        accepted: It counts, now or since it was first told; otherwise another answer to that pull came first.
        done: The goal is reached.
    """

    accepted: bool
    done: bool

    def __bool__(self) -> bool:
        return self.accepted


@dataclass(frozen=True, slots=True)
class Exchange:
    """What `Study.exchange` gives for what it was given.

    Attributes:
        answers: What became of each answer, then of each failure, then of each pull given back, then of each
            that was lost, in the order given.
        pulls: The next trials to make; none when the goal is reached or enough are under way.
        done: The goal is reached.
    """

    answers: tuple[Answer, ...]
    pulls: tuple[Pull, ...]
    done: bool


class Request(NamedTuple):
    """Pulls that are asked for: how many, by whom, for how many seconds, and besides which."""

    wanted: int
    worker: str | None
    seconds: float
    known: tuple[PullId, ...] = ()


ANSWERS = {(accepted, done): Answer(accepted, done) for accepted in (False, True) for done in (False, True)}
NO_REQUEST = Request(0, None, math.inf)


def check_request(
    count: int, worker: str | None, lease: float | None, least: int, known: Iterable[Pull | str] = ()
) -> Request:
    """A checked request, or an error that says what is allowed."""
    if type(count) is not int or not least <= count <= MOST_AT_ONCE:
        allowed = f"a whole number from {least} to {MOST_AT_ONCE:,}"
        count = whole(count, "count", allowed, least)
        require(count <= MOST_AT_ONCE, "count", allowed, count)
    if worker is not None:
        worker = check_text(worker, "worker")
    if known != ():
        check_many(known, "known", "a list of pulls")
    return Request(count, worker, check_lease(lease), tuple(map(pull_id_of, known)))


def check_lease(lease: object) -> float:
    """Seconds; None stands for ever."""
    if type(lease) is float and 0.0 < lease < math.inf:
        return lease
    if lease is None:
        return math.inf
    seconds = as_float(lease)
    require(0.0 < seconds < math.inf, "lease", "a number of seconds above 0, or None for no end", lease)
    return seconds


def check_reason(reason: object) -> str:
    """A reason as it can be stored: no null characters, no halves of characters, and no book."""
    require(isinstance(reason, str), "reason", "text", reason)
    text = str(reason).encode(errors="backslashreplace").decode().replace("\0", "\\0").strip()
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 3]}..."


def write_info(info: object) -> str | None:
    """What else was told with an answer, as JSON that every store keeps: without a character beyond ASCII."""
    if info is None:
        return None
    text, allowed = (
        "",
        f"a mapping of what JSON has (text, numbers, lists, mappings), at most {LONGEST_INFO:,} characters",
    )
    if isinstance(info, Mapping):
        with suppress(TypeError, ValueError, RecursionError):
            text = json.dumps(dict(info), allow_nan=False)
            if json.loads(text) != dict(info) or not is_text(json.dumps(dict(info), ensure_ascii=False)):
                text = ""  # what would come back as something else: a key that is no text, a tuple, half a character
    require(0 < len(text) <= LONGEST_INFO, "info", allowed, info, InvalidReward)
    return text


def pull_id_of(pull: Pull | str) -> PullId:
    """Which pull is meant."""
    return read_pull_id(pull.id if type(pull) is Pull else pull)


def pairs_of(given: Iterable[Any], what: str, words: str) -> list[tuple[Any, Any]]:
    """Pairs, or an error that says what each of them is."""
    check_many(given, what, f"pairs {words}")
    return [pair_of(each, f"each of {what}", words) for each in given]


def pair_of(given: Any, what: str, words: str) -> tuple[Any, Any]:
    """Both parts of what must be a pair."""
    try:
        first, second = given
    except (TypeError, ValueError):
        raise InvalidSpec(what=what, allowed=f"a pair {words}", given=shorten(given)) from None
    return first, second


# --- names of pulls, and seeds -----------------------------------------------------------------------------------


def new_key() -> str:
    """For a new study."""
    return secrets.token_hex(KEY_BYTES)


def new_token() -> str:
    """For a new pull."""
    return os.urandom(TOKEN_BYTES).hex()  # as `secrets` does, in half the time


def write_pull_id(token: str, number: int, attempt: int) -> str:
    """The name of an attempt at a pull.

    >>> write_pull_id("9f86d081884c7d659a2f", 17, 1), write_pull_id("9f86d081884c7d659a2f", 17, 2)
    ('9f86d081884c7d659a2f-17', '9f86d081884c7d659a2f-17.2')
    """
    return f"{token}-{number}" if attempt == 1 else f"{token}-{number}.{attempt}"


def first_attempt(name: str) -> str:
    """The id of a trial at its first attempt, by which all of its attempts are known."""
    return name.partition(".")[0]


def is_unique(name: str | None) -> TypeGuard[str]:
    """Whether a name is the id of a trial, which no trial of another study has: older ids may be."""
    return name is not None and PATTERN.fullmatch(name) is not None and name.index("-") == 2 * TOKEN_BYTES


def read_pull_id(text: object) -> PullId:
    """What a name says; an error for what is no name of a pull."""
    found = _known_id(text) if isinstance(text, str) else None
    if found is None:
        allowed = f"one that `ask` has given, such as {new_token()}-17"
        raise UnknownPull(what="pull", allowed=allowed, given=shorten(text))
    return found


@lru_cache(maxsize=4096)
def _known_id(text: str) -> PullId | None:
    """Of hundreds of pulls under way a worker says at every exchange that it knows them."""
    found = PATTERN.fullmatch(text)
    if found is None:
        return None
    token, number, attempt = found.groups()
    return PullId(token, int(number), 1 if attempt is None else int(attempt))


def base_seed(seed: int | None, key: str) -> int:
    """What all that is random in a study comes from: its seed, or else its key, which is random."""
    return int(key, 16) if seed is None else seed


def seed_of(base: int, number: int, attempt: int) -> int:
    """The seed of an attempt: looks random, is always the same, and differs between attempts and between pulls.

    Each step maps the numbers of 31 bits one to one. Of the base its lowest 31 bits count.
    """
    mixed = (number + (attempt - 1) * DISTINCT_PULLS + base * 0x9E3779B1) & SEEDS
    mixed = ((mixed ^ (mixed >> 15)) * 0x2C1B3C6D) & SEEDS
    mixed = ((mixed ^ (mixed >> 15)) * 0x297A2D39) & SEEDS
    return mixed ^ (mixed >> 15)
