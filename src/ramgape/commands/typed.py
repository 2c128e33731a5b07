"""Commands as they are typed after `ramgape run`, to be timed: the study that they stand for."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ramgape.assumptions import FEWEST, UNKNOWN
from ramgape.commands.how_timed import HowTimed
from ramgape.commands.parameters import MOST_VALUES, combinations, listed, scanned, substituted, unused
from ramgape.commands.placeholders import SHELL, Command, base
from ramgape.commands.shell_lines import names_in
from ramgape.commands.study_files import (
    KEEP,
    NULL,
    OUTCOMES,
    RESOURCES,
    Execution,
    StudyFile,
    check_command,
    cut_off_as,
    how_run,
    timing,
)
from ramgape.common.formatting import plural
from ramgape.errors import InvalidSpec, StudyExists, require, shorten
from ramgape.options import OPTIONS, StudyOptions
from ramgape.search.objectives import make_objectives
from ramgape.search.outcome import OURS
from ramgape.trials.calls import check_timeout

if TYPE_CHECKING:
    from ramgape.studies.study import Study

IN_MEMORY = "commands"  # the name of a study without a name
DEFAULT_SHARE = "5%"  # of the smallest mean after the first rounds: a difference that rarely matters
DEFAULT_RUNS = 10  # of each command; before, nothing is said of times of any kind
NO_SHELL, USUAL_SHELL = "none", "default"


def describe_commands(lines: Sequence[str], how: HowTimed, options: Mapping[str, Any]) -> StudyFile:
    """The study of commands; like one from a file whose reward is the elapsed time."""
    require(how.name != "", "--name", "a name", how.name)
    described = describe_lines(lines, how)
    count = len(described)
    require(how.name is None or count > 1, "--name", "absent with a single command, which is not stored", how.name)
    folder, shell = Path.cwd(), shell_words(how.shell)
    read = {name: read_command(name, line, shell, folder) for name, (line, _) in described.items()}

    def around(what: str, given: Sequence[str]) -> dict[str, Command]:
        allowed = f"absent, one for all commands, or one for each of the {len(lines)}"
        require(len(given) in (0, 1, len(lines)), f"--{what}", allowed, list(given))
        typed = len(described) - (how.reference is not None)
        every = [given[0 if len(given) == 1 else at % len(given)] for at in range(typed)] if given else []
        every = [*([every[0]] if every and how.reference is not None else []), *every]
        return {
            name: read_command(f"--{what} of {name}", substituted(line, values), shell, folder)
            for line, (name, (_, values)) in zip(every, described.items(), strict=False)
        }

    options = dict(options)
    timeout = options.pop("timeout", None)
    timeout = None if timeout is None else check_timeout(timeout)
    several = options.get("objectives") is not None
    if several:
        searched, earlier = outcome_options(count, how, options), list[dict[str, Any]]()
    else:
        searched, *earlier = (search_options(count, how, options, timeout, before=before) for before in (False, True))
    return StudyFile(
        path=None,
        name=how.name or IN_MEMORY,
        commands=read,
        reward=OUTCOMES if several else "elapsed",
        timeout=timeout,
        folder=folder,
        storage=None,
        options=cast(StudyOptions, searched),
        warnings=() if several else too_few_runs(searched),
        execution=Execution(
            shell=shell or None,
            setup=around("setup", [] if how.setup is None else [how.setup]),
            prepare=around("prepare", how.prepare),
            conclude=around("conclude", how.conclude),
            cleanup=around("cleanup", [] if how.cleanup is None else [how.cleanup]),
            strict=not how.ignore_failure,
            output=KEEP if several and how.output == NULL else how.output,
            input=check_input(how.input),
        ),
        parameters={name: values for name, (_, values) in described.items() if values},
        reference=None if how.reference is None else next(iter(described)),
        earlier=cast(tuple[StudyOptions, ...], tuple(earlier)),
    )


def describe_lines(lines: Sequence[str], how: HowTimed) -> dict[str, tuple[str, dict[str, str]]]:
    """Each command by its name, the reference first: its line, with parameters filled in, and their values."""
    allowed = f"at most as many as there are commands, {len(lines)}"
    require(len(how.command_name) <= len(lines), "--command-name", allowed, list(how.command_name))
    require(
        how.parameter_step_size is None or how.parameter_scan is not None,
        "--parameter-step-size",
        "given with --parameter-scan",
        how.parameter_step_size,
    )
    parameters = [] if how.parameter_scan is None else [scanned(*how.parameter_scan, how.parameter_step_size)]
    parameters += [listed(name, values) for name, values in how.parameter_list]
    if missing := unused(parameters, lines):
        hint = f": no command contains {{{missing[0]}}}"
        raise InvalidSpec(what=f"parameter {missing[0]}", verb="stand", allowed="in a command", hint=hint)
    every = combinations(parameters)
    require(len(every) * len(lines) <= MOST_VALUES, "commands", f"at most {MOST_VALUES:,}", len(every) * len(lines))
    names = [*how.command_name, *lines[len(how.command_name) :]]
    made: list[tuple[str, str, dict[str, str]]] = []
    if how.reference is not None:
        made.append((how.reference_name or how.reference, how.reference, {}))
    require(how.reference is not None or how.reference_name is None, "--reference-name", "given with --reference", "-")
    for values in every:
        for name, line in zip(names, lines, strict=True):
            shown = substituted(name, values)
            rest = {key: value for key, value in values.items() if f"{{{key}}}" not in name}
            shown += f" ({', '.join(f'{key}={value}' for key, value in rest.items())})" if rest else ""
            made.append((shown, substituted(line, values), values))
    shown_names = distinct([name for name, _, _ in made])
    return {name: (line, dict(values)) for name, (_, line, values) in zip(shown_names, made, strict=True)}


def check_input(path: str | None) -> str | None:
    """A file that commands read, or None for nothing."""
    if path in (None, NULL):
        return None
    require(os.path.isfile(path), "--input", f"a file, or {NULL}", path)  # noqa: PTH113
    return path


def too_few_runs(options: Mapping[str, Any]) -> tuple[str, ...]:
    """A warning about times of any kind, of which so little is asked that what is said was not checked."""
    runs = options.get("initial_trials", DEFAULT_RUNS)
    if runs >= DEFAULT_RUNS or "reward_range" in options or (options.get("assumption") or UNKNOWN) != UNKNOWN:
        return ()
    few = f"{plural(runs, 'run')} of each command: the approximation was checked from {DEFAULT_RUNS} on"
    return (f"{few}, and what is said of fewer may be wrong more often than stated",)


def refuse_other_commands(study: Study, described: StudyFile) -> None:
    """Complain about a stored study of commands that bear the same names and are others, or were run in another way."""
    begun: dict[str, dict[str, Any]] = {}
    for row, _ in study.backend.observations():
        if row.arm not in begun and row.info:
            begun[row.arm] = json.loads(row.info).get(OURS, {})
    for arm in described.commands:
        kept = begun.get(arm, {})
        for name, given in how_run(described, arm).items():
            if name in kept and kept[name] != given:
                words = {"command": f"the command {arm!r}", "shell": "--shell", "prepare": f"--prepare of {arm!r}"}
                where = f"{words[name]} is {_worded(kept[name])} in the store, {_worded(given)} here"
                study.close()
                raise StudyExists(f"study {described.name!r} has runs of something else: {where}")


def _worded(value: object) -> str:
    if value is None:
        return "not given"
    return f"{shorten(shlex.join(value))} without a shell" if isinstance(value, list) else shorten(value)


def in_words_of_runs(message: str, count: int) -> str:
    """What is said of the options of a search, in the words of the command line.

    >>> in_words_of_runs("max_trials is 24 in the store, 40 here; initial_trials is 10 in the store, 5 here", 2)
    '--max-runs is 12 in the store, 20 here; --min-runs is 10 in the store, 5 here'
    """

    def runs(found: re.Match[str]) -> str:
        most = OPTIONS["max_trials"].default
        stored, given = ("not given" if int(number) == most else str(int(number) // count) for number in found.groups())
        return f"--max-runs is {stored} in the store, {given} here"

    message = re.sub(r"\bmax_trials is (\d+) in the store, (\d+) here", runs, message)
    return message.replace("initial_trials is ", "--min-runs is ")


def search_options(
    count: int, how: HowTimed, options: Mapping[str, Any], timeout: float | None, *, before: bool = False
) -> dict[str, Any]:
    """The options of the search: the fastest command, unless something else is asked for.

    With `before`, as they were when a time that was cut off counted as the whole, and --runs was a budget.
    """
    failing = {"failure": "worst" if before else cut_off_as(options)} if timeout is not None else {"retries": 0}
    asked = {"in_order": True, **failing, **options}
    if how.runs is not None:
        alone = how.min_runs is None and how.max_runs is None and asked.get("budget") is None
        require(alone, "--runs", "given without --min-runs, --max-runs and --budget", how.runs)
        asked |= {"budget" if before else "max_trials": how.runs * count, "initial_trials": how.runs}
    if asked.get("epsilon") is None and asked.get("budget") is None:
        asked["epsilon"] = DEFAULT_SHARE
    least = FEWEST if how.min_runs is None else how.min_runs
    if how.min_runs is not None:
        asked["initial_trials"] = how.min_runs
    elif asked.get("budget") is None:
        least = DEFAULT_RUNS
    if how.max_runs is not None:
        allowed = f"at least {least}, the fewest runs of a command, and absent under a budget"
        require(how.max_runs >= least and asked.get("budget") is None, "--max-runs", allowed, how.max_runs)
        asked["max_trials"] = how.max_runs * count
    return asked | timing(asked, timeout)


def outcome_options(count: int, how: HowTimed, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a search about several outcomes of every run; nothing is assumed of times and of memory."""
    require(count > 1 or str(options.get("question")).startswith("above"), "commands", "two at least", count)
    asked: dict[str, Any] = {"in_order": True, "retries": 0, **options}
    if asked.get("outcomes"):
        asked["outcomes"] = dict.fromkeys(RESOURCES, UNKNOWN) | asked["outcomes"]
    if asked.get("question") == "best" and len(make_objectives(asked["objectives"])) > 1:
        del asked["question"]  # the default of a command, which means one objective
    fewest = how.runs if how.runs is not None else how.min_runs
    most = how.runs if how.runs is not None else how.max_runs
    if fewest is not None:
        asked["initial_trials"] = fewest
    if most is not None:
        asked["max_trials"] = most * count
    return asked


