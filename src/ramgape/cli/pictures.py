"""What comes out: `--plot`, `--html` and `--json`, for every command that has something to show."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ramgape.cli.options import OUTPUT, AsJson, gathers, option
from ramgape.cli.streams import tell
from ramgape.common.terminal import waiting
from ramgape.errors import InvalidSpec, MissingExtra, require, shorten

if TYPE_CHECKING:
    from ramgape.search.explained import Explained

PLOT = "Draw it into a file (.png, .svg, .pdf); needs matplotlib."
HTML = "Write a report into a file (.html) that needs no network: what is found, pictures, settings; needs matplotlib."
EXPLAIN = "Print the exact statement: guarantee, assumptions, what holds jointly, settings."
PAGES = (".html", ".htm")


class Output(NamedTuple):
    """Where a picture and a page are to go, if anywhere; whether JSON is printed instead of a table, or everything."""

    plot: Path | None
    html: Path | None
    as_json: bool
    explain: bool = False

    def print(self, thing: Explained) -> None:
        """Print a thing for people: in colours at a terminal, elsewhere as plain text with the same content."""
        from ramgape.views import print_for_shell

        print_for_shell(thing, full=self.explain)

    def write(self, drawn: Explained, told: Explained | None = None) -> None:
        """Write what was asked for.

        Args:
            drawn: What the picture is of.
            told: What the page is of, if that is another thing.
        """
        if self.plot is not None:
            with waiting("drawing"):
                write_file(drawn.save_plot, self.plot, "plot")
            tell("written", str(self.plot), "bold")
        if self.html is not None:
            with waiting("writing the report"):
                write_file((told or drawn).save_report, self.html, "html")
            tell("written", str(self.html), "bold")


def takes_output(
    plot: str = PLOT, html: str = HTML, *, explains: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command: its parameter `out` has what was typed for `--plot`, `--html` and `--json`, checked.

    Args:
        plot, html: What the help says of these.
        explains: Whether the command prints a result, so that there is `--explain`, too.
    """

    def read_result(
        plot: Path | None = None, html: Path | None = None, as_json: AsJson = False, explain: bool = False
    ) -> Output:
        return read(plot, html, as_json)._replace(explain=explain)

    def read(plot: Path | None = None, html: Path | None = None, as_json: AsJson = False) -> Output:
        if plot is not None:
            check_picture(plot, "plot")
        if html is not None:
            check_place(html, "html")
            check_matplotlib()
            require(html.suffix.lower() in PAGES, "html", f"a file that ends in {' or '.join(PAGES)}", str(html))
        return Output(plot, html, as_json)

    annotations = {
        "plot": Annotated[Path | None, option(OUTPUT, "FILE", plot)],
        "html": Annotated[Path | None, option(OUTPUT, "FILE", html)],
        "as_json": AsJson,
    }
    read.__annotations__.update(annotations)
    full = typer.Option("--explain", help=EXPLAIN, rich_help_panel=OUTPUT)
    read_result.__annotations__.update(annotations, explain=Annotated[bool, full])
    return gathers("out", read_result if explains else read)


def check_place(path: Path, what: str) -> None:
    """Complain about a file that cannot be written, before anything is computed for it."""
    try:
        there, folder = path.parent.is_dir(), path.is_dir()
    except OSError as error:  # a name that is too long, say
        given, reason = shorten(str(path)), f": {error.strerror}"
        raise InvalidSpec(what=what, allowed="a file", given=given, hint=reason) from None
    require(there, what, "in a folder that exists", str(path))
    require(not folder, what, "a file, not a folder", str(path))
    may = os.access(path if path.exists() else path.parent, os.W_OK)
    require(may, what, "a file that can be written", str(path))


def check_picture(path: Path, what: str) -> None:
    """The same of a picture, whose ending says in which format it is."""
    check_place(path, what)
    check_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    allowed = f"a file that ends in one of .{', .'.join(endings)}"
    require(path.suffix.lower().removeprefix(".") in endings, what, allowed, str(path))


def check_matplotlib() -> None:
    """Complain where no picture can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra(what="matplotlib", allowed='installed for pictures: pip install "ramgape[plot]"')


def write_file(write: Callable[[Path], None], path: Path, what: str) -> None:
    """Have a file written."""
    try:
        write(path)
    except OSError as error:
        given, reason = repr(str(path)), f": {error.strerror or error}"
        raise InvalidSpec(what=what, allowed="a file that can be written", given=given, hint=reason) from None
