"""A long message in parts: nothing is lost, nothing is cut that a reader sees as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_domain.policy.splitting import split

_FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
_FLAGS = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
_ACCENT = "e\u0301"


@given(text=st.text(), most=st.integers(1, 40))
def test_out_10_the_parts_join_to_the_exact_original(text: str, most: int) -> None:
    parts = split(text, most=most)

    assert "".join(parts) == text
    assert split(text, most=most) == parts


@given(text=st.text(alphabet="ab \n", min_size=1), most=st.integers(1, 40))
def test_out_10_no_part_is_longer_than_it_may_be_unless_the_rest_shows_nothing(
    text: str, most: int
) -> None:
    parts = split(text, most=most)

    assert all(len(part.strip()) <= most for part in parts)
    assert len(parts) == 1 or all(part.strip() for part in parts)


@pytest.mark.parametrize("whole", [_FAMILY, _ACCENT, "\U0001f44d\U0001f3fd", "\r\n"])
def test_str_23_what_a_reader_sees_as_one_is_never_cut(whole: str) -> None:
    for before in range(1, 12):
        text = "x" * before + whole + "y" * 12

        parts = split(text, most=12)

        assert any(whole in part for part in parts), parts


def test_str_23_flags_are_cut_between_two_countries_only() -> None:
    parts = split(_FLAGS * 4, most=3)

    assert all(len(part) % 2 == 0 for part in parts)


def test_out_10_it_breaks_where_a_writer_would() -> None:
    assert split("First.\n\nSecond one.", most=8) == ("First.\n\n", "Second ", "one.")


def test_a_part_that_can_hold_nothing_is_a_slip_of_ours() -> None:
    with pytest.raises(ValueError, match="holds nothing"):
        split("x", most=0)
