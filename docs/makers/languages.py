"""Which language a block of code is in that does not say so: indented blocks of pages, and blocks of docstrings."""

from __future__ import annotations

import ast
import re
import tomllib

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

SHELL = re.compile(
    r"^(\$ |#!|(ramgape|make|pip|python|docker|kubectl|curl|git|ssh|sbatch|sudo|export)\b)", re.MULTILINE
)
TABLE = re.compile(r"^\[\w+\]$", re.MULTILINE)


def language_of(text: str) -> str:
    """Python, TOML, a shell, or none of them."""
    if text.lstrip().startswith(">>>"):
        return "pycon"
    if TABLE.search(text):
        return "toml" if is_toml(text) else "ini"
    if SHELL.match(text):
        return "sh"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return "none"
    spoken = (ast.Call, ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    return "python" if any(isinstance(node, spoken) for node in ast.walk(tree)) else "none"


def is_toml(text: str) -> bool:
    """Whether it can be read as such."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


class Languages(SphinxTransform):
    """Blocks get their language before colours are given."""

    default_priority = 300

    def apply(self, **options: object) -> None:
        """All blocks of a page."""
        for found in self.document.findall(nodes.literal_block):
            if found.get("language", "none") == "none" and "highlight_args" not in found:
                found["language"] = language_of(found.astext())


def connect(app: Sphinx) -> None:
    app.add_transform(Languages)
