"""What a search returns: frozen, picklable, and able to explain itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ramgape.common.checks import as_float, check_number
from ramgape.common.old_names import ATTRIBUTES, reading
from ramgape.common.plane import PlaneLine
from ramgape.errors import NoAnswer, known_name, require
from ramgape.search.explained import Answered, Explained
from ramgape.search.extension import Extension
from ramgape.search.history_point import HistoryPoint
from ramgape.search.quality import TrialQuality

Verdict = Literal["in", "out", "undecided"]
Certificate = Literal["in", "out", "within-epsilon", "none"]
ControlVerdict = Literal["better", "not worse", "not better", "open"]
AlarmKind = Literal["level", "spread", "memory", "clusters"]
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
        low, high: Where it is, anytime-valid, for all arms at once.
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
        verdict: In or out of the returned set; undecided where the goal asked for a proof that is missing.
        certified: The verdict is covered by the guarantee, not only by the estimates.
        certificate: What is proved of this arm: that it is "in" the right answer, the Pareto set unless another task
            was given; that it is "out", since `dominated_by` is better; or only that what is returned is right about it
            "within-epsilon"; or "none" of these.
        dominated_by: For an arm outside the answer: the returned arm that dominates it most clearly, or of other tasks
            the arm that it is behind; None where that is no arm but a ceiling or a floor.
        trials: How many it had.
        mean, std, variance: Estimates (NaN before the first pull); std is the standard deviation, in reward units.
        risk: That of the risk that was asked for; less is better.
        mean_interval, risk_interval: Those of the bound in use.
        risk_shown, risk_shown_interval: The same as people say it, under `Result.risk_label`: the average of the worst
            rewards, say, in place of its negative.
        empirical_risk: Where the risk is a value of the normal model (CVaR and the like of Gaussian rewards): the same
            of the arm's rewards as they are, on the same scale; None elsewhere, and where rewards are not kept.
        doubt: V_i of the paper: the verdict holds up to this tolerance, in units of the mean.
        rival: The arm that is behind the doubt, and stands in the way while it is undecided; None where that is no
            other arm.
        price: Of one pull, as stated, or the mean of what was told; None where there are no prices.
        spent: What its pulls have cost, where that is known; those of which no price was told at that mean.
        cut_off: How many of its trials were cut off, so that their average is at least what it is here.
        margin: By how much the estimates put it inside the answer or outside, in units of the mean; None before all
            arms have some.
        word: Its place in a word: "best", "close", "likely behind", "behind", "open", ...
        p: An anytime-valid p-value: the smaller, the more speaks against this being a best arm; for the Pareto set and
            a control against the arm's place being wrong. None where none is known.
        support: After a budget, the share of resamples in which the arm is in the answer. No guarantee.
        objectives: Its number in each objective, by the text of the objective.
        constraints: Whether it keeps each constraint, likewise.
    """

    name: str
    verdict: Verdict
    certified: bool
    dominated_by: str | None
    trials: int
    mean: float
    mean_interval: tuple[float, float]
    risk: float
    risk_interval: tuple[float, float]
    variance: float
    doubt: float
    certificate: Certificate = "none"
    empirical_risk: float | None = None
    std: float = math.nan
    risk_shown: float = math.nan
    risk_shown_interval: tuple[float, float] = (-math.inf, math.inf)
    rival: str | None = None
    price: float | None = None
    spent: float | None = None
    margin: float | None = None
    cut_off: int = 0
    word: str = ""
    p: float | None = None
    support: float | None = None
    objectives: dict[str, ArmObjective] = field(default_factory=dict, hash=False)
    constraints: dict[str, ArmConstraint] = field(default_factory=dict, hash=False)

    if not TYPE_CHECKING:
        __getattr__ = reading(ATTRIBUTES)


