"""What the user wants, checked once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Unpack

from ramgape.assumptions import ASSUMPTIONS, BOUNDED, FEWEST, HEAVY, ITEMS, UNKNOWN, Assumption, assumption_names
from ramgape.bounds import BOXLESS, OWN_BOUNDS, Bound, resolve_bound, the_bound, usual_bound
from ramgape.common.checks import LARGEST, SMALLEST, as_float, check_number, whole
from ramgape.common.parsing import parse_numbers
from ramgape.errors import InvalidSpec, known_name, require, shorten
from ramgape.options import (
    DEFAULT_DELTA,
    DEFAULT_DRIFT,
    DEFAULT_EPSILON,
    DEFAULT_RISK,
    IDENTIFY,
    OF_OUTCOMES,
    Options,
    complete,
)
from ramgape.policies import BY_PAIRS, resolve_policy, rule_of
from ramgape.questions import PARETO, Possible, Question, Rescaling, make_question
from ramgape.risks import make_risk
from ramgape.risks.measure import Measure
from ramgape.risks.table import MOMENTS, ROOT
from ramgape.search.estimands import check_estimand
from ramgape.search.extension import Extension
from ramgape.search.first_statement import with_reach
from ramgape.search.items import FEWEST_ITEMS, Items, check_budget_fits, check_size, make_items
from ramgape.search.pricing import check_prices, kind_of_goal
from ramgape.search.sharing import check_sharing

Asked = dict[str, Any]  # what is asked for, by name; checked step by step


@dataclass(frozen=True, slots=True)
class Spec:
    """A search, fully decided: every default resolved, every value checked, all in the user's units."""

    names: tuple[str, ...]
    assumption: str
    reward_range: tuple[float, float] | None
    goal: Literal["confidence", "budget"]
    epsilon: float | None
    risk_epsilon: float | None  # where the tolerance in risk was given apart
    delta: float | None
    budget: int | None
    risk: Measure
    alpha: float | None  # the factor of a risk that has one, and is shown with it
    direction: Literal["maximize", "minimize"]
    policy: str
    bound: str | Bound
    exploration: float | None
    sigma_max: float | None
    max_trials: int
    initial_trials: int
    returned: Literal["last", "smallest-doubt"]
    warnings: tuple[str, ...] = ()
    resolution: float | None = None
    kurtosis: float | None = None  # what is stated of heavy tails, beside sigma_max
    cv: float | None = None
    first_looks: tuple[int, int] = (FEWEST, FEWEST)  # pulls before anything is said of an arm's mean, and of its risk
    question: Question = PARETO
    epsilon_share: float | None = None  # of what epsilon was to be a part
    decide: Callable[..., Any] | None = None  # a policy from outside: a function of a state, or a compiled kernel
    drift: float | None = DEFAULT_DRIFT  # the accepted probability of a false one; None: rewards are not watched
    interleave: bool = False  # pulls are decided in rounds, and shuffled
    looked_at_once: bool = False  # all rewards are there already, and their order is not known
    items: Items | None = None  # a test set, of which a trial takes one
    extensions: tuple[Extension, ...] = ()  # of a study that was to go on for more: what was asked for before
    price: tuple[float, ...] | Literal["told"] | None = None  # of a pull of each arm, or told with each answer
    spend: float | None = None  # the most that all pulls may cost
    shares: tuple[float, ...] | None = None  # of delta, for each arm, where they are not equal
    expected_arms: int | None = None  # how many there may be with those that come later
    shared: bool = False  # arms may depend on each other within a row or block
    cutoff: float | None = None  # a reward, a cost, at which trials are cut off: the true one is as much or more
    guarded: bool = False  # claims survive unseen events as large as any arm has shown; not of older searches
    rare: float | None = None  # the frequency of events for which the arms of an answer have enough trials

    @property
    def rewards(self) -> Assumption:
        """What rewards are: the row of their assumption."""
        return ASSUMPTIONS[self.assumption]

    @property
    def shares_seeds(self) -> bool:
        """Whether rewards of any kind are compared on seeds that all arms share."""
        return self.assumption == UNKNOWN and self.items is not None

    @property
    def is_open(self) -> bool:
        """Whether the tolerance is a percentage of means that are not known yet."""
        return self.epsilon is None and self.epsilon_share is not None

    def settled(self, epsilon: float) -> Spec:
        """The same with the tolerance that a share has come to."""
        weight = self.risk_weight
        return replace(self, epsilon=epsilon, risk_epsilon=epsilon / weight if epsilon and weight != 1.0 else None)

    @property
    def possible_rewards(self) -> tuple[float, float]:
        """The least and the greatest reward that is taken for one."""
        return self.reward_range or (-LARGEST if self.cv is None and self.cutoff is None else 0.0, LARGEST)

    @property
    def span(self) -> float:
        """R = hi - lo; 1 where rewards have no range."""
        return 1.0 if self.reward_range is None else self.reward_range[1] - self.reward_range[0]

    @property
    def risk_weight(self) -> float:
        """What a unit of the risk, as it is shown, is worth in units of the mean: one tolerance is worth the other."""
        first = self.extensions[0] if self.extensions else self  # it stays, also where nothing is tolerated any longer
        if first.epsilon and first.risk_epsilon:
            return first.epsilon / first.risk_epsilon
        return self.risk.usual_scale(self.span) if self.alpha is None else 1.0

    @property
    def risk_factor(self) -> float:
        """The factor with which the risk is shown."""
        return 1.0 if self.alpha is None else self.alpha

    @property
    def risk_scale(self) -> float:
        """The factor with which risks are compared with means, by one tolerance."""
        return self.risk_factor * self.risk_weight

    @property
    def first_epsilon(self) -> float | None:
        """The tolerance that the search began with: by it bounds choose what must not depend on the data."""
        return self.extensions[0].epsilon if self.extensions else self.epsilon

    @property
    def is_extended(self) -> bool:
        """Whether another tolerance was asked for before; more pulls or more money are no other question."""
        asked = [each.epsilon if each.epsilon_share is None else each.epsilon_share for each in self.extensions]
        return any(each != (self.epsilon if self.epsilon_share is None else self.epsilon_share) for each in asked)

    @property
    def limit(self) -> int:
        """The most pulls this search makes."""
        limit = self.max_trials if self.budget is None else self.budget
        return limit if self.items is None else min(limit, len(self.names) * len(self.items))

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
        return self.rewards.normal and {MOMENTS, ROOT}.isdisjoint(self.risk.made_of)

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
    def unit_question(self) -> Question:
        """The question on the engine's scale."""
        mean, risk = (
            Rescaling(self._sign, self.origin, self.span),
            Rescaling(1.0, self._shift, self.span / self.risk_weight),
        )
        return self.question.scaled(mean, risk).among(self.names)

    @property
    def oriented_question(self) -> Question:
        """The question for the user's means, costs being negated, and for risks on their scale."""
        return self.question.scaled(Rescaling(self._sign, 0.0, 1.0), Rescaling(1.0, 0.0, 1.0 / self.risk_weight)).among(
            self.names
        )

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "maximize" else -1.0

    @property
    def _shift(self) -> float:
        """What the origin of rewards adds to a risk, as it is shown."""
        return self.risk_factor * self.oriented_risk.offset(self.origin)

    @property
    def possible(self) -> Possible:
        """What a question may be asked of: the arms, what is possible, and the tolerances."""
        means = self.reward_range or (-math.inf if self.cv is None else 0.0, math.inf)
        if self.rewards.ranged:
            low, high = (end * self.span / self.risk_weight + self._shift for end in self.risk_range)
        else:
            low, high = (self.risk_factor * end for end in self.risk.possible)
        in_risk = None if self.epsilon is None else self.epsilon / self.risk_weight
        return Possible(self.names, means, (low, high), self.direction == "minimize", self.epsilon, in_risk)

    @property
    def unit_scale(self) -> float:
        """The factor in the risk on the engine's scale."""
        return self.risk_scale * self.span ** (self.risk.power - 1)


