"""Answers that creating requests got under an idempotency key, so that the same request again has no second effect.

The key is written in the transaction of the effect, so both are kept or neither is. Two requests under one key at the same
time, through whatever process, meet at the key: the second waits for the first to be committed and gets its answer, or
has the effect itself where the first came to nothing. What is refused is not remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, select, tuple_, update

from ..errors import Unavailable, refuse
from .database import ATTEMPTS, Database, Joined, Transactions
from .faults import BUSY
from .inserting import insert_absent
from .tables import IDEMPOTENCY_KEYS

KEPT_S: Final = 86_400
"""How long [s] a key is remembered."""

SWEPT: Final = 100
"""Keys whose time is over that one request removes at most, so that none pays for all."""

KEYS: Final = IDEMPOTENCY_KEYS.c


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A request under a key: whose key it is, and digests of the key and of all that the request says."""

    caller: str
    key_digest: str
    request_digest: str
    at_us: int


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer, byte for byte. `is_replay` tells that it was given before and nothing was done for it now."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_replay: bool = False


Effect = Callable[[Transactions], Reply]
"""What a request does, in a transaction that has begun, and the answer to it."""


class ReplyStore:
    """Replies in a database whose schema is at head."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, attempt: Attempt) -> Reply | None:
        """The answer that this request got before. Raises: InvalidInput where the key came with another request; Unavailable."""
        return self._database.read(lambda connection: _found(connection, attempt))

    def once(self, attempt: Attempt, effect: Effect) -> Reply:
        """The answer of `effect`, which happens unless this request was answered before; committed.

        Raises: InvalidInput where the key came with another request; Unavailable; and what `effect` does.
        """

        def work(connection: Connection) -> Reply:
            _sweep(connection, attempt)
            for _ in range(ATTEMPTS):
                if _claimed(connection, attempt):
                    return _kept(connection, attempt, effect(Joined(connection)))
                found = _found(connection, attempt)
                if found is not None:
                    return found
            raise Unavailable(BUSY)  # each time its time was over between the two statements

        return self._database.write(work)


def _claimed(connection: Connection, attempt: Attempt) -> bool:
    """Whether the key is this request's from now on, with an answer that is still to be written."""
    row = {
        "caller": attempt.caller,
        "key_digest": attempt.key_digest,
        "request_digest": attempt.request_digest,
        "created_us": attempt.at_us,
        "status": 0,
        "headers": "{}",
        "body": "",
    }
    return insert_absent(connection, IDEMPOTENCY_KEYS, [row]) == 1


def _kept(connection: Connection, attempt: Attempt, reply: Reply) -> Reply:
    said = {"status": reply.status, "headers": json.dumps(dict(reply.headers)), "body": reply.body.decode()}
    connection.execute(update(IDEMPOTENCY_KEYS).where(_is_key(attempt)).values(**said))
    return reply


def _found(connection: Connection, attempt: Attempt) -> Reply | None:
    row = connection.execute(select(IDEMPOTENCY_KEYS).where(_is_key(attempt), KEYS.created_us > _oldest_us(attempt))).first()
    if row is None:
        return None
    if row.request_digest != attempt.request_digest:
        raise refuse(
            "/header/idempotency-key", "idempotency-key-reused", "This key came with another request; send a new one with a new request."
        )
    return Reply(status=row.status, headers=json.loads(row.headers), body=row.body.encode(), is_replay=True)


def _sweep(connection: Connection, attempt: Attempt) -> None:
    """Removes keys whose time is over, this one among them; those that another request removes just now are left to it."""
    is_over = KEYS.created_us <= _oldest_us(attempt)
    names = (KEYS.caller, KEYS.key_digest)
    some = select(*names).where(is_over).order_by(KEYS.created_us).limit(SWEPT).with_for_update(skip_locked=True)
    connection.execute(delete(IDEMPOTENCY_KEYS).where(tuple_(*names).in_(some)))
    connection.execute(delete(IDEMPOTENCY_KEYS).where(_is_key(attempt), is_over))


def _is_key(attempt: Attempt) -> ColumnElement[bool]:
    return and_(KEYS.caller == attempt.caller, KEYS.key_digest == attempt.key_digest)


def _oldest_us(attempt: Attempt) -> int:
    return attempt.at_us - KEPT_S * 1_000_000
