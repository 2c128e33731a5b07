"""Tables of the reference that the package knows: study files, distributions, exit codes, errors."""

from __future__ import annotations

import inspect
import re

from makers.markdown import code, escaped, table
from makers.public import NAMES, classes_of, first_words, path_of
from ramgape.cli import streams
from ramgape.errors import RamgapeError
from ramgape.options import FILE, OPTIONS
from ramgape.problems.environments import DISTRIBUTIONS
from ramgape.web.errors import status_of


def study_keys() -> str:
    """The keys of [study] that are options of a search."""
    rows = []
    for name, row in OPTIONS.items():
        if FILE in row.entries:
            here = row._replace(**row.at.get(FILE, {}))
            rows.append((code(name), code(repr(here.default)) if here.default is not None else "", here.text()))
    return table(("key", "default", "meaning"), rows)


def distributions() -> str:
    """What an arm of an instance file may be, with its keys."""
    rows = []
    for name, kind in DISTRIBUTIONS.items():
        keys = [
            f"{key}={parameter.default!r}" if parameter.default is not parameter.empty else key
            for key, parameter in inspect.signature(kind).parameters.items()
        ]
        shown = f"{{py:obj}}`{path_of(kind.__name__)}`" if kind.__name__ in NAMES else code(kind.__name__)
        rows.append((code(name), code(", ".join(keys)), shown, escaped(first_words(kind))))
    return table(("`distribution`", "keys", "class", "meaning"), rows)


def exit_codes() -> str:
    """What a command says by its exit code; the words are those beside the code that gives them."""
    text = inspect.getdoc(streams) or ""
    found = re.findall(r"^(\d+) +(.+(?:\n {6}.+)*)", text, re.MULTILINE)
    return table(("code", "meaning"), ((code(number), " ".join(said.split())) for number, said in found))


def statuses() -> str:
    """Every error, what it is beside, and the status with which a server says it."""
    errors = [NAMES[name][1] for name in classes_of(RamgapeError)]
    rows = []
    for kind in sorted(errors, key=ancestors):
        also = next(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")
        indent = "&nbsp;&nbsp;&nbsp;" * (len(ancestors(kind)) - 1)
        name = f"{indent}{{py:obj}}`{kind.__name__} <{path_of(kind.__name__)}>`"
        rows.append((name, code(also), code(str(status_of(kind()))), escaped(first_words(kind))))
    return table(("error", "caught as", "HTTP", "meaning"), rows)


def ancestors(kind: type[RamgapeError]) -> list[str]:
    """Its family, from the oldest on."""
    return [base.__name__ for base in reversed(kind.__mro__) if issubclass(base, RamgapeError)]


def names() -> str:
    """Every public name, with its first sentence."""
    rows = [
        (f"{{py:obj}}`{name} <{path_of(name)}>`", code(module), first_words(thing).replace("\n", " "))
        for name, (module, thing) in NAMES.items()
        if first_words(thing)
    ]
    return table(("name", "module", "in short"), sorted(rows, key=lambda row: row[0].lower()))
