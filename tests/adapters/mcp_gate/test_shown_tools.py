"""What a run is shown, and which lists of disabled tools can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.mcp_gate.shown_tools import disabled_tools_in, shown, without_credentials

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "text", ["", "post_message", '"post_message"', "{}", "[1]", "[null]", '[""]']
)
def test_px_6_a_list_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="disabled tools"):
        disabled_tools_in(text)


def test_px_6_names_are_compared_as_text() -> None:
    assert disabled_tools_in('["a", "a", "B"]') == {"a", "B"}
    assert [tool["name"] for tool in shown([{"name": "b"}], disabled={"B"})] == ["b"]


@given(JSON)
def test_px_3_whatever_a_schema_is_no_credential_input_is_shown(schema: object) -> None:
    properties: dict[str, object] = {"agent_identifier": {}, "agent_api_key": schema, "id": schema}
    whole: dict[str, object] = {
        "properties": properties,
        "required": [*properties],
        "more": schema,
    }

    [found] = shown([{"name": "a", "inputSchema": whole}], disabled=())
    [other] = shown([{"name": "a", "inputSchema": schema}], disabled=())

    expected = {"properties": {"id": schema}, "required": ["id"], "more": schema}
    assert found["inputSchema"] == {**expected, "type": "object"}
    assert isinstance(other["inputSchema"], dict)


def test_credentials_that_a_model_makes_up_are_not_forwarded() -> None:
    assert without_credentials({"agent_identifier": "bob", "id": 5}) == {"id": 5}
