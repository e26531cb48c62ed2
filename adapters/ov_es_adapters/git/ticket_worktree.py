"""Makes a ticket's own worktree, on an `agent/…` branch of its own.

Nothing that is there is ever reset, and the checkout that it's made from stays as it is: a
branch that exists is checked out as it stands, and what a failed try has made is taken away.
Source: GIT-103, GIT-107; field cases GIT-01, GIT-03, GIT-05, GIT-08.
"""

import asyncio
import re
import shutil
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path

from ov_es_adapters.git.commands import GitFailed, git

_LOGGER = getLogger("ov_es.worktrees")
_NAME_CHARACTERS_MAX = 60
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
_ADD_SECONDS_MAX = 300.0
_TRIES = 5
_PAUSE_SECONDS = 1.0
"""Several tries that far apart outlast whoever holds one of git's locks for a moment."""
_FOLDER = ".worktrees"


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketWorktree:
    """Where a ticket's worktree is, or would be."""

    clone: Path
    """The repository's main checkout."""
    path: Path
    branch: str
    """`agent/<identifier>-<slug>`."""


def planned(
    root: Path, clone: Path, *, identifier: str, slug: str, ticket_id: str
) -> TicketWorktree:
    """Say where the worktree of a ticket belongs: below the root, beside or inside the clone.

    >>> root, clone = Path("/src"), Path("/src/core")
    >>> tree = planned(root, clone, identifier="Ada", slug="COR-5", ticket_id="5")
    >>> str(tree.path), tree.branch
    ('/src/.worktrees/core/ada-cor-5', 'agent/ada-cor-5')
    """
    name = _name(f"{identifier}-{slug or f'ticket-{ticket_id}'}")
    folder = root / _FOLDER / clone.name if clone != root else clone / _FOLDER
    return TicketWorktree(clone=clone, path=folder / name, branch=f"agent/{name}")


def _name(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text.lower()).strip("-")[:_NAME_CHARACTERS_MAX].strip("-")


async def make(tree: TicketWorktree) -> bool:
    """Make the worktree; False, with the reason in the program's messages, where git can't.

    A worktree that is there already is kept as it is.
    """
    if await _is_there(tree):
        return True
    if tree.path.exists():
        _LOGGER.warning("%s is in the way of a worktree; it's left alone", tree.path)
        return False
    base = await _base(tree.clone)
    if base is None:
        _LOGGER.warning("%s has no commit to begin a branch at", tree.clone)
        return False
    await _hide(tree)
    failure = ""
    for attempt in range(_TRIES):
        if attempt:
            await asyncio.sleep(_PAUSE_SECONDS)
        has_branch = await _has_branch(tree)
        which = (
            (str(tree.path), tree.branch)
            if has_branch
            else ("--no-track", "-b", tree.branch, str(tree.path), base)
        )
        done = await git(str(tree.clone), "worktree", "add", *which, seconds_max=_ADD_SECONDS_MAX)
        if isinstance(done, str):
            return True
        failure = done.why
        await _take_away(tree, branch_base=None if has_branch else base)
    _LOGGER.warning("no worktree for %s: %s", tree.branch, failure)
    return False


async def _is_there(tree: TicketWorktree) -> bool:
    top = await git(str(tree.path), "rev-parse", "--show-toplevel") if tree.path.is_dir() else ""
    return isinstance(top, str) and top.rstrip("\n") == str(tree.path)


async def _base(clone: Path) -> str | None:
    """Begin at the server's default branch as it was fetched last, else at what is checked out."""
    for name in ("refs/remotes/origin/HEAD", "HEAD"):
        found = await git(str(clone), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if isinstance(found, str) and found.strip():
            return found.strip()
    return None


async def _has_branch(tree: TicketWorktree) -> bool:
    found = await git(
        str(tree.clone), "rev-parse", "--verify", "--quiet", f"refs/heads/{tree.branch}"
    )
    return isinstance(found, str)


async def _hide(tree: TicketWorktree) -> None:
    """Keep a folder inside the clone out of the clone's own status, without touching its files."""
    if not tree.path.is_relative_to(tree.clone):
        return
    common = await git(str(tree.clone), "rev-parse", "--path-format=absolute", "--git-common-dir")
    if isinstance(common, GitFailed):
        return
    path = Path(common.rstrip("\n")) / "info" / "exclude"
    line = f"/{_FOLDER}/"
    known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if line not in known:
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


async def _take_away(tree: TicketWorktree, *, branch_base: str | None) -> None:
    """Leave neither folder nor branch of a failed try behind; a branch with work is no such."""
    await git(str(tree.clone), "worktree", "prune")
    if tree.path.exists() and not await _is_there(tree):
        await asyncio.to_thread(shutil.rmtree, tree.path, ignore_errors=True)
        await git(str(tree.clone), "worktree", "prune")
    if branch_base is not None:
        ref = f"refs/heads/{tree.branch}"
        # Only where it still stands at what we began it at.
        await git(str(tree.clone), "update-ref", "-d", ref, branch_base)
