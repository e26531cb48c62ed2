"""The push helper's call for an authorization, in what a shell command printed (BL-11).

An agent also *reads* about the marker, in sources and in tickets; so it has to stand free on its
line, and only outputs of commands are looked at.
"""

import re

from ov_es_adapters.runtimes.streams.json_values import obj, read_object, text

MARK = b"PR_PUSH_AUTH_REQUIRED"
"""What every line of a stream with a marker contains: cheap to look for."""

_MARKER = re.compile(
    r"^[^\n\"'`(=#*]{0,80}?\b(?:OV_ES|OPENVISIO)_PR_PUSH_AUTH_REQUIRED\b(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_ROOT = re.compile(r"[\s:=]*(?:root[\s:=]+)?(?P<root>(?:/|~/|[A-Za-z]:[\\/]|<)[^\"'`]*)")


def find_block(output: str) -> str | None:
    r"""Return the repository's root, "" where it isn't told, or None where nothing asks.

    >>> find_block("Exit code 3\nOPENVISIO_PR_PUSH_AUTH_REQUIRED: /home/a/app\n")
    '/home/a/app'
    >>> find_block('OV_ES_PR_PUSH_AUTH_REQUIRED {"root": "/srv/app"}')
    '/srv/app'
    >>> find_block("OV_ES_PR_PUSH_AUTH_REQUIRED"), find_block('"OV_ES_PR_PUSH_AUTH_REQUIRED"')
    ('', None)
    """
    found: str | None = None
    for match in _MARKER.finditer(output):
        if root := _root(match["rest"]):
            return root
        found = ""
    return found


def _root(rest: str) -> str:
    rest = rest.strip()
    told = read_object(rest.lstrip(": ").encode(errors="replace"))
    if told is not None:
        return text(obj(told).get("root"))
    match = _ROOT.match(rest)
    return match["root"].strip() if match else ""
