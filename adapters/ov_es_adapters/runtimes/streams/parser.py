"""The reader of a run's stdout, whatever program printed it: lines in, then a conclusion."""

from importlib import import_module
from typing import Protocol, cast

from ov_es_domain.observation import StreamObservation

DIALECTS = ("claude", "codex", "opencode", "acp")


class StreamParser(Protocol):
    """Reads one run's stdout. Pure: it is given lines, and touches nothing else."""

    def feed(self, line: bytes) -> None:
        """Take one line without its line feed; no bytes whatever make it raise."""
        ...

    def conclude(self, exit_status: int | None) -> StreamObservation:
        """Say what the stream proves; `exit_status` is negative for a signal, None if unknown."""
        ...


def parser_for(dialect: str) -> StreamParser:
    """Return a fresh reader of a dialect.

    Args:
        dialect: One of `DIALECTS`.

    Raises:
        LookupError: There is no such dialect.
    """
    if dialect not in DIALECTS:
        raise LookupError(f"no stream dialect is called {dialect!r}: {', '.join(DIALECTS)}")
    # The readers bring orjson along, which whoever only names a dialect doesn't need.
    module = import_module(f"ov_es_adapters.runtimes.streams.{dialect}")
    make = cast("type[StreamParser]", vars(module)["Parser"])
    return make()
