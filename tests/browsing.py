"""A real browser for tests of pages: Debian's Chromium, without a window, driven by playwright."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser."""
    path = shutil.which("chromium")
    assert path is not None, "chromium must be installed for this (a Debian package): `make` says how"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Seen:
    """A page, and what must not happen on it: errors, and requests to somebody else."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.wrong: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.wrong.append(f"an error: {error}"))
        page.on("request", self._asked)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != self.address:
            self.wrong.append(f"a request to {request.url}")

    def open(self, path: str) -> Page:
        """Go to a page of the server."""
        self.page.goto(self.address + path)
        return self.page

    def text(self, selector: str) -> str:
        """What stands there, on one line."""
        return " ".join((self.page.text_content(selector) or "").split())

    def number(self, selector: str) -> float:
        """The first number that stands there."""
        found = re.search(r"-?[\d,]*\.?\d+", self.text(selector))
        assert found is not None, self.text(selector)
        return float(found.group().replace(",", ""))


def log_in(context: BrowserContext, address: str, token: str) -> None:
    """Have a browser logged in, as its page does it."""
    answer = context.request.post(f"{address}/api/v1/login", data={"token": token}, headers={"Origin": address})
    assert answer.ok, answer.text()


@contextmanager
def looking(
    browser: Browser, address: str, token: str | None, width: int = 1280, height: int = 900, **options: Any
) -> Iterator[Seen]:
    """A page in a window of its own, with nothing wrong at its end; with a token the browser is logged in."""
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    try:
        if token is not None:
            log_in(context, address, token)
        seen = Seen(context.new_page(), address)
        yield seen
        assert not seen.wrong
    finally:
        context.close()


def violations(page: Page, part: str = "html", only: str | None = None) -> list[str]:
    """What axe finds in a part of a page against the rules of accessibility, WCAG 2.2 AA and its own advice."""
    import axe_playwright_python

    script = Path(axe_playwright_python.__file__).parent / "axe.min.js"
    # The policy of our pages allows no script from elsewhere, this one neither: it is run as the developer's tools do.
    page.evaluate(script.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], **({} if only is None else {"runOnly": [only]})}
    found = page.evaluate("([part, options]) => axe.run(document.querySelector(part), options)", [part, options])
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]
