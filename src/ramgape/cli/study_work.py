"""`ramgape study ask`, `tell` and what else happens to pulls: fail, observe, renew, give-back, retry."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.errors import tell
from ramgape.cli.options import AsJson, Text
from ramgape.cli.stores import Name, Storage, opened_study
from ramgape.cli.study_files import reading
from ramgape.common.files import read_number
from ramgape.common.formatting import plural
from ramgape.common.parsing import parse_number
from ramgape.errors import FailingArm, InvalidSpec, located, require, shorten
from ramgape.views.terminal import print_object

if TYPE_CHECKING:
    from ramgape.studies.exchange import Answer
    from ramgape.studies.exchange import Pull as Handed
    from ramgape.studies.study import Study

PULL = "The id that ask gave, such as a1b2c3-17."
REWARD = "What came out."
REWARD_OPTION = "The reward, instead of as an argument."
LEASE = "Seconds after which a pull without an answer is given to somebody else; none: never."
COUNT = "How many pulls to have; fewer come if these may be enough."
WORKER = "Who asks. After a restart, whoever has a name gets its own open pulls back first."
FROM = (
    'Many answers at once: a file with JSON objects, one a line, with "pull" (or "id") and "reward", perhaps "price" '
    'and "info"; - for stdin.'
)

PRICE = "What the trial has cost, in a study whose prices are told."
INFO = 'What else to keep with the answer, as a JSON object: {"model_version": "3.1"}.'

ARM_PRICE = "What a trial of it costs, where prices are stated."
SMALLER = "A smaller tolerance than until now, for a study with one: a number, two for mean and risk, or a share."
LARGER = "A larger budget than until now, for a study with one."
MORE_MONEY = "More money than until now, for a study that may spend so much and no more."

Pull = Annotated[str, typer.Argument(metavar="PULL", help=PULL, show_default=False)]
Price = Annotated[Text, typer.Option("--price", metavar="NUMBER", help=PRICE)]
Info = Annotated[Text, typer.Option("--info", metavar="JSON", help=INFO)]
Lease = Annotated[str, typer.Option("--lease", metavar="SECONDS", help=LEASE)]


def ask(
    name: Name,
    count: Annotated[str, typer.Option("--count", metavar="COUNT", help=COUNT)] = "1",
    worker: Annotated[Text, typer.Option("--worker", metavar="NAME", help=WORKER)] = None,
    lease: Lease = "3600",
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """The next pulls to make: for each its id, its arm and a seed. None when the study is done.

    [bold]ramgape study ask models --count 4 --json[/bold]
    {"pulls": [{"id": "a1b2c3-0", "arm": "A", "seed": 123}, ...], "done": false}
    """
    wanted, seconds = parse_number(count, "count"), lease_of(lease)
    with opened_study(name, storage) as study:
        try:
            pulls = study.ask(wanted, worker, seconds)  # type: ignore[arg-type]
        except FailingArm as error:
            error.hint += f"; in the shell: ramgape study retry {shlex.quote(name)}"
            raise
        done = study.done
    if as_json:
        print_object({"pulls": [described(each) for each in pulls], "done": done})
        return
    from ramgape.errors import printable

    for each in pulls:
        item = "" if each.item is None else f"\t{printable(json.dumps(each.item))}"
        typer.echo(f"{each.id}\t{printable(each.arm)}\t{each.seed}{item}")
    if not pulls:
        tell("note", "the study is done" if done else "nothing to try now: enough pulls are under way", "bold")


def described(pull: Handed) -> dict[str, object]:
    """A pull as JSON has it; its item only where there are any."""
    return {name: value for name, value in pull._asdict().items() if value is not None}


def tell_reward(
    name: Name,
    pull: Annotated[Text, typer.Argument(metavar="PULL", help=PULL, show_default=False)] = None,
    reward: Annotated[Text, typer.Argument(metavar="REWARD", help=REWARD, show_default=False)] = None,
    reward_option: Annotated[Text, typer.Option("--reward", metavar="NUMBER", help=REWARD_OPTION)] = None,
    source: Annotated[Text, typer.Option("--from", metavar="FILE", help=FROM)] = None,
    price: Price = None,
    info: Info = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Tell the reward of a pull, or of many. It is stored when the command returns.

    [bold]ramgape study tell models a1b2c3-17 -0.5[/bold]

    The first answer to a pull wins. One that comes later changes nothing and is not
    accepted, which is no error. Of many, all are stored or, after an error, none.
    """
    if source is not None:
        require(pull is None and reward_option is None, "--from", "given without a pull and a reward", pull or "both")
        with opened_study(name, storage) as study:
            tell_many(study, source, as_json)
        return
    if pull is None:
        raise InvalidSpec(what="a pull and its reward", allowed="given, or --from FILE", given="neither")
    value = one_reward(reward, reward_option)
    with opened_study(name, storage) as study:
        show_answer(study.tell(pull, value, **details(price, info)), {"pull": pull}, as_json)


