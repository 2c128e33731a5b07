"""Whether boxes hold: seeded searches, watched beside the truth."""

from __future__ import annotations

from typing import Any

from ramgape.problems.environments import Instance
from ramgape.search.engine import Engine
from ramgape.simulation.simulation import simulated_spec, watch
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.proportions import binomial_cdf
from ramgape.testing.expecting import expect_that

RUNS, PULLS, DELTA = 60, 2_000, 0.05
FALSE_ALARM = 1e-6
# The most runs that may lose the truth: with a chance of exactly delta each, more do so less often than that.
MOST = next(count for count in range(RUNS) if 1.0 - binomial_cdf(count, RUNS, DELTA) < FALSE_ALARM)


def check_boxes(instance: Instance, **options: Any) -> None:
    """Watch searches of an instance: at no time may a box lose the truth in more runs than delta allows.

    All arms are pulled in turn, and every box is looked at after every pull. With probability 1e-6 at most, a bound
    that fails with probability 0.05 is taken for one that fails more often.

    Raises:
        AssertionError: Too many runs have lost the truth.
    """
    spec = simulated_spec(
        instance, **{"epsilon": 0.0, "delta": DELTA, "policy": "round-robin", "max_trials": PULLS, **options}
    )
    truth = TrueArms(instance, spec).table()
    watched = (watch(Engine(spec, seed), instance, seed, truth) for seed in range(RUNS))
    lost = sum(any(trace["missed"].any() for trace in traces) for traces in watched)
    what = f"runs of {RUNS} in which a box of bound {spec.bound} for risk {spec.risk} lost the truth"
    expect_that(lost <= MOST, what, f"at most {MOST}, at delta {DELTA}", lost)
