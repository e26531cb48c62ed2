"""What a lost or failed connection means: an outage, or a plain no."""

import errno
import socket
import ssl
from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from websockets.exceptions import (
    ConnectionClosed,
    InvalidProxy,
    InvalidProxyStatus,
    InvalidStatus,
    WebSocketException,
)
from websockets.frames import CloseCode

from ov_es_adapters.websocket.fields import excerpt

_REFUSING_STATUSES = frozenset({401, 403})
_REFUSING_CODES = frozenset({int(CloseCode.POLICY_VIOLATION), 4401, 4403})
_REASON_CHARACTERS_MAX = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Why there is no connection, in words that hold no address."""

    reason: str
    is_refused: bool = False
    """The server refused the credentials, so the same again is no use."""
    is_too_large: bool = False
    """We gave the connection up over a frame beyond every limit."""


def loss_from(error: OSError | WebSocketException, *, secret: str) -> Loss:
    """Name what happened, without the texts of libraries: they quote addresses."""
    match error:
        case ConnectionClosed():
            return _closed(error, secret)
        case InvalidStatus():
            status = error.response.status_code
            return Loss(reason=f"http-{status}", is_refused=status in _REFUSING_STATUSES)
        case WebSocketException():
            return Loss(reason=_failed_handshake(error))
        case _:
            return Loss(reason=_failed_transport(error))


def _failed_handshake(error: WebSocketException) -> str:
    match error:
        case InvalidProxyStatus():
            return f"proxy-http-{error.response.status_code}"
        case InvalidProxy():
            return "proxy-address-not-valid"
        case _:
            return f"handshake-failed ({type(error).__name__})"


def _failed_transport(error: OSError) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return "certificate-not-trusted"
        case ssl.SSLError():
            return "tls-failed"
        case socket.gaierror():
            return "name-not-resolved"
        case TimeoutError():
            return "timed-out"
        case _:
            name = "" if error.errno is None else errno.errorcode.get(error.errno, "")
            return f"unreachable ({name})" if name else "unreachable"


def _closed(error: ConnectionClosed, secret: str) -> Loss:
    if error.rcvd is not None and error.rcvd_then_sent is not False:
        code = error.rcvd.code
        said = _without(secret, error.rcvd.reason)
        words = excerpt(said, _REASON_CHARACTERS_MAX)
        return Loss(
            reason=f"closed-{code}{f' ({words})' if words else ''}",
            is_refused=code in _REFUSING_CODES,
        )
    if error.sent is None:
        return Loss(reason="broken-off")
    if error.sent.code == CloseCode.MESSAGE_TOO_BIG:
        return Loss(reason="frame-too-large", is_too_large=True)
    # The library says so when a ping stays without its pong.
    if error.sent.code == CloseCode.INTERNAL_ERROR:
        return Loss(reason="no-pong")
    return Loss(reason=f"given-up-{error.sent.code}")


def _without(secret: str, text: str) -> str:
    """Take the key out of words of the server, in each form in which it could echo it."""
    forms = {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        b64encode(secret.encode()).decode().rstrip("="),
    }
    for form in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(form, "[redacted]")
    return text
