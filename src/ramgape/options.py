"""The options of a search: one table, from which every entry point has its own.

A row is a key of one of the typed dictionaries below, `Annotated` with an `Option`: what it means, its default, how it
is read from text, and the entry points that take it. From the rows come the keywords of `identify`, `simulate`, `plan`,
`analyze` and `Study.create` with their documentation, the fields of `Search` and `Trials`, the options of the commands,
the keys of study files and docs/reference/options.md. A new option is a row here, and its use.
"""

# Annotations are looked at here, so they are not put off by `from __future__ import annotations`.

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict, TypeVar, Unpack

from ramgape.assumptions import DEFAULT_DRIFT as DEFAULT_DRIFT
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
DEFAULT_MAX_TRIALS = 10**9
PLANNED_RUNS, PLANNED_TRIALS = 100, 1_000_000  # of a plan: simulated searches of each goal, and the most trials of one
Tolerance = float | tuple[float, float] | str  # one in mean and risk, or one for each; or a share, "5%"

# The entry points. All but `identify`, `file` and `run` stand for a function and a command each.
IDENTIFY, SIMULATE, PLAN, ANALYZE, STUDY, FILE = "identify", "simulate", "plan", "analyze", "study", "file"
LOWER_BOUND = "lower-bound"
COMMANDS = "run"  # commands that are timed, as they are typed
SIMULATED = (SIMULATE, PLAN)
REAL = (IDENTIFY, ANALYZE, STUDY, FILE)
ALL = (IDENTIFY, *SIMULATED, ANALYZE, STUDY, FILE)
ASKING = (IDENTIFY, *SIMULATED, STUDY, FILE)  # that decide which arm gets the next trial
STUDIES = (STUDY, FILE)
PRICED = (IDENTIFY, SIMULATE, STUDY, FILE)
RUN = "Study.run"  # which takes `Trials`: how it makes trials is no part of a study
CALLING = (IDENTIFY, RUN)
OF_OUTCOMES = ("outcomes", "objectives", "constraints", "known")  # options about several outcomes per trial
OUTCOMES_AT = (IDENTIFY, SIMULATE, ANALYZE, STUDY, FILE, COMMANDS)

# The panels of a command's help, which are the sections of the reference.
TRIALS, GOAL, RISK = "Trials", "Goal", "Risk"
METHOD, RUNS, DATA = "Method", "Runs", "Data"


class Kind(NamedTuple):
    """How a value is read from what was typed, given the option's name; and what stands for it in help."""

    read: Callable[[Any, str], Any]
    metavar: str | None


