"""Observations of a study from files and into files."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from ramgape.common.extras import load_extra
from ramgape.errors import known_name, located, require
from ramgape.search.outcome import check_price, check_reward
from ramgape.studies.desk import Desk
from ramgape.studies.entries import Trial
from ramgape.studies.files import ImportedRow, read_rows
from ramgape.studies.spool import Spool

if TYPE_CHECKING:
    from pandas import DataFrame

IMPORTED_AT_ONCE = 10_000


class InAndOut:
    """What a study takes in from files and writes into them."""

    _desk: Desk

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of its arms, without those that are retired."""
        return tuple(self._desk.places)

    def check_reward(self, reward: object, arm: str | None = None) -> float:
        """A reward as a float, or an error that says what is allowed.

        Args:
            reward: What a trial gave.
            arm: The arm, which an error names.
        """
        return check_reward(self._desk.spec.search, reward, arm)

    def _place(self, arm: object) -> int:
        """The number of an arm, by its name."""
        place = self._desk.places.get(arm) if isinstance(arm, str) else None
        if place is None:
            known_name(arm, self.arms, "arm")
            raise AssertionError(arm)
        return place

    def import_csv(
        self,
        path: str | os.PathLike[str] | IO[str],
        *,
        arm_column: str | None = None,
        reward_column: str | None = None,
        block_column: str | None = None,
    ) -> int:
        """Take in trials from a CSV file with a header, or such a stream, all or none; returns how many.

        They are one batch, which is looked at once, at its end: only the alarm goes by the order of the rows.
        Files that `export_csv` wrote come back without loss.

        Args:
            path: The file, or an open stream.
            arm_column: The column with the arms. Default: `arm`, or the only text column.
            reward_column: The column with the rewards. Default: `reward`, or the only numeric column.
            block_column: The column with the blocks, in a study created with `shared`: see `tell`.
        """
        return self._import(path, "csv", arm_column, reward_column, block_column)

    def import_jsonl(
        self,
        path: str | os.PathLike[str] | IO[str],
        *,
        arm_column: str | None = None,
        reward_column: str | None = None,
        block_column: str | None = None,
    ) -> int:
        """Take in trials from a file with one JSON object a line, as `import_csv` does; returns how many.

        Args:
            path: The file, or an open stream.
            arm_column: The key of the arms. Default: as for `import_csv`.
            reward_column: The key of the rewards. Default: as for `import_csv`.
            block_column: The key of the blocks, likewise.
        """
        return self._import(path, "jsonl", arm_column, reward_column, block_column)

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

    def trials_frame(self, *, failures: bool = False) -> DataFrame:
        """All observations as a pandas data frame, one row each, in their order: what `export_csv` writes, and more.

        The columns are arm, reward, failed (a failure that counts as the worst reward), worker, told_at, pull, item (by
        its place in the list of items), price, info (a mapping), seed (of a trial that was asked for) and reason (why
        it failed). The index is the place of an observation.

        Args:
            failures: Also the attempts that failed and count for nothing, below the others, with NaN for a reward.

        Raises:
            MissingExtra: pandas is not installed.

        Examples:
            >>> import ramgape
            >>> study = ramgape.Study.create("coins", arms=["fair", "bent"], reward_range=(0, 1), budget=4)
            >>> result = study.run(lambda arm: {"fair": 0.5, "bent": 0.75}[arm])
            >>> study.trials_frame().groupby("arm")["reward"].mean().to_dict()
            {'bent': 0.75, 'fair': 0.5}
        """
        require(isinstance(failures, bool), "failures", "true or false", failures)
        pandas = load_extra("pandas", "frame")
        reasons = {each.pull: each for each in self._desk.failures()}
        rows = []
        for row, seed in self._desk.observations():
            known, failure = row._asdict(), None if row.pull is None else reasons.pop(row.pull, None)
            known["info"] = None if row.info is None else json.loads(row.info)
            rows.append({**known, "seed": seed, "reason": None if failure is None else failure.reason})
        for each in reasons.values() if failures else ():
            known = ImportedRow(each.arm, math.nan, True, each.worker, each.failed_at, each.pull)._asdict()
            rows.append({**known, "seed": each.seed, "reason": each.reason})
        frame: DataFrame = pandas.DataFrame(rows, columns=[*ImportedRow._fields, "seed", "reason"])
        kinds = {"reward": "float64", "failed": "bool", "item": "Int64", "price": "float64", "seed": "Int64"}
        moments = pandas.to_datetime(frame["told_at"], unit="s", utc=True, errors="coerce")  # the year 10,000 has none
        return frame.astype(kinds).assign(told_at=moments)

    def _observations(self) -> Iterator[ImportedRow]:
        """All observations there are by now, in their order."""
        return (seen.row for seen in self._desk.observations())

    def _import(self, path: str | os.PathLike[str] | IO[str], form: str, *columns: str | None) -> int:
        """Read and check everything first, so that nobody has to wait for a slow or faulty file."""
        with Spool() as spool:
            self._read_into(spool, read_rows(path, form, *columns))
            if spool.count:
                self._desk.take_in(spool)
        return spool.count

    def _read_into(self, spool: Spool, rows: Iterator[tuple[str, ImportedRow]]) -> None:
        while chunk := list(itertools.islice(rows, IMPORTED_AT_ONCE)):
            spool.add([self._trial(place, row) for place, row in chunk])

    def _trial(self, place: str, row: ImportedRow) -> Trial:
        with located(place):
            arm, reward = self._place(row.arm), self.check_reward(row.reward, row.arm)
            check_price(row.price, self._desk.spec.search)
        return Trial(arm, reward, row.failed, row.worker, row.told_at, row.pull, row.item, row.price, row.info)

    def _export(self, path: str | os.PathLike[str] | IO[str], form: str) -> int:
        return self._desk.export(path, form)
