"""Many runs in tasks that take some seconds each, here or on many machines, kept on disk as they are finished.

A run depends on its seed alone, so that it does not matter how the seeds are cut into tasks, where those are made, and
which of them were made before an interruption.
"""

from __future__ import annotations

import math
import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from ramgape.core.table import Table
from ramgape.errors import require
from ramgape.policies import POLICIES
from ramgape.problems.environments import Instance
from ramgape.search.engine import Engine
from ramgape.search.spec import Spec
from ramgape.simulation.kept import KeptFiles, digest, identity
from ramgape.simulation.runs import RunLayout
from ramgape.simulation.simulation import run_once
from ramgape.simulation.truth import TrueArms
from ramgape.trials.backend import TrialEngine
from ramgape.trials.pieces import Piece, made

PILOT = 8  # runs of a task as long as nobody knows how long they take
LEAST, USUAL, LONGEST = 2.0, 5.0, 10.0  # seconds that a task takes; after the last it gives back what is left
MOST = 5_000  # runs of a task
OWN_CODE = "absent where code takes part that is not ramgape's own: nobody would notice that it has changed"


def run_batch(
    instance: Instance,
    spec: Spec,
    seeds: Sequence[int],
    points: Sequence[int] = (),
    longest: float = math.inf,
) -> tuple[Table, float]:
    """Several runs, one after the other, and how long they took; fewer if they take too long, but one at least.

    Args:
        instance: What is searched.
        spec: What for.
        seeds: Of the runs.
        points: The numbers of pulls after which answers are looked at.
        longest: Seconds after which no further run is begun.
    """
    true, layout = TrueArms(instance, spec), RunLayout.of(spec, points)
    Engine(spec).prepare(instance.sampler())  # whatever is loaded or compiled first is not the time of runs
    table, begun = layout.empty(len(seeds)), time.perf_counter()
    for place, seed in enumerate(seeds):
        layout.write(table[place], seed, run_once(instance, spec, seed, true, points))
        if time.perf_counter() - begun > longest:
            return table[: place + 1], time.perf_counter() - begun
    return table, time.perf_counter() - begun


class Cutter:
    """Cuts what is left of the seeds into tasks, by how long the runs of earlier tasks took."""

    def __init__(self, left: Sequence[range]) -> None:
        self._left = deque(left)
        self._each: float | None = None  # seconds

    def learn(self, runs: int, seconds: float) -> None:
        """Runs of a task took so long; what came last counts most."""
        each = max(seconds / runs, 1e-6)
        self._each = each if self._each is None else 0.5 * (self._each + each)

    def give_back(self, seeds: range) -> None:
        """These were not made after all."""
        if seeds:
            self._left.append(seeds)

    def size(self, slots: int) -> int:
        """Runs of the next task: enough to be worth it, and few enough that there is work for everybody to the end.

        Without slots there is nobody to share the work with.
        """
        share = math.ceil(sum(map(len, self._left)) / max(2 * slots, 1))
        if self._each is None:
            return max(min(PILOT, share), 1)
        least, usual = LEAST / self._each, USUAL / self._each
        return max(int(min(usual, max(share, least), MOST)), 1)

    def take(self, slots: int) -> range | None:
        """The seeds of the next task."""
        if not self._left:
            return None
        size, seeds = self.size(slots), self._left.popleft()
        if seeds[size:]:
            self._left.appendleft(seeds[size:])
        return seeds[:size]


