"""Where a store is: a URL that is checked at once and can be shown without its password, and the file that it names.

sqlite:///file.db                     a file in the current directory
sqlite:////home/me/file.db            a file anywhere
postgresql://me:secret@host/database  a PostgreSQL database, as libpq reads it; `postgres://` is the same
http://host:8460, https://host/base,
unix:///run/ramgape.sock              a server, `ramgape serve`, which has a store of its own (see `remote.address`)

`?timeout=SECONDS` at the end says how long to wait for others who hold a lock, instead of a minute. Other schemes are
those of stores from outside, which read the rest of their URLs themselves.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from ramgape.errors import StorageError, printable
from ramgape.remote import address

if TYPE_CHECKING:
    from ramgape.storage.protocol import Store

PATIENCE = address.PATIENCE  # seconds to wait for others who hold a lock
HIDDEN = "***"
PRIVATE = 0o600  # permissions of a file that is made: studies are their owner's
LONGEST_PATH = 500  # bytes; SQLite takes 504, or a few thousand, depending on how it was built
FORMS = "sqlite:///FILE, postgresql://USER@HOST/DATABASE or the address of a server, http://HOST:PORT"

# A URL and whatever follows, up to the next one. Of a scheme so many letters are enough: to look for the beginning of
# every word again from each of its letters takes minutes for a very long name.
_URL = re.compile(r"\w[\w+]{0,19}://(?:(?!\w{1,20}://).)+", re.DOTALL)
# Also where libpq's other form, `host=... password=...`, stands in place of a URL.
_QUERY_PASSWORD = re.compile(r"((?:^|[?&\s])[^=&?\s]*password\s*=\s*)([^&]*)", re.IGNORECASE)


class StoreUrl(NamedTuple):
    """A URL taken apart."""

    shown: str  # for messages: no password
    path: Path | None  # of a SQLite file, absolute; None for others
    address: str  # of a PostgreSQL database, as libpq wants it; empty for others
    patience: float  # seconds
    secrets: tuple[str, ...]  # what no message may contain
    opener: Callable[..., Store] | None = None  # of a store from outside: `opener(url, create=...)`


def parse_url(url: str) -> StoreUrl:
    """The parts of a storage URL, or an error that says what one looks like.

    >>> parse_url("mysql://me:secret@host/studies")
    Traceback (most recent call last):
    ramgape.errors.StorageError: storage must be sqlite:///FILE, postgresql://USER@HOST/DATABASE or the address of a
    server, http://HOST:PORT, got 'mysql://me:***@host/studies'
    """
    if not isinstance(url, str):
        raise StorageError(what="storage", allowed=FORMS, given=type(url).__name__)
    scheme, separator, rest = url.partition("://")
    parse = SCHEMES.get(scheme.lower()) if separator else None
    if parse is not None:
        return parse(url, rest)
    from ramgape import registry  # slow to load, and rarely needed here

    others = registry.names("store")
    if not separator or scheme.lower() not in others:
        allowed = FORMS + "".join(f", or {each}://..." for each in others)
        raise StorageError(what="storage", allowed=allowed, given=repr(shown(url)))
    opener = registry.find("store", scheme.lower(), SCHEMES)
    return StoreUrl(shown(url), None, "", PATIENCE, secrets_in(url), opener)


def shown(url: str) -> str:
    """The URL with its passwords hidden, for messages.

    >>> shown("postgresql://me:secret@host/studies?sslpassword=another")
    'postgresql://me:***@host/studies?sslpassword=***'
    """
    if address.is_remote(url):
        return address.shown_address(url)
    span = _password_span(url)
    if span is not None:
        url = f"{url[: span[0]]}{HIDDEN}{url[span[1] :]}"
    return printable(_QUERY_PASSWORD.sub(rf"\g<1>{HIDDEN}", url))


def shown_in(text: str) -> str:
    """Any text, with the passwords of all URLs in it hidden.

    A password may have a blank in it, so that the end of such a URL is unknown: too much is hidden rather than too
    little.

    >>> shown_in("unexpected argument (postgresql://me:secret@host/studies)")
    'unexpected argument (postgresql://me:***@host/studies)'
    >>> shown_in("got 'postgresql://me:my secret@host/studies', which is wrong")
    "got 'postgresql://me:***@host/studies', which is wrong"
    """
    return _URL.sub(_shown_first, text)


def _shown_first(found: re.Match[str]) -> str:
    """A URL and what follows it, with its passwords hidden."""
    text, before = found[0], found.string[max(0, found.start() - 1) : found.start()]
    end = text.rfind(before[-1]) if before.endswith(("'", '"')) and before[-1] in text else len(text)
    stop = min(len(text.split(maxsplit=1)[0]), end)
    if _QUERY_PASSWORD.search(text[:stop]):
        stop = end
    elif "@" in text[stop:end]:
        at = text.rindex("@", stop, end)
        stop = at + len(text[at:end].split(maxsplit=1)[0])
    return shown(text[:stop]) + text[stop:]


def has_password(url: str) -> bool:
    """Whether the URL itself contains a password, or a token, which then should not be written anywhere.

    >>> has_password("postgresql://me@host/studies"), has_password("postgresql://host/studies?password=secret")
    (False, True)
    """
    return address.has_secret(url) if address.is_remote(url) else bool(secrets_in(url))


def anchored(url: str, folder: Path) -> str:
    """The URL with a relative SQLite file taken from a folder, whatever the present one is.

    >>> anchored("sqlite:///studies.db?timeout=5", Path("/home/me")), anchored("sqlite:////tmp/a.db", Path("/home/me"))
    ('sqlite:////home/me/studies.db?timeout=5', 'sqlite:////tmp/a.db')
    """
    if parse_url(url).path is None:
        return url
    name, question, query = url.partition(":///")[2].partition("?")
    return f"sqlite:///{(folder / name).absolute()}{question}{query}"


def secrets_in(url: str) -> tuple[str, ...]:
    """The passwords in a URL, as they are written and as they are meant."""
    if address.is_remote(url):
        return address.address_secrets(url)
    span = _password_span(url)
    written = [url[slice(*span)]] if span else []
    written += [match.group(2) for match in _QUERY_PASSWORD.finditer(url)]
    return tuple(dict.fromkeys(form for text in written for form in (text, unquote(text)) if form))


def scrub(text: str, secrets: tuple[str, ...]) -> str:
    """A message from another library, on one line and without passwords."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return " ".join(text.split())


