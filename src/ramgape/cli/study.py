"""`ramgape study`: searches that last, run from the shell."""

from __future__ import annotations

from typing import ClassVar

import typer

from ramgape.cli.command_table import GROUP, CommandTable, Line

HELP = """Search with trials of your own, from many processes.

A study is stored in a file or a PostgreSQL database. Ask it which arm to try, then tell it the reward:

[bold]ramgape study create models --arm A --arm B --reward-range 0 1 --epsilon 0.05[/bold]
[bold]ramgape study ask models --json[/bold]
[bold]ramgape study tell models a1b2c3-0 0.7[/bold]
[bold]ramgape study show models[/bold]
"""
EVERYDAY, WORKERS, ADMINISTRATION = "Everyday", "Worker protocol", "Administration"
# A reward may be negative: what begins with a dash and is no option is a value.
NEGATIVE = {"ignore_unknown_options": True}


class StudyCommands(CommandTable):
    """What a study can be asked and told."""

    lines: ClassVar = {
        "create": Line("study_create.create", "Create a study.", EVERYDAY),
        "list": Line("study_show.list_studies", "List all studies.", EVERYDAY),
        "show": Line("study_show.show", "Show the progress and the answer of a study.", EVERYDAY),
        "answer": Line("study_show.front", "Print the names of the returned arms.", EVERYDAY),
        "observe": Line("work.observe", "Record a trial made without asking.", EVERYDAY, NEGATIVE),
        "extend": Line("work.extend", "Continue a study with a larger goal.", EVERYDAY),
        "work": Line("study_worker.work", "Make trials with a command until the study is done.", WORKERS),
        "ask": Line("work.ask", "Ask for the next trials.", WORKERS),
        "tell": Line("work.tell", "Tell the reward of a trial, or of many.", WORKERS, NEGATIVE),
        "exchange": Line("work.exchange", "Tell results and ask for more, in one transaction.", WORKERS),
        "fail": Line("work.fail", "Report that a trial failed.", WORKERS),
        "renew": Line("work.renew", "Renew the leases of trials in progress.", WORKERS),
        "release": Line("work.give-back", "Release a trial that will not be made.", WORKERS),
        "done": Line("work.done", "Check whether a study is done (exit code 0 or 1).", WORKERS),
        "import": Line("import_export.import_trials", "Import trials from a file.", ADMINISTRATION),
        "export": Line("import_export.export_trials", "Export all trials to a file.", ADMINISTRATION),
        "add-arm": Line("work.add-arm", "Add an arm to a study.", ADMINISTRATION),
        "retire": Line("work.retire", "Retire an arm, keeping its trials.", ADMINISTRATION),
        "retry": Line("work.retry", "Try failed trials again.", ADMINISTRATION),
        "delete": Line("study_change.delete", "Delete a study with all its trials.", ADMINISTRATION),
    }


app = typer.Typer(help=HELP, **GROUP | {"cls": StudyCommands})


@app.callback()
def study_commands() -> None:
    """Search with trials of your own."""
