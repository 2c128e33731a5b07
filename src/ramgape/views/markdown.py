"""A result as Markdown for a pull request, with the verdict on what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ramgape.common.formatting import list_names
from ramgape.errors import printable
from ramgape.views.explanation import explain

if TYPE_CHECKING:
    from ramgape.search.explained import Explained
    from ramgape.search.result import Result

MARKS = {"proved": "✅", "refuted": "❌", "undecided": "⚠️"}
ENDED = ("confidence", "complete")  # with a proof
SPECIAL = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_{}[]<>#|~@"})
MOST_NAMED = 5


class Verdict(NamedTuple):
    """Whether what was required is "proved", "refuted" or "undecided", and a sentence on it."""

    verdict: str
    words: str = ""


def judge(result: Result) -> Verdict:
    """Whether the requirement that the question states is proved, refuted, or undecided.

    Against a control, or a threshold, it is about every other arm: each must be better than the control (by the
    margin), or beyond the threshold. Other questions ask for a proved answer; that no arm can be one refutes them.
    """
    if result.differences or result.control is not None:
        states = {each.name: each.verdict for each in result.differences}
        good = [name for name, state in states.items() if state == "better"]
        bad = [name for name, state in states.items() if state == "not better"]
        return _of_each(list(states), good, bad, "better than the control by the margin")
    if result.task.partition(":")[0] == "above":
        good = [arm.name for arm in result.arms if arm.certificate == "in"]
        bad = [arm.name for arm in result.arms if arm.certificate == "out"]
        return _of_each([arm.name for arm in result.arms], good, bad, result.task.partition(":")[0])
    if result.stopped not in ENDED:
        return Verdict("undecided", "The evidence does not decide the question yet.")
    if not result.answer:
        return Verdict("refuted", f"It is proved that {result.empty_answer}.")
    return Verdict("proved", f"The answer is proved: {_names(result.answer)}.")


def _of_each(names: list[str], good: list[str], bad: list[str], wanted: str) -> Verdict:
    """The verdict on a requirement that each of some arms must meet."""
    open_ = [name for name in names if name not in good and name not in bad]
    if bad:
        return Verdict("refuted", f"Not {wanted}: {_names(bad)}.")
    if open_ or not names:
        return Verdict("undecided", f"Neither proved nor refuted to be {wanted}: {_names(open_) or 'no arm'}.")
    return Verdict("proved", f"Proved to be {wanted}: {_names(good)}.")


def _names(names: list[str] | tuple[str, ...]) -> str:
    return list_names([printable(name) for name in names], MOST_NAMED)


def summarize(shown: Explained, verdict: Verdict, question: str = "", picture: str | None = None) -> str:
    """A verdict, the table, the facts and the warnings, as Markdown.

    Args:
        shown: What it is of: a result, an analysis, the report of a study, measured times.
        verdict: Whether what was required holds.
        question: What was asked.
        picture: The file of a picture to show.
    """
    lines = [f"### {MARKS[verdict.verdict]} ramgape: {verdict.verdict}", ""]
    lines += [_escaped(verdict.words), ""] if verdict.words else []
    lines += [f"Question: `{printable(question).replace('`', '')}`", ""] if question else []
    said = explain(shown, ascii_only=False, full=True)
    lines += [_escaped(headline) + "  " for headline in (*said.headlines, *filter(None, [said.after]))]
    for part in said.parts:
        if isinstance(part, str):
            lines += ["", _escaped(part)]
            continue
        columns = part.fit(None)
        lines += ["", *filter(None, [_escaped(part.caption(columns))]), ""]
        lines.append("| " + " | ".join(_cell(column.heading) for column in columns) + " |")
        lines.append("|" + "|".join("--:" if column.right else ":--" for column in columns) + "|")
        for row in zip(*(column.cells for column in columns), strict=True):
            lines.append("| " + " | ".join(map(_cell, row)) + " |")
        lines += ["", *filter(None, [_escaped(part.rest)])]
    if picture is not None:
        lines += ["", f"![{verdict.verdict}](<{printable(picture)}>)"]
    lines += ["", "<details><summary>Details</summary>", ""]
    lines += [f"- {f'**{_escaped(word)}**: ' if word else ''}{_escaped(text)}" for word, text in said.facts]
    lines += [f"- **Warning**: {_escaped(warning)}" for warning in said.warnings]
    return "\n".join([*lines, "", "</details>"])


def _escaped(text: str) -> str:
    """A text that means only itself in Markdown, on one line."""
    return printable(" ".join(text.split())).translate(SPECIAL)


def _cell(text: str) -> str:
    return "<br>".join(_escaped(line) for line in text.split("\n"))
