"""The parts of a page: each a small function that gives a piece of HTML, for a report and for whatever else has pages.

They need the style sheet `STYLE`, and nothing else: no script, no font, no network. What is shown in two forms is shown
in that which the screen has room for (`wide`, `narrow`).
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence

from ramgape.common.formatting import cut, share
from ramgape.errors import printable
from ramgape.views.explanation import Column, Facts, Table
from ramgape.views.picture import dark_colours

NARROW = 46  # columns of a table on a telephone

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #16191d; --faint: #5c636a; --line: #d5d8db; --shade: #f3f5f7;
  --in: #0072b2; --undecided: #b84300; --out: #6e6e6e; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191d; --ink: #e8e8e8; --faint: #a3a9af; --line: #3a4047;
  --shade: #21262b; --in: #56b4e9; --undecided: #ff8a4c; --out: #9aa0a6; DARK } }
* { box-sizing: border-box; }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 62rem; overflow-wrap: anywhere; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: .2rem 0 .8rem; }
h2 { border-top: 1px solid var(--line); font-size: 1.1rem; margin: 2rem 0 .6rem; padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
.above, .note, figcaption, footer { color: var(--faint); font-size: .9rem; }
.above { margin: 0; } p { margin: .4rem 0; }
.callout { background: var(--shade); border-left: 4px solid var(--undecided); margin: .8rem 0; padding: .5rem .8rem; }
dl { display: grid; gap: .25rem 1rem; grid-template-columns: 8rem 1fr; margin: .5rem 0; }
dt { color: var(--faint); } dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; min-width: 50%; }
th, td { border-bottom: 1px solid var(--line); overflow-wrap: normal; padding: .3rem .8rem .3rem 0; text-align: left;
  vertical-align: top; white-space: pre-line; }
thead th { font-weight: 600; vertical-align: bottom; } tbody th { font-weight: 600; min-width: 4.5em;
  overflow-wrap: break-word; }
.right { text-align: right; white-space: pre; }
td.right, th.right { padding-left: .4rem; }
.in { color: var(--in); font-weight: 600; } .undecided { color: var(--undecided); font-weight: 600; }
figure { margin: 1rem 0; } figure svg { display: block; fill: var(--p-000000, #000); height: auto; max-width: 100%; }
.wide > svg { width: 100%; } .narrow > svg { width: 100%; }
.bars { display: grid; gap: .2rem .6rem; grid-template-columns: minmax(4rem, auto) 1fr auto; align-items: center; }
.bars .name { max-width: 14rem; } .bar { background: var(--out); border-radius: 2px; height: .8rem; min-width: 1px; }
.bar.in { background: var(--in); } .bar.undecided { background: var(--undecided); }
.bars .count { font-size: .9rem; font-variant-numeric: tabular-nums; text-align: right; }
.panels { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
.panel { min-width: 0; } .panel p { font-size: .85rem; margin: 0; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; } .panel svg, .curve svg { background: var(--shade); display: block; height: 5rem; width: 100%; }
.panel.out { color: var(--out); } .panel.in { color: var(--in); } .panel.undecided { color: var(--undecided); }
.panel.out, .panel.in, .panel.undecided { font-weight: 400; }
.band { fill: currentColor; opacity: .22; stroke: none; }
.trace { fill: none; stroke: currentColor; stroke-width: 1.5; }
.level { stroke: var(--ink); stroke-dasharray: 4 3; stroke-width: 1; fill: none; }
.ends { color: var(--faint); display: flex; font-size: .8rem; justify-content: space-between; }
.curve { max-width: 42rem; } .curve svg { height: 8rem; color: var(--in); }
.narrow { display: none; }
@media (max-width: 640px) { .wide { display: none; } .narrow { display: block; } h1 { font-size: 1.25rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } table { width: 100%; } }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #444; --line: #bbb; --shade: #f3f3f3;
  --in: #0072b2; --undecided: #b84300; --out: #6e6e6e; LIGHT } body { font-size: 10.5pt; max-width: none; padding: 0; }
  .wide { display: block; } .narrow { display: none; } h2 { break-after: avoid; }
  figure, tr, .panel, .callout, dl > * { break-inside: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; } table { font-size: 8.5pt; } .bar { print-color-adjust: exact; } }
"""


def style_sheet() -> str:
    """`STYLE` with the colours of figures."""
    dark = dark_colours()
    light = "".join(f"{name}:initial;" for name in (part.partition(":")[0] for part in dark.split(";")) if name)
    return STYLE.replace("DARK", dark).replace("LIGHT", light)


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
    """What nobody may overlook."""
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


