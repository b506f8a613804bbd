"""What keys may give each other, and what their holders send."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import keys
from service.analysis.keys import OWNER, Maker
from service.engine.ops import OPS
from service.errors import Conflict, InvalidInput, NotFound, ScopeMissing
from service.schemas.keys import DAY_S, NewKey, NewSecret
from service.schemas.scopes import EVERYTHING, SCOPES, Scope, allowed
from service.storage import Database, KeyStore, migrate, open_database

NOW = 1_700_000_000_000_000
SECOND = 1_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KeyStore]:
    database: Database = open_database(None, tmp_path)
    migrate.ensure(database)
    yield KeyStore(database)
    database.close()


def made(store: KeyStore, *scopes: Scope, maker: Maker = OWNER, now: int = NOW, **more: Any) -> keys.Issued:
    return keys.create(NewKey(name="a program", scopes=list(scopes), **more), maker, store, lambda: now)


def test_what_a_holder_sends_is_not_in_the_store(store: KeyStore) -> None:
    issued = made(store, "read")
    assert re.fullmatch(r"rlk_[a-z2-7]{16}_[a-z2-7]{52}", issued.token)  # 52 letters of 5 bits each: 260 bits
    assert keys.id_in(issued.token) == issued.key.id
    assert store.get(issued.key.id).digest == hashlib.sha256(issued.token.encode()).hexdigest()
    assert issued.token not in repr(store.get(issued.key.id))
    assert issued.token.rpartition("_")[2] not in str(keys.document(issued.key))


def test_only_the_holder_has_the_secret(store: KeyStore) -> None:
    issued, other = made(store, "read"), made(store, "read")
    assert keys.is_secret_of(issued.token, issued.key)
    assert not keys.is_secret_of(other.token, issued.key)
    assert not keys.is_secret_of(issued.token[:-1] + ("a" if issued.token[-1] != "a" else "b"), issued.key)
    assert not keys.is_secret_of(issued.token, None)
    assert not keys.is_secret_of("", None)


@given(st.text())
def test_no_other_text_has_the_form_of_a_key(text: str) -> None:
    assert keys.id_in(text) is None


@given(st.frozensets(st.sampled_from(sorted(SCOPES))), st.frozensets(st.sampled_from(sorted(SCOPES)), min_size=1))
def test_a_key_gives_what_it_has_and_no_more(has: frozenset[Scope], wanted: frozenset[Scope]) -> None:
    maker = Maker(allowed(has))
    can = all(scope in has or (scope == "cell" and "evaluate" in has) for scope in wanted)
    if can:
        maker.require(*wanted)
    else:
        with pytest.raises(ScopeMissing) as refused:
            maker.require(*wanted)
        assert refused.value.scope in wanted - has


def test_a_key_does_not_outlive_the_one_that_made_it(store: KeyStore) -> None:
    maker = Maker(EVERYTHING, NOW + 100 * SECOND)
    assert made(store, "read", maker=maker).key.expires_us == NOW + 100 * SECOND
    assert made(store, "read", maker=maker, lifetime_s=100).key.expires_us == NOW + 100 * SECOND
    with pytest.raises(InvalidInput) as refused:
        made(store, "read", maker=maker, lifetime_s=101)
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/lifetime_s", "out-of-range")]
    assert made(store, "read").key.expires_us == NOW + 90 * DAY_S * SECOND


def test_a_rotation_ends_the_secret_and_begins_a_life_as_long_as_the_last(store: KeyStore) -> None:
    first = made(store, "read", lifetime_s=50)
    later = NOW + 40 * SECOND
    second = keys.rotate(first.key.id, NewSecret(), OWNER, store, lambda: later)
    stored = store.get(first.key.id)
    assert (stored.id, stored.name, stored.scopes, stored.created_us) == (first.key.id, "a program", ("read",), NOW)
    assert (stored.issued_us, stored.expires_us) == (later, later + 50 * SECOND)
    assert keys.is_secret_of(second.token, stored)
    assert not keys.is_secret_of(first.token, stored)
    assert keys.rotate(first.key.id, NewSecret(lifetime_s=7), OWNER, store, lambda: later).key.expires_us == later + 7 * SECOND


def test_nobody_gets_by_rotation_what_they_could_not_make(store: KeyStore) -> None:
    strong = made(store, "write")
    with pytest.raises(ScopeMissing, match="`write`"):
        keys.rotate(strong.key.id, NewSecret(), Maker(allowed(["admin", "read"])), store)
    assert keys.is_secret_of(strong.token, store.get(strong.key.id))


def test_a_revoked_key_stays_revoked(store: KeyStore) -> None:
    name = made(store, "read").key.id
    assert keys.revoke(name, store, lambda: NOW + 1).revoked_us == NOW + 1
    assert keys.revoke(name, store, lambda: NOW + 2).revoked_us == NOW + 1
    with pytest.raises(Conflict):
        keys.rotate(name, NewSecret(), OWNER, store)
    with pytest.raises(NotFound):
        keys.revoke("key_unknown", store)


def test_no_member_of_an_op_has_the_name_of_a_key_in_an_address() -> None:
    assert not [kind for kind, op in OPS.items() if "key" in op.__annotations__]
