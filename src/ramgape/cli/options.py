"""The options of commands: those of a search, out of the table, and what several commands have in common."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ramgape.cli.completion import completer
from ramgape.cli.stores import DEFAULT_STORAGE, VARIABLE
from ramgape.common.checks import whole
from ramgape.common.old_names import OPTION_NAMES
from ramgape.common.parsing import parse_number
from ramgape.errors import require
from ramgape.options import (
    FLAG,
    GOAL,
    GROUPS,
    KNOWN,
    METHOD,
    NAMES,
    OUTCOMES,
    RANGE,
    RISK,
    RUNS,
    SECOND_SPELLINGS,
    TRIALS,
    WISHES,
    Option,
    options_at,
    renamed,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ramgape.trials.backend import TrialEngine

SEVERAL = (NAMES, OUTCOMES, WISHES, KNOWN)  # kinds of options that are given once for each
ARMS, AROUND, OUTPUT = "Arms", "Comparison", "Output"
TIMED, HOW_MANY, GATE = "Commands", "Runs of each command", "Reference and baseline"
# In their order; others stand where they are.
PANELS = (ARMS, TIMED, HOW_MANY, GATE, TRIALS, GOAL, AROUND, RISK, METHOD, RUNS)

Text = str | None  # not given, or as it was typed


def option(panel: str, metavar: str, text: str, *names: str, complete: Callable[[str], list[str]] | None = None) -> Any:
    """An option with a value, which a shell may complete; with names if these are not that of the parameter alone."""
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, autocompletion=complete)


INSTANCE = (
    "A built-in instance such as paper:46, paper-gaussian:3 or paper:exp3, or a JSON file (ramgape list instances)."
)
SEED = "Seed of the first run; run r has SEED + r, and can be repeated alone with that."
JOBS = "Processes that share the runs; 0: one for each core. The numbers do not depend on it."
CLUSTER = "Make the runs on a cluster instead: tcp://SCHEDULER:8786 (Dask), dask (one on this machine), or ray."
KEEP = "Keep finished runs in a folder: after a crash the same command makes only what is missing."

Seed = Annotated[str, option(RUNS, "SEED", SEED)]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of a table.", rich_help_panel=OUTPUT)
]


class RunPlace(NamedTuple):
    """Where runs are made: in so many processes (0: one for each core), or on a cluster; and where they are kept."""

    jobs: int
    cluster: str | None = None
    keep: Path | None = None

    def workers(self, runs: int | None = None) -> AbstractContextManager[Executor | TrialEngine | None]:
        """What makes them; no more processes than there are runs, where their number is known."""
        from ramgape.cli.workers import workers
        from ramgape.trials.pieces import cluster_of

        return workers(self.jobs, runs) if self.cluster is None else cluster_of(self.cluster)


def check_jobs(jobs: str) -> int:
    """How many processes; 0 stands for one for each core."""
    return whole(parse_number(jobs, "jobs"), "jobs", "a whole number of at least 0 (0 means one for each core)", 0)


def processes_or_cluster(jobs: str, cluster: str | None, usual: str) -> RunPlace:
    """In how many processes, or on which cluster, runs are to be made."""
    require(cluster is None or jobs == usual, "jobs", "absent with --cluster, which has workers of its own", jobs)
    return RunPlace(check_jobs(jobs), cluster)


def place_of_runs(
    jobs: Annotated[str, option(RUNS, "COUNT", JOBS)] = "1",
    cluster: Annotated[Text, option(RUNS, "URL", CLUSTER)] = None,
    keep: Annotated[Path | None, option(RUNS, "FOLDER", KEEP)] = None,
) -> RunPlace:
    """Where runs are to be made, as it was typed."""
    return processes_or_cluster(jobs, cluster, "1")._replace(keep=keep)


def takes_options(entry: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command: its parameter `options` has what was typed for the rows of the table at an entry point."""
    rows = {name: row for name, row in options_at(entry).items() if row.shell and name not in GROUPS}

    def read(**typed: Any) -> dict[str, Any]:
        given = {name: text for name, text in typed.items() if text is not None and text != []}
        for old, new in OPTION_NAMES.items():
            if old in given and new in given and given[new] == defaults[new]:
                del given[new]
        given = renamed(given)
        return {name: rows[name].kind.read(text, name) for name, text in given.items()}

    shown = [_parameter(name, row, hidden=name in SECOND_SPELLINGS) for name, row in rows.items()]
    defaults = {each.name: each.default for each in shown}
    older = [_parameter(old, rows[new], hidden=True) for old, new in OPTION_NAMES.items() if new in rows]
    read.__signature__ = inspect.Signature([*shown, *older])  # type: ignore[attr-defined]
    return gathers("options", read)


