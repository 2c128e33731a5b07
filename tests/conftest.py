"""Places for stores, and a real PostgreSQL server for the tests that need one, one for each worker; and a table."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import postgres

if TYPE_CHECKING:
    from tests.servers import Places


# Byte code is kept even where the environment forbids it: every process that a test starts would compile 300 files.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that starts the tests in the background ignores Ctrl-C for them, which some tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Garbage is looked for less often, and not at all while tests are collected, which leaves objects that stay."""
    gc.set_threshold(100_000, 20, 20)
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on; but nothing of what is there already is looked at."""
    gc.freeze()
    gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Of a family of cases `few(n)` leaves every n-th to the usual tests, the first among them; the others are long."""
    few = item.get_closest_marker("few")
    if few is not None and item.get_closest_marker("long") is None:
        family = item.nodeid.partition("[")[0]
        place = FAMILIES.get(family, 0)
        FAMILIES[family] = place + 1
        if place % few.args[0]:
            item.add_marker(pytest.mark.long)


collect_ignore = ["data"]  # programs that made the data: one of them imports scikit-learn, in four seconds
FAMILIES: dict[str, int] = {}  # how many cases of each have been seen


@pytest.fixture(autouse=True)
def few_forecasts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No simulations for the expected trials of a study, but in tests that look at them (marked `forecasts`)."""
    from ramgape.studies import report

    if request.node.get_closest_marker("forecasts") is None:
        unwanted = functools.partial(report.expect_pulls, is_over=lambda: True)
        monkeypatch.setattr(report, "expect_pulls", unwanted)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server, started by the first test that asks for it."""
    with postgres.postgres_server(durable=False) as address:
        yield address


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """An empty place for a store on that server."""
    return postgres.new_database(postgres_server)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for a store, on either database."""
    return _place(request, tmp_path)


@pytest.fixture(params=["memory", "sqlite", "postgresql", "http"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """An empty place for a store, a server over one, or None for a study in memory.

    Studies are the same wherever they are kept; tests that look into their stores are `HERE` (tests/stores.py).
    """
    return None if request.param == "memory" else _place(request, tmp_path)


@pytest.fixture(scope="session")
def servers() -> Iterator[Places]:
    """A server for many stores, started by the first test that asks for it."""
    from tests.servers import many_places

    with many_places() as places:
        yield places


@pytest.fixture
def server_url(servers: Places, tmp_path: Path) -> Iterator[str]:
    """The address of a server over an empty store."""
    with servers.place(f"sqlite:///{tmp_path / 'served.db'}") as url:
        yield url


def _place(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{folder / 'studies.db'}"
    url: str = request.getfixturevalue("server_url" if request.param == "http" else "postgres_url")
    return url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the attack has shown, in one table, whichever workers ran its scenes."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    found = [value for report in reports for name, value in report.user_properties if name == "attack"]
    if found:
        from tests.attack import Row, table

        terminalreporter.section("the attack on studies")
        terminalreporter.write_line(table([Row(*each) for each in sorted(found)]))
