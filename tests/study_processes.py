"""What several processes do to one study; run by tests/test_kills.py as `python -m tests.study_processes`.

The worker is also that of the larger scenes in attack.py.

A program of its own that forks, see stage.py.

What is told and was acknowledged goes into a log, one for each worker, after the call has returned: so whatever stands
in a log must stand in the store (accounting.py).
"""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ramgape
from ramgape import Pull, Study
from ramgape.storage import open_store
from ramgape.studies import session
from tests.keyed import observe_once
from tests.stage import play_all
from tests.storage_processes import in_child, say, wait_for

ARMS = ["steady", "wild", "poor"]
SHAPES = {"steady": (40.0, 40.0), "wild": (0.4, 0.2), "poor": (1.0, 3.0)}
OPTIONS: dict[str, dict[str, Any]] = {
    # As many retries as it takes: how an arm is given up is no matter of processes.
    "confidence": {"reward_range": (0, 1), "epsilon": 0.08, "retries": 10**6},
    "budget": {"reward_range": (0, 1), "budget": 80, "failure": "worst"},
}
# What all pulls may cost, of prices that are stated.
OPTIONS["money"] = {"reward_range": (0, 1), "price": dict(zip(ARMS, (1.0, 3.0, 10.0), strict=True)), "spend": 250.0}
OPTIONS["money"] |= {"failure": "worst"}
OPTIONS["in order"] = OPTIONS["budget"] | {"in_order": True}
ELSEWHERE = "elsewhere-"  # the beginning of the name of what was observed without asking
WORKERS = 4
LEASE = 0.05  # seconds: what a killed worker had comes back while the others are still at work
LONGEST_LIFE = 0.2  # seconds between two kills


def reward_of(pull: Pull) -> float:
    """An attempt at a pull gives the same whoever makes it."""
    return random.Random(pull.seed).betavariate(*SHAPES[pull.arm])


def fails(pull: Pull) -> bool:
    """Whether an attempt fails, whoever makes it: two workers of one name must not contradict each other."""
    return pull.seed % 10 == 0


def warm_up() -> None:
    """Import and compile all that the scenes take."""
    import ramgape.storage.postgres  # noqa: F401

    for options in OPTIONS.values():
        with tempfile.TemporaryDirectory() as folder:
            study = Study.create("warm", ARMS, storage=f"sqlite:///{folder}/warm.db", **options)
            while not study.done:
                study.tell_many([(pull, reward_of(pull)) for pull in study.ask(3)])
            study.report()
            study.close()


# --- workers that are killed -------------------------------------------------------------------------------------


