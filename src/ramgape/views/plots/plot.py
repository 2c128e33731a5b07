"""A finished picture: it shows itself in a notebook, goes into a file, and is matplotlib's to change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ramgape.views.plots import style


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """What `plot()` returns.

    In a notebook it shows itself. Everything that matplotlib can do is done to `axes` and `figure`.

    Attributes:
        axes: Where it is drawn; of several panels the first (`figure.axes` has them all).
    """

    axes: Axes

    @property
    def figure(self) -> Figure:
        """The whole figure, in which there may be more axes."""
        figure = self.axes.figure.figure
        assert isinstance(figure, Figure)
        return figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it into a file.

        Args:
            path: The file; its ending (.png, .svg, .pdf) says in which format.
        """
        style.save(self.figure, path)

    def __repr__(self) -> str:
        """Its size, and what to do with it where it cannot be seen."""
        width, height = self.figure.get_size_inches()
        return f"<Plot, {width:g} x {height:g} inches: .save(path) writes a file, .figure and .axes are matplotlib's>"

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]] | None:
        """The picture for a notebook, sharp on a dense screen; None for axes of pyplot, which shows them itself."""
        if self.figure.canvas.manager is not None:
            return None
        written = BytesIO()
        style.write_png(self.figure, written)
        width, height = self.figure.get_size_inches()
        return written.getvalue(), {"width": round(width * style.SHOWN), "height": round(height * style.SHOWN)}
