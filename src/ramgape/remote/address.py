"""Where a server is: an address that is checked at once, and holds nothing secret.

http://host:8460              on this machine, or in a network that is trusted
https://host/base             behind a proxy, perhaps below a path
unix:///run/ramgape.sock      a socket, which has the permissions of a file

`?timeout=SECONDS` at the end bounds each answer, and the time for which a server that is away is worth waiting for.
Default: a minute, and ten minutes for answers that take a server long.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, TypeGuard
from urllib.parse import unquote

from ramgape.errors import StorageError, printable

SCHEMES = ("http", "https", "unix")
FORMS = "http://HOST:PORT, https://HOST or unix:///FILE"
PATIENCE = 60.0  # seconds
LONGEST_PATIENCE = 86_400.0
PORTS = {"http": 80, "https": 443}
HIDDEN = "***"
LONGEST_SOCKET = 107  # bytes of a path, on Linux
NO_SECRETS = (
    "without a user, a password or a token, which others could read: set RAMGAPE_TOKEN instead, or use the file that "
    "`ramgape serve` writes"
)

_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^\s:/?#@\[\]%\\]+))(?::(?P<port>\d{1,5}))?")
_SECRET = re.compile("token|password|passwd|secret|code|key|auth", re.IGNORECASE)  # names of options
_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*")


class Address(NamedTuple):
    """An address taken apart."""

    scheme: str  # one of SCHEMES
    host: str  # without brackets; empty for a socket
    port: int  # 0 for a socket
    path: str  # of the socket, or what stands before /api: empty, or "/base"
    patience: float = PATIENCE  # seconds
    bounded: bool = False  # whether it was given, and holds for every answer

    def __str__(self) -> str:
        """In one form, without what is usual, so that two of the same server are equal."""
        if self.scheme == "unix":
            return f"unix://{printable(self.path)}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def is_remote(url: object) -> TypeGuard[str]:
    """Whether a storage is meant to be on a server.

    >>> is_remote("HTTPS://host"), is_remote("unix:///run/ramgape.sock"), is_remote("sqlite:///file.db")
    (True, True, False)
    """
    return isinstance(url, str) and url.partition("://")[0].lower() in SCHEMES and "://" in url


def parse_address(url: str) -> Address:
    """The parts of an address, or an error that says what one looks like.

    >>> str(parse_address("HTTP://Localhost:80/")), parse_address("https://[::1]:8460/base/?timeout=5")
    ('http://localhost', Address(scheme='https', host='::1', port=8460, path='/base', patience=5.0,
    bounded=True))
    >>> parse_address("http://me:secret@host:8460")
    Traceback (most recent call last):
    ramgape.errors.StorageError: storage must be without a user, a password or a token, which others could read: set
    RAMGAPE_TOKEN instead, or use the file that `ramgape serve` writes, got 'http://***@host:8460'
    """
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    if has_secret(url):
        raise StorageError(what="storage", allowed=NO_SECRETS, given=repr(shown_address(url)))
    place, _, query = rest.partition("?")
    patience, others = take_timeout(query, shown_address(url))
    if others:
        raise StorageError("the address of a server takes no option but timeout", given=repr(shown_address(url)))
    bounded = bool(query)
    if scheme == "unix":
        path = unquote(place)
        if not path.startswith("/") or path.endswith("/") or "\0" in path or len(path.encode()) > LONGEST_SOCKET:
            allowed = f"unix:///FILE, the whole path of a socket, at most {LONGEST_SOCKET} bytes"
            raise StorageError(what="storage", allowed=allowed, given=repr(shown_address(url)))
        return Address(scheme, "", 0, path, patience, bounded)
    host, slash, path = place.partition("/")
    found, path = _HOST.fullmatch(host), f"{slash}{path}".rstrip("/")
    port = int(found["port"] or PORTS[scheme]) if found else 0
    if found is None or not 0 < port < 65_536 or not _PATH.fullmatch(path):
        raise StorageError(what="storage", allowed=FORMS, given=repr(shown_address(url)))
    return Address(scheme, (found["six"] or found["name"]).lower(), port, path, patience, bounded)


def has_secret(url: str) -> bool:
    """Whether an address holds a user, a password or a token.

    >>> has_secret("https://me@host"), has_secret("http://host?code=1"), has_secret("http://host?mode=1")
    (True, True, False)
    """
    place, _, query = url.partition("://")[2].partition("?")
    before_host = "@" in place and not url.lower().startswith("unix:")
    return before_host or any(_SECRET.search(name) for name, _, _ in _options(query))


def address_secrets(url: str) -> tuple[str, ...]:
    """What no message shows: all that stands before the host, and unknown options.

    >>> address_secrets("https://rg_abc@host?token=rg_def&timeout=5"), address_secrets("http://host:8460")
    (('rg_abc', 'rg_def'), ())
    """
    rest = url.partition("://")[2]
    place, _, query = rest.partition("?")
    before = [] if url.lower().startswith("unix:") else [place.rpartition("@")[0]]
    options = [value for name, _, value in _options(query) if name != "timeout"]
    return tuple(filter(None, before + options))


def shown_address(url: str) -> str:
    """An address with its secrets hidden, for messages.

    >>> shown_address("https://rg_abc@host/base?token=rg_def&timeout=5")
    'https://***@host/base?token=***&timeout=5'
    """
    for secret in sorted(address_secrets(url), key=len, reverse=True):
        url = url.replace(secret, HIDDEN)
    return printable(url)


def _options(query: str) -> list[tuple[str, str, str]]:
    return [option.partition("=") for option in query.split("&") if option]


def take_timeout(query: str, shown: str) -> tuple[float, str]:
    """The timeout among the options of an address, and the others.

    Args:
        query: What stands behind the question mark.
        shown: The address, for errors.
    """
    patience, others = PATIENCE, []
    for option in filter(None, query.split("&")):
        name, _, value = option.partition("=")
        if name != "timeout":
            others.append(option)
            continue
        try:
            patience = float(value)
        except ValueError:
            patience = math.nan
        if not 0 <= patience <= LONGEST_PATIENCE:
            allowed = f"a number of seconds from 0 to {LONGEST_PATIENCE:.0f}"
            raise StorageError(what="timeout", allowed=allowed, given=repr(shown))
    return patience, "&".join(others)
