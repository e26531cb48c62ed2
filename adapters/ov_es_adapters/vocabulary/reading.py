"""Reads the word lists: those that come with the program, and what a team adds to them.

A team's file has the same fields, each a list of words or phrases; it can only add, so that no
slip in it makes the watcher deaf to "stop".
"""

from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path

import orjson

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields
from ov_es_domain.policy.vocabulary import Vocabulary

TEAM_FILE = "vocabulary.json"
"""Its name in the folder of all state."""
_NAMES = tuple(field.name for field in fields(Vocabulary))


@cache
def english() -> Vocabulary:
    """Return the words that come with the program."""
    text = files("ov_es_adapters.vocabulary").joinpath("en.json").read_bytes()
    return Vocabulary(**_lists(orjson.loads(text), "en.json"))


def load_vocabulary(home: Path) -> Vocabulary:
    """Return the English words, with a team's own from the folder of all state, if it has any.

    Raises: BadInputError that names the place in the file.
    """
    path = home / TEAM_FILE
    try:
        value: object = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return english()
    except OSError as error:
        raise BadInputError(f"{path} can't be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise BadInputError(f"{path} is no JSON: {error}") from error
    return extended(english(), _lists(value, str(path)))


def extended(known: Vocabulary, more: dict[str, tuple[str, ...]]) -> Vocabulary:
    """Return a vocabulary with further words, each of them once."""
    lists = {
        name: tuple(dict.fromkeys((*getattr(known, name), *more.get(name, ())))) for name in _NAMES
    }
    return Vocabulary(**lists)


def _lists(value: object, where: str) -> dict[str, tuple[str, ...]]:
    inner = Fields(value, where, _NAMES, "a vocabulary")
    return {name: _words(inner, name, where) for name in _NAMES if name in inner}


def _words(inner: Fields, name: str, where: str) -> tuple[str, ...]:
    words: list[str] = []
    for number, word in enumerate(inner.list(name)):
        if not isinstance(word, str) or not word.strip():
            raise BadInputError(f"{where}: {name}[{number}]: must be a word or a phrase")
        words.append(" ".join(word.casefold().split()))
    return tuple(words)
