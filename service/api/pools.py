"""Where work runs: small questions at once, larger ones on a bounded compute pool, database work on a pool of its own.

A pool that is full refuses instead of queueing without end, so that the event loop, and with it the health routes, always answers.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import Unavailable
from ..settings import Settings
from ..storage import too_late, until
from .metrics import Metrics, PoolMeter

T = TypeVar("T")


class Pool:
    """`threads` threads with room for `queue` more pieces of work that wait for one of them."""

    def __init__(self, name: str, threads: int, queue: int, meter: PoolMeter) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most = threads + queue
        self._pieces = 0
        self._meter = meter

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises. Raises Unavailable (overloaded) at once when there is no room."""
        if self._pieces >= self._most:
            self._meter.refuse()
            raise Unavailable("The service has as much work as it can queue; try again shortly.", code="overloaded")
        self._count(1)
        future = self._executor.submit(work)
        # The room is given back when the work ends, which may be long after a caller has stopped waiting for it.
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._count, -1))
        return await asyncio.wrap_future(future)

    def _count(self, change: int) -> None:
        self._pieces += change
        self._meter.show(self._pieces)

    def close(self) -> None:
        """Waits for work that has begun; what was only waiting is dropped."""
        self._executor.shutdown(cancel_futures=True)


class Pools:
    """The pools of one process, sized by the settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._inline_rows = settings.inline_rows
        self._deadline_s = float(settings.database_deadline_s)
        self._metrics = metrics
        self._compute = self._pool("compute", settings.compute_threads, settings.compute_queue)
        self._database = self._pool("database", settings.database_connections, settings.database_queue)

    def _pool(self, name: str, threads: int, queue: int) -> Pool:
        return Pool(name, threads, queue, self._metrics.pool(name, threads))

    def is_inline(self, rows: int) -> bool:
        """Whether work of so many rows is done on the event loop."""
        return rows <= self._inline_rows

    async def compute(self, rows: int, work: Callable[[], T]) -> T:
        """What `work`, which costs as much as `rows` rows of a column, returns or raises."""
        return work() if self.is_inline(rows) else await self._compute.run(work)

    async def apart(self, work: Callable[[], T]) -> T:
        """What `work`, of which nobody knows the cost before it is done, returns or raises."""
        return await self._compute.run(work)

    async def database(self, work: Callable[[], T], *, within_s: float = math.inf) -> T:
        """What `work`, which speaks to the database, returns or raises.

        Raises Unavailable (deadline-exceeded) after `within_s` [s], or what the settings allow if that is less. Work that still waits
        for a thread is then dropped; what has begun gives its connection up, and whether it changed anything is unknown.
        """
        limit_s = min(within_s, self._deadline_s)
        ends_at = time.monotonic() + limit_s

        def timely() -> T:
            with until(ends_at):
                return work()

        try:
            async with asyncio.timeout(limit_s):
                return await self._database.run(lambda: self._metrics.watched(timely))
        except TimeoutError:
            raise too_late() from None

    def close(self) -> None:
        self._compute.close()
        self._database.close()
