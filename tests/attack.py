"""The attack on studies, on a large scale: kills, freezes, cut lines, restarts, restores, damaged files, wrong clocks.

    python -m tests.attack                          all of it: some ten minutes
    python -m tests.attack --kills 20 --only kills --store sqlite

A scene does something to a store so many times while workers are at it, or before somebody comes back to it. Then the
accounts are checked (accounting.py): every answer that was acknowledged is there once, with its arm and its reward;
nothing that was refused is; the counters agree, and the observations alone give the same result again. One table says
what was found.

`tests/test_attack.py` runs it, scene by scene; small versions of most scenes are in the fast tests. It forks, so it is
a program of its own, and for POSIX only.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ramgape
from ramgape import Pull, StorageError, StorageUnavailable, Study, UnknownPull
from ramgape.storage import open_store, postgres, sqlite
from tests import study_processes
from tests.accounting import Audit, audit_store, read_logs
from tests.postgres import Server, new_database, new_server
from tests.proxy import proxy_for
from tests.storage_processes import in_child, say
from tests.stores import copy_database, damage, use, whole_store
from tests.study_processes import ARMS, OPTIONS, Worker, before_statement, reward_of

PATIENCE = 60.0  # seconds for what should take a fraction of one: beyond, it hangs
LONGEST_SCENE = 600.0
HOUR, DAY = 3600.0, 86_400.0


class Stage:
    """Where a scene is played, and what is known of it afterwards."""

    def __init__(self, store: str, server: Server | None, folder: Path, seed: int) -> None:
        self.store, self._server, self._folder = store, server, folder
        self.dice = random.Random(seed)
        self.audit = Audit()
        self.attacks = 0
        self.hung: list[str] = []
        self._places = 0

    @property
    def server(self) -> Server:
        assert self._server is not None
        return self._server

    def new_folder(self) -> Path:
        self._places += 1
        folder = self._folder / str(self._places)
        folder.mkdir()
        return folder

    def new_store(self) -> str:
        """The address of a place for a store."""
        return self.file_of(self.new_folder()) if self.store == "sqlite" else new_database(self.server.address)

    @staticmethod
    def file_of(folder: Path) -> str:
        return f"sqlite:///{folder / 'studies.db'}"

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """What hangs ends the scene."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(what)
            time.sleep(0.005)

    def check(self, url: str, options: dict[str, Any], logs: Path) -> None:
        audit_store(url, options, read_logs(logs.iterdir()), self.audit)


class Crew:
    """Workers at one store, with their logs."""

    def __init__(
        self, stage: Stage, url: str, goal: str, *, patient: bool, job: Callable[[Worker], None] = Worker.work
    ) -> None:
        self.stage, self.url, self.goal, self.patient, self.job = stage, url, goal, patient, job
        self.logs = stage.new_folder()
        self.members: list[int] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for member in list(self.members):
            self.kill(member)

    def start(self, name: str | None = None, patient: bool | None = None, stops_at: int | None = None) -> int:
        """One more, which may stop itself before a statement."""

        def work() -> None:
            if stops_at is not None:
                before_statement(stops_at, signal.SIGSTOP)
            self.job(Worker(self.url, self.goal, self.logs, name, self.patient if patient is None else patient))

        self.members.append(in_child(work))
        return self.members[-1]

    def kill(self, member: int) -> None:
        """Whoever has ended already has met an error, and has said which."""
        self.members.remove(member)
        os.kill(member, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(member, 0)[1])
        self.stage.audit.expect(status == -signal.SIGKILL, f"a worker has ended with {status}")

    def wait(self) -> None:
        """Until all have ended by themselves."""
        for member in list(self.members):
            status: list[int] = []

            def has_ended(member: int = member, status: list[int] = status) -> bool:
                ended, how = os.waitpid(member, os.WNOHANG)
                status.extend([how] * bool(ended))
                return bool(ended)

            self.stage.wait_until(has_ended, "somebody does not come to an end")
            if status:
                self.members.remove(member)
                self.stage.audit.expect(status == [0], "somebody has ended with an error")

    def goes_on(self, what: str, member: int | None = None, without: int | None = None) -> None:
        """Wait until somebody else, or that one, has got on."""

        def written() -> int:
            files = self.logs.glob("*" if member is None else f"{member}-*")
            return sum(file.stat().st_size for file in files if not file.name.startswith(f"{without}-"))

        before = written()
        self.stage.wait_until(lambda: written() > before, what)


# --- scenes ------------------------------------------------------------------------------------------------------


