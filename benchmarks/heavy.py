"""Estimators of a mean under heavy tails, beside each other: `python -m benchmarks.heavy`.

Two tables. Widths: half of the mean's interval, in standard deviations, of one of ten arms at
delta 0.05, at one moment; medians over paths. Pulls: whole searches for the best mean of five arms, which lie a tenth
of a deviation apart, within 0.15 of one; of returns, five real stocks. What is stated is the deviation (sigma_max),
exactly or, once, half as large again; and for `heavy` the kurtosis instead, where there is one. Real returns are drawn
from the record.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.jobs import returns
from benchmarks.trials import Average
from ramgape.problems.distributions import Data
from ramgape.problems.environments import Arm, Distribution, Instance
from ramgape.problems.unbounded import LogNormal, Lomax, StudentT
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.replication import replicate

BOUNDS = ("heavy", "catoni", "truncated-mean")
COUNTS = (131, 300, 908, 3_000, 20_000)
STOCKS, DAYS = 5, 21
GENEROUS = 1.5  # how much too large a statement may be
NO_RENEWAL = 2**62  # boxes are made once, at the end


def stocks() -> dict[str, Data]:
    """Returns over 21 days, one after the other."""
    found = {}
    for name, daily in list(returns().arms.items())[:STOCKS]:
        whole = np.array(daily[: len(daily) // DAYS * DAYS]).reshape(-1, DAYS)
        found[name] = Data(tuple((np.prod(1.0 + whole, axis=1) - 1.0).tolist()))
    return found


def laws() -> dict[str, Distribution]:
    """What rewards are drawn from."""
    name, law = next(iter(stocks().items()))
    return {
        "t(5)": StudentT(5.0),
        "lognormal(1)": LogNormal(0.0, 1.0),
        "Lomax(3)": Lomax(3.0),
        "Lomax(2.1)": Lomax(2.1),
        f"{DAYS}-day returns of {name}": law,
    }


def kurtosis_of(law: Distribution) -> float | None:
    """What would be stated of it; None where it is infinite."""
    if isinstance(law, Data):
        values = np.array(law.values)
        return float(((values - values.mean()) ** 4).mean() / values.var() ** 2)
    kurtosis = float(getattr(law, "kurtosis", np.inf))
    return kurtosis if np.isfinite(kurtosis) else None


def statements(law: Distribution) -> Iterator[tuple[str, str, dict[str, float]]]:
    """What is stated, and by whom it is used."""
    kurtosis = kurtosis_of(law)
    if kurtosis is not None:
        yield f"kurtosis {kurtosis:.3g}", "heavy", {"kurtosis": kurtosis}
    generous = [(f"sigma_max x {GENEROUS:g}", GENEROUS)] if law == StudentT(5.0) else []
    for words, factor in [("sigma_max exact", 1.0), *generous]:
        for bound in BOUNDS:
            yield words, bound, {"sigma_max": factor * law.std}


def half_width(rewards: np.ndarray[Any, np.dtype[np.float64]], bound: str, stated: dict[str, float]) -> float:
    """Of the interval that these rewards alone lead to."""
    options: dict[str, Any] = {"noise": "heavy", "task": "best", "epsilon": 0.0, "bound": bound, **stated}
    engine = Engine(make_spec(range(10), **options))
    with engine._tables() as state:
        state.arms["renewal"] = NO_RENEWAL
    engine.learn_many(np.zeros(len(rewards), np.int64), rewards)
    engine.make_boxes()
    return float(engine.arms["mean_high"][0] - engine.arms["mean_low"][0]) / 2.0


def show_widths(paths: int) -> None:
    """The first table."""
    print("| rewards | stated | bound | " + " | ".join(f"n = {count:,}" for count in COUNTS) + " |")
    print("|---|---|---|" + "--:|" * len(COUNTS))
    for name, law in laws().items():
        shape = (paths, max(COUNTS))
        drawn = np.asarray(law.quantile(np.random.default_rng(1).random(shape[0] * shape[1])), float).reshape(shape)
        for words, bound, stated in statements(law):
            widths = [
                np.median([half_width(path[:count].copy(), bound, stated) for path in drawn]) / law.std
                for count in COUNTS
            ]
            cells = ["-" if np.isinf(width) else f"{width:.3g}" for width in widths]
            print(f"| {name} | {words} | `{bound}` | {' | '.join(cells)} |", flush=True)


def choices() -> Iterator[tuple[str, tuple[Arm, ...]]]:
    """Five arms of each law."""
    kinds: dict[str, Any] = {
        "t(5)": lambda place: StudentT(5.0, place * StudentT(5.0).std),
        "lognormal(1)": lambda place: LogNormal(0.0, 1.0, place * LogNormal(0.0, 1.0).std),
        "Lomax(3)": lambda place: Lomax(3.0, 1.0, place * Lomax(3.0).std),
    }
    for name, kind in kinds.items():
        yield name, tuple(Arm(f"{number}", kind(0.1 * number)) for number in range(5))
    yield f"{DAYS}-day returns", tuple(Arm(name, law) for name, law in stocks().items())


def show_pulls(runs: int) -> None:
    """The second table."""
    print("| rewards | stated | bound | pulls | wrong | microseconds a pull |\n|---|---|---|--:|--:|--:|")
    for name, arms in choices():
        deviation = max(arm.distribution.std for arm in arms)
        kurtoses = [kurtosis_of(arm.distribution) for arm in arms]
        known = [] if None in kurtoses else [("heavy", f"kurtosis={max(k for k in kurtoses if k is not None):.3g}")]
        for bound, stated in [*known, *((bound, f"sigma_max={deviation!r}") for bound in BOUNDS)]:
            instance = Instance(name, arms, None, f"heavy:{stated}")
            options: dict[str, Any] = {"task": "best", "epsilon": 0.15 * deviation, "bound": bound}
            replicate(instance, runs=1, seed=0, **options)  # compiles
            start = time.process_time()
            found = replicate(instance, runs=runs, seed=1, workers=1, **options)
            spent = 1e6 * (time.process_time() - start) / sum(run.samples for run in found.runs)
            pulls = Average.of([run.samples for run in found.runs])
            words = "sigma_max exact" if stated.startswith("sigma_max") else stated.replace("=", " ")
            count = f"{pulls.mean:,.0f} ± {pulls.error:,.0f}"
            print(f"| {name} | {words} | `{bound}` | {count} | {found.errors} of {runs} | {spent:.0f} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heavy", description=__doc__)
    parser.add_argument("--paths", type=int, default=20, help="for widths")
    parser.add_argument("--runs", type=int, default=20, help="for pulls")
    asked = parser.parse_args()
    show_widths(asked.paths)
    print()
    show_pulls(asked.runs)


if __name__ == "__main__":
    main()
