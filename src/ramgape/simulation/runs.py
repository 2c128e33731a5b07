"""Many simulated searches as one table, a row of some dozen bytes for each; a `Run` is a view of a row.

A million runs are then tens of megabytes. So are they on their way from other machines, and on disk (`kept.py`).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from ramgape.core.pareto import Mask
from ramgape.core.table import Table
from ramgape.search.result import Goal, Stopped, Truth
from ramgape.search.spec import Spec
from ramgape.simulation.curves import Checkpoint

REASONS: tuple[str, ...] = get_args(Stopped)  # a row has the place of its reason here
UNDECIDED = ("cap", "constant", "censored", "exhausted")


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated search, next to the truth.

    Attributes:
        seed: Of all that is random in it.
        samples: Pulls made; `pulls` are those of each arm.
        front: The answer.
        stopped: Why it ended.
        regret, exact, eps_correct: As in `Truth`.
        seconds: The time inside the compiled loop.
        spent: What all pulls have cost, where there are prices.
    """

    seed: int
    samples: int
    front: tuple[str, ...]
    stopped: str
    pulls: dict[str, int]
    regret: float
    exact: bool
    eps_correct: bool
    seconds: float
    spent: float | None = None

    @property
    def answer(self) -> tuple[str, ...]:
        """The same as `front`."""
        return self.front

    @property
    def decided(self) -> bool:
        """Whether it came to an answer."""
        return self.stopped not in UNDECIDED


class Ending(NamedTuple):
    """How a search ended: all that a row has of it."""

    samples: int
    stopped: str
    answer: Mask
    pulls: NDArray[np.int64]
    truth: Truth
    seconds: float
    spent: float | None
    looks: Sequence[Checkpoint] = ()


