"""How every module here declares its routes: a path, the scope that it needs, and what the contract says of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import BaseRoute
from typing_extensions import Unpack

from ..gate import Need
from ..routing import StrictRoute

E = TypeVar("E", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What FastAPI's routes take of which ours make use."""

    status_code: int
    response_model: type[BaseModel]
    response_class: type[Response]
    responses: dict[int | str, dict[str, Any]]
    openapi_extra: dict[str, Any]
    include_in_schema: bool


class Routes:
    """The routes of a module, which the documentation lists under a tag.

    None can be declared without `scope`: the one that a key must have, or `public` where nobody needs a key.
    """

    def __init__(self, tag: str, route_class: type[StrictRoute] = StrictRoute) -> None:
        self._tag = tag
        self._class = route_class
        self.routes: list[BaseRoute] = []

    def get(self, path: str, *, scope: Need, **options: Unpack[Options]) -> Callable[[E], E]:
        return self._declared("GET", path, scope, options)

    def post(self, path: str, *, scope: Need, **options: Unpack[Options]) -> Callable[[E], E]:
        return self._declared("POST", path, scope, options)

    def put(self, path: str, *, scope: Need, **options: Unpack[Options]) -> Callable[[E], E]:
        return self._declared("PUT", path, scope, options)

    def patch(self, path: str, *, scope: Need, **options: Unpack[Options]) -> Callable[[E], E]:
        return self._declared("PATCH", path, scope, options)

    def delete(self, path: str, *, scope: Need, **options: Unpack[Options]) -> Callable[[E], E]:
        return self._declared("DELETE", path, scope, options)

    def _declared(self, method: str, path: str, scope: Need, options: Options) -> Callable[[E], E]:
        def declare(endpoint: E) -> E:
            self.routes.append(self._class(path, endpoint, need=scope, methods=[method], tags=[self._tag], **options))
            return endpoint

        return declare


def router(tag: str) -> Routes:
    """The routes of a module."""
    return Routes(tag)
