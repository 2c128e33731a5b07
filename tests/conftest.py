"""A real PostgreSQL server for the tests that need one: started by the first, one for each worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server; `tests.support.new_database` makes a place for a store on it."""
    with postgres.postgres_server(durable=False) as address:
        yield address
