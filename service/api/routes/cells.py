"""Numbers for the cells of a spreadsheet, asked by address alone. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import PlainTextResponse, Response

from ...analysis.batches import cells
from ...analysis.batches.cells import Cells, Style
from ...schemas.batches import CellQuery, CellsQuery
from ..call import Call
from ..cells import MEMBERS, CellRoute, kept, members
from ..conditions import TAGGED
from .router import Routes

routes = Routes("tables", CellRoute)


class CellsResponse(Response):
    media_type = "text/csv"


@routes.get("/v1/cell/{metric}", scope="cell", response_class=PlainTextResponse, responses=TAGGED, openapi_extra=MEMBERS)
async def get_cell(call: Call, metric: str, asked: Annotated[CellQuery, Query()]) -> Response:
    """One number. `#N/A` stands for one that does not exist."""
    found = cells.metric(metric)
    style = Style(asked.unit, asked.decimals)
    text = cells.cell(found, members(asked), style, call.service.catalogue)
    call.service.metrics.rows.inc()
    return kept(call, text, "text/plain")


@routes.get("/v1/cells.csv", scope="cell", response_class=CellsResponse, responses={**TAGGED, 413: {}, 503: {}}, openapi_extra=MEMBERS)
async def get_cells(call: Call, asked: Annotated[CellsQuery, Query()]) -> Response:
    """A row for each of several questions, a column for each metric. A member with several values lists them: `m=1,2,4`."""
    service, style = call.service, Style(asked.unit, asked.decimals)
    wanted = Cells(cells.metrics(asked.metrics), style, asked.header == "present", asked.on_error == "text")
    text = await service.pools.apart(lambda: cells.cells(wanted, members(asked), service.catalogue))
    service.metrics.rows.inc(text.count("\r\n"))
    return kept(call, text, "text/csv")
