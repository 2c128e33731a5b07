"""The parts of a page: each a small function that gives a piece of HTML, for a report and for whatever else has pages.

They need the style sheets of `looks`, and nothing else: no script, no font, no network. What is shown in two forms is
shown in that which the screen has room for (`wide`, `narrow`).
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

from ramgape.common.formatting import cut, share
from ramgape.errors import printable
from ramgape.views.explanation import Column, Facts, Table
from ramgape.views.picture import dark_colours

NARROW = 46  # columns of a table on a telephone


def style_sheet() -> str:
    """The style sheet of a report, with the colours of figures."""
    dark = dark_colours()
    light = "".join(f"{name}:initial;" for name in (part.partition(":")[0] for part in dark.split(";")) if name)
    looks = resources.files("ramgape.views") / "looks"
    palette, report = ((looks / name).read_text(encoding="utf-8") for name in ("palette.css", "report.css"))
    style = re.sub(r"/\*.*?\*/\s*", "", palette + report, flags=re.DOTALL)
    return style.replace("DARK", dark).replace("LIGHT", light)


def escaped(text: str) -> str:
    """Text for a page, whatever is in it."""
    return html.escape(printable(text))


def section(title: str, *parts: str) -> str:
    """A part of a page under its own heading; nothing if nothing is in it."""
    body = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escaped(title)}</h2>\n{body}\n</section>\n" if body else ""


def answer_heading(headlines: Sequence[str]) -> str:
    """What was found, first of all; what stands before the last line is a name and a state."""
    above = "".join(f'<p class="above">{escaped(line)}</p>\n' for line in headlines[:-1])
    return f"<header>\n{above}<h1>{escaped(headlines[-1])}</h1>\n</header>\n"


def callout(word: str, text: str) -> str:
    """A warning in a box of its own."""
    return f'<div class="callout"><strong>{escaped(word)}:</strong> {escaped(text)}</div>\n'


def note(text: str) -> str:
    """A remark."""
    return f'<p class="note">{escaped(text)}</p>\n' if text else ""


def definitions(facts: Facts) -> str:
    """Words and what stands behind them."""
    rows = "".join(f"<dt>{escaped(word)}</dt><dd>{escaped(text)}</dd>\n" for word, text in facts)
    return f"<dl>\n{rows}</dl>\n" if rows else ""


def figure(picture: str, caption: str) -> str:
    """A picture and what it shows."""
    return f"<figure>\n{picture}\n<figcaption>{escaped(caption)}</figcaption>\n</figure>\n"


# What an element of a table looks like: of its tag, its column and the mark of its row, the attributes.
Dress = Callable[[str, Column | None, str], str]


def with_classes(tag: str, column: Column | None, mark: str) -> str:
    """Classes of the style sheet."""
    del tag
    classes = " ".join(filter(None, ["right" if column is not None and column.right else "", mark]))
    return f' class="{classes}"' if classes else ""


def table(described: Table) -> str:
    """A table in two forms: with everything, and for a narrow screen."""
    forms = {"wide": described.fit(None), "narrow": described.fit(NARROW)}
    return "".join(
        f'<div class="{name}">{note(described.caption(columns))}<div class="scroll">{html_table(columns)}</div></div>\n'
        for name, columns in forms.items()
    ) + note(described.rest)


def html_table(columns: Sequence[Column], dress: Dress = with_classes) -> str:
    """The columns of a table; `dress` says what each element looks like."""

    def cell(column: Column, row: int) -> str:
        mark = column.marks[row] if column.marks and column.marks[row] in ("in", "open") else ""
        # No blanks for alignment: here letters differ in width.
        text = re.sub(r"(?<=[(\[ ]) +", "", column.cells[row].strip())
        tag, scope = ("th", ' scope="row"') if column.names and column.marks else ("td", "")
        return f"<{tag}{scope}{dress(tag, column, mark)}>{escaped_lines(text)}</{tag}>"

    heads = "".join(
        f'<th scope="col"{dress("th", column, "")}>{escaped_lines(column.heading)}</th>' for column in columns
    )
    rows = "".join(
        f"<tr{dress('tr', None, '')}>{''.join(cell(column, row) for column in columns)}</tr>\n"
        for row in range(len(columns[0].cells))
    )
    top = f"<thead><tr{dress('tr', None, '')}>{heads}</tr></thead>"
    return f"<table{dress('table', None, '')}>\n{top}\n<tbody>\n{rows}</tbody>\n</table>"


def escaped_lines(text: str) -> str:
    """Text of several lines."""
    return "\n".join(escaped(line) for line in text.split("\n"))


# --------------------------------------------------------------------------------------- trials and time


def bars(counts: Mapping[str, int], marks: Mapping[str, str]) -> str:
    """How often each arm was tried, the most first."""
    total, most = sum(counts.values()), max([*counts.values(), 1])
    rows = "".join(
        f'<div class="name">{escaped(cut(name, 60))}</div><div><div class="bar {marks.get(name, "out")}" '
        f'style="width:{100.0 * count / most:.2f}%"></div></div>'
        f'<div class="count">{count:,} ({share(count, total)})</div>\n'
        for name, count in sorted(counts.items(), key=lambda pair: -pair[1])
    )
    return f'<div class="bars">\n{rows}</div>\n'


def line(samples: Sequence[int], values: Sequence[float], level: float | None, described: str) -> str:
    """A number over the pulls, from 0 on, with a level that it is to reach."""
    finite = [(at, value) for at, value in zip(samples, values, strict=True) if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    top = max([value for _, value in finite] + [level or 0.0]) * 1.05 or 1.0
    first, length = samples[0], (samples[-1] - samples[0]) or 1
    height = [round(100.0 - 100.0 * value / top, 2) for _, value in finite]
    line = " ".join(f"{1000.0 * (at - first) / length:g},{up:g}" for (at, _), up in zip(finite, height, strict=True))
    mark = ""
    if level is not None:
        up = round(100.0 - 100.0 * level / top, 2)
        mark = f'<path class="level" vector-effect="non-scaling-stroke" d="M0 {up:g}H1000"/>'
    return (
        f'<div class="curve"><svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img">'
        f"<title>{escaped(described)}</title>{mark}"
        f'<polyline class="trace" vector-effect="non-scaling-stroke" points="{line}"/></svg>'
        f'<div class="ends"><span>{samples[0]:,} pulls</span><span>{samples[-1]:,} pulls</span></div></div>\n'
    )
