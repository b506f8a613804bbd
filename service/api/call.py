"""One request as a route sees it, and what the process gives to every route."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from starlette.requests import Request

from ..catalogue import Catalogue
from ..settings import Settings
from ..storage import AnalysisStore, Database
from .contract import Contract
from .pools import Pools


@dataclass(frozen=True)
class Service:
    """What was made when the application was, and lives as long."""

    settings: Settings
    catalogue: Catalogue
    database: Database
    pools: Pools
    contract: Contract

    @cached_property
    def analyses(self) -> AnalysisStore:
        return AnalysisStore(self.database)


class Call(Request):
    """A request on its way through one route."""

    @property
    def service(self) -> Service:
        service = self.app.state.service
        assert isinstance(service, Service)
        return service
