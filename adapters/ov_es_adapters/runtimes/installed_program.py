"""An agent program that a person has installed: found on PATH, or a run that says it's missing."""

import dataclasses
import shutil
from collections.abc import Callable, Mapping, Sequence

from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.runtimes.cli_run import UnstartedRun, start_run, unchanged
from ov_es_adapters.runtimes.process_group import Command
from ov_es_adapters.runtimes.run_limits import Limits
from ov_es_adapters.runtimes.streams import parser_for
from ov_es_domain.turn.kinds import Lane


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InstalledProgram:
    """How one program is started."""

    name: str
    """Of the program and of its stream's dialect."""
    title: str
    """What people call it."""
    environment: Mapping[str, str]
    limits: Limits = Limits(time_limit=0.0)  # noqa: RUF009 - it's frozen
    """All but the time limit, which each request brings along."""
    redact: Callable[[str], str] = unchanged
    """Takes secrets out of what it said on stderr."""

    @property
    def path(self) -> str | None:
        """Where it is; None: it isn't installed."""
        return shutil.which(self.name, path=self.environment.get("PATH"))

    @property
    def missing(self) -> str:
        """What a person has to do where it isn't installed."""
        return (
            f"there is no program {self.name} on PATH: install {self.title}, or use another"
            " --runtime"
        )

    async def start(
        self,
        request: RunRequest,
        *,
        arguments: Sequence[str],
        directory: str,
        stdin: bytes,
        more: Mapping[str, str],
    ) -> Run:
        """Start it; where there's no such program, the run's report says what to do (RN-8)."""
        found = self.path
        if found is None:
            return UnstartedRun(self.missing)
        command = Command(
            argv=(found, *arguments),
            environment={**self.environment, **more},
            directory=directory,
            stdin=stdin,
        )
        return await start_run(
            command,
            marker=request.execution,
            parser=parser_for(self.name),
            limits=dataclasses.replace(self.limits, time_limit=request.time_limit_seconds),
            redact=self.redact,
        )


def can_code(request: RunRequest) -> bool:
    """Tell whether a run may touch code: it has a workspace, and is no reply (RN-4)."""
    return request.lane == Lane.WORK.value and request.directory is not None


def whole_prompt(request: RunRequest) -> bytes:
    """Return system prompt and prompt as one text, for programs without a place for the first.

    Source: RN-3.
    """
    parts = [part for part in (request.system_prompt, request.prompt) if part]
    return "\n\n".join(parts).encode()