def make_spec(arms: Iterable[object], *, fewest: int = 2, **options: Unpack[Options]) -> Spec:
    """Check a description of a search and resolve its defaults.

    Args:
        arms: Their names; other objects count by their text.
        fewest: How many there must be.
        **options: As for `identify`.

    Raises:
        InvalidSpec: A value cannot be meant.
        UnknownName: A name stands in no table: that of an option, a policy, a bound, a risk, ...
    """
    asked = complete(options, IDENTIFY)
    for name in OF_OUTCOMES:
        require(asked[name] is None, name, "absent here, where trials have a single reward", asked[name])
    asked["names"] = check_names(arms, fewest)
    tolerance_given, auto = asked["epsilon"] is not None, asked["policy"] == "auto"
    asked["goal"] = kind_of_goal(asked)
    for check in (
        check_rewards,
        check_objectives,
        check_items,
        check_counts,
        check_prices,
        check_estimand,
        check_statements,
        check_rare,
        check_sharing,
        check_goal,
        check_method,
    ):
        asked |= check(asked)
    spec = Spec(**{each.name: asked[each.name] for each in fields(Spec) if each.name in asked})
    check_sizes(spec)
    spec = with_reach(replace(spec, warnings=spec.question.check(spec.possible)), auto=auto)
    return with_warnings(spec) if tolerance_given else spec


