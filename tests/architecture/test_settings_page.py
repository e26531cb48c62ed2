"""The page of settings tells each field with the default that it really has."""

import dataclasses
import re
from pathlib import Path

import pytest

from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.websocket.connection import SocketSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "settings.md"
SECTIONS: tuple[tuple[str, type], ...] = (
    ("What a watcher goes by", WatchSettings),
    ("What the socket goes by", SocketSettings),
)
WITHOUT_A_DEFAULT = {"address", "api_key", "identifier"}
"""They come from the agent's connection, and the page's first table has that."""


def _told(heading: str) -> dict[str, str]:
    section = (
        PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    )
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE))


def _written(default: object) -> str:
    """Return a default as the page writes it."""
    match default:
        case None:
            return "none"
        case bool():
            return str(default).lower()
        case int() | float():
            return f"{default:g}" if default < 100_000 else f"{default:.0f}"
        case _:
            return "–"


@pytest.mark.parametrize(("heading", "settings"), SECTIONS)
def test_the_page_tells_each_setting_with_its_default(heading: str, settings: type) -> None:
    fields = [f for f in dataclasses.fields(settings) if f.name not in WITHOUT_A_DEFAULT]

    real = {field.name: _written(field.default) for field in fields}

    assert _told(heading) == real
