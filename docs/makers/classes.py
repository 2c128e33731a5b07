"""Public classes and functions, so that a new one is in the reference by itself."""

from __future__ import annotations

import inspect

from makers.markdown import escaped, table
from makers.public import NAMES, classes_of, first_words, path_of
from ramgape.errors import RamgapeError
from ramgape.problems.distribution import Distribution
from ramgape.questions.question import Question
from ramgape.risks.measure import Measure

TABLED = ("Result", "Study")  # classes of many methods
FAMILIES: dict[str, type] = {
    "risks": Measure,
    "questions": Question,
    "distributions": Distribution,
    "errors": RamgapeError,
}


def family(name: str) -> str:
    """The public classes of a family."""
    return "\n".join(documented(kind, inherited=False) for kind in classes_of(FAMILIES[name]))


def objects(names: str) -> str:
    """Public names, each with its own methods; one that is public no more is left out."""
    return "\n".join(documented(name) for name in names.split() if name in NAMES)


def members(name: str) -> str:
    """The public methods and properties of a class, with their first sentences."""
    kind = NAMES[name][1]
    found = {each: inspect.getdoc(getattr(kind, each)) for each in vars(kind) if not each.startswith("_")}
    slots = getattr(kind, "__dataclass_fields__", ())
    rows = [
        (f"{{py:obj}}`{each} <{path_of(name)}.{each}>`", escaped(text.split("\n\n")[0]).replace("\n", " "))
        for each, text in found.items()
        if text and each not in slots
    ]
    return table(("", "in short"), rows)


def rest() -> str:
    """Public classes that no other page of the reference has."""
    listed = {name for text in PAGES.values() for name in text.split()}
    listed |= {name for base in FAMILIES.values() for name in classes_of(base)}
    return "\n".join(documented(name) for name in sorted(NAMES) if name not in listed and is_documented(name))


def is_documented(name: str) -> bool:
    return bool(first_words(NAMES[name][1])) and not name.isupper()


def documented(name: str, inherited: bool = True) -> str:
    """A class with its methods, or a function."""
    thing = NAMES[name][1]
    if not inspect.isclass(thing):
        return f"```{{eval-rst}}\n.. autofunction:: {path_of(name)}\n```\n"
    what = "autoexception" if issubclass(thing, Exception) else "autoclass"
    options = "   :inherited-members: object, tuple\n" if inherited else "   :show-inheritance:\n"
    return f"```{{eval-rst}}\n.. {what}:: {path_of(name)}\n   :members:\n{options}```\n"


# What a page of the reference documents, in its order.
PAGES = {
    "identify": "identify check",
    "simulate": "simulate replicate Replication Run CurvePoint",
    "analyze": "analyze Analysis",
    "plan": "plan Plan PullForecast TrialForecast ArmForecast Quality lower_bound LowerBound",
    "study": "Study list_studies delete_study",
    "given": "Trial Pull Exchange Progress Report Failure Extension StudySummary",
    "result": "Result ArmReport TrialQuality Answer Goal Expectation Alarm Drift ControlDifference Truth ArmTruth",
    "options": "Search Trials Items Outcome",
    "instances": "load_instance instance_names Instance Arm",
    "extending": "register",
}
