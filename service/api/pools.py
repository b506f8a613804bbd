"""Where work runs: small questions at once, larger ones on a bounded compute pool, database work on a pool of its own.

A pool that is full refuses instead of queueing without end, so that the event loop, and with it the health routes, always answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import Unavailable
from ..settings import Settings

T = TypeVar("T")


class Pool:
    """`threads` threads with room for `queue` more pieces of work that wait for one of them."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._room = threads + queue

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises. Raises Unavailable (overloaded) at once when there is no room."""
        if self._room <= 0:
            raise Unavailable("The service has as much work as it can queue; try again shortly.", code="overloaded")
        self._room -= 1
        future = self._executor.submit(work)
        # The room is given back when the work ends, which may be long after a caller has stopped waiting for it.
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        return await asyncio.wrap_future(future)

    def _leave(self) -> None:
        self._room += 1

    def close(self) -> None:
        """Waits for work that has begun; what was only waiting is dropped."""
        self._executor.shutdown(cancel_futures=True)


class Pools:
    """The pools of one process, sized by the settings."""

    def __init__(self, settings: Settings) -> None:
        self._inline_rows = settings.inline_rows
        self._compute = Pool("compute", settings.compute_threads, settings.compute_queue)
        self._database = Pool("database", settings.database_connections, settings.database_queue)

    async def compute(self, rows: int, work: Callable[[], T]) -> T:
        """What `work`, which costs as much as `rows` rows of a column, returns or raises."""
        return work() if rows <= self._inline_rows else await self._compute.run(work)

    async def database(self, work: Callable[[], T]) -> T:
        """What `work`, which speaks to the database, returns or raises."""
        return await self._database.run(work)

    def close(self) -> None:
        self._compute.close()
        self._database.close()
