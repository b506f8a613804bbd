"""Every route, the most used first: they are tried in this order."""

from __future__ import annotations

from starlette.routing import BaseRoute

from . import (
    analyses,
    batches,
    cells,
    charts,
    chips,
    clusters,
    compare,
    comparisons,
    docs,
    evaluate,
    fit,
    health,
    keys,
    meta,
    metrics,
    openapi,
    ops,
    problems,
    rank,
)

MODULES = (
    evaluate, compare, rank, fit, batches, cells, charts, analyses, comparisons, ops, chips, clusters, meta, problems, keys, health,
    metrics, openapi, docs,
)  # fmt: skip


def all_routes() -> list[BaseRoute]:
    return [route for module in MODULES for route in module.routes.routes]
