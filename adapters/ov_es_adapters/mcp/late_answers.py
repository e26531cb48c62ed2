"""Answers that come after their call was given up: they settle what became of it (OUT-06)."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ov_es_adapters.mcp.answers import refusal_in, unpacked
from ov_es_adapters.mcp.failures import RequestFailedError
from ov_es_adapters.mcp.outcomes import REASON_CHARACTERS_MAX
from ov_es_adapters.redaction import Redactor

_LOGGER = logging.getLogger(__name__)

Asked: TypeAlias = "asyncio.Task[dict[str, object]]"
LateAnswer: TypeAlias = Callable[[str, Mapping[str, object], object], None]
"""Is told the tool, the arguments and the result of a call that succeeded after all."""


class LateAnswers:
    """The requests that are still listened to, though nobody waits for them."""

    def __init__(self, offer: LateAnswer, redactor: Redactor) -> None:
        """`offer` is called in the event loop, and must not block it."""
        self._offer = offer
        self._redactor = redactor
        self._listening: set[Asked] = set()

    def listen(self, asked: Asked, tool: str, arguments: Mapping[str, object]) -> None:
        """Offer the answer when it comes; that it never does is what was assumed already."""

        def heard(task: Asked) -> None:
            self._listening.discard(task)
            if task.cancelled():
                return
            failure = task.exception()
            if isinstance(failure, RequestFailedError):
                reason = self._redactor.text(str(failure), REASON_CHARACTERS_MAX)
                _LOGGER.debug("no late answer to %s: %s", tool, reason)
                return
            result = task.result()
            if refusal_in(result) is None:
                self._offer(tool, arguments, unpacked(result))

        self._listening.add(asked)
        asked.add_done_callback(heard)

    async def close(self) -> None:
        """Listen no more."""
        listening = list(self._listening)
        for task in listening:
            task.cancel()
        if listening:
            await asyncio.wait(listening)