NAME, FLAG, NUMBER = Kind(as_typed, "NAME"), Kind(as_typed, None), Kind(parse_number, "NUMBER")
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
        help: What it means. {name} is another option, as it is written at the entry point; {pair} is a pair of
            numbers; {risks}, {questions} and {policies} are those that there are.
        default: Its default.
        usual: The default in words, where it depends on other things.
        entries: The entry points that take it.
        shell: Whether there is an option of a command for it.
        shown: Whether it is a keyword in signatures. Others are fields of `Search` or `Trials`, or second spellings,
            and work as keywords without being shown.
        at: What is different at an entry point.
        singular: The name of a command's option that may be repeated.
    """

    panel: str
    kind: Kind
    help: str
    default: Any = None
    usual: str = ""
    entries: tuple[str, ...] = ALL
    shell: bool = True
    shown: bool = True
    at: Mapping[str, Mapping[str, Any]] = {}
    singular: str = ""

    def text(self, shell: bool = False) -> str:
        """What it means, in full, for Python or for the shell."""
        return (self.help + (f" Default: {self.usual}." if self.usual else "")).format_map(_Words(shell))


class _Words(dict[str, str]):
    """Names of options as they are written in the shell or in Python, and lists of what there is."""

    def __init__(self, shell: bool) -> None:
        super().__init__(pair="MEAN,RISK" if shell else "a pair (mean, risk)")
        self._shell = shell

    def __missing__(self, name: str) -> str:
        if name == "risks":
            from ramgape.risks.table import RISKS, risk_notation

            return ", ".join(map(risk_notation, RISKS))
        if name == "questions":
            from ramgape.questions import QUESTIONS

            return ", ".join(kind.written.partition("[")[0] for kind in QUESTIONS.values())
        if name == "policies":
            from ramgape.policies import POLICIES

            return ", ".join(["auto", *POLICIES])
        return f"--{name.replace('_', '-')}" if self._shell else f"`{name}`"


# fmt: off
class MainOptions(TypedDict, total=False):
    """What is asked for, and of what: the keywords that signatures show."""

    epsilon: Annotated[Tolerance | None, Option(GOAL, TOLERANCE, entries=(*ALL, COMMANDS, LOWER_BOUND), help=
        "Tolerance in mean and risk, or {pair} with one for each; or a percentage such as 5%, of the reward range if "
        "you declare one, otherwise of the smallest mean seen at the start. 0: the exact answer.",
        at={
            **{entry: {"usual": "none, which needs a {budget}"} for entry in (IDENTIFY, STUDY, FILE)},
            SIMULATE: {"usual": f"{DEFAULT_EPSILON}, or none with a {{budget}}"},
            PLAN: {"usual": "a twentieth of the reward range"},
            ANALYZE: {"default": 0.0},
            LOWER_BOUND: {"default": 0},
            COMMANDS: {"usual": "5%, or none with a {budget}"},
        })]
    delta: Annotated[float | None, Option(GOAL, NUMBER, entries=(*ALL, COMMANDS, LOWER_BOUND), help=
        "Accepted probability of a wrong answer.", usual=f"{DEFAULT_DELTA}")]
    budget: Annotated[int | None, Option(GOAL, COUNT, entries=(*ASKING, COMMANDS), help=
        "Spend exactly this many trials and return the best guess; in place of {delta}.")]
    max_trials: Annotated[int, Option(GOAL, COUNT, entries=ASKING, default=DEFAULT_MAX_TRIALS, help=
        "Give up, undecided, after this many trials.",
        at={PLAN: {"panel": RUNS, "default": PLANNED_TRIALS, "help":
            "A simulated search gives up, undecided, after this many trials; more take longer to simulate."}})]
    question: Annotated["Question | str", Option(GOAL, NAME, entries=(*ALL, COMMANDS, LOWER_BOUND), default="pareto",
        help="The question: {questions} (more: ramgape list questions).",
        at={COMMANDS: {"default": "best"}, LOWER_BOUND: {"help":
            "The question: pareto, best or least-risk, the only ones for which a lower bound is known."}})]
    rare: Annotated[float | None, Option(GOAL, NUMBER, help=
        "The arms of the answer need enough trials to have shown events of this frequency, 0.02 for example, with "
        "probability 1 - {delta}; with {assumption} unknown only.", usual="off, and the result says which events may "
        "have gone unseen")]
    risk: Annotated["Measure | str | None", Option(RISK, MEASURE, help="The risk: {risks}.",
        usual=f"{DEFAULT_RISK}, the standard deviation", entries=(*ALL, COMMANDS, LOWER_BOUND),
        at={
            **{entry: {"usual": f"that of the problem, or {DEFAULT_RISK}"} for entry in SIMULATED},
            LOWER_BOUND: {"usual": f"that of the problem, or {DEFAULT_RISK}", "help":
                "std, variance or mean-variance:RHO, the only risks for which a lower bound is known."},
        })]
    direction: Annotated[str, Option(RISK, NAME, entries=(*ALL, LOWER_BOUND), default="maximize", help=
        "maximize rewards, or minimize costs.",
        at={ANALYZE: {"default": None, "usual": "maximize; minimize for times and costs in a log"}})]
    reward_range: Annotated[tuple[float, float] | None, Option(TRIALS, RANGE, entries=REAL, help=
        "Two numbers that no reward can leave; never estimated from the data. It makes the guarantee finite-sample.",
        at={ANALYZE: {"panel": DATA}})]
    assumption: Annotated[str | None, Option(TRIALS, NAME, entries=(*REAL, COMMANDS), help=
        "About rewards without a range: unknown, gaussian[:resolution=NUMBER,sigma_max=NUMBER] or, for long tails, "
        "heavy:kurtosis=NUMBER (also sigma_max, cv).", usual=
        "bounded with a {reward_range}; otherwise unknown, and the guarantee is asymptotic",
        at={ANALYZE: {"panel": DATA}, COMMANDS: {"usual": "unknown, and the guarantee is asymptotic", "help":
            "unknown; bounded, up to the {timeout}, or for long tails heavy:kurtosis=10, both with a finite-sample "
            "guarantee; or gaussian."}})]
    block: Annotated[int, Option(TRIALS, COUNT, entries=(ANALYZE,), default=1, at={ANALYZE: {"panel": DATA}}, help=
        "Take the mean of this many consecutive rows of an arm as one reward; the risk is then that of such a mean.")]
    stopping: Annotated[str, Option(TRIALS, NAME, entries=(ANALYZE,), default="any-time", at={ANALYZE: {"panel": DATA}},
        help="any-time: the guarantee holds however often you look, and whatever ended the trials. fixed: classical "
        "simultaneous tests, for one look at trials whose number was fixed beforehand.")]
    na: Annotated[Any, Option(TRIALS, TEXTS, entries=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "Texts that stand for a missing reward, NA,NaN,null for example. Rows that have one, or nothing, are left out, "
        "counted and reported by arm; the guarantee then assumes that rewards are missing at random. drop: only what "
        "is nothing, an empty cell, None, NaN.", usual="a missing reward is an error")]
    exclude: Annotated[Any, Option(TRIALS, NAMES, entries=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "Arms to leave out, by name, for reasons that have nothing to do with their rewards; in a command, once for "
        "each.", usual="none")]
    only: Annotated[Any, Option(TRIALS, NAMES, entries=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "The arms to keep, by name.", usual="all")]
    min_rows: Annotated[int | None, Option(TRIALS, COUNT, entries=(ANALYZE,), at={ANALYZE: {"panel": DATA}}, help=
        "Leave out arms with fewer rows, and list them apart. The guarantee for the others then assumes that the "
        "number of rows of an arm does not depend on its rewards.", usual="every arm is kept; if arms with very few "
        "rows spoil the certificate, the report adds one without them")]
    items: Annotated[Any, Option(TRIALS, NAME, entries=REAL, shell=False, help=
        "A test set, of whose items a trial takes one, the same for all arms in one random order: a list, or "
        "`ramgape.Items`. Mean and risk are those over these items, and exact when all have been asked.",
        at={STUDY: {"shell": True, "kind": ITEMS_FILE}, ANALYZE: {"panel": DATA, "shell": True, "help":
            "Scores are on the items of a test set, one per arm and item. population: these are all items; sample: "
            "they are some of a larger set; or the number of all items, of which these are a random sample."}})]
    seeds: Annotated[Any, Option(TRIALS, NAME, entries=(IDENTIFY, STUDY), shell=False, help=
        "Seeds, data splits or games that all arms share, `range(50)` for example: `pull(arm, seed)` gets one at a "
        "time, the same ones in the same order for every arm. Arms are compared by their differences on them.")]
    outcomes: Annotated[Mapping[str, Any] | None, Option(TRIALS, OUTCOMES, entries=OUTCOMES_AT, help=
        "For trials with several outcomes: the assumption about each by name, a range such as (0, 1), unknown, "
        "gaussian or heavy:kurtosis=10.", singular="outcome")]
    objectives: Annotated[Any, Option(GOAL, WISHES, entries=OUTCOMES_AT, singular="objective", help=
        "Objectives, such as 'maximize mean(accuracy)' or 'minimize quantile(latency, 0.95)'.")]
    constraints: Annotated[Any, Option(GOAL, WISHES, entries=OUTCOMES_AT, singular="constraint", help=
        "Constraints, such as 'quantile(latency, 0.95) <= 2'.")]
    known: Annotated[Mapping[str, Any] | None, Option(TRIALS, KNOWN, entries=OUTCOMES_AT, help=
        "Outcomes that are known, not measured: for each of them its value by arm.")]
    price: Annotated[Mapping[Any, float] | float | str | None, Option(TRIALS, PRICES, entries=PRICED, help=
        "What a trial of each arm costs: one number for all, a number for each, or told, if trials report it. The "
        "search weighs it, and results show what was spent.")]
    policy: Annotated[str | Callable[..., Any], Option(METHOD, NAME, entries=(*ALL, COMMANDS), default="auto", help=
        "Which arm gets the next trial: {policies}.")]
    workers: Annotated[int, Option(TRIALS, COUNT, entries=(IDENTIFY,), shell=False, default=1, help=
        "Trials at a time: calls of an `async def`, or threads.")]
    trials: Annotated["Trials | None", Option(TRIALS, NAME, entries=(IDENTIFY, STUDY, RUN), shell=False, help=
        "How trials are made: `ramgape.Trials(...)`.")]
    search: Annotated["Search | None", Option(METHOD, NAME, entries=(*ALL[:-1], LOWER_BOUND), shell=False, help=
        "How to search, for experts: `ramgape.Search(...)`.")]
    progress: Annotated[bool | None, Option(METHOD, FLAG, entries=(IDENTIFY, SIMULATE), shell=False, help=
        "Whether to show progress after the first second: trials, the answer so far, and the time left.",
        usual="on a terminal (stderr), and in a notebook")]


class SearchOptions(TypedDict, total=False):
    """How to search, for experts: the fields of `Search`."""

    bound: Annotated["str | Bound", Option(METHOD, NAME, entries=(*ALL, COMMANDS), default="auto", help=
        "The bound that confidence intervals come from (ramgape list bounds).")]
    exploration: Annotated[float | str | None, Option(METHOD, CONSTANT, entries=ASKING, help=
        "With {budget} and a policy of the paper: theorem, sharp, or the constant itself.", usual="theorem")]
    returned: Annotated[str, Option(METHOD, NAME, entries=ASKING, default="last", help=
        "With {budget}: the set of the last trial, or of the trial with the smallest-doubt.")]
    initial_trials: Annotated[int | None, Option(METHOD, COUNT, entries=ASKING, help=
        "Trials of every arm before the policy decides.", usual="2; with {assumption} unknown 10 (2 with a {budget}), "
        "and no statement about an arm's mean before its 10th trial or about its risk before its 20th")]
    interleave: Annotated[bool, Option(TRIALS, FLAG, entries=(*ASKING, COMMANDS), default=False, help=
        "Decide in rounds, each in random order and no arm more than 3 times in a row while others are open: for "
        "trials on a machine that warms up or drifts.", at={COMMANDS: {"default": True}, FILE: {"usual":
            "true if the reward is the elapsed time"}})]
    shared: Annotated[bool | None, Option(TRIALS, FLAG, entries=REAL, help=
        "Arms share rows or blocks (a day, a game, a seed), where their rewards may depend on each other. The "
        "guarantee then comes from intervals for each arm, which allow that and take more trials.", usual=
        "no, arms are independent", at={ANALYZE: {"panel": DATA, "shown": True, "usual":
            "yes for a table with one column per arm, and with blocks; otherwise no, arms are independent"}})]
    spend: Annotated[float | None, Option(GOAL, NUMBER, entries=PRICED, help=
        "The most that all trials may cost: by itself for the best guess that the money buys; with {epsilon} or "
        "{delta} give up, undecided, before the trial that would cost more.")]
    alpha: Annotated[float | None, Option(RISK, NUMBER, entries=(*ALL, LOWER_BOUND), help=
        "Factor of the risk mean-variance, by which one {epsilon} serves mean and risk.", usual=
        "1 / (3 reward range + rho), or 1 if {epsilon} is {pair}")]
    drift: Annotated[float | str | None, Option(METHOD, LEVEL, entries=(*REAL, COMMANDS), default=DEFAULT_DRIFT, help=
        "Accepted probability that the drift check warns although rewards are independent draws from one distribution "
        "for each arm; off: no check.")]


class Options(MainOptions, SearchOptions, total=False):
    """The keywords of a search: those of `make_spec`, and of every entry point that searches."""

    # Second spellings: of a part of the risk, or of the assumption.
    rho: Annotated[float | None, Option(RISK, NUMBER, entries=(*ALL, LOWER_BOUND), shown=False, help=
        "Short for {risk} mean-variance:RHO, the risk variance - rho mean.")]
    sigma_max: Annotated[float | None, Option(METHOD, NUMBER, shown=False, help=
        "The largest standard deviation an arm may have: for bound gaussian-paper, or for {assumption} heavy.",
        at={entry: {"usual": "that of the problem"} for entry in SIMULATED})]
    resolution: Annotated[float | None, Option(METHOD, NUMBER, shown=False, help=
        "For Gaussian rewards: the step to which they were rounded; intervals hold for the rewards before that.")]
    kurtosis: Annotated[float | None, Option(METHOD, NUMBER, shown=False, help=
        "For {assumption} heavy: no arm has a larger kurtosis, E(X - mean)^4 / variance^2.")]
    cv: Annotated[float | None, Option(METHOD, NUMBER, shown=False, help=
        "For {assumption} heavy: no reward is negative, and no arm's standard deviation is more than this many "
        "times its mean.")]


class TrialOptions(TypedDict, total=False):
    """How trials are made: the fields of `Trials`."""

    failure: Annotated[str, Option(TRIALS, NAME, entries=STUDIES, default="retry", help=
        "What a failed trial is: retry; worst, the worst possible reward; or censored, a cost of {worst} or more.")]
    retries: Annotated[int, Option(TRIALS, COUNT, entries=(IDENTIFY, *STUDIES), default=3, help=
        "How often to try a trial again before giving it up.",
        at={IDENTIFY: {"help": "How often to repeat a trial that raises one of {retry_on}, or `ramgape.Retry`."}})]
    in_order: Annotated[bool, Option(TRIALS, FLAG, entries=(IDENTIFY, *STUDIES), default=True, help=
        "With several trials in progress: count results in the order of asking, over all arms. Turn it off only if "
        "the time a trial takes is unrelated to its reward.")]
    worst: Annotated[float | None, Option(TRIALS, NUMBER, entries=STUDIES, help=
        "With {failure} worst or censored, and rewards without a range: what a failed trial counts as.", usual=
        "the worst end of the {reward_range}")]
    expired: Annotated[str, Option(TRIALS, NAME, entries=STUDIES, default="retry", help=
        "What becomes of a trial whose lease expired: retry, by another worker, or, with {failure} worst or censored, "
        "fail.")]
    timeout: Annotated[float | None, Option(TRIALS, SECONDS, entries=(*CALLING, FILE, COMMANDS), shell=False, help=
        "Seconds after which a trial has failed.", at={
            **{entry: {"help": "Seconds after which a trial raises TimeoutError: an async call is cancelled, but "
                "nothing can end a thread."} for entry in CALLING},
            COMMANDS: {"shell": True, "help": "Seconds after which a run is stopped; it counts as that or more."},
        })]
    rate: Annotated[float | str | None, Option(TRIALS, NAME, entries=(*CALLING, FILE), shell=False, help=
        "The most trials that may begin: 60/min, 5/s, 1000/h, or a number per second. They are spaced evenly.")]
    retry_on: Annotated[Any, Option(TRIALS, NAME, entries=CALLING, shell=False, help=
        "The exceptions, (TimeoutError, ConnectionError) for example, after which a trial is tried again, up to "
        "{retries} times and with growing pauses. They must be unrelated to the reward.")]
    resources: Annotated[Mapping[str, float] | None, Option(TRIALS, NAME, entries=(RUN,), shell=False, help=
        "On a cluster, what each trial takes: CPU and GPU, and whatever its workers were started with.", usual=
        "a thread of a Dask worker, or a CPU of Ray")]
    grace: Annotated[float, Option(TRIALS, SECONDS, entries=(RUN,), shell=False, default=5.0, help=
        "Seconds that trials in progress have after Ctrl-C; a second Ctrl-C cancels them.")]


class StudyOptions(Options, TrialOptions, total=False):
    """The keywords of a study: those of a search, and what becomes of its trials."""

    seed: Annotated[int | None, Option(TRIALS, SEED, entries=(*STUDIES, COMMANDS), usual="a random one", help=
        "Makes a study repeatable: the seeds of its trials come from it.")]
    expected_arms: Annotated[int | None, Option(GOAL, COUNT, entries=STUDIES, help=
        "How many arms there may be with those that come later. Keeps a tenth of {delta} for them, and uses intervals "
        "for each arm instead of comparisons of pairs.", usual="no arm comes or goes")]
# fmt: on


OPTIONS: dict[str, Option] = {name: hint.__metadata__[0] for name, hint in StudyOptions.__annotations__.items()}
GROUPED = frozenset((*SearchOptions.__annotations__, *TrialOptions.__annotations__))
OPTIONS |= {name: OPTIONS[name]._replace(shown=False) for name in GROUPED}
SECOND_SPELLINGS = frozenset(name for name, row in OPTIONS.items() if not row.shown) - GROUPED


def renamed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their present names and values.

    >>> renamed({"task": "best-mean", "delta": 0.1})
    {'question': 'best', 'delta': 0.1}
    """
    for old, new in OPTION_NAMES.items():
        require(old not in options or new not in options, new, f"given once, not as {old} as well", options.get(old))
    present = {OPTION_NAMES.get(name, name): value for name, value in options.items()}
    return {name: present_value(name, value) for name, value in present.items()}


