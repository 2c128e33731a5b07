"""What may be asked of a search, by name. `TASKS` is the only list; `Task` says what a further one must give."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from ramgape import registry
from ramgape.common.parsing import number_or_name, parse_named, unescape
from ramgape.common.plane import PlaneLine
from ramgape.errors import require
from ramgape.questions.best_mean import BestMean
from ramgape.questions.best_score import BestScore
from ramgape.questions.better_than import BetterThan
from ramgape.questions.least_risk import LeastRisk
from ramgape.questions.pareto import Pareto
from ramgape.questions.question import Boxes, Possible, Rescaling, Task
from ramgape.questions.top import Top
from ramgape.questions.wording import Wanted

__all__ = [
    "PARETO",
    "TASKS",
    "BestMean",
    "BestScore",
    "BetterThan",
    "Boxes",
    "LeastRisk",
    "Pareto",
    "PlaneLine",
    "Possible",
    "Rescaling",
    "Task",
    "Top",
    "Wanted",
    "follow",
    "kernel",
    "make_task",
]

PARETO = Pareto()  # what is asked unless stated
TASKS: dict[str, type[Task]] = {kind.name: kind for kind in (Pareto, BestMean, LeastRisk, BestScore, Top, BetterThan)}

# What the kernel of a task from outside is written with; loaded on first use, since it brings the compiler.
_KERNELS = {"follow": "ramgape.core.doubt", "kernel": "ramgape.core.kernel"}


def __getattr__(name: str) -> Any:
    if name in _KERNELS:
        return getattr(importlib.import_module(_KERNELS[name]), name)
    raise AttributeError(f"module 'ramgape.questions' has no attribute {name!r}")


def make_task(task: object) -> Task:
    """A task from its text, or the task itself.

    Args:
        task: A `Task`, or NAME[:VALUE | KEY=VALUE,...] with the name of one that is built in, registered, or stated by
            an installed package.

    Raises:
        UnknownName: There is no task of this name.
        InvalidSpec: It is not written so, or what has this name is no task and makes none.

    Examples:
        >>> make_task("pareto")
        Pareto()
        >>> make_task("best-mean:max-risk=0.02")
        BestMean(max_risk=0.02)
    """
    if isinstance(task, Task):
        return task
    name = task.partition(":")[0].strip() if isinstance(task, str) else task
    found = registry.find("task", name, TASKS)
    maker = TASKS[str(name)] if found is None else found
    if not isinstance(maker, Task):
        require(callable(maker), f"task {name!r}", "a Task, or a function that makes one", maker)
        parameters = inspect.signature(maker).parameters
        written = getattr(maker, "written", "")
        given = parse_named(task, {str(name): list(parameters)}, "task", written)[1]
        needed = [key for key, each in parameters.items() if each.default is each.empty and key not in given]
        require(not needed, "task", f"written {written}" if written else f"given with {', '.join(needed)}", task)
        maker = maker(**{key: _read(parameters[key], value) for key, value in given.items()})
    require(isinstance(maker, Task), f"task {name!r}", "a Task, or a function that makes one", maker)
    return maker


def _read(parameter: inspect.Parameter, text: str) -> Any:
    """The value of a parameter: a text where that is meant, which may look like a number."""
    return unescape(text) if parameter.annotation in (str, "str") else number_or_name(text)
