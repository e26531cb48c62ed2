"""A process that writes as fast as it can, to a key of its own and to one that all share."""

import sys

from ov_es_adapters.errors import ConcurrentWriteError, StoreLockedError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.recorded import NewEvent
from ov_es_domain.ticket.events import TicketRevisionNoted
from ov_es_domain.watch.events import WatchConnected

SHARED = "watch:shared"


def write(log: EventLog, name: str, number: int) -> None:
    """Write one pair, however often others are faster."""
    ticket = f"ticket:1:{name}"
    while True:
        shared = len(log.load(SHARED)) + 1
        pair = [
            NewEvent(
                key=SHARED,
                version=shared,
                body=WatchConnected(number=shared),
                at=1.0,
                cause="start",
                correlation=SHARED,
            ),
            NewEvent(
                key=ticket,
                version=number,
                body=TicketRevisionNoted(revision=str(number)),
                at=1.0,
                cause="start",
                correlation=ticket,
            ),
        ]
        try:
            log.append(pair)
        except (ConcurrentWriteError, StoreLockedError):
            continue
        return


def main(url: str, name: str, count: int) -> None:
    """Write `count` pairs, and say so after each."""
    log = open_log(url)
    for number in range(1, count + 1):
        write(log, name, number)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    log.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
