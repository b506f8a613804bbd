"""The socket of the service, taken before anything else is touched, and what can be wrong with its address in one line."""

from __future__ import annotations

import errno
import socket
from typing import Final

from ..settings import InvalidSettings

SENTENCES: Final = {
    errno.EADDRINUSE: "port {port} of {host} is taken: end what listens there, or choose another one with --port",
    errno.EACCES: "port {port} is kept for the system: choose another one with --port",
    errno.EADDRNOTAVAIL: "this machine has no address {host}",
}


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, on a free port where `port` is 0. Raises InvalidSettings."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except socket.gaierror:
        raise InvalidSettings(f"there is no address {host}") from None
    except OSError as error:
        sentence = SENTENCES.get(error.errno or 0, "{host} cannot be listened on: " + (error.strerror or ""))
        raise InvalidSettings(sentence.format(host=host, port=port)) from None


def address(listener: socket.socket) -> str:
    """Where callers find the service."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"http://{host}:{port}"
