"""Taking secrets out of text, before it becomes a command, an event, a log line or an error.

Every adapter's text goes through here (SEC-103): first redacted, then cut, so that the edge of
a cut can't leave half a secret (SEC-102).
"""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import cast
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
"""What stands in the place of a secret."""

_WHITE_SPACE = re.compile(r"[\s\ufeff\x00-\x1f\x7f-\x9f]+")
_PERCENT = re.compile(r"%[0-9A-F]{2}")
_ENCODED_CHARACTERS_MIN = 6
"""A shorter piece of Base64 would be found in innocent words."""

# Credentials that we were never told, such as a token in a server's answer, are known by name.
_NAMED = re.compile(
    r"""(?ix)
    ( (?:access|refresh|id)_token | (?:x-agent-)?api[_-]?key | client_secret
    | authorization (?=["']?\s*[:=]\s*["']?(?:bearer|basic)\b) )
    (["']? \s* [:=] \s* ["']? (?:bearer\s+|basic\s+)?)
    [A-Za-z0-9._~+/%=-]{6,}
    """
)
_SECRET_FIELD = re.compile(
    r"(?i)(?:^|[_-])(?:token|api[_-]?key|secret|password|authorization)$|^apikey$"
)


class Redactor:
    """Knows secrets, and takes them out of whatever is about to be kept or shown."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Blank secrets are none: no key set, nothing to replace."""
        forms = {form for secret in secrets if secret.strip() for form in _forms(secret)}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __repr__(self) -> str:
        """Say nothing of what it knows."""
        return "Redactor(…)"

    def redact(self, value: str) -> str:
        """Return the text without secrets, otherwise as it was.

        >>> Redactor(["s3cret-key"]).redact("GET /?key=s3cret-key czNjcmV0LWtleQ==")
        'GET /?key=[redacted] [redacted]=='
        """
        text = _well_formed(value)
        if self._pattern is not None:
            text = self._pattern.sub(REDACTED, text)
        return _NAMED.sub(rf"\1\2{REDACTED}", text)

    def text(self, value: str, limit: int) -> str:
        """Return the text without secrets, on one line, in at most `limit` characters.

        >>> Redactor(["s3cret"]).text("the key  is s3cret, I think", 21)
        'the key is [redacted…'
        """
        line = _WHITE_SPACE.sub(" ", self.redact(value)).strip()
        # A secret whose parts stood on two lines is one now.
        line = self.redact(line)
        return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"[:limit]

    def data(self, value: object) -> object:
        """Return a JSON value in which no text, and no name of a field, holds a secret.

        >>> Redactor(["s3cret"]).data({"note": ["s3cret"], "access_token": "other", "n": 1})
        {'note': ['[redacted]'], 'access_token': '[redacted]', 'n': 1}
        """
        match value:
            case str():
                return self.redact(value)
            case Mapping():
                fields = cast("Mapping[object, object]", value)
                return {
                    self.redact(str(name)): REDACTED
                    if isinstance(inner, str) and inner and _SECRET_FIELD.search(str(name))
                    else self.data(inner)
                    for name, inner in fields.items()
                }
            case list() | tuple():
                return [self.data(inner) for inner in cast("Iterable[object]", value)]
            case _:
                return value


def _forms(secret: str) -> Iterator[str]:
    """Yield how a secret may be spelled on its way through addresses, headers and JSON."""
    for each in {secret, secret.strip()}:
        yield each
        yield json.dumps(each)[1:-1]
        yield json.dumps(each, ensure_ascii=False)[1:-1]
        raw = each.encode("utf-8", "surrogatepass")
        for percent in {quote(raw, safe=""), quote(raw), quote_plus(raw)}:
            yield percent
            yield _PERCENT.sub(lambda match: match[0].lower(), percent)
        yield from (f for f in _base64_forms(raw) if len(f) >= _ENCODED_CHARACTERS_MIN)


def _base64_forms(raw: bytes) -> Iterator[str]:
    """Yield the Base64 of a secret, alone and at each place within something longer."""
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(raw).decode().rstrip("=")
        for before in range(3):
            # Only characters all of whose bits come from the secret are the same everywhere.
            start = -(-before * 8 // 6)
            end = (before + len(raw)) * 8 // 6
            yield encode(bytes(before) + raw).decode()[start:end]


def _well_formed(text: str) -> str:
    """Replace halves of characters, which no file and no socket would take."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
