"""What the user wants, checked once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

from ramgape.bounds import BOXLESS, Bound, resolve_bound, the_bound
from ramgape.common.checks import LARGEST, SMALLEST, as_float, number, whole
from ramgape.errors import InvalidSpec, known_name, require, shorten
from ramgape.policies import POLICIES, resolve_policy
from ramgape.risks import make_risk
from ramgape.risks.measure import Measure
from ramgape.risks.table import MOMENTS

DEFAULT_DELTA = 0.05
DEFAULT_EPSILON = 0.1
DEFAULT_RHO = 0.01
DEFAULT_MAX_PULLS = 10**9
PLANNED_RUNS, PLANNED_PULLS = 100, 1_000_000  # of a plan: simulated searches of each goal, and the most pulls of one
Tolerance = float | tuple[float, float]  # one in mean and scaled risk, or one for each


@dataclass(frozen=True, slots=True)
class Spec:
    """A search, fully decided: every default resolved, every value checked, all in the user's units."""

    names: tuple[str, ...]
    noise: Literal["bounded", "gaussian"]
    reward_range: tuple[float, float] | None
    goal: Literal["confidence", "budget"]
    epsilon: float | None
    risk_epsilon: float | None  # where the tolerance in risk was given apart
    delta: float | None
    budget: int | None
    risk: Measure
    alpha: float
    direction: Literal["maximize", "minimize"]
    policy: str
    bound: str | Bound
    exploration: float | None
    sigma_max: float | None
    max_pulls: int
    initial_pulls: int
    returned: Literal["last", "smallest-doubt"]
    warnings: tuple[str, ...]
    resolution: float | None = None

    @property
    def span(self) -> float:
        """R = hi - lo; 1 where rewards have no range."""
        return 1.0 if self.reward_range is None else self.reward_range[1] - self.reward_range[0]

    @property
    def risk_weight(self) -> float:
        """What a unit of the user's risk is worth in units of the mean: one tolerance is worth the other."""
        return self.epsilon / self.risk_epsilon if self.epsilon and self.risk_epsilon else 1.0

    @property
    def risk_scale(self) -> float:
        """The factor with which risks are compared with means, by one tolerance."""
        return self.alpha * self.risk_weight

    @property
    def limit(self) -> int:
        """The most pulls this search makes."""
        return self.max_pulls if self.budget is None else self.budget

    @property
    def risk_range(self) -> tuple[float, float]:
        """The smallest and largest scaled risk that rewards on the engine's [0, 1] can have."""
        low, high = self.unit_risk.unit_range()
        return self.unit_scale * low, self.unit_scale * high

    @property
    def rho(self) -> float | None:
        """The parameter of the mean-variance, which for the variance is 0; None for other risks."""
        return getattr(self.risk, "rho", None)

    @property
    def oriented_risk(self) -> Measure:
        """The risk measure for what the engine takes for rewards: costs are negated."""
        return self.risk if self.direction == "maximize" else self.risk.mirrored()

    @property
    def modelled(self) -> bool:
        """Whether the risk is a function of a normal model's mean and variance, not of the rewards themselves."""
        return self.noise == "gaussian" and MOMENTS not in self.risk.made_of

    @property
    def risk_formula(self) -> str:
        """The risk in words."""
        formula = self.risk.formula(self.direction == "minimize")
        return f"{formula}, under a normal model" if self.modelled else formula

    @property
    def origin(self) -> float:
        """What the engine takes for 0, as a reward, a cost being a negative one."""
        low, high = self.reward_range or (0.0, 0.0)
        return low if self.direction == "maximize" else -high

    @property
    def unit_risk(self) -> Measure:
        """The risk measure on the engine's scale."""
        return self.oriented_risk.on_unit(self.origin, self.span)

    @property
    def unit_scale(self) -> float:
        """The factor in the risk on the engine's scale."""
        return self.risk_scale * self.span ** (self.risk.power - 1)


