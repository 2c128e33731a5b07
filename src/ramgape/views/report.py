"""An explanation as a page of its own: one file with its picture inside, which opens without a network and prints."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ramgape.views.notebook import page

if TYPE_CHECKING:
    from ramgape.search.explained import Explained

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
figure { background: #fff; border-radius: 6px; margin: 1.5rem 0; padding: .5rem; }
figure svg { display: block; height: auto; width: 100%; }
footer { border-top: 1px solid rgba(128, 128, 128, .45); font-size: .85em; margin-top: 2rem; opacity: .7; }
@media print { body { margin: 0; max-width: none; } figure { break-inside: avoid; } tr { break-inside: avoid; } }
"""


def document(thing: Explained, versions: Mapping[str, str | None]) -> str:
    """All that is said of something, its picture, and what it was made with."""
    said = thing.explanation()
    made = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(said.headlines[0])}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{page(thing)}\n<figure>{picture(thing)}</figure>\n</main>\n"
        f"<footer><p>Made with {html.escape(made)}.</p></footer>\n</body>\n</html>\n"
    )


def picture(thing: Explained) -> str:
    """Its picture as SVG, without what only a file of its own needs."""
    from ramgape.views.plots import style

    written = io.StringIO()
    style.write_svg(thing.plot().figure, written)
    text = written.getvalue()
    return text[text.index("<svg") :]
