"""Expressions of outcomes, `accuracy - 0.1*cost`, read by a small grammar. Nothing in them is ever run as code.

    expression = term {("+" | "-") term}
    term       = factor {"*" factor | "/" number}         at most one of the factors has outcomes in it
    factor     = number | name | "-" factor | "(" expression ")"
    name       = letters, digits, "_" and "." (accuracy, gpu.memory), or any text in double quotes or backticks

So an expression is a sum of outcomes with constant factors, and a constant. Its range follows from those of its
outcomes, and evaluating it cannot divide by zero. Texts come from networks and files: their length, the depth of their
parentheses and the number of outcomes are bounded, and every error names the character at which it was found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, NoReturn

from ramgape.common.checks import LARGEST
from ramgape.errors import InvalidSpec, printable, shorten
from ramgape.registry import names as registered
from ramgape.risks.table import RISKS

LONGEST = 1000  # letters of a text
DEEPEST = 20  # parentheses and signs inside each other
MOST_OUTCOMES = 20  # in an expression
WINDOW = 70  # letters that a line with a caret shows

TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
        | (?P<name>[^\W\d]\w*(?:\.\w+)*)
        | "(?P<quoted>[^"`\x00-\x1f\x7f]+)" | `(?P<ticked>[^"`\x00-\x1f\x7f]+)`
        | (?P<sign><=|>=|[-+*/(),=<>≤≥−])
    )""",
    re.VERBOSE,
)
PLAIN = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
USUAL = {"≤": "<=", "≥": ">=", "−": "-"}  # signs as keyboards have them
END = "the end"


class Token(NamedTuple):
    """A number, a name, a sign or the end of a text, and where it begins."""

    kind: str
    text: str
    place: int