def options_at(entry: str) -> dict[str, Option]:
    """The rows that an entry point takes, as they are there."""
    return {name: row._replace(**row.at.get(entry, {})) for name, row in OPTIONS.items() if entry in row.entries}


def shown_at(entry: str) -> dict[str, Option]:
    """The rows that are keywords in the signature of an entry point."""
    return {name: row for name, row in options_at(entry).items() if row.shown}


class Group:
    """Options that belong together: frozen, and printed with what differs from the defaults."""

    def __init__(self, **options: Any) -> None:
        given, fields = renamed(options), OPTIONS.keys() & self.__dataclass_fields__  # type: ignore[attr-defined]
        for name in given:
            if name not in fields:
                raise UnknownName(
                    **_unknown(f"every keyword of {type(self).__name__}", name, list(self.shown_fields()))
                )
        for name in fields:
            object.__setattr__(self, name, given.get(name, OPTIONS[name].default))

    @classmethod
    def shown_fields(cls) -> dict[str, Option]:
        """The rows of its fields, but for those that are keywords of their own."""
        return {name: row for name, row in OPTIONS.items() if name in cls.__dataclass_fields__ and not row.shown}  # type: ignore[attr-defined]

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}  # type: ignore[attr-defined]
        return {name: value for name, value in values.items() if not _is_default(name, value)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


def _group(name: str, fields: Any, meaning: str) -> Any:
    """A group with these fields; those that are keywords of their own are not shown."""
    typed = [(key, _type_of(key), dataclasses.field(default=OPTIONS[key].default)) for key in fields]
    made: Any = dataclasses.make_dataclass(name, typed, bases=(Group,), init=False, repr=False, frozen=True)
    made.__signature__ = inspect.Signature([_parameter(key, row) for key, row in made.shown_fields().items()])
    made.__getattr__ = reading(OPTION_NAMES)
    described = "".join(_described(key, row, 8) for key, row in made.shown_fields().items() if row.entries)
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


def _parameter(name: str, row: Option) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row.default, annotation=_type_of(name))


