"""The HTTP interface, from the description that the server itself gives (OpenAPI)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from makers.markdown import code, escaped, table
from ramgape.web.app import make_app

# What the groups of addresses are for, in the order of a worker's life.
GROUPS = {
    "work": "For workers: ask, tell, and what else a trial may need.",
    "look": "How a study is going, and all that it has.",
    "follow": "What pages show while a study goes on.",
    "manage": "Studies made, changed and deleted.",
}
SIGNS = {
    "minimum": "at least {:g}",
    "maximum": "at most {:g}",
    "exclusiveMinimum": "above {:g}",
    "minLength": "at least {} letters",
    "maxLength": "at most {} letters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}
LARGEST = 1e15  # limits beyond are those of the machine


@cache
def description() -> dict[str, Any]:
    """What the server says of itself; no study is opened for it."""
    nowhere: Any = None  # no request will come
    return make_app(nowhere).openapi()


def text() -> str:
    """All addresses, by what they are for."""
    operations = [
        (method, path, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    ]
    parts = [faults(operations)]
    for tag, meaning in GROUPS.items():
        parts.append(f"## {tag.capitalize()}\n\n{meaning}\n")
        parts += [address(*each) for each in operations if tag in each[2]["tags"]]
    return "\n".join(parts)


def faults(operations: list[tuple[str, str, Any]]) -> str:
    """What answers mean that are no success, once for all addresses."""
    said = {
        status: answer["description"]
        for _, _, operation in operations
        for status, answer in operation["responses"].items()
        if status >= "400"
    }
    return "## Errors\n\n" + table(("status", "meaning"), ((code(status), said[status]) for status in sorted(said)))


def address(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """One address: what it does, takes and answers."""
    parts = [f"### {method.upper()} {path.replace('_', chr(92) + '_')}\n", operation["description"] + "\n"]
    rows = [
        (code(each["name"]), each["in"], kind(each["schema"]), usual(each), each.get("description", ""))
        for each in operation.get("parameters", ())
    ]
    if rows:
        parts.append(table(("parameter", "in", "type", "default", "meaning"), rows))
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body ({code(media)}): {kind(body.get('schema', {}))}\n")
    for status, answer in operation["responses"].items():
        if status < "300":
            forms = [
                f"{code(media)}: {kind(form.get('schema', {}))}" for media, form in answer.get("content", {}).items()
            ]
            parts.append(f"Answer {status}{f' ({forms[0]})' if forms else ', empty'}\n")
    return "\n".join(parts)


def schemas() -> str:
    """The bodies, by their names."""
    parts = []
    for name, schema in sorted(description()["components"]["schemas"].items()):
        parts.append(f"### {name}\n\n{schema.get('description', '')}\n")
        required = schema.get("required", ())
        rows = [
            (code(field), kind(form), "required" if field in required else usual({"schema": form}), said(form))
            for field, form in schema.get("properties", {}).items()
        ]
        if rows:
            parts.append(table(("field", "type", "default", "meaning"), rows))
    return "\n".join(parts)


def said(form: Mapping[str, Any]) -> str:
    return escaped(form.get("description", ""))


def usual(parameter: Mapping[str, Any]) -> str:
    """What a parameter is unless given."""
    if parameter.get("required"):
        return "required"
    default = parameter["schema"].get("default")
    return "" if default is None else code(str(default).lower() if isinstance(default, bool) else str(default))


def kind(schema: Mapping[str, Any]) -> str:
    """The type of a value, in words, with what limits it."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(kind, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        return " or ".join(code(str(value)) for value in schema.get("enum", [schema.get("const")]))
    form = schema.get("type", "anything")
    if form == "array":
        parts = [kind(each) for each in schema.get("prefixItems", ())] or [kind(schema.get("items", {}))]
        form = f"list of {', '.join(parts)}"
    elif form == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        form = f"object of {kind(schema['additionalProperties'])}"
    limits = [
        words.format(schema[sign]) for sign, words in SIGNS.items() if sign in schema and abs(schema[sign]) < LARGEST
    ]
    return f"{form}, {', '.join(limits)}" if limits else str(form)
