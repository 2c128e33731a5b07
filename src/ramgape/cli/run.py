"""`ramgape run`: a study whose arms are commands."""

from __future__ import annotations

import math
import shlex
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.assumptions import UNKNOWN
from ramgape.cli.gate import STANDARD_OUTPUT, write_summary
from ramgape.cli.options import Storage, check_jobs, gathers, option, takes_options
from ramgape.cli.pictures import Output, takes_output
from ramgape.cli.stores import storage_url
from ramgape.cli.streams import FAILED, SIGNALLED, ending_gently, interrupted_by, tell, warnings_told
from ramgape.cli.timing import Exports, RunCommand, Shown, exports, how_timed, is_file, live, refuse_beside_file, shown
from ramgape.commands.how_timed import HowTimed
from ramgape.common.formatting import plural
from ramgape.common.terminal import waiting
from ramgape.errors import FailingArm, InvalidSpec, RamgapeWarning, StudyExists, located, require
from ramgape.options import COMMANDS, RUNS, StudyOptions, Trials

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.commands.alone import Limits
    from ramgape.commands.baseline import Baseline
    from ramgape.commands.noise import Machine
    from ramgape.commands.study_files import StudyFile
    from ramgape.commands.times import Times, Timing
    from ramgape.commands.trials import CommandTrials
    from ramgape.search.result import Stopped
    from ramgape.studies.report import Report
    from ramgape.studies.study import Study
    from ramgape.trials.progress import Progress

LEAST_PATIENCE = 10  # runs: a command that is too slow half of the time passes, but for one in a thousand

WHAT = r"Commands; or one TOML file with the tables \[study] and \[arms], as below."
JOBS = "Trials at once; 0: one for each core. Trials at the same time disturb each other's times."


@dataclass
class Session:
    """What is known of runs beside the runs themselves.

    Attributes:
        how, shown: As it was typed.
        limits: When runs end, where nothing else ends them.
        baseline: Earlier runs to compare with.
        begun: When it began, by `time.monotonic`.
        shell: Seconds that the start of the shell takes.
        before: How the machine was before the first run.
        ended: Why runs ended, where the search does not know: "time" or "runs".
    """

    how: HowTimed
    shown: Shown
    limits: Limits
    baseline: Baseline | None
    begun: float
    shell: float | None = None
    before: Machine | None = None
    ended: str = ""

    def begin(self, trials: CommandTrials) -> None:
        """All that comes before the first run that counts."""
        from ramgape.commands.noise import Machine

        with waiting("warming up") if self.shown.moves else nullcontext():
            start = trials.calibrate()
            self.shell = None if start is None else start.seconds
            trials.set_up()
            trials.warm_up(self.how.warmup)
        self.before = Machine.now()
        self.limits = replace(self.limits, begun=time.monotonic())

    def finish(self, timing: Timing) -> Timing:
        """What was measured, with all that is known beside it."""
        from ramgape.commands.noise import Machine, noise_words

        drifting = [] if timing.report is None else [alarm.arm for alarm in timing.report.result.alarms]
        noise = ""
        if self.before is not None:
            noise = noise_words(timing.times, drifting, self.before, Machine.now(), self.how.warmup)
        return replace(
            timing,
            shell=self.shell,
            baseline=self.baseline,
            seconds=time.monotonic() - self.begun,
            noise=noise,
            ended=timing.ended or self.ended,
            unit=self.shown.unit,
            sort=self.shown.sort,
            told=self.shown.told,
        )

    def live(self) -> AbstractContextManager[Callable[[Callable[[int, bool], RenderableType]], None]]:
        """A table that changes while commands run."""
        return live(self.shown._replace(style="basic") if self.how.output == "inherit" else self.shown)


