"""Pages of a server as pictures: studies of suppliers, a server that has them, and Chromium that looks at it."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ramgape
from ramgape.web.listening import Place
from ramgape.web.logs import Log
from ramgape.web.serving import ServerOptions, Serving, application

# Mean and firmness of the share of parts that are good.
SUPPLIERS = {
    "Adler": (0.63, 20.0),
    "Bohr": (0.67, 22.0),
    "Curie": (0.64, 24.0),
    "Darwin": (0.40, 8.0),
    "Euler": (0.73, 13.0),
    "Franklin": (0.70, 5.0),
    "Gauss": (0.52, 7.0),
    "Hopper": (0.58, 14.0),
}
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars")


def tried(generator: random.Random, arm: str) -> float:
    mean, firmness = SUPPLIERS[arm]
    return generator.betavariate(mean * firmness, (1.0 - mean) * firmness)


def fill(storage: str) -> None:
    """One study that goes on, one that is done, one that waits, one that has not begun."""
    for name, count, options in (
        ("suppliers", 1000, {"epsilon": 0.01}),
        ("suppliers, first round", 10**6, {"epsilon": 0.08}),
        ("a budget", 900, {"budget": 1500}),
        ("next year", 0, {"epsilon": 0.05}),
    ):
        generator = random.Random(5)
        with ramgape.Study.create(
            name, list(SUPPLIERS), storage=storage, reward_range=(0, 1), seed=1, **options
        ) as study:
            while study.result(expect=False).trials < count and (pulls := study.ask(20)):
                study.tell_many([(pull, tried(generator, pull.arm)) for pull in pulls])
            if name == "suppliers":
                study.fail(study.ask(1, worker="node-3")[0], "connection reset by peer")
                for worker, number in (("node-1", 3), ("node-2", 2), ("node-3", 2)):
                    study.ask(number, worker=worker, lease=900.0)


@contextmanager
def served(filled: bool) -> Iterator[tuple[str, str]]:
    """The address of a server, and its token."""
    with tempfile.TemporaryDirectory() as folder:
        before, os.environ["XDG_STATE_HOME"] = os.environ.get("XDG_STATE_HOME"), folder
        storage = f"sqlite:///{folder}/studies.db"
        if filled:
            fill(storage)
        options = ServerOptions(log=Log(level="error"))
        serving = Serving(Place(port=0), options, application(storage))
        server = serving.make_server()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [serving.socket]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield serving.address, str(json.loads(serving.token_file.read_text())["token"])
        finally:
            server.should_exit = True
            thread.join()
            serving.close()
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def site(
    path: str, ready: str, file: Path, width: int = 1280, height: int = 1240, dark: bool = False, filled: bool = True
) -> None:
    """A page of the server in a window, when something on it is there."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print(f"  {file.name}: left out, there is no Chromium")
        return
    from playwright.sync_api import sync_playwright

    with served(filled) as (address, token), sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=list(FLAGS))
        options: dict[str, Any] = {"color_scheme": "dark" if dark else "light"}
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        if path != "/login":
            context.request.post(f"{address}/api/v1/login", data={"token": token}, headers={"Origin": address})
        page = context.new_page()
        page.goto(address + path)
        page.locator(ready).first.wait_for(timeout=60_000)
        page.wait_for_timeout(4000)  # what comes later: the past, a forecast
        page.screenshot(path=file)
        chromium.close()
