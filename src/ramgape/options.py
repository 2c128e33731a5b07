"""The options of a search: the one table, from which every door has its own.

A row is a key of one of the typed dictionaries below, `Annotated` with an `Option`: what it means, what it is unless
given, how it is read from text, and the doors that take it. From the rows come the keywords of `identify`, `simulate`,
`plan`, `analyze` and `Study.create` with their documentation, the options of the commands, the keys of study files and
docs/reference/options.md. A new option is a row here, and its use.
"""

# Annotations are looked at here, so they are not put off by `from __future__ import annotations`.

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict, TypeVar, Unpack

from ramgape.common.old_names import OPTION_NAMES, present_value, reading
from ramgape.common.parsing import (
    as_typed,
    assumptions,
    known_values,
    number_or_name,
    number_or_pairs,
    number_range,
    parse_number,
    tolerance,
)
from ramgape.errors import InvalidSpec, UnknownName, require, shorten, suggestion

if TYPE_CHECKING:
    from ramgape.bounds import Bound
    from ramgape.questions import Question
    from ramgape.risks.measure import Measure

DEFAULT_DELTA = 0.05
DEFAULT_EPSILON = 0.1
DEFAULT_RISK = "std"
PAPER_RISK = "mean-variance:0.01"
DEFAULT_MAX_TRIALS = 10**9
DEFAULT_DRIFT = 0.01
PLANNED_RUNS, PLANNED_TRIALS = 100, 1_000_000  # of a plan: simulated searches of each goal, and the most trials of one
Tolerance = float | tuple[float, float] | str  # one in mean and risk, or one for each; or a share, "5%"

# The doors. All but `identify`, `file` and `run` stand for a function and a command each.
IDENTIFY, SIMULATE, PLAN, ANALYZE, STUDY, FILE = "identify", "simulate", "plan", "analyze", "study", "file"
LOWER_BOUND = "lower-bound"
COMMANDS = "run"  # commands that are timed, as they are typed
SIMULATED = (SIMULATE, PLAN)
REAL = (IDENTIFY, ANALYZE, STUDY, FILE)
ALL = (IDENTIFY, *SIMULATED, ANALYZE, STUDY, FILE)
ASKING = (IDENTIFY, *SIMULATED, STUDY, FILE)  # that decide what is pulled
STUDIES = (STUDY, FILE)
PRICED = (IDENTIFY, SIMULATE, STUDY, FILE)
RUN = "Study.run"  # which takes `Trials`: how it makes trials is no part of a study
CALLING = (IDENTIFY, RUN)
OF_OUTCOMES = ("outcomes", "objectives", "constraints", "known")  # options about several outcomes per trial
OUTCOMES_AT = (IDENTIFY, ANALYZE, STUDY, FILE)  # several outcomes per trial

# The panels of a command's help, which are the sections of the reference.
TRIALS, GOAL, RISK = "What a trial is", "What to ask for", "What counts as risk"
METHOD, RUNS, DATA = "How to search", "Runs", "What is in the file"


class Kind(NamedTuple):
    """How a value is read from what was typed, or refused, given the option's name; and what stands for it in help."""

    read: Callable[[Any, str], Any]
    metavar: str | None


NAME, FLAG, NUMBER, PULLS = (
    Kind(as_typed, "NAME"),
    Kind(as_typed, None),
    Kind(parse_number, "NUMBER"),
    Kind(parse_number, "PULLS"),
)
COUNT, SEED, SECONDS = Kind(parse_number, "COUNT"), Kind(parse_number, "SEED"), Kind(parse_number, "SECONDS")
TOLERANCE, RANGE = Kind(tolerance, "NUMBER"), Kind(number_range, "LO HI")
MEASURE, CONSTANT = Kind(as_typed, "NAME:NUMBER"), Kind(number_or_name, "A")
PRICES = Kind(number_or_pairs, "ARM=NUMBER,...")
LEVEL = Kind(number_or_name, "NUMBER")
ITEMS_FILE = Kind(as_typed, "FILE")
OUTCOMES, WISHES = Kind(assumptions, "NAME=LO,HI"), Kind(as_typed, "TEXT")
KNOWN = Kind(known_values, "NAME:ARM=NUMBER,...")
TEXTS, NAMES = Kind(as_typed, "TEXT,..."), Kind(as_typed, "ARM")  # of names one each time that the option is given


