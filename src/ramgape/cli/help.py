"""Help in plain text: no boxes and no types, in sections, with bold headings on a terminal."""

from __future__ import annotations

import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

COLUMN, WIDEST = 30, 100  # where explanations begin at the latest; the longest line
COMMAND = re.compile(r"\[/?bold\]")
ARGUMENTS, OPTIONS, COMMANDS = "Arguments", "Options", "Commands"


class PlainHelp:
    """A command or a group whose help is plain text."""

    def format_help(self: Any, ctx: Any, formatter: Any) -> None:
        """Write the help of a command."""
        width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
        text = "\n".join(["", *help_lines(self, ctx, width)])
        formatter.write(text if sys.stdout.isatty() else re.sub(r"\x1b\[\d+m", "", text))


def help_lines(command: Any, ctx: Any, width: int) -> Iterator[str]:
    """The lines of a command's help, headings in bold."""
    yield f" Usage: {' '.join([ctx.command_path, '[OPTIONS]', *operands(command, ctx)])}"
    yield ""
    yield from described(command.help or "", width - 1)
    for heading, rows in sections(command, ctx):
        yield f" \x1b[1m{heading}\x1b[0m"
        yield from in_columns(rows, width)
        yield ""
    yield from described(command.epilog or "", width - 1)


def operands(command: Any, ctx: Any) -> Iterator[str]:
    """What is typed after the options."""
    if hasattr(command, "list_commands"):
        yield "COMMAND ..."
        return
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument" and not parameter.hidden:
            name = parameter.metavar or parameter.name.upper()
            name += "..." if parameter.nargs == -1 and "..." not in name else ""
            yield name if parameter.required else f"[{name}]"


def described(text: str, width: int) -> Iterator[str]:
    """Paragraphs; examples and what is indented keep their lines."""
    text = inspect.cleandoc(text).replace("[/bold]\n[bold]    ", " ")  # an example on two lines
    for paragraph in filter(None, re.split(r"\n\s*\n", text)):
        running: list[str] = []
        for line in paragraph.replace("\b\n", "").split("\n"):
            plain = COMMAND.sub("", line).replace("\\[", "[").rstrip()
            example = line.startswith("[bold]") and line.endswith("[/bold]")
            if example or line.startswith("  "):
                yield from filled(running, width)
                running = []
                yield from example_lines(plain, width) if example else [f" {plain}"]
            else:
                running.append(plain)
        yield from filled(running, width)
        yield ""


def example_lines(typed: str, width: int) -> Iterator[str]:
    """What one may type, on lines that a shell reads as one; an option stays with its value.

    >>> [line[5:-4] for line in example_lines("ramgape run 'sort a' -w 3", 18)]
    ['ramgape run \\\\', "    'sort a' \\\\", '    -w 3']
    """
    lines = [""]
    for part in re.findall(r"(?:-\S+ (?!-))?(?:'[^']*'|\S)+", typed):
        if lines[-1] and len(lines[-1]) + len(part) + 3 > width:
            lines[-1] += " \\"
            lines.append(4 * " " + part)
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    return (f" \x1b[1m{line}\x1b[0m" for line in lines)


def filled(lines: list[str], width: int, indent: str = " ") -> list[str]:
    """Lines as one paragraph."""
    return textwrap.wrap(
        " ".join(lines),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def in_columns(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """What is typed, and what it means."""
    column = min(max(len(typed) for typed, _ in rows) + 4, COLUMN)
    for typed, meaning in rows:
        first, *rest = filled([meaning], width, column * " ") or [""]
        if len(typed) + 4 > column:
            yield f"  {typed}"
            yield first
        else:
            yield f"  {typed}{first[len(typed) + 2 :]}"
        yield from rest


def sections(command: Any, ctx: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The arguments, options and commands, by their sections."""
    found: dict[str, list[tuple[str, str]]] = {ARGUMENTS: []}
    for parameter in command.get_params(ctx):
        if not getattr(parameter, "hidden", False):
            argument = parameter.param_type_name == "argument"
            usual = ARGUMENTS if argument else OPTIONS
            found.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(
                row_of(parameter, argument)
            )
    for name in command.list_commands(ctx) if hasattr(command, "list_commands") else ():
        member = command.get_command(ctx, name)
        if not member.hidden:
            heading = getattr(member, "rich_help_panel", None)
            heading = heading if isinstance(heading, str) else COMMANDS
            found.setdefault(heading, []).append((name, first_sentence(member)))
    options = found.pop(OPTIONS, [])
    return iter((heading, rows) for heading, rows in [*found.items(), (OPTIONS, options)] if rows)


def row_of(parameter: Any, argument: bool) -> tuple[str, str]:
    """An argument or an option as one types it, and what it means."""
    flag = getattr(parameter, "is_flag", False)
    typed = [parameter.metavar or parameter.name.upper()] if argument else sorted(parameter.opts, key=len)
    typed += [] if argument else parameter.secondary_opts
    value = "" if argument or flag or getattr(parameter, "count", False) else f" {parameter.metavar or 'VALUE'}"
    meaning = COMMAND.sub("", " ".join(inspect.cleandoc(parameter.help or "").split())).replace("\\[", "[")
    default = parameter.default
    shown = isinstance(default, str | int | float) and not isinstance(default, bool) and str(default) != ""
    if shown and getattr(parameter, "show_default", False) and "Default:" not in meaning:
        meaning += f" Default: {default}."
    return ", ".join(typed) + value, meaning


def first_sentence(command: Any) -> str:
    """The first paragraph of a command's help."""
    return COMMAND.sub("", " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split()))
