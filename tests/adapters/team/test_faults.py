"""Faults strike exactly the calls that they name."""

import pytest

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.team.faults import FaultKind, FaultPlan, parse_faults

POST = "post_message"


def _kinds(plan: FaultPlan, calls: int) -> list[FaultKind | None]:
    return [fault.kind if (fault := plan.strike(POST)) else None for _ in range(calls)]


def test_a_fault_strikes_the_call_of_its_number_only() -> None:
    plan = parse_faults([{"tool": POST, "call": 2, "kind": "refused"}])

    assert plan.strike("get_ticket") is None
    assert _kinds(plan, 3) == [None, FaultKind.REFUSED, None]


def test_a_fault_of_one_call_goes_before_one_of_all() -> None:
    plan = parse_faults(
        [
            {"tool": POST, "call": "all", "kind": "error"},
            {"tool": POST, "call": 2, "kind": "late", "by": 30},
        ]
    )

    assert _kinds(plan, 3) == [FaultKind.ERROR, FaultKind.LATE, FaultKind.ERROR]


def test_a_plan_that_begins_again_counts_from_its_first_call() -> None:
    plan = parse_faults([{"tool": POST, "call": 1, "kind": "garbage"}])
    _kinds(plan, 2)

    assert _kinds(plan.begin(), 1) == [FaultKind.GARBAGE]


def test_an_unlisted_tool_is_no_matter_of_single_calls() -> None:
    plan = parse_faults([{"tool": POST, "call": 1, "kind": "unlisted"}])

    assert plan.unlisted == {POST}
    assert _kinds(plan, 1) == [None]


@pytest.mark.parametrize(
    ("fault", "place"),
    [
        ({"call": 1, "kind": "late"}, "the field 'tool' is missing"),
        ({"tool": "posts", "call": 1, "kind": "refused"}, "'posts' is none of list_agents"),
        ({"tool": POST, "call": 1, "kind": "slow"}, "'slow' is none of refused"),
        ({"tool": POST, "cal": 1, "kind": "refused"}, "unknown field 'cal'"),
        ({"tool": POST, "call": 0, "kind": "refused"}, "call: must be a whole number of at least"),
        ({"tool": POST, "call": True, "kind": "refused"}, "call: must be a whole number"),
        ({"tool": POST, "kind": "refused"}, "call: must be a whole number"),
        ({"tool": POST, "call": 1, "kind": "late"}, "the field 'by' is missing"),
        ({"tool": POST, "call": 1, "kind": "error", "by": 3}, "by: only a fault of the kind late"),
        ({"tool": POST, "call": 1, "kind": "late", "by": 3, "status": 500}, "only a fault of the"),
        ({"tool": POST, "call": 1, "kind": "http", "status": 200}, "status: must be from 400"),
        ("refused", "a fault is an object"),
    ],
)
def test_a_slip_is_named_with_its_place(fault: object, place: str) -> None:
    with pytest.raises(BadInputError, match=place) as caught:
        parse_faults([{"tool": POST, "call": 9, "kind": "error"}, fault])

    assert str(caught.value).startswith("faults[1]")


def test_two_faults_of_one_call_are_a_slip() -> None:
    fault = {"tool": POST, "call": 1, "kind": "error"}

    with pytest.raises(BadInputError, match="another fault"):
        parse_faults([fault, {**fault, "kind": "refused"}])
