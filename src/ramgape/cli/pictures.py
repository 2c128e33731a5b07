"""Files with figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from ramgape.errors import InvalidSpec, MissingExtra, require, shorten

if TYPE_CHECKING:
    from ramgape.planning.forecast import Plan
    from ramgape.search.result import Result


def check_picture(path: Path, what: str) -> None:
    """Complain about a picture that cannot be written, before anything is computed for it."""
    try:
        there, folder = path.parent.is_dir(), path.is_dir()
    except OSError as error:  # a name that is too long, say
        given, reason = shorten(str(path)), f": {error.strerror}"
        raise InvalidSpec(what=what, allowed="a file", given=given, hint=reason) from None
    require(there, what, "in a folder that exists", str(path))
    require(not folder, what, "a file, not a folder", str(path))
    check_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    allowed = f"a file that ends in one of .{', .'.join(endings)}"
    require(path.suffix.lower().removeprefix(".") in endings, what, allowed, str(path))


def check_matplotlib() -> None:
    """Complain where no picture can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra(what="matplotlib", allowed='installed for pictures: pip install "ramgape[plot]"')


def write_picture(result: Result | Plan, path: Path, what: str) -> None:
    """Draw a result or a plan into a file."""
    try:
        result.save_plot(path)
    except OSError as error:
        given, reason = repr(str(path)), f": {error.strerror or error}"
        raise InvalidSpec(what=what, allowed="a file that can be written", given=given, hint=reason) from None
