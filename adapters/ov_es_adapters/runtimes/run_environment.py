"""What of our own environment a run's program inherits."""

from collections.abc import Mapping

KEPT = frozenset({"OV_ES_HOME"})
"""The push helper, which a model may call, finds the authorisations below it."""


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """Return all but our own settings: they hold credentials, and CLIs hand everything on.

    >>> inherited({"PATH": "/bin", "OV_ES_API_KEY": "k", "OV_ES_HOME": "/h"})
    {'PATH': '/bin', 'OV_ES_HOME': '/h'}
    """
    return {
        name: value
        for name, value in environment.items()
        if name in KEPT or not name.startswith("OV_ES_")
    }