class Options(TypedDict, total=False):
    """The keywords of `make_spec`."""

    reward_range: tuple[float, float] | None
    noise: str | None
    epsilon: Tolerance | None
    delta: float | None
    budget: int | None
    risk: Measure | str | None
    rho: float | None
    alpha: float | None
    policy: str
    bound: str | Bound
    direction: str
    exploration: float | str | None
    sigma_max: float | None
    resolution: float | None
    max_pulls: int
    initial_pulls: int
    returned: str


def make_spec(
    arms: Iterable[object],
    *,
    reward_range: tuple[float, float] | None = None,
    noise: str | None = None,
    epsilon: Tolerance | None = None,
    delta: float | None = None,
    budget: int | None = None,
    risk: Measure | str | None = None,
    rho: float | None = None,
    alpha: float | None = None,
    policy: str = "auto",
    bound: str | Bound = "auto",
    direction: str = "maximize",
    exploration: float | str | None = None,
    sigma_max: float | None = None,
    resolution: float | None = None,
    max_pulls: int = DEFAULT_MAX_PULLS,
    initial_pulls: int = 2,
    returned: str = "last",
) -> Spec:
    """Check a description of a search and resolve its defaults."""
    names = check_names(arms)
    noise, reward_range = check_noise(noise, reward_range)
    known_name(direction, ["maximize", "minimize"], "direction")
    known_name(returned, ["last", "smallest-doubt"], "returned")
    measure = check_risk(risk, rho)
    if reward_range is not None:
        measure.check_range(*reward_range, direction == "minimize")
    span = 1.0 if reward_range is None else reward_range[1] - reward_range[0]
    tolerance, risk_epsilon = check_tolerance(epsilon)
    alpha = check_alpha(alpha, span, measure, risk_epsilon)
    if sigma_max is not None:
        sigma_max = number(sigma_max, "sigma_max", "a finite number above 0", lambda value: value > 0.0)
    if resolution is not None:
        require(noise == "gaussian", "resolution", "absent without gaussian noise, whose bounds need it", resolution)
        resolution = number(resolution, "resolution", "a finite number above 0", lambda value: value > 0.0)
    initial_pulls = whole(initial_pulls, "initial_pulls", "a whole number of at least 2", 2)
    least = initial_pulls * len(names)
    reason = f"a whole number of at least {least} ({initial_pulls} pulls of each of {len(names)} arms)"
    max_pulls = whole(max_pulls, "max_pulls", reason, least)

    goal = "confidence" if budget is None else "budget"
    policy = resolve_policy(policy, goal)
    if budget is None:
        if tolerance is None:
            raise InvalidSpec(
                "epsilon must be given for a fixed confidence (0 asks for the exact Pareto set), or a budget instead"
            )
        delta = DEFAULT_DELTA if delta is None else delta
        delta = number(delta, "delta", "between 0 and 1, both excluded", lambda value: 0.0 < value < 1.0)
    else:
        if delta is not None:
            raise InvalidSpec(
                "delta must not be given together with budget: a budget spends exactly that many pulls; for a "
                f"confidence goal with a cap on pulls give max_pulls instead of budget, got delta {shorten(delta)}"
            )
        budget = whole(budget, "budget", reason, least)
    bound = check_bound(bound, noise, measure, goal, policy)
    if returned == "smallest-doubt" and POLICIES[policy].own_answer:
        require(False, "returned", f"'last' for policy {policy}, whose answer is the arms that it accepts", returned)
    if the_bound(bound).needs_sigma_max and sigma_max is None:
        raise InvalidSpec(f"sigma_max must be given with bound {bound}: the largest standard deviation an arm may have")
    chosen = tolerance is not None
    how = check_exploration(exploration, goal, bound, policy)
    if not chosen and isinstance(how, str):
        tolerance = DEFAULT_EPSILON * span
    constant = None
    if budget is not None and how is not None:
        constant = exploration_constant(how, bound, len(names), budget, tolerance, span)

    spec = Spec(
        names=names,
        noise=noise,  # type: ignore[arg-type]
        reward_range=reward_range,
        goal=goal,  # type: ignore[arg-type]
        epsilon=tolerance,
        risk_epsilon=risk_epsilon,
        delta=delta,
        budget=budget,
        risk=measure,
        alpha=alpha,
        direction=direction,  # type: ignore[arg-type]
        policy=policy,
        bound=bound,
        exploration=constant,
        sigma_max=sigma_max,
        max_pulls=max_pulls,
        initial_pulls=initial_pulls,
        returned=returned,  # type: ignore[arg-type]
        warnings=(),
        resolution=resolution,
    )
    check_sizes(spec)
    return _with_warnings(spec) if chosen else spec


