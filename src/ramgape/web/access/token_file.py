"""The file of a server's tokens: who may do what, until when. A token itself stands nowhere, only its SHA-256.

The file is for its owner alone, and is replaced as a whole under a lock, so that a server and any number of commands
can change it at the same time.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ramgape.common.checks import as_float, check_text
from ramgape.common.file_lock import file_lock
from ramgape.common.files import read_whole
from ramgape.common.whole_files import replacing
from ramgape.errors import StorageError, StorageUnavailable, UnknownName, known_name, require
from ramgape.web.access.roles import EVERYTHING, ROLES, Access

PREFIX = "rg_"
SECRET_BYTES = 32
LARGEST_FILE = 16 * 2**20  # bytes
LOCK_PATIENCE = 5.0  # seconds; a change of the file takes much less
DAY = 86_400.0
DEFAULT_DAYS = 90
MOST_DAYS = 36_500
MOST_PATTERNS = 100
VERSION = 1
_FORM = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


@dataclass(frozen=True)
class Token:
    """What is kept of a token.

    Attributes:
        id: What it is called when it is revoked.
        name: Who has it.
        role: What it may do, one of `ROLES`.
        studies: Patterns of the names of studies that it is for.
        created: When it was made, in seconds of the clock.
        expires: When it ends; None: never.
        last_used: When it was last used, to the minute; None: never.
        digest: The SHA-256 of the token, in hexadecimal digits.
    """

    id: str
    name: str
    role: str
    studies: tuple[str, ...]
    created: float
    expires: float | None
    last_used: float | None
    digest: str

    @property
    def access(self) -> Access:
        """What it allows."""
        return Access(self.name, self.role, self.studies)

    def has_ended(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and now >= self.expires

    def to_dict(self) -> dict[str, Any]:
        """All but the digest, with moments as text."""
        return {
            "id": self.id,
            "name": self.name,
            "role": self.role,
            "studies": list(self.studies),
            "created": write_moment(self.created),
            "expires": write_moment(self.expires),
            "last_used": write_moment(self.last_used),
        }


def new_secret() -> str:
    """Make a new token."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: bytes) -> str:
    """What is kept of a secret. It has 256 random bits, so that neither salt nor a slow hash would add anything."""
    return hashlib.sha256(secret).hexdigest()


def is_secret(text: object) -> bool:
    """Whether something has the form of a token."""
    return isinstance(text, str) and _FORM.fullmatch(text) is not None


class TokenFile:
    """The tokens in a file, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stamp(self) -> tuple[int, int, int] | None:
        """What changes when the file is replaced; None while there is none to be seen."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def read(self) -> dict[str, Token]:
        """All tokens by their ids; an error if the file is not one of tokens."""
        try:
            content = read_whole(self.path, LARGEST_FILE)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"the tokens in {self.path} cannot be read: {error.strerror or error}") from None
        try:
            kept = json.loads(content)
            if kept["version"] != VERSION:
                raise ValueError
            return {row["id"]: _token(row) for row in kept["tokens"]}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f"{self.path} is no file of tokens, or is damaged: correct it, or remove it with all tokens in it"
            raise StorageError(message) from None

    @contextmanager
    def changing(self) -> Iterator[dict[str, Token]]:
        """All tokens, to be changed: what is in the dictionary at the end is in the file afterwards."""
        private_folder(self.path.parent)
        with self._locked():
            tokens = self.read()
            before = dict(tokens)
            yield tokens
            if tokens != before:
                kept = [each.to_dict() | {"sha256": each.digest} for each in tokens.values()]
                write_private(self.path, {"version": VERSION, "tokens": kept})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self.path.with_name(f"{self.path.name}.lock")
        with ExitStack() as held:
            try:
                held.enter_context(file_lock(lock, LOCK_PATIENCE))
            except TimeoutError:
                message = (
                    f"{self.path} is locked by another process, and was for {LOCK_PATIENCE:g} s: try again, or end "
                    f"the process that holds {lock}"
                )
                raise StorageUnavailable(message) from None
            except OSError as error:
                raise StorageError(f"{lock} cannot be made: {error.strerror or error}") from None
            yield

    def add(
        self, role: str, studies: Sequence[str] = EVERYTHING, days: float | None = None, name: str | None = None
    ) -> tuple[Token, str]:
        """A new token, and its secret, which is to be had only now.

        Args:
            role: One of `ROLES`.
            studies: Patterns of the names of studies.
            days: How long it is valid; None: for ever.
            name: Who will have it. Default: its role and its id.
        """
        known_name(role, ROLES, "role")
        require(0 < len(studies) <= MOST_PATTERNS, "studies", f"1 to {MOST_PATTERNS} patterns of names", studies)
        patterns = tuple(check_text(each, "a pattern of names of studies") for each in studies)
        lasting = days is None or 0.0 < as_float(days) <= MOST_DAYS
        require(lasting, "days", f"a number above 0 and at most {MOST_DAYS:,}", days)
        if name is not None:
            check_text(name, "name")
        secret, now = new_secret(), float(round(time.time()))  # the file has whole seconds
        with self.changing() as tokens:
            made = secrets.token_hex(4)
            while made in tokens:
                made = secrets.token_hex(4)
            expires = None if days is None else now + math.ceil(days * DAY)
            digest = digest_of(secret.encode())
            tokens[made] = Token(made, name or f"{role}-{made}", role, patterns, now, expires, None, digest)
        return tokens[made], secret

    def revoke(self, wanted: str) -> Token:
        """Take a token back, from now on."""
        with self.changing() as tokens:
            if wanted not in tokens:
                raise UnknownName(what="the id of a token", allowed="one of `ramgape token list`", given=repr(wanted))
            return tokens.pop(wanted)

    def note_uses(self, uses: dict[str, float]) -> None:
        """Write down when tokens were used; of those that are still there."""
        with self.changing() as tokens:
            for used, moment in uses.items():
                if used in tokens and moment > (tokens[used].last_used or 0.0):
                    tokens[used] = replace(tokens[used], last_used=moment)


def _token(row: dict[str, Any]) -> Token:
    """A token as it stands in the file; an error for anything that could be read in two ways."""
    texts = [row["id"], row["name"], row["sha256"], *row["studies"]]
    digest = re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
    if row["role"] not in ROLES or not all(isinstance(each, str) for each in texts) or digest is None:
        raise ValueError
    created, expires, used = (read_moment(row[name]) for name in ("created", "expires", "last_used"))
    if created is None:
        raise ValueError
    studies = tuple(row["studies"])
    return Token(row["id"], row["name"], row["role"], studies, created, expires, used, row["sha256"])


def write_moment(seconds: float | None) -> str | None:
    """A moment in universal time, to the second."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def read_moment(text: str | None) -> float | None:
    """What `write_moment` wrote."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def private_folder(folder: Path) -> None:
    """A folder for its owner alone, if it is not there yet."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"the folder {folder} cannot be made: {error.strerror or error}") from None


def write_private(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file that no other user can read at any moment."""
    try:
        with replacing(path, mode=0o600) as part:
            if os.name != "nt":
                part.chmod(0o600)  # also where one with other permissions was there
            part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from None
