"""`ramgape study ask`, `tell` and what else happens to pulls: exchange, fail, observe, renew, give-back, retry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from ramgape.cli.options import AsJson, Text
from ramgape.cli.stores import Name, Storage, opened_study
from ramgape.cli.streams import write_json
from ramgape.cli.work_words import (
    details,
    failed_pairs,
    hint_retry,
    lease_of,
    one_reward,
    read_answers,
    show_answer,
    show_answers,
    show_done,
    show_exchange,
    show_pulls,
    show_renewed,
    told_pairs,
)
from ramgape.common.formatting import plural
from ramgape.common.parsing import parse_number
from ramgape.errors import FailingArm, InvalidSpec, located, require

if TYPE_CHECKING:
    from ramgape.search.outcome import Outcome
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

TELL = "A pull and its reward; may be given many times."
FAIL = "A pull whose trial has failed, and perhaps why; may be given many times."
GIVE_BACK = "A pull that will not be made; may be given many times."
NEXT = "How many pulls to have next; 0 for none."
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
            hint_retry(error, name)
            raise
        done = study.done
    show_pulls([described(each) for each in pulls], done, as_json)


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
            answers = answers_in(source, study)
            accepted = [each.accepted for each in study.tell_many(answers)]
            show_answers([pull for pull, _ in answers], accepted, study.done, as_json)
        return
    if pull is None:
        raise InvalidSpec(what="a pull and its reward", allowed="given, or --from FILE", given="neither")
    value = one_reward(reward, reward_option)
    with opened_study(name, storage) as study:
        answer = study.tell(pull, value, **details(price, info))
    show_answer(answer.accepted, answer.done, {"pull": pull}, as_json)


def answers_in(file: str, study: Study) -> list[tuple[str, float | Outcome]]:
    """All answers of a file, checked so that an error names its line."""
    from ramgape.search.outcome import Outcome

    answers = []
    for place, pull, told in read_answers(file):
        with located(place):
            answers.append((pull, study.check_outcome(Outcome(**told))))
    return answers


def exchange(
    name: Name,
    told: Annotated[list[str] | None, typer.Option("--tell", metavar="PULL=REWARD", help=TELL)] = None,
    source: Annotated[Text, typer.Option("--from", metavar="FILE", help=FROM)] = None,
    failed: Annotated[list[str] | None, typer.Option("--fail", metavar="PULL[=REASON]", help=FAIL)] = None,
    given_back: Annotated[list[str] | None, typer.Option("--give-back", metavar="PULL", help=GIVE_BACK)] = None,
    count: Annotated[str, typer.Option("--count", metavar="COUNT", help=NEXT)] = "1",
    worker: Annotated[Text, typer.Option("--worker", metavar="NAME", help=WORKER)] = None,
    lease: Lease = "3600",
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Tell what came out and get the next pulls, in one transaction: a whole round of a worker.

    [bold]ramgape study exchange models --tell a1b2c3-17=0.5 --count 1 --worker me --json[/bold]
    {"answers": [{"pull": "a1b2c3-17", "accepted": true}], "pulls": [{"id": ...}], "done": false}

    What is given is taken in as a whole or, after an error, not at all.
    """
    wanted, seconds = parse_number(count, "count"), lease_of(lease)
    pairs: list[tuple[str, float | Outcome]] = [*told_pairs(told or [])]
    failures, back = failed_pairs(failed or []), given_back or []
    with opened_study(name, storage) as study:
        if source is not None:
            pairs += answers_in(source, study)
        try:
            found = study.exchange(
                pairs, failed=failures, given_back=back, count=cast(int, wanted), worker=worker, lease=seconds
            )
        except FailingArm as error:
            hint_retry(error, name)
            raise
    given = [pull for pull, _ in [*pairs, *failures]] + back
    accepted = [each.accepted for each in found.answers]
    show_exchange(given, accepted, [described(each) for each in found.pulls], found.done, as_json)


def done(name: Name, storage: Storage = None, as_json: AsJson = False) -> None:
    """Whether a study is done, for scripts: exit code 0 if it is, 1 if there is more to try."""
    with opened_study(name, storage) as study:
        ended = study.done
    raise typer.Exit(show_done(ended, as_json))


def fail(
    name: Name,
    pull: Pull,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What happened; study show tells it.")] = "",
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """A trial has failed: it is tried again, or counts as the worst reward, as the study was created."""
    with opened_study(name, storage) as study:
        answer = study.fail(pull, reason)
    show_answer(answer.accepted, answer.done, {"pull": pull}, as_json)


def give_back(name: Name, pull: Pull, storage: Storage = None, as_json: AsJson = False) -> None:
    """A pull will not be made: it is available to others at once, and that is no failure."""
    with opened_study(name, storage) as study:
        answer = study.give_back(pull)
    show_answer(answer.accepted, answer.done, {"pull": pull}, as_json)


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
        answer = study.observe(arm, value, **details(price, info))
    show_answer(answer.accepted, answer.done, {"arm": arm}, as_json)


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
    show_renewed(pulls, renewed, done, as_json)


def retry(name: Name, storage: Storage = None, as_json: AsJson = False) -> None:
    """Try again what was given up after too many failures."""
    with opened_study(name, storage) as study:
        count, done = study.retry(), study.done
    if as_json:
        write_json({"retried": count, "done": done})
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
        write_json(described if goal.spend is None else {**described, "spend": goal.spend})
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
        write_json({"arms": list(study.arms), "done": done})
    else:
        state = "the study is done" if done else "the study goes on"
        typer.echo(f"{plural(len(study.arms), 'arm')}: {list_names(study.arms)}; {state}.")
