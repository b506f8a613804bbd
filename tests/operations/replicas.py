"""Several services on one database, as a balancer has them behind it; each is a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .running import Service, running


@contextmanager
def replicas(folder: Path, url: str, number: int = 2, **variables: str) -> Iterator[list[Service]]:
    """`number` services on the PostgreSQL database at `url`, started at once, until the end of the block at the latest."""
    homes = [folder / f"replica-{at}" for at in range(number)]
    for home in homes:
        home.mkdir()
    with ExitStack() as stack:
        begun = [running(home, ROOFLINE_DATABASE_URL=url, **variables) for home in homes]
        with ThreadPoolExecutor(number) as starters:
            services = list(starters.map(stack.enter_context, begun))
        yield services
