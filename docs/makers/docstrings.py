"""Docstrings in the reference: signatures that can be read, fields, and links to public names."""

from __future__ import annotations

import inspect
import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import roles
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.environment import BuildEnvironment

from makers.public import NAMES, path_of

MANY = re.compile(r"^:(?:param|ivar) \w+(?:, \w+)+:")


def connect(app: Sphinx) -> None:
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-process-docstring", names_together, priority=600)  # after the headings were read
    app.connect("doctree-read", dashes)
    app.connect("missing-reference", public_name)
    roles.register_local_role("public", named)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"


def short_signature(app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returned: str) -> Any:
    """None for what only ramgape makes, which explains its attributes and no arguments: nobody calls it."""
    text = inspect.getdoc(thing) or ""
    if what == "class" and "Args:" not in text:
        return "", None
    return signature, returned


def names_together(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Several names explained at once are no name with its type before it: a space of no width stands between them."""
    lines[:] = [MANY.sub(lambda found: found[0].replace(", ", ",\u200b"), line) for line in lines]


def dashes(app: Sphinx, document: nodes.document) -> None:
    """Between a parameter and its meaning is a dash; the page has no other way to get one."""
    for text in list(document.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def named(
    role: str, raw: str, text: str, line: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """What stands between backticks: code, and a link where it is the name of something public."""
    shown = nodes.literal(raw, text)
    name, dot, member = text.removeprefix("ramgape.").partition(".")
    if name not in NAMES:
        return [shown], []
    target = f"{path_of(name)}{dot}{member}"
    env = inliner.document.settings.env
    return [pending_xref(raw, shown, refdomain="py", reftype="obj", reftarget=target, refdoc=env.docname)], []


def public_name(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element) -> nodes.Element | None:
    """A type by the place where it is defined, as a link to the page that has it.

    What is not public stays text: Python's own types, those of other packages, and parts of ours.
    """
    if node.get("refdomain") != "py":
        return None
    parts = node["reftarget"].split(".")
    target = path_of(parts[-1]) if parts[-1] in NAMES else None
    if target not in (None, node["reftarget"]) and parts[0] == "ramgape" and len(parts) > 2:
        return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, shown)
    return None if parts[0] == "ramgape" and len(parts) == 2 else shown
