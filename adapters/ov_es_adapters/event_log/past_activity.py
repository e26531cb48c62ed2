"""What a log's past left beside its file: one that lost its end can't pass for a new one.

`<log>.seen` holds a position that the log has had. It's written with the first event, from time
to time, and when the log is closed; always after the commit, so it never says too much (PER-02).
"""

from logging import getLogger
from pathlib import Path

from ov_es_adapters.errors import CorruptLogError
from ov_es_adapters.private_files import replace_privately

_LOGGER = getLogger("ov_es.event_log")
_EVENTS_BETWEEN_NOTES = 1000


class PastActivity:
    """The note beside a log's file."""

    def __init__(self, path: Path) -> None:
        """Read the note; it has to be read before the log, which others may just be beginning.

        Raises: OSError.
        """
        self._path = path
        self._note = path.with_name(f"{path.name}.seen")
        self.seen = self._read()
        """A position that the log has had; 0 when nothing is known of a past."""

    def _read(self) -> int:
        try:
            said = self._note.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return 0
        if said.isdecimal():
            return int(said)
        _LOGGER.warning("%s can't be read; it's written anew from the log", self._note)
        return 0

    def refuse_an_emptied_file(self) -> None:
        """Refuse a file that is empty or gone while something beside it says that it wasn't.

        To be asked before SQLite opens the file: it would throw the write-ahead log away.
        Raises: CorruptLogError.
        """
        # Its size is looked at first, since a new log has its first page before it has a `-wal`.
        ahead = Path(f"{self._path.resolve()}-wal")
        ahead_bytes = _size(ahead)
        if _size(self._path) > 0:
            return
        if ahead_bytes > 0:
            raise CorruptLogError(
                1,
                "",
                f"{self._path} is empty or gone, but {ahead} holds {ahead_bytes} bytes of its"
                " past, which opening it would throw away. Put the file back; or, to begin a new"
                f" log that knows of nothing, move {ahead} away",
            )
        self.refuse_a_shorter_log(0)

    def refuse_a_shorter_log(self, position: int) -> None:
        """Refuse a log that ends before a position that it has had: it forgot what was posted.

        Raises: CorruptLogError.
        """
        if position < self.seen:
            raise CorruptLogError(
                position + 1,
                "",
                f"{self._path} ends at position {position}, but it had {self.seen} events before."
                " Put the lost ones back; or, to go on without them, and perhaps post again what"
                f" they know of, remove {self._note}",
            )

    def keep(self, position: int, *, is_last: bool = False) -> None:
        """Note how far the log goes, unless a note says almost the same.

        A full disk is no reason to fail here: the events themselves are written already.
        """
        steps = 1 if is_last or self.seen == 0 else _EVENTS_BETWEEN_NOTES
        if position < self.seen + steps:
            return
        try:
            replace_privately(self._note, str(position).encode())
        except OSError as error:
            _LOGGER.warning("%s can't be written: %s", self._note, error.strerror)
        # Also when it can't be: the next try is that many events away, not at every commit.
        self.seen = position


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
