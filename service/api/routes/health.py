"""Is the process alive, and can it serve: two questions that an orchestrator asks often."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from ...errors import Unavailable
from ...storage import Database
from ...storage.schema import SchemaState
from ..answers import answer, written
from ..call import Call
from ..documents import Liveness, Readiness
from .router import router

routes = router("operations")

READY_S: Final = 2.0
"""How long [s] readiness waits for the database: less than those who ask for it wait for the answer."""


@routes.get("/livez", scope="public", response_model=Liveness)
async def get_livez(call: Call) -> Response:
    """Whether the process answers. Touches nothing else."""
    return answer(b'{"status":"alive"}')


@routes.get("/readyz", scope="public", response_model=Readiness, responses={503: {}})
async def get_readyz(call: Call) -> Response:
    """Whether the service takes callers. The database answers with the schema of this version, and nothing has told it to end."""
    service = call.service
    if service.stopping.is_set():
        raise Unavailable("The service is about to end and takes no new callers.", code="stopping")
    await service.pools.database(lambda: check(service.database), within_s=READY_S)
    return answer(written({"status": "ready", "catalogue_digest": service.catalogue.digest}))


def check(database: Database) -> None:
    """Nothing, if analyses can be stored and read. Raises Unavailable (database-unavailable)."""
    state = database.schema_state()
    if state is not SchemaState.HEAD:
        raise Unavailable(
            f"The schema of the database is {state}, not the one of this version.", code="database-unavailable", retry_after_s=10
        )
