"""Every route, the most used first: they are tried in this order."""

from __future__ import annotations

from starlette.routing import BaseRoute

from . import analyses, charts, chips, clusters, compare, docs, evaluate, fit, health, meta, metrics, openapi, ops, problems, rank


def all_routes() -> list[BaseRoute]:
    modules = (evaluate, compare, rank, fit, charts, analyses, ops, chips, clusters, meta, problems, health, metrics, openapi, docs)
    return [route for module in modules for route in module.routes.routes]
