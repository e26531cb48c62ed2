"""The event log over a recorder of the eventsourcing library: the same code for both stores."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain, starmap, takewhile
from typing import Any, Protocol

from eventsourcing.persistence import StoredEvent

from ov_es_adapters.errors import CorruptLogError, FencedError
from ov_es_adapters.event_log.log import Condition, Fence, Progress
from ov_es_adapters.event_log.serialization import decode, encode
from ov_es_adapters.event_log.tables import (
    FENCES_TABLE,
    PROJECTIONS_TABLE,
    Dialect,
    tables_of,
)
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_projections.projection import Projection, Put, Row, Value

_PAGE = 5000

StoredRow = tuple[int, str, int, str, bytes]


class Cursor(Protocol):
    """What both stores' cursors can do."""

    def execute(self, statement: str, values: Sequence[Value] = ..., /) -> Any:  # noqa: D102
        ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...  # noqa: D102

    def fetchone(self) -> tuple[Any, ...] | None: ...  # noqa: D102


class Store(Protocol):
    """A recorder of ours, by what the log needs of it."""

    @property
    def name(self) -> str:
        """The store's name, for people."""
        ...

    @property
    def dialect(self) -> Dialect:
        """How its SQL is spelt."""
        ...

    def transaction(self, *, commit: bool) -> AbstractContextManager[Cursor]:
        """Begin, and commit or roll back, with errors translated."""
        ...

    def insert(
        self,
        events: Sequence[StoredEvent],
        before: Callable[[Cursor], None],
        after: Callable[[Cursor, Sequence[int]], None],
    ) -> Sequence[int]:
        """Insert events in one transaction with what comes before and after; return positions."""
        ...

    def moment(self) -> AbstractContextManager[None]:
        """Hold one moment: all reads in the block see the log as it is now."""
        ...

    def rows(self, lowest: int, limit: int, highest: int | None = None) -> list[StoredRow]:
        """Return a page of events, within the transaction if one is open."""
        ...

    def rows_of(self, key: str) -> list[StoredRow]:
        """Return the events of one aggregate."""
        ...

    def position(self) -> int:
        """Return the last position, 0 when empty."""
        ...

    def check(self) -> None:
        """Raise CorruptLogError where the events' table and its indexes disagree."""
        ...

    def changes(self) -> object:
        """Return a token that changes with every commit."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class RecorderLog:
    """Implements `EventLog` over a store."""

    def __init__(
        self,
        store: Store,
        *,
        inline: tuple[Projection, ...],
        tracked: tuple[Projection, ...],
        has_gaps: bool,
    ) -> None:
        """`has_gaps`: whether the store's positions may have holes (PostgreSQL's may)."""
        self.store = store
        self.inline = inline
        self.tracked = tracked
        self._has_gaps = has_gaps
        own = {table.name: table for table in (PROJECTIONS_TABLE, FENCES_TABLE)}
        self._tables = {**own, **tables_of(inline), **tables_of(tracked)}

    # --- writing ---------------------------------------------------------------------------------

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        fence: Fence | None = None,
        raises: str | None = None,
    ) -> list[Recorded]:
        """Record events and the rows of inline projections in one transaction."""
        stored = [
            StoredEvent(
                originator_id=event.key,  # ids are text here
                originator_version=event.version,
                topic=event.body.TOPIC,
                state=encode(event),
            )
            for event in events
        ]
        recorded: list[Recorded] = []

        def before(cursor: Cursor) -> None:
            if fence is not None:
                self._check(cursor, fence)

        def after(cursor: Cursor, positions: Sequence[int]) -> None:
            recorded[:] = [
                Recorded.of(event, position)
                for event, position in zip(events, positions, strict=True)
            ]
            for event in recorded:
                self._apply(cursor, self.inline, event)
            if raises is not None:
                self._raise(cursor, raises)

        self.store.insert(stored, before, after)
        return recorded

    def _apply(self, cursor: Cursor, projections: Iterable[Projection], event: Recorded) -> None:
        statement_of, tables = self.store.dialect.change, self._tables
        for projection in projections:
            for change in projection.apply(event):
                cursor.execute(*statement_of(tables[change.table], change))

    def _check(self, cursor: Cursor, fence: Fence) -> None:
        mark = self.store.dialect.placeholder
        cursor.execute(f'SELECT "epoch" FROM "fences" WHERE "key" = {mark}', [fence.key])  # noqa: S608 - own names
        found = cursor.fetchone()
        now = int(found[0]) if found else 0
        if now != fence.epoch:
            raise FencedError(
                f"{fence.key} was taken over: its fencing token is {now}, ours is {fence.epoch}"
            )

    def _raise(self, cursor: Cursor, key: str) -> None:
        mark = self.store.dialect.placeholder
        cursor.execute(
            f'INSERT INTO "fences" ("key", "epoch") VALUES ({mark}, 1)'  # noqa: S608 - own names
            ' ON CONFLICT ("key") DO UPDATE SET "epoch" = "fences"."epoch" + 1',
            [key],
        )

    # --- reading ---------------------------------------------------------------------------------

    def load(self, key: str) -> list[Recorded]:
        """Return the events of one aggregate, by version.

        Raises: CorruptLogError when a version is missing or an event can't be read.
        """
        events: list[Recorded] = []
        for number, row in enumerate(self.store.rows_of(key), start=1):
            if row[2] != number:
                raise CorruptLogError(row[0], key, f"version {row[2]} where {number} should be")
            events.append(decode(*row))
        return events

    def stream(self, *, after: int = 0, until: int | None = None) -> Iterator[Recorded]:
        """Yield the events behind a position, in order; a hole in a gapless log is corruption."""
        # A replay makes millions of steps: none of them is a step of a generator of ours.
        return chain.from_iterable(starmap(decode, page) for page in self._pages(after, until))

    def _pages(self, after: int, until: int | None) -> Iterator[list[StoredRow]]:
        """Yield the rows behind a position, some thousand at once.

        Raises: CorruptLogError at the first row that is missing or can't be read, when all that
            stands before it has been yielded.
        """
        last, size = after, _PAGE
        while True:
            try:
                page = self.store.rows(last + 1, size, until)
            except CorruptLogError as error:
                if size == 1:
                    raise CorruptLogError(last + 1, "", error.why) from error
                size = 1
                continue
            if page and page[-1][0] - last != len(page) and not self._has_gaps:
                whole = list(
                    takewhile(lambda pair: pair[0] == pair[1][0], enumerate(page, last + 1))
                )
                yield [row for _, row in whole]
                missing = last + 1 + len(whole)
                why = f"the next position there is {page[len(whole)][0]}"
                raise CorruptLogError(missing, "", why)
            if page:
                yield page
                last = page[-1][0]
            if len(page) < size:
                return

    def moment(self) -> AbstractContextManager[None]:
        """Hold one moment: all reads in the block see the log as it is now."""
        return self.store.moment()

    def position(self) -> int:
        """Return the last position, 0 when the log is empty."""
        return self.store.position()

    def at(self, position: int) -> Recorded | None:
        """Return the event at a position."""
        rows = self.store.rows(position, 1, position)
        return decode(*rows[0]) if rows else None

    def find(self, key: str, version: int) -> Recorded | None:
        """Return an event by its reference."""
        return next((decode(*row) for row in self.store.rows_of(key) if row[2] == version), None)

    def select(
        self,
        table: str,
        where: Condition | None = None,
        order: Sequence[str] = (),
        limit: int | None = None,
    ) -> list[Row]:
        """Return rows of a projection's table."""
        known = self._tables[table]
        statement, values = self.store.dialect.select(known, where or {}, order, limit)
        with self.store.transaction(commit=False) as cursor:
            cursor.execute(statement, values)
            return [dict(zip(known.columns, row, strict=True)) for row in cursor.fetchall()]

    # --- projections -----------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make what is missing, and rebuild inline projections whose version has changed.

        An opening that finds all in order only reads, and so never waits for a writer.
        """
        everything = (*self.inline, *self.tracked)
        with self.store.transaction(commit=False) as cursor:
            cursor.execute(*self.store.dialect.is_there(PROJECTIONS_TABLE))
            known = self._versions(cursor) if cursor.fetchone() else {}
        if known and all(known.get(each.name) == each.version for each in everything):
            return
        with self.store.transaction(commit=True) as cursor:
            for table in (PROJECTIONS_TABLE, FENCES_TABLE):
                for statement in self.store.dialect.create(table):
                    cursor.execute(statement)
            known = self._versions(cursor)
            stale = [each for each in everything if known.get(each.name) != each.version]
            for projection in stale:
                self._reset(cursor, projection)
            inline = [projection for projection in stale if projection in self.inline]
            if inline:
                self._fold(cursor, inline, self.stream(), None)

    def _versions(self, cursor: Cursor) -> dict[str, int]:
        cursor.execute('SELECT "name", "version" FROM "projections"')
        return {str(name): int(version) for name, version in cursor.fetchall()}

    def _reset(self, cursor: Cursor, projection: Projection) -> None:
        for table in projection.tables:
            cursor.execute(f'DROP TABLE IF EXISTS "{table.name}"')
            for statement in self.store.dialect.create(table):
                cursor.execute(statement)
        self._checkpoint(cursor, projection, 0)

    def _checkpoint(self, cursor: Cursor, projection: Projection, position: int) -> None:
        row: Row = {"name": projection.name, "version": projection.version, "position": position}
        put = Put(PROJECTIONS_TABLE.name, row)
        cursor.execute(*self.store.dialect.change(PROJECTIONS_TABLE, put))

    def _fold(
        self,
        cursor: Cursor,
        projections: Sequence[Projection],
        events: Iterable[Recorded],
        progress: Progress | None,
    ) -> int:
        position = 0
        for event in events:
            self._apply(cursor, projections, event)
            position = event.position
            if progress is not None and position % _PAGE == 0:
                progress(position)
        return position

    def rebuild(self, progress: Progress | None = None) -> None:
        """Throw all projections away and build them again, in one transaction."""
        everything = (*self.inline, *self.tracked)
        with self.store.transaction(commit=True) as cursor:
            for projection in everything:
                self._reset(cursor, projection)
            position = self._fold(cursor, everything, self.stream(), progress)
            for projection in self.tracked:
                self._checkpoint(cursor, projection, position)

    def _checkpoints(self) -> dict[str, int]:
        rows = self.select(PROJECTIONS_TABLE.name)
        return {str(row["name"]): int(row["position"] or 0) for row in rows}

    def catch_up(self, progress: Progress | None = None) -> int:
        """Fold tracked projections up to the head, each page with its checkpoint."""
        folded, behind = 0, self.lag()
        for projection in self.tracked:
            while behind[projection.name] > 0:
                page, last = self._fold_page(projection)
                folded += page
                if progress is not None and page:
                    progress(last)
                if page < _PAGE:
                    break
        return folded

    def _fold_page(self, projection: Projection) -> tuple[int, int]:
        """Fold one page; the checkpoint is read in its transaction, since others may fold too."""
        with self.store.transaction(commit=True) as cursor:
            mark = self.store.dialect.placeholder
            cursor.execute(
                f'SELECT "position" FROM "projections" WHERE "name" = {mark}',  # noqa: S608 - own names
                [projection.name],
            )
            found = cursor.fetchone()
            last = int(found[0]) if found else 0
            page = self.store.rows(last + 1, _PAGE)
            if page:
                last = self._fold(cursor, [projection], (decode(*row) for row in page), None)
                self._checkpoint(cursor, projection, last)
            return len(page), last

    def lag(self) -> dict[str, int]:
        """Return how many events each projection is behind; inline ones never are."""
        head, checkpoints = self.position(), self._checkpoints()
        behind = {p.name: head - checkpoints.get(p.name, 0) for p in self.tracked}
        return {**{p.name: 0 for p in self.inline}, **behind}

    # --- its life --------------------------------------------------------------------------------

    def check(self) -> None:
        """Look for damage that a reading in order passes over."""
        self.store.check()

    def changes(self) -> object:
        """Return a token that differs once something was appended."""
        return self.store.changes()

    def close(self) -> None:
        """Give the store back."""
        self.store.close()
