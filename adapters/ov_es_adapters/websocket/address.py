"""The socket's address: made with its key in it, and never shown."""

from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from ov_es_adapters.errors import BadInputError


def socket_address(base: str, *, api_key: str, identifier: str) -> str:
    """Add the credentials that the backend wants in the query (WS-1); other parameters stay.

    Raises: BadInputError when the base is no address of a WebSocket; nothing of it is repeated but
    scheme and host, since people paste addresses with keys in them.

    >>> socket_address("wss://team.example/dev?v=2", api_key="k&1", identifier="ada")
    'wss://team.example/dev?v=2&api_key=k%261&identifier=ada'
    """
    parts = _parts(base)
    ours = {"api_key": api_key, "identifier": identifier}
    kept = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if k not in ours]
    return parts._replace(query=urlencode([*kept, *ours.items()])).geturl()


def is_loopback(base: str) -> bool:
    """Tell whether an address is of this machine, so that no proxy may stand between.

    >>> is_loopback("ws://127.0.0.1:80"), is_loopback("ws://[::1]"), is_loopback("wss://team.example")
    (True, True, False)
    """
    host = _parts(base).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _parts(base: str) -> SplitResult:
    try:
        parts = urlsplit(base.strip())
        host, _ = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        # The library's message would quote the address.
        message = "the WebSocket address can't be read; one looks like wss://team.example/dev"
        raise BadInputError(message) from None
    if parts.scheme not in {"ws", "wss"} or not host or parts.fragment:
        given = f"{parts.scheme}://{host}" if parts.scheme and host else "what was given"
        message = f"{given} is no WebSocket address; one looks like wss://team.example/dev"
        raise BadInputError(message)
    return parts
