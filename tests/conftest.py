"""What holds for every test: nothing that it starts may outlive it."""

import asyncio
import inspect
import os
import threading
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline, since a busy machine isn't a defect; a failure prints what reproduces it.
settings.register_profile("ci", deadline=None, print_blob=True)
settings.load_profile("ci")

LEAVE_SECONDS = 2.0
"""How long what was told to end may take for it."""

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
    left = _children() - processes
    if {"postgres_server", "postgres_url", "postgres"} & set(request.fixturenames):
        left.clear()  # the server of the whole session starts with the first test that needs it
    for thread in set(threading.enumerate()) - threads:
        if thread.name.startswith(("asyncio_", "ThreadPoolExecutor")):
            continue
        thread.join(timeout=LEAVE_SECONDS)
        assert not thread.is_alive(), f"the thread {thread.name} is still running"
    assert not left, f"processes are still running: {sorted(left)}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each asynchronous test answer for its tasks, before all of its other fixtures."""
    for item in items:
        function: object = getattr(item, "function", None)
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(function):
            item.fixturenames.insert(0, "_no_task_is_left_running")


@pytest.fixture
async def _no_task_is_left_running() -> AsyncGenerator[None, None]:
    """Fail a test whose tasks are still there when it and its fixtures are through."""
    before = asyncio.all_tasks()
    yield
    mine = asyncio.current_task()
    left = {task for task in asyncio.all_tasks() - before if task is not mine and _is_ours(task)}
    if left:
        _, left = await asyncio.wait(left, timeout=LEAVE_SECONDS)
    assert not left, f"tasks are still running: {sorted(task.get_name() for task in left)}"


def _is_ours(task: asyncio.Task[object]) -> bool:
    """Leave out the one task that sse-starlette keeps for each event loop until the loop ends."""
    coroutine = task.get_coro()
    return getattr(coroutine, "__qualname__", "") != "_shutdown_watcher"
