"""What rewards may be: the assumptions by name, the only list. What depends on one asks for what it means.

unknown    no range, no model: what is said of them is approximate, by the central limit theorem
bounded    every reward lies in a stated range
items      scores, in a stated range, on the items of a test set, which all arms meet in one random order
gaussian   normal, of unknown mean and variance
heavy      of bounded kurtosis, standard deviation or coefficient of variation, which must be stated
"""

from __future__ import annotations

from dataclasses import dataclass

FEWEST = 2  # pulls, as in core/statistics.py, which is not loaded only to check a specification

DEFAULT_DRIFT = 0.01  # the accepted probability that the drift check warns although the assumption holds


@dataclass(frozen=True, slots=True)
class Assumption:
    """A row of the table.

    Attributes:
        name: By which it is asked for.
        words: What rewards are, for people; empty where the range says it.
        parameters: That may be given with the name, assumption="gaussian:resolution=0.1".
        ranged: Rewards have a range, which must be stated.
        normal: Rewards are modelled as normal, and risks as functions of their mean and variance.
        first_looks: Pulls of an arm before anything is said of its mean, and of its risk.
        skewed: Bounds ask how the spread of an estimate grows with it; a risk that can tell remembers what it takes.
    """

    name: str
    words: str = ""
    parameters: tuple[str, ...] = ()
    ranged: bool = False
    normal: bool = False
    first_looks: tuple[int, int] = (FEWEST, FEWEST)
    skewed: bool = False


UNKNOWN, BOUNDED, GAUSSIAN, HEAVY, ITEMS = "unknown", "bounded", "gaussian", "heavy", "items"
ASSUMPTIONS: dict[str, Assumption] = {
    assumption.name: assumption
    for assumption in (
        Assumption(UNKNOWN, "rewards of any kind", first_looks=(10, 20), skewed=True),
        Assumption(BOUNDED, ranged=True),
        Assumption(GAUSSIAN, "Gaussian rewards", ("resolution", "sigma_max"), normal=True),
        Assumption(HEAVY, "rewards with heavy tails", ("kurtosis", "sigma_max", "cv")),
        Assumption(ITEMS, "the same items for all arms, in one random order", ranged=True),
    )
}


def assumption_names(ranged: bool | None = None) -> str:
    """The names, for messages; those with a range or those without, if that is asked for.

    >>> assumption_names(ranged=False)
    'unknown, gaussian or heavy'
    """
    names = [name for name, assumption in ASSUMPTIONS.items() if ranged is None or assumption.ranged == ranged]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
