"""Optional dependencies: there, or an error that says how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from ramgape.errors import MissingExtra


def load_extra(module: str, extra: str) -> Any:
    """An optional dependency, or how to get it. A broken installation keeps its own error."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingExtra(what=module, allowed=f'installed for this: pip install "ramgape[{extra}]"') from None
