"""Refusals as RFC 9457 problem documents, the one form of every answer that is not a success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from starlette.responses import Response

from ..errors import InvalidInput, MethodNotAllowed, NotFound, RateLimited, ScopeMissing, ServiceError, Unauthenticated, Unavailable
from .codes import CODES

MEDIA_TYPE: Final = "application/problem+json"
_CHALLENGE: Final = 'Bearer realm="roofline"'  # RFC 6750


def document(error: ServiceError, request_id: str) -> dict[str, Any]:
    """The body: what kind of problem, in which status, a sentence, and for a refused request every fault."""
    code = CODES[error.code]
    body: dict[str, Any] = {
        "type": code.type,
        "title": code.title,
        "status": code.status,
        "detail": error.detail,
        "code": code.code,
        "request_id": request_id,
    }
    if isinstance(error, InvalidInput):
        body["errors"] = [
            {"pointer": fault.pointer, "code": fault.code, "detail": fault.detail, "suggestions": fault.suggestions}
            for fault in error.faults
        ]
    if isinstance(error, NotFound) and error.suggestions:
        body["suggestions"] = error.suggestions
    return body


def response(error: ServiceError, request_id: str) -> Response:
    """The answer to a request that `error` refused."""
    body = document(error, request_id)
    return Response(orjson.dumps(body), status_code=body["status"], headers=_headers(error), media_type=MEDIA_TYPE)


def _headers(error: ServiceError) -> Mapping[str, str]:
    if isinstance(error, MethodNotAllowed):
        return {"allow": ", ".join(error.allowed)}
    if isinstance(error, Unauthenticated):
        return {"www-authenticate": f'{_CHALLENGE}, error="invalid_token"' if error.has_key else _CHALLENGE}
    if isinstance(error, ScopeMissing):
        return {"www-authenticate": f'{_CHALLENGE}, error="insufficient_scope", scope="{error.scope}"'}
    if isinstance(error, Unavailable | RateLimited):
        return {"retry-after": str(error.retry_after_s)}
    return {}
