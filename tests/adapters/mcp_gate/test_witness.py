"""What a gate remembers: bounded, and still with one call of each tool and outcome."""

from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.mcp_gate.witness import CALLS_MAX, REASON_CHARACTERS_MAX, Witness
from ov_es_adapters.redaction import Redactor

OUTCOMES = st.sampled_from([True, False, None])


def test_px_10_a_call_is_known_before_it_is_answered() -> None:
    witness = Witness(Redactor())
    call = witness.begin("get_ticket")

    assert [(each.tool, each.ok) for each in witness.calls] == [("get_ticket", None)]

    call.ended(ok=True)

    assert [(each.tool, each.ok, each.reason) for each in witness.calls] == [
        ("get_ticket", True, "")
    ]


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), OUTCOMES), max_size=40))
def test_px_10_however_many_calls_there_are_each_kind_is_remembered(
    calls: list[tuple[str, bool | None]],
) -> None:
    witness = Witness(Redactor())
    every = [*calls, *[("d", True)] * CALLS_MAX]
    for tool, ok in every:
        witness.begin(tool).ended(ok=ok)

    kept = [(call.tool, call.ok) for call in witness.calls]
    assert len(kept) <= CALLS_MAX
    assert set(kept) >= set(calls)


def test_reasons_are_bounded_and_hold_no_secret() -> None:
    witness = Witness(Redactor(["k-of-ada-123"]))

    witness.begin("x" * 1000).ended(ok=False, reason="k-of-ada-123 " + "y" * 1000)

    [call] = witness.calls
    assert len(call.reason) == REASON_CHARACTERS_MAX
    assert "k-of-ada" not in call.reason
    assert len(call.tool) == 100
