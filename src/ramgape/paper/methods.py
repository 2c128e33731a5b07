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
    """The methods for one kind of rewards; `rival` is the one that the default is measured by."""

    rewards: str
    paper: Method
    others: tuple[Method, ...]
    rival: Method
    default: Method

    @property
    def methods(self) -> tuple[Method, ...]:
        return (self.paper, *self.others, self.rival, self.default)

    @property
    def contest(self) -> tuple[Method, ...]:
        """The two that are run wherever there is something to find out."""
        return (self.rival, self.default)


# By the noise of an instance.
LINE_UPS = {
    "bounded": LineUp(
        rewards="rewards in a range",
        paper=Method("paper", "ramgape"),
        others=(Method("empirical-bernstein-stitched", "ramgape"), Method("pairwise", "ramgape")),
        rival=Method("empirical-bernstein", "ramgape"),
        default=Method("pairwise", "evidence"),
    ),
    "gaussian": LineUp(
        rewards="Gaussian rewards",
        paper=Method("gaussian-paper", "ramgape"),
        others=(),
        rival=Method("gaussian", "ramgape"),
        default=Method("gaussian-pairwise", "evidence"),
    ),
}


def all_methods() -> Iterator[tuple[str, Method]]:
    """Every method with the noise that it is for."""
    for noise, line_up in LINE_UPS.items():
        for method in line_up.methods:
            yield noise, method
