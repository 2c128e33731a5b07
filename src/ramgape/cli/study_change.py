"""`ramgape study observe`, and what changes a study: retry, extend, add-arm, retire, delete."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ramgape.cli.options import AsJson, Name, Storage, Text
from ramgape.cli.stores import existing_storage, opened_study
from ramgape.cli.streams import FAILED, tell, write_json
from ramgape.cli.work import INFO, OUTCOMES, PRICE, REWARD, REWARD_OPTION, details, one_result, show_answer
from ramgape.common.formatting import plural
from ramgape.common.parsing import parse_number
from ramgape.errors import InvalidSpec, printable

if TYPE_CHECKING:
    from ramgape.studies.study import Study

ARM_PRICE = "What a trial of it costs, if the study has declared prices."
SMALLER = "A smaller tolerance: a number, two for mean and risk, or a percentage."
LARGER = "A larger budget."
MORE_MONEY = "A higher limit on what the study spends."


def observe(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="The arm.", show_default=False)],
    reward: Annotated[Text, typer.Argument(metavar="REWARD", help=REWARD.says, show_default=False)] = None,
    reward_option: Annotated[Text, typer.Option("--reward", metavar="NUMBER", help=REWARD_OPTION.says)] = None,
    outcomes: Annotated[Text, typer.Option("--outcomes", metavar="JSON", help=OUTCOMES.says)] = None,
    price: Annotated[Text, typer.Option("--price", metavar="NUMBER", help=PRICE.says)] = None,
    info: Annotated[Text, typer.Option("--info", metavar="JSON", help=INFO.says)] = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Record a trial made without asking."""
    (value,) = one_result(reward, reward_option, outcomes).values()
    with opened_study(name, storage) as study:
        answer = study.observe(arm, value, **details(price, info))
    show_answer(answer.accepted, answer.done, {"arm": arm}, as_json)


def retry(name: Name, storage: Storage = None, as_json: AsJson = False) -> None:
    """Try failed trials again.

    Makes trials available that were given up after too many failures.
    """
    with opened_study(name, storage) as study:
        count, done = study.retry(), study.done
    if as_json:
        write_json({"retried": count, "done": done})
    else:
        typer.echo(f"{plural(count, 'trial is', 'trials are')} available again.")


def extend(
    name: Name,
    epsilon: Annotated[Text, typer.Option("--epsilon", metavar="NUMBER", help=SMALLER)] = None,
    budget: Annotated[Text, typer.Option("--budget", metavar="TRIALS", help=LARGER)] = None,
    spend: Annotated[Text, typer.Option("--spend", metavar="NUMBER", help=MORE_MONEY)] = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Continue a study with a larger goal.

    Pass a smaller epsilon, a larger budget, or more money. The study may be done or not.

    [bold]ramgape study extend models --epsilon 0.01[/bold]

    All trials count. Results say from then on that the study was extended.
    """
    from ramgape.options import OPTIONS

    asked = {"epsilon": epsilon, "budget": budget, "spend": spend}
    given = {key: OPTIONS[key].kind.read(text, key) for key, text in asked.items() if text is not None}
    with opened_study(name, storage) as study:
        more = study.extend(**given)
        result = study.result(expect=False)
        goal = result.goal
    if as_json:
        described = {"name": name, "epsilon": goal.epsilon, "budget": goal.budget, "done": not more}
        write_json(described if goal.spend is None else {**described, "spend": goal.spend})
        return
    from ramgape.views.study import goal_of

    state = "the study goes on" if more else "its trials are enough for that already"
    typer.echo(f"Goal now: {goal_of(result)}; {state}.")


def add_arm(
    name: Name,
    arm: Annotated[
        str, typer.Argument(metavar="ARM", help="A name that no arm of the study has or had.", show_default=False)
    ],
    price: Annotated[Text, typer.Option("--price", metavar="NUMBER", help=ARM_PRICE)] = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Add an arm to a study.

    The study must have been created with --expected-arms.
    """
    with opened_study(name, storage) as study:
        more = study.add_arm(arm, price=parse_number(price, "price"))
        show_arms(study, not more, as_json)


def retire(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="The arm.", show_default=False)],
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Retire an arm, keeping its trials."""
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


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Delete a study with all its trials.

    Cannot be undone. Asks first on a terminal; elsewhere pass --yes.
    """
    url = existing_storage(storage)
    from ramgape.studies.catalog import delete_study, find_summary

    if not yes:
        found = find_summary(name, url)
        if found is not None:  # otherwise the deletion says so
            confirm(name, found.told)
    delete_study(name, url)
    if as_json:
        write_json({"deleted": name})
    else:
        typer.echo(f"Deleted study {printable(name)}.")


def can_ask() -> bool:
    """Whether the command runs on a terminal."""
    return sys.stdin.isatty()


def confirm(name: str, told: int) -> None:
    """Ask for a confirmation; anything but yes ends the command."""
    if not can_ask():
        allowed = "confirmed by --yes without a terminal"
        raise InvalidSpec(what="a deletion", allowed=allowed, given="none")
    question = f"Delete study {printable(name)} with {told:,} observations, for good?"
    try:
        meant = typer.confirm(question, err=True)
    except typer.Abort:
        meant = False
    if not meant:
        tell("note", "nothing is deleted", "bold")
        raise typer.Exit(FAILED)