def _password_span(url: str) -> tuple[int, int] | None:
    """From where to where the password in front of the host stands."""
    start = url.find("://")
    if start < 0:
        return None
    start += 3
    host = re.match(r"[^/?#]*", url[start:])
    stop = start + (host.end() if host else 0)
    end = url.rfind("@", start, stop)
    if end < 0 and not re.search(r":\d*$", url[start:stop]):
        # Not a host with a port: a password with an unescaped slash. No valid URL, but it shall not be seen for that.
        end = url.rfind("@")
    colon = url.find(":", start, min(end, stop)) if end >= start else -1
    return None if colon < 0 else (colon + 1, end)


def _parse_sqlite(url: str, rest: str) -> StoreUrl:
    place, _, query = rest.partition("?")
    patience, others = address.take_timeout(query, shown(url))
    if others:
        raise StorageError("a SQLite store takes no option but timeout", given=repr(shown(url)))
    if not place.startswith("/"):
        allowed = "three slashes before a file, sqlite:///FILE"
        raise StorageError(what="storage", verb="have", allowed=allowed, given=repr(shown(url)))
    name = place[1:]
    if name in ("", ":memory:") or name.startswith("file:"):
        allowed = "a file, so that it outlives the program: sqlite:///FILE"
        raise StorageError(what="a store", allowed=allowed, given=repr(url))
    if "\0" in name:
        raise StorageError(what="the name of a file", allowed="without null characters", given=repr(url))
    return StoreUrl(shown(url), Path(name).absolute(), "", patience, ())


def _parse_postgres(url: str, rest: str) -> StoreUrl:
    if re.search(r"%(?![0-9A-Fa-f]{2})", rest):
        raise StorageError(what="a % in a storage URL", allowed="written as %25", given=repr(shown(url)))
    place, _, query = rest.partition("?")
    patience, others = address.take_timeout(query, shown(url))
    known = f"postgresql://{place}{'?' if others else ''}{others}"
    return StoreUrl(shown(url), None, known, patience, secrets_in(url))


def _parse_server(url: str, rest: str) -> StoreUrl:
    return StoreUrl(shown(url), None, "", address.parse_address(url).patience, (), _no_store)


def _no_store(url: str, create: bool) -> Store:
    """A server has its store to itself; studies are asked for one by one."""
    raise StorageError(what="the store", allowed="on SQLite or PostgreSQL for this", given=shown(url))


SCHEMES: dict[str, Callable[[str, str], StoreUrl]] = {  # of our own stores
    "sqlite": _parse_sqlite,
    "postgresql": _parse_postgres,
    "postgres": _parse_postgres,
    "postgresql+psycopg": _parse_postgres,
    **dict.fromkeys(address.SCHEMES, _parse_server),
}


def store_exists(url: StoreUrl) -> bool:
    """Whether there is such a file. What can never be a store is an error: SQLite would wait for a pipe for ever."""
    assert url.path is not None
    try:
        mode = url.path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StorageError(f"there can be no store at {url.shown}: {error.strerror or error}") from None
    if stat.S_ISDIR(mode):
        raise StorageError(f"there can be no store at {url.shown}: that is a folder")
    if not stat.S_ISREG(mode):
        raise StorageError(f"there can be no store at {url.shown}: that is a pipe or a device, and no file")
    return True


def make_private(url: StoreUrl) -> None:
    """Make the file, empty, before SQLite does, which would let everybody read it.

    What SQLite makes beside it later has the same permissions. If another process is faster, the file is that one's.
    """
    assert url.path is not None
    path = Path(os.path.realpath(url.path))
    if not path.parent.is_dir():
        raise StorageError(f"there can be no store at {url.shown}: no such folder")
    if len(os.fsencode(path)) > LONGEST_PATH:
        allowed = f"a path of at most {LONGEST_PATH} bytes"
        raise StorageError(what="the file of a store", verb="have", allowed=allowed, given=url.shown)
    try:
        Path(f"{path}-journal").exists()  # SQLite's own, whose name may be too long where this one's is not
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    except OSError as error:
        raise StorageError(f"there can be no store at {url.shown}: {error.strerror or error}") from None
