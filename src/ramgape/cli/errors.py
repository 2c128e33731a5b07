"""Errors, warnings and interrupts of commands, as lines on stderr and exit codes (`streams`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ramgape.cli.streams import tell_error, warnings_told
from ramgape.errors import RamgapeError, printable
from ramgape.storage.urls import shown_in

# Arguments that were not understood. Typer has Click's class inside itself or beside it, depending on its version.
USAGE: type[Exception] = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "UsageError")

COLUMNS = ("arm_column", "reward_column", "item_column", "block_column", "cluster_column")
FORMAT = ("delimiter", "decimal", "encoding")
ROWS = ("exclude", "only", "min_rows", "na", "shared", "shuffle")
TYPED = {*COLUMNS, *FORMAT, *ROWS}  # arguments that have an option


class Commands(TyperGroup):
    """The commands, guarded as a whole."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments before a command."""
        with usage_printable():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run one."""
        with guarded():
            return super().invoke(ctx)


@contextmanager
def usage_printable() -> Iterator[None]:
    """Let a complaint about arguments quote them without a password, and without what a terminal would obey."""
    try:
        yield
    except USAGE as error:
        error.message = printable(shown_in(error.message))  # type: ignore[attr-defined]
        raise


@contextmanager
def guarded() -> Iterator[None]:
    """Tell of the library's errors and warnings, of an interrupt and of a closed pipe, without a traceback."""
    try:
        with warnings_told(), usage_printable():
            yield
    except (RamgapeError, KeyboardInterrupt, OSError) as error:
        raise typer.Exit(tell_error(error)) from None


@contextmanager
def options_named() -> Iterator[None]:
    """Let an error name an option as one types it."""
    try:
        yield
    except RamgapeError as error:
        if error.what in TYPED:
            error.what = f"--{error.what.replace('_', '-')}"
        raise
