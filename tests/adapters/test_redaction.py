"""No secret gets through, in whatever form, and no cut leaves half of one."""

from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.redaction import Redactor

KEY = "sk/live+k3y=ü!"
SECRETS = st.text(alphabet="ABCDEFGHJKLMN0123456789+/=&é", min_size=8, max_size=24)


@pytest.mark.parametrize(
    "said",
    [
        KEY,
        f"https://host/?api_key={quote(KEY, safe='')}&x=1",
        f"https://host/?api_key={quote(KEY, safe='').lower()}&x=1",
        quote_plus(KEY),
        quote(KEY),
        b64encode(KEY.encode()).decode(),
        urlsafe_b64encode(KEY.encode()).decode(),
        "Basic " + b64encode(f"ada:{KEY}".encode()).decode(),
        "Basic " + b64encode(f"adas:{KEY}:more".encode()).decode(),
        orjson.dumps({"key": KEY}).decode(),
        f"{KEY}{KEY}",
    ],
)
def test_sec_102_a_secret_goes_in_every_form(said: str) -> None:
    redacted = Redactor([KEY]).redact(f"before {said} after")

    assert "[redacted]" in redacted
    assert KEY not in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")


def test_sec_102_without_a_key_nothing_is_replaced() -> None:
    assert Redactor(["", "  "]).redact("all  stays\n") == "all  stays\n"


def test_sec_102_it_is_redacted_first_and_cut_then() -> None:
    text = Redactor(["supersecretkey"]).text("x" * 10 + "supersecretkey", 16)

    assert text == "xxxxxxxxxx[reda…"


def test_sec_104_a_body_is_shown_on_one_line() -> None:
    assert Redactor().text("one\r\n\ttwo\u2028three\x00", 160) == "one two three"


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert Redactor(["abcdef", "abcdefghij"]).redact("abcdefghij") == "[redacted]"


def test_half_a_character_never_comes_out() -> None:
    text = Redactor().text("smile \ud83d", 100)

    assert text.encode() == "smile \ufffd".encode()


@pytest.mark.parametrize(
    "said",
    [
        '{"access_token": "abcdef123456"}',
        "?api_key=abcdef123456&x",
        "x-agent-api-key: abcdef123456",
        "Authorization: Bearer abcdef123456",
    ],
)
def test_sec_01_a_credential_that_nobody_told_us_is_known_by_its_name(said: str) -> None:
    redacted = Redactor().redact(said)

    assert "abcdef123456" not in redacted
    assert "[redacted]" in redacted


@pytest.mark.parametrize(
    "said", ["the access token is missing", "api keys: how to", "authorization is required"]
)
def test_words_about_credentials_are_none(said: str) -> None:
    assert Redactor().redact(said) == said


def test_data_is_redacted_at_every_depth() -> None:
    found = Redactor(["s3cretkey"]).data(
        {
            "a s3cretkey b": [{"x": "s3cretkey"}, ("s3cretkey", 5, None, True, 1.5)],
            "password": "unknown to us",
            "token": "",
            "input_tokens": 17,
        }
    )

    assert found == {
        "a [redacted] b": [{"x": "[redacted]"}, ["[redacted]", 5, None, True, 1.5]],
        "password": "[redacted]",
        "token": "",
        "input_tokens": 17,
    }


def test_a_redactor_says_nothing_of_what_it_knows() -> None:
    assert "s3cretkey" not in repr(Redactor(["s3cretkey"]))


@given(SECRETS, st.text(), st.text(), st.integers(0, 60))
def test_any_secret_anywhere_is_gone_and_the_text_is_bounded(
    secret: str, before: str, after: str, limit: int
) -> None:
    text = Redactor([secret]).text(f"{before}{secret}{after}", limit)

    assert secret not in text
    assert len(text) <= limit
    assert "\n" not in text
    text.encode()


@given(SECRETS, st.binary(max_size=5), st.binary(max_size=5))
def test_any_secret_within_base64_is_gone(secret: str, before: bytes, after: bytes) -> None:
    whole = b64encode(before + secret.encode() + after).decode()

    redacted = Redactor([secret]).redact(whole)

    assert redacted != whole
    assert b64encode(secret.encode()).decode().rstrip("=") not in redacted
