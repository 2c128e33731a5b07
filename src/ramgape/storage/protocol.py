"""What a study asks of every store.

A change of a study is one transaction:

    row, now = store.begin(study_id, write=True)   no other process can change this study now
    store.read_observations(study_id, known)       what others added since
    store.read_pulls(study_id, now, revision)      what others changed since
    store.write(row._replace(...), changes, place)
    store.commit()                                 or rollback(), always one of the two

One thread uses a store at a time; several stores, in several processes, may be open on the same place. The rows are
those of `records`: a store keeps them to the last bit, and knows nothing of what they mean. What goes wrong is a
`StorageError`, or `StorageUnavailable` where to try again makes sense. `ramgape.extend.check_store` tries all of it.

A store may also keep the requests in `Changes.requests`, written with the rest or not at all. Then it has two methods
more: `read_request(study_id, key)` gives the `RequestRow` of that key, or None, if it was made in the last `KEPT`
seconds, and `read_requests(study_id)` all that are kept, the oldest first. Without them a study does not know that it
carried out a request before, when the request is made again after an answer that was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.storage import records


@runtime_checkable
class Store(Protocol):
    """A place for studies."""

    @property
    def url(self) -> str:
        """Where it is, for messages: without a password."""

    def create_study(self, name: str, key: str, specification: str, created_at: float) -> records.StudyRow | None:
        """A new study, or None if its name or its key is that of another. Its id is never used again.

        Args:
            name, key, specification, created_at: Its fields in `StudyRow`.
        """

    def find_study(self, name: str) -> records.StudyRow | None:
        """The study of that name, if there is one.

        Args:
            name: Exactly as it was created.
        """

    def list_studies(self) -> list[tuple[records.StudyRow, int]]:
        """All studies by name, each with the number of its pulls under way: neither given up nor held back."""

    def study_names(self) -> list[str]:
        """The names of all studies, in order, whatever else of them can be read."""

    def count_pending(self, study_id: int) -> int:
        """How many pulls of a study are under way.

        Args:
            study_id: The id in its row, here and in what follows.
        """

    def delete_study(self, name: str) -> bool:
        """Delete a study with everything that belongs to it; whether there was one.

        Args:
            name: Exactly as it was created.
        """

    def begin(self, study_id: int, write: bool) -> tuple[records.StudyRow, records.Moment]:
        """Begin a transaction: the study as it is, and the present moment.

        What is read until its end is of this moment.

        Args:
            study_id: The study.
            write: Whether to lock the study for others until then.

        Raises:
            UnknownStudy: The study was deleted meanwhile.
        """

    def read_observations(
        self, study_id: int, start: int, stop: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Arms and rewards of observations, in order.

        Args:
            study_id: The study.
            start, stop: From which place on, and before which; None: all that follow.
        """

    def read_rows(self, study_id: int, start: int, stop: int) -> list[records.ObservationRow]:
        """The same, as whole rows.

        Args:
            study_id: The study.
            start, stop: From which place on, and before which.
        """

    def read_pulls(self, study_id: int, now: records.Moment, since: int | None = None) -> list[records.PullRow]:
        """The open pulls by number.

        Args:
            study_id: The study.
            now: The moment that `begin` gave.
            since: A revision: then, in any order, at least those of them that have changed since.
        """

    def read_answered(self, study_id: int, start: int) -> list[int]:
        """The numbers of the pulls that some observations answer, in the order of these.

        Args:
            study_id: The study.
            start: From which place on.
        """

    def read_answer(self, study_id: int, number: int) -> records.AnswerRow | None:
        """The answer to a pull, if there is one.

        Args:
            study_id: The study.
            number: Of the pull.
        """

    def read_batches(self, study_id: int, start: int) -> list[records.BatchRow]:
        """The batches that begin at a place or later.

        Args:
            study_id: The study.
            start: The place.
        """

    def read_failures(self, study_id: int) -> list[records.FailureRow]:
        """The failed attempts by pull and attempt.

        Args:
            study_id: The study.
        """

    def read_snapshot(self, study_id: int) -> records.SnapshotRow | None:
        """The last snapshot, or None: one that keeps none makes long studies slower to open, and nothing else.

        Args:
            study_id: The study.
        """

    def save_snapshot(self, study_id: int, snapshot: records.SnapshotRow) -> None:
        """Keep a snapshot in place of the last one, in a transaction of its own.

        Args:
            study_id: The study.
            snapshot: What to keep.
        """

    def add_observations(self, study_id: int, rows: list[records.ObservationRow], place: int) -> None:
        """Write observations; `write`, with their counters, follows.

        Args:
            study_id: The study.
            rows: In order.
            place: Of the first.
        """

    def write(self, row: records.StudyRow, changes: records.Changes, place: int) -> None:
        """Write the counters of a study and what changed in it.

        Args:
            row: The study with its new counters; its specification is new if it stands in the changes.
            changes: What changed.
            place: Of the first new observation.

        Raises:
            StorageUnavailable: A pull that is changed or answered is not there with its token: the store was restored.
        """

    def commit(self) -> None:
        """Make the changes last; they do when this returns."""

    def rollback(self) -> None:
        """Forget the changes; does no harm when there is nothing to forget, nor after an error."""

    def integrity(self) -> list[str]:
        """What is wrong with the store itself, in words."""

    def close(self) -> None:
        """Let go of what it holds; it opens again when it is needed."""
