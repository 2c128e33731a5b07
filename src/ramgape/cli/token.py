"""`ramgape token`: who may use a server, and for what."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramgape.cli.command_table import GROUP, PlainCommand
from ramgape.cli.options import AsJson, Text
from ramgape.cli.streams import tell, write_json
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import output, plain_table
from ramgape.errors import printable
from ramgape.web.access.own_token import default_tokens
from ramgape.web.access.token_file import DEFAULT_DAYS, Token, TokenFile

if TYPE_CHECKING:
    from rich.table import Table

FILE = "The file of tokens, as `ramgape serve --tokens` has it. Default: the usual one."
ROLE = "read: look. work: ask and tell as well. admin: make, change and delete studies and tokens as well."
STUDY = "Only for studies with such names: 'suppliers*'. May be repeated. Default: all."
DAYS = "How long it is valid."

app = typer.Typer(help="Manage the access tokens of a server.", **GROUP)
Tokens = Annotated[Text, typer.Option("--tokens", metavar="FILE", help=FILE)]


@app.callback()
def token_commands() -> None:
    """Who may use a server, and for what. A server that runs knows of a change within a moment."""


def token_file(given: str | None) -> TokenFile:
    """The file that is meant."""
    return TokenFile(Path(given) if given is not None else default_tokens())


@app.command("new", cls=PlainCommand)
def new(
    role: Annotated[str, typer.Option("--role", metavar="read|work|admin", help=ROLE)] = "work",
    study: Annotated[list[str] | None, typer.Option("--study", metavar="PATTERN", help=STUDY)] = None,
    days: Annotated[str, typer.Option("--days", metavar="DAYS", help=DAYS)] = str(DEFAULT_DAYS),
    forever: Annotated[bool, typer.Option("--forever", help="Valid until it is revoked.")] = False,
    name: Annotated[Text, typer.Option("--name", metavar="NAME", help="Who will have it, for lists and logs.")] = None,
    tokens: Tokens = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it once.

    Only its hash is stored.
    """
    lasting = None if forever else parse_number(days, "days")
    made, secret = token_file(tokens).add(role, study or ("*",), lasting, name)
    if as_json:
        write_json({**made.to_dict(), "token": secret})
    else:
        typer.echo(secret)
        until = "until it is revoked" if made.expires is None else f"until {minute(made.expires)}"
        said = (
            f"{made.id}, {made.name}: role {made.role} for {', '.join(made.studies)}, {until}; set it as RAMGAPE_TOKEN"
        )
        tell("note", said, "bold")


@app.command("list", cls=PlainCommand)
def list_tokens(tokens: Tokens = None, as_json: AsJson = False) -> None:
    """List tokens, without their secrets."""
    found = list(token_file(tokens).read().values())
    if as_json:
        write_json({"tokens": [each.to_dict() for each in found]})
    elif not found:
        typer.echo("There are no tokens: ramgape token new makes one.")
    else:
        output().print(token_table(found))


@app.command("revoke", cls=PlainCommand)
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID", help="Which, as `token list` calls it.", show_default=False)],
    tokens: Tokens = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a token.

    Takes effect immediately.
    """
    gone = token_file(tokens).revoke(token)
    if as_json:
        write_json({"revoked": gone.id})
    else:
        typer.echo(printable(f"Revoked {gone.id}, {gone.name}."))


def token_table(found: list[Token]) -> Table:
    """Tokens for people."""
    from rich.text import Text as Words

    now, rows = time.time(), []
    for each in found:
        ends = "never" if each.expires is None else minute(each.expires)[:10]
        ends = "ended" if each.has_ended(now) else ends
        used = "never" if each.last_used is None else minute(each.last_used)
        rows.append((each.id, each.name, each.role, ", ".join(each.studies), ends, used))
    cells = [[Words(printable(cell)) for cell in row] for row in rows]
    return plain_table(("id", "name", "role", "studies", "ends", "last used"), cells)


def minute(seconds: float) -> str:
    """A moment in local time, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
