"""What holds for every test: nothing that it starts may outlive it."""

import os
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ov-es", deadline=None, print_blob=True)
settings.load_profile("ov-es")

# What a test says about colours and folders must not depend on whose machine it runs on.
for _name in ("NO_COLOR", "FORCE_COLOR", "OV_ES_HOME", "OV_ES_STORE", "OV_ES_API_KEY"):
    os.environ.pop(_name, None)


def _children() -> set[str]:
    """Return the pids of our children, without those that have ended already."""
    found: set[str] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            found |= set(task.read_text(encoding="ascii").split())
        except OSError:
            continue
    return {pid for pid in found if _is_running(pid)}


def _is_running(pid: str) -> bool:
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return said.rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


@pytest.fixture(autouse=True)
def _nothing_is_left_running(request: pytest.FixtureRequest) -> Generator[None, None, None]:
    """Fail a test that leaves a process or a thread behind."""
    processes, threads = _children(), set(threading.enumerate())
    yield
    if {"postgres_server", "postgres_url", "postgres"} & set(request.fixturenames):
        return  # a server that serves the whole session starts with the first test that needs it
    left = _children() - processes
    for thread in set(threading.enumerate()) - threads:
        if thread.name.startswith(("asyncio_", "ThreadPoolExecutor")):
            continue
        thread.join(timeout=2)
        assert not thread.is_alive(), f"the thread {thread.name} is still running"
    assert not left, f"processes are still running: {sorted(left)}"
