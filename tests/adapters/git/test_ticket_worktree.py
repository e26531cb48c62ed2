"""A ticket's own worktree: made once, kept as it is, and nobody else's is touched."""

import asyncio
import contextlib
import subprocess
from pathlib import Path

import pytest
from tests.adapters.git.test_worktrees import commit, run_git

from ov_es_adapters.git.worktrees import GitWorktrees


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "src"


@pytest.fixture
def clone(root: Path) -> Path:
    path = root / "core"
    path.mkdir(parents=True)
    run_git(path, "init", "-q")
    commit(path, "a.txt")
    return path


def _branches(clone: Path) -> list[str]:
    return run_git(clone, "branch", "--format=%(refname:short)").split()


async def test_git_103_the_tickets_worktree_is_made_on_a_branch_of_its_own(
    root: Path, clone: Path
) -> None:
    trees = GitWorktrees(root, identifier="ada")
    expected = await trees.find("5", "COR-5")
    assert expected is not None
    assert not Path(expected).exists()

    made = await trees.prepare("5", "COR-5")

    assert made == expected
    assert run_git(Path(made), "symbolic-ref", "--short", "HEAD") == "agent/ada-cor-5"
    assert (Path(made) / "a.txt").exists()
    assert run_git(clone, "status", "--porcelain") == ""
    assert run_git(clone, "symbolic-ref", "--short", "HEAD") == "main"


async def test_git_103_a_root_that_is_the_clone_keeps_a_clean_status(clone: Path) -> None:
    made = await GitWorktrees(clone, identifier="ada").prepare("5", "COR-5")

    assert made is not None
    assert Path(made).is_relative_to(clone)
    assert run_git(clone, "status", "--porcelain") == ""
    assert await GitWorktrees(clone).find("5", "COR-5") == made


async def test_git_103_what_was_done_there_is_never_reset(root: Path, clone: Path) -> None:
    trees = GitWorktrees(root, identifier="ada")
    made = Path(await trees.prepare("5", "COR-5") or "")
    commit(made, "b.txt")
    (made / "a.txt").write_text("dirty\n")
    head = run_git(made, "rev-parse", "HEAD")

    again = await GitWorktrees(root, identifier="ada").prepare("5", "COR-5")

    assert again == str(made)
    assert run_git(made, "rev-parse", "HEAD") == head
    assert (made / "a.txt").read_text() == "dirty\n"
    assert len(_branches(clone)) == 2


async def test_git_103_a_branch_that_was_left_is_checked_out_as_it_stands(
    root: Path, clone: Path
) -> None:
    trees = GitWorktrees(root, identifier="ada")
    made = Path(await trees.prepare("5", "COR-5") or "")
    commit(made, "b.txt")
    head = run_git(made, "rev-parse", "HEAD")
    run_git(clone, "worktree", "remove", str(made))

    again = await trees.prepare("5", "COR-5")

    assert again == str(made)
    assert run_git(made, "rev-parse", "HEAD") == head


async def test_git_01_four_at_once_have_four_worktrees(root: Path, clone: Path) -> None:
    trees = GitWorktrees(root, identifier="ada")

    made = await asyncio.gather(*(trees.prepare(str(n), f"COR-{n}") for n in range(4)))

    assert len(set(made)) == 4
    assert None not in made
    assert len(_branches(clone)) == 5


async def test_git_01_a_lock_that_somebody_holds_for_a_moment_is_waited_for(
    root: Path, clone: Path
) -> None:
    # The branch's own lock is held, as by another git that is writing it right now.
    lock = clone / ".git" / "refs" / "heads" / "agent" / "ada-cor-5.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    trees = GitWorktrees(root, identifier="ada")
    making = asyncio.create_task(trees.prepare("5", "COR-5"))
    await asyncio.sleep(1.5)
    lock.unlink()

    assert await making is not None
    assert "agent/ada-cor-5" in _branches(clone)


