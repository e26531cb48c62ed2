"""Whether we ourselves were started by a run: then no person stands behind what is asked."""

import os

from ov_es_adapters.runtimes.process_table import MARKER, entry, marker_of


def is_inside_a_run() -> bool:
    """Tell whether this process, or one that it descends from, carries a run's marker.

    A program that takes the marker out of its child's environment still has it itself. One that
    lets itself be orphaned isn't found: this is a fence, and a sandbox is the wall.
    """
    if os.environ.get(MARKER):
        return True
    pid, seen = os.getppid(), set[int]()
    while pid > 1 and pid not in seen:
        seen.add(pid)
        if marker_of(pid):
            return True
        found = entry(pid)
        pid = 0 if found is None else found.parent
    return False
