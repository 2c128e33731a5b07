"""`ramgape storage`: care of the stores that studies live in."""

from __future__ import annotations

import typer

from ramgape.cli.simulate import AsJson
from ramgape.cli.stores import Storage, existing_storage
from ramgape.storage.urls import shown
from ramgape.terminal import print_object, waiting

app = typer.Typer(help="Care of the stores that studies live in.", no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def root() -> None:
    """Care of the stores that studies live in."""


@app.command("upgrade")
def upgrade_store(storage: Storage = None, as_json: AsJson = False) -> None:
    """Bring a store that an older ramgape made to the version of this one; no other program may use it meanwhile."""
    url = existing_storage(storage)
    from ramgape.storage import upgrade

    with waiting("upgrading"):
        before, after = upgrade(url)
    if as_json:
        print_object({"storage": shown(url), "from": before, "to": after, "changed": before != after})
    elif before == after:
        typer.echo(f"{shown(url)} has version {after} already: nothing to do.")
    else:
        typer.echo(f"{shown(url)} is upgraded from version {before} to {after}.")
