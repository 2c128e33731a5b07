"""What the races amount to: samples with their standard errors, ratios, and errors with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from ramgape.common.proportions import clopper_pearson, ratio_interval
from ramgape.core.pareto import pareto_front
from ramgape.paper import paper
from ramgape.paper.benchmark_scale import GROUPS, BenchmarkScale, group_of
from ramgape.paper.jobs import Outcome
from ramgape.paper.methods import LINE_UPS, LineUp, Method, all_methods
from ramgape.paper.statistics import geometric_mean, standard_error
from ramgape.problems.instances import load_instance
from ramgape.risks import make_risk

Key = tuple[Any, ...]  # ("least", instance, epsilon) or ("race", instance, epsilon, method)
Outcomes = Mapping[Key, Outcome]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class StoppingMeasurement:
    """One method on one instance at one tolerance; `group` tells whether anything was tuned on that instance.

    `least` is the lower bound if `least_exact`, else the Gaussian reference; both are None where no number of samples
    suffices.
    `mean` is there only if every run ended; `pulls` are those made on average, which the mean would exceed if some did
    not. Neither is there where nothing was run. `saving` is how many times more samples the paper's method takes, or
    at least so many (`saving_is_least`) if that one did not end; None where it was not run.
    """

    instance: str
    group: str
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


class MethodRatio(NamedTuple):
    """Two methods on one instance: the ratio of their samples, its standard error and an approximate 95 % interval.

    None where at most one of them stopped in every run; `fewer` still tells which is ahead if one did, and is None if
    neither did.
    """

    instance: str
    epsilon: float
    ratio: float | None
    standard_error: float | None
    interval: Interval | None
    fewer: bool | None

    @property
    def sure(self) -> bool:
        """Whether chance alone hardly explains the difference."""
        return self.interval is None or not self.interval[0] <= 1.0 <= self.interval[1]


class StoppingAverage(NamedTuple):
    """A method at a tolerance: geometric means of ratios, each with the number of instances behind it.

    `worst` is the case in which it needs most beside the rival.
    """

    noise: str
    group: str
    epsilon: float
    method: str
    instances: int
    over_least: float | None
    least_count: int
    saving: float | None
    saving_count: int
    over_rival: float | None
    rival_count: int
    worst: MethodRatio | None
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


def measure_stopping(outcomes: Outcomes, scale: BenchmarkScale) -> list[StoppingMeasurement]:
    """Everything that was run, in the order of the plan."""
    rows = []
    risk = make_risk(scale.risk)
    for instance in scale.instances:
        known, papers = load_instance(instance), scale.line_up(instance).paper
        front = int(pareto_front(known.means, known.risks_by(risk)).sum())
        for epsilon in scale.epsilons:
            least = outcomes["least", instance, epsilon]
            group = {
                method: measure_one(
                    outcomes["race", instance, epsilon, method.name],
                    instance=instance,
                    group=group_of(instance),
                    noise=known.noise,
                    arms=len(known.names),
                    front=front,
                    epsilon=epsilon,
                    cap=scale.paper_cap if method == papers else scale.cap,
                    least=least["samples"],
                    least_exact=None if least["samples"] is None else least["exact"],
                    **method._asdict(),
                )
                for method in scale.methods(instance)
            }
            rows += [beside(row, group.get(papers)) for row in group.values()]
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


def beside(row: StoppingMeasurement, papers: StoppingMeasurement | None) -> StoppingMeasurement:
    """The same row, compared with the paper's method if that was run."""
    if row.mean is None or papers is None or papers.pulls is None:
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


def line_ups(rows: Sequence[StoppingMeasurement]) -> dict[str, LineUp]:
    """The methods for the rewards that occur."""
    return {noise: line_up for noise, line_up in LINE_UPS.items() if any(row.noise == noise for row in rows)}


def parts_of(rows: Sequence[StoppingMeasurement]) -> list[tuple[str, str, list[StoppingMeasurement]]]:
    """What is averaged for itself: kinds of rewards and groups of instances, with their rows."""
    parts = [
        (noise, group, [row for row in rows if (row.noise, row.group) == (noise, group)])
        for noise in line_ups(rows)
        for group in GROUPS
    ]
    return [part for part in parts if part[2]]


def stopping_averages(rows: Sequence[StoppingMeasurement]) -> list[StoppingAverage]:
    """Every method at every tolerance, part by part."""
    return [
        stopping_average(own, epsilon, method)
        for _, _, own in parts_of(rows)
        for epsilon in tolerances(own)
        for method in dict.fromkeys(row.method for row in own)
    ]


