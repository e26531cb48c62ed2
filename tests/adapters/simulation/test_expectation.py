"""What a scenario expects, held against what came out."""

import pytest

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.simulation.expectation import unmet
from ov_es_adapters.simulation.expected_fields import check_expectation


def test_an_object_has_to_match_in_the_fields_that_it_names_only() -> None:
    actual = {"posts": [{"channel_id": 10, "parent_id": 100, "content": "Yes."}], "events": 9}

    assert unmet({"posts": [{"parent_id": 100}]}, actual) == []
    assert unmet({"posts": [{"parent_id": None}]}, actual) == [
        "posts[0].parent_id: expected null, got 100"
    ]


def test_a_list_has_exactly_its_members_in_their_order() -> None:
    actual = {"posts": [{"content": "a"}, {"content": "b"}]}

    assert unmet({"posts": [{"content": "a"}, {"content": "b"}]}, actual) == []
    assert len(unmet({"posts": [{"content": "b"}, {"content": "a"}]}, actual)) == 2
    assert unmet({"posts": [{"content": "a"}]}, actual)[0].startswith(
        "posts: expected 1 members, got 2"
    )


def test_a_count_checks_a_lists_length_only() -> None:
    assert unmet({"posts": {"count": 2}}, {"posts": [1, 2]}) == []
    assert unmet({"posts": {"count": 0}}, {"posts": [1]}) == ["posts: expected 0 members, got 1"]


def test_any_matches_anything_that_is_there() -> None:
    assert unmet({"deliveries": {"reply:10:100": {"any": True}}}, {"deliveries": {}}) == [
        'deliveries.reply:10:100: expected {"any": true}, but there is no such field'
    ]
    assert unmet({"posts": {"any": True}}, {"posts": [{"a": 1}]}) == []


def test_numbers_are_compared_as_numbers_and_truth_is_none() -> None:
    assert unmet({"at": 5}, {"at": 5.0}) == []
    assert unmet({"at": 1}, {"at": True}) == ["at: expected 1, got true"]


def test_an_object_where_a_plain_value_came_out_is_unmet() -> None:
    assert unmet({"left": {"queued": 0}}, {"left": 3}) == ["left: expected an object, got 3"]


@pytest.mark.parametrize(
    ("expected", "place"),
    [
        ({"pots": []}, "expect.pots"),
        ({"posts": [{"chanel_id": 1}]}, r"expect.posts\[0\].chanel_id"),
        ({"left": {"runing": 0}}, "expect.left.runing"),
        ({"posts": {"count": "2"}}, "expect.posts.count"),
        ({"posts": 2}, "expect.posts"),
        ({"runs": [3]}, r"expect.runs\[0\]"),
        ({"tickets": []}, "expect.tickets"),
    ],
)
def test_a_slip_in_an_expectation_is_named_with_its_place(
    expected: dict[str, object], place: str
) -> None:
    with pytest.raises(BadInputError, match=place):
        check_expectation(expected, "expect")
