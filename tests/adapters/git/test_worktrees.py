"""What the real git says of real repositories, before and after a run."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ov_es_adapters.git.commands import GitFailed, git
from ov_es_adapters.git.worktrees import GitWorktrees
from ov_es_domain.observation import WorkspaceChange


def run_git(directory: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=directory,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.decode().strip()


def commit(directory: Path, name: str) -> None:
    (directory / name).write_text(f"{name}\n")
    run_git(directory, "add", "--all")
    run_git(directory, "commit", "-q", "-m", name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def clone(root: Path) -> Path:
    path = root / "clones" / "core"
    path.mkdir(parents=True)
    run_git(path, "init", "-q")
    commit(path, "a.txt")
    return path


async def changed_by(directory: Path, act: Callable[[], object]) -> WorkspaceChange:
    trees = GitWorktrees(directory)
    before = await trees.snapshot(str(directory))
    assert before is not None
    act()
    return await trees.compare(before)


async def test_git_102_a_prepared_worktree_is_found_below_the_root(
    root: Path, clone: Path
) -> None:
    run_git(clone, "worktree", "add", "-q", "-b", "agent/COR-5", str(root / "trees" / "five"))
    run_git(clone, "worktree", "add", "-q", "-b", "agent/COR-6", str(clone / ".worktrees" / "six"))

    trees = GitWorktrees(root)

    assert await trees.find("5", "COR-5") == str(root / "trees" / "five")
    assert await trees.find("6", "COR-6") == str(clone / ".worktrees" / "six")
    assert await trees.find("7", "COR-7") is None


async def test_git_102_a_worktree_outside_the_root_is_not_taken(root: Path, clone: Path) -> None:
    run_git(clone, "worktree", "add", "-q", "-b", "agent/COR-5", str(root / "elsewhere"))

    assert await GitWorktrees(root / "clones").find("5", "COR-5") is None
    assert await GitWorktrees(None).find("5", "COR-5") is None


async def test_ev_17_a_run_that_changes_nothing_is_known_to(clone: Path) -> None:
    change = await changed_by(clone, (clone / "a.txt").read_text)

    assert change == WorkspaceChange(changed=False, commits=0, files=())


async def test_ev_17_an_edit_is_seen_also_in_a_folder_that_is_new(clone: Path) -> None:
    def act() -> None:
        (clone / "new").mkdir()
        (clone / "new" / "é b.txt").write_text("1")
        (clone / "a.txt").write_text("2")

    change = await changed_by(clone, act)

    assert change == WorkspaceChange(changed=True, commits=0, files=("a.txt", "new/é b.txt"))


async def test_ev_17_a_file_that_was_dirty_before_can_change_again(clone: Path) -> None:
    (clone / "a.txt").write_text("dirty")

    change = await changed_by(clone, lambda: (clone / "a.txt").write_text("dirtier"))

    assert (change.changed, change.files) == (True, ("a.txt",))


async def test_ev_17_committed_work_is_seen_though_the_status_is_as_before(clone: Path) -> None:
    def act() -> None:
        commit(clone, "b.txt")
        commit(clone, "c.txt")

    change = await changed_by(clone, act)

    assert change == WorkspaceChange(changed=True, commits=2, files=("b.txt", "c.txt"))


async def test_ev_17_commits_count_on_a_branch_that_is_not_checked_out(clone: Path) -> None:
    def act() -> None:
        run_git(clone, "switch", "-q", "-c", "agent/x")
        commit(clone, "b.txt")
        run_git(clone, "switch", "-q", "main")

    change = await changed_by(clone, act)

    assert (change.changed, change.commits) == (True, 1)


async def test_what_others_do_in_their_worktrees_proves_nothing_of_this_run(
    root: Path, clone: Path
) -> None:
    other = root / "other"
    run_git(clone, "worktree", "add", "-q", "-b", "agent/COR-6", str(other))

    change = await changed_by(clone, lambda: commit(other, "theirs.txt"))

    assert change == WorkspaceChange(changed=False, commits=0, files=())


async def test_the_first_commit_of_a_repository_is_seen(root: Path) -> None:
    run_git(root, "init", "-q")

    change = await changed_by(root, lambda: commit(root, "a.txt"))

    assert change == WorkspaceChange(changed=True, commits=1, files=("a.txt",))


async def test_ev_17_where_git_fails_nothing_is_proven(root: Path, clone: Path) -> None:
    trees = GitWorktrees(root)
    before = await trees.snapshot(str(clone))
    (clone / ".git").rename(clone / "no-git")

    assert await trees.compare(before) == WorkspaceChange()
    assert await trees.snapshot(str(clone)) is None
    assert await trees.snapshot(str(root / "nowhere")) is None
    assert await trees.compare(None) == WorkspaceChange()


async def test_looking_runs_no_program_that_the_repository_names(root: Path, clone: Path) -> None:
    witness = root / "ran"
    hook = clone / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {witness}\n")
    hook.chmod(0o755)
    run_git(clone, "config", "core.fsmonitor", str(hook))
    witness.unlink(missing_ok=True)

    assert await GitWorktrees(root).snapshot(str(clone)) is not None
    assert not witness.exists()


async def test_our_own_environment_does_not_choose_the_repository(
    root: Path, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(root / "nowhere"))

    assert await GitWorktrees(root).snapshot(str(clone)) is not None


async def test_git_that_takes_too_long_is_ended(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = root / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 300\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")

    answer = await git(str(root), "status", seconds_max=0.05)

    assert answer == GitFailed(f"git status took longer than 0.05 s in {root}")


async def test_a_machine_without_git_proves_nothing(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert await GitWorktrees(clone).snapshot(str(clone)) is None
    assert await GitWorktrees(clone).find("5", "COR-5") is None
