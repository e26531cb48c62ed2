"""What a push from a directory would mean: which repository, where to, and from which branch.

Whoever works in the repository can write its configuration, so everything in it that bends a
push is part of what a person authorizes, or is refused. Source: GIT-106 to GIT-109.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ov_es_adapters.errors import BadInputError

GIT_SECONDS_MAX = 10.0
BRANCHES = "refs/heads/agent/"
_SCHEMES = frozenset({"https", "http", "ssh"})
_SCP_LIKE = re.compile(r"(?:[\w.][\w.-]*@)?[\w.][\w.-]*:[^\s:@]+")
_BRANCH = re.compile(r"agent/[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9_-])?")
_REDIRECTS = re.compile(r"url\..*\.(?:push)?insteadof|remote\.origin\.(?:pushurl|vcs)", re.DOTALL)
_BENDS = re.compile(
    r"core\.(?:sshcommand|gitproxy|askpass|fsmonitor|alternaterefscommand)|ssh\..*|credential\..*"
    r"|http\..*|protocol\..*|remote\.origin\.(?:proxy|proxyauthmethod)|gpg\..*|include.*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushTarget:
    """A repository as a push would use it."""

    root: str
    """The absolute path of the repository's main working tree; its other worktrees, in which
    agents work, belong to it. Of one without a main working tree: the repository itself."""
    remote: str
    """The one address of `origin`, as it's written."""
    bends: str
    """A digest of the repository's own settings that change how git connects: their values may
    hold secrets."""


def read_target(directory: Path) -> PushTarget:
    """Read where a push from `directory` would go.

    Raises: BadInputError where there is no repository, no single address of `origin`, one that
    isn't a server's, one with credentials in it, or settings that lead a push elsewhere.
    """
    root = repository_root(directory)
    settings = _settings(directory)
    addresses = [value for name, value in settings if name == "remote.origin.url"]
    if len(addresses) != 1:
        raise BadInputError(f"{root} needs a remote `origin` with one address")
    for name, _ in settings:
        if _REDIRECTS.fullmatch(name):
            raise BadInputError(
                f"{root} sends its pushes elsewhere than `origin` says ({name}); take that away"
            )
    return PushTarget(root=root, remote=_checked(addresses[0]), bends=_digest(settings))


def repository_root(directory: Path) -> str:
    """Return the root of the repository that a directory belongs to.

    Raises: BadInputError where there is none.
    """
    common = git_answer(directory, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not common:
        raise BadInputError(f"{directory} isn't inside a git repository")
    folder = Path(common).resolve()
    return str(folder.parent if folder.name == ".git" else folder)


def current_branch(directory: Path) -> str:
    """Return the `agent/…` branch that is checked out in a worktree.

    Raises: BadInputError for any other, and for none (GIT-107, GIT-108).
    """
    ref = git_answer(directory, "symbolic-ref", "--quiet", "HEAD")
    if not ref:
        raise BadInputError(
            f"{directory} has no branch checked out; only agent/… branches are pushed"
        )
    branch = ref.removeprefix("refs/heads/")
    if not ref.startswith(BRANCHES) or not _BRANCH.fullmatch(branch) or ".." in branch:
        raise BadInputError(f"{directory} is on {branch!r}; only agent/… branches are pushed")
    return branch


def git_answer(directory: Path, *arguments: str) -> str:
    """Return what git says, or "" where it says no.

    Raises: BadInputError when git can't be run there, or doesn't answer.
    """
    done = run_git(directory, arguments, seconds_max=GIT_SECONDS_MAX)
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""


def run_git(
    directory: Path, arguments: Sequence[str], *, seconds_max: float
) -> "subprocess.CompletedProcess[str]":
    """Run git without hooks, without prompts and without a say of our own environment (GIT-109).

    Raises: BadInputError when it can't be run there, or takes longer.
    """
    options = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")
    try:
        return subprocess.run(  # noqa: S603 - fixed words, and paths that were checked
            ["git", *options, *arguments],  # noqa: S607 - the person's own git
            cwd=directory,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds_max,
            check=False,
        )
    except OSError as error:
        raise BadInputError(f"git can't be run in {directory}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise BadInputError(
            f"git {arguments[0]} didn't answer within {seconds_max:g} s in {directory}"
        ) from error


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def _settings(directory: Path) -> list[tuple[str, str]]:
    """Return the repository's own settings, with what they include, names in small letters."""
    found: list[tuple[str, str]] = []
    for scope in ("--local", "--worktree"):
        listed = git_answer(directory, "config", scope, "--includes", "--list", "-z")
        for entry in listed.split("\0"):
            name, _, value = entry.partition("\n")
            if name:
                found.append((name.lower(), value))
    return list(dict.fromkeys(found))


def _digest(settings: Sequence[tuple[str, str]]) -> str:
    bends = sorted(f"{name}={value}" for name, value in settings if _BENDS.fullmatch(name))
    return hashlib.sha256("\0".join(bends).encode()).hexdigest()


def _checked(address: str) -> str:
    """Return an address of a server without credentials (GIT-108)."""
    if "://" not in address:
        if _SCP_LIKE.fullmatch(address) is None:
            raise BadInputError("`origin` isn't the address of a server: nothing is pushed there")
        return address
    try:
        parts = urlsplit(address)
        is_known = parts.scheme in _SCHEMES and bool(parts.hostname)
    except ValueError as error:
        raise BadInputError("the address of `origin` can't be read") from error
    if not is_known:
        raise BadInputError("`origin` isn't the address of a server: nothing is pushed there")
    has_user = parts.username is not None and parts.scheme != "ssh"
    if has_user or parts.password is not None or parts.query or parts.fragment:
        # It isn't shown: what stands in it may be a secret.
        raise BadInputError(
            "the address of `origin` holds credentials; let git ask its credential helper instead"
        )
    return address
