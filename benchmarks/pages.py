"""The pages of a server: what a picture costs it, whatever the number of observations, and a redraw the browser.

Times of a redraw are processor time of the page's own thread: its script, styles and layout, without painting, which a
graphics card does elsewhere. As a study does, eight of a hundred arms change from one picture to the next; then all.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.measure import Case, Row, Spread, clock
from benchmarks.server import serving
from benchmarks.studies import place_for_files
from ramgape import Study
from ramgape.studies.local import LocalBackend
from ramgape.web.snapshot import make_picture, take_snapshot

GROUP = "pages"
FRAME = 16.0  # milliseconds: a screen shows sixty pictures a second
METRICS = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
# So many redraws of a picture in which some arms are a little different each time.
REDRAW = """async ([times, some]) => {
  const page = await import('/static/study.js'), shown = structuredClone(page.known.picture), taken = [];
  const place = Object.fromEntries(page.known.frame.columns.map((name, at) => [name, at]));
  const numbers = ['mean', 'mean_low', 'mean_high', 'risk', 'risk_low', 'risk_high'].map((name) => place[name]);
  for (let turn = 0; turn < times; turn += 1) {
    for (let arm = 0; arm < some; arm += 1) {
      const row = shown.rows[(turn * some + arm) % shown.rows.length];
      for (const at of numbers) if (row[at] !== null) row[at] += 0.002 * (Math.random() - 0.5);
      row[place.pulls] += 1;
    }
    shown.told += some;
    await new Promise(requestAnimationFrame);
    page.takePicture(structuredClone(shown));
    const began = performance.now();
    page.draw();
    taken.push(performance.now() - began);
    document.body.offsetHeight;
  }
  return taken;
}"""


def cases(quick: bool) -> Iterator[Case]:
    """Pictures, and redraws where there is a browser."""
    yield Case("pictures", lambda: pictures(200 if quick else 100_000, 3 if quick else 20))
    if not quick and shutil.which("chromium") is not None:
        yield Case("redraws", lambda: redraws(60, 5))


def pictures(many: int, turns: int) -> Iterator[Row]:
    """What a picture takes, of few observations and of many."""
    sessions = {}
    for count in (100, many):
        generator = random.Random(1)
        arms = [f"arm {place}" for place in range(10)]
        study = Study.create("watched", arms, reward_range=(0, 1), epsilon=0.0, seed=1)
        while study.backend.progress().samples < count:
            study.tell_many([(pull, generator.random()) for pull in study.ask(min(count, 1000))])
        desk = study.backend
        assert isinstance(desk, LocalBackend)
        sessions[count] = study, desk.session
    taken: dict[int, list[float]] = {count: [] for count in sessions}
    for turn in range(turns + 1):
        for count, (study, session) in sessions.items():
            study.observe("arm 0", 0.5)
            began = clock()
            json.dumps(make_picture(take_snapshot(session)))
            if turn:  # the first time something may be compiled
                taken[count].append(1000.0 * (clock() - began))
    few, large = taken.values()
    ratios = [b / a for a, b in zip(few, large, strict=True)]
    yield Row(GROUP, f"a picture of {many:,} observations, over one of 100", "times", Spread.of(ratios), 2.0)
    yield Row(GROUP, f"a picture of {many:,} observations and 10 arms", "ms", Spread.of(large))


def redraws(times: int, turns: int) -> Iterator[Row]:
    """What a redraw of a hundred arms takes."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory(dir=place_for_files()) as folder,
        serving(Path(folder).absolute()) as (address, token),
        sync_playwright() as driver,
    ):
        number = crowd(address, token)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 1000})
        context.request.post(f"{address}/api/v1/login", data={"token": token}, headers={"Origin": address})
        page = context.new_page()
        page.goto(f"{address}/studies/{number}#asked")
        page.locator(".arm .box").first.wait_for()
        page.wait_for_timeout(3000)
        tools = context.new_cdp_session(page)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        for some, words in ((8, "of which 8 change"), (100, "all of which change")):
            spent, drawn = [], []
            for _ in range(turns):
                before = metrics(tools)
                drawn += page.evaluate(REDRAW, [times, some])
                spent.append(1000.0 * (metrics(tools) - before) / times)
            target = FRAME if some == 8 else None
            yield Row(GROUP, f"a redraw of 100 arms, {words}, processor time", "ms", Spread.of(spent), target)
            yield Row(GROUP, f"a redraw of 100 arms, {words}, the script by the clock", "ms", Spread.of(drawn))
        browser.close()


def metrics(tools: Any) -> float:
    """Seconds of processor time that the page's thread has spent so far."""
    found = {each["name"]: each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}
    return float(sum(found[name] for name in METRICS))


def crowd(address: str, token: str) -> int:
    """The number of a study of a hundred arms, each of which was tried a few times."""
    connection, generator = HTTPConnection(address.removeprefix("http://")), random.Random(1)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    arms = [f"model {place + 1}" for place in range(100)]
    data = [[arm, generator.betavariate(2 + place % 7, 3)] for place, arm in enumerate(arms) for _ in range(60)]
    body = {"name": "crowd", "arms": arms, "reward_range": [0, 1], "epsilon": 0.05, "data": data}
    connection.request("POST", "/api/v1/studies", json.dumps(body), headers)
    number: int = json.loads(connection.getresponse().read())["id"]
    return number
