"""The keys that are in use, as one process knows them: all of them, read anew when what it knows is a second old.

So the database is not asked for each request, an unknown key costs no more than a look into a dictionary, and a key that is revoked or
made anywhere is so everywhere within `LIFE_S` and the time of one query. What cannot be read is refused, never guessed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from ..analysis import keys
from ..analysis.history import now_us
from ..errors import Unavailable
from ..storage import Key, KeyStore
from .pools import Pools

LIFE_S: Final = 1.0
"""How long [s] what was read is good for."""

WAIT_S: Final = 2.0
"""How long [s] the database is waited for: less than callers wait."""

HOUR_US: Final = 3_600_000_000
"""How coarse the last use of a key is kept, so that a key costs one write in an hour and no request waits for it."""


class Keyring:
    """Knows keys by what their holders send."""

    def __init__(self, store: KeyStore, pools: Pools, clock: Callable[[], int] = now_us) -> None:
        self._store = store
        self._pools = pools
        self._clock = clock
        self._keys: Mapping[str, Key] = {}
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._noted: dict[str, int] = {}
        self._notes: set[asyncio.Task[None]] = set()

    async def key(self, token: str) -> Key | None:
        """The key in use whose secret is in `token`. Raises Unavailable where the database does not tell."""
        name = keys.id_in(token)
        if name is None:
            return None
        known = (await self._current()).get(name)
        now = self._clock()
        if not keys.is_secret_of(token, known) or known is None or known.expires_us <= now:
            return None
        self._note(known, now - now % HOUR_US)
        return known

    async def _current(self) -> Mapping[str, Key]:
        if time.monotonic() - self._read_at >= LIFE_S:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._read())
            await asyncio.shield(self._reading)  # all who wait share one query, and its failure
        return self._keys

    async def _read(self) -> None:
        began = time.monotonic()
        found = await self._pools.database(lambda: self._store.in_use(self._clock()), within_s=WAIT_S)
        self._keys = {key.id: key for key in found}
        self._noted = {name: hour for name, hour in self._noted.items() if name in self._keys}
        self._read_at = began

    def _note(self, key: Key, hour_us: int) -> None:
        """Has the hour of a use written, unless it is already; nobody waits for that."""
        if hour_us <= max(key.last_used_us or 0, self._noted.get(key.id, 0)):
            return
        self._noted[key.id] = hour_us
        note = asyncio.create_task(self._write(key.id, hour_us))
        self._notes.add(note)  # the loop itself would let it go
        note.add_done_callback(self._notes.discard)

    async def _write(self, name: str, hour_us: int) -> None:
        with suppress(Unavailable):  # the next hour is written all the same
            await self._pools.database(lambda: self._store.use(name, hour_us))