if TYPE_CHECKING:

    class Search(Group):
        """How to search, for experts."""

        def __init__(self, **options: Unpack[SearchOptions]) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    class Trials(Group):
        """How trials are made."""

        def __init__(self, **options: Unpack[TrialOptions]) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    Search = _group("Search", (*SearchOptions.__annotations__, "policy", "max_trials"), "How to search, for experts.")
    Trials = _group("Trials", TrialOptions.__annotations__, "How trials are made, and what becomes of failed ones.")

GROUPS: dict[str, Any] = {"search": Search, "trials": Trials}  # options that stand for several


# --- what an entry point was given --------------------------------------------------------------------------------


def flatten(options: Mapping[str, Any], entry: str = "") -> dict[str, Any]:
    """Options by name, those in a `Search` or in `Trials` beside the others.

    Args:
        options: Keywords, under present or older names.
        entry: The entry point, whose options an error lists.

    Raises:
        UnknownName: There is no such option.

    Examples:
        >>> flatten({"epsilon": 0.1, "search": Search(bound="hoeffding")})
        {'epsilon': 0.1, 'bound': 'hoeffding'}
        >>> flatten({"epsilom": 0.1})
        Traceback (most recent call last):
        ramgape.errors.UnknownName: every keyword must be one of ... got 'epsilom'; did you mean 'epsilon'?
    """
    options = renamed(options)
    for name in options:
        if name not in OPTIONS:
            taken = options_at(entry) if entry else OPTIONS
            what = f"every keyword of {entry}" if entry else "every keyword"
            raise UnknownName(**_unknown(what, name, [each for each, row in taken.items() if row.shown], list(taken)))
    flat = {name: value for name, value in options.items() if name not in GROUPS}
    for name, kind in GROUPS.items():
        group = options.get(name)
        require(group is None or isinstance(group, kind), name, f"a ramgape.{kind.__name__}", group)
        for key, value in ({} if group is None else group.given()).items():
            require(key not in flat, key, f"given once, by itself or in {name}", value)
            flat[key] = value
    return flat


