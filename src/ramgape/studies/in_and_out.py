"""Observations of a study from files and into files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import IO

from ramgape.errors import known_name, located
from ramgape.search.outcome import check_price, check_reward
from ramgape.studies.entries import Trial
from ramgape.studies.files import ImportedRow, read_rows, write_rows
from ramgape.studies.pull_ids import write_pull_id
from ramgape.studies.session import StudySession
from ramgape.studies.spool import Spool

IMPORTED_AT_ONCE = 10_000


class InAndOut:
    """What a study takes in from files and writes into them."""

    _session: StudySession

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of its arms, without those that are retired."""
        return tuple(self._session.places)

    def check_reward(self, reward: object) -> float:
        """A reward as a float, or an error that says what is allowed.

        Args:
            reward: What a trial gave.
        """
        return check_reward(self._session.spec.search, reward)

    def _place(self, arm: object) -> int:
        """The number of an arm, by its name."""
        place = self._session.places.get(arm) if isinstance(arm, str) else None
        if place is None:
            known_name(arm, self.arms, "arm")
            raise AssertionError(arm)
        return place

    def import_csv(
        self, path: str | os.PathLike[str] | IO[str], *, arm_column: str = "arm", reward_column: str = "reward"
    ) -> int:
        """Take in trials from a CSV file with a header, or such a stream, all or none; returns how many.

        They are one batch, which is looked at once, at its end: only the alarm goes by the order of the rows.
        Files that `export_csv` wrote come back without loss.

        Args:
            path: The file, or an open stream.
            arm_column, reward_column: Where arms and rewards are.
        """
        return self._import(path, "csv", arm_column, reward_column)

    def import_jsonl(
        self, path: str | os.PathLike[str] | IO[str], *, arm_column: str = "arm", reward_column: str = "reward"
    ) -> int:
        """Take in trials from a file with one JSON object a line, as `import_csv` does; returns how many.

        Args:
            path: The file, or an open stream.
            arm_column, reward_column: The keys of arms and rewards.
        """
        return self._import(path, "jsonl", arm_column, reward_column)

    def export_csv(self, path: str | os.PathLike[str] | IO[str]) -> int:
        """Write all observations, in their order, into a CSV file; returns how many.

        Args:
            path: The file, which appears when it is whole, or an open stream.
        """
        return self._export(path, "csv")

    def export_jsonl(self, path: str | os.PathLike[str] | IO[str]) -> int:
        """Write all observations, in their order, one JSON object a line; returns how many.

        Args:
            path: As for `export_csv`.
        """
        return self._export(path, "jsonl")

    def _observations(self) -> Iterator[ImportedRow]:
        """All observations there are by now, in their order."""
        for row in self._session.observations():
            pull = row.origin
            if row.number is not None and row.token is not None:
                pull = write_pull_id(row.token, row.number, row.attempt)
            known = (self._session.spec.search.names[row.arm], row.reward, row.failed, row.worker, row.told_at, pull)
            yield ImportedRow(*known, row.item, row.price, row.info)

    def _import(self, path: str | os.PathLike[str] | IO[str], form: str, arm_column: str, reward_column: str) -> int:
        """Read and check everything first, so that nobody has to wait for a slow or faulty file."""
        rows = read_rows(path, form, arm_column, reward_column)
        with Spool() as spool:
            while chunk := list(itertools.islice(rows, IMPORTED_AT_ONCE)):
                spool.add([self._trial(place, row) for place, row in chunk])
            if spool.count:
                with self._session.writing() as (ledger, now):
                    ledger.open_batch(spool.count)
                    for trials in spool:
                        ledger.add(trials, now)
                        self._session.flush()
                    ledger.close_batch()
        return spool.count

    def _trial(self, place: str, row: ImportedRow) -> Trial:
        with located(place):
            arm, reward = self._place(row.arm), self.check_reward(row.reward)
            check_price(row.price, self._session.spec.search)
        return Trial(arm, reward, row.failed, row.worker, row.told_at, row.pull, row.item, row.price, row.info)

    def _export(self, path: str | os.PathLike[str] | IO[str], form: str) -> int:
        return write_rows(path, form, self._observations)
