"""Names and numbers as text.

Names of arms stay on their line, whatever the user wrote. Numbers never claim more than was proved: intervals are
rounded outwards, tolerances upwards.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import NamedTuple

from ramgape.errors import printable

NAMES_IN_HEADLINE = 12


def plural(count: int, noun: str, several: str = "") -> str:
    """A count and what is counted; `several` is for nouns that take more than an "s".

    >>> plural(1, "pattern"), plural(2000, "trial"), plural(0, "search", "searches")
    ('1 pattern', '2,000 trials', '0 searches')
    """
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def cell_width(text: str) -> int:
    """How many columns of a terminal the text takes: wide letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def pad(text: str, width: int, right: bool = False) -> str:
    """The text filled up with blanks to `width` columns; `right` puts the blanks before it."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def cut(text: str, limit: int) -> str:
    """At most `limit` columns of the text; the middle goes, because long names often differ at the end.

    >>> cut("learning_rate=0.1, momentum=0.9", 20)
    'learning_...ntum=0.9'
    """
    if cell_width(text) <= limit:
        return text
    room = max(limit - 3, 2)
    return f"{_beginning(text, room - room // 2)}...{_beginning(text[::-1], room // 2)[::-1]}"


def _beginning(text: str, limit: int) -> str:
    used = 0
    for position, character in enumerate(text):
        used += _character_width(character)
        if used > limit:
            return text[:position]
    return text


def short_names(names: Iterable[str], limit: int) -> dict[str, str]:
    """What is shown for each name: cut to `limit` columns, and still different for different names.

    Where names cut in the middle are the same, what all of them have goes; where that does not help, they get numbers.

    >>> short_names(["model-with-a-long-name", "model-with-x-long-name"], 14)
    {'model-with-a-long-name': '...ith-a...', 'model-with-x-long-name': '...ith-x...'}
    >>> short_names(["aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaabbbbaaaaaaaaaaaa"], 14)
    {'aaaaaaaaaaaaaaaaaaaaaaaa': 'aaaaa...aaa#1', 'aaaaaaaaaaaabbbbaaaaaaaaaaaa': 'aaaaa...aaa#2'}
    """
    full = {name: printable(name) for name in names}
    shown = {name: cut(text, limit) for name, text in full.items()}
    times = Counter(shown.values())
    if times.total() > len(times):
        long = {name: text for name, text in full.items() if shown[name] != text}
        shorter = _differences(list(long.values()), limit)
        if len({*shorter, *(shown[name] for name in full if name not in long)}) == len(full):
            return shown | dict(zip(long, shorter, strict=True))
    for number, (name, text) in enumerate(full.items(), start=1):
        if times[shown[name]] > 1 and shown[name] != name:
            tail = f"#{number}"
            shown[name] = cut(text, limit - len(tail)) + tail
    return shown


def _differences(texts: Sequence[str], limit: int) -> list[str]:
    """What differs between texts of the same structure, with as much before each difference as there is room for.

    >>> _differences(["depth=3, rate=0.01", "depth=9, rate=0.1"], 12), _differences(["a", "b c"], 12)
    (['...3...0.01', '...9...0.1'], [])
    """
    words = [re.findall(r"\d+(?:\.\d+)?|[^\W\d]+|\W", text) for text in texts]
    if len(set(map(len, words))) != 1:
        return []
    same = [len(set(column)) == 1 for column in zip(*words, strict=True)]
    best, least, most = [], 0, limit
    while least <= most:
        kept = (least + most) // 2
        found = [_collapsed(each, same, kept) for each in words]
        if max(map(cell_width, found)) <= limit:
            best, least = found, kept + 1
        else:
            most = kept - 1
    return best


def _collapsed(words: Sequence[str], same: Sequence[bool], kept: int) -> str:
    """The words that differ; of those before them so many letters, of those after the last one none."""
    parts = []
    for is_same, run in itertools.groupby(zip(words, same, strict=True), key=lambda pair: pair[1]):
        text = "".join(word for word, _ in run)
        parts.append(f"...{text[-kept:] if kept else ''}" if is_same and cell_width(text) > kept + 3 else text)
    if same[-1] and len(parts) > 1 and parts[-1].startswith("..."):
        parts[-1] = "..."
    return "".join(parts)


def list_counts(counts: Mapping[str, int], width: int = 40) -> str:
    """How many of each name, in a sentence; those of which there are none are left out.

    >>> list_counts({"A": 4, "B": 0, "C": 1})
    '4 of A, 1 of C'
    """
    some = {name: count for name, count in counts.items() if count}
    names = short_names(some, width)
    parts = [f"{count:,} of {names[name]}" for name, count in some.items()]
    shown, rest = ", ".join(parts[:NAMES_IN_HEADLINE]), len(parts) - NAMES_IN_HEADLINE
    return f"{shown} and {plural(rest, 'more arm')}" if rest > 0 else shown


def list_names(names: Sequence[str], limit: int = NAMES_IN_HEADLINE) -> str:
    """Names in a sentence; of very many only the first, of very long ones a part.

    >>> list_names(["A", "B", "C", "D"], limit=3)
    'A, B, C and 1 more'
    """
    shown = ", ".join(cut(printable(name), 80) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def exponent(value: float) -> int:
    """The power of ten of a number's first digit."""
    return math.floor(math.log10(abs(value)))


