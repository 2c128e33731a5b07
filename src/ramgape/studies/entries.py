"""What is reported to a study, checked: results of trials, and trials made elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import BudgetSpent, ChangedAnswer, InvalidReward, InvalidSpec, require, shorten
from ramgape.search.outcome import Outcome, check_price, check_reward, outcome_of
from ramgape.search.spec import Spec
from ramgape.storage.records import AnswerRow, ObservationRow, PullRow, unpack_outcomes
from ramgape.studies.blocks import with_block
from ramgape.studies.exchange import PullId, write_info, write_pull_id
from ramgape.studies.specification import StudySpec

if TYPE_CHECKING:
    from ramgape.search.outcomes import TrialOutcomes

MOST_OUTCOMES = 200  # of a trial, and of a study
REWARD = "reward"  # the outcome of trials that give one number


class Told(NamedTuple):
    """A result on its way in."""

    pull_id: PullId
    reward: float  # of a trial with several outcomes: the first one that is asked about
    price: float | None = None
    info: str | None = None
    outcomes: Mapping[str, float] | None = None


class Results(NamedTuple):
    """What is reported of pulls: results, failures with their reasons, pulls that will not be made, pulls that were
    lost with a machine."""

    told: Sequence[Told] = ()
    failed: Sequence[tuple[PullId, str]] = ()
    given_back: Sequence[PullId] = ()
    lost: Sequence[PullId] = ()


class Seen(NamedTuple):
    """Observations in order, as columns; prices are NaN where none was reported."""

    arms: NDArray[np.int64]
    rewards: NDArray[np.float64]
    prices: NDArray[np.float64] | None = None
    outcomes: list[Mapping[str, float]] | None = None  # where a trial has several

    @property
    def learned(self) -> Any:
        """What the search learns: rewards, or a mapping for each trial."""
        return self.rewards if self.outcomes is None else self.outcomes

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
    outcomes: Mapping[str, float] | None = None


def require_room(spec: StudySpec, told: int, under_way: int, count: int) -> None:
    """Refuse more observations than the budget has left, and in a study with items those that it did not ask for."""
    if count and spec.search.items is not None:
        allowed = "results of trials that the study handed out, since items have an order: ask for trials"
        raise InvalidSpec(what="trials", allowed=allowed, given=f"{count:,} made elsewhere")
    budget = spec.search.budget
    if budget is not None and count > budget - told - under_way:
        free = max(budget - told - under_way, 0)
        counts = f"{told:,} completed, {under_way:,} in progress"
        raise BudgetSpent(f"the budget of {budget:,} trials has room for {free:,} more ({counts})", given=f"{count:,}")


def require_same(what: str, pull_id: PullId, earlier: object, given: object) -> None:
    """Refuse another result than the one reported before."""
    if given is not None and given != earlier:
        about, allowed = f"the {what} of pull {write_pull_id(*pull_id)}", f"{shorten(earlier)}, as reported before"
        raise ChangedAnswer(what=about, allowed=allowed, given=shorten(given))


def columns_of(rows: Iterable[ObservationRow], search: Spec, names: Sequence[str]) -> Seen:
    """Observations as columns: with prices if any was reported, with outcomes where the search learns these by name.

    Args:
        rows: The observations.
        search: What the study searches for.
        names: Of all outcomes that its trials have given, in the order in which rows have them.
    """
    by_name = getattr(search, "outcomes", None) is not None
    single = measured_by(search) is None
    arms, rewards, prices, outcomes = [], [], [], list[Mapping[str, float]]()
    for row in rows:
        arms.append(row.arm)
        rewards.append(row.reward)
        prices.append(math.nan if row.price is None else row.price)
        if by_name:
            outcomes.append({REWARD: row.reward} if single else unpack_outcomes(row.outcomes or b"", names))
    paid = np.array(prices)
    return Seen(
        np.array(arms, np.int64),
        np.array(rewards, np.float64),
        None if np.isnan(paid).all() else paid,
        outcomes if by_name else None,
    )


def held_answer(pull: PullRow) -> AnswerRow | None:
    """The answer to an open pull, if it has one."""
    if pull.answer is None:
        return None
    answer = (pull.answer_attempt, pull.answer, pull.answer_failed, pull.token)
    return AnswerRow(*answer, pull.answer_price, pull.answer_info, pull.answer_outcomes)


def holding(pull: PullRow, answer: AnswerRow, moment: float) -> PullRow:
    """An open pull whose answer is held back."""
    held: dict[str, Any] = {
        "answer_failed": answer.failed,
        "answer_attempt": answer.attempt,
        "answer_info": answer.info,
    }
    held["answer_outcomes"] = answer.outcomes
    return pull._replace(answer=answer.reward, answered_at=moment, answer_price=answer.price, **held)


Checked = tuple[float, float | None, str | None, Mapping[str, float] | None]


def checked_outcome(search: Spec, given: object, arm: object = None) -> Checked:
    """The reward, price, information and outcomes of what a trial gave, or an error that names the arm.

    Args:
        search: What the study searches for.
        given: The reward, the outcomes by name, or an `Outcome` with more.
        arm: The arm, if it is known.
    """
    named = arm if isinstance(arm, str) else None
    measured = measured_by(search)
    if measured is None and not isinstance(given, Outcome):
        price = None if search.spend is None else check_price(None, search)
        return check_reward(search, given, named), price, None, None
    outcome = outcome_of(given)
    price, info = check_price(outcome.price, search), write_info(with_block(outcome.info, outcome.block))
    if measured is None:
        return check_reward(search, outcome.reward, named), price, info, None
    by_name = getattr(outcome, "outcomes", None)
    outcomes = measured.read(outcome.reward if by_name is None else by_name, named)
    require(len(outcomes) <= MOST_OUTCOMES, "outcomes", f"at most {MOST_OUTCOMES}", len(outcomes), InvalidReward)
    first = measured.measured[0]
    return outcomes[first] if first in outcomes else measured.worst[first], price, info, outcomes


def measured_by(search: Spec) -> TrialOutcomes | None:
    """How the trials of a search are read where they give several outcomes; None where they give one reward."""
    return None if getattr(search, "plain", False) else getattr(search, "outcomes", None)
