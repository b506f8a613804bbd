"""The service as its callers see it: in this process for most tests, on a real port where the socket matters."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from service.api.app import create_app
from service.api.connections import Connection
from service.catalogue import Catalogue, load
from service.settings import Settings
from service.storage import Database, migrate, open_database

BASE = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings.from_environment({"ROOFLINE_LOG_LEVEL": "warning"})


@pytest.fixture(scope="session")
def shared_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """An SQLite database for the tests that do not care which kind it is, nor what others have kept in it."""
    database = open_database(None, Path(tmp_path_factory.mktemp("data")))
    migrate.ensure(database)
    yield database
    database.close()


@pytest.fixture(scope="session")
def app(settings: Settings, catalogue: Catalogue, shared_database: Database) -> FastAPI:
    return create_app(settings, catalogue=catalogue, database=shared_database)


class Client:
    """Sends requests to an application in this process, one after another."""

    def __init__(self, app: FastAPI) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=BASE, timeout=60)
        self._runner = asyncio.Runner()

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        return self._runner.run(self._client.request(method, url, **options))

    def get(self, url: str, **options: Any) -> httpx.Response:
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> httpx.Response:
        return self.request("POST", url, **options)

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@pytest.fixture(scope="session")
def client(app: FastAPI) -> Iterator[Client]:
    client = Client(app)
    yield client
    client.close()


@contextmanager
def served(app: FastAPI, lifespan: Literal["on", "off"] = "off") -> Iterator[int]:
    """The port of a real server for `app`, on the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options: dict[str, Any] = {"http": Connection, "ws": "none", "log_config": None, "log_level": "error", "proxy_headers": False}
        config = uvicorn.Config(app, **options, lifespan=lifespan, timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.started
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture(scope="session")
def port(app: FastAPI) -> Iterator[int]:
    with served(app) as port:
        yield port
