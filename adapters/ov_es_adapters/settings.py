"""What an agent is connected to: its file and the environment, as one frozen value."""

import os
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

import orjson

from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.private_files import replace_privately

API_KEY_VARIABLE = "OV_ES_API_KEY"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The endpoints and credentials of one agent. The key is in no representation of it."""

    agent: str
    """The agent's identifier."""
    name: str = ""
    """Its display name; people may mention either."""
    backend: str = ""
    ws: str
    mcp: str
    api_key: str
    runtime: str = ""

    def __repr__(self) -> str:
        """Leave the key out: representations end up in logs."""
        return f"Connection(agent={self.agent!r}, ws={self.ws!r}, mcp={self.mcp!r})"


def home_folder(option: str | None) -> Path:
    """Return the folder of all state: the option, else the platform's place for user data."""
    if option:
        return Path(option).expanduser()
    from platformdirs import user_data_path  # noqa: PLC0415 - only where nothing else is given

    return user_data_path("ov-es")


def checked_name(agent: str) -> str:
    """Return an agent's name that can be a file's.

    Raises: BadInputError for any other.
    """
    if not _NAME.fullmatch(agent):
        raise BadInputError(
            f"--name {agent!r} can't be an agent's name: letters, digits, dots, dashes and"
            " underscores, 64 at most"
        )
    return agent


def connection_path(home: Path, agent: str) -> Path:
    """Return where an agent's connection is kept."""
    return home / f"{checked_name(agent)}.connection.json"


def load_connection(home: Path, agent: str) -> Connection:
    """Read an agent's connection; OV_ES_API_KEY, if set, is used in place of the stored key.

    Raises: NotConfiguredError when there is none; BadInputError when the file can't be used.
    """
    path = connection_path(home, agent)
    try:
        raw: object = orjson.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise NotConfiguredError(
            f"{agent} isn't connected: run `ov-es connect --name {agent} --ws … --mcp-url …` first"
        ) from error
    except (OSError, orjson.JSONDecodeError) as error:
        raise BadInputError(f"{path} can't be read as a connection: {error}") from error
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise NotConfiguredError(
            f"{path} has mode {mode:o} and others can read the key in it: run `chmod 600 {path}`"
        )
    if not isinstance(raw, dict):
        raise BadInputError(f"{path} holds no JSON object")
    known = {field.name for field in fields(Connection)}
    stored = {k: v for k, v in cast("dict[str, object]", raw).items() if k in known}
    texts = {key: value for key, value in stored.items() if isinstance(value, str)}
    missing = {"agent", "ws", "mcp", "api_key"} - texts.keys()
    if missing:
        raise BadInputError(f"{path} lacks {', '.join(sorted(missing))}: connect the agent again")
    if os.environ.get(API_KEY_VARIABLE):
        texts["api_key"] = os.environ[API_KEY_VARIABLE]
    return Connection(**texts)


def save_connection(home: Path, connection: Connection) -> Path:
    """Keep a connection in a file that only its owner can read; return the file."""
    path = connection_path(home, connection.agent)
    replace_privately(path, orjson.dumps(asdict(connection), option=orjson.OPT_INDENT_2))
    return path
