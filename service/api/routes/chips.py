"""The chips of the catalogue, with the source and the confidence of every value."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis.hardware import differences
from ...analysis.sheets import catalogue as sheets
from ...catalogue.own import CHIP
from ...schemas.chips import ChipFilters
from ...schemas.exports import ExportQuery
from ...schemas.hardware import OwnChip
from ..answers import found, listing, resource, written
from ..call import Call
from ..conditions import IF_MATCH_REQUIRED, IF_NONE_MATCH, WRITING
from ..documents import ChipDocument, ChipList, RevisionList
from ..exports import EXPORTED_LIST, EXPORTED_RESOURCE, Export, ExportResponse, exported
from ..hardware import DELETE_RESPONSES, delete, put, put_responses
from ..pages import PageQuery, page
from .router import router

routes = router("catalogue")

WHOLE_CHIP: Final = {
    "reason": "first entry",
    "confidence": "medium",
    "confidence_why": "A data sheet, and nothing to check it against.",
    "name": "Example One",
    "vendor": "example",
    "kind": "gpu",
    "architecture": "First",
    "launch_year": 2027,
    "form_factor": "card",
    "compute": {"bf16": {"value": 400, "unit": "TFLOP/s", "source": "example-one-data-sheet"}},
    "vector": {"fp32": {"value": 25.6, "unit": "TFLOP/s", "source": "example-one-data-sheet"}},
    "hbm": {
        "type": "HBM3",
        "capacity": {"value": 80, "unit": "GiB", "source": "example-one-data-sheet"},
        "bandwidth": {"value": 2.0, "unit": "TB/s", "source": "example-one-data-sheet"},
    },
    "cores": {"name": "core", "count": {"value": 100, "unit": "count", "source": "example-one-data-sheet"}},
    "matrix_unit": {"name": "matrix unit"},
    "sources": {"example-one-data-sheet": {"title": "Example One, data sheet", "publisher": "Example"}},
}
EXAMPLES: Final = {
    "copy": {
        "summary": "A what-if, kept: a shipped chip with more bandwidth",
        "value": {
            "base": "nvidia-h100-sxm",
            "hbm": {"bandwidth_bytes_per_s": 4.8e12},
            "reason": "What if the memory were that of an H200?",
        },
    },
    "file": {"summary": "A chip with sources, as a file of the catalogue states it", "value": WHOLE_CHIP},
}
ChipBody = Annotated[OwnChip, Body(openapi_examples=EXAMPLES)]


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


@routes.put("/v1/chips/{ref}", scope="catalogue", response_model=ChipDocument, responses=put_responses(ChipDocument), openapi_extra=WRITING)
async def put_chip(call: Call, ref: str, sent: ChipBody) -> Response:
    """Keeps a chip of your own: a new one, or the next revision of one. Shipped ones are never changed.

    The body is what a file of the catalogue states, or the `base` that is copied and what differs from it.
    """
    return await put(call, CHIP, ref, sent)


@routes.delete("/v1/chips/{ref}", scope="catalogue", status_code=204, responses=DELETE_RESPONSES, openapi_extra=IF_MATCH_REQUIRED)
async def delete_chip(call: Call, ref: str) -> Response:
    """Deletes a chip of your own. What was kept with it stays as it is, and its revisions can still be asked by `id@revision`."""
    return await delete(call, CHIP, ref)


@routes.get("/v1/chips/{id}/revisions", scope="read", response_model=RevisionList)
async def list_chip_revisions(call: Call, id: str, asked: Annotated[PageQuery, Query()]) -> Response:  # noqa: A002 - the path's own name
    """Every revision of a chip, oldest first, with its reason and what it changed. A revision never changes."""
    known = found(lambda: call.service.catalogue.revisions(id, "/path/id"))
    shown, next_cursor = page(f"revisions of chip {id}", known, lambda record: f"{record.revision:09}", asked)
    return listing(differences.revisions(shown, known), next_cursor=next_cursor, limit=asked.limit)
