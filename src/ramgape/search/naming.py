"""Which arms a result names: the answer that is proved; before that, what the estimates say."""

from __future__ import annotations

import numpy as np

from ramgape.core.comparisons import INSIDE_PROVED
from ramgape.core.pareto import Mask
from ramgape.core.table import Table
from ramgape.policies import rule_of
from ramgape.questions import Boxes
from ramgape.search.engine import Engine


def named_answer(engine: Engine) -> Mask:
    """The arms to name now.

    Where nothing is decided, a rule's present answer may be the one that is nearest to a proof, although other arms
    have a better average. Such an answer steers the search; it is not what people take for the best guess. A rule that
    accepts and dismisses arms has decided, and so has a user who asks for the answer of the round of smallest doubt.
    """
    answer, spec = engine.answer(), engine.spec
    decided = engine.stopped in ("confidence", "complete") or spec.returned == "smallest-doubt"
    if decided or not engine.ready or (rule_of(spec.policy).own_answer and engine.arms["accepted"].any()):
        return answer
    return engine.question.guess(answer, decided_arms(engine), engine.arms["average"], engine.arms["risk"])


def decided_arms(engine: Engine) -> Mask:
    """The arms whose place in the present answer the search has proved up to its tolerance; none under a budget."""
    arms = engine.arms
    if engine.spec.goal == "budget":  # its doubts are expected costs, or go by intervals that only steer
        return np.zeros(len(arms), dtype=bool)
    by_pairs = (arms["blocker"] == INSIDE_PROVED) if engine.unproved is not None else False
    return np.asarray((arms["doubt"] < engine.search["epsilon"][0]) | by_pairs)


def safest_answer(engine: Engine, arms: Table, named: Mask) -> Mask:
    """The rule's present answer, if it is another one and intervals prove more of it; otherwise no arm.

    Args:
        engine: The search.
        arms: Its arms, with boxes that prove something.
        named: The arms that are named.
    """
    answer, boxes = engine.answer(), Boxes(*(arms[side] for side in Boxes._fields))
    if not engine.ready or (answer == named).all():
        return np.zeros(len(named), dtype=bool)
    proved, proved_of_named = (engine.question.tolerances(each, boxes)[0].max() for each in (answer, named))
    return answer & bool(proved < proved_of_named)
