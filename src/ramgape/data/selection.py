"""Which of the arms in the data are asked about, by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ramgape.errors import UnknownName, known_name, require


class Selection:
    """The arms that are left out, or the only ones that are not.

    Args:
        exclude: Names of arms to leave out; one, or several.
        only: Names of the arms to keep, in place of all.

    Attributes:
        rows: How many rows of each arm were left out.
    """

    def __init__(self, exclude: Any = None, only: Any = None) -> None:
        self._exclude, self._only = _names(exclude, "exclude"), _names(only, "only")
        both = [name for name in self._exclude if name in self._only]
        require(not both, "exclude and only", "about different arms", both)
        self.rows: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._exclude or self._only)

    def keeps(self, name: str) -> bool:
        """Whether an arm is asked about."""
        return name not in self._exclude and (not self._only or name in self._only)

    def places_in(self, names: Sequence[str]) -> list[int]:
        """The rows whose arms are asked about; the others are counted."""
        kept = {name: self.keeps(name) for name in set(names)}
        self.rows.update(name for name in names if not kept[name])
        return [place for place, name in enumerate(names) if kept[name]]

    def check(self, names: Iterable[str]) -> None:
        """Complain of names that neither these arms nor those left out have."""
        known = list(dict.fromkeys([*names, *self.rows]))
        for what, asked in (("exclude", self._exclude), ("only", self._only)):
            for name in asked:
                try:
                    known_name(name, known, what)
                except UnknownName as error:
                    if "," in name:
                        error.hint = "; several: in a list, in a command once for each"
                    raise


def _names(given: Any, what: str) -> dict[str, None]:
    """Names of arms, each once, in their order; a text is one of them."""
    names = () if given is None else (given,) if isinstance(given, str) else given
    usable = isinstance(names, Iterable) and not isinstance(names, bytes)
    require(usable, what, "the name of an arm, or several", given)
    return dict.fromkeys(str(name) for name in names)
