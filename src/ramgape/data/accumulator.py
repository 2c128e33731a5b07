"""What logged rewards add up to, arm by arm, before the number of arms is known.

An arm's statistics are a function of its own rewards alone. Only boxes depend on the number of arms, which share delta
among them: they wait until the last row has been read, and a table that grows with the arms is all there is to keep.
Only where a risk is a model's value are the rewards kept as well (`Sample`), to show what they say themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ramgape.data.batch import Place
from ramgape.data.blocks import Blocks
from ramgape.data.missing import NA_REMARK, is_missing
from ramgape.errors import InvalidData, InvalidReward, known_name, located, require, shorten
from ramgape.search.assembly import Adder
from ramgape.search.drift_check import DriftCheck
from ramgape.search.engine import Engine
from ramgape.search.outcome import of_arm
from ramgape.search.samples import Sample
from ramgape.search.spec import Spec

MOST_ARMS = 5_000  # results compare all pairs; and more arms probably mean a wrong column
BLOCK = 65_536  # rows that are learnt at once: handing over compiled functions takes as long as some thousand rows

Words = tuple[str, str]
USUAL_WORDS = "the arm", "the reward"


class Numbering(dict[str, int]):
    """The arms' numbers, in the order in which they turn up."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


class Roster:
    """The arms that turn up row by row, with their rows.

    Args:
        arms: The names of all there are, if that is known; checked.
        words: What errors call an arm and a reward.
    """

    def __init__(self, arms: Iterable[str] | None = None, words: Words = USUAL_WORDS) -> None:
        self._arm_words, self._reward_words = words
        self._given = None if arms is None else tuple(arms)
        self._numbers = Numbering((name, number) for number, name in enumerate(self._given or ()))
        self.rows = 0
        self._counts: Counter[int] = Counter()  # rows of each arm that have a reward
        self._missing: Counter[int] = Counter()  # and those that have none

    @property
    def missing(self) -> dict[str, int]:
        """How many rows of each arm were left out for want of a reward; of those that have such rows."""
        return {name: self._missing[arm] for name, arm in self._numbers.items() if self._missing[arm]}

    @property
    def row_counts(self) -> dict[str, int]:
        """How many rows with a reward each arm has."""
        return {name: self._counts[arm] for name, arm in self._numbers.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The arms so far."""
        return tuple(self._numbers)

    def skip(self, names: Sequence[str], place: Place) -> None:
        """Count rows that have no reward."""
        _count(self._missing, self.mention(names, place))

    def mention(self, names: Sequence[str], place: Place) -> NDArray[np.int64]:
        """The arms' numbers; an arm that is mentioned exists, whether or not it has a reward."""
        known = len(self._numbers)
        chosen = np.fromiter(map(self._numbers.__getitem__, names), np.int64, len(names))
        if len(self._numbers) > known:
            self._welcome(self.names[known:], names, place)
        return chosen

    def count(self, names: Sequence[str], place: Place) -> NDArray[np.int64]:
        """The arms' numbers; each has one more row with a reward."""
        chosen = self.mention(names, place)
        _count(self._counts, chosen)
        self.rows += len(names)
        return chosen

    def _welcome(self, newcomers: Sequence[str], names: Sequence[str], place: Place) -> None:
        """Arms that have turned up; complain about those that cannot be meant."""
        for number, name in enumerate(newcomers, start=len(self._numbers) - len(newcomers) + 1):
            if name and number <= MOST_ARMS and self._given is None:
                continue
            with located(place(names.index(name))):
                if self._given is not None:
                    known_name(name, self._given, self._arm_words)
                require(bool(name), self._arm_words, "a name that is not empty", name, InvalidData)
                most = f"one of at most {MOST_ARMS:,} different arms (do these names mean arms?)"
                require(False, self._arm_words, most, name, InvalidData)


class Accumulator(Roster):
    """The statistics of arms that turn up row by row; of `spec` everything counts but the names.

    `words` are what errors call an arm and a reward; `block` rows of an arm make one reward.
    """

    def __init__(
        self, spec: Spec, arms: Iterable[str] | None = None, words: Words = USUAL_WORDS, block: int = 1
    ) -> None:
        super().__init__(arms, words)
        self.spec = spec
        self.low, self.high = spec.possible_rewards
        self._adder = Adder(spec)
        self._sample = Sample() if spec.modelled else None
        self._watch = None if spec.drift is None else DriftCheck(spec.drift, len(self._numbers))
        self._state = self._adder.new_state(max(16, len(self._numbers)))
        self._waiting: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._rows_waiting = 0
        self._blocks = None if block == 1 else Blocks(block)

    @property
    def incomplete(self) -> int:
        """Rows that are part of no reward, because those that should follow have not."""
        return 0 if self._blocks is None else self._blocks.incomplete

    def add(
        self,
        names: Sequence[str],
        rewards: NDArray[np.float64],
        place: Place,
        items: Sequence[str] | None = None,
        clusters: Sequence[str] | None = None,
    ) -> None:
        """Count one reward for each name, in this order, if all of them can be."""
        self._check_rewards(names, rewards, place)
        if names:
            self._waiting.append((self.count(names, place), rewards))
            self._rows_waiting += len(names)
        if self._rows_waiting >= BLOCK:
            self._learn()

    def keep(self, names: Iterable[str]) -> None:
        """Forget all arms but these, with all that is known of the others."""
        self._learn()
        kept = [self._numbers[name] for name in names]
        self._numbers = Numbering((name, number) for number, name in enumerate(names))
        self._state = self._state._replace(arms=self._state.arms[kept], memory=self._state.memory[kept])
        self._counts, self._missing = (
            Counter({number: counts[arm] for number, arm in enumerate(kept)})
            for counts in (self._counts, self._missing)
        )
        for part in (self._blocks, self._sample, self._watch):
            if part is not None:
                part.keep(kept)

    def _check_rewards(self, names: Sequence[str], rewards: NDArray[np.float64], place: Place) -> None:
        usable = (rewards >= self.low) & (rewards <= self.high)  # false for NaN
        if not usable.all():
            first = int(usable.argmin())
            self.refuse_reward(float(rewards[first]), names[first], place(first))

    def refuse_reward(
        self, reward: object, arm: str, place: str, hint: str = "", remark: str = "", allowed: str = ""
    ) -> NoReturn:
        """Complain about a reward; `hint` is about what is allowed, `remark` about what was given."""
        size = "a finite number" if self.spec.reward_range is None else "a number"
        allowed = f"{allowed or f'{size} from {self.low:g} to {self.high:g}'}{hint}"
        if is_missing(reward) and not remark:
            remark = NA_REMARK
        given, what = shorten(reward), self._reward_words
        raise InvalidReward(place=place, what=what, allowed=allowed, given=given, hint=of_arm(arm) + remark)

    def _learn(self) -> None:
        """Learn what is waiting; the table grows first if it must."""
        if len(self._numbers) > len(self._state.arms):
            self._state = self._state.grown(2 * len(self._numbers))
        if self._watch is not None:
            self._watch.grow(len(self._numbers))
        if not self._waiting:
            return
        chosen = np.concatenate([numbers for numbers, _ in self._waiting])
        rewards = np.concatenate([values for _, values in self._waiting])
        self._waiting, self._rows_waiting = [], 0
        if self._blocks is not None:
            chosen, rewards = self._blocks.means(chosen, rewards)
        self._adder.add(self._state, chosen, rewards)
        if self._sample is not None:
            self._sample.add_many(chosen, rewards)
        if self._watch is not None:
            self._watch.add_many(chosen, rewards)

    def make_engine(self, spec: Spec) -> Engine:
        """A search, whose arms are the ones here, that has learnt all there is, as if by itself."""
        self._learn()
        once = replace(spec, looked_at_once=True)
        engine = Engine.from_statistics(once, self._state, self._sample, self._watch)
        engine.look()
        return engine


def _count(counts: Counter[int], arms: NDArray[np.int64]) -> None:
    """Count arms that turned up."""
    for arm, more in zip(*(each.tolist() for each in np.unique(arms, return_counts=True)), strict=True):
        counts[arm] += more