def check_rewards(asked: Asked) -> Asked:
    """The assumption, with its parameters, and the range of the rewards."""
    usual = UNKNOWN if asked["reward_range"] is None else BOUNDED
    if asked["seeds"] is not None:
        require(asked["items"] is None, "seeds", "absent with items, which all arms share anyway", asked["seeds"])
        asked["items"] = _seeds_as_items(asked["seeds"])
    unranged = asked["seeds"] is not None and asked["reward_range"] is None
    if asked["items"] is not None and not unranged:
        usual = ITEMS
        asked["assumption"] = (
            None if asked["assumption"] == BOUNDED else asked["assumption"]
        )  # which it is, and more is known
        allowed = "given with items: two numbers that no score can leave, such as (0, 1)"
        require(asked["reward_range"] is not None, "reward_range", allowed, asked["reward_range"])
    named = {name: row.parameters for name, row in ASSUMPTIONS.items()}
    assumption, parameters = (
        (usual, {}) if asked["assumption"] is None else parse_numbers(asked["assumption"], named, "assumption")
    )
    for name, value in parameters.items():
        require(asked[name] is None, name, "given once, by itself or with the assumption", asked[name])
        asked[name] = value
    if unranged:
        allowed = f"{UNKNOWN}, or with a reward_range {BOUNDED}, where arms share seeds"
        require(assumption == UNKNOWN, "assumption", allowed, asked["assumption"])
    elif (assumption == ITEMS) != (asked["items"] is not None):
        allowed = f"{ITEMS} or {BOUNDED} with items" if asked["items"] is not None else "another one without items"
        require(False, "assumption", allowed, asked["assumption"])
    reward_range = check_reward_range(assumption, asked["reward_range"])
    known_name(asked["direction"], ["maximize", "minimize"], "direction")
    known_name(asked["returned"], ["last", "smallest-doubt"], "returned")
    span = 1.0 if reward_range is None else reward_range[1] - reward_range[0]
    return {**asked, "assumption": assumption, "reward_range": reward_range, "span": span}


