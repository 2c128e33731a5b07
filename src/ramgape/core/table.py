"""The state of a search: a table of arms, what risk and bound remember beside it, and two records.

    arms      record[K]     what is known: one row per arm
    memory    float[K, M]   what the risk, and behind it the bound, keep of an arm's rewards besides; M may be 0
    search    record        the little that belongs to no arm: where a circle stands, a queued arm, the leader
    problem   record        what the user wants, already checked, on the engine's scale; never written

Two more tables serve simulations that are watched: `truth` has a row per arm, `trace` a row per pull.

In a row, everything down to `renewal` is a function of that arm's own ordered rewards, and so is its row of the
memory; the rest is a cache of the whole table. Kernels take `arms` and `memory` as arrays and the two records as such,
which are passed by reference.
"""

from __future__ import annotations

import functools
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SCRATCH = 8192  # numbers, enough for what exact bets note (statistics/wealth.py)
PROVED, ENDED = 1, 2  # how a search stopped: the stopping rule has spoken, or its end is known from elsewhere

OF_ONE_ARM = [
    ("pulls", np.int64),  # T_i
    ("shift", np.float64),  # the first reward; sums are taken about it, so that they stay small
    ("total", np.float64),  # sum of (reward - shift), and what rounding lost from it
    ("total_carry", np.float64),
    ("squares", np.float64),  # sum of (reward - shift)^2, and what rounding lost from it
    ("squares_carry", np.float64),
    ("cubes", np.float64),  # likewise of (reward - shift)^3 and ^4: what the spread of a squared reward needs
    ("cubes_carry", np.float64),
    ("fourths", np.float64),
    ("fourths_carry", np.float64),
    ("last", np.float64),  # the last reward, and how many were equal to the one before or to the first
    ("repeats", np.int64),
    ("cut", np.int64),  # rewards that were cut off: the true ones are as low or lower
    ("lowest", np.float64),  # the least reward and the greatest
    ("highest", np.float64),
    ("average", np.float64),  # estimates
    ("variance", np.float64),
    ("risk", np.float64),
    ("risk_spread", np.float64),  # the variance of what the risk is estimated by, for one pull
    ("risk_skew", np.float64),  # its third central moment over that: how the spread grows with the risk; or 0
    ("mean_low", np.float64),  # the box
    ("mean_high", np.float64),
    ("risk_low", np.float64),
    ("risk_high", np.float64),
    ("renewal", np.int64),  # pulls at which a bound that is renewed now and then renews the box
    ("level", np.float64),  # ln of one over the chance that the bound may take with this arm, for each of its sides
]
OF_ALL_ARMS = [
    ("dominators", np.int64),  # how many arms dominate this one empirically
    ("in_front", np.int64),  # 1 if none does
    ("doubt", np.float64),  # V_i, or an upper bound on it
    ("rival", np.int64),  # the arm behind V_i
    ("second", np.float64),  # in the front: no threat but the rival's is greater than this
    ("exact", np.int64),  # 1 if doubt and rival are exact, 0 if they must be computed before they are used
    ("front", np.int64),  # row p: the p-th arm of the front, in increasing order
    ("blocker", np.int64),  # the arm that keeps this one's place from being proved; -1: none, -2: nobody has looked
    ("member", np.int64),  # 1 if the arm was of the answer that was to be proved when somebody last looked
    ("accepted", np.int64),  # by a rule that eliminates: 1 into the answer, -1 out of it, 0 while that is open
    ("gap", np.float64),  # of rules that eliminate: how clear an arm's place is, or the greatest threat to it
    ("beaten", np.float64),  # likewise: the most by which another arm beats it in both objectives
    ("fall", np.float64),  # the largest distance of any arm's reward below its own average, and above (core/rare.py)
    ("rise", np.float64),
    ("kept", np.int64),  # 1 for the arms of the front at the round of smallest doubt
    ("queue", np.int64, 2),  # places 2 p and 2 p + 1 of the pulls that are decided, in rounds, and not made yet
    ("under_way", np.int64),  # in a copy for decisions: how many of the pulls are not back yet
    ("price", np.float64),  # of the next pull: as stated, or the mean of what was told
    ("paid", np.float64),  # what was told of pulls, in all, and of how many
    ("told", np.int64),
]


@functools.cache
def arm_columns(objectives: int) -> np.dtype[np.void]:
    """The columns of a table of arms that are compared in so many objectives, in all of which more is better.

    Those of each objective are arrays: `arms["low"]` is float[K, J], and a row's `low[j]` a number.
    """
    numbers, ranks = (np.float64, objectives), max(objectives, 2)  # two, for questions that sort by two keys
    of_objectives: list[Any] = [
        ("estimate", *numbers),  # of each objective
        ("spread", *numbers),  # the variance behind the estimate, for one trial
        ("low", *numbers),  # where it is
        ("high", *numbers),
        ("error", *numbers),  # the squared standard error of the estimate, as the evidence rules see it
        ("seen_low", *numbers),  # the ends for which doubts were last brought up to date
        ("seen", np.float64, ranks),  # likewise the estimates
        ("place", np.int64, ranks),  # the arm's place in increasing order of each
        ("order", np.int64, ranks),  # row p: the arm at place p of each order
    ]
    return np.dtype([*OF_ONE_ARM, *of_objectives, *OF_ALL_ARMS], align=True)


