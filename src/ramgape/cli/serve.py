"""`ramgape serve`: the studies of a store, for workers on other machines and for whoever watches."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.options import OUTPUT, Storage, Text, gathers, option
from ramgape.cli.stores import storage_url
from ramgape.common.checks import whole
from ramgape.common.parsing import parse_number
from ramgape.errors import RamgapeWarning, StorageError, printable, require
from ramgape.remote.address import is_remote
from ramgape.storage.urls import shown
from ramgape.web.access.limits import Settings
from ramgape.web.listening import PORT, Place
from ramgape.web.logs import FORMATS, LEVELS, Log

if TYPE_CHECKING:
    from ramgape.web.serving import Serving

WHERE, WHO, LIMITS = "Where it listens", "Who may come in", "Limits"
UNIX = "Instead of host and port: the path of a Unix socket, for its owner alone."
PUBLIC = "Where a proxy before the server is reached. With https, the server may listen at any address."
INSECURE = "Let other machines in although nothing is encrypted: everybody on the way can read tokens and rewards."
TOKENS = "The file of tokens (ramgape token). Unless given: ramgape/tokens.json in XDG_STATE_HOME, or ~/.local/state."
LINK = (
    "Print a login link also where output is not a terminal. A service's output ends up in a log that others may read."
)
PROXY = "A proxy or network whose X-Forwarded-For is believed. With --public-url, this machine is. May be repeated."


def read_place(
    host: Annotated[str, option(WHERE, "ADDRESS", "An address of this machine.")] = "127.0.0.1",
    port: Annotated[str, option(WHERE, "PORT", "0: any that is free.")] = str(PORT),
    unix: Annotated[Text, option(WHERE, "PATH", UNIX)] = None,
    tls_cert: Annotated[Text, option(WHERE, "FILE", "The certificate, to speak TLS.")] = None,
    tls_key: Annotated[Text, option(WHERE, "FILE", "Its key.")] = None,
    public_url: Annotated[Text, option(WHERE, "URL", PUBLIC)] = None,
    allow_host: Annotated[
        list[str] | None, option(WHERE, "NAME", "Another name of this server. May be repeated.")
    ] = None,
    trust_proxy: Annotated[list[str] | None, option(WHERE, "ADDRESS", PROXY)] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help=INSECURE, rich_help_panel=WHERE)] = False,
) -> Place:
    """Where, as it was typed."""
    number = whole(parse_number(port, "port"), "port", "a whole number from 0 to 65535", 0)
    return Place(host, number, unix, tls_cert, tls_key, public_url, allow_host or (), trust_proxy or (), insecure)


def read_settings(**typed: str) -> Settings:
    """The limits, as they were typed."""
    numbers: dict[str, Any] = {name: parse_number(text, name.replace("_", "-")) for name, text in typed.items()}
    return Settings(**numbers)


def _parameter(each: dataclasses.Field[Any]) -> inspect.Parameter:
    """A limit as an option of the command."""
    unit = each.metadata["unit"]
    declared = typer.Option(
        f"--{each.name.replace('_', '-')}", metavar=unit, help=each.metadata["text"], rich_help_panel=LIMITS
    )
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=f"{each.default:g}", annotation=Annotated[str, declared]
    )


read_settings.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [_parameter(each) for each in dataclasses.fields(Settings)]
)


def read_log(
    log_format: Annotated[str, option(OUTPUT, "|".join(FORMATS), "Lines of the log, on stderr.")] = "plain",
    log_level: Annotated[str, option(OUTPUT, "|".join(LEVELS), "The least that is logged.")] = "info",
) -> Log:
    """How to log, as it was typed."""
    return Log(log_format, log_level)


@gathers("place", read_place)
@gathers("settings", read_settings)
@gathers("log", read_log)
def serve(
    place: Any,
    settings: Any,
    log: Any,
    tokens: Annotated[Text, option(WHO, "FILE", TOKENS)] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let nobody change anything, whatever the token.", rich_help_panel=WHO)
    ] = False,
    open_metrics: Annotated[
        bool, typer.Option("--open-metrics", help="Show /metrics without a token.", rich_help_panel=WHO)
    ] = False,
    storage: Storage = None,
    login_link: Annotated[bool, typer.Option("--login-link", help=LINK, rich_help_panel=OUTPUT)] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON: address, login, token_file.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Serve the studies of a store: an API for workers on other machines, and live pages.

    [bold]ramgape serve[/bold] prints a link for the browser if output is a terminal. Programs of the same user on this
    machine need only the address: [bold]ramgape study ask models --storage http://127.0.0.1:8460[/bold]. Others need a
    token, which [bold]ramgape token new[/bold] makes. Stop it with Ctrl-C: what is under way is finished.
    """
    url = storage_url(storage)
    require(not is_remote(url), "storage", "a store, not another server", shown(url), StorageError)
    from ramgape.web.serving import ServerOptions, Serving, application, watch_terminal

    manner = ServerOptions(tokens, read_only, open_metrics, settings, log)
    serving = Serving(place, manner, application(url))

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
