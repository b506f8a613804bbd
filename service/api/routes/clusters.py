"""The systems of the catalogue: chips of one kind wired together, axis by axis."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from ...analysis.sheets import catalogue as sheets
from ...schemas.exports import ExportQuery
from ..answers import found, listing, resource, written
from ..call import Call
from ..conditions import IF_NONE_MATCH
from ..documents import ClusterDocument, ClusterList, ClusterRevisionList
from ..exports import EXPORTED_LIST, EXPORTED_RESOURCE, Export, ExportResponse, exported
from ..pages import PageQuery, page
from .router import router

routes = router("catalogue")


class ClusterQuery(PageQuery, ExportQuery):
    """Which part of the list is asked for, and in which form."""


@routes.get("/v1/clusters", scope="read", response_model=ClusterList, response_class=ExportResponse, responses=EXPORTED_LIST)
async def list_clusters(call: Call, asked: Annotated[ClusterQuery, Query()]) -> Response:
    """The newest revision of every system, sorted by id, with the numbers of its axes."""
    catalogue = call.service.catalogue
    clusters, next_cursor = page("clusters", catalogue.clusters, lambda cluster: cluster.id, asked)
    export = Export(
        "clusters",
        json=lambda: listing([cluster.summary() for cluster in clusters], next_cursor=next_cursor, limit=asked.limit),
        sheet=lambda: sheets.clusters(clusters, catalogue),
        next_cursor=next_cursor,
    )
    return await exported(call, asked, export)


@routes.get(
    "/v1/clusters/{ref}",
    scope="read",
    response_model=ClusterDocument,
    response_class=ExportResponse,
    responses=EXPORTED_RESOURCE,
    openapi_extra=IF_NONE_MATCH,
)
async def get_cluster(call: Call, ref: str, asked: Annotated[ExportQuery, Query()]) -> Response:
    """One system by `id`, or one revision of it by `id@revision`: every value with unit, source and confidence."""
    cluster = found(lambda: call.service.catalogue.cluster(ref, "/path/ref"))
    export = Export(
        cluster.id,
        json=lambda: resource(call, written(cluster.document())),
        sheet=lambda: sheets.entry(cluster, call.service.catalogue),
        is_tagged=True,
    )
    return await exported(call, asked, export)


@routes.get("/v1/clusters/{id}/revisions", scope="read", response_model=ClusterRevisionList)
async def list_cluster_revisions(call: Call, id: str, asked: Annotated[PageQuery, Query()]) -> Response:  # noqa: A002 - the path's own name
    """Every revision of a system, oldest first, with the reason for it. A revision never changes."""
    revisions = found(lambda: call.service.catalogue.cluster_revisions(id, "/path/id"))
    clusters, next_cursor = page(f"revisions of cluster {id}", revisions, lambda cluster: f"{cluster.revision:09}", asked)
    items = [{**cluster.summary(), "revision": cluster.revision, "reason": cluster.reason} for cluster in clusters]
    return listing(items, next_cursor=next_cursor, limit=asked.limit)
