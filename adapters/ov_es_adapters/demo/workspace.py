"""The demo's workspace: a small repository, with a worktree for each ticket, made by real git."""

import subprocess
from pathlib import Path

_FILES = {
    "greet.py": 'print("Helo")\n',
    "receipt.py": 'for item in ("tea", "milk"):\n    print(item)\n',
    "parser.py": "def parse(text):\n    return text.split()\n",
}
_BRANCHES = {"SHO-5": "agent/ada-SHO-5-greeting", "SHO-6": "agent/ada-SHO-6-receipt"}
_GIT = (
    "git",
    "-c",
    "user.name=Maya",
    "-c",
    "user.email=maya@shop.example",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "core.hooksPath=/dev/null",
)


def make_workspace(root: Path) -> None:
    """Make a repository with a first commit, and a worktree for each ticket of the day."""
    repository = root / "shop"
    repository.mkdir(parents=True)
    _git(repository, "init", "--quiet")
    for name, content in _FILES.items():
        (repository / name).write_text(content, encoding="utf-8")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "--message", "Open the shop")
    for slug, branch in _BRANCHES.items():
        _git(repository, "worktree", "add", "--quiet", "-b", branch, str(root / slug))
        # What the agent commits there has an author, whatever this machine's settings are.
        for key, value in (("user.name", "Ada"), ("user.email", "ada@shop.example")):
            _git(root / slug, "config", key, value)


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(  # noqa: S603 - the words of this file and a folder of our own making
        [*_GIT, *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True
    )
