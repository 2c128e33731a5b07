"""The tokens of a server that is running: found at once, and read again when the file has changed."""

from __future__ import annotations

import hmac
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ramgape.errors import StorageError
from ramgape.web.access.limits import Clock
from ramgape.web.access.roles import EVERYTHING
from ramgape.web.access.token_file import Token, TokenFile, digest_of

LOOK_AGAIN = 0.25  # seconds: so long at most is a token good that another process has revoked
WRITE_USES = 60.0  # seconds between two notes of when a token was used
OWN = "server"  # the id of the server's own token; no other has it, since others have 8 digits


@dataclass(frozen=True)
class Clocks:
    """What the time is: of the day, for expiry; and of the machine, for what happens now and then."""

    wall: Clock = time.time
    machine: Clock = time.monotonic


class Tokens:
    """The tokens in a file, and the server's own."""

    def __init__(
        self,
        file: TokenFile,
        own: str,
        clocks: Clocks | None = None,
        complain: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Read the file; an error if it is none of tokens.

        Args:
            file: Where they are kept.
            own: The server's own, of the role admin.
            clocks: Other clocks, for tests.
            complain: Told when the file cannot be read any longer: then only the server's own token is valid.
        """
        self.file, self._clocks, self._complain = file, clocks or Clocks(), complain
        self._own = Token(OWN, OWN, "admin", EVERYTHING, self._clocks.wall(), None, None, digest_of(own.encode()))
        self._lock = threading.Lock()  # the file is written in another thread than requests are served in
        self._uses: dict[str, float] = {}
        self._written = -math.inf
        self._looked = self._clocks.machine()
        self._stamp = file.stamp()
        self._take(file.read())

    def find(self, secret: bytes) -> Token | None:
        """The token, if there is one; it may have ended."""
        self._look()
        digest = digest_of(secret)
        token = self._by_digest.get(digest)
        # The table is searched by a digest, so the time it takes tells nothing about a token; the comparison takes the
        # same time for every digest.
        return token if token is not None and hmac.compare_digest(token.digest, digest) else None

    def is_valid(self, token: str) -> bool:
        """Whether a token, by its id, is neither revoked nor ended."""
        self._look()
        found = self._by_id.get(token)
        return found is not None and not found.has_ended(self._clocks.wall())

    def note_use(self, token: Token) -> bool:
        """Remember that a token is used; whether it is time to write that down."""
        if token.id == OWN:
            return False
        with self._lock:
            self._uses[token.id] = self._clocks.wall()
        now = self._clocks.machine()
        if now - self._written < WRITE_USES:
            return False
        self._written = now
        return True

    def write_uses(self) -> None:
        """Write down when tokens were used; it takes a while, and is best done in another thread."""
        with self._lock:
            uses, self._uses = self._uses, {}
        if uses:
            try:
                self.file.note_uses(uses)
            except StorageError as error:
                self._complain(str(error))

    def look(self) -> None:
        """Read the file now, since it has been changed here."""
        self._looked = -math.inf
        self._look()

    def _look(self) -> None:
        """Read the file again if it is another one than it was."""
        now = self._clocks.machine()
        if now - self._looked < LOOK_AGAIN:
            return
        self._looked = now
        stamp = self.file.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._take(self.file.read())
        except StorageError as error:
            self._take({})
            self._complain(f"{error}; until then only the server's own token is valid")

    def _take(self, tokens: dict[str, Token]) -> None:
        self._by_id = {**tokens, OWN: self._own}
        self._by_digest = {each.digest: each for each in self._by_id.values()}
