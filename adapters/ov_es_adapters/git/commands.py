"""Git as a reader: bounded in time, without hooks, locks, prompts or a say of our environment."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

GIT_SECONDS_MAX = 10.0
_OUR_PLACE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE")


@dataclass(frozen=True, slots=True)
class GitFailed:
    """Git gave no answer; that proves nothing about the directory."""

    why: str


async def git(
    directory: str, *arguments: str, seconds_max: float = GIT_SECONDS_MAX
) -> str | GitFailed:
    """Run git in `directory` and return what it printed."""
    options: Sequence[str] = (
        # A file system monitor and hooks are programs that the repository chooses.
        *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
        *("-c", "core.quotePath=false"),
    )
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *options,
            *arguments,
            cwd=directory,
            env=_environment(os.environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        return GitFailed(f"git can't be started in {directory}: {error.strerror}")
    try:
        async with asyncio.timeout(seconds_max):
            printed, complained = await process.communicate()
    except TimeoutError:
        return GitFailed(f"git {arguments[0]} took longer than {seconds_max:g} s in {directory}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    if process.returncode != 0:
        first = complained.decode(errors="replace").strip().partition("\n")[0]
        return GitFailed(f"git {arguments[0]} failed in {directory}: {first[:200]}")
    return printed.decode(errors="replace")


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name not in _OUR_PLACE}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
