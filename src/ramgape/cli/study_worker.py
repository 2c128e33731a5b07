"""`ramgape study work`: a whole worker in one command, for a batch system, an orchestrator, or a shell elsewhere."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from ramgape.cli.options import AsJson, Name, Storage, Text, gathers, option
from ramgape.cli.stores import existing_storage, opened_study
from ramgape.cli.streams import FAILED, ending_gently, interrupted_by, tell, warnings_told, write_json, write_line
from ramgape.cli.work import hint_retry
from ramgape.common.checks import check_number, check_text, whole
from ramgape.common.formatting import plural
from ramgape.common.parsing import parse_number
from ramgape.errors import FailingArm, RamgapeWarning, known_name

if TYPE_CHECKING:
    from ramgape.commands.study_files import StudyFile
    from ramgape.commands.working import Reward, Worker
    from ramgape.search.result import Stopped
    from ramgape.studies.study import Study

TRIAL, ITSELF, END = "Trials", "The worker", "When it leaves"
COMMAND = (
    "The command that makes a trial, after --: words, or one line for the shell. It may contain {arm}, {seed}, {item} "
    "and {trial}; its environment has RAMGAPE_ARM, RAMGAPE_SEED, RAMGAPE_ITEM and RAMGAPE_TRIAL."
)
REWARD = "The reward: output, the last line that the command prints, or elapsed, the seconds that it takes."
TIMEOUT = "Seconds after which a trial is killed and counts as failed."
AT_ONCE = "How many trials to make at once."
NAMED = (
    "The worker's name. After a restart it gets its open trials back. Each worker needs a name of its own. Default: "
    "from the host, the process and SLURM's numbers."
)
LEASE = "Seconds after which others take over if the worker dies; renewed while it runs."
MOST = "Begin at most this many trials."
TIME = "Begin no trial after this many seconds; trials in progress are finished."
WORDS = {"open": "done", "callback": "enough", "interrupted": "interrupted"}  # for what has ended it


class Terms(NamedTuple):
    """How a worker works."""

    reward: str
    timeout: float | None
    at_once: int
    name: str | None
    lease: float
    most: float  # trials
    seconds: float


def terms(
    reward: Annotated[str, option(TRIAL, "NAME", REWARD)] = "output",
    timeout: Annotated[Text, option(TRIAL, "SECONDS", TIMEOUT)] = None,
    workers: Annotated[str, option(ITSELF, "COUNT", AT_ONCE)] = "1",
    worker: Annotated[Text, option(ITSELF, "NAME", NAMED)] = None,
    lease: Annotated[str, option(ITSELF, "SECONDS", LEASE)] = "60",
    max_trials: Annotated[Text, option(END, "COUNT", MOST)] = None,
    max_time: Annotated[Text, option(END, "SECONDS", TIME)] = None,
) -> Terms:
    """What was typed, checked."""
    known_name(reward, ("output", "elapsed"), "reward")
    limit = None if timeout is None else seconds_of(timeout, "timeout")
    most = math.inf if max_trials is None else count_of(max_trials, "max_trials")
    time = math.inf if max_time is None else seconds_of(max_time, "max_time")
    name = None if worker is None else check_text(worker, "worker")
    return Terms(reward, limit, count_of(workers, "workers"), name, seconds_of(lease, "lease"), most, time)


def count_of(text: str, what: str) -> int:
    """How many, at least one."""
    return whole(parse_number(text, what), what, "a whole number of at least 1", 1)


def seconds_of(text: str, what: str) -> float:
    """How long; no timer knows more than 46 days."""
    allowed = "a number of seconds above 0, at most 4,000,000"
    return check_number(parse_number(text, what), what, allowed, lambda value: 0.0 < value <= 4e6)


@gathers("how", terms)
def work(
    name: Name,
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help=COMMAND, show_default=False)],
    how: Terms,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Make trials with a command until the study is done.

    Any number of workers may run at the same time.

    [bold]ramgape study work models --storage http://host:8460 -- ./trial.sh {arm} {seed}[/bold]

    If the command fails, the trial has failed; the end of its stderr is the reason.
    Ctrl-C and SIGTERM end running trials and release them.

    Exit codes: 0 the study is done, or a limit of this worker is reached;
    1 the command cannot be started, or an arm was given up; 2 bad input or usage;
    130 interrupted; 143 ended by SIGTERM.
    """
    with opened_study(name, storage) as study:
        from ramgape.commands.trials import hidden_from
        from ramgape.commands.working import WorkerTrials, at_work, file_for_worker, own_name

        file = file_for_worker(command, study, cast("Reward", how.reward), how.timeout)
        warn_of_no_arm(file)
        hidden = hidden_from(existing_storage(storage))
        known_as = how.name or own_name()
        with (
            ending_gently() as signals,
            WorkerTrials(file, hidden=hidden) as trials,
            at_work(study, trials, how.at_once, known_as, how.lease, how.most, how.seconds) as worker,
        ):
            try:
                ended = worker.to_the_end_of_work()
            except FailingArm as error:
                hint_retry(error, name)
                tell("error", str(error), "bold red")
                raise typer.Exit(FAILED) from None
        said = {"study": name, "worker": known_as, **outcome(study, worker, ended)}
    show_work_done(said, as_json)
    if ended == "interrupted":
        tell("interrupted", "trials in progress are released", "bold yellow")
        raise typer.Exit(interrupted_by(signals))


def warn_of_no_arm(file: StudyFile) -> None:
    """Say so if a command has no place for what it is to try."""
    command = file.commands[""]
    text = command if isinstance(command, str) else " ".join(command)
    if "{arm}" not in text and "RAMGAPE_ARM" not in text:
        words = "the command has no {arm}: what it tries must come from RAMGAPE_ARM in its environment"
        with warnings_told():
            warnings.warn(words, RamgapeWarning, stacklevel=2)


def outcome(study: Study, worker: Worker, ended: Stopped) -> dict[str, Any]:
    """What there is to be told; the answer only of a study that is done."""
    done = ended == "open"
    sentence = study.result(expect=False).sentence if done else None
    return {
        "trials": worker.told,
        "failed": worker.failures,
        "ended": WORDS[ended],
        "done": done,
        "sentence": sentence,
    }


def show_work_done(said: dict[str, Any], as_json: bool) -> None:
    """What a worker has done."""
    if as_json:
        write_json(said)
        return
    failed = f", and {plural(said['failed'], 'has', 'have')} failed" if said["failed"] else ""
    state = f"the study is done. {said['sentence']}" if said["done"] else "the study goes on."
    write_line(f"{plural(said['trials'], 'trial')} made here{failed}; {state}")
