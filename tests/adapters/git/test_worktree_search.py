"""Which worktree is a ticket's, from names and branches."""

import pytest

from ov_es_adapters.git.worktree_search import Worktree, parse_worktree_list, prepared_for


def tree(path: str, branch: str) -> Worktree:
    return Worktree(path=path, branch=f"refs/heads/{branch}" if branch else "")


@pytest.mark.parametrize(
    ("path", "branch"),
    [
        ("/w/one", "agent/COR-5"),
        ("/w/one", "agent/cor-5-fix-login"),
        ("/w/one", "agent/ada/COR-5"),
        ("/w/COR-5", "agent/login"),
        ("/w/repo.COR-5", "agent/login"),
        ("/w/one", "agent/5"),
        ("/w/one", "agent/5-fix-login"),
        ("/w/one", "agent/ticket-5"),
        ("/w/one", "agent/fix_5"),
        ("/w/ticket5", "agent/login"),
    ],
)
def test_git_102_a_worktree_is_found_by_slug_or_id(path: str, branch: str) -> None:
    assert prepared_for([tree(path, branch)], "5", "COR-5") == path


@pytest.mark.parametrize(
    ("path", "branch"),
    [
        ("/w/one", "agent/COR-50"),
        ("/w/one", "agent/XCOR-5"),
        ("/w/one", "agent/55"),
        ("/w/one", "agent/15-fix"),
        ("/w/one", "agent/ABC-5"),
        ("/w/ABC-5", "agent/login"),
        ("/w/one", "COR-5"),
        ("/w/COR-5", "main"),
        ("/w/COR-5", ""),
        ("/w/one", "agent/python3.5x"),
    ],
)
def test_git_102_another_ticket_or_another_kind_of_branch_is_not_taken(
    path: str, branch: str
) -> None:
    assert prepared_for([tree(path, branch)], "5", "COR-5") is None


def test_git_102_the_slug_names_a_ticket_better_than_the_id() -> None:
    trees = [tree("/a", "agent/5"), tree("/b", "agent/COR-5")]

    assert prepared_for(trees, "5", "COR-5") == "/b"
    assert prepared_for(trees, "5", "") == "/a"
    assert prepared_for(trees, "", "") is None


def test_bare_and_vanished_worktrees_are_none() -> None:
    text = (
        "worktree /bare\0bare\0\0"
        "worktree /gone\0HEAD 1\0branch refs/heads/agent/5\0prunable gone\0\0"
        "worktree /detached\0HEAD 1\0detached\0\0"
        "worktree /with space\0HEAD 1\0branch refs/heads/agent/5\0locked\0\0"
    )

    assert parse_worktree_list(text) == [
        tree("/detached", ""),
        tree("/with space", "agent/5"),
    ]