class Option(NamedTuple):
    """A row of the table.

    Attributes:
        panel: Where it stands in a command's help.
        kind: How it is read from text.
        help: What it means. {name} is another option, as it is written at the door; {pair} is a pair of numbers.
        default: What it is unless given.
        unless: In words, where that depends on other things.
        doors: Which of them take it.
        shell: Whether there is an option of a command for it.
        at: What is different at a door.
    """

    panel: str
    kind: Kind
    help: str
    default: Any = None
    unless: str = ""
    doors: tuple[str, ...] = ALL
    shell: bool = True
    at: Mapping[str, Mapping[str, Any]] = {}
    singular: str = ""  # how the option of a command is called that is given once for each

    def text(self, shell: bool = False) -> str:
        """What it means, in full, for Python or for the shell."""
        unless = f" Unless given: {self.unless}." if self.unless else ""
        return (self.help + unless).format_map(_Spelling(shell))


class _Spelling(dict[str, str]):
    """Names of options as they are written in the shell or in Python."""

    def __init__(self, shell: bool) -> None:
        super().__init__(pair="MEAN,RISK" if shell else "a pair (mean, risk)")
        self._shell = shell

    def __missing__(self, name: str) -> str:
        return f"--{name.replace('_', '-')}" if self._shell else f"`{name}`"


