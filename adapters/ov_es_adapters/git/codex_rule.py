"""The rule that lets codex run the push helper outside of its sandbox, and only that (GIT-104)."""

import os
from pathlib import Path

from ov_es_adapters.errors import NotConfiguredError
from ov_es_adapters.private_files import replace_privately

RULE = """\
# Written by `ov-es authorize-pr-push`; `ov-es revoke-pr-push` takes it away.
prefix_rule(pattern = ["ov-es", "push-pr-branch"], decision = "allow")
"""


def rule_file() -> Path:
    """Return where codex looks for rules of ours."""
    folder = os.environ.get("CODEX_HOME")
    return (Path(folder) if folder else Path.home() / ".codex") / "rules" / "ov-es.rules"


def allow_push_helper() -> Path | None:
    """Write the rule where codex has a folder of its own; None: there is no codex here.

    Raises: NotConfiguredError when it can't be written.
    """
    path = rule_file()
    if not path.parent.parent.is_dir():
        return None
    try:
        replace_privately(path, RULE.encode())
    except OSError as error:
        raise NotConfiguredError(f"{path} can't be written: {error.strerror}") from error
    return path


def forget_push_helper() -> None:
    """Take the rule away.

    Raises: NotConfiguredError when it can't be removed.
    """
    path = rule_file()
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise NotConfiguredError(f"{path} can't be removed: {error.strerror}") from error
