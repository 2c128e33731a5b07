"""The command line, from the tree of commands: what each does, takes and assumes unless told."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from makers.markdown import block, spoken, table
from ramgape.cli.commands import app

BOLD = re.compile(r"\[bold\](.*?)\[/bold\]", re.DOTALL)
USUAL = "Options"  # those of no panel


def text() -> str:
    """A table of all commands, and then each."""
    commands = list(tree())
    rows = [(f"[{path}](#{path.replace(' ', '-')})", spoken(in_short(command))) for path, _, command in commands]
    parts = [f"{'#' * level} {path}\n\n{described(path, command)}" for path, level, command in commands]
    return "\n".join([table(("command", "what it does"), rows), *parts])


def in_short(command: Any) -> str:
    """The first paragraph of a help text."""
    return BOLD.sub(r"\1", inspect.cleandoc(command.help)).split("\n\n")[0]


def tree() -> Iterator[tuple[str, int, Any]]:
    """Every command by its whole name, with the level of its heading; groups before what is in them."""
    root: Any = get_command(app)
    for name in root.commands:
        command = root.load(name)
        yield f"ramgape {name}", 2, command
        if isinstance(command, TyperGroup):
            for inner in list(command.commands):
                load = getattr(command, "load", command.commands.__getitem__)
                yield f"ramgape {name} {inner}", 3, load(inner)


def described(path: str, command: Any) -> str:
    """The help of a command, its usage, and what it takes."""
    parts = [help_text(inspect.cleandoc(command.help or ""))]
    if not isinstance(command, TyperGroup):
        context = typer.Context(command, info_name=path)
        usage = command.get_usage(context).removeprefix("Usage: ")
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        parts += [block(" ".join(usage.split()), "text"), f"```{{program}} {path}\n```\n"]
        arguments = [each for each in shown if each.param_type_name == "argument"]
        options = [each for each in shown if each.param_type_name != "argument"]
        parts += [entry(each, context) for each in arguments]
        for panel, members in groupby(
            sorted(options, key=lambda each: panels(options).index(panel_of(each))), panel_of
        ):
            parts += [f"**{panel}**\n", *(entry(each, context) for each in members)]
    return "\n".join(parts)


def panel_of(option: Any) -> str:
    return option.rich_help_panel or USUAL


def panels(options: list[Any]) -> list[str]:
    """The panels, in the order in which they first occur."""
    return list(dict.fromkeys(map(panel_of, options)))


def entry(parameter: Any, context: Any) -> str:
    """An argument or an option, with its meaning."""
    spelled, meaning = parameter.get_help_record(context)
    spelled = re.sub(r" <\w+>$", "", spelled)
    meaning, _, usual = meaning.partition("  [")
    notes = ". ".join(note.strip().capitalize() for note in usual.removesuffix("]").split("; ") if note)
    notes = re.sub(r"^Default: (.*)$", r"Default: `\1`", notes)
    return f"```{{option}} {spelled}\n{spoken(meaning)}{f' *{notes}.*' if notes else ''}\n```\n"


def help_text(text: str) -> str:
    """A help text as Markdown: its commands and files are code. Exit codes have a page of their own."""
    return "\n".join(paragraph(each) for each in re.split(r"\n{2,}", text) if not each.startswith("Exit codes:"))


def paragraph(text: str) -> str:
    """One paragraph; what begins with a command in bold is that command, and then what is said of it."""
    text = text.removeprefix("\b").lstrip("\n")
    if text.startswith("  ") or "\\[" in text:
        return block(inspect.cleandoc(text.replace("\\[", "[")), "toml")
    first = BOLD.match(text)
    if first is not None and (text[first.end() :] == "" or text[first.end()] == "\n"):
        said = text[first.end() :].strip()
        return block(first[1], "sh") + (f"{spoken(said)}\n" if said else "")
    parts = BOLD.split(text)
    return "".join(f"`{part}`" if place % 2 else spoken(part) for place, part in enumerate(parts)) + "\n"
