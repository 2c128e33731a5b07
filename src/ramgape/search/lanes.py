"""What a search learns of one outcome, or of an expression of several: a table of its own, with its risk and its bound.

A trial gives several outcomes. Each column that is asked about is learned as the reward of a search with one outcome
would be, on its own scale, by the same kernels. What compares arms (search/columns.py) sees the columns in the user's
units, turned so that more is better.

Delta is shared by the lanes in proportion to what each must know: a mean, or a mean and a risk. The boxes of a lane
take the part of its share that its bound says; what no box takes is for comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ramgape.bounds import Bound, the_bound
from ramgape.core.kernel import Kernel
from ramgape.core.rare import note_extremes, survives_unseen, unseen_chance
from ramgape.core.rows import Row, Rows
from ramgape.core.statistics import all_sums
from ramgape.core.table import STATISTICS, Memory, Table
from ramgape.search.assembly import Adder, make_box, make_learn, make_look, make_state
from ramgape.search.expressions import Expression
from ramgape.search.spec import Spec
from ramgape.search.units import user_risks
from ramgape.statistics.bets import log_average, log_mixtures

MEAN, RISK = 0, 1  # the parts of a lane
BY_ALL = 0


class Lane:
    """One learned column: the arms' tables, and what they prove.

    Args:
        of: The outcome or expression.
        spec: What is asked of it, as a search of its own.
    """

    def __init__(self, of: Expression, spec: Spec) -> None:
        self.of, self.spec = of, spec
        self.bound: Bound = the_bound(spec.bound)
        self._learn: Kernel = make_learn(spec, spec.bound)
        self._box: Kernel = make_box(spec, spec.bound)
        kernels = self.bound.kernels
        self.pairs = self.bound.compares_pairs
        self._mean_ahead = kernels.mean_ahead if self.pairs else None
        self._risk_ahead = None
        if self.pairs and spec.question.about_risk:
            self._risk_ahead = getattr(kernels, "risk_ahead", None) or spec.risk.ahead_by(kernels)
        self._bets = spec.rewards.ranged and self.pairs and spec.items is None
        # Where a box leaves something in the memory, one at another level would spoil it.
        self._alone = spec.risk.kernels(spec.assumption).narrowed > 0 or (self.bound.columns > 0 and not self.pairs)
        self._state = make_state(spec, spec.bound, spec.delta)
        self.rows = Rows.of(self._state)
        self._ends: dict[tuple[float, int], Row] = {}  # the last boxes at other levels than the lane's own
        self.adder: Adder | None = None
        self.offset = float(user_risks(spec, 0.0)) if spec.question.about_risk else 0.0

    @property
    def table(self) -> Any:
        """The table of the arms, to be read."""
        self.rows.write(self._state)
        return self._state.arms

    @property
    def is_ours(self) -> bool:
        """Whether its bound and its risk are of this package, whose changes are noted."""
        return isinstance(self.spec.bound, str) and type(self.spec.risk).__module__.startswith("ramgape.")

    @property
    def sides(self) -> float:
        """How many chances of e^-level an arm's box takes."""
        return self.bound.sides_for(self.spec.question.about_risk)

    @property
    def taken(self) -> float:
        """The part of delta that the boxes of the lane take, in all."""
        assert self.spec.delta is not None
        return self.bound.spent * self.spec.delta

    def copy(self) -> Lane:
        """The same, to go on with elsewhere."""
        other = object.__new__(Lane)
        other.__dict__ |= self.__dict__
        self.rows.write(self._state)
        other._state = self._state.copy()
        other.rows = Rows.of(other._state)
        other._ends = dict(self._ends)
        return other

    @property
    def tables(self) -> tuple[Table, Memory, Table]:
        """What its values have led to: tables of the arms, the memory and the search, to be read; see `reload`."""
        self.rows.write(self._state)
        return self._state.arms, self._state.memory, self._state.search

    def reload(self) -> None:
        """Go on from what was written into `tables`."""
        self.rows, self._ends = Rows.of(self._state), {}

    def learn(self, arm: int, value: float) -> None:
        """Learn one value of an arm."""
        self._learn(*self.rows.records, arm, value)

    def add(self, arms: Any, values: Any) -> None:
        """Add values up whose order means nothing; `look` then makes the boxes."""
        self.rows.write(self._state)
        if self.adder is None:
            self.adder = Adder(self.spec)
        self.adder.add(self._state, arms, values)
        self.rows = Rows.of(self._state)

    def look(self) -> None:
        """Make the box of every arm from its sums."""
        make_look(self.spec, self.spec.bound)(*self.rows)

    def scale(self, part: int) -> float:
        """What one unit of the engine's scale is in the user's units."""
        return self.spec.span if part == MEAN else self.spec.span / self.spec.risk_weight

    def column(self, row: Row, part: int) -> tuple[float, float, float, float]:
        """Estimate, spread and the ends of the box of an arm in the user's units, more being better."""
        factor = self.scale(part)
        if part == MEAN:
            origin, low, high = self.spec.origin, row.mean_low, row.mean_high
            value, spread = row.average, row.variance
        else:
            origin, low, high = -self.offset, -row.risk_high, -row.risk_low
            value, spread = -row.risk, row.risk_spread
        spread += row.pulls * self._unseen(row, part)
        if low > high:  # set aside: nothing is known
            low, high = -math.inf, math.inf
        return origin + factor * value, factor * factor * spread, origin + factor * low, origin + factor * high

    def _unseen(self, row: Row, part: int) -> float:
        """What the squared error of an estimate has to be more than it looks (core/comparisons.py)."""
        problem, pulls = self.rows.problems[0], float(row.pulls)
        more = problem.unseen[part] * 0.5 / (pulls * pulls)
        if problem.rooted[part] and more > 0.0:
            more /= 4.0 * row.variance + 1.5 / pulls
        return float(more)

    def ahead(self, arm: int, other: int, part: int, epsilon: float, level: float) -> bool:
        """Whether it is proved that one arm is ahead of another less epsilon, with evidence of e^level.

        Args:
            arm, other: Their numbers.
            part: The mean, or the risk.
            epsilon: In the user's units; negative for a margin.
            level: What the evidence must reach.
        """
        arms, memory, _, problem = self.rows.records
        row, rival, epsilon = arms[arm], arms[other], epsilon / self.scale(part)
        if problem.rare_level > 0.0 and part == MEAN:
            note_extremes(arms)
            if not survives_unseen(row, rival, problem, epsilon):
                return False
        low, high = self._box_of(row, part)[0], self._box_of(rival, part)[1]
        if low > high - epsilon:
            return True
        kernel = self._mean_ahead if part == MEAN else self._risk_ahead
        if kernel is None or level == math.inf:
            return False
        return bool(kernel(row, memory[arm], rival, memory[other], epsilon, problem, BY_ALL, level))

    def unseen(self) -> tuple[list[float], list[float]] | None:
        """How far each arm's mean may be below its average, and above, by events that only others have shown.

        In the user's units; None where claims are not guarded against such events (core/rare.py).
        """
        arms, _, _, problem = self.rows.records
        if problem.rare_level == 0.0:
            return None
        note_extremes(arms)
        chances = [unseen_chance(problem, row.pulls) * self.spec.span if row.pulls else math.inf for row in arms]
        return ([each * arms[0].fall for each in chances], [each * arms[0].rise for each in chances])

    def _box_of(self, row: Row, part: int) -> tuple[float, float]:
        """The ends of a box, more being better, on the engine's scale."""
        low, high = (row.mean_low, row.mean_high) if part == MEAN else (-row.risk_high, -row.risk_low)
        return (low, high) if low <= high else (-math.inf, math.inf)

    def _on_scale(self, value: float, part: int) -> float:
        """A value in the user's units, more being better, on the engine's scale."""
        origin = self.spec.origin if part == MEAN else -self.offset
        return (value - origin) / self.scale(part)

    def beyond(self, arm: int, part: int, value: float, side: float, level: float) -> bool:
        """Whether it is proved that an arm is above a value (side 1), or below it (-1); e^-level bounds the error.

        By the box of the lane, whose chance is paid already, or by evidence at this level.

        Args:
            arm: Its number.
            part: The mean, or the risk.
            value: In the user's units, more being better.
            side: Of the value.
            level: The logarithm of one over the accepted chance.
        """
        arms, memory, search, problem = self.rows.records
        row, at = arms[arm], self._on_scale(value, part)
        if problem.rare_level > 0.0 and part == MEAN and row.pulls:
            note_extremes(arms)
            if side * (row.average - at) < unseen_chance(problem, row.pulls) * (row.fall if side > 0.0 else row.rise):
                return False
        low, high = self._box_of(row, part)
        if low > at if side > 0.0 else high < at:
            return True
        if level == math.inf or row.pulls < 2:
            return False
        if self._bets and part == MEAN:
            return self._bet(row, at, side) >= level
        if self._alone:
            return False
        low, high = self._ends_at(arm, row, memory[arm], search, problem, part, level)
        return bool(low > at if side > 0.0 else high < at)

    def _bet(self, row: Row, at: float, side: float) -> float:
        """ln of the evidence that the mean is above (side 1) or below (-1) a value; infinite where that is certain."""
        if not 0.0 <= at <= 1.0:
            return math.inf if (at < 0.0) == (side > 0.0) else -math.inf
        return float(log_average(*log_mixtures(all_sums(row), row.shift, at, side)))

    def apart(
        self,
        arm: int,
        other: int,
        part: int,
        values: tuple[float, float],
        line: tuple[float, float],
        sign: float,
        level: float,
        cells: int,
    ) -> bool:
        """Whether at every value v of the other arm, the evidence for the arm being above a line reaches e^level.

        Args:
            arm, other: Their numbers.
            part: The mean; of risks boxes alone tell.
            values: Of the other arm, between which v lies: in the user's units, sign times them more being better.
            line: Factor and margin: the arm is to be above factor v - margin while the other is below v.
            sign: -1 where the column is turned the other way than the lane.
            level: What the product of both must reach, whatever v is.
            cells: How many cells the values are divided into.
        """
        if not self._bets or part != MEAN:
            return False
        arms, (factor, margin) = self.rows.arms, line
        row, rival = arms[arm], arms[other]
        if min(row.pulls, rival.pulls) < 2:
            return False
        width = (values[1] - values[0]) / cells
        for cell in range(cells):
            start, end = values[0] + cell * width, values[0] + (cell + 1) * width
            own = self._mixtures(row, self._on_scale(sign * (factor * end - margin), part), sign)
            others = self._mixtures(rival, self._on_scale(sign * start, part), -sign)
            if own is None or others is None:
                return False
            if log_average(own[0] + others[0], own[1] + others[1], own[2] + others[2]) < level:
                return False
        return True

    def _mixtures(self, row: Row, at: float, side: float) -> tuple[float, float, float] | None:
        """The evidence of three mixtures that the mean is above (side 1) or below (-1) a value; None for none.

        Beyond the range there is a certainty on one side, which counts as the evidence at the end of the range.
        """
        if (at > 1.0) if side > 0.0 else (at < 0.0):
            return None
        found: tuple[float, float, float] = log_mixtures(all_sums(row), row.shift, min(max(at, 0.0), 1.0), side)
        return found

    def _ends_at(
        self, arm: int, row: Row, past: Any, search: Row, problem: Row, part: int, level: float
    ) -> tuple[float, float]:
        """An arm's interval of which each end fails with a chance of e^-level, whatever else its box has to know."""
        known = self._ends.get((level, arm))
        if known is None or known.pulls != row.pulls:
            known = self._ends[level, arm] = row.copy()
            known.level = level + math.log(self.sides)
            if self.bound.narrows:  # not from the last one, so that it does not matter when anybody looked
                self._open_box(known)
            misses = search.misses
            self._box(known, past, search, problem)
            search.misses = misses
        return self._box_of(known, part)

    def _open_box(self, row: Row) -> None:
        """What is possible, before anything is known."""
        row.mean_low, row.mean_high, row.risk_low, row.risk_high = -math.inf, math.inf, -math.inf, math.inf
        if self.spec.rewards.ranged:
            row.mean_low, row.mean_high = 0.0, 1.0
            row.risk_low, row.risk_high = self.spec.risk_range

    def interval(self, arm: int, part: int, level: float) -> tuple[float, float]:
        """An arm's interval in the user's units, more being better; each end fails with a chance of e^-level."""
        arms, memory, search, problem = self.rows.records
        row = arms[arm]
        low, high = -math.inf, math.inf
        if row.pulls >= 2 and level < math.inf:
            if self._bets and part == MEAN:
                low, high = self._bet_ends(row, level)
            elif not self._alone:
                low, high = self._ends_at(arm, row, memory[arm], search, problem, part, level)
        origin = self.spec.origin if part == MEAN else -self.offset
        own, factor = self._box_of(row, part), self.scale(part)
        return origin + factor * max(low, own[0]), origin + factor * min(high, own[1])

    def _bet_ends(self, row: Row, level: float) -> tuple[float, float]:
        """The values of the mean that the evidence leaves, by halving; what is not certain is left."""
        ends = []
        for side, far in ((1.0, 0.0), (-1.0, 1.0)):
            near = row.average
            if self._bet(row, far, side) < level:
                ends.append(far)
                continue
            rejected, kept = far, near
            for _ in range(40):
                middle = 0.5 * (rejected + kept)
                if self._bet(row, middle, side) >= level:
                    rejected = middle
                else:
                    kept = middle
            ends.append(rejected)
        return ends[0], ends[1]

    def is_set_aside(self, arm: int) -> bool:
        """Whether nothing can be said of an arm, all of whose values are equal."""
        row = self.rows.arms[arm]
        return bool(row.mean_low > row.mean_high)

    def score(self, arm: int, turn: int) -> float:
        """Of a test set: the score of an arm on the item of a turn."""
        return float(self.rows.memory[arm][self.rows.problems[0].first_item + turn])

    def take(self, other: Lane, arms: Sequence[int]) -> None:
        """Let arms have the statistics that another lane has of its arms with these numbers."""
        self.rows.write(self._state)
        other.rows.write(other._state)
        for column in STATISTICS:
            self._state.arms[column] = other._state.arms[column][np.asarray(arms)]
        self._state.memory[:] = other._state.memory[np.asarray(arms)]
        self.rows = Rows.of(self._state)
