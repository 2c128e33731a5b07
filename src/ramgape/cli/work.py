"""The commands that workers in a shell call for every trial, and those that change a study.

They are described once, in `VERBS`. `answer` reads them with argparse and imports as little as it can: for a study on a
server neither typer nor NumPy, a tenth of a second in all. Calls for help, completions and mistakes go to typer, which
`command` makes of the same description. Trials and results are what JSON has of them.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple, NoReturn

from ramgape.cli.stores import existing_storage, storage_url
from ramgape.cli.streams import FAILED, tell, tell_error, warnings_told, write_json, write_line
from ramgape.common.files import name_of, opened, read_number, read_objects
from ramgape.common.old_names import COMMANDS, present_flag
from ramgape.common.parsing import parse_number
from ramgape.errors import DataError, FailingArm, InvalidSpec, SpecificationError, located, printable, require, shorten
from ramgape.errors import RamgapeError as Refused
from ramgape.remote.address import is_remote

SHOWN = 8  # pulls in a message
NEGATIVE_NUMBER = re.compile(r"-(\d|\.\d|inf|nan)")  # a value, although it begins like an option

Json = dict[str, Any]


# --- what is read ----------------------------------------------------------------------------------------------------


def one_result(argument: str | None, given: str | None, outcomes: str | None) -> Json:
    """The reward as a number, or the outcomes by name; the study checks their ranges."""
    there = [text for text in (argument, given, outcomes) if text is not None]
    if len(there) != 1:
        allowed = "given, as the last argument or with --reward, or several outcomes with --outcomes"
        raise InvalidSpec(what="one reward", allowed=allowed, given="none" if not there else "two")
    return read_result(there[0], named=outcomes is not None)


def read_result(text: str, *, named: bool = False) -> Json:
    """A reward as it is typed, or outcomes as a JSON object."""
    if not named and not text.lstrip().startswith("{"):
        with suppress(ValueError):
            return {"reward": read_number(text)}
        raise InvalidSpec(what="reward", allowed="a number", given=shorten(text)) from None
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        if isinstance(found, dict):
            return {"outcomes": found}
    raise InvalidSpec(what="outcomes", allowed="a JSON object of numbers", given=shorten(text))


def details(price: str | None, info: str | None) -> Json:
    """What is reported with a reward."""
    found: Json = {}
    if price is not None:
        found["price"] = parse_number(price, "price")
    if info is not None:
        try:
            found["info"] = json.loads(info)
        except (ValueError, RecursionError):
            raise InvalidSpec(what="info", allowed="a JSON object", given=shorten(info)) from None
    return found


def lease_of(text: str) -> float | None:
    """Seconds; None for no end."""
    return None if text.lower() == "none" else parse_number(text, "lease")


def told_pair(text: str) -> Json:
    """A pull and its reward, as PULL=REWARD."""
    pull, equals, reward = text.partition("=")
    if not equals:
        raise InvalidSpec(what="--tell", allowed="written PULL=REWARD", given=shorten(text))
    return {"pull": pull, **read_result(reward)}


def failed_pair(text: str) -> Json:
    """A pull whose trial has failed, and why: PULL or PULL=REASON."""
    pull, _, reason = text.partition("=")
    return {"pull": pull, "reason": reason}


def read_results(file: str) -> list[tuple[str, Json]]:
    """The results in a file, each with its place."""
    from ramgape.data.source import reading

    results = []
    with reading(file) as stream, opened(stream):
        source = name_of(stream)
        for line, found in read_objects(stream, source):
            place = f"{source}, line {line}"
            pull = found.get("pull", found.get("id"))
            given = {name: found[name] for name in ("price", "info") if found.get(name) is not None}
            named = [name for name in ("reward", "outcomes") if name in found]
            if not isinstance(pull, str) or len(named) != 1:
                allowed = '"pull" (or "id") and "reward", or "outcomes" where there are several'
                raise InvalidSpec(place=place, verb="have", allowed=allowed, given=shorten(found))
            results.append((place, {"pull": pull, named[0]: found[named[0]], **given}))
    return results


def hint_retry(error: FailingArm, name: str) -> None:
    """Add to an error about a failing arm what to type in a shell."""
    error.hint += f"; in the shell: ramgape study retry {shlex.quote(name)}"


# --- what is printed -------------------------------------------------------------------------------------------------


def show_pulls(pulls: Sequence[Json], done: bool, as_json: bool) -> None:
    """Print the next trials, one a line; if there is none, say why on stderr."""
    if as_json:
        write_json({"pulls": list(pulls), "done": done})
        return
    for each in pulls:
        item = f"\t{printable(json.dumps(each['item']))}" if "item" in each else ""
        write_line(f"{each['id']}\t{printable(each['arm'])}\t{each['seed']}{item}")
    if not pulls:
        tell("note", "the study is done" if done else "nothing to try now: enough trials are in progress", "bold")


def show_answer(accepted: bool, done: bool, about: Json, as_json: bool) -> None:
    """Print whether one result was accepted."""
    if as_json:
        write_json({**about, "accepted": accepted, "done": done})
        return
    words = "accepted" if accepted else "not accepted: the trial is completed, or another worker has it"
    write_line(f"{words}{'; the study is done' if done else ''}")


def show_many(pulls: Sequence[str], accepted: Sequence[bool], done: bool, as_json: bool) -> None:
    """Print how many results were accepted."""
    if as_json:
        rows = [{"id": pull, "accepted": each} for pull, each in zip(pulls, accepted, strict=True)]
        write_json({"pulls": rows, "done": done})
        return
    late = len(accepted) - sum(accepted)
    words = f", {late:,} not: other answers came first" if late else ""
    write_line(f"{sum(accepted):,} accepted{words}.{' The study is done.' if done else ''}")


# --- where the study is ----------------------------------------------------------------------------------------------


class Direct:
    """A study that this process opens: in a database, or on a server after that has refused something."""

    def __init__(self, name: str, storage: str | None) -> None:
        from ramgape.studies.study import Study

        self.study = Study.load(name, existing_storage(storage))

    def exchange(
        self, told: Sequence[tuple[str | None, Json]], failed: Sequence[Json], backs: Sequence[str], wanted: Json
    ) -> Json:
        """Report results and get the next trials; an error names the place of a result."""
        from ramgape.search.outcome import Outcome
        from ramgape.studies.entries import checked_outcome

        answers: list[tuple[str, Any]] = []
        for place, given in told:
            rest = {name: value for name, value in given.items() if name != "pull"}
            if place is not None:
                with located(place):
                    checked_outcome(self.study.spec.search, Outcome(**rest))
            answers.append((given["pull"], Outcome(**rest)))
        failures = [(each["pull"], each["reason"]) for each in failed]
        found = self.study.exchange(answers, failed=failures, given_back=backs, **wanted)
        pulls = [{name: value for name, value in each._asdict().items() if value is not None} for each in found.pulls]
        return {"accepted": [each.accepted for each in found.answers], "pulls": pulls, "done": found.done}

    def renew(self, pulls: Sequence[str], lease: float | None) -> Json:
        """Renew leases."""
        return {"renewed": self.study.renew(pulls, lease), "done": self.done()}

    def done(self) -> bool:
        """Whether the goal is reached."""
        return self.study.done

    def close(self) -> None:
        """Close the storage."""
        self.study.close()


class OnServer:
    """A study on a server, reached without NumPy; what the server refuses is left to `Direct`, for the words."""

    def __init__(self, name: str, url: str) -> None:
        from ramgape.remote.connection import ServerConnection
        from ramgape.remote.studies import RemoteStudy, known_study

        self._connection = ServerConnection(url)
        try:
            self._row = known_study(self._connection, name)
        except BaseException:
            self._connection.close()
            raise
        self._study = RemoteStudy(self._connection, self._row["id"])

    def exchange(
        self, told: Sequence[tuple[str | None, Json]], failed: Sequence[Json], backs: Sequence[str], wanted: Json
    ) -> Json:
        """Report results and get the next trials."""
        results = [given for _, given in told]
        for given in results:
            named = given.get("outcomes")
            for name, value in (named if isinstance(named, dict) else given).items():
                if isinstance(value, float) and not math.isfinite(value):
                    raise InvalidSpec(what=name, allowed="a number", given=str(value))
        reported: Mapping[str, list[Any]] = {"answers": results, "failed": list(failed), "given_back": list(backs)}
        return self._study.exchange(reported, **wanted)

    def renew(self, pulls: Sequence[str], lease: float | None) -> Json:
        """Renew leases."""
        return self._study.renew(list(pulls), lease)

    def done(self) -> bool:
        """Whether the goal is reached, by the server's list."""
        from ramgape.remote.answers import DONE

        with self._connection.understanding("GET /studies"):
            DONE(self._row, "the study")
        return bool(self._row["done"])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


