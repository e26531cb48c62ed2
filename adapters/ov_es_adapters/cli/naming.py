"""Finds the aggregate that an argument names, or says what would be right."""

from difflib import get_close_matches

from ov_es_adapters.cli.log_history import LogHistory
from ov_es_adapters.errors import BadInputError
from ov_es_projections.subjects import LOOKED_FOR, find_subject

_SUGGESTIONS_MAX = 5
_NAMES_MAX = 5000


def named_key(text: str, history: LogHistory) -> str:
    """Return the key of the aggregate that `text` names.

    Raises: BadInputError that says what was looked for, with what comes nearest.
    """
    found = find_subject(text, history)
    if found is not None:
        return found
    near = get_close_matches(text, _names(history), n=_SUGGESTIONS_MAX, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else "; `ov-es log` shows all there is"
    raise BadInputError(f"nothing in the log is called {text!r}: looked for {LOOKED_FOR}{hint}")


def _names(history: LogHistory) -> list[str]:
    log = history.log
    tickets = log.select("tickets")
    names = [str(row["slug"]) for row in tickets if row["slug"]]
    names += [str(row["key"]) for row in tickets]
    names += [str(row["source"]) for row in log.select("signals", order=["last_position"])]
    names += [str(row["key"]) for row in log.select("deliveries", order=["place"])]
    return list(dict.fromkeys(names))[-_NAMES_MAX:]
