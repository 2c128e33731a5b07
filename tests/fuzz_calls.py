"""Public calls of the package with drawn arguments, and what must be true of what comes back."""

from __future__ import annotations

import inspect
import json
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import ramgape
from ramgape.errors import RamgapeError
from ramgape.options import Options
from tests.fuzz_values import (
    CONTROL,
    KINDS,
    LONG,
    MARKUP,
    NO_FUNCTIONS,
    NO_ITERABLES,
    NO_TARGETS,
    NO_TEXTS,
    ROWS,
    UNKNOWN,
    Boom,
    Drawn,
    Fresh,
    Kind,
    boom,
    coin,
    draw,
    takes_nothing,
    takes_three,
)
from tests.fuzz_world import World

# Results: the package makes them, users read them.
RECORDS = ("Alarm", "Analysis", "Answer", "ArmForecast", "ArmReport", "ArmTruth", "ControlDifference", "CurvePoint",
           "Exchange", "Expectation", "Extension", "Failure", "Goal", "LowerBound", "Plan", "Progress", "Pull",
           "PullForecast", "Quality", "Replication", "Report", "Result", "Run", "Study", "StudySummary", "TrialQuality",
           "Truth")  # fmt: skip
# What holds options or an outcome: those are checked where they are used.
HOLDERS = ("Outcome", "Search", "Trials")
# What the engine asks of a risk measure or a task, with values that were checked at the door.
OF_THE_ENGINE = ("check_range", "formula", "label", "shown", "offset", "on_unit", "unit_range", "usual_scale", "worst",
                 "write", "value_of", "value_in", "exact_in", "risks_by", "sampler", "kernels", "narrow", "box_by",
                 "ahead_by", "transform", "untransform", "slope", "normal_risk", "normal_spread", "reaches", "warnings",
                 *(name for name in vars(ramgape.questions.Question) if not name.startswith("_")))  # fmt: skip
ARMS = (ramgape.Arm("a", ramgape.Beta(2, 3)), ramgape.Arm("bb", ramgape.Uniform(0, 1)))
SEARCH: Mapping[str, Any] = {"reward_range": (0, 1), "budget": 20}

# What a call needs to get anywhere, and to end soon.
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "identify": {"pull": coin, "arms": ("a", "bb", "c"), "max_trials": 500, **SEARCH},
    "analyze": {"rows": ROWS, "reward_range": (0, 1)},
    "simulate": {"max_trials": 500},
    "replicate": {"max_trials": 300, "runs": 2},
    "plan": {"max_trials": 300, "runs": 1, "epsilons": [0.5], "deltas": [0.3]},
    "Study.create": {"name": "new", "arms": ("a", "bb"), **SEARCH},
    "Study.run": {"pull": coin, "progress": False},
    "Instance": {"name": "mine", "arms": ARMS, "reward_range": (0, 1), "noise": "bounded"},
    "Result.best": {"rho": 0.5},
}
LABELS = tuple(value for value in NO_TEXTS if value != "x" * 201)
NO_PULLS = (*NO_ITERABLES, "", "x", LONG, CONTROL, "00000000000000000000-0", "a1b2c3-0", None, ("a",), b"x")
# Where a name means another thing than usual.
OTHERS: Mapping[str, Kind] = {
    **{f"analyze.{name}_column": Kind((None,), (name, "", 5)) for name in ("arm", "reward", "item")},
    "Instance.name": Kind(("mine", MARKUP), (*LABELS, None)),
    "Arm.name": Kind(("a", MARKUP), (*LABELS, None)),
    "Result.arm.name": KINDS["arm"],
    "Instance.arms": Kind((ARMS, list(ARMS)), (*NO_ITERABLES, (), ARMS[:1], ARMS[:1] * 2, "ab", ["a", "b"])),
    "Instance.noise": Kind(("bounded",), (None, "", 5, [], "Gaussian"), ("gaussian",)),
    "Instance.reward_range": Kind(
        ((0, 1), [-1, 2]), ((0.5, 1), (1, 0), (0, math.nan), 5, "01", (0,), (0, True)), (None,)
    ),
    "Instance.risks.rho": Kind((0, 1), (*KINDS["rho"].bad, None), KINDS["rho"].odd[1:]),
    "Study.export_csv.path": Kind(("out.csv",), NO_TARGETS, ("good.csv", "fifo/x", "/dev/full")),
    "Study.export_jsonl.path": Kind(("out.jsonl",), NO_TARGETS, ("good.csv", "/dev/full")),
    "Result.save_plot.path": Kind(("out.svg",), NO_TARGETS, ("out", "out.nope")),
    "Plan.save_plot.path": Kind(("out.svg",), NO_TARGETS, ("out", "out.nope")),
    "Study.save_plot.path": Kind(("out.svg",), NO_TARGETS, ("out", "out.nope")),
    **{
        f"{name}.save_html.path": Kind(("out.html",), NO_TARGETS, ("out",))
        for name in ("Result", "Plan", "Report", "Replication", "Analysis", "LowerBound", "Study")
    },
    "Study.load.storage": Kind(KINDS["storage"].good, (*KINDS["storage"].bad, "sqlite:///new.db", None)),
    "list_studies.storage": Kind(KINDS["storage"].good, (*KINDS["storage"].bad, "sqlite:///new.db", None)),
    "delete_study.storage": Kind(KINDS["storage"].good, (*KINDS["storage"].bad, "sqlite:///new.db", None)),
    "Study.run.callback": Kind((None,), NO_FUNCTIONS, (boom,)),
}