ARM = arm_columns(2)  # mean and risk of one outcome

# What an arm's own rewards have led to, but for the box: with the memory, all that a bound needs to make one.
STATISTICS = tuple(takewhile(lambda name: name != "mean_low", ARM.names or ()))

SEARCH = np.dtype(
    [
        ("samples", np.int64),  # pulls so far, all arms together
        ("ready", np.int64),  # 1 once every arm has its initial pulls
        ("stopped", np.int64),  # 0 while it goes on, then PROVED or ENDED
        ("turn", np.int64),  # where the round-robin rules stand
        ("queued", np.int64),  # second arm of a pair that has been decided, or -1
        ("front_size", np.int64),
        ("leader", np.int64),  # m_t: the arm with the largest doubt
        ("epsilon", np.float64),  # the tolerance: the problem's, or what the first looks have made of a share
        ("doubt", np.float64),  # V(t), the largest doubt
        ("smallest_doubt", np.float64),  # the smallest V(t) so far
        ("misses", np.int64),  # intervals that contradicted an earlier one, or the average
        ("next_look", np.int64),  # pulls before which a costly rule need not look again
        ("mean_prior", np.float64),  # the average variance of an arm, and spread of its risk, when they were last taken
        ("risk_prior", np.float64),
        ("mean_reach", np.float64),  # likewise (see policies/evidence_budget.py) the squared distance of two rewards,
        ("risk_reach", np.float64),  # and that of the transformed rewards by which risks are estimated
        ("designations", np.int64),  # how many answers have been fixed beforehand, and after how many pulls the last
        ("designated_at", np.int64),
        ("served", np.int64),  # whom pulls are for: 0 the front, 1 the designated answer, 2 both in turn
        ("phase", np.int64),  # where a rule stands that goes by phases
        ("target", np.int64),  # pulls that the phase asks of every open arm
        ("waiting", np.int64),  # how many pulls of a round are decided and not made yet
        ("last", np.int64),  # the arm that was handed out last, in rounds, and how often in a row
        ("run", np.int64),
        ("dice", np.int64),  # the state of what shuffles a round
    ],
    align=True,
)

PROBLEM = np.dtype(
    [
        ("initial_pulls", np.int64),
        ("origin", np.float64),  # engine reward = (reward - origin) / span
        ("span", np.float64),  # negative when minimising
        ("cutoff", np.float64),  # the reward of a trial that was cut off; NaN where none is
        ("own_columns", np.int64),  # the first column of the memory that is the bound's own
        ("rho", np.float64),
        ("alpha", np.float64),
        ("bounded", np.int64),  # 1 for rewards in [0, 1], 0 for rewards without a range
        (
            "first_looks",
            np.int64,
            2,
        ),  # pulls before a bound that waits says anything of an arm's mean, of its risk
        ("risk_power", np.float64),  # of the unit of rewards, in the risk
        ("risk_root", np.int64),  # 1 for a risk that is the root of what is estimated
        ("risk_parameters", np.float64, 3),  # what the kernels of a risk other than the mean-variance need
        ("risk_levels", np.float64, 8),  # of a risk that is a sum: levels of its parts, ascending, and weights, then 0
        ("risk_weights", np.float64, 8),
        ("task_parameters", np.float64, 4),  # likewise those of a task: a ceiling, the number of a control
        ("epsilon", np.float64),  # 0 where it is a share
        ("epsilon_share", np.float64),  # of the smallest absolute mean after the first looks; 0 where it is a number
        ("any_epsilon", np.int64),  # 1: the tolerance is chosen from the data, so claims count for all of them at once
        ("pair_levels", np.float64, 2),  # like an arm's level, of comparisons: to withstand in each objective
        ("cover_level", np.float64),  # and to cover, but for the number of arms that may be a wrong cover
        ("unseen", np.float64, 2),  # what a trial more might add to the squared error of an estimate; 0 without a range
        ("by_rates", np.int64),  # 1: of two arms the one is tried whose trials speak faster (core/rates.py)
        ("rooted", np.int64, 2),  # 1 for an objective that is the root of what is estimated
        ("designated_level", np.float64),  # the same for an answer that was fixed beforehand; infinite where none is
        ("rare_level", np.float64),  # ln of one over the chance that an event stays unseen; 0 where none is allowed for
        ("rare_trials", np.float64),  # that each arm of an answer needs before a stop
        ("snapshot", np.int64),  # the first column of the memory for what was known when it was fixed
        ("pair_scales", np.float64, 3),  # of the mixtures over the risk, in comparisons
        ("risk_factor", np.float64),  # width of the risk in units of the radius, where the bound has one
        ("budget", np.float64),  # the pulls there are in all; infinite without a budget
        ("spend", np.float64),  # the money there is in all, likewise
        ("exploration", np.float64),  # a of the fixed-budget bound
        ("sigma_max", np.float64),  # what is stated of heavy tails, and sigma_max of Gaussian rewards, too; or NaN
        ("kurtosis", np.float64),
        ("cv", np.float64),
        ("resolution", np.float64),  # the step to which Gaussian rewards were rounded, or 0
        ("mean_scales", np.float64, 2),  # of a mixture: the amounts of variation it is made for, in mean and in risk
        ("risk_scales", np.float64, 2),
        ("reference_mean", np.float64),  # the worst corner, for hypervolumes; NaN where there is none
        ("reference_risk", np.float64),
        ("keep_smallest", np.int64),  # 1: remember the front at the round of smallest doubt
        ("interleave", np.int64),  # 1: pulls are decided in rounds; 2: in rounds of all arms
        ("item_count", np.float64),  # of a test set; infinite where its items are a sample of more, 0 without one
        ("first_item", np.int64),  # the column of the memory for the score on the first item, in the user's units
        ("dust", np.float64),  # what rounding may have changed an average over items by
        ("shrinks", np.int64),  # 1: the answer is the front of shrunken estimates
        ("scratch", np.float64, SCRATCH),  # what kernels that compare two arms note while they do, and nobody later
    ],
    align=True,
)

