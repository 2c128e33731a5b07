"""No public name has two meanings: a class or function is defined in one module, or there is a reason here."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import ramgape

PACKAGE = Path(ramgape.__file__).parent

# A module there is one policy, bound or risk; what its compiled functions do in a search is what they are called.
BY_ROLE = ("bounds", "policies", "risks")

SHARED = {
    # commands are called as the functions that they call
    **dict.fromkeys(
        ["analyze", "check_store", "list_studies", "lower_bound", "observe", "plan", "simulate"],
        "a command has the name of what it calls, or of what its user does",
    ),
    **dict.fromkeys(
        ["ask", "done", "exchange", "fail", "give_back", "renew", "tell_reward"],
        "a command, and its short way",
    ),
    **dict.fromkeys(
        ["log_average", "log_mixtures", "log_prior_mass", "log_tail", "mixture_for", "remainder", "stirling"],
        "of one number, and of many at once: statistics/vectors.py",
    ),
    # looked up by convention
    **dict.fromkeys(["compare", "compute_row", "compute_rows", "update_rows"], "a policy's own way of a step"),
    **dict.fromkeys(["findings", "make_section", "plan_jobs", "summarize"], "one for each section of a report"),
    **dict.fromkeys(
        ["drawing", "quality_columns", "ratio_drawing", "ratios", "wrong_answers"], "one for each section of a report"
    ),
    **dict.fromkeys(
        ["figure", "note", "section", "table", "write_legend"], "a part of a page: of a report, and of a result"
    ),
    **dict.fromkeys(["distinct", "fill"], "of texts: in commands, and in a report"),
    "shortfall": "the paper's M, of rows, and as a length in a figure",
    "never": "what stops no search, and what refuses no request",
    **dict.fromkeys(["arm_columns", "facts", "headline", "title"], "one for each thing that is shown"),
    "present": "the clock of each store, so that tests can set it",
}


@functools.cache
def definitions() -> dict[str, set[str]]:
    """Where each public class and function is defined; modules of one role count as one."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        room = "kernels" if place.split("/")[0] in BY_ROLE else place
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                found.setdefault(node.name, set()).add(room)
    return found


def test_no_public_name_has_two_meanings() -> None:
    several = {name: sorted(places) for name, places in definitions().items() if len(places) > 1}
    assert {name: places for name, places in several.items() if name not in SHARED} == {}


def test_every_exception_is_one() -> None:
    assert [name for name in SHARED if len(definitions().get(name, ())) < 2] == []


def test_what_is_exported_is_defined_once() -> None:
    """Beside the commands that are called alike."""
    several = {name: definitions()[name] for name in ramgape._MODULES if len(definitions().get(name, ())) > 1}
    assert all(sum(not place.startswith("cli/") for place in places) == 1 for places in several.values()), several
