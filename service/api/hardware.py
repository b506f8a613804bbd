"""Writing to the catalogue, the same for each of its kinds: put, delete, and what the contract says of them."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from ..analysis.hardware.keeping import keep, remove
from ..catalogue.own import Kind, OwnRecord
from ..schemas.hardware import OwnEntry
from .answers import tagged, written
from .call import Call
from .conditions import TAGGED, required_if_match, writing

LOCATION: Final = {"Location": {"description": "Where the entry is.", "schema": {"type": "string"}}}

Responses = dict[int | str, dict[str, Any]]


def put_responses(model: type[Any]) -> Responses:
    """What a route that puts adds to its answers in the contract."""
    return {
        200: {**TAGGED[200], "description": "The next revision of an entry.", "model": model},
        201: {"headers": {**TAGGED[200]["headers"], **LOCATION}, "description": "An entry that did not exist, or no more.", "model": model},
        412: {},
        428: {},
        503: {},
    }


DELETE_RESPONSES: Final[Responses] = {412: {}, 428: {}, 503: {}}


async def put(call: Call, kind: Kind, name: str, sent: OwnEntry) -> Response:
    """Keeps what was sent as the next revision of the entry called `name`."""
    service, condition = call.service, writing(call)

    def check(record: OwnRecord | None) -> None:
        condition.check(None if record is None else written(record.document()))

    kept = await service.pools.database(lambda: keep(kind, name, sent, service.hardware, check))
    headers = {"location": f"/v1/{kind.noun}s/{name}"} if kept.is_new else {}
    return tagged(written(kept.record.document()), status=201 if kept.is_new else 200, headers=headers)


async def delete(call: Call, kind: Kind, name: str) -> Response:
    """Deletes the entry called `name`."""
    service, condition = call.service, required_if_match(call)

    def check(record: OwnRecord | None) -> None:
        assert record is not None
        condition.check(written(record.document()))

    await service.pools.database(lambda: remove(kind, name, service.hardware, check))
    return Response(status_code=204)
