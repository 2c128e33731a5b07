"""Commands that are imported when they are called. Until then a line of a table stands for each, so that help is there
at once, and no command waits for what another one needs."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class Line(NamedTuple):
    """A command in a table: its module here and its function there, or its group; the first words of its help."""

    place: str
    says: str
    settings: dict[str, Any] | None = None


class StandIn(TyperCommand):
    """A command that has not been imported yet."""


class CommandTable(TyperGroup):
    """A group of commands out of a table."""

    lines: ClassVar[dict[str, Line]]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: StandIn(name, help=line.says) for name, line in self.lines.items()}

    def load(self, name: str) -> Any:
        """The command itself, made when it is first wanted."""
        if isinstance(self.commands[name], StandIn):
            module, function = self.lines[name].place.split(".")
            found = getattr(importlib.import_module(f"ramgape.cli.{module}"), function)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
                alone.command(name, context_settings=self.lines[name].settings)(found)
                found = alone
            self.commands[name] = get_command(found)
            self.commands[name].name = name
        return self.commands[name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What is called by these arguments, loaded."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, self.load(str(name)), rest
