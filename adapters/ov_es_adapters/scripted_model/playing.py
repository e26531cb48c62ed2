"""Where a script is: which step answers the next request, and how many nobody asked for yet."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from ov_es_adapters.scripted_model.script import Refuse, Say, Step

THE_END = Say("The script is over.")
"""What every request gets that comes after the last step."""
_PLACE = re.compile(r"\{\{(\w+)\}\}")

Value = TypeVar("Value")


class Playing:
    """A script on its way from the first step to the last."""

    def __init__(self, steps: Iterable[Step], variables: Mapping[str, str]) -> None:
        self._steps = tuple(filled(step, variables) for step in steps)
        self._at = 0
        self._asked = 0
        """How many requests the present step has answered."""

    @property
    def left(self) -> int:
        """Return how many steps no request has met yet."""
        return len(self._steps) - self._at - (1 if self._asked else 0)

    def present(self) -> Step:
        """Return the step that answers the next request."""
        return self._steps[self._at] if self._at < len(self._steps) else THE_END

    def take(self) -> Step:
        """Return the step that answers this request, and go on.

        >>> playing = Playing([Refuse(500, times=2), Say("Done.")], {})
        >>> [(playing.take(), playing.left) for _ in range(3)][1:]
        [(Refuse(status=500, times=2), 1), (Say(text='Done.'), 0)]
        """
        step = self.present()
        if self._at == len(self._steps):
            return step
        self._asked += 1
        times = step.times if isinstance(step, Refuse) else 1
        if times is not None and self._asked >= times:
            self._at, self._asked = self._at + 1, 0
        return step


def filled(value: Value, variables: Mapping[str, str]) -> Value:
    """Put the variables where a text says `{{name}}`, however deep; unknown names stay.

    >>> filled(Say("{{who}} in {{where}}"), {"who": "Ada"})
    Say(text='Ada in {{where}}')
    """
    return cast("Value", _filled(value, variables))


def _filled(value: object, variables: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _PLACE.sub(lambda found: variables.get(found[1], found[0]), value)
    if isinstance(value, Mapping):
        inner = cast("Mapping[object, object]", value)
        return {key: _filled(each, variables) for key, each in inner.items()}
    if isinstance(value, list):
        return [_filled(each, variables) for each in cast("list[object]", value)]
    if isinstance(value, tuple):
        return tuple(_filled(each, variables) for each in cast("tuple[object, ...]", value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{each.name: _filled(getattr(value, each.name), variables) for each in fields(value)},
        )
    return value
