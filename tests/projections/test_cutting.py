"""Cutting: never half a character, and one line stays one line."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ov_es_projections.cutting import beginning, one_line


@given(st.text(), st.integers(0, 40))
def test_mem_2_the_beginning_is_a_beginning_and_not_too_long(text: str, most: int) -> None:
    cut = beginning(text, most)

    assert text.startswith(cut)
    assert len(cut) <= most
    assert len(text) > most or cut == text


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("ne\u0301e", 2, "n"),
        ("ok👍🏽", 3, "ok"),
        ("a👩\u200d💻", 2, "a"),
        ("a👩\u200d💻", 3, "a"),
        ("🇩🇪🇫🇷", 3, "🇩🇪"),
        ("🇩🇪🇫🇷", 2, "🇩🇪"),
        ("x❤\ufe0f", 2, "x"),
    ],
)
def test_mem_2_a_letter_keeps_its_accent_and_an_emoji_its_parts(
    text: str, most: int, expected: str
) -> None:
    assert beginning(text, most) == expected


def test_mem_2_a_text_that_never_ends_a_character_is_cut_anyway() -> None:
    assert len(beginning("e" + "\u0301" * 1000, 500)) == 500


@given(st.text(), st.integers(1, 40))
@example("a\x1cb\x85c\u2028d\re\x1b[2Jf", 40)
@example("\ud800", 5)
def test_mem_2_one_line_has_no_line_ends_no_controls_and_no_double_blanks(
    text: str, most: int
) -> None:
    line = one_line(text, most)

    assert len(line) <= most
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split())
    assert line.encode() is not None
    assert "\x1b" not in line


def test_mem_2_what_was_cut_says_so() -> None:
    assert one_line("word " * 200, 320) == ("word " * 64)[:319].rstrip() + "…"
    assert one_line("x" * 320, 320) == "x" * 320
