"""How a result, a plan, a study, ... is shown: as plain text, in a rich console, and as HTML in a notebook.

All three show the same `Explanation`: a headline, the facts behind it, tables, the warnings. What is said is decided
once, in the module of each kind of result; the three renderers only dress it. Loaded only when something is shown:
whoever asks for a pull, or for help, needs the terminal alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ramgape.common.formatting import Digits, cell_width, list_names, pad, round_up, share, short_names
from ramgape.errors import printable

if TYPE_CHECKING:
    from ramgape.views.console import ConsoleView
    from ramgape.views.content import choose_arms, facts, headline, risk_label, title
    from ramgape.views.notebook import page
    from ramgape.views.text import plain

__all__ = [
    "ConsoleView",
    "Digits",
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
    "title",
]

_HOMES = {
    "console": ("ConsoleView",),
    "content": (
        "choose_arms",
        "facts",
        "headline",
        "risk_label",
        "title",
    ),
    "notebook": ("page",),
    "text": ("plain",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