async def test_git_01_after_a_final_failure_neither_folder_nor_branch_is_left(
    root: Path, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ov_es_adapters.git.ticket_worktree._PAUSE_SECONDS", 0.0)
    # A filter that fails breaks the checkout when the branch is there already.
    (clone / ".gitattributes").write_text("*.txt filter=broken\n")
    run_git(clone, "add", ".gitattributes")
    run_git(clone, "commit", "-q", "-m", "Break")
    run_git(clone, "config", "filter.broken.smudge", "false")
    run_git(clone, "config", "filter.broken.required", "true")
    trees = GitWorktrees(root, identifier="ada")

    assert await trees.prepare("5", "COR-5") is None

    assert _branches(clone) == ["main"]
    assert run_git(clone, "worktree", "list").count("\n") == 0
    assert not any((root / ".worktrees" / "core").glob("*"))


async def test_git_03_two_tickets_never_share_a_tree_nor_touch_the_main_checkout(
    root: Path, clone: Path
) -> None:
    trees = GitWorktrees(root, identifier="ada")
    (clone / "a.txt").write_text("somebody's work\n")
    before = (run_git(clone, "rev-parse", "HEAD"), run_git(clone, "status", "--porcelain"))
    one, two = [Path(await trees.prepare(n, f"COR-{n}") or "") for n in ("5", "50")]

    await asyncio.gather(
        asyncio.to_thread(commit, one, "one.txt"), asyncio.to_thread(commit, two, "two.txt")
    )

    assert one != two
    assert run_git(clone, "log", "--format=%s", "agent/ada-cor-5").split() == ["one.txt", "a.txt"]
    assert run_git(clone, "log", "--format=%s", "agent/ada-cor-50").split() == ["two.txt", "a.txt"]
    after = (run_git(clone, "rev-parse", "HEAD"), run_git(clone, "status", "--porcelain"))
    assert after == before


@pytest.mark.parametrize("renames", [False, True])
async def test_git_05_a_plain_push_does_not_land_on_main(
    root: Path, clone: Path, tmp_path: Path, *, renames: bool
) -> None:
    server = tmp_path / "server.git"
    run_git(tmp_path, "clone", "-q", "--bare", str(clone), str(server))
    run_git(clone, "remote", "add", "origin", str(server))
    run_git(clone, "fetch", "-q")
    run_git(clone, "remote", "set-head", "origin", "main")
    run_git(clone, "config", "push.default", "upstream")
    before = run_git(server, "rev-parse", "main")
    tree = Path(await GitWorktrees(root, identifier="ada").prepare("5", "COR-5") or "")
    commit(tree, "b.txt")
    if renames:
        run_git(tree, "branch", "-m", "agent/another")

    with contextlib.suppress(subprocess.CalledProcessError):
        run_git(tree, "push", "-q")

    assert run_git(server, "rev-parse", "main") == before


async def test_git_08_what_another_ticket_left_uncommitted_is_not_in_the_new_tree(
    root: Path, clone: Path
) -> None:
    del clone
    trees = GitWorktrees(root, identifier="ada")
    one = Path(await trees.prepare("5", "COR-5") or "")
    (one / "left.txt").write_text("not committed\n")

    two = Path(await trees.prepare("6", "COR-6") or "")

    assert not (two / "left.txt").exists()
    assert (one / "left.txt").exists()


async def test_git_103_it_begins_at_the_servers_default_branch(
    root: Path, clone: Path, tmp_path: Path
) -> None:
    server = tmp_path / "server.git"
    run_git(tmp_path, "clone", "-q", "--bare", str(clone), str(server))
    run_git(clone, "remote", "add", "origin", str(server))
    run_git(clone, "fetch", "-q")
    run_git(clone, "remote", "set-head", "origin", "main")
    fetched = run_git(clone, "rev-parse", "origin/main")
    run_git(clone, "switch", "-q", "-c", "somebodys")
    commit(clone, "theirs.txt")

    tree = Path(await GitWorktrees(root, identifier="ada").prepare("5", "COR-5") or "")

    assert run_git(tree, "rev-parse", "HEAD") == fetched


async def test_git_103_among_several_clones_none_is_chosen(root: Path, clone: Path) -> None:
    other = root / "site"
    other.mkdir()
    run_git(other, "init", "-q")
    commit(other, "a.txt")
    trees = GitWorktrees(root, identifier="ada")

    assert await trees.find("5", "COR-5") is None
    assert await trees.prepare("5", "COR-5") is None
    assert _branches(clone) == ["main"]


async def test_git_103_without_a_commit_there_is_nothing_to_begin_at(root: Path) -> None:
    empty = root / "empty"
    empty.mkdir(parents=True)
    run_git(empty, "init", "-q")

    assert await GitWorktrees(root, identifier="ada").prepare("5", "COR-5") is None


async def test_git_103_a_folder_in_the_way_is_left_alone(root: Path, clone: Path) -> None:
    del clone
    trees = GitWorktrees(root, identifier="ada")
    place = Path(await trees.find("5", "COR-5") or "")
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("mine\n")

    assert await trees.prepare("5", "COR-5") is None
    assert [path.name for path in place.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("slug", ["../../etc", "-rf", "COR 5/…", "a" * 300, "é", "", "x.lock"])
async def test_git_103_whatever_a_slug_says_the_place_is_below_the_root(
    root: Path, clone: Path, slug: str
) -> None:
    del clone
    made = await GitWorktrees(root, identifier="ada").prepare("5", slug)

    assert made is not None
    assert Path(made).resolve().is_relative_to(root / ".worktrees" / "core")
    assert run_git(Path(made), "symbolic-ref", "--short", "HEAD").startswith("agent/ada")
