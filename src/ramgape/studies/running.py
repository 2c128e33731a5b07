"""Running a study to its end: ask, make the trials, tell; in this process, in threads, or on any executor.

A store may be out of reach for a while: locked, restarting, behind a network that is down. Whatever is asked of it is
then tried again, for as long as its URL says that others are waited for, and what was measured is kept meanwhile. That
does no harm where the first try has succeeded without our hearing of it: a worker with a name gets its own pulls back,
and the same answer to the same pull counts once.
"""

from __future__ import annotations

import math
import os
import platform
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ramgape.common.checks import check_number
from ramgape.errors import FailingArm, InvalidReward, RamgapeError, StorageUnavailable, WorkerLost, require
from ramgape.options import RUN, Trials, complete
from ramgape.search.outcome import Outcome
from ramgape.search.result import Result, Stopped
from ramgape.studies.entries import checked_outcome
from ramgape.studies.exchange import MOST_AT_ONCE, RUN_LEASE, first_attempt
from ramgape.trials.calls import Limits, PendingCalls, error_of, make_limits
from ramgape.trials.choice import Workers, engine_of
from ramgape.trials.executors import is_async
from ramgape.trials.monitoring import ProgressMonitor, monitored
from ramgape.trials.one_trial import await_trial, make_trial
from ramgape.trials.progress import Callback, check_callback
from ramgape.trials.trial_loop import check_takes, wants_generator

if TYPE_CHECKING:
    from ramgape.studies.exchange import Pull
    from ramgape.studies.study import Study

RENEWALS = 3  # of a lease, before it would run out
SHORTEST_WAIT, LONGEST_WAIT = 0.02, 1.0  # seconds, while others have all the pulls there are, or the store is away

SHOWN = 8  # rewards in a message

Maker = Callable[..., Any]  # makes a trial of an arm with a seed, and on an item; its result may have to be awaited
Given = TypeVar("Given")


def maker_of(pull: Callable[..., Any], on_items: bool) -> Maker:
    """What makes a trial of an arm with a seed, and perhaps on an item, from what a user gives."""
    require(callable(pull), "pull", "a function of one arm, or of an arm and a generator", pull)
    check_takes(pull, 2 if on_items else 1)
    with_generator = wants_generator(pull, after=2 if on_items else 1)
    return partial(await_trial if is_async(pull) else make_trial, pull, with_generator)


def run_study(
    study: Study,
    make: Maker,
    workers: Workers = 1,
    slots: int | None = None,
    worker: str | None = None,
    lease: float = RUN_LEASE,
    progress: bool | None = None,
    callback: Callback | None = None,
    trials: Trials | None = None,
) -> Result:
    """Make all pulls that the goal takes; see `Study.run`."""
    check_callback(callback)
    asked = complete({"trials": trials}, RUN)
    limits = make_limits(asked, study.spec.retries)
    grace = check_grace(asked["grace"])
    with (
        engine_of(make, workers, slots, timeout=limits.timeout, resources=asked["resources"]) as engine,
        monitored(progress, lambda: engine.waiting) as monitor,
    ):

        def begin(pull: Pull) -> Future[Any]:
            item = () if study.spec.search.items is None else (pull.item,)
            return engine.start(make, pull.arm, pull.seed, *item, name=pull.id, alone=runner.is_last_try(pull))

        calls = PendingCalls(engine, begin, limits)
        runner = Runner(study, calls, limits, worker, lease, monitor, callback, grace)
        with runner.renewing():
            return runner.to_the_end()


def is_gone(worker: str) -> bool:
    """Whether a worker was a process of this machine that has ended, as after a crash."""
    node, _, rest = worker.rpartition(":")[0].rpartition(":")
    if os.name != "posix" or node != (platform.node() or "run") or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def check_grace(grace: object) -> float:
    """Seconds for what is under way at an interrupt."""
    return check_number(grace, "grace", "a number of seconds of at least 0", lambda seconds: seconds >= 0.0)


