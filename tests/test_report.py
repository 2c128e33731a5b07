"""Reports: one file, complete, without a network, for any screen; and the history that they draw."""

from __future__ import annotations

import html
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import ramgape
from ramgape.search.explained import Explained
from ramgape.search.quality import Alarm
from ramgape.views.picture import DARK, inline_svg
from ramgape.views.plots import style
from tests.cli_support import call
from tests.results import HOSTILE, make_arm, make_result

SHAPES = {"steady": (40, 40), "wild": (0.2, 0.1), "poor": (1, 3), "<b>$odd$</b>": (2, 3)}


def study(**options: object) -> ramgape.Study:
    draw = random.Random(1)
    made = ramgape.Study.create("some", arms=list(SHAPES), reward_range=(0, 1), epsilon=0.2, **options)  # type: ignore[arg-type]
    made.run(lambda arm: draw.betavariate(*SHAPES[arm]), progress=False)
    return made


def written(thing: Explained | ramgape.Study, folder: Path) -> str:
    thing.save_html(folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


class Page(HTMLParser):
    """What a page asks for elsewhere, its ids, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#"):
                self.links.append(value)
            if name == "id" and value:
                self.ids.append(value)


class Titles(HTMLParser):
    """What pictures say of themselves."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.titles: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and any(name == "id" for name, _ in attrs):
            self._inside = True
            self.titles.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "title"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.titles[-1] += data


@pytest.mark.parametrize("name", HOSTILE)
def test_a_picture_says_any_name_as_it_is(name: str) -> None:
    text, plain = (inline_svg(Figure(figsize=(1, 1)), each, "p-") for each in (f"keep {name}", "keep A"))
    assert Titles(text).titles == [f"keep {name}"]
    assert Page(text).tags == Page(plain).tags
    assert Page(text).ids == Page(plain).ids


def test_a_page_shows_any_names_as_they_are(tmp_path: Path) -> None:
    names = ["\\g<9>", "\\1", "</title><script>"]
    result = make_result(*(make_arm(name, 0.2 + 0.2 * i, 0.2 + 0.2 * i) for i, name in enumerate(names)))
    text = written(result, tmp_path)
    assert Titles(text).titles == [result.explanation().headlines[-1]] * 2  # a picture for each width
    assert all(name in Titles(text).titles[0] for name in names)
    assert "script" not in Page(text).tags


def test_a_report_has_everything_and_needs_nothing(tmp_path: Path) -> None:
    text = written(study(seed=5), tmp_path)
    page = Page(text)
    assert page.links == []
    assert "@import" not in text
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    for heading in (
        "The arms",
        "Where the trials went",
        "How it went",
        "What is proved, and what is not",
        "What was asked",
    ):
        assert f"<h2>{heading}</h2>" in text
    assert text.index("<h1>") < text.index("<figure>") < text.index("<table>")
    assert "&lt;b&gt;$odd$&lt;/b&gt;" in text
    assert "<b>$odd$" not in text
    for word in ("Guarantee", "Certified", "Rigour", "Estimates", "Drift check", "Policy", "Bound", "Seed"):
        assert f"<dt>{word}</dt>" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert re.search(r"Made with python [^<]*ramgape", text)


def test_a_report_of_several_outcomes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)

    def pull(arm: str) -> dict[str, float]:
        return {"score": float(rng.random() < {"a": 0.9, "b": 0.5}[arm]), "cost": float(rng.normal(1.0, 0.1))}

    options: dict[str, Any] = {"outcomes": {"score": (0, 1), "cost": "unknown"}, "epsilon": {"score": 0.3, "cost": 0.3}}
    best = ramgape.identify(
        pull, ["a", "b"], objectives=["max score"], constraints=["mean(cost) <= 2"], question="best", **options
    )
    both = ramgape.identify(pull, ["a", "b"], objectives=["max score", "min cost"], **options)
    for result in (best, both):
        text = written(result, tmp_path)
        assert "<h1>" + html.escape(result.sentence) in text
        assert "times the requested ones (mean(score) 0.3, mean(cost) 0.3)" in " ".join(text.split())
        assert "epsilon=1" not in text
        assert text.count("<svg") >= 2
    assert "breaks the limit" in written(best, tmp_path)


def test_pictures_are_told_in_words_and_follow_the_page(tmp_path: Path) -> None:
    text = written(make_result(), tmp_path)
    assert text.count("<svg") == text.count('role="img"') == 2
    glyphs = Page(text).ids
    assert not {name for name in glyphs if name.startswith("p7-")} & {name for name in glyphs if name.startswith("p3")}
    inside = text[text.index("<figure>") :]
    for colour in re.findall(r"(?<!,)#[0-9a-f]{6}\b", inside):  # those of variables stand behind a comma
        assert colour not in DARK, colour
    looks = {mark.colour.lower() for mark in style.MARKS.values()} | {style.SHADE.lower(), style.STRIPE.lower()}
    assert looks <= set(DARK)


def test_what_speaks_against_an_answer_comes_first(tmp_path: Path) -> None:
    alarm = Alarm("A", "level", 1240.0, 17)
    text = written(make_result(alarms=(alarm,), alarm=0.01, warnings=("not meant so",)), tmp_path)
    assert text.index("Drift:") < text.index("Warning:") < text.index("<figure>")
    assert "drift was detected, see above" in text


