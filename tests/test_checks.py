"""The checks that we ship pass what we have, and find what is broken."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.bounds import BOUNDED, BOUNDS, Bound, Terms
from ramgape.core.doubt import follow
from ramgape.core.kernel import kernel
from ramgape.extend import Format, Record, check_bound, check_policy, check_question, check_reader, check_risk
from ramgape.questions import Pareto
from ramgape.risks import make_risk
from ramgape.risks.table import MEANS
from tests.cli_support import call, call_json
from tests.support import POLICIES

USUAL = ("ramgape", "evidence", "ra-lucb", "round-robin")


@pytest.mark.parametrize(
    "policy", [pytest.param(name, marks=[] if name in USUAL else [pytest.mark.long]) for name in POLICIES]
)
def test_our_policies_pass(policy: str) -> None:
    """But for those that were not made for stopping, which may take too long even where it is easy."""
    never = {"xi-lcb", "hvi-pareto", "egp", "lie-round-robin"}
    check_policy(policy, [goal for goal in POLICIES[policy].goals if not (goal == "confidence" and policy in never)])


def test_a_policy_that_is_none_is_found() -> None:
    calls = iter(range(10**9))
    for broken in (lambda state: 0, lambda state: next(calls) % 2):
        with pytest.raises(AssertionError):
            check_policy(broken, ["confidence"])
    with pytest.raises(ramgape.InvalidSpec, match="an arm's number"):
        check_policy(lambda state: len(state.pulls))


@pytest.mark.parametrize(
    "risk", ["std", "mean-variance:0.5", "variance", "semivariance:0.6", "entropic:2", "cvar:0.2"], ids=str
)
def test_our_risks_pass(risk: str) -> None:
    check_risk(make_risk(risk))


@dataclass(frozen=True)
class Wrong(ramgape.Semivariance):
    """What its truth says is half of what its kernels do."""

    name = "wrong"

    def value_in(self, rewards: Any) -> float:
        return 0.5 * super().value_in(rewards)


@dataclass(frozen=True)
class Stuck(ramgape.Semivariance):
    """It stays where it is on another scale."""

    name = "stuck"

    def on_unit(self, origin: float, span: float) -> Stuck:
        return self


@pytest.mark.parametrize("broken", [Wrong(0.6), Stuck(0.6)])
def test_a_risk_that_is_none_is_found(broken: ramgape.Measure) -> None:
    with pytest.raises(AssertionError):
        check_risk(broken)


SLOW = (
    *("empirical-bernstein", "pairwise", "empirical-bernstein-stitched", "running"),
    *("heavy", "catoni", "truncated-mean", "items", "items-pairwise"),
)


@pytest.mark.parametrize(
    "bound",
    [
        pytest.param(name, marks=[pytest.mark.long] if name in SLOW else [])
        for name, bound in BOUNDS.items()
        if "confidence" in bound.goals and not bound.paired  # on shared seeds: tests/test_seeds.py
    ],
)
def test_our_bounds_pass(bound: str) -> None:
    needed: dict[str, Any] = {"heavy": {"kurtosis": 9.0}}.get(bound, {})
    check_bound(bound, **needed, **({"sigma_max": 1.3} if BOUNDS[bound].terms.stated else {}))


def too_narrow(problem, count, average, variance, level, low, high):  # type: ignore[no-untyped-def]
    """The interval of a fixed number of pulls, looked at all the time."""
    radius = math.sqrt(level / (8.0 * count))
    return max(average - radius, low), min(average + radius, high)


def no_narrower(problem, count, average, variance, level, low, high):  # type: ignore[no-untyped-def]
    return low, high


@pytest.mark.parametrize("interval", [too_narrow, no_narrower])
def test_a_bound_that_is_none_is_found(interval: Any) -> None:
    with pytest.raises(AssertionError):
        check_bound(Bound("broken", SimpleNamespace(interval=interval), BOUNDED, (MEANS,), "broken"))


class Careless(Pareto):
    """Proves twice as much as there is."""

    def tolerances(self, answer: Any, boxes: Any) -> Any:
        tolerances, rivals = super().tolerances(answer, boxes)
        return tolerances - 0.1, rivals


class Mistaken(Pareto):
    """Takes the dominated arms for the answer."""

    def true_answer(self, means: Any, risks: Any) -> Any:
        return ~super().true_answer(means, risks) | (np.arange(len(means)) == 0)


@pytest.mark.parametrize("broken", [Careless(), Mistaken()], ids=lambda task: type(task).__name__)
def test_a_task_that_is_none_is_found(broken: Any) -> None:
    with pytest.raises(AssertionError):
        check_question(broken)


class Endless(Pareto):
    """Its doubts never come down: a search for it goes on for ever."""

    def compare(self) -> Any:
        return never_sure


@kernel
def never_sure(arms, memory, search, problem, changed):  # type: ignore[no-untyped-def]
    search.ready = search.samples >= problem.initial_pulls * len(arms)
    for arm in range(len(arms)):
        row = arms[arm]
        row.in_front, row.doubt, row.rival, row.exact = 1, 1.0, arm, 1
    follow(arms, search, problem, 0, 1.0)


def test_a_question_that_never_stops_is_found() -> None:
    with pytest.raises(AssertionError, match=r"how a search .* ended must be by proof, .* got 'cap'"):
        check_question(Endless())


def read_scores(found: Any, source: Any) -> Iterator[Record]:
    for number, (name, value) in enumerate(found["scores"], start=1):
        yield Record(f"{source.name}, score {number}", {"model": name}, {"score": value})


def test_a_reader_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried, and once it is registered an analysis takes files of its tool."""
    from ramgape import registry

    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"my_tool": [], "scores": [(name, 0.25 * n) for name in "ab" for n in range(4)]}))
    mine = Format("scores of my tool", lambda found: "my_tool" in found, read_scores, "model", "model")
    check_reader(mine, path)
    for broken in (mine._replace(recognize=lambda found: False), mine._replace(arm="name"), mine._replace(item="id")):
        with pytest.raises(AssertionError):
            check_reader(broken, path)
    with pytest.raises(ramgape.InvalidData, match="a known tool"):
        ramgape.analyze(path, reward_range=(0, 1), epsilon=0.5)
    ramgape.register("reader", "my-tool", mine)
    analysis = ramgape.analyze(path, reward_range=(0, 1), epsilon=0.5)
    assert (analysis.rows, [arm.name for arm in analysis.result.arms]) == (8, ["a", "b"])
    assert analysis.understood.startswith("scores of my tool: 2 models, 8 trials")


