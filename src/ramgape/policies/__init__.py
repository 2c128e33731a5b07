"""The sampling rules by name. A rule is a module with one kernel, `decide`; `POLICIES` is the only list.

Any rule runs under any goal. The paper runs `ramgape`, `ra-lucb` and `round-robin` under both, `de-round-robin` under
fixed confidence only, and the others under a fixed budget only; a rule that was not made for stopping may never stop.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import NamedTuple


class Policy(NamedTuple):
    """What a sampling rule does, and with which goals the paper runs it."""

    module: str
    paper_goals: tuple[str, ...]
    meaning: str


BOTH = ("confidence", "budget")

POLICIES: dict[str, Policy] = {
    "ramgape": Policy("ramgape", BOTH, "of the two arms behind the largest doubt, the one pulled less"),
    "evidence": Policy("evidence", (), "the arms of the comparison that the data support least"),
    "ra-lucb": Policy("ra_lucb", BOTH, "both arms behind the largest doubt"),
    "round-robin": Policy("round_robin", BOTH, "every arm in turn"),
    "de-round-robin": Policy("de_round_robin", ("confidence",), "in turn, but for dominated arms that are settled"),
    "lie-round-robin": Policy("lie_round_robin", ("budget",), "in turn, but for the arm with the smallest doubt"),
    "xi-lcb": Policy("xi_lcb", ("budget",), "the arm whose risk might be the lowest"),
    "hvi-pareto": Policy("hvi_pareto", ("budget",), "the weakest of the front and the strongest outside it"),
    "egp": Policy("egp", ("budget",), "the arm least clearly inside or outside the front"),
}


def policy_module(name: str) -> ModuleType:
    """The module that implements a rule."""
    return importlib.import_module(f"ramgape.policies.{POLICIES[name].module}")
