"""The site: it is built without a warning, needs no network, no link is dead, and everything is near its front page."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import ramgape
from ramgape.cli.commands import app
from ramgape.cli.streams import BAD_INPUT, FAILED, INTERRUPTED
from ramgape.problems.environments import DISTRIBUTIONS
from ramgape.web.app import make_app
from tests.built_site import FRONT, ROOT, BuiltSite, build_once, in_styles, is_foreign, style_sheets

# Where links may lead that somebody clicks: sources that are cited. Nothing is loaded from there.
CITED = {
    "https://jobqueue.dask.org",
    "https://proceedings.mlr.press/v304/nonaga25a.html",  # the paper
    "https://keepachangelog.com/en/1.1.0/",
    "https://semver.org/spec/v2.0.0.html",
}
EDIT = "https://github.com/ramgape/ramgape/edit/main/docs/"  # "edit this page"
# Questions, the page that answers them, one click from the front page, and words of the answer.
QUESTIONS = {
    "what to declare about the data": ("guides/assumptions.html", "", "Declare the strongest statement"),
    "what within-epsilon means": ("reference/glossary.html", "term-within-epsilon", "right up to the tolerance"),
    "may I peek": ("faq.html", "", "May I peek"),
    "how to cite": ("reference/citing.html", "", "@inproceedings"),
}
# Words that people search for, and the page that must come first.
SEARCHED = {
    "multi-armed bandit": "why.html",
    "LLM evaluation": "guides/test-sets.html",
    "A/B test": "guides/ab-tests.html",
    "p-value": "statisticians.html",
    "Bayesian": "statisticians.html",
    "Thompson sampling": "why.html",
    "peeking": "faq.html",
    "anytime-valid": "statisticians.html",
    "Bonferroni": "statisticians.html",
    "early stopping": "faq.html",
    "effect size": "guides/precision.html",
    "FAQ": "faq.html",
}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> BuiltSite:
    """Built once, by whichever worker is first."""
    own = tmp_path_factory.getbasetemp()
    return BuiltSite(build_once((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "docs"))


def test_no_link_is_dead(site: BuiltSite) -> None:
    dead = []
    for path, page in site.pages.items():
        for link in page.links | page.loaded:
            target = site.target(path, link)
            if target is None:
                continue
            there, anchor = target
            missing = there in site.pages and anchor and anchor not in site.pages[there].ids
            if missing or not (site.folder / there).exists():
                dead.append(f"{path}: {link}")
    assert not dead
    assert sum(len(page.links) for page in site.pages.values()) > 1000


def test_nothing_is_loaded_from_elsewhere(site: BuiltSite) -> None:
    loaded = {(path, each) for path, page in site.pages.items() for each in page.loaded}
    loaded |= {(path, each) for path, text in style_sheets(site.folder) for each in in_styles(text)}
    assert any(each.endswith(".css") or ".css?" in each for _, each in loaded)
    assert not [found for found in loaded if is_foreign(found[1])]


def test_links_to_elsewhere_are_those_that_are_listed(site: BuiltSite) -> None:
    linked = {link for page in site.pages.values() for link in page.links if is_foreign(link)}
    assert {link for link in linked - CITED if not link.startswith(EDIT)} == set()
    assert f"{EDIT}faq.md" in linked


def test_every_page_is_at_most_three_clicks_away(site: BuiltSite) -> None:
    """By links in the text; the sidebar, which has all pages, does not count."""
    clicks = site.clicks()
    made = {"genindex.html", "search.html", "py-modindex.html"}
    assert {page for page in site.pages if clicks.get(page, 99) > 3} <= made
    assert clicks[FRONT] == 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_people_look_for_is_near(site: BuiltSite, question: str) -> None:
    page, anchor, words = QUESTIONS[question]
    assert site.clicks()[page] <= 3
    assert words in site.pages[page].text
    assert not anchor or anchor in site.pages[page].ids
    linked = {site.target(FRONT, link) for link in site.pages[FRONT].read_links}
    assert (page, anchor) in linked


def test_every_public_name_is_in_the_reference(site: BuiltSite) -> None:
    known = set().union(*(page.ids for path, page in site.pages.items() if path.startswith("reference/")))
    assert {f"ramgape.{name}" for name in ramgape.__all__} - known == {"ramgape.__version__"}
    assert {name for name in ramgape._MODULES if not any(each.endswith(f".{name}") for each in known)} == set()
    assert {"ramgape.datasets.load_prompts", "ramgape.datasets.Models"} <= known
    assert {"ramgape.Study.create", "ramgape.Result.save_report", "ramgape.extend.check_policy"} <= known


def test_parameters_do_not_run_together(site: BuiltSite) -> None:
    """Each has a point of its own, with its type and its meaning."""
    html = (site.folder / "reference" / "python" / "identify.html").read_text(encoding="utf-8")
    points = [re.sub(r"<.*?>", "", point) for point in re.findall(r"<li><p>(<strong>\w+</strong>.*?)</p>", html, re.S)]
    assert any(point.startswith("delta (float | None) – Accepted probability") for point in points)
    assert len(points) > 30


def test_every_command_and_option_is_in_the_reference(site: BuiltSite) -> None:
    page = site.pages["reference/commands.html"]
    root = get_command(app)
    counted = 0
    for name in root.commands:  # type: ignore[attr-defined]
        command = root.load(name)  # type: ignore[attr-defined]
        inner = {f"{name} {each}": command.commands[each] for each in command.commands} if is_group(command) else {}
        for path in {name: command, **inner}:
            assert f"ramgape-{path.replace(' ', '-')}" in page.ids
        for path, each in (inner or {name: command}).items():
            loaded = command.load(each.name) if hasattr(command, "load") else each
            for parameter in loaded.params:
                if parameter.param_type_name == "option" and not parameter.hidden:
                    option = parameter.opts[0].lstrip("-")
                    counted += 1
                    assert f"cmdoption-ramgape-{path.replace(' ', '-')}-{option}" in page.ids
    assert counted > 200


def is_group(command: object) -> bool:
    return isinstance(command, TyperGroup)


def test_every_address_of_the_server_is_in_the_reference(site: BuiltSite) -> None:
    described = make_app(None).openapi()  # type: ignore[arg-type]
    page = site.pages["reference/http.html"]
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in page.text
    assert {name.lower() for name in described["components"]["schemas"]} <= page.ids


def test_every_variable_is_in_the_reference(site: BuiltSite) -> None:
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    constants = set(re.findall(r"^(RAMGAPE_[A-Z]+),? ", sources, re.MULTILINE))
    used = set(re.findall(r"(?<!_)RAMGAPE_[A-Z]+", sources)) - constants
    used |= {"FORCE_COLOR", "TTY_COMPATIBLE", "XDG_STATE_HOME"}
    assert len(used) > 8
    assert not {name for name in used if name not in site.pages["reference/environment.html"].text}


def test_errors_files_and_glossary_are_in_the_reference(site: BuiltSite) -> None:
    errors, files = site.pages["reference/errors.html"].text, site.pages["reference/files.html"].text
    for number in (0, FAILED, BAD_INPUT, INTERRUPTED):
        assert re.search(rf"\b{number} \w", errors)
    assert [name for name in DISTRIBUTIONS if name not in files] == []
    terms = ["arm", "certificate", "delta", "drift-check", "epsilon", "lease", "pareto-set", "risk", "trial"]
    assert {f"term-{term}" for term in terms} <= {each.lower() for each in site.pages["reference/glossary.html"].ids}
    assert ramgape.__version__ in site.pages["reference/changelog.html"].text


class Quiet(SimpleHTTPRequestHandler):
    """Files, without a word about them, also where the browser hangs up."""

    def log_message(self, *given: object) -> None:
        """Print nothing."""

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def finish(self) -> None:
        with suppress(ConnectionError):
            super().finish()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


MOST_WORDS = {"all": 44_100, "README": 900, "guide": 600}  # as `wc -w` counts them; 45,000 with the README


def test_the_pages_are_short() -> None:
    """All pages and the README have few words, and a guide answers one question."""
    pages = {path: len(path.read_text(encoding="utf-8").split()) for path in (ROOT / "docs").rglob("*.md")}
    guides = {path.name: words for path, words in pages.items() if path.parent.name == "guides"}
    assert {name for name, words in guides.items() if words > MOST_WORDS["guide"]} == set()
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= MOST_WORDS["README"]
    assert sum(pages.values()) <= MOST_WORDS["all"]


def test_a_search_leads_to_the_right_page(site: BuiltSite) -> None:
    """As a reader searches: in a browser, by the site's own search."""
    from tests.browsing import chromium

    with served(site.folder) as address, chromium() as browser:
        shown = browser.new_page()
        for words, page in SEARCHED.items():
            shown.goto(f"{address}/search.html?q={quote(words)}")
            first = shown.locator("#search-results ul.search li a").first
            first.wait_for(timeout=60_000)
            found = (first.get_attribute("href") or "").partition("?")[0].partition("#")[0]
            assert found.endswith(page), (words, found)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit_a_browser(site: BuiltSite, width: int, scheme: str) -> None:
    """Nothing is wider than the window, nothing is fetched, nothing complains; wide tables have a box of their own."""
    from tests.browsing import chromium, looking

    with chromium() as browser, looking(browser, "file://", None, width=width, color_scheme=scheme) as seen:
        for path in site.pages:
            page = seen.open(str(site.folder / path))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            boxes = (
                "[...document.querySelectorAll('article table.docutils')].every(each => each.closest('.table-wrapper'))"
            )
            assert page.evaluate(boxes), path
