"""What several processes do to one store; run by `play` as `python storage_processes.py SCENE URL`.

A program of its own, because a test runner has threads and should not fork. It imports everything first and forks then,
so that sixteen processes start in no time.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ramgape.errors import StorageError
from ramgape.storage import connect, open_store, upgrade
from ramgape.storage.records import Changes, ObservationRow, PullRow
from ramgape.storage.store import SqlStore
from ramgape.storage.urls import parse_url
from ramgape.storage.versions import VERSION_TABLE

ROUNDS = 12


def in_child(work: Callable[[], object]) -> int:
    """Fork; the child does the work and ends."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent shall see it and the child shall end
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait_for(children: list[int]) -> None:
    statuses = [os.waitpid(child, 0)[1] for child in children]
    assert not any(statuses), statuses


def say(text: object) -> None:
    os.write(1, f"{text}\n".encode())  # in one piece, also when several speak


def add_one(used: SqlStore, study: int) -> None:
    """Answer the open pull, and ask for another."""
    row, now = used.begin(study, write=True)
    try:
        changes = Changes(new_pulls=[PullRow(row.asked, 1, 1, None, now.clock + 60, 0, 0, False)])
        if row.asked:
            changes.answered_pulls.append(changes.new_pulls[0]._replace(number=row.asked - 1))
            changes.observations.append(ObservationRow(row.asked - 1, 1, 1, float(row.told), False, None, now.time))
        known = len(used.read_observations(study, 0)[0])
        assert known == row.told, (known, row.told)
        told = row.told + len(changes.observations)
        used.write(row._replace(revision=row.revision + 1, asked=row.asked + 1, told=told), changes, row.told)
        used.commit()
    finally:
        used.rollback()


def create(url: str) -> None:
    """Eight processes open a new store at once, and each wants to create the same study."""
    import ramgape.storage.migrations  # noqa: F401 - before the fork, so that they are at it at the same moment

    def work() -> None:
        opened = open_store(url, create=True)
        say("created" if opened.create_study("the one", str(os.getpid()), "{}", 1.0) else "found")
        assert opened.find_study("the one") is not None

    wait_for([in_child(work) for _ in range(8)])


def upgrade_at_once(url: str) -> None:
    """Eight processes upgrade a store; each says from which version to which."""
    import ramgape.storage.migrations  # noqa: F401 - before the fork, as above

    wait_for([in_child(lambda: say(" ".join(upgrade(url)))) for _ in range(8)])


def upgrade_killed(url: str) -> None:
    """An upgrade is killed before each of its statements, until there are no more; say what version is there then."""
    kind = type(connect(parse_url(url)))

    def upgrade_until(last: int) -> None:
        statements = itertools.count(1)

        def counted(run: Callable[..., Any]) -> Callable[..., Any]:
            def count(*arguments: Any) -> Any:
                if next(statements) == last:
                    os.kill(os.getpid(), signal.SIGKILL)
                return run(*arguments)

            return count

        for name in ("run", "execute_many"):
            setattr(kind, name, counted(getattr(kind, name)))
        upgrade(url)

    for number in itertools.count(1):
        killed = os.waitpid(in_child(lambda last=number: upgrade_until(last)), 0)[1]  # type: ignore[misc]
        database = connect(parse_url(url))
        say(database.fetch(f"SELECT version_num FROM {VERSION_TABLE}")[0][0])
        database.close()
        if not killed:
            return


def hammer(url: str, processes: int) -> None:
    """Many processes change one study as fast as they can."""
    study = open_store(url, create=False).find_study("hammered")
    assert study is not None

    def work() -> None:
        opened = open_store(url, create=False)
        for _ in range(ROUNDS):
            add_one(opened, study.id)

    wait_for([in_child(work) for _ in range(processes)])


def fork(url: str) -> None:
    """A store that was opened before a fork serves both, at the same time."""
    opened = open_store(url, create=False)
    study = opened.find_study("forked")
    assert study is not None
    add_one(opened, study.id)

    def work() -> None:
        for _ in range(ROUNDS):
            add_one(opened, study.id)

    children = [in_child(work), in_child(work)]
    work()
    wait_for(children)
    work()

    # In the middle of a transaction the child is told, and the parent goes on.
    row, now = opened.begin(study.id, write=True)

    def work_inside() -> None:
        for attempt in (opened.commit, lambda: opened.begin(study.id, write=True)):
            try:
                attempt()
            except StorageError as error:
                say(error)
            opened.rollback()

    wait_for([in_child(work_inside)])
    changes = Changes(observations=[ObservationRow(None, 0, 1, 0.5, False, None, now.time)])
    opened.write(row._replace(told=row.told + 1), changes, row.told)
    opened.commit()


def read_only(url: str) -> None:
    """A file that the user may read but not write. Root may write everything, so root becomes nobody."""
    open_store(url, create=False).close()  # imports what nobody may not be allowed to import

    def work() -> None:
        if os.geteuid() == 0:
            os.setuid(65534)
        opened = open_store(url, create=False)
        study = opened.list_studies()[0][0]
        say(study.name)
        opened.begin(study.id, write=False)
        say(len(opened.read_observations(study.id, 0)[0]))
        opened.commit()
        for attempt in (lambda: add_one(opened, study.id), lambda: opened.create_study("another", "", "", 0.0)):
            try:
                attempt()
            except StorageError as error:
                say(error)

    wait_for([in_child(work)])


def closed(url: str) -> None:
    """A folder that lets nobody in, to read a store there or to make one."""
    open_store(f"{url}-other", create=True).close()  # imports what nobody may not be allowed to import

    def work() -> None:
        if os.geteuid() == 0:
            os.setuid(65534)
        for create in (False, True):
            try:
                open_store(url, create=create)
            except StorageError as error:
                say(error)

    wait_for([in_child(work)])


def full(url: str) -> None:
    """A disk that takes no more, as far as this process can tell."""
    import resource

    opened = open_store(url, create=False)
    study = opened.list_studies()[0][0]
    add_one(opened, study.id)
    size = Path(url.removeprefix("sqlite:///")).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    row, now = opened.begin(study.id, write=True)
    many = [ObservationRow(None, 0, 1, 0.5, False, "x" * 200, now.time) for _ in range(5000)]
    try:
        opened.write(row._replace(told=row.told + len(many)), Changes(observations=many), row.told)
        opened.commit()
    except StorageError as error:
        say(error)
    opened.rollback()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    add_one(opened, study.id)


def play(scene: str, url: str, *arguments: int) -> list[str]:
    """Play a scene in processes of its own; returns what they say."""
    # Python 3.12 and later warn of a fork next to the threads that NumPy starts; and the server here has no fsync.
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-W",
        "ignore:fsync is off",
        __file__,
        scene,
        url,
        *map(str, arguments),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (finished.returncode, finished.stderr) == (0, ""), finished.stderr
    return finished.stdout.splitlines()


if __name__ == "__main__":
    scene, address, *rest = sys.argv[1:]
    globals()[scene](address, *map(int, rest))
