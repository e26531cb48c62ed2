"""The projections whose rows change in the transaction of their events: commands read them."""

from ov_es_projections.delivered_keys import DELIVERED_KEYS
from ov_es_projections.known_tickets import KNOWN_TICKETS
from ov_es_projections.open_turns import OPEN_TURNS
from ov_es_projections.projection import Projection
from ov_es_projections.replay_suppression import REPLAY_SUPPRESSION
from ov_es_projections.thread_memory import THREAD_MEMORY

INLINE: tuple[Projection, ...] = (
    OPEN_TURNS,
    DELIVERED_KEYS,
    REPLAY_SUPPRESSION,
    KNOWN_TICKETS,
    THREAD_MEMORY,
)
