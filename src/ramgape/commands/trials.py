"""One trial: a command run in a process group of its own, judged by its output or its time.

Whatever happens, nothing of it goes on: when the command has ended, at its timeout, at Ctrl-C and when we end or are
killed (see `watchdog`), all that it started is ended as well, asked first (SIGTERM), then forced (SIGKILL). On Linux
that includes what has left its group, as a daemon does (see `descendants`).
"""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from statistics import fmean
from tempfile import TemporaryFile
from typing import IO, Any, Self

import numpy as np

from ramgape.commands.descendants import MARK, Descendants
from ramgape.commands.launcher import NOTE
from ramgape.commands.placeholders import Command, fill, variable_of
from ramgape.commands.process import KEPT, Child, Launcher, Tail, WindowsChild
from ramgape.commands.study_files import INHERIT, KEEP, NULL, OUTCOMES, PIPE, RESOURCES, StudyFile, how_run
from ramgape.commands.watchdog import TrialGuard
from ramgape.common.checks import is_text
from ramgape.common.files import read_number
from ramgape.common.interrupts import interrupts_deferred
from ramgape.errors import FailedTrial, FailingArm, require, shorten
from ramgape.search.outcome import OURS, Outcome
from ramgape.storage.urls import parse_url

TICK = 1e-6  # seconds
GRACE = 1.0  # seconds between the two signals
LOOK = 0.01  # seconds after which it is looked whether all are gone
KILL = signal.SIGKILL if os.name == "posix" else signal.SIGTERM
CANNOT_START = (126, 127)  # exit codes of a shell that found no such program, or one that is none
FIRST_RUNS = 3  # of a command that has not succeeded yet, before it is taken for one that never will
SHELL_RUNS = 50  # of a shell that has nothing to do
SHOWN = 200  # letters of what a failed command printed
OUR_STORE = ("RAMGAPE_STORAGE", "RAMGAPE_TOKEN")  # variables that are no business of a command
OUR_PASSWORD = ("PGPASSWORD", "PGPASSFILE")  # nor these, where they open our store