@dataclass(frozen=True, slots=True)
class Digits:
    """How the numbers of one column are written: all to the same place, so that they can be compared."""

    places: int
    scientific: bool
    largest: float = 1e7  # from here on a number of a column without powers of ten has one all the same

    @staticmethod
    def of(estimates: Iterable[float], intervals: Iterable[tuple[float, float]]) -> Digits:
        """Two digits of a typical interval's width are worth showing, but at most seven of a number.

        Large ones that lie close together, such as seconds since 1970, are written out: else they would look the same.
        """
        size = max((abs(value) for value in estimates if math.isfinite(value)), default=1.0) or 1.0
        widths = sorted(high - low for low, high in intervals if 0.0 < high - low < math.inf)
        significant = 3
        if widths:
            typical = widths[(len(widths) - 1) // 2]
            wished = max(exponent(size) - exponent(typical) + 1, 1)
            significant = min(wished, 6)
            if 1e7 <= size < 1e15 and wished > significant:
                places = min(wished, 15) - exponent(size)  # of more than fifteen digits a float knows nothing
                return Digits(max(places, 0), scientific=False, largest=10.0 * size)
        if not 1e-4 <= size < 1e7:
            return Digits(significant, scientific=True)
        return Digits(max(significant - exponent(size), 0), scientific=False)

    def text(self, value: float, rounding: str = ROUND_HALF_EVEN) -> str:
        """One number; a dash where there is none.

        >>> Digits(3, scientific=False).text(-0.00001), Digits(2, scientific=True).text(1234567.8)
        ('0.000', '1.23e+6')
        """
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        if value == 0.0:
            return f"{0:.{0 if self.scientific else self.places}f}"
        scientific = self.scientific or abs(value) >= self.largest
        last = exponent(value) - self.places if scientific else -self.places
        # Twelve digits first, or all that are shown: 0.1 + 0.2 must not be rounded up to 0.301.
        kept = max(12, exponent(value) - last + 2)
        rounded = Decimal(f"{value:.{kept}g}").quantize(Decimal(1).scaleb(last), rounding)
        written = f"{rounded:.{self.places}{'e' if scientific else 'f'}}"
        return written.lstrip("-") if rounded == 0 else written

    def finer(self) -> Digits:
        """The same with one place more."""
        return Digits(self.places + 1, self.scientific, self.largest)

    def interval(self, low: float, high: float) -> tuple[str, str]:
        """Both ends, rounded outwards."""
        return self.text(low, ROUND_FLOOR), self.text(high, ROUND_CEILING)


class Unit(NamedTuple):
    """A unit of time: its name, how many seconds it has, and the decimals that are shown."""

    name: str
    seconds: float
    places: int

    def text(self, seconds: float) -> str:
        """A time without its unit; a dash where there is none."""
        return "-" if math.isnan(seconds) else f"{seconds / self.seconds:.{self.places}f}"


def time_unit(seconds: float) -> Unit:
    """The unit for times of about so many seconds.

    >>> time_unit(0.0238).text(0.0238), time_unit(2.5).text(2.5)
    ('23.8', '2.500')
    """
    return Unit("s", 1.0, 3) if seconds >= 1.0 else Unit("ms", 1e-3, 1)


UNITS = {
    "microsecond": Unit("µs", 1e-6, 1),
    "millisecond": Unit("ms", 1e-3, 1),
    "second": Unit("s", 1.0, 3),
}


def named_unit(name: str | None) -> Unit | None:
    """The unit with a name; None for no name."""
    return None if name is None else UNITS[name]


def plus_minus(ascii_only: bool) -> str:
    """What stands before a standard error."""
    return "+/-" if ascii_only else "±"


def round_up(value: float, significant: int = 3) -> str:
    """A tolerance in few digits that is never smaller than the one proved.

    >>> round_up(0.0123401), round_up(0.05), round_up(0.0), round_up(float("inf"))
    ('0.0124', '0.05', '0', 'inf')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    last = Decimal(1).scaleb(exponent(value) - significant + 1)
    return f"{float(Decimal(f'{value:.12g}').quantize(last, ROUND_CEILING)):.{significant + 1}g}"


def confidence(delta: float) -> str:
    """The probability that goes with a chance of failure, in digits that never say too much.

    >>> confidence(0.05), confidence(1e-9)
    ('0.95', '1 - 1e-09')
    """
    written = f"{1.0 - delta:.6g}"
    return f"1 - {round_up(delta)}" if float(written) > 1.0 - delta or float(written) >= 1.0 else written


def unseen_words(name: str, trials: int, delta: float) -> str:
    """How probable an event may be that none of an arm's trials has shown, which happens with probability delta.

    >>> unseen_words("B", 10, 0.05), unseen_words("C", 2000, 0.05)
    ('an event with probability up to 26% may have gone unseen in the 10 trials of B', \
'an event with probability up to 0.15% may have gone unseen in the 2,000 trials of C')
    """
    most = round_up(-100.0 * math.expm1(math.log(delta) / trials), 2)
    return f"an event with probability up to {most}% may have gone unseen in the {trials:,} trials of {name}"


def share(pulls: int, samples: int) -> str:
    """A part of all pulls in per cent.

    >>> share(1, 8), share(1, 1_000_000), share(0, 10), share(0, 0)
    ('12.5%', '<0.1%', '0.0%', '-')
    """
    if samples == 0:
        return "-"
    return "<0.1%" if 0 < pulls < 0.0005 * samples else f"{100.0 * pulls / samples:.1f}%"
