"""`ramgape study import` and `export`: trials from files and into them."""

from __future__ import annotations

import io
import sys
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Annotated, Any

import typer

from ramgape.cli.errors import options_named
from ramgape.cli.options import AsJson, Name, Storage, Text, option
from ramgape.cli.stores import opened_study
from ramgape.cli.streams import write_json
from ramgape.common.formatting import plural
from ramgape.common.terminal import waiting
from ramgape.data.source import STANDARD_INPUT, reading
from ramgape.errors import DataError, InvalidSpec, SpecificationError, known_name, printable

FILE, START = "Data", "Start"

ARM_COLUMN = "The column, or key, with the arms' names. Default: arm, or the only text column."
REWARD_COLUMN = "The column, or key, with the rewards. Default: reward, or the only numeric column."
BLOCK_COLUMN = "The column, or key, with what trials of several arms share, in a study created with --shared."
FORM = "csv, or jsonl: one JSON object a line. Default: by the file; csv for a stream."
SOURCE = "A table or log of any kind that ramgape analyze reads; - for standard input."
TARGET = "A file that ends in .csv or .jsonl; - for standard output."
TRIALS = "A file with trials made already: .csv with a header, or .jsonl with one JSON object a line; - for stdin."

Format = Annotated[Text, typer.Option("--format", metavar="NAME", help=FORM, rich_help_panel=FILE)]


def import_trials(
    name: Name,
    file: Annotated[str, typer.Argument(metavar="FILE", help=SOURCE, show_default=False)],
    form: Format = None,
    arm_column: Annotated[Text, option(FILE, "NAME", ARM_COLUMN)] = None,
    reward_column: Annotated[Text, option(FILE, "NAME", REWARD_COLUMN)] = None,
    block_column: Annotated[Text, option(FILE, "NAME", BLOCK_COLUMN)] = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Import trials from a file.

    If any row is invalid, nothing is imported. Files written by `export` are imported without loss.
    """
    columns = {"arm_column": arm_column, "reward_column": reward_column, "block_column": block_column}
    with waiting("importing"), opened_study(name, storage) as study, options_named():
        if form is None and file != STANDARD_INPUT:
            count = study.import_trials(file, **columns)
        else:
            with reading(file) as stream:
                count = study.import_trials(stream, form_of(file, form), **columns)
        done = study.done
    if as_json:
        write_json({"imported": count, "done": done})
    else:
        typer.echo(f"{plural(count, 'trial')} imported.{' The study is done.' if done else ''}")


def export_trials(
    name: Name,
    file: Annotated[str, typer.Argument(metavar="FILE", help=TARGET, show_default=False)],
    form: Format = None,
    storage: Storage = None,
    as_json: AsJson = False,
) -> None:
    """Export all trials to a file.

    In their order.
    """
    chosen = form_of(file, form)
    if as_json and file == STANDARD_INPUT:
        allowed = "with a file, since with - the observations are the output; got both"
        raise InvalidSpec(what="--json", verb="go", allowed=allowed)
    with waiting("exporting"), opened_study(name, storage) as study, writing(file) as stream:
        count = study.export_trials(stream, chosen)
        done = study.done
    if as_json:
        write_json({"exported": count, "file": file, "format": chosen, "done": done})
    elif file != STANDARD_INPUT:
        typer.echo(printable(f"{plural(count, 'observation')} written to {file}."))


def form_of(file: str, given: str | None) -> str:
    """The format of a file, by its ending unless it is given."""
    from ramgape.studies.files import FORMS

    if given is not None:
        return known_name(given, FORMS, "format")
    if file == STANDARD_INPUT:
        return "csv"
    ending = file.lower().removesuffix(".gz").rpartition(".")[2]
    if ending not in FORMS:
        allowed = "in .csv or .jsonl, or come with --format"
        raise InvalidSpec(what="file", verb="end", allowed=allowed, given=repr(file))
    return ending


@contextmanager
def writing(file: str) -> Iterator[IO[str]]:
    """A file, which appears when it is whole, or standard output, for text in UTF-8, whatever the terminal knows."""
    if file == STANDARD_INPUT:
        sys.stdout.flush()
        text = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # not ours to close
        return
    from ramgape.studies.files import written

    with ExitStack() as opened_file:
        try:
            stream = opened_file.enter_context(written(file))
        except OSError as error:
            reason = f": {error.strerror or error}"
            allowed = "one that can be written"
            raise InvalidSpec(what="file", allowed=allowed, given=repr(file), hint=reason) from None
        yield stream


def warm_start(
    data: Annotated[Text, option(START, "FILE", TRIALS)] = None,
    form: Format = None,
    arm_column: Annotated[Text, option(START, "NAME", ARM_COLUMN)] = None,
    reward_column: Annotated[Text, option(START, "NAME", REWARD_COLUMN)] = None,
) -> WarmStart | None:
    """The trials that a study begins with, if there are any."""
    if data is not None:
        return WarmStart(data, form, arm_column, reward_column)
    if (form, arm_column, reward_column) != (None, None, None):
        what = "--format, --arm-column and --reward-column"
        raise InvalidSpec(what=what, verb="go", allowed="with --data", given="no data")
    return None


class WarmStart:
    """The trials that a study begins with."""

    def __init__(self, file: str, form: str | None, arm_column: Text, reward_column: Text) -> None:
        self.file, self._form, self._columns = file, form_of(file, form), (arm_column, reward_column)
        self._place = ""
        self._read: list[tuple[str, str, Any]] | None = None

    def pairs(self, outcomes: Container[str] | None = None) -> Iterator[tuple[str, Any]]:
        """Arms and rewards, or outcomes where some are asked about; a stream is read once."""
        if self._read is None:
            from ramgape.studies.files import read_rows

            with reading(self.file) as stream, options_named():
                rows = read_rows(stream, self._form, *self._columns, outcomes=outcomes)
                self._read = [
                    (place, row.arm, row.reward if row.outcomes is None else row.outcomes) for place, row in rows
                ]
        for place, arm, reward in self._read:
            self._place = place
            yield arm, reward

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors name the line of the file rather than the number of the pair."""
        try:
            yield
        except (SpecificationError, DataError) as error:
            if error.place.startswith("data["):
                error.place = self._place
            raise
