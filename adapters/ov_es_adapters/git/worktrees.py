"""The worktrees below the workspace: which is a ticket's, and what a run changed in one.

A stream of events can't be trusted to show every change (`agent-clis.md` section 0), so git is
asked before and after. What git can't tell is unknown, never "nothing".
Source: GIT-101 to GIT-103, EV-17.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from ov_es_adapters.git.commands import GitFailed, git
from ov_es_adapters.git.ticket_worktree import TicketWorktree, make, planned
from ov_es_adapters.git.worktree_search import Worktree, parse_worktree_list, prepared_for
from ov_es_adapters.ports import WorkspaceSnapshot
from ov_es_domain.observation import WorkspaceChange

DEPTH_MAX = 3
"""How deep below the workspace's root clones are looked for."""
FILES_MAX = 200
"""How many changed files a report names."""
_REFS = "%(objectname) %(worktreepath)%00%(refname)"


class GitWorktrees:
    """Worktrees of the real git."""

    def __init__(self, root: Path | None, *, identifier: str | None = None) -> None:
        """`root` may hold many clones; None: there is no workspace, and nothing is found.

        `identifier` is the agent that worktrees are made for; None: none are made.
        """
        self._root = root.resolve() if root is not None else None
        self._identifier = identifier
        self._making = asyncio.Lock()

    async def find(self, ticket_id: str, slug: str) -> str | None:
        """Return the ticket's prepared worktree below the workspace, or None (GIT-102).

        Where there is none, but `prepare` would make one, it's the place for that.
        """
        found, wanted = await self._look(ticket_id, slug)
        return found or (str(wanted.path) if wanted is not None else None)

    async def prepare(self, ticket_id: str, slug: str) -> str | None:
        """Return the ticket's worktree, and make it where it's known of which clone (GIT-103)."""
        # Git takes its locks without waiting, so one after the other is faster than together.
        async with self._making:
            found, wanted = await self._look(ticket_id, slug)
            if found is not None or wanted is None:
                return found
            return str(wanted.path) if await make(wanted) else None

    async def _look(self, ticket_id: str, slug: str) -> tuple[str | None, TicketWorktree | None]:
        """Return the prepared worktree, and else the one that would be made."""
        if self._root is None:
            return None, None
        root, found = self._root, dict[str, Worktree]()
        repositories = await asyncio.to_thread(lambda: list(_repositories(root)))
        for repository in repositories:
            if str(repository) in found:
                continue
            listed = await git(str(repository), "worktree", "list", "--porcelain", "-z")
            if isinstance(listed, str):
                found |= {tree.path: tree for tree in parse_worktree_list(listed)}
        below = [tree for tree in found.values() if Path(tree.path).is_relative_to(root)]
        prepared = prepared_for(below, ticket_id, slug)
        clones = [place for place in repositories if (place / ".git").is_dir()]
        if prepared is not None or self._identifier is None or len(clones) != 1:
            # Among several clones nobody but the run can tell which one a ticket is about.
            return prepared, None
        wanted = planned(
            root, clones[0], identifier=self._identifier, slug=slug, ticket_id=ticket_id
        )
        return None, wanted

    async def snapshot(self, directory: str) -> WorkspaceSnapshot | None:
        """Look at a directory before a run; None: git can't tell, so nothing is proven."""
        top = await git(directory, "rev-parse", "--show-toplevel")
        if isinstance(top, GitFailed):
            return None
        # A repository without a commit has no HEAD yet, which is no failure.
        head = await git(directory, "rev-parse", "--verify", "--quiet", "HEAD")
        refs = await git(directory, "for-each-ref", f"--format={_REFS}", "refs/heads", "refs/tags")
        status = await git(
            directory, "status", "--porcelain=v1", "--untracked-files=all", "--no-renames"
        )
        if isinstance(refs, GitFailed) or isinstance(status, GitFailed):
            return None
        place = top.rstrip("\n")
        return WorkspaceSnapshot(
            directory=directory,
            head="" if isinstance(head, GitFailed) else head.strip(),
            refs=_own_refs(refs, place),
            status=await asyncio.to_thread(_with_sizes_and_times, status, place),
        )

    async def compare(self, before: WorkspaceSnapshot | None) -> WorkspaceChange:
        """Look again after the run, and say what changed (EV-17)."""
        if before is None:
            return WorkspaceChange()
        after = await self.snapshot(before.directory)
        if after is None:
            return WorkspaceChange()
        commits = await self._new_commits(before, after)
        committed = await self._committed_files(before, after)
        lines = set(_lines(before.status)) ^ set(_lines(after.status))
        edited = {_path_of(line) for line in lines}
        return WorkspaceChange(
            changed=(before.head, before.refs, before.status)
            != (after.head, after.refs, after.status),
            commits=commits,
            files=tuple(sorted(edited | committed)[:FILES_MAX]),
        )

    async def _new_commits(self, before: WorkspaceSnapshot, after: WorkspaceSnapshot) -> int:
        """Count the commits that no tip led to before, on whatever branch they are now."""
        new = _tips(after) - _tips(before)
        if not new:
            return 0
        counted = await git(
            after.directory, "rev-list", "--count", *sorted(new), "--not", *sorted(_tips(before))
        )
        return int(counted) if isinstance(counted, str) else 0

    async def _committed_files(
        self, before: WorkspaceSnapshot, after: WorkspaceSnapshot
    ) -> set[str]:
        if not after.head or before.head == after.head:
            return set()
        # Before the first commit there was nothing: the whole tree is new.
        names = (
            ("diff", "--name-only", "--no-renames", before.head, after.head)
            if before.head
            else ("ls-tree", "-r", "--name-only", after.head)
        )
        listed = await git(after.directory, *names)
        return set(_lines(listed)) if isinstance(listed, str) else set()


def _repositories(root: Path) -> Iterator[Path]:
    """Yield the clones and worktrees at or below `root`, without looking into them."""
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        if (folder / ".git").exists():
            yield folder
        elif depth < DEPTH_MAX:
            waiting += [(below, depth + 1) for below in _folders(folder)]


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as listing:
            return [
                Path(entry.path)
                for entry in listing
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        # A folder that we may not read holds no worktree that we could work in.
        return []


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: names of files may hold Unicode's other separators."""
    return [line for line in text.split("\n") if line]


def _own_refs(listed: str, place: str) -> str:
    """Keep branches and tags but those that are checked out elsewhere: others work there."""
    kept: list[str] = []
    for line in _lines(listed):
        head, _, name = line.partition("\0")
        commit, _, worktree = head.partition(" ")
        if worktree in {"", place}:
            kept.append(f"{commit} {name}")
    return "\n".join(kept)


def _with_sizes_and_times(status: str, place: str) -> str:
    """Add size and time of each listed file: one that was dirty before can change again."""
    lines: list[str] = []
    for line in _lines(status):
        try:
            found = (Path(place) / _path_of(line)).lstat()
        except (OSError, ValueError):
            lines.append(line)
        else:
            lines.append(f"{line}\t{found.st_size}:{found.st_mtime_ns}")
    return "\n".join(lines)


def _path_of(line: str) -> str:
    """Return the path in a line of status; git quotes one that holds control characters."""
    return line[3:].partition("\t")[0].strip('"')


def _tips(snapshot: WorkspaceSnapshot) -> set[str]:
    tips = {line.partition(" ")[0] for line in _lines(snapshot.refs)}
    return (tips | {snapshot.head}) - {""}
