"""The paper's algorithms as a plain NumPy loop: the reference implementation of the compiled engine.

Written straight from the paper (Sections 2 and 3, its appendices), one array operation at a time and without
any of the engine's shortcuts: every round recomputes every estimate, every interval and the whole K x K table
of comparisons. It shares no code with the engine. The tests compare the two; the benchmark takes this loop's
speed as the baseline.

Rewards lie in [0, 1], or are Gaussian (then `sigma_max` is given); larger means and smaller risks are better.
Arms are numbered from 0, and every tie goes to the lowest number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


# --- Section 2: dominance, gaps, regret, what a returned set must satisfy -------------------------


def dominates(means: Floats, risks: Floats) -> Bools:
    """Table whose entry [j, i] says that arm j is strictly better than arm i in mean and in risk."""
    return (means[:, None] > means[None, :]) & (risks[:, None] < risks[None, :])


def pareto_front(means: Floats, risks: Floats) -> Bools:
    """The arms that no arm strictly dominates; duplicates and weakly dominated arms belong to it."""
    return unbeaten(dominates(means, risks))


def unbeaten(beats: Bools) -> Bools:
    """The arms i with no j such that beats[j, i]."""
    nobody: Bools = ~np.any(beats, axis=0)
    return nobody


def gaps(means: Floats, risks: Floats) -> Floats:
    """Delta_i of Eq. (1): how hard it is to classify each arm; infinite for an only arm."""
    beats = dominates(means, risks)
    front = unbeaten(beats)
    # m(i, j) = min(mu_j - mu_i, xi_i - xi_j); the paper's M(i, j) is -m(i, j)
    lead = np.minimum(means[None, :] - means[:, None], risks[:, None] - risks[None, :])
    shortfall = -lead

    dominators = beats.T & front[None, :]
    outside = np.where(dominators, lead, -np.inf).max(axis=1)

    others_inside = front[None, :] & ~np.eye(len(means), dtype=bool)
    from_front = np.where(others_inside, np.minimum(shortfall, shortfall.T), np.inf).min(axis=1)
    from_rest = np.where(~front[None, :], np.maximum(shortfall.T, 0.0) + outside[None, :], np.inf).min(axis=1)
    delta: Floats = np.where(front, np.minimum(from_front, from_rest), outside)
    return delta


def arm_regrets(set_mask: Bools, means: Floats, risks: Floats) -> Floats:
    """r_i(S): the gap of every arm that is wrongly inside or wrongly outside the set, 0 for the others."""
    return np.where(set_mask != pareto_front(means, risks), gaps(means, risks), 0.0)


def simple_regret(set_mask: Bools, means: Floats, risks: Floats) -> float:
    """r_S: the largest of the arms' regrets."""
    return float(arm_regrets(set_mask, means, risks).max())


def is_epsilon_pareto(set_mask: Bools, means: Floats, risks: Floats, epsilon: float) -> bool:
    """Section 2's definition: no returned arm is dominated by epsilon or more, every other arm is.

    At epsilon = 0 that is read as strict dominance: the set must be the Pareto front itself.
    """
    return bool((epsilon_front(means, risks, epsilon) == set_mask).all())


def is_epsilon_cover(set_mask: Bools, means: Floats, risks: Floats, epsilon: float) -> bool:
    """What the stopping rule really proves, weaker than Section 2's definition for the excluded arms.

    No returned arm is dominated by epsilon or more, and every excluded arm has a returned one that is less
    than epsilon behind it in both objectives.
    """
    covers = (means[:, None] > means[None, :] - epsilon) & (risks[:, None] < risks[None, :] + epsilon)
    uncovered = unbeaten(covers & set_mask[:, None])
    wrong = np.where(set_mask, ~epsilon_front(means, risks, epsilon), uncovered)
    return not wrong.any()


def epsilon_front(means: Floats, risks: Floats, epsilon: float) -> Bools:
    """The arms that no arm beats by epsilon or more in both objectives (strictly, at epsilon = 0)."""
    if epsilon == 0.0:
        return pareto_front(means, risks)
    better_mean = means[:, None] - means[None, :] >= epsilon
    lower_risk = risks[None, :] - risks[:, None] >= epsilon
    return unbeaten(better_mean & lower_risk)