class Worker:
    """Asks, tells, observes and imports until it is killed, on one study after the other; they are created on the way.

    One that is `patient` tries again when the store is not available for a while.
    """

    lease = LEASE

    def __init__(self, url: str, goal: str, folder: Path, name: str | None, patient: bool = False) -> None:
        self.url, self.goal, self.name, self.patient = url, goal, name, patient
        self.dice = random.Random()
        self.log = os.open(folder / f"{os.getpid()}-{time.monotonic_ns()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def work(self) -> None:
        for number in itertools.count():
            study = self.again_and_again(lambda number=number: self.open(f"study {number}"))  # type: ignore[misc]
            while not self.again_and_again(lambda study=study: study.done):  # type: ignore[misc]
                self.one_round(study)

    def open(self, name: str) -> Any:
        """A study, which somebody else may have created."""
        return Study.create(name, ARMS, storage=self.url, exist_ok=True, **OPTIONS[self.goal])

    def again_and_again(self, operation: Callable[[], Any]) -> Any:
        """Until the store is there. What has been done then, though nobody heard of it, is not done twice."""
        while True:
            try:
                return operation()
            except ramgape.StorageUnavailable:
                if not self.patient:
                    raise
                time.sleep(0.02)

    def one_round(self, study: Study) -> None:
        pulls = self.again_and_again(lambda: study.ask(self.dice.randint(1, 3), self.name, self.lease))
        time.sleep(self.dice.uniform(0.0, 0.004))
        self.dice.shuffle(pulls)
        for pull in filter(fails, pulls):
            answer = self.again_and_again(lambda pull=pull: study.fail(pull, "bad luck"))  # type: ignore[misc]
            self.acknowledged(study, "failed", [(pull.id, pull.arm, 0.0, answer.accepted)])
        pulls = [pull for pull in pulls if not fails(pull)]
        together = len(pulls) > 1 and self.dice.random() < 0.5
        for some in [pulls] if together else [[pull] for pull in pulls]:
            told = [(pull, reward_of(pull)) for pull in some]
            answers = self.again_and_again(lambda told=told: study.tell_many(told))  # type: ignore[misc]
            given = zip(told, answers, strict=True)
            self.acknowledged(study, "told", [(pull.id, pull.arm, *rest, bool(yes)) for (pull, *rest), yes in given])
        if self.dice.random() < 0.1:
            self.bring(study)
        if self.dice.random() < 0.1:
            report = self.again_and_again(study.report)
            assert report.told + report.pending <= study.spec.search.limit, report
            if self.goal == "money":
                price = OPTIONS["money"]["price"]
                promised = sum(price[arm] * count for arm, count in report.arms_pending.items())
                assert (report.result.spent or 0.0) + promised <= OPTIONS["money"]["spend"], report

    def bring(self, study: Study) -> None:
        """Observe one trial that nobody asked for, or import several. That is not tried again: it could count twice."""
        arm = self.dice.choice(ARMS)
        rewards = [self.dice.betavariate(*SHAPES[arm]) for _ in range(self.dice.choice((1, 1, 4)))]
        what = "observed" if len(rewards) == 1 else "imported"
        trials = [(f"{ELSEWHERE}{arm}-{reward!r}", arm, reward) for reward in rewards]
        rows = [{"pull": name, "arm": arm, "reward": reward} for name, arm, reward in trials]
        self.acknowledged(study, "meant", [(*trial, False) for trial in trials])
        accepted = True
        try:
            if what == "observed":
                study.observe(arm, rewards[0])
            else:
                study.import_jsonl(io.StringIO("\n".join(map(json.dumps, rows))))
        except ramgape.BudgetSpent:
            accepted = False
        except ramgape.StorageUnavailable:
            if self.patient:
                return  # nobody knows
            raise
        self.acknowledged(study, what, [(*trial, accepted) for trial in trials])

    def acknowledged(self, study: Study, what: str, answers: list[tuple[Any, ...]]) -> None:
        """Write down the name, the arm, the reward, and whether it was accepted; in the form of `accounting.Entry`."""
        os.write(self.log, "".join(f"{json.dumps([study.name, what, *answer])}\n" for answer in answers).encode())


def kills(url: str, goal: str, folder: str, count: int, seed: int) -> None:
    """Start workers, and kill a random one at a random moment, so many times; in the end, all."""
    open_store(url, create=True).close()  # a store that is being created is another scene
    dice = random.Random(seed)
    # Two workers have one name, two have none, and a name lives on after whoever had it.
    names = ["shared", "shared", None, None]

    def start(place: int) -> int:
        return in_child(lambda: Worker(url, goal, Path(folder), names[place]).work())

    workers = [start(place) for place in range(WORKERS)]
    for killed in range(count):
        time.sleep(dice.uniform(0.0, LONGEST_LIFE))
        while accepted(Path(folder)) <= killed:  # on a busy machine they may not have come to anything yet
            time.sleep(0.01)
        place = dice.randrange(WORKERS)
        kill(workers[place])
        workers[place] = start(place)
    for worker in workers:
        kill(worker)


def accepted(folder: Path) -> int:
    """How many answers the workers' logs say were accepted."""
    return sum(file.read_bytes().count(b"true]\n") for file in folder.iterdir())


def kill(worker: int) -> None:
    """A worker that has ended by itself has met an error, and has said which."""
    os.kill(worker, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    assert status == -signal.SIGKILL, f"a worker has ended with {status}"


def freezes(url: str, count: int, seed: int) -> None:
    """Stop a worker at a random moment, so many times; each time somebody else goes on."""
    from ramgape.storage import postgres

    postgres.SHORTEST_STANDSTILL = 0.2  # whoever is stopped has a second
    dice = random.Random(seed)
    options = OPTIONS["budget"] | {"budget": 1_000_000}
    with Study.create("frozen", ARMS, storage=f"{url}&timeout=60", **options) as study:

        def work() -> None:
            with Study.load("frozen", f"{url}&timeout=2") as own:
                while True:
                    own.tell_many([(pull, reward_of(pull)) for pull in own.ask(2)])

        for _ in range(count):
            worker = in_child(work)
            time.sleep(dice.uniform(0.2, 0.4))
            os.kill(worker, signal.SIGSTOP)
            study.tell_many([(pull, reward_of(pull)) for pull in study.ask(2)])
            say("went on")
            kill(worker)


def creation(url: str, count: int, seed: int) -> None:
    """Kill whoever is creating a store, at a random moment; whoever comes then must be able to. So many times."""
    dice = random.Random(seed)
    began = time.monotonic()
    create(url).close()
    usual = time.monotonic() - began
    for _ in range(count):
        remove_store(url)
        child = in_child(lambda: create(url).close())
        time.sleep(dice.uniform(0.0, usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        say(how_far(url))
        create_and_use(url)


def creation_by_statements(url: str) -> None:
    """The same before each statement that creating takes, until there are no more."""
    for number in itertools.count(1):
        remove_store(url)
        if not dies(lambda: create(url).close(), number):
            return
        say(how_far(url))
        create_and_use(url)


def create(url: str) -> Study:
    return Study.create("first", ARMS, storage=url, exist_ok=True, **OPTIONS["budget"])


def create_and_use(url: str) -> None:
    with create(url) as study:
        before = study.report().told
        assert study.tell(study.ask()[0], 0.5)
        assert study.report().told == before + 1


def operations_by_statements(url: str) -> None:
    """Somebody dies before each statement of each operation; say what is there before and afterwards."""
    with Study.create("first", ARMS, storage=url, **OPTIONS["confidence"], in_order=False) as study:
        for name in ("ask", "tell", "fail", "observe"):
            alive = False
            for number in itertools.count(1):
                if alive:
                    break
                (pull,) = study.ask(lease=None)
                operation: Callable[[], object] = {
                    "ask": lambda: study.ask(2, lease=None),
                    "tell": lambda pull=pull: study.tell(pull, 0.5),
                    "fail": lambda pull=pull: study.fail(pull, "bad luck"),
                    "observe": lambda: study.observe("poor", 0.5),
                }[name]
                before = counters(study)
                alive = not dies(operation, number)
                say(json.dumps([name, alive, before, counters(study)]))
                with Study.load("first", url) as again:
                    assert counters(again) == counters(study)


def requests_by_statements(url: str) -> None:
    """Somebody dies before each statement of a request under a key, which is then made again by somebody else; say
    what is there before, after the death, and afterwards."""
    with Study.create("first", ARMS, storage=url, **OPTIONS["confidence"]) as study:
        alive = False
        for number in itertools.count(1):
            if alive:
                break
            found = [counters(study)]
            alive = not dies(lambda number=number: observe_once(study, f"key {number}"), number)  # type: ignore[misc]
            found.append(counters(study))
            answers = {observe_once(study, f"key {number}") for _ in range(2)}
            say(json.dumps([alive, *found, counters(study), *answers]))


def counters(study: Study) -> list[int]:
    report = study.report()
    return [report.told, report.pending, report.failed]


def dies(work: Callable[[], object], number: int) -> bool:
    """Have a child work that dies before its so many-th statement; whether it came that far."""

    def work_until_then() -> None:
        before_statement(number, signal.SIGKILL)
        work()

    status = os.waitstatus_to_exitcode(os.waitpid(in_child(work_until_then), 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def before_statement(number: int, what: signal.Signals) -> None:
    """From now on, before its so many-th statement, this process gets a signal."""
    from ramgape.storage.postgres import PostgresStore
    from ramgape.storage.sqlite import SqliteStore

    statements = itertools.count(1)

    def count(*_: object) -> None:
        if next(statements) == number:
            os.kill(os.getpid(), what)

    def counted(run: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: (count(), run(*arguments))[1]

    for kind in (SqliteStore, PostgresStore):
        kind.run = counted(kind.run)  # type: ignore[method-assign]


def remove_store(url: str) -> None:
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()
        return
    import psycopg

    with psycopg.connect(url) as connection:
        (schema,) = connection.execute("SELECT current_schema()").fetchone() or ("",)
        connection.execute(f"DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}")


def how_far(url: str) -> str:
    """What somebody finds who only looks."""
    try:
        found = ramgape.list_studies(url)
    except ramgape.StorageError:
        return "no store"
    return "a study" if found else "a store"


# --- many at once ------------------------------------------------------------------------------------------------


def hammer(url: str, processes: int, rounds: int) -> None:
    """Many processes ask and tell as fast as they can, and say how much; any error ends it."""

    def work() -> None:
        study = Study.load("hammered", url)
        told = 0
        for _ in range(rounds):
            for pull in study.ask(1):
                told += study.tell(pull, reward_of(pull)).accepted
        study.close()
        say(told)

    wait_for([in_child(work) for _ in range(processes)])


def create_at_once(url: str, processes: int) -> None:
    """Many processes create the same study at once, with the same data."""

    def work() -> None:
        Study.create("same", ARMS, storage=url, exist_ok=True, data=[("poor", 0.25)] * 5, **OPTIONS["confidence"])

    wait_for([in_child(work) for _ in range(processes)])


# --- forks -------------------------------------------------------------------------------------------------------


def fork(url: str, rounds: int) -> None:
    """A study that was opened and used before a fork serves parent and children, at the same time."""
    study = Study.load("forked", url)
    (before,) = study.ask()

    def work() -> None:
        for _ in range(rounds):
            for pull in study.ask():
                say(study.tell(pull, reward_of(pull)).accepted)
        study.close()

    children = [in_child(work), in_child(work)]
    work()
    wait_for(children)
    say(study.tell(before, 0.5).accepted)


def fork_beside_threads(url: str, rounds: int) -> None:
    """Forks while other threads of the parent are in the middle of operations: the children can work all the same."""
    study = Study.load("forked", url)
    over = threading.Event()

    def work() -> None:
        for pull in study.ask():
            say(study.tell(pull, reward_of(pull)).accepted)

    def work_and_leave() -> None:
        work()
        study.close()

    def work_on() -> None:
        while not over.is_set():
            work()

    threads = [threading.Thread(target=work_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(rounds):
            wait_for([in_child(work_and_leave)])
    finally:
        over.set()
        for thread in threads:
            thread.join()
        study.close()


def fork_beside_a_long_operation(url: str) -> None:
    """A fork that waits in vain for another thread: the child hears an error, and does not hang."""
    session.FORK_PATIENCE = 0.1
    study = Study.load("forked", url)
    inside, over = threading.Event(), threading.Event()

    def operate() -> None:
        with study.backend.session.writing:
            inside.set()
            over.wait(300)

    thread = threading.Thread(target=operate)
    thread.start()
    assert inside.wait(300)

    def work() -> None:
        for attempt in (study.ask, study.report):
            try:
                attempt()
            except ramgape.StorageError as error:
                say(error)

    try:
        wait_for([in_child(work)])
    finally:
        over.set()
        thread.join()
    assert study.tell(study.ask()[0], 0.5)


if __name__ == "__main__":
    warm_up()
    play_all(globals())
