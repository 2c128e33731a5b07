"""What `ramgape run` takes for commands that are typed: how they are timed, and files of what was measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ramgape.cli.options import OUTPUT, Text, option
from ramgape.commands.how_timed import HowTimed
from ramgape.common.checks import whole
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import is_watched, knows_unicode, messages
from ramgape.errors import InvalidSpec
from ramgape.options import COMMANDS, GOAL, TRIALS, options_at

if TYPE_CHECKING:
    from ramgape.commands.times import Timing
    from ramgape.studies.study import Study
    from ramgape.trials.progress import Progress

OFTEN = 0.2  # seconds between two tables, at least

NAME = "Store the study under this name: the same command then goes on with it. Unless given: in memory."
COMMAND_NAME = "A name for a command; give it once for each, in their order."
WARMUP = "Runs of each command before the first that counts, to fill caches."
PREPARE = "A command to run before each run, not timed: once for all commands, or once for each in their order."
SHELL = "The shell that runs the commands, by its name or as a line such as 'bash --norc'; none: no shell."
NO_SHELL = "The same as --shell none."
MIN_RUNS = "Runs of each command before anything is said. Unless given: 10, or 2 under a --budget."
RUNS = "Exactly so many runs of each command, whatever they prove; instead of the others that say how many."
MAX_RUNS = "Give up, undecided, after so many runs of each command, on average over all of them."
IGNORE = "Let runs with exit codes other than 0 count, and say how many there were; otherwise they are an error."
EXPORT_JSON = "Write every run into a JSON file, in the form that hyperfine writes."
EXPORT_MARKDOWN = "Write a table into a Markdown file, in the form that hyperfine writes."


def how_timed(
    name: Annotated[Text, option(TRIALS, "NAME", NAME)] = None,
    command_name: Annotated[
        list[str] | None,
        typer.Option("--command-name", "-n", metavar="NAME", help=COMMAND_NAME, rich_help_panel=TRIALS),
    ] = None,
    warmup: Annotated[
        Text, typer.Option("--warmup", "-w", metavar="COUNT", help=WARMUP, rich_help_panel=TRIALS)
    ] = None,
    prepare: Annotated[
        list[str] | None, typer.Option("--prepare", "-p", metavar="COMMAND", help=PREPARE, rich_help_panel=TRIALS)
    ] = None,
    shell: Annotated[Text, typer.Option("--shell", "-S", metavar="NAME", help=SHELL, rich_help_panel=TRIALS)] = None,
    no_shell: Annotated[bool, typer.Option("-N", help=NO_SHELL, rich_help_panel=TRIALS)] = False,
    min_runs: Annotated[
        Text, typer.Option("--min-runs", "-m", metavar="COUNT", help=MIN_RUNS, rich_help_panel=GOAL)
    ] = None,
    runs: Annotated[Text, typer.Option("--runs", "-r", metavar="COUNT", help=RUNS, rich_help_panel=GOAL)] = None,
    max_runs: Annotated[
        Text, typer.Option("--max-runs", "-M", metavar="COUNT", help=MAX_RUNS, rich_help_panel=GOAL)
    ] = None,
    ignore_failure: Annotated[
        bool, typer.Option("--ignore-failure", "-i", help=IGNORE, rich_help_panel=TRIALS)
    ] = False,
) -> HowTimed:
    """How commands are timed."""
    if no_shell and shell not in (None, "none"):
        raise InvalidSpec(what="-N", verb="go", allowed="without another --shell", given=repr(shell))
    return HowTimed(
        name=name,
        names=tuple(command_name or ()),
        prepare=tuple(prepare or ()),
        warmup=_count(warmup, "warmup", 0) or 0,
        shell="none" if no_shell else shell,
        min_runs=_count(min_runs, "min-runs", 2),
        max_runs=_count(max_runs, "max-runs", 2),
        runs=_count(runs, "runs", 2),
        ignore_failure=ignore_failure,
    )


def _count(text: str | None, what: str, least: int) -> int | None:
    if text is None:
        return None
    return whole(parse_number(text, what), f"--{what}", f"a whole number of at least {least}", least)


class Exports(NamedTuple):
    """Files to write at the end."""

    json: Path | None
    markdown: Path | None

    def check(self, elapsed: bool) -> None:
        """Complain before anything is run."""
        from ramgape.commands.exports import check_target

        for path, what in ((self.json, "--export-json"), (self.markdown, "--export-markdown")):
            if path is not None and not elapsed:
                raise InvalidSpec(what=what, verb="go", allowed="with times, reward = 'elapsed'", given="other rewards")
            check_target(path, what)

    def write(self, timing: Timing) -> None:
        """All of them, with the commands in the order in which they were given."""
        from ramgape.commands.exports import as_json, as_markdown, write_export

        order = {arm.name: place for place, arm in enumerate(timing.report.result.arms)}
        times = sorted(timing.times, key=lambda each: order[each.name])
        write_export(self.json, "--export-json", as_json, times)
        write_export(self.markdown, "--export-markdown", as_markdown, times)


def exports(
    export_json: Annotated[Path | None, option(OUTPUT, "FILE", EXPORT_JSON)] = None,
    export_markdown: Annotated[Path | None, option(OUTPUT, "FILE", EXPORT_MARKDOWN)] = None,
) -> Exports:
    """The files to write."""
    return Exports(export_json, export_markdown)


def is_file(given: str, alone: bool) -> bool:
    """Whether an argument is a study file: it ends in .toml, without blanks as a command would have; or is there, where
    there is no other."""
    there = os.path.exists(given)  # noqa: PTH110 - which takes a line of any length for no file
    return (there and alone) or (given.endswith(".toml") and (there or not any(map(str.isspace, given))))


def refuse_beside_file(file: str, how: HowTimed, options: dict[str, Any]) -> None:
    """Complain about options that a study file has a say in."""
    usual, rows = HowTimed(), options_at(COMMANDS)
    words = {"names": "command-name"}
    given = [words.get(name, name) for name in HowTimed.__dataclass_fields__ if _differ(how, usual, name)]
    given += [name for name, value in options.items() if value != rows[name].default]
    if given:
        what, hint = f"--{given[0].replace('_', '-')}", f": {file} is a study file, which says all that itself"
        raise InvalidSpec(what=what, verb="go", allowed="with commands", given="a file", hint=hint)


def _differ(how: HowTimed, usual: HowTimed, name: str) -> bool:
    return bool(getattr(how, name) != getattr(usual, name))


@contextmanager
def watching_times(study: Study) -> Iterator[Callable[[Progress], None] | None]:
    """A live table of commands; what is yielded is told of every run.

    Nothing is drawn but between two runs: whatever we do meanwhile would be measured with them.
    """
    if not is_watched():
        yield None
        return
    from rich.live import Live

    from ramgape.views.timing import live_table

    search = study.spec.search
    console, last, least = messages(), 0.0, len(search.names) * search.initial_pulls if search.budget is None else 0
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(progress: Progress) -> None:
            nonlocal last
            if time.monotonic() - last >= OFTEN:
                result = study.result(expect=False)
                live.update(live_table(result, console.width, not knows_unicode(console), least), refresh=True)
                last = time.monotonic()

        yield show
