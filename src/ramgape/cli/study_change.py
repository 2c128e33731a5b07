"""`ramgape study delete`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ramgape.cli.options import AsJson, Name, Storage
from ramgape.cli.stores import existing_storage
from ramgape.cli.streams import FAILED, tell, write_json
from ramgape.errors import InvalidSpec, printable


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Delete a study with all its trials.

    Cannot be undone. Asks first on a terminal; elsewhere pass --yes.
    """
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
        typer.echo(f"Deleted study {printable(name)}.")


def can_ask() -> bool:
    """Whether the command runs on a terminal."""
    return sys.stdin.isatty()


def confirm(name: str, told: int) -> None:
    """Ask for a confirmation; anything but yes ends the command."""
    if not can_ask():
        allowed = "confirmed by --yes without a terminal"
        raise InvalidSpec(what="a deletion", allowed=allowed, given="none")
    question = f"Delete study {printable(name)} with {told:,} observations, for good?"
    try:
        meant = typer.confirm(question, err=True)
    except typer.Abort:
        meant = False
    if not meant:
        tell("note", "nothing is deleted", "bold")
        raise typer.Exit(FAILED)
