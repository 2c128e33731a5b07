"""Results made by hand, for the tests of what they answer and how they look."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ramgape.search.quality import TrialQuality
from ramgape.search.result import OLD_ARM_NAMES, ArmReport, Details, Goal, Result, Verdict

NOT_PULLED: dict[str, Any] = {
    "verdict": "open",
    "certified": False,
    "trials": 0,
    "mean": math.nan,
    "mean_interval": (-math.inf, math.inf),
    "risk": math.nan,
    "risk_interval": (-math.inf, math.inf),
    "variance": math.nan,
    "doubt": math.inf,
}


# Names that mean something where text is put together carelessly: in templates of `re.sub`, HTML, XML, formats, TeX.
HOSTILE = [
    "\\",
    "\\g<9>",
    "\\g<1>",
    "\\1",
    "\\0",
    "C:\\new\\unit",
    "a\\nb",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><script>",
    "]]>",
    "-->",
    "&amp;",
    "&#60;b&#62;",
    "$x_1$",
    "{arm} %s {0}",
    "#ffffff url(#a)",
    'id="x" href="#y"',
]


def make_arm(name: str, mean: float = 0.5, risk: float = 0.1, verdict: Verdict = "in", **others: Any) -> ArmReport:
    """An arm with unremarkable numbers; name what matters."""
    values: dict[str, Any] = {
        "name": name,
        "verdict": verdict,
        "certified": verdict != "open",
        "certificate": "none" if verdict == "open" else verdict,
        "beaten_by": None,
        "trials": 100,
        "mean": mean,
        "mean_interval": (mean - 0.05, mean + 0.05),
        "risk": risk,
        "risk_interval": (risk - 0.02, risk + 0.02),
        "variance": 0.04,
        "doubt": 0.01,
    }
    values |= {OLD_ARM_NAMES.get(key, key): value for key, value in others.items()}
    shown = {"std": math.sqrt(values["variance"]), "risk_shown": values["risk"]}
    return ArmReport(**{**shown, "risk_shown_interval": values["risk_interval"], **values})


def make_result(*arms: ArmReport, **others: Any) -> Result:
    """A result of these arms, or of three; those with verdict "in" are returned."""
    arms = arms or (
        make_arm("A", 0.4, 0.05, variance=0.01),
        make_arm("B", 0.3, 0.20, "out", beaten_by="A", trials=50),
        make_arm("C", 0.7, 0.15, variance=0.09, trials=250),
    )
    values: dict[str, Any] = {
        "arms": arms,
        "answer": tuple(arm.name for arm in arms if arm.verdict == "in"),
        "stopped": "confidence",
        "goal_reached": True,
        "guarantee": "no returned arm is dominated by 0.05 or more, with probability 0.95",
        "certified_epsilon": 0.041234,
        "certified_delta": 0.05,
        "trials": sum(arm.trials for arm in arms),
        "goal": Goal("confidence", epsilon=0.05, delta=0.05, budget=None),
        "risk": "mean-variance:1",
        "risk_formula": "variance - 1 mean",
        "rho": 1.0,
        "alpha": 0.25,
        "noise": "bounded",
        "reward_range": (0.0, 1.0),
        "direction": "maximize",
        "policy": "ramgape",
        "bound": "hoeffding",
        "interval_bound": "hoeffding",
        "seed": 7,
    }
    renamed = {"front": "answer", "samples": "trials", "question": "sought"}
    values |= {renamed.get(key, key): value for key, value in others.items()}
    if "alarms" in values:
        values["quality"] = replace(values.get("quality", TrialQuality()), drift=values.pop("alarms"))
    further = {name: values.pop(name) for name in list(values) if name in Details.__dataclass_fields__}
    return Result(details=Details(**further), **values)
