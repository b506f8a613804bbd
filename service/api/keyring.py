"""The keys that are in use, as one process knows them: all of them, read anew when what it knows is a second old.

So the database is not asked for each request, and a key that is revoked anywhere is refused everywhere within `LIFE_S` and the time of
one query. A key that is not known, or has another secret, may have been made a moment ago: it is refused only after a look that is
later than the request. Such looks are shared and at least `PAUSE_S` apart, so that nobody can keep the database busy with keys that are
made up. What cannot be read is refused as such, and never taken for a key that is not good.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from ..analysis import keys
from ..analysis.moments import now_us
from ..errors import Unavailable
from ..storage import Key, KeyStore
from .pools import Pools

LIFE_S: Final = 1.0
"""How long [s] what was read is good for."""

PAUSE_S: Final = 0.1
"""How long [s] after one look the next begins at the earliest."""

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
        asked_at = time.monotonic()
        for moment in (asked_at - LIFE_S, asked_at):
            await self._look(moment)
            known = self._keys.get(name)
            if keys.is_secret_of(token, known):
                return self._used(known)
        return None

    def _used(self, key: Key | None) -> Key | None:
        now = self._clock()
        if key is None or key.expires_us <= now:
            return None
        self._note(key, now - now % HOUR_US)
        return key

    async def _look(self, moment: float) -> None:
        """Returns when what is known is as new as `moment` [s of the monotonic clock]. Raises Unavailable."""
        while self._read_at < moment:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._read())
            await asyncio.shield(self._reading)  # all who wait share one query, and its failure

    async def _read(self) -> None:
        await asyncio.sleep(max(0.0, self._read_at + PAUSE_S - time.monotonic()))
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
