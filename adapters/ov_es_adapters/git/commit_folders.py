"""Which folders git writes for a commit, where a sandbox has to be told of each."""

from pathlib import Path


def commit_folders(directory: Path) -> tuple[str, ...]:
    """Return the git folders of a clone or a linked worktree; none for anything else.

    What stands in a worktree may be the work of an earlier run. So a link is followed only to a
    repository that names the worktree as its own, and never out of a clone.
    """
    link = directory / ".git"
    if link.is_symlink():
        return ()
    if link.is_dir():
        return (str(link),)
    try:
        own = (directory / _first_line(link).removeprefix("gitdir:").strip()).resolve()
        common = (own / _first_line(own / "commondir")).resolve()
        is_known = own.parent == common / "worktrees" and (common / "HEAD").is_file()
        names_it = (own / _first_line(own / "gitdir")).resolve() == link.resolve()
    except (OSError, ValueError):
        return ()
    return (str(common), str(own)) if is_known and names_it else ()


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].strip()
