"""How few samples could suffice: the information-theoretic lower bound of Garivier and Kaufmann (2016).

Take an algorithm that is wrong with probability at most delta on every instance of a family, and one instance on which
its answer is S. On every *alternative*, an instance of the family for which S is wrong, the algorithm must behave
differently, and nothing but its samples can tell it to. Hence

    E[samples] >= T* kl(delta, 1 - delta),    1/T* = max over w of min over alternatives of sum_i w_i KL_i

where w_i is arm i's share of the samples and KL_i the divergence of its rewards from those of the alternative. The
family is what is declared of the rewards: all laws in the range (laws.py), or Gaussian arms of any mean and variance.
Arms that are declared Gaussian and are not are replaced by Gaussian ones of the same mean and variance, and then the
number is a *reference* and no bound.

Which alternatives make an answer wrong depends on the task: simulation/alternatives.py has those that are known, and
finds the nearest. The best shares solve a linear programme with a row for each alternative found so far: its solution
is answered by further alternatives, those nearest to it, until it can hardly be improved (`balance`). The programme
proves that T* is no smaller, whatever the search for alternatives may have missed, and it is this side that is
reported. For laws in a range prices are interpolated, so that it holds up to about 1%.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from ramgape.common.checks import check_number
from ramgape.errors import InvalidInstance, MissingExtra, known_name, require
from ramgape.options import DEFAULT_DELTA, LOWER_BOUND, Options, complete, shows_options
from ramgape.problems.environments import Gaussian, Instance
from ramgape.problems.instances import load_instance
from ramgape.questions import PARETO, Question, make_question
from ramgape.questions.question import Rescaling
from ramgape.risks.mean_variance import Moments
from ramgape.risks.measure import Measure
from ramgape.risks.standard_deviation import StandardDeviation
from ramgape.search.explained import Explained
from ramgape.search.spec import check_alpha, check_tolerance, choose_risk, parse_share
from ramgape.simulation.alternatives import (
    Arms,
    Family,
    Floats,
    Gaussians,
    Mask,
    families_of,
    is_known,
    nearest,
)
from ramgape.simulation.laws import Laws

GAP = 0.002  # T* is known when what an allocation reaches and what no allocation exceeds differ by this part
ROUNDS = 200  # about ten are needed
ENDLESS = 1e-20  # 1/T* below which an alternative and the truth differ by no more than rounding
DIGITS = 1e12  # times its variance that an arm's risk may be
SLIGHTEST = 1e-12  # a share of 0 would make an arm's infinite divergence count for nothing


@dataclass(frozen=True, slots=True, repr=False)
class LowerBound(Explained):
    """The fewest samples, on average, that an algorithm can do with if it is right whatever rewards are declared to be.

    Declared are a range, or Gaussian rewards.

    Where the answer hangs on a tie, no number of samples suffices: `samples`, `characteristic_time` and `reached` are
    then None, and the allocation is empty. That is exact for rewards of every kind: any law that is not a constant has
    others, as near as you like, with a larger mean, or with the same mean and a smaller variance.

    Attributes:
        samples: The number itself.
        characteristic_time: T*, up to 0.2 % below the truth and, for Gaussian rewards, never above it; for laws in a
            range it is computed up to about 1 %.
        allocation: The shares of the samples that an ideal algorithm would give the arms; for these shares the time is
            `reached`, so that the truth lies in between.
        exact: Whether this is a lower bound as it stands, for every delta and every algorithm that is right with
            probability 1 - delta whatever laws in the range, or whatever Gaussian arms, it is given. Otherwise it is a
            reference: a number to compare with, which a method may well be below.
        note: Why it is the one or the other.
        instance: What was asked about, as `task`, `delta`, `epsilon`, `risk`, `rho`, `alpha` and `direction` are
            what was asked for.
    """

    samples: float | None
    characteristic_time: float | None
    reached: float | None
    allocation: dict[str, float]
    exact: bool
    note: str
    instance: str
    delta: float
    epsilon: float | tuple[float, float]
    risk: str
    rho: float | None
    alpha: float | None
    direction: Literal["maximize", "minimize"]
    task: str = "pareto"

    def _rows(self) -> list[dict[str, Any]]:
        """One for each arm."""
        samples = self.samples or 0.0
        return [{"name": name, "share": part, "samples": part * samples} for name, part in self.allocation.items()]


def has_lower_bound(measure: Measure, task: Question = PARETO) -> bool:
    """Whether it is known for a risk, if a task asks for risks."""
    return not task.about_risk or isinstance(measure, Moments | StandardDeviation)


@shows_options(LOWER_BOUND)
def lower_bound(
    instance: Instance | Mapping[str, Any] | str | os.PathLike[str], **options: Unpack[Options]
) -> LowerBound:
    """The samples that an algorithm needs on average, if it is to be right with probability 1 - delta.

    It is about algorithms that are right for all laws in the declared range, or for all Gaussian arms where rewards
    are declared Gaussian. Of rewards that are declared otherwise nothing is known here.

    With epsilon 0 there is one right answer, the Pareto set or the best arm, and the bound holds for every delta. With
    epsilon above 0 (see `is_epsilon_cover` for what is then right) there may be several right answers:

    - if there is only one, nothing changes;
    - if there are a few, an algorithm may aim at the one that is easiest to prove, and T* is the least of theirs. The
      bound is then asymptotic: it is about the limit of samples / ln(1/delta) as delta goes to 0 (Degenne and Koolen
      2019), and at a given delta a reference rather than a proof;
    - if there are too many to look at, T* is that of the Pareto set alone. This is the bound, asymptotic as
      well, for algorithms whose answer is the exact Pareto set. It is no bound where another answer is easier.

    Args:
        instance: A name such as "paper:46", an instance file, its contents, or an `Instance`.
        {options}

    Raises:
        InvalidSpec: What is asked for cannot be meant.
        MissingExtra: SciPy is not installed.

    Examples:
        >>> bound = lower_bound("paper:46")
        >>> round(bound.samples, -2), bound.exact
        (4300.0, True)
        >>> max(bound.allocation, key=bound.allocation.get)
        '1'
        >>> round(lower_bound("paper:46", question="best").samples, -2)
        3700.0
    """
    instance = load_instance(instance)
    allowed = "one of draws from distributions: of a test set, which has an end, no lower bound is known here"
    require(instance.items is None, "instance", allowed, instance.name, InvalidInstance)
    given = complete(options, LOWER_BOUND)
    delta = DEFAULT_DELTA if given["delta"] is None else given["delta"]
    delta = check_number(delta, "delta", "between 0 and 1, both excluded", lambda value: 0.0 < value < 1.0)
    tolerance, risk_epsilon = check_tolerance(in_numbers(instance, given["epsilon"]))
    require(tolerance is not None, "epsilon", "a finite number of at least 0, or a pair (mean, risk)", given["epsilon"])
    assert tolerance is not None
    task = make_question(given.pop("question"))
    allowed = "pareto, best or least-risk, since of others no lower bound is known here"
    require(is_known(task), "question", allowed, str(task))
    risk, rho, alpha, direction = (given[name] for name in ("risk", "rho", "alpha", "direction"))
    measure = choose_risk(instance.risk if risk is None and rho is None else risk, rho)
    require(has_lower_bound(measure, task), "risk", "std, variance or mean-variance, for a lower bound", str(measure))
    factor, scale = risk_scales(instance, measure, alpha, tolerance, risk_epsilon)
    asked: dict[str, Any] = {
        **given,
        "instance": instance.name,
        "delta": delta,
        "epsilon": tolerance if risk_epsilon is None else (tolerance, risk_epsilon),
        "task": str(task),
        "risk": str(measure),
        "rho": getattr(measure, "rho", None),
        "alpha": None if alpha is None else float(alpha),
    }
    known_name(direction, ("maximize", "minimize"), "direction")
    means, risks = oriented_truth(instance, measure, direction, task)
    arms, in_mean, in_risk = make_arms(instance, measure, direction, task)
    # Limits are about means as they are, and about risks as they are shown.
    sign = 1.0 if direction == "maximize" else -1.0
    shown = task.scaled(Rescaling(sign, 0.0, 1.0), Rescaling(scale / factor, 0.0, 1.0))
    on_arms = task.scaled(
        Rescaling(sign, in_mean.origin, in_mean.unit), Rescaling(1.0 / factor, in_risk.origin, in_risk.unit)
    )
    solve = load_solver()
    answers = shown.right_answers(means, scale * risks, tolerance)
    balances: list[tuple[Balance, Mask]] = []
    for answer in answers:
        margins = in_mean.difference(tolerance), in_risk.difference(tolerance / scale)
        families = families_of(on_arms, arms, answer, *margins)
        farthest = max((found.low for found, _ in balances), default=ENDLESS)
        balanced = balance(families, len(means), solve, farthest)
        if balanced is not None:
            balances.append((balanced, answer))

    declared = instance.reward_range is not None or all(isinstance(arm.distribution, Gaussian) for arm in instance.arms)
    if not balances:
        tie = f"the {task.called} hangs on a tie, which no data can tell from a near tie"
        return LowerBound(None, None, None, {}, True, f"no number of trials suffices: {tie}", **asked)
    best, easiest = max(balances, key=lambda pair: pair[0].low)
    highest = max(found.high for found, _ in balances)
    several = not shown.is_only_answer(means, scale * risks, tolerance)
    chosen = [name for name, returned in zip(instance.names, easiest, strict=True) if returned]
    return LowerBound(
        samples=relative_entropy(delta) / highest,
        characteristic_time=1.0 / highest,
        reached=1.0 / min(best.low, highest),
        allocation=dict(zip(instance.names, best.shares.tolist(), strict=True)),
        exact=declared and not several,
        note=f"{family_of(instance, declared, task)} it is {scope_of(several, len(answers), chosen, task)}",
        **asked,
    )


def oriented_truth(
    instance: Instance, measure: Measure, direction: Literal["maximize", "minimize"], task: Question
) -> tuple[Floats, Floats]:
    """The means of an instance, more being better, and its risks; no risks unless asked."""
    oriented = measure if direction == "maximize" else measure.mirrored()
    means = instance.means if direction == "maximize" else -instance.means
    risks = instance.risks_by(oriented, direction) if task.about_risk else np.zeros(len(means))
    return means, risks


def make_arms(
    instance: Instance, measure: Measure, direction: Literal["maximize", "minimize"], task: Question
) -> tuple[Arms, Rescaling, Rescaling]:
    """The arms of an instance among what is declared of them; and how oriented means, and risks, become theirs."""
    rho = getattr(measure, "rho", 0.0) if task.about_risk else 0.0
    root = isinstance(measure, StandardDeviation)
    if instance.reward_range is None:
        allowed = "bounded or gaussian for a lower bound: of other rewards none is known here"
        require(instance.noise == "gaussian", "noise", allowed, instance.noise, InvalidInstance)
        check_moments(instance, rho)
        means = instance.means if direction == "maximize" else -instance.means
        as_it_is = Rescaling(1.0, 0.0, 1.0)
        return Gaussians(means, instance.variances, rho, root), as_it_is, as_it_is
    low, high = instance.reward_range
    distributions = [arm.distribution for arm in instance.arms]
    if direction == "minimize":
        low, high = -high, -low
        distributions = [each.mirrored() for each in distributions]
    length = high - low
    check_digits(instance, rho)
    laws = Laws(distributions, low, high, rho / length, root)
    # variance - rho mean = length^2 (variance' - rho' mean') - rho low, where ' marks rewards on [0, 1].
    in_risk = Rescaling(1.0, 0.0, length) if root else Rescaling(1.0, -rho * low, length**2)
    return laws, Rescaling(1.0, low, length), in_risk


def in_numbers(instance: Instance, epsilon: Any) -> Any:
    """A tolerance, where it is a share as a number: of what a search would have to see first, an instance knows it."""
    share = parse_share(epsilon)
    if share is None:
        return epsilon
    if instance.reward_range is None:
        return share * float(abs(instance.means).min())
    return share * (instance.reward_range[1] - instance.reward_range[0])


def risk_scales(
    instance: Instance, measure: Measure, alpha: float | None, tolerance: float, risk_epsilon: float | None
) -> tuple[float, float]:
    """The factors with which risks are shown, and compared with means: `Spec.risk_factor` and `Spec.risk_scale`."""
    low, high = instance.reward_range or (0.0, 1.0)
    factor = check_alpha(alpha, high - low, measure, risk_epsilon)
    shown = 1.0 if factor is None else factor
    if tolerance and risk_epsilon:
        return shown, tolerance / risk_epsilon * shown
    return shown, measure.usual_scale(high - low) if factor is None else factor


def check_moments(instance: Instance, rho: float) -> None:
    """Complain of arms that are no Gaussian ones, or whose risks have none of the digits of their variances."""
    for name, variance in zip(instance.names, instance.variances, strict=True):
        allowed = "above 0 for a Gaussian reference (a constant reward is told from others by one sample)"
        require(variance > 0.0, f"the variance of arm {name!r}", allowed, float(variance), error=InvalidInstance)
    check_digits(instance, rho)


def check_digits(instance: Instance, rho: float) -> None:
    """Complain of risks that have none of the digits of their variances."""
    variances = instance.variances[instance.variances > 0.0]
    lost = rho * float(abs(instance.means).max()) / float(variances.min(initial=math.inf))
    allowed = "small enough for a lower bound that variance - rho mean keeps the digits of the variance"
    require(lost <= DIGITS, "rho", allowed, rho, error=InvalidInstance)


def scope_of(several: bool, looked_at: int, chosen: list[str], task: Question) -> str:
    """Whom it binds, the arms being as declared, in words."""
    if not several:
        return f"exact, for every delta and every algorithm, since there is one right answer, the {task.called}"
    if looked_at == 1:
        return (
            f"asymptotic (delta to 0), and only for algorithms that answer with the exact {task.called}: epsilon "
            "allows too many other answers to look at, and where one of them is easier this is no bound"
        )
    return (
        f"asymptotic (delta to 0), for every algorithm: the easiest to prove of the {looked_at} answers that epsilon "
        f"allows is {', '.join(chosen) or task.nobody}"
    )


def family_of(instance: Instance, declared: bool, task: Question) -> str:
    """What is taken as known of the rewards, in words."""
    if instance.reward_range is not None:
        low, high = instance.reward_range
        return f"for rewards of any kind between {low:g} and {high:g}"
    if declared and not task.about_risk:
        return "for Gaussian arms, even if their variances are known,"
    if declared:
        return "for Gaussian arms with unknown means and variances"
    return (
        "no bound, since these rewards are not Gaussian and a method may need fewer samples: it is what Gaussian arms "
        f"with the same means and {'' if task.about_risk else 'known '}variances would take. For those"
    )


def relative_entropy(delta: float) -> float:
    """kl(delta, 1 - delta), which is 0 once a coin may decide.

    >>> round(relative_entropy(0.05), 3), relative_entropy(0.6)
    (2.65, 0.0)
    """
    return (1.0 - 2.0 * delta) * (math.log1p(-delta) - math.log(delta)) if delta < 0.5 else 0.0


# ------------------------------------------------------------------------------------- allocation


class Balance(NamedTuple):
    """Shares that keep every alternative at least `low` away; no shares keep all of them farther than `high`."""

    shares: Floats
    low: float
    high: float


# What solves the programme: the alternatives in, and out come the best shares and the weights that prove it.
Solver = Callable[[Floats], tuple[Floats, Floats]]


def balance(families: Sequence[Family], count: int, solve: Solver, least: float) -> Balance | None:
    """The shares that keep the nearest alternative as far away as can be; None if that is no more than `least`.

    A weighted sum of alternatives shows what no shares can exceed: sum_i w_i (sum of weighted KL_i) is at most the
    largest of these sums. That holds for any weights, however accurate the programme's solution is.
    """
    shares = best = np.full(count, 1.0 / count)
    low, high, scale = 0.0, math.inf, 0.0
    known = np.empty((0, count))
    for _ in range(ROUNDS):
        weights = np.maximum(shares, SLIGHTEST)
        found = np.concatenate([nearest(family, weights) for family in families])
        if not len(found):  # nothing that is possible makes the answer wrong
            return Balance(best, math.inf, math.inf)
        distance = float((found @ shares).min())
        scale = scale or distance
        if distance > low:
            low, best = distance, shares
        if scale <= ENDLESS:  # nor can the programme be solved on such a scale
            return None
        known = np.concatenate([known, found])
        ideal, proof = solve(known / scale)
        high = min(high, float((proof @ known).max()))
        if high <= least:
            return None
        if low >= (1.0 - GAP) * high:
            break
        # Solutions of the programme jump from corner to corner; one drawn towards the best so far teaches more.
        shares = 0.8 * ideal + 0.2 * best
    return Balance(best, low, high)


def load_solver() -> Solver:
    """SciPy's linear programming, if it is there."""
    try:
        from scipy.optimize import linprog
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "scipy":
            raise
        allowed = 'installed for a lower bound: pip install "ramgape[theory]"'
        raise MissingExtra(what="scipy", allowed=allowed) from None

    def solve(alternatives: Floats) -> tuple[Floats, Floats]:
        """Maximise z where z <= alternatives @ shares; the shares, and the duals as weights of the rows."""
        rows, count = alternatives.shape
        solution = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.column_stack([-alternatives, np.ones(rows)]),
            b_ub=np.zeros(rows),
            A_eq=np.append(np.ones(count), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0.0, None)] * count + [(None, None)],
            method="highs",
        )
        assert solution.success, solution.message
        shares = np.maximum(solution.x[:count], 0.0)
        proof = np.maximum(-solution.ineqlin.marginals, 0.0)
        return shares / shares.sum(), proof / proof.sum()

    return solve
