"""What a study is to do: a search, and what becomes of failed trials; as text and back, without loss.

The text is JSON with a format of its own, since stored studies outlast the program that wrote them. A field that is
missing has its default; an unknown field was written by a newer program, and is an error, because what it
means may matter. Where more changes than that, the format is raised and `UPGRADES` says how a text of the one before is
brought up to it, for good.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal

from ramgape.assumptions import BOUNDED, UNKNOWN
from ramgape.bounds import the_bound
from ramgape.common.checks import check_number, check_seed, whole
from ramgape.errors import StorageError, UnknownName, known_name, require, shorten
from ramgape.options import OPTIONS, STUDY, Options, StudyOptions, complete
from ramgape.questions import QUESTIONS, Question
from ramgape.questions.best import Best
from ramgape.registry import is_registered
from ramgape.risks import measure_class, measure_from_dict
from ramgape.risks.mean_variance import MeanVariance
from ramgape.risks.measure import Measure
from ramgape.risks.table import RISKS
from ramgape.search.estimands import counts_in_order
from ramgape.search.explained import restore
from ramgape.search.outcome_spec import OutcomeSpec, make_any_spec
from ramgape.search.outcomes import worst_value
from ramgape.search.result import Goal
from ramgape.search.spec import Spec
from ramgape.studies.arrivals import ArmChange, first_count, present, with_reserve
from ramgape.studies.stored_search import NEW, check_fields, search_from_json, search_to_json

FAILURES = ("retry", "worst", "censored")
EXPIRED = ("retry", "fail")

OF_A_SEARCH = frozenset(Options.__annotations__)
OUTLINE = ("goal", "epsilon", "delta", "budget", "risk_epsilon", "epsilon_share", "spend")
# Left out where there is nothing: older programs can read what they can follow.
COMING = ("expected_arms", "arm_changes", "worst")
ASKING_ORDER = 4  # the format since which results count in the order of asking, over all arms
FORMAT = 4  # of the text: raised when a key changes its meaning or goes, or older programs must not ignore it
Json = dict[str, Any]


def _upgrade_1(stored: Json) -> Json:
    """Before answers could be held back, and leases could fail."""
    return stored | {"in_order": False, "expired": "retry"}


def _upgrade_2(stored: Json) -> Json:
    """Before only the mean-variance had a factor: for others it was a tolerance of its own, said in another way.

    Without a tolerance an unusual factor stays: it has no other name, and decides what is tried next.
    """
    search = dict(stored["search"])
    if search["risk"]["name"] != MeanVariance.name:
        alpha, epsilon, risk_epsilon = search["alpha"], search["epsilon"], search["risk_epsilon"]
        low, high = search["reward_range"] or (0.0, 1.0)
        usual = measure_from_dict(search["risk"]).usual_scale(high - low)
        if epsilon and not alpha == usual == 1.0:
            search["risk_epsilon"] = (risk_epsilon or epsilon) / alpha
        if epsilon or alpha == usual:
            search["alpha"] = None
    return stored | {"search": search}


def _upgrade_3(stored: Json) -> Json:
    """Before results counted in the order of asking over all arms: only on demand, and then for each arm by itself."""
    return {"in_order": False} | stored | {"first_format": 3}


UPGRADES: dict[int, Callable[[Json], Json]] = {1: _upgrade_1, 2: _upgrade_2, 3: _upgrade_3}  # to the next format


@dataclass(frozen=True, slots=True)
class StudySpec:
    """A study, fully decided.

    Attributes:
        search: The arms, the goal, the risk, and how to search.
        failure: "retry" a failed trial, count it as the "worst" reward, or as "censored": as that reward or worse.
        retries: How often a trial is tried again before it is given up.
        seed: What the seeds of the trials come from; None: from the key of the study, which is random.
        in_order: Count results in the order of asking, over all arms.
        expired: An expired lease: "retry" by another worker, or "fail", as if the trial had failed.
        worst: What a failure counts as, where rewards have no range that says it.
        expected_arms: How many arms there may be in all; None if none comes or goes. `search` names all that ever came.
        arm_changes: Which came later, and which went.
        first_format: Of the text when the study was created, 3 for all older ones: it tells by which rules it began.
    """

    search: Spec
    failure: Literal["retry", "worst", "censored"]
    retries: int
    seed: int | None = OPTIONS["seed"].default
    in_order: bool = OPTIONS["in_order"].default
    expired: Literal["retry", "fail"] = OPTIONS["expired"].default
    expected_arms: int | None = None
    arm_changes: tuple[ArmChange, ...] = ()
    worst: float | None = None
    first_format: int = FORMAT

    @property
    def retired(self) -> tuple[str, ...]:
        """The arms that take part no longer."""
        return tuple(change.arm for change in self.arm_changes if change.kind == "retired")

    @property
    def present(self) -> Spec:
        """What is searched: the same as `search`, but for arms that come and go."""
        return present(self)

    @property
    def counts_failures(self) -> bool:
        """Whether a failed trial counts, in place of being tried again."""
        return self.failure != "retry"

    @property
    def worst_reward(self) -> float:
        """What a failure counts as, where it counts."""
        if self.worst is not None:
            return self.worst
        if self.worst_outcomes is not None:
            return next(iter(self.worst_outcomes.values()))
        assert self.search.reward_range is not None
        return self.search.reward_range[0 if self.search.direction == "maximize" else 1]

    @property
    def worst_outcomes(self) -> dict[str, float] | None:
        """The same of trials with several outcomes, by name: of each the bad end of its range."""
        if not isinstance(self.search, OutcomeSpec):
            return None
        outcomes, wishes = self.search.outcomes, [column.wish for column in self.search.columns]
        assert outcomes is not None
        return {name: worst_value(name, outcomes.declared.get(name), wishes) for name in outcomes.measured}

    def to_text(self) -> str:
        """As JSON."""
        stored = _values(self) | {"search": search_to_json(self.search)}
        stored["arm_changes"] = [asdict(each) for each in self.arm_changes]
        for name in COMING:
            if stored[name] in (None, (), []):
                del stored[name]
        return json.dumps({"format": FORMAT, **stored})

    @staticmethod
    def from_text(text: str) -> StudySpec:
        """From JSON, of this format or an older one."""
        try:
            stored = json.loads(text)
            version = stored.pop("format")
            known = type(version) is int and 1 <= version <= FORMAT
            require(known, "a stored specification", f"of format {FORMAT} or older, {NEW}", version, StorageError)
            for older in range(version, FORMAT):
                stored = UPGRADES[older](stored)
            check_fields(stored, StudySpec)
            stored["search"] = search_from_json(stored["search"])
            stored["arm_changes"] = tuple(restore(ArmChange, each) for each in stored.get("arm_changes", ()))
            return StudySpec(**stored)
        except UnknownName as error:
            hint = "; what is from outside must be registered (`ramgape.register`), or installed, wherever it is used"
            raise StorageError(f"a stored specification cannot be read ({error})", hint=hint) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StorageError(f"a stored specification cannot be read ({error})", given=shorten(text)) from error

    def first(self) -> StudySpec:
        """What the study was created for, before more was asked of it."""
        if self.arm_changes:
            count, price = first_count(self), self.search.price
            price = price[:count] if isinstance(price, tuple) else price
            search = replace(self.search, names=self.search.names[:count], price=price)
            return replace(self, search=search, arm_changes=()).first()
        if not self.search.extensions:
            return self
        asked = self.search.extensions[0]
        before = {
            name: getattr(asked, name) for name in ("epsilon", "risk_epsilon", "epsilon_share", "budget", "spend")
        }
        search = replace(self.search, extensions=(), exploration=asked.exploration, **before)
        return replace(self, search=search)

    def differences(self, other: StudySpec) -> list[str]:
        """In words: where another specification is not the same as this stored one."""
        found = []
        for name, mine in _flat(self).items():
            given = _flat(other)[name]
            if name == "in_order" and self.first_format < ASKING_ORDER:
                continue  # its default was another one, and a study keeps the rule that it began with
            if mine != given:
                found.append(f"{name} is {_worded(mine)} in the store, {_worded(given)} here")
        return found


@lru_cache(maxsize=256)  # of many studies, most are alike
def read_outline(text: str) -> tuple[tuple[str, ...], Goal]:
    """The arms and the goal in a stored specification: all that a list of studies shows, at a fraction of the cost."""
    try:
        search = json.loads(text)["search"]
        goal = Goal(*(search.get(name) for name in OUTLINE))
        # Of several outcomes each has a tolerance, or none has.
        return tuple(search["names"]), replace(goal, epsilon=None) if goal.epsilon and "lanes" in search else goal
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(f"a stored specification cannot be read ({error})", given=shorten(text)) from error


def make_study_spec(arms: Iterable[object], options: StudyOptions) -> StudySpec:
    """Check what is asked for: a search, and what becomes of its trials."""
    asked = complete(options, STUDY)
    arms = arms if isinstance(arms, str | bytes) or not isinstance(arms, Iterable) else list(arms)
    of_search = {name: asked.pop(name) for name in list(asked) if name in OF_A_SEARCH}
    search = make_any_spec(arms, of_search)
    if asked["expected_arms"] is not None:
        allowed = "absent with several outcomes: their proofs take all arms to be there from the start"
        require(not isinstance(search, OutcomeSpec), "expected_arms", allowed, asked["expected_arms"])
        allowed = f"absent with bound {search.bound}, whose averages are over the same rounds for all arms"
        require(not the_bound(search.bound).terms.in_rounds, "expected_arms", allowed, asked["expected_arms"])
        search, asked["expected_arms"] = with_reserve(arms, of_search, search, asked["expected_arms"])
    failure, expired, seed = asked["failure"], asked["expired"], asked["seed"]
    for kind, name, thing in _from_outside(search):
        allowed = "a name, for a study, which keeps no code: `ramgape.register` gives it one"
        require(is_registered(kind, name, thing), kind, allowed, thing)
    known_name(failure, FAILURES, "failure")
    asked["worst"] = check_worst(asked["worst"], failure, search)
    if failure == "censored":
        cutoff = asked["worst"] if search.reward_range is None else search.reward_range[1]
        check_censored(search, cutoff)
        search = replace(search, cutoff=cutoff)
    known_name(expired, EXPIRED, "expired")
    allowed = "'retry' unless failure is 'worst' or 'censored': what is tried again has no lease to fail by"
    require(expired == "retry" or failure != "retry", "expired", allowed, expired)
    require(isinstance(asked["in_order"], bool), "in_order", "true or false", asked["in_order"])
    if search.items is not None:
        require(is_plain(search.items.values), "items", "what JSON has, for a study, which keeps them", search.items)
    asked["in_order"] |= counts_in_order(search)
    asked["retries"] = whole(asked["retries"], "retries", "a whole number of at least 0", 0)
    asked["seed"] = None if seed is None else check_seed(seed)
    return StudySpec(search, **asked)


def check_worst(worst: object, failure: str, search: Spec) -> float | None:
    """What a failure counts as, if that must be said."""
    if isinstance(search, OutcomeSpec):
        require(worst is None, "worst", "absent with several outcomes: the bad end of their ranges", worst)
        if failure != "retry":
            StudySpec(search, "worst", 0).worst_outcomes  # noqa: B018 - complains of an outcome without a worst value
        return None
    if worst is None:
        allowed = "'retry' for rewards without a range, which have no worst one, unless `worst` says what it is"
        require(failure == "retry" or search.reward_range is not None, "failure", allowed, failure)
        return None
    require(failure != "retry", "worst", "absent unless failure is 'worst' or 'censored'", worst)
    require(search.reward_range is None, "worst", "absent for rewards with a range, whose end it is", worst)
    low, high = search.possible_rewards
    return check_number(worst, "worst", f"a finite number from {low:g} to {high:g}", lambda each: low <= each <= high)


def check_censored(search: Spec, cutoff: float) -> None:
    """Complain of a search that cannot deal with trials of which only a lower limit of the cost is known."""
    allowed = "'retry' or 'worst' but for costs, direction 'minimize', that are 0 or more"
    costs = search.direction == "minimize" and (search.reward_range or (0.0,))[0] >= 0.0
    require(costs and search.items is None, "failure", allowed, "censored")
    require(cutoff > 0.0, "worst", "above 0 where failure is 'censored'", cutoff)
    allowed = (
        "'retry' or 'worst' unless the question is best or top, compared by pairs, with assumption unknown or bounded"
    )
    served = (
        isinstance(search.question, Best) and search.question.compares_pairs and search.assumption in (UNKNOWN, BOUNDED)
    )
    by_pairs = search.goal == "budget" or the_bound(search.bound).compares_pairs
    require(served and by_pairs, "failure", allowed, "censored")


def is_plain(values: Iterable[Any]) -> bool:
    """Whether JSON gives back what it was given."""
    listed = list(values)
    with suppress(TypeError, ValueError, RecursionError):
        return bool(json.loads(json.dumps(listed, allow_nan=False)) == listed)
    return False


def _from_outside(search: Spec) -> list[tuple[str, str, object]]:
    """What a search takes from outside the package: its kind, its name, and what must be registered under it."""
    things: list[tuple[str, str, object]] = []
    if search.decide is not None:
        things.append(("policy", search.policy, search.decide))
    if not isinstance(search.bound, str):
        things.append(("bound", search.bound.name, search.bound))
    if search.risk.name not in RISKS or type(search.risk) is not measure_class(search.risk.name):
        things.append(("risk", search.risk.name, type(search.risk)))
    if type(search.question) is not QUESTIONS.get(search.question.name):
        things.append(("question", search.question.name, type(search.question)))
    return things


def _values(described: Any) -> Json:
    return {field.name: getattr(described, field.name) for field in fields(described)}


def _flat(spec: StudySpec) -> Json:
    values = _values(spec)
    search = _values(values.pop("search"))
    of_others = (
        "warnings",
        "decide",
        "looked_at_once",
        "extensions",
        "shares",
        "expected_arms",
        "first_looks",
        "cutoff",
        "guarded",
    )
    for followed in of_others:
        del search[followed]  # from the rest, or from what was done
    del values["arm_changes"], values["first_format"]
    search["arms"] = search.pop("names")
    return search | values


def _worded(value: Any) -> str:
    return (
        str(value)
        if isinstance(value, Measure | Question)
        else shorten(list(value) if isinstance(value, tuple) else value)
    )