def shell_words(shell: str | None) -> tuple[str, ...] | None:
    """What starts a shell, before "-c" and a line: None for the system's own, nothing for none at all.

    >>> shell_words("bash --norc"), shell_words("none"), shell_words("default")
    (('bash', '--norc'), (), None)
    """
    if shell is None or shell == USUAL_SHELL:
        return None
    if shell == NO_SHELL:
        return ()
    words = split_line(shell, "--shell")
    there = bool(words) and shutil.which(words[0]) is not None
    require(there, "--shell", f"a shell that can be found, {USUAL_SHELL} or {NO_SHELL}", shell)
    return words


def read_command(name: str, line: str, shell: tuple[str, ...] | None, folder: Path) -> Command:
    """A line for the shell, or its words where there is none."""
    if shell and not SHELL.pattern.fullmatch(base(shell[0])):
        allowed = "without {arm}, {seed} and {item}, because --shell is no known shell; read RAMGAPE_SEED instead"
        require(not names_in(line), f"command {name!r}", allowed, line)
    return check_command(name, line if shell != () else list(split_line(line, f"command {name!r}")), folder, "command")


def split_line(line: str, what: str) -> tuple[str, ...]:
    """The words of a line, as a shell would read them."""
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise InvalidSpec(what=what, allowed="words, with every quote closed", given=line, hint=f": {error}") from None


def distinct(names: Sequence[str]) -> list[str]:
    """The same names, numbered where one comes again: a command may be compared with itself.

    >>> distinct(["sort", "sort", "uniq"])
    ['sort', 'sort (2)', 'uniq']
    """
    made: list[str] = []
    for name in names:
        number, text = 1, name
        while text in made:
            number += 1
            text = f"{name} ({number})"
        made.append(text)
    return made
