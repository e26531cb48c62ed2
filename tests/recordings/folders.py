"""Recordings of real runs: a folder of folders, or of archives of folders, one for each program.

Each `CASE.jsonl` is what a run printed; `CASE.meta.json` says how it was made and, under `truth`,
what really happened on the disk and on the team's server. Point OV_ES_RECORDINGS at others of the
same form to hold the readers against them.
"""

import gzip
import json
import os
import signal
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent / "recorded" / "agent-streams"

DIALECT_OF = {
    "claude": "claude",
    "codex": "codex",
    "opencode": "opencode",
    "claude-agent-acp": "acp",
    "codex-acp": "acp",
    "opencode-acp": "acp",
}
"""Which reader a program's stream is for; a program that isn't here is one nobody reads."""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One recorded run."""

    folder: str
    case: str
    stream: bytes
    meta: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.case}"

    @property
    def lines(self) -> list[bytes]:
        return self.stream.split(b"\n")

    @property
    def dialect(self) -> str:
        """The reader's name; a program that none is for is a KeyError, and so a failed test."""
        return DIALECT_OF[self.meta["cli"]]

    @property
    def exit_status(self) -> int | None:
        ended = self.meta["exit"]
        if ended["signal"]:
            return -signal.Signals[ended["signal"]]
        return ended["code"]


def root() -> Path:
    return Path(os.environ.get("OV_ES_RECORDINGS") or ROOT)


def _files(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield folder, file name and content of all that is there, packed or not."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from _files(path)
        elif ".tar" in path.suffixes:
            with tarfile.open(path) as archive:
                for member in archive:
                    if member.isfile() and (file := archive.extractfile(member)):
                        where = Path(member.name)
                        yield where.parent.name, where.name, file.read()
        elif path.suffix == ".gz":
            yield folder.name, path.stem, gzip.decompress(path.read_bytes())
        elif path.suffix in {".json", ".jsonl"}:
            yield folder.name, path.name, path.read_bytes()


@cache
def recordings() -> tuple[Recording, ...]:
    files = {(folder, name): content for folder, name, content in _files(root())}
    return tuple(
        Recording(
            folder=folder,
            case=case,
            stream=files[folder, f"{case}.jsonl"],
            meta=json.loads(content),
        )
        for (folder, name), content in files.items()
        if name.endswith(".meta.json")
        for case in [name.removesuffix(".meta.json")]
    )


@cache
def streams_without_truth() -> tuple[str, ...]:
    """Return the streams that nothing is known of: only first halves of resumed runs may be."""
    known = {f"{recording.folder}/{recording.case}" for recording in recordings()}
    return tuple(
        f"{folder}/{name}"
        for folder, name, _content in _files(root())
        if name.endswith(".jsonl")
        and not name.endswith(".first.jsonl")
        and f"{folder}/{name.removesuffix('.jsonl')}" not in known
    )
