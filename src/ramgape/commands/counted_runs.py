"""How many runs of commands failed, or were cut off, in words: the same for the screen and for files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import cut, plural, time_unit

if TYPE_CHECKING:
    from ramgape.commands.times import Times

MOST_NAMED, NAME_WIDTH = 5, 40  # in a sentence


def exits_words(times: Sequence[Times]) -> str:
    """Which commands ended with an exit code other than 0, and how often; empty if none did."""
    told = [
        f"{cut(each.name, NAME_WIDTH)} failed in {each.nonzero_exits:,} of {plural(len(each.times), 'run')}"
        for each in times
        if each.nonzero_exits
    ]
    return f"{_some(told)} (exit code other than 0)." if told else ""


def cut_off_words(times: Sequence[Times]) -> str:
    """Which commands were cut off, how often, and how long they took at least on average; empty if none was.

    That is about the runs that were made. The mean of all possible runs may be less than what a few of them took.
    """
    told = [
        f"{cut(each.name, NAME_WIDTH)} was cut off at {max(each.times):g} s in {each.failed:,} of "
        f"{plural(len(each.times), 'run')}, so these took at least {_rounded_down(each.mean)} on average"
        for each in times
        if each.failed
    ]
    return f"{_some(told)}." if told else ""


def _some(told: Sequence[str]) -> str:
    more = len(told) - MOST_NAMED
    return "; ".join([*told[:MOST_NAMED], *([f"{plural(more, 'more command')} likewise"] if more > 0 else [])])


def _rounded_down(seconds: float) -> str:
    unit = time_unit(seconds)
    scale = 10.0**unit.places
    return f"{math.floor(seconds / unit.seconds * scale * (1.0 + 1e-12)) / scale:g} {unit.name}"