class Reader:
    """The tokens of a text, one after the other.

    Args:
        text: The expression.
        what: What it is, for errors: "objective", say.
    """

    def __init__(self, text: str, what: str) -> None:
        self.text, self.what = text, what
        if len(text) > LONGEST:
            raise InvalidSpec(what=what, allowed=f"at most {LONGEST:,} letters long", given=f"{len(text):,} letters")
        self._tokens: list[Token] = []
        place = 0
        while text[place:].strip():
            found = TOKEN.match(text, place)
            if found is None:
                place += len(text[place:]) - len(text[place:].lstrip())
                self.fail("a name, a number or one of + - * / ( ) , <= >=", place)
            kind = found.lastgroup or ""
            token = USUAL.get(found[kind], found[kind])
            start = found.start(kind) - (kind in ("quoted", "ticked"))
            self._tokens.append(Token("name" if kind in ("quoted", "ticked") else kind, token, start))
            place = found.end()
        self._tokens.append(Token("end", END, len(text.rstrip())))
        self._next = 0

    @cached_property
    def risks(self) -> list[str]:
        """The names of all risks: of those from outside, which are looked up once for a text."""
        return [*RISKS, *registered("risk")]

    @property
    def next(self) -> Token:
        """The next token, which stays."""
        return self._tokens[self._next]

    def after(self, count: int = 1) -> Token:
        """A later token, which stays, too."""
        return self._tokens[min(self._next + count, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token."""
        token = self.next
        self._next += token.kind != "end"
        return token

    def at(self, *signs: str) -> bool:
        """Whether one of some signs is next."""
        return self.next.kind == "sign" and self.next.text in signs

    def skip(self, sign: str) -> bool:
        """Take a sign if it is next; tells whether it was."""
        return self.at(sign) and bool(self.take())

    def expect(self, sign: str) -> None:
        """Take a sign, which must be next."""
        if not self.skip(sign):
            self.fail(f"{sign!r} here")

    def number(self, allowed: str = "a number") -> float:
        """The next token as a number, perhaps with a sign before it."""
        factor = -1.0 if self.skip("-") else 1.0
        if self.next.kind != "number":
            self.fail(allowed)
        token = self.take()
        value = factor * float(token.text)
        if not abs(value) <= LARGEST:
            self.fail(f"a number of at most {LARGEST:g} in size", token.place)
        return value

    def fail(self, allowed: str, place: int | None = None, hint: str = "") -> NoReturn:
        """Complain of what stands at a place, of the next token unless it is said which.

        The message is one line; a note shows the text with a caret below the character.
        """
        place = self.next.place if place is None else place
        length = next((len(each.text) for each in self._tokens if each.place == place), 1)
        found = END if place >= len(self.text.rstrip()) else shorten(self.text[place : place + length])
        error = InvalidSpec(
            what=f"{self.what} {shorten(self.text)}, character {place + 1},",
            verb="have",
            allowed=allowed,
            given=found,
            hint=hint,
        )
        start = max(0, min(place - WINDOW // 2, len(self.text) - WINDOW))
        shown = [printable(letter) for letter in self.text[start : start + WINDOW]]
        error.add_note("  " + "".join(shown) + "\n  " + " " * sum(map(len, shown[: place - start])) + "^")
        raise error


@dataclass(frozen=True, slots=True)
class Expression:
    """A sum of outcomes with constant factors.

    Attributes:
        factors: Pairs of an outcome and its factor, in the order in which they were written; none is 0.
        constant: What is added.
        above: Of the indicator of a comparison the number that must be exceeded; None for the sum itself.
        strict: Of an indicator whether the number itself is not enough.
    """

    factors: tuple[tuple[str, float], ...]
    constant: float = 0.0
    above: float | None = None
    strict: bool = True

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The outcomes in it."""
        return tuple(name for name, _ in self.factors)

    @property
    def alone(self) -> str | None:
        """The outcome that it is, if it is nothing else."""
        is_one = len(self.factors) == 1 and self.factors[0][1] == 1.0 and self.constant == 0.0 and self.above is None
        return self.factors[0][0] if is_one else None

    def __str__(self) -> str:
        """As it is written, in one form for all that mean the same.

        >>> str(read_expression(Reader("2*(accuracy - 0.1*`cost per token`)", "objective")))
        '2*accuracy - 0.2*"cost per token"'
        """
        terms = [(_times(factor, name), factor < 0.0) for name, factor in self.factors]
        if self.constant or not terms:
            terms.append((f"{abs(self.constant):.12g}", self.constant < 0.0))
        text = "".join(f" {'-' if negative else '+'} {term}" for term, negative in terms)
        text = text[3:] if text.startswith(" + ") else f"-{text[3:]}"
        if self.above is None:
            return text
        # An indicator keeps its sum positive in the first outcome, so `latency < 2` is not `-latency > -2`.
        if self.factors[0][1] < 0.0:
            return f"{self.scaled(-1.0)} {'<' if self.strict else '<='} {0.0 - self.above:.12g}"
        return f"{text} {'>' if self.strict else '>='} {self.above:.12g}"

    def scaled(self, factor: float) -> Expression:
        """The sum with all its factors multiplied."""
        return Expression(tuple((name, factor * each) for name, each in self.factors), factor * self.constant + 0.0)

    def value(self, outcomes: Mapping[str, float]) -> float:
        """What it comes to.

        Args:
            outcomes: Those of a trial.

        Examples:
            >>> read_expression(Reader("accuracy - 0.1*cost", "objective")).value({"accuracy": 1, "cost": 2})
            0.8
        """
        if self.alone is not None:
            return outcomes[self.alone]
        total = self.constant
        for name, factor in self.factors:
            total += factor * outcomes[name]
        if self.above is None:
            return total
        return float(total > self.above if self.strict else total >= self.above)

    def range(self, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
        """The least and the greatest that it can be.

        Args:
            ranges: Those of the outcomes.

        Examples:
            >>> read_expression(Reader("1 - 2*cost", "objective")).range({"cost": (0, 0.5)})
            (0.0, 1.0)
        """
        if self.above is not None:
            return 0.0, 1.0
        if self.alone is not None:
            return ranges[self.alone]
        # As `value` adds them up: rounding grows with the terms, so the ends of all terms are added in the same order.
        low = high = self.constant
        for name, factor in self.factors:
            ends = factor * ranges[name][0], factor * ranges[name][1]
            low, high = low + min(ends), high + max(ends)
        return low, high


def _times(factor: float, name: str) -> str:
    shown = name if PLAIN.fullmatch(name) else f'"{name}"'
    return shown if abs(factor) == 1.0 else f"{abs(factor):.12g}*{shown}"


def read_expression(reader: Reader, depth: int = 0) -> Expression:
    """The expression that comes next."""
    found = _read_term(reader, depth)
    while reader.at("+", "-"):
        sign = -1.0 if reader.take().text == "-" else 1.0
        found = _added(reader, found, _read_term(reader, depth).scaled(sign))
    return found


def _read_term(reader: Reader, depth: int) -> Expression:
    found = _read_factor(reader, depth)
    while reader.at("*", "/"):
        sign = reader.take()
        place = reader.next.place
        if sign.text == "/":
            divisor = reader.number("a number after '/': an expression divides by constants only")
            if divisor == 0.0:
                reader.fail("a number other than 0 after '/'", place)
            found = _checked(reader, found.scaled(1.0 / divisor), place)
            continue
        other = _read_factor(reader, depth)
        if found.factors and other.factors:
            reader.fail("a number here: an expression multiplies outcomes by constants only", place)
        factor, sum_ = (found, other) if other.factors else (other, found)
        found = _checked(reader, sum_.scaled(factor.constant), place)
    return found


def _read_factor(reader: Reader, depth: int) -> Expression:
    if depth >= DEEPEST:
        reader.fail(f"at most {DEEPEST} parentheses and signs inside each other")
    if reader.skip("-"):
        return _read_factor(reader, depth + 1).scaled(-1.0)
    if reader.skip("("):
        found = read_expression(reader, depth + 1)
        reader.expect(")")
        return found
    if reader.next.kind == "number":
        return Expression((), reader.number())
    if reader.next.kind != "name":
        reader.fail("an outcome or a number here")
    if reader.after().text == "(" and reader.after().kind == "sign":
        reader.fail("an outcome here: functions of outcomes do not exist inside a statistic")
    return Expression(((reader.take().text, 1.0),))


def _added(reader: Reader, one: Expression, other: Expression) -> Expression:
    factors = dict(one.factors)
    for name, factor in other.factors:
        factors[name] = factors.get(name, 0.0) + factor
    if len(factors) > MOST_OUTCOMES:
        reader.fail(f"at most {MOST_OUTCOMES} outcomes in an expression")
    return _checked(reader, Expression(tuple(factors.items()), one.constant + other.constant), reader.next.place)


def _checked(reader: Reader, found: Expression, place: int) -> Expression:
    """An expression whose factors are numbers that can be used; outcomes with the factor 0 are not in it."""
    if not all(
        math.isfinite(each) and abs(each) <= LARGEST for each in (found.constant, *dict(found.factors).values())
    ):
        reader.fail(f"factors of at most {LARGEST:g} in size", place)
    return Expression(tuple((name, factor) for name, factor in found.factors if factor != 0.0), found.constant)
