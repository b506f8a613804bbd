"""Services that other machines can reach, and the holders of their keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from service.analysis import keys
from service.analysis.keys import OWNER
from service.analysis.moments import now_us
from service.api.app import create_app
from service.catalogue import Catalogue
from service.schemas.keys import NewKey
from service.schemas.scopes import Scope
from service.settings import Settings
from service.storage import Database, KeyStore

from .conftest import Client

QUESTION = {"op": {"kind": "dot", "n": 1024, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}}
CELL = "/v1/cell/bound?op=dot&n=1024&dtype=fp32&chip=nvidia-h100-sxm"
CHALLENGE = 'Bearer realm="roofline"'


def issued(database: Database, *scopes: Scope, **more: Any) -> keys.Issued:
    """A new key, as `roofline keys create` makes it."""
    return keys.create(NewKey(name="a program", scopes=list(scopes), **more), OWNER, KeyStore(database))


def expired(database: Database, *scopes: Scope) -> str:
    """The secret of a key that has expired."""
    made = issued(database, *scopes)
    KeyStore(database).change(made.key.id, lambda stored: replace(stored, expires_us=now_us() - 1))
    return made.token


def revoked(database: Database, *scopes: Scope) -> str:
    """The secret of a key that was revoked."""
    made = issued(database, *scopes)
    keys.revoke(made.key.id, KeyStore(database))
    return made.token


def bearing(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@contextmanager
def reached(settings: Settings, catalogue: Catalogue, database: Database, **more: Any) -> Iterator[Client]:
    """A caller of a service that listens on every address."""
    app = create_app(replace(settings, host="0.0.0.0", **more), catalogue=catalogue, database=database)
    client = Client(app)
    yield client
    app.state.service.pools.close()
    client.close()
