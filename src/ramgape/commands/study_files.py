"""Study files: TOML that names the arms and their commands, read so that an error names its place.

    [study]
    name = "sorting"          # unless given, the file's own
    reward = "elapsed"        # the time a command takes; or "output", the last line that it prints
    timeout = 10.0            # seconds
    epsilon = 0.05
    delta = 0.05

    [arms]
    quick = "sort --parallel=1 data-{seed}.txt"     # run by the shell
    merge = ["./merge", "data-{seed}.txt"]          # run as it is

A table [price] may say what a trial of each arm costs. With `objectives` a trial has several outcomes: elapsed, user,
system (seconds), memory (bytes), and the numbers of a JSON object on the last line of the output. What is assumed of
them stands in a table:

    [outcomes]
    accuracy = {range = [0, 1], epsilon = 0.02}
    elapsed = {noise = "unknown", epsilon = 0.1}

A table [known] has values that are not measured, {large = 2.0, small = 0.2} by outcome. All other keys of [study] are
the keywords of `Study.create`. Paths are relative to the file; `items`, a test set, may be that of one (see
`read_items`). In a line for the shell {arm}, {seed} and {item} are one word each, and must stand outside quotes (see
`placeholders`).

With `reward = "elapsed"` less is better, the assumption about times is "unknown" (an asymptotic guarantee; "bounded"
has them in [0, timeout], for a finite-sample one), and a failed trial counts as the timeout or more ("censored"): that
is all that is known of a run that was ended, and to leave it out would flatter the arm that runs into it. Such an arm
is never proved the fastest. Where the task is not the best mean, a failed trial counts as the timeout ("worst"). An
exit code other than 0 counts the same, so that no command wins by giving up early; `failure = "retry"` tries again
instead. A command that has never done anything but fail is refused. And since the quick runs of an arm would be told
before its slow ones, `in_order` is true; and since machines drift, `interleave` is.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from ramgape.assumptions import ASSUMPTIONS, BOUNDED, UNKNOWN
from ramgape.commands.placeholders import Command, check_file_name, parse_command
from ramgape.commands.shell_lines import names_in
from ramgape.errors import InvalidSpec, RamgapeError, SpecificationError, StorageError, known_name, located, require
from ramgape.options import FILE, OPTIONS, StudyOptions, options_at, renamed
from ramgape.problems.instance_files import read_text
from ramgape.questions import PARETO, make_question
from ramgape.questions.best import Best
from ramgape.storage.urls import anchored, has_password, parse_url
from ramgape.trials.calls import check_timeout, interval_of

REWARDS = ("output", "elapsed")
RESOURCES = ("elapsed", "user", "system", "memory")  # outcomes that every command has
OUTCOMES: Literal["outcomes"] = "outcomes"  # what a trial gives, where more than its reward is asked about
KEEP = "keep"  # what commands print: its end is read
NULL, PIPE, INHERIT = "null", "pipe", "inherit"
LARGEST_STUDY = 2**20  # bytes of a file: ten thousand arms

TABLES = ("price", "outcomes", "known")  # options that may be tables of their own
KEYS = ("name", "reward", "storage", "cwd", *options_at(FILE))


@dataclass(frozen=True, slots=True)
class Execution:
    """How commands are run, where that is not as usual.

    shell      the words of the shell that runs lines, or None: the system's own
    setup      a command for each arm, run before its first trial, or none; cleanup: one after its last
    prepare    a command for each arm, run before each of its trials, or none; conclude: one after each
    strict     an exit code other than 0 is an error (True), or as good as 0 (False); None: a failed trial
    output     where goes what commands print: KEEP, NULL, PIPE, INHERIT, or the path of a file
    input      the path of a file that they read, or None
    """

    shell: tuple[str, ...] | None = None
    setup: Mapping[str, Command] = field(default_factory=dict)
    prepare: Mapping[str, Command] = field(default_factory=dict)
    conclude: Mapping[str, Command] = field(default_factory=dict)
    cleanup: Mapping[str, Command] = field(default_factory=dict)
    strict: bool | None = None
    output: str = KEEP
    input: str | None = None


AS_USUAL = Execution()


@dataclass(frozen=True, slots=True)
class StudyFile:
    """What a study file says, checked but for the options of the search, which `Study.create` checks.

    path        of the file, or None: the commands were typed
    commands    for each arm a line for the shell, or words
    timeout     seconds, or None: no limit
    folder      where the commands run
    storage     where the study lives, if the file says so
    rate        the most trials that may begin, as it stands there, or None
    defaults    keys that the file leaves out, and in words what stands for them: errors about these must say so
    parameters  of each arm whose command has some, their values by name
    reference   the arm that others are compared with; None: the fastest
    earlier     options as earlier versions had them for the same file or commands, for studies that began then
    """

    path: Path | None
    name: str
    commands: dict[str, Command]
    reward: Literal["output", "elapsed", "outcomes"]
    timeout: float | None
    folder: Path
    storage: str | None
    options: StudyOptions
    warnings: tuple[str, ...] = ()
    rate: float | str | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    execution: Execution = AS_USUAL
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reference: str | None = None
    earlier: tuple[StudyOptions, ...] = ()

    @property
    def place(self) -> str:
        """Where commands and options stand, for messages."""
        return "the command line" if self.path is None else str(self.path)

    def called(self, arm: str) -> str:
        """What errors call an arm."""
        return f"{'arm' if self.execution.strict is None else 'command'} {arm!r}"

    @property
    def failure(self) -> str:
        """What a failed trial is."""
        return self.options.get("failure", OPTIONS["failure"].default)

    @contextmanager
    def naming_defaults(self) -> Iterator[None]:
        """Say of an error about a key that is not in the file where its value comes from."""
        try:
            yield
        except SpecificationError as error:
            if error.what in self.defaults:
                error.hint += f"; it is not given here, and {self.defaults[error.what]}"
            raise


def how_run(file: StudyFile, arm: str) -> dict[str, Any]:
    """What is kept with every trial of a command that was typed, and in no file: later ones must be the same."""
    if file.path is not None:
        return {}
    how = file.execution
    shell = None if how.shell is None else shlex.join(how.shell)
    words = {"command": file.commands[arm], "shell": shell, "prepare": how.prepare.get(arm)}
    words |= {"conclude": how.conclude[arm]} if arm in how.conclude else {}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in words.items()}


def read_study_file(path: Path) -> StudyFile:
    """The study that a file describes."""
    text = read_text(path, "study file", InvalidSpec, LARGEST_STUDY)
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSpec(place=str(path), allowed=f"valid TOML: {error}") from None
    with located(str(path)):
        for key in found:
            known_name(key, ("study", "arms", *TABLES), "every table")
        study, arms = _table(found, "study"), _table(found, "arms")
        for name in TABLES:
            if name in found:
                allowed = "given once, in [study] or as a table of its own"
                require(name not in study, name, allowed, study.get(name))
                study = study | {name: _table(found, name)}
    with located(f"{path}, [study]", RamgapeError):
        study = renamed(study)
        for key in study:
            known_name(key, KEYS, "every key")
        folder = _folder(study.get("cwd", "."), path)
        options = {key: study[key] for key in options_at(FILE) if key in study and key not in ("timeout", "rate")}
        if "objectives" in study:
            require("reward" not in study, "reward", "absent with objectives, which say it", study.get("reward"))
            reward: str = OUTCOMES
            if options.get("outcomes"):
                options["outcomes"] = dict.fromkeys(RESOURCES, UNKNOWN) | options["outcomes"]
        else:
            reward = known_name(study.get("reward", "output"), REWARDS, "reward")
        timeout = _timeout(study.get("timeout"), reward)
        storage = _storage(study.get("storage"), path)
        interval_of(study.get("rate"))
        if isinstance(options.get("items"), str):
            options["items"] = read_items(path.parent / options["items"])
        earlier: list[dict[str, Any]] = []
        if reward == "elapsed":
            options, *earlier = _timed(options, timeout)
    with located(f"{path}, [arms]", RamgapeError):
        require(len(arms) >= 2, "arms", "at least two, each with its command", list(arms))
        commands = {arm: check_command(arm, command, folder) for arm, command in arms.items()}
    failure = options.get("failure", OPTIONS["failure"].default)
    defaults = {
        "name": "its default is the name of the file",
        "failure": f"its default with reward = {reward!r} is {failure!r}",
    }
    warnings: tuple[str, ...] = ()
    if failure != "retry" and "retries" in study:
        warnings = (f"{path}, [study]: retries has no effect with failure = {failure!r}, which tries nothing again",)
    return StudyFile(
        path=path,
        name=study.get("name", path.stem),
        commands=commands,
        reward=cast(Any, reward),
        timeout=timeout,
        folder=folder,
        storage=storage,
        options=cast(StudyOptions, options),
        warnings=warnings,
        rate=study.get("rate"),
        defaults={key: words for key, words in defaults.items() if key not in study},
        earlier=cast(tuple[StudyOptions, ...], tuple(earlier)),
    )


def _timed(options: Mapping[str, Any], timeout: float | None) -> list[dict[str, Any]]:
    """The options of a search for the shortest times, and how earlier versions had them.

    First times were bounded, and in no rounds; then a time that was cut off counted as the whole.
    """
    usual, before = ({"failure": kind, "in_order": True, **options} for kind in (cut_off_as(options), "worst"))
    in_rounds = [{"interleave": True} | each | timing(each, timeout) for each in (usual, before)]
    return [*in_rounds, before | timing({"assumption": BOUNDED, **before}, timeout)]


def read_items(path: Path | str) -> list[Any]:
    """The items of a test set, from a file: a JSON list, or an item a line, JSON where it ends in .jsonl."""
    text = read_text(Path(path), "a file with items", InvalidSpec)
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]  # others may stand in an item
    try:
        if str(path).endswith(".json"):
            found = json.loads(text)
            require(isinstance(found, list), "items", f"a list in {path}", found)
            return list(found)
        return [json.loads(line) for line in lines] if str(path).endswith(".jsonl") else lines
    except (ValueError, RecursionError) as error:
        raise InvalidSpec(place=str(path), allowed=f"valid JSON: {error}") from None


def _table(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = found.get(name)
    require(isinstance(table, dict), f"[{name}]", "a table of the file", table)
    return cast(dict[str, Any], table)


def _folder(cwd: object, path: Path) -> Path:
    require(isinstance(cwd, str), "cwd", "the path of a folder", cwd)
    folder = (path.parent / str(cwd)).absolute()
    require("\0" not in str(cwd) and folder.is_dir(), "cwd", "an existing folder, as seen from this file", cwd)
    return folder


def _timeout(timeout: object, reward: str) -> float | None:
    if timeout is None:
        require(reward != "elapsed", "timeout", "given with reward = 'elapsed': it is the worst time there is", timeout)
        return None
    return check_timeout(timeout)


def _storage(storage: object, path: Path) -> str | None:
    if storage is None:
        return None
    require(isinstance(storage, str), "storage", "a URL such as sqlite:///file.db", storage)
    parsed = parse_url(str(storage))
    if has_password(str(storage)):
        hint = (
            "; put the whole URL into the environment as RAMGAPE_STORAGE, or the password where PostgreSQL looks for "
            "it (PGPASSWORD, ~/.pgpass)"
        )
        allowed = "without a password in a file"
        raise StorageError(what="storage", allowed=allowed, given=repr(parsed.shown), hint=hint)
    return anchored(str(storage), path.parent)


def cut_off_as(options: Mapping[str, Any]) -> Literal["worst", "censored"]:
    """What a run is that was ended at the timeout: that time or more, where the search can deal with it, or that time.

    The search must ask for the best mean by comparisons of two commands.
    """
    assumption = str(options.get("assumption", UNKNOWN)).partition(":")[0].strip()
    usual = all(options.get(name) in (None, "auto") for name in ("bound", "policy", "items", "expected_arms"))
    ends = None if options.get("reward_range") is None else (0.0, 1.0)  # of which the kind does not depend
    question = make_question(options.get("question", PARETO), ends)
    by_pairs = isinstance(question, Best) and question.compares_pairs
    return "censored" if usual and by_pairs and assumption in (UNKNOWN, BOUNDED) else "worst"


def timing(options: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
    """The options of a search for the shortest times: times have a range only where that is asked for."""
    direction = options.get("direction", "minimize")
    require(direction == "minimize", "direction", "'minimize' with reward = 'elapsed'", direction)
    named = str(options.get("assumption", "")).partition(":")[0].strip()
    ranged = "items" in options or (named in ASSUMPTIONS and ASSUMPTIONS[named].ranged)
    if not ranged and (named in ASSUMPTIONS or "reward_range" not in options):
        worst = (
            {}
            if timeout is None or options.get("failure", "retry") == "retry"
            else {"worst": options.get("worst", timeout)}
        )
        return {"direction": direction, **worst}
    require(timeout is not None, "timeout", f"given with assumption = {named!r}: no time is longer", timeout)
    given = options.get("reward_range", [0.0, timeout])
    ends_there = isinstance(given, list) and len(given) == 2 and given[1] == timeout
    allowed = f"absent with reward = 'elapsed', or [LOW, {timeout:g}]: no time is longer than the timeout"
    require(ends_there, "reward_range", allowed, given)
    return {"direction": direction, "reward_range": given}


def check_command(arm: str, command: object, folder: Path, noun: str = "arm") -> Command:
    """A command that can be run, as far as that can be known before; errors call it by the noun and its name."""
    what = f"{noun} {arm!r}"
    allowed = "a command: text for the shell, or a list of words"
    words: list[Any] = command if isinstance(command, list) else [command]
    usable = bool(words) and all(isinstance(word, str) and "\0" not in word for word in words)
    require(usable and bool(words[0].strip()) and "\0" not in arm, what, allowed, command)
    checked: Command = command if isinstance(command, str) else tuple(words)
    try:
        files = parse_command(checked).files
    except InvalidSpec as error:
        error.what = what
        raise
    if "arm" in files:
        check_file_name("arm", arm, InvalidSpec)
    if isinstance(checked, str):
        return checked
    program = words[0].replace("{arm}", arm)
    if not names_in(program):
        there = shutil.which(folder / program if os.path.dirname(program) else program)  # noqa: PTH120
        require(there is not None, what, "a program that can be found, and its arguments", command)
    return checked