def _seeds_as_items(seeds: Any) -> Items:
    """Seeds that all arms meet in one random order, as items of which there are more in the world."""
    allowed = f"a list of at least {FEWEST_ITEMS} different ones, for example range(50)"
    require(isinstance(seeds, Iterable) and not isinstance(seeds, str | bytes), "seeds", allowed, seeds)
    given = tuple(seeds)
    require(len(given) >= FEWEST_ITEMS, "seeds", allowed, list(given))
    return Items(given, population=False)


def check_objectives(asked: Asked) -> Asked:
    """What is looked for, the risk, and the tolerances."""
    question = make_question(asked["question"], asked["reward_range"])
    risk = choose_risk(asked["risk"], asked["rho"])
    if asked["reward_range"] is not None:
        low, high = asked["reward_range"]
        risk.check_range(low, high, asked["direction"] == "minimize")
    share = parse_share(asked["epsilon"])
    tolerance, risk_epsilon = check_tolerance(asked["epsilon"]) if share is None else (None, None)
    if share is not None and asked["reward_range"] is not None:
        tolerance = share * asked["span"]
    alpha = check_alpha(asked["alpha"], asked["span"], risk, risk_epsilon)
    if alpha is None and risk_epsilon is None and tolerance and risk.usual_scale(asked["span"]) != 1.0:
        risk_epsilon = tolerance / risk.usual_scale(asked["span"])
    objectives = {"question": question, "risk": risk, "alpha": alpha}
    return {**objectives, "epsilon": tolerance, "risk_epsilon": risk_epsilon, "epsilon_share": share}


def check_items(asked: Asked) -> Asked:
    """A test set, if there is one. There is no drift check, since the search draws the order of its items."""
    if asked["items"] is None:
        return {}
    items = make_items(asked["items"])
    check_size(len(items), len(asked["names"]))
    allowed = "absent or 'off' with items: the search itself draws their order, so there is nothing to watch"
    require(asked["drift"] in (None, "off", DEFAULT_DRIFT), "drift", allowed, asked["drift"])
    return {"items": items, "drift": None}


def check_counts(asked: Asked) -> Asked:
    """Numbers that stand for themselves."""
    checked: Asked = {}
    if asked["resolution"] is not None:
        allowed = "absent without assumption gaussian, whose bounds need it"
        require("resolution" in ASSUMPTIONS[asked["assumption"]].parameters, "resolution", allowed, asked["resolution"])
    looks = ASSUMPTIONS[asked["assumption"]].first_looks
    if asked["initial_trials"] is not None:
        stated = asked["initial_trials"] = whole(
            asked["initial_trials"], "initial_trials", "a whole number of at least 2", 2
        )
        looks = (min(stated, looks[0]), min(stated, looks[1]))
        allowed = "at most as many as there are items for an arm"
        require(asked["items"] is None or stated <= len(asked["items"]), "initial_trials", allowed, stated)
    # A budget is spent to the last pull: only what is said of it afterwards waits for so many.
    pulls = asked["initial_trials"] or (looks[0] if asked["goal"] == "confidence" else FEWEST)
    for name in ("sigma_max", "resolution"):
        if asked[name] is not None:
            checked[name] = check_number(asked[name], name, "a finite number above 0", lambda value: value > 0.0)
    least, arms = pulls * len(asked["names"]), len(asked["names"])
    reason = f"a whole number of at least {least} ({pulls} trials of each of {arms} arms)"
    checked["max_trials"] = whole(asked["max_trials"], "max_trials", reason, least)
    checked["drift"] = check_drift(asked["drift"])
    require(isinstance(asked["interleave"], bool), "interleave", "true or false", asked["interleave"])
    return {**checked, "initial_trials": pulls, "first_looks": looks, "least": least, "reason": reason}