def hidden_from(url: str | None) -> tuple[str, ...]:
    """The variables that the commands of a study at a URL do not see."""
    return OUR_STORE if url is None or parse_url(url).path is not None else OUR_STORE + OUR_PASSWORD


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a command. Its exit code is that of subprocess: below 0 stands for a signal.

    user, system    seconds of processor time, its own and that of what it has waited for; None if unknown
    memory          the most bytes that one of its processes had in memory; likewise
    small           that is only an upper limit
    """

    code: int
    seconds: float
    output: str
    errors: str
    user: float | None = None
    system: float | None = None
    memory: int | None = None
    small: bool = False

    def without(self, start: Finished | None) -> Finished:
        """The same without what the start of a shell took."""
        if start is None:
            return self
        user, system = (
            None if mine is None else max(mine - (its or 0.0), 0.0)
            for mine, its in ((self.user, start.user), (self.system, start.system))
        )
        return replace(self, seconds=max(self.seconds - start.seconds, 0.0), user=user, system=system)


class NeverInTime(FailingArm):
    """All trials of an arm count as the timeout: more of them would be as equal, and would tell nothing either."""


class CommandTrials:
    """Makes the trials of a study, for `run_study`; from several threads at once, if need be.

    `proven` are arms that have succeeded before; `hidden` are variables of the environment that commands do not see.
    `failed` counts the trials of other arms, all of which have failed; after `patience` of them no other is made.
    """

    def __init__(
        self,
        file: StudyFile,
        proven: Iterable[str] = (),
        hidden: Iterable[str] = OUR_STORE,
        failed: Mapping[str, int] | None = None,
        patience: float = math.inf,
    ) -> None:
        self._file = file
        self._proven = set(proven)
        self._in_time = set(proven)
        self._failed = Counter(failed)
        self._patience = patience
        self._hidden = frozenset(hidden)
        self._guard = TrialGuard()
        self._descendants = Descendants()
        self._numbers = itertools.count(1)  # of the processes
        self._lock = threading.Lock()
        self._running: set[Child] = set()
        self._launchers: list[Launcher] = []
        self._idle: list[Launcher] = []  # those of them that run no process
        if os.name == "posix":
            self._idle.append(self._make_launcher())  # which is ready by the first run
        self._closed = False
        self._shell: Finished | None = None  # what its start takes
        self.times: defaultdict[str, list[float]] = defaultdict(list)  # of the runs made here, by arm

    def __call__(self, arm: str, seed: int, item: object = None) -> Any:
        """Run the arm's command with the seed of the trial, and on an item if there are any."""
        self._check_in_time(arm)
        around = self._file.execution
        self._run_beside("prepare", around.prepare, arm, seed, item)
        finished = self.run(arm, seed, item)
        self._run_beside("conclude", around.conclude, arm, seed, item)
        strict = self._file.execution.strict
        if strict is None:
            self._check_command(arm, finished, np.random.default_rng(seed), item)
        else:
            self._check_run(arm, finished, strict)
        self.times[arm].append(finished.seconds)
        try:
            reward = reward_of(finished, self._file.reward, self._file.timeout, strict is not False)
        except FailedTrial:
            with self._lock:
                self._failed[arm] += 1
            raise
        self._in_time.add(arm)
        if self._file.reward == "output":
            return reward
        kept = measured(finished) | printed(finished) | how_run(self._file, arm)
        kept |= {"elapsed": finished.seconds} if self._file.reward == OUTCOMES else {}
        return Outcome(reward, info={OURS: kept})

    @property
    def timeout(self) -> float | None:
        """Seconds after which a run is ended."""
        return self._file.timeout

    def set_up(self) -> None:
        """Run what is to be run before the first run of each command."""
        for arm in self._file.execution.setup:
            self._run_beside("setup", self._file.execution.setup, arm)

    def clean_up(self) -> None:
        """Run what is to be run after the last run of each command."""
        for arm in self._file.execution.cleanup:
            self._run_beside("cleanup", self._file.execution.cleanup, arm)

    def warm_up(self, count: int) -> None:
        """Run every command so often, all in turn; what comes out of it counts for nothing, but must be no error."""
        around = self._file.execution
        for turn in range(count):
            for arm in self._file.commands:
                self._run_beside("prepare", around.prepare, arm, turn)
                self._check_run(arm, self.run(arm, turn), around.strict is True)
                self._run_beside("conclude", around.conclude, arm, turn)

    def calibrate(self) -> Finished | None:
        """Measure the start of the shell that runs the commands, if one does; times are from then on without it.

        As hyperfine does: the mean of 50 runs of a line that is empty.
        """
        if not any(isinstance(command, str) for command in self._file.commands.values()):
            return None
        runs = [self._finish("", words_of("", seed), None) for seed in range(SHELL_RUNS)]
        failed = next((run for run in runs if run.code), None)
        if failed is not None:
            hint = _ending(failed.errors)
            raise FailingArm(what="--shell", verb="run", allowed="an empty line", given=_ended_by(failed), hint=hint)
        seconds, user, system = (
            fmean(getattr(run, name) or 0.0 for run in runs) for name in ("seconds", "user", "system")
        )
        self._shell = Finished(0, seconds, "", "", user, system)
        return self._shell

    def _run_beside(
        self, option: str, commands: Mapping[str, Command], arm: str, seed: int = 0, item: object = None
    ) -> None:
        """Run a command that is no trial: before or after one, or before or after all of them."""
        if arm not in commands:
            return
        finished = self._finish(commands[arm], words_of(arm, seed, item), None)
        if finished.code:
            what, hint = f"--{option} {commands[arm]!r}", _ending(finished.errors)
            raise FailingArm(what=what, verb="end", allowed="with exit code 0", given=_ended_by(finished), hint=hint)

    def _check_in_time(self, arm: str) -> None:
        """Complain about a command that has had time enough, and was never done."""
        count, typed = self._failed[arm], self._file.path is None
        if arm in self._in_time or count < self._patience:
            return
        longer, ranged = ("--timeout", "--assumption bounded") if typed else ("timeout", "assumption = 'bounded'")
        what, allowed = self._file.called(arm), f"within its timeout, {self._file.timeout:g} s, at least once"
        given = f"{count} runs of which none did"
        hint = (
            f": of times that are all cut off, how they vary is not known; give a longer {longer}, leave it out, or "
            f"state {ranged}, which counts on no time being longer"
        )
        raise NeverInTime(what=what, verb="end", allowed=allowed, given=given, hint=hint)

    def _check_run(self, arm: str, finished: Finished, strict: bool) -> None:
        """Complain about a run that is none: it could not be started or, where nothing may fail, has failed."""
        if _timed_out(finished, self._file.timeout):
            return
        if finished.code in CANNOT_START:
            raise cannot_start(self._file.called(arm), finished)
        if finished.code and strict:
            what, allowed = f"command {arm!r}", "with exit code 0 (--ignore-failure lets others count, too)"
            given, hint = _ended_by(finished), _ending(finished.errors)
            raise FailingArm(what=what, verb="end", allowed=allowed, given=given, hint=hint)

    def _check_command(self, arm: str, finished: Finished, rng: np.random.Generator, item: object) -> None:
        """Complain about a command that cannot work, before it is taken for an arm that is slow or fails at times.

        One that has never succeeded and ends with an error is run again, to see: what comes out of that is no trial.
        """
        runs = 1
        while not _timed_out(finished, self._file.timeout):
            if finished.code in CANNOT_START:
                raise cannot_start(self._file.called(arm), finished)
            if finished.code == 0:
                self._proven.add(arm)
            if arm in self._proven:
                return
            if runs == FIRST_RUNS:
                got = f"nothing but failures in its first {runs} runs, the last time {_ended_by(finished)}"
                raise _failing(self._file.called(arm), "succeed", got, finished)
            finished = self.run(arm, int(rng.integers(2**63)), item)
            runs += 1

    def run(self, arm: str, seed: int, item: object = None) -> Finished:
        """Run the arm's command to its end, or to its timeout; without the start of the shell, where that is known."""
        command, timeout = self._file.commands[arm], self._file.timeout
        shell = self._shell if isinstance(command, str) else None
        if timeout is not None and shell is not None:
            timeout += shell.seconds + TICK
        return self._finish(command, words_of(arm, seed, item), timeout).without(shell)

    def _finish(self, command: Command, words: Mapping[str, str], timeout: float | None) -> Finished:
        """Run a command to its end, or to its timeout."""
        execution = self._file.execution
        tails: list[Tail] = []
        with ExitStack() as files:

            def opened(path: str | os.PathLike[str], flags: int) -> int:
                descriptor = os.open(path, flags, 0o666)
                files.callback(os.close, descriptor)
                return descriptor

            def piped() -> int:
                tails.append(Tail())
                files.callback(tails[-1].close)
                return tails[-1].inlet

            def given() -> tuple[int, int, int]:
                source = opened(execution.input or os.devnull, os.O_RDONLY)
                if execution.output == KEEP:
                    return source, piped(), piped()
                if execution.output == INHERIT:
                    return source, 1, 2
                if execution.output == PIPE:
                    return source, piped(), errors.fileno()
                path = os.devnull if execution.output == NULL else self._file.folder / execution.output
                return source, opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), errors.fileno()

            errors = files.enter_context(TemporaryFile())
            child = self._watch(command, words, timeout, given(), tails)
            texts = [tail.text() for tail in tails]
            printed = texts[0] if texts else ""
            said = texts[1] if len(texts) > 1 else ending_of(errors)
        code = 0 if child.code is None else child.code
        seconds = max(child.seconds, child.cut_off or 0.0)  # which is counted from a little later on
        return Finished(code, seconds, printed, said, *(child.usage or ()))

    def _watch(
        self,
        command: Command,
        words: Mapping[str, str],
        timeout: float | None,
        streams: tuple[int, int, int],
        tails: list[Tail],
    ) -> Child:
        """Start a command and wait for its end; at its timeout it is ended."""
        child: Child | None = None
        launcher = None if os.name != "posix" else self._take_launcher()
        try:
            # An interrupt in between would leave an unknown process behind.
            with interrupts_deferred():
                child = self._start(launcher, command, words, streams)
            for tail in tails:
                tail.started()
            if not child.wait(timeout, tails):
                child.cut_off = timeout
            return child
        except OSError as error:
            allowed, hint = "a command that can be started", f", got: {error}"
            raise FailingArm(what=self._file.called(words["arm"]), allowed=allowed, hint=hint) from None
        finally:
            if child is not None:
                self._end(child)
            with self._lock:
                self._running -= {child}
                self._idle += [] if launcher is None else [launcher]

    def _take_launcher(self) -> Launcher:
        """A launcher that runs no process: one for each thread that runs commands."""
        with self._lock:
            if self._closed:
                raise FailedTrial("the study is being left")
            return self._idle.pop() if self._idle else self._make_launcher()

    def _make_launcher(self) -> Launcher:
        made = Launcher(self._file.folder, self._guard.groups.fileno(), NOTE * len(self._launchers))
        self._launchers.append(made)
        Descendants.known.add(made.pid)
        return made

    def _start(
        self, launcher: Launcher | None, command: Command, words: Mapping[str, str], streams: tuple[int, int, int]
    ) -> Child:
        known = environment(words, self._hidden)
        shell, filled = self._file.execution.shell, fill(command, words)
        if shell is not None and isinstance(filled, str):
            filled = [*shell, "-c", filled]
        with self._lock:
            if self._closed:
                raise FailedTrial("the study is being left")
            known[MARK] = mark = f"{self._guard.mark}.{next(self._numbers)}."
            if launcher is None:
                child: Child = WindowsChild(filled, known, streams, self._file.folder)
            else:
                child = Child(launcher, filled, known, streams)
            child.mark = mark
            self._running.add(child)
        return child

    def __enter__(self) -> Self:
        """As it is."""
        return self

    def __exit__(self, *error: object) -> None:
        """Leave nothing behind."""
        self.close()

    def close(self) -> None:
        """End everything that still runs, and start nothing more."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            self._send(process, signal.SIGTERM)
        for process in running:
            self._end(process)
        send_each(self._descendants.find(self._guard.mark, None, alone=True), KILL)
        with self._lock:
            for launcher in self._launchers:
                launcher.close()
                Descendants.known.discard(launcher.pid)
            self._launchers = []
            self._guard.close()
            self._descendants.close()

    def _end(self, process: Child) -> None:
        """End a command and all that it started, if any of it is left."""
        if process.code is None:
            self._send(process, signal.SIGTERM)
            process.wait(time.perf_counter() - process.started + GRACE)
        left = self._send(process, KILL)
        process.wait()
        give_up = time.monotonic() + GRACE
        while left and time.monotonic() < give_up:  # what was killed may have left children, which are found now
            time.sleep(LOOK)
            left = self._send(process, KILL)

    def _send(self, process: Child, number: int) -> bool:
        """Send a signal to a command and all that it started; whether something has left its group."""
        with self._lock:
            alone = self._running <= {process}
        left = self._descendants.find(process.mark, process.pid if process.code is None else None, alone)
        process.send(number)
        send_each(left, number)
        return bool(left)


def ending_of(file: IO[bytes]) -> str:
    """The last bytes of a file, as text."""
    file.seek(max(file.seek(0, os.SEEK_END) - KEPT, 0))
    return file.read().decode(errors="replace")


def words_of(arm: str, seed: int, item: object = None) -> dict[str, str]:
    """What stands for the placeholders of a trial; an item that is no text is written as JSON.

    >>> words_of("quick", 7, {"n": 3})
    {'arm': 'quick', 'seed': '7', 'item': '{"n": 3}'}
    """
    require(type(seed) is int, "the seed of a trial", "a whole number", seed, FailingArm)  # a server may send anything
    words = {"arm": arm, "seed": str(seed)}
    return words if item is None else {**words, "item": item if isinstance(item, str) else json.dumps(item)}


def environment(words: Mapping[str, str], hidden: Collection[str]) -> dict[str, str]:
    """What a command finds in its environment: which trial it is, and not where it is stored."""
    given: Mapping[str, object] = words  # a server may send anything
    for name, text in given.items():
        usable = isinstance(text, str) and "\0" not in text and is_text(text)
        require(usable, f"{name} of a trial", "text without NUL and halves of characters", text, FailingArm)
    ours = {name: value for name, value in os.environ.items() if name not in hidden}
    return ours | {variable_of(name): text for name, text in words.items()}


def measured(finished: Finished) -> dict[str, float | int | None]:
    """What is kept of a run beside its time; its exit code as a shell gives it, above 128 for signals."""
    code = finished.code if finished.code >= 0 else 128 - finished.code
    return {
        "user": finished.user,
        "system": finished.system,
        "memory": finished.memory,
        "exit_code": code,
        **({"small": True} if finished.small else {}),
    }


def printed(finished: Finished) -> dict[str, dict[str, float]]:
    """The outcomes that a command has printed, as a JSON object of numbers on its last line; nothing for other lines.

    >>> printed(Finished(0, 0.25, 'done\\n{"ratio": 2.5, "codec": "lz4"}\\n', ""))
    {'outcomes': {'ratio': 2.5}}
    """
    last = finished.output.strip().rpartition("\n")[2]
    if not last.startswith("{"):
        return {}
    with suppress(ValueError):
        found = json.loads(last)
        numbers = {
            str(name): float(value)
            for name, value in found.items()
            if isinstance(value, int | float) and math.isfinite(value)
        }
        return {"outcomes": numbers}
    return {}


def reward_of(finished: Finished, reward: str, timeout: float | None, strict: bool = True) -> Any:
    """The reward of a trial: its time, or the last line of its output. What has none has failed.

    With "outcomes" it is all of these by name: its times and its memory, and the JSON object on its last line. Unless
    `strict`, an exit code other than 0 is no failure.

    >>> reward_of(Finished(0, 0.25, "reading ... done", ""), "elapsed", 10.0)
    0.25
    >>> reward_of(Finished(0, 0.25, "accuracy:", "no data"), "output", None)
    Traceback (most recent call last):
    ramgape.errors.FailedTrial: the last line of the output must be a number,
    got 'accuracy:'; stderr ends with 'no data'
    """
    if _timed_out(finished, timeout):
        raise FailedTrial(f"timeout after {timeout:g} s{_ending(finished.errors)}")
    if finished.code and strict:
        raise FailedTrial(f"{_ended_by(finished)}{_ending(finished.errors)}")
    if reward == "elapsed":
        return finished.seconds
    if reward == OUTCOMES:
        used = {name: value for name, value in measured(finished).items() if name in RESOURCES and value is not None}
        return {"elapsed": finished.seconds, **used, **printed(finished).get("outcomes", {})}
    last = finished.output.strip().splitlines()[-1].strip() if finished.output.strip() else ""
    try:
        return read_number(last)
    except ValueError:
        what, given, hint = "the last line of the output", shorten(last, SHOWN), _ending(finished.errors)
        raise FailedTrial(what=what, allowed="a number", given=given, hint=hint) from None


def cannot_start(what: str, finished: Finished) -> FailingArm:
    """The error for an arm whose command a shell could not find, or not run."""
    return _failing(what, "be started", f"exit code {finished.code}", finished)


def _failing(what: str, able: str, given: str, finished: Finished) -> FailingArm:
    """The error for an arm whose command cannot do what it must."""
    allowed, hint = f"a command that can {able}", _ending(finished.errors)
    return FailingArm(what=what, allowed=allowed, given=given, hint=hint)


def _timed_out(finished: Finished, timeout: float | None) -> bool:
    return timeout is not None and finished.seconds >= timeout


def _ended_by(finished: Finished) -> str:
    """Its exit code, or the signal."""
    if finished.code >= 0:
        return f"exit code {finished.code}"
    with suppress(ValueError):
        return f"ended by {signal.Signals(-finished.code).name}"
    return f"ended by signal {-finished.code}"


def _ending(errors: str) -> str:
    """The end of stderr, where most programs say what went wrong."""
    text = errors.strip()
    if not text:
        return "; nothing on stderr"
    shown = text if len(text) <= SHOWN else f"...{text[3 - SHOWN :]}"
    return f"; stderr ends with {shown!r}"


def send_each(processes: Iterable[int], number: int) -> None:
    """Send a signal to processes, of which some may be gone."""
    for each in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, number)
