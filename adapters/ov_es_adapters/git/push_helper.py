"""The only push that an agent may make: its own `agent/…` branch, to `origin`, never by force.

Source: GIT-104 to GIT-110. Nothing of it takes an argument, so nothing else can be expressed.
"""

from dataclasses import dataclass
from pathlib import Path

from ov_es_adapters.errors import NotConfiguredError, PeerRefusedError
from ov_es_adapters.git.push_authorizations import PushAuthorizations
from ov_es_adapters.git.push_target import PushTarget, current_branch, read_target, run_git
from ov_es_adapters.redaction import Redactor

PUSH_SECONDS_MAX = 300.0
MARKER = "OV_ES_PR_PUSH_AUTH_REQUIRED"
"""What the watcher looks for in the output of a run's commands (BL-11)."""
_REASON_CHARACTERS_MAX = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What was pushed."""

    root: str
    remote: str
    branch: str


class PushNotAuthorizedError(NotConfiguredError):
    """No person has authorized pushes from this repository to its present address."""

    def __init__(self, root: str) -> None:
        """Keep the root, which the marker tells."""
        self.root = root
        super().__init__(
            f"pushing from {root} needs a person's authorization: run `ov-es authorize-pr-push`"
            " there, once"
        )


def authorize(directory: Path, authorizations: PushAuthorizations) -> PushTarget:
    """Record what a push from here means now, as what a person wants.

    Raises: BadInputError.
    """
    target = read_target(directory)
    authorizations.authorize(target)
    return target


def push(directory: Path, authorizations: PushAuthorizations) -> Pushed:
    """Push the present branch to the branch of the same name on `origin`.

    Raises: BadInputError, PushNotAuthorizedError, PeerRefusedError when the server says no.
    """
    target = read_target(directory)
    branch = current_branch(directory)
    if not authorizations.permits(target):
        raise PushNotAuthorizedError(target.root)
    done = run_git(
        directory,
        (
            *("-c", "push.gpgSign=false", "-c", "push.followTags=false"),
            *("-c", "remote.origin.mirror=false"),
            *("push", "--no-verify", "--no-force", "--recurse-submodules=no"),
            *("--receive-pack=git-receive-pack", "--set-upstream"),
            *("origin", f"refs/heads/{branch}:refs/heads/{branch}"),
        ),
        seconds_max=PUSH_SECONDS_MAX,
    )
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise PeerRefusedError(
            f"{branch} wasn't pushed: {Redactor([]).text(said, _REASON_CHARACTERS_MAX)}"
        )
    return Pushed(root=target.root, remote=target.remote, branch=branch)
