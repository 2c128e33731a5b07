"""From options to a server that runs: its place, its tokens, the middleware before the application, its end."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ramgape.errors import MissingExtra, require
from ramgape.web.access.hosts import Hosts, PublicUrl, parse_public_url
from ramgape.web.access.limits import Settings, setting
from ramgape.web.access.middleware import AccessContext, AccessMiddleware
from ramgape.web.access.own_token import default_tokens, own_token, server_file
from ramgape.web.access.sessions import Logins
from ramgape.web.access.token_file import TokenFile
from ramgape.web.access.tokens import Tokens
from ramgape.web.listening import Place, is_name, listen, listen_at_path, own_address, release
from ramgape.web.logs import Log, ToLog

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp


# Seconds for which a thread that computes keeps the interpreter. A transaction gives it up at each statement, and would
# wait for so long, 5 ms by default, behind every report that is being made: 1 exchange a second instead of 300.
TURN = 0.0002

TOKENS = "The file of tokens (ramgape token). Default: ramgape/tokens.json in XDG_STATE_HOME, or ~/.local/state."


@dataclass(frozen=True)
class ServerOptions:
    """How a server serves: who may come in, the limits, and where it writes."""

    tokens: str | None = setting(None, TOKENS, "FILE")
    read_only: bool = setting(False, "Allow no changes, whatever the token.")
    open_metrics: bool = setting(False, "Show /metrics without a token.")
    settings: Settings = field(default_factory=Settings)
    log: Log = field(default_factory=Log)


def check_installed() -> None:
    """Complain unless what serves is there."""
    try:
        import fastapi  # noqa: F401
        import httptools  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "httptools", "uvicorn", "starlette", "pydantic"):
            raise
        allowed = 'installed for a server: pip install "ramgape[web]"'
        raise MissingExtra(what=str(error.name), allowed=allowed) from None


class Serving:
    """A server that listens already, and does not serve yet."""

    def __init__(self, place: Place, options: ServerOptions, make_app: Callable[[AccessContext], ASGIApp]) -> None:
        """Take a place, read the tokens, put the middleware before the application.

        Args:
            place: Where.
            options: How.
            make_app: Makes the application, from the access context, which its routes of access use.

        Raises:
            InvalidSpec: The place cannot be meant, is taken, or could be reached by strangers.
            StorageError: The file of tokens, or of the server's own, cannot be used.
        """
        check_installed()
        public = None if place.public_url is None else parse_public_url(place.public_url)
        require((place.tls_cert is None) == (place.tls_key is None), "tls-cert", "there with tls-key", place.tls_cert)
        for name, file in (("tls-cert", place.tls_cert), ("tls-key", place.tls_key)):
            require(file is None or Path(file).is_file(), name, "a file", file)
        self.place, self.log = place, options.log
        self.socket = listen_at_path(place.unix) if place.unix is not None else listen(place, public)
        try:
            self._prepare(place, public, options, make_app)
        except BaseException:
            self.close()
            raise

    def _prepare(
        self,
        place: Place,
        public: PublicUrl | None,
        options: ServerOptions,
        make_app: Callable[[AccessContext], ASGIApp],
    ) -> None:
        bound, port = (None, None) if place.unix is not None else self.socket.getsockname()[:2]
        self.address = own_address(place, port)
        self.token_file = server_file(port, place.unix)
        hosts = Hosts(
            port=port,
            bound=bound,
            tls=place.tls,
            public_url=public,
            allowed=(*place.allow_hosts, *([place.host] if place.unix is None and is_name(place.host) else ())),
            proxies=place.trust_proxies,
        )
        file = TokenFile(Path(options.tokens) if options.tokens is not None else default_tokens())
        tokens = Tokens(
            file,
            own_token(self.token_file, self.address),
            complain=lambda message: options.log.write("error", message),
        )
        self.context = AccessContext(
            hosts=hosts,
            tokens=tokens,
            logins=Logins(tokens, options.settings),
            settings=options.settings,
            log=options.log,
            read_only=options.read_only,
            open_metrics=options.open_metrics,
        )
        self.middleware = AccessMiddleware(make_app(self.context), self.context)

    def login_link(self) -> str:
        """A link for one login. The code stands where browsers keep it to themselves, behind a #."""
        shown = self.context.hosts.public_url or (self.address if self.place.unix is None else "http://localhost")
        return f"{shown}/login#code={self.context.logins.new_code()}"

    def make_server(self, started: Callable[[], None] = lambda: None) -> uvicorn.Server:
        """What serves; `started` is called when it does."""
        from ramgape.web.server import make_server  # which needs uvicorn

        return make_server(self.middleware, self.place, self.context.settings, started, overdue=self._end)

    def _end(self) -> None:
        """End the process: it was told to stop long ago. Nothing that was answered is lost."""
        self.log.write("error", "stopped before all was finished")
        os._exit(0)

    def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Serve until a signal ends it."""
        logger, handler = logging.getLogger("uvicorn.error"), ToLog(self.log)
        logger.addHandler(handler)
        logger.propagate = False
        before = sys.getswitchinterval()
        sys.setswitchinterval(TURN)
        try:
            self._claim_files()
            self.log.write("info", "serving", at=self.address)
            self.make_server(started).run(sockets=[self.socket])
            self.log.write("info", "stopped")
        finally:
            sys.setswitchinterval(before)
            logger.removeHandler(handler)
            self.context.tokens.write_uses()
            self.close()

    def _claim_files(self) -> None:
        """Have room for all connections that are allowed, or say that there is not."""
        from ramgape.web.server import most_connections, raise_open_files

        raise_open_files()
        wanted, most = int(self.context.settings.max_connections), most_connections(self.context.settings)
        if most < wanted:
            message = f"the limit on open files leaves room for {most:,} of {wanted:,} connections: raise `ulimit -n`"
            self.log.write("warning", message)

    def close(self) -> None:
        """Listen no longer."""
        release(self.socket, self.place)


def watch_terminal(announce: Callable[[], None]) -> None:
    """Call `announce` when the user presses Enter; to be called on the event loop of a server."""
    if not sys.stdin or not sys.stdin.isatty():
        return
    loop, handle = asyncio.get_running_loop(), sys.stdin.fileno()

    def pressed() -> None:
        if not os.read(handle, 4096):
            loop.remove_reader(handle)
        else:
            announce()

    with suppress(NotImplementedError, OSError, ValueError):  # not every system can wait for a terminal
        loop.add_reader(handle, pressed)


def application(storage: str) -> Callable[[AccessContext], ASGIApp]:
    """Make what serves the studies of a store."""

    def make(context: AccessContext) -> ASGIApp:
        from ramgape.web.access.routes import access_routes, operation_routes
        from ramgape.web.app import make_app
        from ramgape.web.open_studies import OpenStudies

        studies = OpenStudies(storage, context.metrics)
        context.metrics.gauge("ramgape_open_studies", lambda: len(studies.open))
        app = make_app(studies)
        app.include_router(access_routes(context), prefix="/api/v1")
        app.include_router(operation_routes(context))
        return app

    return make