def check_statements(asked: Asked) -> Asked:
    """What is stated of heavy tails; with it, whether that is enough for what is asked."""
    checked: Asked = {}
    for name, least, allowed in (
        ("kurtosis", 1.0, "a finite number of at least 1, the least that any rewards have (3: normal ones)"),
        ("cv", SMALLEST, "a finite number above 0: the standard deviation is at most so many times the mean"),
    ):
        given, served = asked[name], name in ASSUMPTIONS[asked["assumption"]].parameters
        require(given is None or served, name, "absent without assumption heavy, of which it is a statement", given)
        if given is not None:
            checked[name] = check_number(given, name, allowed, lambda value, least=least: value >= least)
    if asked["assumption"] == HEAVY:
        statements = ASSUMPTIONS[HEAVY].parameters
        allowed = "given with what is known of its tails: heavy:kurtosis=10, say; also sigma_max, or cv"
        require(any(asked[name] is not None for name in statements), "assumption heavy", allowed, "no statement")
        allowed = (
            "given for a question about mean and risk: sigma_max and cv tell only about means; heavy:kurtosis=10, say "
            "(a normal distribution has 3, an exponential one 9)"
        )
        enough = asked["kurtosis"] is not None or not asked["question"].about_risk
        require(enough, "kurtosis", allowed, asked["kurtosis"])
    return checked


def check_rare(asked: Asked) -> Asked:
    """Whether claims allow for unseen events, and which frequency of events the answer needs enough trials for."""
    guarded = asked["assumption"] == UNKNOWN
    if asked["rare"] is None:
        return {"guarded": guarded}
    allowed = f"absent unless the assumption is {UNKNOWN}: others say what rewards may be"
    require(guarded, "rare", allowed, asked["rare"])
    allowed = "between 0 and 1, both excluded, for example 0.02"
    return {"guarded": guarded, "rare": check_number(asked["rare"], "rare", allowed, lambda value: 0.0 < value < 1.0)}


def check_drift(level: Any) -> float | None:
    """The accepted probability of a false warning by the drift check; None without a check."""
    if level is None or level == "off":
        return None
    allowed = "between 0 and 1, both excluded, or 'off'"
    return check_number(level, "drift", allowed, lambda value: 0.0 < value < 1.0)


def check_goal(asked: Asked) -> Asked:
    """A confidence, with epsilon and delta, or a budget; and a policy that serves it."""
    delta, budget, goal = asked["delta"], asked["budget"], asked["goal"]
    serving = asked["question"].serving(goal)
    policy, decide = resolve_policy(asked["policy"], goal, serving, pairs=compares_pairs(asked, goal))
    if goal == "budget" and budget is None:
        allowed = f"{BY_PAIRS} where money is the goal: others must know how many pulls there will be"
        require(policy == BY_PAIRS, "policy", allowed, policy)
    elif budget is None:
        if asked["epsilon"] is None and asked["epsilon_share"] is None:
            allowed = "given for a fixed confidence (0 asks for the exact Pareto set), or a budget instead"
            raise InvalidSpec(what="epsilon", allowed=allowed)
        delta = DEFAULT_DELTA if delta is None else delta
        delta = check_number(delta, "delta", "between 0 and 1, both excluded", lambda value: 0.0 < value < 1.0)
    else:
        if delta is not None:
            allowed = (
                "given together with budget: a budget spends exactly that many trials; for a "
                "confidence goal with a cap on trials give max_trials instead of budget"
            )
            raise InvalidSpec(what="delta", verb="not be", allowed=allowed, given=f"delta {shorten(delta)}")
        budget = whole(budget, "budget", asked["reason"], asked["least"])
        check_budget_fits(asked["items"], len(asked["names"]), budget)
        allowed = "a number under a budget for rewards without a range, or absent"
        open_share = asked["epsilon"] is None and asked["epsilon_share"] is not None
        require(not open_share, "epsilon", allowed, f"{100.0 * (asked['epsilon_share'] or 0.0):g}%")
    return {"goal": goal, "policy": policy, "decide": decide, "delta": delta, "budget": budget}


