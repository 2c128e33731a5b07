"""`ramgape study delete`: how a study is gone."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ramgape.cli.errors import FAILED, tell
from ramgape.cli.options import AsJson, Name, Storage
from ramgape.cli.stores import existing_storage
from ramgape.cli.streams import write_json
from ramgape.errors import InvalidSpec


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether that is meant.")] = False,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Delete a study with all its observations, for good. At a terminal it asks first; elsewhere it needs --yes."""
    url = existing_storage(storage)
    from ramgape.studies.catalog import delete_study, find_summary

    if not yes:
        found = find_summary(name, url)
        if found is not None:  # otherwise the deletion says so
            confirm(name, found.told)
    delete_study(name, url)
    if as_json:
        write_json({"deleted": name})
    else:
        from ramgape.errors import printable

        typer.echo(f"Deleted study {printable(name)}.")


def can_ask() -> bool:
    """Whether somebody sits there."""
    return sys.stdin.isatty()


def confirm(name: str, told: int) -> None:
    """Ask whoever is there; who does not mean it, or goes away, ends the command."""
    from ramgape.errors import printable

    if not can_ask():
        allowed = "confirmed by --yes where nobody can be asked"
        raise InvalidSpec(what="a deletion", allowed=allowed, given="none")
    question = f"Delete study {printable(name)} with {told:,} observations, for good?"
    try:
        meant = typer.confirm(question, err=True)
    except typer.Abort:
        meant = False
    if not meant:
        tell("note", "nothing is deleted", "bold")
        raise typer.Exit(FAILED)