# --- estimates ------------------------------------------------------------------------------------


def default_alpha(rho: float) -> float:
    """The scale at which the paper's intervals for mean and risk have equal widths."""
    return 1.0 / (3.0 + rho)


def mean_variance(means: Floats, variances: Floats, rho: float, alpha: float) -> Floats:
    """The risk xi = alpha (variance - rho mean)."""
    return alpha * (variances - rho * means)


class Estimates:
    """Pulls, sample mean and plug-in variance (divided by T) of each arm.

    Sums of X - centre and (X - centre)^2, with compensation, so that millions of rewards of one arm lose no
    digits. The centre is 1/2 for rewards in [0, 1], the arm's first reward otherwise.
    """

    def __init__(self, arm_count: int, centre: float | None = 0.5) -> None:
        self.pulls: Ints = np.zeros(arm_count, dtype=np.int64)
        self.means: Floats = np.zeros(arm_count)
        self.variances: Floats = np.zeros(arm_count)
        self._centres: list[float | None] = [centre] * arm_count
        self._first = [(0.0, 0.0)] * arm_count
        self._second = [(0.0, 0.0)] * arm_count

    def observe(self, arm: int, reward: float) -> None:
        centre = self._centres[arm]
        if centre is None:
            centre = self._centres[arm] = reward
        offset = reward - centre
        self._first[arm] = _add(self._first[arm], offset)
        self._second[arm] = _add(self._second[arm], offset * offset)
        self.pulls[arm] += 1

        pulls = int(self.pulls[arm])
        average = sum(self._first[arm]) / pulls
        self.means[arm] = centre + average
        self.variances[arm] = max(sum(self._second[arm]) / pulls - average * average, 0.0)


def _add(running: tuple[float, float], term: float) -> tuple[float, float]:
    """Neumaier's summation: the running sum and what rounding has lost so far."""
    total, lost = running
    new = total + term
    lost += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
    return new, lost


# --- confidence bounds ----------------------------------------------------------------------------


class Box(NamedTuple):
    """An interval for the mean and one for the risk of every arm."""

    mean_low: Floats
    mean_high: Floats
    risk_low: Floats
    risk_high: Floats


@dataclass(frozen=True)
class Setting:
    """The constants of a search. `exploration` is the paper's a; what a bound does not use stays None."""

    arm_count: int
    epsilon: float
    rho: float
    alpha: float
    delta: float | None = None
    exploration: float | None = None
    sigma_max: float | None = None


def paper_radius(pulls: Ints, arm_count: int, delta: float) -> Floats:
    """beta of RAMGapEc: sqrt(4/T ln(8K (log2 T)^2 / delta)), from T = 2 on."""
    return np.sqrt(4.0 / pulls * np.log(8.0 * arm_count * np.log2(pulls) ** 2 / delta))


def hoeffding_radius(pulls: Ints, arm_count: int, delta: float) -> Floats:
    """The same with Hoeffding's constant for [0, 1]: 1/T in place of 4/T."""
    return np.sqrt(1.0 / pulls * np.log(8.0 * arm_count * np.log2(pulls) ** 2 / delta))


def possible_range(rho: float, alpha: float) -> tuple[float, float]:
    """The smallest and largest risk that a distribution on [0, 1] can have."""
    # at mean m the variance is at most m (1 - m); m (1 - m) - rho m is largest at m = (1 - rho)/2, or at 0
    largest = (1.0 - rho) ** 2 / 4.0 if rho < 1.0 else 0.0
    return -rho * alpha, alpha * largest


def exploration_constant(rule: str, budget: int, arm_count: int, epsilon: float) -> float:
    """The paper's a: Theorem 1's value, or the larger one that its proof allows."""
    divisor = {"theorem": 16, "sharp": 4}[rule]
    return (budget - 2 * arm_count) * epsilon**2 / (divisor * arm_count)


