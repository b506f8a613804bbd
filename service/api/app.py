"""`create_app`, the only place where the web is put together."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

from .. import __version__
from ..analysis.hardware.live import LiveCatalogue
from ..catalogue import Catalogue
from ..settings import Settings
from ..storage import Database, EntryStore
from .call import Service
from .contract import Contract
from .cors import Cors
from .doors import Door
from .following import Follower
from .heap import keep_freed_memory
from .logs import Log, open_log
from .metrics import Metrics
from .pools import Pools
from .rim import Rim
from .room import Room
from .routes.all import all_routes
from .routing import join_methods, not_found, refuse_undeclared
from .watch import Watch


class Application(FastAPI):
    """FastAPI's router and documents behind our own rim.

    The layers that FastAPI would put around the router answer in forms of their own and cost as much as an evaluation.
    """

    door: Door
    cors: Cors
    watch: Watch
    room: Room

    def build_middleware_stack(self) -> ASGIApp:
        return Rim(self.router, self.door, self.watch, self.cors)


def create_app(settings: Settings, *, catalogue: Catalogue, database: Database, log: Log | None = None) -> FastAPI:
    """The service. `catalogue` is the shipped one; what users have added is read once the application lives, and whenever it changes.

    `database` stays the caller's to close; the schema in it must be at head for stored analyses to work.

    Events go to `log`, or to one on standard error.
    """
    metrics = Metrics(catalogue)
    hardware = LiveCatalogue(catalogue, EntryStore(database))
    log = log or open_log(settings.log_level)
    follower = Follower(hardware, log)
    service = Service(settings, hardware, database, Pools(settings, metrics), Contract(all_routes()), metrics)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        # What is here by now stays. The collector would walk the catalogue and all schemas again and again, at half of an answer's time.
        gc.collect()
        gc.freeze()
        keep_freed_memory()
        follower.start()
        yield
        follower.stop()
        service.pools.close()

    app = Application(
        title="Roofline service",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.door = Door(settings)
    app.cors = Cors(settings)
    app.watch = Watch(metrics, log)
    app.room = Room(settings, app.watch)
    app.state.service = service
    app.router.routes.extend(all_routes())
    refuse_undeclared(app.router.routes)
    app.router.default = not_found
    join_methods(app.router.routes)
    return app
