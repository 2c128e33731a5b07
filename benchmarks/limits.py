"""Where the limits of one study lie on this machine, for docs/project/scale.md: `python -m benchmarks.limits`.

A trial is one exchange with a study of equal arms that never ends: the answer to a pull, and the next pull. It is
measured by the clock on the wall, since a disk is part of it, and in this process also by processor time, which does
not depend on who else is at work.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.server import WATCHERS, WORKERS, make, process, serving, slice_of
from benchmarks.studies import OPTIONS, place_for_files
from benchmarks.study_pairs import REWARD, STUDY
from ramgape import Study
from tests.postgres import new_database, postgres_server

LINE = "| {:<44} | {:>9} | {:>12} |"
STORES = ("memory", "SQLite", "PostgreSQL")


@contextmanager
def study_of(store: str, arms: int = 10) -> Iterator[Study]:
    """A new study, on a disk of the machine where the store has one."""
    names = [f"arm {number}" for number in range(arms)]
    with ExitStack() as stack:
        place: dict[str, Any] = {}
        if store == "SQLite":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place_for_files())))
            place["storage"] = f"sqlite:///{folder.absolute() / 'study.db'}"
        elif store == "PostgreSQL":
            place["storage"] = new_database(stack.enter_context(postgres_server(durable=True)))
        yield stack.enter_context(Study.create(STUDY, names, **place, **OPTIONS))


def rate(study: Study, under_way: int, batch: int, seconds: float) -> tuple[float, float]:
    """Trials a second, and microseconds of processor time for one, with so many always under way.

    Of those the oldest are answered first, in batches.
    """
    waiting = deque(study.exchange(count=under_way).pulls)
    while len(waiting) < under_way:  # it is enough, the study thinks: but others may die
        waiting.extend(study.ask(1))
    told, begun, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        answers = [(waiting.popleft(), REWARD) for _ in range(batch)]
        waiting.extend(study.exchange(answers, count=batch).pulls)
        told += batch
    taken = time.perf_counter() - begun
    return told / taken, 1e6 * (time.process_time() - used) / told


def rows(seconds: float) -> Iterator[tuple[str, float, float | None]]:
    """What is measured: trials a second, and microseconds of processor time where they are this process's."""
    for store in STORES:
        for batch in (1, 100):
            with study_of(store) as study:
                words = "one at a time" if batch == 1 else f"batches of {batch}"
                yield f"{store}, {words}", *rate(study, batch, batch, seconds)
    for under_way in (100, 1_000, 10_000):
        with study_of("SQLite") as study:
            yield f"SQLite, {under_way:,} under way", *rate(study, under_way, 1, seconds)
    for arms in (100, 1_000):
        for under_way in (1, 2 * arms):
            with study_of("memory", arms) as study:
                yield f"memory, {arms:,} arms, {under_way:,} under way", *rate(study, under_way, 1, seconds)
    yield from over_the_server(seconds)


def over_the_server(seconds: float) -> Iterator[tuple[str, float, None]]:
    """Workers of a server on SQLite, and those who watch them."""
    with tempfile.TemporaryDirectory(dir=place_for_files()) as folder, serving(Path(folder).absolute()) as server:
        for number, batch in enumerate((1, 32)):
            study = make(*server, f"{STUDY} {number}")
            with process("work", *server, study, WORKERS, batch) as crew:
                told, taken, *_ = slice_of(crew, seconds)
                yield f"server, {WORKERS} workers, batches of {batch}", told / taken, None
                if batch == 1:
                    for watchers in (WATCHERS, 10 * WATCHERS):
                        with process("watch", *server, study, watchers, 0) as watching:
                            told, taken, *_ = slice_of(crew, seconds)
                            slice_of(watching, 0)
                        yield f"server, {WORKERS} workers, {watchers:,} watchers", told / taken, None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    given = parser.parse_args()
    print(LINE.format("one study", "trials/s", "CPU a trial"))
    print("| --- | --: | --: |")
    for what, speed, used in rows(given.seconds):
        print(LINE.format(what, f"{speed:,.0f}", "" if used is None else f"{used:,.0f} us"), flush=True)


if __name__ == "__main__":
    main()
