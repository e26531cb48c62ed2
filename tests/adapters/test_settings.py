"""Connections: kept privately, read strictly, never shown."""

import os
from pathlib import Path

import pytest

from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.settings import (
    API_KEY_VARIABLE,
    Connection,
    checked_name,
    connection_path,
    load_connection,
    save_connection,
)

CONNECTION = Connection(
    agent="ada", ws="ws://127.0.0.1:1/ws", mcp="http://127.0.0.1:1/mcp", api_key="s3cret-key"
)


def test_cfg_6_what_was_saved_is_read_back(tmp_path: Path) -> None:
    path = save_connection(tmp_path, CONNECTION)

    assert load_connection(tmp_path, "ada") == CONNECTION
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_key_is_in_no_representation() -> None:
    assert "s3cret-key" not in repr(CONNECTION)


def test_the_environment_s_key_goes_before_the_stored_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_connection(tmp_path, CONNECTION)
    monkeypatch.setenv(API_KEY_VARIABLE, "other-key")

    assert load_connection(tmp_path, "ada").api_key == "other-key"


def test_an_agent_that_was_never_connected_is_told_how(tmp_path: Path) -> None:
    with pytest.raises(NotConfiguredError, match="ov-es connect --name ada"):
        load_connection(tmp_path, "ada")


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    save_connection(tmp_path, CONNECTION).chmod(0o644)

    with pytest.raises(NotConfiguredError, match="chmod 600"):
        load_connection(tmp_path, "ada")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"agent": "ada"}', b'{"agent": 7}'])
def test_a_file_that_holds_something_else_is_an_error_that_names_it(
    tmp_path: Path, content: bytes
) -> None:
    path = connection_path(tmp_path, "ada")
    path.write_bytes(content)
    path.chmod(0o600)

    with pytest.raises(BadInputError, match=r"ada\.connection\.json"):
        load_connection(tmp_path, "ada")


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "x" * 65, ".hidden", os.sep])
def test_cfg_7_a_name_can_t_lead_out_of_the_folder(name: str) -> None:
    with pytest.raises(BadInputError):
        checked_name(name)
