"""What is asked of several outcomes per trial, checked once: columns, lanes, the question, the share of delta."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ramgape.assumptions import BOUNDED, GAUSSIAN, HEAVY, ITEMS, UNKNOWN
from ramgape.bounds import the_bound
from ramgape.bounds.guarantee import APPROXIMATE
from ramgape.common.checks import check_number, whole
from ramgape.common.old_names import present_value
from ramgape.common.parsing import parse_named, unescape
from ramgape.errors import InvalidSpec, known_name, located, require, shorten
from ramgape.options import DEFAULT_DELTA, IDENTIFY, OF_OUTCOMES, complete
from ramgape.policies import ALIASES, POLICIES
from ramgape.questions import PARETO, BestMean
from ramgape.questions.of_outcomes import (
    AboveOf,
    Asked,
    BestOf,
    BetterThanOf,
    CheapestOf,
    Condition,
    ParetoOf,
    TopOf,
)
from ramgape.risks import make_risk
from ramgape.search.expressions import Expression
from ramgape.search.items import check_budget_fits, check_size, make_items
from ramgape.search.objectives import Constraint, Objective, Wish, make_constraints, make_objectives, sided
from ramgape.search.outcomes import (
    DeclaredOutcome,
    TrialOutcomes,
    check_used,
    declare_outcomes,
    derived,
    read_known,
    with_worst,
)
from ramgape.search.pricing import check_prices, kind_of_goal
from ramgape.search.spec import Spec, check_drift, check_names, make_spec
from ramgape.search.statistic import Statistic
from ramgape.search.tolerances import tolerances_of

QUESTIONS: dict[str, tuple[str, ...]] = {
    "pareto": (),
    "best": (),
    "top": ("count",),
    "above": ("threshold",),
    "cheapest": ("within", "rivals"),
    "better-than": ("control", "margin"),
}
ALONE = ("best", "top", "above")  # which need exactly one objective
EVERYWHERE = ("evidence", "ramgape", "round-robin")
OF_PARETO = {"confidence": ("ra-lucb", "ape", "psi-unif-elim"), "budget": ("ra-lucb", "ege-sr", "ege-sh")}
# Options about the single reward, which outcomes, objectives and constraints say of several.
OF_ONE_REWARD = (
    "risk",
    "rho",
    "alpha",
    "reward_range",
    "assumption",
    "direction",
    "sigma_max",
    "kurtosis",
    "cv",
    "resolution",
)
UNUSABLE = ("exploration", "returned", "rare", "seeds")
PART = 0.05  # of a range: what counts as much as a tolerance where there is none
REWARD = "reward"  # the outcome of trials that give one number


@dataclass(frozen=True, slots=True)
class Column:
    """A statistic that arms are compared in, or limited by; more is better.

    Attributes:
        wish: The objective or constraint.
        lane: The number of the lane that learns it; -1 where it is known.
        part: Of the lane: 0 for the mean, 1 for the risk.
        sign: -1 where more is better of a mean that its lane minimizes, or the other way round.
        epsilon: The tolerance in the user's units.
        unit: What is 1 in the table, in the user's units.
        limit: What is 0 in the table, in the user's units and turned.
        values: What is known beforehand, turned; empty for what is measured.
    """

    wish: Wish
    lane: int
    part: int
    sign: float
    epsilon: float
    unit: float
    limit: float = 0.0
    values: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        """The statistic, by which results name it."""
        return self.wish.statistic.text

    @property
    def turn(self) -> float:
        """1 where more of what people see is better, else -1."""
        return 1.0 if self.wish.is_more else -1.0

    def shown(self, value: float) -> float:
        """A value of the table as people know it."""
        return self.turn * (value * self.unit + self.limit)


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """What is learned of an expression of outcomes: as a search of its own."""

    of: Expression
    spec: Spec


@dataclass(frozen=True, slots=True)
class OutcomeSpec(Spec):
    """A search about several outcomes, fully decided. What the fields of `Spec` say of a reward means nothing here.

    Attributes:
        outcomes: How trials are read.
        columns: The objectives, then the constraints.
        lanes: What is learned.
        asked: The name of the question, with its parameters by name.
        plain: Trials give one number, not a mapping.
        alone: The same search as one about a reward, where mean and risk of one outcome are all that is asked.
    """

    outcomes: TrialOutcomes | None = None
    columns: tuple[Column, ...] = ()
    lanes: tuple[LaneSpec, ...] = ()
    asked: tuple[str, dict[str, Any]] = field(default=("pareto", {}), hash=False)
    plain: bool = False
    alone: Spec | None = None

    @property
    def objectives(self) -> tuple[Column, ...]:
        """The columns that are objectives."""
        return tuple(each for each in self.columns if isinstance(each.wish, Objective))

    @property
    def constraints(self) -> tuple[Column, ...]:
        """The columns that are constraints."""
        return self.columns[len(self.objectives) :]

    @property
    def asked_text(self) -> str:
        """What is asked, as text."""
        name, parameters = self.asked
        values = list(parameters.values())
        if name in ("top", "above") or (name == "cheapest" and len(values) == 1):
            return f"{name}:{values[0]:.12g}" if name != "cheapest" else f"{name}:within={values[0]:.12g}"
        shown = ",".join(
            f"{key}={value if isinstance(value, str) else f'{value:.12g}'}" for key, value in parameters.items()
        )
        return f"{name}:{shown}" if shown else name

    @property
    def confidence_delta(self) -> float:
        """Delta, or after a budget that of the intervals that are shown."""
        return DEFAULT_DELTA if self.delta is None else self.delta

    @property
    def left(self) -> float:
        """Of delta, what the boxes of the lanes leave for comparisons."""
        taken = sum(the_bound(lane.spec.bound).spent * (lane.spec.delta or 0.0) for lane in self.lanes)
        return max(self.confidence_delta - taken, 0.0) if taken < self.confidence_delta * (1.0 - 1e-9) else 0.0

    @property
    def approximate(self) -> tuple[str, ...]:
        """The outcomes of which what is said is only approximate."""
        return tuple(str(lane.of) for lane in self.lanes if the_bound(lane.spec.bound).rigour == APPROXIMATE)

    def ask(self) -> Asked:
        """The question, asked of the columns."""
        name, given = self.asked
        epsilon = np.array([each.epsilon / each.unit for each in self.columns])
        known = np.array([each.lane < 0 for each in self.columns], dtype=bool)
        common: dict[str, Any] = {
            "count": len(self.names),
            "objectives": len(self.objectives),
            "epsilon": epsilon,
            "known": known,
            "left": self.left,
            "shared": self.items is not None or self.shared,
        }
        if name == "pareto":
            return ParetoOf(**common)
        if name == "best":
            return BestOf(**common)
        if name == "top":
            return TopOf(**common, wanted=given["count"])
        if name == "above":
            return AboveOf(**common)
        unit = self.columns[0].unit
        if name == "cheapest":
            within = given["within"]
            rivals = given.get("rivals", 0.5 * within)
            return CheapestOf(**common, within=within / unit, rivals=rivals / unit)
        return BetterThanOf(
            **common,
            control=self.names.index(given["control"]),
            conditions=tuple(self._condition(place, given.get("margin", 0.0)) for place in range(len(self.columns))),
        )

    def _condition(self, place: int, margin: float) -> Condition:
        """What a column asks of an arm beside the control, in units of the column."""
        column = self.columns[place]
        if isinstance(column.wish, Objective):
            return Condition(place, 1.0, margin / column.unit)
        if column.wish.factor is None:
            return Condition(place, 0.0, 0.0)
        return Condition(place, column.wish.factor, column.turn * column.wish.limit / column.unit)


def make_any_spec(arms: Iterable[object], options: Any) -> Spec:
    """What is asked, of one outcome or of several.

    Args:
        arms: Their names.
        options: As for `identify`.
    """
    return make_outcome_spec(arms, options) if is_about_outcomes(options) else make_spec(arms, **options)


def is_about_outcomes(options: Mapping[str, Any]) -> bool:
    """Whether something is asked that needs several columns, or single claims: for `make_outcome_spec`."""
    named = any(options.get(name) is not None for name in OF_OUTCOMES)
    question = options.get("question", options.get("task"))
    return named or (isinstance(question, str) and question.partition(":")[0].strip() in ("above", "cheapest"))


def make_outcome_spec(arms: Iterable[object], options: Mapping[str, Any]) -> OutcomeSpec:
    """Check what is asked of several outcomes, and resolve its defaults.

    Args:
        arms: Their names.
        options: As for `identify`.

    Raises:
        InvalidSpec: A value cannot be meant.
    """
    asked = complete(options, IDENTIFY)
    plain = asked["objectives"] is None
    asked |= _of_one_reward(asked) if plain else _without_reward_options(asked)
    question, given = read_question(asked["question"], len(make_objectives(asked["objectives"])))
    names = check_names(arms, fewest=1 if question == "above" else 2)
    wishes = _wishes(asked, question, given, names)
    declared, told = declare_outcomes(asked["outcomes"])
    known = read_known(asked["known"], names, declared)
    check_used(declared, known, wishes)
    asked["goal"] = kind_of_goal(asked) if asked["epsilon"] is not None or not told else "confidence"
    tolerances = _tolerances(asked, question, given, wishes, told)
    declared = with_worst(declared, wishes)
    checked = _checked(asked, names, question)
    lanes, columns = _plan_lanes(names, wishes, tolerances, declared, known, asked, question, given, checked)
    expressions = tuple(lane.of for lane in lanes)
    outcomes = TrialOutcomes(declared, expressions, known)
    first = max((lane.spec.initial_trials for lane in lanes), default=2)
    if asked["goal"] == "budget" and asked["initial_trials"] is None:
        first = 2
    noise = UNKNOWN if any(the_bound(lane.spec.bound).rigour == APPROXIMATE for lane in lanes) else BOUNDED
    spec = OutcomeSpec(
        names=names,
        assumption=ITEMS if checked["items"] is not None else noise,
        reward_range=None,
        goal=asked["goal"],
        epsilon=None if asked["goal"] == "budget" and not any(tolerances) else float(any(tolerances)),
        risk_epsilon=None,
        delta=checked["delta"],
        budget=checked["budget"],
        risk=make_risk("std"),
        alpha=None,
        direction="maximize" if wishes[0].is_more else "minimize",
        bound=lanes[0].spec.bound,
        exploration=None,
        sigma_max=None,
        initial_trials=first,
        returned="last",
        warnings=_warnings(wishes, len(names), question, lanes),
        question=PARETO,
        outcomes=outcomes,
        columns=columns,
        lanes=lanes,
        asked=(question, given),
        plain=plain,
        alone=_alone(names, asked, lanes, columns, question, checked),
        **{
            key: checked[key]
            for key in ("policy", "max_trials", "drift", "interleave", "items", "price", "spend", "shared")
        },
    )
    least = first * len(names)
    require(
        spec.limit >= least,
        "budget" if spec.budget is not None else "max_trials",
        f"a whole number of at least {least} ({first} trials of each of {len(names)} arms)",
        spec.limit,
    )
    return spec


def read_question(given: Any, objectives: int) -> tuple[str, dict[str, Any]]:
    """The name of a question and its parameters.

    >>> read_question("cheapest:within=0.02", 2)
    ('cheapest', {'within': 0.02})
    """
    if given is None or (str(given) == "pareto" and objectives == 1):  # the option's default
        given = "best" if objectives == 1 else "pareto"
    text = present_value("question", str(given).strip())
    name, written = parse_named(text, QUESTIONS, "question")
    found: dict[str, Any] = {}
    for key, value in written.items():
        if key == "control":
            found[key] = unescape(value)
        elif key == "count":
            found[key] = whole(
                float(value) if value.replace(".", "").isdigit() else value, "top", "a whole number of at least 1", 1
            )
        else:
            allowed = "a finite number" if key in ("threshold", "margin") else "a finite number above 0"
            found[key] = check_number(
                _number(value, key),
                key,
                allowed,
                lambda number, key=key: math.isfinite(number) and (key in ("threshold", "margin") or number > 0.0),
            )
    needed = {"top": "count", "above": "threshold", "cheapest": "within", "better-than": "control"}.get(name)
    examples = {
        "top": "top:2",
        "above": "above:0.8",
        "cheapest": "cheapest:within=0.02",
        "better-than": "better-than:control=NAME",
    }
    require(needed is None or needed in found, "question", f"written {examples.get(name)}", text)
    if name in ALONE:
        require(objectives == 1, f"question {name}", "asked with exactly one objective", f"{objectives} objectives")
    if name == "cheapest":
        allowed = "asked with two objectives: quality first, cost second"
        require(objectives == 2, "question cheapest", allowed, f"{objectives} objectives")
        allowed = f"less than within ({found['within']:g})"
        require(found.get("rivals", 0.0) < found["within"], "rivals", allowed, found.get("rivals"))
    return name, found


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidSpec(what=what, allowed="a number", given=shorten(text)) from None


def _of_one_reward(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the options of a single reward say of the outcome `reward`, for questions that need columns."""
    if asked["outcomes"] is not None or asked["constraints"] is not None or asked["known"] is not None:
        given = asked["outcomes"] or asked["known"]
        names = ", ".join(map(str, given)) if isinstance(given, Mapping) else "several outcomes"
        raise InvalidSpec(
            what="objectives",
            allowed=f"given where trials have outcomes ({names}): say what you want of them, such as "
            "objectives=['maximize mean(accuracy)', 'minimize mean(cost)']",
        )
    if asked["reward_range"] is not None:
        assumed: Any = tuple(asked["reward_range"])
    else:
        noise = asked["assumption"] or UNKNOWN
        parameters = [
            f"{key}={asked[key]!r}" for key in ("kurtosis", "sigma_max", "cv", "resolution") if asked[key] is not None
        ]
        if noise.partition(":")[0] in (HEAVY, GAUSSIAN) and parameters:
            noise += (":" if ":" not in noise else ",") + ",".join(parameters)
        assumed = noise
    direction: Any = known_name(asked["direction"], ["maximize", "minimize"], "direction")
    return {"outcomes": {REWARD: assumed}, "objectives": [Objective(Statistic.parse(REWARD), direction)]}


