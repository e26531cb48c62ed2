"""The machine's processes as they are now: who is whose child, since when, with which marker.

Linux tells through /proc and process file descriptors, without any race; other systems through
psutil, which is a dependency only there.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

MARKER = "OV_ES_RUN"
"""The environment variable that a run and all its descendants carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEntry:
    """One process at one moment; `pid` and `started` together name it for ever."""

    pid: int
    parent: int
    group: int
    session: int
    is_zombie: bool
    """It has ended, and waits for its parent to notice."""
    started: str
    """Boot id and start time in ticks (elsewhere: the time of its creation)."""
    cpu_seconds: float
    """Its own and that of the children which it has waited for."""


def parse_stat(text: bytes, boot: str, ticks_per_second: int) -> ProcessEntry | None:
    """Read the content of /proc/<pid>/stat; None where it isn't one.

    The command's name stands in brackets and may hold blanks and brackets itself, so the fields
    are counted from the last closing one.

    >>> stat = b"7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 150 20 25 5 20 0 1 0 9000 0"
    >>> entry = parse_stat(stat, "boot", 100)
    >>> (entry.pid, entry.parent, entry.started, entry.cpu_seconds) if entry else None
    (7, 1, 'boot:9000', 2.0)
    """
    head, bracket, rest = text.rpartition(b")")
    fields = rest.split()
    pid = head.partition(b" ")[0]
    if not bracket or len(fields) < 20 or not pid.isdigit():  # noqa: PLR2004 - proc(5), field 22
        return None
    return ProcessEntry(
        pid=int(pid),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        is_zombie=fields[0] in {b"Z", b"X"},
        started=f"{boot}:{int(fields[19])}",
        cpu_seconds=sum(map(int, fields[11:15])) / ticks_per_second,
    )


if sys.platform == "linux":
    PROC = Path("/proc")

    def _boot() -> str:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()

    def _read(pid: int, boot: str) -> ProcessEntry | None:
        try:
            text = (PROC / str(pid) / "stat").read_bytes()
        except OSError:
            return None
        return parse_stat(text, boot, os.sysconf("SC_CLK_TCK"))

    def entry(pid: int) -> ProcessEntry | None:
        """Return the process with this pid, or None where there is none."""
        return _read(pid, _boot())

    def entries() -> Iterator[ProcessEntry]:
        """Yield every process that is visible to us, in no order."""
        boot = _boot()
        for folder in PROC.iterdir():
            if folder.name.isdigit() and (found := _read(int(folder.name), boot)) is not None:
                yield found

    def marker_of(pid: int) -> str:
        """Return the marker that the process was given; "" for none, and where we may not look."""
        try:
            environment = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            return ""
        name = f"{MARKER}=".encode()
        for given in environment.split(b"\0"):
            if given.startswith(name):
                return given.removeprefix(name).decode(errors="replace")
        return ""

    def signal_exactly(process: ProcessEntry, signal: Signals) -> bool:
        """Signal this very process, and no other that has its pid by now (PRC-11)."""
        from signal import pidfd_send_signal  # noqa: PLC0415 - exists on Linux only

        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            return False
        try:
            # The descriptor is bound to whoever has the pid now: looking after it was opened
            # leaves no moment in which the pid could change hands unnoticed.
            now = entry(process.pid)
            if now is None or now.started != process.started:
                return False
            pidfd_send_signal(descriptor, signal)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def adopt_orphans() -> bool:
        """Become the parent of every orphaned descendant, so that strays stay findable."""
        import ctypes  # noqa: PLC0415 - only where a process is started

        set_child_subreaper = 36
        prctl: Callable[..., int] = ctypes.CDLL(None, use_errno=True).prctl
        return prctl(set_child_subreaper, 1, 0, 0, 0) == 0

else:
    import psutil

    def _entry(process: psutil.Process) -> ProcessEntry | None:
        try:
            with process.oneshot():
                times = process.cpu_times()
                return ProcessEntry(
                    pid=process.pid,
                    parent=process.ppid(),
                    group=os.getpgid(process.pid),
                    session=os.getsid(process.pid),
                    is_zombie=process.status() == psutil.STATUS_ZOMBIE,
                    started=f"{process.create_time():.2f}",
                    cpu_seconds=sum(times[:4]),
                )
        except (psutil.Error, OSError):
            return None

    def entry(pid: int) -> ProcessEntry | None:
        """Return the process with this pid, or None where there is none."""
        try:
            return _entry(psutil.Process(pid))
        except psutil.Error:
            return None

    def entries() -> Iterator[ProcessEntry]:
        """Yield every process that is visible to us, in no order."""
        for process in psutil.process_iter():
            if (found := _entry(process)) is not None:
                yield found

    def marker_of(pid: int) -> str:
        """Return the marker that the process was given; "" for none, and where we may not look."""
        try:
            return str(psutil.Process(pid).environ().get(MARKER, ""))
        except (psutil.Error, OSError):
            return ""

    def signal_exactly(process: ProcessEntry, signal: Signals) -> bool:
        """Signal this very process, and no other that has its pid by now (PRC-11)."""
        now = entry(process.pid)
        if now is None or now.started != process.started:
            return False
        try:
            os.kill(process.pid, signal)
        except OSError:
            return False
        return True

    def adopt_orphans() -> bool:
        """Only Linux can; elsewhere the marker alone finds strays."""
        return False


def carries_marker(pid: int, marker: str) -> bool:
    """Tell whether the process was given this marker; False where we may not look."""
    return marker_of(pid) == marker
