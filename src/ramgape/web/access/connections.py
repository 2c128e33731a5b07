"""The connections of a server: who holds them, and which is closed when there are too many.

A connection belongs to its address until a request on it has shown a token, and to that token from then on. Each
address and each token has a share. Beyond it, the owner's oldest connection is closed: of a token one that rests, of an
address any. When all connections together are too many, the owner with the most pays. So a client that opens thousands
closes its own. A proxy, which speaks for many, has no share.
"""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

from ramgape.web.access.hosts import Hosts
from ramgape.web.access.limits import Bucket
from ramgape.web.access.packet_filter import drop_new, drop_none
from ramgape.web.errors import TooMany

STRANGERS = 256  # connections of an address that has shown no token
NEW = 50.0  # connections of one address a second
TOKEN_SHARE = 0.25  # of all connections, for one token
UNKNOWN_AT_MOST = 10.0  # seconds that a connection may last without a token
UNKNOWN_RESTS = 5.0  # seconds between two requests on such a connection
RESERVED = 512  # open files for stores and all else
COME_AGAIN = 1.0  # seconds
AT_ONCE = 16  # connections that are let in before requests are served: more would keep these waiting
REFUSED_AT_ONCE = 100  # connections that are refused before requests are served: the address is a flood's
READING, READ_AT_ONCE = (
    100.0,
    500.0,
)  # ms of processor time a second to read what an owner sends; and before that counts
PACKET = 0.02  # ms that a packet takes around what reads it
PAUSE = 0.005  # seconds without new connections after one was refused: together, refusals cost less
SHUT_OUT = 1.0  # seconds for which an address gets no new connection that had so many refused
FULL = 0.1  # seconds until it is tried again to accept one, when there are too many open files


class ClientConnection:
    """One of them.

    Attributes:
        owner: To whom it belongs.
        stranger: Whether it has shown no token.
        works: Whether it has shown a token that may do more than read, or is a proxy's: then reading from it is free.
        proxied: Whether a proxy made it, for others.
        entering: What lets it in; a handshake may take a while.
        protocol: What reads requests from it; None before that.
    """

    __slots__ = ("_all", "entering", "owner", "protocol", "proxied", "stranger", "works")

    def __init__(self, owner: str, proxied: bool, all_of_them: Connections) -> None:
        self.owner, self.proxied, self._all = owner, proxied, all_of_them
        self.stranger, self.works = not proxied, proxied
        self.entering: asyncio.Task[None] | None = None
        self.protocol: Any = None

    def may_be_closed(self) -> bool:
        """Whether nothing is lost by it that a client would miss."""
        cycle = None if self.protocol is None else self.protocol.cycle
        return self.stranger or cycle is None or cycle.response_complete

    def is_gone(self) -> bool:
        """Whether the client has closed it before its request was answered."""
        cycle = None if self.protocol is None else self.protocol.cycle
        return cycle is not None and cycle.disconnected

    def abort(self) -> None:
        """Close it now."""
        if self.protocol is not None:
            self.protocol.transport.abort()
        elif self.entering is not None:
            self.entering.cancel()

    def belongs_to(self, token: str, works: bool) -> None:
        """Note that a request has shown a token; an error if that has too many connections already.

        Args:
            token: Which one.
            works: Whether it may do more than read. Then its new connections are no concern of the address: a shell
                opens one for each command.
        """
        if self.proxied or self.owner == token:
            return
        if works and self.stranger:
            self._all.new.add(self.owner, 1.0)
        self.works = works
        self._all.hand_over(self, token)

    def charge(self, seconds: float) -> bool:
        """Charge the owner with processor time that reading has taken; False if that is too much.

        A packet may have a byte, or 50,000 headers or parts of a body: no limit on bytes bounds what reading it takes.
        """
        if self.works:
            return True
        reading = self._all.reading
        reading.add(self.owner, -1000.0 * seconds - PACKET)
        return not reading.is_empty(self.owner)


