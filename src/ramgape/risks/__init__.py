"""The risk measures. Each is a module with a `Measure` and its kernels; `RISKS` in table.py is the only list."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ramgape import registry
from ramgape.common.lazy import importing
from ramgape.errors import require
from ramgape.risks.table import RISKS, risk_notation

if TYPE_CHECKING:
    from ramgape.risks.measure import Measure

_load = importing(__name__, {"Measure": "measure"} | {row.measure: row.module for row in RISKS.values()})


def __getattr__(name: str) -> Any:
    return _load(name)


def risk_module(name: str) -> ModuleType:
    """The module that implements a risk."""
    return importlib.import_module(f"ramgape.risks.{RISKS[name].module}")


def make_risk(risk: Any) -> Measure:
    """The measure that is meant: one as such, or by name, `cvar:0.1` say; without a number it has its usual one.

    >>> make_risk("cvar:0.1"), make_risk("cvar:level=0.1")
    (CVaR(level=0.1), CVaR(level=0.1))
    >>> make_risk("variance")
    Variance()
    """
    from ramgape.risks.measure import Measure

    if isinstance(risk, Measure):
        return risk
    allowed = f"a measure such as ramgape.CVaR(level=0.1), or one of {', '.join(map(risk_notation, RISKS))}"
    require(isinstance(risk, str), "risk", allowed, risk)
    return measure_class(risk.partition(":")[0].strip()).parse(risk)


def measure_class(name: object) -> type[Measure]:
    """What makes the measures of a name, built in or registered."""
    from ramgape.risks.measure import Measure

    found: Any = registry.find("risk", name, RISKS)
    if found is None:
        found = getattr(risk_module(str(name)), RISKS[str(name)].measure)
    sound = isinstance(found, type) and issubclass(found, Measure) and found.name == name
    require(sound, f"risk {name!r}", "a subclass of ramgape.Measure of the same name", found)
    return found  # type: ignore[no-any-return]


def measure_to_dict(measure: Measure) -> dict[str, Any]:
    """A measure as plain data, exactly."""
    return {"name": measure.name, **measure.parameters}


def measure_from_dict(description: dict[str, Any]) -> Measure:
    """The measure that `measure_to_dict` described.

    >>> from ramgape import CVaR
    >>> measure_from_dict(measure_to_dict(CVaR(level=1 / 3))) == CVaR(level=1 / 3)
    True
    """
    parameters = dict(description)
    return measure_class(parameters.pop("name"))(**parameters)