def test_what_is_not_proved_is_said(tmp_path: Path) -> None:
    unproved = make_result(
        make_arm("A", 0.4, 0.05, "open"), make_arm("B"), certified_epsilon=None, certified_delta=None
    )
    assert "by estimates alone: the answer;" in written(unproved, tmp_path)
    assert "central limit theorem" in written(make_result(rigour="approximate"), tmp_path)
    assert "How it went" not in written(unproved, tmp_path)  # nobody took notes


@pytest.mark.parametrize("goal", [{"epsilon": 0.2}, {"epsilon": 0.2, "bound": "hoeffding"}, {"budget": 300}])
def test_a_search_notes_its_way_without_any_effect(goal: dict[str, object]) -> None:
    seen: list[tuple[float, float]] = []
    draw = random.Random(3)
    result = ramgape.identify(lambda arm: draw.betavariate(*SHAPES[arm]), list(SHAPES), reward_range=(0, 1), **goal)  # type: ignore[arg-type]
    again = random.Random(3)
    watched = ramgape.identify(
        lambda arm: again.betavariate(*SHAPES[arm]),
        list(SHAPES),
        reward_range=(0, 1),
        callback=lambda progress: seen.append((progress.samples, progress.doubt)),
        **goal,  # type: ignore[arg-type]
    )
    assert result == watched
    assert result.history == watched.history or "budget" in goal  # NaN differs from itself
    history = result.history
    assert history[-1].samples == result.samples
    assert history[-1].pulls == tuple(arm.pulls for arm in result.arms)
    assert history[-1].means == pytest.approx([arm.mean for arm in result.arms])
    if "budget" not in goal:
        assert list(zip(history[-1].lows, history[-1].highs, strict=True)) == [arm.mean_interval for arm in result.arms]
    assert [point.samples for point in history] == sorted({point.samples for point in history})
    assert set(zip([p.samples for p in history], [p.doubt for p in history], strict=True)) <= set(seen)
    assert "history" not in result.to_dict()
    assert ramgape.Result.from_dict(result.to_dict()).to_dict() == result.to_dict()


def test_a_long_search_has_few_points() -> None:
    result = ramgape.simulate("paper:46", budget=200_000)
    assert len(result.history) < 200
    assert result.history[-1].samples == 200_000


def test_a_study_finds_its_way_by_replay() -> None:
    made = study()
    plain, report = made.report(), made.report(history=True)
    assert plain.result.history == ()
    assert plain.result == report.result
    last = report.result.history[-1]
    assert (last.samples, last.pulls) == (report.told, tuple(arm.pulls for arm in report.result.arms))
    assert list(zip(last.lows, last.highs, strict=True)) == [arm.mean_interval for arm in report.result.arms]


def test_a_study_with_a_retired_arm_has_a_way_as_well() -> None:
    made = ramgape.Study.create("some", arms=list(SHAPES), reward_range=(0, 1), epsilon=0.2, expected_arms=5)
    draw = random.Random(1)
    for arm in list(SHAPES) * 30:
        made.observe(arm, draw.betavariate(*SHAPES[arm]))
    made.retire("poor")
    history = made.report(history=True).result.history
    assert len(history[-1].pulls) == len(SHAPES) - 1
    assert history[-1].samples == 90


def test_every_command_writes_a_picture_and_a_report(tmp_path: Path) -> None:
    rows = [f"{arm},{0.1 * (number % 5) + shift}" for number in range(60) for arm, shift in (("a", 0.1), ("b", 0.4))]
    (tmp_path / "log.csv").write_text("\n".join(["arm,delay", *rows]))
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with ramgape.Study.create("some", arms=["a", "b"], reward_range=(0, 1), epsilon=0.3, storage=store) as made:
        made.run(lambda arm: {"a": 0.2, "b": 0.7}[arm], progress=False)
    commands = {
        "analyze": ["analyze", str(tmp_path / "log.csv"), "--arm-column", "arm", "--reward-column", "delay"],
        "show": ["study", "show", "some", "--storage", store],
        "simulate": ["simulate", "paper:46", "--epsilon", "0.2"],
        "many": ["simulate", "paper:46", "--epsilon", "0.2", "--runs", "2", "--json"],
        "plan": ["plan", "paper:46", "--epsilon", "0.2", "--runs", "2"],
    }
    for name, command in commands.items():
        files = [tmp_path / f"{name}.svg", tmp_path / f"{name}.html"]
        result = call(*command, "--plot", str(files[0]), "--html", str(files[1]))
        assert result.exit_code == 0, result.stderr
        assert result.stderr.count("written") == 2
        assert "<svg" in files[0].read_text()
        assert "<h1>" in files[1].read_text()
    assert "Mean delay" in (tmp_path / "analyze.svg").read_text() or "delay" in (tmp_path / "analyze.html").read_text()
    assert "2 runs of" in (tmp_path / "many.html").read_text()


@pytest.mark.parametrize(("path", "allowed"), [("no/report.html", "a folder that exists"), ("report.pdf", ".html")])
def test_a_report_that_cannot_be_written_is_refused_at_once(path: str, allowed: str, tmp_path: Path) -> None:
    result = call("simulate", "paper:46", "--epsilon", "0.2", "--html", str(tmp_path / path))
    assert result.exit_code == 2
    assert allowed in " ".join(result.stderr.split())
    assert result.stdout == ""
