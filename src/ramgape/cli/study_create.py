"""`ramgape study create`: how a study begins."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.import_export import START, WarmStart, warm_start
from ramgape.cli.options import ARMS, AsJson, Storage, Text, gathers, option, takes_options
from ramgape.cli.stores import storage_url
from ramgape.cli.streams import write_json
from ramgape.common.terminal import output, waiting
from ramgape.data.source import open_source
from ramgape.errors import InvalidData, InvalidSpec, StudyExists
from ramgape.options import STUDY, StudyOptions
from ramgape.storage.urls import shown

if TYPE_CHECKING:
    from ramgape.studies.report import StudySummary
    from ramgape.studies.study import Study

ARM = "The name of an arm; repeat the option for each."
ARMS_FILE = "A file with one name per line, besides or instead of --arm; - for standard input."
EXIST_OK = "Open the study if it exists; its specification must be the same."


@gathers("start", warm_start)
@takes_options(STUDY)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the study.", show_default=False)],
    options: StudyOptions,
    start: WarmStart | None,
    arm: Annotated[list[str] | None, option(ARMS, "NAME", ARM)] = None,
    arms_file: Annotated[Text, option(ARMS, "FILE", ARMS_FILE)] = None,
    exist_ok: Annotated[bool, typer.Option("--exist-ok", help=EXIST_OK, rich_help_panel=START)] = False,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Create a study.

    [bold]ramgape study create models --arm A --arm B --reward-range 0 1 --epsilon 0.05[/bold]
    as many trials as it takes to be right within 0.05, with probability 0.95

    [bold]ramgape study create fits --arms-file arms.txt --assumption gaussian --budget 500[/bold]
    the best answer after 500 trials
    """
    if arms_file == "-" and start is not None and start.file == "-":
        given = "standard input for both"
        raise InvalidSpec(what="one of --arms-file and --data", allowed="a file", given=given)
    if options.get("items") is not None:
        from ramgape.commands.study_files import read_items

        options["items"] = read_items(options["items"])
    names = [*(arm or []), *([] if arms_file is None else read_names(arms_file))]
    url = storage_url(storage)
    with waiting("creating"):
        study, new = make(name, names, url, exist_ok, start, options)
    study.close()
    from ramgape.studies.catalog import find_summary

    made = find_summary(name, url)
    if made is None:
        from ramgape.errors import deleted_meanwhile

        raise deleted_meanwhile(shown(url))
    if as_json:
        write_json(describe(made, url, new))
    else:
        tell_next(made, url, new, storage)


def make(
    name: str,
    arms: list[str],
    url: str,
    exist_ok: bool,
    start: WarmStart | None,
    options: StudyOptions,
) -> tuple[Study, bool]:
    """The study, and whether it is new."""
    from ramgape.search.objectives import outcomes_in
    from ramgape.studies.study import Study

    def attempt(exist_ok: bool) -> Study:
        if start is None:
            return Study.create(name, arms, storage=url, exist_ok=exist_ok, **options)
        asked = None if options.get("objectives") is None else outcomes_in(options)
        with start.located():
            return Study.create(name, arms, storage=url, exist_ok=exist_ok, data=start.pairs(asked), **options)

    try:
        return attempt(exist_ok=False), True
    except StudyExists:
        if not exist_ok:
            raise
    return attempt(exist_ok=True), False


def read_names(path: str) -> list[str]:
    """The lines of a file that are not empty."""
    with open_source(path) as source:
        try:
            lines = source.text.read().splitlines()
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise InvalidData(place=source.name, allowed="UTF-8 text", given=f"byte 0x{byte:02x}") from None
    return [line.strip() for line in lines if line.strip()]


def describe(study: StudySummary, url: str, new: bool) -> dict[str, Any]:
    """For JSON."""
    return {"storage": shown(url), "created": new, **study.to_dict()}


def tell_next(study: StudySummary, url: str, new: bool, storage: str | None) -> None:
    """For people: what there is now, and what to do with it."""
    from rich.text import Text as Line

    from ramgape.common.formatting import plural
    from ramgape.errors import printable
    from ramgape.views.study import goal_words

    facts = [plural(len(study.arms), "arm"), goal_words(study.goal)]
    if study.told:
        facts.append(f"{plural(study.told, 'trial')} completed already")
    verb = "Created" if new else "There is already"
    where = "" if storage is None else f" --storage {shlex.quote(storage)}"
    step = f"ramgape study {'show' if study.done else 'ask'} {shlex.quote(study.name)}{where}"
    console = output()
    console.print(Line(f"{verb} study {printable(study.name)} in {shown(url)}: {'; '.join(facts)}."), soft_wrap=True)
    console.print(Line(f"Next: {printable(step)}"), soft_wrap=True)
