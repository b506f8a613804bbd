"""What this service is and knows, as data: versions, limits, number formats, kinds of problems."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from ... import __version__
from ...analysis.batches.cells import METRICS, MOST_VALUES
from ...analysis.batches.questions import MOST_GROUPS
from ...analysis.evaluate import DOCUMENT_VERSION
from ...analysis.keys import MOST_KEYS
from ...engine import ENGINE_VERSION
from ...engine.dtypes import ALIASES, DTYPES
from ...schemas.limits import (
    MAX_CANDIDATES,
    MAX_CASES,
    MAX_COMPARED,
    MAX_COMPARED_BYTES,
    MAX_COMPARED_OPS,
    MAX_EXPORTED,
    MAX_OPS,
    MAX_POINTS,
    MAX_RANKED_LAYOUTS,
    MAX_RANKED_OPS,
    MAX_ROWS,
)
from ...schemas.reading import MAX_BODY_BYTES
from ...strict_json import MAX_DEPTH, MOST_MEMBERS
from ...tables.limits import MOST_BYTES, MOST_CELLS, MOST_COLUMNS, MOST_ROWS
from ..answers import resource, written
from ..bodies import MAX_HEADER_BYTES
from ..call import Call
from ..codes import CODES
from ..conditions import IF_NONE_MATCH, TAGGED
from ..documents import Meta
from ..pages import MAX_LIMIT
from .problems import described
from .router import router

routes = router("operations")

LIMITS: Final = {
    "header_bytes": MAX_HEADER_BYTES,
    "body_bytes": MAX_BODY_BYTES,
    "json_depth": MAX_DEPTH,
    "object_members": MOST_MEMBERS,
    "list_limit": MAX_LIMIT,
    "ops": MAX_OPS,
    "rows": MAX_ROWS,
    "cases": MAX_CASES,
    "compared": MAX_COMPARED,
    "compared_ops": MAX_COMPARED_OPS,
    "compared_bytes": MAX_COMPARED_BYTES,
    "candidates": MAX_CANDIDATES,
    "ranked_ops": MAX_RANKED_OPS,
    "ranked_layouts": MAX_RANKED_LAYOUTS,
    "chart_points": MAX_POINTS,
    "table_bytes": MOST_BYTES,
    "table_rows": MOST_ROWS,
    "table_columns": MOST_COLUMNS,
    "table_cells": MOST_CELLS,
    "table_groups": MOST_GROUPS,
    "cells": MOST_VALUES,
    "keys": MOST_KEYS,
    "exported_analyses": MAX_EXPORTED,
}


@routes.get("/v1/meta", scope="read", response_model=Meta, responses=TAGGED, openapi_extra=IF_NONE_MATCH)
async def get_meta(call: Call) -> Response:
    """Versions, limits, number formats, what cells can ask for, and all kinds of problems."""
    document = {
        "service_version": __version__,
        "engine_version": ENGINE_VERSION,
        "document_version": DOCUMENT_VERSION,
        "catalogue_digest": call.service.catalogue.digest,
        "limits": {**LIMITS, "key_requests_per_minute": call.service.settings.key_requests_per_minute},
        "number_formats": number_formats(),
        "metrics": [{"name": each.name, "unit": each.unit, "meaning": each.meaning} for each in METRICS.values()],
        "problems": [described(code) for code in CODES.values()],
    }
    return resource(call, written(document))


def number_formats() -> list[dict[str, Any]]:
    """The storage formats, each with its width, its implied scale and the class that it computes in."""
    return [
        {
            "name": dtype.name,
            "aliases": [alias for alias, name in ALIASES.items() if name == dtype.name],
            "bits": dtype.bits,
            "arithmetic": dtype.arithmetic,
            "scale_group": dtype.group or None,
            "scale_bits": dtype.scale_bits or None,
        }
        for dtype in DTYPES.values()
    ]
