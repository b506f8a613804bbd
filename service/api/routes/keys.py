"""Keys: made, listed, given another secret, revoked. What their holders send is shown once, when it is made."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis import keys
from ...schemas.keys import NewKey, NewSecret
from ..answers import answer, listing, resource, written
from ..call import Call
from ..conditions import IF_NONE_MATCH, TAGGED
from ..keys import IssuedKeyDocument, KeyDocument, KeyList
from ..pages import PageQuery
from ..repeats import refuse_repeats
from .router import router

routes = router("keys")

EXAMPLES: Final[dict[str, Any]] = {
    "sheet": {
        "summary": "For the cells of a spreadsheet, for 30 days",
        "value": {"name": "planning sheet", "scopes": ["cell"], "lifetime_s": 2_592_000},
    },
    "scheduler": {"summary": "For a program that asks and reads", "value": {"name": "scheduler", "scopes": ["evaluate", "read"]}},
}
AGAIN: Final[dict[str, Any]] = {"again": {"summary": "As long as before", "value": {}}}
MADE: Final[dict[int | str, dict[str, Any]]] = {
    201: {"headers": {"Location": {"description": "Where the key is.", "schema": {"type": "string"}}}},
    409: {},
}
NOT_KEPT: Final = {"cache-control": "no-store"}


@routes.post("/v1/keys", scope="admin", status_code=201, response_model=IssuedKeyDocument, responses=MADE)
async def post_key(call: Call, new: Annotated[NewKey, Body(openapi_examples=EXAMPLES)]) -> Response:
    """Makes a key and shows its secret, this once. A key can do nothing that its maker cannot, and does not outlive it."""
    refuse_repeats(call)
    service, maker = call.service, call.maker
    made = await service.pools.database(lambda: keys.create(new, maker, service.keys))
    return answer(written(keys.issued(made)), status=201, headers={**NOT_KEPT, "location": f"/v1/keys/{made.key.id}"})


@routes.get("/v1/keys", scope="admin", response_model=KeyList)
async def list_keys(call: Call, asked: Annotated[PageQuery, Query()]) -> Response:
    """Every key, those that have expired or were revoked included, newest first. No secrets are shown."""
    service = call.service
    page = await service.pools.database(lambda: service.keys.page(asked.limit, asked.cursor))
    return listing([keys.document(key) for key in page.items], next_cursor=page.next_cursor, limit=asked.limit)


@routes.get("/v1/keys/{id}", scope="admin", response_model=KeyDocument, responses=TAGGED, openapi_extra=IF_NONE_MATCH)
async def get_key(call: Call, id: str) -> Response:  # noqa: A002 - the path's own name
    """One key."""
    service = call.service
    return resource(call, written(keys.document(await service.pools.database(lambda: service.keys.get(id)))))


@routes.post("/v1/keys/{id}/rotate", scope="admin", response_model=IssuedKeyDocument, responses={409: {}})
async def rotate_key(call: Call, id: str, asked: Annotated[NewSecret, Body(openapi_examples=AGAIN)]) -> Response:  # noqa: A002
    """Gives a key another secret and shows it, this once. The one before ends within two seconds."""
    refuse_repeats(call)
    service, maker = call.service, call.maker
    made = await service.pools.database(lambda: keys.rotate(id, asked, maker, service.keys))
    return answer(written(keys.issued(made)), headers=NOT_KEPT)


@routes.delete("/v1/keys/{id}", scope="admin", status_code=204)
async def revoke_key(call: Call, id: str) -> Response:  # noqa: A002 - the path's own name
    """Revokes a key, which ends within two seconds and for good. It stays in the list; to revoke it again changes nothing."""
    service = call.service
    await service.pools.database(lambda: keys.revoke(id, service.keys))
    return Response(status_code=204)
