"""Cells over HTTP: texts that a spreadsheet function can show, kept for a while by whoever fetched them.

The functions of spreadsheets send no headers, so a key that can do nothing else may stand in the address. It is taken out of it before
anything else is read, and answers may be kept by the one who asked alone.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, unquote, unquote_to_bytes

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..analysis.batches.cells import failed
from ..engine.ops import OPS
from ..errors import Internal, ServiceError
from ..schemas.batches import CellQuery
from .answers import resource
from .call import Call
from .conditions import IF_NONE_MATCH
from .gate import ADDRESS_KEY
from .routing import StrictRoute

MAX_AGE_S: Final = 3600
"""How long an answer may be kept. It changes with the version of the service and of the catalogue alone."""

KEY: Final = b"key"

MEMBERS: Final[dict[str, Any]] = {
    "parameters": [
        *IF_NONE_MATCH["parameters"],
        {
            "name": "members",
            "in": "query",
            "style": "form",
            "explode": True,
            "description": "The question, by the names of columns: `op`, `chip` and the members of the op, each a parameter of its own.",
            "schema": {
                "type": "object",
                "required": ["op", "chip"],
                "properties": {"op": {"type": "string", "enum": list(OPS)}, "chip": {"type": "string"}},
                "additionalProperties": {"type": "string"},
            },
            "example": {"op": "matmul", "m": "512", "k": "8192", "n": "28672", "dtype": "bf16", "chip": "nvidia-h100-sxm"},
        },
    ]
}
"""The parameters of a question, for the contract."""


class CellRoute(StrictRoute):
    """Takes a key from the address.

    With `on_error=text` a refusal is a 200 that says so: of any other status a spreadsheet function shows no more than that.
    """

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        _take_key(scope)
        try:
            await super()._respond(scope, receive, send)
        except Internal:
            raise
        except ServiceError as error:
            if not _wants_text(scope["query_string"]):
                raise
            await Response(written(failed(error), self.produces[0]), media_type=self.produces[0])(scope, receive, send)


def _take_key(scope: Scope) -> None:
    """Moves what the query names `key`, however that is spelled, to where the gate looks for it."""
    pairs = scope["query_string"].split(b"&")
    keys = [pair for pair in pairs if unquote_to_bytes(pair.partition(b"=")[0].replace(b"+", b" ")) == KEY]
    if keys:
        scope["query_string"] = b"&".join(pair for pair in pairs if pair not in keys)
        scope[ADDRESS_KEY] = [unquote(pair.partition(b"=")[2].decode("latin-1")) for pair in keys]


def _wants_text(query: bytes) -> bool:
    try:
        return ("on_error", "text") in parse_qsl(query.decode("ascii"))
    except ValueError:
        return False


def written(text: str, media_type: str) -> str:
    """A text alone, or as the only cell of a CSV."""
    return '"{}"\r\n'.format(text.replace('"', '""')) if media_type == "text/csv" else text


def members(asked: CellQuery) -> dict[str, str]:
    """The parameters that are members of the question."""
    return {name: str(text) for name, text in (asked.model_extra or {}).items()}


def kept(call: Call, text: str, media_type: str) -> Response:
    """A text with its tag, to be kept for a while, unless it names hardware of which there may be a new revision at any moment."""
    named = {name for texts in call.query_params.values() for name in texts.split(",")}
    keeping = "no-cache" if named & call.service.catalogue.changing else f"max-age={MAX_AGE_S}"
    return resource(call, text.encode(), media_type, {"cache-control": f"private, {keeping}", "vary": "Authorization"})
