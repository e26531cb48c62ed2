"""The socket's address, which holds the key and is never shown."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.websocket.address import is_loopback, socket_address


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(["", "/", "/dev"]),
)
def test_ws_1_key_and_identifier_are_in_the_query_whatever_they_are(key: str, path: str) -> None:
    address = socket_address(f"wss://team.example{path}", api_key=key, identifier="ada b")

    assert parse_qs(urlsplit(address).query) == {"api_key": [key], "identifier": ["ada b"]}
    assert address.startswith(f"wss://team.example{path}?")


def test_ws_1_a_key_that_was_pasted_along_is_replaced_and_the_rest_stays() -> None:
    address = socket_address(
        "wss://team.example/dev?stage=2&api_key=OLD&empty=", api_key="NEW", identifier="ada"
    )

    assert address == "wss://team.example/dev?stage=2&empty=&api_key=NEW&identifier=ada"


@pytest.mark.parametrize(
    "base",
    [
        "https://team.example?api_key=SECRET",
        "team.example?api_key=SECRET",
        "wss://?api_key=SECRET",
        "wss://team.example:notaport?api_key=SECRET",
        "wss://team.example:99999?api_key=SECRET",
        "wss://[SECRET?api_key=SECRET",
        "wss://SECRET:SECRET@" + "a" * 70 + ".example",
        "wss://team.example/#SECRET",
        "",
    ],
)
def test_sec_101_an_address_that_is_wrong_is_refused_without_repeating_its_key(base: str) -> None:
    with pytest.raises(BadInputError) as refused:
        socket_address(base, api_key="SECRET", identifier="ada")

    assert "SECRET" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert "wss://team.example/dev" in str(refused.value)


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("ws://127.0.0.1:8000", True),
        ("ws://127.9.9.9", True),
        ("ws://localhost:1/dev", True),
        ("ws://team.localhost", True),
        ("ws://[::1]:80", True),
        ("wss://team.example", False),
        ("wss://10.0.0.1", False),
        ("wss://localhost.example", False),
    ],
)
def test_only_this_machine_is_loopback(base: str, *, expected: bool) -> None:
    assert is_loopback(base) is expected
