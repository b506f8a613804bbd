"""Saved analyses: a question kept with its answer, found again, labelled, deleted."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis import evaluate, history
from ...analysis.recompute import recompute
from ...analysis.sheets import answers as sheets
from ...schemas.analyses import AnalysisChange, SavedQuestion
from ...schemas.exports import ExportQuery
from ...storage import AnalysisStore, Reply
from ...storage.replies import Effect
from ..answers import answer, listing, resource, tagged
from ..bodies import read_nothing
from ..call import Call
from ..conditions import IF_MATCH, IF_MATCH_REQUIRED, IF_NONE_MATCH, TAGGED, if_match, required_if_match, tag
from ..exports import EXPORTED_LIST, EXPORTED_RESOURCE, Export, ExportResponse, exported
from ..pages import PageQuery
from ..recomputed import Recomputed
from ..repeats import IDEMPOTENCY_KEY, REPLAYED_HEADER, once, replied
from ..results import AnalysisDocument, AnalysisList, WholeAnalyses
from ..selections import EXPORTED_SELECTION, Filters, SelectionQuery, SelectionResponse, selected
from .evaluate import EXAMPLES
from .router import router

routes = router("analyses")

NEEDS_DATABASE: Final[dict[int | str, dict[str, Any]]] = {503: {}}
CHANGES: Final = {
    "label": {"summary": "One label set, the others left; a new note", "value": {"labels": {"team": "serving"}, "note": "checked"}}
}
LINKS: Final = {
    "read": {"operationId": "get_analysis", "parameters": {"id": "$response.body#/id"}, "description": "The analysis that was kept."}
}
LOCATION: Final = {"Location": {"description": "Where the analysis is kept.", "schema": {"type": "string"}}}
KEPT_HEADERS: Final = {**TAGGED[200]["headers"], **LOCATION, **REPLAYED_HEADER}
KEPT: Final[dict[int | str, dict[str, Any]]] = {
    **NEEDS_DATABASE,
    200: {
        "headers": KEPT_HEADERS,
        "description": "The same question was kept before. It has gained the labels and the note that it lacked; what it had stays.",
        "model": AnalysisDocument,
        "links": LINKS,
    },
    201: {"headers": KEPT_HEADERS, "links": LINKS},
}
CHANGED: Final[dict[int | str, dict[str, Any]]] = {**NEEDS_DATABASE, 200: TAGGED[200], 412: {}, 428: {}}
SavedBody = Annotated[SavedQuestion, Body(openapi_examples=EXAMPLES)]
ChangeBody = Annotated[AnalysisChange, Body(openapi_examples=CHANGES)]


class AnalysisQuery(PageQuery, Filters, ExportQuery):
    """Which analyses are asked for, in what order, and in which form."""


@routes.post("/v1/analyses", scope="write", status_code=201, response_model=AnalysisDocument, responses=KEPT, openapi_extra=IDEMPOTENCY_KEY)
async def post_analysis(call: Call, question: SavedBody) -> Response:
    """Evaluates a question and keeps it with its answer. The same question again is the same analysis.

    What it has of labels and note then stays; the answer shows it, and PATCH changes it. Under an `Idempotency-Key` the same request
    is answered as the first time, whatever has become of the analysis since.
    """
    service, rows = call.service, evaluate.rows(question)

    async def prepare() -> Effect:
        analysis = await service.pools.compute(rows, lambda: history.prepare(question, service.catalogue))
        service.metrics.rows.inc(rows)
        return lambda transactions: _reply(history.save(analysis, AnalysisStore(transactions)))

    reply = await once(call, prepare)
    if not reply.is_replay:
        service.metrics.saved.labels("new" if reply.status == HTTPStatus.CREATED else "known").inc()
    return replied(reply)


def _reply(kept: history.Kept) -> Reply:
    body = kept.text
    headers = {"etag": tag(body), "location": f"/v1/analyses/{kept.analysis.id}"}
    return Reply(status=HTTPStatus.CREATED if kept.is_new else HTTPStatus.OK, headers=headers, body=body)


@routes.get("/v1/analyses", scope="read", response_model=AnalysisList, response_class=ExportResponse, responses=EXPORTED_LIST)
async def list_analyses(call: Call, asked: Annotated[AnalysisQuery, Query()]) -> Response:
    """The analyses that pass every filter, newest first unless `order_by` says otherwise."""
    service = call.service
    if asked.chip is not None:
        service.catalogue.check_chip(asked.chip, "/query/chip")
    page = await service.pools.database(lambda: service.analyses.page(asked.limit, asked.cursor, **asked.selection))
    export = Export(
        "analyses",
        json=lambda: listing([history.summary(each) for each in page.items], next_cursor=page.next_cursor, limit=asked.limit),
        sheet=lambda: sheets.analyses(page.items, service.catalogue),
        next_cursor=page.next_cursor,
    )
    return await exported(call, asked, export)


@routes.get(
    "/v1/exports/analyses",
    scope="read",
    response_model=WholeAnalyses,
    response_class=SelectionResponse,
    responses=EXPORTED_SELECTION,
)
async def export_analyses(call: Call, asked: Annotated[SelectionQuery, Query()]) -> Response:
    """All analyses that pass every filter: in JSON and NDJSON whole, as they were kept, in CSV and XLSX a row each, as lists show them."""
    if asked.chip is not None:
        call.service.catalogue.check_chip(asked.chip, "/query/chip")
    return await selected(call, asked)


@routes.get(
    "/v1/analyses/{id}",
    scope="read",
    response_model=AnalysisDocument,
    response_class=ExportResponse,
    responses=EXPORTED_RESOURCE,
    openapi_extra=IF_NONE_MATCH,
)
async def get_analysis(call: Call, id: str, asked: Annotated[ExportQuery, Query()]) -> Response:  # noqa: A002 - the path's own name
    """One analysis: question and answer as they were kept, byte for byte; as a table, a row for each op."""
    service = call.service
    analysis = await service.pools.database(lambda: history.read(id, service.analyses))
    export = Export(
        analysis.id,
        json=lambda: resource(call, history.envelope(analysis)),
        sheet=lambda: sheets.analysis(analysis, service.catalogue),
        is_tagged=True,
    )
    return await exported(call, asked, export)


@routes.patch("/v1/analyses/{id}", scope="write", response_model=AnalysisDocument, responses=CHANGED, openapi_extra=IF_MATCH_REQUIRED)
async def patch_analysis(call: Call, id: str, change: ChangeBody) -> Response:  # noqa: A002 - the path's own name
    """Changes labels and note of an analysis, nothing else of it. The body is a JSON merge patch of the two."""
    service, condition = call.service, required_if_match(call)
    analysis = await service.pools.database(lambda: history.change(id, change, service.analyses, condition.check))
    return tagged(history.envelope(analysis))


@routes.delete("/v1/analyses/{id}", scope="write", status_code=204, responses={**NEEDS_DATABASE, 412: {}}, openapi_extra=IF_MATCH)
async def delete_analysis(call: Call, id: str) -> Response:  # noqa: A002 - the path's own name
    """Deletes an analysis. The same question kept later makes it anew."""
    service, condition = call.service, if_match(call)
    await service.pools.database(lambda: history.remove(id, service.analyses, condition.check))
    return Response(status_code=204)


@routes.post("/v1/analyses/{id}/recompute", scope="read", response_model=Recomputed, responses={**NEEDS_DATABASE, 409: {}})
async def recompute_analysis(call: Call, id: str) -> Response:  # noqa: A002 - the path's own name
    """Asks the question of an analysis again, with today's engine and the newest revision of its chip, and says what changed and why.

    Nothing is stored. A chip that was deleted, or a question that this version no longer reads, is a 409.
    """
    service = call.service
    await read_nothing(call.scope, call.receive, service.settings.receive_s)
    kept = await service.pools.database(lambda: history.read(id, service.analyses))
    return answer(await service.pools.apart(lambda: recompute(kept, service.catalogue)))