def _without_reward_options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Complain of options that are about a single reward."""
    from ramgape.options import OPTIONS

    for name in (*OF_ONE_REWARD, *UNUSABLE):
        if name in OPTIONS and asked.get(name) != OPTIONS[name].default:
            hint = "objectives and outcomes say it" if name in OF_ONE_REWARD else "several outcomes have no such thing"
            require(False, name, f"absent with objectives: {hint}", asked[name])
    return {}


def _wishes(asked: Mapping[str, Any], question: str, given: dict[str, Any], names: Sequence[str]) -> list[Wish]:
    """Objectives and constraints, with the bad end of each statistic."""
    objectives, constraints = make_objectives(asked["objectives"]), make_constraints(asked["constraints"])
    relative = [each for each in constraints if each.factor is not None]
    if question == "better-than":
        known_name(given["control"], names, "the control")
    elif relative:
        allowed = "about numbers, unless the question is better-than:control=NAME"
        raise InvalidSpec(what=f"constraint {str(relative[0])!r}", allowed=allowed)
    if question in ("top", "above", "cheapest") and constraints:
        raise InvalidSpec(
            what="constraints",
            allowed=f"absent with question {question}: best and pareto take them",
            given=str(constraints[0]),
        )
    if question == "above":
        objective = objectives[0]
        sign: Any = ">=" if objective.is_more else "<="
        return sided([Constraint(objective.statistic, sign, given["threshold"])])
    if question == "top":
        allowed = f"at most {len(names) - 1}, so that an arm is left out"
        require(given["count"] < len(names), "top", allowed, given["count"])
    return sided([*objectives, *constraints])


def _tolerances(
    asked: Mapping[str, Any], question: str, given: Mapping[str, Any], wishes: Sequence[Wish], told: Mapping[str, Any]
) -> tuple[float, ...]:
    """The tolerances of all columns; 0 where a question or a budget needs none."""
    epsilon = asked["epsilon"]
    if told:
        require(
            epsilon is None or isinstance(epsilon, Mapping), "epsilon", "a mapping, as outcomes have some too", epsilon
        )
        twice = sorted(set(told) & set(epsilon or {}))
        require(not twice, "epsilon", f"given once for {', '.join(twice)}: in outcomes, or by itself", epsilon)
        epsilon = {**told, **(epsilon or {})}
    if epsilon is None:
        if asked["goal"] == "budget" or question == "above":
            return (0.0,) * len(wishes)
        if question == "cheapest":
            epsilon = {}
        else:
            example = ", ".join(f"{name!r}: ..." for wish in wishes[:2] for name in wish.statistic.of.outcomes[:1])
            allowed = (
                f"given: pass epsilon={{{example}}} (a tolerance for each objective) or budget=... (a number of trials)"
            )
            raise InvalidSpec(what="epsilon", allowed=allowed)
    if isinstance(epsilon, Mapping):
        epsilon = dict(epsilon)
        if question == "cheapest":  # quality has its distances in place of a tolerance
            epsilon.setdefault(wishes[0].statistic.text, given["within"])
        if asked["goal"] == "budget" or (question == "cheapest" and asked["known"]):
            for wish in wishes:
                alone = wish.statistic.of.alone
                if (
                    isinstance(wish, Objective)
                    and alone not in epsilon
                    and wish.text not in epsilon
                    and str(wish) not in epsilon
                ):
                    epsilon[wish.statistic.text] = 0.0
    return tolerances_of(epsilon, wishes)


def _checked(asked: Mapping[str, Any], names: Sequence[str], question: str) -> dict[str, Any]:
    """Everything else, as `make_spec` checks it."""
    goal, items = asked["goal"], None if asked["items"] is None else make_items(asked["items"])
    if items is not None:
        check_size(len(items), len(names))
    delta, budget = asked["delta"], asked["budget"]
    if goal == "confidence":
        delta = DEFAULT_DELTA if delta is None else delta
        delta = check_number(delta, "delta", "between 0 and 1, both excluded", lambda value: 0.0 < value < 1.0)
    else:
        require(delta is None, "delta", "absent with a budget, which is spent to the last trial", delta)
        budget = None if budget is None else whole(budget, "budget", "a whole number of at least 2", 2)
        if budget is not None:
            check_budget_fits(items, len(names), budget)
    initial = asked["initial_trials"]
    if initial is not None:
        initial = whole(initial, "initial_trials", "a whole number of at least 2", 2)
    prices = check_prices({**asked, "names": tuple(names), "initial_trials": initial or 2})
    require(asked["bound"] == "auto" or isinstance(asked["bound"], str), "bound", "a name", asked["bound"])
    return {
        **prices,
        "delta": delta,
        "budget": budget,
        "items": items,
        "initial": initial,
        "max_trials": whole(asked["max_trials"], "max_trials", "a whole number above 0", 1),
        "drift": None if items is not None else check_drift(asked["drift"]),
        "interleave": bool(asked["interleave"]),
        "shared": bool(asked["shared"]),
        "policy": _policy(asked, question, goal),
    }


def _policy(asked: Mapping[str, Any], question: str, goal: str) -> str:
    """The rule, if it serves several outcomes."""
    policy = asked["policy"]
    require(isinstance(policy, str), "policy", "a name: rules from outside see one outcome", policy)
    if policy == "auto":
        return "evidence"
    policy = ALIASES.get(policy, (policy,))[0] if question in ("best", "top") else policy
    serving: tuple[str, ...] = EVERYWHERE
    if question == "pareto" and not make_constraints(asked["constraints"]) and not asked["known"]:
        serving += OF_PARETO[goal]
    if policy not in serving and policy in POLICIES:
        allowed = f"one that serves several outcomes here ({', '.join(('auto', *serving))})"
        raise InvalidSpec(what="policy", allowed=allowed, given=repr(policy))
    return known_name(policy, ("auto", *serving), "policy")


def _warnings(wishes: Sequence[Wish], count: int, question: str, lanes: Sequence[LaneSpec]) -> tuple[str, ...]:
    found = [warning for lane in lanes for warning in lane.spec.warnings if "trials before anything" in warning]
    objectives = sum(isinstance(each, Objective) for each in wishes)
    if question == "pareto" and objectives >= 4:
        found.append(
            f"with {objectives} objectives most arms are undominated; limits (constraints) in place of objectives "
            "narrow the answer and take fewer trials"
        )
    return tuple(dict.fromkeys(found))


def _alone(
    names: tuple[str, ...],
    asked: Mapping[str, Any],
    lanes: Sequence[LaneSpec],
    columns: Sequence[Column],
    question: str,
    checked: Mapping[str, Any],
) -> Spec | None:
    """The search as one about a reward, if it asks for the Pareto set in mean and risk of one outcome."""
    pair = sorted(columns, key=lambda column: column.part)
    objectives = question == "pareto" and all(isinstance(column.wish, Objective) for column in columns)
    if not objectives or [column.part for column in pair] != [0, 1] or min(column.lane for column in pair) < 0:
        return None
    lane, tolerances = lanes[pair[1].lane].spec, tuple(column.epsilon for column in pair)
    of_one = lanes[pair[0].lane].of == lanes[pair[1].lane].of
    if not of_one or pair[0].wish.is_more != (lane.direction == "maximize"):
        return None
    given: dict[str, Any] = {name: asked[name] for name in ("delta", "budget", "price", "spend", "interleave")}
    if asked["goal"] == "confidence" or any(tolerances):
        given["epsilon"] = tolerances if any(tolerances) else 0.0
    given |= {name: getattr(lane, name) for name in ("direction", "sigma_max", "kurtosis", "cv", "resolution")}
    given |= {"risk": lane.risk, "policy": asked["policy"], "bound": asked["bound"], "drift": "off"}
    given |= {"initial_trials": asked["initial_trials"], "max_trials": asked["max_trials"]}
    given |= {"shared": checked["shared"] or None, "items": checked["items"]}
    given |= {"reward_range": lane.reward_range} if lane.reward_range else {"assumption": lane.assumption}
    spec = make_spec(names, **given)
    return spec if spec.initial_trials == lane.initial_trials or asked["goal"] == "budget" else None


# --------------------------------------------------------------------------------------------------- lanes and columns


def _plan_lanes(
    names: tuple[str, ...],
    wishes: Sequence[Wish],
    tolerances: Sequence[float],
    declared: Mapping[str, DeclaredOutcome],
    known: Mapping[str, tuple[float, ...]],
    asked: Mapping[str, Any],
    question: str,
    given: Mapping[str, Any],
    checked: Mapping[str, Any],
) -> tuple[tuple[LaneSpec, ...], tuple[Column, ...]]:
    """What is learned, and which part of it each column is."""
    assumed = {**declared, **{name: DeclaredOutcome(BOUNDED, (min(each), max(each))) for name, each in known.items()}}
    measured = [wish for wish in wishes if not set(wish.statistic.of.outcomes) <= set(known)]
    require(bool(measured), "objectives", "about at least one outcome that is measured", ", ".join(map(str, wishes)))
    by_text = dict(zip(map(id, wishes), tolerances, strict=True))
    lanes: list[LaneSpec] = []
    place_of: dict[tuple[str, ...], int] = {}
    for wish in measured:  # risks first: a mean may be learned beside one
        if wish.statistic.measure is not None:
            key = _key(wish.statistic)
            if key not in place_of:
                place_of[key] = len(lanes)
                lanes.append(_lane(names, wish, measured, by_text, assumed, asked, checked))
    for wish in measured:
        if wish.statistic.measure is None:
            of = str(wish.statistic.of)
            beside = [
                place
                for place, lane in enumerate(lanes)
                if str(lane.of) == of and the_bound(lane.spec.bound).compares_pairs
            ]
            if (of,) not in place_of:
                place_of[of,] = beside[0] if beside else len(lanes)
                if not beside:
                    lanes.append(_lane(names, wish, measured, by_text, assumed, asked, checked))
    needs = [2.0 if lane.spec.question.about_risk else 1.0 for lane in lanes]
    delta = DEFAULT_DELTA if checked["delta"] is None else checked["delta"]
    lanes = [
        LaneSpec(lane.of, replace(lane.spec, delta=delta * need / sum(needs)))
        for lane, need in zip(lanes, needs, strict=True)
    ]
    columns = []
    for wish in wishes:
        statistic, epsilon = wish.statistic, by_text[id(wish)]
        turn = 1.0 if wish.is_more else -1.0
        limit = turn * wish.limit if isinstance(wish, Constraint) and wish.factor is None else 0.0
        if wish not in measured:
            require(statistic.measure is None, f"{statistic}", "a mean: the outcome is known", str(wish))
            values = tuple(
                turn * statistic.of.value({name: each[arm] for name, each in known.items()})
                for arm in range(len(names))
            )
            unit = epsilon or PART * (max(values) - min(values)) or 1.0
            columns.append(Column(wish, -1, 0, 1.0, epsilon, unit, limit, values))
            continue
        part = int(statistic.measure is not None)
        lane = place_of[_key(statistic) if part else (str(statistic.of),)]
        spec = lanes[lane].spec
        sign = 1.0 if part or wish.is_more == (spec.direction == "maximize") else -1.0
        unit = epsilon or (PART * spec.span ** max(statistic.power, 1) if spec.rewards.ranged else 1.0)
        columns.append(Column(wish, lane, part, sign, epsilon, unit, limit))
    return tuple(lanes), tuple(columns)


def _key(statistic: Statistic) -> tuple[str, ...]:
    """By which the lane of a risk is known."""
    assert statistic.by_the_end is not None
    return str(statistic.of), statistic.by_the_end.exact, statistic.bad or ""


def _lane(
    names: tuple[str, ...],
    wish: Wish,
    wishes: Sequence[Wish],
    tolerances: Mapping[int, float],
    assumed: Mapping[str, DeclaredOutcome],
    asked: Mapping[str, Any],
    checked: Mapping[str, Any],
) -> LaneSpec:
    """What is learned of a statistic's outcome, as a search of its own."""
    statistic = wish.statistic
    of, about = statistic.of, derived(statistic.of, assumed)
    low, high = about.range or (0.0, 1.0)
    span = high - low
    measure = statistic.by_the_end
    mean = max((tolerances[id(each)] for each in wishes if str(each.statistic.of) == str(of)), default=0.0)
    options: dict[str, Any] = {
        "epsilon": mean or 0.01 * span,
        "delta": DEFAULT_DELTA,
        "question": BestMean(),
        "drift": "off",
        "direction": "minimize" if statistic.bad == "high" else "maximize",
        "bound": asked["bound"],
        "shared": checked["shared"] or None,
        "initial_trials": checked["initial"],
    }
    if measure is not None:
        in_risk = tolerances[id(wish)] or 0.01 * span**measure.power
        options |= {"risk": measure, "question": PARETO, "epsilon": (options["epsilon"], in_risk)}
    if checked["items"] is not None:
        allowed = f"given a range with items, such as outcomes={{{str(of)!r}: (0, 1)}}"
        require(about.range is not None, f"outcome {of}", allowed, about.noise)
        options["items"] = checked["items"]
    if about.range is not None:
        options["reward_range"] = about.range
    else:
        options["assumption"] = about.noise
        options |= dict(about.parameters)
    with located(f"{statistic}"):
        return LaneSpec(of, make_spec(names, fewest=1, **options))
