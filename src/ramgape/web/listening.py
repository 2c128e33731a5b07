"""Where a server listens, and who can reach it there.

Only this machine can reach a server, unless what goes over the network is encrypted, by the server itself or by a proxy
before it, or you say in full that it need not be.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ramgape.common.checks import whole
from ramgape.errors import InvalidSpec, require
from ramgape.web.access.hosts import PublicUrl, bracketed, is_any
from ramgape.web.access.limits import setting

PORT = 8460
BACKLOG = 4096  # connections that wait to be accepted
LONGEST_SOCKET = 107  # bytes of a path, on Linux


UNIX = "Instead of host and port: the path of a Unix socket, for its owner alone."
PUBLIC = "Where a proxy before the server is reached. With https, the server may listen at any address."
INSECURE = "Let other machines in although nothing is encrypted: everybody on the way can read tokens and rewards."
PROXY = "A proxy or network whose X-Forwarded-For is believed. With --public-url, this machine is. May be repeated."


@dataclass(frozen=True)
class Place:
    """Where a server listens, and how it is reached."""

    host: str = setting("127.0.0.1", "An address of this machine.", "ADDRESS")
    port: int = setting(PORT, "0: any that is free.", "PORT")
    unix: str | None = setting(None, UNIX, "PATH")
    tls_cert: str | None = setting(None, "The certificate, to speak TLS.", "FILE")
    tls_key: str | None = setting(None, "Its key.", "FILE")
    public_url: str | None = setting(None, PUBLIC, "URL")
    allow_hosts: Sequence[str] = setting((), "Another name of this server. May be repeated.", "NAME", flag="allow-host")
    trust_proxies: Sequence[str] = setting((), PROXY, "ADDRESS", flag="trust-proxy")
    insecure: bool = setting(False, INSECURE)

    @property
    def tls(self) -> bool:
        """Whether it speaks TLS itself."""
        return self.tls_cert is not None


def listen(place: Place, public: PublicUrl | None) -> socket.socket:
    """A socket at an address, which strangers reach only if what they say is encrypted."""
    allowed = "a whole number from 0 to 65535"
    port = whole(place.port, "port", allowed, 0)
    require(port <= 65_535, "port", allowed, port)
    try:
        found = socket.getaddrinfo(place.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidSpec(what="host", allowed="an address of this machine", given=repr(place.host)) from None
    family, _, _, _, address = sorted(found, key=lambda each: each[0] != socket.AF_INET)[0]
    private = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    proxied = public is not None and public.scheme == "https"
    if not (private or place.tls or proxied or place.insecure):
        allowed = (
            "an address that only this machine reaches (127.0.0.1, ::1), or a Unix socket (--unix). For others give "
            "--tls-cert and --tls-key, or --public-url https://... if a proxy encrypts, or --insecure if tokens and "
            "rewards may be read on the way"
        )
        raise InvalidSpec(what="host", allowed=allowed, given=repr(place.host))
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two servers have one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        where = f"{bracketed(place.host)}:{place.port}"
        if error.errno == errno.EADDRINUSE:
            message = f"another program listens at {where}: stop it, or give another --port (0: any that is free)"
        else:
            message = f"cannot listen at {where}: {error.strerror or error}"
        raise InvalidSpec(message) from None
    return made


def listen_at_path(path: str) -> socket.socket:
    """A Unix socket for its owner alone, in place of one without a listener."""
    require(hasattr(socket, "AF_UNIX"), "unix", "absent on this system", path)
    usable = bool(path) and "\0" not in path and len(os.fsencode(path)) <= LONGEST_SOCKET
    require(usable, "unix", f"a path of 1 to {LONGEST_SOCKET} bytes", path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        remove_stale(path)
        mask = os.umask(0o177)  # so that there is no moment at which others could connect
        try:
            made.bind(path)
        finally:
            os.umask(mask)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise InvalidSpec(f"cannot listen at {path}: {error.strerror or error}") from None
    except InvalidSpec:
        made.close()
        raise
    return made


def remove_stale(path: str) -> None:
    """Remove a socket that was left behind; what is anything else stays."""
    try:
        kind = Path(path).lstat().st_mode
    except FileNotFoundError:
        return
    require(stat.S_ISSOCK(kind), "unix", "the path of a socket, or of nothing yet", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.settimeout(1.0)
        try:
            trial.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
            return
    raise InvalidSpec(f"another server listens at {path}: stop it, or give another path")


def release(made: socket.socket, place: Place) -> None:
    """Listen no longer, and leave no path behind; one that another server has taken since then stays."""
    made.close()
    if place.unix is not None:
        with suppress(OSError, InvalidSpec):
            remove_stale(place.unix)


def own_address(place: Place, port: int | None) -> str:
    """Where programs on this machine reach the server."""
    if place.unix is not None:
        return f"unix://{Path(place.unix).absolute()}"
    host = place.host
    if is_any(host):
        host = "::1" if ":" in host else "127.0.0.1"
    return f"{'https' if place.tls else 'http'}://{bracketed(host)}:{port}"


def is_name(host: str) -> bool:
    """Whether it is no address in numbers."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False
