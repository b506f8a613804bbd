"""The contract: the OpenAPI document, generated from the routes, the same bytes on every machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

import yaml
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.routing import BaseRoute

from .. import __version__
from ..schemas.scopes import SCOPES
from .codes import CODES
from .documents import Problem
from .problems import MEDIA_TYPE
from .routing import StrictRoute

_TITLE: Final = "Roofline service"
_SUMMARY: Final = "What binds an operation on an accelerator, by how much, and from which size on something else does."
_DESCRIPTION: Final = (
    "Sizes are SI base units, named in each field (`_s`, `_bytes`, `_flops`, `_bytes_per_s`, `_flops_per_s`). "
    "One multiply-add counts as 2 FLOPs, peaks are dense, bandwidths of links are one way.\n\n"
    "Requests are strict: unknown members, unknown query parameters, duplicate members and numbers of another type are refused, "
    "and nothing is guessed. Every refusal is an RFC 9457 problem document; `errors` lists all that is wrong, "
    "each with a JSON pointer into the request."
)
_SECURITY: Final = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": (
            "A key with the scope that an operation names. "
            "A service on a loopback address, or one started with `--allow-unauthenticated`, needs none and checks those that it gets.\n\n"
        )
        + "\n".join(f"- `{scope}`: {meaning}" for scope, meaning in SCOPES.items()),
    },
    "cell_key": {"type": "apiKey", "in": "query", "name": "key", "description": "A key whose one scope is `cell`."},
}
_TAGS: Final = [
    {"name": "rooflines", "description": "Ask what binds an operation. Nothing is stored."},
    {"name": "tables", "description": "Ask by the rows of a spreadsheet, or from one of its cells. Nothing is stored."},
    {"name": "analyses", "description": "Keep a question with its answer, and find it again."},
    {"name": "catalogue", "description": "The chips, the systems and the ops that can be asked about."},
    {"name": "keys", "description": "Who may call, for what, and until when."},
    {"name": "operations", "description": "Versions, limits, kinds of problems, health."},
]
_ALWAYS: Final = (400, 403, 406, 408, 422, 431, 500)
_RETRY_AFTER: Final = {"Retry-After": {"description": "In how many seconds to try again.", "schema": {"type": "integer", "minimum": 1}}}
_TEXT: Final = {"schema": {"type": "string"}}
_CHALLENGE: Final = {
    "WWW-Authenticate": {"description": "That a bearer key is wanted, and what is wrong with the one that was sent.", **_TEXT}
}
_SHARE: Final = {
    "RateLimit-Policy": {"description": "How many requests the key may make (`q`), and in how many seconds (`w`).", **_TEXT},
    "RateLimit": {"description": "How many are left (`r`), and in how many seconds (`t`) all are there again.", **_TEXT},
}
_HEADERS: Final[dict[int, dict[str, Any]]] = {
    401: _CHALLENGE,
    403: _CHALLENGE,
    429: {**_RETRY_AFTER, **_SHARE},
    503: _RETRY_AFTER,
}
"""What refusals say besides their documents. The two about the share of a key stand in every answer to one."""
_WITH_KEY: Final = (401, 429, 503)
_WITH_BODY: Final = (413, 415, 503)


class Contract:
    """The OpenAPI document of some routes."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = [route for route in routes if isinstance(route, StrictRoute) and route.include_in_schema]

    @cached_property
    def document(self) -> dict[str, Any]:
        document = get_openapi(
            title=_TITLE,
            version=__version__,
            summary=_SUMMARY,
            description=_DESCRIPTION,
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
            routes=self._routes,
            tags=_TAGS,
        )
        for route in self._routes:
            for method in route.methods:
                operation = document["paths"][route.path_format][method.lower()]
                _refer_to_problems(operation["responses"], route)
                operation["security"] = _security(route)
                _offer_no_null(operation.get("parameters", []))
        document["components"] = {
            "schemas": self._schemas(),
            "securitySchemes": _SECURITY,
            "responses": {f"Problem{status}": _problem_response(status) for status in self._statuses()},
        }
        return document

    def _schemas(self) -> dict[str, Any]:
        """The models as pydantic describes them; on its way through FastAPI's own models a large whole number becomes a float."""
        asked: list[tuple[type[BaseModel], JsonSchemaMode]] = [(Problem, "serialization")]
        for route in self._routes:
            if route.takes.body is not None:
                asked.append((route.takes.body[1], "validation"))
            if route.response_model is not None:
                asked.append((route.response_model, "serialization"))
        _, described = models_json_schema(asked, ref_template="#/components/schemas/{model}")
        schemas: dict[str, Any] = described["$defs"]
        return dict(sorted(schemas.items()))

    def _statuses(self) -> list[int]:
        return sorted({status for route in self._routes for status in _refusals(route)})

    @cached_property
    def json(self) -> bytes:
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()

    @cached_property
    def yaml(self) -> bytes:
        return yaml.dump(self.document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120).encode()


def _refusals(route: StrictRoute) -> set[int]:
    """The statuses with which a route refuses."""
    statuses = {int(status) for status in route.responses if int(status) >= HTTPStatus.BAD_REQUEST} | set(_ALWAYS)
    if route.need != "public":
        statuses.update(_WITH_KEY)
    if route.param_convertors:
        statuses.add(404)
    if route.takes.body is not None:
        statuses.update(_WITH_BODY)
    return statuses


def _security(route: StrictRoute) -> list[dict[str, list[str]]]:
    """The scope that a key must have, by the ways to send one; the last is without, where the service asks for none."""
    if route.need == "public":
        return []
    ways = ("key", "cell_key") if route.need == "cell" else ("key",)
    scopes: list[str] = [route.need]
    return [*({way: scopes} for way in ways), {}]


def _refer_to_problems(responses: dict[str, Any], route: StrictRoute) -> None:
    """One reference for each refusal, also where FastAPI has described one in its own way."""
    for status in sorted(_refusals(route)):
        responses.pop(str(status), None)
        responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}


def _offer_no_null(parameters: list[dict[str, Any]]) -> None:
    """A parameter that is left out is None in its model; a query cannot spell that."""
    for parameter in parameters:
        schema = parameter["schema"]
        if {"type": "null"} in schema.get("anyOf", ()):
            (kind,) = (each for each in schema.pop("anyOf") if each != {"type": "null"})
            parameter["schema"] = {**kind, **schema}


def _problem_response(status: int) -> dict[str, Any]:
    codes = [code for code in CODES.values() if code.status == status]
    headers = {"headers": _HEADERS[status]} if status in _HEADERS else {}
    return {
        **headers,
        "description": f"{codes[0].title}: {', '.join(f'`{code.code}`' for code in codes)}.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}},
    }


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, and nothing twice by reference."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
