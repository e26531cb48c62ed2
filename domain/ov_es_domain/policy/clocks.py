"""How far two clocks are apart: measured for people, never a reason for a decision (OWN-06)."""

from collections.abc import Iterable

WORTH_NOTING_SECONDS = 60.0
"""Smaller differences may be the way of a message, and nobody is misled by them."""


def offset(pairs: Iterable[tuple[float, float]], *, known: float) -> float | None:
    """Return by how much the team's clock is ahead, where that differs from what is known.

    Shapes: `pairs` are the team's time and ours of the same posts.

    >>> offset([(700.0, 100.0), (805.0, 200.0)], known=0.0)
    605.0
    >>> offset([(105.0, 100.0)], known=0.0), offset([], known=0.0)
    (None, None)
    """
    differences = sorted(theirs - ours for theirs, ours in pairs)
    if not differences:
        return None
    found = float(round(differences[len(differences) // 2]))
    return found if abs(found - known) >= WORTH_NOTING_SECONDS else None
