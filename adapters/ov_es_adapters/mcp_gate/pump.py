"""Carries bytes between stdio and a gate's socket: a program of its own, without any secret.

It needs the standard library alone, so that an agent program has its tools at once.
"""

import os
import socket
import sys
import threading

CHUNK_BYTES = 64 * 1024
NO_GATE_STATUS = 4


def main(arguments: list[str]) -> int:
    """Connect stdin and stdout with the socket at `arguments[0]` until either side is done."""
    if len(arguments) != 1:
        sys.stderr.write("usage: pump SOCKET\n")
        return 2
    gate = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        gate.connect(arguments[0])
    except OSError as error:
        sys.stderr.write(f"the gate {arguments[0]} can't be reached: {error.strerror}\n")
        return NO_GATE_STATUS
    threading.Thread(target=_send, args=(gate,), daemon=True).start()
    try:
        while chunk := gate.recv(CHUNK_BYTES):
            _write(chunk)
    except OSError:
        return 1
    return 0


def _send(gate: socket.socket) -> None:
    try:
        while chunk := os.read(0, CHUNK_BYTES):
            gate.sendall(chunk)
        gate.shutdown(socket.SHUT_WR)
    except OSError:
        # The gate is closed: the other thread sees its end, too, and says how it went.
        return


def _write(chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    # The sending thread may still wait for input that never comes.
    os._exit(main(sys.argv[1:]))