@takes_output(explains=True)
@gathers("files", exports)
@gathers("shown", shown)
@gathers("how", how_timed)
@takes_options(COMMANDS)
def run(
    what: Annotated[list[str], typer.Argument(metavar="COMMAND... | STUDY.TOML", help=WHAT, show_default=False)],
    how: HowTimed,
    shown: Shown,
    options: dict[str, Any],
    files: Exports,
    out: Output,
    jobs: Annotated[str, option(RUNS, "COUNT", JOBS)] = "1",
    storage: Storage = None,
) -> None:
    """Time commands and find the fastest.

    Or run the commands of a study file, and find those with the best trade-offs.

    [bold]ramgape run 'sort big.txt' 'sort --parallel=2 big.txt'[/bold]
    which is faster, by how much, and how sure is that?

    [bold]ramgape run 'sort big.txt'[/bold]
    how long does it take?

    [bold]ramgape run -N -w 3 -P threads 1 8 'make -B -j {threads}'[/bold]
    without a shell, after three runs to warm up, for each number of threads

    [bold]ramgape run --baseline old.json --exit-code ./new[/bold]
    is it slower than it was?

    Commands take turns, in random order, until the fastest is known within 5% of
    its time (95% confidence, approximately). Each command runs at least 10 times,
    and no longer than 3 seconds unless that is fewer. Ctrl-C prints the result so
    far. An exit code other than 0 is an error; -i counts such runs instead.

    [bold]ramgape run './a {seed}' './b {seed}' --objective 'max mean(score)'[/bold]
    [bold]    --objective 'min mean(elapsed)' --epsilon score=0.02,elapsed=0.1[/bold]
    which are fast and good? A run has the outcomes elapsed, user and system
    (seconds), memory (bytes), and the numbers of a JSON object on the last line
    of its output

    [bold]ramgape run './a' './b' --objective 'min mean(elapsed)'[/bold]
    [bold]    --constraint 'mean(memory) <= 2e8' --epsilon elapsed=0.1[/bold]
    which is the fastest with at most 200 MB?

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

    Each run gets a {seed} of its own (also RAMGAPE_SEED) and its name as {arm}
    (RAMGAPE_ARM). Runs of a file, and of commands with --name, are stored at
    once: after Ctrl-C or a crash, the same command goes on. If you change a
    command, give the study another name.

    In a study file a timeout or an exit code other than 0 is a failed trial. With
    reward = "elapsed" it counts as the timeout or more; with "output" it is tried
    again, up to retries times. Set failure = "retry", "worst" or "censored" to
    change that.

    A command that cannot be started, fails in each of its first 3 runs, or fails
    too often ends everything with exit code 1. Unless you ask for the fastest
    only, so does a command that takes longer than the timeout in each of its
    first 10 runs (except with --assumption bounded).

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted;
    with --exit-code: 0 proved, 1 refuted, 3 undecided.
    """
    begun = time.monotonic()
    count = jobs_at_once(jobs)
    described = read_commands(what, how, options)
    files.check(described.reward != "output" and (described.path is None or described.reward == "elapsed"))
    url = place_of(described, how, storage)
    if described.path is None:
        from ramgape.commands.baseline import read_baseline

        baseline = None if how.baseline is None else read_baseline(how.baseline)
        if baseline is not None and not any(map(baseline.of, described.commands)):
            allowed = f"a file that has one of these commands: {', '.join(each.name for each in baseline.times[:5])}"
            raise InvalidSpec(what="--baseline", allowed=allowed, given=", ".join(list(described.commands)[:5]))
        session = Session(how, shown, limits_of(how, options, len(described.commands)), baseline, begun)
        alone = len(described.commands) == 1 and described.reward == "elapsed"
        timing, code = time_one(described, session, url) if alone else time_several(described, session, count, url, out)
        show_times(timing, code, session, files, out)
        return
    report, measured, code = run_file(described, count, url, out)
    if out.as_json:
        typer.echo(report.to_json() if measured is None else measured.to_json())
    else:
        out.print(report)
    out.write(report)
    if measured is not None:
        files.write(measured)
    if code != FAILED:
        tell_failures(report, described)
    if code > SIGNALLED:
        tell("interrupted", interrupted_words(report.told, "trial", stored=True), "bold yellow")
    if code:
        raise typer.Exit(code)


run.command_class = RunCommand  # type: ignore[attr-defined]


def jobs_at_once(jobs: str) -> int:
    """How many trials at once."""
    if jobs == "1":
        return 1
    from ramgape.cli.workers import MOST, available_cores

    return min(check_jobs(jobs) or available_cores(), MOST)


