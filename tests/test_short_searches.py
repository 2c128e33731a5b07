"""Short searches with every policy, bound and risk: no warning, and plain Python finds what compiled code does."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from ramgape import Instance, RamgapeWarning, simulate
from ramgape.bounds import BOUNDS
from ramgape.policies import POLICIES
from tests import short_searches
from tests.support import compile_at_once

CASES = [pytest.param(*case, id=f"{case[0].name}-{place}") for place, case in enumerate(short_searches.cases())]


@pytest.mark.few(3)
@pytest.mark.parametrize(("instance", "options"), CASES)
def test_plain_kernels_warn_of_nothing(instance: Instance, options: dict[str, Any]) -> None:
    """Constants and coins lead to divisions by zero and logarithms of it: errors in Python, but not compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RamgapeWarning)  # so few trials say nothing
        simulate(instance, seed=5, **options)


SEEDS_ALONE = "central-limit-paired"  # of seeds that arms share, which no instance has: tests/test_seeds.py


@pytest.mark.long  # minutes: most rules are compiled
@pytest.mark.parametrize(("instance", "options"), CASES)
def test_compiled_kernels_find_the_same(
    instance: Instance, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, as rewards and what is made of them never leave floats."""
    warnings.simplefilter("ignore", RamgapeWarning)
    plain = simulate(instance, seed=5, **options)
    compile_at_once(monkeypatch)
    assert repr(simulate(instance, seed=5, **options)) == repr(plain)


def test_the_short_searches_leave_nothing_out() -> None:
    played = [options for _, options in short_searches.cases()]
    assert {options["policy"] for options in played if "policy" in options} == set(POLICIES)
    assert {options["bound"] for options in played if "bound" in options} == set(BOUNDS) - {SEEDS_ALONE}
    assert {options["risk"] for options in played if "risk" in options} == set(short_searches.RISKS)
