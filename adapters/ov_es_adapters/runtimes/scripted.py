"""The scripted runtime: a real child process that does what a playbook says.

It needs no account, no model and no network, so the demo and the tests run on it.
"""

import dataclasses
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import ov_es_adapters
import ov_es_domain
from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.runtimes.cli_run import start_run, unchanged
from ov_es_adapters.runtimes.playbook import Playbook, ScriptedRun
from ov_es_adapters.runtimes.process_group import Command
from ov_es_adapters.runtimes.run_environment import inherited
from ov_es_adapters.runtimes.run_limits import Limits
from ov_es_adapters.runtimes.scripted_agent import PYTHON_ROOTS, SPEED, Orders
from ov_es_adapters.runtimes.streams import parser_for

MODULE = "ov_es_adapters.runtimes.scripted_agent"


class ScriptedRuntime:
    """Starts one `scripted_agent` process for each run."""

    name = "scripted"

    def __init__(  # noqa: PLR0913 - each has a default that suits
        self,
        playbook: Playbook,
        *,
        state_folder: Path,
        limits: Limits | None = None,
        speed: float = 1.0,
        recordings: Path | None = None,
        environment: Mapping[str, str] | None = None,
        redact: Callable[[str], str] = unchanged,
    ) -> None:
        """Play `playbook`.

        Args:
            playbook: What is done for which source.
            state_folder: Where runs work that have no directory of their own (RN-10).
            limits: All but the time limit, which each request brings along.
            speed: Scripted seconds per real one.
            recordings: The folder that `plays` is relative to; None: the current one.
            environment: What runs inherit; None: our own environment but for our settings.
            redact: Takes secrets out of what a program said on stderr.
        """
        self._playbook = playbook
        self._state_folder = state_folder
        self._limits = limits or Limits(time_limit=0.0)
        self._speed = speed
        self._recordings = recordings or Path.cwd()
        self._environment = inherited(os.environ) if environment is None else dict(environment)
        self._redact = redact
        self._launched: dict[str, int] = {}

    async def start(self, request: RunRequest) -> Run:
        """Start the source's next run."""
        # A later cycle of the same source counts its attempts from 1 again; the script goes on.
        launch = max(request.attempt, self._launched.get(request.source, 0) + 1)
        self._launched[request.source] = launch
        run = self._found(self._playbook.run(request.source, launch))
        orders = Orders(
            run=run,
            session=request.execution,
            disabled_tools=request.disabled_tools,
            team_server=request.team_server,
        )
        command = Command(
            argv=(sys.executable, "-P", "-m", MODULE),
            environment=self._child_environment(),
            directory=request.directory or str(self._state_folder),
            stdin=orders.to_bytes(),
        )
        return await start_run(
            command,
            marker=request.execution,
            parser=parser_for(run.dialect),
            limits=dataclasses.replace(self._limits, time_limit=request.time_limit_seconds),
            redact=self._redact,
        )

    def _found(self, run: ScriptedRun) -> ScriptedRun:
        if run.plays is None:
            return run
        return dataclasses.replace(run, plays=str((self._recordings / run.plays).resolve()))

    def _child_environment(self) -> dict[str, str]:
        # The module has to be found from any directory, also out of a checkout.
        packages = (ov_es_adapters, ov_es_domain)
        roots = os.pathsep.join(str(Path(package.__path__[0]).parent) for package in packages)
        before = self._environment.get("PYTHONPATH")
        return {
            **self._environment,
            "PYTHONPATH": f"{roots}{os.pathsep}{before}" if before else roots,
            PYTHON_ROOTS: roots,
            SPEED: str(self._speed),
        }
