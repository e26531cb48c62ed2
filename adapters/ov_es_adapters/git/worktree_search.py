"""Which of many worktrees was prepared for a ticket: pure, from names and branches alone.

Working in another ticket's worktree does harm, and finding none is ordinary, so a number that
is part of another ticket's name doesn't count.
Source: GIT-102, GIT-107 (branches of agents begin with `agent/`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

AGENT_BRANCHES = "refs/heads/agent/"
_PLAIN_WORDS = "ticket|tickets|task|tasks|issue|id|no|fix|feature|feat|bug|chore|work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """One working directory of a repository."""

    path: str
    branch: str
    """The whole ref; "" where HEAD is detached."""


def parse_worktree_list(text: str) -> list[Worktree]:
    r"""Read `git worktree list --porcelain -z`, without bare and vanished ones.

    >>> parse_worktree_list("worktree /a\0HEAD 1f\0branch refs/heads/agent/5\0\0")
    [Worktree(path='/a', branch='refs/heads/agent/5')]
    """
    found: list[Worktree] = []
    for record in text.split("\0\0"):
        fields: dict[str, str] = {}
        for line in record.split("\0"):
            name, _, value = line.partition(" ")
            fields[name] = value
        if "worktree" in fields and not fields.keys() & {"bare", "prunable"}:
            found.append(Worktree(path=fields["worktree"], branch=fields.get("branch", "")))
    return found


def prepared_for(worktrees: Iterable[Worktree], ticket_id: str, slug: str) -> str | None:
    """Return the path of the ticket's worktree; its slug names it better than its id.

    >>> trees = [Worktree(path="/w/cor-50", branch="refs/heads/agent/COR-50"),
    ...          Worktree(path="/w/b", branch="refs/heads/agent/fix-cor-5")]
    >>> prepared_for(trees, "5", "COR-5"), prepared_for(trees, "50", "ABC-1")
    ('/w/b', None)
    """
    ours = sorted(
        (tree for tree in worktrees if tree.branch.startswith(AGENT_BRANCHES)),
        key=lambda tree: tree.path,
    )
    for pattern in (_slug_pattern(slug), _id_pattern(ticket_id)):
        for tree in ours:
            names = (tree.branch.removeprefix(AGENT_BRANCHES), PurePath(tree.path).name)
            if pattern is not None and any(pattern.search(name) for name in names):
                return tree.path
    return None


def _slug_pattern(slug: str) -> re.Pattern[str] | None:
    if not slug.strip():
        return None
    return re.compile(rf"(?<![^\W_]){re.escape(slug.strip())}(?![^\W_])", re.IGNORECASE)


def _id_pattern(ticket_id: str) -> re.Pattern[str] | None:
    """Match the id as a word of its own, not as the number in another ticket's slug."""
    if not ticket_id.strip():
        return None
    word = re.escape(ticket_id.strip())
    before = rf"(?:^|[/_.#]|(?:^|[^a-z0-9])(?:{_PLAIN_WORDS})[-_#]?)"
    return re.compile(rf"{before}{word}(?![^\W_])", re.IGNORECASE)
