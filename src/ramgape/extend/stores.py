"""Whether a store does what studies rely on."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ramgape.errors import StorageError, StorageUnavailable, UnknownStudy
from ramgape.extend.checks import expect
from ramgape.storage.protocol import Store
from ramgape.storage.records import (
    KEPT,
    AnswerRow,
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


def commit(store: Store, row: StudyRow, changes: Changes, place: int = 0) -> None:
    """One whole transaction."""
    store.begin(row.id, write=True)
    store.write(row, changes, place)
    store.commit()


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


def check_pending(store: Store) -> None:
    """Pulls are under way unless they are given up or their answer is held back."""
    row = new_study(store, "under way")
    pulls = [PullRow(number, 0, 1, None, math.inf, 0, 0, number == 1) for number in range(4)]
    pulls[2] = pulls[2]._replace(answer=0.5)
    commit(store, row._replace(asked=4), Changes(new_pulls=pulls))
    expect(store.count_pending(row.id), 2, "count_pending()")
    expect([count for study, count in store.list_studies() if study.id == row.id], [2], "the pulls in list_studies()")


def check_rows(store: Store) -> None:
    """What is written is read again, whole and in order."""
    row = new_study(store, "rows")
    new_study(store, "a neighbour")
    first = [PullRow(number, number % 3, 1, f"worker {number}", math.inf, 0, 0, False, "token") for number in range(5)]
    commit(store, row._replace(revision=1, asked=5), Changes(new_pulls=first))
    expect(store.read_pulls(row.id, NOW), first, "read_pulls()")
    held = ("token", -0.0, 8.5, True, 6, 3, 0.25, '{"by": "x"}')
    changed = [PullRow(1, 1, 2, None, math.inf, 1, 1, True, "token"), PullRow(2, 2, 7, "🎲", 9.5, 3, 2, False, *held)]
    seen = [
        ObservationRow(0, 1, 0, 0.25, False, "worker 0", 10.125),
        ObservationRow(3, 2, 0, -1.0, True, None, 11.0, None, "token", 2**32 - 1, 7, 0.1, '{"by": "x"}'),
        ObservationRow(None, 0, 2, 0.5, False, None, 12.0, "elsewhere#7"),
        ObservationRow(None, 0, 2, 0.5, False, None, 12.0, "elsewhere#8"),
    ]
    failures = [FailureRow(1, 1, 1, "worker 1", "it's\nbroken", 9.0), FailureRow(2, 1, 2, None, "", 9.5, "token")]
    new = PullRow(5, 0, 1, None, 3.0, 0, 0, False)
    after = row._replace(revision=2, asked=6, told=4, failed=2, stopped_at=4, decision='{"leader": 1}')
    after = after._replace(withdrawn=3, chain=2**32 - 1, batches=1)
    commit(store, after, Changes([new], changed, [first[0], first[3]], seen, failures, [BatchRow(2, 2)]))
    expect(store.begin(row.id, write=False)[0], after, "the row that begin() gives")
    expect(store.find_study(row.name), after, "the row that find_study() gives")
    expect(store.read_pulls(row.id, NOW), [*changed, first[4], new], "read_pulls() after changes and answers")
    recent = [pull for pull in sorted(store.read_pulls(row.id, NOW, 1)) if pull != first[4]]
    expect(recent, [*changed, new], "read_pulls() since a revision")
    expect(store.read_rows(row.id, 0, 4), seen, "read_rows()")
    expect(store.read_failures(row.id), failures, "read_failures()")
    expect(store.read_answer(row.id, 3), AnswerRow(2, -1.0, True, "token", 0.1, '{"by": "x"}'), "read_answer()")
    expect(store.read_answer(row.id, 1), None, "read_answer() of a pull without one")
    expect(sorted(store.read_answered(row.id, 0)), [0, 3], "read_answered()")
    expect(store.read_answered(row.id, 1), [3], "read_answered() from a place on")
    expect(store.read_batches(row.id, 2), [BatchRow(2, 2)], "read_batches()")
    expect(store.read_batches(row.id, 3), [], "read_batches() from a later place on")
    store.rollback()


def check_specification(store: Store) -> None:
    """It stays, unless the changes have another one."""
    row = new_study(store, "more")
    commit(store, row._replace(revision=1), Changes())
    expect(store.find_study("more"), row._replace(revision=1), "a study after a change of its counters")
    after = row._replace(revision=2, specification='{"arms": "🎲"}')
    commit(store, after, Changes(specification=after.specification))
    expect(store.find_study("more"), after, "a study after a change of its specification")
    expect(store.begin(row.id, write=False)[0], after, "the row that begin() gives after it")
    store.rollback()


def check_floats(store: Store) -> None:
    """Numbers keep every bit."""
    row = new_study(store, "floats")
    seen = [ObservationRow(at, 1, 0, value, False, None, value) for at, value in enumerate(FLOATS)]
    pulls = [PullRow(at, 0, 1, None, math.inf, 0, 0, False, "", value) for at, value in enumerate(FLOATS)]
    commit(store, row._replace(told=len(FLOATS)), Changes(observations=seen, new_pulls=pulls))
    exact = [value.hex() for value in FLOATS]
    expect([value.hex() for value in rewards_in(store, row.id)], exact, "rewards by read_observations()")
    expect([each.told_at.hex() for each in store.read_rows(row.id, 0, 99)], exact, "times by read_rows()")
    answers = [each.answer for each in store.read_pulls(row.id, NOW)]
    expect([math.nan if each is None else each.hex() for each in answers], exact, "answers by read_pulls()")


def check_places(store: Store) -> None:
    """Observations are read by their places, as arrays."""
    row, count = new_study(store, "places"), 1000
    expect([part.tolist() for part in store.read_observations(row.id, 0)], [[], []], "observations of a new study")
    observe(store, row.id, *(at / 7 for at in range(count)))
    arms, rewards = store.read_observations(row.id, 0)
    expect((str(arms.dtype), str(rewards.dtype)), ("int64", "float64"), "the types of read_observations()")
    expect(arms.flags.c_contiguous and rewards.flags.c_contiguous, True, "whether the arrays are contiguous")
    expect(arms.tolist(), [at % 3 for at in range(count)], "the arms of read_observations()")
    expect(rewards.tolist(), [at / 7 for at in range(count)], "the rewards of read_observations()")
    expect(rewards_in(store, row.id, count), [], "rewards behind the last one")
    expect(rewards_in(store, row.id, 10, 12), [10 / 7, 11 / 7], "rewards between two places")
    expect([each.number for each in store.read_rows(row.id, 7, 999)], list(range(7, 999)), "read_rows()")


def check_rollback(store: Store) -> None:
    """What is rolled back never was, be it written whole or in parts."""
    row = new_study(store, "rolled back")
    seen = [ObservationRow(0, 1, 0, 1.0, False, None, 1.0)]
    pulls, failures = [PullRow(1, 0, 1, None, 1.0, 0, 0, False)], [FailureRow(0, 1, 0, None, "", 1.0)]
    store.begin(row.id, write=True)
    store.add_observations(row.id, seen, 0)
    after = row._replace(revision=1, asked=2, told=1, failed=1, batches=1)
    store.write(after, Changes(new_pulls=pulls, failures=failures, batches=[BatchRow(0, 1)]), 1)
    store.rollback()
    store.rollback()
    expect(store.begin(row.id, write=True)[0], row, "the row after a rollback")
    left = (rewards_in(store, row.id), store.read_pulls(row.id, NOW), store.read_failures(row.id))
    expect(left, ([], [], []), "observations, pulls and failures after a rollback")
    expect(store.read_batches(row.id, 0), [], "batches after a rollback")
    expect(store.read_answer(row.id, 0), None, "an answer after a rollback")
    store.rollback()
    observe(store, row.id, 0.5)
    expect(rewards_in(store, row.id), [0.5], "what is written after a rollback")


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
    commit(store, row._replace(asked=4), Changes(new_pulls=theirs), 1)
    ours = [*theirs[:-1], theirs[-1]._replace(token="ours")]
    for changes in (Changes(changed_pulls=ours), Changes(answered_pulls=ours)):
        store.begin(row.id, write=True)
        with refused(store, StorageUnavailable, "write() of a pull that has another token by now"):
            store.write(row._replace(asked=4), changes, 1)
            store.commit()
        expect(store.read_pulls(row.id, NOW), theirs, "the pulls of others, after that")


def check_requests(store: Store) -> None:
    """Those of a study are found by their keys, for a day; a store need not keep any."""
    if not (hasattr(store, "read_request") and hasattr(store, "read_requests")):
        return
    row, neighbour = new_study(store, "requests"), new_study(store, "requests beside it")
    first = RequestRow("a key", "digest", '{"done": false, "\N{GAME DIE}": "it\'s"}', 1e9 + 0.1)
    same_key, second = first._replace(digest="of another"), RequestRow("A key", "", "", 1e9 + KEPT)
    store.begin(row.id, write=True)
    store.write(row._replace(revision=1), Changes(requests=[first]), 0)
    store.rollback()
    expect(store.read_request(row.id, "a key"), None, "a request after a rollback")
    commit(store, row._replace(revision=1), Changes(requests=[first]))
    commit(store, neighbour._replace(revision=1), Changes(requests=[same_key]))
    expect(store.read_request(row.id, "a key"), first, "read_request()")
    expect(store.read_request(neighbour.id, "a key"), same_key, "read_request() of another study")
    expect(store.read_request(row.id, "A key"), None, "read_request() of a key that is not there")
    commit(store, row._replace(revision=2), Changes(requests=[second]))
    expect(store.read_requests(row.id), [first, second], "read_requests() within a day")
    last = RequestRow("later", "", "", 1e9 + 1.0 + KEPT)
    commit(store, row._replace(revision=3), Changes(requests=[last]))
    expect(store.read_requests(row.id), [second, last], "read_requests() when a day is over")
    expect(store.read_requests(neighbour.id), [same_key], "read_requests() of another study, which is left alone")
    store.delete_study(row.name)
    expect(store.read_requests(row.id), [], "read_requests() of a study that was deleted")


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
    commit(first, row._replace(asked=1), Changes(new_pulls=[PullRow(0, 0, 1, None, 1.0, 0, 0, False)]))
    expect(second.delete_study(row.name), True, "delete_study() of what another process has made")
    for write in (False, True):
        with refused(first, UnknownStudy, "begin() of a study that was deleted"):
            first.begin(row.id, write=write)
    expect(first.read_pulls(row.id, NOW), [], "the pulls of a study that was deleted")


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
    check_pending,
    check_rows,
    check_specification,
    check_floats,
    check_places,
    check_rollback,
    check_answers,
    check_requests,
    check_closing,
    check_whole_study,
)
CHECKS_OF_TWO = (check_deletion, check_turns, check_moment)
