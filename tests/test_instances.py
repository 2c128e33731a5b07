"""Built-in instances and how a source is understood."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape.errors import InvalidInstance, UnknownName
from ramgape.problems.environments import Bernoulli, Beta, Gaussian, Instance
from ramgape.problems.instances import instance_names, load_instance
from ramgape.problems.random_instances import random_seed

PATTERNS = range(1, 51)


def pareto_set(instance: Instance, rho: float = 0.01) -> set[str]:
    """The arms that no other arm beats strictly in both objectives."""
    arms = list(zip(instance.names, instance.means, instance.risks(rho), strict=True))
    return {
        name
        for name, mean, risk in arms
        if not any(other_mean > mean and other_risk < risk for _, other_mean, other_risk in arms)
    }


PAPER = [
    *(f"paper:{number}" for number in PATTERNS),
    *(f"paper-gaussian:{number}" for number in PATTERNS),
    "paper:exp3",
    "paper:exp4",
]
FAMILIES = {"random-beta": Beta, "random-bernoulli": Bernoulli, "random-gaussian": Gaussian}
RANDOM = [f"{family}:{number}" for family in FAMILIES for number in range(1, 21)]


def test_all_names() -> None:
    assert set(instance_names()) == {*PAPER, *RANDOM}
    assert len(instance_names()) == 162


@pytest.mark.parametrize("name", RANDOM)
def test_every_random_instance(name: str) -> None:
    instance = load_instance(name)
    family = name.split(":")[0]
    assert instance.name == name
    assert 3 <= len(instance.arms) <= 50
    assert {type(arm.distribution) for arm in instance.arms} == {FAMILIES[family]}
    assert load_instance(json.loads(json.dumps(instance.to_dict()))) == instance
    assert instance == load_instance(name)


def test_random_instances_never_change() -> None:
    # They are named in published comparisons.
    described = [load_instance(name).to_dict() for name in RANDOM]
    assert {each.pop("risk") for each in described} == {"mean-variance:0.01"}
    text = json.dumps(described)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "d564f2eeca2be778"
    assert load_instance("random-beta:1").arms[0].distribution == Beta(9.1388, 5.1635)


@pytest.mark.parametrize("number", [21, 120, 999, 1_000, 1_001, 123_456_789_012_345_678])
@pytest.mark.parametrize("family", FAMILIES)
def test_random_instances_go_on_beyond_those_listed(family: str, number: int) -> None:
    name = f"{family}:{number}"
    assert name not in instance_names()
    instance = load_instance(name)
    assert instance.name == name
    assert 3 <= len(instance.arms) <= 50
    assert {type(arm.distribution) for arm in instance.arms} == {FAMILIES[family]}
    assert ramgape.simulate(name, budget=300, seed=1).samples == 300


def test_the_held_out_instances_never_change() -> None:
    # Published comparisons name 101 to 120 of each family; the others show that the seeds go on as they do.
    names = [f"{family}:{number}" for family in FAMILIES for number in (*range(101, 121), 999, 1_000, 10**6)]
    text = json.dumps([load_instance(name).to_dict() for name in names])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "b1c7fc0681a7625b"


def test_no_two_random_instances_have_the_same_seed() -> None:
    numbers = (*range(1, 4_000), *(10**power + near for power in range(4, 18) for near in (-1, 0, 1, 2)))
    seeds = [random_seed(family, number) for family in FAMILIES for number in numbers]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("name", PAPER)
def test_every_instance_of_the_paper(name: str) -> None:
    instance = load_instance(name)
    size = 100 if name == "paper:exp4" else 10
    assert instance.name == name
    assert instance.names == tuple(str(number) for number in range(1, size + 1))
    assert all(0.3995 < mean < 0.6005 for mean in instance.means)
    assert all(0.0 < variance < 0.2005 for variance in instance.variances)
    gaussian = name.startswith("paper-gaussian")
    assert instance.noise == ("gaussian" if gaussian else "bounded")
    assert instance.reward_range == (None if gaussian else (0.0, 1.0))
    assert instance.sigma_max == (math.sqrt(0.2) if gaussian else None)
    assert {type(arm.distribution) for arm in instance.arms} == {Gaussian if gaussian else Beta}
    assert load_instance(json.loads(json.dumps(instance.to_dict()))) == instance


def test_pattern_eight_is_experiment_three() -> None:
    assert load_instance("paper:8").arms == load_instance("paper:exp3").arms


@pytest.mark.parametrize("number", PATTERNS)
def test_gaussian_arms_have_the_moments_of_the_beta_arms(number: int) -> None:
    # the tables are printed with four digits
    beta, gaussian = load_instance(f"paper:{number}"), load_instance(f"paper-gaussian:{number}")
    assert gaussian.means == pytest.approx(beta.means, abs=5e-4)
    assert gaussian.variances == pytest.approx(beta.variances, abs=5e-4)


def test_pareto_sets_of_the_paper() -> None:
    assert pareto_set(load_instance("paper:46")) == {"1", "2"}
    assert pareto_set(load_instance("paper:10")) == {"1", "2", "3", "5", "6", "8"}


def test_the_first_arm_of_the_tables() -> None:
    assert load_instance("paper:1").arms[0].distribution == Beta(2.1574, 1.4383)
    assert load_instance("paper-gaussian:1").arms[0].distribution == Gaussian(0.6, 0.0522)
    assert load_instance("paper:exp4").arms[0].distribution == Beta(3.1125, 2.075)


def test_an_instance_is_returned_as_it_is() -> None:
    instance = load_instance("paper:1")
    assert load_instance(instance) is instance


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("papr:10", "paper:10"),
        ("paper:5O", "paper:5"),
        ("paper:51", "paper:"),
        ("Paper:exp3", "paper:exp3"),
        ("paper-gausian:7", "paper-gaussian:7"),
        ("randm-beta:137", "random-beta:137"),
        ("random-gausian:2000", "random-gaussian:2000"),
        ("random-beta:0", "random-beta:"),
        ("random-beta:-1", "random-beta:1"),
        ("random-beta:021", "random-beta:"),
        ("random-beta:1e3", "random-beta:1"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownName) as caught:
        load_instance(name)
    assert f"got {name!r}; did you mean '{nearest}" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["", " ", "nothing alike", "paper:", "paper:1 ", "random-beta:\u0661", "random-beta:" + 5_000 * "9"]
)
def test_names_of_nothing(name: str) -> None:
    with pytest.raises(UnknownName):
        load_instance(name)


@pytest.mark.parametrize("path", ["mine.json", "folder/mine", "./paper:1", "paper:1.json"])
def test_what_looks_like_a_path_is_a_missing_file(path: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInstance, match="must be an existing file"):
        load_instance(path)


def test_a_file_may_have_any_name_but_that_of_a_built_in(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    text = json.dumps({**load_instance("paper:2").to_dict(), "name": "mine"})
    for name in ("mine", "paper:1"):
        Path(name).write_text(text)
    assert load_instance("mine").name == "mine"
    assert load_instance("./paper:1").name == "mine"
    assert load_instance("paper:1").name == "paper:1"


@pytest.mark.parametrize("source", [None, 5, b"paper:1", ["paper:1"], True])
def test_what_cannot_be_an_instance(source: Any) -> None:
    with pytest.raises(InvalidInstance, match="an instance must be an Instance, a dict, a built-in name or"):
        load_instance(source)


def test_scipy_is_not_needed() -> None:
    # numba imports scipy where there is one, so that its absence has to be pretended
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "from ramgape.problems.instances import load_instance; print(load_instance('paper:1').name)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "paper:1"
