"""What a route gives back: JSON with every number checked, and single resources with a tag of their content."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.responses import Response

from ..errors import Internal, InvalidInput, NotFound
from .accepting import JSON
from .conditions import is_known, tag

if TYPE_CHECKING:  # the command line writes the same text without the web around it
    from .call import Call

T = TypeVar("T")


def written(value: object) -> bytes:
    """`value` as JSON. Raises Internal for a number that is not finite, which JSON does not have."""
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise Internal("An answer held a number that is not finite.") from error


def answer(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON text as an answer."""
    return Response(body, status_code=status, headers=headers, media_type=JSON)


def tagged(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A single resource that was just made or changed, with its strong `ETag`."""
    return answer(body, status=status, headers={"etag": tag(body), **(headers or {})})


def listing(items: list[dict[str, Any]], *, next_cursor: str | None, limit: int) -> Response:
    """One page of a list."""
    return answer(written({"items": items, "next_cursor": next_cursor, "limit": limit}))


def resource(call: Call, body: bytes, media_type: str = JSON, headers: Mapping[str, str] | None = None) -> Response:
    """A single resource with its strong `ETag`, or 304 for a caller that has this very content (`If-None-Match`)."""
    headers = {"etag": tag(body), **(headers or {})}
    if is_known(call.headers, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=media_type)


def found(find: Callable[[], T]) -> T:
    """What `find` gives for a name in the path. A name that is unknown there is NotFound, not a fault of a request."""
    try:
        return find()
    except InvalidInput as error:
        raise NotFound(error.faults[0].detail, suggestions=error.faults[0].suggestions) from error
