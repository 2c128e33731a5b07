"""How a result, a plan, a study, ... is shown: as plain text, in a rich console, and as HTML in a notebook.

All three show the same `Explanation`: a headline, the facts behind it, tables, the warnings. What is said is decided
once, in the module of each kind of result; the three renderers only dress it. Loaded only when something is shown.
"""

from __future__ import annotations

from ramgape.views.console import ConsoleView
from ramgape.views.content import choose_arms, facts, headline, risk_label, title
from ramgape.views.names import cell_width, list_names, pad, printable, short_names
from ramgape.views.notebook import page
from ramgape.views.numbers import Digits, round_up, share
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