def check_sizes(spec: Spec) -> None:
    """Complain of numbers that are possible each by itself, but too far apart for the engine's scale."""
    sizes = (spec.unit_scale, *spec.risk_range)
    together = all(map(math.isfinite, sizes)) and spec.unit_scale > 0.0
    require(together, "epsilon, alpha, the risk and the reward range", "of comparable size", f"factors {sizes}")


def _with_warnings(spec: Spec) -> Spec:
    """Say so where the answer is trivial, or perhaps out of reach."""
    if spec.resolution is not None and spec.delta is not None and 0.0 < (spec.epsilon or 0.0) < spec.resolution:
        message = (
            f"epsilon {spec.epsilon:g} is below the resolution {spec.resolution:g}: arms whose means differ by less "
            "than that may never be told apart, however many the pulls"
        )
        return replace(spec, warnings=(message,))
    if spec.noise == "gaussian" or spec.epsilon is None:
        return spec
    low, high = spec.risk_range
    widest = (high - low) * spec.span / spec.risk_weight
    risk = "scaled risk" if spec.risk_epsilon is None else "risk"
    for epsilon, what, extent in (
        (spec.epsilon if spec.risk_epsilon is None else spec.risk_epsilon, risk, widest),
        (spec.epsilon, "mean", spec.span),
    ):
        if epsilon > extent:
            message = (
                f"epsilon {epsilon:g} exceeds the whole possible range of the {what} ({extent:.4g}): no arm can be "
                "beaten by that much in both objectives, so the set of all arms is an answer before the first pull"
            )
            return replace(spec, warnings=(message,))
    return spec


def check_names(arms: Iterable[object]) -> tuple[str, ...]:
    """The arms' names, as text: at least two, all different."""
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise InvalidSpec(f"arms must be a sequence of at least two names, got {shorten(arms)}")
    names = tuple(str(arm) for arm in arms)
    require(len(names) >= 2, "arms", "at least two", list(names))
    require(all(names), "arms", "non-empty names", list(names))
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    require(not twice, "arms", "names that are all different", twice)
    return names


def check_noise(noise: object, reward_range: Any) -> tuple[str, tuple[float, float] | None]:
    """Rewards are bounded, with a range, or Gaussian, without one."""
    if noise is None:
        noise = "bounded"
    noise = known_name(noise, ["bounded", "gaussian"], "noise")
    if noise == "gaussian":
        require(reward_range is None, "reward_range", "absent with gaussian noise", reward_range)
        return noise, None
    allowed = "two finite numbers (low, high) with low < high, or noise='gaussian' in its place"
    try:
        low, high = (as_float(end) for end in reward_range)
    except (TypeError, ValueError):
        low = high = math.nan
    require(math.isfinite(high - low) and low < high, "reward_range", allowed, reward_range)
    inside = low >= -LARGEST and high <= LARGEST  # the squares of rewards must be numbers, too
    require(inside, "reward_range", f"between {-LARGEST:g} and {LARGEST:g}", reward_range)
    require(high - low >= SMALLEST, "reward_range", f"at least {SMALLEST:g} wide", reward_range)
    return noise, (low, high)