NOTHING: Mapping[str, Any] = {"count": 0, "worker": None, "lease": None}
Use = Callable[..., Any]  # calls what it is given with the study, opened; `direct` where `Direct` is needed


def _wanted(count: str, worker: str | None, lease: str) -> Json:
    return {"count": parse_number(count, "count"), "worker": worker, "lease": lease_of(lease)}


def ask(use: Use, name: str, count: str, worker: str | None, lease: str, as_json: bool) -> None:
    """Ask for the next trials.

    Prints the id, the arm and a seed of each; nothing when the study is done.

    [bold]ramgape study ask models --count 4 --json[/bold]
    {"pulls": [{"id": "a1b2c3-0", "arm": "A", "seed": 123}, ...], "done": false}
    """
    wanted = _wanted(count, worker, lease)
    require(wanted["count"] != 0, "count", "a whole number from 1 to 100,000", wanted["count"])
    found = use(lambda study: study.exchange([], [], [], wanted))
    show_pulls(found["pulls"], found["done"], as_json)


def tell_reward(
    use: Use,
    name: str,
    pull: str | None,
    reward: str | None,
    reward_option: str | None,
    outcomes: str | None,
    source: str | None,
    price: str | None,
    info: str | None,
    as_json: bool,
) -> None:
    """Tell the reward of a trial, or of many.

    It is stored when the command returns.

    [bold]ramgape study tell models a1b2c3-17 -0.5[/bold]

    [bold]ramgape study tell models a1b2c3-17 --outcomes '{"accuracy": 1, "cost": 0.02}'[/bold]

    The first result of a trial counts. A later one changes nothing and is not accepted,
    which is no error. With --from, all results are stored or, after an error, none.
    """
    told: list[tuple[str | None, Json]]
    if source is not None:
        alone = pull is None and reward_option is None and outcomes is None
        require(alone, "--from", "given without a pull and a reward", pull or "both")
        told = list(read_results(source))
    elif pull is None:
        raise InvalidSpec(what="a pull and its reward", allowed="given, or --from FILE", given="neither")
    else:
        told = [(None, {"pull": pull, **one_result(reward, reward_option, outcomes), **details(price, info)})]
    found = use(lambda study: study.exchange(told, [], [], NOTHING))
    if source is None:
        show_answer(found["accepted"][0], found["done"], {"pull": pull}, as_json)
    else:
        show_many([given["pull"] for _, given in told], found["accepted"], found["done"], as_json)


