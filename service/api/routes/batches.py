"""Tables in, tables out. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from starlette.responses import Response

from ...analysis.batches import answering, templates
from ...analysis.batches.exchanging import Exchange, Exchanged, exchanged
from ...schemas.batches import BatchQuery, TemplateQuery
from ...tables.formats import FORMATS, Format
from ..answers import resource
from ..call import Call
from ..conditions import IF_NONE_MATCH, TAGGED
from ..uploads import TABLE_ANSWER, TableResponse, received, table_body, wanted
from .router import router

routes = router("tables")

EXAMPLE: Final = (
    {"layer": "up", "op": "matmul", "m": 64, "k": 8192, "n": 28672, "dtype": "bf16", "chip": "nvidia-h100-sxm"},
    {"layer": "norm", "op": "rms_norm", "rows": 64, "cols": 8192, "dtype": "bf16", "chip": "google-tpu-v5e"},
)
TEMPLATE: Final[dict[int | str, dict[str, Any]]] = {**TAGGED, 503: {}}


@routes.post("/v1/batches", scope="evaluate", response_class=TableResponse, responses={**TABLE_ANSWER}, openapi_extra=table_body(EXAMPLE))
async def post_batch(call: Call, asked: Annotated[BatchQuery, Query()]) -> Response:
    """The table with an answer in every row that asks. Rows keep their order and the caller's own columns; ours are appended."""
    service, upload = call.service, await received(call)
    target = wanted(call, asked.format, upload.format)

    def answered() -> Exchanged:
        exchange = Exchange(upload.format, target, answering.choices(asked))
        return exchanged(upload.body, exchange, service.catalogue)

    found = await service.pools.apart(answered)
    service.metrics.rows.inc(found.rows)
    return Response(found.body, media_type=target.media_types[0])


class CsvResponse(Response):
    media_type = FORMATS["csv"].media_types[0]


@routes.get("/v1/batches/template.csv", scope="evaluate", response_class=CsvResponse, responses=TEMPLATE, openapi_extra=IF_NONE_MATCH)
async def get_csv_template(call: Call, asked: Annotated[TemplateQuery, Query()]) -> Response:
    """A table to begin with: the columns of an op, or of all, with a row for each that is answered as it stands."""
    return await _template(call, asked, FORMATS["csv"])


class XlsxResponse(Response):
    media_type = FORMATS["xlsx"].media_types[0]


@routes.get("/v1/batches/template.xlsx", scope="evaluate", response_class=XlsxResponse, responses=TEMPLATE, openapi_extra=IF_NONE_MATCH)
async def get_xlsx_template(call: Call, asked: Annotated[TemplateQuery, Query()]) -> Response:
    """The same as a workbook, with the chips, ops and number formats to choose from, and a sheet that says what the columns mean."""
    return await _template(call, asked, FORMATS["xlsx"])


async def _template(call: Call, asked: TemplateQuery, written: Format) -> Response:
    catalogue = call.service.catalogue
    body = await call.service.pools.apart(lambda: b"".join(written.write(templates.template(asked.op, catalogue))))
    name = f"roofline-{asked.op or 'ops'}{written.suffix}"
    return resource(call, body, written.media_types[0], {"content-disposition": f'attachment; filename="{name}"'})
