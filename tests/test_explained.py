"""Everything that comes out explains itself in the same ways, and travels as plain data."""

from __future__ import annotations

import io
import json
import math
import re
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from rich.cells import cell_len
from rich.console import Console

import ramgape
from ramgape.search.explained import Explained
from ramgape.search.result import ArmReport, Details, Goal, Result, Truth

ODD = "[red]<b>B[/red]"  # a name that no renderer may obey


def study() -> ramgape.Study:
    """One that is under way, with a failure."""
    made = ramgape.Study.create("odd [study]", ["A", ODD, "C"], epsilon=0.01, reward_range=(0, 1), seed=1)
    for number in range(8):
        (pull,) = made.ask()
        made.tell(pull, 0.1 * number)
    (pull,) = made.ask()
    made.fail(pull, "out of memory")
    made.ask()
    return made


def make_things() -> dict[str, Explained]:
    guessed: dict[str, Any] = {"noise": "gaussian", "arms": []}
    for name, mean, variance in (("A", 0.5, 0.1), (ODD, 0.3, 0.2), ("C", 0.9, 0.4)):
        guessed["arms"].append({"name": name, "distribution": "gaussian", "mean": mean, "variance": variance})
    tie = {"noise": "gaussian", "arms": [{**arm, "mean": 0.5, "variance": 0.1} for arm in guessed["arms"]]}
    rows = [(arm, 0.1 * number) for number in range(8) for arm in ("A", ODD, "C")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ramgape.RamgapeWarning)
        return {
            "result": ramgape.simulate(guessed, epsilon=0.2, seed=1),
            "unobserved": ramgape.Study.create("new", ["A", ODD], epsilon=0.1, reward_range=(0, 1)).report(),
            "analysis": ramgape.analyze(rows, reward_range=(0, 1)),
            "report": study().report(),
            "plan": ramgape.plan(guessed, epsilon=0.2, deltas=[], runs=3),
            "budget plan": ramgape.plan(guessed, budget=50, epsilon=0.1, budgets=[100], runs=3),
            "capped plan": ramgape.plan(guessed, epsilon=0.2, epsilons=[], deltas=[], runs=2, max_trials=20),
            "replication": ramgape.replicate(guessed, epsilon=0.2, runs=4),
            "one run": ramgape.replicate(guessed, budget=50, runs=1),
            "lower bound": ramgape.lower_bound(guessed),
            "pair": ramgape.lower_bound(guessed, epsilon=(0.1, 0.2)),
            "tie": ramgape.lower_bound(tie),
        }


@pytest.fixture(scope="module")
def things() -> dict[str, Explained]:
    return make_things()


NAMES = (
    "result",
    "unobserved",
    "analysis",
    "report",
    "plan",
    "budget plan",
    "capped plan",
    "replication",
    "one run",
    "lower bound",
    "pair",
    "tie",
)
each = pytest.mark.parametrize("name", NAMES)


def test_all_of_them_are_looked_at(things: dict[str, Explained]) -> None:
    assert tuple(things) == NAMES
    kinds = {type(thing) for thing in things.values()}
    assert {kind for kind in (getattr(ramgape, name) for name in ramgape._MODULES) if is_explained(kind)} <= kinds


def is_explained(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Explained)


@each
def test_it_comes_back_from_json(name: str, things: dict[str, Explained]) -> None:
    thing = things[name]
    again = type(thing).from_dict(json.loads(thing.to_json()))
    assert again.to_dict() == thing.to_dict()
    assert repr(again) == repr(thing)
    assert str(again) == str(thing)


@each
def test_it_is_shown(name: str, things: dict[str, Explained]) -> None:
    thing = things[name]
    kind = type(thing).__name__
    assert repr(thing).startswith(f"<{kind}: ")
    assert "\n" not in repr(thing)
    assert len(repr(thing)) < 250
    text = str(thing)
    assert re.sub("[±░█]", "", text).isascii()  # of standard errors, and of a bar of progress
    said = thing.explanation(ascii_only=True)
    assert " ".join(text.split()).startswith(" ".join(said.headlines[0].split()))
    assert repr(thing) == f"<{kind}: {said.brief or said.headlines[0]}>"
    page = thing._repr_html_()
    assert "<b>" not in page
    Closed().feed(page)


