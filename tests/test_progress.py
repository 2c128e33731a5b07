"""What is shown while a search runs: it is true, it costs the search nothing, and it goes when the search is over."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Study, identify
from ramgape.common import terminal
from ramgape.search.engine import Engine
from ramgape.search.result import Expectation
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec
from ramgape.trials import monitoring, surfaces
from ramgape.trials.monitoring import Forecaster, ProgressMonitor, open_pair, runs_monitored
from ramgape.trials.progress import Progress
from ramgape.trials.progress_words import Standing, share_done, state
from ramgape.trials.remaining import expect_pulls
from ramgape.trials.surfaces import Frame, Lines, Notebook, Surface, Terminal, displayed, per_cent, surface_for
from tests.cli_support import NO_SIGNALS, environment

ARMS = {"steady": (40.0, 40.0), "wild": (0.2, 0.1), "poor": (1.0, 3.0)}
SEARCH: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.05, "seed": 1}


def pull(arm: str, rng: np.random.Generator) -> float:
    return float(rng.beta(*ARMS[arm]))


class Recorder(Surface):
    """Keeps all frames."""

    pause = 0.001

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.opened = self.closed = 0

    def __call__(self) -> Recorder:
        self.opened += 1
        return self

    def show(self, frame: Frame) -> None:
        self.frames.append(frame)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Somebody who watches from the first moment, and wants forecasts all the time."""
    made = Recorder()
    monkeypatch.setattr(surfaces, "surface_for", lambda progress: None if progress is False else made)
    monkeypatch.setattr(surfaces, "QUIET", 0.0)
    for name in ("FORECAST_PAUSE", "FORECAST_COST"):
        monkeypatch.setattr(monitoring, name, 0.0)
    return made


def slowly(arm: str, rng: np.random.Generator) -> float:
    threading.Event().wait(0.002)
    return pull(arm, rng)


# ------------------------------------------------------------------------------------------------------ the search


@pytest.mark.parametrize("more", [{}, {"policy": "ramgape"}, {"epsilon": None, "budget": 300}, {"workers": 3}])
def test_watching_changes_nothing(recorder: Recorder, more: dict[str, Any]) -> None:
    options = {**SEARCH, "epsilon": 0.1, **more}
    unseen, seen = (identify(slowly, list(ARMS), progress=progress, **options) for progress in (False, True))
    if "workers" in more:  # which arms are tried depends on who is faster
        assert seen.front == unseen.front
    else:
        assert seen == unseen
    assert (recorder.opened, recorder.closed) == (1, 1)
    assert recorder.frames