def kills(stage: Stage, count: int) -> None:
    """Workers are killed at random moments."""
    for place, goal in enumerate(OPTIONS):
        share = (count + place) // len(OPTIONS)
        url, logs = stage.new_store(), stage.new_folder()
        study_processes.kills(url, goal, str(logs), share, stage.dice.randrange(2**31))
        stage.attacks += share
        stage.check(url, OPTIONS[goal], logs)


def freezes(stage: Stage, count: int) -> None:
    """Workers are stopped, at random moments or between two statements, and go on later.

    On PostgreSQL others go on before their patience ends, so they need no second try; on SQLite they may have to wait
    until the file is free again.
    """
    server = stage.store == "postgresql"
    url = stage.new_store()
    open_store(url, create=True).close()
    patience = "&timeout=4" if server else "?timeout=0.2"
    with Crew(stage, url + patience, "in order", patient=not server) as crew:
        for name in ("one", "two", None):
            crew.start(name)
        for number in range(count):
            stops_at = None if number % 2 else stage.dice.randint(3, 60)
            victim = crew.start(patient=True, stops_at=stops_at)
            if stops_at is None:
                time.sleep(stage.dice.uniform(0.02, 0.3))
                os.kill(victim, signal.SIGSTOP)
            stage.wait_until(lambda victim=victim: is_stopped(victim), "nobody stops")  # type: ignore[misc]
            if server:
                crew.goes_on("others wait for one that is frozen", without=victim)
            else:
                time.sleep(stage.dice.uniform(0.0, 0.6))
            os.kill(victim, signal.SIGCONT)
            crew.goes_on("one that was frozen does not go on", member=victim)
            crew.kill(victim)
            stage.attacks += 1
        crew.goes_on("nobody goes on")
    stage.check(url, OPTIONS[crew.goal], crew.logs)


def is_stopped(process: int) -> bool:
    return os.WIFSTOPPED(os.waitpid(process, os.WNOHANG | os.WUNTRACED)[1])


def cuts(stage: Stage, count: int) -> None:
    """Connections break, with or without an answer that was under way, or fall silent."""
    url = stage.new_store()
    open_store(url, create=True).close()
    with proxy_for(url) as proxy:

        def lose_answers() -> None:
            proxy.keep_answers()
            time.sleep(stage.dice.uniform(0.0, 0.1))
            proxy.cut()

        def be_silent() -> None:
            proxy.fall_silent()
            time.sleep(stage.dice.uniform(0.0, 3.0))
            proxy.speak_again()

        ways: list[Callable[[], object]] = [proxy.cut, lose_answers, lambda: hang_up(url), be_silent]
        with Crew(stage, f"{proxy.url}&timeout=1&connect_timeout=2", "budget", patient=True) as crew:
            for name in ("one", "two", None):
                crew.start(name)
            for number in range(count):
                crew.goes_on("nobody goes on")
                time.sleep(stage.dice.uniform(0.0, 0.1))
                ways[number % len(ways)]()
                stage.attacks += 1
            crew.goes_on("nobody goes on")
    stage.check(url, OPTIONS[crew.goal], crew.logs)