def _unknown(what: str, name: str, shown: list[str], near: list[str] | None = None) -> dict[str, str]:
    """What is said of a name that is none of those shown; the suggestion may be another one that works."""
    hint = suggestion(name, near or shown)
    return {"what": what, "allowed": f"one of {', '.join(shown)}", "given": shorten(name), "hint": hint}


def options_for(options: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """What an entry point was given, flat; what it cannot take is refused."""
    flat = flatten(options, entry)
    for name, value in flat.items():
        entries = OPTIONS[name].entries
        if entry not in entries and not _is_default(name, value):
            allowed = f"left out of {entry}: it is an option of {', '.join(entries)}"
            hint = f"; {entry} takes {', '.join(shown_at(entry))}"
            raise InvalidSpec(what=name, allowed=allowed, given=shorten(value), hint=hint)
    return {name: value for name, value in flat.items() if entry in OPTIONS[name].entries}


def complete(options: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """Every option that an entry point takes, by name: as given, or its default."""
    given = options_for(options, entry)
    return {name: given.get(name, row.default) for name, row in options_at(entry).items() if name not in GROUPS}


def _is_default(name: str, value: object) -> bool:
    default = OPTIONS[name].default
    return value is default or (type(value) is type(default) and value == default)


# --- what an entry point shows ----------------------------------------------------------------------------------------

Function = TypeVar("Function", bound=Callable[..., Any])


def shows_options(entry: str) -> Callable[[Function], Function]:
    """Decorate a function of `**options`: its signature and its docstring, at {options}, show its main options."""
    shown = shown_at(entry)

    def show(function: Function) -> Function:
        own = [each for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
        first = sum(each.kind is not each.KEYWORD_ONLY for each in own)
        usual = [_parameter(name, row) for name, row in shown.items()]
        function.__signature__ = inspect.Signature([*own[:first], *usual, *own[first:]])  # type: ignore[attr-defined]
        before, marked, after = (function.__doc__ or "").partition("{options}\n")
        if marked:
            indent = len(before) - len(before.rstrip(" "))
            described = [_described(name, row, indent) for name, row in shown.items()]
            function.__doc__ = "".join([before.rstrip(" "), *described, after])
        return function

    return show
