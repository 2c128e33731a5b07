"""Connections to PostgreSQL that stand still, fall silent or break: nobody waits for ever, and nothing told is lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import psycopg
import pytest
from typer.testing import CliRunner

from ramgape import Study
from ramgape.cli import app
from ramgape.errors import RamgapeWarning, StorageUnavailable
from ramgape.storage import open_store
from ramgape.storage import postgres as postgres_module
from ramgape.storage.records import Changes, StudyRow
from ramgape.storage.store import SqlStore
from tests.postgres import new_database
from tests.proxy import Proxy, proxy_for
from tests.study_processes import ARMS, OPTIONS


@pytest.fixture
def url(postgres_server: str) -> str:
    return new_database(postgres_server)


@pytest.fixture
def proxy(url: str) -> Iterator[Proxy]:
    with proxy_for(url) as found:
        yield found


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """All limits but those that the URL sets are short."""
    for name in ("SHORTEST_STANDSTILL", "WORKING", "GRACE"):
        monkeypatch.setattr(postgres_module, name, 0.2)


@pytest.fixture
def opening() -> Iterator[Callable[[str], SqlStore]]:
    """Opens stores, and closes them in the end."""
    opened = []

    def opening(url: str) -> SqlStore:
        opened.append(open_store(url, create=True))
        return opened[-1]

    yield opening
    for each in opened:
        each.close()


def new_study(store: SqlStore) -> StudyRow:
    row = store.create_study("a study", "key", "{}", 1.0)
    assert row is not None
    return row


def setting(store: SqlStore, name: str) -> str:
    return str(store.execute(f"SHOW {name}").fetchone()[0])


# Standing still


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.usefixtures("hasty")
def test_whoever_stands_still_in_a_transaction_loses_it(
    url: str, opening: Callable[[str], SqlStore], written: bool
) -> None:
    frozen, other = opening(f"{url}&timeout=3"), opening(f"{url}&timeout=60")
    row = new_study(frozen)
    frozen.begin(row.id, write=True)
    if written:
        frozen.write(row._replace(revision=5), Changes(), 0)
    assert other.begin(row.id, write=True)[0] == row  # fails when the server has waited for a minute
    other.rollback()
    with pytest.raises(StorageUnavailable):
        frozen.commit()
    frozen.rollback()
    assert frozen.begin(row.id, write=True)[0] == row


# Silence


@pytest.mark.usefixtures("hasty")
def test_a_network_falls_silent_in_a_transaction(proxy: Proxy, opening: Callable[[str], SqlStore]) -> None:
    store = opening(f"{proxy.url}&timeout=1.6")
    row = new_study(store)
    store.begin(row.id, write=True)
    proxy.fall_silent()
    with pytest.raises(StorageUnavailable, match=r"no answer came for 2 s"):
        store.write(row, Changes(), 0)
    store.rollback()
    proxy.speak_again()
    assert store.begin(row.id, write=True)[0] == row


@pytest.mark.long  # two seconds: libpq never waits less for a connection
@pytest.mark.usefixtures("hasty")
def test_a_network_falls_silent_between_two_transactions(proxy: Proxy, opening: Callable[[str], SqlStore]) -> None:
    store = opening(f"{proxy.url}&timeout=0.2&connect_timeout=2")
    row = new_study(store)
    proxy.fall_silent()
    with pytest.raises(StorageUnavailable, match="cannot be reached"):
        store.begin(row.id, write=True)
    proxy.speak_again()
    assert store.begin(row.id, write=True)[0] == row


# What is asked of a server


def test_a_server_does_not_forget_its_statements_after_a_rollback(url: str) -> None:
    """Somebody who has only asked and told for long, and then looks, can go on asking and telling."""
    with Study.create("long", ARMS, storage=url, **OPTIONS["budget"]) as one, Study.load("long", url) as other:
        for _ in range(10):
            for study in (one, other):
                study.tell_many([(pull, 0.5) for pull in study.ask(2)])
        assert one.done is False
        assert all(one.tell_many([(pull, 0.5) for pull in one.ask(2)]))


def test_limits(url: str, opening: Callable[[str], SqlStore]) -> None:
    def limits(store: SqlStore) -> list[str]:
        names = ("lock_timeout", "idle_in_transaction_session_timeout", "statement_timeout")
        return [setting(store, name) for name in names]

    store = opening(url)
    assert limits(store) == ["1min", "30s", "90s"]
    assert store.ready().patience == 95.0
    parameters = store.ready().info.get_parameters()
    assert {name: parameters[name] for name in postgres_module.NETWORK} == {
        name: str(value) for name, value in postgres_module.NETWORK.items()
    }
    assert limits(opening(f"{url}&timeout=0")) == ["1ms", "5s", "30s"]

    own = opening(f"{url}%20-cstatement_timeout%3D7s%20--lock-timeout%3D8s&keepalives_idle=9&connect_timeout=11")
    assert limits(own) == ["8s", "30s", "7s"]
    assert own.ready().patience == 12.0
    parameters = own.ready().info.get_parameters()
    assert (parameters["keepalives_idle"], parameters["connect_timeout"]) == ("9", "11")


@pytest.mark.parametrize(
    ("default", "in_url", "used"),
    [("off", "", "on"), ("remote_apply", "", "remote_apply"), ("on", "%20-csynchronous_commit%3Doff", "off")],
)
def test_commits_wait_for_the_disk(
    url: str, opening: Callable[[str], SqlStore], default: str, in_url: str, used: str
) -> None:
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(f"ALTER ROLE postgres SET synchronous_commit = {default}")
        try:
            assert setting(opening(f"{url}{in_url}"), "synchronous_commit") == used
        finally:
            administrator.execute("ALTER ROLE postgres RESET synchronous_commit")


def test_a_server_that_does_not_wait_for_its_disk(url: str) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with Study.create("risky", ARMS, storage=url, **OPTIONS["budget"]) as study:
            study.ask()
            study.close()  # opens again
            study.ask()
    (warning,) = heard
    assert issubclass(warning.category, RamgapeWarning)
    assert "fsync is off at postgresql://" in str(warning.message)
    finished = CliRunner().invoke(app, ["study", "list", "--storage", url])
    assert finished.exit_code == 0
    assert finished.stderr.startswith("warning: fsync is off at ")
    assert finished.stderr.count("\n") == 1