class Target(NamedTuple):
    """A public call: its name, the class whose object it needs, if any, and what it takes."""

    name: str
    owner: str | None
    parameters: tuple[inspect.Parameter, ...]


class Case(NamedTuple):
    """A call with its arguments."""

    target: Target
    arguments: dict[str, Drawn]


def targets() -> Iterator[Target]:
    """Every public call there is."""
    for name in ramgape._MODULES:
        public = getattr(ramgape, name)
        if inspect.isabstract(public) or public is ramgape.Measure:  # for others to fill in
            continue
        if inspect.isclass(public) and not issubclass(public, BaseException):
            if name not in (*RECORDS, *HOLDERS):
                yield Target(name, None, parameters_of(public))
            for method in dir(public):
                if method.startswith("_") or method in OF_THE_ENGINE or hasattr(tuple, method):
                    continue
                stored = inspect.getattr_static(public, method)
                if isinstance(stored, classmethod):
                    yield Target(f"{name}.{method}", None, parameters_of(getattr(public, method)))
                elif inspect.isfunction(stored):
                    yield Target(f"{name}.{method}", name, parameters_of(stored)[1:])
        elif inspect.isfunction(public):
            yield Target(name, None, parameters_of(public))


def parameters_of(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """With the options of a search in place of `**options`."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            known = {each.name for each in found}
            more = (name for name in Options.__annotations__ if name not in known)
            found += [inspect.Parameter(name, parameter.KEYWORD_ONLY, default=None) for name in more]
        else:
            found.append(parameter)
    return tuple(found)


TARGETS = tuple(targets())


def draw_case(rng: random.Random, world: World) -> Case:
    """One of the calls, mostly good but for a parameter or two."""
    (target,) = rng.choices(TARGETS, [2 + min(len(target.parameters), 12) for target in TARGETS])
    needed = NEEDED.get(target.name, {})
    arguments = {}
    some = min(1.0, 2.5 / (len(target.parameters) or 1))
    for parameter in target.parameters:
        name = parameter.name
        kind = kind_of(target, name, world)
        if rng.random() < some:
            arguments[name] = draw(rng, kind, 0.5)
        elif name in needed:
            arguments[name] = Drawn(needed[name], "good")
        elif parameter.default is parameter.empty:
            arguments[name] = draw(rng, kind, 0.9)
    if rng.random() < 0.02:
        arguments["no_such_parameter"] = Drawn(1, "bad")
    return Case(target, arguments)


def kind_of(target: Target, name: str, world: World) -> Kind:
    """The values of a parameter."""
    pulls = (*world.pulls, world.answered)
    lists = tuple([pull] for pull in pulls)
    of_a_study: dict[str, Kind] = {
        "pull": Kind(pulls, NO_PULLS),
        "pulls": Kind(([], *lists), (*NO_ITERABLES, [5], ["x"], "x", None)),
        "known": Kind(([], *lists), (*NO_ITERABLES, [5], ["x"], "x", None)),
        "answers": Kind(
            ([], [(pulls[0], 0.5)], [(pull, 1) for pull in pulls[:2]]),
            (*NO_ITERABLES, [5], ["x"], [("x",)], [("x", 1)], "x", None, [(pulls[1], 0.5), (pulls[0], math.nan)]),
            ([(pulls[0], 0.5)] * 2, [(pulls[0], 0.5), (pulls[0], 1)], [(pull, 0.5) for pull in pulls]),
        ),
    }
    if target.owner == "Study" and target.name != "Study.run" and name in of_a_study:
        return of_a_study[name]
    return OTHERS.get(f"{target.name}.{name}", KINDS.get(name, UNKNOWN))


def written(case: Case) -> str:
    """The call as one would type it."""
    shown = ", ".join(f"{name}={shown_value(drawn.value)}" for name, drawn in case.arguments.items())
    return f"ramgape.{case.target.name}({shown})"


def shown_value(value: Any) -> str:
    if isinstance(value, Fresh):
        return value.text
    text = getattr(value, "__qualname__", None) or repr(value)
    return ascii(text)[1:-1] if len(text) < 120 else f"{ascii(text[:60])[1:-1]}..."


def run_case(case: Case, world: World, rng: random.Random) -> list[str]:
    """Make the call; what is wrong with what happened."""
    target, arguments = case.target, case.arguments
    given = {
        name: drawn.value.make() if isinstance(drawn.value, Fresh) else drawn.value for name, drawn in arguments.items()
    }
    owner: Any = ramgape if target.owner is None else new_object(target, rng)
    function: Any = owner
    for part in (target.name if target.owner is None else target.name.rpartition(".")[2]).split("."):
        function = getattr(function, part)
    study = owner if isinstance(owner, ramgape.Study) else None
    before = study.report().to_dict() if study is not None else None
    try:
        result = function(**given)
    except RamgapeError as error:
        return [*check_message(str(error)), *check_unchanged(case, world, study, before)]
    except OSError as error:
        # Of a file in Python, Python's own errors tell most; it must be the file that was given.
        return [] if isinstance(given.get("path"), str | os.PathLike) else [f"raised {type(error).__name__}: {error}"]
    except Boom:
        return [] if any(value is boom for value in given.values()) else ["raised what no function had raised"]
    except TypeError as error:
        if wrong_signature(target, given) or calls_wrongly(given):
            return []
        return [f"raised {type(error).__name__}: {error}"]
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return [f"raised {type(error).__name__}: {error}"]
    finally:
        if study is not None:
            study.close()
    accepted = [f"accepted {name}" for name, drawn in arguments.items() if drawn.verdict == "bad"]
    try:
        if isinstance(result, ramgape.Study):
            with result:
                return [*accepted, *check_report(result.report())]
        return [*accepted, *check(result)]
    except Exception as error:  # noqa: BLE001 - a result that cannot be looked at
        return [*accepted, f"returned what raises {type(error).__name__}: {error}"]


def wrong_signature(target: Target, given: dict[str, Any]) -> bool:
    """Whether Python itself refuses the call."""
    try:
        inspect.Signature(list(target.parameters)).bind(**given)
    except TypeError:
        return True
    return False


def calls_wrongly(given: dict[str, Any]) -> bool:
    """Whether a function of the user takes other arguments than it gets, which is the user's own error."""
    return any(value is takes_nothing or value is takes_three for value in given.values())


def new_object(target: Target, rng: random.Random) -> Any:
    """Something that has the method."""
    owner = target.owner
    if owner == "Study":
        if rng.random() < 0.5 and target.name != "Study.run":  # which would wait for the worker that has pulls open
            return ramgape.Study.load(
                rng.choice(("models", "models", "models", "done", "gauss", MARKUP)), "sqlite:///studies.db"
            )
        options = {"noise": "gaussian", "epsilon": 0.5, "max_trials": 50} if rng.random() < 0.3 else SEARCH
        study = ramgape.Study.create("memory", ["a", "bb"], **options)
        for pull in study.ask(rng.randrange(1, 4)):
            study.tell(pull, 0.5)
        return study
    search: dict[str, Any] = {"budget": 30, "seed": rng.randrange(9)}
    made: dict[str, Callable[[], Any]] = {
        "Result": lambda: ramgape.simulate("paper:46", **search),
        "Analysis": lambda: ramgape.analyze(ROWS, reward_range=(0, 1)),
        "Replication": lambda: ramgape.replicate("paper:46", runs=2, **search),
        "Plan": lambda: ramgape.plan("paper:46", budgets=[30, 40], runs=1),
        "LowerBound": lambda: ramgape.lower_bound("mine.json"),
        "Instance": lambda: ramgape.load_instance("mine.json"),
        "Report": lambda: ramgape.Study.load("models", "sqlite:///studies.db").report(),
        "StudySummary": lambda: ramgape.list_studies("sqlite:///studies.db")[0],
        "BestScore": lambda: ramgape.BestScore(1.5),
        "BetterThan": lambda: ramgape.BetterThan("A"),
        "Top": lambda: ramgape.Top(3),
        "Distribution": lambda: ramgape.Beta(2, 3),  # itself it has nothing to draw from
        "Items": lambda: ramgape.Items(("q1", "q2")),
        "Beta": lambda: ramgape.Beta(2, 3),
        "Bernoulli": lambda: ramgape.Bernoulli(0.3, -1, 2),
        "Uniform": lambda: ramgape.Uniform(-1, 2),
        "Data": lambda: ramgape.Data((0.5, 0.1, 3)),
        "Gaussian": lambda: ramgape.Gaussian(0.3, 2),
        "StudentT": lambda: ramgape.StudentT(5, 1, 2),
        "LogNormal": lambda: ramgape.LogNormal(0, 0.5),
        "Exponential": lambda: ramgape.Exponential(2),
        "Gamma": lambda: ramgape.Gamma(3),
        "Lomax": lambda: ramgape.Lomax(5),
        "Mixture": lambda: ramgape.Mixture((0.5, 0.5), (ramgape.Beta(2, 3), ramgape.Gaussian(0, 1))),
    }
    return made[owner]() if owner in made else getattr(ramgape, str(owner))()


# ------------------------------------------------------------------------------------- what must be true


def check_message(message: str) -> Iterator[str]:
    """An error says something, on one line that every terminal shows."""
    if not message.strip():
        yield "raised an error that says nothing"
    if not all(letter.isprintable() or letter == "\N{ZERO WIDTH JOINER}" for letter in message):
        yield f"raised an error that cannot be printed: {message[:200]!a}"
    if len(message) > 2000:
        yield f"raised an error of {len(message):,} letters: {message[:200]!a}"


def check_unchanged(case: Case, world: World, study: ramgape.Study | None, before: Any) -> Iterator[str]:
    """A refused call has changed nothing; a run may have made trials before."""
    if case.target.name == "Study.run":
        return
    if study is not None and study.report().to_dict() != before:
        yield "was refused, and has changed the study"
    if world.store() != world.rows:
        yield "was refused, and has changed the store"


def check(result: Any) -> Iterator[str]:
    """What must be true of anything that a public call returns."""
    match result:
        case ramgape.Result():
            yield from check_result(result)
        case ramgape.Analysis():
            yield from check_result(result.result)
            if result.rows != result.result.samples + result.skipped:
                yield "counts other rows than it has read"
            yield from check_text(str(result))
        case ramgape.Report():
            yield from check_report(result)
        case ramgape.Replication():
            for run in result.runs:
                if run.samples != sum(run.pulls.values()) or not run.front or not math.isfinite(run.regret):
                    yield f"returned a run that cannot be: {run}"
            yield from check_numbers(result.to_dict())
        case ramgape.Plan() | ramgape.LowerBound() | ramgape.StudySummary():
            yield from check_numbers(result.to_dict())
        case float() if not math.isfinite(result):
            yield f"returned {result}"
        case dict():
            yield from check_numbers(result)


def check_report(report: ramgape.Report) -> Iterator[str]:
    """A study agrees with itself."""
    yield from check_result(report.result)
    if report.told - report.late - report.held != report.result.samples:
        yield f"told {report.told}, late {report.late}, held {report.held}, samples {report.result.samples}"
    yield from check_text(str(report))
    yield from check_numbers(report.to_dict())


def check_result(result: ramgape.Result) -> Iterator[str]:
    """A result agrees with itself."""
    names = [arm.name for arm in result.arms]
    if result.samples != sum(arm.pulls for arm in result.arms):
        yield f"has {result.samples} samples, but the arms have others"
    if not set(result.front) <= set(names) or (not result.front and result.stopped in ("confidence", "budget", "cap")):
        yield f"returned the set {result.front} of {names}, stopped by {result.stopped}"
    if result.goal_reached != (result.stopped in ("confidence", "budget")):
        yield f"goal reached: {result.goal_reached}, but stopped by {result.stopped}"
    doubted = any("contradict" in warning for warning in result.warnings)
    for arm in result.arms:
        values = {"mean": (arm.mean, arm.mean_interval), "risk": (arm.risk, arm.risk_interval)}
        for what, (estimate, (low, high)) in values.items():
            if math.isnan(low) or math.isnan(high) or low > high:
                yield f"arm {arm.name!a}: the interval of its {what} is {low} to {high}"
            if arm.pulls >= 2 and not math.isfinite(estimate):
                yield f"arm {arm.name!a}: {what} {estimate} after {arm.pulls} pulls"
            slack = 1e-9 * max(abs(estimate), 1e-300, abs(low) if math.isfinite(low) else 0.0)
            if arm.pulls >= 2 and not doubted and not low - slack <= estimate <= high + slack:
                yield f"arm {arm.name!a}: {what} {estimate} outside of {low} to {high}, and no warning"
        if arm.pulls >= 2 and not arm.variance >= 0.0:
            yield f"arm {arm.name!a}: variance {arm.variance}"
    yield from check_text(str(result))
    yield from check_numbers(result.to_dict())


def check_numbers(described: Any) -> Iterator[str]:
    """Ready for JSON: no NaN, nothing infinite, no strange types."""
    try:
        json.dumps(described, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"cannot be written as JSON: {error}"


def check_text(text: str) -> Iterator[str]:
    """Nothing that a terminal would obey."""
    strange = {letter for letter in text if not letter.isprintable()} - {"\n", "\N{ZERO WIDTH JOINER}"}
    if strange:
        yield f"prints {strange!a}"
