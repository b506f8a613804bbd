"""The documentation to click through: Swagger UI, served whole from this package; nothing comes from another host."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache
from importlib.resources import files
from typing import Any, Final

from starlette.responses import HTMLResponse, Response

from ..answers import resource
from ..call import Call
from .router import router

routes = router("documentation")

_SVG: Final = "image/svg+xml"
_ASSETS: Final = {
    "/docs/swagger-ui.css": ("swagger-ui/swagger-ui.css", "text/css"),
    "/docs/swagger-ui-bundle.js": ("swagger-ui/swagger-ui-bundle.js", "text/javascript"),
    "/docs/docs.css": ("docs.css", "text/css"),
    "/docs/docs.js": ("docs.js", "text/javascript"),
    "/docs/icon.svg": ("icon.svg", _SVG),
    "/favicon.ico": ("icon.svg", _SVG),
}
# Swagger UI sets styles on elements and draws its icons from data in its style sheet; scripts come only from this service.
_POLICY: Final = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)


@routes.get("/docs", scope="public", response_class=HTMLResponse, include_in_schema=False)
async def get_docs(call: Call) -> Response:
    """The page."""
    page = resource(call, _content("docs.html"), "text/html")
    page.headers["content-security-policy"] = _POLICY
    return page


@cache
def _content(name: str) -> bytes:
    return (files("service.api") / "static" / name).read_bytes()


def _asset(file: str, media_type: str) -> Callable[[Call], Coroutine[Any, Any, Response]]:
    async def get_asset(call: Call) -> Response:
        return resource(call, _content(file), media_type)

    return get_asset


for _path, (_file, _media_type) in _ASSETS.items():
    _class = type("Asset", (Response,), {"media_type": _media_type})
    routes.get(_path, scope="public", response_class=_class, include_in_schema=False)(_asset(_file, _media_type))
