"""What a search returns: frozen, picklable, and able to explain itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ramgape.common.checks import as_float, check_number
from ramgape.common.extras import load_extra
from ramgape.common.plane import PlaneLine
from ramgape.errors import NoAnswer, known_name, require
from ramgape.search.explained import SCHEMA_VERSION, Answered, jsonable, restore, versions
from ramgape.search.extension import Extension
from ramgape.search.history_point import HistoryPoint
from ramgape.search.quality import TrialQuality
from ramgape.statistics.special import inverse_incomplete_beta

NOWHERE = (-math.inf, math.inf)
OLD_ARM_NAMES = {"pulls": "trials", "dominated_by": "beaten_by"}

Verdict = Literal["in", "out", "open"]
Status = Literal["certified", "best guess", "undecided"]
Certificate = Literal["in", "out", "within-epsilon", "none"]
ControlVerdict = Literal["better", "not worse", "not better", "open"]
# "open": a study that goes on; "data": the data are at their end, or a stored stop, and leave it undecided.
# "censored": trials that were cut off keep the answer open, and all else is settled.
# "constant": nothing can be said of an arm whose rewards are all equal, and all else is settled.
# "spend": there is no money for another pull.
# "complete": every item has been asked of every arm; "exhausted": likewise, but they are a sample of more.
Stopped = Literal[
    "confidence",
    "budget",
    "spend",
    "cap",
    "constant",
    "censored",
    "complete",
    "exhausted",
    "interrupted",
    "error",
    "callback",
    "open",
    "data",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much an arm is behind another one in an objective, in its units; less than 0 if it is ahead.

    Attributes:
        estimate: Of both averages.
        low, high: Where it is, anytime-valid at 95%, for this difference by itself.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ArmObjective:
    """An arm's own number in one objective, in its units.

    Attributes:
        estimate, se: With its standard error, which describes the data and claims nothing.
        low, high: Where it is, anytime-valid at 95%, for this arm by itself.
        behind: By how much it is behind the arm that it is compared with: the leader, the control, for the Pareto set
            the arm that beats it or its nearest rival. None for that arm.
        at_most_behind: By how much it is behind the best, at most; holds for all arms at once, with the answer. For the
            Pareto set the tolerance that is proved of its place. Infinite where nothing is proved.
    """

    estimate: float
    se: float
    low: float
    high: float
    behind: Difference | None = None
    at_most_behind: float = math.inf


@dataclass(frozen=True, slots=True)
class ArmConstraint:
    """Whether an arm keeps a constraint.

    Attributes:
        estimate: Of the statistic.
        low, high: Where it is, anytime-valid at 95%, for this arm by itself.
        verdict: "kept" or "missed" if that is proved, else "open".
    """

    estimate: float
    low: float
    high: float
    verdict: Literal["kept", "missed", "open"] = "open"


@dataclass(frozen=True, slots=True)
class ObjectiveReport:
    """What is wanted of every arm.

    Attributes:
        text: The statistic, such as "mean(reward)".
        direction: Whether more or less of it is better.
        epsilon: The tolerance that was requested; None without one.
        unit: Of the outcome, where it is known.
    """

    text: str
    direction: Literal["maximize", "minimize"]
    epsilon: float | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class ConstraintReport:
    """A limit that arms must keep.

    Attributes:
        text: Such as "quantile(latency, 0.95) <= 2".
        epsilon: The tolerance that was requested.
    """

    text: str
    epsilon: float | None = None


CertificateKind = Literal["exact", "finite-sample", "asymptotic"]


@dataclass(frozen=True, slots=True)
class Certified:
    """What is proved of the answer.

    Attributes:
        tolerance: Up to what the answer is right, by the text of the objective.
        factor: The same in multiples of the requested tolerances; None where one of these is 0 and not reached.
        confidence: The probability that the guarantee holds.
        kind: "exact" for a complete test set, "finite-sample" if the confidence holds as stated, "asymptotic" if only
            nearly so, by the central limit theorem.
        guarantee: All of it in words.
        assumptions: What it assumes.
    """

    tolerance: dict[str, float] = field(hash=False)
    factor: float | None
    confidence: float
    kind: CertificateKind
    guarantee: str
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What is known of one arm, in the user's units.

    Attributes:
        name: As it was given.
        trials: How often it was tried.
        verdict: "in" or "out" of the answer; "open" where the goal asks for a proof that is missing.
        word: Its place in a word: "best", "keep", "close", "likely behind", "behind", "beaten", "open", ...
        p: An anytime-valid p-value: the smaller, the more speaks against this being a best arm; for the Pareto set and
            a control against the arm's place being wrong. None where none is known.
        support: After a budget, the share of resamples in which the arm is in the answer. No guarantee.
        beaten_by: For an arm outside the answer: the returned arm that beats it most clearly, or for other questions
            the arm that it is behind; None where that is no arm but a limit.
        objectives: Its number in each objective, by the text of the objective.
        constraints: Whether it keeps each constraint, likewise.
        certified: The verdict is covered by the guarantee, not only by the estimates.
        certificate: What is proved of this arm: it is "in" the right answer; it is "out"; the answer is right about it
            "within-epsilon"; or "none" of these.
        why: Why it is where it is, where there are several outcomes.
        mean, std, variance: Estimates (NaN before the first trial); std is the standard deviation, in reward units.
        risk: Of the risk that was asked for; less is better.
        mean_interval, risk_interval: Its simultaneous intervals: they hold for all arms at once.
        risk_shown, risk_shown_interval: The same as people say it, under the risk's usual name: the average of the
            worst rewards, for example, in place of its negative.
        regions: The simultaneous intervals of further outcomes, by the text of the objective.
        empirical_risk: Where the risk is a value of the normal model: the same of the rewards as they are; else None.
        doubt: V_i of the paper: the verdict holds up to this tolerance, in units of the mean.
        rival: The arm that is behind the doubt; None where that is no other arm.
        price: Of one trial, as declared, or the mean of what was reported; None where there are no prices.
        spent: What its trials have cost, where that is known.
        cut_off: How many of its trials were cut off, so that their average is at least what it is here.
        margin: By how much the estimates put it inside the answer or outside, in units of the mean.
    """

    name: str
    verdict: Verdict
    trials: int
    word: str = ""
    p: float | None = None
    support: float | None = None
    beaten_by: str | None = None
    objectives: dict[str, ArmObjective] = field(default_factory=dict, hash=False)
    constraints: dict[str, ArmConstraint] = field(default_factory=dict, hash=False)
    certified: bool = False
    certificate: Certificate = "none"
    why: str = ""
    mean: float = math.nan
    mean_interval: tuple[float, float] = NOWHERE
    risk: float = math.nan
    risk_interval: tuple[float, float] = NOWHERE
    variance: float = math.nan
    doubt: float = math.inf
    empirical_risk: float | None = None
    std: float = math.nan
    risk_shown: float = math.nan
    risk_shown_interval: tuple[float, float] = NOWHERE
    regions: dict[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    rival: str | None = None
    price: float | None = None
    spent: float | None = None
    margin: float | None = None
    cut_off: int = 0

    def __getattr__(self, name: str) -> Any:
        if name in OLD_ARM_NAMES:
            return getattr(self, OLD_ARM_NAMES[name])
        raise AttributeError(f"'ArmReport' object has no attribute {name!r}")


@dataclass(frozen=True, slots=True)
class ControlDifference:
    """How an arm compares with the control, in the user's units.

    Attributes:
        name: Of the arm.
        mean, risk: Its own less the control's; NaN before both were pulled.
        mean_interval, risk_interval: Where these are, by the intervals of both arms and by what is proved of the
            arm's place.
        percent: The difference in mean, in per cent of the size of the control's.
        percent_interval: Where that is: by the evidence on the ratio of both means, anytime-valid at 95% and each by
            itself; for rewards in a range by the intervals of both; infinite where the control's mean may be 0.
        verdict: What is proved of the arm: "better" than the control by more than the margin; "not better", since it is
            ahead of control and margin by less than epsilon; "not worse", since it is behind them by less than epsilon,
            while neither of the others is proved; or nothing yet, "open". Where the risk counts, better and not worse
            are meant in both objectives.
    """

    name: str
    mean: float
    mean_interval: tuple[float, float]
    percent: float
    percent_interval: tuple[float, float]
    risk: float
    risk_interval: tuple[float, float]
    verdict: ControlVerdict = "open"


@dataclass(frozen=True, slots=True)
class Goal:
    """What was asked for: fixed confidence (epsilon, delta) or fixed budget (budget, perhaps epsilon).

    Attributes:
        kind: "confidence" or "budget".
        epsilon: The tolerance in mean and risk; in the mean alone where `risk_epsilon` has that in risk. None while it
            is a share of means that are not known yet.
        delta: The accepted probability of a wrong answer.
        budget: The pulls to spend.
        spend: The most that pulls may cost: by itself what a budget buys, beside a tolerance a cap.
        epsilon_share: Where epsilon was asked for as a share, of the reward range or of the smallest absolute mean
            after the first looks: that share.
    """

    kind: Literal["confidence", "budget"]
    epsilon: float | None
    delta: float | None
    budget: int | None
    risk_epsilon: float | None = None
    epsilon_share: float | None = None
    spend: float | None = None

    @property
    def tolerant(self) -> bool:
        """Whether an answer that is right up to a tolerance is right."""
        return bool(self.epsilon or self.epsilon_share)


@dataclass(frozen=True, slots=True)
class Expectation:
    """How many more pulls a search may take that is not at its end.

    Attributes:
        pulls: An estimate, or the least of one.
        at_least: Whether it is the latter.
    """

    pulls: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """How a simulated answer compares with the truth that only a simulation knows.

    Attributes:
        front: The right answer.
        regret: The largest gap of an arm that is wrongly in or wrongly out of the Pareto set; of other tasks the least
            tolerance at which what they claim of the answer is true; against a control by how much an arm is on the
            wrong side. 0 if it is right.
        exact: Whether the answer is the right one.
        eps_correct: Whether it is right up to epsilon, as the guarantee has it.
    """

    front: tuple[str, ...]
    regret: float
    exact: bool
    eps_correct: bool


@dataclass(frozen=True, slots=True)
class ArmTruth:
    """What is true of a simulated arm, in the user's units.

    Attributes:
        name: As it was given.
        mean, std: Of its rewards.
        risk, risk_shown: The risk that was asked for, less being better, and as people say it; as in `ArmReport`.
    """

    name: str
    mean: float
    std: float
    risk: float
    risk_shown: float


@dataclass(frozen=True, slots=True)
class Details:
    """All else that is known of a result: for renderers, and for programs that use names of earlier versions.

    Attributes:
        stopped: Why the search ended; `goal_reached` says whether that was the goal.
        goal: What was asked for.
        guarantee: Exactly what has been proved, in words.
        certified_epsilon, certified_delta, certified_risk_epsilon: The smallest tolerance for which the evidence proves
            the answer, its failure probability, and the tolerance in risk where that differs; None where nothing is.
        noise, reward_range, direction: What rewards are.
        policy, bound, interval_bound, exploration, seed: How the search was made. The interval bound differs from the
            bound after a budget, whose own widths prove nothing.
        risk, risk_formula, risk_label, rho, alpha, about_risk: The risk, and whether the answer has to do with it.
        truth: Of a simulation: how the answer compares with it.
        expected: Of a study in progress: how many more trials it may take.
        rigour: "proved", or "approximate" where the guarantee is asymptotic.
        notes: What helps to read the answer.
        alarm: The probability of a false alarm of the drift check; None where trials were not checked.
        extensions: Of a study that was to go on for more: when, and what had been asked for until then.
        task: The question as it is written; answer_name, empty_answer and sought are its words.
        control, differences: The arm that others are compared with, and how they compare.
        lines: What the answer goes by, as lines in the plane of mean and risk.
        spent: What all trials have cost, where there are prices.
        reward_name, unit: What the user calls the rewards, and their unit.
        estimand: What means and risks are of, where that is not one distribution for each arm.
        safest: While nothing is decided: arms whose worst case is least bad, where those are others.
        said: The decision in words, where there are several outcomes.
        observed: Every trial's arm and outcomes, where these were kept.
        history: What was known at a few moments on the way.
    """

    stopped: Stopped
    goal_reached: bool
    goal: Goal
    guarantee: str
    policy: str
    bound: str
    interval_bound: str
    noise: str
    direction: Literal["maximize", "minimize"]
    certified_epsilon: float | None = None
    certified_delta: float | None = None
    certified_risk_epsilon: float | None = None
    reward_range: tuple[float, float] | None = None
    rho: float | None = None
    alpha: float | None = None
    seed: int | None = None
    exploration: float | None = None
    truth: Truth | None = None
    task: str = "pareto"
    risk: str = "mean-variance"
    risk_formula: str = "variance - rho mean"
    risk_label: str = "variance - rho mean"
    about_risk: bool = True
    expected: Expectation | None = None
    notes: tuple[str, ...] = ()
    rigour: Literal["proved", "approximate"] = "proved"
    alarm: float | None = None
    extensions: tuple[Extension, ...] = ()
    answer_name: str = "Pareto set"
    empty_answer: str = "nothing yet"
    sought: str = ""
    control: str | None = None
    differences: tuple[ControlDifference, ...] = ()
    lines: tuple[PlaneLine, ...] = ()
    spent: float | None = None
    reward_name: str = ""
    unit: str = ""
    estimand: str = ""
    safest: tuple[str, ...] = ()
    said: str = ""
    observed: tuple[tuple[str, dict[str, float]], ...] = field(default=(), hash=False, compare=False)
    history: tuple[HistoryPoint, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Result(Answered):
    """The answer of a search with its evidence, for one or several outcomes.

    It prints itself (`print(result)`, rich, a notebook), explains itself (`explain()`), draws itself (`plot`), and goes
    on as a dictionary, as JSON or as a data frame.

    Attributes:
        answer: Names of the arms in the answer, in the order they were given. An empty answer is one, too.
        arms: What is known of each arm, in the order they were given.
        trials: How many there were.
        objectives, constraints: What was wanted of every arm.
        certified: What is proved of the answer; None where nothing is.
        quality: Trials that gave no result, drift, and what may have gone unseen.
        warnings: What was probably not meant, and what in the data speaks against the assumptions.
        details: What else is known. Its fields can be read from the result itself: `result.stopped`.

    Examples:
        >>> safe = ArmReport("safe", "in", 500, mean=0.4, std=0.2, risk=-0.09, variance=0.04, doubt=0.01)
        >>> bold = ArmReport("bold", "in", 700, mean=0.6, std=0.6, risk=-0.06, variance=0.36, doubt=0.01)
        >>> poor = ArmReport("poor", "out", 300, beaten_by="safe", mean=0.2, std=0.5, risk=0.01, variance=0.24)
        >>> details = Details(
        ...     "confidence", True, Goal("confidence", epsilon=0.05, delta=0.05, budget=None),
        ...     "with probability 0.95 no arm of the answer is beaten by 0.05 or more", policy="ramgape",
        ...     bound="hoeffding", interval_bound="hoeffding", noise="bounded", direction="maximize",
        ...     certified_epsilon=0.05, certified_delta=0.05, rho=1.0, alpha=0.25, reward_range=(0.0, 1.0),
        ... )
        >>> result = Result((safe, bold, poor), ("safe", "bold"), 1500, details)
        >>> result
        <Result: Pareto set: safe, bold (2 of 3 arms), after 1,500 trials>
        >>> result.arm("poor").beaten_by
        'safe'
        >>> result.choose(max_risk=-0.05), result.choose(rho=0.5)
        ('bold', 'safe')
    """

    arms: tuple[ArmReport, ...]
    answer: tuple[str, ...]
    trials: int
    details: Details
    objectives: tuple[ObjectiveReport, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    certified: Certified | None = None
    quality: TrialQuality = field(default_factory=TrialQuality, hash=False)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Results of earlier versions have means and risks alone: their objectives follow from these."""
        if self.objectives or self.constraints or any(arm.objectives for arm in self.arms):
            return
        details = self.details
        object.__setattr__(self, "objectives", _usual_objectives(details))
        texts = [each.text for each in self.objectives]
        object.__setattr__(self, "arms", tuple(_with_numbers(arm, texts) for arm in self.arms))

    def __getattr__(self, name: str) -> Any:
        """What earlier versions had as attributes of their own."""
        if name in OLD_NAMES:
            return getattr(self, OLD_NAMES[name])
        if name == "alarms":
            return self.quality.drift
        if name in _DETAILS:
            return getattr(self.details, name)
        return Answered.__getattr__(self, name)

    @property
    def question(self) -> str:
        """What was asked, as it is written: "pareto", "best-mean", "above:0.8", ..."""
        return self.details.task

    @property
    def status(self) -> Status:
        """Whether the answer is "certified", a "best guess" after a budget, or still "undecided"."""
        details = self.details
        if details.stopped in ("confidence", "complete") or (details.goal_reached and self.is_informative):
            return "certified"
        return "best guess" if details.goal.kind == "budget" or details.stopped == "data" else "undecided"

    @property
    def settings(self) -> dict[str, Any]:
        """How the search was made: policy, bound, assumptions, delta, epsilon, budget, seed, ..."""
        details, goal = self.details, self.details.goal
        return {
            "policy": details.policy,
            "bound": details.bound,
            "assumptions": details.noise,
            "delta": goal.delta,
            "epsilon": goal.epsilon,
            "budget": goal.budget,
            "spend": goal.spend,
            "seed": details.seed,
            "risk": details.risk,
            "reward_range": details.reward_range,
            "direction": details.direction,
            "stopped": details.stopped,
        }

    @property
    def versions(self) -> dict[str, str | None]:
        """What the result may depend on: Python, ramgape, NumPy, Numba."""
        return versions()

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, strings and numbers, ready for JSON (schema version 2).

        JSON has neither NaN nor infinity: None stands for a number that is not known and for an end that is not
        bounded. `details` has what is needed to restore the result; it may change with every version.
        """
        described: dict[str, Any] = jsonable(
            {
                "schema_version": SCHEMA_VERSION,
                "sentence": self.sentence,
                "status": self.status,
                "answer": self.answer,
                "question": self.question,
                "certified": None if self.certified is None else asdict(self.certified),
                "trials": self.trials,
                "objectives": [asdict(each) for each in self.objectives],
                "constraints": [asdict(each) for each in self.constraints],
                "arms": [_picked(arm, ARM_KEYS) for arm in self.arms],
                "quality": asdict(self.quality),
                "warnings": self.warnings,
                "settings": self.settings,
                "versions": versions(),
                "details": _plain_details(self),
            }
        )
        return described

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Result:
        if description.get("schema_version", 1) == 1:
            return restore(cls, _from_version_1(description))
        further = description["details"]["arms"]
        arms = [{**arm, **more} for arm, more in zip(description["arms"], further, strict=True)]
        return restore(cls, {**description, "arms": arms})

    @property
    def _found(self) -> Result:
        return self

    def report(self) -> str:
        """A page of its own as HTML: all that is said of the result and its picture, which needs no network.

        Raises:
            MissingExtra: matplotlib is not installed.
        """
        return self._page()

    def intervals(self, kind: Literal["each", "all", "fixed"] = "each") -> dict[str, dict[str, tuple[float, float]]]:
        """Where each arm's own numbers are: by the arm's name and the text of the objective, a low and a high end.

        Args:
            kind: "each": anytime-valid at 95%, one arm by itself, however the search decided when to stop. "all":
                confidence regions that hold for all arms at once, with the answer. "fixed": the classical 95% interval,
                valid only if the number of trials was fixed beforehand and the arm was not chosen by the data.
        """
        require(kind in ("each", "all", "fixed"), "kind", "'each', 'all' or 'fixed'", kind)
        ends = {"each": _each_interval, "all": _region, "fixed": _fixed_interval}[kind]
        return {
            arm.name: {text: ends(arm, text, place) for place, text in enumerate(arm.objectives)} for arm in self.arms
        }

    def trials_frame(self) -> Any:
        """Every trial as a row of a pandas data frame, in order: the arm and a column for each outcome.

        Raises:
            NoAnswer: The trials were not kept.
            MissingExtra: pandas is not installed.
        """
        observed = self.details.observed
        kept = "of a search whose trials are kept: `identify` keeps them, and `Study.trials_frame()` has a study's"
        require(bool(observed) or not self.trials, "trials_frame()", kept, "a result without its trials", NoAnswer)
        rows = [{"arm": arm, **outcomes} for arm, outcomes in observed]
        return load_extra("pandas", "frame").DataFrame(rows)

    @property
    def conditions(self) -> list[str]:
        """What the guarantee assumes because of trials that were replaced or overtaken, in words that follow "if"."""
        return self.quality.conditions({arm.name: arm.trials for arm in self.arms})

    @property
    def is_informative(self) -> bool:
        """Whether the certified tolerances are worth telling: the goal, or less than some difference between arms."""
        details = self.details
        if details.certified_epsilon is None or details.stopped == "confidence" or details.said:
            return details.certified_epsilon is not None
        in_risk = details.certified_risk_epsilon
        in_risk = details.certified_epsilon if in_risk is None else in_risk
        return details.certified_epsilon <= self.spread[0] or in_risk <= self.spread[1]

    @property
    def spread(self) -> tuple[float, float]:
        """How far apart the arms are by the estimates, in mean and in risk; -inf where no answer is about risk."""
        in_mean, in_risk = ([getattr(arm, name) for arm in self.arms] for name in ("mean", "risk"))
        about_risk = self.details.about_risk
        return max(in_mean) - min(in_mean), max(in_risk) - min(in_risk) if about_risk else -math.inf

    def arm(self, name: str) -> ArmReport:
        """What is known of one arm.

        Args:
            name: As it was given.

        Raises:
            UnknownName: There is no arm of this name.
        """
        for arm in self.arms:
            if arm.name == name:
                return arm
        known_name(name, (arm.name for arm in self.arms), "arm")
        raise AssertionError(name)

    def choose(self, by: str | None = None, *, rho: float | None = None, max_risk: float | None = None) -> str:
        """Choose a single arm of the answer; give exactly one argument.

        The guarantee covers the answer. The choice inside it rests on the estimates alone; of equally good arms the
        first is taken.

        Args:
            by: The text of an objective, such as "mean(cost)": the arm that is best in it.
            rho: How much variance a unit of mean is worth (at least 0): the arm with the smallest variance - rho mean,
                or variance + rho mean when the mean is minimized.
            max_risk: The most risk that is acceptable, on the scale of `ArmReport.risk`: the arm with the best mean
                among those whose estimated risk is not larger.

        Raises:
            NoAnswer: No arm of the answer was tried, or none has so little risk.
        """
        given = f"by={by!r}, rho={rho!r}, max_risk={max_risk!r}"
        one = sum(each is not None for each in (by, rho, max_risk)) == 1
        require(one, "choose()", "given exactly one of by, rho and max_risk", given)
        returned = [self.arm(name) for name in self.answer]
        choices = [arm for arm in returned if math.isfinite(arm.mean) and (by or math.isfinite(arm.risk))]
        wanted = "one with at least one arm that was tried, to choose from"
        require(bool(choices), "the answer", wanted, self.answer, NoAnswer)
        if by is not None:
            known_name(by, (each.text for each in self.objectives), "objective")
            costs = next(each.direction for each in self.objectives if each.text == by) == "minimize"
            return min(choices, key=lambda arm: (1.0 if costs else -1.0) * arm.objectives[by].estimate).name
        better = -1.0 if self.details.direction == "minimize" else 1.0
        if rho is not None:
            weight = better * check_number(rho, "rho", "a finite number, at least 0", lambda value: value >= 0.0)
            return min(choices, key=lambda arm: arm.variance - weight * arm.mean).name
        assert max_risk is not None
        require(not math.isnan(as_float(max_risk)), "max_risk", "a number", max_risk)
        safest = min(choices, key=lambda arm: arm.risk)
        smallest = f"at least {safest.risk!r}, the smallest risk in the answer (arm {safest.name!r})"
        require(safest.risk <= max_risk, "max_risk", smallest, max_risk, NoAnswer)
        return max((arm for arm in choices if arm.risk <= max_risk), key=lambda arm: better * arm.mean).name

    def _rows(self) -> list[dict[str, Any]]:
        """One for each arm, in the order they were given."""
        rows, priced = [], self.details.spent is not None
        for arm in self.arms:
            row: dict[str, Any] = {name: getattr(arm, name) for name in ("name", "verdict", "word", "trials")}
            row |= {"p": arm.p, "support": arm.support, "beaten_by": arm.beaten_by}
            for text, number in arm.objectives.items():
                behind = number.behind or Difference(math.nan, math.nan, math.nan)
                row |= {
                    text: number.estimate,
                    f"{text} se": number.se,
                    f"{text} low": number.low,
                    f"{text} high": number.high,
                    f"{text} behind": behind.estimate,
                    f"{text} behind low": behind.low,
                    f"{text} behind high": behind.high,
                    f"{text} at most behind": number.at_most_behind,
                }
            for text, limit in arm.constraints.items():
                row |= {text: limit.estimate, f"{text} low": limit.low, f"{text} high": limit.high}
                row[f"{text} verdict"] = limit.verdict
            row |= {"returned": arm.name in self.answer, "certified": arm.certified, "certificate": arm.certificate}
            row |= {"rival": arm.rival, "mean": arm.mean, "std": arm.std, "risk": arm.risk}
            row |= {"mean_low": arm.mean_interval[0], "mean_high": arm.mean_interval[1]}
            row |= {"risk_low": arm.risk_interval[0], "risk_high": arm.risk_interval[1]}
            row |= {"risk_shown": arm.risk_shown, "empirical_risk": arm.empirical_risk, "variance": arm.variance}
            row |= {"doubt": arm.doubt, "margin": arm.margin, "cut_off": arm.cut_off}
            rows.append({**row, **({"price": arm.price, "spent": arm.spent} if priced else {})})
        return rows


OLD_NAMES = {"front": "answer", "samples": "trials", "best": "choose"}
_DETAILS = frozenset(Details.__dataclass_fields__)
# Of an arm in JSON, in this order; all else is among the details.
ARM_KEYS = ("name", "trials", "verdict", "word", "p", "support", "beaten_by", "objectives", "constraints")


def _usual_objectives(details: Details) -> tuple[ObjectiveReport, ...]:
    first = ObjectiveReport("mean(reward)", details.direction, details.goal.epsilon)
    second = ObjectiveReport(f"{details.risk.partition(':')[0]}(reward)", "minimize", details.goal.risk_epsilon)
    return (first, second) if details.about_risk else (first,)


def _with_numbers(arm: ArmReport, texts: Sequence[str]) -> ArmReport:
    """An arm with its objectives, from its mean and its risk."""
    se = math.sqrt(arm.variance / (arm.trials - 1)) if arm.trials > 1 and arm.variance >= 0.0 else math.nan
    numbers = (ArmObjective(arm.mean, se, *NOWHERE), ArmObjective(arm.risk_shown, math.nan, *NOWHERE))
    word = arm.word or {"in": "in", "out": "out", "open": "open"}[arm.verdict]
    return replace(arm, objectives=dict(zip(texts, numbers, strict=False)), word=word)


def updated(result: Result, **changes: Any) -> Result:
    """A result with other values of some attributes, be they its own or among the details."""
    further = {name: value for name, value in changes.items() if name in _DETAILS}
    own = {name: value for name, value in changes.items() if name not in further}
    return replace(result, **own, details=replace(result.details, **further) if further else result.details)


def _plain_details(result: Result) -> dict[str, Any]:
    """What is needed to restore a result beside what its JSON has anyway."""
    found = asdict(replace(result.details, history=(), observed=()))
    del found["history"], found["observed"]
    further = [name for name in ArmReport.__dataclass_fields__ if name not in ARM_KEYS]
    return {**found, "arms": [_picked(arm, further) for arm in result.arms]}


def _picked(arm: ArmReport, names: Iterable[str]) -> dict[str, Any]:
    described = asdict(arm)
    return {name: described[name] for name in names}


def _from_version_1(description: Mapping[str, Any]) -> dict[str, Any]:
    """A result as version 1 described it, in the form of version 2."""
    arms = []
    for arm in description["arms"]:
        verdict = "open" if arm["verdict"] == "undecided" else arm["verdict"]
        arms.append({**arm, "trials": arm["pulls"], "beaten_by": arm["dominated_by"], "verdict": verdict})
    quality = {**description.get("quality", {}), "drift": description.get("alarms", [])}
    details = {**description, "sought": description.get("question", "")}
    own = {"arms": arms, "answer": description["front"], "trials": description["samples"]}
    return {**description, **own, "quality": quality, "details": details}


def _each_interval(arm: ArmReport, text: str, place: int) -> tuple[float, float]:
    del place
    return arm.objectives[text].low, arm.objectives[text].high


def _region(arm: ArmReport, text: str, place: int) -> tuple[float, float]:
    return arm.regions.get(text, (arm.mean_interval, arm.risk_shown_interval, NOWHERE)[min(place, 2)])


def _fixed_interval(arm: ArmReport, text: str, place: int) -> tuple[float, float]:
    del place
    number = arm.objectives[text]
    half = student_quantile(arm.trials - 1) * number.se if arm.trials > 1 else math.inf
    return number.estimate - half, number.estimate + half


def student_quantile(freedom: int, chance: float = 0.05) -> float:
    """How many standard errors a Student-t variable is off with this chance, in either direction.

    >>> round(student_quantile(9), 3)
    2.262
    """
    x, rest = inverse_incomplete_beta(0.5 * freedom, 0.5, chance)
    return math.sqrt(freedom * rest / x)
