"""Whether a store is as it was written: its file, and what must be true of every study in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from ramgape.errors import DamagedStore, StorageError, UnknownStudy
from ramgape.storage import Store, open_store
from ramgape.storage.checksums import next_chain
from ramgape.storage.records import StudyRow
from ramgape.storage.urls import shown
from ramgape.studies.specification import StudySpec

PAGE = 5_000  # observations that are read, and in memory, at a time
MOST_PROBLEMS = 10  # that are told of one study
FIRST, LAST = -(2**63 - 1), 2**63 - 1  # no place is beyond; in the text of a statement PostgreSQL takes none below


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


def check_store(storage: str | Store) -> StoreCheck:
    """Look at everything in a store; nothing is changed, and others may go on working with it."""
    where = shown(storage) if isinstance(storage, str) else storage.url
    problems, studies = [], []
    try:
        with closing(open_store(storage, create=False)) as store:
            problems += store.integrity()
            studies += [check_study(store, name) for name in store.study_names()]
    except DamagedStore as error:
        problems.append(str(error))
    return StoreCheck(where, tuple(problems), tuple(studies))


def check_study(store: Store, name: str) -> StudyCheck:
    """Look at everything that belongs to a study."""
    found: list[str] = []
    row = None
    try:
        row = store.find_study(name)
        if row is not None:
            found += islice(_problems(store, row), MOST_PROBLEMS)
    except UnknownStudy:  # deleted meanwhile
        pass
    except StorageError as error:
        found.append(str(error))
    return StudyCheck(name, 0 if row is None else row.told, tuple(found))


def _problems(store: Store, row: StudyRow) -> Iterator[str]:
    """What is wrong with a study. Observations are read in pages, so that others can write in between.

    What was read has right checksums, or an error would have come. That says nothing of rows which are not there.
    """
    StudySpec.from_text(row.specification)
    row, now = store.begin(row.id, write=False)
    try:
        pulls, failures = store.read_pulls(row.id, now), store.read_failures(row.id)
        batches = store.read_batches(row.id, 0)
        store.read_snapshot(row.id)
        if hasattr(store, "read_requests"):  # one from outside may keep none
            store.read_requests(row.id)
        outside = len(store.read_rows(row.id, FIRST, 0)) + len(store.read_rows(row.id, row.told, LAST))
    finally:
        store.rollback()
    if outside:
        yield f"there are {outside} observations more than the {row.told} that were told"
    if len(failures) != row.failed:
        yield f"there are {len(failures)} of {row.failed} failures"
    if len(batches) != row.batches:
        yield f"there are {len(batches)} of {row.batches} batches"
    waiting = {pull.number for pull in pulls}
    chain = answered = place = 0
    for start in range(0, row.told, PAGE):
        store.begin(row.id, write=False)
        try:
            page = store.read_rows(row.id, start, min(start + PAGE, row.told))
        finally:
            store.rollback()
        for place, seen in enumerate(page, start):
            if next_chain(chain, seen.arm, seen.reward) != seen.chain:
                yield f"observation {place} does not belong behind the one before it, which was another"
            chain, answered = seen.chain, answered + (seen.number is not None)
            if seen.number in waiting:
                yield f"pull {seen.number} is answered, and waits for an answer"
        if not page:  # a count that is far beyond what is there
            break
    if chain != row.chain:
        yield f"the last observation is another than the one that was told last, after {place + 1} of {row.told}"
    if row.asked != answered + len(pulls) + row.withdrawn:
        yield f"of {row.asked} pulls {answered} are answered, {len(pulls)} open and {row.withdrawn} withdrawn"
