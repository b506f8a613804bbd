"""`roofline keys`: the same use cases as the API, by whoever has the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import RenderableType

from ..analysis import keys
from ..api.answers import written
from ..schemas.keys import DAY_S, NewKey, NewSecret
from ..schemas.reading import validate
from ..settings import Settings
from ..storage import Key, KeyStore
from .blocks import paragraph, table
from .database import prepared
from .output import put_json, put_text


def create(settings: Settings, name: str, scopes: Sequence[str], days: int | None, *, is_json: bool) -> None:
    """Raises InvalidInput, Conflict, Unavailable."""
    new = validate(NewKey, {"name": name, "scopes": list(scopes), **_lifetime(days)})
    with _store(settings) as store:
        _show_secret(keys.create(new, keys.OWNER, store), is_json=is_json)


def rotate(settings: Settings, name: str, days: int | None, *, is_json: bool) -> None:
    """Raises InvalidInput, NotFound, Conflict, Unavailable."""
    asked = validate(NewSecret, _lifetime(days))
    with _store(settings) as store:
        _show_secret(keys.rotate(name, asked, keys.OWNER, store), is_json=is_json)


def revoke(settings: Settings, name: str, *, is_json: bool) -> None:
    """Raises NotFound, Unavailable."""
    with _store(settings) as store:
        key = keys.revoke(name, store)
    if is_json:
        put_json(written(keys.document(key)))
    else:
        put_text([paragraph(f"{key.id}, {key.name}, is revoked.")])


def show_all(settings: Settings, *, is_json: bool) -> None:
    """Raises Unavailable."""
    with _store(settings) as store:
        documents = [keys.document(key) for key in _all(store)]
    if is_json:
        put_json(written({"items": documents}))
    else:
        put_text(_table(documents))


@contextmanager
def _store(settings: Settings) -> Iterator[KeyStore]:
    """The keys of the database, which gets its schema first where it is new: a first key is made before the first start."""
    with prepared(settings) as database:
        yield KeyStore(database)


def _all(store: KeyStore) -> Iterator[Key]:
    page = store.page(200)
    yield from page.items
    while page.next_cursor is not None:
        page = store.page(200, page.next_cursor)
        yield from page.items


def _lifetime(days: int | None) -> dict[str, int]:
    return {} if days is None else {"lifetime_s": days * DAY_S}


def _show_secret(made: keys.Issued, *, is_json: bool) -> None:
    if is_json:
        put_json(written(keys.issued(made)))
        return
    about = keys.document(made.key)
    put_text(
        [
            paragraph(f"{about['id']}, {about['name']}: may {', '.join(about['scopes'])} until {about['expires_at'][:10]}."),
            made.token,
            paragraph("This is its secret, shown this once. Send it as `Authorization: Bearer …`."),
        ]
    )


def _table(documents: Sequence[dict[str, Any]]) -> Iterator[RenderableType]:
    if not documents:
        yield paragraph("There are no keys. `roofline keys create NAME --scope read` makes one.")
        return
    yield table(["key", "name", "scopes", "status", "expires", "last used"], [_line(each) for each in documents])


def _line(key: dict[str, Any]) -> tuple[str, ...]:
    used = key["last_used_at"]
    return key["id"], key["name"], " ".join(key["scopes"]), key["status"], key["expires_at"][:10], "never" if used is None else used[:13]