def paper_box(pulls: Ints, means: Floats, variances: Floats, setting: Setting) -> Box:
    """RAMGapEc's intervals: neither clipped to the possible range nor intersected over time."""
    radius = paper_radius(pulls, setting.arm_count, _given(setting.delta, "delta"))
    return _around(means, variances, radius, setting.alpha * (3.0 + setting.rho) * radius, setting)


def hoeffding_box(pulls: Ints, means: Floats, variances: Floats, setting: Setting) -> Box:
    """Hoeffding's radius; rewards centred at 1/2 for the risk; clipped to what is possible on [0, 1]."""
    radius = hoeffding_radius(pulls, setting.arm_count, _given(setting.delta, "delta"))
    box = _around(means, variances, radius, setting.alpha * (1.25 + setting.rho) * radius, setting)
    smallest, largest = possible_range(setting.rho, setting.alpha)
    return Box(
        np.clip(box.mean_low, 0.0, 1.0),
        np.clip(box.mean_high, 0.0, 1.0),
        np.clip(box.risk_low, smallest, largest),
        np.clip(box.risk_high, smallest, largest),
    )


def gaussian_paper_box(pulls: Ints, means: Floats, variances: Floats, setting: Setting) -> Box:
    """The Gaussian appendix: a radius for the mean, one for the variance, and the MV interval from both."""
    delta = _given(setting.delta, "delta")
    sigma_max = _given(setting.sigma_max, "sigma_max")
    rate = np.log(4.0 * setting.arm_count * pulls.astype(np.float64) ** 2 / delta) / pulls
    mean_radius = sigma_max * np.sqrt(2.0 * rate)
    variance_radius = 8.0 * sigma_max**2 * np.maximum(np.sqrt(rate), rate) + 2.0 * sigma_max**2 * rate
    risk_radius = setting.alpha * (variance_radius + setting.rho * mean_radius)
    return _around(means, variances, mean_radius, risk_radius, setting)


def budget_box(pulls: Ints, means: Floats, variances: Floats, setting: Setting) -> Box:
    """RAMGapEb's intervals: beta = sqrt(a/T)."""
    radius = np.sqrt(_given(setting.exploration, "exploration") / pulls)
    return _around(means, variances, radius, setting.alpha * (3.0 + setting.rho) * radius, setting)


def _around(means: Floats, variances: Floats, mean_radius: Floats, risk_radius: Floats, setting: Setting) -> Box:
    risks = mean_variance(means, variances, setting.rho, setting.alpha)
    return Box(means - mean_radius, means + mean_radius, risks - risk_radius, risks + risk_radius)


def _given(value: float | None, name: str) -> float:
    if value is None:
        raise ValueError(f"this bound needs {name}")
    return value


def intersect(old: Box, new: Box) -> tuple[Box, Bools]:
    """The part of the new box inside the old one, and the arms for which there is none.

    An empty intersection means that a bound has failed; such an arm keeps its old box.
    """
    inner = Box(
        np.maximum(old.mean_low, new.mean_low),
        np.minimum(old.mean_high, new.mean_high),
        np.maximum(old.risk_low, new.risk_low),
        np.minimum(old.risk_high, new.risk_high),
    )
    missed = (inner.mean_low > inner.mean_high) | (inner.risk_low > inner.risk_high)
    return Box(*(np.where(missed, before, after) for before, after in zip(old, inner, strict=True))), missed


BOUNDS: dict[str, Callable[[Ints, Floats, Floats, Setting], Box]] = {
    "paper": paper_box,
    "hoeffding": hoeffding_box,
    "gaussian_paper": gaussian_paper_box,
    "budget": budget_box,
}
INTERSECTED = frozenset({"hoeffding"})


# --- Section 3: V_i(t) and the arm behind it ------------------------------------------------------


