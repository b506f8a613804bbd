"""Who may call: a service that listens on the loopback interface is protected from web pages, which reach it through the browser.

A page of any origin can make a browser send requests to 127.0.0.1, and by rebinding a name of its own it can even read the answers.
So the name in `Host` must be the loopback's or an allowed one, and a request that a foreign page caused is refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from ..errors import Forbidden
from ..settings import Settings

Headers = Iterable[tuple[bytes, bytes]]

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class Door:
    """Checks `Host` and `Origin` by the settings."""

    def __init__(self, settings: Settings) -> None:
        self._is_loopback = settings.is_loopback
        self._hosts = frozenset(settings.allowed_hosts)
        self._origins = frozenset(settings.allowed_origins)

    def check(self, headers: Headers) -> None:
        """Nothing, if the request may come in. Raises Forbidden (host-not-allowed, origin-not-allowed)."""
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        if self._is_loopback and not (len(hosts) == 1 and self._is_known(hosts[0])):
            raise Forbidden(
                "The service answers only to loopback names and to the hosts that it was told to allow.", code="host-not-allowed"
            )
        if origins and not all(self._is_own(origin, hosts) for origin in origins):
            raise Forbidden("Pages of this origin may not call the service.", code="origin-not-allowed")

    def _is_known(self, host: str) -> bool:
        found = _AUTHORITY.fullmatch(host)
        return found is not None and (found[1] in self._hosts or _is_loopback_name(found[1]))

    def _is_own(self, origin: str, hosts: list[str]) -> bool:
        """Whether `origin` is allowed, or is the service itself: the same port of the same host, by any of its loopback names."""
        if origin in self._origins:
            return True
        scheme, _, authority = origin.partition("://")
        theirs = _AUTHORITY.fullmatch(authority)
        ours = _AUTHORITY.fullmatch(hosts[0]) if hosts else None
        if theirs is None or ours is None or scheme not in _DEFAULT_PORTS:
            return False
        is_same_host = theirs[1] == ours[1] or (_is_loopback_name(theirs[1]) and _is_loopback_name(ours[1]))
        return is_same_host and (theirs[2] or _DEFAULT_PORTS[scheme]) == (ours[2] or _DEFAULT_PORTS[scheme])


def _is_loopback_name(host: str) -> bool:
    """Whether a host, as written in an address, is this machine to itself.

    >>> _is_loopback_name("127.0.0.1"), _is_loopback_name("[::1]"), _is_loopback_name("127.0.0.1.example.org")
    (True, True, False)
    """
    if host in {"localhost", "127.0.0.1"}:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
