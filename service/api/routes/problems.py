"""What each kind of refusal means: the addresses that the `type` of a problem document names."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ...errors import NotFound, near
from ..answers import resource, written
from ..call import Call
from ..codes import CODES, Code
from ..conditions import IF_NONE_MATCH, TAGGED
from ..documents import ProblemKind
from .router import router

routes = router("operations")


@routes.get("/problems/{code}", scope="public", response_model=ProblemKind, responses=TAGGED, openapi_extra=IF_NONE_MATCH)
async def get_problem(call: Call, code: str) -> Response:
    """A kind of problem: its status, its title, and what it means."""
    if code not in CODES:
        raise NotFound("There is no kind of problem of this name.", suggestions=near(code, CODES))
    return resource(call, written(described(CODES[code])))


def described(code: Code) -> dict[str, Any]:
    """A kind of problem as a document."""
    return {"type": code.type, "code": code.code, "status": code.status, "title": code.title, "meaning": code.meaning}