@dataclass(frozen=True, slots=True)
class ControlDifference:
    """How an arm compares with the control, in the user's units.

    Attributes:
        name: Of the arm.
        mean, risk: Its own less the control's; NaN before both were pulled.
        mean_interval, risk_interval: Where these are, by the intervals of both arms and by what is proved of the
            arm's place.
        percent: The difference in mean, in per cent of the size of the control's.
        percent_interval: Where that is; infinite where the control's mean may be 0.
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
            is a share of means that nobody has seen yet.
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
class Alarm:
    """An arm whose rewards are not independent draws from one distribution, by the evidence against it.

    Attributes:
        arm: Its name.
        kind: What gave it away: their "level" moved or their "spread" did; each has to do with the one before
            ("memory"); large and small deviations come in "clusters".
        evidence: How often one would have multiplied one's stake by bets that such draws lose on average: the most so
            far. Draws as assumed give c or more with probability at most 1 / c.
        pull: The arm's own pull, counted from 1, at which there was enough of it for an alarm.
    """

    arm: str
    kind: AlarmKind
    evidence: float
    pull: int


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


@dataclass(frozen=True, slots=True, repr=False)
class Result(Answered):
    """The answer of a search, with its evidence.

    It prints itself (`print(result)`, rich, a notebook), draws itself (`plot`), and goes on as a dictionary,
    as JSON or as a data frame.

    Attributes:
        arms: What is known of each, in the order they were given.
        answer: Names of the returned arms, in the same order. An empty one may be an answer: see `empty_answer`.
        stopped: Why it ended; goal_reached says whether that was the goal.
        trials: Trials made.
        goal: What was asked for.
        risk, risk_formula, rho, alpha: The risk, in words as well; its rho and its factor, if it is the mean-variance.
        risk_label: What people call the risk.
        noise, reward_range, direction: What rewards are.
        policy: Who decided what was pulled.
        exploration: The constant of a fixed-budget width, where there is one.
        seed: Of the generator; None if there was none.
        rigour: "proved" if the guarantee and the intervals hold as they are stated, "approximate" if only nearly so, by
            the central limit theorem: for rewards of any kind.
        notes: What the answer does not rest on: an objective in which epsilon is more than all differences.
        warnings: What was probably not meant, and what in the data speaks against the guarantee's assumption.
        truth: Of a simulation: how the answer compares with it.
        guarantee: Exactly what has been proved, in words.
        bound: The bound that steered the search; interval_bound is the one behind the intervals shown, which
            differs after a budget, whose own widths prove nothing (None where no bound applies).
        certified_epsilon: The smallest tolerance for which the evidence proves the returned set, or None where
            no bound applies; certified_delta is the failure probability that goes with it, and
            certified_risk_epsilon the tolerance in risk, where the goal has one for each.
        expected: Of a study that goes on: how many more pulls it may take.
        alarm: The probability with which there would be any alarm if all rewards were as assumed, or less; None where
            they were not watched.
        alarms: The arms whose rewards are not; what is said to be proved rests on that they are.
        extensions: Of a study that was to go on for more: when, and what had been asked for until then.
        task: What was looked for, as it is written: "pareto", "best:max-risk=0.02", ...
        answer_name: What people call the answer: "Pareto set", "best arm", ...
        empty_answer: What it says if no arm is returned.
        question: What was looked for, in words; empty where mean and risk say it.
        control: The arm that others were compared with, where the task has one.
        differences: How they compare with it, in the order of `arms`.
        spent: What all pulls have cost, where there are prices.
        about_risk: Whether the answer has to do with the risk at all.
        lines: What the answer goes by, as lines in the plane of mean and risk: a ceiling, a floor, the control.
        history: What was known at a few moments on the way, for reports; of `identify` and `simulate`, and of studies
            that are asked for it. It is no part of `to_dict`.
        reward_name: What the user calls the rewards, where that is known: the column of a file, "elapsed seconds".
        safest: While nothing is decided: the arms whose worst case is least bad, where those are others than `answer`,
            which has the best averages.
        estimand: What means and risks are of, where that is not one distribution for each arm: with bound "running"
            each arm's average over the rounds so far.
        quality: Trials that gave no result, by arm: failures, timeouts, expired leases, lost trials.
        objectives, constraints: What was wanted of every arm.
        certified: What is proved of the answer; None where nothing is.

    Examples:
        >>> safe = ArmReport("safe", "in", True, None, 500, 0.4, (0.3, 0.5), -0.09, (-0.1, -0.08), 0.04, 0.01)
        >>> bold = ArmReport("bold", "in", True, None, 700, 0.6, (0.5, 0.7), -0.06, (-0.1, -0.02), 0.36, 0.01)
        >>> poor = ArmReport("poor", "out", True, "safe", 300, 0.2, (0.1, 0.3), 0.01, (0.0, 0.02), 0.24, 0.01)
        >>> result = Result(
        ...     arms=(safe, bold, poor), answer=("safe", "bold"), stopped="confidence", goal_reached=True,
        ...     guarantee="with probability 0.95 no returned arm is dominated by 0.05 or more",
        ...     certified_epsilon=0.05, certified_delta=0.05, trials=1500,
        ...     goal=Goal("confidence", epsilon=0.05, delta=0.05, budget=None), rho=1.0, alpha=0.25,
        ...     noise="bounded", reward_range=(0.0, 1.0), direction="maximize", policy="ramgape",
        ...     bound="hoeffding", interval_bound="hoeffding",
        ... )
        >>> result
        <Result: Pareto set: safe, bold (2 of 3 arms), after 1,500 pulls>
        >>> result.arm("poor").dominated_by
        'safe'
        >>> result.best(max_risk=-0.05), result.best(rho=0.5)
        ('bold', 'safe')
    """

    arms: tuple[ArmReport, ...]
    answer: tuple[str, ...]
    stopped: Stopped
    goal_reached: bool
    guarantee: str
    certified_epsilon: float | None
    certified_delta: float | None
    trials: int
    goal: Goal
    rho: float | None
    alpha: float | None
    noise: str
    reward_range: tuple[float, float] | None
    direction: Literal["maximize", "minimize"]
    policy: str
    bound: str
    interval_bound: str
    seed: int | None = None
    exploration: float | None = None
    warnings: tuple[str, ...] = field(default=())
    truth: Truth | None = None
    certified_risk_epsilon: float | None = None
    task: str = "pareto"
    risk: str = "mean-variance"
    risk_formula: str = "variance - rho mean"
    expected: Expectation | None = None
    risk_label: str = "variance - rho mean"
    notes: tuple[str, ...] = ()
    rigour: Literal["proved", "approximate"] = "proved"
    alarm: float | None = None
    alarms: tuple[Alarm, ...] = ()
    extensions: tuple[Extension, ...] = ()
    answer_name: str = "Pareto set"
    empty_answer: str = "nothing yet"
    question: str = ""
    control: str | None = None
    differences: tuple[ControlDifference, ...] = ()
    about_risk: bool = True
    lines: tuple[PlaneLine, ...] = ()
    spent: float | None = None
    reward_name: str = ""
    estimand: str = ""
    safest: tuple[str, ...] = ()
    quality: TrialQuality = field(default_factory=TrialQuality, hash=False)
    objectives: tuple[ObjectiveReport, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    certified: Certified | None = None
    history: tuple[HistoryPoint, ...] = field(default=(), compare=False)

    if not TYPE_CHECKING:
        __getattr__ = reading(ATTRIBUTES)

    def to_dict(self) -> dict[str, Any]:
        described = Explained.to_dict(replace(self, history=()))
        del described["history"]
        arms = [{"pulls": arm.pop("trials"), **arm} for arm in described["arms"]]
        keys = {"front": described["answer"], "samples": described.pop("trials"), "arms": arms}
        return {**described, **keys, "sentence": self.sentence}

    @property
    def _found(self) -> Result:
        return self

    @property
    def conditions(self) -> list[str]:
        """What the guarantee assumes because of trials that were replaced or overtaken, in words that follow "if"."""
        return self.quality.conditions({arm.name: arm.trials for arm in self.arms})

    @property
    def is_informative(self) -> bool:
        """Whether the certified tolerances are worth telling: the goal, or less than some difference between arms."""
        if self.certified_epsilon is None or self.stopped == "confidence":
            return self.certified_epsilon is not None
        in_risk = self.certified_epsilon if self.certified_risk_epsilon is None else self.certified_risk_epsilon
        return self.certified_epsilon <= self.spread[0] or in_risk <= self.spread[1]

    @property
    def spread(self) -> tuple[float, float]:
        """How far apart the arms are by the estimates, in mean and in risk; -inf where no answer is about risk."""
        in_mean, in_risk = ([getattr(arm, name) for arm in self.arms] for name in ("mean", "risk"))
        return max(in_mean) - min(in_mean), max(in_risk) - min(in_risk) if self.about_risk else -math.inf

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

    def best(self, *, rho: float | None = None, max_risk: float | None = None) -> str:
        """The name of one returned arm, for whoever needs a single one in the end: give exactly one argument.

        The guarantee covers the returned set. The choice inside it rests on the estimates alone; of equally
        good arms the first is taken.

        Args:
            rho: How much variance a unit of mean is worth (at least 0): the arm with the smallest variance - rho mean,
                or variance + rho mean when the mean is minimised; whatever risk was asked for.
            max_risk: The most risk that is acceptable, on the scale of `ArmReport.risk`: the arm with the best mean
                among those whose estimated risk is not larger.

        Raises:
            NoAnswer: No returned arm was observed, or none has so little risk.
        """
        given = f"rho={rho!r}, max_risk={max_risk!r}"
        require((rho is None) != (max_risk is None), "best()", "given exactly one of rho and max_risk", given)
        returned = [self.arm(name) for name in self.answer]
        choices = [arm for arm in returned if math.isfinite(arm.mean) and math.isfinite(arm.risk)]
        wanted = "one with at least one observed arm, to choose a best arm from"
        require(bool(choices), "the returned set", wanted, self.answer, NoAnswer)
        better = -1.0 if self.direction == "minimize" else 1.0
        if rho is not None:
            weight = better * check_number(rho, "rho", "a finite number, at least 0", lambda value: value >= 0.0)
            return min(choices, key=lambda arm: arm.variance - weight * arm.mean).name
        assert max_risk is not None
        require(not math.isnan(as_float(max_risk)), "max_risk", "a number", max_risk)
        safest = min(choices, key=lambda arm: arm.risk)
        smallest = f"at least {safest.risk!r}, the smallest risk in the returned set (arm {safest.name!r})"
        require(safest.risk <= max_risk, "max_risk", smallest, max_risk, NoAnswer)
        return max((arm for arm in choices if arm.risk <= max_risk), key=lambda arm: better * arm.mean).name

    def _rows(self) -> list[dict[str, Any]]:
        """One for each arm, in the order they were given."""
        returned = set(self.answer)
        costs = {
            arm.name: {"price": arm.price, "spent": arm.spent} if self.spent is not None else {} for arm in self.arms
        }
        return [
            {
                "name": arm.name,
                "returned": arm.name in returned,
                "verdict": arm.verdict,
                "certified": arm.certified,
                "certificate": arm.certificate,
                "dominated_by": arm.dominated_by,
                "rival": arm.rival,
                "pulls": arm.trials,
                "mean": arm.mean,
                "mean_low": arm.mean_interval[0],
                "mean_high": arm.mean_interval[1],
                "std": arm.std,
                "risk": arm.risk,
                "risk_low": arm.risk_interval[0],
                "risk_high": arm.risk_interval[1],
                "risk_shown": arm.risk_shown,
                "empirical_risk": arm.empirical_risk,
                "variance": arm.variance,
                "doubt": arm.doubt,
                "margin": arm.margin,
                "cut_off": arm.cut_off,
                **costs[arm.name],
            }
            for arm in self.arms
        ]
