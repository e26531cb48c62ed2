"""The team in a file of one server's own: replaced whole after each change, read at the start."""

import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from ov_es_adapters.errors import BadInputError, NotConfiguredError, StoreLockedError
from ov_es_adapters.private_files import replace_privately
from ov_es_adapters.runtimes.strict_fields import Fields
from ov_es_adapters.team.access import Access

_FIELDS = ("agent", "keys", "control_token", "world")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is in the file."""

    agent: str
    """The identifier of the agent that the world was made for."""
    access: Access
    world: Mapping[str, object]
    """The world's snapshot."""


class StateFile:
    """A JSON file of mode 0600 that holds the world and the keys to it."""

    def __init__(self, path: Path) -> None:
        """Nothing is touched before `open`."""
        self._path = path
        self._lock: int | None = None

    @property
    def path(self) -> Path:
        """Return where it is."""
        return self._path

    def open(self) -> None:
        """Take the file for this server alone, until `close` or the end of the process.

        Raises: StoreLockedError where another server has it; BadInputError where the folder
        can't be written.
        """
        beside = self._path.with_name(f"{self._path.name}.lock")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise BadInputError(f"{self._path} can't be written: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise StoreLockedError(str(self._path), "another team server") from error
        self._lock = lock

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read(self) -> Kept | None:
        """Return what was kept, or None where nothing was yet.

        Raises: BadInputError where it holds something else, NotConfiguredError where others can
        read it.
        """
        try:
            mode = self._path.stat().st_mode & 0o777
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInputError(f"{self._path} can't be read: {error.strerror}") from error
        if mode & 0o077:
            raise NotConfiguredError(
                f"{self._path} has mode {mode:o} and others can read the keys in it:"
                f" run `chmod 600 {self._path}`"
            )
        try:
            value: object = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise BadInputError(f"{self._path} is no JSON: {error}") from error
        fields = Fields(value, str(self._path), _FIELDS, "a team's state")
        named = fields.object("keys")
        keys = Fields(named, f"{self._path}: keys", tuple(named), "the list of keys")
        access = Access(
            keys={who: keys.text(who) for who in named},
            control_token=fields.text("control_token"),
        )
        return Kept(agent=fields.text("agent"), access=access, world=fields.object("world"))

    def write(self, kept: Kept) -> None:
        """Keep it. Raises: OSError, and the old state stays."""
        content = {
            "agent": kept.agent,
            "keys": dict(kept.access.keys),
            "control_token": kept.access.control_token,
            "world": kept.world,
        }
        replace_privately(self._path, orjson.dumps(content, option=orjson.OPT_INDENT_2))