def doubts(beats: Bools, box: Box) -> tuple[Floats, Ints]:
    """V_i and, for each arm i, the arm p that attains it. `beats` is the empirical dominance table.

    Without another arm there is nothing to doubt: V is minus infinity for an only arm.
    """
    front = unbeaten(beats)
    # how far j may still beat i in both objectives, for i in the front
    threat = np.minimum(box.mean_high[None, :] - box.mean_low[:, None], box.risk_high[:, None] - box.risk_low[None, :])
    np.fill_diagonal(threat, -np.inf)
    # how far i may still escape its dominator j, for i outside the front; j ranges over the front
    escape = np.maximum(box.mean_high[:, None] - box.mean_low[None, :], box.risk_high[None, :] - box.risk_low[:, None])
    escape = np.where(beats.T & front[None, :], escape, np.inf)

    doubt = np.where(front, threat.max(axis=1), escape.min(axis=1))
    rival = np.where(front, threat.argmax(axis=1), escape.argmin(axis=1))
    return doubt, rival.astype(np.int64)


@dataclass(frozen=True)
class State:
    """All that a policy may look at when a round begins; tables are computed when first asked for."""

    pulls: Ints
    means: Floats
    risks: Floats
    box: Box
    epsilon: float
    alpha: float

    @cached_property
    def beats(self) -> Bools:
        return dominates(self.means, self.risks)

    @cached_property
    def front(self) -> Bools:
        return unbeaten(self.beats)

    @cached_property
    def _doubts(self) -> tuple[Floats, Ints]:
        return doubts(self.beats, self.box)

    @property
    def doubt(self) -> Floats:
        """V_i(t)."""
        return self._doubts[0]

    @property
    def rival(self) -> Ints:
        """For each arm, the arm that p_t would be if it were m_t."""
        return self._doubts[1]

    @property
    def leader_and_rival(self) -> tuple[int, int]:
        """m_t and p_t; the same arm twice if there is only one."""
        leader = int(self.doubt.argmax())
        return leader, int(self.rival[leader])


# --- the policies: which arms the next round pulls, once every arm has been pulled twice ----------


class Policy(Protocol):
    def decide(self, state: State) -> tuple[int, ...]:
        """The arms to pull in this round, in order."""
        ...


class RAMGapE:
    """Of m_t and p_t, the arm pulled less often."""

    def decide(self, state: State) -> tuple[int, ...]:
        leader, rival = state.leader_and_rival
        return (rival,) if state.pulls[rival] < state.pulls[leader] else (leader,)


class RALUCB:
    """m_t, then p_t."""

    def decide(self, state: State) -> tuple[int, ...]:
        leader, rival = state.leader_and_rival
        return (leader, rival) if rival != leader else (leader,)


class RoundRobin:
    """Every arm in turn; the two variants below skip some."""

    def __init__(self) -> None:
        self.position = 0

    def decide(self, state: State) -> tuple[int, ...]:
        arm = self._next(state)
        while self.skips(state, arm):
            arm = self._next(state)
        return (arm,)

    def _next(self, state: State) -> int:
        arm = self.position
        self.position = (arm + 1) % len(state.pulls)
        return arm

    def skips(self, state: State, arm: int) -> bool:
        return False


class DERoundRobin(RoundRobin):
    """Skips the arms that are outside the empirical front without much doubt."""

    def skips(self, state: State, arm: int) -> bool:
        return not (bool(state.front[arm]) or bool(state.doubt[arm] > state.epsilon))


class LIERoundRobin(RoundRobin):
    """Skips the arm of least doubt."""

    def skips(self, state: State, arm: int) -> bool:
        return len(state.pulls) > 1 and arm == int(state.doubt.argmin())


class XiLCB:
    """The arm whose risk may be the lowest."""

    def decide(self, state: State) -> tuple[int, ...]:
        return (int(state.box.risk_low.argmin()),)


class HVIPareto:
    """The smallest hypervolume inside the empirical front, then the largest outside it, if any is outside."""

    def decide(self, state: State) -> tuple[int, ...]:
        worst_mean, worst_risk = 0.0, 0.25 * state.alpha
        volume = (state.means - worst_mean) * (worst_risk - state.risks)
        inside = int(np.where(state.front, volume, np.inf).argmin())
        if state.front.all():
            return (inside,)
        return inside, int(np.where(state.front, -np.inf, volume).argmax())


