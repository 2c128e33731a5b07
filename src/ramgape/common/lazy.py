"""Names of a package that are imported on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def modules_of(homes: Mapping[str, str]) -> dict[str, str]:
    """The module of each name.

    >>> modules_of({"risks.cvar": "CVaR", "risks.mean_variance": "MeanVariance Variance"})
    {'CVaR': 'risks.cvar', 'MeanVariance': 'risks.mean_variance', 'Variance': 'risks.mean_variance'}
    """
    return {name: module for module, names in homes.items() for name in names.split()}


def importing(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: Its name.
        modules: For each name the module below the package that defines it.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the function of a module
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__
