"""What browsers must hear before they let pages of other origins read our answers: only of those that the settings name, each by itself."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

from ..settings import Settings

RawHeaders = list[tuple[bytes, bytes]]

ASKED: Final = b"authorization, content-type, if-match, if-none-match, idempotency-key, x-request-id"
"""Headers that a page may send besides those that every page may."""

SHOWN: Final = b"content-disposition, etag, link, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id"
"""Headers of answers that a page may read besides those that every page may."""

PREFLIGHT_S: Final = b"600"
"""How long [s] a browser need not ask again whether it may ask."""


class Cors:
    """Adds to answers what pages of the allowed origins need; no cookie is ever asked for, so none is allowed."""

    def __init__(self, settings: Settings) -> None:
        self._origins = frozenset(origin.encode() for origin in settings.allowed_origins)

    def headers(self, request: Scope, said: RawHeaders) -> RawHeaders:
        """What an answer with the headers `said` says besides them."""
        if not self._origins:
            return []
        origin = next((value.lower() for name, value in request["headers"] if name == b"origin"), None)
        vary = (b"vary", b"Origin")  # also for a request without one: a cache may keep its answer for a page
        if origin not in self._origins:
            return [vary]
        allowed = [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", SHOWN), vary]
        return [*allowed, *_preflight(request, said)]


def _preflight(request: Scope, said: RawHeaders) -> RawHeaders:
    if request["method"] != "OPTIONS" or all(name != b"access-control-request-method" for name, _ in request["headers"]):
        return []
    methods = [(b"access-control-allow-methods", value) for name, value in said if name == b"allow"]
    return [*methods, (b"access-control-allow-headers", ASKED), (b"access-control-max-age", PREFLIGHT_S)]
