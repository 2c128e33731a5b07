"""Commands that are imported when they are called. Until then a line of a table stands for each, so that help is there
at once, and no command waits for what another one needs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from ramgape.cli.help import PlainHelp
from ramgape.common.old_names import COMMANDS, present_flag


class Line(NamedTuple):
    """A command in a table: its module here and its function there, or its group; its help in a line, and its panel."""

    place: str
    says: str
    panel: str | None = None
    settings: dict[str, Any] | None = None


class PlainValue(NamedTuple):
    """Reads a text, texts or a path for Typer, which would import Pydantic for that: as long as NumPy takes."""

    read: Callable[[Any], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """What was typed for a parameter, as the command takes it."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        return self.read(value)


PLAIN = {kind: PlainValue(kind) for kind in (bool, str, Path, list[str], tuple[str, str])}


def read_plainly(command: Any, ctx: Any) -> None:
    """Have the plain parameters of a command read without Pydantic, where Typer has a place for that (0.29 has)."""
    for parameter in command.get_params(ctx):
        described = getattr(parameter, "type_descriptor", None)
        if described is not None and getattr(parameter, "_runtime_param", described) is None:
            parameter._runtime_param = PLAIN.get(described.annotation)


class PlainCommand(PlainHelp, TyperCommand):
    """A command whose parameters are plain."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read what was typed for it."""
        read_plainly(self, ctx)
        return super().parse_args(ctx, list(map(present_flag, args)))


class StandIn(TyperCommand):
    """A command that has not been imported yet."""


class PlainGroup(PlainHelp, TyperGroup):
    """A group whose help is plain text."""


GROUP: dict[str, Any] = {
    "cls": PlainGroup,
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,
}


class CommandTable(PlainGroup):
    """A group of commands out of a table."""

    lines: ClassVar[dict[str, Line]]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: StandIn(name, help=line.says, rich_help_panel=line.panel) for name, line in self.lines.items()
        }

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the options before a command's name."""
        read_plainly(self, ctx)
        return super().parse_args(ctx, args)

    def load(self, name: str) -> Any:
        """The command itself, made when it is first wanted."""
        if isinstance(self.commands[name], StandIn):
            module, function = self.lines[name].place.split(".")
            place = importlib.import_module(f"ramgape.cli.{module}")
            found = place.command(name) if hasattr(place, "command") else getattr(place, function)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False, rich_markup_mode=None)
                alone.command(
                    name, cls=getattr(found, "command_class", PlainCommand), context_settings=self.lines[name].settings
                )(found)
                found = alone
            self.commands[name] = get_command(found)
            self.commands[name].name = name
        return self.commands[name]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, which may be an older one."""
        return self.commands.get(cmd_name) or self.commands.get(COMMANDS.get(cmd_name, ""))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What is called by these arguments, loaded."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, self.load(str(getattr(found, "name", name))), rest
