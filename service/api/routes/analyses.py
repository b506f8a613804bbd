"""Saved analyses: a question kept with its answer, found again, labelled, deleted."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Body, Query
from pydantic import Field
from starlette.responses import Response

from ...analysis import evaluate, history
from ...analysis.sheets import answers as sheets
from ...schemas.analyses import AnalysisChange, SavedQuestion
from ...schemas.exports import ExportQuery, without_form
from ...schemas.kinds import SavedKind
from ..answers import listing, resource, tagged
from ..call import Call
from ..conditions import IF_MATCH, IF_MATCH_REQUIRED, IF_NONE_MATCH, TAGGED, if_match, required_if_match
from ..exports import EXPORTED_LIST, EXPORTED_RESOURCE, Export, ExportResponse, exported
from ..pages import PageQuery
from ..results import AnalysisDocument, AnalysisList, Bound
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
KEPT: Final[dict[int | str, dict[str, Any]]] = {
    **NEEDS_DATABASE,
    200: {
        "headers": {**TAGGED[200]["headers"], **LOCATION},
        "description": "The same question was kept before. It has gained the labels and the note that it lacked; what it had stays.",
        "model": AnalysisDocument,
        "links": LINKS,
    },
    201: {"headers": {**TAGGED[200]["headers"], **LOCATION}, "links": LINKS},
}
CHANGED: Final[dict[int | str, dict[str, Any]]] = {**NEEDS_DATABASE, 200: TAGGED[200], 412: {}, 428: {}}
SavedBody = Annotated[SavedQuestion, Body(openapi_examples=EXAMPLES)]
ChangeBody = Annotated[AnalysisChange, Body(openapi_examples=CHANGES)]


class AnalysisQuery(PageQuery, ExportQuery):
    """Which analyses are asked for, in what order, and in which form."""

    kind: SavedKind | None = None
    chip: Annotated[str | None, Field(min_length=1, max_length=200, description="`id`, or `id@revision`.")] = None
    bound: Bound | None = None
    label: Annotated[str | None, Field(pattern=r"^[^:]+:", max_length=400, description="`key:value`")] = None
    order_by: Literal["-created_at", "created_at", "-lower_s", "lower_s"] = "-created_at"


@routes.post("/v1/analyses", status_code=201, response_model=AnalysisDocument, responses=KEPT)
async def post_analysis(call: Call, question: SavedBody) -> Response:
    """Evaluates a question and keeps it with its answer. The same question again is the same analysis.

    What it has of labels and note then stays; the answer shows it, and PATCH changes it.
    """
    service, rows = call.service, evaluate.rows(question)
    analysis = await service.pools.compute(rows, lambda: history.prepare(question, service.catalogue))
    service.metrics.rows.inc(rows)
    kept = await service.pools.database(lambda: history.save(analysis, service.analyses))
    service.metrics.saved.labels("new" if kept.is_new else "known").inc()
    headers = {"location": f"/v1/analyses/{kept.analysis.id}"}
    return tagged(kept.text, status=201 if kept.is_new else 200, headers=headers)


@routes.get("/v1/analyses", response_model=AnalysisList, response_class=ExportResponse, responses=EXPORTED_LIST)
async def list_analyses(call: Call, asked: Annotated[AnalysisQuery, Query()]) -> Response:
    """The analyses that pass every filter, newest first unless `order_by` says otherwise."""
    service = call.service
    if asked.chip is not None:
        service.catalogue.check_chip(asked.chip, "/query/chip")
    page = await service.pools.database(lambda: service.analyses.page(**without_form(asked)))
    export = Export(
        "analyses",
        json=lambda: listing([history.summary(each) for each in page.items], next_cursor=page.next_cursor, limit=asked.limit),
        sheet=lambda: sheets.analyses(page.items, service.catalogue),
        next_cursor=page.next_cursor,
    )
    return await exported(call, asked, export)


@routes.get(
    "/v1/analyses/{id}",
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


@routes.patch("/v1/analyses/{id}", response_model=AnalysisDocument, responses=CHANGED, openapi_extra=IF_MATCH_REQUIRED)
async def patch_analysis(call: Call, id: str, change: ChangeBody) -> Response:  # noqa: A002 - the path's own name
    """Changes labels and note of an analysis, nothing else of it. The body is a JSON merge patch of the two."""
    service, condition = call.service, required_if_match(call)
    analysis = await service.pools.database(lambda: history.change(id, change, service.analyses, condition.check))
    return tagged(history.envelope(analysis))


@routes.delete("/v1/analyses/{id}", status_code=204, responses={**NEEDS_DATABASE, 412: {}}, openapi_extra=IF_MATCH)
async def delete_analysis(call: Call, id: str) -> Response:  # noqa: A002 - the path's own name
    """Deletes an analysis. The same question kept later makes it anew."""
    service, condition = call.service, if_match(call)
    await service.pools.database(lambda: history.remove(id, service.analyses, condition.check))
    return Response(status_code=204)
