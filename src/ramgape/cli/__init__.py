"""The command `ramgape`: parse, call, show.

    simulate, analyze, run, reproduce, benchmark,
    demo, listing, lower_bound, plan     one command each
    study                                the commands for studies: study_create, study_delete, study_work, study_show,
                                         study_files
    storage, stores                      the commands for stores; where studies are kept
    options                              the options of a search, from the table; what several commands have in common
    csv_rows                             logged rewards from a file
    reports                              what `reproduce` and `benchmark` share
    errors                               errors, warnings and interrupts, as lines on stderr and exit codes
    workers                              processes that share the runs
    pictures                             files with figures
    summary                              many runs as a table

What takes long to import (NumPy, Numba, rich, matplotlib) is imported inside the commands, so that help is there at
once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ramgape.cli import analyze, benchmark, demo, listing, lower_bound, plan, reproduce, run, simulate, storage, study
from ramgape.cli.errors import Commands, output_flushed, prepare_streams

__all__ = ["app", "main"]

EPILOG = """\
Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted (Ctrl-C).
Results go to stdout; progress, warnings and errors to stderr."""

app = typer.Typer(
    name="ramgape",
    cls=Commands,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("demo")(demo.demo)
app.command("simulate")(simulate.simulate)
app.command("analyze")(analyze.analyze)
app.command("plan")(plan.plan)
app.command("run")(run.run)
app.command("reproduce")(reproduce.reproduce)
app.command("benchmark")(benchmark.benchmark)
app.command("lower-bound")(lower_bound.lower_bound)
app.command("list")(listing.show_list)
app.add_typer(study.app, name="study")
app.add_typer(storage.app, name="storage")


def main() -> None:
    """The console script."""
    prepare_streams()
    with output_flushed():
        app()


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from ramgape import __version__

        typer.echo(f"ramgape {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Find the options with the best trade-offs between mean reward and risk, with few noisy trials and a certificate.

    New here? Try [bold]ramgape demo[/bold], then [bold]ramgape simulate paper:46 --epsilon 0.02[/bold].
    """
