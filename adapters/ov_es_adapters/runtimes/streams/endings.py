"""How a run ended, from an exit status or from what a program says of its own failure."""

import re
import signal

from ov_es_domain.observation import StreamOutcome

_STOPPING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM)
_STOPPED = frozenset(128 + int(number) for number in _STOPPING)
"""How a shell, and claude itself, tell that a signal ended the program."""

_CUT_OFF = re.compile(
    r"max_(?:output_)?tokens|max_turn|output token (?:maximum|limit)|maximum output", re.IGNORECASE
)
_QUOTA = re.compile(
    r"usage limit|rate[ _-]?limit|quota|too many requests|credit balance|billing"
    r"|insufficient[ _](?:credit|balance|funds)"
    r"|(?:^|session |weekly |daily |hourly |hour |request |message |account |plan |spend(?:ing)? )"
    r"limit (?:was |is |has been )?(?:reached|hit|exceeded)"
    r"|(?:hit|reached|exceeded) (?:your|the|its)\b[^.\n]{0,30}\blimit\b"
    r"|\blimit\b[^\n]{0,60}\bresets?\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content[ _-]?filter|safety|refus(?:al|ed to answer)|usage policy", re.IGNORECASE
)
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")

_QUOTA_STATUSES = frozenset({402, 429})
_REFUSED_STATUS = 403


def is_stopped(exit_status: int | None) -> bool:
    """Tell whether a signal from outside ended the program."""
    return exit_status is not None and (exit_status < 0 or exit_status in _STOPPED)


def says_quota(said: str) -> bool:
    """Tell whether a text speaks of a limit of use that was reached (STR-21)."""
    return _QUOTA.search(said.strip()) is not None


def by_exit(exit_status: int | None, *, has_output: bool) -> StreamOutcome:
    """Return how a run ended whose stream has no end: never well, whatever the status (EV-1)."""
    if exit_status is None:
        return StreamOutcome.UNKNOWN
    if is_stopped(exit_status):
        return StreamOutcome.INTERRUPTED
    if exit_status == 0 and not has_output:
        return StreamOutcome.NO_ANSWER
    return StreamOutcome.ERROR


def by_message(message: str, status: int | None = None) -> StreamOutcome:
    """Return the class of a failure that the program itself reports.

    >>> by_message("exceeded retry limit, last status: 429 Too Many Requests")
    <StreamOutcome.QUOTA: 'quota'>
    >>> by_message("Incomplete response returned, reason: max_output_tokens")
    <StreamOutcome.CUT_OFF: 'cut_off'>
    """
    if status is None and (told := _STATUS.search(message)):
        status = int(told[1])
    if _CUT_OFF.search(message):
        return StreamOutcome.CUT_OFF
    if status in _QUOTA_STATUSES or says_quota(message):
        return StreamOutcome.QUOTA
    if status == _REFUSED_STATUS or _REFUSED.search(message):
        return StreamOutcome.REFUSED
    return StreamOutcome.ERROR
