"""What `ramgape run` takes for commands that are typed: how they are timed, how that is shown, and files of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ramgape.cli.command_table import PlainCommand
from ramgape.cli.gate import SUMMARY, checked_summary
from ramgape.cli.options import GATE, HOW_MANY, OUTPUT, TIMED, Text, option
from ramgape.cli.pictures import check_place, write_file
from ramgape.commands.how_timed import HowTimed
from ramgape.common.checks import whole
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import is_watched
from ramgape.common.whole_files import is_stream
from ramgape.errors import InvalidSpec, known_name, require
from ramgape.options import COMMANDS, options_at

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from ramgape.commands.times import Timing

OFTEN, LONGEST = 0.2, 1.0  # seconds between two tables, at least and at most
RARELY = 20.0  # and so many times what a table takes
SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
STYLES = ("auto", "basic", "full", "nocolor", "color", "none")
SORTS = ("auto", "command", "mean-time")
UNITS = ("microsecond", "millisecond", "second")
SEVERAL = {"-P": 3, "--parameter-scan": 3, "-L": 2, "--parameter-list": 2}  # options with several values
BETWEEN = "\x1f"  # which no value contains

NAME = "Store the study under this name: the same command then goes on with it. Default: in memory."
COMMAND_NAME = "A name for a command; give it once for each, in their order."
SETUP = "A command to run once for each command, before any run."
CLEANUP = "A command to run once for each command after all runs."
PREPARE = "A command to run before each run, not timed; give it once for all commands, or once for each."
CONCLUDE = "A command to run after each run, likewise."
SCAN = "Time the command with each value from MIN to MAX in place of {VAR}."
STEP = "The step between the values of a scan. Default: 1."
LIST = "Time the command with each of these values (a,b,c) in place of {VAR}; may be repeated."
REFERENCE = "Compare the commands with this one. Default: the fastest."
REFERENCE_NAME = "A name for the --reference."
WARMUP = "Runs of each command that do not count, to fill caches. Default: 0."
SHELL = "The shell that runs the commands, such as 'bash --norc', or none. Default: the shell of the system."
NO_SHELL = "Run programs without a shell: --shell none."
INPUT = "A file that commands read. Default: null."
PRINTED = "Where the output of commands goes: null, pipe (read and dropped), inherit or a file. Default: null."
SHOW_OUTPUT = "Show the output of commands: --output inherit."
MIN_RUNS = "The least number of runs of each command. Default: 10, or 2 with --budget."
RUNS = "The exact number of runs of each command."
MAX_RUNS = (
    "The largest number of runs of each command, on average. Default: 3 s of runs and at least 10; no limit if "
    "you pass --epsilon, --delta or another goal."
)
BUDGET_TIME = "Stop after so much time: 60s, 5m, 1h."
IGNORE = "Count runs with exit codes other than 0. Default: they are an error."
BASELINE = "Compare with an earlier --export-json of this tool or of hyperfine."
EXIT_CODE = (
    "Exit with 0 if no command is slower than the baseline, the reference or the answer (proved), 1 if one is "
    "(refuted), 3 if that is undecided, 2 after an error."
)
UNIT = "The unit of times: microsecond, millisecond or second. Default: what fits."
SORT = "The order of commands: auto (mean-time on the screen, command in files), command or mean-time."
STYLE = "auto, basic (no colors, nothing moves), full, nocolor, color (nothing moves) or none (print nothing)."
QUIET = "Print the answer alone."
VERBOSE = "Print medians, memory, outliers and the tolerance as well."
EXPORTS = {
    "asciidoc": "Write a table into an AsciiDoc file.",
    "csv": "Write a line for each command into a CSV file, in seconds.",
    "json": "Write every run into a JSON file, in the form that hyperfine writes.",
    "markdown": "Write a table into a Markdown file.",
    "orgmode": "Write a table into an Emacs org-mode file.",
}


class RunCommand(PlainCommand):
    """The command, some of whose options take several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read what was typed for it."""
        return super().parse_args(ctx, join_values(args))


def join_values(args: Sequence[str]) -> list[str]:
    r"""The arguments, with the values of one option in one of them.

    >>> join_values(["-P", "n", "1", "8", "make -j {n}"])
    ['-P', 'n\x1f1\x1f8', 'make -j {n}']
    """
    joined: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        joined.append(word)
        if word == "--":
            return joined + rest
        if count := SEVERAL.get(word):
            require(len(rest) >= count, word, f"followed by {count} values", " ".join(rest) or "nothing")
            joined.append(BETWEEN.join(rest[:count]))
            del rest[:count]
    return joined


def _several(text: str, name: str) -> tuple[str, ...]:
    values = tuple(text.split(BETWEEN))
    require(len(values) == SEVERAL[name], name, f"followed by {SEVERAL[name]} values", text)
    return values


def _flag(short: str, long: str, text: str, panel: str) -> Any:
    return typer.Option(*filter(None, (long, short)), help=text, rich_help_panel=panel)


def _value(short: str, long: str, metavar: str, text: str, panel: str) -> Any:
    return typer.Option(*filter(None, (long, short)), metavar=metavar, help=text, rich_help_panel=panel)


Texts = list[str] | None


def how_timed(
    command_name: Annotated[Texts, _value("-n", "--command-name", "NAME", COMMAND_NAME, TIMED)] = None,
    parameter_scan: Annotated[Text, _value("-P", "--parameter-scan", "VAR MIN MAX", SCAN, TIMED)] = None,
    parameter_step_size: Annotated[Text, _value("-D", "--parameter-step-size", "STEP", STEP, TIMED)] = None,
    parameter_list: Annotated[Texts, _value("-L", "--parameter-list", "VAR VALUES", LIST, TIMED)] = None,
    setup: Annotated[Text, _value("-s", "--setup", "COMMAND", SETUP, TIMED)] = None,
    prepare: Annotated[Texts, _value("-p", "--prepare", "COMMAND", PREPARE, TIMED)] = None,
    conclude: Annotated[Texts, _value("-C", "--conclude", "COMMAND", CONCLUDE, TIMED)] = None,
    cleanup: Annotated[Text, _value("-c", "--cleanup", "COMMAND", CLEANUP, TIMED)] = None,
    shell: Annotated[Text, _value("-S", "--shell", "NAME", SHELL, TIMED)] = None,
    no_shell: Annotated[bool, _flag("", "-N", NO_SHELL, TIMED)] = False,
    input: Annotated[Text, option(TIMED, "FILE", INPUT)] = None,  # noqa: A002 - the option's name
    output: Annotated[Text, option(TIMED, "WHERE", PRINTED)] = None,
    show_output: Annotated[bool, _flag("", "--show-output", SHOW_OUTPUT, TIMED)] = False,
    warmup: Annotated[Text, _value("-w", "--warmup", "COUNT", WARMUP, HOW_MANY)] = None,
    min_runs: Annotated[Text, _value("-m", "--min-runs", "COUNT", MIN_RUNS, HOW_MANY)] = None,
    runs: Annotated[Text, _value("-r", "--runs", "COUNT", RUNS, HOW_MANY)] = None,
    max_runs: Annotated[Text, _value("-M", "--max-runs", "COUNT", MAX_RUNS, HOW_MANY)] = None,
    budget_time: Annotated[Text, option(HOW_MANY, "TIME", BUDGET_TIME)] = None,
    ignore_failure: Annotated[bool, _flag("-i", "--ignore-failure", IGNORE, HOW_MANY)] = False,
    name: Annotated[Text, option(HOW_MANY, "NAME", NAME)] = None,
    reference: Annotated[Text, option(GATE, "COMMAND", REFERENCE)] = None,
    reference_name: Annotated[Text, option(GATE, "NAME", REFERENCE_NAME)] = None,
    baseline: Annotated[Text, option(GATE, "FILE", BASELINE)] = None,
) -> HowTimed:
    """How commands are timed."""
    if no_shell and shell not in (None, "none"):
        raise InvalidSpec(what="-N", verb="go", allowed="without another --shell", given=repr(shell))
    if show_output and output not in (None, "inherit"):
        raise InvalidSpec(what="--show-output", verb="go", allowed="without another --output", given=repr(output))
    scan: Any = None if parameter_scan is None else _several(parameter_scan, "--parameter-scan")
    lists: Any = tuple(_several(each, "--parameter-list") for each in parameter_list or ())
    return HowTimed(
        name=name,
        command_name=tuple(command_name or ()),
        setup=setup,
        cleanup=cleanup,
        prepare=tuple(prepare or ()),
        conclude=tuple(conclude or ()),
        parameter_scan=scan,
        parameter_step_size=parameter_step_size,
        parameter_list=lists,
        reference=reference,
        reference_name=reference_name,
        warmup=_count(warmup, "warmup", 0) or 0,
        shell="none" if no_shell else shell,
        input=input,
        output="inherit" if show_output else output or "null",
        min_runs=_count(min_runs, "min-runs", 2),
        max_runs=_count(max_runs, "max-runs", 2),
        runs=_count(runs, "runs", 2),
        budget_time=None if budget_time is None else seconds_of(budget_time),
        ignore_failure=ignore_failure,
        baseline=baseline,
    )


def _count(text: str | None, what: str, least: int) -> int | None:
    if text is None:
        return None
    return whole(parse_number(text, what), f"--{what}", f"a whole number of at least {least}", least)


def seconds_of(text: str) -> float:
    """A time as it is typed, in seconds.

    >>> seconds_of("60s"), seconds_of("1.5m"), seconds_of("250ms")
    (60.0, 90.0, 0.25)
    """
    found = re.fullmatch(r"\s*([0-9.eE+]+)\s*([a-z]*)\s*", text)
    if found is None or found[2] not in SECONDS:
        raise InvalidSpec(what="--budget-time", allowed="a time such as 60s, 5m or 1h", given=repr(text))
    seconds = float(parse_number(found[1], "--budget-time") or 0.0) * SECONDS[found[2]]
    require(seconds > 0.0, "--budget-time", "more than 0", text)
    return seconds


class Shown(NamedTuple):
    """How times are shown, and with which exit code it ends."""

    unit: str | None
    sort: str
    style: str
    told: str
    exit_code: bool
    summary: str | None

    def console(self, *, stderr: bool = False) -> Console:
        """Where text goes, in this style."""
        from rich.console import Console

        styles: dict[str, dict[str, Any]] = {
            "basic": {"no_color": True, "force_terminal": False},
            "full": {"force_terminal": True},
            "nocolor": {"no_color": True, "force_terminal": True},
            "color": {"force_terminal": True},
            "none": {"quiet": True},
        }
        return Console(highlight=False, stderr=stderr, **styles.get(self.style, {}))

    def print(self, timing: Timing) -> None:
        """Print what was measured: in colors at a terminal, elsewhere as plain text."""
        from ramgape.views.console import ConsoleView
        from ramgape.views.text import plain

        console = self.console()
        if console.is_terminal:
            console.print(ConsoleView(timing, shell=True))
        elif self.style != "none":
            console.file.write(f"{plain(timing, console.width, shell=True)}\n")

    @property
    def moves(self) -> bool:
        """Whether a table is shown while commands run."""
        return self.style in ("full", "nocolor") or (self.style == "auto" and is_watched())


def shown(
    time_unit: Annotated[Text, _value("-u", "--time-unit", "UNIT", UNIT, OUTPUT)] = None,
    sort: Annotated[str, option(OUTPUT, "ORDER", SORT)] = "auto",
    style: Annotated[str, option(OUTPUT, "STYLE", STYLE)] = "auto",
    quiet: Annotated[bool, _flag("-q", "--quiet", QUIET, OUTPUT)] = False,
    verbose: Annotated[bool, _flag("-v", "--verbose", VERBOSE, OUTPUT)] = False,
    exit_code: Annotated[bool, _flag("", "--exit-code", EXIT_CODE, GATE)] = False,
    summary: Annotated[Text, _value("", "--summary", "FILE", SUMMARY, OUTPUT)] = None,
) -> Shown:
    """How times are shown."""
    if time_unit is not None:
        known_name(time_unit, UNITS, "--time-unit")
    known_name(sort, SORTS, "--sort")
    known_name(style, STYLES, "--style")
    require(not (quiet and verbose), "--quiet", "given without --verbose", "both")
    told = "quiet" if quiet else "verbose" if verbose else "usual"
    return Shown(time_unit, sort, style, told, exit_code, checked_summary(summary))


class Exports(NamedTuple):
    """Files to write at the end, by their format."""

    paths: dict[str, Path]

    def check(self, elapsed: bool) -> None:
        """Complain before anything is run."""
        for name, path in self.paths.items():
            what = f"--export-{name}"
            if not elapsed:
                raise InvalidSpec(what=what, verb="go", allowed="with times, reward = 'elapsed'", given="other rewards")
            if not is_stream(path):
                check_place(path, what)

    def write(self, timing: Timing) -> None:
        """All of them, with the commands in the order in which they were given, unless another one is asked for."""
        if not self.paths:
            return
        from ramgape.commands.exports import write_export

        for name, path in self.paths.items():
            write = partial(write_export, form=name, measured=timing.sorted("command"), unit=timing.unit)
            write_file(write, path, f"--export-{name}")


def exports(
    export_asciidoc: Annotated[Path | None, option(OUTPUT, "FILE", EXPORTS["asciidoc"])] = None,
    export_csv: Annotated[Path | None, option(OUTPUT, "FILE", EXPORTS["csv"])] = None,
    export_json: Annotated[Path | None, option(OUTPUT, "FILE", EXPORTS["json"])] = None,
    export_markdown: Annotated[Path | None, option(OUTPUT, "FILE", EXPORTS["markdown"])] = None,
    export_orgmode: Annotated[Path | None, option(OUTPUT, "FILE", EXPORTS["orgmode"])] = None,
) -> Exports:
    """The files to write."""
    given = (export_asciidoc, export_csv, export_json, export_markdown, export_orgmode)
    return Exports({name: path for name, path in zip(EXPORTS, given, strict=True) if path is not None})


def is_file(given: str, alone: bool) -> bool:
    """Whether an argument is a study file: a line that ends in .toml, without blanks as a command would have."""
    there = os.path.exists(given)  # noqa: PTH110 - which takes a line of any length for no file
    if given.endswith(".toml"):
        return there or not any(map(str.isspace, given))
    return there and alone and (os.path.isdir(given) or not os.access(given, os.X_OK))  # noqa: PTH112


def refuse_beside_file(file: str, how: HowTimed, options: dict[str, Any]) -> None:
    """Complain about options that a study file has a say in."""
    usual, rows = HowTimed(), options_at(COMMANDS)
    given = [name for name in HowTimed.__dataclass_fields__ if getattr(how, name) != getattr(usual, name)]
    given += [name for name, value in options.items() if value != rows[name].default]
    if given:
        what, hint = f"--{given[0].replace('_', '-')}", f": {file} is a study file, which says all that itself"
        raise InvalidSpec(what=what, verb="go", allowed="with commands", given="a file", hint=hint)


@contextmanager
def live(shown: Shown) -> Iterator[Callable[[Callable[[int, bool], RenderableType]], None]]:
    """A table that changes while commands run; what is yielded takes what draws it for a width, perhaps in ASCII.

    Nothing is drawn but between two runs: whatever we do meanwhile would be measured with them.
    """
    if not shown.moves:
        yield lambda _: None
        return
    from rich.live import Live

    from ramgape.common.terminal import knows_unicode

    console, again = shown.console(stderr=True), 0.0
    with Live(console=console, auto_refresh=False, transient=True) as drawn:

        def show(table: Callable[[int, bool], RenderableType]) -> None:
            nonlocal again
            if (begun := time.monotonic()) >= again:
                drawn.update(table(console.width, not knows_unicode(console)), refresh=True)
                again = time.monotonic() + min(max(OFTEN, RARELY * (time.monotonic() - begun)), LONGEST)

        yield show
