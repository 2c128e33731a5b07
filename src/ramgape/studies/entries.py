"""What goes into a ledger, and what its rows say of it: trials made elsewhere, answers that are held back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import BudgetSpent, ChangedAnswer, InvalidSpec
from ramgape.storage.records import AnswerRow, ObservationRow, PullRow
from ramgape.studies.pull_ids import PullId, write_pull_id
from ramgape.studies.specification import StudySpec


class Told(NamedTuple):
    """An answer on its way in."""

    pull_id: PullId
    reward: float
    price: float | None = None
    info: str | None = None


class Seen(NamedTuple):
    """Observations in order, as columns: arms and rewards; of a study that has them, prices (NaN: not told)."""

    arms: NDArray[np.int64]
    rewards: NDArray[np.float64]
    prices: NDArray[np.float64] | None = None

    def part(self, start: int, stop: int) -> Seen:
        """Those from one place to before another."""
        return Seen(*(None if column is None else column[start:stop] for column in self))  # type: ignore[arg-type]


class Trial(NamedTuple):
    """A trial made elsewhere."""

    arm: int
    reward: float
    failed: bool = False
    worker: str | None = None
    told_at: float | None = None
    origin: str | None = None
    item: int | None = None
    price: float | None = None
    info: str | None = None


def require_room(spec: StudySpec, told: int, under_way: int, count: int) -> None:
    """Complain about more observations than the budget has room for, and about any that answer no question of ours."""
    if count and spec.search.items is not None:
        allowed = "answers to pulls of a study with items, which has an order of its own: ask for them"
        raise InvalidSpec(what="trials", allowed=allowed, given=f"{count:,} made elsewhere")
    budget = spec.search.budget
    if budget is not None and count > budget - told - under_way:
        free = max(budget - told - under_way, 0)
        room = f"the budget of {budget:,} pulls has room for {free:,} more ({told:,} are told, {under_way:,} under way)"
        raise BudgetSpent(room, given=f"{count:,}")


def require_same(what: str, pull_id: PullId, earlier: float | None, given: float | None) -> None:
    """Complain about another answer than the one that was told before."""
    if given is not None and given != earlier:
        about, allowed = f"the {what} of pull {write_pull_id(*pull_id)}", f"{earlier!r}, as it was told before"
        raise ChangedAnswer(what=about, allowed=allowed, given=repr(given))


def columns_of(rows: Sequence[ObservationRow]) -> Seen:
    """Arms and rewards, and prices if any was told."""
    arms, rewards = [row.arm for row in rows], [row.reward for row in rows]
    prices = None
    if any(row.price is not None for row in rows):
        prices = np.array([math.nan if row.price is None else row.price for row in rows])
    return Seen(np.array(arms, np.int64), np.array(rewards, np.float64), prices)


def held_answer(pull: PullRow) -> AnswerRow | None:
    """The answer to an open pull, if it has one."""
    if pull.answer is None:
        return None
    answer = (pull.answer_attempt, pull.answer, pull.answer_failed, pull.token)
    return AnswerRow(*answer, pull.answer_price, pull.answer_info)


def holding(pull: PullRow, answer: AnswerRow, moment: float) -> PullRow:
    """An open pull whose answer is held back."""
    held = {"answer_failed": answer.failed, "answer_attempt": answer.attempt, "answer_info": answer.info}
    return pull._replace(answer=answer.reward, answered_at=moment, answer_price=answer.price, **held)  # type: ignore[arg-type]
