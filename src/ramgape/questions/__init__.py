"""Questions by name. `QUESTIONS` is the only list; `Question` says what a further one must define."""

from __future__ import annotations

import importlib
import inspect
import re
from decimal import Decimal
from typing import Any, cast

from ramgape import registry
from ramgape.common.old_names import present_value
from ramgape.common.parsing import number_or_name, parse_named, unescape
from ramgape.common.plane import PlaneLine
from ramgape.errors import require
from ramgape.questions.best import BestMean, BestScore, LeastRisk, Top
from ramgape.questions.better_than import BetterThan
from ramgape.questions.pareto import Pareto
from ramgape.questions.question import Boxes, Possible, Question, Rescaling
from ramgape.questions.wording import Wanted

__all__ = [
    "PARETO",
    "QUESTIONS",
    "BestMean",
    "BestScore",
    "BetterThan",
    "Boxes",
    "LeastRisk",
    "Pareto",
    "PlaneLine",
    "Possible",
    "Question",
    "Rescaling",
    "Top",
    "Wanted",
    "follow",
    "kernel",
    "make_question",
]

PARETO = Pareto()  # what is asked unless stated
QUESTIONS: dict[str, type[Question]] = {
    kind.name: kind for kind in (Pareto, BestMean, LeastRisk, BestScore, Top, BetterThan)
}

# What the kernel of a question from outside is written with; loaded on first use, since it brings the compiler.
_KERNELS = {"follow": "ramgape.core.doubt", "kernel": "ramgape.core.kernel"}

_OLD_NAMES = {"Task": "Question", "TASKS": "QUESTIONS", "make_task": "make_question"}


def __getattr__(name: str) -> Any:
    if name in _OLD_NAMES:
        return globals()[_OLD_NAMES[name]]
    if name in _KERNELS:
        return getattr(importlib.import_module(_KERNELS[name]), name)
    raise AttributeError(f"module 'ramgape.questions' has no attribute {name!r}")


MARGIN_SHARE = re.compile(r"(?<=[:,])margin=\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*%")


def make_question(question: object, reward_range: tuple[float, float] | None = None) -> Question:
    """A question from its text, or the question itself.

    Args:
        question: A `Question`, or NAME[:VALUE | KEY=VALUE,...] with the name of one that is built in, registered, or
            comes from an installed package.
        reward_range: That of the rewards, of which a margin may be so many per cent.

    Raises:
        UnknownName: There is no question of this name.
        InvalidSpec: It is not written so, or what has this name is no question and makes none.

    Examples:
        >>> make_question("pareto")
        Pareto()
        >>> make_question("best:max-risk=0.02")
        BestMean(max_risk=0.02)
        >>> make_question("better-than:control=A,margin=-2%", (0, 5))
        BetterThan(control='A', margin=-0.1, objective='mean')
    """
    if isinstance(question, Question):
        return question
    question = present_value("question", question)
    share = MARGIN_SHARE.search(question) if isinstance(question, str) else None
    if share is not None and isinstance(question, str):
        allowed = "a number in units of the reward: per cent are of a reward_range, which is not given"
        require(reward_range is not None, "margin", allowed, f"{share[1]}%")
        low, high = cast(tuple[float, float], reward_range)
        margin = Decimal(share[1]) * (Decimal(repr(float(high))) - Decimal(repr(float(low)))) / 100
        question = f"{question[: share.start(1)]}{margin}{question[share.end() :]}"
    name = question.partition(":")[0].strip() if isinstance(question, str) else question
    found = registry.find("question", name, QUESTIONS)
    maker = QUESTIONS[str(name)] if found is None else found
    if not isinstance(maker, Question):
        require(callable(maker), f"question {name!r}", "a Question, or a function that makes one", maker)
        parameters = inspect.signature(maker).parameters
        written = getattr(maker, "written", "")
        given = parse_named(question, {str(name): list(parameters)}, "question", written)[1]
        needed = [key for key, each in parameters.items() if each.default is each.empty and key not in given]
        require(
            not needed, "question", f"written {written}" if written else f"given with {', '.join(needed)}", question
        )
        maker = maker(**{key: _read(parameters[key], value) for key, value in given.items()})
    require(isinstance(maker, Question), f"question {name!r}", "a Question, or a function that makes one", maker)
    return maker


def _read(parameter: inspect.Parameter, text: str) -> Any:
    """The value of a parameter: a text where that is meant, which may look like a number."""
    return unescape(text) if parameter.annotation in (str, "str") else number_or_name(text)