class RunLayout(NamedTuple):
    """What the rows of a table have room for.

    Attributes:
        arms: How many there are.
        most: The largest number of pulls that a run can have.
        priced: Whether anything is spent.
        points: The numbers of pulls after which answers are looked at.
    """

    arms: int
    most: int
    priced: bool = False
    points: tuple[int, ...] = ()

    @staticmethod
    def of(spec: Spec, points: Sequence[int] = ()) -> RunLayout:
        """For runs of a specification."""
        return RunLayout(len(spec.names), spec.limit, spec.price is not None, tuple(points))

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The columns."""
        count = np.min_scalar_type(min(self.most, 2**63)).newbyteorder("<")
        columns: list[tuple[Any, ...]] = [
            ("seed", "<i8"),
            ("samples", count),
            ("stopped", "u1"),
            ("regret", "<f8"),
            ("exact", "?"),
            ("eps_correct", "?"),
            ("seconds", "<f4"),
            ("front", "u1", ((self.arms + 7) // 8,)),
            ("pulls", count, (self.arms,)),
        ]
        if self.priced:
            columns.append(("spent", "<f8"))
        if self.points:  # -1: there was no answer yet
            columns += [("look_regret", "<f8", (len(self.points),)), ("look_wrong", "i1", (len(self.points),))]
        return np.dtype(columns)

    def empty(self, rows: int) -> Table:
        """A table with nothing in it; memory is taken as rows are written."""
        return np.zeros(rows, self.dtype)

    def write(self, row: np.void, seed: int, ending: Ending) -> None:
        """Write how a search ended into a row."""
        truth, record = ending.truth, cast(Any, row)
        record["seed"], record["samples"], record["stopped"] = seed, ending.samples, REASONS.index(ending.stopped)
        record["regret"], record["exact"], record["eps_correct"] = truth.regret, truth.exact, truth.eps_correct
        record["seconds"] = ending.seconds
        record["front"], record["pulls"] = np.packbits(ending.answer), ending.pulls
        if self.priced:
            record["spent"] = np.nan if ending.spent is None else ending.spent
        for place, point in enumerate(self.points):
            before = [look for look in ending.looks if look.pulls <= point]
            record["look_regret"][place] = before[-1].regret if before else 0.0
            record["look_wrong"][place] = before[-1].wrong if before else -1

    def pack(self, table: Table) -> str:
        """Rows as text, for a file."""
        return base64.b64encode(zlib.compress(table.tobytes(), level=1)).decode("ascii")

    def unpack(self, text: str) -> Table:
        """What `pack` made text of; ValueError or zlib.error if it is something else."""
        return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), self.dtype)


class Runs(Sequence[Run]):
    """Runs in the order of their seeds: a sequence of `Run`, each made when somebody looks at it.

    Attributes:
        names: Those of the arms.
        table: A row for each run; do not write.
    """

    __slots__ = ("names", "table")

    def __init__(self, names: Sequence[str], table: Table) -> None:
        self.names, self.table = tuple(names), table
        table.flags.writeable = False

    @staticmethod
    def of(runs: Iterable[Run]) -> Runs:
        """A table of runs that are there already."""
        if isinstance(runs, Runs):
            return runs
        given = list(runs)
        names = tuple(given[0].pulls) if given else ()
        most = max((run.samples for run in given), default=0)
        layout = RunLayout(len(names), most, any(run.spent is not None for run in given))
        table = layout.empty(len(given))
        for row, run in zip(table, given, strict=True):
            answer = np.array([name in run.front for name in names], dtype=bool)
            pulls = np.array([run.pulls[name] for name in names], dtype=np.int64)
            truth = Truth((), run.regret, run.exact, run.eps_correct)
            ending = Ending(run.samples, run.stopped, answer, pulls, truth, run.seconds, run.spent)
            layout.write(row, run.seed, ending)
        return Runs(names, table)

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, place: int) -> Run: ...

    @overload
    def __getitem__(self, place: slice) -> Runs: ...

    def __getitem__(self, place: int | slice) -> Run | Runs:
        if isinstance(place, slice):
            return Runs(self.names, self.table[place])
        row = cast(Any, self.table[place])
        bits = np.unpackbits(row["front"], count=len(self.names)).tolist()
        spent = float(row["spent"]) if "spent" in self.table.dtype.names else np.nan  # type: ignore[operator]
        return Run(
            seed=int(row["seed"]),
            samples=int(row["samples"]),
            front=tuple(name for name, inside in zip(self.names, bits, strict=True) if inside),
            stopped=REASONS[row["stopped"]],
            pulls=dict(zip(self.names, row["pulls"].tolist(), strict=True)),
            regret=float(row["regret"]),
            exact=bool(row["exact"]),
            eps_correct=bool(row["eps_correct"]),
            seconds=float(row["seconds"]),
            spent=None if np.isnan(spent) else spent,
        )

    def __add__(self, others: Iterable[Run]) -> Runs:
        """These runs and then others, of the same arms."""
        more = Runs.of(others)
        if not self or not more:
            return self or more
        return Runs(self.names, np.concatenate([self.table, more.table]))

    def __eq__(self, other: object) -> bool:
        """Whether all are equal to those of another sequence."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} runs>"

    def __deepcopy__(self, memo: object) -> Runs:
        """Itself: nobody writes into it."""
        return self

    def where(self, mask: Mask) -> Runs:
        """Those that a mask picks."""
        return self if mask.all() else Runs(self.names, self.table[mask])

    def stopped_by(self, *reasons: str) -> Mask:
        """Which of them ended for one of these reasons."""
        return np.isin(self.table["stopped"], [REASONS.index(reason) for reason in reasons])

    @property
    def spent(self) -> NDArray[np.float64] | None:
        """What each of them has cost; None where nothing has a price."""
        named = self.table.dtype.names or ()
        return np.asarray(self.table["spent"]) if "spent" in named else None

    @property
    def returned(self) -> dict[str, int]:
        """How many of them have each arm in their answer."""
        counts = np.zeros(8 * self.table["front"].shape[1], dtype=np.int64)
        for part in np.array_split(self.table["front"], 1 + len(self) // 100_000):  # a byte of bits is eight of bytes
            counts += np.unpackbits(part, axis=1).sum(axis=0, dtype=np.int64)
        return dict(zip(self.names, counts.tolist(), strict=False))

    @property
    def pulls(self) -> dict[str, int]:
        """The pulls of each arm in all of them."""
        return dict(zip(self.names, self.table["pulls"].sum(axis=0, dtype=np.int64).tolist(), strict=True))

    def without_looks(self) -> Runs:
        """The same without what their answers were along the way."""
        names = [name for name in self.table.dtype.names or () if not name.startswith("look_")]
        table = np.zeros(len(self), np.dtype([self.table.dtype.descr[place] for place in range(len(names))]))
        for name in names:
            table[name] = self.table[name]
        return Runs(self.names, table)


def is_wrong(goal: Goal, judged: Run | Truth) -> bool:
    """Whether an answer is wrong: not right up to epsilon, or not exact where epsilon is 0 or absent."""
    return not (judged.eps_correct if goal.tolerant else judged.exact)