# fmt: off
class GoalOptions(TypedDict, total=False):
    """What is asked for, and of what."""

    epsilon: Annotated[Tolerance | None, Option(GOAL, TOLERANCE, doors=(*ALL, COMMANDS, LOWER_BOUND), help=
        "Tolerance in mean and risk, or {pair}: one for each, in their own units; or a share such as 5%, of the "
        "reward range or else of the smallest absolute mean after the first looks. 0 asks for the exact Pareto set.",
        at={
            **{door: {"unless": "there must be a {budget}"} for door in (IDENTIFY, STUDY, FILE)},
            SIMULATE: {"unless": f"{DEFAULT_EPSILON}, or none under a {{budget}}"},
            PLAN: {"unless": "a twentieth of the reward range"},
            ANALYZE: {"default": 0.0},
            LOWER_BOUND: {"default": 0},
            COMMANDS: {"unless": "5%, or none under a {budget}"},
        })]
    delta: Annotated[float | None, Option(GOAL, NUMBER, doors=(*ALL, COMMANDS, LOWER_BOUND), help=
        "Accepted probability of a wrong answer.", unless=f"{DEFAULT_DELTA}")]
    budget: Annotated[int | None, Option(GOAL, PULLS, doors=(*ASKING, COMMANDS), help=
        "Spend exactly this many trials and return the best guess; in place of {delta}.")]
    question: Annotated["Question | str", Option(GOAL, NAME, doors=(*ALL, COMMANDS, LOWER_BOUND), default="pareto",
        help="What is looked for: pareto, best[:max-risk=NUMBER], least-risk[:min-mean=NUMBER], "
        "best-score:weight=NUMBER, top:M or better-than:control=ARM (ramgape list questions).",
        at={COMMANDS: {"default": "best"}, LOWER_BOUND: {"help":
            "What is looked for: pareto or best, the only ones for which this is known."}})]
    risk: Annotated["Measure | str | None", Option(RISK, MEASURE, help=
        "std, mean-variance:RHO, variance, semivariance:TARGET, entropic:GAMMA, cvar:LEVEL, "
        "spectral:LEVEL=WEIGHT,..., evar:LEVEL, quantile:LEVEL or shortfall:THRESHOLD (ramgape list risks).",
        unless=f"{DEFAULT_RISK}, the standard deviation", doors=(*ALL, COMMANDS, LOWER_BOUND),
        at={
            **{door: {"unless": f"the instance's own, or {DEFAULT_RISK}"} for door in SIMULATED},
            LOWER_BOUND: {"unless": f"the instance's own, or {DEFAULT_RISK}", "help":
                "std, variance or mean-variance:RHO, the only ones for which this is known."},
        })]
    rho: Annotated[float | None, Option(RISK, NUMBER, doors=(*ALL, LOWER_BOUND), help=
        "Short for {risk} mean-variance:RHO, the risk variance - rho mean.")]
    direction: Annotated[str, Option(RISK, NAME, doors=(*ALL, LOWER_BOUND), default="maximize", help=
        "maximize rewards, or minimize costs.",
        at={ANALYZE: {"default": None, "unless": "maximize; minimize for times and costs in a log"}})]
    reward_range: Annotated[tuple[float, float] | None, Option(TRIALS, RANGE, doors=REAL, help=
        "Two numbers that no reward can leave; never guessed from the data. With it what is said is proved.",
        at={ANALYZE: {"panel": DATA}})]
    assumption: Annotated[str | None, Option(TRIALS, NAME, doors=(*REAL, COMMANDS), help=
        "unknown, gaussian or, for long tails, heavy:kurtosis=10: rewards without a range.", unless=
        "bounded with a {reward_range}; without one unknown, and the guarantee is asymptotic",
        at={ANALYZE: {"panel": DATA}, COMMANDS: {"unless": "unknown, and the guarantee is asymptotic", "help":
            "unknown; bounded, up to the {timeout}, or for long tails heavy:kurtosis=10: a finite-sample guarantee; or "
            "gaussian."}})]
    block: Annotated[int, Option(TRIALS, COUNT, doors=(ANALYZE,), default=1, at={ANALYZE: {"panel": DATA}}, help=
        "Take the mean of so many consecutive rows of an arm for a reward; the risk is then that of such a mean.")]
    stopping: Annotated[str, Option(TRIALS, NAME, doors=(ANALYZE,), default="any-time", at={ANALYZE: {"panel": DATA}},
        help="any-time: what is said holds however often you look, and whatever ended the trials. fixed: classical "
        "simultaneous tests, for one look at trials whose number was fixed beforehand.")]
    shared: Annotated[bool | None, Option(TRIALS, FLAG, doors=REAL, help=
        "Arms share rows or blocks (a day, a game, a seed), where their rewards may depend on each other. What is said "
        "then goes by intervals for each arm, which allow that and take more trials.", unless=
        "no: arms are independent of each other", at={ANALYZE: {"panel": DATA, "unless":
            "yes for a table with a column an arm, and where blocks are given; otherwise no: arms are independent of "
            "each other"}})]
    na: Annotated[Any, Option(TRIALS, TEXTS, doors=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "Texts that stand for a missing reward, NA,NaN,null, say. Rows that have one, or nothing at all, are left out, "
        "counted and reported by arm: what is said holds if rewards are missing by chance. drop: only what is nothing, "
        "an empty cell, None, NaN.", unless="a missing reward is an error")]
    exclude: Annotated[Any, Option(TRIALS, NAMES, doors=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "Arms to leave out, by name, for reasons that have nothing to do with their rewards; in a command, once for "
        "each.", unless="none")]
    only: Annotated[Any, Option(TRIALS, NAMES, doors=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "The arms to keep, by name, likewise.", unless="all")]
    min_rows: Annotated[int | None, Option(TRIALS, COUNT, doors=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "Leave out arms that have fewer rows with a reward, and list them apart: what is said of the others holds if "
        "how many rows an arm has does not depend on its rewards.", unless=
        "none is left out; where arms with far fewer rows than the others spoil the certificate, another one is given "
        "without them, and holds in any case")]
    interleave: Annotated[bool, Option(TRIALS, FLAG, doors=(*ASKING, COMMANDS), default=False, help=
        "Decide in rounds, each in random order and no arm more than 3 times in a row while others are open: for "
        "trials on a machine that warms up or drifts.", at={COMMANDS: {"default": True}, FILE: {"unless":
            "true where the reward is the elapsed time"}})]
    items: Annotated[Any, Option(TRIALS, NAME, doors=REAL, shell=False, help=
        "A test set, of whose items a trial takes one, the same for all arms in one random order: a list, or "
        "`ramgape.Items`. Mean and risk are those over these items, and exact when all have been asked.",
        at={STUDY: {"shell": True, "kind": ITEMS_FILE}, ANALYZE: {"panel": DATA, "shell": True, "help":
            "Scores are on the items of a test set, one an arm and item: population, the items are all there are; "
            "sample, they are some of a larger world; or how many there are in all, of which these are a random "
            "sample."}})]
    seeds: Annotated[Any, Option(TRIALS, NAME, doors=(IDENTIFY, STUDY), shell=False, help=
        "Seeds, data splits or games that all arms share, `range(50)` for example: `pull(arm, seed)` gets one at a "
        "time, the same ones in the same order for every arm. Arms are compared by their differences on them.")]
    outcomes: Annotated[Mapping[str, Any] | None, Option(TRIALS, OUTCOMES, doors=OUTCOMES_AT, singular="outcome", help=
        "Where a trial gives several outcomes by name: what is assumed of each, a range such as (0, 1), unknown, "
        "gaussian or heavy:kurtosis=10.")]
    objectives: Annotated[Any, Option(GOAL, WISHES, doors=OUTCOMES_AT, singular="objective", help=
        "What is wanted of the outcomes, such as 'maximize mean(accuracy)' or 'minimize quantile(latency, 0.95)'.")]
    constraints: Annotated[Any, Option(GOAL, WISHES, doors=OUTCOMES_AT, singular="constraint", help=
        "Limits that an arm must keep, such as 'quantile(latency, 0.95) <= 2'.")]
    known: Annotated[Mapping[str, Any] | None, Option(TRIALS, KNOWN, doors=OUTCOMES_AT, help=
        "Outcomes that are not measured: for each of them its value by arm.")]
    price: Annotated[Mapping[Any, float] | float | str | None, Option(TRIALS, PRICES, doors=PRICED, help=
        "What a trial of each arm costs, one number for all, or told: with each answer. What a trial tells is weighed "
        "against it, and results show what was spent.")]
    spend: Annotated[float | None, Option(GOAL, NUMBER, doors=PRICED, help=
        "The most that all trials may cost: by itself for the best guess that the money buys; beside {epsilon} or "
        "{delta} give up, undecided, before the pull that would cost more.")]
    rare: Annotated[float | None, Option(GOAL, NUMBER, help=
        "The arms of the answer need enough trials to have shown events of this frequency, 0.02 for example, with "
        "probability 1 - {delta}; with {assumption} unknown only.", unless="rare events may go unseen, and the result "
        "says how frequent ones")]
    workers: Annotated[int, Option(TRIALS, COUNT, doors=(IDENTIFY,), shell=False, default=1, help=
        "Trials at once: so many calls of an `async def`, or so many threads.")]
    trials: Annotated["Trials | None", Option(TRIALS, NAME, doors=(IDENTIFY, STUDY, RUN), shell=False, help=
        "How a trial is made: `ramgape.Trials`.")]
    search: Annotated["Search | None", Option(METHOD, NAME, doors=ALL[:-1], shell=False, help=
        "How it is searched, for experts: `ramgape.Search`.")]
    progress: Annotated[bool | None, Option(METHOD, FLAG, doors=(IDENTIFY, SIMULATE), shell=False, help=
        "Whether to show, after the first second, pulls made, the answer so far, what is undecided, and how long it "
        "will take; it changes nothing of the search.", unless="on a terminal (stderr), and in a notebook")]