def stopping_average(rows: Sequence[StoppingMeasurement], epsilon: float, method: str) -> StoppingAverage:
    """One method at one tolerance in one part; what did not stop in every run is in no mean."""
    noise, group = rows[0].noise, rows[0].group
    groups = list(by_instance(rows, noise, epsilon).values())
    own = [next(row for row in group if row.method == method) for group in groups]
    over_least = [row.over_least for row in own if row.over_least is not None]
    savings = [row.saving for row in own if row.saving is not None and not row.saving_is_least]
    pairs = [pair for pair in versus(rows, method, LINE_UPS[noise].rival.name, epsilon) if pair.ratio is not None]
    over_rival = [pair.ratio for pair in pairs if pair.ratio is not None]
    fewest = [min((row.mean for row in group if row.mean is not None), default=None) for group in groups]
    return StoppingAverage(
        noise=noise,
        group=group,
        epsilon=epsilon,
        method=method,
        instances=len(own),
        over_least=geometric_mean(over_least) if over_least else None,
        least_count=len(over_least),
        saving=geometric_mean(savings) if savings else None,
        saving_count=len(savings),
        over_rival=geometric_mean(over_rival) if over_rival else None,
        rival_count=len(over_rival),
        worst=worst_of(pairs),
        fewest=sum(row.mean is not None and row.mean == best for row, best in zip(own, fewest, strict=True)),
        undecided=sum(row.undecided > 0 for row in own),
        not_run=sum(row.runs == 0 for row in own),
    )


def worst_of(pairs: Sequence[MethodRatio]) -> MethodRatio | None:
    """The largest ratio, if there is one."""
    return max((pair for pair in pairs if pair.ratio is not None), key=lambda pair: pair.ratio or 0.0, default=None)


def versus(rows: Sequence[StoppingMeasurement], own: str, base: str, epsilon: float | None = None) -> list[MethodRatio]:
    """One method against another, on every instance where both were tried, at one tolerance or at all."""
    found = {(row.instance, row.epsilon): row for row in rows if row.method == base}
    return [
        method_ratio(row, found[row.instance, row.epsilon])
        for row in rows
        if row.method == own and epsilon in (None, row.epsilon) and (row.instance, row.epsilon) in found
    ]


def method_ratio(own: StoppingMeasurement, base: StoppingMeasurement) -> MethodRatio:
    """One method against another on one instance."""
    if own.mean is None or base.mean is None:
        ahead = None if own.mean is None and base.mean is None else own.mean is not None
        return MethodRatio(own.instance, own.epsilon, None, None, None, ahead)
    ratio = own.mean / base.mean
    relative = [(row.standard_error or 0.0) / row.mean for row in (own, base) if row.mean is not None]
    interval = ratio_interval(ratio, *relative)
    return MethodRatio(own.instance, own.epsilon, ratio, ratio * math.hypot(*relative), interval, ratio < 1.0)


def errors(rows: Sequence[StoppingMeasurement]) -> list[ErrorCounts]:
    """Wrong answers of each method, at each tolerance and at all of them together."""
    methods = {row.method for row in rows}
    present = [method.name for _, method in all_methods() if method.name in methods]
    return [pooled(rows, method, epsilon) for method in present for epsilon in (*tolerances(rows), None)]


def pooled(rows: Sequence[StoppingMeasurement], method: str, epsilon: float | None) -> ErrorCounts:
    """All runs of a method as if they were of one instance."""
    own = [row for row in rows if row.method == method and epsilon in (None, row.epsilon)]
    undecided, wrong = sum(row.undecided for row in own), sum(row.wrong for row in own)
    ended = sum(row.runs for row in own) - undecided
    return ErrorCounts(method, epsilon, ended, wrong, clopper_pearson(wrong, ended) if ended else None, undecided)


def summarize(rows: Sequence[StoppingMeasurement], risk: str) -> dict[str, Any]:
    """For machines."""
    return {
        "delta": paper.DELTA,
        "risk": risk,
        "measurements": [row.to_dict() for row in rows],
        "averages": [
            {**row._asdict(), "worst": None if row.worst is None else row.worst._asdict()}
            for row in stopping_averages(rows)
        ],
        "errors": [row._asdict() for row in errors(rows)],
        "default_against_rival": {
            noise: [
                {**one._asdict(), "sure": one.sure} for one in versus(rows, line_up.default.name, line_up.rival.name)
            ]
            for noise, line_up in line_ups(rows).items()
        },
    }