def tell_many(study: Study, file: str, as_json: bool) -> None:
    """All answers of a file, in one transaction."""
    from ramgape.search.outcome import Outcome
    from ramgape.studies.files import name_of, read_objects
    from ramgape.studies.files import opened as checked

    answers: list[tuple[str, Any]] = []
    with reading(file) as stream, checked(stream):
        source = name_of(stream)
        for line, found in read_objects(stream, source):
            place = f"{source}, line {line}"
            pull = found.get("pull", found.get("id"))
            with located(place):
                if not isinstance(pull, str) or "reward" not in found:
                    raise InvalidSpec(verb="have", allowed='"pull" (or "id") and "reward"', given=shorten(found))
                outcome = Outcome(found["reward"], found.get("price"), found.get("info"))
                answers.append((pull, study.check_outcome(outcome)))
    told = study.tell_many(answers)
    done = study.done
    if as_json:
        pairs = zip(answers, told, strict=True)
        print_object({"pulls": [{"id": pull, "accepted": each.accepted} for (pull, _), each in pairs], "done": done})
        return
    accepted = sum(each.accepted for each in told)
    late = f", {len(told) - accepted:,} not: other answers came first" if accepted < len(told) else ""
    typer.echo(f"{accepted:,} accepted{late}.{' The study is done.' if done else ''}")


def fail(
    name: Name,
    pull: Pull,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What happened; study show tells it.")] = "",
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """A trial has failed: it is tried again, or counts as the worst reward, as the study was created."""
    with opened_study(name, storage) as study:
        show_answer(study.fail(pull, reason), {"pull": pull}, as_json)


def give_back(name: Name, pull: Pull, storage: Storage = None, as_json: AsJson = False) -> None:
    """A pull will not be made: it is available to others at once, and that is no failure."""
    with opened_study(name, storage) as study:
        show_answer(study.give_back(pull), {"pull": pull}, as_json)


def observe(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="The arm.", show_default=False)],
    reward: Annotated[Text, typer.Argument(metavar="REWARD", help=REWARD, show_default=False)] = None,
    reward_option: Annotated[Text, typer.Option("--reward", metavar="NUMBER", help=REWARD_OPTION)] = None,
    price: Price = None,
    info: Info = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Tell the reward of a trial that was made without asking."""
    value = one_reward(reward, reward_option)
    with opened_study(name, storage) as study:
        show_answer(study.observe(arm, value, **details(price, info)), {"arm": arm}, as_json)


def renew(
    name: Name,
    pulls: Annotated[list[str], typer.Argument(metavar="PULL...", help=PULL, show_default=False)],
    lease: Lease = "3600",
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Pulls are still being worked on: their leases begin anew. Tells which of them are still yours."""
    seconds = lease_of(lease)
    with opened_study(name, storage) as study:
        renewed = study.renew(pulls, seconds)
        done = study.done
    if as_json:
        rows = [{"id": pull, "renewed": each} for pull, each in zip(pulls, renewed, strict=True)]
        print_object({"pulls": rows, "done": done})
        return
    for pull, each in zip(pulls, renewed, strict=True):
        typer.echo(f"{pull}\t{'renewed' if each else 'no longer yours'}")