def table(described: Table) -> str:
    """A table in two forms: with everything, and for a narrow screen."""
    forms = {"wide": described.fit(None), "narrow": described.fit(NARROW)}
    return "".join(
        f'<div class="{name}">{note(described.caption(columns))}<div class="scroll">{html_table(columns)}</div></div>\n'
        for name, columns in forms.items()
    ) + note(described.rest)


def html_table(columns: Sequence[Column]) -> str:
    """The columns of a table."""
    heads = "".join(f'<th scope="col"{_side(column)}>{escaped_lines(column.heading)}</th>' for column in columns)
    rows = "".join(
        f"<tr>{''.join(_cell(column, row) for column in columns)}</tr>\n" for row in range(len(columns[0].cells))
    )
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"


def escaped_lines(text: str) -> str:
    """Text of several lines."""
    return "\n".join(escaped(line) for line in text.split("\n"))


def _side(column: Column, mark: str = "") -> str:
    classes = " ".join(filter(None, ["right" if column.right else "", mark]))
    return f' class="{classes}"' if classes else ""


def _cell(column: Column, row: int) -> str:
    mark = column.marks[row] if column.marks and column.marks[row] in ("in", "undecided") else ""
    text = escaped_lines(column.cells[row] if column.right else column.cells[row].strip())
    tag, scope = ("th", ' scope="row"') if column.names and column.marks else ("td", "")
    return f"<{tag}{scope}{_side(column, mark)}>{text}</{tag}>"


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


class AxisScale:
    """From numbers to a drawing of 1000 by 100."""

    def __init__(self, low: float, high: float, length: float, turned: bool = False) -> None:
        self.low, self.high, self.length, self.turned = low, high, length, turned

    def __call__(self, value: float) -> float:
        """Where a number is drawn; what is beyond the ends stands there."""
        part = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
        return round(self.length * (1.0 - part if self.turned else part), 2)


def interval_panel(
    name: str,
    mark: str,
    samples: Sequence[int],
    means: Sequence[float],
    ends: tuple[Sequence[float], Sequence[float]],
    limits: tuple[float, float],
) -> str:
    """An arm's mean and its interval over the pulls, small, beside those of the others on the same scale."""
    across, up = AxisScale(samples[0], samples[-1], 1000.0), AxisScale(*limits, 100.0, turned=True)
    known = [
        (across(at), up(low), up(high))
        for at, low, high in zip(samples, *ends, strict=True)
        if not (math.isnan(low) or math.isnan(high))
    ]
    corners = [*((x, top) for x, _, top in known), *((x, bottom) for x, bottom, _ in reversed(known))]
    band = f'<polygon class="band" points="{_points(corners)}"/>' if known else ""
    line = [(across(at), up(mean)) for at, mean in zip(samples, means, strict=True) if math.isfinite(mean)]
    last = f"{means[-1]:.4g}" if math.isfinite(means[-1]) else "not known"
    low, high = ends[0][-1], ends[1][-1]
    interval = f", from {low:.4g} to {high:.4g}" if math.isfinite(low) and math.isfinite(high) else ""
    described = f"{name}: mean {last}{interval} at the end"
    return (
        f'<div class="panel {mark}"><p title="{escaped(name)}"><strong>{escaped(cut(name, 40))}</strong> {last}</p>'
        f'<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img"><title>{escaped(described)}</title>{band}'
        f'<polyline class="trace" vector-effect="non-scaling-stroke" points="{_points(line)}"/></svg></div>\n'
    )


def panel_row(each: Iterable[str]) -> str:
    """Small drawings beside each other."""
    return f'<div class="panels">\n{"".join(each)}</div>\n'


def line(samples: Sequence[int], values: Sequence[float], level: float | None, described: str) -> str:
    """A number over the pulls, from 0 on, with a level that it is to reach."""
    finite = [(at, value) for at, value in zip(samples, values, strict=True) if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    top = max([value for _, value in finite] + [level or 0.0]) * 1.05 or 1.0
    across, up = AxisScale(samples[0], samples[-1], 1000.0), AxisScale(0.0, top, 100.0, turned=True)
    line = _points([(across(at), up(value)) for at, value in finite])
    mark = "" if level is None else f'<path class="level" vector-effect="non-scaling-stroke" d="M0 {up(level)}H1000"/>'
    return (
        f'<div class="curve"><svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img">'
        f"<title>{escaped(described)}</title>{mark}"
        f'<polyline class="trace" vector-effect="non-scaling-stroke" points="{line}"/></svg>'
        f'<div class="ends"><span>{samples[0]:,} pulls</span><span>{samples[-1]:,} pulls</span></div></div>\n'
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
