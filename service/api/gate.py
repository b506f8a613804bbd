"""Who may do what: every route says which scope it needs, and a request is let in by its key, or without one where none is asked for.

public               everyone, and no key is looked at
a key is sent        it must be in use, have requests left, and have the scope; wherever the service listens
no key is sent       everything where the service asks for none (loopback, --allow-unauthenticated), else 401
no key, for `admin`  only on the loopback: a key outlives the moment in which everybody was let in
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from starlette.types import Scope as Request

from ..analysis.keys import OWNER, Maker, held, scopes
from ..errors import ScopeMissing, Unauthenticated
from ..schemas.scopes import CELL_ALONE, Scope
from ..settings import Settings
from .keyring import Keyring
from .quota import Quota

Need = Scope | Literal["public"]

ADDRESS_KEY: Final = "roofline.address_key"
"""Where a request has the key that was taken out of its address."""

HEADERS: Final = "roofline.headers"
"""Where a request has headers that are added to its answer, whatever that is."""

ANYONE: Final = Maker(frozenset())
"""Whoever asks where nobody is asked who they are."""

_SEND: Final = "Send it as `Authorization: Bearer …`."


class Gate:
    """Lets in whoever may."""

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        self._needs_key = settings.needs_key
        self._is_loopback = settings.is_loopback
        self._keyring = keyring
        self._quota = Quota(settings.key_requests_per_minute)

    async def admit(self, request: Request, need: Need) -> Maker:
        """Who asks. Raises Unauthenticated, ScopeMissing, RateLimited, Unavailable."""
        if need == "public":
            return ANYONE
        tokens = [*_bearers(request), *request.get(ADDRESS_KEY, ())]
        if not tokens:
            return self._without_key(need)
        if len(tokens) > 1:
            raise Unauthenticated("The request has more than one key; send one.", has_key=True)
        return await self._with_key(tokens[0], request, need)

    def _without_key(self, need: Scope) -> Maker:
        if self._needs_key or (need == "admin" and not self._is_loopback):
            raise Unauthenticated(f"This needs a key with the scope `{need}`. {_SEND}", has_key=False)
        return OWNER

    async def _with_key(self, token: str, request: Request, need: Scope) -> Maker:
        key = await self._keyring.key(token)
        if key is None:
            raise Unauthenticated("This key is not in use: it is unknown, expired or revoked.", has_key=True)
        self._quota.take(key.id, request.setdefault(HEADERS, []))
        if ADDRESS_KEY in request and scopes(key) != CELL_ALONE:
            raise ScopeMissing(f"In an address only a key is taken whose one scope is `cell`. {_SEND}", scope="cell")
        maker = held(key)
        maker.require(need)
        return maker


def _bearers(request: Request) -> Iterator[str]:
    """What was sent as a key in the header; other ways to say who one is are a proxy's, and none of ours."""
    for name, value in request["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            if scheme.lower() == "bearer":
                yield token.strip(" ")
