"""From a specification to what the kernels take: the rule, the state of a search; and rewards added up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.bounds import Bound, the_bound
from ramgape.core import comparisons, learning, rare
from ramgape.core.comparisons import ByPairs
from ramgape.core.kernel import Kernel, as_kernel, fixed
from ramgape.core.rounds import WHOLE_ROUNDS
from ramgape.core.rows import Row, load, memory_rows, store
from ramgape.core.rule import Rule, never
from ramgape.core.statistics import observe, observe_many
from ramgape.core.table import (
    PROBLEM,
    State,
    Table,
    empty_memory,
    empty_search,
    empty_table,
    new_table,
    note_boxes,
)
from ramgape.policies import BY_BOXES, BY_PAIRS, is_compiled, policy_module, round_robin, rule_of
from ramgape.risks.table import MOMENTS, ROOT
from ramgape.search.spec import Spec
from ramgape.statistics.without_replacement import dust_of

UNSEEN_BY_BETS = 0.1  # of what unseen rewards add to an error elsewhere: rates know of them themselves


def make_rule(spec: Spec) -> Rule:
    """The functions that a specification names."""
    bound = the_bound(spec.bound).kernels
    policy = policy_module(spec.policy, spec.goal) if spec.decide is None else None
    pairs = by_pairs(spec) if the_bound(spec.bound).compares_pairs else None
    stop = never
    if spec.goal == "confidence":
        own = getattr(policy, "stop", None)
        stop = own or (pairs.stop if pairs else spec.question.stop())
    compare = getattr(policy, "compare", None) or spec.question.compare()
    # A function of a state is called by the engine, whatever stands in its place here.
    decide: Any = as_kernel(spec.decide) if is_compiled(spec.decide) else getattr(policy, "decide", round_robin.decide)
    if pairs and pairs.decide and spec.decide is None and spec.policy == BY_PAIRS:
        decide = pairs.decide
    if spec.question.weighs and spec.goal == "budget" and spec.policy == BY_PAIRS:
        compare, decide = spec.question.weigh()
    first = getattr(bound, "unknown_first", None)
    if first is not None and spec.decide is None and spec.policy in (BY_BOXES, BY_PAIRS):
        decide = fixed(first, decide)
    if spec.rare is not None:
        decide = fixed(rare.lacking_first, decide)
    return Rule(*map(as_kernel, (make_learn(spec, spec.bound), compare, decide, stop)))


def by_pairs(spec: Spec) -> ByPairs:
    """How the task is proved, from the evidence that a bound brings, for means and for the risk."""
    kernels = the_bound(spec.bound).kernels
    risk_ahead = getattr(kernels, "risk_ahead", None) or spec.risk.ahead_by(kernels)
    found = spec.question.by_pairs(kernels.mean_ahead, risk_ahead)
    if not spec.guarded:
        return found
    return ByPairs(fixed(rare.stop_unless_rare, found.stop), fixed(rare.prove_unless_rare, found.prove), found.decide)


def designates(spec: Spec) -> bool:
    """Whether answers are fixed beforehand: only where all must be told apart, since other searches are too short."""
    # A share may come out as 0, but the state was made before that was known. And a search that began with a tolerance
    # has spent all of delta on what is proved without designations.
    known = spec.epsilon == 0.0 and spec.epsilon_share is None and not spec.is_extended and not spec.looked_at_once
    known = known and spec.goal == "confidence"
    return known and spec.question.designates and the_bound(spec.bound).designates


def make_prove(spec: Spec) -> Kernel:
    """The kernel that says what comparisons prove of each arm of an answer, for calls with a whole state."""
    return by_pairs(spec).prove


def make_learn(spec: Spec, bound: str | Bound, *, boxes: bool = True) -> Kernel:
    """The kernel that adds a reward: what the risk remembers and estimates, and a box by the bound if one is wanted."""
    kernels, risk = the_bound(bound).kernels, spec.risk.kernels(spec.assumption)
    more = getattr(kernels, "remember", learning.nothing)
    due, box = getattr(kernels, "due", learning.always), make_box(spec, bound)
    if not boxes:
        due, box = learning.always, learning.no_box
    learn = fixed(learning.learn, risk.remember, more, risk.estimate, due, box, learning.note_mean_and_risk)
    return learn if spec.items is None else fixed(learning.learn_score, learn)


def make_look(spec: Spec, bound: str | Bound) -> Kernel:
    """The kernel that makes the box of every arm from what its rewards have left, for calls with a whole state."""
    return fixed(
        learning.look, spec.risk.kernels(spec.assumption).estimate, make_box(spec, bound), learning.note_mean_and_risk
    )


def make_box(spec: Spec, bound: str | Bound) -> Kernel:
    """The kernel that makes the box of one arm: the bound's own if it has one for the risk, or from its intervals."""
    kernels, risk = the_bound(bound).kernels, spec.risk
    own = getattr(kernels, "box", None)
    if own is not None:
        return own  # type: ignore[no-any-return]
    of_moments = getattr(kernels, "moments_box", None)
    if of_moments is not None and not {MOMENTS, ROOT}.isdisjoint(risk.made_of):
        return risk.box_by(of_moments)
    if hasattr(kernels, "means_box"):
        return kernels.means_box(risk.transform, risk.untransform)  # type: ignore[no-any-return]
    if hasattr(kernels, "moment_intervals"):
        assert risk.normal_risk is not None
        return fixed(learning.box_of_normal, kernels.moment_intervals, risk.normal_risk)
    return fixed(learning.box_of_means, kernels.interval, risk.narrow(kernels.interval))