def retry(name: Name, storage: Storage = None, as_json: AsJson = False) -> None:
    """Try again what was given up after too many failures."""
    with opened_study(name, storage) as study:
        count, done = study.retry(), study.done
    if as_json:
        print_object({"retried": count, "done": done})
    else:
        typer.echo(f"{plural(count, 'pull is', 'pulls are')} available again.")


def extend(
    name: Name,
    epsilon: Annotated[Text, typer.Option("--epsilon", metavar="NUMBER", help=SMALLER)] = None,
    budget: Annotated[Text, typer.Option("--budget", metavar="PULLS", help=LARGER)] = None,
    spend: Annotated[Text, typer.Option("--spend", metavar="NUMBER", help=MORE_MONEY)] = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Let a study, finished or not, go on for more: a smaller epsilon, a larger budget, or more money.

    [bold]ramgape study extend models --epsilon 0.01[/bold]

    What was told counts, and the study says from then on that it was extended.
    """
    from ramgape.options import OPTIONS

    asked = {"epsilon": epsilon, "budget": budget, "spend": spend}
    given = {key: OPTIONS[key].kind.read(text, key) for key, text in asked.items() if text is not None}
    with opened_study(name, storage) as study:
        more = study.extend(**given)
        goal = study.result(expect=False).goal
    if as_json:
        described = {"name": name, "epsilon": goal.epsilon, "budget": goal.budget, "done": not more}
        print_object(described if goal.spend is None else {**described, "spend": goal.spend})
        return
    from ramgape.views.study import goal_words

    state = "the study goes on" if more else "what is there is enough for that already"
    typer.echo(f"Asked for now: {goal_words(goal)}; {state}.")


def add_arm(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="Its name, which no arm had.", show_default=False)],
    price: Annotated[Text, typer.Option("--price", metavar="NUMBER", help=ARM_PRICE)] = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """One more arm, for a study that was created with --expected-arms."""
    with opened_study(name, storage) as study:
        more = study.add_arm(arm, price=parse_number(price, "price"))
        show_arms(study, not more, as_json)


def retire(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="The arm.", show_default=False)],
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """An arm takes part no longer; what was told of it stays on record."""
    with opened_study(name, storage) as study:
        more = study.retire(arm)
        show_arms(study, not more, as_json)


def show_arms(study: Study, done: bool, as_json: bool) -> None:
    """Which arms there are now."""
    from ramgape.common.formatting import list_names

    if as_json:
        print_object({"arms": list(study.arms), "done": done})
    else:
        state = "the study is done" if done else "the study goes on"
        typer.echo(f"{plural(len(study.arms), 'arm')}: {list_names(study.arms)}; {state}.")


def one_reward(argument: str | None, given: str | None) -> float:
    """The reward as a number, from where it stands; whether it is possible is for the study to say."""
    if (argument is None) == (given is None):
        got = "none" if given is None else "two"
        allowed = "given, as the last argument or with --reward"
        raise InvalidSpec(what="one reward", allowed=allowed, given=got)
    text = str(argument if given is None else given)
    try:
        return read_number(text)
    except ValueError:
        raise InvalidSpec(what="reward", allowed="a number", given=shorten(text)) from None


def details(price: str | None, info: str | None) -> dict[str, Any]:
    """What is told beside a reward."""
    found: dict[str, Any] = {}
    if price is not None:
        found["price"] = parse_number(price, "price")
    if info is not None:
        try:
            found["info"] = json.loads(info)
        except (ValueError, RecursionError):
            raise InvalidSpec(what="info", allowed="a JSON object", given=shorten(info)) from None
    return found


def lease_of(text: str) -> float | None:
    """Seconds; None for ever."""
    return None if text.lower() == "none" else parse_number(text, "lease")


def show_answer(answer: Answer, about: dict[str, str], as_json: bool) -> None:
    """What became of it."""
    if as_json:
        print_object({**about, "accepted": answer.accepted, "done": answer.done})
        return
    accepted = "accepted" if answer.accepted else "not accepted: the pull is answered already, or with somebody else"
    typer.echo(f"{accepted}{'; the study is done' if answer.done else ''}")