def limits_of(how: HowTimed, options: dict[str, Any], count: int) -> Limits:
    """When runs of commands end, where the search does not end them: as with hyperfine, unless a goal was asked for."""
    from ramgape.commands.alone import Limits
    from ramgape.commands.times import FIRST_RUNS

    goals = [options.get(name) for name in ("epsilon", "delta", "budget", "spend", "assumption")]
    asked = any(goal is not None for goal in goals) or options.get("question") != "best" or "objectives" in options
    seconds = math.inf if how.budget_time is None else how.budget_time
    most = how.max_runs if how.runs is None else how.runs
    least = how.min_runs or min(FIRST_RUNS, most or FIRST_RUNS)
    if most is not None:  # of which the search of several commands knows
        return Limits(most if how.runs else least, most if count == 1 else math.inf, seconds)
    return Limits(least, math.inf if asked or how.budget_time is not None else None, seconds)


def time_several(
    described: StudyFile, session: Session, count: int, url: str | None, out: Output
) -> tuple[Timing, int]:
    """Time commands that take turns; what was measured, and an exit code."""
    from ramgape.commands.counted_runs import exits_words
    from ramgape.commands.times import Timing, fastest_first, measure
    from ramgape.search.result import updated

    if count > 1:
        text = f"{count} runs at once disturb each other's times; --jobs 1 measures best"
        warnings.warn(text, RamgapeWarning, stacklevel=2)
    study, told = open_study(described, url)
    with study:
        tell_resumed(study, "run")
        code = make_trials(study, described, count, url, session)
        report = study.report(expect=study.backend.durable, history=out.html is not None)
        result = updated(report.result, reward_name="elapsed seconds")
        if code and not study.backend.durable:  # what is in memory does not go on
            ended: Stopped = "error" if code == FAILED else "interrupted"
            result = updated(study.result(ended, expect=False), reward_name="elapsed seconds", history=result.history)
        names = [arm.name for arm in result.arms]
        times = measure((seen.row for seen in study.backend.observations()), names, described.parameters)
        untold = tuple(each for each in result.warnings if each not in told)
        result = updated(result, warnings=untold, notes=(*result.notes, *filter(None, [exits_words(times)])))
        report = replace(report, result=result)
    best = result.answer if result.task == "best" else ()
    share = result.goal.epsilon_share or 0.05
    timing = Timing(
        fastest_first(times, best),
        report,
        described.timeout,
        reference=described.reference,
        tolerance=share,
        ended="interrupted" if code > SIGNALLED else "",
    )
    return session.finish(timing), code


def time_one(described: StudyFile, session: Session, url: str | None) -> tuple[Timing, int]:
    """Time a single command; what was measured, and an exit code."""
    import random

    from ramgape.commands.alone import time_alone
    from ramgape.commands.baseline import UNDECIDED, verdict
    from ramgape.commands.times import TimedRun, Timing, times_interval, times_of
    from ramgape.commands.trials import CommandTrials, hidden_from

    name = next(iter(described.commands))
    share, baseline = share_of(described.options.get("epsilon")), session.baseline
    earlier = None if baseline is None else baseline.of(name)

    def enough(times: Times) -> bool:
        if earlier is not None:
            return verdict(times_interval(times, earlier), share) != UNDECIDED
        low, high = times.mean_interval
        return session.how.runs is None and high - low <= 2.0 * share * times.mean

    seed = described.options.get("seed")
    code, runs, ended = 0, list[TimedRun](), "interrupted"
    with ending_gently() as signals, CommandTrials(described, hidden=hidden_from(url)) as trials:
        try:
            session.begin(trials)
            with session.live() as show:

                def heard(seconds: list[float]) -> None:
                    show(lambda width, ascii_only: alone_table(name, seconds, session, width, ascii_only))

                first = random.randrange(2**31) if seed is None else seed
                runs, ended = time_alone(trials, name, first, session.limits, enough, heard)
            trials.clean_up()
        except FailingArm as error:
            tell("error", str(error), "bold red")
            raise typer.Exit(2 if session.shown.exit_code else FAILED) from None
        except KeyboardInterrupt:  # before the first run
            pass
        if ended == "interrupted":
            code = interrupted_by(signals)
    times = times_of(name, runs, described.parameters.get(name, {}))
    return session.finish(Timing((times,), None, described.timeout, tolerance=share, ended=ended)), code


