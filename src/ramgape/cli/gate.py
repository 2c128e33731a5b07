"""A gate in a pipeline: `--exit-code` and `--summary`, for every command that shows an answer."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramgape.cli.errors import USAGE
from ramgape.cli.options import OUTPUT, Text, gathers, option
from ramgape.cli.pictures import check_place, write_file
from ramgape.cli.streams import BAD_INPUT, tell, tell_error
from ramgape.errors import RamgapeError

if TYPE_CHECKING:
    from types import TracebackType

    from ramgape.search.explained import Explained
    from ramgape.search.result import Result

CODES = {"proved": 0, "refuted": 1, "undecided": 3}
EXIT_CODE = (
    "Exit with 0 if the requirement (--question) is proved, 1 if it is refuted, 3 if undecided, 2 after an error."
)
SUMMARY = "Write a summary in Markdown, for a pull request; - for standard output, in place of the table."
STANDARD_OUTPUT = "-"


class Gate:
    """What a pipeline wants: an exit code, a summary, or neither.

    As a context it turns every error inside into exit code 2, if exit codes are asked for: 1 would mean "refuted".
    """

    def __init__(self, exit_code: bool = False, summary: str | None = None) -> None:
        self._exit_code, self._summary = exit_code, summary

    @property
    def takes_stdout(self) -> bool:
        """Whether the summary goes where the table would go."""
        return self._summary == STANDARD_OUTPUT

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._exit_code or not isinstance(error, Exception) or isinstance(error, (typer.Exit, USAGE)):
            return
        if isinstance(error, (RamgapeError, OSError)):
            tell_error(error)
        else:
            traceback.print_exception(error)
        raise typer.Exit(BAD_INPUT) from None

    def write(self, shown: Explained, result: Result, picture: Path | None = None) -> None:
        """Write the summary, if it is asked for.

        Args:
            shown: What it is of.
            result: The result inside of that.
            picture: A picture that was drawn, to which the summary refers.
        """
        if self._summary is None:
            return
        from ramgape.views.markdown import judge, summarize

        picture_name = None if picture is None else str(picture)
        write_summary(summarize(shown, judge(result), result.task, picture_name), self._summary)

    def leave(self, result: Result) -> None:
        """End the command with the code of the verdict, if exit codes are asked for."""
        if self._exit_code:
            from ramgape.views.markdown import judge

            raise typer.Exit(CODES[judge(result).verdict])


def write_summary(text: str, place: str) -> None:
    """Write a summary to a file, or to standard output."""
    if place == STANDARD_OUTPUT:
        typer.echo(text)
        return

    def write(path: Path) -> None:
        path.write_text(f"{text}\n", encoding="utf-8")

    write_file(write, Path(place), "summary")
    tell("written", place, "bold")


def checked_summary(summary: str | None) -> str | None:
    """Where a summary goes, if that can be written."""
    if summary not in (None, STANDARD_OUTPUT):
        check_place(Path(str(summary)), "summary")
    return summary


def takes_gate() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command: its parameter `gate` has what was typed for `--exit-code` and `--summary`, checked."""

    def read(
        exit_code: Annotated[bool, typer.Option("--exit-code", help=EXIT_CODE, rich_help_panel=OUTPUT)] = False,
        summary: Annotated[Text, option(OUTPUT, "FILE", SUMMARY)] = None,
    ) -> Gate:
        return Gate(exit_code, checked_summary(summary))

    return gathers("gate", read)