def check_tolerance(epsilon: Any) -> tuple[float | None, float | None]:
    """The tolerance, and that for the risk where it was given apart."""
    if epsilon is None:
        return None, None
    if not isinstance(epsilon, tuple | list):
        allowed = "a finite number of at least 0, or a pair (mean, risk)"
        return number(epsilon, "epsilon", allowed, lambda value: value >= 0.0), None
    allowed = "a pair (mean, risk) of finite numbers, both above 0 or both 0"
    values = [as_float(value) for value in epsilon]
    usable = len(values) == 2 and (all(0.0 < value < math.inf for value in values) or values == [0.0, 0.0])
    require(usable, "epsilon", allowed, epsilon)
    ratio = values[0] / values[1] if values[1] else 1.0
    require(0.0 < ratio < math.inf, "epsilon", "a pair (mean, risk) of comparable size", epsilon)
    return values[0], values[1]


def check_risk(risk: Any, rho: Any) -> Measure:
    """The risk measure: the mean-variance unless another is given."""
    if risk is not None:
        require(rho is None, "rho", "absent together with risk, which has its own parameter", rho)
        return make_risk(risk)
    from ramgape.risks.mean_variance import MeanVariance

    rho = DEFAULT_RHO if rho is None else rho
    return MeanVariance(number(rho, "rho", "a finite number of at least 0", lambda value: value >= 0.0))


def check_alpha(alpha: Any, span: float, risk: Measure, risk_epsilon: float | None) -> float:
    """The factor in the risk: unless given, the usual one, by which one tolerance serves mean and risk alike, or 1."""
    if alpha is None:
        return risk.usual_scale(span) if risk_epsilon is None else 1.0
    scale = number(alpha, "alpha", "a finite number above 0", lambda value: value > 0.0)
    require(scale >= SMALLEST, "alpha", f"at least {SMALLEST:g}", alpha)
    return scale


def check_bound(bound: str | Bound, noise: str, risk: Measure, goal: str, policy: str) -> str | Bound:
    """The bound that is meant; a policy that looks at no box needs none, and one that stops by boxes needs boxes."""
    boxless = goal == "budget" and POLICIES[policy].boxless
    if bound == "auto" and boxless:
        bound = BOXLESS
    bound = resolve_bound(bound, noise, risk, goal)
    require(boxless or not the_bound(bound).boxless, "bound", f"one with intervals for policy {policy}", bound)
    by_boxes = goal == "confidence" and POLICIES[policy].own_answer
    allowed = f"another one for policy {policy}, which stops by intervals alone: comparisons of pairs are lost on it"
    require(not by_boxes or not the_bound(bound).compares_pairs, "bound", allowed, bound)
    return bound


def check_exploration(
    exploration: float | str | None, goal: str, bound: str | Bound, policy: str
) -> float | str | None:
    """How much a budget explores, by name or by value; None where nothing depends on it."""
    if not the_bound(bound).explores:
        reason = "without a budget" if goal == "confidence" else f"for policy {policy}, which needs no such constant"
        require(exploration is None, "exploration", f"absent {reason}", exploration)
        return None
    names = the_bound(bound).kernels.DENOMINATORS
    if exploration is None:
        return str(next(iter(names)))
    if isinstance(exploration, str):
        return known_name(exploration, names, "exploration, unless it is a number,")
    allowed = f"a finite number of at least 0, or one of {', '.join(names)}"
    return number(exploration, "exploration", allowed, lambda value: value >= 0.0)


def exploration_constant(
    exploration: float | str, bound: str | Bound, arm_count: int, budget: int, epsilon: float | None, span: float
) -> float:
    """The constant a of the fixed-budget width."""
    if isinstance(exploration, str):
        assert epsilon is not None
        exploration = float(the_bound(bound).kernels.exploration(exploration, arm_count, budget, epsilon / span))
        require(math.isfinite(exploration), "epsilon", "small enough for a finite exploration constant", epsilon)
    return exploration
