"""Whether a store does what studies rely on."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ramgape.errors import StorageError, StorageUnavailable, UnknownStudy
from ramgape.extend.checks import expect
from ramgape.storage.memory import MemoryStore
from ramgape.storage.protocol import Store
from ramgape.storage.records import (
    KEPT,
    BatchRow,
    Changes,
    FailureRow,
    Moment,
    ObservationRow,
    PullRow,
    RequestRow,
    StudyRow,
)
from ramgape.studies.study import Study

FLOATS = (5e-324, -5e-324, 1.7976931348623157e308, -0.0, 0.0, 0.1, 1 / 3, -1e-17, 1.0, 2.0**53)
NAMES = ("it's", 'a "quoted" name', "🎲 würfel", "a/b\\c", "%s ?1 :x --;", "x" * 200, "Ω" * 200, " ", "line\nbreak")
NOW = Moment(0.0, 0.0)
TURN = 0.1  # seconds after which a call that does not wait is done

Opener = Callable[[], Store]


def check_store(open_store: Opener) -> None:
    """Try whether a store does what studies rely on.

    Args:
        open_store: Opens the store, in which there are no studies yet. Called again, it opens the same place once more,
            as another process would; if it gives the same object again, nothing is tried that takes two.

    Raises:
        AssertionError: It does not; says what was expected and what came.

    Examples:
        >>> from ramgape.storage.memory import MemoryStore
        >>> store = MemoryStore()
        >>> check_store(lambda: store)
    """
    first, second = open_store(), open_store()
    try:
        for store in (first, second):
            expect(isinstance(store, Store), True, "whether it has all methods of ramgape.storage.Store")
        expect(first.list_studies(), [], "list_studies() of a store in which nothing is yet")
        for check in CHECKS:
            check(first)
        if first is not second:
            for check_two in CHECKS_OF_TWO:
                check_two(first, second)
    finally:
        for store in (first, second):
            store.rollback()
            store.close()


@contextmanager
def refused(store: Store, error: type[Exception], what: str) -> Iterator[None]:
    """What is tried here must raise an error, and is forgotten."""
    try:
        yield
    except error:
        return
    finally:
        store.rollback()
    raise AssertionError(f"{what} must raise {error.__name__}")


def new_study(store: Store, name: str) -> StudyRow:
    """A study that was not there."""
    row = store.create_study(name, f"key of {name}", '{"arms": 3}', 1234.5)
    if row is None:
        raise AssertionError(f"create_study({name!r}) must give a row, got None")
    expect(row, StudyRow(row.id, name, f"key of {name}", '{"arms": 3}', 1234.5), "a new study")
    return row


def observe(store: Store, study_id: int, *rewards: float) -> None:
    """Add observations to those that are there."""
    row, now = store.begin(study_id, write=True)
    seen = [
        ObservationRow(row.told + at, 1, at % 3, reward, False, None, now.time) for at, reward in enumerate(rewards)
    ]
    row, place = row._replace(revision=row.revision + 1, told=row.told + len(seen)), row.told
    store.write(row, Changes(observations=seen), place)
    store.commit()


def rewards_in(store: Store, study_id: int, start: int = 0, stop: int | None = None) -> list[float]:
    """What was observed."""
    return list(map(float, store.read_observations(study_id, start, stop)[1]))


def check_studies(store: Store) -> None:
    """They are made, found by name, and deleted."""
    row = new_study(store, "a study")
    expect(store.create_study("a study", "another key", "", 0.0), None, "create_study() with the name of another")
    expect(store.create_study("another", row.key, "", 0.0), None, "create_study() with the key of another")
    expect(store.find_study("a study"), row, "find_study()")
    expect(store.find_study("A study"), None, "find_study() of a name that is not there")
    expect(store.delete_study("a study"), True, "delete_study() of a study that is there")
    expect(store.delete_study("a study"), False, "delete_study() of a study that is not there")
    again = new_study(store, "a study")
    expect(again.id != row.id, True, "whether a new study has an id that no deleted one had")
    store.delete_study("a study")


def check_study_names(store: Store) -> None:
    """Any text is a name; halves of characters are none."""
    for name in NAMES:
        new_study(store, name)
        found = store.find_study(name)
        expect(found and found.name, name, "the name of a study that was found")
    expect([row.name for row, _ in store.list_studies()], sorted(NAMES), "the names in list_studies()")
    expect(store.study_names(), sorted(NAMES), "study_names()")
    for name in NAMES:
        expect(store.delete_study(name), True, f"delete_study({name!r})")
    with refused(store, StorageError, "create_study() with half a character for a name"):
        store.create_study("\ud83d", "", "", 0.0)


def held(store: Store, study_id: int, name: str) -> Iterator[tuple[str, object]]:
    """All that a store says of a study, each with the call that says it."""
    yield "begin()", store.begin(study_id, write=False)[0]._replace(id=0)
    row = store.find_study(name)
    yield "find_study()", row and row._replace(id=0)
    yield "count_pending()", store.count_pending(study_id)
    yield "the trials in list_studies()", [count for study, count in store.list_studies() if study.id == study_id]
    yield "read_pulls()", store.read_pulls(study_id, NOW)
    for start, stop in ((0, 10**6), (3, 7)):
        arms, rewards = store.read_observations(study_id, start, stop)
        yield f"read_observations({start}, {stop})", [arms.tolist(), rewards.tolist()]
        kinds = (str(arms.dtype), str(rewards.dtype), arms.flags.c_contiguous, rewards.flags.c_contiguous)
        yield f"the types of read_observations({start}, {stop}), and whether they are contiguous", kinds
        yield f"read_rows({start}, {stop})", store.read_rows(study_id, start, stop)
    yield "the rewards of read_observations(2)", rewards_in(store, study_id, 2)
    for place in (0, 1, 3):
        yield f"read_answered({place})", store.read_answered(study_id, place)
        yield f"read_batches({place})", store.read_batches(study_id, place)
    for number in range(6):
        yield f"read_answer({number})", store.read_answer(study_id, number)
    yield "read_failures()", store.read_failures(study_id)
    if hasattr(store, "read_request") and hasattr(store, "read_requests"):
        yield "read_requests()", store.read_requests(study_id)
        for key in ("a key", "A key"):
            yield f"read_request({key!r})", store.read_request(study_id, key)


def exact(value: object) -> object:
    """A value that differs from another one if a bit of a number does."""
    if isinstance(value, float):
        return value.hex()
    return [exact(each) for each in value] if isinstance(value, list | tuple) else value


def compare(store: Store, memory: MemoryStore, studies: tuple[StudyRow, StudyRow], when: str) -> None:
    """Complain of the first thing that a store says of a study and our store in memory does not."""
    pairs = zip(held(store, studies[0].id, studies[0].name), held(memory, studies[1].id, studies[1].name), strict=False)
    for (call, found), (_, wanted) in pairs:
        if exact(found) != exact(wanted):
            raise AssertionError(f"{call} after {when} must be {wanted!r}, got {found!r}")
    store.rollback()


def transactions() -> Iterator[tuple[str, dict[str, Any], Changes]]:
    """What is written: its name, the counters of the study, and what changes."""
    first = [PullRow(number, number % 3, 1, f"worker {number}", math.inf, 0, 0, False, "token") for number in range(5)]
    yield "new trials", {"asked": 5}, Changes(new_pulls=first)
    held_back = ("token", -0.0, 8.5, True, 6, 3, 0.25, '{"by": "x"}', b"\x00\xff")
    changed = [
        PullRow(1, 1, 2, None, math.inf, 1, 1, True, "token"),
        PullRow(2, 2, 7, "🎲", 9.5, 3, 2, False, *held_back),
    ]
    seen = [
        ObservationRow(0, 1, 0, 0.25, False, "worker 0", 10.125),
        ObservationRow(3, 2, 0, -1.0, True, None, 11.0, None, "token", 2**32 - 1, 7, 0.1, '{"by": "x"}', b"\x00"),
        ObservationRow(None, 0, 2, 0.5, False, None, 12.0, "elsewhere#7"),
        ObservationRow(None, 0, 2, 0.5, False, None, 12.0, "elsewhere#8"),
    ]
    failures = [FailureRow(1, 1, 1, "worker 1", "it's\nbroken", 9.0), FailureRow(2, 1, 2, None, "", 9.5, "token")]
    new = PullRow(5, 0, 1, None, 3.0, 0, 0, False)
    counters = {"asked": 6, "failed": 2, "stopped_at": 4, "decision": '{"leader": 1}', "withdrawn": 3}
    changes = Changes([new], changed, [first[0], first[3]], seen, failures, [BatchRow(2, 2)])
    yield "changes and results", {**counters, "chain": 2**32 - 1, "batches": 1}, changes
    numbers = [ObservationRow(None, 0, 0, value, False, None, value) for value in FLOATS]
    pulls = [PullRow(9 + at, 0, 1, None, math.inf, 0, 0, False, "", value) for at, value in enumerate(FLOATS)]
    yield "numbers of which every bit counts", {"asked": 30}, Changes(observations=numbers, new_pulls=pulls)
    many = [ObservationRow(None, 0, at % 3, at / 7, False, None, 0.0) for at in range(1000)]
    yield "a thousand observations", {"outcomes": '["cost"]', "lost": 1}, Changes(observations=many)
    yield "counters alone", {"batches": 1}, Changes()
    text = '{"arms": "🎲"}'
    yield "another specification", {"specification": text}, Changes(specification=text)
    request = RequestRow("a key", "digest", '{"done": false, "\N{GAME DIE}": "it\'s"}', 1e9 + 0.1)
    yield "a request", {}, Changes(requests=[request])
    yield "a request within a day", {}, Changes(requests=[RequestRow("A key", "", "", 1e9 + KEPT)])
    yield "a request when the day is over", {}, Changes(requests=[RequestRow("later", "", "", 1e9 + 1.0 + KEPT)])


def check_against_memory(store: Store) -> None:
    """What is written is read again to the last bit; what is rolled back never was; other studies stay as they are."""
    memory = MemoryStore()
    studies = new_study(store, "compared"), new_study(memory, "compared")
    beside = new_study(store, "beside it"), new_study(memory, "beside it")
    row = studies[0]
    for what, counters, changes in transactions():
        place, pulls = row.told, store.read_pulls(row.id, NOW)
        row = row._replace(**counters, revision=row.revision + 1, told=place + len(changes.observations))
        for ending in ("rollback", "commit"):
            store.begin(row.id, write=True)
            if ending == "rollback" and changes.observations:  # as a long import does
                store.add_observations(row.id, changes.observations, place)
                store.write(row, replace(changes, observations=[]), row.told)
            else:
                store.write(row, changes, place)
            getattr(store, ending)()
            if ending == "commit":
                memory.begin(studies[1].id, write=True)
                memory.write(row._replace(id=studies[1].id), changes, place)
                memory.commit()
            compare(store, memory, studies, f"a {ending} of {what}")
        recent = {pull.number: pull for pull in store.read_pulls(row.id, NOW, row.revision - 1)}
        missed = [pull for pull in store.read_pulls(row.id, NOW) if pull not in pulls and pull.number not in recent]
        expect(missed, [], f"what read_pulls() since a revision leaves out after {what}")
        compare(store, memory, beside, f"{what} of another study")
    expect(store.delete_study(row.name), True, "delete_study() of a study that is there")
    expect([store.read_pulls(row.id, NOW), rewards_in(store, row.id)], [[], []], "what is left of a deleted study")
    compare(store, memory, beside, "the deletion of another study")


def check_answers(store: Store) -> None:
    """A trial is completed once, and only with its token."""
    row = new_study(store, "answers")
    observe(store, row.id, 0.5)
    row, _ = store.begin(row.id, write=True)
    with refused(store, StorageError, "write() of a second answer to a pull"):
        store.write(row, Changes(observations=[ObservationRow(0, 2, 0, 0.75, False, None, 1.0)]), 1)
        store.commit()
    expect(rewards_in(store, row.id), [0.5], "the rewards after a second answer to a pull")
    theirs = [PullRow(number, 0, 1, "they", math.inf, 0, 0, False, f"theirs {number}") for number in (1, 2, 3)]
    store.begin(row.id, write=True)
    store.write(row._replace(asked=4), Changes(new_pulls=theirs), 1)
    store.commit()
    ours = [*theirs[:-1], theirs[-1]._replace(token="ours")]
    for changes in (Changes(changed_pulls=ours), Changes(answered_pulls=ours)):
        store.begin(row.id, write=True)
        with refused(store, StorageUnavailable, "write() of a pull that has another token by now"):
            store.write(row._replace(asked=4), changes, 1)
            store.commit()
        expect(store.read_pulls(row.id, NOW), theirs, "the pulls of others, after that")


def check_closing(store: Store) -> None:
    """A closed store opens again when it is needed; any thread may do so."""
    row = new_study(store, "closed")
    store.close()
    store.close()
    thread = threading.Thread(target=observe, args=(store, row.id, 0.5))
    thread.start()
    thread.join()
    expect(rewards_in(store, row.id), [0.5], "the rewards in a store that was closed meanwhile")


def check_whole_study(store: Store) -> None:
    """A study runs in it as in memory."""
    options = {"reward_range": (0, 1), "epsilon": 0.05, "budget": 40, "seed": 1}
    results = []
    for storage in (store, None):
        with Study.create("a search", ["a", "b"], storage=storage, **options) as study:  # type: ignore[arg-type]
            results.append(study.run(lambda arm, rng: float(rng.random() < {"a": 0.3, "b": 0.8}[arm]), progress=False))
    expect(results[0].arms, results[1].arms, "the arms after a study in this store")
    again = Study.load("a search", store).result()
    expect(again.arms, results[0].arms, "the arms after it was opened again")


def check_deletion(first: Store, second: Store) -> None:
    """What another process has deleted is gone, with everything that belongs to it."""
    row = new_study(first, "deleted")
    observe(first, row.id, 0.5)
    expect(second.delete_study(row.name), True, "delete_study() of what another process has made")
    for write in (False, True):
        with refused(first, UnknownStudy, "begin() of a study that was deleted"):
            first.begin(row.id, write=write)
    expect(rewards_in(first, row.id), [], "the rewards of a study that was deleted")


def check_turns(first: Store, second: Store) -> None:
    """Writers of a study come one after the other."""
    row = new_study(first, "in turn")
    held, _ = first.begin(row.id, write=True)
    revisions: list[int] = []

    def wait() -> None:
        revisions.append(second.begin(row.id, write=True)[0].revision)
        second.rollback()

    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(TURN)
    early = list(revisions)
    first.write(held._replace(revision=1), Changes(), 0)
    first.commit()
    waiting.join()
    expect(early, [], "what a second writer sees before the first has committed")
    expect(revisions, [1], "the revision that a second writer sees")


def check_moment(reader: Store, writer: Store) -> None:
    """Readers see one moment, and the next time what was committed meanwhile."""
    row = new_study(reader, "read")
    observe(writer, row.id, 0.5)
    expect(reader.begin(row.id, write=False)[0].told, 1, "what another has told")
    writing = threading.Thread(target=observe, args=(writer, row.id, 0.75))
    writing.start()
    writing.join(TURN)  # it may have to wait for the reader
    found = rewards_in(reader, row.id)
    reader.commit()
    writing.join()
    expect(found, [0.5], "the rewards in a transaction that began before others were added")
    expect(reader.begin(row.id, write=False)[0].told, 2, "what another has told meanwhile")
    expect(rewards_in(reader, row.id), [0.5, 0.75], "the rewards of the next transaction")
    reader.commit()


CHECKS: tuple[Callable[[Store], None], ...] = (
    check_studies,
    check_study_names,
    check_against_memory,
    check_answers,
    check_closing,
    check_whole_study,
)
CHECKS_OF_TWO = (check_deletion, check_turns, check_moment)
