"""Keys in the store: kept, found, listed, changed, counted; no secret among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.errors import Conflict, InvalidInput, NotFound
from service.storage import Database, Key, KeyStore

NOW = 1_700_000_000_000_000


def key(number: int = 0, **changes: Any) -> Key:
    """The example of this number, made a microsecond after the one before."""
    fields: dict[str, Any] = {
        "id": f"key_{number:06d}",
        "name": f"program {number}",
        "scopes": ("evaluate", "read"),
        "digest": f"d{number}",
        "created_us": NOW + number,
        "issued_us": NOW + number,
        "expires_us": NOW + 1_000_000,
    }
    return Key(**{**fields, **changes})


def test_a_key_is_kept_as_it_was_given(database: Database) -> None:
    store = KeyStore(database)
    assert store.add(key(), most=5) == key()
    assert store.get("key_000000") == key()
    for unknown in ("key_000001", "", "\0", "\ud800", "x" * 5000):
        with pytest.raises(NotFound):
            store.get(unknown)


def test_keys_in_use_are_neither_revoked_nor_expired(database: Database) -> None:
    store = KeyStore(database)
    for each in (key(0), key(1, revoked_us=NOW), key(2, expires_us=NOW + 500)):
        store.add(each, most=5)
    assert {each.id for each in store.in_use(NOW)} == {"key_000000", "key_000002"}
    assert {each.id for each in store.in_use(NOW + 500)} == {"key_000000"}


def test_there_are_at_most_so_many_keys_in_use(database: Database) -> None:
    store = KeyStore(database)
    for number in range(3):
        store.add(key(number), most=3)
    with pytest.raises(Conflict, match="There are 3 keys already"):
        store.add(key(3), most=3)
    store.change("key_000001", lambda stored: replace(stored, revoked_us=NOW))
    store.add(key(3), most=3)


def test_a_change_takes_the_place_of_the_secret_and_its_times_alone(database: Database) -> None:
    store = KeyStore(database)
    store.add(key(), most=5)
    store.use("key_000000", NOW)
    wanted = store.change(
        "key_000000", lambda stored: replace(stored, digest="other", issued_us=NOW + 5, expires_us=NOW + 9, name="ignored")
    )
    assert wanted.digest == "other"
    assert store.get("key_000000") == key(digest="other", issued_us=NOW + 5, expires_us=NOW + 9, last_used_us=NOW)


def test_what_a_change_raises_leaves_the_key_as_it_was(database: Database) -> None:
    def refuse(_: Key) -> Key:
        raise Conflict("no")

    store = KeyStore(database)
    store.add(key(), most=5)
    with pytest.raises(Conflict, match="no"):
        store.change("key_000000", refuse)
    with pytest.raises(NotFound):
        store.change("key_000009", refuse)
    assert store.get("key_000000") == key()


def test_the_latest_use_is_kept_whatever_the_order_in_which_processes_tell_it(database: Database) -> None:
    store = KeyStore(database)
    store.add(key(), most=5)
    for used in (NOW, NOW + 2, NOW + 1):
        store.use("key_000000", used)
    assert store.get("key_000000").last_used_us == NOW + 2


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_follow_each_other_newest_first(database: Database, limit: int) -> None:
    store, together = KeyStore(database), {"created_us": NOW}
    for number in range(6):
        store.add(key(number, **(together if number < 3 else {})), most=9)
    found: list[Key] = []
    cursor = None
    while True:
        page = store.page(limit, cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [each.id for each in found] == [f"key_{number:06d}" for number in (5, 4, 3, 2, 1, 0)]


def test_a_cursor_of_something_else_is_refused(database: Database) -> None:
    with pytest.raises(InvalidInput):
        KeyStore(database).page(5, "x")