def compares_pairs(asked: Asked, goal: str) -> bool:
    """Whether the bound that is asked for, or that `auto` stands for, compares two arms at once."""
    bound = asked["bound"]
    if bound == "auto":
        seeds = asked["items"] is not None
        bound = usual_bound(asked["assumption"], asked["risk"].made_of, goal, pairs=asked["pairs"], seeds=seeds)
    return the_bound(bound).compares_pairs


def check_method(asked: Asked) -> Asked:
    """The bound, what is returned, and how much a budget explores."""
    goal, policy, tolerance, span = asked["goal"], asked["policy"], asked["epsilon"], asked["span"]
    seeds = asked["assumption"] == UNKNOWN and asked["items"] is not None
    # Exact bets pay where risks are compared up to a tolerance. With no tolerance, or for means of coins, they do not.
    collects, pairs = tolerance != 0.0 and asked["question"].about_risk, asked["pairs"]
    bound = choose_bound(
        asked["bound"], asked["assumption"], asked["risk"], goal, policy, pairs, seeds=seeds, collects=collects
    )
    if asked["assumption"] == UNKNOWN and the_bound(bound).compares_pairs:
        allowed = "central-limit-paired where arms share seeds" if seeds else "another one where arms share no seeds"
        require(the_bound(bound).paired == seeds, "bound", allowed, bound)
    served = asked["question"].compares_pairs or not the_bound(bound).compares_pairs
    require(served, "bound", f"another one for question {asked['question']}", bound)
    if asked["rare"] is not None:
        allowed = (
            "absent with a budget, which leaves no choice of trials"
            if goal == "budget"
            else ("absent where arms are not compared in pairs: for this question, policy or bound")
        )
        require(goal == "confidence" and the_bound(bound).compares_pairs, "rare", allowed, asked["rare"])
    if asked["returned"] == "smallest-doubt" and rule_of(policy).own_answer:
        allowed = f"'last' for policy {policy}, whose answer is the arms that it accepts"
        require(False, "returned", allowed, asked["returned"])
    for name, meaning in the_bound(bound).terms.stated:
        if asked[name] is None:
            raise InvalidSpec(what=name, allowed=f"given with bound {bound}: {meaning}")
    how = check_exploration(asked["exploration"], goal, bound, policy)
    if tolerance is None and isinstance(how, str):
        tolerance = DEFAULT_EPSILON * span
    constant = None
    if asked["budget"] is not None and how is not None:
        constant = exploration_constant(how, bound, len(asked["names"]), asked["budget"], tolerance, span)
    return {"bound": bound, "exploration": constant, "epsilon": tolerance}


def check_sizes(spec: Spec) -> None:
    """Complain of numbers that are possible each by itself, but too far apart for the engine's scale."""
    sizes = (spec.unit_scale, *spec.risk_range)
    together = all(map(math.isfinite, sizes)) and spec.unit_scale > 0.0
    require(together, "epsilon, alpha, the risk and the reward range", "of comparable size", f"factors {sizes}")


def with_warnings(spec: Spec) -> Spec:
    """Say so where the answer is trivial, or perhaps out of reach."""
    if spec.resolution is not None and spec.delta is not None and 0.0 < (spec.epsilon or 0.0) < spec.resolution:
        message = (
            f"epsilon {spec.epsilon:g} is below the resolution {spec.resolution:g}: arms whose means differ by less "
            "than that may never be told apart, however many the pulls"
        )
        return replace(spec, warnings=(*spec.warnings, message))
    if not spec.rewards.ranged or spec.epsilon is None:
        return spec
    if spec.question != PARETO:
        return _with_trivial_warning(spec)
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
            return replace(spec, warnings=(*spec.warnings, message))
    return spec


def _with_trivial_warning(spec: Spec) -> Spec:
    """Say so where no two arms can differ by the tolerance in anything that the question asks for."""
    least, most = spec.possible.risks
    tolerance, in_risk = spec.possible.epsilon or 0.0, spec.possible.risk_epsilon or 0.0
    if tolerance <= spec.span or (spec.question.about_risk and in_risk <= most - least):
        return spec
    warning = f"epsilon {tolerance:g} exceeds all differences that are possible: any answer is right up to that"
    return replace(spec, warnings=(*spec.warnings, warning))