class SearchOptions(TypedDict, total=False):
    """How it is searched, for experts: the fields of `Search`."""

    policy: Annotated[str | Callable[..., Any], Option(METHOD, NAME, doors=(*ALL, COMMANDS), default="auto", help=
        "Which arm is pulled next (ramgape list policies).")]
    bound: Annotated["str | Bound", Option(METHOD, NAME, doors=(*ALL, COMMANDS), default="auto", help=
        "How wide the confidence intervals are (ramgape list bounds).")]
    exploration: Annotated[float | str | None, Option(METHOD, CONSTANT, doors=ASKING, help=
        "With {budget} and a policy of the paper: theorem (unless given), sharp, or the constant itself.")]
    returned: Annotated[str, Option(METHOD, NAME, doors=ASKING, default="last", help=
        "With {budget}: the set of the last round, or of the round of smallest-doubt.")]
    initial_trials: Annotated[int | None, Option(METHOD, PULLS, doors=ASKING, help=
        "Trials of every arm before the policy decides.", unless=
        "2; with {assumption} unknown 10, or 2 under a {budget}, and nothing is said of an arm's mean before its 10th "
        "trial, nor of its risk before its 20th")]
    max_trials: Annotated[int, Option(GOAL, PULLS, doors=ASKING, default=DEFAULT_MAX_TRIALS, help=
        "Give up, undecided, after this many trials.",
        at={PLAN: {"panel": RUNS, "default": PLANNED_TRIALS, "help":
            "A simulated search gives up, undecided, after this many trials; more take longer to simulate."}})]
    alpha: Annotated[float | None, Option(RISK, NUMBER, doors=(*ALL, LOWER_BOUND), help=
        "Factor of the risk mean-variance, by which one {epsilon} serves mean and risk; other risks have none.", unless=
        "1 / (3 reward range + rho), or 1 if {epsilon} is {pair}")]
    drift: Annotated[float | str | None, Option(METHOD, LEVEL, doors=(*REAL, COMMANDS), default=DEFAULT_DRIFT, help=
        "Accepted probability that the drift check warns although rewards are independent draws from one distribution "
        "for each arm; off: no check.")]


