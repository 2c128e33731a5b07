"""`ramgape study`: searches that last, run from the shell."""

from __future__ import annotations

from typing import ClassVar

import typer

from ramgape.cli.table import CommandTable, Line

HELP = """Search with trials of your own, over hours or weeks, from any number of processes at once.

A study lives in a store, a file or a PostgreSQL database. Ask it which arm to try, tell it what came out:

[bold]ramgape study create models --arm A --arm B --reward-range 0 1 --epsilon 0.05[/bold]

[bold]ramgape study ask models --json[/bold]

[bold]ramgape study tell models a1b2c3-0 0.7[/bold]

[bold]ramgape study show models[/bold]
"""
# A reward may be negative: what begins with a dash and is no option is a value.
NEGATIVE = {"ignore_unknown_options": True}


class StudyCommands(CommandTable):
    """What a study can be asked and told."""

    lines: ClassVar = {
        "create": Line("study_create.create", "Make a new study."),
        "list": Line("study_show.list_studies", "All studies in the store."),
        "show": Line(
            "study_show.show",
            "How a study is going: the set so far, what is certain of each arm, and how many trials are still to come.",
        ),
        "ask": Line(
            "work.ask",
            "The next pulls to make: for each its id, its arm and a seed. None when the study is done.",
        ),
        "tell": Line(
            "work.tell",
            "Tell the reward of a pull, or of many. It is stored when the command returns.",
            NEGATIVE,
        ),
        "exchange": Line(
            "work.exchange",
            "Tell what came out and get the next pulls, in one transaction: a whole round of a worker.",
        ),
        "fail": Line(
            "work.fail",
            "A trial has failed: it is tried again, or counts as the worst reward, as the study was created.",
        ),
        "observe": Line("study_change.observe", "Tell the reward of a trial that was made without asking.", NEGATIVE),
        "done": Line(
            "work.done",
            "Whether a study is done, for scripts: exit code 0 if it is, 1 if there is more to try.",
        ),
        "work": Line(
            "study_worker.work",
            "Make trials of a study with a command, until the study is done: a whole worker, one of any number.",
        ),
        "front": Line(
            "study_show.front", "The names of the returned arms, one a line; on stderr a note, if they are not final."
        ),
        "import": Line(
            "study_files.import_trials",
            "Take in trials made elsewhere, all or, after an error, none. What `export` wrote comes back without loss.",
        ),
        "export": Line("study_files.export_trials", "Write all observations, in their order, into a file."),
        "renew": Line(
            "work.renew",
            "Pulls are still being worked on: their leases begin anew. Tells which of them are still yours.",
        ),
        "give-back": Line(
            "work.give-back",
            "A pull will not be made: it is available to others at once, and that is no failure.",
        ),
        "extend": Line(
            "study_change.extend",
            "Let a study, finished or not, go on for more: a smaller epsilon, a larger budget, or more money.",
        ),
        "add-arm": Line("study_change.add_arm", "One more arm, for a study that was created with --expected-arms."),
        "retire": Line("study_change.retire", "An arm takes part no longer; what was told of it stays on record."),
        "retry": Line("study_change.retry", "Try again what was given up after too many failures."),
        "delete": Line(
            "study_change.delete",
            "Delete a study with all its observations, for good. "
            "At a terminal it asks first; elsewhere it needs --yes.",
        ),
    }


app = typer.Typer(help=HELP, cls=StudyCommands, add_completion=False, no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def study_commands() -> None:
    """Search with trials of your own."""
