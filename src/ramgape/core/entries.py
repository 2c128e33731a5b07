"""A rule for callers in Python, one pull at a time.

They hand over the two records as arrays of one row: a record costs two microseconds, an array a tenth of one. And they
name the functions of the rule by their addresses, so that what stands here is compiled once, for all rules.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from numba import types

from ramgape.core.kernel import Kernel, address_of, calling, kernel
from ramgape.core.rule import COMPARE, DECIDE, LEARN, ROWS, STOP, Rule, compile_for

call_learn, call_compare, call_decide, call_stop = map(calling, (LEARN, COMPARE, DECIDE, STOP))


@kernel
def take(learn, compare, stop, arms, memory, searches, problems, arm, reward):
    """Learn one reward, for callers in Python, whom every call costs a microsecond; tells whether `stop` speaks."""
    search, problem = searches[0], problems[0]
    call_learn(learn, arms, memory, search, problem, arm, reward)
    call_compare(compare, arms, memory, search, problem, arm)
    return search.ready and call_stop(stop, arms, memory, search, problem)


@kernel
def compare_arm(compare, arms, memory, searches, problems, arm):
    """`compare` after a change of one arm."""
    call_compare(compare, arms, memory, searches[0], problems[0], arm)


@kernel
def decide_pull(decide, arms, memory, searches, problems):
    """Which arm `decide` would pull next."""
    return call_decide(decide, arms, memory, searches[0], problems[0])


@kernel
def ask_stop(stop, arms, memory, searches, problems):
    """Whether `stop` speaks."""
    return call_stop(stop, arms, memory, searches[0], problems[0])


_place = types.int64
ENTRIES: dict[Any, Any] = {
    take: types.boolean(_place, _place, _place, *ROWS, types.int64, types.float64),
    compare_arm: types.void(_place, *ROWS, types.int64),
    decide_pull: types.int64(_place, *ROWS),
    ask_stop: types.boolean(_place, *ROWS),
}


class Entries(NamedTuple):
    """What may be called with a whole state; the rule is kept, since its code must stay where it is."""

    rule: Rule
    take: Kernel
    compare: Kernel
    decide: Kernel
    stop: Kernel


def entries_of(rule: Rule) -> Entries:
    """The same rule for calls from Python."""
    for function, signature in ENTRIES.items():
        compile_for(function, signature)
    learn, compare, decide, stop = map(address_of, rule.compiled(), (LEARN, COMPARE, DECIDE, STOP))
    return Entries(
        rule,
        partial(take, learn, compare, stop),
        partial(compare_arm, compare),
        partial(decide_pull, decide),
        partial(ask_stop, stop),
    )
