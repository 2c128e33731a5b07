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
REST = re.compile(r"^([\w/-]+)/\*\n", re.MULTILINE)

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
    "rest": classes.rest,
    **{f"class-{name}": partial(classes.family, name) for name in classes.FAMILIES},
    **{f"objects-{name}": partial(classes.objects, listed) for name, listed in classes.PAGES.items()},
    **{f"members-{name}": partial(classes.members, name) for name in classes.TABLED},
}


def fill(app: Sphinx, page: str, content: list[str]) -> None:
    """Put what is made into a page that was read."""
    content[0] = LINE.sub(lambda found: MAKERS[found[1]](), content[0])
    content[0] = REST.sub(lambda found: listed(app.env.found_docs, found[1], content[0]), content[0])


def listed(pages: set[str], folder: str, text: str) -> str:
    """What stands in a list of pages for a whole folder: its index, if it has one, which lists the others itself.

    Nothing, if no page is left that is not listed yet: that would be a warning which cannot be told to be silent.
    """
    if f"{folder}/index" in pages:
        return f"{folder}/index\n"
    named = set(text.splitlines())
    left = [page for page in pages if page.rpartition("/")[0] == folder and page not in named]
    return f"{folder}/*\n" if left else ""


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