TRUTH = np.dtype(
    [
        ("mean", np.float64),  # on the engine's scale, as everything here
        ("risk", np.float64),
        ("gap", np.float64),
        ("in_front", np.int64),  # 1 for the arms of the Pareto set
    ],
    align=True,
)

TRACE = np.dtype(
    [
        ("arm", np.int64),  # which was pulled
        ("regret", np.float64),  # of the answer after that; NaN until every arm has its initial pulls
        ("missed", np.int64),  # 1 if the arm's box did not contain the truth
    ],
    align=True,
)

# Where a rule stands that remembers its decisions, beyond what the observations tell.
DECISIONS = ("turn", "queued")
ROUND = ("last", "run", "dice")  # likewise of rounds, beside the pulls that are decided and not made yet

Table = NDArray[np.void]
Memory = NDArray[np.float64]


class State(NamedTuple):
    """What kernels take first, in this order; the two records as tables of one row."""

    arms: Table
    memory: Memory
    search: Table
    problem: Table

    @property
    def records(self) -> tuple[Any, ...]:
        """The same with the records as such, as kernels take them."""
        return self.arms, self.memory, self.search[0], self.problem[0]

    def copy(self) -> State:
        """The same, to go on with elsewhere; nobody writes into the problem, which both have."""
        return State(self.arms.copy(), self.memory.copy(), self.search.copy(), self.problem)

    def grown(self, arm_count: int) -> State:
        """The same with more arms, which have not been pulled. Nothing has been compared yet."""
        state = State(empty_table(arm_count), empty_memory(arm_count, self.memory.shape[1]), self.search, self.problem)
        state.take(self)
        return state

    def take(self, other: State, most_columns: int | None = None) -> None:
        """Let the first arms be what another search knows of its arms, but for boxes and whatever compares arms.

        What a bound has left in the memory is of use only to the same bound: `most_columns` says how many of the first
        columns are taken, if not all that both have.
        """
        count = min(len(self.arms), len(other.arms))
        for column in STATISTICS:
            self.arms[column][:count] = other.arms[column][:count]
        columns = min(self.memory.shape[1], other.memory.shape[1])
        columns = columns if most_columns is None else min(columns, most_columns)
        self.memory[:count, :columns] = other.memory[:count, :columns]


def new_table(row_count: int, columns: np.dtype[np.void]) -> Table:
    """A table of zeros."""
    return np.zeros(row_count, columns)


def empty_table(arm_count: int, columns: np.dtype[np.void] = ARM) -> Table:
    """A table of arms that have not been pulled."""
    arms = new_table(arm_count, columns)
    for column in ("average", "variance", "risk", "estimate", "spread"):
        arms[column] = np.nan
    for column in ("mean_low", "risk_low", "low"):
        arms[column] = -np.inf
    for column in ("mean_high", "risk_high", "high", "doubt", "second"):
        arms[column] = np.inf
    arms["rival"] = -1
    arms["price"] = 1.0
    arms["blocker"] = -2
    arms["place"] = arms["order"] = np.arange(arm_count)[:, None]
    return arms


def note_boxes(arms: Table) -> None:
    """The boxes of all arms in mean and in risk, as the ends of their objectives."""
    arms["low"] = np.column_stack((arms["mean_low"], -arms["risk_high"]))
    arms["high"] = np.column_stack((arms["mean_high"], -arms["risk_low"]))


def empty_memory(arm_count: int, columns: int) -> Memory:
    """What is remembered of arms that have not been pulled."""
    return np.zeros((arm_count, columns))


def empty_search() -> Table:
    """A search before its first pull, as a table of one row."""
    search = new_table(1, SEARCH)
    search["queued"] = search["leader"] = search["last"] = -1
    search["doubt"] = search["smallest_doubt"] = np.inf
    return search
