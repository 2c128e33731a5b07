"""The arms with the highest means, so many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ramgape.common.checks import whole
from ramgape.errors import require
from ramgape.questions.best import Best
from ramgape.questions.question import Possible
from ramgape.questions.score import MEAN, Score
from ramgape.questions.wording import Wanted


@dataclass(frozen=True, slots=True)
class Top(Best):
    """The m arms with the highest means.

    Args:
        m: How many: at least 1, and fewer than there are arms.

    Examples:
        >>> str(Top(3))
        'top:3'
    """

    name: ClassVar[str] = "top"
    written: ClassVar[str] = "top:M"
    meaning: ClassVar[str] = "the m arms with the highest means"
    m: int

    def __post_init__(self) -> None:
        allowed = "a whole number of at least 1, and less than the number of arms"
        object.__setattr__(self, "m", whole(self.m, "m of question top", allowed, 1))

    @property
    def score(self) -> Score:
        return MEAN

    @property
    def count(self) -> int:
        return self.m

    @property
    def called(self) -> str:
        return f"top {self.m:,}"

    def check(self, possible: Possible) -> tuple[str, ...]:
        allowed = f"less than the number of arms, {len(possible.names):,}: all of them are no choice"
        require(self.m < len(possible.names), "m of question top", allowed, self.m)
        return ()

    def some_arms(self) -> Sequence[str]:
        return [str(arm) for arm in range(self.m + 1)]

    def sought(self, wanted: Wanted) -> str:
        return (
            f"the {self.m:,} arms with the {wanted.best} means"
            if self.m > 1
            else f"the arm with the {wanted.best} mean"
        )

    def claim(self, wanted: Wanted) -> str:
        """That no arm outside is better by epsilon than one inside: less than epsilon is lost to the m-th best."""
        if wanted.epsilon == 0.0:
            return f"these are {self.sought(wanted)}." if self.m > 1 else f"{wanted.names} is {self.sought(wanted)}."
        whose = "that of any returned one" if self.m > 1 else f"that of {wanted.names}"
        return f"no other arm has a mean {wanted.mean_tolerance} or more {wanted.better} {whose}."

    def __str__(self) -> str:
        return f"{self.name}:{self.m}"
