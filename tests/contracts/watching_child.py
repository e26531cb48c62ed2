"""A process that takes a log's watch, says so, and keeps it until it's told to go."""

import sys

from ov_es_adapters.errors import StoreLockedError
from ov_es_adapters.event_log.watch_lock import watch_lock


def main(url: str) -> int:
    """Say `ready`, wait for a line, and try; keep what was got until the next line."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    try:
        with watch_lock(url):
            sys.stdout.write("held\n")
            sys.stdout.flush()
            sys.stdin.readline()
    except StoreLockedError as error:
        sys.stdout.write(f"refused: {error}\n")
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
