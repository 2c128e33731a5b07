"""`ramgape storage`: care of the stores that studies live in."""

from __future__ import annotations

from typing import Annotated

import typer

from ramgape.cli.command_table import GROUP, PlainCommand
from ramgape.cli.options import AsJson, Storage
from ramgape.cli.stores import existing_storage
from ramgape.cli.streams import FAILED, write_json
from ramgape.common.terminal import waiting
from ramgape.errors import printable
from ramgape.storage.urls import shown

COPY = "The copy, a SQLite file. To use it: --storage sqlite:///FILE."

app = typer.Typer(help="Check, back up and migrate storage.", **GROUP)


@app.callback()
def storage_commands() -> None:
    """Care of the stores that studies live in."""


@app.command("check", cls=PlainCommand)
def check_store(storage: Storage = None, as_json: AsJson = False) -> None:
    """Check storage for damage.

    Checks the database, then every study. Exit code 1 if something is damaged.
    """
    url = existing_storage(storage)
    from ramgape.studies import checking

    with waiting("checking"):
        found = checking.check_store(url)
    if as_json:
        write_json(found.to_dict())
    else:
        for name, problems in (
            (found.storage, found.problems),
            *((f"study {study.name} ({study.told:,} told)", study.problems) for study in found.studies),
        ):
            typer.echo(printable(f"{name}: {'; '.join(problems) or 'sound'}"))
    if not found.sound:
        raise typer.Exit(FAILED)


@app.command("backup", cls=PlainCommand)
def back_up_store(
    file: Annotated[str, typer.Argument(metavar="FILE", help=COPY, show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Back up storage to a file.

    The copy shows one moment; others may keep working.
    """
    url = existing_storage(storage)
    from ramgape.storage.backup import back_up

    with waiting("copying"):
        size = back_up(url, file, force=force)
    if as_json:
        write_json({"storage": shown(url), "file": file, "bytes": size})
    else:
        typer.echo(printable(f"{shown(url)} is copied to {file} ({size:,} bytes)."))


@app.command("upgrade", cls=PlainCommand)
def upgrade_store(storage: Storage = None, as_json: AsJson = False) -> None:
    """Migrate storage from an older version.

    No other program may use it in the meantime.
    """
    url = existing_storage(storage)
    from ramgape.storage import upgrade

    with waiting("upgrading"):
        before, after = upgrade(url)
    if as_json:
        write_json({"storage": shown(url), "from": before, "to": after, "changed": before != after})
    elif before == after:
        typer.echo(f"{shown(url)} has version {after} already: nothing to do.")
    else:
        typer.echo(f"{shown(url)} is upgraded from version {before} to {after}.")
