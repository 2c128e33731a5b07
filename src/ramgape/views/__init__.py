"""How a result, a study, a plan, ... is shown. This package stands above everything that it shows.

    explanation       what is said of something, in a form that every renderer understands
    text  console  notebook   the renderers: plain text, a rich console, and HTML for notebooks and reports
    content  sentence  verdicts  table   the words of a result, and its table of arms
    study  analysis  timing  forecast  simulated   what is said of the other things
    plots/            figures

A class below reaches it by one lazy import (`search/explained.py`): the names of classes, in `DRAWERS` and in
`BUILDERS` of `explanation`, say which function here serves them. Only what is asked for is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramgape.views.explanation import explain, serving

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.views.plots.plot import Plot

__all__ = ["answer_of", "as_console", "as_html", "as_text", "document", "explain", "plot", "print_for_shell"]

# By the name of a class: the module of this package, and the function in it.
DRAWERS = {
    "Result": ("plots.answers", "draw_result"),
    "Plan": ("forecast", "draw_plan"),
    "Replication": ("simulated", "draw_replication"),
    "PolicyComparison": ("simulated", "draw_comparison"),
    "LowerBound": ("simulated", "draw_lower_bound"),
    "Timing": ("timing", "draw_timing"),
}


def plot(thing: Any, **asked: Any) -> Plot:
    """Draw a thing.

    Args:
        thing: An instance of a class in `DRAWERS`.
        **asked: Options of its function.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    from ramgape.common.extras import load_extra

    load_extra("matplotlib", "plot")
    from ramgape.views.plots import style
    from ramgape.views.plots.plot import Plot

    with style.applied():
        return Plot(serving(DRAWERS, thing)(thing, **asked))


def answer_of(thing: Any) -> str:
    """The answer of a result, an analysis or a report in plain words."""
    if type(thing).__name__ == "Analysis":
        from ramgape.views.analysis import analysis_sentence

        return analysis_sentence(thing)
    from ramgape.views.sentence import answer_sentence

    return answer_sentence(thing._found)


def as_text(thing: Any, *, full: bool = False) -> str:
    """A thing as plain text."""
    from ramgape.views.text import plain

    return plain(thing, full=full)


def print_for_shell(thing: Any, *, full: bool = False) -> None:
    """Print a thing for people: in colours at a terminal, elsewhere as plain text with the same content.

    Args:
        thing: What is printed.
        full: Whether to say all that is known.
    """
    from ramgape.common.terminal import output

    console = output()
    if console.is_terminal:
        from ramgape.views.console import ConsoleView

        console.print(ConsoleView(thing, full=full, shell=True))
    else:
        from ramgape.views.text import plain

        console.file.write(f"{plain(thing, full=full, shell=True)}\n")


def as_console(thing: Any) -> RenderableType:
    """A thing for a rich console, fitted to the width of the window."""
    from ramgape.views.console import ConsoleView

    return ConsoleView(thing)


def as_html(thing: Any) -> str:
    """A thing as HTML for a notebook."""
    from ramgape.views.notebook import page

    return page(thing)


def document(thing: Any, versions: dict[str, str | None]) -> str:
    """A thing as a page of its own.

    Args:
        thing: What the page shows.
        versions: Of the packages that it may depend on.
    """
    from ramgape.views.report import document

    return document(thing, versions)
