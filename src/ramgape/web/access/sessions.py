"""How a browser gets in: a code for one login, or a token, becomes a session.

The browser only looks: whatever it came in with, a session has the role read. So a page of another site that makes the
browser send something changes nothing.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass

from ramgape.web.access.limits import Bucket, Settings
from ramgape.web.access.roles import Access
from ramgape.web.access.token_file import digest_of
from ramgape.web.access.tokens import OWN, Clocks, Tokens
from ramgape.web.errors import Unauthorized

CODE_BYTES, SESSION_BYTES = 18, 32
MOST_CODES, MOST_SESSIONS = 20, 10_000  # of more the oldest go


@dataclass(frozen=True)
class Session:
    """A browser that is logged in.

    Attributes:
        access: What it may look at.
        token: The id of the token that it came in with; when that ends or is revoked, so does the session.
        ends: When it ends in any case, in seconds of the machine's clock.
    """

    access: Access
    token: str
    ends: float


class Logins:
    """Codes and sessions, in memory: a server that starts again knows none of them."""

    def __init__(self, tokens: Tokens, settings: Settings, clocks: Clocks | None = None) -> None:
        self._tokens, self._settings, self._clocks = tokens, settings, clocks or Clocks()
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}  # by their digests: when they end
        self._sessions: dict[str, Session] = {}  # likewise
        most = settings.max_logins
        self.failures = Bucket(most / 60.0, self._clocks.machine, most, "{burst:g} logins have failed within a minute")

    def new_code(self) -> str:
        """A code for one login, soon; it stands for the owner of the server."""
        code = secrets.token_urlsafe(CODE_BYTES)
        with self._lock:
            while len(self._codes) >= MOST_CODES:
                del self._codes[next(iter(self._codes))]
            self._codes[digest_of(code.encode())] = self._clocks.machine() + 60.0 * self._settings.login_minutes
        return code

    def log_in(self, address: str, *, code: str | None = None, token: str | None = None) -> tuple[str, Session]:
        """The id of a new session, and the session, for a code or a token.

        Raises:
            Unauthorized: It is not valid, or no longer.
            TooMany: Too many logins from that address have failed.
        """
        self.failures.check(address)
        entered = self._enter_by_code(code) if code is not None else self._enter_by_token(token or "")
        if entered is None:
            self.failures.add(address, -1.0)
            what = "this login link has been used, or is too old" if code is not None else "this token is not valid"
            raise Unauthorized(what)
        access, origin = entered
        session = Session(access.only_reading(), origin, self._clocks.machine() + 3600.0 * self._settings.session_hours)
        made = secrets.token_urlsafe(SESSION_BYTES)
        with self._lock:
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[digest_of(made.encode())] = session
        return made, session

    def _enter_by_code(self, code: str) -> tuple[Access, str] | None:
        with self._lock:
            ends = self._codes.pop(digest_of(code.encode("utf-8", "replace")), None)
        return None if ends is None or self._clocks.machine() >= ends else (Access("browser", "read"), OWN)

    def _enter_by_token(self, secret: str) -> tuple[Access, str] | None:
        found = self._tokens.find(secret.strip().encode("utf-8", "replace"))
        if found is None or not self._tokens.is_valid(found.id):
            return None
        return Access(f"browser of {found.name}", found.role, found.studies), found.id

    def find(self, session: bytes) -> Session | None:
        """A session by its id, if it lasts."""
        digest = digest_of(session)
        found = self._sessions.get(digest)
        if found is None:
            return None
        if self._clocks.machine() >= found.ends or not self._tokens.is_valid(found.token):
            self._sessions.pop(digest, None)
            return None
        return found

    def log_out(self, session: bytes) -> None:
        """End a session."""
        self._sessions.pop(digest_of(session), None)
