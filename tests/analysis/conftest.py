"""The catalogue, read once."""

from __future__ import annotations

import pytest

from service.catalogue import Catalogue, load


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load()