def hang_up(url: str, how: str = "SELECT pg_terminate_backend(pid)") -> list[Any]:
    """End all other connections to a server, or do something else to them."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(
            f"{how} FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'".encode()
        ).fetchall()


def restarts(stage: Stage, count: int) -> None:
    """The server is ended without any farewell and started again, or one of its processes is killed."""
    with new_server(durable=True) as server:
        url = new_database(server.address)
        open_store(url, create=True).close()
        with Crew(stage, url, "budget", patient=True) as crew:
            for name in ("one", "two", None):
                crew.start(name)
            for number in range(count):
                crew.goes_on("nobody goes on")
                time.sleep(stage.dice.uniform(0.0, 0.3))
                if number % 2:
                    os.kill(stage.dice.choice(hang_up(url, "SELECT pid"))[0], signal.SIGKILL)
                else:
                    server.stop(signal.SIGQUIT)
                    time.sleep(stage.dice.uniform(0.0, 0.3))
                    server.start()
                stage.attacks += 1
            crew.goes_on("nobody goes on")
        stage.wait_until(lambda: is_up(url), "the server does not come back")
        stage.check(url, OPTIONS[crew.goal], crew.logs)


def runs(stage: Stage, count: int) -> None:
    """`Study.run` goes on by itself when its server hangs up or crashes, or its file is locked for longer than it waits
    for it: whatever was measured is told once."""
    url, over = stage.new_store(), stage.new_folder() / "over"
    open_store(url, create=True).close()

    def run_studies(worker: Worker) -> None:
        for number in itertools.count():
            if over.exists():
                return
            study = worker.again_and_again(
                lambda number=number: Study.create(  # type: ignore[misc]
                    f"study {number}", ARMS, storage=worker.url, exist_ok=True, **OPTIONS["budget"] | {"budget": 200}
                )
            )

            def trial(arm: str, generator: np.random.Generator, study: Study = study) -> float:
                time.sleep(generator.uniform(0.0, 0.01))
                reward = float(generator.random())
                worker.acknowledged(study, "measured", [("", arm, reward, True)])
                return reward

            study.run(trial, workers=2, progress=False)

    def lock() -> None:
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=PATIENCE)) as other:
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(stage.dice.uniform(0.0, 1.5))

    def crash() -> None:
        os.kill(stage.dice.choice(hang_up(url, "SELECT pid"))[0], signal.SIGKILL)
        stage.wait_until(lambda: is_up(url), "the server does not come back")

    ways = [lock] if stage.store == "sqlite" else [lambda: hang_up(url), crash]
    patience = "?timeout=1" if stage.store == "sqlite" else ""
    with Crew(stage, url + patience, "budget", patient=True, job=run_studies) as crew:
        for _ in range(2):
            crew.start()
        for number in range(count):
            crew.goes_on("nobody goes on")
            time.sleep(stage.dice.uniform(0.0, 0.1))
            ways[number % len(ways)]()
            stage.attacks += 1
        over.touch()
        crew.wait()
    measured = read_logs(crew.logs.iterdir())
    for summary in ramgape.list_studies(url):
        told = Counter((row["arm"], row["reward"]) for row in map(json.loads, rows_of(summary.name, url).splitlines()))
        seen = Counter((entry.arm, entry.reward) for entry in measured if entry.study == summary.name)
        stage.audit.acknowledged += told.total()
        stage.audit.lost += map(str, (seen - told).elements())
        stage.audit.doubled += [str(each) for each in (told - seen).elements() if each in seen]
        stage.audit.wrong += [str(each) for each in (told - seen).elements() if each not in seen]
        stage.audit.expect(summary.done and summary.pending == 0, f"{summary} is not done")


def is_up(url: str) -> bool:
    with suppress(StorageUnavailable):
        ramgape.list_studies(url)
        return True
    return False


def restores(stage: Stage, count: int) -> None:
    """A store is set back to a copy while somebody has it open. What was handed out since is refused from then on."""
    # Nobody answers some of these pulls, and they have no leases: in the order of asking, results would wait for ever.
    options = OPTIONS["confidence"] | {"in_order": False}
    for number in range(count):
        url, dice, log = stage.new_store(), stage.dice, stage.new_folder()
        with Study.create("restored", ARMS, storage=url, **options) as witness:
            clerk = Worker(url, "confidence", log, None)
            tell(clerk, witness, witness.ask(dice.randint(2, 20), lease=None))
            under_way = witness.ask(3, lease=None)
            restore = back_up(stage, url, number, witness)
            # From here on all is forgotten by the store, and not by the witness.
            lost = witness.ask(dice.randint(1, 20), lease=None)
            witness.tell_many([(pull, reward_of(pull)) for pull in lost[: dice.randint(0, len(lost))]])
            restore()
            with Study.load("restored", url) as other:
                for _ in range(dice.randint(0, 4)):
                    new = other.ask(dice.randint(1, 10), lease=None)
                    tell(clerk, other, new[: dice.randint(0, len(new))])
                with Study.load("restored", url) as newcomer:
                    for pull in lost:
                        for study in dice.sample((witness, other, newcomer), 3):
                            stage.audit.expect(is_refused(study, pull, dice.randrange(3)), f"{pull} is not refused")
                            stage.audit.expect(renewed(study, pull) is False, f"{pull} is renewed")
                        stage.attacks += 1
            tell(clerk, witness, under_way)
            tell(clerk, witness, patiently(lambda witness=witness: witness.ask(5, lease=None)))  # type: ignore[misc]
        stage.check(url, options, log)


def tell(clerk: Worker, study: Study, pulls: list[Pull]) -> None:
    for pull in pulls:
        answer = patiently(lambda pull=pull: study.tell(pull, reward_of(pull)))  # type: ignore[misc]
        assert answer.accepted
        clerk.acknowledged(study, "told", [(pull.id, pull.arm, reward_of(pull), True)])


def patiently(operation: Callable[[], Any]) -> Any:
    """Once more, if the store has to be read anew."""
    with suppress(StorageUnavailable):
        return operation()
    return operation()


def is_refused(study: Study, pull: Pull, verb: int) -> bool:
    verbs = (lambda: study.tell(pull, reward_of(pull)), lambda: study.fail(pull), lambda: study.give_back(pull))
    try:
        patiently(verbs[verb])
    except UnknownPull:
        return True
    return False


def renewed(study: Study, pull: Pull) -> bool:
    (still,) = patiently(lambda: study.renew([pull]))
    return bool(still)


def back_up(stage: Stage, url: str, number: int, witness: Study) -> Callable[[], None]:
    """Copy a store; what restores it."""
    copy = stage.new_folder() / "copy"
    if stage.store == "postgresql":
        schema = url.rpartition("%3D")[2]
        programs = stage.server.programs
        subprocess.run([programs / "pg_dump", "-n", schema, "--clean", "-f", copy, url], check=True)
        back = [programs / "psql", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-f", copy, url]
        return lambda: check_output(back)
    file = Path(url.removeprefix("sqlite:///"))
    if number % 2:  # of a file that is in use
        copy_database(file, copy)
        return lambda: copy_database(copy, file)
    witness.close()
    shutil.copy(file, copy)

    def restore() -> None:
        witness.close()
        shutil.copy(copy, file)

    return restore


def check_output(command: Sequence[object]) -> None:
    subprocess.run([str(each) for each in command], check=True, stdout=subprocess.DEVNULL)


def damages(stage: Stage, count: int) -> None:
    """Bytes of a file change, or its end is missing: it gives the same as before, or an error."""
    folder = stage.new_folder()
    whole = whole_store(folder)
    file = folder / "studies.db"
    views = {"the list": lambda url: [asdict(each) for each in ramgape.list_studies(url)]}
    for name in ("open", "done"):
        views[f"the report of {name}"] = lambda url, name=name: report_of(name, url)  # type: ignore[misc]
        views[f"the observations of {name}"] = lambda url, name=name: rows_of(name, url)  # type: ignore[misc]
    url = f"sqlite:///{file}?timeout=1"
    right = {name: view(url) for name, view in views.items()}
    stage.audit.acknowledged += sum(each.told for each in ramgape.list_studies(url))
    for number in range(count):
        file.write_bytes(damage(whole, number + 1000))
        for name, view in views.items():
            try:
                stage.audit.expect(view(url) == right[name], f"copy {number}: {name} is another")
            except StorageError:
                continue
            except Exception as error:  # noqa: BLE001 - that is what must not happen
                stage.audit.wrong.append(f"copy {number}: {name}: {error!r}")
        try:
            use(file)
        except Exception as error:  # noqa: BLE001
            stage.audit.wrong.append(f"copy {number}: {error!r}")
        stage.attacks += 1
        for left in folder.iterdir():
            left.unlink()


def report_of(name: str, url: str) -> dict[str, Any]:
    with Study.load(name, url) as study:
        return study.report().to_dict()


def rows_of(name: str, url: str) -> str:
    with Study.load(name, url) as study:
        text = io.StringIO()
        study.export_jsonl(text)
        return text.getvalue()


def clocks(stage: Stage, count: int) -> None:
    """Programs with wrong clocks neither take a living lease nor block one that has ended; a reboot ends all but those
    without an end."""
    url, log = stage.new_store(), stage.new_folder()
    expect = stage.audit.expect
    options = OPTIONS["budget"] | {"budget": 20 * count + 100}
    clerk = Worker(url, "budget", log, None)
    with Study.create("timed", ARMS, storage=url, **options) as study:
        for number in range(count):
            alive = study.ask(2, lease=600.0)
            shift = stage.dice.choice((-DAY, -HOUR, HOUR, DAY))
            reboot = number if stage.store == "sqlite" and number % 5 == 4 else None
            names = log / "names"

            def work(shift: float = shift, reboot: int | None = reboot, names: Path = names) -> None:
                right = time.time
                time.time = lambda: right() + shift
                if reboot is not None:
                    sqlite.SqliteStore.clock = f"boot {reboot}"
                with Study.load("timed", url) as own:
                    names.write_text(" ".join(pull.id for pull in own.ask(4, lease=1e-9)))

            status = os.waitpid(in_child(work), 0)[1]
            expect(status == 0, "a program with another clock has ended")
            taken = names.read_text().split()
            names.unlink()
            took = [name for name in taken if base(name) in {base(pull.id) for pull in alive}]
            expect(len(taken) == 4, f"{len(taken)} of 4 pulls")
            if reboot is None:
                expect(took == [], f"living leases were taken: {took}")
                tell(clerk, study, alive)
            else:
                expect(len(took) == 2, f"of leases from before a reboot {took} had ended")
            again = study.ask(4, lease=600.0)
            expect({base(pull.id) for pull in again} == set(map(base, taken)), "ended leases do not come back")
            tell(clerk, study, again)
            stage.attacks += 1
    stage.check(url, options, log)


def base(name: str) -> str:
    """Of a pull, whatever the attempt."""
    return name.partition(".")[0]


class Scene(NamedTuple):
    """How a scene is played."""

    play: Callable[[Stage, int], None]
    stores: tuple[str, ...]
    count: int  # usually


BOTH = ("sqlite", "postgresql")
SCENES = {
    "kills": Scene(kills, BOTH, 300),
    "freezes": Scene(freezes, BOTH, 40),
    "cuts": Scene(cuts, ("postgresql",), 60),
    "restarts": Scene(restarts, ("postgresql",), 20),
    "runs": Scene(runs, BOTH, 20),
    "restores": Scene(restores, BOTH, 30),
    "damages": Scene(damages, ("sqlite",), 500),
    "clocks": Scene(clocks, BOTH, 60),
}


# --- the table ---------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """What a scene has shown."""

    scene: str
    store: str
    attacks: int
    acknowledged: int
    lost: int
    doubled: int
    wrong: int
    hung: int
    took: float

    @property
    def good(self) -> bool:
        return not (self.lost or self.doubled or self.wrong or self.hung)


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    cells = [tuple(map(str, Row._fields))]
    cells += [(*map(str, row[:3]), f"{row.acknowledged:,}", *map(str, row[4:8]), f"{row.took:.0f} s") for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        words = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(words).rstrip())
    return "\n".join(lines)


def play(name: str, store: str, count: int, server: Server | None, seed: int) -> Row:
    """Play a scene in a child of its own, with all that it starts in one group, and say what was found."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "found")

        def work() -> None:
            os.setpgrp()
            stage = Stage(store, server, Path(folder), seed)
            try:
                SCENES[name].play(stage, count)
            except TimeoutError as hang:
                stage.hung.append(str(hang))
            for fault in [*stage.audit.faults, *stage.hung][:20]:
                sys.stderr.write(f"{name}, {store}: {fault}\n")
            audit = stage.audit
            numbers = (
                stage.attacks,
                audit.acknowledged,
                *map(len, (audit.lost, audit.doubled, audit.wrong, stage.hung)),
            )
            found.write_text(json.dumps(numbers))

        child = in_child(work)
        end = began + LONGEST_SCENE
        while os.waitpid(child, os.WNOHANG)[0] == 0 and time.monotonic() < end:
            time.sleep(0.05)
        late = time.monotonic() >= end
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and whatever it has started
        # A scene that ends by an error has met what should not happen.
        numbers = json.loads(found.read_text()) if found.exists() else (0, 0, 0, 0, int(not late), int(late))
    return Row(name, store, *numbers, round(time.monotonic() - began, 1))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    for name, scene in SCENES.items():
        parser.add_argument(f"--{name}", type=int, default=scene.count, metavar="N")
    parser.add_argument("--only", choices=SCENES)
    parser.add_argument("--store", choices=BOTH)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="rows for machines in place of a table")
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore", "fsync is off")
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # of forks beside threads
    # Limits that are waited for are short here.
    postgres.SHORTEST_STANDSTILL = postgres.WORKING = postgres.GRACE = 0.5
    study_processes.warm_up()
    names = [chosen.only] if chosen.only else list(SCENES)
    plan = [(name, store) for name in names for store in SCENES[name].stores if chosen.store in (None, store)]
    rows = []
    with ExitStack() as stack:
        needed = any(store == "postgresql" for _, store in plan)
        server = stack.enter_context(new_server(durable=False)) if needed else None
        for name, store in plan:
            rows.append(play(name, store, getattr(chosen, name), server, chosen.seed))
            if chosen.json:
                say(json.dumps(rows[-1]))
    if not chosen.json:
        say(table(rows))
    return int(not all(row.good for row in rows))


if __name__ == "__main__":
    sys.exit(main())
