"""What tests of the rules listen to."""

import pytest

from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.simulation.runtimes import SimulatedRuntime


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[RunRequest]:
    """Listen to what the daemon asks its programs to do."""
    heard: list[RunRequest] = []
    start = SimulatedRuntime.start

    async def listen(self: SimulatedRuntime, request: RunRequest) -> Run:
        heard.append(request)
        return await start(self, request)

    monkeypatch.setattr(SimulatedRuntime, "start", listen)
    return heard
