"""How everything that comes out explains itself, and goes on as plain data.

`Portable` is what travels: `to_dict`, `to_json`, `from_dict`. `Explained` prints itself as well (`print`, rich, a
notebook), and becomes a data frame and a picture. What is said, which rows and which picture is each class's own.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from ramgape.common.extras import load_extra
from ramgape.common.old_names import ATTRIBUTES, present_value
from ramgape.errors import InvalidData, RamgapeError, require, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from rich.console import RenderableType

    from ramgape.search.result import Result
    from ramgape.views.explanation import Explanation
    from ramgape.views.plots.plot import Plot

SCHEMA_VERSION = 2  # of `to_dict`: raised when a key changes its meaning or goes
# What None stands for, of a number that JSON cannot write; elsewhere NaN.
UNBOUNDED = {"doubt": math.inf, "at_most_behind": math.inf, "low": -math.inf, "high": math.inf}
OLD_NAMES = {"to_frame": "frame", "save_html": "save_report", "explanation": "_explanation"}

Made = TypeVar("Made")


class Portable:
    """What goes on as dictionaries, lists, strings and numbers, and comes back."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, strings and numbers, ready for JSON.

        JSON has neither NaN nor infinity: None stands for an estimate that does not exist and for an end of an
        interval that is not bounded.
        """
        described: dict[str, Any] = jsonable(asdict(self))  # type: ignore[call-overload]
        return described

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON text (ASCII, so that it survives any file encoding).

        Args:
            indent: Blanks by which each level is indented; None for one line.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """What `to_dict` described.

        Args:
            description: The dictionary; further keys are left out.

        Raises:
            InvalidData: Something is missing, or is not what `to_dict` would write.
        """
        allowed = f"what `to_dict` of a {cls.__name__} gives"
        require(isinstance(description, Mapping), "a description", allowed, description, InvalidData)
        try:
            return cls._from(description)
        except RamgapeError:
            raise
        except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
            given = shorten(description)
            raise InvalidData(what="a description", allowed=allowed, given=given, hint=f" ({error})") from None

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Self:
        return restore(cls, description)


class Text(str):
    """Text that shows itself as it is, also where an interpreter shows values."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Explained(Portable, ABC):
    """What prints itself, draws itself, and goes on as plain data or as a data frame."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Names of earlier versions."""
        if name in OLD_NAMES:
            return getattr(self, OLD_NAMES[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _explanation(self, ascii_only: bool = False) -> Explanation:
        """Everything that is shown of it, in a form that each renderer understands.

        Args:
            ascii_only: Whether the output can show ASCII only.
        """
        from ramgape import views

        return views.explain(self, ascii_only)

    @abstractmethod
    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """The rows of the data frame."""

    def plot(self) -> Plot:
        """Draw it; a notebook shows the picture.

        Raises:
            MissingExtra: matplotlib is not installed.
        """
        from ramgape import views

        return views.plot(self)

    def __repr__(self) -> str:
        """One line: the full data of a thousand arms would fill the screen (`to_dict` has them)."""
        return f"<{type(self).__name__}: {self._explanation(ascii_only=True).headlines[0]}>"

    def __str__(self) -> str:
        """All of it as plain text."""
        from ramgape import views

        return views.as_text(self)

    def __rich__(self) -> RenderableType:
        """All of it for a rich console, fitted to the width of the window."""
        from ramgape import views

        return views.as_console(self)

    def _repr_html_(self) -> str:
        """All of it for a notebook."""
        from ramgape import views

        return views.as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """As `Portable.to_dict`; `versions` says what was installed when the dictionary was made."""
        return {"schema_version": SCHEMA_VERSION, "versions": versions(), **Portable.to_dict(self)}

    def frame(self) -> DataFrame:
        """A pandas data frame.

        Raises:
            MissingExtra: pandas is not installed.
        """
        frame: DataFrame = load_extra("pandas", "frame").DataFrame([dict(row) for row in self._rows()])
        return frame

    def save_plot(self, path: str | os.PathLike[str]) -> None:
        """Draw it into a file.

        Args:
            path: The file; its ending (.png, .svg, .pdf) says in which format.
        """
        self.plot().save(path)

    def _page(self) -> str:
        load_extra("matplotlib", "plot")
        from ramgape import views

        return views.document(self, versions())

    def save_report(self, path: str | os.PathLike[str]) -> None:
        """Write a page of its own: all that is said of it and its picture, in one file that needs no network.

        Args:
            path: The file.
        """
        require(isinstance(path, str | os.PathLike), "path", "the path of a file", path)
        from ramgape.common.whole_files import replacing

        text = self._page()
        with replacing(path) as file:
            file.write_text(text, encoding="utf-8")


class Answered(Explained):
    """What prints itself with the answer in a sentence above all else: a result, an analysis, a study's report."""

    __slots__ = ()

    @property
    @abstractmethod
    def _found(self) -> Result:
        """The result that has the answer."""

    @property
    def sentence(self) -> str:
        """The answer in plain words: what to choose, for what, and how sure that is."""
        from ramgape import views

        return views.answer_of(self)

    def explain(self) -> Text:
        """The full guarantee, its levels and assumptions, and which statements hold together, as text."""
        from ramgape import views

        return Text(views.as_text(self, full=True))

    def plot(
        self,
        axes: Axes | None = None,
        *,
        plane: bool = False,
        regions: bool = False,
        reward_name: str = "",
        unit: str = "",
    ) -> Plot:
        """Draw what was compared: a row for each arm, or for trade-offs between two objectives a plane.

        Rows show the difference to the leader or the control with its own 95% interval, or each arm's numbers, and
        where the trials went. The plane has an arrow from each dropped arm to the one that beats it. A notebook shows
        what is returned; `save_plot` writes a file.

        Args:
            axes: Where to draw the first panel alone. Default: a figure of its own.
            plane: Whether to draw the plane in place of rows.
            regions: Whether the plane has the confidence regions of all arms.
            reward_name: What the rewards are, for the axis, such as "accuracy".
            unit: Their unit.
        """
        load_extra("matplotlib", "plot")
        require(axes is None or hasattr(axes, "get_figure"), "axes", "axes of matplotlib, or None", axes)
        for name, value in (("plane", plane), ("regions", regions)):
            require(isinstance(value, bool), name, "True or False", value)
        from ramgape import views

        found = self._found
        if reward_name or unit:
            known = found.details
            named = dataclasses.replace(known, reward_name=reward_name or known.reward_name, unit=unit or known.unit)
            found = dataclasses.replace(found, details=named)
        return views.plot(found, axes=axes, plane=plane, regions=regions)

    def __repr__(self) -> str:
        """One line, which names the answer: a sentence may be long."""
        return f"<{type(self).__name__}: {self._explanation(ascii_only=True).brief}>"


def jsonable(value: Any) -> Any:
    """The value with tuples as lists and None for numbers that JSON cannot write."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def restore(kind: type[Made], description: Mapping[str, Any]) -> Made:
    """A dataclass from the dictionary that describes it; keys that are no fields are left out."""
    hints, arguments = get_type_hints(kind), {}
    description = {**{ATTRIBUTES.get(key, key): value for key, value in description.items()}, **description}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name in description:
            hint, value = hints[field.name], present_value(field.name, description[field.name])
            require(fits_hint(hint, value, in_json=True), field.name, _in_words(hint), value, InvalidData)
            arguments[field.name] = _restored(hint, value, field.name)
        else:
            allowed = f"given, to make a {kind.__name__} of it"
            optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            require(optional, field.name, allowed, list(description), InvalidData)
    return kind(**arguments)


def _restored(hint: Any, value: Any, name: str = "") -> Any:
    """A value of a type, from what `jsonable` made of it."""
    if get_origin(hint) in (Union, UnionType):
        kinds = [kind for kind in get_args(hint) if (get_origin(kind) is tuple) == isinstance(value, (list, tuple))]
        return None if value is None else _restored(kinds[0], value, name)
    if dataclasses.is_dataclass(hint):
        return getattr(hint, "_from", partial(restore, hint))(value)  # type: ignore[arg-type]
    if hint == tuple[float, float]:
        low, high = value
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        each = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        return tuple(map(_restored, each, value))
    if hint is float:
        return UNBOUNDED.get(name, math.nan) if value is None else float(value)
    if get_origin(hint) is dict:
        return {key: _restored(get_args(hint)[1], each) for key, each in value.items()}
    return value


def fits_hint(hint: Any, value: Any, *, in_json: bool = False) -> bool:
    """Whether a value is of a type; of a type that is not plain, every value is.

    Args:
        hint: The type, as a dataclass has it.
        value: The value.
        in_json: It is what JSON has for it: an object for a dataclass, and nothing for a number that is none.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits_hint(kind, value, in_json=in_json) for kind in inner)
    if origin is Literal:
        return isinstance(value, str | int | None) and value in inner
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return False
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return len(kinds) == len(value) and all(
            fits_hint(*pair, in_json=in_json) for pair in zip(kinds, value, strict=True)
        )
    if origin is dict:
        pairs = value.items() if isinstance(value, Mapping) else [(None, None)]
        return all(fits_hint(inner[0], key) and fits_hint(inner[1], each, in_json=in_json) for key, each in pairs)
    if hint is float:
        return (in_json and value is None) or (isinstance(value, int | float) and not isinstance(value, bool))
    if hint in (int, str, bool, NoneType):
        return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    return not in_json or not dataclasses.is_dataclass(hint) or isinstance(value, Mapping)


def _in_words(hint: Any) -> str:
    """What a value of a type is called in an error."""
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "nothing"}
    named = {tuple: "a list", dict: "a mapping", Literal: f"one of {', '.join(map(str, get_args(hint)))}"}
    return words.get(hint) or named.get(get_origin(hint)) or "a mapping"


def check_types(thing: Any) -> None:
    """Complain of a dataclass whose fields are not of the types that it states."""
    hints = get_type_hints(type(thing))
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        require(fits_hint(hints[field.name], value), field.name, _in_words(hints[field.name]), value, InvalidData)


def versions() -> dict[str, str | None]:
    """What a result may depend on; None for what is not installed as a package."""
    import platform
    from importlib import metadata

    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("ramgape", "numpy", "numba"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found
