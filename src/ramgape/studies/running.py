"""Running a study to its end: ask, make the trials, tell; in this process, in threads, or on any executor."""

from __future__ import annotations

import os
import platform
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.checks import whole
from ramgape.errors import FailingArm, InvalidReward, require
from ramgape.identification import Progress, check_callback, wants_generator
from ramgape.result import Result
from ramgape.terminal import watching_run

if TYPE_CHECKING:
    from ramgape.studies.study import Pull, Study

RENEWALS = 3  # of a lease, before it would run out
SHORTEST_WAIT, LONGEST_WAIT = 0.02, 1.0  # seconds, while others have all the pulls there are

Show = Callable[[Progress], object] | None


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


def make_trial(pull: Callable[..., float], arm: str, seed: int, with_generator: bool) -> float:
    """One trial, wherever it is made."""
    return pull(arm, np.random.default_rng(seed)) if with_generator else pull(arm)


def run_study(
    study: Study,
    pull: Callable[..., float],
    workers: int | Executor,
    slots: int | None,
    worker: str | None,
    lease: float,
    in_order: bool,
    progress: bool,
    callback: Show,
) -> Result:
    """Make all pulls that the goal takes; see `Study.run`."""
    require(callable(pull), "pull", "a function of one arm, or of an arm and a generator", pull)
    check_callback(callback)
    budget = study.spec.search.budget is not None
    with executor_of(workers, slots) as (executor, places), watched(progress, budget) as show:
        run = Run(study, places, worker, lease, in_order, (show, callback))
        with_generator = wants_generator(pull)
        with run.renewing():
            return run.to_the_end(lambda each: executor.submit(make_trial, pull, each.arm, each.seed, with_generator))


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


class Run:
    """A study being run: the pulls that this process has under way."""

    def __init__(
        self, study: Study, slots: int, worker: str | None, lease: float, in_order: bool, listeners: Iterable[Show]
    ) -> None:
        self.study = study
        self.slots = slots
        self.worker = worker or f"{platform.node() or 'run'}:{os.getpid()}:{secrets.token_hex(3)}"
        self.lease = lease
        self.in_order = in_order
        self.listeners = [listener for listener in listeners if listener is not None]
        self.under_way: dict[Future[float], Pull] = {}  # in the order in which they were asked for

    def to_the_end(self, submit: Callable[[Pull], Future[float]]) -> Result:
        """Ask and tell until the study is done, or something ends it before."""
        pause = SHORTEST_WAIT
        try:
            while True:
                self._begin(submit)
                if not self.under_way:
                    if self.study.done:
                        return self.study.result()
                    time.sleep(pause)  # the rest is with others
                    pause = min(2.0 * pause, LONGEST_WAIT)
                    continue
                pause = SHORTEST_WAIT
                unfinished = [future for future in self.under_way if not future.done()]
                if len(unfinished) == len(self.under_way) or not self._finished():
                    wait(unfinished, return_when=FIRST_COMPLETED)
                if self._finish():
                    self._let_go()
                    return self.study.result(ended="callback")
        except KeyboardInterrupt:
            self._let_go()
            return self.study.result(ended="interrupted")
        except Exception as error:
            self._explain(error)
            raise

    def _begin(self, submit: Callable[[Pull], Future[float]]) -> None:
        """Have as many trials under way as there are places."""
        free = self.slots - sum(not future.done() for future in self.under_way)
        if not free:
            return
        known = {pull.id for pull in self.under_way.values()}
        # A worker with a name gets what it has already first.
        for pull in self.study.ask(len(known) + free, self.worker, self.lease):
            if pull.id not in known:
                self.under_way[submit(pull)] = pull

    def _finished(self) -> list[Future[float]]:
        """What can be told now; in order, an arm's trials wait for those of the same arm that began before."""
        blocked: set[str] = set()
        found = []
        for future, pull in self.under_way.items():
            if not future.done():
                blocked.add(pull.arm)
            elif not self.in_order or pull.arm not in blocked:
                found.append(future)
        return found

    def _finish(self) -> bool:
        """Tell what came out; returns whether a listener wants to end it here."""
        answers: list[tuple[Pull, float]] = []
        hopeless: FailingArm | None = None
        for future in self._finished():
            pull = self.under_way[future]
            error = future.exception()
            if isinstance(error, BrokenExecutor):
                raise error
            del self.under_way[future]
            if isinstance(error, FailingArm):  # the trial itself knows that its arm cannot work: no failure to count
                hopeless = error
                continue
            if error is None:
                try:
                    answers.append((pull, self.study.check_reward(future.result())))
                except InvalidReward as invalid:
                    error = invalid
            if error is not None:
                self.study.fail(pull, f"{type(error).__name__}: {error}")
        self.study.tell_many(answers)
        if hopeless is not None:
            raise hopeless
        wishes = [listener(self.study.known_progress()) for listener in self.listeners]
        return any(wishes)

    def _let_go(self) -> None:
        """What is under way will not be told."""
        for future in self.under_way:
            future.cancel()
        self.under_way = {}
        self.study.leave(self.worker)  # also pulls that an interrupt came between

    def _explain(self, error: Exception) -> None:
        """Say with an error what has been found so far."""
        with suppress(Exception):  # the first error matters more than what follows from it
            self._let_go()
        with suppress(Exception):
            error.partial_result = self.study.result(ended="error")  # type: ignore[attr-defined]
            if not isinstance(error, FailingArm):
                error.add_note("ramgape: what was told is stored; what it shows is in this error's partial_result")

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew the leases of what is under way, for as long as this lasts."""
        if not self.study.durable:
            yield
            return
        over = threading.Event()

        def renew() -> None:
            while not over.wait(self.lease / RENEWALS):
                pulls = list(self.under_way.values())
                if pulls:
                    with suppress(Exception):  # tried again soon; whoever tells will hear of it
                        self.study.renew(pulls, self.lease)

        thread = threading.Thread(target=renew, name="ramgape-leases", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
