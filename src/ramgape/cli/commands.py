"""All commands, and what is said of each before it is imported."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from ramgape.cli.command_table import CommandTable, Line
from ramgape.cli.errors import Commands

EPILOG = """\
Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted (Ctrl-C).
Results go to stdout; progress, warnings and errors to stderr."""


DECIDE, LEARN, ADMINISTER = "Decide", "Learn and compare", "Administer"


class AllCommands(Commands, CommandTable):
    """Every command, guarded."""

    lines: ClassVar = {
        "run": Line("run.run", "Time commands and find the fastest.", DECIDE),
        "analyze": Line("analyze.analyze", "Find the best arms in logged results.", DECIDE),
        "study": Line("study.app", "Search with trials of your own, from many processes.", DECIDE),
        "plan": Line("plan.plan", "Forecast how many trials a search will take.", DECIDE),
        "demo": Line("demo.demo", "Watch a search on a small story.", LEARN),
        "simulate": Line("simulate.simulate", "Simulate searches on a problem with known truth.", LEARN),
        "list": Line("listing.show_list", "List questions, policies, bounds, risks or problems.", LEARN),
        "lower-bound": Line("lower_bound.lower_bound", "Compute how few trials could suffice.", LEARN),
        "reproduce": Line("reproduce.reproduce", "Reproduce the experiments of the paper.", LEARN),
        "benchmark": Line("benchmark.benchmark", "Compare all methods on many problems.", LEARN),
        "serve": Line("serve.serve", "Serve studies to workers and browsers.", ADMINISTER),
        "storage": Line("storage.app", "Check, back up and migrate storage.", ADMINISTER),
        "token": Line("token.app", "Manage the access tokens of a server.", ADMINISTER),
    }


app = typer.Typer(
    name="ramgape",
    cls=AllCommands,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


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
    """Choose among options by noisy trials, with few trials and a certificate.

    [bold]ramgape run 'cmd1' 'cmd2'[/bold]
    which command is faster?

    [bold]ramgape analyze yours.csv[/bold]
    what do your results prove?
    """
