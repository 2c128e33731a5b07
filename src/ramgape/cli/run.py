"""`ramgape run`: a study whose arms are commands."""

from __future__ import annotations

import math
import shlex
import warnings
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ramgape.assumptions import ANY
from ramgape.cli.errors import FAILED, tell, warnings_told
from ramgape.cli.options import check_jobs, gathers, option, takes_options
from ramgape.cli.pictures import Output, takes_output
from ramgape.cli.signals import SIGNALLED, ending_gently, interrupted_by
from ramgape.cli.stores import Storage, storage_url
from ramgape.cli.timing import Exports, exports, how_timed, is_file, refuse_beside_file, watching_times
from ramgape.commands.how_timed import HowTimed
from ramgape.common.formatting import plural
from ramgape.common.terminal import output, waiting
from ramgape.errors import FailingArm, InvalidSpec, RamgapeWarning, StudyExists, located, require
from ramgape.options import COMMANDS, RUNS, StudyOptions, Trials

if TYPE_CHECKING:
    from ramgape.commands.study_files import StudyFile
    from ramgape.commands.times import Timing
    from ramgape.search.explained import Explained
    from ramgape.search.result import Stopped
    from ramgape.studies.report import Report
    from ramgape.studies.study import Study

LEAST_PATIENCE = 10  # runs: a command that is too slow half of the time passes, but for one in a thousand

WHAT = r"Commands, at least two; or one TOML file with the tables \[study] and \[arms], as below."
JOBS = "Trials at once; 0: one for each core. Trials at the same time disturb each other's times."


