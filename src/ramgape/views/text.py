"""An explanation as plain text, ASCII apart from what the user wrote: `print` must not fail on a simple terminal."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import cell_width, pad
from ramgape.errors import printable
from ramgape.views.explanation import GAP, INDENT, Column, explain

if TYPE_CHECKING:
    from ramgape.search.explained import Explained

PLAIN_WIDTH, NARROWEST, FACT = 80, 40, 13


def knows_letters() -> bool:
    """Whether what is printed may have letters beyond ASCII."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "").startswith("utf")


def plain_width() -> int:
    """How wide plain text is: as wide as is read well, or as the terminal if it is printed on a narrower one."""
    if sys.stdout is None or not sys.stdout.isatty():
        return PLAIN_WIDTH
    return max(min(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, PLAIN_WIDTH), NARROWEST)


def plain(thing: Explained, width: int | None = None, *, full: bool = False, shell: bool = False) -> str:
    """What is said of something, as plain text of about `width` columns.

    Args:
        thing: What is described.
        width: How wide the text may be. Default: 80, or the width of a narrower terminal.
        full: Whether to say all that is known.
        shell: Whether it is read in a shell, which has options in place of methods.
    """
    width = width or plain_width()
    said = explain(thing, ascii_only=not knows_letters(), full=full)
    lines = [line for headline in (*said.headlines, said.after) for line in _wrapped(headline, width, indent=0)]
    if said.facts:
        lines.append("")
    for word, text in said.facts:
        lines += _wrapped(f"{word and word + ':':<{FACT}}{text}", width, indent=FACT)
    for before, part in zip((None, *said.parts), said.parts, strict=False):
        if isinstance(part, str):
            lines += [*([] if isinstance(before, str) else [""]), *_wrapped(part, width, indent=0)]
            continue
        columns = part.fit(width - INDENT)
        caption = _wrapped(part.caption(columns), width, indent=0)
        lines += ["", *caption, *_table_lines(columns)]
        for remark in filter(None, (part.rest, part.missing(columns))):
            lines += _wrapped(f"{' ' * INDENT}{remark}", width, indent=INDENT)
    for warning in said.warnings:
        lines += ["", *_wrapped(f"Warning: {printable(warning)}", width, indent=9)]
    last = said.last_line(shell)
    if last:
        note = bool(said.parts) and isinstance(said.parts[-1], str) and not said.warnings
        room = width - cell_width(lines[-1])
        if note and room >= len(last) + GAP:
            lines[-1] += f"{last:>{room}}"
        else:
            lines += [last] if note else ["", last]
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    """Lines of about so many columns, which are not letters in every script."""
    lines = [""]
    for blanks, word in re.findall(r"(\s*)(\S+)", text):
        if lines[-1].strip() and cell_width(lines[-1] + blanks + word) > width:
            lines.append(" " * indent + word)
        else:
            lines[-1] += blanks + word
    return lines if text else []


def _table_lines(columns: Sequence[Column]) -> list[str]:
    widths = [column.width for column in columns]
    headings = [column.heading for column in columns]
    rows = _lines(headings)
    for cells in zip(*(column.cells for column in columns), strict=True):
        rows += _lines(cells)
    sides = [column.right for column in columns]
    return [" " * INDENT + (" " * GAP).join(map(pad, row, widths, sides)) for row in rows]


def _lines(cells: Sequence[str]) -> list[list[str]]:
    """The lines of a row, of whose cells some have fewer."""
    split = [cell.split("\n") for cell in cells]
    return [[parts[line] if line < len(parts) else "" for parts in split] for line in range(max(map(len, split)))]
