"""What the site makes of the package while it is built: pages of the reference, links and colours.

citation, classes, commands, http, tables    Markdown, in place of the line `<!-- made: NAME -->` of a page
docstrings                                   signatures and links of what autodoc documents
languages                                    which language a block of code is in
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from makers import citation, classes, commands, docstrings, http, languages, tables

LINE = re.compile(r"^<!-- made: ([\w-]+) -->$", re.MULTILINE)
FOLDER = re.compile(r"^([\w/-]+)/\*\n", re.MULTILINE)

MAKERS: dict[str, Callable[[], str]] = {
    "citation": citation.text,
    "commands": commands.text,
    "distributions": tables.distributions,
    "exit-codes": tables.exit_codes,
    "http": http.text,
    "names": tables.names,
    "schemas": http.schemas,
    "statuses": tables.statuses,
    "study-keys": tables.study_keys,
    **{f"class-{name}": partial(classes.family, name) for name in classes.FAMILIES},
}


def fill(app: Sphinx, page: str, content: list[str]) -> None:
    """Put what is made into a page that was read."""
    content[0] = LINE.sub(lambda found: MAKERS[found[1]](), content[0])
    # A list of the pages of a folder that has none would be a warning, which cannot be told to be silent.
    folders = {place.rpartition("/")[0] for place in app.env.found_docs}
    content[0] = FOLDER.sub(lambda found: found[0] if found[1] in folders else "", content[0])


def made_pages(app: Sphinx, env: BuildEnvironment, added: Any, changed: Any, removed: Any) -> list[str]:
    """Pages that are read again each time: the sources they tell of may have changed."""
    return [page for page in env.found_docs if page.startswith("reference/")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", fill)
    app.connect("env-get-outdated", made_pages)
    docstrings.connect(app)
    languages.connect(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
