"""`ramgape serve`: the studies of a store, for workers on other machines and for browsers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Annotated, Any

import typer

from ramgape.cli.options import OUTPUT, Storage, gathers, option, options_of
from ramgape.cli.stores import storage_url
from ramgape.errors import RamgapeWarning, StorageError, printable, require
from ramgape.remote.address import is_remote
from ramgape.storage.urls import shown
from ramgape.web.access.limits import Settings
from ramgape.web.listening import Place
from ramgape.web.logs import FORMATS, LEVELS, Log
from ramgape.web.serving import ServerOptions, Serving, application, watch_terminal

WHERE, WHO, LIMITS = "Where it listens", "Who may come in", "Limits"
LINK = (
    "Print a login link also where output is not a terminal. A service's output ends up in a log that others may read."
)


def read_log(
    log_format: Annotated[str, option(OUTPUT, "|".join(FORMATS), "Lines of the log, on stderr.")] = "plain",
    log_level: Annotated[str, option(OUTPUT, "|".join(LEVELS), "The least that is logged.")] = "info",
) -> Log:
    """How to log, as it was typed."""
    return Log(log_format, log_level)


@gathers("place", options_of(Place, WHERE))
@gathers("settings", options_of(Settings, LIMITS))
@gathers("log", read_log)
@gathers("manner", options_of(ServerOptions, WHO))
def serve(
    place: Any,
    settings: Any,
    log: Any,
    manner: Any,
    storage: Storage = None,
    login_link: Annotated[bool, typer.Option("--login-link", help=LINK, rich_help_panel=OUTPUT)] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON: address, login, token_file.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Serve studies to workers and browsers.

    An HTTP API for workers on other machines, and live pages.

    [bold]ramgape serve[/bold] prints a link for the browser if output is a terminal. Programs of the same user on this
    machine need only the address: [bold]ramgape study ask models --storage http://127.0.0.1:8460[/bold]. Others need a
    token, which [bold]ramgape token new[/bold] makes. Stop it with Ctrl-C: what is under way is finished.
    """
    url = storage_url(storage)
    require(not is_remote(url), "storage", "a store, not another server", shown(url), StorageError)
    serving = Serving(place, replace(manner, settings=settings, log=log), application(url))

    def started() -> None:
        if as_json:
            said = {"address": serving.address, "login": serving.login_link(), "token_file": str(serving.token_file)}
            write_now(json.dumps(said))
        else:
            announce(serving, url, login_link or (sys.stdout is not None and sys.stdout.isatty()))
            watch_terminal(lambda: write_now(f"Log in: {serving.login_link()}"))
        if open_browser:
            import webbrowser

            webbrowser.open(serving.login_link())

    warn_insecure(place)
    serving.run(started)


def announce(serving: Serving, url: str, with_link: bool) -> None:
    """Print where the server is, and a login link if `with_link`."""
    minutes = f"{serving.context.settings.login_minutes:g}"
    write_now(f"Serving {shown(url)} at {serving.address}")
    enter = sys.stdin and sys.stdin.isatty()
    if with_link:
        again = "; Enter prints another" if enter else ""
        write_now(f"Log in: {serving.login_link()}")
        write_now(f"(for one login within {minutes} minutes{again}; programs of yours on this machine need none)")
    else:
        how = "press Enter or start it with --login-link" if enter else "start it with --login-link"
        write_now(
            f"(no login link, because output is not a terminal: {how}; programs of yours on this machine need none)"
        )


def write_now(text: str) -> None:
    """A line of results, at once."""
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def warn_insecure(place: Place) -> None:
    """Say what --insecure means where it means something."""
    if place.insecure and not place.tls and place.unix is None:
        import warnings

        message = (
            f"nothing is encrypted: everybody on the way to {place.host} can read tokens, and with them read and "
            "change every study. Better: --tls-cert and --tls-key, or a proxy and --public-url https://..."
        )
        warnings.warn(message, RamgapeWarning, stacklevel=2)
