"""What may be asked for: every bad input is refused in the project's own words, and defaults mean what they say."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import re
import subprocess
import sys
import tomllib
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import (
    InvalidSpec,
    RamgapeError,
    RamgapeWarning,
    UnknownName,
    identify,
    plan,
    policies,
    replicate,
    simulate,
)
from ramgape.assumptions import ASSUMPTIONS
from ramgape.bounds import BOUNDS, resolve_bound
from ramgape.errors import LONGEST_MESSAGE
from ramgape.search.spec import Spec, make_spec
from tests.support import POLICIES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(ramgape.__file__).parent
GAUSSIAN: dict[str, Any] = {"reward_range": None, "assumption": "gaussian"}
BOUNDED = "empirical-bernstein, bets, pairwise, empirical-bernstein-stitched, running, paper, hoeffding"


def spec_of(*, arms: Any = ("a", "b", "c"), **options: Any) -> Spec:
    """A specification with usual options: rewards in [0, 1], epsilon 0.05, unless others are given."""
    return make_spec(arms, **{"reward_range": (0, 1), "epsilon": 0.05, **options})


def never(arm: object) -> float:
    raise AssertionError("a search that cannot be meant must not pull")


# --- what is refused ------------------------------------------------------------------------------

# what is given -> what is wrong, what is allowed, what was given
BAD: list[tuple[dict[str, Any], str, str, str]] = [
    # arms
    *(({"arms": arms}, "arms", "at least two", repr(arms)) for arms in ([], ["one"])),
    ({"arms": {}}, "arms", "at least two", "[]"),
    *(({"arms": arms}, "arms", "a sequence of at least two names", repr(arms)) for arms in ("ab", b"ab", 5, None)),
    ({"arms": ["a", "b", "a"]}, "arms", "names that are all different", "['a']"),
    ({"arms": ["a", 1, "1", 1.0, "1.0"]}, "arms", "names that are all different", "['1', '1.0']"),
    ({"arms": ["a", ""]}, "arms", "non-empty names", "['a', '']"),
    # epsilon, delta
    *(
        ({"epsilon": value}, "epsilon", "a finite number of at least 0, or a pair (mean, risk)", repr(value))
        for value in (-0.1, -5e-324, math.nan, math.inf, -math.inf, True, 0.1j, np.array([0.1]))
    ),
    *(
        ({"epsilon": value}, "epsilon", "a pair (mean, risk) of finite numbers, both above 0 or both 0", repr(value))
        for value in ([], [0.1], (0.1, 0.1, 0.1), (0.1, 0.0), (0.0, 0.1), (0.1, -0.1), (0.1, math.nan), (0.1, math.inf))
    ),
    ({"epsilon": "0.1"}, "epsilon", "a finite number of at least 0, a pair (mean, risk), or a share", "'0.1'"),
    *(({"epsilon": value}, "epsilon", "a pair", repr(value)) for value in (("0.1", 0.1), (True, 0.1), (None, 0.1))),
    ({"epsilon": (1e-200, 1e200)}, "epsilon", "a pair (mean, risk) of comparable size", "(1e-200, 1e+200)"),
    ({"epsilon": None}, "epsilon", "given for a fixed confidence (0 asks for the exact Pareto set)", "or a budget"),
    *(
        ({"delta": value}, "delta", "between 0 and 1, both excluded", repr(value))
        for value in (0, 1, 0.0, 1.0, -0.1, 1.5, math.nan, math.inf, "0.05", True, [0.05])
    ),
    # budget, max_trials, initial_trials
    *(
        ({"budget": value}, "budget", "a whole number of at least 6 (2 trials of each of 3 arms)", repr(value))
        for value in (5, 0, -6, 6.5, math.nan, math.inf, "100", True, [100], 100j)
    ),
    ({"budget": 29, "initial_trials": 10}, "budget", "at least 30 (10 trials of each of 3 arms)", "29"),
    *(
        ({"budget": 100, "delta": delta}, "delta", "not be given together with budget", f"delta {delta!r}")
        for delta in (0.05, 0, "x")
    ),
    *(
        ({"max_trials": value}, "max_trials", "a whole number of at least 6 (2 trials of each of 3 arms)", repr(value))
        for value in (5, 0, -1, 10.5, math.nan, math.inf, "1000", None, True)
    ),
    *(
        ({"initial_trials": value}, "initial_trials", "a whole number of at least 2", repr(value))
        for value in (1, 0, -2, 2.5, math.nan, "2", True)
    ),
    # the risk
    *(
        ({"rho": value}, "rho", "a finite number of at least 0", repr(value))
        for value in (-0.01, math.nan, math.inf, "0.01", True)
    ),
    *(
        ({"alpha": value, "rho": 0.01}, "alpha", "a finite number above 0", repr(value))
        for value in (0, 0.0, -1.0, math.nan, math.inf, "1", True)
    ),
    *(
        ({option: value, **GAUSSIAN}, option, "a finite number above 0", repr(value))
        for option in ("sigma_max", "resolution")
        for value in (0, -1.0, math.nan, math.inf, "1", True)
    ),
    ({"resolution": 0.5}, "resolution", "absent without assumption gaussian", "0.5"),
    # the rewards
    *(
        ({"reward_range": value}, "reward_range", "two finite numbers (low, high) with low < high", repr(value))
        for value in (
            *((1, 0), (1, 1), (0, math.nan), (math.nan, 1), (-1e308, 1e308)),
            *((0,), (0, 1, 2), (), 1, "ab", ("low", "high"), (0, None), ((0, 1), (0, 1))),
        )
    ),
    *(
        (
            {"reward_range": value},
            "reward_range",
            "finite at both ends; for rewards without a range leave it",
            repr(value),
        )
        for value in ((0, math.inf), (-math.inf, 0), (-math.inf, math.inf))
    ),
    ({"reward_range": None, "noise": "bounded"}, "reward_range", "two finite numbers (low, high)", "None"),
    ({"reward_range": (0, 1), "noise": "gaussian"}, "reward_range", "absent with assumption gaussian", "(0, 1)"),
    ({"reward_range": (0, 1), "noise": "any"}, "reward_range", "absent with assumption unknown", "(0, 1)"),
    ({"resolution": 1.0, "reward_range": None}, "resolution", "absent without assumption gaussian", "1.0"),
    # bounds that do not serve
    (
        {"bound": "gaussian-paper"},
        "bound",
        f"one that serves bounded rewards, risk std and a fixed confidence (auto, {BOUNDED})",
        "'gaussian-paper'",
    ),
    *(
        (
            {"bound": bound, "budget": 100},
            "bound",
            "one that serves bounded rewards, risk std and a fixed budget (auto, budget, none)",
            repr(bound),
        )
        for bound in ("paper", "hoeffding", "gaussian-paper")
    ),
    *(
        (
            {"bound": bound, "sigma_max": 1.0, **GAUSSIAN},
            "bound",
            "one that serves gaussian rewards, risk std and a fixed confidence (auto, gaussian, gaussian-pairwise, "
            "gaussian-paper)",
            repr(bound),
        )
        for bound in ("paper", "hoeffding", "budget")
    ),
    ({"bound": "gaussian-paper", **GAUSSIAN}, "sigma_max", "given with bound gaussian-paper", "largest standard"),
    # the constant of a budget
    *(
        (
            {"budget": 100, "policy": "ramgape", "exploration": value},
            "exploration",
            "at least 0, or one of theorem, sharp",
            repr(value),
        )
        for value in (-1.0, math.nan, math.inf, True, [1.0])
    ),
]


@pytest.mark.parametrize(("options", "what", "allowed", "given"), BAD, ids=lambda part: str(part)[:50])
def test_bad_input_is_refused_in_one_form(options: dict[str, Any], what: str, allowed: str, given: str) -> None:
    """What, what is allowed, what was given; through the specification and through the front door."""
    door = {"reward_range": (0, 1), "epsilon": 0.05, **options}
    arms = door.pop("arms", ("a", "b", "c"))
    for ask in (lambda: spec_of(**options), lambda: identify(never, arms, **door)):
        with pytest.raises(InvalidSpec) as caught:
            ask()
        message = str(caught.value)
        assert message.startswith(f"{what} must ")
        assert allowed in message
        assert message.partition(allowed)[2].endswith(given) or given in message.partition(allowed)[2]
        assert isinstance(caught.value, RamgapeError)
        assert isinstance(caught.value, ValueError)
        assert "\n" not in message
        assert len(message) < 300


def test_the_message_about_delta_and_budget_shows_the_way() -> None:
    with pytest.raises(InvalidSpec, match="give max_trials instead of budget"):
        spec_of(budget=100, delta=0.05)


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(InvalidSpec) as caught:
        spec_of(epsilon="x" * 10_000)
    assert len(str(caught.value)) < 250
    assert len(str(InvalidSpec("x" * 10_000))) == LONGEST_MESSAGE  # whoever made it


UNKNOWN = [
    ("policy", "ramgap", "ramgape", {}),
    ("policy", "RAMGapE", None, {}),
    ("policy", "ra_lucb", "ra-lucb", {}),
    ("policy", "roundrobin", "round-robin", {}),
    ("policy", None, None, {}),
    ("policy", ["ramgape"], "ramgape", {}),
    ("bound", "hoefding", "hoeffding", {}),
    ("bound", "papers", "paper", {}),
    ("bound", "gausian", "gaussian", {}),
    ("bound", None, "none", {}),
    ("direction", "maximise", "maximize", {}),
    ("direction", "minimum", "minimize", {}),
    ("direction", 1, None, {}),
    ("assumption", "bernoulli", None, {}),
    ("assumption", "gauss", "gaussian", {}),
    ("assumption", "bound", "bounded", {}),
    ("assumption", 5, None, {}),
    ("exploration", "theorm", "theorem", {"budget": 100, "policy": "ramgape"}),
    ("exploration", "sharper", "sharp", {"budget": 100, "policy": "ramgape"}),
    ("exploration", "", None, {"budget": 100, "policy": "ramgape"}),
    ("returned", "smallest_doubt", "smallest-doubt", {}),
    ("returned", "least", "last", {}),
    ("returned", True, None, {}),
]

CHOICES = {
    "policy": ["auto", *policies.POLICIES, *policies.ALIASES],
    "bound": ["auto", *BOUNDS],
    "direction": ["maximize", "minimize"],
    "assumption": list(ASSUMPTIONS),
    "exploration": ["theorem", "sharp"],
    "returned": ["last", "smallest-doubt"],
}


@pytest.mark.parametrize(("what", "name", "nearest", "options"), UNKNOWN)
def test_unknown_names_are_refused_with_the_nearest(
    what: str, name: Any, nearest: str | None, options: dict[str, Any]
) -> None:
    hint = f"; did you mean {nearest!r}?" if nearest else ""
    expected = f" must be one of {', '.join(CHOICES[what])}, got {name!r}{hint}"
    arguments = {"reward_range": (0, 1), "epsilon": 0.05, **options, what: name}
    for ask in (lambda: spec_of(**options, **{what: name}), lambda: identify(never, ["a", "b", "c"], **arguments)):
        with pytest.raises(UnknownName) as caught:
            ask()
        assert str(caught.value).startswith(what)
        assert str(caught.value).endswith(expected)


@pytest.mark.parametrize(("what", "name"), [(what, name) for what in CHOICES for name in CHOICES[what]])
def test_known_names_are_known(what: str, name: str) -> None:
    options: dict[str, Any] = {}
    if what == "exploration" or name == "budget":
        options = {"budget": 100, "policy": "ramgape"}
    if name == "none" or (name in POLICIES and "confidence" not in POLICIES[name].goals):
        options = {"budget": 100}
    if name in policies.ALIASES or (what == "policy" and name in policies.POLICIES and name not in POLICIES):
        options |= {"task": "best", **({"budget": 100} if name in policies.POLICIES else {})}
    if name in ("gaussian", "gaussian-pairwise", "gaussian-paper"):
        options = {**GAUSSIAN, "sigma_max": 1.0}
    if name == "central-limit-paired":
        options = {"reward_range": None, "seeds": range(100), "question": "best"}
    if name in ("unknown", "central-limit", "central-limit-pairwise"):
        options = {"reward_range": None}
    if name == "heavy":
        options = {"reward_range": None, "assumption": "heavy", "kurtosis": 10}
    if name in ("catoni", "truncated-mean"):
        options = {"reward_range": None, "assumption": "heavy", "sigma_max": 1.0, "task": "best"}
    if name == "pairwise":
        options = {"rho": 0.01}
    if name == "va-lucb":
        options = {"risk": "variance", "task": "best:max-risk=0.05"}
    if name.startswith("items"):
        options = {"items": range(9)}
    spec = spec_of(**{**options, what: name})
    assert getattr(spec, what) == name or name in ("auto", "theorem", "sharp", *policies.ALIASES)


def test_other_doors_check_in_the_same_way() -> None:
    for search in (simulate, lambda instance, **options: replicate(instance, runs=2, **options)):
        with pytest.raises(InvalidSpec, match=r"^delta must be between 0 and 1, both excluded, got 2$"):
            search("paper:46", delta=2, epsilon=0.05)
        with pytest.raises(UnknownName, match="did you mean 'ramgape'"):
            search("paper:46", policy="ramgap", epsilon=0.05)
        with pytest.raises(InvalidSpec, match=r"^seed must be a whole number of at least 0, got -1$"):
            search("paper:46", epsilon=0.05, seed=-1)
    for door in (replicate, plan):
        with pytest.raises(
            InvalidSpec, match=r"^executor must be None, a concurrent.futures.Executor, a dask.distributed.Client"
        ):
            door("paper:46", epsilon=0.05, runs=1, executor=5)  # type: ignore[operator]
    for runs in (0, -1, 2.5, "3", None, True):
        with pytest.raises(InvalidSpec, match=r"^runs must be a whole number of at least 1, got "):
            replicate("paper:46", runs=runs, epsilon=0.05)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [1.5, "1", None, True])
def test_bad_seeds_of_simulations_are_refused(seed: Any) -> None:
    with pytest.raises(InvalidSpec, match=r"^seed must be a whole number of at least 0, got "):
        simulate("paper:46", epsilon=0.05, seed=seed, max_trials=100)


# --- what is accepted -----------------------------------------------------------------------------


def test_defaults() -> None:
    spec = make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.05)
    assert (spec.delta, str(spec.risk), spec.rho, spec.alpha) == (0.05, "std", None, None)
    paper = make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.05, rho=0.01)
    assert (str(paper.risk), paper.rho, paper.alpha) == ("mean-variance:0.01", 0.01, 1.0 / 3.01)
    assert (spec.goal, spec.assumption, spec.direction, spec.policy) == (
        "confidence",
        "bounded",
        "maximize",
        "evidence",
    )
    assert (spec.max_trials, spec.initial_trials, spec.returned) == (10**9, 2, "last")
    assert (spec.budget, spec.exploration, spec.sigma_max, spec.warnings) == (None, None, None, ())
    assert spec.limit == spec.max_trials
    assert spec_of(budget=77).limit == 77


@pytest.mark.parametrize(
    ("noise", "goal", "bound"),
    [
        ("bounded", "confidence", "bets"),
        ("gaussian", "confidence", "gaussian-pairwise"),
        ("bounded", "budget", "budget"),
        ("gaussian", "budget", "budget"),
    ],
)
def test_auto_is_the_bound_we_recommend(noise: str, goal: str, bound: str) -> None:
    options: dict[str, Any] = {} if noise == "bounded" else {**GAUSSIAN, "sigma_max": 1.0}
    if goal == "budget":
        options |= {"budget": 100, "policy": "ramgape"}
    spec = spec_of(**options)
    assert spec.bound == bound == resolve_bound("auto", noise, spec.risk, goal)
    assert spec_of(**options, bound=bound) == spec
    assert noise in BOUNDS[bound].assumptions
    assert goal in BOUNDS[bound].goals


@pytest.mark.parametrize("value", [0.05, np.float32(0.0625), np.float64(0.05), Fraction(1, 20), 0, 1])
def test_numbers_of_any_kind(value: Any) -> None:
    spec = spec_of(**{**GAUSSIAN, "sigma_max": 1}, epsilon=value, rho=value)
    assert (type(spec.epsilon), type(spec.rho), type(spec.sigma_max)) == (float, float, float)
    assert spec.epsilon == spec.rho == float(value)


@pytest.mark.parametrize("value", [100, 1e2, np.int64(100), np.uint8(100), np.float64(100)])
def test_whole_numbers_of_any_kind(value: Any) -> None:
    spec = spec_of(budget=value, max_trials=value, initial_trials=value / 50)
    assert (spec.budget, spec.max_trials, spec.initial_trials) == (100, 100, 2)
    assert {type(spec.budget), type(spec.max_trials), type(spec.initial_trials)} == {int}


@pytest.mark.parametrize("reward_range", [(-5, 15), [-5, 15], np.array([-5, 15]), (Fraction(-5), np.float32(15))])
def test_ranges_of_any_kind(reward_range: Any) -> None:
    spec = spec_of(reward_range=reward_range, epsilon=0.5, rho=2)
    assert spec.reward_range == (-5.0, 15.0)
    assert [type(end) for end in spec.reward_range] == [float, float]
    assert spec.span == 20.0
    assert spec.alpha == 1.0 / (3.0 * 20.0 + 2.0)


def test_names_are_the_texts_of_the_arms() -> None:
    assert spec_of(arms=[1, "b", (2, 3), None]).names == ("1", "b", "(2, 3)", "None")
    assert spec_of(arms=iter("ab")).names == ("a", "b")
    assert len(spec_of(arms=range(5_000)).names) == 5_000


@pytest.mark.parametrize("span", [1.0, 8.0])
def test_exploration_constants(span: float) -> None:
    """Theorem 1: a = (n - 2K) epsilon^2 / (16 K), with epsilon in units of the range; the proof allows 4 K."""
    options: dict[str, Any] = {
        "budget": 1_006, "epsilon": 0.05 * span, "reward_range": (0, span), "policy": "ramgape",
    }  # fmt: skip
    assert spec_of(**options).exploration == pytest.approx(1_000 * 0.05**2 / 48)
    assert spec_of(**options, exploration="theorem") == spec_of(**options)
    assert spec_of(**options, exploration="sharp").exploration == pytest.approx(1_000 * 0.05**2 / 12)
    assert spec_of(**options, exploration=2).exploration == 2.0
    assert spec_of(**{**options, "epsilon": None}, exploration=0).epsilon is None


def test_the_default_under_a_budget_has_no_constants() -> None:
    spec = spec_of(budget=100, epsilon=None)
    assert (spec.policy, spec.bound, spec.exploration, spec.epsilon) == ("evidence", "none", None, None)
    assert spec_of(budget=100, epsilon=None, policy="evidence", bound="none") == spec
    assert spec_of(budget=100, policy="auto").policy == "evidence"
    for exploration in ("theorem", 0.5):
        with pytest.raises(InvalidSpec, match="exploration must be absent for policy evidence, which needs no such"):
            spec_of(budget=100, exploration=exploration)
        with pytest.raises(InvalidSpec, match="exploration must be absent without a budget"):
            spec_of(exploration=exploration)
    with pytest.raises(InvalidSpec, match="bound must be one with intervals for policy ramgape, got 'none'"):
        spec_of(budget=100, policy="ramgape", bound="none")


def test_specifications_are_values() -> None:
    assert spec_of() == spec_of()
    assert hash(spec_of()) == hash(spec_of())
    assert spec_of() != spec_of(epsilon=0.06)


# --- the range of the risk, and the warning -------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-5.0, 15.0), (0.0, 0.25)])
def test_risk_range_is_what_distributions_can_reach(rho: float, low: float, high: float) -> None:
    """On [0, 1] a mean m has any variance up to m (1 - m), and -rho m is added: both ends are attained."""
    span = high - low
    spec = spec_of(reward_range=(low, high), rho=rho * span, epsilon=0.0)
    means = np.linspace(0, 1, 100_001)
    smallest, largest = spec.risk_range
    alpha = 1.0 / (3.0 + rho)
    assert smallest == pytest.approx(alpha * (-rho * means).min(), abs=1e-15)
    assert largest == pytest.approx(alpha * (means * (1 - means) - rho * means).max(), abs=1e-9)
    if rho <= 1.0:
        assert largest - smallest == pytest.approx((1 + rho) ** 2 / (4 * (3 + rho)))
    else:
        assert largest - smallest == pytest.approx(rho / (3 + rho))


@pytest.mark.parametrize("rho", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-5.0, 15.0), (100.0, 100.25)])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_trivial_epsilon_is_warned_of(rho: float, low: float, high: float, direction: str) -> None:
    """Exactly where epsilon exceeds the range of the scaled risk, (1 + rho)^2 / (4 (3 + rho)) times R."""
    span = high - low
    widest = (1 + rho) ** 2 / (4 * (3 + rho)) * span
    options: dict[str, Any] = {"reward_range": (low, high), "rho": rho * span, "direction": direction}
    assert spec_of(**options, epsilon=widest * (1 - 1e-12)).warnings == ()
    assert spec_of(**options, epsilon=0.0).warnings == ()
    (message,) = spec_of(**options, epsilon=widest * (1 + 1e-12)).warnings
    assert message.startswith("epsilon ")
    assert f"({widest:.4g})" in message

    with pytest.warns(RamgapeWarning, match="exceeds the whole possible range of the scaled risk") as caught:
        result = identify(lambda arm: low, ["a", "b"], **options, epsilon=widest * 1.01)
    assert [str(warning.message) for warning in caught] == list(result.warnings)
    assert caught[0].filename == __file__  # the caller's line, not ours


def test_the_warning_at_the_other_doors() -> None:
    with pytest.warns(RamgapeWarning, match=r"epsilon 0\.1 exceeds") as caught:
        result = simulate("paper:46", epsilon=0.1)
    assert len(result.warnings) == 1
    with pytest.warns(RamgapeWarning, match=r"epsilon 0\.1 exceeds") as again:
        replication = replicate("paper:46", epsilon=0.1, runs=2)
    assert replication.warnings == result.warnings
    assert len(again) == 1  # once, not once a run
    assert {caught[0].filename, again[0].filename} == {__file__}


def test_no_warning_without_a_range_or_an_epsilon() -> None:
    assert spec_of(**GAUSSIAN, sigma_max=1.0, epsilon=100.0).warnings == ()
    assert spec_of(budget=100, epsilon=None, policy="ramgape", exploration=1.0).warnings == ()


def test_a_larger_alpha_widens_the_range() -> None:
    assert spec_of(epsilon=0.1, rho=0.01).warnings != ()
    assert spec_of(epsilon=0.1, rho=0.01, alpha=1.0).warnings == ()
    assert spec_of(epsilon=1.01, rho=0.01, alpha=100.0).warnings != ()  # no mean can be ahead by more than the range


# --- the public surface ---------------------------------------------------------------------------


def run_python(program: str, *, source: Path = PACKAGE.parent, **environment: str) -> str:
    """What a program prints in a fresh process that sees the given source folder first."""
    misleading = ("NUMBA_", "PYTEST_", "PYTHON")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(misleading)}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**clean, "PYTHONPATH": str(source), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_public_names_are_sorted_and_there() -> None:
    assert ramgape.__all__ == sorted(ramgape.__all__)
    assert len(set(ramgape.__all__)) == len(ramgape.__all__) <= 40
    for name in ramgape.__all__:
        assert getattr(ramgape, name) is not None
    assert dir(ramgape) == ramgape.__all__
    assert {name for name in vars(ramgape) if not name.startswith("_")} <= {
        *ramgape.__all__,
        *(path.stem for path in PACKAGE.iterdir()),  # submodules, once imported
        *("annotations", "importing", "modules_of", "TYPE_CHECKING", "Any"),
        *ramgape._MODULES,
    }


def test_public_names_are_documented_where_they_live() -> None:
    for name in ramgape._MODULES:
        value = getattr(ramgape, name)
        assert value.__doc__, name
        assert value.__module__.startswith("ramgape."), name


@pytest.mark.parametrize("package", ["errors", "problems", "questions", "risks"])
def test_names_in_packages_of_their_own_are_the_same(package: str) -> None:
    names = [name for name, module in ramgape._MODULES.items() if module == package]
    home = importlib.import_module(f"ramgape.{package}")
    assert len(names) >= 7
    assert all(getattr(home, name) is getattr(ramgape, name) for name in names)
    with pytest.raises(AttributeError, match=f"module 'ramgape.{package}' has no attribute 'Nothing'"):
        _ = home.Nothing


def test_type_checkers_see_what_is_exported() -> None:
    """The names under TYPE_CHECKING are those in `__all__`, and all of them have a module."""
    homes = [name for name in ramgape.__all__ if name != "__version__"]
    assert set(homes) <= set(ramgape._MODULES)
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    for_checkers = text.partition("if TYPE_CHECKING:")[2].partition("__all__")[0]
    for name in homes:
        assert name in for_checkers


def test_star_import_and_unknown_attributes() -> None:
    names: dict[str, Any] = {}
    exec("from ramgape import *", names)
    assert set(ramgape.__all__) <= set(names)
    with pytest.raises(AttributeError, match="module 'ramgape' has no attribute 'identity'"):
        _ = ramgape.identity
    assert not hasattr(ramgape, "numpy")


def test_version_is_the_one_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert ramgape.__version__ == project["version"]


def test_every_error_is_caught_by_one_name() -> None:
    errors = [getattr(ramgape, name) for name in ramgape._MODULES]
    errors = [each for each in errors if isinstance(each, type) and issubclass(each, Exception)]
    assert len(errors) >= 8
    for error in errors:
        assert issubclass(error, RamgapeError) or error is RamgapeWarning
    assert issubclass(RamgapeWarning, UserWarning)
    assert RamgapeError("x").partial_result is None


def test_importing_is_cheap() -> None:
    heavy = {"numpy", "numba", "rich", "typer", "matplotlib", "pandas", "scipy", "llvmlite"}
    program = f"import sys, ramgape; dir(ramgape); ramgape.__all__; print(sorted({heavy} & set(sys.modules)))"
    assert run_python(program) == "[]"


def test_errors_can_be_imported_without_the_compiler() -> None:
    program = "import sys, ramgape; ramgape.InvalidSpec; print('numba' in sys.modules)"
    assert run_python(program) == "False"


def test_messages_agree_with_what_is_accepted() -> None:
    """The smallest values named in messages are accepted."""
    assert spec_of(budget=6).budget == 6
    assert spec_of(max_trials=6).max_trials == 6
    assert spec_of(initial_trials=2).initial_trials == 2
    assert spec_of(epsilon=0, rho=0).rho == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for delta, alpha in itertools.product((5e-324, math.nextafter(1.0, 0.0)), (1e-100, 1e100)):
            spec = spec_of(delta=delta, rho=0.01, alpha=alpha, **GAUSSIAN, sigma_max=1.0)
            assert (spec.delta, spec.alpha) == (delta, alpha)


# --- the odd ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"epsilon": 10**400}, {"rho": 10**400}, {"alpha": Fraction(10**400)}, {"reward_range": (0, 10**400)}],
    ids=lambda options: next(iter(options)),
)
def test_numbers_beyond_all_floats_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidSpec, match=f"^{next(iter(options))} must be "):
        spec_of(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rho": 1e308}, "rho must be at most 1e+100 in size"),
        ({"epsilon": 1e101}, "epsilon must be at most 1e+100 in size"),
        ({"rho": 0.01, "alpha": 1e300}, "alpha must be at most 1e+100 in size"),
        ({"rho": 0.01, "alpha": 5e-324}, "alpha must be at least 1e-100"),
        ({"reward_range": (0, 5e-324)}, "reward_range must be at least 1e-100 wide"),
        ({"reward_range": (0, 1e-90), "rho": 1e90}, "the rho of risk mean-variance must be at most 1e+100 in size"),
        ({"epsilon": (1e100, 1e-100), "rho": 0.01, "alpha": 1e100, "reward_range": (0, 1e100)}, "of comparable"),
    ],
    ids=str,
)
def test_numbers_that_lead_beyond_all_floats_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSpec, match=re.escape(words)):
        spec_of(**options)


@pytest.mark.parametrize("reward_range", ["01", ("0", "1"), (b"0", b"1")])
def test_texts_are_no_ranges(reward_range: Any) -> None:
    with pytest.raises(InvalidSpec, match=r"^reward_range must be two finite numbers"):
        spec_of(reward_range=reward_range)


@pytest.mark.parametrize("what", ["budget", "max_trials", "initial_trials"])
def test_counts_beyond_all_use_are_refused(what: str) -> None:
    with pytest.raises(InvalidSpec, match=rf"^{what} must be at most 9007199254740992, got 1000000"):
        spec_of(**{what: 10**31})


@pytest.mark.parametrize(
    "options", [{"assumption": "gaussian"}, {"reward_range": (0, 2)}], ids=["assumption", "reward_range"]
)
def test_an_instance_knows_its_own_noise(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidSpec, match=f"^{next(iter(options))} must be absent: the instance knows its own, got "):
        ramgape.simulate("paper:1", **options)


@pytest.mark.parametrize("policy", [["ramgape"], {}, None, 3])
def test_what_is_no_name_of_a_policy(policy: Any) -> None:
    with pytest.raises(UnknownName, match=r"^policy must be one of auto, "):
        spec_of(policy=policy)
