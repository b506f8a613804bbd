"""The systems of the catalogue: chips of one kind wired together, axis by axis."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis.hardware import differences
from ...analysis.sheets import catalogue as sheets
from ...catalogue.own import CLUSTER
from ...schemas.exports import ExportQuery
from ...schemas.hardware import OwnCluster
from ..answers import found, listing, resource, written
from ..call import Call
from ..conditions import IF_MATCH_REQUIRED, IF_NONE_MATCH, WRITING
from ..documents import ClusterDocument, ClusterList, ClusterRevisionList
from ..exports import EXPORTED_LIST, EXPORTED_RESOURCE, Export, ExportResponse, exported
from ..hardware import DELETE_RESPONSES, delete, put, put_responses
from ..pages import PageQuery, page
from .router import router

routes = router("catalogue")

EXAMPLES: Final = {
    "copy": {
        "summary": "A shipped system of another name",
        "value": {"base": "hgx-h100-8", "name": "Rack 7", "reason": "Our machine room"},
    },
}
ClusterBody = Annotated[OwnCluster, Body(openapi_examples=EXAMPLES)]


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


@routes.put(
    "/v1/clusters/{ref}", scope="catalogue", response_model=ClusterDocument, responses=put_responses(ClusterDocument), openapi_extra=WRITING
)
async def put_cluster(call: Call, ref: str, sent: ClusterBody) -> Response:
    """Keeps a system of your own: a new one, or the next revision of one. Shipped ones are never changed.

    The body is what a file of the catalogue states, or the `base` that is copied and what differs from it.
    """
    return await put(call, CLUSTER, ref, sent)


@routes.delete("/v1/clusters/{ref}", scope="catalogue", status_code=204, responses=DELETE_RESPONSES, openapi_extra=IF_MATCH_REQUIRED)
async def delete_cluster(call: Call, ref: str) -> Response:
    """Deletes a system of your own. What was kept with it stays as it is, and its revisions can still be asked by `id@revision`."""
    return await delete(call, CLUSTER, ref)


@routes.get("/v1/clusters/{id}/revisions", scope="read", response_model=ClusterRevisionList)
async def list_cluster_revisions(call: Call, id: str, asked: Annotated[PageQuery, Query()]) -> Response:  # noqa: A002 - the path's own name
    """Every revision of a system, oldest first, with its reason and what it changed. A revision never changes."""
    known = found(lambda: call.service.catalogue.cluster_revisions(id, "/path/id"))
    shown, next_cursor = page(f"revisions of cluster {id}", known, lambda record: f"{record.revision:09}", asked)
    return listing(differences.revisions(shown, known), next_cursor=next_cursor, limit=asked.limit)