class Options(GoalOptions, SearchOptions, total=False):
    """The keywords of a search: those of `make_spec`, and of every door that searches."""

    sigma_max: Annotated[float | None, Option(METHOD, NUMBER, help=
        "The largest standard deviation an arm may have: for bound gaussian-paper, or for {assumption} "
        "heavy.",
        at={door: {"unless": "the instance's own"} for door in SIMULATED})]
    resolution: Annotated[float | None, Option(METHOD, NUMBER, help=
        "For Gaussian rewards: the step to which they were rounded, in their units; intervals hold for the rewards "
        "before that.")]
    kurtosis: Annotated[float | None, Option(METHOD, NUMBER, help=
        "For {assumption} heavy: no arm's rewards have a larger kurtosis, E(X - mean)^4 / variance^2 "
        "(docs/guides/assumptions.md).")]
    cv: Annotated[float | None, Option(METHOD, NUMBER, help=
        "For {assumption} heavy: no reward is negative, and no arm's standard deviation is more than this many "
        "times its mean.")]


class TrialOptions(TypedDict, total=False):
    """How a trial is made: the fields of `Trials`."""

    failure: Annotated[str, Option(TRIALS, NAME, doors=STUDIES, default="retry", help=
        "What a failed trial is: one to retry; the worst reward there is; or censored, a cost of {worst} or more.")]
    retries: Annotated[int, Option(TRIALS, COUNT, doors=(IDENTIFY, *STUDIES), default=3, help=
        "How often a trial is tried again before it is given up.",
        at={IDENTIFY: {"help": "How often a trial is tried again that raises one of {retry_on}, or `ramgape.Retry`."}})]
    in_order: Annotated[bool, Option(TRIALS, FLAG, doors=(IDENTIFY, *STUDIES), default=True, help=
        "With several trials in progress: count results in the order of asking, over all arms. Turn it off only if "
        "the time a trial takes is unrelated to its reward.")]
    worst: Annotated[float | None, Option(TRIALS, NUMBER, doors=STUDIES, help=
        "With {failure} worst or censored, and rewards without a range: what a failed trial counts as.", unless=
        "the worst end of the {reward_range}")]
    timeout: Annotated[float | None, Option(TRIALS, SECONDS, doors=(*CALLING, FILE, COMMANDS), shell=False, help=
        "Seconds after which a trial has failed.", at={
            **{door: {"help": "Seconds after which a trial is waited for no longer, which is a TimeoutError: an async "
                "call is cancelled, but nothing can end a thread."} for door in CALLING},
            COMMANDS: {"shell": True, "help": "Seconds after which a run is ended; it counts as so many or more."},
        })]
    rate: Annotated[float | str | None, Option(TRIALS, NAME, doors=(*CALLING, FILE), shell=False, help=
        "The most trials that may begin: 60/min, 5/s, 1000/h, or a number per second. They are spaced evenly.")]
    retry_on: Annotated[Any, Option(TRIALS, NAME, doors=CALLING, shell=False, help=
        "The exceptions, (TimeoutError, ConnectionError), say, after which a trial is tried again, up to {retries} "
        "times and with growing pauses: they must have nothing to do with the reward.")]
    resources: Annotated[Mapping[str, float] | None, Option(TRIALS, NAME, doors=(RUN,), shell=False, help=
        "On a cluster, what each trial takes: CPU and GPU, and whatever its workers were started with.", unless=
        "a thread of a Dask worker, or a CPU of Ray")]
    grace: Annotated[float, Option(TRIALS, SECONDS, doors=(RUN,), shell=False, default=5.0, help=
        "Seconds that trials under way have after Ctrl-C, to be told; a second one cancels them.")]