def share_of(epsilon: Any) -> float:
    """A tolerance as a part of the mean."""
    if isinstance(epsilon, str) and epsilon.rstrip().endswith("%"):
        return float(epsilon.rstrip().removesuffix("%")) / 100.0
    if epsilon is None:
        return 0.05
    allowed = "a percentage of the mean with a single command, such as 2%"
    raise InvalidSpec(what="--epsilon", allowed=allowed, given=repr(epsilon))


def show_times(timing: Timing, code: int, session: Session, files: Exports, out: Output) -> None:
    """Print what was measured, write what was asked for, and end with the exit code."""
    if out.as_json:
        typer.echo(timing.to_json())
    elif session.shown.summary != STANDARD_OUTPUT and (any(len(each.times) > 1 for each in timing.times) or not code):
        session.shown.print(replace(timing, told="verbose") if out.explain else timing)
    out.write(replace(timing, told="verbose"))
    files.write(timing)
    if session.shown.summary is not None:
        from ramgape.commands.baseline import verdict_of
        from ramgape.views.markdown import Verdict, summarize

        write_summary(summarize(timing, Verdict(verdict_of(timing))), session.shown.summary)
    if code > SIGNALLED:
        made = sum(len(each.times) for each in timing.times)
        stored = timing.report is not None and session.how.name is not None
        tell("interrupted", interrupted_words(made, "run", stored), "bold yellow")
    if not code and session.shown.exit_code:
        from ramgape.commands.baseline import EXIT_CODES, verdict_of

        code = EXIT_CODES[verdict_of(timing)]
    elif code == FAILED and session.shown.exit_code:
        code = 2
    if code:
        raise typer.Exit(code)


def run_file(described: StudyFile, count: int, url: str | None, out: Output) -> tuple[Report, Timing | None, int]:
    """Make the trials of a study file; where the study stands, what was measured if that is the time, an exit code."""
    from ramgape.search.result import updated

    if described.reward == "elapsed" and count > 1:
        text = f"{count} trials at once disturb each other's times; --jobs 1 measures best"
        warnings.warn(text, RamgapeWarning, stacklevel=2)
    study, told = open_study(described, url)
    with study:
        tell_resumed(study, "trial")
        code = make_trials(study, described, count, url, None)
        report = study.report(history=out.html is not None)
        named = "elapsed seconds" if described.reward == "elapsed" else ""
        untold = tuple(each for each in report.result.warnings if each not in told)
        report = replace(report, result=updated(report.result, reward_name=named, warnings=untold))
        timing = None if described.reward != "elapsed" else file_times(study, described, report)
        return report, timing, code


def interrupted_words(count: int, what: str, stored: bool) -> str:
    """What is left of a run after an interrupt.

    >>> interrupted_words(1, "run", False)
    '1 run was made; with --name it would be stored'
    """
    trials = plural(count, what)
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


def open_study(file: StudyFile, url: str | None) -> tuple[Study, list[str]]:
    """The study of a file, new or as it was left; and the warnings that were shown."""
    with warnings_told() as told:
        for warning in file.warnings:
            warnings.warn(warning, RamgapeWarning, stacklevel=2)
        return _open_study(file, url), told


def _open_study(file: StudyFile, url: str | None) -> Study:
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


def tell_resumed(study: Study, what: str) -> None:
    """Say what there is already."""
    made = study.backend.progress().samples
    if made and not study.done:
        tell("resumed", f"study {study.name!r} has {plural(made, what)} already", "bold")
    if study.done:
        tell("done already", f"study {study.name!r} has {plural(made, what)}; nothing was run", "bold")


