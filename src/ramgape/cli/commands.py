"""All commands, and what is said of each before it is imported."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from ramgape.cli.errors import Commands
from ramgape.cli.table import CommandTable, Line

EPILOG = """\
Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted (Ctrl-C).
Results go to stdout; progress, warnings and errors to stderr."""


class AllCommands(Commands, CommandTable):
    """Every command, guarded."""

    lines: ClassVar = {
        "demo": Line(
            "demo.demo",
            "Watch a search on a small story: which of eight couriers are worth keeping? Takes some seconds.",
        ),
        "simulate": Line(
            "simulate.simulate",
            "Search an instance whose truth is known, once or many times, and compare the answer with the truth.",
        ),
        "analyze": Line(
            "analyze.analyze", "Tell what logged rewards prove about the Pareto set, and which arms to try next."
        ),
        "plan": Line(
            "plan.plan",
            "Tell what a search will take before its first trial, from a guess of the arms, "
            "as a power calculation does.",
        ),
        "run": Line(
            "run.run",
            "Time commands, or run those of a study file, and tell which is fastest, or has the best trade-offs.",
        ),
        "reproduce": Line(
            "reproduce.reproduce",
            "Run the paper's experiments and write raw data (CSV), figures (PNG, SVG), summary.json and report.html.",
        ),
        "benchmark": Line(
            "benchmark.benchmark",
            "Compare all methods on many instances and write raw data (CSV), figures (PNG, SVG), "
            "summary.json and report.html.",
        ),
        "lower-bound": Line(
            "lower_bound.lower_bound",
            "Tell how few samples could suffice if the arms were Gaussian, "
            "and how an ideal algorithm would share them out.",
        ),
        "list": Line(
            "listing.show_list",
            "List the questions, policies, bounds, risks, instances or extensions, and what they mean.",
        ),
        "study": Line(
            "study.app", "Search with trials of your own, over hours or weeks, from any number of processes at once."
        ),
        "storage": Line("storage.app", "Care of the stores that studies live in."),
        "serve": Line(
            "serve.serve", "Serve the studies of a store: an API for workers on other machines, and live pages."
        ),
        "token": Line("token.app", "Who may use a server, and for what."),
    }


app = typer.Typer(
    name="ramgape",
    cls=AllCommands,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
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
    """Find the options with the best trade-offs between mean reward and risk, with few noisy trials and a certificate.

    New here? Try [bold]ramgape demo[/bold], then [bold]ramgape simulate paper:46 --epsilon 0.02[/bold].
    """
