"""Whom a request is for, and whom it comes from: names of this server, origins of its pages, addresses behind a proxy.

A page of another site can make a browser ask this server, also by a name of its own that suddenly means 127.0.0.1
("DNS rebinding"). Then Host has that name. So Host must be a name of ours, on every request, before anything else.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ramgape.errors import InvalidSpec

PORTS = {"http": 80, "https": 443}
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?")
_PUBLIC = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?((?:/[\w.~-]+)*)/?", re.IGNORECASE)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class PublicUrl(NamedTuple):
    """The address of a server as others see it, through a proxy."""

    scheme: str
    host: str  # as it stands in Host: with the port, unless that is the usual one
    base: str  # the path before /api, perhaps empty

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}{self.base}"


def parse_public_url(url: str) -> PublicUrl:
    """The parts of such an address.

    >>> str(parse_public_url("https://Ramgape.Example.org:443/studies/"))
    'https://ramgape.example.org/studies'
    """
    found = _PUBLIC.fullmatch(url)
    if found is None:
        allowed = "https://HOST[:PORT][/PATH]"
        raise InvalidSpec(what="public-url", allowed=allowed, given=repr(url))
    scheme = found[1].lower()
    port = "" if not found[3] or int(found[3]) == PORTS[scheme] else f":{found[3]}"
    return PublicUrl(scheme, found[2].lower() + port, found[4])


class Hosts:
    """The names of a server."""

    def __init__(
        self,
        *,
        port: int | None,
        bound: str | None = None,
        tls: bool = False,
        public_url: PublicUrl | None = None,
        allowed: Sequence[str] = (),
        proxies: Sequence[str] = (),
    ) -> None:
        """What is ours.

        Args:
            port: The port that it listens at; None for a Unix socket, where a Host has none.
            bound: The address that it listens at; None for a Unix socket.
            tls: Whether it speaks TLS itself.
            public_url: Where a proxy before it is.
            allowed: Other names, with or without a port.
            proxies: Addresses and networks whose X-Forwarded-For is believed; with a public URL this machine's too.
        """
        self.scheme, self.public_url = ("https" if tls else "http"), public_url
        self.cookie = f"ramgape-{port or 'unix'}".encode()
        names = [*THIS_MACHINE, *([bracketed(bound)] if bound and not is_any(bound) else ())]
        self._names = {written for name in names for written in self._written(name, port)}
        for given in allowed:
            found = _HOST.fullmatch(given.lower())
            if found is None:
                raise InvalidSpec(what="allow-host", allowed="NAME or NAME:PORT", given=repr(given))
            self._names |= {given.lower().encode()} | (set() if found[2] else self._written(found[1], port))
        if public_url is not None:
            self._names.add(public_url.host.encode())
        self._everywhere = bound is not None and is_any(bound)
        self._proxies = [parse_network(each) for each in proxies]
        self._behind = public_url is not None or bool(proxies)

    def _written(self, name: str, port: int | None) -> set[bytes]:
        """A name as browsers and programs write it: the usual port is left out."""
        if port is None:
            return {name.encode()}
        return {f"{name}:{port}".encode()} | ({name.encode()} if port == PORTS[self.scheme] else set())

    def is_ours(self, host: bytes, server: Sequence[object] | None = None) -> bool:
        """Whether a Host is a name of this server.

        Args:
            host: As it came.
            server: The address and port that the connection was made to. If it listens at all addresses of a machine,
                that one is a name too: no one can make an address in numbers mean another.
        """
        if host in self._names or host.lower() in self._names:
            return True
        if not self._everywhere or not server:
            return False
        own = bracketed(str(server[0]).removeprefix("::ffff:"))
        return host.lower() == f"{own}:{server[1]}".encode()

    def is_our_page(self, origin: bytes, host: bytes) -> bool:
        """Whether an Origin is that of our own pages: the one that was asked, or the public one."""
        own = b"%s://%s" % (self.scheme.encode(), host.lower())
        return origin == own or (self.public_url is not None and origin == self._public_origin)

    @property
    def _public_origin(self) -> bytes:
        assert self.public_url is not None
        return f"{self.public_url.scheme}://{self.public_url.host}".encode()

    def is_secure(self, host: bytes) -> bool:
        """Whether the browser that asked spoke TLS, with us or with the proxy."""
        if self.scheme == "https":
            return True
        public = self.public_url
        return public is not None and public.scheme == "https" and host.lower() == public.host.encode()

    def address_of(self, client: Sequence[object] | None, headers: Mapping[bytes, bytes]) -> str:
        """Who asks, for what is counted by address; an IPv6 network counts as one, since its owner has 2^64.

        Of X-Forwarded-For only what a trusted proxy has added is believed, the last entry that is no such proxy itself:
        the others are whatever the client wrote there.
        """
        peer = str(client[0]) if client else ""
        if self._behind and self._is_proxy(peer):
            for each in reversed(headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")):
                if each.strip() and (not self._is_proxy(each.strip())):
                    peer = each.strip()
                    break
        return _counted(peer)

    def is_proxy(self, client: Sequence[object] | None) -> bool:
        """Whether a connection is that of a proxy, which speaks for others."""
        peer = str(client[0]) if client else ""
        return not peer or (self._behind and self._is_proxy(peer))

    def _is_proxy(self, peer: str) -> bool:
        if not peer:
            return True  # a Unix socket: only a proxy may write to it
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        own = self.public_url is not None and address.is_loopback
        return own or any(address in network for network in self._proxies)


def _counted(peer: str) -> str:
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return peer[:64] or "unix"
    if isinstance(address, ipaddress.IPv4Address):
        return peer
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False).network_address)


def bracketed(address: str) -> str:
    """An address as it stands before a port."""
    return f"[{address}]" if ":" in address else address


def is_any(address: str) -> bool:
    """Whether to listen at an address means to listen at all of them; it is no name."""
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def parse_network(text: str) -> Network:
    """An address, or a network."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise InvalidSpec(what="trust-proxy", allowed="an IP address or a network", given=repr(text)) from None
