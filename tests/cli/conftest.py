"""One service for all tests that compare with it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from .program import serving


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The API that the command line must agree with."""
    with serving("serve", "--port", "0", "--data", str(tmp_path_factory.mktemp("data"))) as served:
        yield served.client
