"""Events as JSON and back: one object for each, typed in one pass, known by topics, not classes.

`{"at": …, "cause": …, "corr": …, "data": {…}, "cmd": {"name": …, …}}`. The command leaves out
the fields that the event repeats, which is most of them.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Generic, TypeVar, cast

import msgspec

from ov_es_adapters.errors import CorruptLogError, StoreError
from ov_es_adapters.event_log.upcasts import UPCASTS, upcast
from ov_es_domain import catalogue
from ov_es_domain.lifecycle import COMMANDS, EVENTS, Command, Event
from ov_es_domain.recorded import NewEvent, Recorded

assert catalogue.LIFECYCLES  # noqa: S101 - importing it is what makes all topics known

Body = TypeVar("Body")
_NO_COMMAND = msgspec.Raw(b"")
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)
"""What decoding raises for bytes that a person or a broken disk has altered."""


class Envelope(msgspec.Struct, Generic[Body], omit_defaults=True, gc=False):
    """What the state of a stored event holds."""

    at: float
    cause: str
    corr: str
    data: Body
    cmd: msgspec.Raw = _NO_COMMAND


_new_tuple: Callable[[type[Recorded], tuple[object, ...]], Recorded] = cast(Any, tuple.__new__)
_encode: Callable[[object], bytes] = msgspec.json.Encoder().encode
_fields: dict[str, tuple[str, ...]] = {}
_decoders: dict[str, msgspec.json.Decoder[Any]] = {}
_raw_decoder: msgspec.json.Decoder[Envelope[msgspec.Raw]] = msgspec.json.Decoder(
    Envelope[msgspec.Raw]
)
_object_decoder: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


def _fields_of(kind: type[Command]) -> tuple[str, ...]:
    """Return a command's fields; all commands are dataclasses, by their decorator."""
    known = _fields.get(kind.NAME)
    if known is None:
        known = tuple(field.name for field in dataclasses.fields(cast(Any, kind)))
        _fields[kind.NAME] = known
    return known


def encode(event: NewEvent) -> bytes:
    """Return the state of a new event.

    What is written once has to be readable for ever, so it's read back first: types aren't
    checked where events are made, and JSON has no infinite numbers.

    Raises: StoreError when it can't be read back; that is a mistake in the program.
    """
    body = event.body
    decoder = _decoders.get(body.TOPIC) or _decoder(body.TOPIC)
    if decoder is None:
        raise StoreError(f"{body.TOPIC} isn't declared, and nothing was written")
    try:
        cmd = _NO_COMMAND if event.command is None else _encode_command(event.command, body)
        state = _encode(
            Envelope(at=event.at, cause=event.cause, corr=event.correlation, data=body, cmd=cmd)
        )
        decoder.decode(state)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise StoreError(
            f"{event.reference}, {body.TOPIC}, couldn't be read back, and nothing was written:"
            f" {error}"
        ) from error
    return state


def _encode_command(command: Command, body: Event) -> msgspec.Raw:
    missing = object()
    fields = {"name": command.NAME}
    for name in _fields_of(type(command)):
        value = getattr(command, name)
        repeated = getattr(body, name, missing)
        if repeated != value or type(repeated) is not type(value):  # 1 == True == 1.0
            fields[name] = value
    return msgspec.Raw(_encode(fields))


def decode(position: int, key: str, version: int, topic: str, state: bytes) -> Recorded:
    """Return a stored event.

    Raises: CorruptLogError with the position, for an unknown topic and for a state that isn't
        what its topic says.
    """
    decoder = _decoders.get(topic) or _decoder(topic)
    try:
        if decoder is None:
            return _decode_old(position, key, version, topic, state)
        envelope = decoder.decode(state)
    except _UNREADABLE as error:
        raise CorruptLogError(position, key, f"{topic} can't be decoded: {error}") from error
    cmd, body = envelope.cmd, envelope.data
    command = partial(_decode_command, position, key, cmd, body) if cmd else None
    # As `Recorded(…)` does, without its call: it's a tuple, and this is done a million times.
    return _new_tuple(
        Recorded,
        (key, version, body, envelope.at, envelope.cause, envelope.corr, position, command),
    )


def _decoder(topic: str) -> "msgspec.json.Decoder[Any] | None":
    body = EVENTS.get(topic)
    if body is None:
        return None
    decoder = _decoders[topic] = msgspec.json.Decoder(Envelope[body])  # type: ignore[valid-type]
    return decoder


def _decode_old(position: int, key: str, version: int, topic: str, state: bytes) -> Recorded:
    """Only events of old topics pay for their upcasts."""
    if topic not in UPCASTS:
        raise CorruptLogError(
            position, key, f"its topic {topic!r} is none that this version knows"
        )
    envelope = _raw_decoder.decode(state)
    try:
        old = _object_decoder.decode(envelope.data)
        now, fields = upcast(topic, dict(old))
        body = msgspec.convert(fields, EVENTS[now])
    except (KeyError, *_UNREADABLE) as error:
        raise CorruptLogError(position, key, f"{topic} can't be upcast: {error}") from error
    cmd = envelope.cmd
    # The command left out what the event said then, whatever it's called now.
    said = SimpleNamespace(**{**msgspec.to_builtins(body), **old})
    return Recorded(
        key,
        version,
        body,
        envelope.at,
        envelope.cause,
        envelope.corr,
        position,
        partial(_decode_command, position, key, cmd, said) if cmd else None,
    )


def _decode_command(position: int, key: str, cmd: msgspec.Raw, said: object) -> Command:
    try:
        fields = _object_decoder.decode(cmd)
        kind = COMMANDS.get(str(fields.pop("name", "")))
        if kind is None:
            raise CorruptLogError(position, key, "its command is none that this version knows")
        for name in _fields_of(kind):
            if name not in fields and hasattr(said, name):
                fields[name] = msgspec.to_builtins(getattr(said, name))
        return msgspec.convert(fields, kind)
    except _UNREADABLE as error:
        raise CorruptLogError(position, key, f"its command can't be decoded: {error}") from error
