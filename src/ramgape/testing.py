"""The checks of `ramgape.extend`, under their former name."""

from __future__ import annotations

from ramgape.extend.checks import check_bound, check_policy, check_question, check_reader, check_risk
from ramgape.extend.stores import check_store

__all__ = ["check_bound", "check_policy", "check_question", "check_reader", "check_risk", "check_store"]


def __getattr__(name: str) -> object:
    if name == "check_task":  # the older name
        return check_question
    raise AttributeError(f"module 'ramgape.testing' has no attribute {name!r}")