def _parameter(name: str, row: Option, *, hidden: bool = False) -> inspect.Parameter:
    """A row as a parameter of a command; its default as one would type it."""
    flag, default = row.kind is FLAG, None if hidden else row.default
    switch: Any = bool | None if default is None else bool
    kind: Any = switch if flag else {RANGE: tuple[str, str] | None}.get(row.kind, Text)
    if row.kind in SEVERAL:
        kind = list[str] | None
    if not flag and isinstance(default, int | float):
        default = f"{default:_}" if isinstance(default, int) else f"{default:g}"
    written = f"--{(row.singular or name).replace('_', '-')}"
    declared = typer.Option(
        f"{written}/--no-{written[2:]}" if flag and default is not False else written,
        metavar=row.kind.metavar,
        help=row.text(shell=True),
        rich_help_panel=row.panel,
        autocompletion=completer(OPTION_NAMES.get(name, name)),
        hidden=hidden,
    )
    return _keyword(name, default, kind, declared)


def options_of(kind: type[Any], panel: str) -> Callable[..., Any]:
    """What makes a dataclass of what was typed: an option for each field whose metadata describe one."""
    described = {each.name: each for each in dataclasses.fields(kind) if "text" in each.metadata}

    def make(**typed: Any) -> Any:
        for name, each in described.items():
            if isinstance(each.default, int | float) and not isinstance(each.default, bool):
                typed[name] = parse_number(typed[name], name.replace("_", "-"))
            elif each.default == ():
                typed[name] = typed[name] or ()
        return kind(**typed)

    parameters = []
    for name, each in described.items():
        flag, default = f"--{each.metadata.get('flag', name.replace('_', '-'))}", each.default
        declared = typer.Option(flag, metavar=each.metadata["unit"], help=each.metadata["text"], rich_help_panel=panel)
        typed = bool if isinstance(default, bool) else list[str] | None if default == () else Text
        if isinstance(default, int | float) and typed is not bool:
            default = f"{default:g}"
        parameters.append(_keyword(name, default or None if default == () else default, typed, declared))
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return make


def _keyword(name: str, default: Any, kind: Any, declared: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


def gathers(
    name: str, make: Callable[..., Any], *, last: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command: its parameter `name` is what `make` returns, whose parameters the command has instead.

    In their panels they stand before those of the command, or `last`.
    """
    more = list(inspect.signature(make, eval_str=True).parameters.values())

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())
        place = [each.name for each in own].index(name)

        def command(**given: Any) -> None:
            made = make(**{each.name: given.pop(each.name) for each in more})
            function(**{name: made}, **given)

        rest = [*own[place + 1 :], *more] if last else [*more, *own[place + 1 :]]
        parameters = [*own[:place], *sorted(rest, key=_rank)]
        keywords = [each.replace(kind=each.KEYWORD_ONLY) for each in parameters]
        command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        command.__name__, command.__module__, command.__doc__ = function.__name__, function.__module__, function.__doc__
        return command

    return decorate


def _rank(parameter: inspect.Parameter) -> int:
    panel = getattr(parameter.annotation, "__metadata__", [None])[0]
    panel = getattr(panel, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else len(PANELS)


STORE = "Storage"
STORAGE = (
    "sqlite:///FILE, postgresql://USER@HOST/DATABASE, or a server: http://HOST:PORT. Default: the environment variable "
    f"{VARIABLE}, or what a study file says, or else {DEFAULT_STORAGE} in the current directory."
)


def study_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The studies in the store that is meant."""
    found: list[str] = []
    with suppress(Exception):
        from ramgape.cli.stores import existing_storage
        from ramgape.studies.catalog import list_studies

        found = [study.name for study in list_studies(existing_storage(ctx.params.get("storage")))]
    return [name for name in found if name.startswith(incomplete)]


Storage = Annotated[Text, typer.Option("--storage", metavar="URL", help=STORAGE, rich_help_panel=STORE)]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The study.", show_default=False, autocompletion=study_names)]