class Runner:
    """A study being run: the pulls that this process has under way.

    Whatever has come out is told in the transaction that asks for the next pulls. Only where a callback may end it all
    is it told before, so that nothing is asked for in vain.
    """

    def __init__(
        self,
        study: Study,
        calls: PendingCalls[Pull],
        limits: Limits,
        worker: str | None,
        lease: float,
        monitor: ProgressMonitor | None,
        callback: Callback | None,
        grace: float = 0.0,
    ) -> None:
        self.study = study
        self.calls = calls
        self.limits = limits
        self.worker = worker or f"{platform.node() or 'run'}:{os.getpid()}:{secrets.token_hex(3)}"
        self.lease = lease
        self.monitor = monitor
        self.callback = callback
        self.grace = grace
        self.tries: Counter[str] = Counter()  # of a pull, by its first id: how often it was to be tried again
        self.pauses: dict[str, float] = {}  # before it is
        self.losses: Counter[str] = Counter()  # of a pull likewise: how often it went with a machine
        self.untold: list[tuple[Pull, float | Outcome]] = []  # measured
        self.failed: list[tuple[Pull, str]] = []  # and why; not told yet
        self.lost: list[Pull] = []  # likewise
        self.fatal: BaseException | None = None  # why no trial can be made any more
        self.patience = study.backend.patience

    def to_the_end(self) -> Result:
        """Ask and tell until the study is done, or something ends it before."""
        try:
            ended = self.work()
            return self.study.result(ended) if ended != "open" else self._patiently(self.study.result)
        except Exception as error:
            self.explain(error)
            raise

    def work(self) -> Stopped:
        """The same, and then let go of what is under way; what has ended it."""
        for worker in filter(is_gone, self.study.backend.workers()):
            self.study.leave(worker)  # or its trials would wait for the end of their leases
        try:
            ended = self._work()
        except KeyboardInterrupt:
            ended = "interrupted"
            self._keep()
            with suppress(KeyboardInterrupt):
                self._wait_a_little()
        if ended != "open":
            self._let_go()
        return ended

    def _work(self) -> Stopped:
        """What ended it: its goal, or the callback."""
        pause = SHORTEST_WAIT
        while True:
            for pull in self._exchange(min(self.calls.free, self.left)):
                self.calls.start(pull, self.pauses.pop(first_attempt(pull.id), 0.0))
            if self.calls.busy:
                pause = SHORTEST_WAIT
                ended = self.calls.wait()
                self._collect(ended)
                if ended and self._is_ended():
                    return "callback"
            elif self._patiently(lambda: self.study.done):
                return "open"
            elif not self.left:
                return "callback"
            elif not self.calls.free:
                self.calls.wait()
            else:
                time.sleep(pause)  # the rest is with others
                pause = min(2.0 * pause, LONGEST_WAIT)

    @property
    def left(self) -> int:
        """How many more trials may begin here."""
        return MOST_AT_ONCE

    def _patiently(self, operation: Callable[[], Given], pausing: Callable[[float], object] = time.sleep) -> Given:
        """What an operation on the store gives; tried again while its error may pass, with growing pauses.

        A pause that ends with something true ends it all.
        """
        pause, end = SHORTEST_WAIT, math.inf
        while True:
            try:
                return operation()
            except StorageUnavailable:
                now = time.monotonic()
                end = min(end, now + self.patience)
                if now >= end or pausing(min(pause, end - now)):
                    raise
            pause = min(2.0 * pause, LONGEST_WAIT)

    def _exchange(self, count: int) -> Sequence[Pull]:
        """Tell what came out, and ask for so many pulls besides those under way."""
        told, failed, lost, known = self.untold, self.failed, self.lost, self.calls.in_progress
        if not (told or failed or lost or count):
            return ()
        more: dict[str, Any] = {"count": count, "worker": self.worker, "lease": self.lease, "known": known}
        exchanged = self._patiently(lambda: self.study.exchange(told, failed=failed, lost=lost, **more))
        self.untold, self.failed, self.lost = [], [], []
        self._tell_watcher()
        return exchanged.pulls

    def _tell_watcher(self) -> None:
        """Call the callback with the progress, if there is one."""
        if self.monitor is not None and self.monitor.wanted:
            self._patiently(partial(self.study.backend.show, self.monitor))

    def _is_ended(self) -> bool:
        """Whether the callback wants to end it here; an error if no trial can be made any more."""
        if self.fatal is None and self.callback is None:
            return False
        self._exchange(0)
        if self.fatal is not None:
            raise self.fatal
        assert self.callback is not None
        return bool(self.callback(self._patiently(self.study.backend.progress)))

    def _collect(self, ended: Sequence[tuple[Pull, Future[Any]]]) -> None:
        """Take over what was measured, and which trials failed."""
        for pull, future in ended:
            error = error_of(future)
            # There are no workers, the trial itself knows that its arm cannot work, or it is an interrupt: no
            # failure to count.
            if isinstance(error, (BrokenExecutor, FailingArm)) or not isinstance(error, Exception | None):
                self.fatal = error
                continue
            if error is None:
                try:
                    result = future.result()
                    checked_outcome(self.study.spec.search, result, pull.arm)
                    self.untold.append((pull, result))
                except InvalidReward as invalid:
                    error = invalid
            if isinstance(error, (WorkerLost, CancelledError)) and not self.is_last_try(pull):
                self.losses[first_attempt(pull.id)] += 1
                self.lost.append(pull)
            elif error is not None and not self._is_tried_again(pull, error):
                self.failed.append((pull, f"{type(error).__name__}: {error}"))

    def is_last_try(self, pull: Pull) -> bool:
        """Whether a pull was lost so often that once more is a failure: so it is made alone, where that can be."""
        return self.losses[first_attempt(pull.id)] >= max(self.limits.retries, 1)

    def _is_tried_again(self, pull: Pull, error: BaseException) -> bool:
        """Whether a trial that has failed is made again by ourselves, before anybody hears of it.

        Not where the study itself has failures tried again: then they are counted there, and what we add are pauses.
        """
        name = first_attempt(pull.id)
        pause = self.limits.pause_after(error, self.tries[name], pull.seed)
        if pause is None:
            return False
        self.tries[name] += 1
        if self.study.spec.failure == "retry":
            self.pauses[name] = pause
            return False
        self.calls.start(pull, pause)
        return True

    def _let_go(self) -> None:
        """What is under way will not be told."""
        self.calls.cancel()
        self.study.tell_many(self.untold)  # what was measured before an interrupt; what it made fail is no failure
        self.untold = []
        self.study.leave(self.worker)  # also pulls that an interrupt came between

    def _wait_a_little(self) -> None:
        """After an interrupt: take what still comes in for some seconds, or until the next one."""
        self.calls.drop_delayed()
        end = self.calls.now + self.grace
        while self.calls.busy and self.calls.now < end:
            if self.monitor is not None:
                self.monitor.remark = f"interrupted: up to {self.grace:g} s for what runs; Ctrl-C again cancels it"
            self._collect(self.calls.wait(end))

    def _keep(self) -> None:
        """What was measured at the end is worth telling, whatever has ended it."""
        with suppress(Exception):
            self._collect(self.calls.ended())

    def explain(self, error: Exception) -> None:
        """Say with an error what has been found so far."""
        self._keep()
        with suppress(Exception):  # the first error matters more than what follows from it
            if isinstance(error, StorageUnavailable):  # which was waited for already
                self.calls.cancel()
            else:
                self._let_go()
                error.partial_result = self.study.result(ended="error")  # type: ignore[attr-defined]
                if not isinstance(error, FailingArm):
                    error.add_note("ramgape: what was told is stored; what it shows is in this error's partial_result")
        if self.untold:
            error.untold = tuple(self.untold)  # type: ignore[attr-defined]
            shown = ", ".join(f"{pull.id} {reward!r}" for pull, reward in self.untold[:SHOWN])
            more = f" and {len(self.untold) - SHOWN} more" if len(self.untold) > SHOWN else ""
            words = f"; measured and not told, to be told later: {shown}{more}"
            if isinstance(error, RamgapeError):
                error.hint += words
            else:
                error.args = (f"{error}{words}",)

    def _renew(self) -> None:
        pulls = [*self.calls.in_progress, *(pull for pull, _ in self.untold)]
        if pulls:
            self.study.renew(pulls, self.lease)

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew the leases of what is under way, for as long as this lasts."""
        if not self.study.backend.durable:
            yield
            return
        over = threading.Event()

        def renew() -> None:
            while not over.wait(self.lease / RENEWALS):
                with suppress(Exception):  # tried again soon; the next tell raises it
                    self._patiently(self._renew, over.wait)

        thread = threading.Thread(target=renew, name="ramgape-leases", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
