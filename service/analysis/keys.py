"""The use cases of keys: make one, list them, give one another secret, revoke one.

What a holder sends is `rlk_`, the id of the key and a secret of 260 random bits, in letters that an address and a double click take as
they are. The store keeps the SHA-256 of it. A slow hash, as passwords need, would protect nothing here, since nobody can go through
2^260 secrets, and would cost each caller and every stranger with a made-up key more of our time than an answer.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from ..errors import Conflict, ScopeMissing, refuse
from ..schemas.keys import DEFAULT_LIFETIME_S, NewKey, NewSecret
from ..schemas.scopes import EVERYTHING, SCOPES, Scope, allowed
from ..storage import Key, KeyStore
from .moments import moment, now_us

MOST_KEYS: Final = 1000
"""Keys that may be in use: every process holds all of them in memory."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"  # 5 bits each
_ID_LENGTH, _SECRET_LENGTH = 16, 52
_TOKEN: Final = re.compile(rf"rlk_([a-z2-7]{{{_ID_LENGTH}}})_[a-z2-7]{{{_SECRET_LENGTH}}}")
_NOBODY: Final = hashlib.sha256(b"").hexdigest()

Clock = Callable[[], int]


@dataclass(frozen=True)
class Maker:
    """Whoever asks: what they may do, and until when [µs since 1970-01-01 UTC], None where nothing ends it; the id of their key."""

    scopes: frozenset[Scope]
    expires_us: int | None = None
    id: str = ""

    def require(self, *wanted: Scope) -> None:
        """Nothing, if all of `wanted` is allowed. Raises ScopeMissing, naming the first that is not."""
        for scope in wanted:
            if scope not in self.scopes:
                raise ScopeMissing(f"This needs a key with the scope `{scope}`.", scope=scope)


OWNER: Final = Maker(EVERYTHING)
"""Whoever has the database, or reaches a service that asks for no key."""


@dataclass(frozen=True)
class Issued:
    """A key with what its holder is to send, which is in no other place."""

    key: Key
    token: str


def create(new: NewKey, maker: Maker, store: KeyStore, clock: Clock = now_us) -> Issued:
    """Make a key. It can do nothing that its maker cannot, and does not outlive it. Committed when this returns.

    Raises ScopeMissing, InvalidInput, Conflict.
    """
    maker.require(*new.scopes)
    now = clock()
    expires_us = _end(new.lifetime_s, DEFAULT_LIFETIME_S, maker, now)
    name = _drawn(_ID_LENGTH)
    token = _token(name)
    key = Key(
        id=f"key_{name}",
        name=new.name,
        scopes=tuple(sorted(set(new.scopes))),
        digest=digest(token),
        created_us=now,
        issued_us=now,
        expires_us=expires_us,
    )
    return Issued(store.add(key, most=MOST_KEYS), token)


def rotate(name: str, asked: NewSecret, maker: Maker, store: KeyStore, clock: Clock = now_us) -> Issued:
    """Give a key another secret, and a new life as long as its last; the old secret ends. Committed when this returns.

    Raises NotFound, ScopeMissing where the key can do what its maker cannot, InvalidInput, and Conflict for a revoked key.
    """
    token = _token(name.removeprefix("key_"))

    def revise(stored: Key) -> Key:
        maker.require(*scopes(stored))
        if stored.revoked_us is not None:
            raise Conflict("The key is revoked, which is for good; make another one.")
        now = clock()
        last_s = (stored.expires_us - stored.issued_us) // 1_000_000
        return replace(stored, digest=digest(token), issued_us=now, expires_us=_end(asked.lifetime_s, last_s, maker, now))

    return Issued(store.change(name, revise), token)


def revoke(name: str, store: KeyStore, clock: Clock = now_us) -> Key:
    """End a key for good; of one that was revoked before the time stays. Committed when this returns. Raises NotFound."""
    return store.change(name, lambda stored: stored if stored.revoked_us is not None else replace(stored, revoked_us=clock()))


def digest(token: str) -> str:
    """What the store keeps of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def id_in(token: str) -> str | None:
    """The id of the key that a token claims to be; None where it has not the form of one.

    >>> id_in("rlk_" + 16 * "a" + "_" + 52 * "7"), id_in("hunter2")
    ('key_aaaaaaaaaaaaaaaa', None)
    """
    found = _TOKEN.fullmatch(token)
    return None if found is None else f"key_{found[1]}"


def is_secret_of(token: str, key: Key | None) -> bool:
    """Whether `token` is the one of `key`. Takes as long where there is no key, so that nobody learns which ids exist."""
    return hmac.compare_digest(digest(token), _NOBODY if key is None else key.digest) and key is not None


def scopes(key: Key) -> frozenset[Scope]:
    """Those of a stored key."""
    return frozenset(scope for scope in SCOPES if scope in key.scopes)


def held(key: Key) -> Maker:
    """What the holder of a key may do."""
    return Maker(allowed(scopes(key)), key.expires_us, key.id)


def document(key: Key, clock: Clock = now_us) -> dict[str, Any]:
    """A key as it is shown: nothing of its secret."""
    status = "revoked" if key.revoked_us is not None else "expired" if key.expires_us <= clock() else "active"
    return {
        "id": key.id,
        "name": key.name,
        "scopes": [scope for scope in SCOPES if scope in key.scopes],
        "status": status,
        "created_at": moment(key.created_us),
        "issued_at": moment(key.issued_us),
        "expires_at": moment(key.expires_us),
        "revoked_at": _moment(key.revoked_us),
        "last_used_at": _moment(key.last_used_us),
    }


def issued(made: Issued) -> dict[str, Any]:
    """A key with its secret, as it is shown this once."""
    return {**document(made.key), "secret": made.token}


def _moment(us: int | None) -> str | None:
    return None if us is None else moment(us)


def _end(asked_s: int | None, otherwise_s: int, maker: Maker, now: int) -> int:
    """When a key expires [µs] that gets its secret `now`."""
    wanted = now + (otherwise_s if asked_s is None else asked_s) * 1_000_000
    if maker.expires_us is None or wanted <= maker.expires_us:
        return wanted
    if asked_s is not None:
        raise refuse("/lifetime_s", "out-of-range", f"The key that makes this one lives for {(maker.expires_us - now) // 1_000_000} s.")
    return maker.expires_us


def _drawn(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _token(name: str) -> str:
    return f"rlk_{name}_{_drawn(_SECRET_LENGTH)}"
