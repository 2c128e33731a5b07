"""What the races amount to: samples with their standard errors, ratios, and errors with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from ramgape.common.proportions import clopper_pearson
from ramgape.core.pareto import pareto_front
from ramgape.paper import paper
from ramgape.paper.benchmark_scale import BenchmarkScale
from ramgape.paper.jobs import Outcome
from ramgape.paper.methods import LINE_UPS, Method, all_methods
from ramgape.paper.statistics import geometric_mean, ratio_interval, standard_error
from ramgape.problems.instances import load_instance

Key = tuple[Any, ...]  # ("least", instance, epsilon) or ("race", instance, epsilon, method)
Outcomes = Mapping[Key, Outcome]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class StoppingMeasurement:
    """One method on one instance at one tolerance.

    `least` is the lower bound if `least_exact`, else the Gaussian reference; both are None where no number of samples
    suffices.
    `mean` is there only if every run ended; `pulls` are those made on average, which the mean would exceed if some did
    not. Neither is there where nothing was run. `saving` is how many times more samples the paper's method takes, or
    at least so many (`saving_is_least`) if that one did not end.
    """

    instance: str
    noise: str
    arms: int
    front: int
    epsilon: float
    bound: str
    policy: str
    runs: int
    undecided: int
    wrong: int
    cap: int
    least: float | None
    mean: float | None
    standard_error: float | None
    pulls: float | None
    over_least: float | None
    saving: float | None
    saving_is_least: bool
    error_interval: Interval | None
    least_exact: bool | None

    @property
    def method(self) -> str:
        return Method(self.bound, self.policy).name

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class StoppingAverage(NamedTuple):
    """A method at a tolerance: geometric means of ratios, each with the number of instances behind it."""

    noise: str
    epsilon: float
    method: str
    instances: int
    over_least: float | None
    least_count: int
    saving: float | None
    saving_count: int
    over_default: float | None
    default_count: int
    fewest: int  # on so many instances no other method needs fewer samples
    undecided: int  # instances with a run that reached its cap
    not_run: int


class ErrorCounts(NamedTuple):
    """Wrong answers of a method, at one tolerance or, with epsilon None, at all."""

    method: str
    epsilon: float | None
    ended: int
    wrong: int
    interval: Interval | None
    undecided: int


class MethodRatio(NamedTuple):
    """Two methods on one instance: the ratio of their samples, with an approximate 95 % interval.

    None where at most one of them stopped in every run; `fewer` still tells which is ahead if one did, and is None if
    neither did.
    """

    instance: str
    epsilon: float
    ratio: float | None
    interval: Interval | None
    fewer: bool | None

    @property
    def sure(self) -> bool:
        """Whether chance alone hardly explains the difference."""
        return self.interval is None or not self.interval[0] <= 1.0 <= self.interval[1]


def measure_stopping(outcomes: Outcomes, scale: BenchmarkScale) -> list[StoppingMeasurement]:
    """Everything that was run, in the order of the plan."""
    rows = []
    for instance in scale.instances:
        known = load_instance(instance)
        line_up = LINE_UPS[known.noise]
        front = int(pareto_front(known.means, known.risks(paper.RHO)).sum())
        for epsilon in scale.epsilons:
            least = outcomes["least", instance, epsilon]
            group = [
                measure_one(
                    outcomes["race", instance, epsilon, method.name],
                    instance=instance,
                    noise=known.noise,
                    arms=len(known.names),
                    front=front,
                    epsilon=epsilon,
                    cap=scale.paper_cap if method == line_up.paper else scale.cap,
                    least=least["samples"],
                    least_exact=None if least["samples"] is None else least["exact"],
                    **method._asdict(),
                )
                for method in line_up.methods
            ]
            rows += [beside(row, group[0]) for row in group]
    return rows


def measure_one(outcome: Outcome, *, epsilon: float, least: float | None, **described: Any) -> StoppingMeasurement:
    """What the runs of one method say, for themselves."""
    samples, runs = outcome["samples"], len(outcome["samples"])
    ended = [stopped != "cap" for stopped in outcome["stopped"]]
    right = outcome["eps_correct"] if epsilon > 0.0 else outcome["exact"]
    wrong = sum(over and not good for over, good in zip(ended, right, strict=True))
    pulls = math.fsum(samples) / runs if runs else None
    mean = pulls if all(ended) else None
    return StoppingMeasurement(
        **described,
        epsilon=epsilon,
        runs=runs,
        undecided=runs - sum(ended),
        wrong=wrong,
        least=least,
        mean=mean,
        standard_error=None if mean is None else standard_error(samples),
        pulls=pulls,
        over_least=mean / least if mean is not None and least is not None else None,
        saving=None,
        saving_is_least=False,
        error_interval=clopper_pearson(wrong, sum(ended)) if any(ended) else None,
    )


def beside(row: StoppingMeasurement, papers: StoppingMeasurement) -> StoppingMeasurement:
    """The same row, compared with the paper's method."""
    if row.mean is None or papers.pulls is None:
        return row
    return replace(row, saving=papers.pulls / row.mean, saving_is_least=papers.mean is None)


