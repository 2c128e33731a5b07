"""How a result is shown: as plain text, in a rich console, and as HTML in a notebook.

All three show the same: a headline, the facts behind it, a table with one row per arm, the warnings. What is shown is
decided once, in `content` and `table`; the three renderers only dress it. Loaded only when something is shown: whoever
asks for a pull, or for help, needs the terminal alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramgape.common.formatting import Digits, cell_width, list_names, pad, round_up, share, short_names
    from ramgape.errors import printable
    from ramgape.views.analysis import analysis_notes
    from ramgape.views.console import ConsoleView
    from ramgape.views.content import choose_arms, facts, headline, risk_label, title
    from ramgape.views.notebook import page
    from ramgape.views.study import StudyView, study_page, study_text
    from ramgape.views.text import plain

__all__ = [
    "ConsoleView",
    "Digits",
    "StudyView",
    "analysis_notes",
    "cell_width",
    "choose_arms",
    "facts",
    "headline",
    "list_names",
    "pad",
    "page",
    "plain",
    "printable",
    "risk_label",
    "round_up",
    "share",
    "short_names",
    "study_page",
    "study_text",
    "title",
]

_HOMES = {
    "ramgape.common.formatting": ("Digits", "cell_width", "list_names", "pad", "round_up", "share", "short_names"),
    "ramgape.errors": ("printable",),
    "ramgape.views.analysis": ("analysis_notes",),
    "ramgape.views.console": ("ConsoleView",),
    "ramgape.views.content": ("choose_arms", "facts", "headline", "risk_label", "title"),
    "ramgape.views.notebook": ("page",),
    "ramgape.views.study": ("StudyView", "study_page", "study_text"),
    "ramgape.views.text": ("plain",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
