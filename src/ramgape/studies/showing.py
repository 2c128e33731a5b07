"""How a study shows itself: as its report does."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ramgape.errors import RamgapeError
from ramgape.studies.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Shown(ABC):
    """What has a report, and shows itself by that."""

    @abstractmethod
    def report(self, *, expect: bool = True, history: bool = False) -> Report:
        """How it is going.

        Args:
            expect: Whether to say how many more pulls are expected.
            history: Whether to say what was known on the way.
        """

    def plot(self, axes: Axes | None = None, *, plane: bool = False) -> Any:
        """The picture of its present result; `Result.plot` says more.

        Args:
            axes: Where to draw; unless given, in a figure of its own.
            plane: Whether to draw the mean-risk plane although there is a control.
        """
        return self.report(expect=False).plot(axes, plane=plane)

    def save_plot(self, path: str | os.PathLike[str]) -> None:
        """Draw its present result into a file.

        Args:
            path: The file; its ending (.png, .svg, .pdf) says in which format.
        """
        self.report(expect=False).save_plot(path)

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write its report as a page: one file that needs no network.

        Args:
            path: The file.
        """
        self.report(history=True).save_html(path)

    def _repr_html_(self) -> str | None:
        """Its report, for a notebook; nothing where it cannot be read, so that one line is shown instead."""
        try:
            return self.report()._repr_html_()
        except RamgapeError:
            return None