def test_what_is_shown_of_a_search(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(forecaster: Forecaster, engine: Engine) -> None:
        if forecaster._is_due(engine):
            forecaster._made = engine.samples
            forecaster._guess(engine.copy())

    monkeypatch.setattr(Forecaster, "consider", at_once)  # so that there are some, whatever else the machine does
    identify(slowly, list(ARMS), **SEARCH)
    first, last = recorder.frames[0], recorder.frames[-1]
    assert (first.share, first.second) == (None, "a first look at every arm")
    assert last.second.startswith("so far steady, wild; ")
    assert "of 3 arms undecided" in last.second
    forecast = [frame for frame in recorder.frames if frame.share is not None]
    assert forecast
    for frame in forecast:  # the share and the words are of the same numbers
        made = int(frame.first.split()[0].replace(",", ""))
        words = frame.first.split(" more")[0].split()[-1]
        left, digits = int(words.replace(",", "")), len(words.replace(",", "")) - 2
        assert frame.share == pytest.approx(made / (made + left), abs=0.5 * 10 ** max(digits, 0) / (made + left) + 1e-9)
    assert all("inf" not in frame.plain() for frame in recorder.frames)


def test_async_trials_and_studies_are_shown_likewise(recorder: Recorder) -> None:
    async def later(arm: str, rng: np.random.Generator) -> float:
        await asyncio.sleep(0.002)
        return pull(arm, rng)

    identify(later, list(ARMS), workers=4, **SEARCH)
    assert "so far steady, wild" in recorder.frames[-1].second
    study = Study.create("models", list(ARMS), **SEARCH)
    recorder.frames.clear()
    study.run(slowly, workers=2)
    assert "so far steady, wild" in recorder.frames[-1].second
    ramgape.simulate("paper:46", epsilon=0.02)
    ramgape.replicate("paper:46", runs=3, epsilon=0.05)
    assert re.search(r"of 3 runs in \d+ s", recorder.frames[-1].first)
    assert recorder.opened == recorder.closed == 4


def test_what_cannot_be_shown_ends_no_search(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("no more colours")

    expected = identify(slowly, list(ARMS), progress=False, **SEARCH)
    monkeypatch.setattr(recorder, "show", fail)
    monkeypatch.setattr(monitoring, "expect_pulls", fail)
    assert identify(slowly, list(ARMS), **SEARCH) == expected
    assert recorder.closed == 1


def test_an_error_and_an_interrupt_close_it(recorder: Recorder) -> None:
    def broken(arm: str) -> float:
        threading.Event().wait(0.05)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        identify(broken, list(ARMS), **SEARCH)

    def interrupted(arm: str) -> float:
        threading.Event().wait(0.05)
        raise KeyboardInterrupt

    assert identify(interrupted, list(ARMS), **SEARCH).stopped == "interrupted"
    assert recorder.opened == recorder.closed == 2


def test_a_short_search_opens_nothing(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surfaces, "QUIET", 3600.0)
    identify(pull, list(ARMS), **SEARCH)
    assert recorder.opened == 0


def test_a_policy_from_outside_is_not_called_for_forecasts(recorder: Recorder) -> None:
    threads = set()

    def circle(state: Any) -> int:
        threads.add(threading.current_thread())
        return int(np.argmin(state.pulls))

    identify(slowly, list(ARMS), policy=circle, **{**SEARCH, "epsilon": 0.2})
    assert threads == {threading.main_thread()}
    assert all(frame.share is None for frame in recorder.frames)


# --------------------------------------------------------------------------------------------------- what is expected


def test_two_guesses_are_one() -> None:
    forecaster = Forecaster()
    assert forecaster.expected(10) is None
    forecaster.learn(100, Expectation(300))
    assert forecaster.expected(150) == Expectation(250)
    forecaster.learn(200, Expectation(1400))
    assert forecaster.expected(200) == Expectation(600)  # of 400 and 1,600 in all
    assert forecaster.expected(900) == Expectation(1)
    forecaster.learn(300, Expectation(5000, at_least=True))
    assert forecaster.expected(300) == Expectation(5000, at_least=True)
    forecaster.learn(310, Expectation(1000, at_least=True))
    assert forecaster.expected(300) == Expectation(5000, at_least=True)
    forecaster.learn(400, Expectation(100))
    assert forecaster.expected(400) == Expectation(100)


def test_a_forecast_that_nobody_wants_any_more_ends() -> None:
    engine = Engine(simulated_spec(ramgape.load_instance("paper:46"), epsilon=0.05))
    for _ in range(40):
        arm = engine.ask()
        assert arm is not None
        engine.tell(arm, 0.5)
    assert expect_pulls(engine) is not None
    assert expect_pulls(engine, lambda: True) is None


def test_forecasts_for_close_arms_are_not_rosy() -> None:
    """Means that differ by a thousandth need millions of pulls; who takes them to be as they look says some hundreds.

    Seeded, so that nothing is left to chance; of other seeds one in three or so looks settled to this forecast.
    """
    soon = 0
    for seed in range(10):
        engine, generator = Engine(make_spec(["a", "b"], noise="any", epsilon=0.001)), np.random.default_rng(seed)
        for _ in range(400):
            arm = engine.ask()
            assert arm is not None
            engine.tell(arm, generator.normal(1.0 + 0.001 * arm))
        expected = expect_pulls(engine)
        assert expected is not None
        soon += expected.pulls < 10_000 and not expected.at_least
    assert soon <= 2
    assert share_done(Progress(250, 10**9, 0.04, 0.02), False, Expectation(250, at_least=True)) is None


@pytest.mark.long
@pytest.mark.forecasts
def test_a_forecast_takes_pulls_under_way_for_pulls_to_come() -> None:
    """Near the end of a test set, all that is left may be under way: a forecast used to wait for more, for ever."""
    study = Study.create("set", ["a", "b"], items=range(30), reward_range=(0, 1), epsilon=0.001, seed=1)
    generator = np.random.default_rng(1)
    for _ in range(50):
        study.tell_many([(each, float(generator.random() < 0.5)) for each in study.ask()])
    assert len(study.ask(5)) == 5
    expected = study.result().expected
    assert expected is not None
    assert 1 <= expected.pulls <= 10


def test_the_pair_that_is_open_is_among_the_arms() -> None:
    for options in ({"epsilon": 0.02}, {"epsilon": 0.02, "bound": "paper"}, {"epsilon": 0.0}, {"task": "best"}):
        instance = ramgape.load_instance("paper:46")
        engine = Engine(simulated_spec(instance, **options))  # type: ignore[arg-type]
        engine.advance(instance.sampler(), np.random.default_rng(0), 500)
        pair = open_pair(engine)
        assert 1 <= len(pair) <= 2
        assert len(set(pair)) == len(pair)
        assert all(0 <= arm < len(engine.arms) for arm in pair)


def test_how_far_a_search_is() -> None:
    assert share_done(Progress(250, 1000, 0.3, None), True, None) == 0.25
    money = Progress(250, 10**9, 0.3, None, spent=30.0, spend=40.0)
    assert share_done(money, True, Expectation(100)) == 0.75
    assert share_done(Progress(250, 10**9, 0.04, 0.02), False, None) is None
    assert share_done(Progress(250, 10**9, 0.04, 0.02), False, Expectation(250)) == 0.5
    assert share_done(Progress(0, 10**9, 0.04, 0.02), False, Expectation(0)) == 0.0
    assert state(Progress(125, 10**9, 0.041, 0.02), False) == "right within 0.041 so far, ends when it is within 0.02"
    assert state(Progress(1250, 10**9, 0.04, 0.0), False) == "right within 0.04 so far, ends when it is exact"
    assert state(Progress(1250, 9999, 0.04, 0.02), True) == "1,250 of 9,999 pulls"


def test_lines_of_a_standing() -> None:
    progress = Progress(1250, 10**9, 0.04, 0.02, arms=10)
    standing = Standing(progress, False, ("A",), ("B", "A"), Expectation(3750), pace=0.1)
    assert standing.frame(125.0) == Frame(
        0.25, "1,250 pulls in 2 min, about 3,800 more, 6 min left", "so far A; undecided B against A"
    )
    assert standing.frame(1.0).plain().startswith("25%: 1,250 pulls in 1 s, ")
    least = Standing(progress, False, (), (), Expectation(3750, at_least=True), pace=0.1)
    assert least.frame(1.0)[1:] == ("1,250 pulls in 1 s, at least 3,700 more, at least 6 min left", "so far no arm")
    budget = Standing(Progress(50, 100, 0.1, None), True, ("A", "B"), (), Expectation(50), pace=2.0)
    assert budget.frame(100.0) == Frame(0.5, "50 of 100 pulls in 2 min, 2 min left", "so far A, B")


# ---------------------------------------------------------------------------------------------------- where it is shown


def test_who_is_shown_what(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [surface_for(progress) for progress in (None, False, True)] == [None, None, Lines]
    monkeypatch.setattr(terminal, "is_watched", lambda: True)
    assert [surface_for(progress) for progress in (None, False, True)] == [Terminal, None, Terminal]
    module: Any = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", module)
    module.get_ipython = object
    assert surface_for(None) is Terminal  # IPython on a terminal
    module.get_ipython = lambda: types.SimpleNamespace(kernel=1)
    assert [surface_for(progress) for progress in (None, False, True)] == [Notebook, None, Notebook]
    with pytest.raises(ramgape.InvalidSpec, match="progress must be true, false, or None, got 7"):
        identify(pull, list(ARMS), progress=7, **SEARCH)  # type: ignore[arg-type]


def test_a_terminal_has_room_for_the_letters_of_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come behind the last line; were it full, they would wrap, and the first line would stay on the screen."""
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=True, width=40, color_system=None)
    monkeypatch.setattr(terminal, "messages", lambda: console)
    surface = Terminal()
    surface.show(Frame(0.5, 100 * "1", 100 * "2"))
    lines = console.render_lines(surface._lines(Frame(0.5, 100 * "1", 100 * "2")), pad=False)
    surface.close()
    assert [max(sum(part.cell_length for part in line), 0) <= 36 for line in lines] == [True, True]


def test_lines_for_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    pauses = []
    for _ in range(6):
        lines.show(Frame(0.5, "1 of 2 runs"))
        pauses.append(lines.pause)
    lines.close()
    assert capsys.readouterr().err == 6 * "50%: 1 of 2 runs\n"
    assert pauses == [10.0, 20.0, 40.0, 60.0, 60.0, 60.0]


def test_runs_are_counted(recorder: Recorder) -> None:
    with runs_monitored(None, 4) as show:
        show(1)
        while not any(frame.share == 0.25 for frame in recorder.frames):
            threading.Event().wait(0.001)
    assert per_cent(0.25) == "25%"
    with displayed(False, lambda seconds: None) as shown:
        assert not shown


def test_an_outside_watcher_is_asked_in_its_own_time() -> None:
    monitor, engine = ProgressMonitor(), Engine(simulated_spec(ramgape.load_instance("paper:46"), budget=50))
    assert monitor.frame(0.0) is None
    monitor.observe(engine)
    assert not monitor.wanted
    first = monitor.frame(1.0)
    assert first is not None
    assert first.first == "0 of 50 pulls in 1 s"
    assert monitor.wanted


SCRIPT = """
import sys, time, ramgape
print("before")
def pull(arm, rng):
    print("a trial")
    sys.stdout.flush()
    time.sleep(0.05)
    return rng.random()
result = ramgape.identify(pull, ["a", "b"], reward_range=(0, 1), epsilon=0.01, seed=1)
print(result.stopped)
"""


@NO_SIGNALS
def test_a_terminal_is_left_clean_and_a_pipe_has_what_was_printed() -> None:
    """Stdout is a pipe and stderr a terminal, as in `python search.py | tee log`."""
    import pty

    controller, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=end,
        env=environment(TERM="xterm", COLUMNS="80"),
        text=True,
    )
    os.close(end)
    seen = b""
    while True:
        try:
            some = os.read(controller, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if b"so far" in seen and b"so far" not in seen[: -len(some)]:
            process.send_signal(signal.SIGINT)
        seen += some
        if not some:
            break
    stdout, _ = process.communicate(timeout=300)
    os.close(controller)
    words = stdout.split("\n")
    assert (words[0], words[-2]) == ("before", "interrupted")
    assert words.count("a trial") == len(words) - 3 > 2
    assert b"a trial" not in seen
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"so far")  # the cursor is back
    assert seen.endswith(b"\x1b[2K")  # and the last line is empty


CELLS = """
import time, ramgape
def pull(arm, rng):
    time.sleep(0.02)
    return rng.beta(*{"steady": (40, 40), "wild": (0.2, 0.1)}[arm])
ramgape.identify(pull, ["steady", "wild"], reward_range=(0, 1), budget=100, seed=1);
"""


def test_in_a_notebook_one_output_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient
    import nbformat

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    seen: list[Any] = []

    class Client(nbclient.NotebookClient):  # type: ignore[misc, name-defined]
        def process_message(self, message: Any, *rest: Any) -> Any:
            seen.append(message)
            return super().process_message(message, *rest)

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELLS)])
    Client(notebook, timeout=300, kernel_name="python3").execute()
    updates = [each["content"]["data"]["text/plain"] for each in seen if each["msg_type"] == "update_display_data"]
    assert any("of 100 pulls in" in text and "so far " in text for text in updates)
    assert len(updates) < 30  # two a second
    assert updates[-1] == ""
    (output,) = [each for each in notebook.cells[0].outputs if each["output_type"] == "display_data"]
    assert output["data"] == {"text/plain": "", "text/html": ""}
    assert [each for each in notebook.cells[0].outputs if each["output_type"] in ("stream", "error")] == []
