"""`/v1/comparisons`: saved analyses against one of them by body and by link, on both databases, in JSON and as tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import openpyxl
import pytest

from service.api.app import create_app
from service.catalogue import Catalogue
from service.engine import ENGINE_VERSION
from service.schemas.limits import MAX_COMPARED
from service.settings import Settings
from service.storage import Database

from .conftest import Client
from .test_compare import BASE, CHIP, INT8, MATMUL, factors
from .test_every_route import faults, problem

PATH = "/v1/comparisons"
NOBODY = f"an_{'a' * 52}"


@pytest.fixture
def client(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()


def keep(client: Client, question: Any, **members: Any) -> str:
    answer = client.post("/v1/analyses", json={**question, **members})
    assert answer.status_code == 201
    name: str = answer.json()["id"]
    return name


def head(client: Client, name: str) -> dict[str, Any]:
    """An analysis as the list of analyses has it."""
    (item,) = (each for each in client.get("/v1/analyses").json()["items"] if each["id"] == name)
    return {**item, "document_version": client.get(f"/v1/analyses/{name}").json()["answer"]["document_version"]}


def beside(base: float | None, value: float | None) -> dict[str, Any]:
    is_known = base is not None and value is not None
    return {
        "base": base,
        "value": value,
        "ratio": value / base if is_known and base else None,  # type: ignore[operator]
        "delta": value - base if is_known else None,  # type: ignore[operator]
    }


def test_int8_against_bf16_whole(client: Client) -> None:
    """Half the bytes and twice the peak: half the time, and the threshold where it was."""
    base, other = keep(client, BASE, labels={"team": "red"}), keep(client, INT8, note="smaller")
    made = client.post(PATH, json={"base": base, "others": [other]})
    assert (made.status_code, made.headers["content-type"]) == (200, "application/json")
    memory, compute, end = 34603008 / 1e12, 2147483648 / 1e14, 17301504 / 1e12
    tiled = 34603008 + 15 * 2**19  # 16 tiles of 256 columns: each but the first reads a, of half a MiB, again
    operands = ("dtype", "a_dtype", "b_dtype", "out_dtype", "compute_dtype")
    assert made.json() == {
        "base": head(client, base),
        "rows": [
            {
                "analysis": head(client, other),
                "metrics": [
                    {"metric": "lower_s", **beside(memory, end)},
                    {"metric": "overlapped_s", **beside(memory, end)},
                    {"metric": "upper_s", **beside(memory + compute, end + compute / 2)},
                    {"metric": "flops", **beside(2147483648, 2147483648)},
                    {"metric": "vector_flops", **beside(0, 0)},
                    {"metric": "bytes_total", **beside(34603008, 17301504)},
                    {"metric": "intensity_flops_per_byte", **beside(2147483648 / 34603008, 2147483648 / 17301504)},
                    {"metric": "critical_intensity_flops_per_byte", **beside(100.0, 200.0)},
                    {"metric": "peak_flops_per_s", **beside(1e14, 2e14)},
                    {"metric": "hbm_bandwidth_bytes_per_s", **beside(1e12, 1e12)},
                    {"metric": "compute_time_s", **beside(compute, compute / 2)},
                    {"metric": "hbm_time_s", **beside(memory, end)},
                    {"metric": "network_time_s", **beside(0.0, 0.0)},
                    {"metric": "attainable_flops_per_s", **beside(2147483648 / memory, 2147483648 / end)},
                    {"metric": "utilization", **beside(compute / memory, compute / 2 / end)},
                    {"metric": "tile_hbm_bytes", **beside(tiled, tiled // 2)},
                    {"metric": "tile_compute_time_s", **beside(compute, compute / 2)},
                    {"metric": "tile_hbm_time_s", **beside(tiled / 1e12, tiled // 2 / 1e12)},
                    {"metric": "tile_intensity_flops_per_byte", **beside(2147483648 / tiled, 2147483648 / (tiled // 2))},
                    {"metric": "tile_padding_efficiency", **beside(1.0, 1.0)},
                    {"metric": "tile_wave_efficiency", **beside(1.0, 1.0)},
                ],
                "thresholds": [{"path": "hbm", "variable": "m", **beside(*thresholds(client, base, other))}],
                "bound": {"from": "hbm", "to": "hbm", "changed": False},
                "moves": [],
                "factors": factors(memory, memory, compute, *[end] * 5),
                "estimate_factors": [],
                "cancels": [{"causes": ["dtype_bytes", "peak_flops_per_s"], "factors": [0.5, 2.0], "product": 1.0, "in": "threshold"}],
                "differs": [{"pointer": f"/op/{name}", "base": "bf16", "value": "int8"} for name in operands],
                "notes": [],
            }
        ],
        "same": ["chip", "options", "target_digest", "engine_version", "document_version", "catalogue_digest"],
        "warnings": [],
        "permalink": f"{PATH}?base={base}&others={other}",
        "engine_version": ENGINE_VERSION,
    }
    assert client.get(made.json()["permalink"]).content == made.content


def thresholds(client: Client, *names: str) -> list[float]:
    return [client.get(f"/v1/analyses/{name}").json()["result"]["thresholds"][0]["exact"] for name in names]


def test_a_link_says_what_was_asked_and_a_read_keeps_nothing(client: Client) -> None:
    base, wider = keep(client, BASE), keep(client, {**BASE, "op": {**MATMUL, "m": 4096}})
    made = client.post(PATH, json={"base": base, "others": [wider, base]}).json()
    assert [each["analysis"]["id"] for each in made["rows"]] == [wider, base]
    assert [each["name"] for each in made["rows"][0]["moves"]] == ["hbm → compute"] * 2
    assert [each["code"] for each in made["warnings"]] == ["op"]
    before = client.get("/v1/analyses").content
    assert client.get(made["permalink"]).json() == made
    assert client.get("/v1/analyses").content == before


def test_unlike_analyses_are_refused_where_strict_is_asked(client: Client) -> None:
    base, unlike = keep(client, BASE), keep(client, {**BASE, "options": {"overlap": 0.5}})
    asked = {"base": base, "others": [base, unlike], "strict": True}
    assert list(faults(client.post(PATH, json=asked), "invalid-request")) == [("/others/1", "invalid-request")]
    link = f"{PATH}?base={base}&others={base},{unlike}"
    assert list(faults(client.get(f"{link}&strict=true"), "invalid-request")) == [("/query/others", "invalid-request")]
    assert client.get(f"{link}&strict=false").json()["warnings"][0]["detail"] == "Asked with other options: overlap."
    alike = client.post(PATH, json={**asked, "others": [base]}).json()
    assert alike["permalink"] == f"{PATH}?base={base}&others={base}&strict=true"
    assert client.get(alike["permalink"]).json() == alike


def test_ids_that_no_analysis_has_are_named_by_place(client: Client) -> None:
    kept, gone = keep(client, BASE), keep(client, INT8)
    assert client.request("DELETE", f"/v1/analyses/{gone}").status_code == 204
    body = client.post(PATH, json={"base": NOBODY, "others": [kept, gone, "an_\u00e9"]})
    places = ["/base", "/others/1", "/others/2"]
    assert list(faults(body, "unknown-analysis")) == [(place, "unknown-analysis") for place in places]
    link = client.get(f"{PATH}?base={kept}&others={kept},{gone}")
    fault = {"pointer": "/query/others", "code": "unknown-analysis", "detail": "No analysis has this id, number 2 of the others."}
    assert problem(link, 422, "unknown-analysis")["errors"] == [{**fault, "suggestions": []}]


def test_the_table_has_a_row_for_each_and_the_sources_beside_it(client: Client) -> None:
    h100 = {"chip": "nvidia-h100-sxm"}
    base = keep(client, {"op": MATMUL, "target": h100})
    ops = [{**MATMUL, "m": 4096}, {**MATMUL, "dtype": "fp8"}]
    others = [keep(client, {"op": op, "target": h100}, note="=1+1") for op in ops]
    asked = {"base": base, "others": others}
    document = client.post(PATH, json=asked).json()
    answer = client.post(f"{PATH}?format=csv", json=asked)
    assert answer.headers["content-disposition"] == 'attachment; filename="roofline-comparison.csv"'
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [each["analysis.id"] for each in lines] == others
    for line, row in zip(lines, document["rows"], strict=True):
        assert line["base_id"] == base
        assert line["analysis.note"] == "'=1+1"
        for each in row["metrics"]:
            assert [line[f"metrics.{each['metric']}.ratio"]] == ["" if each["ratio"] is None else str(each["ratio"])]
        assert float(line["metrics.lower_s.value [s]"]) == row["metrics"][0]["value"]
        assert float(line["metrics.bytes_total.delta [B]"]) == row["metrics"][5 + 1]["delta"]
        for each in row["factors"]:
            assert float(line[f"factors.{each['cause']}.factor"]) == each["factor"]
        assert line["bound.to"] == row["bound"]["to"]
    assert (lines[0]["moves"], lines[0]["warnings"]) == ("hbm → compute; hbm: hbm → compute; tile: hbm → compute", "Other work: m.")
    assert (lines[1]["moves"], lines[1]["warnings"]) == ("", "")
    book = openpyxl.load_workbook(io.BytesIO(client.get(f"{document['permalink']}&format=xlsx").content))
    about = list(book["provenance"].iter_rows(values_only=True))
    assert ("base", base) in about
    assert ("permalink", document["permalink"]) in about
    assert {"service_version", "engine_version", "catalogue_digest", "same", "source"} <= {name for name, _ in about}


REFUSED: dict[str, tuple[Any, int, str, list[str]]] = {
    "no others": ({"base": NOBODY, "others": []}, 422, "out-of-range", ["/others"]),
    "others left out": ({"base": NOBODY}, 422, "missing", ["/others"]),
    "no base": ({"others": [NOBODY]}, 422, "missing", ["/base"]),
    "a number": ({"base": 7, "others": [NOBODY]}, 422, "wrong-type", ["/base"]),
    "others as text": ({"base": NOBODY, "others": NOBODY}, 422, "wrong-type", ["/others"]),
    "strict as text": ({"base": NOBODY, "others": [NOBODY], "strict": "yes"}, 422, "wrong-type", ["/strict"]),
    "another member": ({"base": NOBODY, "others": [NOBODY], "other": []}, 422, "unknown-member", ["/other"]),
    "too many": ({"base": NOBODY, "others": [NOBODY] * (MAX_COMPARED + 1)}, 413, "too-many-rows", []),
}
LINKS: dict[str, tuple[str, str, list[str]]] = {
    "nothing": ("", "missing", ["/query/base", "/query/others"]),
    "an empty id": (f"base={NOBODY}&others={NOBODY},", "out-of-range", ["/query/others"]),
    "strict as a number": (f"base={NOBODY}&others={NOBODY}&strict=1", "out-of-range", ["/query/strict"]),
    "another parameter": (f"base={NOBODY}&others={NOBODY}&other=1", "unknown-parameter", ["/query/other"]),
    "another format": (f"base={NOBODY}&others={NOBODY}&format=pdf", "out-of-range", ["/query/format"]),
}


def test_bad_questions_are_refused(client: Client) -> None:
    for question, status, code, pointers in REFUSED.values():
        body = problem(client.post(PATH, json=question), status, code)
        assert [each["pointer"] for each in body.get("errors", [])] == pointers  # type: ignore[attr-defined]
    for query, code, pointers in LINKS.values():
        body = problem(client.get(f"{PATH}?{query}"), 422, code)
        assert [each["pointer"] for each in body["errors"]] == pointers  # type: ignore[attr-defined]


def test_as_many_as_allowed_fit_into_a_link(client: Client) -> None:
    base = keep(client, BASE)
    made = client.post(PATH, json={"base": base, "others": [base] * MAX_COMPARED})
    assert len(made.json()["rows"]) == MAX_COMPARED
    assert client.get(made.json()["permalink"]).content == made.content
    many = client.get(f"{PATH}?base={base}&others={','.join([base] * (MAX_COMPARED + 1))}")
    problem(many, 413, "too-many-rows")


def test_a_chip_in_place_is_read_as_it_stood(client: Client) -> None:
    """What the catalogue knows has no part: the chips are those of the stored answers."""
    faster = {**CHIP, "hbm": {"bandwidth_bytes_per_s": 2e12}}
    base, other = keep(client, BASE), keep(client, {"op": MATMUL, "target": {"chip": faster}})
    (row,) = client.post(PATH, json={"base": base, "others": [other]}).json()["rows"]
    found = {each["cause"]: each["factor"] for each in row["factors"]}
    assert found["hbm_bandwidth_bytes_per_s"] == pytest.approx(21.47483648 / 34.603008)
    assert row["differs"] == [{"pointer": "/target/chip/hbm/bandwidth_bytes_per_s", "base": 1e12, "value": 2e12}]
