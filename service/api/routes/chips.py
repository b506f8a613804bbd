"""The chips of the catalogue, with the source and the confidence of every value."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from ...schemas.chips import ChipFilters
from ..answers import found, listing, resource, written
from ..call import Call
from ..conditions import IF_NONE_MATCH, TAGGED
from ..documents import ChipDocument, ChipList, RevisionList
from ..pages import PageQuery, page
from .router import router

routes = router("catalogue")


class ChipQuery(PageQuery, ChipFilters):
    """Which chips are asked for, and which part of their list."""


@routes.get("/v1/chips", response_model=ChipList)
async def list_chips(call: Call, asked: Annotated[ChipQuery, Query()]) -> Response:
    """The newest revision of every chip that passes the filters, sorted by id, with the numbers of its roofline."""
    selected = asked.selection().of(call.service.catalogue.chips)
    chips, next_cursor = page("chips", selected, lambda chip: chip.id, asked)
    return listing([chip.summary() for chip in chips], next_cursor=next_cursor, limit=asked.limit)


@routes.get("/v1/chips/{ref}", response_model=ChipDocument, responses=TAGGED, openapi_extra=IF_NONE_MATCH)
async def get_chip(call: Call, ref: str) -> Response:
    """One chip by `id`, or one revision of it by `id@revision`: every value with unit, source and confidence."""
    chip = found(lambda: call.service.catalogue.chip(ref, "/path/ref"))
    return resource(call, written(chip.document()))


@routes.get("/v1/chips/{id}/revisions", response_model=RevisionList)
async def list_chip_revisions(call: Call, id: str, asked: Annotated[PageQuery, Query()]) -> Response:  # noqa: A002 - the path's own name
    """Every revision of a chip, oldest first, with the reason for it. A revision never changes."""
    revisions = found(lambda: call.service.catalogue.revisions(id, "/path/id"))
    chips, next_cursor = page(f"revisions of chip {id}", revisions, lambda chip: f"{chip.revision:09}", asked)
    items = [{**chip.summary(), "revision": chip.revision, "reason": chip.reason} for chip in chips]
    return listing(items, next_cursor=next_cursor, limit=asked.limit)
