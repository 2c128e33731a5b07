"""The truth of a problem, and how good an answer is: Section 2 of the paper.

Everything here takes plain arrays of true means and risks, more mean and less risk being better, and answers as
boolean masks. It is used on results and in tests, never in a loop over pulls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def advantage(means: Floats, risks: Floats) -> Floats:
    """m(i, j) of the paper at [i, j]: by how much j is ahead of i in both objectives (negative: it is not)."""
    return np.minimum(means[None, :] - means[:, None], risks[:, None] - risks[None, :])


def pareto_front(means: Floats, risks: Floats) -> Mask:
    """D+: the arms that no arm strictly dominates; duplicates and weakly dominated arms stay in."""
    return np.asarray(~(advantage(means, risks) > 0.0).any(axis=1))


def gaps(means: Floats, risks: Floats) -> Floats:
    """Eq. (1): how much would have to change before an arm's place, in or out of the front, did."""
    front = pareto_front(means, risks)
    ahead = advantage(means, risks)  # m(i, j)
    lead = -ahead  # M(i, j): by how much i is ahead of j in at least one objective
    gap = np.where(front[None, :] & (ahead > 0.0), ahead, -np.inf).max(axis=1)
    others = ~np.eye(len(means), dtype=bool)
    among = np.where(front[None, :] & others, np.minimum(lead, lead.T), np.inf).min(axis=1)
    outside = np.where(front[None, :], np.inf, np.maximum(lead.T, 0.0) + gap[None, :]).min(axis=1)
    return np.asarray(np.where(front, np.minimum(among, outside), gap))


def arm_regrets(answer: Mask, means: Floats, risks: Floats) -> Floats:
    """r_i(S): the gap of every arm that is wrongly in or wrongly out; 0 for the others."""
    return np.where(answer != pareto_front(means, risks), gaps(means, risks), 0.0)


def simple_regret(answer: Mask, means: Floats, risks: Floats) -> float:
    """r_S: the largest regret of an arm."""
    return float(arm_regrets(answer, means, risks).max())


def _dominated_by(means: Floats, risks: Floats, epsilon: float) -> Mask:
    """At [i, j]: j is ahead of i by at least epsilon in both objectives; strictly ahead where epsilon is 0."""
    ahead = advantage(means, risks)
    return np.asarray(ahead >= epsilon if epsilon > 0.0 else ahead > 0.0)


def is_epsilon_pareto(answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
    """Section 2's definition: no returned arm is epsilon-dominated, and every excluded arm is.

    The second half is more than any stopping rule on V(t) proves; see `is_epsilon_cover`.
    """
    dominated = _dominated_by(means, risks, epsilon).any(axis=1)
    return bool((dominated == ~answer).all())


def is_epsilon_cover(answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
    """What V(t) < epsilon really proves.

    No returned arm is epsilon-dominated by any arm, and every excluded arm i is epsilon-covered: some returned j has
    mean_j > mean_i - epsilon and risk_j < risk_i + epsilon.
    """
    sound = not _dominated_by(means, risks, epsilon)[answer].any()
    covers = np.asarray(advantage(means, risks) > -epsilon)[:, answer]
    return bool(sound and np.asarray(covers.any(axis=1))[~answer].all())


def proved_tolerances(
    answer: Mask, mean_low: Floats, mean_high: Floats, risk_low: Floats, risk_high: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """For each arm the smallest tolerance at which boxes prove its place in or out of an answer, and the arm behind it.

    On the empirical front this is V_i, except that an arm outside may be covered by any returned arm, whether or not
    that arm's estimates dominate it; the proof needs no more.
    """
    threat = np.minimum(mean_high[None, :] - mean_low[:, None], risk_high[:, None] - risk_low[None, :])
    np.fill_diagonal(threat, -np.inf)
    shortfall = np.maximum(mean_high[:, None] - mean_low[None, :], risk_high[None, :] - risk_low[:, None])
    shortfall[:, ~answer] = np.inf
    rivals = np.where(answer, threat.argmax(axis=1), shortfall.argmin(axis=1))
    return np.where(answer, threat.max(axis=1), shortfall.min(axis=1)), rivals
