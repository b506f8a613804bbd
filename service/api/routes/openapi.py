"""The OpenAPI document, in its two spellings."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse, Response

from ..answers import resource
from ..call import Call
from .router import router

routes = router("documentation")

YAML: Final = "application/yaml"
_ROWS: Final = 1_000_000  # writing the document, which happens once, takes far longer than an answer


class YAMLResponse(Response):
    media_type = YAML


@routes.get("/openapi.json", scope="public", response_class=JSONResponse, include_in_schema=False)
async def get_openapi_json(call: Call) -> Response:
    """The document as JSON."""
    service = call.service
    return resource(call, await service.pools.compute(_ROWS, lambda: service.contract.json))


@routes.get("/openapi.yaml", scope="public", response_class=YAMLResponse, include_in_schema=False)
async def get_openapi_yaml(call: Call) -> Response:
    """The document as YAML."""
    service = call.service
    return resource(call, await service.pools.compute(_ROWS, lambda: service.contract.yaml), YAML)
