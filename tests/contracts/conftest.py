"""The real PostgreSQL server that the contract suite runs on, beside SQLite."""

from collections.abc import Iterator

import pytest
from tests.contracts.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server
