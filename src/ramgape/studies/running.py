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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ramgape.common.checks import whole
from ramgape.errors import FailingArm, InvalidReward, RamgapeError, StorageUnavailable, require
from ramgape.search.identification import Progress, check_callback, wants_generator
from ramgape.search.outcome import Outcome
from ramgape.search.result import Result, Stopped
from ramgape.studies.exchange import RUN_LEASE
from ramgape.views.terminal import watching_run

if TYPE_CHECKING:
    from ramgape.studies.exchange import Pull
    from ramgape.studies.study import Study

RENEWALS = 3  # of a lease, before it would run out
SHORTEST_WAIT, LONGEST_WAIT = 0.02, 1.0  # seconds, while others have all the pulls there are, or the store is away

SHOWN = 8  # rewards in a message

Show = Callable[[Progress], object] | None
Maker = Callable[[str, int], float]  # makes a trial of an arm with a seed
Given = TypeVar("Given")


class Inline(Executor):
    """Makes every trial at once, where it is submitted."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """The finished trial; an interrupt is none, and goes on its way."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:  # noqa: BLE001 - the caller of `result` gets it
            future.set_exception(error)
        return future


def make_trial(pull: Callable[..., float], with_generator: bool, arm: str, seed: int) -> float:
    """One trial, wherever it is made."""
    return pull(arm, np.random.default_rng(seed)) if with_generator else pull(arm)


def maker_of(pull: Callable[..., float]) -> Maker:
    """What makes a trial of an arm with a seed, from what a user gives."""
    require(callable(pull), "pull", "a function of one arm, or of an arm and a generator", pull)
    return partial(make_trial, pull, wants_generator(pull))


def run_study(
    study: Study,
    make: Maker,
    workers: int | Executor = 1,
    slots: int | None = None,
    worker: str | None = None,
    lease: float = RUN_LEASE,
    progress: bool = True,
    callback: Show = None,
) -> Result:
    """Make all pulls that the goal takes; see `Study.run`."""
    check_callback(callback)
    budget = study.spec.search.goal == "budget"
    with executor_of(workers, slots) as (executor, places), watched(progress, budget) as show:
        runner = Runner(study, places, worker, lease, show, callback)
        with runner.renewing():
            return runner.to_the_end(lambda each: executor.submit(make, each.arm, each.seed))


@contextmanager
def executor_of(workers: int | Executor, slots: int | None) -> Iterator[tuple[Executor, int]]:
    """What makes the trials, and how many at once."""
    if slots is not None:
        slots = whole(slots, "slots", "a whole number of at least 1", 1)
    if isinstance(workers, Executor):
        yield workers, slots or getattr(workers, "_max_workers", None) or os.cpu_count() or 1
        return
    require(slots is None, "slots", "absent without an executor: `workers` is how many trials are made at once", slots)
    count = whole(workers, "workers", "a whole number of at least 1, or an Executor", 1)
    if count == 1:
        yield Inline(), 1
        return
    pool = ThreadPoolExecutor(count, thread_name_prefix="ramgape")
    try:
        yield pool, count
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def watched(progress: bool, budget: bool) -> Iterator[Show]:
    """A line on the terminal, if that is wanted."""
    if not progress:
        yield None
        return
    with watching_run(budget) as show:
        yield show