def by_instance(
    rows: Sequence[StoppingMeasurement], noise: str, epsilon: float
) -> dict[str, list[StoppingMeasurement]]:
    """The methods of one tolerance, instance by instance."""
    groups: dict[str, list[StoppingMeasurement]] = {}
    for row in rows:
        if (row.noise, row.epsilon) == (noise, epsilon):
            groups.setdefault(row.instance, []).append(row)
    return groups


def tolerances(rows: Sequence[StoppingMeasurement]) -> list[float]:
    """The values of epsilon, in the order of the plan."""
    return list(dict.fromkeys(row.epsilon for row in rows))


def stopping_averages(rows: Sequence[StoppingMeasurement], noise: str) -> list[StoppingAverage]:
    """Every method at every tolerance."""
    return [
        stopping_average(rows, noise, epsilon, method.name)
        for epsilon in tolerances(rows)
        for method in LINE_UPS[noise].methods
    ]


def stopping_average(rows: Sequence[StoppingMeasurement], noise: str, epsilon: float, method: str) -> StoppingAverage:
    """One method at one tolerance; what did not stop in every run is in no mean."""
    groups = list(by_instance(rows, noise, epsilon).values())
    own = [next(row for row in group if row.method == method) for group in groups]
    over_least = [row.over_least for row in own if row.over_least is not None]
    savings = [row.saving for row in own if row.saving is not None and not row.saving_is_least]
    pairs = versus(rows, method, LINE_UPS[noise].default.name, epsilon)
    over_default = [pair.ratio for pair in pairs if pair.ratio is not None]
    fewest = [min((row.mean for row in group if row.mean is not None), default=None) for group in groups]
    return StoppingAverage(
        noise=noise,
        epsilon=epsilon,
        method=method,
        instances=len(own),
        over_least=geometric_mean(over_least) if over_least else None,
        least_count=len(over_least),
        saving=geometric_mean(savings) if savings else None,
        saving_count=len(savings),
        over_default=geometric_mean(over_default) if over_default else None,
        default_count=len(over_default),
        fewest=sum(row.mean is not None and row.mean == best for row, best in zip(own, fewest, strict=True)),
        undecided=sum(row.undecided > 0 for row in own),
        not_run=sum(row.runs == 0 for row in own),
    )


def versus(rows: Sequence[StoppingMeasurement], own: str, base: str, epsilon: float | None = None) -> list[MethodRatio]:
    """One method against another, on every instance where both were tried, at one tolerance or at all."""
    found = {(row.instance, row.epsilon, row.method): row for row in rows}
    return [
        method_ratio(row, found[row.instance, row.epsilon, base])
        for row in rows
        if row.method == own and epsilon in (None, row.epsilon)
    ]


def method_ratio(own: StoppingMeasurement, base: StoppingMeasurement) -> MethodRatio:
    """One method against another on one instance."""
    if own.mean is None or base.mean is None:
        ahead = None if own.mean is None and base.mean is None else own.mean is not None
        return MethodRatio(own.instance, own.epsilon, None, None, ahead)
    ratio = own.mean / base.mean
    relative = [(row.standard_error or 0.0) / row.mean for row in (own, base) if row.mean is not None]
    return MethodRatio(own.instance, own.epsilon, ratio, ratio_interval(ratio, *relative), ratio < 1.0)


def errors(rows: Sequence[StoppingMeasurement]) -> list[ErrorCounts]:
    """Wrong answers of each method, at each tolerance and at all of them together."""
    present = [method.name for noise, method in all_methods() if any(row.noise == noise for row in rows)]
    return [pooled(rows, method, epsilon) for method in present for epsilon in (*tolerances(rows), None)]


def pooled(rows: Sequence[StoppingMeasurement], method: str, epsilon: float | None) -> ErrorCounts:
    """All runs of a method as if they were of one instance."""
    own = [row for row in rows if row.method == method and epsilon in (None, row.epsilon)]
    undecided, wrong = sum(row.undecided for row in own), sum(row.wrong for row in own)
    ended = sum(row.runs for row in own) - undecided
    return ErrorCounts(method, epsilon, ended, wrong, clopper_pearson(wrong, ended) if ended else None, undecided)


def summarize(rows: Sequence[StoppingMeasurement]) -> dict[str, Any]:
    """For machines."""
    present = {noise: line_up for noise, line_up in LINE_UPS.items() if any(row.noise == noise for row in rows)}
    return {
        "delta": paper.DELTA,
        "rho": paper.RHO,
        "measurements": [row.to_dict() for row in rows],
        "averages": [row._asdict() for noise in present for row in stopping_averages(rows, noise)],
        "errors": [row._asdict() for row in errors(rows)],
        "challenger_against_default": {
            noise: [
                {**one._asdict(), "sure": one.sure}
                for one in versus(rows, line_up.challenger.name, line_up.default.name)
            ]
            for noise, line_up in present.items()
        },
    }
