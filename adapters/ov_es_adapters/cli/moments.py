"""A place in the log as people name it: a position, or a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ov_es_domain.recorded import Recorded


@dataclass(frozen=True, slots=True)
class Moment:
    """Exactly one of the two is set."""

    position: int | None = None
    at: float | None = None
    """Seconds since the epoch."""


# Only newer versions of click can be subscripted when the program runs.
if TYPE_CHECKING:
    _Parameter = click.ParamType[Moment]
else:
    _Parameter = click.ParamType


class MomentType(_Parameter):
    """Reads `120`, `2026-01-31` or `2026-01-31T09:00:00+01:00`; without a zone it's UTC."""

    name = "N|TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Moment:
        """Return the moment, or fail with what would be right."""
        if isinstance(value, Moment):
            return value
        text = str(value).strip()
        if text.isascii() and text.isdigit():
            return Moment(position=int(text))
        try:
            time = datetime.fromisoformat(text)
            return Moment(at=(time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            self.fail(
                f"{text!r} is neither a position, such as 120, nor a time, such as"
                " 2026-01-31T09:00:00Z",
                param,
                ctx,
            )


def position_at(moment: Moment, events: Iterable[Recorded]) -> int:
    """Return the position of the last event that had happened at a moment; 0: none had."""
    if moment.position is not None:
        return moment.position
    last = 0
    for event in events:
        if moment.at is not None and event.at > moment.at:
            break
        last = event.position
    return last