def exchange(
    use: Use,
    name: str,
    told: Sequence[str] | None,
    source: str | None,
    failed: Sequence[str] | None,
    given_back: Sequence[str] | None,
    count: str,
    worker: str | None,
    lease: str,
    as_json: bool,
) -> None:
    """Tell results and ask for more, in one transaction.

    [bold]ramgape study exchange models --tell a1b2c3-17=0.5 --count 2 --json[/bold]

    After an error, nothing is stored and no trial is handed out.
    """
    wanted = _wanted(count, worker, lease)
    results: list[tuple[str | None, Json]] = [(None, told_pair(text)) for text in told or ()]
    results += read_results(source) if source is not None else []
    failures, backs = [failed_pair(text) for text in failed or ()], list(given_back or ())
    found = use(lambda study: study.exchange(results, failures, backs, wanted))
    given = [*(each["pull"] for _, each in results), *(each["pull"] for each in failures), *backs]
    pairs = list(zip(given, found["accepted"], strict=True))
    if as_json:
        answers = [{"pull": pull, "accepted": each} for pull, each in pairs]
        write_json({"answers": answers, "pulls": list(found["pulls"]), "done": found["done"]})
        return
    late = [pull for pull, each in pairs if not each]
    if late:
        shown = f"{', '.join(late[:SHOWN])}{', ...' if len(late) > SHOWN else ''}"
        tell("note", f"not accepted, being completed or with another worker: {shown}", "bold")
    show_pulls(found["pulls"], found["done"], as_json)


