"""Which events belong to one story: the index behind `why`, so that it never reads a whole log.

Tracked: it's folded in batches behind a checkpoint, and only reports read it.
"""

from collections.abc import Iterable

from ov_es_domain.delivery.events import DeliveryDelivered, DeliverySuppressed
from ov_es_domain.recorded import Recorded
from ov_es_projections.delivered_keys import as_text
from ov_es_projections.known_watches import KNOWN_WATCHES
from ov_es_projections.projection import ColumnType, Projection, Put, RowChange, Table

STORY_TABLE = Table(
    name="story",
    columns={
        "position": ColumnType.INTEGER,
        "correlation": ColumnType.TEXT,
        "key": ColumnType.TEXT,
        "message_id": ColumnType.TEXT,
    },
    key=("position",),
    indexes=(("correlation",), ("key",), ("message_id",)),
)


def _apply(event: Recorded) -> Iterable[RowChange]:
    message_id = None
    match event.body:
        case DeliveryDelivered(message_id=found) | DeliverySuppressed(message_id=found):
            message_id = as_text(found)
        case _:
            pass
    return [
        Put(
            "story",
            {
                "position": event.position,
                "correlation": event.correlation,
                "key": event.key,
                "message_id": message_id,
            },
        )
    ]


STORY = Projection(name="story", version=1, tables=(STORY_TABLE,), apply=_apply)

TRACKED: tuple[Projection, ...] = (STORY, KNOWN_WATCHES)
"""The projections that are folded behind a checkpoint."""
