"""Directories without a disk: what the runs edited and committed in each, as git would tell."""

from dataclasses import dataclass, field

from ov_es_adapters.ports import WorkspaceSnapshot
from ov_es_adapters.simulation.incarnation import Incarnation
from ov_es_domain.observation import WorkspaceChange

WORKSPACE = "/workspace"
"""The root below which every ticket has its worktree."""


@dataclass(slots=True)
class Workspace:
    """One directory under git."""

    commits: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """The files of each commit."""
    edited: dict[str, int] = field(default_factory=dict[str, int])
    """The files that were edited since, in that order, each with the number of its last edit."""
    edits: int = 0

    @property
    def head(self) -> str:
        """Return what stands for the hash of the last commit."""
        return f"{len(self.commits):040x}"

    @property
    def status(self) -> str:
        """Return what `git status` would say, and which state of each file it's about."""
        return "\n".join(f" M {path}\t{self.edited[path]}" for path in sorted(self.edited))

    def edit(self, path: str) -> None:
        """Change a file."""
        self.edits += 1
        self.edited[path] = self.edits

    def commit(self) -> bool:
        """Commit what was edited; False when that's nothing."""
        if not self.edited:
            return False
        self.commits.append(tuple(self.edited))
        self.edited.clear()
        return True


class Disk:
    """All directories of the simulated machine; they outlive every process."""

    def __init__(self) -> None:
        """Start with clean directories."""
        self._workspaces: dict[str, Workspace] = {}

    def workspace(self, directory: str) -> Workspace:
        """Return a directory; it's clean when nobody has touched it yet."""
        return self._workspaces.setdefault(directory, Workspace())


class SimulatedWorktrees:
    """The directories, as one incarnation sees them (`Worktrees`)."""

    def __init__(self, disk: Disk, incarnation: Incarnation, *, has_workspace: bool) -> None:
        """Without a workspace no ticket has a directory."""
        self._disk = disk
        self._incarnation = incarnation
        self._has_workspace = has_workspace

    async def find(self, ticket_id: str, slug: str) -> str | None:
        """Return the ticket's worktree; with a workspace each ticket has one."""
        self._incarnation.check()
        return f"{WORKSPACE}/{slug or ticket_id}" if self._has_workspace else None

    async def prepare(self, ticket_id: str, slug: str) -> str | None:
        """Return the same: on the simulated disk a directory is there when it's asked for."""
        return await self.find(ticket_id, slug)

    async def snapshot(self, directory: str) -> WorkspaceSnapshot | None:
        """Look at a directory before a run."""
        self._incarnation.check()
        seen = self._disk.workspace(directory)
        return WorkspaceSnapshot(
            directory=directory, head=seen.head, refs=seen.head, status=seen.status
        )

    async def compare(self, before: WorkspaceSnapshot | None) -> WorkspaceChange:
        """Look again after the run, and say what changed."""
        self._incarnation.check()
        if before is None:
            return WorkspaceChange()
        after = self._disk.workspace(before.directory)
        fresh = after.commits[int(before.head, 16) :]
        was_edited = set(before.status.split("\n"))
        touched = [path for commit in fresh for path in commit]
        touched += [
            path for path, edit in after.edited.items() if f" M {path}\t{edit}" not in was_edited
        ]
        return WorkspaceChange(
            changed=(after.head, after.status) != (before.head, before.status),
            commits=len(fresh),
            files=tuple(dict.fromkeys(touched)),
        )
