"""The command `ramgape`: parse, call, show.

    commands                             all of them, by their names
    simulate, analyze, run, reproduce, benchmark,
    demo, listing, lower_bound, plan     one command each
    study                                the commands for studies: study_create, study_change, study_show,
                                         import_export, study_worker
    work                                 the commands that workers call for every trial, without typer
    storage, stores                      the commands for stores; where studies are kept
    serve, token                         a server for studies, and who may use it
    options                              the options of a search, from the table; what several commands have in common
    timing                               what `run` takes for commands that are typed
    data/files                           logged rewards from a file
    reports                              what `reproduce` and `benchmark` share
    command_table                        commands that are imported when they are called
    streams                              what is said on stderr, and exit codes
    errors                               errors, warnings and interrupts, as such lines
    workers                              processes that share the runs
    pictures                             files with figures
    completion                           what the tab key offers
    summary                              many runs as a table

A command's module is imported when it is called, and what takes long to import (NumPy, Numba, rich, matplotlib)
inside the command, so that help is there at once. Not even typer is imported before it is known that it is needed: a
worker in a shell calls the command for every trial.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

from ramgape.cli.streams import output_flushed, prepare_streams

if TYPE_CHECKING:
    from ramgape.cli.commands import AllCommands, app

__all__ = ["AllCommands", "app", "main"]


COMPLETION = "_RAMGAPE_COMPLETE"  # set where a shell wants to know what could be typed


def main() -> None:
    """The console script."""
    prepare_streams()
    with output_flushed():
        gc.set_threshold(50_000, 20, 20)  # imports leave no garbage to look for
        code = answer_worker(sys.argv[1:])
        if code is not None:
            sys.exit(code)
        from ramgape.cli.commands import app

        app()


def answer_worker(arguments: list[str]) -> int | None:
    """The exit code of a command that workers call for every trial; None where typer is to read it."""
    if arguments[:1] != ["study"] or COMPLETION in os.environ:
        return None
    from ramgape.cli.work import answer

    return answer(arguments[1:])


def __getattr__(name: str) -> Any:
    if name in ("AllCommands", "app"):
        from ramgape.cli import commands

        return getattr(commands, name)
    raise AttributeError(f"module 'ramgape.cli' has no attribute {name!r}")
