"""The token that is shown to a server: given, or RAMGAPE_TOKEN, or what the server itself has left on this machine.

`ramgape serve` writes {"address": ..., "token": ...} into a file that only its owner can read, a file for each server.
A token from such a file is shown only to the server at that address.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramgape.errors import InvalidSpec, StorageError
from ramgape.remote.address import Address, parse_address

VARIABLE = "RAMGAPE_TOKEN"
LONGEST_TOKEN = 1000  # characters
LARGEST_FILE = 10_000  # bytes
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Credentials(NamedTuple):
    """A token, if there is one, and where it was found, for messages; it never shows itself."""

    token: str | None
    source: str

    def __repr__(self) -> str:
        return f"<a token from {self.source}>" if self.token else "<no token>"


def find_credentials(address: Address, given: str | None = None) -> Credentials:
    """The token for a server."""
    if given is not None:
        return Credentials(check_token(given, "token"), "the argument token")
    if token := os.environ.get(VARIABLE):
        return Credentials(check_token(token, VARIABLE), VARIABLE)
    with suppress(OSError):
        for file in sorted(servers_folder().glob("*.json")):
            if token := _token_in(file, address):
                return Credentials(check_token(token, f"the token in {file}"), str(file))
    return Credentials(None, "")


def check_token(token: object, what: str) -> str:
    """A token that can stand in a header; an error that does not show it."""
    usable = isinstance(token, str) and token.isascii() and token.isprintable() and " " not in token
    if not usable or not 0 < len(str(token)) <= LONGEST_TOKEN:
        allowed = f"1 to {LONGEST_TOKEN:,} printable characters without blanks, as `ramgape token new` shows them"
        raise InvalidSpec(what=what, allowed=allowed, given="something else")
    return str(token)


def servers_folder() -> Path:
    """Where servers leave their addresses and tokens."""
    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(state) / "ramgape" / "servers"


def _token_in(file: Path, address: Address) -> str | None:
    """The token in a file, if it is for that server."""
    with suppress(OSError, ValueError, KeyError, TypeError, StorageError, RecursionError):
        with file.open("rb") as opened:
            found = json.loads(opened.read(LARGEST_FILE))
        if _same(parse_address(found["address"]), address):
            return str(found["token"])
    return None


def _same(one: Address, other: Address) -> bool:
    """Whether two addresses are those of one server: this machine has several names for itself."""
    return _plain(one) == _plain(other)


def _plain(address: Address) -> tuple[object, ...]:
    return (address.scheme, "" if address.host in LOOPBACK else address.host, address.port, address.path)