@takes_output()
@gathers("files", exports)
@gathers("how", how_timed)
@takes_options(COMMANDS)
def run(
    what: Annotated[list[str], typer.Argument(metavar="COMMAND... | STUDY.TOML", help=WHAT, show_default=False)],
    options: dict[str, Any],
    how: HowTimed,
    files: Exports,
    out: Output,
    jobs: Annotated[str, option(RUNS, "COUNT", JOBS)] = "1",
    storage: Storage = None,
) -> None:
    """Time commands, or run those of a study file, and tell which is fastest, or has the best trade-offs.

    [bold]ramgape run 'sort big.txt' 'sort --parallel=2 big.txt'[/bold]
    which is faster, by how much, and how sure is that?

    [bold]ramgape run -w 3 --shell none -n old -n new './old x' './new x'[/bold]
    after three runs to warm up, without a shell, under these names

    Commands take turns, in random order, until the fastest is known up to 5 %
    of its time with probability 0.95 (approximately): at least 10 runs of each.
    Ctrl-C gives the result so far. An exit code other than 0 is an error,
    unless --ignore-failure is given.

    [bold]ramgape run solvers.toml[/bold]
    which of these solvers is fast and steady?

    \b
      \\[study]
      reward = "elapsed"       # the time; or "output": the last line printed
      timeout = 10.0           # seconds
      epsilon = 0.05           # the difference you would not pay for
      delta = 0.05             # or a number of trials: budget = 200
      \\[arms]
      quick = "./quick --seed {seed} data.txt"
      plain = "./plain data.txt"

    Each trial runs an arm's command with its own {seed} (also RAMGAPE_SEED; the
    arm is {arm} and RAMGAPE_ARM), each put in as one word. Every trial of a
    file, or with --name, is stored at once: after Ctrl-C, or a crash, the same
    command goes on where it was. A command that has changed needs another name
    of the study, or old and new trials are mixed.

    In a study a timeout or an exit code other than 0 is a failed trial. With
    reward = "elapsed" it counts as the timeout or more; with "output" it is
    tried again, up to retries times. failure = "retry", "worst" or "censored"
    says otherwise.

    An arm that has failed too often ends the run with exit code 1. So does a
    command that cannot be started or fails in each of its first 3 runs. If you
    ask for more than the fastest command, so does one that takes longer than
    the timeout in each of its first 10 runs (unless assumption = "bounded").

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    from ramgape.cli.workers import MOST, available_cores

    count = min(check_jobs(jobs) or available_cores(), MOST)
    with waiting("getting ready"):
        described = read_commands(what, how, options)
        files.check(described.reward == "elapsed")
        url = place_of(described, how, storage)
        with warnings_told() as told:
            if described.reward == "elapsed" and count > 1:
                text = f"{count} trials at once disturb each other's times; --jobs 1 measures best"
                warnings.warn(text, RamgapeWarning, stacklevel=2)
            for warning in described.warnings:
                warnings.warn(warning, RamgapeWarning, stacklevel=2)
            study = open_study(described, url)
    with study:
        made = study.known_progress().samples
        if made and not study.done:
            tell("resumed", f"study {study.name!r} has {plural(made, 'trial')} already", "bold")
        if study.done:
            tell("done already", f"study {study.name!r} has {plural(made, 'trial')}; nothing was run", "bold")
        code, shell = make_trials(study, described, count, url, how.warmup)
        report = study.report(expect=study.durable, history=out.html is not None)
        named = "elapsed seconds" if described.reward == "elapsed" else ""
        result = replace(report.result, reward_name=named)
        if code and not study.durable:  # what is in memory does not go on
            ended: Stopped = "error" if code == FAILED else "interrupted"
            result = replace(study.result(ended, expect=False), reward_name=named, history=result.history)
        report = replace(report, result=result)
        timing = times_of(study, described, report, shell)
    if timing is not None:
        report = timing.report
    if out.as_json:
        typer.echo(report.to_json() if timing is None else timing.to_json())
    else:
        untold = tuple(warning for warning in report.result.warnings if warning not in told)
        show_findings(replace(report, result=replace(report.result, warnings=untold)), timing)
    out.write(report)
    if timing is not None:
        files.write(timing)
    if code != FAILED and (timing is None or not timing.typed):
        tell_failures(report, described)
    if code > SIGNALLED:
        tell("interrupted", interrupted_words(report.told, study.durable), "bold yellow")
    if code:
        raise typer.Exit(code)


def interrupted_words(count: int, stored: bool) -> str:
    """What is left of a run after an interrupt.

    >>> interrupted_words(1, False)
    '1 trial was made; with --name it would be stored'
    """
    trials = plural(count, "trial")
    if stored:
        return f"{trials} {'is' if count == 1 else 'are'} stored; run it again to go on"
    return f"{trials} {'was made; with --name it' if count == 1 else 'were made; with --name they'} would be stored"


def read_commands(what: list[str], how: HowTimed, options: dict[str, Any]) -> StudyFile:
    """What is to be run: the study of a file, or commands."""
    files = [each for each in what if is_file(each, alone=len(what) == 1)]
    if not files:
        from ramgape.commands.typed import describe_commands

        return describe_commands(what, how, options)
    require(len(what) == 1, "a study file", "alone: one file, or commands", what)
    refuse_beside_file(files[0], how, options)
    from ramgape.commands.study_files import read_study_file

    return read_study_file(Path(files[0]))


def place_of(described: StudyFile, how: HowTimed, storage: str | None) -> str | None:
    """The store of a study; None for commands without a name, which live in memory."""
    if described.path is None and how.name is None:
        if storage is not None:
            raise InvalidSpec(what="--storage", verb="go", allowed="with a --name of the study", given="none")
        return None
    return storage_url(storage, described.storage)


def open_study(file: StudyFile, url: str | None) -> Study:
    """The study of a file, new or as it was left."""
    from ramgape.commands.typed import in_words_of_runs, refuse_other_commands
    from ramgape.studies.study import Study

    def opened(options: StudyOptions) -> Study:
        study = Study.create(file.name, file.commands, storage=url, exist_ok=True, **options)
        if file.path is None:
            refuse_other_commands(study, file)
        return study

    try:
        with located(f"{file.path}, [study]") if file.path else nullcontext(), file.naming_defaults():
            return opened(file.options)
    except StudyExists as error:
        for earlier in file.earlier:
            with suppress(StudyExists):
                return opened(earlier)
        delete = f"ramgape study delete {shlex.quote(file.name)}"
        another = f"another name in {file.path}"
        if file.path is None:
            another, error.message = "another --name", in_words_of_runs(error.message, len(file.commands))
        error.hint += f"; give it {another}, or delete the old one: {delete}"
        raise


def make_trials(study: Study, file: StudyFile, jobs: int, url: str | None, warmup: int) -> tuple[int, float | None]:
    """All trials that are still to be made; returns the exit code, and what the start of a shell takes, if known."""
    from ramgape.commands.trials import CommandTrials, NeverInTime, hidden_from
    from ramgape.studies.running import run_study

    if study.done:
        return 0, None
    study.retry()
    shell: float | None = None
    proven, failed = tried(study)
    with (
        ending_gently() as signals,
        CommandTrials(file, proven, hidden_from(url), failed, patience_of(study)) as trials,
    ):
        try:
            if file.path is None:
                with waiting("warming up"):
                    shell = trials.shell_start()
                    trials.warm_up(warmup)
            if file.reward == "elapsed":
                with watching_times(study) as watch:
                    result = run_study(
                        study, trials, jobs, progress=False, callback=watch, trials=Trials(rate=file.rate)
                    )
            else:
                result = run_study(study, trials, jobs, trials=Trials(rate=file.rate))
        except FailingArm as error:
            hint = f"; mend the command in {file.place} and run it again: what was given up is then tried again"
            mended = study.durable and not isinstance(error, NeverInTime)
            tell("error", f"{error}{hint}" if mended else str(error), "bold red")
            return FAILED, shell
        except KeyboardInterrupt:  # before the first trial
            return interrupted_by(signals), shell
    if result.stopped == "interrupted":
        return interrupted_by(signals), shell
    return 0, shell


def times_of(study: Study, file: StudyFile, report: Report, shell: float | None) -> Timing | None:
    """What was measured, where that is the time."""
    if file.reward != "elapsed":
        return None
    from ramgape.commands.times import measure

    return measure(study, report, file.timeout, shell, typed=file.path is None)


def show_findings(report: Report, timing: Timing | None) -> None:
    """Print what there is to be told; of times nothing before every command was run twice."""
    if timing is None or not timing.typed:
        output().print(report)
        return
    if all(len(each.times) > 1 for each in timing.times):
        from ramgape.views.console import ConsoleView

        output().print(ConsoleView(cast("Explained", replace(timing, report=report))))


def tried(study: Study) -> tuple[list[str], dict[str, int]]:
    """The arms of which a trial has succeeded before, and how many have failed where failures count."""
    if not study.known_progress().samples:
        return [], {}
    report = study.report(expect=False)
    counted = report.arms_failed if study.spec.counts_failures else {}
    return [arm.name for arm in report.result.arms if arm.pulls > counted.get(arm.name, 0)], counted


def patience_of(study: Study) -> float:
    """How many failures of an arm that does nothing else are enough.

    Where times are of any kind nothing is said of an arm whose times are all equal, and the search would wait for it
    for very long; by a range, or under a budget, it comes to its end.
    """
    search = study.spec.search
    waits = study.spec.failure == "worst" and search.assumption == ANY and search.delta is not None
    return max(search.initial_pulls, LEAST_PATIENCE) if waits else math.inf


def tell_failures(report: Report, file: StudyFile) -> None:
    """Say what failed and what became of it: it is part of the answer, or missing from it."""
    if not report.failed:
        return
    from ramgape.views.study import reason_words

    counts = ", ".join(f"{count:,} of {arm!r}" for arm, count in report.arms_failed.items() if count)
    if file.failure == "censored":
        became = f"each counts as {file.timeout:g} s or more, whether it took too long or ended with an error"
    elif file.failure == "worst":
        worst = "the worst time" if file.reward == "elapsed" else "the worst reward"
        became = f"each counts as {worst} there is"
        if file.reward == "elapsed":
            became += f", {file.timeout:g} s, whether it took too long or ended with an error"
    else:
        became = "none of them counts, and they were tried again"
        if file.reward == "elapsed":
            became += "; runs that take too long are left out, so the times look better than they are"
    text = f"{plural(report.failed, 'trial')} ({counts}): {became}; {reason_words(report)}"
    tell("failed", text, "bold yellow")
