"""One office for all tests of a process: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..api.conftest import app, catalogue, client, port, settings, shared_database
from .office import Office
from .office import office as started

__all__ = ["app", "catalogue", "client", "port", "settings", "shared_database"]


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with started(tmp_path_factory.mktemp("office")) as office:
        yield office
