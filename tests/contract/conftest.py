"""The contract and a service that was started for it alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..docs.conversation import fresh_service


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a real service listens, on a port of its own and with a database of its own."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NO_PROXY", "127.0.0.1")
        with fresh_service() as client:
            yield str(client.base_url)