class EGP:
    """The arm nearest to the empirical boundary, with a bonus for uncertainty."""

    def decide(self, state: State) -> tuple[int, ...]:
        ahead = state.means[:, None] - state.means[None, :]  # of i before j, in the mean
        safer = state.risks[None, :] - state.risks[:, None]  # of i before j, in the risk
        itself = np.eye(len(state.means), dtype=bool)
        inside = np.where(itself, -np.inf, np.minimum(ahead, safer)).max(axis=1)
        outside = np.where(itself, np.inf, np.maximum(-ahead, -safer)).min(axis=1)
        gap = np.where(state.front, inside, outside)
        box = state.box
        width = np.maximum(box.mean_high - box.mean_low, box.risk_high - box.risk_low) / 2.0
        return (int((-gap + width).argmax()),)


POLICIES: dict[str, type[Policy]] = {
    "ramgape": RAMGapE,
    "ra-lucb": RALUCB,
    "round-robin": RoundRobin,
    "de-round-robin": DERoundRobin,
    "lie-round-robin": LIERoundRobin,
    "xi-lcb": XiLCB,
    "hvi-pareto": HVIPareto,
    "egp": EGP,
}


# --- the loop -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What a search found. `missed` marks the arms whose intervals ever contradicted each other or the average."""

    front: Bools
    pulls: Ints
    samples: int
    stopped: Literal["confidence", "budget", "cap"]
    means: Floats
    risks: Floats
    boxes: Box
    V: Floats
    missed: Bools


def run(
    policy: str,
    bound: str,
    draw: Callable[[int], float],
    arm_count: int,
    *,
    epsilon: float,
    rho: float,
    delta: float | None = None,
    budget: int | None = None,
    exploration: str | float = "theorem",
    alpha: float | None = None,
    max_trials: int = 10**9,
    sigma_max: float | None = None,
) -> Result:
    """Search until max V_i < epsilon, or, given a budget, for exactly that many pulls.

    `draw(arm)` returns a reward. `exploration` ('theorem', 'sharp' or a number) is the constant a of the
    bound 'budget'. Giving `sigma_max` says that rewards are Gaussian.
    A round of a policy that pulls two arms ends after both: only then is the stopping rule tested. The budget
    or `max_trials` may cut such a round short, and a search cut short has not stopped by confidence.
    """
    if max_trials < 2 * arm_count or (budget is not None and budget < 2 * arm_count):
        raise ValueError(f"every arm is pulled twice first: at least {2 * arm_count} pulls are needed")
    a: float | None = None
    if not isinstance(exploration, str):
        a = exploration
    elif budget is not None:
        a = exploration_constant(exploration, budget, arm_count, epsilon)
    alpha = default_alpha(rho) if alpha is None else alpha
    setting = Setting(arm_count, epsilon, rho, alpha, delta, a, sigma_max)
    limit = max_trials if budget is None else budget
    chooser = POLICIES[policy]()
    estimates = Estimates(arm_count, centre=0.5 if sigma_max is None else None)

    arms = (*range(arm_count), *range(arm_count))
    box: Box | None = None
    missed: Bools = np.zeros(arm_count, dtype=bool)
    samples = 0
    while True:
        whole_round = samples + len(arms) <= limit
        for arm in arms[: limit - samples]:
            estimates.observe(arm, draw(arm))
            samples += 1

        new_box = BOUNDS[bound](estimates.pulls, estimates.means, estimates.variances, setting)
        if box is None or bound not in INTERSECTED:
            box = new_box
        else:
            box, missed_now = intersect(box, new_box)
            beside = (estimates.means < box.mean_low) | (estimates.means > box.mean_high)
            missed = missed | missed_now | beside
        risks = mean_variance(estimates.means, estimates.variances, rho, alpha)
        state = State(estimates.pulls, estimates.means, risks, box, epsilon, alpha)

        stopped: Literal["confidence", "budget", "cap"]
        if budget is None and whole_round and state.doubt.max() < epsilon:
            stopped = "confidence"
            break
        if samples == limit:
            stopped = "cap" if budget is None else "budget"
            break
        arms = chooser.decide(state)

    return Result(
        front=state.front,
        pulls=estimates.pulls,
        samples=samples,
        stopped=stopped,
        means=estimates.means,
        risks=risks,
        boxes=box,
        V=state.doubt,
        missed=missed,
    )