def check_names(arms: Iterable[object], fewest: int = 2) -> tuple[str, ...]:
    """The arms' names, as text: at least two unless fewer will do, all different."""
    least = "two" if fewest > 1 else "one"
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise InvalidSpec(what="arms", allowed=f"a sequence of at least {least} names", given=shorten(arms))
    names = tuple(str(arm) for arm in arms)
    require(len(names) >= fewest, "arms", f"at least {least}", list(names))
    require(all(names), "arms", "non-empty names", list(names))
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    require(not twice, "arms", "names that are all different", twice)
    return names


def check_reward_range(assumption: str, reward_range: Any) -> tuple[float, float] | None:
    """The range of bounded rewards; others have none."""
    if not ASSUMPTIONS[assumption].ranged:
        require(reward_range is None, "reward_range", f"absent with assumption {assumption}", reward_range)
        return None
    allowed = f"two finite numbers (low, high) with low < high, or left out for {assumption_names(ranged=False)}"
    try:
        low, high = (as_float(end) for end in reward_range)
    except (TypeError, ValueError):
        low = high = math.nan
    if math.isinf(low) or math.isinf(high):
        finite = f"finite at both ends; for rewards without a range leave it out ({assumption_names(ranged=False)})"
        require(False, "reward_range", finite, reward_range)
    require(math.isfinite(high - low) and low < high, "reward_range", allowed, reward_range)
    inside = low >= -LARGEST and high <= LARGEST  # the squares of rewards must be numbers, too
    require(inside, "reward_range", f"between {-LARGEST:g} and {LARGEST:g}", reward_range)
    require(high - low >= SMALLEST, "reward_range", f"at least {SMALLEST:g} wide", reward_range)
    return low, high


def parse_share(epsilon: Any) -> float | None:
    """What a tolerance in per cent is a share of one; None for other tolerances.

    >>> parse_share("5%"), parse_share(0.05)
    (0.05, None)
    """
    if not isinstance(epsilon, str):
        return None
    allowed = "a finite number of at least 0, a pair (mean, risk), or a share such as '5%', above 0 and below 100"
    number, sign, rest = epsilon.strip().partition("%")
    try:
        share = float(number) / 100.0 if sign and not rest else math.nan
    except ValueError:
        share = math.nan
    require(0.0 < share < 1.0, "epsilon", allowed, epsilon)
    return share


def check_tolerance(epsilon: Any) -> tuple[float | None, float | None]:
    """The tolerance, and that for the risk where it was given apart."""
    if epsilon is None:
        return None, None
    if not isinstance(epsilon, tuple | list):
        allowed = "a finite number of at least 0, or a pair (mean, risk)"
        return check_number(epsilon, "epsilon", allowed, lambda value: value >= 0.0), None
    allowed = "a pair (mean, risk) of finite numbers, both above 0 or both 0"
    values = [as_float(value) for value in epsilon]
    usable = len(values) == 2 and (all(0.0 < value < math.inf for value in values) or values == [0.0, 0.0])
    require(usable, "epsilon", allowed, epsilon)
    ratio = values[0] / values[1] if values[1] else 1.0
    require(0.0 < ratio < math.inf, "epsilon", "a pair (mean, risk) of comparable size", epsilon)
    return values[0], values[1]


def choose_risk(risk: Any, rho: Any) -> Measure:
    """The risk measure: the standard deviation unless another is given, or rho, which is the mean-variance's."""
    if risk is not None:
        require(rho is None, "rho", "absent together with risk, which has its own parameter", rho)
        return make_risk(risk)
    if rho is None:
        return make_risk(DEFAULT_RISK)
    from ramgape.risks.mean_variance import MeanVariance

    return MeanVariance(check_number(rho, "rho", "a finite number of at least 0", lambda value: value >= 0.0))