def make_trials(study: Study, file: StudyFile, jobs: int, url: str | None, session: Session | None) -> int:
    """All trials that are still to be made; returns the exit code."""
    from ramgape.commands.trials import CommandTrials, NeverInTime, hidden_from
    from ramgape.studies.running import run_study

    if study.done:
        return 0
    study.retry()
    proven, failed = tried(study)
    given = Trials(rate=file.rate)
    with (
        ending_gently() as signals,
        CommandTrials(file, proven, hidden_from(url), failed, patience_of(study)) as trials,
    ):
        try:
            if session is None:
                watched = file.reward != "elapsed"
                result = run_study(study, trials, jobs, progress=None if watched else False, trials=given)
            else:
                session.begin(trials)
                with session.live() as show:
                    callback = listener(study, file, trials, session, show)
                    result = run_study(study, trials, jobs, progress=False, callback=callback, trials=given)
                trials.clean_up()
        except FailingArm as error:
            hint = f"; mend the command in {file.place} and run it again: what was given up is then tried again"
            mended = study.backend.durable and not isinstance(error, NeverInTime)
            tell("error", f"{error}{hint}" if mended else str(error), "bold red")
            return FAILED
        except KeyboardInterrupt:  # before the first trial
            return interrupted_by(signals)
    return interrupted_by(signals) if result.stopped == "interrupted" else 0


def listener(
    study: Study,
    file: StudyFile,
    trials: CommandTrials,
    session: Session,
    show: Callable[[Callable[[int, bool], RenderableType]], None],
) -> Callable[[Progress], bool]:
    """What hears of every run: it shows the table, and says whether the limits are reached."""

    def hear(progress: Progress) -> bool:
        show(lambda width, ascii_only: several_table(study, file, trials, session, width, ascii_only))
        if not file.commands.keys() <= trials.times.keys() and session.limits.seconds == math.inf:
            return False
        session.ended = session.limits.ended({name: trials.times[name] for name in file.commands})
        return session.ended != ""

    return hear


def several_table(
    study: Study, file: StudyFile, trials: CommandTrials, session: Session, width: int, ascii_only: bool
) -> RenderableType:
    """Commands while they run."""
    from ramgape.commands.times import Times, fastest_first
    from ramgape.views.console import CONSOLE_STYLES
    from ramgape.views.timing import aim_words, live_table, state_in

    result = study.result(expect=False)
    times = [Times(arm.name, tuple(trials.times[arm.name]), failed=arm.cut_off) for arm in result.arms]
    fastest = fastest_first(times, result.answer)[0]
    states = [
        (state_in(result, arm, each, fastest) if arm.trials else "", CONSOLE_STYLES.get(arm.verdict, ""))
        for arm, each in zip(result.arms, times, strict=True)
    ]
    first = len(result.arms) * study.spec.search.initial_trials if study.spec.search.budget is None else 0
    made = plural(result.trials, "run")
    if result.trials < first:
        made = f"{result.trials:,} of the first {first:,} runs"
    return live_table(times, states, f"{made}; {aim_words(result)}", width, ascii_only, session.shown.unit)


def alone_table(name: str, seconds: list[float], session: Session, width: int, ascii_only: bool) -> RenderableType:
    """A command while it runs."""
    from ramgape.commands.times import Times
    from ramgape.views.timing import live_table

    below = plural(len(seconds), "run")
    return live_table([Times(name, tuple(seconds))], [("", "")], below, width, ascii_only, session.shown.unit)


def file_times(study: Study, file: StudyFile, report: Report) -> Timing:
    """What was measured by a study file."""
    from ramgape.commands.times import Timing, fastest_first, measure

    result = report.result
    times = measure((seen.row for seen in study.backend.observations()), [arm.name for arm in result.arms], {})
    best = result.answer if result.task == "best" else ()
    return Timing(fastest_first(times, best), report, file.timeout, typed=False)


def tried(study: Study) -> tuple[list[str], dict[str, int]]:
    """The arms of which a trial has succeeded before, and how many have failed where failures count."""
    if not study.backend.progress().samples:
        return [], {}
    report = study.report(expect=False)
    counted = report.arms_failed if study.spec.counts_failures else {}
    return [arm.name for arm in report.result.arms if arm.trials > counted.get(arm.name, 0)], counted


def patience_of(study: Study) -> float:
    """How many failures of an arm that does nothing else are enough.

    Where times are of any kind nothing is said of an arm whose times are all equal, and the search would wait for it
    for very long; by a range, or under a budget, it comes to its end.
    """
    search = study.spec.search
    waits = study.spec.failure == "worst" and search.assumption == UNKNOWN and search.delta is not None
    return max(search.initial_trials, LEAST_PATIENCE) if waits else math.inf


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
