"""A real PostgreSQL server for the tests that need one, started by the first, one for each worker; and a table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server; `tests.support.new_database` makes a place for a store on it."""
    with postgres.postgres_server(durable=False) as address:
        yield address


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the attack has shown, in one table, whichever workers ran its scenes."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    found = [value for report in reports for name, value in report.user_properties if name == "attack"]
    if found:
        from tests.attack import Row, table

        terminalreporter.section("the attack on studies")
        terminalreporter.write_line(table([Row(*each) for each in sorted(found)]))