def make_state(spec: Spec, bound: str | Bound, delta: float | None) -> State:
    """A search before its first pull; boxes that are intersected over time start at what is possible."""
    count, chosen = len(spec.names), the_bound(bound)
    arms = empty_table(count)
    for arm, parts in enumerate([count] * count if spec.shares is None else [1.0 / each for each in spec.shares]):
        arms["level"][arm] = (
            math.nan if delta is None else chosen.level(parts, delta, about_risk=spec.question.about_risk)
        )
    if spec.price is not None:
        arms["price"] = 0.0 if isinstance(spec.price, str) else spec.price  # what is to be told is not known yet
    if chosen.narrows and spec.rewards.ranged:
        arms["mean_low"], arms["mean_high"] = 0.0, 1.0
        arms["risk_low"], arms["risk_high"] = spec.risk_range
    elif chosen.narrows:
        arms["risk_low"], arms["risk_high"] = (spec.unit_scale * end for end in spec.risk.possible)
    note_boxes(arms)
    search, problem = empty_search(), make_problem(spec, bound, delta)
    columns = kept_columns(spec) + chosen.columns
    if designates(spec):
        columns += comparisons.COLUMNS + columns
    search["epsilon"] = 0.0 if spec.is_open else (spec.epsilon or 0.0) / spec.span
    return State(arms, empty_memory(count, columns), search, problem)


def kept_columns(spec: Spec) -> int:
    """How much of the memory is about rewards, whatever the bound: what the risk remembers, and scores on items."""
    return spec.risk.kernels(spec.assumption).columns + (0 if spec.items is None else len(spec.items))


