"""One request as a route sees it, and what the process gives to every route."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from threading import Event
from typing import Protocol

from starlette.requests import Request

from ..analysis.hardware.live import LiveCatalogue
from ..analysis.keys import Maker
from ..catalogue import Catalogue
from ..settings import Settings
from ..storage import AnalysisStore, Database, KeyStore, ReplyStore
from .gate import Gate, Need
from .keyring import Keyring
from .metrics import Metrics
from .pools import Pools
from .waiting import Waiting


class Spellings(Protocol):
    """The OpenAPI document, which is made from the routes and served by two of them."""

    @property
    def json(self) -> bytes: ...

    @property
    def yaml(self) -> bytes: ...


@dataclass(frozen=True)
class Service:
    """What was made when the application was, and lives as long.

    `stopping` is set when the service has been told to end, so that nobody sends it new callers.
    """

    settings: Settings
    hardware: LiveCatalogue
    database: Database
    pools: Pools
    contract: Spellings
    metrics: Metrics
    stopping: Event = field(default_factory=Event)

    @property
    def catalogue(self) -> Catalogue:
        """The shipped catalogue and what users have added, as it is at this moment."""
        return self.hardware.current

    @cached_property
    def gate(self) -> Gate:
        return Gate(self.settings, Keyring(self.keys, self.pools))

    @cached_property
    def keys(self) -> KeyStore:
        return KeyStore(self.database)

    @cached_property
    def waiting(self) -> Waiting:
        return Waiting(lambda: self.catalogue)

    @cached_property
    def analyses(self) -> AnalysisStore:
        return AnalysisStore(self.database)

    @cached_property
    def replies(self) -> ReplyStore:
        return ReplyStore(self.database)


class Call(Request):
    """A request on its way through one route. `sent` is the JSON text of its body, once that was read, `document` what it denotes."""

    sent: bytes = b""
    document: object = None

    maker: Maker
    """Who asks, once it is admitted."""

    async def admit(self, need: Need) -> None:
        """Nothing, if whoever asks may use a route. Raises Unauthenticated, ScopeMissing, RateLimited, Unavailable."""
        self.maker = await self.service.gate.admit(self.scope, need)

    @property
    def accept(self) -> str:
        """What the caller accepts, in one line."""
        return ",".join(self.headers.getlist("accept"))

    @property
    def service(self) -> Service:
        service = self.app.state.service
        assert isinstance(service, Service)
        return service
