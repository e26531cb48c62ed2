"""The one place that decides what a command exits with (see docs/reference/exit-status.md)."""

from enum import IntEnum

import click

from ov_es_adapters.errors import (
    BadInputError,
    NotConfiguredError,
    PeerRefusedError,
    StoreError,
)
from ov_es_domain.errors import CommandRefusedError, OvEsError


class ExitStatus(IntEnum):
    """What scripts may rely on."""

    DONE = 0
    FOUND = 1
    """The check found something."""
    BAD_CALL = 2
    NOT_CONFIGURED = 3
    STORE = 4
    DEFECT = 70
    """Something that nobody foresaw; OV_ES_TRACEBACK=1 shows where."""
    INTERRUPTED = 130
    TERMINATED = 143


class Failure(click.ClickException):
    """One clear line for people, and an exit status for scripts."""

    def __init__(self, message: str, status: ExitStatus) -> None:
        """`message` says what, where, and what would be right."""
        super().__init__(" ".join(message.split()))
        self.exit_code = int(status)  # type: ignore[misc]  # click reads it from the instance


def status_of(error: OvEsError) -> ExitStatus:
    """Return the exit status that an error of ours means."""
    match error:
        case BadInputError() | CommandRefusedError():
            return ExitStatus.BAD_CALL
        case StoreError():
            return ExitStatus.STORE
        case NotConfiguredError() | PeerRefusedError():
            return ExitStatus.NOT_CONFIGURED
        case _:
            return ExitStatus.NOT_CONFIGURED