class StudyOptions(Options, TrialOptions, total=False):
    """The keywords of a study: those of a search, and what becomes of its trials."""

    expired: Annotated[str, Option(TRIALS, NAME, doors=STUDIES, default="retry", help=
        "What an expired lease is: a trial to retry with somebody else or, with {failure} worst or censored, to fail.")]
    seed: Annotated[int | None, Option(TRIALS, SEED, doors=(*STUDIES, COMMANDS), unless="a random one", help=
        "For a study that can be repeated: the seeds of its trials come from it.")]
    expected_arms: Annotated[int | None, Option(GOAL, COUNT, doors=STUDIES, help=
        "How many arms there may be with those that come later: keeps a tenth of {delta} for them, and has intervals "
        "for each arm in place of comparisons of pairs.", unless="no arm comes or goes")]
# fmt: on


OPTIONS: dict[str, Option] = {name: hint.__metadata__[0] for name, hint in StudyOptions.__annotations__.items()}


def renamed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their present names and values.

    >>> renamed({"task": "best-mean", "delta": 0.1})
    {'question': 'best', 'delta': 0.1}
    """
    for old, new in OPTION_NAMES.items():
        require(old not in options or new not in options, new, f"given once, not as {old} as well", options.get(old))
    present = {OPTION_NAMES.get(name, name): value for name, value in options.items()}
    return {name: present_value(name, value) for name, value in present.items()}


def options_at(door: str) -> dict[str, Option]:
    """The rows that a door takes, as they are there."""
    return {name: row._replace(**row.at.get(door, {})) for name, row in OPTIONS.items() if door in row.doors}


def _group(name: str, rows: Any, meaning: str) -> Any:
    """The dataclass whose fields are the rows of a typed dictionary."""
    fields = [(key, _type_of(key), dataclasses.field(default=OPTIONS[key].default)) for key in rows.__annotations__]
    made = dataclasses.make_dataclass(name, fields, frozen=True, kw_only=True)
    signature, make = inspect.signature(made), made.__dict__["__init__"]
    made.__init__ = lambda self, **options: make(self, **renamed(options))  # type: ignore[misc]
    made.__signature__ = signature  # type: ignore[attr-defined]
    made.__getattr__ = reading(OPTION_NAMES)  # type: ignore[attr-defined]
    described = "".join(_described(key, OPTIONS[key], 8) for key in rows.__annotations__ if OPTIONS[key].doors)
    made.__module__, made.__doc__ = __name__, f"{meaning}\n\n    Attributes:\n{described}    "
    return made


def _type_of(name: str) -> Any:
    """The type of an option alone, as people read it."""
    kind: Any = StudyOptions.__annotations__[name].__origin__
    return getattr(kind, "__forward_arg__", kind)


def _described(name: str, row: Option, indent: int) -> str:
    """A row as lines of a docstring."""
    import textwrap

    first, further = indent * " ", (indent + 4) * " "
    text = f"{name}: {row.text()}"
    return textwrap.fill(text, 120, initial_indent=first, subsequent_indent=further, break_on_hyphens=False) + "\n"


if TYPE_CHECKING:

    class Search:
        """How it is searched, for experts."""

        def __init__(self, **options: Unpack[SearchOptions]) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    class Trials:
        """How a trial is made."""

        def __init__(self, **options: Unpack[TrialOptions]) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    Search = _group("Search", SearchOptions, "How it is searched, for experts.")
    Trials = _group("Trials", TrialOptions, "How a trial is made, and what becomes of one that fails.")

GROUPS: dict[str, Any] = {"search": Search, "trials": Trials}  # options that stand for several


# --- what a door was given --------------------------------------------------------------------------------------------


def flatten(options: Mapping[str, Any], door: str = "") -> dict[str, Any]:
    """Options by name, those in a `Search` or in `Trials` beside the others; an error names those that a door takes.

    Examples:
        >>> flatten({"epsilon": 0.1, "search": Search(policy="egp")})
        {'epsilon': 0.1, 'policy': 'egp'}
        >>> flatten({"epsilom": 0.1})
        Traceback (most recent call last):
        ramgape.errors.UnknownName: every keyword must be one of ... got 'epsilom'; did you mean 'epsilon'?
    """
    options = renamed(options)
    for name in options:
        if name not in OPTIONS:
            taken = list(options_at(door) if door else OPTIONS)
            what, allowed = f"every keyword of {door}" if door else "every keyword", f"one of {', '.join(taken)}"
            raise UnknownName(what=what, allowed=allowed, given=shorten(name), hint=suggestion(name, taken))
    flat = {name: value for name, value in options.items() if name not in GROUPS}
    for name, kind in GROUPS.items():
        group = options.get(name)
        require(group is None or isinstance(group, kind), name, f"a ramgape.{kind.__name__}", group)
        for key in kind.__dataclass_fields__ if group is not None else ():
            value = getattr(group, key)
            if not _is_default(key, value):
                require(key not in flat, key, f"given once, by itself or in {name}", value)
                flat[key] = value
    return flat


def options_for(options: Mapping[str, Any], door: str) -> dict[str, Any]:
    """What a door was given, flat; what it cannot take is refused."""
    flat = flatten(options, door)
    for name, value in flat.items():
        doors = OPTIONS[name].doors
        if door not in doors and not _is_default(name, value):
            allowed = f"left out of {door}: it is an option of {', '.join(doors)}"
            hint = f"; {door} takes {', '.join(options_at(door))}"
            raise InvalidSpec(what=name, allowed=allowed, given=shorten(value), hint=hint)
    return {name: value for name, value in flat.items() if door in OPTIONS[name].doors}


def complete(options: Mapping[str, Any], door: str) -> dict[str, Any]:
    """Every option that a door takes, by name: as given, or its default."""
    given = options_for(options, door)
    return {name: given.get(name, row.default) for name, row in options_at(door).items() if name not in GROUPS}


def _is_default(name: str, value: object) -> bool:
    default = OPTIONS[name].default
    return value is default or (type(value) is type(default) and value == default)


# --- what a door shows ------------------------------------------------------------------------------------------------

Function = TypeVar("Function", bound=Callable[..., Any])


def shows_options(door: str) -> Callable[[Function], Function]:
    """Decorate a function of `**options`: its signature and its docstring, at {options}, show all that it takes."""
    shown = options_at(door)

    def show(function: Function) -> Function:
        own = [each for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
        rows = {name: shown[name] for name in OPTIONS if name in shown}
        first = sum(each.kind is not each.KEYWORD_ONLY for each in own)
        usual = [_parameter(name, row) for name, row in rows.items() if name in GoalOptions.__annotations__]
        experts = [_parameter(name, row) for name, row in rows.items() if name not in GoalOptions.__annotations__]
        function.__signature__ = inspect.Signature([*own[:first], *usual, *own[first:], *experts])  # type: ignore[attr-defined]
        before, marked, after = (function.__doc__ or "").partition("{options}\n")
        if marked:
            indent = len(before) - len(before.rstrip(" "))
            described = [_described(name, row, indent) for name, row in shown.items()]
            function.__doc__ = "".join([before.rstrip(" "), *described, after])
        return function

    return show


def _parameter(name: str, row: Option) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row.default, annotation=_type_of(name))