class Sweep:
    """Runs of one instance, a row of `table` each; `waiting` says for what, if anything, nothing happens.

    Args:
        instance: What is searched.
        spec: What for.
        seeds: Of the runs, one after the other.
        points: The numbers of pulls after which answers are looked at.
        keep: The folder in which finished tasks are kept, if they are.
    """

    def __init__(
        self, instance: Instance, spec: Spec, seeds: range, points: Sequence[int] = (), keep: Any = None
    ) -> None:
        self.instance, self.spec, self.seeds, self.points = instance, spec, seeds, tuple(points)
        self.layout = RunLayout.of(spec, points)
        self.table = self.layout.empty(len(seeds))
        self.waiting = ""
        self._identity = {} if keep is None else self._identify()
        self.files = None if keep is None else KeptFiles.open(keep, "keep")

    def run(self, engine: TrialEngine | None) -> Iterator[int]:
        """Make all runs, in this process or elsewhere; yields now and then how many there are."""
        left = self.find()
        done = len(self.seeds) - sum(map(len, left))
        if done:
            yield done
        for count in self._here(left) if engine is None else self._by(engine, left):
            done += count
            yield done

    def _here(self, left: Sequence[range]) -> Iterator[int]:
        true, cutter = TrueArms(self.instance, self.spec), Cutter(left)
        while (seeds := cutter.take(0)) is not None:
            begun = time.perf_counter()
            for count, seed in enumerate(seeds, start=1):
                ending = run_once(self.instance, self.spec, seed, true, self.points)
                self.layout.write(self.table[seed - self.seeds.start], seed, ending)
                yield 1
                if time.perf_counter() - begun > LONGEST and count < len(seeds):
                    cutter.give_back(seeds[count:])
                    seeds = seeds[:count]
                    break
            cutter.learn(len(seeds), time.perf_counter() - begun)
            self.keep(seeds)

    def _by(self, engine: TrialEngine, left: Sequence[range]) -> Iterator[int]:
        cutter = Cutter(left)

        def take() -> Piece | None:
            seeds = cutter.take(engine.slots())
            given = (self.instance, self.spec, seeds, self.points, LONGEST)
            return None if seeds is None else Piece(run_batch, given)

        for piece, (rows, seconds) in made(engine, take, self._hear):
            seeds: range = piece.arguments[2]
            finished = seeds[: len(rows)]
            self._put(finished, rows)
            self.keep(finished)
            cutter.learn(len(finished), seconds)
            cutter.give_back(seeds[len(rows) :])
            yield len(finished)

    def _hear(self, waiting: str) -> None:
        self.waiting = waiting

    def _put(self, seeds: range, rows: Table) -> None:
        """Take in the rows of seeds, of which some may be nobody's business here."""
        first, last = max(seeds.start, self.seeds.start), min(seeds.stop, self.seeds.stop)
        self.table[first - self.seeds.start : last - self.seeds.start] = rows[first - seeds.start : last - seeds.start]

    # ------------------------------------------------------------------------------------ on disk

    def _identify(self) -> dict[str, object]:
        """What the rows of this sweep are a function of, but for their seeds."""
        spec, arms = self.spec, self.instance.arms
        parts = [type(spec.risk), type(spec.question), *(type(arm.distribution) for arm in arms)]
        own = spec.policy in POLICIES and spec.decide is None and isinstance(spec.bound, str)
        own = own and all(part.__module__.startswith("ramgape.") for part in parts)
        require(own, "keep", OWN_CODE, [spec.policy, spec.bound, spec.risk, spec.question])
        return identity(kind="runs", instance=repr(self.instance), spec=repr(spec), points=self.points)

    def keep(self, seeds: range) -> None:
        """Write a finished task to the disk, if that is wanted."""
        if self.files is not None:
            rows = self.table[seeds.start - self.seeds.start : seeds.stop - self.seeds.start]
            named = {**self._identity, "seed": seeds.start, "runs": len(seeds)}
            name = f"{self._beginning}{seeds.start}-{len(seeds)}"
            self.files.save(name, named, self.layout.pack(rows))

    @property
    def _beginning(self) -> str:
        return f"runs-{digest(self._identity)}-"

    def find(self) -> list[range]:
        """Take in what is on disk; returns the seeds of the runs that are still to be made."""
        if self.files is None:
            return [self.seeds]
        there: list[range] = []
        for name in self.files.names(self._beginning):
            start, count = map(int, name.removeprefix(self._beginning).split("-"))
            seeds = range(start, start + count)
            if seeds.start >= self.seeds.stop or seeds.stop <= self.seeds.start:
                continue
            packed = self.files.load(name, {**self._identity, "seed": start, "runs": count})
            try:
                rows = self.layout.unpack(packed)
            except (TypeError, ValueError, zlib.error):  # it is not there, or not what was written
                continue
            if len(rows) == count:
                self._put(seeds, rows)
                there.append(seeds)
        return gaps_between(there, self.seeds)


def gaps_between(there: Sequence[range], wanted: range) -> list[range]:
    """What is wanted and not there.

    >>> gaps_between([range(3, 5), range(4, 8), range(20, 30)], range(0, 25))
    [range(0, 3), range(8, 20)]
    """
    gaps, reached = [], wanted.start
    for each in [*sorted(there, key=lambda part: part.start), range(wanted.stop, wanted.stop)]:
        if each.start > reached:
            gaps.append(range(reached, min(each.start, wanted.stop)))
        reached = max(reached, each.stop)
    return gaps
