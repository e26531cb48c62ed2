"""Where a PostgreSQL log is: its server, its database and its schema, without its password."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ov_es_adapters.errors import BadInputError

DEFAULT_SCHEMA = "ov_es"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_SHAPE = "postgresql://USER@HOST:PORT/DATABASE?schema=NAME"


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """What a URL says, taken apart."""

    parameters: Mapping[str, str] = field(repr=False)
    """libpq's own, with the password: never shown."""
    schema: str

    @property
    def name(self) -> str:
        """The log's name for people: nothing in it is secret."""
        host = self.parameters.get("host", "") or "localhost"
        port = self.parameters.get("port", "")
        where = f"{host}:{port}" if port else host
        return f"postgresql://{where}/{self.parameters.get('dbname', '')} ({self.schema})"

    def without_secrets(self, text: str) -> str:
        """Return what a server or a library said, without the password."""
        password = self.parameters.get("password")
        return text.replace(password, "***") if password else text


def postgres_address(url: str) -> PostgresAddress:
    """Read a URL; whatever it leaves out is libpq's to find (PGHOST, PGPASSWORD, a service file).

    Raises: BadInputError, which never repeats the URL: there may be a password in it.

    >>> postgres_address("postgresql://ada:secret@db.example:5433/team?schema=ada").name
    'postgresql://db.example:5433/team (ada)'
    """
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise BadInputError(f"the store's URL can't be read; one looks like {_SHAPE}") from None
    schemas = [value for name, value in options if name == "schema"]
    schema = schemas[-1] if schemas else DEFAULT_SCHEMA
    if not _SCHEMA.fullmatch(schema):
        raise BadInputError(
            f"the schema {schema!r} of the store's URL has to be lower-case letters, digits and _"
        )
    rest = urlencode([(name, value) for name, value in options if name != "schema"])
    try:
        parameters = conninfo_to_dict(urlunsplit(parts._replace(query=rest)))
        for port in str(parameters.get("port", "")).split(","):
            int(port or 0)
    except (psycopg.Error, ValueError):
        # Its message may quote any part of the URL.
        raise BadInputError(
            f"the store's URL isn't one that PostgreSQL knows; one looks like {_SHAPE}"
        ) from None
    return PostgresAddress(
        {name: str(value) for name, value in parameters.items() if value is not None}, schema
    )