def fail(use: Use, name: str, pull: str, reason: str, as_json: bool) -> None:
    """Report that a trial failed.

    It is tried again, or counts as the worst reward, as the study was created.
    """
    found = use(lambda study: study.exchange([], [{"pull": pull, "reason": reason}], [], NOTHING))
    show_answer(found["accepted"][0], found["done"], {"pull": pull}, as_json)


def give_back(use: Use, name: str, pull: str, as_json: bool) -> None:
    """Release a trial that will not be made.

    It is available to others at once and does not count as a failure.
    """
    found = use(lambda study: study.exchange([], [], [pull], NOTHING))
    show_answer(found["accepted"][0], found["done"], {"pull": pull}, as_json)


def renew(use: Use, name: str, pulls: Sequence[str], lease: str, as_json: bool) -> None:
    """Renew the leases of trials in progress.

    Prints which of them are still yours.
    """
    seconds = lease_of(lease)
    found = use(lambda study: study.renew(pulls, seconds))
    pairs = list(zip(pulls, found["renewed"], strict=True))
    if as_json:
        write_json({"pulls": [{"id": pull, "renewed": each} for pull, each in pairs], "done": found["done"]})
        return
    for pull, each in pairs:
        write_line(f"{pull}\t{'renewed' if each else 'no longer yours'}")


def done(use: Use, name: str, as_json: bool) -> int:
    """Check whether a study is done (exit code 0 or 1).

    0: done. 1: there is more to try.
    """
    ended = use(lambda study: study.done())
    if as_json:
        write_json({"done": ended})
    else:
        write_line("yes: the study is done" if ended else "no: there is more to try")
    return 0 if ended else FAILED


# --- commands that change a study ------------------------------------------------------------------------------------


def observe(
    use: Use,
    name: str,
    arm: str,
    reward: str | None,
    reward_option: str | None,
    outcomes: str | None,
    price: str | None,
    info: str | None,
    as_json: bool,
) -> None:
    """Record a trial made without asking."""
    (value,) = one_result(reward, reward_option, outcomes).values()
    more = details(price, info)
    answer = use(lambda opened: opened.study.observe(arm, value, **more), direct=True)
    show_answer(answer.accepted, answer.done, {"arm": arm}, as_json)


def retry(use: Use, name: str, as_json: bool) -> None:
    """Try failed trials again.

    Makes trials available that were given up after too many failures.
    """
    from ramgape.common.formatting import plural

    count, done = use(lambda opened: (opened.study.retry(), opened.study.done), direct=True)
    if as_json:
        write_json({"retried": count, "done": done})
    else:
        write_line(f"{plural(count, 'trial is', 'trials are')} available again.")


def extend(use: Use, name: str, epsilon: str | None, budget: str | None, spend: str | None, as_json: bool) -> None:
    """Continue a study with a larger goal.

    Pass a smaller epsilon, a larger budget, or more money. The study may be done or not.

    [bold]ramgape study extend models --epsilon 0.01[/bold]

    All trials count. Results say from then on that the study was extended.
    """
    from ramgape.options import OPTIONS
    from ramgape.views.study import goal_of

    asked = {"epsilon": epsilon, "budget": budget, "spend": spend}
    given = {key: OPTIONS[key].kind.read(text, key) for key, text in asked.items() if text is not None}
    more, result = use(lambda opened: (opened.study.extend(**given), opened.study.result(expect=False)), direct=True)
    goal = result.goal
    if as_json:
        described = {"name": name, "epsilon": goal.epsilon, "budget": goal.budget, "done": not more}
        write_json(described if goal.spend is None else {**described, "spend": goal.spend})
        return
    state = "the study goes on" if more else "its trials are enough for that already"
    write_line(f"Goal now: {goal_of(result)}; {state}.")


