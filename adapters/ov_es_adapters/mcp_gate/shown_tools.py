"""What a run is shown of the team's tools: none that is disabled, and no credential inputs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

import orjson

from ov_es_adapters.errors import BadInputError

CREDENTIAL_INPUTS = frozenset({"agent_identifier", "agent_api_key"})
"""Inputs by which servers of the hosted kind want credentials: the gate has them, no model."""


def shown(
    definitions: Iterable[Mapping[str, object]], *, disabled: Collection[str]
) -> list[dict[str, object]]:
    """Return the definitions as a model may see them (PX-3, PX-4).

    >>> schema = {"properties": {"id": {}, "agent_api_key": {}}, "required": ["agent_api_key"]}
    >>> shown([{"name": "a", "inputSchema": schema}, {"name": "b"}], disabled={"b"})
    [{'name': 'a', 'inputSchema': {'properties': {'id': {}}, 'required': [], 'type': 'object'}}]
    """
    return [
        {**definition, "inputSchema": _without_credentials(definition.get("inputSchema"))}
        for definition in definitions
        if definition.get("name") not in disabled
    ]


def without_credentials(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return a call's arguments without those that a model has no business to give."""
    return {name: value for name, value in arguments.items() if name not in CREDENTIAL_INPUTS}


def disabled_tools_in(text: str) -> frozenset[str]:
    """Read the list of disabled tools, a JSON list of names (PX-6).

    Raises: BadInputError for anything else: a guard that can't be read must not fail open.

    >>> sorted(disabled_tools_in('["post_message"]'))
    ['post_message']
    """
    try:
        found: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadInputError(f"the list of disabled tools is no JSON: {error}") from error
    if not isinstance(found, list):
        raise BadInputError("the list of disabled tools has to be a JSON list of names")
    names = cast("list[object]", found)
    if not all(isinstance(name, str) and name for name in names):
        raise BadInputError("the list of disabled tools may hold names only")
    return frozenset(str(name) for name in names)


def _without_credentials(schema: object) -> dict[str, object]:
    found = dict(cast("Mapping[str, object]", schema)) if isinstance(schema, Mapping) else {}
    properties, required = found.get("properties"), found.get("required")
    if isinstance(properties, Mapping):
        found["properties"] = without_credentials(cast("Mapping[str, object]", properties))
    if isinstance(required, Sequence) and not isinstance(required, str):
        names = cast("Sequence[object]", required)
        found["required"] = [name for name in names if name not in CREDENTIAL_INPUTS]
    found.setdefault("type", "object")
    return found
