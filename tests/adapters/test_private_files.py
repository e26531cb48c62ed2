"""Files that hold secrets: private from their making, whole after any crash (CFG-1 to CFG-5)."""

import os
import stat
from pathlib import Path

import pytest

from ov_es_adapters.private_files import replace_privately


def test_cfg_3_the_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        replace_privately(tmp_path / "a" / "b" / "key.json", b"{}")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "a" / "b" / "key.json").stat().st_mode) == 0o600


def test_cfg_1_the_old_file_stays_whole_until_the_new_one_is(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    replace_privately(path, b"old")

    with path.open("rb") as reader:
        replace_privately(path, b"new")

        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"


def test_cfg_4_nothing_stays_behind_whatever_fails(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    path.mkdir()

    with pytest.raises(OSError, match="directory"):
        replace_privately(path, b"new")

    assert [each.name for each in tmp_path.iterdir()] == ["key.json"]
