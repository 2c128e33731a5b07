"""Checks for what others add to ramgape: whether it does what the rest relies on. Our own tests use them as well.

Each raises an AssertionError that says what was expected and what came. Where chance is involved the seeds are fixed,
and the docstring states how likely a sound thing is to fail.
"""

from __future__ import annotations

from ramgape.testing.bounds import check_bound
from ramgape.testing.policies import check_policy
from ramgape.testing.questions import check_question
from ramgape.testing.risks import check_risk
from ramgape.testing.stores import check_store

__all__ = ["check_bound", "check_policy", "check_question", "check_risk", "check_store"]


def __getattr__(name: str) -> object:
    if name == "check_task":  # the older name
        return check_question
    raise AttributeError(f"module 'ramgape.testing' has no attribute {name!r}")