def check_alpha(alpha: Any, span: float, risk: Measure, risk_epsilon: float | None) -> float | None:
    """The factor of a risk that has one: unless given, that by which one tolerance serves mean and risk alike, or 1."""
    if not risk.scaled:
        allowed = "absent, unless the risk is mean-variance; epsilon as a pair (mean, risk) has a tolerance for each"
        require(alpha is None, "alpha", allowed, alpha)
        return None
    if alpha is None:
        return risk.usual_scale(span) if risk_epsilon is None else 1.0
    scale = check_number(alpha, "alpha", "a finite number above 0", lambda value: value > 0.0)
    require(scale >= SMALLEST, "alpha", f"at least {SMALLEST:g}", alpha)
    return scale


def choose_bound(
    bound: str | Bound,
    assumption: str,
    risk: Measure,
    goal: str,
    policy: str,
    pairs: bool,
    *,
    seeds: bool = False,
    collects: bool = True,
) -> str | Bound:
    """The bound that is meant; a policy that looks at no box needs none, and one that goes by boxes needs boxes."""
    if rule_of(policy).bound:
        return own_bound(bound, assumption, risk, policy)
    boxless = goal == "budget" and rule_of(policy).boxless
    if bound == "auto" and boxless:
        bound = BOXLESS
    pairs = pairs and policy == BY_PAIRS
    bound = resolve_bound(bound, assumption, risk, goal, pairs=pairs, seeds=seeds, collects=collects)
    require(boxless or not the_bound(bound).boxless, "bound", f"one with intervals for policy {policy}", bound)
    by_boxes = goal == "confidence" and rule_of(policy).own_answer
    allowed = f"another one for policy {policy}, which stops by intervals alone: comparisons of pairs are lost on it"
    require(not by_boxes or not the_bound(bound).compares_pairs, "bound", allowed, bound)
    return bound


def own_bound(bound: str | Bound, assumption: str, risk: Measure, policy: str) -> str:
    """The bound of a policy that has one, where it serves such rewards and such a risk."""
    own, risks = rule_of(policy).bound, rule_of(policy).risks
    assumptions = OWN_BOUNDS[own].assumptions
    require(
        assumption in assumptions,
        "assumption",
        f"{' or '.join(assumptions)} for policy {policy}, which serves no other",
        assumption,
    )
    require(risk.name in risks, "risk", f"{' or '.join(risks)} for policy {policy}, which serves no other", str(risk))
    require(bound in ("auto", own), "bound", f"auto for policy {policy}, which has bounds of its own", str(bound))
    return own


def check_exploration(exploration: Any, goal: str, bound: str | Bound, policy: str) -> float | str | None:
    """How much a budget explores, by name or by value; None where nothing depends on it."""
    if not the_bound(bound).explores:
        reason = "without a budget" if goal == "confidence" else f"for policy {policy}, which needs no such constant"
        require(exploration is None, "exploration", f"absent {reason}", exploration)
        return None
    names = the_bound(bound).kernels.DENOMINATORS
    if exploration is None or isinstance(exploration, str):
        chosen = next(iter(names)) if exploration is None else exploration
        return known_name(chosen, names, "exploration, unless it is a number,")
    allowed = f"a finite number of at least 0, or one of {', '.join(names)}"
    return check_number(exploration, "exploration", allowed, lambda value: value >= 0.0)


def exploration_constant(
    exploration: float | str, bound: str | Bound, arm_count: int, budget: int, epsilon: float | None, span: float
) -> float:
    """The constant a of the fixed-budget width."""
    if isinstance(exploration, str):
        assert epsilon is not None
        exploration = float(the_bound(bound).kernels.exploration(exploration, arm_count, budget, epsilon / span))
        require(math.isfinite(exploration), "epsilon", "small enough for a finite exploration constant", epsilon)
    return exploration
