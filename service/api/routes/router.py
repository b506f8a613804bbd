"""How every module here makes its router."""

from __future__ import annotations

from fastapi import APIRouter

from ..routing import StrictRoute


def router(tag: str) -> APIRouter:
    """A router of strict routes that the documentation lists under `tag`."""
    return APIRouter(route_class=StrictRoute, tags=[tag])
