"""The store of keys. It holds digests of their secrets and never a secret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, or_, select, tuple_, update

from ..errors import Conflict, NotFound
from . import cursors
from .database import Transactions
from .lists import is_storable
from .tables import KEYS

UNKNOWN = "No key has this id."
LIST = cursors.list_digest(of="keys")


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key without its secret.

    id            public; it is part of what the holder sends
    scopes        what it may do, sorted
    digest        SHA-256 of what the holder sends, in hexadecimal
    created_us    when it was made [µs since 1970-01-01 UTC]; issued_us when it got its present secret
    expires_us    from when on it is refused; revoked_us since when it is, unless that is None
    last_used_us  the hour of its last use, or None
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    digest: str
    created_us: int
    issued_us: int
    expires_us: int
    revoked_us: int | None = None
    last_used_us: int | None = None


@dataclass(frozen=True)
class KeyPage:
    """Some keys of the list, newest first, and the cursor of the next ones; None on the last page."""

    items: tuple[Key, ...]
    next_cursor: str | None


class KeyStore:
    """Keys in a database whose schema is at head."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    def add(self, key: Key, *, most: int) -> Key:
        """Keeps a new key, committed. Raises: Conflict where `most` are in use; Unavailable."""

        def work(connection: Connection) -> Key:
            in_use = connection.execute(select(func.count()).select_from(KEYS).where(_in_use(key.created_us))).scalar_one()
            if in_use >= most:
                raise Conflict(f"There are {in_use} keys already, and at most {most} may be in use; revoke some first.")
            connection.execute(insert(KEYS).values(**_row(key)))
            return key

        return self._database.write(work)

    def get(self, id: str) -> Key:  # noqa: A002 - the field's own name
        """The key of this id. Raises: NotFound, Unavailable."""
        return self._database.read(lambda connection: _stored(connection, id))

    def change(self, id: str, revise: Callable[[Key], Key]) -> Key:  # noqa: A002 - as in get
        """What `revise` makes of a key's digest and times takes the place of what it has: what is now stored, committed.

        Nobody else changes it in between, and what `revise` raises leaves it as it was. Raises: NotFound, Unavailable.
        """

        def work(connection: Connection) -> Key:
            stored = _stored(connection, id, lock=True)
            wanted = revise(stored)
            changed = {name: getattr(wanted, name) for name in ("digest", "issued_us", "expires_us", "revoked_us")}
            connection.execute(update(KEYS).where(KEYS.c.id == id).values(**changed))
            return wanted

        return self._database.write(work)

    def use(self, id: str, used_us: int) -> None:  # noqa: A002 - as in get
        """Notes a use of a key that is later than the one that is noted, committed. Raises: Unavailable."""
        is_later = or_(KEYS.c.last_used_us.is_(None), KEYS.c.last_used_us < used_us)
        self._database.write(
            lambda connection: connection.execute(update(KEYS).where(KEYS.c.id == id, is_later).values(last_used_us=used_us))
        )

    def in_use(self, now_us: int) -> tuple[Key, ...]:
        """All keys that are neither revoked nor, at `now_us`, expired. Raises: Unavailable."""
        return self._database.read(lambda connection: tuple(map(_key, connection.execute(select(KEYS).where(_in_use(now_us))))))

    def page(self, limit: int, cursor: str | None = None) -> KeyPage:
        """The first `limit` keys, newest first, or those behind a cursor. Raises: InvalidInput, Unavailable."""
        rows_and_one = select(KEYS).order_by(KEYS.c.created_us.desc(), KEYS.c.id.desc()).limit(limit + 1)
        if cursor is not None:
            rows_and_one = rows_and_one.where(tuple_(KEYS.c.created_us, KEYS.c.id) < tuple_(*cursors.read(cursor, LIST, int)))
        rows = self._database.read(lambda connection: connection.execute(rows_and_one).all())
        shown = tuple(map(_key, rows[:limit]))
        more = cursors.write(LIST, shown[-1].created_us, shown[-1].id) if len(rows) > limit else None
        return KeyPage(shown, more)


def _in_use(now_us: int) -> ColumnElement[bool]:
    return and_(KEYS.c.revoked_us.is_(None), KEYS.c.expires_us > now_us)


def _stored(connection: Connection, key_id: str, *, lock: bool = False) -> Key:
    query = select(KEYS).where(KEYS.c.id == key_id)
    row = connection.execute(query.with_for_update() if lock else query).first() if is_storable(key_id) else None
    if row is None:
        raise NotFound(UNKNOWN)
    return _key(row)


def _row(key: Key) -> dict[str, object]:
    return {**asdict(key), "scopes": " ".join(key.scopes)}


def _key(row: Row[tuple[object, ...]]) -> Key:
    return Key(**{**row._mapping, "scopes": tuple(row.scopes.split())})
