"""The fields of an object that people wrote, each read with its type or refused by name."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeGuard, cast

from ov_es_adapters.errors import BadInputError


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Tell whether a value read from JSON is an object."""
    return isinstance(value, dict)


class Fields:
    """The fields of one object: a slip in a name or a type is a BadInputError that says where."""

    def __init__(self, value: object, where: str, known: Sequence[str], what: str) -> None:
        if not is_object(value):
            raise BadInputError(f"{where}: {what} is an object with the fields {', '.join(known)}")
        if unknown := [name for name in value if name not in known]:
            raise BadInputError(
                f"{where}: unknown field {', '.join(map(repr, unknown))}; "
                f"{what} has {', '.join(known)}"
            )
        self._value = value
        self._where = where

    def __contains__(self, name: str) -> bool:
        """Tell whether the field is there."""
        return name in self._value

    def text(self, name: str, *, default: str | None = None, may_be_empty: bool = False) -> str:
        """Return a text that isn't empty, unless it may be."""
        value = self._value.get(name, default)
        if not isinstance(value, str) or not (value or may_be_empty):
            raise self._refusal(name, "a text" if may_be_empty else "a text that isn't empty")
        return value

    def text_or_true(self, name: str, *, default: str) -> str:
        """Return a text, or the default where the field is just true."""
        return default if self._value[name] is True else self.text(name)

    def number(self, name: str, *, default: float | None = None) -> float:
        """Return a finite number of at least 0."""
        value = self._value.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refusal(name, "a number")
        if not math.isfinite(value) or value < 0:
            raise self._refusal(name, "a number of at least 0")
        return float(value)

    def integer(self, name: str, *, default: int, least: int | None = None) -> int:
        """Return a whole number."""
        value = self._value.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._refusal(name, "a whole number")
        if least is not None and value < least:
            raise self._refusal(name, f"a whole number of at least {least}")
        return value

    def truth(self, name: str) -> bool:
        """Return true or false; an absent field is false."""
        value = self._value.get(name, False)
        if not isinstance(value, bool):
            raise self._refusal(name, "true or false")
        return value

    def list(self, name: str) -> Sequence[object]:
        """Return a list; an absent one is empty."""
        value = self._value.get(name, [])
        if not isinstance(value, list):
            raise self._refusal(name, "a list")
        return cast("list[object]", value)

    def object(self, name: str) -> Mapping[str, object]:
        """Return an object; an absent one is empty."""
        value = self._value.get(name, {})
        if not is_object(value):
            raise self._refusal(name, "an object")
        return value

    def _refusal(self, name: str, right: str) -> BadInputError:
        if name not in self._value:
            return BadInputError(f"{self._where}: the field {name!r} is missing; it is {right}")
        return BadInputError(f"{self._where}.{name}: must be {right}")