class Runner:
    """A study being run: the pulls that this process has under way.

    Whatever has come out is told in the transaction that asks for the next pulls. Only where a callback may end it all
    is it told before, so that nothing is asked for in vain.
    """

    def __init__(self, study: Study, slots: int, worker: str | None, lease: float, show: Show, callback: Show) -> None:
        self.study = study
        self.slots = slots
        self.worker = worker or f"{platform.node() or 'run'}:{os.getpid()}:{secrets.token_hex(3)}"
        self.lease = lease
        self.show = show
        self.callback = callback
        self.under_way: dict[Future[float], Pull] = {}  # in the order in which they were asked for
        self.untold: list[tuple[Pull, float | Outcome]] = []  # measured
        self.failed: list[tuple[Pull, str]] = []  # and why; not told yet
        self.fatal: Exception | None = None  # why no trial can be made any more
        self.patience = study.patience

    def to_the_end(self, submit: Callable[[Pull], Future[float]]) -> Result:
        """Ask and tell until the study is done, or something ends it before."""
        try:
            try:
                ended = self._work(submit)
            except KeyboardInterrupt:
                ended = "interrupted"
                self._keep()
            if ended != "open":
                self._let_go()
                return self.study.result(ended)
            return self._patiently(self.study.result)
        except Exception as error:
            self._explain(error)
            raise

    def _work(self, submit: Callable[[Pull], Future[float]]) -> Stopped:
        """What has ended it: nothing but its goal, or the callback."""
        pause = SHORTEST_WAIT
        while True:
            for pull in self._exchange(self.slots - sum(not future.done() for future in self.under_way)):
                self.under_way[submit(pull)] = pull
            if self.under_way:
                pause = SHORTEST_WAIT
                wait(self.under_way, return_when=FIRST_COMPLETED)
                self._collect()
                if self._is_ended():
                    return "callback"
            elif self._patiently(lambda: self.study.done):
                return "open"
            else:
                time.sleep(pause)  # the rest is with others
                pause = min(2.0 * pause, LONGEST_WAIT)

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
        told, failed, known = self.untold, self.failed, list(self.under_way.values())
        if not (told or failed or count):
            return ()
        pulls = self._patiently(
            lambda: (
                self.study.exchange(
                    told, failed=failed, count=count, worker=self.worker, lease=self.lease, known=known
                ).pulls
            )
        )
        self.untold, self.failed = [], []
        if self.show is not None and (told or failed):
            self.show(self._patiently(self.study.known_progress))
        return pulls

    def _is_ended(self) -> bool:
        """Whether the callback wants to end it here; an error if no trial can be made any more."""
        if self.fatal is None and self.callback is None:
            return False
        self._exchange(0)
        if self.fatal is not None:
            raise self.fatal
        assert self.callback is not None
        return bool(self.callback(self._patiently(self.study.known_progress)))

    def _collect(self) -> None:
        """Take over what was measured, and which trials failed."""
        for future in [future for future in self.under_way if future.done()]:
            pull = self.under_way[future]
            error = future.exception()
            # Nobody is there to make trials, or the trial itself knows that its arm cannot work: no failure to count.
            if isinstance(error, (BrokenExecutor, FailingArm)):
                self.fatal = error
                del self.under_way[future]
                continue
            if error is None:
                try:
                    self.untold.append((pull, self.study.check_outcome(future.result())))
                except InvalidReward as invalid:
                    error = invalid
            del self.under_way[future]
            if error is not None:
                self.failed.append((pull, f"{type(error).__name__}: {error}"))

    def _let_go(self) -> None:
        """What is under way will not be told."""
        self._cancel()
        self.study.tell_many(self.untold)  # what was measured before an interrupt; what it made fail is no failure
        self.untold = []
        self.study.leave(self.worker)  # also pulls that an interrupt came between

    def _keep(self) -> None:
        """What was measured at the end is worth telling, whatever has ended it."""
        with suppress(Exception):
            self._collect()

    def _cancel(self) -> None:
        for future in self.under_way:
            future.cancel()
        self.under_way = {}

    def _explain(self, error: Exception) -> None:
        """Say with an error what has been found so far."""
        self._keep()
        with suppress(Exception):  # the first error matters more than what follows from it
            if isinstance(error, StorageUnavailable):  # which was waited for already
                self._cancel()
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
        pulls = [*self.under_way.values(), *(pull for pull, _ in self.untold)]
        if pulls:
            self.study.renew(pulls, self.lease)

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew the leases of what is under way, for as long as this lasts."""
        if not self.study.durable:
            yield
            return
        over = threading.Event()

        def renew() -> None:
            while not over.wait(self.lease / RENEWALS):
                with suppress(Exception):  # tried again soon; whoever tells will hear of it
                    self._patiently(self._renew, over.wait)

        thread = threading.Thread(target=renew, name="ramgape-leases", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
