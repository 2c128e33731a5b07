"""What tests of `ramgape run` with typed commands have in common: calls of it, and a clock of our own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ramgape.cli import app
from ramgape.commands.times import Times
from ramgape.commands.trials import CommandTrials, Finished
from tests.cli_support import PLAIN


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAMGAPE_STORAGE", raising=False)
    monkeypatch.chdir(tmp_path)


def call(*arguments: str | Path, code: int = 0, columns: int = 80) -> Result:
    """The command in this process."""
    result = CliRunner().invoke(app, ["run", *map(str, arguments)], env={**PLAIN, "COLUMNS": str(columns)})
    assert result.exit_code == code, result.output
    return result


def report(*arguments: str | Path) -> dict[str, Any]:
    """What it prints with --json."""
    found: dict[str, Any] = json.loads(call(*arguments, "--json").stdout)
    return found


Draw = Callable[[np.random.Generator, str, int], float]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let commands take the seconds that a function of a generator, the arm and the number of the run says."""

    def install(draw: Draw, seed: int) -> list[str]:
        rng, order = np.random.default_rng(seed), list[str]()

        def run(_: CommandTrials, arm: str, __: int, ___: object = None) -> Finished:
            order.append(arm)
            return Finished(0, draw(rng, arm, len(order) - 1), "", "", 0.01, 0.001)

        monkeypatch.setattr(CommandTrials, "run", run)
        return order

    return install


def like_times(rng: np.random.Generator, mean: float, cv: float = 0.05, outliers: float = 0.03) -> float:
    """A time as machines give it: skewed, and now and then half as long again."""
    spread = math.sqrt(math.log1p(cv * cv))
    return float(
        mean * math.exp(spread * rng.standard_normal() - spread**2 / 2) * (1.5 if rng.random() < outliers else 1)
    )


def times(name: str, *seconds: float, failed: int = 0) -> Times:
    used = (0.01,) * len(seconds), (0.002,) * len(seconds)
    return Times(name, seconds, (0,) * len(seconds), *used, failed=failed)


def words(text: str) -> str:
    """What is on a screen, without frames, line breaks and the colons after the words of facts."""
    return " ".join(re.sub(r"[│╭╮╰╯─|+]", " ", re.sub(r"(?m)^([A-Z]\w+):  ", r"\1 ", text)).split())


def refused(*arguments: str | Path, code: int = 2) -> str:
    """The line of a call that must end with an error."""
    return words(call(*arguments, code=code, columns=500).stderr)
