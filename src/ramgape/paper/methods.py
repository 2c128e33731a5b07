"""The methods that the benchmark compares: a bound that says what is proved, and a sampling rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Method(NamedTuple):
    """A bound and a policy, by their names."""

    bound: str
    policy: str

    @property
    def name(self) -> str:
        return f"{self.bound} + {self.policy}"


class LineUp(NamedTuple):
    """The methods for one kind of rewards; `challenger` is the one that might become the default."""

    rewards: str
    paper: Method
    default: Method
    others: tuple[Method, ...]
    challenger: Method

    @property
    def methods(self) -> tuple[Method, ...]:
        return (self.paper, self.default, *self.others, self.challenger)

    @property
    def ours(self) -> tuple[Method, ...]:
        """All but the paper's."""
        return self.methods[1:]


# By the noise of an instance.
LINE_UPS = {
    "bounded": LineUp(
        rewards="rewards in a range",
        paper=Method("paper", "ramgape"),
        default=Method("empirical-bernstein", "ramgape"),
        others=(Method("empirical-bernstein-stitched", "ramgape"), Method("pairwise", "ramgape")),
        challenger=Method("pairwise", "evidence"),
    ),
    "gaussian": LineUp(
        rewards="Gaussian rewards",
        paper=Method("gaussian-paper", "ramgape"),
        default=Method("gaussian", "ramgape"),
        others=(),
        challenger=Method("gaussian", "evidence"),
    ),
}


def all_methods() -> Iterator[tuple[str, Method]]:
    """Every method with the noise that it is for."""
    for noise, line_up in LINE_UPS.items():
        for method in line_up.methods:
            yield noise, method