def add_arm(use: Use, name: str, arm: str, price: str | None, as_json: bool) -> None:
    """Add an arm to a study.

    The study must have been created with --expected-arms.
    """
    cost = parse_number(price, "price")
    more, arms = use(lambda opened: (opened.study.add_arm(arm, price=cost), opened.study.arms), direct=True)
    show_arms(arms, not more, as_json)


def retire(use: Use, name: str, arm: str, as_json: bool) -> None:
    """Retire an arm, keeping its trials."""
    more, arms = use(lambda opened: (opened.study.retire(arm), opened.study.arms), direct=True)
    show_arms(arms, not more, as_json)


def show_arms(arms: Sequence[str], done: bool, as_json: bool) -> None:
    """Print which arms there are now."""
    from ramgape.common.formatting import list_names, plural

    if as_json:
        write_json({"arms": list(arms), "done": done})
    else:
        state = "the study is done" if done else "the study goes on"
        write_line(f"{plural(len(arms), 'arm')}: {list_names(arms)}; {state}.")


# --- how they are called ---------------------------------------------------------------------------------------------


class Word(NamedTuple):
    """An argument of a command, or an option: its flag is then what is typed."""

    name: str
    metavar: str | None = None
    says: str = ""
    flag: str | None = None
    default: str | None = None
    required: bool = False
    many: bool = False


NAME = Word("name", "NAME", "The study.", required=True)
PULL = Word("pull", "TRIAL", "The id that ask printed, such as a1b2c3-17.", required=True)
REWARD = Word("reward", "REWARD", "The reward.")
REWARD_OPTION = Word("reward_option", "NUMBER", "The reward, instead of as an argument.", "--reward")
OUTCOMES = Word("outcomes", "JSON", "Several outcomes by name, in place of a reward.", "--outcomes")
PRICE = Word("price", "NUMBER", "What the trial cost, if the study has reported prices.", "--price")
INFO_HELP = 'More to store with the result, as a JSON object: {"model_version": "3.1"}.'
INFO = Word("info", "JSON", INFO_HELP, "--info")
FROM = Word(
    "source",
    "FILE",
    'A file of results, one JSON object per line with "pull" (or "id") and "reward" or "outcomes", '
    'optionally "price" and "info"; - for stdin.',
    "--from",
)
COUNT = Word("count", "COUNT", "How many trials to get; fewer come if these may suffice.", "--count", "1")
NEXT = COUNT._replace(says="How many trials to get next; 0 for none.")
WORKER_HELP = "A name for the worker. After a restart it first gets its own open trials back."
WORKER = Word("worker", "NAME", WORKER_HELP, "--worker")
LEASE_HELP = "Seconds after which an unreported trial goes to another worker; none: never."
LEASE = Word("lease", "SECONDS", LEASE_HELP, "--lease", "3600")
TELL_HELP = "A trial and its reward, or a JSON object of its outcomes; repeatable."
TELL = Word("told", "TRIAL=REWARD", TELL_HELP, "--tell", many=True)
FAIL_HELP = "A failed trial, optionally with the reason; repeatable."
FAIL = Word("failed", "TRIAL[=REASON]", FAIL_HELP, "--fail", many=True)
BACK_HELP = "A trial that will not be made; repeatable."
BACK = Word("given_back", "TRIAL", BACK_HELP, "--release", many=True)
REASON = Word("reason", "TEXT", "What happened; `study show` prints it.", "--reason", "")
PULLS = PULL._replace(name="pulls", metavar="TRIAL...", many=True)
ARM = Word("arm", "ARM", "The arm.", required=True)
NEW_ARM = ARM._replace(says="A name that no arm of the study has or had.")
ARM_PRICE = PRICE._replace(says="What a trial of it costs, if the study has declared prices.")
EPSILON = Word(
    "epsilon", "NUMBER", "A smaller tolerance: a number, two for mean and risk, or a percentage.", "--epsilon"
)
BUDGET = Word("budget", "TRIALS", "A larger budget.", "--budget")
SPEND = Word("spend", "NUMBER", "A higher limit on what the study spends.", "--spend")

