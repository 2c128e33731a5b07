"""What is said of a lower bound: the number, whether it is a bound, and how an ideal algorithm would share it out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ramgape.common.formatting import short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, least_word, wanted
from ramgape.views.explanation import Column, Explanation, Table

if TYPE_CHECKING:
    from ramgape.simulation.lower_bound import LowerBound

NAME_WIDTH = 32


def explain_lower_bound(bound: LowerBound) -> Explanation:
    """All that is said of a lower bound."""
    if bound.samples is None:
        return Explanation([headline(bound)], [("Reason", f"{bound.note}.")], [])
    facts = [
        ("Meaning", f"This is the {least_word(bound.exact)}: {bound.note}."),
        ("Time", f"Characteristic time T* = {bound.characteristic_time:,.1f}."),
    ]
    table = Table(lambda width: arm_columns(bound), lambda columns: "Ideal for Gaussian arms:")
    return Explanation([headline(bound)], [(word, printable(text)) for word, text in facts], [table])


def headline(bound: LowerBound) -> str:
    """The number in a sentence."""
    name = printable(bound.instance)
    if bound.samples is None:
        return f"{name}: no number of samples suffices"
    epsilon, in_risk = bound.epsilon if isinstance(bound.epsilon, tuple) else (bound.epsilon, None)
    goal = wanted(epsilon, in_risk, task=bound.task)
    goal = f"{goal} with probability {1.0 - bound.delta:g}"
    samples = f"{math.floor(bound.samples):,} samples on average"
    if bound.exact:
        return f"{name}: {goal} takes at least {samples}"
    return f"{name}: Gaussian arms like these would take about {samples} for {goal}"


def arm_columns(bound: LowerBound) -> list[Column]:
    """One row per arm; of very many arms, those that need the most samples, and the others together."""
    shares, names = bound.allocation, list(bound.allocation)
    if len(names) > ROWS:
        names.sort(key=lambda name: -shares[name])
    shown = short_names(names, NAME_WIDTH)
    rows = [(shown[name], shares[name]) for name in names[:ROWS]]
    if len(names) > ROWS:
        rows.append((f"{len(names) - ROWS:,} more", math.fsum(shares[name] for name in names[ROWS:])))
    return [
        Column("arm", [name for name, _ in rows], marks=["in"] * len(rows), names=True),
        Column("share", [f"{share:.1%}" for _, share in rows], right=True),
        Column("samples", [f"{share * (bound.samples or 0.0):,.0f}" for _, share in rows], right=True),
    ]
