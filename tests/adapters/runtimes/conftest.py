"""What tests of real processes share: a marker that nothing may carry when a test is over."""

import secrets
from collections.abc import Iterator

import pytest

from ov_es_adapters.runtimes.process_table import carries_marker, entries


@pytest.fixture
def marker() -> Iterator[str]:
    """Return a marker for one test's processes, and count what is left of them."""
    value = secrets.token_hex(16)
    yield value
    left = [entry for entry in entries() if carries_marker(entry.pid, value)]
    assert left == [], "processes were left behind"
