"""What a parameter of a public call can be given: by its name, values that are good, bad or odd.

A bad one must be refused, whatever stands beside it. A good one is no error by itself, and an odd one may be either.
Calls are cheap whatever is drawn: a number of pulls or runs is small, or else it is refused.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import ramgape
from ramgape.bounds import BOUNDS
from ramgape.policies import POLICIES

Verdict = Literal["good", "bad", "odd"]


class Kind(NamedTuple):
    """The values of a parameter, by what must become of them."""

    good: tuple[Any, ...]
    bad: tuple[Any, ...] = ()
    odd: tuple[Any, ...] = ()


class Drawn(NamedTuple):
    """A value, and what must become of it."""

    value: Any
    verdict: Verdict


class Fresh(NamedTuple):
    """What is used up by a call, and made for each; shown as the text."""

    text: str
    make: Callable[[], Any]


class Boom(Exception):
    """What a function of the user raises: it is nobody's business but the user's."""


def boom(*_: Any) -> float:
    raise Boom


def coin(arm: Any, rng: np.random.Generator) -> float:
    return float(rng.random() < 0.3 + 0.4 * (len(str(arm)) % 2))


def steady(_: Any) -> float:
    return 0.5


def takes_anything(*_: Any) -> None:
    return None


def takes_nothing() -> float:
    return 0.5


def takes_three(first: Any, second: Any, third: Any) -> float:
    return 0.5


def returns(value: Any) -> Any:
    def pull(arm: Any) -> Any:
        return value

    pull.__qualname__ = f"returns({value!r})"
    return pull


LONG = "x" * 100_000
MARKUP = "[bold red]a[/] <b>&amp;</b> {0} %s `$(x)`"
CONTROL = "a\x1b[2J\x07\r\nb\x00\u202e\u200b"
HALF = "half \ud83d of a character"
DIGITS = "\N{ARABIC-INDIC DIGIT ONE}\N{ARABIC-INDIC DIGIT TWO}"
TEXTS = ("", " ", "x", "1_5", DIGITS, "-1", "NaN", "1e999", LONG, MARKUP, CONTROL, HALF, "--json", "../..", "\n")
ANYTHING = (
    *(None, True, False, 0, 1, -1, 1.5, 10**400, math.nan, math.inf, -math.inf, 5e-324, 1e308, 1j, b"1"),
    *(Decimal("0.5"), Fraction(1, 3), np.float32(0.5), np.int8(3), np.array([0.5]), np.array(1.0), [], {}, (), [[]]),
    *(object(), int, print, range(3), {"arm": "a"}, *TEXTS),
)

NO_NUMBERS = (math.nan, True, "0.1", "x", "", b"1", 1j, [], {}, object(), int, Decimal("NaN"), np.array([0.5, 0.5]))
NO_FLOATS = (*NO_NUMBERS, 10**400, -(10**400))
NO_COUNTS = (*NO_NUMBERS, -1, 1.5, 2**60, 10**400, 1e300, math.inf, -math.inf, np.float64(2.5), None)
NO_NAMES = ("nope", "", 5, 0.5, True, [], {}, b"ramgape", object(), LONG, CONTROL, HALF)
NO_FUNCTIONS = (5, "coin", [], 0.5)
NO_ITERABLES = (5, 0.5, True, object(), int, math.nan)
NO_TEXTS = ("", "  ", "x" * 201, "a\nb", "a\x00b", "\x1b[1m", HALF, 5, b"w", [], True)


def count(*good: Any, odd: tuple[Any, ...] = (), none: bool = False, least: int = 0) -> Kind:
    """A whole number; None means something only where it is the default."""
    small = (0,) if least else ()
    bad = tuple(value for value in NO_COUNTS if not (none and value is None))
    return Kind(good, bad + small, odd)


BETA = {"name": "a", "distribution": "beta", "a": 2, "b": 3}
COIN = {"name": "bb", "distribution": "bernoulli", "p": 0.7}
DATA = {"name": "c", "distribution": "data", "values": [0.1, 0.4, 0.3]}
INSTANCE = {"reward_range": [0, 1], "arms": [BETA, COIN, DATA]}
NO_INSTANCES = (
    *(5, None, [], {}, "", "paper:0", "paper:51", "papr:1", "nope", LONG, CONTROL, HALF, b"paper:1", "missing.json"),
    *("folder", "text.txt", Path("missing.json"), Path("folder"), Path("broken.json"), "broken.json", "fifo"),
    *({**INSTANCE, "arms": 5}, {**INSTANCE, "arms": [BETA]}, {**INSTANCE, "reward_range": [0.5, 1]}, "bytes.bin"),
    *({**INSTANCE, "reward_range": [math.nan, 1]}, {**INSTANCE, "noise": "gaussian"}, {**INSTANCE, "more": 1}),
    *({**INSTANCE, "arms": [{**BETA, "a": "2"}, COIN]}, {**INSTANCE, "arms": [{**BETA, "name": CONTROL}, COIN]}),
)
ROWS = [("a", 0.2), ("bb", 0.9), ("a", 0.4), ("bb", 0.7), ("a", 0.3), ("bb", 0.8)]
NO_ROWS = (*NO_ITERABLES, "ab", b"ab", [1], ["ab"], [("a",)], [("a", 1, 2)], [("a", "0.5")], [("a", math.nan)])
STORES = ("sqlite:///studies.db", "sqlite:///studies.db?timeout=1")
NO_STORES = (
    *("", "studies.db", "mysql://me:secret@host/x", "sqlite://studies.db", "sqlite:///", "sqlite:///:memory:", 5, b"x"),
    *("sqlite:///folder", "sqlite:///fifo", "sqlite:////dev/full", "sqlite:///text.txt", "sqlite:///bytes.bin"),
    *("sqlite:///studies.db?timeout=nan", "sqlite:///studies.db?mode=ro", "sqlite:///missing/x.db", "sqlite:///a\x00b"),
    *(f"sqlite:///{LONG}", "postgresql://me@%zz/x", "postgresql://me:secret@127.0.0.1:1/x?timeout=0", []),
)
FILES = ("good.csv", "good.jsonl")
NO_FILES = (
    *("folder", "missing.csv", "", "a\x00b", "x" * 300, "fifo", "bytes.bin", "broken.csv", "broken.jsonl", 5, None),
    *("/dev/zero", "missing/x.csv", [], 0.5, True, b"good.csv"),
)
NO_TARGETS = ("folder", "missing/x.csv", "", "a\x00b", "x" * 300, 5, None, [], 0.5, True)

# fmt: off
KINDS: Mapping[str, Kind] = {
    "epsilon": Kind(
        (0.3, 0.5, 0, (0.4, 0.4), np.float32(0.25), Fraction(1, 3), [0.2, 0.1]),
        (*NO_FLOATS, math.inf, -0.1, (0.1,), (0.1, 0.1, 0.1), (0.1, math.nan), (0.1, -1), (0, 0.1), (0.1, True),
         ("a", "b")),
        (None, 1e-300, 5e-324, 1e100, 1e308, -0.0, (1e-300, 1e300), (1e300, 1e-300), np.array(0.3)),
    ),
    "delta": Kind((0.05, 0.5, 0.2), (*NO_FLOATS, 0, 1, -1, 2, math.inf), (None, 1e-300, 5e-324, 1 - 1e-16)),
    "budget": count(20, 40.0, np.int64(30), none=True, least=1, odd=(None, 1, 3, 500)),
    "max_trials": count(100, 500, 1e3, none=True, least=1, odd=(None, 1, 3, 20)),
    "initial_trials": count(2, 3, 5.0, least=1, odd=(1, 10**6, 2**53)),
    "seed": count(0, 7, 2**40, 3.0, none=True, odd=(None, 2**53)),
    "runs": count(1, 2, 3.0, least=1),
    "next_pulls": count(0, 1, 10, odd=(10_001,)),
    "retries": count(0, 1, 3, 2.0, odd=(10**9, 2**53)),
    "count": count(1, 2, 3.0, least=1, odd=(100, 100_001)),
    "workers": count(1, 2, least=1),
    "slots": count(none=True, least=1, odd=(None, 1, 3)),
    "risk": Kind(
        (None, "cvar:0.2", "variance", "entropic:2", ramgape.CVaR(0.3), ramgape.Entropic(1.0), ramgape.Variance(),
         ramgape.Semivariance(0.5), ramgape.MeanVariance(0.1), "semivariance:0.5", "mean-variance:2", "std",
         ramgape.Spectral({0.1: 0.5, 0.5: 0.5}), "spectral:0.1=1", ramgape.EVaR(0.2)),
        (*("cvar:", "cvar:2", "cvar:nan", "cvar:0", "nope:1", 5, "", "variance:1", ramgape.CVaR, "cvar:0.1:2", [],
         b"x"), True, object(), LONG, CONTROL, HALF, "entropic:-1", "entropic:inf", "semivariance:1e999",
         "spectral:", "spectral:0.1=0.3", "spectral:0.1=0.5,0.1=0.5", "spectral:0.1=nan", ramgape.Spectral,
         "evar:0", "evar:nan"),
        ("cvar", "cvar:1e-300", "entropic:1e100", "entropic:1e-100", ramgape.Semivariance(-1e100),
         "mean-variance:1e99", "semivariance:1e100", "CVaR:0.1", " cvar:0.1", f"cvar:{DIGITS}", "cvar:0_1",
         ramgape.MeanVariance(1e100)),
    ),
    "rho": Kind((0, 0.01, 5.0), (*NO_FLOATS, -1, math.inf), (None, 1e100, 1e308, 5e-324)),
    "max_risk": Kind((0.1, 5, -1.0), (*NO_NUMBERS, 10**400), (None, 1e308, math.inf, -math.inf)),
    "alpha": Kind((1, 0.2), (*NO_FLOATS, 0, -1, math.inf), (None, 1e100, 1e300, 5e-324, 1e-300)),
    "reward_range": Kind(
        ((0, 1), (-1, 1), [0.0, 1.0], (0, Fraction(3, 2)), np.array([0.0, 1.0])),
        (*NO_ITERABLES, (1, 0), (0, 0), (0, math.nan), (-math.inf, math.inf), (0,), (0, 1, 2), "01", ("0", "1"),
         (0, True)),
        (None, (-1e100, 1e100), (0, 5e-324), (1e16, 1e16 + 2), (0, 1e-100), (-1e308, 1e308), {0, 1}),
    ),
    "noise": Kind(
        (None, "bounded", "gaussian", "gaussian:resolution=0.01", "heavy:kurtosis=9"),
        ("gaussian:", "bounded:1", "gaussian:x=1", "Gaussian", "", 5, [], True, b"gaussian", HALF),
    ),
    "policy": Kind(("auto", *POLICIES), (*NO_NAMES, None, "RAMGAPE", " ramgape")),
    "bound": Kind(("auto", *BOUNDS), (*NO_NAMES, None)),
    "direction": Kind(("maximize", "minimize"), (*NO_NAMES, None, "max")),
    "task": Kind(("pareto",), (*NO_NAMES, None, "best", "pareto:1")),
    "search": Kind(
        (None, ramgape.Search(), ramgape.Search(bound="auto", max_trials=500)),
        (5, "egp", [], True, ramgape.Search, ramgape.Trials(), ramgape.Search(policy="no"), ramgape.Search(alarm=1)),
        (ramgape.Search(policy="evidence"), ramgape.Search(initial_trials=3)),
    ),
    "trials": Kind(
        (None, ramgape.Trials()),
        (5, "x", [], True, ramgape.Trials, ramgape.Search(), ramgape.Trials(failure="nope"), ramgape.Trials(rate=1)),
        (ramgape.Trials(retries=1), ramgape.Trials(failure="worst"), ramgape.Trials(timeout=1)),
    ),
    "items": Kind((None,), (5, "x", [], True, 0.5)),
    "price": Kind(
        (None, 2, 0.5), (-1, 0, "x", [], True, math.nan, math.inf, {"no": 1}), ({"a": 1, "bb": 2}, "told", 1e-100)
    ),
    "spend": Kind((None,), (*NO_FLOATS, 0, -1, math.inf), (3, 50, 1e3)),
    "expected_arms": count(none=True, least=1, odd=(None, 1, 3, 4, 2**40)),
    "returned": Kind(("last", "smallest-doubt"), (*NO_NAMES, None)),
    "exploration": Kind(
        (None, "theorem", "sharp", 0.5),
        (math.nan, True, -1, [], "x", b"1", 10**400, math.inf),
        (1e300,),
    ),
    "sigma_max": Kind((None, 1.0, 2), (*NO_FLOATS, 0, -1, math.inf), (1e-100, 1e100, 1e308)),
    "kurtosis": Kind((None,), (*NO_FLOATS, 0.5, -1, math.inf), (1.0, 9, 1e100, 1e308)),
    "cv": Kind((None,), (*NO_FLOATS, 0, -1, math.inf), (1.0, 1e-100, 1e100, 1e308)),
    "resolution": Kind((None, 0.01), (*NO_FLOATS, -1, math.inf), (0, 1e-300, 1e300)),
    "arms": Kind(
        (["a", "bb"], ("a", "bb", "c"), range(3), Fresh("(generator)", lambda: (str(n) for n in range(2))),
         {"a": 1, "bb": 2}),
        (*NO_ITERABLES, "ab", b"ab", ["a"], [], ["a", "a"], [1, "1"], ["", "b"], {"a"}),
        (None, [None, "x"], ["a", MARKUP], ["a", CONTROL], ["a", HALF], ["a", LONG], [[1], [2]], [True, False],
         ["a", " "]),
    ),
    "pull": Kind(
        (coin, steady, returns(1), returns(True), returns(np.float32(0.25)), returns(Fraction(1, 2))),
        (*NO_FUNCTIONS, *map(returns, (math.nan, math.inf, "0.5", None, 1j, [0.5], b"1", 10**400, 1e200, object()))),
        (boom, takes_nothing, takes_three, returns(5)),
    ),
    "callback": Kind((None, takes_anything), NO_FUNCTIONS, (boom, takes_nothing)),
    "executor": Kind((None,), (5, "x", object(), True)),
    "keep": Kind((None,), (5, "", b"x", True, "x" * 300)),
    "instance": Kind(("paper:46", INSTANCE, "mine.json", Path("mine.json"), "paper-gaussian:3"), NO_INSTANCES),
    "source": Kind(("paper:46", INSTANCE, "mine.json", Path("mine.json"), "random-beta:2"), NO_INSTANCES),
    "epsilons": Kind((None, [0.5], (0.3, 0.5)), (*NO_ITERABLES, "0.1", [math.nan], [-1], ["0.1"], [True], [[]]), ([],)),
    "deltas": Kind(
        (None, [0.2], (0.1, 0.3)),
        (*NO_ITERABLES, "0.1", [math.nan], [-1], [1], ["0.1"], [True], [None]),
        ([],),
    ),
    "budgets": Kind((None, [20], (20, 40)), (*NO_ITERABLES, "20", [math.nan], [-1], ["20"], [True], [0], [2.5]), ([],)),
    "rows": Kind(
        (ROWS, Fresh("(generator)", lambda: iter(ROWS)), [list(row) for row in ROWS],
         np.array([[0, 0.5], [1, 0.25]] * 3)),
        (*NO_ROWS, [("a", True), ("a", 1j)], [("", 0.5), ("a", 0.5)], [*ROWS, ("a", 1e200)], [*ROWS, ("a", 1j)]),
        ([], ROWS[::2], [*ROWS, ("c", None)], [*ROWS, (HALF, 0.5)], [*ROWS, (CONTROL, 0.5)], [*ROWS, ("a", 5)],
         {"a1": 1}, [*ROWS, (1, 0)]),
    ),
    "skip_empty": Kind((False, True)),
    "na": Kind((None, "drop", "NA,null", {"NA"}, ()), (5, True, b"NA", [None], [0.5])),
    "exclude": Kind((None, ()), (5, b"a", ["nobody"], CONTROL), ("a", ["a", "b"])),
    "only": Kind((None, ()), (5, b"a", ["nobody"], CONTROL), ("a", ["a", "b"])),
    "min_rows": Kind((None, 1), (*NO_FLOATS, 0, -1, 2.5, 10**6), (2, 5)),
    "name": Kind(("models", "done", "new", "gauss", MARKUP), (*NO_TEXTS, None)),
    "storage": Kind(STORES, NO_STORES, (None, "sqlite:///new.db")),
    "exist_ok": Kind((False, True)),
    "failures": Kind((False, True), (None, 0, "no")),
    "checkpoints": Kind((None, 2, 5, [10, 20]), (0, 1, -3, 2.5, "20", [], [5, 5], [0], [1.5], True)),
    "data": Kind(
        (None, ROWS, [{"arm": "a", "reward": 0.5}], Fresh("(generator)", lambda: iter(ROWS))),
        (*NO_ROWS, [{"arm": "a"}], [("nobody", 0.5)], [*ROWS, ("a", 1e200)], [("a", None)], [{"reward": 1}]),
        ([], [("a", 5)], {}, [(None, 1)]),
    ),
    "failure": Kind(("retry", "worst"), (*NO_NAMES, None)),
    "expired": Kind(("retry", "fail"), (*NO_NAMES, None)),
    "in_order": Kind((False, True), ("no", "", 5, None, [], 0.5)),
    "interleave": Kind((False, True), ("no", "", 5, None, [], 0.5)),
    "progress": Kind((False,)),
    "lease": Kind(
        (None, 60, 0.5, Fraction(1, 2), 1e9),
        (*NO_FLOATS, 0, -1, -math.inf, math.inf),
        (1e-300, 1e300, 1e308),
    ),
    "worker": Kind((None, "w", MARKUP), NO_TEXTS),
    "reason": Kind(("", "it rains", MARKUP, CONTROL, HALF, LONG), (5, b"x", [], True, None)),
    "reward": Kind(
        (0, 0.5, 1, True, np.float32(0.5), Fraction(1, 2), Decimal("0.5")),
        (math.nan, math.inf, "0.5", "", None, 1j, [0.5], b"1", 10**400, 1e200, object(), {}, np.array([0.5, 0.5]),
         "1_5"),
        (5, -1, -0.0, 5e-324, np.array(0.5), np.array([0.5])),
    ),
    "arm": Kind(("a", "bb"), ("nobody", "", 5, None, [], b"a", True, LONG, CONTROL, HALF)),
    "path": Kind(
        (*FILES, Path("good.csv")),
        NO_FILES,
        (Fresh("(stream)", lambda: io.StringIO("arm,reward\na,0.5\n")),),
    ),
    "arm_column": Kind(("arm",), ("nobody", "", 5, None, [], LONG, CONTROL, HALF)),
    "reward_column": Kind(("reward",), ("nobody", "", 5, None, [], LONG, CONTROL, HALF), ("arm",)),
    "ended": Kind(("open", "interrupted"), ("nope", "", 5, None, [])),
    "indent": Kind((None, 2, 0, "\t")),  # Python's own, for Python to check
    "axes": Kind((None,), (5, "x")),
    "plane": Kind((True, False), (5, "x", None)),
    "arm_index": Kind((0, 1), (-1, 99, 1.5, "0", None, True, math.nan, 10**400, [])),
    "generator": Kind(
        (Fresh("(generator)", lambda: np.random.default_rng(1)),),
        (None, 5, np.random, random.Random(1)),
    ),
    "measure": Kind((ramgape.CVaR(0.5), ramgape.Variance()), (None, 5, "cvar:0.5", ramgape.CVaR)),
    "distribution": Kind((ramgape.Beta(2, 3), ramgape.Uniform(0, 1)), (None, 5, "beta", ramgape.Beta, {})),
    "target": Kind((0, 0.5, -2.0), (*NO_FLOATS, math.inf, None), (1e100, 1e-100, 1e308)),
    "gamma": Kind((1, 0.5), (*NO_FLOATS, 0, -1, math.inf, None), (1e100, 1e-100, 5e-324)),
    "level": Kind((1, 0.5, 0.1), (*NO_FLOATS, 0, -1, 2, math.inf, None), (1e-100, 5e-324)),
    "p": Kind((0, 0.5, 1), (*NO_FLOATS, -0.1, 1.1, math.inf, None), (5e-324,)),
    "a": Kind((1, 0.5, 20), (*NO_FLOATS, 0, -1, math.inf, None), (1e-100, 1e100, 1e308, 5e-324)),
    "b": Kind((1, 0.5, 20), (*NO_FLOATS, 0, -1, math.inf, None), (1e-100, 1e100, 1e308, 5e-324)),
    "low": Kind((0, -1, 0.25), (*NO_FLOATS, math.inf, -math.inf, None), (1, 2, 1e100, -1e100, 1e308)),
    "high": Kind((1, 2, 0.5), (*NO_FLOATS, math.inf, -math.inf, None), (0, -1, 1e100, -1e100, 1e308)),
    "mean": Kind((0, 0.5, -3), (*NO_FLOATS, math.inf, None), (1e100, 1e308, 5e-324)),
    "variance": Kind((1, 0.04), (*NO_FLOATS, 0, -1, math.inf, None), (1e100, 1e-100, 1e308, 5e-324)),
    "values": Kind(
        ([0.1, 0.4], (0.5,), [1, 2, 3], np.array([0.5, 0.25])),
        (*NO_ITERABLES, [], "01", [math.nan], [0.5, "1"], [True], [None], [math.inf], [[0.5]], [1j]),
        ([1e100, -1e100], [0.0] * 1000, [1e-100], {0.5}),
    ),
}
# fmt: on
UNKNOWN = Kind((), (), ANYTHING)


def draw(rng: random.Random, kind: Kind, good: float = 0.6) -> Drawn:
    """One of the values of a kind."""
    verdict: Verdict = "good" if rng.random() < good else rng.choice(("bad", "bad", "odd"))
    values: Iterable[Any] = getattr(kind, verdict)
    if not values:
        verdict, values = next((each, getattr(kind, each)) for each in ("odd", "good", "bad") if getattr(kind, each))
    return Drawn(rng.choice(tuple(values)), verdict)
