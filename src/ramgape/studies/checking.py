"""Whether a store is as it was written: its file, and what must be true of every study in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from ramgape.errors import DamagedStore, StorageError, UnknownStudy
from ramgape.storage import open_store
from ramgape.storage.records import StudyRow
from ramgape.storage.store import SqlStore
from ramgape.storage.urls import shown
from ramgape.studies.soundness import (
    problems_of_failures,
    problems_of_observations,
    problems_of_pulls,
    problems_of_row,
    problems_of_spec,
)
from ramgape.studies.specification import StudySpec

PAGE = 5_000  # observations that are read, and in memory, at a time
MOST_PROBLEMS = 10  # that are told of one study
FIRST, LAST = -(2**63), 2**63 - 1  # no place is beyond


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """What was found of one study: nothing, if all is well."""

    name: str
    told: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What was found of a store: problems of the file itself, and of each study."""

    storage: str
    problems: tuple[str, ...]
    studies: tuple[StudyCheck, ...]

    @property
    def sound(self) -> bool:
        """Whether all is well."""
        return not self.problems and not any(study.problems for study in self.studies)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"sound": self.sound, **asdict(self)}


def check_store(storage: str) -> StoreCheck:
    """Look at everything in a store; nothing is changed, and others may go on working with it."""
    where = shown(storage)
    try:
        store = open_store(storage, create=False)
    except DamagedStore as error:
        return StoreCheck(where, (str(error),), ())
    try:
        problems, studies = [], []
        try:
            problems += store.integrity()
            studies += [check_study(store, row) for row, _ in store.list_studies()]
        except DamagedStore as error:
            problems.append(str(error))
        return StoreCheck(where, tuple(problems), tuple(studies))
    finally:
        store.close()


def check_study(store: SqlStore, row: StudyRow) -> StudyCheck:
    """Look at everything that belongs to a study."""
    found: list[str] = []
    try:
        found += islice(_problems(store, row), MOST_PROBLEMS)
    except UnknownStudy:  # deleted meanwhile
        pass
    except StorageError as error:
        found.append(str(error))
    return StudyCheck(row.name, row.told, tuple(found))


def _problems(store: SqlStore, row: StudyRow) -> Iterator[str]:
    """What is wrong with a study. Observations are read in pages, so that others can write in between."""
    spec = StudySpec.from_text(row.specification)
    yield from problems_of_spec(spec)
    count = len(spec.search.names)
    row, _ = store.begin(row.id, write=False)
    try:
        pulls, failures = store.read_pulls(row.id), store.read_failures(row.id)
        outside = len(store.read_rows(row.id, FIRST, 0)) + len(store.read_rows(row.id, row.told, LAST))
    finally:
        store.rollback()
    yield from problems_of_row(row, count)
    yield from problems_of_pulls(row, count, pulls)
    yield from problems_of_failures(row, count, failures)
    if outside:
        yield f"there are {outside} observations more than the {row.told} that were told"
    waiting = {pull.number for pull in pulls}
    for start in range(0, row.told, PAGE):
        stop = min(start + PAGE, row.told)
        store.begin(row.id, write=False)
        try:
            page = store.read_rows(row.id, start, stop)
        finally:
            store.rollback()
        # Pages come in order: whatever is chained over the observations can be compared here.
        yield from problems_of_observations(spec, row, start, stop, page)
        for seen in page:
            if seen.number in waiting:
                yield f"pull {seen.number} is answered, and waits for an answer"
        if not page:  # a count that is far beyond what is there
            return