VERBS: Mapping[str, tuple[Callable[..., int | None], tuple[Word, ...]]] = {
    "ask": (ask, (NAME, COUNT, WORKER, LEASE)),
    "tell": (tell_reward, (NAME, PULL._replace(required=False), REWARD, REWARD_OPTION, OUTCOMES, FROM, PRICE, INFO)),
    "exchange": (exchange, (NAME, TELL, FROM, FAIL, BACK, NEXT, WORKER, LEASE)),
    "fail": (fail, (NAME, PULL, REASON)),
    "release": (give_back, (NAME, PULL)),
    "renew": (renew, (NAME, PULLS, LEASE)),
    "done": (done, (NAME,)),
    "observe": (observe, (NAME, ARM, REWARD, REWARD_OPTION, OUTCOMES, PRICE, INFO)),
    "retry": (retry, (NAME,)),
    "extend": (extend, (NAME, EPSILON, BUDGET, SPEND)),
    "add-arm": (add_arm, (NAME, NEW_ARM, ARM_PRICE)),
    "retire": (retire, (NAME, ARM)),
}


class Misread(Exception):
    """Arguments that typer is to complain of, or to answer with help."""


class Parser(argparse.ArgumentParser):
    """Reads the words of one command."""

    def __init__(self, words: Sequence[Word]) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        self._negative_number_matcher = NEGATIVE_NUMBER
        for word in words:
            if word.flag is None:
                self.add_argument(word.name, nargs="+" if word.many else None if word.required else "?")
            else:
                action = "append" if word.many else "store"
                self.add_argument(word.flag, dest=word.name, default=word.default, action=action)
        self.add_argument("--storage")
        self.add_argument("--json", dest="as_json", action="store_true")

    def error(self, message: str) -> NoReturn:
        """Leave it to typer."""
        raise Misread(message)


def answer(arguments: Sequence[str]) -> int | None:
    """Do what `ramgape study` is asked to, and give the exit code; None where typer is to do it.

    Args:
        arguments: The command and its words.
    """
    verb = COMMANDS.get(arguments[0], arguments[0]) if arguments else ""
    if verb not in VERBS or {"--help", "-h"}.intersection(arguments):
        return None
    try:
        given = vars(Parser(VERBS[verb][1]).parse_intermixed_args(list(map(present_flag, arguments[1:]))))
    except Misread:
        return None
    try:
        with warnings_told():
            return perform(verb, **given)
    except (Refused, KeyboardInterrupt, OSError) as error:
        return tell_error(error)


def perform(verb: str, storage: str | None, name: str, **given: Any) -> int:
    """Do what a verb says, on the study that is meant, and give the exit code."""

    def use(operate: Callable[[Any], Any], direct: bool = False) -> Any:
        url = storage_url(storage)
        if is_remote(url) and not direct:
            with suppress(SpecificationError, DataError), closing(OnServer(name, url)) as study:
                return operate(study)
        with closing(Direct(name, storage)) as study:
            return operate(study)

    try:
        return VERBS[verb][0](use, name, **given) or 0
    except FailingArm as error:
        hint_retry(error, name)
        raise


def command(verb: str) -> Any:
    """The same command for typer: its help, its completion, and what it says of arguments that cannot be read."""
    import inspect
    from typing import Annotated

    import typer

    from ramgape.cli.options import AsJson, Name, Storage

    function, words = VERBS[verb]

    def called(**given: Any) -> None:
        code = perform(verb, **given)
        if code:
            raise typer.Exit(code)

    shared = [("name", Name, inspect.Parameter.empty), ("storage", Storage, None), ("as_json", AsJson, False)]
    for word in words[1:]:
        kind: Any = list[str] if word.many else str
        if word.flag is not None:
            shown: Any = typer.Option(word.flag, metavar=word.metavar, help=word.says)
        else:
            shown = typer.Argument(metavar=word.metavar, help=word.says, show_default=False)
        kind = kind if word.required or word.default is not None else kind | None
        default: Any = inspect.Parameter.empty if word.required else word.default
        shared.insert(-2, (word.name, Annotated[kind, shown], default))
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword, default=default, annotation=note) for name, note, default in shared]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__doc__ = function.__doc__
    return called
