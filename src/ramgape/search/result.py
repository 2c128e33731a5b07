"""What a search returns: frozen, picklable, and able to explain itself."""

from __future__ import annotations

import importlib
import json
import math
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ramgape.common.checks import as_float, check_number
from ramgape.errors import MissingExtra, NoAnswer, known_name, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from rich.console import RenderableType

SCHEMA_VERSION = 1  # of `Result.to_dict`: raised when a key changes its meaning or goes

Verdict = Literal["in", "out", "undecided"]
Certificate = Literal["in", "out", "within-epsilon", "none"]
# "open": a study that goes on; "data": the data are at their end, or a stored stop, and leave it undecided.
Stopped = Literal["confidence", "budget", "cap", "interrupted", "error", "callback", "open", "data"]


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What is known of one arm, in the user's units.

    verdict        in or out of the returned set; undecided where the goal asked for a proof that is missing
    certified      the verdict is covered by the guarantee, not only by the estimates
    certificate    what is proved of this arm: that it is "in" the Pareto set; that it is "out", since `dominated_by`
                   dominates it; or only that the returned set is right about it "within-epsilon"; or "none" of these
    dominated_by   for an arm outside the set: the returned arm that dominates it most clearly
    mean, risk     estimates (NaN before the first pull); the intervals are those of the bound in use
    empirical_risk where the risk is a value of the normal model (CVaR and the like of Gaussian rewards): the same of
                   the arm's rewards as they are, on the same scale; None elsewhere, and where rewards are not kept
    doubt          V_i of the paper: the verdict holds up to this tolerance, in units of the mean
    """

    name: str
    verdict: Verdict
    certified: bool
    dominated_by: str | None
    pulls: int
    mean: float
    mean_interval: tuple[float, float]
    risk: float
    risk_interval: tuple[float, float]
    variance: float
    doubt: float
    certificate: Certificate = "none"
    empirical_risk: float | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """What was asked for: fixed confidence (epsilon, delta) or fixed budget (budget, perhaps epsilon).

    epsilon is the tolerance in mean and scaled risk; where there is one for each, risk_epsilon is that in risk.
    """

    kind: Literal["confidence", "budget"]
    epsilon: float | None
    delta: float | None
    budget: int | None
    risk_epsilon: float | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """How many more pulls a search may take that is not at its end: an estimate, or, if `at_least`, the least of it."""

    pulls: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """How a simulated answer compares with the truth that only a simulation knows."""

    front: tuple[str, ...]
    regret: float
    exact: bool
    eps_correct: bool


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The answer of a search, with its evidence.

    front               names of the returned arms, in the order they were given
    stopped             why it ended; goal_reached says whether that was the goal
    guarantee           exactly what has been proved, in words
    bound               the bound that steered the search; interval_bound is the one behind the intervals shown, which
                        differs after a budget, whose own widths prove nothing (None where no bound applies)
    certified_epsilon   the smallest tolerance for which the evidence proves the returned set, or None where
                        no bound applies; certified_delta is the failure probability that goes with it, and
                        certified_risk_epsilon the tolerance in risk, where the goal has one for each
    expected            of a study that goes on: how many more pulls it may take

    It prints itself (`print(result)`, rich, a notebook), draws itself (`plot`), and goes on as a dictionary,
    as JSON or as a data frame.

    >>> safe = ArmReport("safe", "in", True, None, 500, 0.4, (0.3, 0.5), -0.09, (-0.1, -0.08), 0.04, 0.01)
    >>> bold = ArmReport("bold", "in", True, None, 700, 0.6, (0.5, 0.7), -0.06, (-0.1, -0.02), 0.36, 0.01)
    >>> poor = ArmReport("poor", "out", True, "safe", 300, 0.2, (0.1, 0.3), 0.01, (0.0, 0.02), 0.24, 0.01)
    >>> result = Result(
    ...     arms=(safe, bold, poor), front=("safe", "bold"), stopped="confidence", goal_reached=True,
    ...     guarantee="with probability 0.95 no returned arm is dominated by 0.05 or more",
    ...     certified_epsilon=0.05, certified_delta=0.05, samples=1500,
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
    front: tuple[str, ...]
    stopped: Stopped
    goal_reached: bool
    guarantee: str
    certified_epsilon: float | None
    certified_delta: float | None
    samples: int
    goal: Goal
    rho: float | None
    alpha: float
    noise: Literal["bounded", "gaussian"]
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
    risk: str = "mean-variance"
    risk_formula: str = "variance - rho mean"
    expected: Expectation | None = None

    def arm(self, name: str) -> ArmReport:
        """What is known of the arm with this name."""
        known_name(name, (arm.name for arm in self.arms), "arm")
        return next(arm for arm in self.arms if arm.name == name)

    def best(self, *, rho: float | None = None, max_risk: float | None = None) -> str:
        """The name of one returned arm, for whoever needs a single one in the end. Give exactly one of:

        rho        how much variance a unit of mean is worth (at least 0): the arm with the smallest
                   variance - rho mean, or variance + rho mean when the mean is minimised; whatever risk was
                   asked for
        max_risk   the most risk that is acceptable, on the scale of `ArmReport.risk`: the arm with the best
                   mean among those whose estimated risk is not larger

        The guarantee covers the returned set. The choice inside it rests on the estimates alone; of equally
        good arms the first is taken.
        """
        given = f"rho={rho!r}, max_risk={max_risk!r}"
        require((rho is None) != (max_risk is None), "best()", "given exactly one of rho and max_risk", given)
        returned = [self.arm(name) for name in self.front]
        choices = [arm for arm in returned if math.isfinite(arm.mean) and math.isfinite(arm.risk)]
        wanted = "one with at least one observed arm, to choose a best arm from"
        require(bool(choices), "the returned set", wanted, self.front, NoAnswer)
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

    def __repr__(self) -> str:
        """One line: the full data of a thousand arms would fill the screen (`to_dict` has them)."""
        from ramgape import views as display

        return f"<Result: {display.headline(self)}>"

    def __str__(self) -> str:
        """The whole answer as plain text."""
        from ramgape import views as display

        return display.plain(self)

    def __rich__(self) -> RenderableType:
        """The whole answer for a rich console, fitted to the width of the window."""
        from ramgape import views as display

        return display.ConsoleView(self)

    def _repr_html_(self) -> str:
        """The whole answer for a notebook."""
        from ramgape import views as display

        return display.page(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, strings and numbers, ready for JSON.

        JSON has neither NaN nor infinity: None stands for an estimate that does not exist and for an end
        of an interval that is not bounded. `versions` says what was installed when the dictionary was made.
        """
        return {"schema_version": SCHEMA_VERSION, "versions": versions(), **jsonable(asdict(self))}

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON text (ASCII, so that it survives any file encoding)."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_frame(self) -> DataFrame:
        """A pandas data frame with one row per arm, in the order they were given."""
        pandas = load_extra("pandas", "frame")
        returned = set(self.front)
        rows = [
            {
                "name": arm.name,
                "returned": arm.name in returned,
                "verdict": arm.verdict,
                "certified": arm.certified,
                "certificate": arm.certificate,
                "dominated_by": arm.dominated_by,
                "pulls": arm.pulls,
                "mean": arm.mean,
                "mean_low": arm.mean_interval[0],
                "mean_high": arm.mean_interval[1],
                "risk": arm.risk,
                "risk_low": arm.risk_interval[0],
                "risk_high": arm.risk_interval[1],
                "empirical_risk": arm.empirical_risk,
                "variance": arm.variance,
                "doubt": arm.doubt,
            }
            for arm in self.arms
        ]
        frame: DataFrame = pandas.DataFrame(rows)
        return frame

    def plot(self, axes: Axes | None = None) -> Axes:
        """The arms as confidence crosses in the mean-risk plane, on `axes` or in a figure of their own.

        The figure is `axes.figure`: in a notebook, after `%matplotlib inline`, `result.plot().figure` shows
        it. `save_plot` makes a file of it.
        """
        load_extra("matplotlib", "plot")
        require(axes is None or hasattr(axes, "get_figure"), "axes", "axes of matplotlib, or None", axes)
        from ramgape import views as display
        from ramgape.views.plots import crosses, style

        with style.applied():
            if axes is None:
                figure = style.new_figure()
                figure.suptitle(display.title(self), x=0.01, horizontalalignment="left", parse_math=False)
                axes = figure.add_subplot()
            labels = display.short_names((arm.name for arm in self.arms), limit=28)
            risk = display.risk_label(self)
            crosses.draw_crosses(axes, self.arms, front=self.front, labels=labels, direction=self.direction, risk=risk)
        return axes

    def save_plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the crosses into a file; its ending (.png, .svg, .pdf) says in which format."""
        axes = self.plot()
        from ramgape.views.plots import style

        style.save(axes, path)


def jsonable(value: Any) -> Any:
    """The value with tuples as lists and None for numbers that JSON cannot write."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def versions() -> dict[str, str | None]:
    """What a result may depend on; None for what is not installed as a package."""
    import platform
    from importlib import metadata

    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("ramgape", "numpy", "numba"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def load_extra(module: str, extra: str) -> Any:
    """An optional dependency, or how to get it. A broken installation keeps its own error."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingExtra(what=module, allowed=f'installed for this: pip install "ramgape[{extra}]"') from None