def test_a_bound_with_an_assumption_of_its_own() -> None:
    """It is worded and asked for without a line of the package."""
    terms = Terms(
        assume=lambda spec, bound: f"rewards whose third moment is at most {spec.sigma_max:g}",
        stated=(("sigma_max", "the largest third moment"),),
        kind="asymptotic",
    )
    own = replace(BOUNDS["hoeffding"], name="own", terms=terms)
    asked: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.5, "policy": "ramgape", "bound": own}
    assert own.guarantee(SimpleNamespace(sigma_max=2.0), 0.05).sentence("a is best.") == (
        "Approximately, with probability 0.95, for rewards whose third moment is at most 2: a is best."
    )
    with pytest.raises(ramgape.InvalidSpec, match="sigma_max must be given with bound own: the largest third moment"):
        ramgape.identify(lambda arm, rng: rng.random(), ["a", "b"], **asked)


def test_what_is_registered_is_found_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name in Python and in a stored study, and told apart from what merely has its name."""
    from ramgape import registry

    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    own = replace(BOUNDS["hoeffding"], name="own-hoeffding")
    with pytest.raises(ramgape.InvalidSpec, match="bound must be a name, for a study, which keeps no code"):
        ramgape.Study.create("s", ["a", "b"], reward_range=(0, 1), epsilon=0.05, bound=own)
    ramgape.register("bound", "own-hoeffding", own)
    study = ramgape.Study.create("s", ["a", "b"], reward_range=(0, 1), epsilon=0.05, bound=own)
    assert study.result().bound == "own-hoeffding"
    with pytest.raises(ramgape.InvalidSpec, match="one that no other has"):
        ramgape.register("bound", "own-hoeffding", BOUNDS["paper"])
    with pytest.raises(ramgape.UnknownName, match="did you mean 'own-hoeffding'"):
        ramgape.simulate("paper:46", bound="own-hoefding")


def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an installed package states is loaded when somebody first uses its name."""
    from importlib import metadata

    from ramgape import registry

    entry = metadata.EntryPoint("least-pulled", f"{__name__}:least_pulled", "ramgape.policies")
    stated = metadata.EntryPoints([entry])
    monkeypatch.setattr(metadata, "entry_points", lambda **chosen: stated.select(**chosen))
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    result = ramgape.simulate("paper:46", policy="least-pulled", budget=40, seed=1)
    assert {arm.pulls for arm in result.arms} == {4}


def test_extensions_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What packages state and what this process has registered, also what cannot be loaded, and why."""
    from importlib import metadata

    from ramgape import registry

    stated = metadata.EntryPoints(
        [
            metadata.EntryPoint("least-pulled", f"{__name__}:least_pulled", "ramgape.policies"),
            metadata.EntryPoint("broken", "no.such.module:policy", "ramgape.policies"),
            metadata.EntryPoint("evidence", f"{__name__}:least_pulled", "ramgape.policies"),  # a name that is taken
            metadata.EntryPoint("shelf", f"{__name__}:least_pulled", "ramgape.stores"),
        ]
    )
    monkeypatch.setattr(metadata, "entry_points", lambda **chosen: stated.select(**chosen))
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    ramgape.register("bound", "own-hoeffding", replace(BOUNDS["hoeffding"], name="own-hoeffding", meaning="mine [x]"))
    listed = {row["name"]: row for row in call_json("list", "policies")["extensions"]}
    assert set(listed) == {"least-pulled", "broken"}
    assert (listed["least-pulled"]["meaning"], listed["least-pulled"]["usable"]) == ("The arm pulled least.", True)
    assert not listed["broken"]["usable"]
    assert "cannot be loaded: ModuleNotFoundError: No module named 'no'" in listed["broken"]["meaning"]
    assert [row["name"] for row in call_json("list", "bounds")["extensions"]] == ["own-hoeffding"]
    assert call_json("list", "risks")["extensions"] == []
    everything = call_json("list", "extensions")
    assert [(row["kind"], row["name"]) for row in everything["extensions"]] == [
        ("policy", "least-pulled"),
        ("policy", "broken"),
        ("bound", "own-hoeffding"),
        ("store", "shelf"),
    ]
    for what, name in (("policies", "least-pulled"), ("bounds", "own-hoeffding"), ("extensions", "shelf")):
        assert name in call("list", what).stdout
    assert "mine [x]" in call("list", "bounds").stdout
    monkeypatch.setattr(metadata, "entry_points", lambda **chosen: metadata.EntryPoints([]))
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    assert "No installed package" in call("list", "extensions").stdout


def least_pulled(state: Any) -> int:
    """The arm pulled least."""
    return int(state.pulls.argmin())