@each
@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_cut_in_a_window(name: str, width: int, things: dict[str, Explained]) -> None:
    for encoding in ("utf-8", "ascii"):
        file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        Console(file=file, width=width, color_system=None).print(things[name])
        file.seek(0)
        text = file.read()
        assert max(map(cell_len, text.splitlines())) <= width
        assert "…" not in text
        assert not re.search(r"(?<![.#])\.\.\.(?!\.)", text)  # a bar has more dots


@each
def test_its_frame_has_a_row_for_each(name: str, things: dict[str, Explained]) -> None:
    thing = things[name]
    frame = thing.to_frame()
    match thing:
        case ramgape.Plan():
            assert len(frame) == len(thing.trials or thing.qualities)
        case ramgape.Replication():
            assert list(frame["samples"]) == [run.samples for run in thing.runs]
        case ramgape.LowerBound():
            assert list(frame.get("share", [])) == list(thing.allocation.values())
        case ramgape.Report():
            assert list(frame["pending"]) == list(thing.arms_pending.values())
        case ramgape.Analysis():
            assert frame["next_pulls"].sum() == sum(thing.next_pulls.values())
        case ramgape.Result():
            assert list(frame["name"]) == [arm.name for arm in thing.arms]


@each
def test_it_is_drawn(name: str, things: dict[str, Explained], tmp_path: Path) -> None:
    drawn = things[name].plot()
    assert isinstance(drawn.figure, Figure)
    things[name].save_plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


class Closed(HTMLParser):
    """Checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_what_json_cannot_write_comes_back() -> None:
    nothing = ArmReport(
        "A", "open", 0, mean_interval=(-math.inf, 0.5), risk=0.0, risk_interval=(0.0, math.inf), variance=0.0
    )
    details = Details(
        stopped="open",
        goal_reached=False,
        guarantee="none",
        goal=Goal("confidence", 0.1, 0.05, None),
        noise="gaussian",
        direction="maximize",
        policy="ramgape",
        bound="gaussian",
        interval_bound="gaussian",
        truth=Truth(("A",), math.nan, False, False),
    )
    result = Result((nothing,), (), 0, details)
    (arm,) = Result.from_dict(json.loads(result.to_json())).arms
    assert math.isnan(arm.mean)
    assert (arm.mean_interval, arm.risk_interval, arm.doubt) == ((-math.inf, 0.5), (0.0, math.inf), math.inf)


def test_what_is_missing_is_told() -> None:
    described = ramgape.replicate("paper:46", runs=2, budget=50).to_dict(runs=False)
    assert "runs" not in described
    assert described["mean_samples"] == 50.0
    with pytest.raises(ramgape.InvalidData, match="runs must be given, to make a Replication of it") as caught:
        ramgape.Replication.from_dict(described)
    assert caught.value.what == "runs"


def test_a_replication_is_a_summary() -> None:
    many = ramgape.replicate("paper:46", runs=200, budget=50)
    without_runs = many.to_dict(runs=False)
    assert [arm["name"] for arm in without_runs["arms"]] == list(many.runs[0].pulls)
    assert all({"mean", "std", "risk", "risk_shown"} <= arm.keys() for arm in without_runs["arms"])
    # five numbers for each of ten arms, and nothing for each of the runs
    assert len(json.dumps(without_runs)) < 2500 < len(many.to_json()) / 16
    assert len(str(many)) < 2000


def test_a_study_in_a_list_travels(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    ramgape.Study.create("models", ["A", ODD], budget=10, reward_range=(0, 1), storage=url).close()
    (summary,) = ramgape.list_studies(url)
    assert ramgape.StudySummary.from_dict(json.loads(summary.to_json())) == summary
