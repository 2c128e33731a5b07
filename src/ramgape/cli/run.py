"""`ramgape run`: a study whose arms are commands."""

from __future__ import annotations

import shlex
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramgape.cli.errors import FAILED, INTERRUPTED, tell, warnings_told
from ramgape.cli.options import check_jobs, option
from ramgape.cli.pictures import Output, takes_output
from ramgape.cli.stores import Storage, storage_url
from ramgape.common.formatting import plural
from ramgape.errors import FailingArm, RamgapeWarning, StudyExists, located
from ramgape.options import RUNS, Trials
from ramgape.storage.urls import parse_url
from ramgape.views.terminal import output, waiting

if TYPE_CHECKING:
    from ramgape.commands.study_files import StudyFile
    from ramgape.studies.report import Report
    from ramgape.studies.study import Study

SIGNALLED = 128  # exit codes above it stand for signals

FILE = r"A TOML file with the tables \[study] and \[arms], as above."
JOBS = "Trials at once; 0: one for each core. Trials at the same time disturb each other's times."


@takes_output()
def run(
    file: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help=FILE, show_default=False)],
    out: Output,
    jobs: Annotated[str, option(RUNS, "COUNT", JOBS)] = "1",
    storage: Storage = None,
) -> None:
    """Run commands again and again, and tell which have the best trade-offs between mean and risk.

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
    arm is {arm} and RAMGAPE_ARM), each put in as one word. Every trial is stored at once: after Ctrl-C, or
    a crash, the same command goes on where it was. A command that has changed
    needs another name of the study, or old and new trials are mixed.

    A timeout or an exit code other than 0 is a failed trial. With reward =
    "elapsed" it counts as the worst time, the timeout; with "output" it is tried
    again, up to retries times. failure = "retry" or "worst" says otherwise.

    An arm that has failed too often ends the run with exit code 1, and so does a
    command that cannot be started or fails in each of its first 3 runs.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    from ramgape.cli.workers import MOST, available_cores

    count = min(check_jobs(jobs) or available_cores(), MOST)
    with waiting("getting ready"):
        from ramgape.commands.study_files import read_study_file

        described = read_study_file(file)
        url = storage_url(storage, described.storage)
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
        code = make_trials(study, described, count, url)
        report = study.report(history=out.html is not None)
    named = "elapsed seconds" if described.reward == "elapsed" else ""
    report = replace(report, result=replace(report.result, reward_name=named))
    if out.as_json:
        typer.echo(report.to_json())
    else:
        untold = tuple(warning for warning in report.result.warnings if warning not in told)
        output().print(replace(report, result=replace(report.result, warnings=untold)))
    out.write(report)
    if code != FAILED:
        tell_failures(report, described)
    if code > SIGNALLED:
        tell(
            "interrupted",
            f"{plural(report.told, 'trial')} are stored; run it again to go on",
            "bold yellow",
        )
    if code:
        raise typer.Exit(code)


def open_study(file: StudyFile, url: str) -> Study:
    """The study of a file, new or as it was left."""
    from ramgape.studies.study import Study

    try:
        with located(f"{file.path}, [study]"), file.naming_defaults():
            return Study.create(file.name, file.commands, storage=url, exist_ok=True, **file.options)
    except StudyExists as error:
        hint = (
            f"give it another name in {file.path}, or delete the old one: ramgape study delete {shlex.quote(file.name)}"
        )
        error.hint += f"; {hint}"
        raise


def make_trials(study: Study, file: StudyFile, jobs: int, url: str) -> int:
    """All trials that are still to be made; returns the exit code."""
    from ramgape.commands.trials import OUR_PASSWORD, OUR_STORE, CommandTrials
    from ramgape.studies.running import run_study

    if study.done:
        return 0
    study.retry()
    hidden = OUR_STORE + OUR_PASSWORD if parse_url(url).path is None else OUR_STORE
    with ending_gently() as signals, CommandTrials(file, succeeded(study), hidden) as trials:
        try:
            result = run_study(study, trials, jobs, trials=Trials(rate=file.rate))
        except FailingArm as error:
            hint = f"mend the command in {file.path} and run it again: what was given up is then tried again"
            tell("error", f"{error}; {hint}", "bold red")
            return FAILED
    if result.stopped == "interrupted":
        return SIGNALLED + signals[0] if signals else INTERRUPTED
    return 0


def succeeded(study: Study) -> list[str]:
    """The arms of which a trial has succeeded before."""
    if not study.known_progress().samples:
        return []
    report = study.report(expect=False)
    counted = report.arms_failed if study.spec.failure == "worst" else {}
    return [arm.name for arm in report.result.arms if arm.pulls > counted.get(arm.name, 0)]


@contextmanager
def ending_gently() -> Iterator[list[int]]:
    """Take a request to end for a Ctrl-C, so that no command goes on without us; yields the signals that came."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, frame: object) -> None:
        came.append(number)
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)  # which may be deferred
        else:  # in the background of a script interrupts are ignored, requests to end are not
            raise KeyboardInterrupt

    requests = [signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__]
    usual = {number: signal.getsignal(number) for number in requests}
    changed = [number for number in requests if usual[number] is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number in changed:
            signal.signal(number, usual[number])


def tell_failures(report: Report, file: StudyFile) -> None:
    """Say what failed and what became of it: it is part of the answer, or missing from it."""
    if not report.failed:
        return
    from ramgape.views.study import reason_words

    counts = ", ".join(f"{count:,} of {arm!r}" for arm, count in report.arms_failed.items() if count)
    if file.failure == "worst":
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
