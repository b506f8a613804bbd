"""One class of route, in which all rules of a request stand once: methods, query, media types, the body.

An endpoint states what it takes in its signature, from which FastAPI writes the OpenAPI document: `call: Call`, names of the path
as `str`, a query model as `Annotated[Model, Query()]`, and at most one other model, which is the body. The request itself
takes our way, because FastAPI's reads bodies leniently and costs more than an evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol, get_args, get_origin, get_type_hints, runtime_checkable

from fastapi.datastructures import DefaultPlaceholder
from fastapi.params import Query
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from ..analysis.judging import joined, whole
from ..catalogue import Catalogue
from ..errors import Fault, Gathered, InvalidInput, MalformedText, MethodNotAllowed, NotFound, UnsupportedType
from ..schemas.reading import parse, validate
from ..schemas.telling import told
from .accepting import accepted, content
from .bodies import read_body
from .call import Call
from .gate import Need
from .queries import read_query, spelled

BYTES_PER_ROW: Final = 100  # reading so many bytes of a body costs about as much as computing a row
BYTES_PER_ROW_JUDGED: Final = 10  # looking for all faults of a body costs more
_UNNAMEABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Takes:
    """Which models an endpoint's signature asks for, each with the name of its parameter."""

    query: tuple[str, type[BaseModel] | None]
    body: tuple[str, type[BaseModel]] | None


@runtime_checkable
class Judged(Protocol):
    """A query that can tell what is wrong with the names in it, as they were sent, beside its shape."""

    @staticmethod
    def judged(sent: Mapping[str, str], catalogue: Catalogue) -> list[Fault]: ...


def takes(endpoint: Callable[..., Any]) -> Takes:
    """Reads the signature of `endpoint`."""
    hints = get_type_hints(endpoint, include_extras=True)
    query: tuple[str, type[BaseModel] | None] = ("", None)
    body = None
    for name, hint in hints.items():
        model, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if name != "return" and isinstance(model, type) and issubclass(model, BaseModel):
            if any(isinstance(mark, Query) for mark in marks):
                query = (name, model)
            else:
                body = (name, model)
    return Takes(query, body)


class StrictRoute(APIRoute):
    """A route that refuses what it does not know. GET answers HEAD as well, and every path answers OPTIONS."""

    methods: set[str]

    def __init__(self, path: str, endpoint: Callable[..., Any], *, need: Need, **options: Any) -> None:
        summary = (endpoint.__doc__ or "").partition(".")[0].replace("`", "")
        super().__init__(path, endpoint, **{**options, "operation_id": endpoint.__name__, "summary": summary})
        self.app = self._respond
        self.need = need
        self.takes = takes(endpoint)
        self.allowed: tuple[str, ...] = ()
        self.produces = _media_types(self)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        if match is not Match.NONE and b"%2f" in scope.get("raw_path", b"").lower():
            return Match.NONE, {}  # a slash that is written so belongs to a name, and no name of ours has one
        if match is Match.PARTIAL and (scope["method"] == "OPTIONS" or (scope["method"] == "HEAD" and "GET" in self.methods)):
            match = Match.FULL
        return match, found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method == "OPTIONS":
            await Response(status_code=204, headers={"allow": ", ".join(self.allowed)})(scope, receive, send)
        elif method in self.methods or (method == "HEAD" and "GET" in self.methods):
            await self._respond(scope, receive, send)
        else:
            raise MethodNotAllowed("The resource does not know this method.", allowed=self.allowed)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call(scope, receive, send)
        await call.admit(self.need)
        names = _names(scope)
        accepted(call.accept, self.produces)
        try:
            response: Response = await self.endpoint(call=call, **names, **await self._taken(call))
        except InvalidInput as refusal:
            raise told(await self._whole(call, refusal), _sent(call, names)) from refusal
        if len(self.produces) > 1:
            response.headers["vary"] = "Accept"
        await response(scope, receive, send)

    async def _whole(self, call: Call, refusal: InvalidInput) -> InvalidInput:
        """The refusal with all that is wrong with query and body, which are looked at once more for that."""
        service, (_, query) = call.service, self.takes.query
        if query is not None and issubclass(query, Judged):
            named = query.judged(spelled(call.scope["query_string"]), service.catalogue)
            refusal = joined(refusal, named)
        if self.takes.body is None or call.document is None:
            return refusal
        (_, model), rows, first = self.takes.body, len(call.sent) // BYTES_PER_ROW_JUDGED, refusal
        return await service.pools.compute(rows, lambda: whole(first, model, call.document, service.catalogue))

    async def _taken(self, call: Call) -> dict[str, Any]:
        """The models of query and body, by the names of their parameters. Raises InvalidInput with the faults of both."""
        faults = Gathered()
        found: dict[str, Any] = {}
        name, query = self.takes.query
        parameters = faults.of(lambda: read_query(query, call.scope["query_string"]))
        if parameters is not None:
            found[name] = parameters
        if self.takes.body is not None:
            name, body = self.takes.body
            try:
                text = await _received(call)
                found[name] = await call.service.pools.compute(len(text) // BYTES_PER_ROW, lambda: faults.of(lambda: _read(call, body)))
            except (MalformedText, UnsupportedType):
                faults.check()  # of a body that cannot be read nothing else is known
                raise
        faults.check()
        return found


def _names(scope: Scope) -> dict[str, str]:
    names: dict[str, str] = scope["path_params"]
    if any(_UNNAMEABLE.search(name) for name in names.values()):
        raise NotFound("Nothing has this name.")
    return names


def _sent(call: Call, names: Mapping[str, str]) -> dict[str, Any]:
    """The request as one document, in which the pointers of faults lead."""
    body = call.document if isinstance(call.document, dict) else {}
    return {"path": names, "query": spelled(call.scope["query_string"]), **body}


async def _received(call: Call) -> bytes:
    """The text of the body. Raises UnsupportedType, OverLimit, TooSlow."""
    content(call.headers.get("content-type", ""), call.headers.get("content-encoding", ""))
    call.sent = await read_body(call.scope, call.receive, call.service.settings.receive_s)
    return call.sent


def _read(call: Call, model: type[BaseModel]) -> BaseModel:
    """The body as its model. Raises MalformedText, InvalidInput."""
    call.document = parse(call.sent)
    return validate(model, call.document)


def _media_types(route: APIRoute) -> tuple[str, ...]:
    """What a route sends: one type, or those of a response class that has a choice."""
    declared = route.response_class
    response: Any = declared.value if isinstance(declared, DefaultPlaceholder) else declared
    several: tuple[str, ...] = getattr(response, "media_types", ())
    return several or (str(response.media_type),)


def join_methods(routes: Sequence[BaseRoute]) -> None:
    """Tells each route which methods its path knows, those of the other routes on it included."""
    ours = [route for route in routes if isinstance(route, StrictRoute)]
    for route in ours:
        own = {method for each in ours if each.path == route.path for method in each.methods}
        route.allowed = tuple(sorted(own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set())))


def refuse_undeclared(routes: Sequence[BaseRoute]) -> None:
    """Nothing, if every route says who may use it. Raises TypeError."""
    open_to_all = [getattr(route, "path", repr(route)) for route in routes if not isinstance(route, StrictRoute)]
    if open_to_all:
        raise TypeError(f"These routes declare no scope: {', '.join(open_to_all)}.")


async def not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    """What a path that no route knows is answered with."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})
    else:
        raise NotFound("There is nothing at this address.")
