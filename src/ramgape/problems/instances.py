"""Instances by name: the paper's tables, files, and descriptions in Python.

    paper:1 ... paper:50                      ten Beta arms each, rewards in [0, 1] (Experiments 1 and 2)
    paper:exp3, paper:exp4                    10 and 100 Beta arms (Experiments 3 and 4)
    paper-gaussian:1 ... paper-gaussian:50    the same 50 instances with Gaussian arms
    random-beta:1 ... and so on               random ones, of three families, any number (random_instances.py)

The tables are package data, read when a name is first asked for.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, cast

from ramgape.errors import InvalidInstance, known_name, require
from ramgape.problems.environments import Arm, Beta, Gaussian, Instance
from ramgape.problems.instance_files import inside, parse, read_text
from ramgape.problems.random_instances import numbered_alike, random_instance, random_names
from ramgape.problems.vector_problems import VectorProblem, problem_from_dict
from ramgape.risks.table import PAPER_RISK

Source = Instance | VectorProblem | Mapping[str, Any] | str | os.PathLike[str]
# the bound that the paper's Gaussian experiments take as known
PAPER_SIGMA_MAX = math.sqrt(0.2)


def load_instance(source: Source) -> Instance:
    """The instance that is meant.

    Args:
        source: A built-in name, the path of an instance file, a dict in the form of one, or an `Instance`, which is
            given back. A built-in name always means the built-in instance; `./paper:1` would be a file.

    Raises:
        UnknownName: It is neither a name nor a file.
        InvalidInstance: It cannot be read.

    Examples:
        >>> load_instance("paper:46").names
        ('1', '2', '3', '4', '5', '6', '7', '8', '9', '10')
        >>> load_instance("papr:10")
        Traceback (most recent call last):
        ramgape.errors.UnknownName: ... got 'papr:10'; did you mean 'paper:10'?
    """
    problem = load_problem(source)
    allowed = "one with a single reward: trials with several outcomes are for ramgape.simulate alone"
    require(isinstance(problem, Instance), "the problem", allowed, "several outcomes", InvalidInstance)
    return cast(Instance, problem)


def load_problem(
    source: Instance | VectorProblem | Mapping[str, Any] | str | os.PathLike[str],
) -> Instance | VectorProblem:
    """The problem that is meant, of one reward or of several outcomes; as `load_instance`."""
    if isinstance(source, Instance | VectorProblem):
        return source
    if isinstance(source, Mapping):
        return problem_from_dict(source)
    allowed = "an Instance, a dict, a built-in name or the path of a file"
    require(isinstance(source, str | os.PathLike), "an instance", allowed, source, error=InvalidInstance)
    names = [*instance_names(), *numbered_alike(source)] if isinstance(source, str) else []
    if source not in names and (isinstance(source, os.PathLike) or means_file(source)):
        path = Path(source)
        description = parse(path, read_text(path))
        with inside(str(path)):
            return problem_from_dict(description, path.stem)
    name = str(known_name(source, names, "an instance that is no file"))
    return random_instance(name) if name.startswith("random-") else paper_instance(name)


def instance_names() -> list[str]:
    """The names of the built-in instances; of random ones the first twenty of each family, though numbers go on.

    >>> len(instance_names()), instance_names()[:2]
    (162, ['paper:1', 'paper:2'])
    """
    paper = [f"{family}:{key}" for family, tables in paper_tables().items() for key in tables]
    return paper + random_names()


def means_file(source: str) -> bool:
    """Whether a string is the path of a file, there or not, rather than a name."""
    separators = os.sep if os.altsep is None else os.sep + os.altsep
    looks_like_path = source.endswith(".json") or any(separator in source for separator in separators)
    # Path.exists would raise for a name too long to be a file's, and take "" for the current folder
    return looks_like_path or os.path.exists(source)  # noqa: PTH110


@functools.cache
def paper_tables() -> dict[str, dict[str, list[list[float]]]]:
    """The paper's arms: family, key, arm -> (a, b) of a Beta or (mean, variance) of a Gaussian."""
    text = (resources.files("ramgape.problems") / "data" / "paper_arms.json").read_text(encoding="utf-8")
    tables: dict[str, dict[str, list[list[float]]]] = json.loads(text)
    return tables


def paper_instance(name: str) -> Instance:
    family, key = name.split(":")
    rows = paper_tables()[family][key]
    gaussian = family == "paper-gaussian"
    kind = Gaussian if gaussian else Beta
    arms = tuple(Arm(str(number), kind(*row)) for number, row in enumerate(rows, start=1))
    if gaussian:
        return Instance(name, arms, reward_range=None, noise="gaussian", sigma_max=PAPER_SIGMA_MAX, risk=PAPER_RISK)
    return Instance(name, arms, reward_range=(0.0, 1.0), noise="bounded", risk=PAPER_RISK)
