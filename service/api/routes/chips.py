"""The chips of the catalogue, with the source and the confidence of every value."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from ...analysis.sheets import catalogue as sheets
from ...schemas.chips import ChipFilters
from ...schemas.exports import ExportQuery
from ..answers import found, listing, resource, written
from ..call import Call
from ..conditions import IF_NONE_MATCH
from ..documents import ChipDocument, ChipList, RevisionList
from ..exports import EXPORTED_LIST, EXPORTED_RESOURCE, Export, ExportResponse, exported
from ..pages import PageQuery, page
from .router import router

routes = router("catalogue")


class ChipQuery(PageQuery, ChipFilters, ExportQuery):
    """Which chips are asked for, which part of their list, and in which form."""


@routes.get("/v1/chips", scope="read", response_model=ChipList, response_class=ExportResponse, responses=EXPORTED_LIST)
async def list_chips(call: Call, asked: Annotated[ChipQuery, Query()]) -> Response:
    """The newest revision of every chip that passes the filters, sorted by id, with the numbers of its roofline."""
    catalogue = call.service.catalogue
    chips, next_cursor = page("chips", asked.selection().of(catalogue.chips), lambda chip: chip.id, asked)
    export = Export(
        "chips",
        json=lambda: listing([chip.summary() for chip in chips], next_cursor=next_cursor, limit=asked.limit),
        sheet=lambda: sheets.chips(chips, catalogue),
        next_cursor=next_cursor,
    )
    return await exported(call, asked, export)


@routes.get(
    "/v1/chips/{ref}",
    scope="read",
    response_model=ChipDocument,
    response_class=ExportResponse,
    responses=EXPORTED_RESOURCE,
    openapi_extra=IF_NONE_MATCH,
)
async def get_chip(call: Call, ref: str, asked: Annotated[ExportQuery, Query()]) -> Response:
    """One chip by `id`, or one revision of it by `id@revision`: every value with unit, source and confidence."""
    chip = found(lambda: call.service.catalogue.chip(ref, "/path/ref"))
    export = Export(
        chip.id,
        json=lambda: resource(call, written(chip.document())),
        sheet=lambda: sheets.entry(chip, call.service.catalogue),
        is_tagged=True,
    )
    return await exported(call, asked, export)


@routes.get("/v1/chips/{id}/revisions", scope="read", response_model=RevisionList)
async def list_chip_revisions(call: Call, id: str, asked: Annotated[PageQuery, Query()]) -> Response:  # noqa: A002 - the path's own name
    """Every revision of a chip, oldest first, with the reason for it. A revision never changes."""
    revisions = found(lambda: call.service.catalogue.revisions(id, "/path/id"))
    chips, next_cursor = page(f"revisions of chip {id}", revisions, lambda chip: f"{chip.revision:09}", asked)
    items = [{**chip.summary(), "revision": chip.revision, "reason": chip.reason} for chip in chips]
    return listing(items, next_cursor=next_cursor, limit=asked.limit)
