"""The systems of the catalogue over HTTP."""

from __future__ import annotations

from service.catalogue import Catalogue

from .conftest import Client


def test_the_list_has_every_system_with_the_numbers_of_its_axes(client: Client, catalogue: Catalogue) -> None:
    body = client.get("/v1/clusters").json()
    assert body == {"items": [cluster.summary() for cluster in catalogue.clusters], "next_cursor": None, "limit": 50}
    assert [item["id"] for item in body["items"]] == sorted(item["id"] for item in body["items"])
    (item,) = (each for each in body["items"] if each["id"] == "tpu-v5p-pod")
    assert {name: item[name] for name in ("ref", "name", "chip", "chips", "confidence")} == {
        "ref": "tpu-v5p-pod@1",
        "name": "TPU v5p pod",
        "chip": "google-tpu-v5p",
        "chips": 8960,
        "confidence": "high",
    }
    ring = {
        "topology": "ring",
        "network": "ICI (4x4x4 cubes + optical switches)",
        "bandwidth_per_direction_bytes_per_s": 90_000_000_000,
        "latency_s": 1e-6,
    }
    assert item["axes"] == [
        {"name": "x", **ring, "size": 16},
        {"name": "y", **ring, "size": 20},
        {"name": "z", **ring, "size": 28},
        {"name": "node", "topology": "switch", "network": "data-centre network", "bandwidth_per_direction_bytes_per_s": 6_250_000_000},
    ]


def test_an_irregular_axis_has_no_rate(client: Client) -> None:
    (axis,) = client.get("/v1/clusters/mi250x-node").json()["axes"]
    assert (axis["topology"], axis["size"]["value"]) == ("mesh", 8)
    assert "bandwidth_per_direction_bytes_per_s" not in axis


def test_pages_of_the_list_are_the_list(client: Client, catalogue: Catalogue) -> None:
    items: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = client.get("/v1/clusters?limit=5" + (f"&cursor={cursor}" if cursor else "")).json()
        items += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert items == [cluster.id for cluster in catalogue.clusters]


def test_every_system_can_be_read_and_its_chip_too(client: Client, catalogue: Catalogue) -> None:
    for cluster in catalogue.clusters:
        assert client.get(f"/v1/clusters/{cluster.id}").json() == client.get(f"/v1/clusters/{cluster.ref}").json() == cluster.document()
        assert client.get(f"/v1/chips/{cluster.chip}").status_code == 200


def test_a_value_has_unit_source_and_confidence(client: Client) -> None:
    gpu = client.get("/v1/clusters/hgx-h100-8").json()["axes"][0]
    assert (gpu["name"], gpu["topology"]) == ("gpu", "switch")
    rate = gpu["bandwidth_per_direction_bytes_per_s"]
    assert (rate["value"], rate["unit"], rate["stated"]) == (450_000_000_000, "B/s", {"value": 450, "unit": "GB/s"})
    assert (rate["sources"][0]["publisher"], rate["confidence"], rate["derived"]) == ("NVIDIA", "high", "half of 900 GB/s both ways")
    assert gpu["in_network_reduction"]["value"] is True


def test_revisions_say_why_they_were_made(client: Client, catalogue: Catalogue) -> None:
    body = client.get("/v1/clusters/hgx-h100-8/revisions").json()
    assert body == {
        "items": [
            {**each.summary(), "revision": each.revision, "reason": each.reason, "date": None, "changes": None}
            for each in catalogue.cluster_revisions("hgx-h100-8")
        ],
        "next_cursor": None,
        "limit": 50,
    }


def test_a_name_that_does_not_exist_is_met_with_suggestions(client: Client) -> None:
    for path in ("/v1/clusters/hgx-h100", "/v1/clusters/hgx-h100/revisions"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
        assert "hgx-h100-8" in answer.json()["suggestions"]
    answer = client.get("/v1/clusters/hgx-h100-8@7")
    assert (answer.status_code, answer.json()["suggestions"]) == (404, ["hgx-h100-8@1"])