class Connections:
    """All connections of a server, by owner, the oldest first.

    Args:
        hosts: Tells addresses from proxies.
        most: How many there may be.
        keep_alive: Seconds that one may rest which has shown a token.
    """

    def __init__(self, hosts: Hosts, most: int, keep_alive: float) -> None:
        self._hosts, self.most, self.keep_alive = hosts, most, keep_alive
        self._by_owner: dict[str, dict[ClientConnection, None]] = {}
        self.new, self.reading = Bucket(NEW), Bucket(READING, burst=READ_AT_ONCE)
        self.count = 0

    def admit(self, address: object) -> ClientConnection | None:
        """A new connection from an address, if there is room for it."""
        peer = address if isinstance(address, tuple) else None  # of a Unix socket, a path
        proxied = self._hosts.is_proxy(peer)
        owner = "proxy" if proxied else f"address {self._hosts.address_of(peer, {})}"
        if not proxied:
            if self.reading.is_empty(owner) or self.new.is_empty(owner):
                return None
            self.new.add(owner, -1.0)
        if not self._make_room(owner, math.inf if proxied else STRANGERS):
            return None
        made = ClientConnection(owner, proxied, self)
        self._add(made)
        return made

    def hand_over(self, connection: ClientConnection, token: str) -> None:
        """Give a connection to a token."""
        self.remove(connection)
        fits = self._make_room(token, max(TOKEN_SHARE * self.most, 1.0))
        if fits:
            connection.owner, connection.stranger = token, False
            connection.protocol.timeout_keep_alive = self.keep_alive
        self._add(connection)
        if not fits:
            held = len(self._by_owner[token])
            raise TooMany(f"this token has {held} connections, as many as are allowed", retry_after=COME_AGAIN)

    def remove(self, connection: ClientConnection) -> None:
        """Forget one that is closed, or about to be."""
        held = self._by_owner.get(connection.owner, {})
        if connection in held:
            del held[connection]
            self.count -= 1
            if not held:
                del self._by_owner[connection.owner]

    def _add(self, connection: ClientConnection) -> None:
        self._by_owner.setdefault(connection.owner, {})[connection] = None
        self.count += 1

    def _make_room(self, owner: str, share: float) -> bool:
        """Close connections until one more fits; False if none can be closed."""
        if len(self._by_owner.get(owner, ())) >= share and not self._close_one(self._by_owner[owner]):
            return False
        return self.count < self.most or self._close_one(max(self._by_owner.values(), key=len))

    def _close_one(self, held: dict[ClientConnection, None]) -> bool:
        found = next((each for each in held if each.may_be_closed()), None)
        if found is None:
            return False
        self.remove(found)
        found.abort()
        return True


class Listener:
    """Takes connections off a socket. One without room is closed before anything is spent on it, TLS included.

    While some are refused, it looks for new ones every 5 ms, since many refusals at once cost less than each by itself.
    If 100 have come by then, the kernel drops new connections of that address for a second. So a flood of connections
    takes little of the time of those who are in, and others find room in the queue.

    Args:
        listening: The socket.
        connections: Those there are.
        make: Makes the protocol for one.
        tls: The context of TLS, if it is spoken.
        patience: Seconds for the handshake.
    """

    def __init__(
        self,
        listening: socket.socket,
        connections: Connections,
        make: Callable[[ClientConnection], Any],
        tls: Any,
        patience: float,
    ) -> None:
        listening.setblocking(False)
        self._listening, self._connections, self._make, self._tls = listening, connections, make, tls
        self._handshake: dict[str, float] = {} if tls is None else {"ssl_handshake_timeout": patience}
        self._open_again: asyncio.TimerHandle | None = None
        self._accepting = asyncio.ensure_future(self._accept())

    def close(self) -> None:
        """Take no more."""
        self._accepting.cancel()
        if self._open_again is not None:
            self._open_again.cancel()

    async def wait_closed(self) -> None:
        """Wait until none is taken any more."""
        await asyncio.wait((self._accepting,))

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            let_in = refused = 0
            try:
                taken, address = await loop.sock_accept(self._listening)
                while True:
                    if self._take(taken, address):
                        let_in += 1
                    else:
                        refused += 1
                    if refused >= REFUSED_AT_ONCE:
                        self._shut_out(address)
                    if let_in >= AT_ONCE or refused >= REFUSED_AT_ONCE:
                        break
                    taken, address = self._listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                pass
            except OSError:  # too many open files: some are closed soon
                await asyncio.sleep(FULL)
            waits = refused and self._open_again is None  # of a flood that is shut out, no more come
            await asyncio.sleep(PAUSE if waits else 0.0)  # for those who are in already

    def _shut_out(self, address: tuple[str, int]) -> None:
        """Let the kernel drop new connections of an address for a while, where it can."""
        if self._open_again is None and drop_new(self._listening, address[0]):
            self._open_again = asyncio.get_running_loop().call_later(SHUT_OUT, self._shut_out_none)

    def _shut_out_none(self) -> None:
        self._open_again = None
        drop_none(self._listening)

    def _take(self, taken: socket.socket, address: object) -> bool:
        """Let a connection in, or close it."""
        connection = self._connections.admit(address)
        if connection is None:
            taken.close()
            return False
        connection.entering = asyncio.ensure_future(self._enter(connection, taken))
        return True

    async def _enter(self, connection: ClientConnection, taken: socket.socket) -> None:
        taken.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            make = partial(self._make, connection)
            await loop.connect_accepted_socket(make, taken, ssl=self._tls, **self._handshake)
        except (OSError, asyncio.CancelledError):  # the client has gone, or speaks no TLS, or there are too many
            self._connections.remove(connection)
            taken.close()