def make_problem(spec: Spec, bound: str | Bound, delta: float | None) -> Table:
    """What the kernels need to know, on the engine's scale: rewards in [0, 1], more being better.

    With R the length of the reward range, rho and epsilon are divided by R and alpha is multiplied by it (and by the
    worth of a unit of risk in units of the mean, where there is a tolerance for each); then the
    scaled risk in the user's units is R times the engine's, but for a constant.
    """
    span, bounded = spec.span, spec.rewards.ranged
    problem = new_table(1, PROBLEM)
    record: Any = problem[0]
    low, high = spec.reward_range or (0.0, 0.0)
    record["initial_pulls"] = spec.initial_trials
    record["origin"], record["span"] = (low, span) if spec.direction == "maximize" else (high, -span)
    # As `learn` scales a reward, to the last bit.
    record["cutoff"] = math.nan if spec.cutoff is None else (spec.cutoff - record["origin"]) / record["span"]
    record["alpha"] = spec.unit_scale
    record["bounded"] = bounded
    record["unseen"] = (1.0, record["alpha"] * record["alpha"]) if bounded else 0.0
    if getattr(the_bound(bound).kernels, "BY_RATES", False) and not {MOMENTS, ROOT}.isdisjoint(spec.risk.made_of):
        record["by_rates"] = 1
        record["unseen"] *= UNSEEN_BY_BETS
    record["first_looks"] = spec.first_looks
    record["risk_power"] = spec.risk.power
    least, most = spec.risk_range
    # As wide for the risk as for the mean, in units of what is possible, unless the risk says otherwise.
    record["risk_factor"] = most - least if bounded else record["alpha"]
    spec.unit_risk.write(record)
    record["rooted"] = 0, record["risk_root"]
    spec.unit_question.write(record)
    if spec.is_open:
        record["epsilon_share"] = spec.epsilon_share
    else:
        record["epsilon"] = (spec.first_epsilon or 0.0) / span
    # Claims hold for all tolerances at once, so that a result may certify what the data prove at any moment. Where a
    # tolerance was asked for that takes no more trials; without one the size of the answer counts (comparisons.py).
    record["any_epsilon"] = spec.is_open or spec.goal == "budget" or bool(spec.epsilon) or spec.is_extended
    record["budget"] = spec.limit if spec.goal == "budget" else math.inf
    record["spend"] = math.inf if spec.spend is None else spec.spend
    record["exploration"] = math.nan if spec.exploration is None else spec.exploration
    for stated in ("sigma_max", "kurtosis", "cv"):
        value = getattr(spec, stated)
        record[stated] = math.nan if value is None else value
    record["resolution"] = spec.resolution or 0.0
    record["reference_mean"] = 0.0 if bounded else math.nan
    record["reference_risk"] = spec.unit_scale * spec.unit_risk.worst() if bounded else math.nan
    if spec.guarded and the_bound(bound).compares_pairs and delta is not None:
        record["rare_level"] = -math.log(delta)
        record["rare_trials"] = 0.0 if spec.rare is None else math.log(delta) / math.log1p(-spec.rare)
    record["keep_smallest"] = spec.returned == "smallest-doubt"
    record["interleave"] = WHOLE_ROUNDS if the_bound(bound).terms.in_rounds else spec.interleave
    if spec.items is not None:
        record["item_count"] = len(spec.items) if spec.items.population else math.inf
        record["first_item"] = spec.risk.kernels(spec.assumption).columns
        record["dust"] = 0.0 if spec.shares_seeds else dust_of(len(spec.items), low, high)
    # Tasks that weigh mistakes themselves have shrunken their estimates already.
    shrinks = rule_of(spec.policy).shrinks and spec.items is None  # what is known exactly needs none of it
    record["shrinks"] = spec.goal == "budget" and shrinks and not spec.question.weighs
    record["own_columns"] = kept_columns(spec)
    record["designated_level"] = math.inf
    record["snapshot"] = kept_columns(spec) + the_bound(bound).columns if designates(spec) else -1
    constants = getattr(the_bound(bound).kernels, "constants", None)
    if constants is not None and delta is not None:
        constants(record, len(spec.names), delta)
    return problem


class Adder:
    """Adds rewards up, arm by arm, in any table of arms: no boxes are made meanwhile, and nothing is compared.

    What comes of it depends on the order of the rewards only by rounding.
    """

    def __init__(self, spec: Spec) -> None:
        risk = spec.risk.kernels(spec.assumption)
        more = getattr(the_bound(spec.bound).kernels, "remember", learning.nothing)
        self._remember = [each for each in (risk.remember, more) if each is not learning.nothing]
        self._at_once = getattr(the_bound(spec.bound).kernels, "remember_many", None)
        self._estimate, self._items = risk.estimate, spec.items is not None
        self._empty = make_state(spec, spec.bound, None)
        (self._problem,) = load(self._empty.problem)

    def new_state(self, arm_count: int) -> State:
        """So many arms of which nothing is known yet."""
        return self._empty.grown(arm_count)

    def add(self, state: State, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Add rewards to the arms of a state."""
        if not len(arms):
            return
        order = np.argsort(arms, kind="stable")
        seen, starts = np.unique(arms[order], return_index=True)
        part, memory = state.arms[seen], memory_rows(state.memory)
        rows = load(part)
        for arm, row, values in zip(seen.tolist(), rows, np.split(rewards[order], starts[1:]), strict=True):
            self._add_to(row, memory[arm], values)
        store(rows, part)
        state.arms[seen] = part

    def _add_to(self, row: Row, past: Any, rewards: NDArray[np.float64]) -> None:
        """Add the rewards of one arm."""
        problem = self._problem
        if self._items:
            first = problem.first_item + row.pulls
            past[first : first + len(rewards)] = memoryview(np.ascontiguousarray(rewards))  # type: ignore[arg-type]
        values = (rewards - problem.origin) / problem.span
        row.cut += int(np.count_nonzero(values <= problem.cutoff))
        if self._remember and not (self._at_once and len(self._remember) == 1):
            (search,) = load(empty_search())
            for value in values.tolist():
                for remember in self._remember:
                    remember(row, past, problem, value)
                observe(row, search, value)
        else:
            if self._at_once:
                self._at_once(past, problem, values)
            observe_many(row, values)
        self._estimate(row, past, problem)
