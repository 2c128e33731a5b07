"""`ramgape study`: searches that last, run from the shell."""

from __future__ import annotations

import typer

from ramgape.cli import study_create, study_delete, study_files, study_show, study_work

HELP = """Search with trials of your own, over hours or weeks, from any number of processes at once.

A study lives in a store, a file or a PostgreSQL database. Ask it which arm to try, tell it what came out:

[bold]ramgape study create models --arm A --arm B --reward-range 0 1 --epsilon 0.05[/bold]

[bold]ramgape study ask models --json[/bold]

[bold]ramgape study tell models a1b2c3-0 0.7[/bold]

[bold]ramgape study show models[/bold]
"""
# A reward may be negative: what begins with a dash and is no option is a value.
NEGATIVE = {"ignore_unknown_options": True}

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode="rich")
app.command("create")(study_create.create)
app.command("list")(study_show.list_studies)
app.command("show")(study_show.show)
app.command("ask")(study_work.ask)
app.command("tell", context_settings=NEGATIVE)(study_work.tell_reward)
app.command("fail")(study_work.fail)
app.command("observe", context_settings=NEGATIVE)(study_work.observe)
app.command("front")(study_show.front)
app.command("import")(study_files.import_trials)
app.command("export")(study_files.export_trials)
app.command("renew")(study_work.renew)
app.command("give-back")(study_work.give_back)
app.command("retry")(study_work.retry)
app.command("delete")(study_delete.delete)
