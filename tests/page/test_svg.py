"""The picture of a chart: well-formed, complete, the same every time, and nothing in it from elsewhere."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from service.analysis import charts
from service.catalogue import load
from service.page.chart import chart
from service.page.svg import svg
from service.schemas.charts import ChartQuestion
from service.schemas.reading import validate

SVG = "{http://www.w3.org/2000/svg}"
MATMUL: dict[str, Any] = {"kind": "matmul", "k": 8192, "n": 8192, "dtype": "bf16"}
SHAPES = {"svg", "title", "rect", "text", "line", "polyline", "circle", "path"}
HOSTILE = '<script>alert("1")</script>&\'"'


def document(*cases: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(charts.of_questions(validate(ChartQuestion, {"cases": list(cases)}), load(), {}))
    return found


def case(m: int, chip: Any = "nvidia-h100-sxm", **more: Any) -> dict[str, Any]:
    return {"op": {**MATMUL, "m": m}, "target": {"chip": chip}, **more}


def texts(picture: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - our own text


def test_roof_ridge_points_and_legend_are_in_it() -> None:
    shown = texts(svg(chart(document(case(16), case(4096, measured_s=1e-3)))))
    assert shown[0] == "Roofline of nvidia-h100-sxm@1 bf16 (matrix)"
    assert {"arithmetic intensity [FLOP/B]", "attainable rate [FLOP/s]", "1,000", "100 T", "ridge 295.3 FLOP/B", "1 matmul"} <= set(shown)
    assert shown[-5:] == [
        "nvidia-h100-sxm@1 bf16 (matrix): 989.4 TFLOP/s, 3.35 TB/s, ridge at 295.3 FLOP/B",
        "nvidia-h100-sxm@1 bf16 (matrix) L2: 989.4 TFLOP/s, 9.7 TB/s, ridge at 102 FLOP/B",
        "nvidia-h100-sxm@1 bf16 (matrix) on-chip: 989.4 TFLOP/s, 33.45 TB/s, ridge at 29.57 FLOP/B",
        "1 matmul: 15.94 FLOP/B, at most 53.39 TFLOP/s, limited by hbm",
        "2 matmul: 2,048 FLOP/B, at most 989.4 TFLOP/s, limited by compute, measured 549.8 TFLOP/s",
    ]


def test_a_roof_bends_where_its_ridge_is_marked() -> None:
    picture = ET.fromstring(svg(chart(document(case(16)))))  # noqa: S314 - our own text
    start, bend, end = (tuple(map(float, place.split(","))) for place in picture.find(f"{SVG}polyline").get("points", "").split())  # type: ignore[union-attr]
    ridge = picture.find(f"{SVG}circle")
    assert ridge is not None
    assert (float(ridge.get("cx", "")), float(ridge.get("cy", ""))) == bend
    assert start[0] < bend[0] < end[0]
    assert start[1] > bend[1] == end[1]


def test_the_same_chart_is_the_same_picture() -> None:
    assert svg(chart(document(case(16)))) == svg(chart(document(case(16))))


def test_all_names_in_it_are_escaped() -> None:
    found = json.loads(json.dumps(document(case(16))).replace("matmul", "KIND").replace("nvidia-h100-sxm@1 bf16 (matrix)", "LABEL"))
    for each in (*found["ceilings"], *found["ridges"], *found["series"]):
        each["label"] = HOSTILE
    found["points"][0].update(kind=HOSTILE, roof=HOSTILE)
    picture = svg(chart(found))
    assert "<script" not in picture
    assert f"Roofline of {HOSTILE}" in texts(picture)


@pytest.mark.parametrize("count", [1, 100])
def test_it_holds_nothing_but_shapes_and_text_however_many(count: int) -> None:
    chips = [{"peak_flops_per_s": {"bf16": 1e14 + at}, "hbm": {"bandwidth_bytes_per_s": 1e12}} for at in range(count)]
    picture = svg(chart(document(*(case(16 + at, chip, measured_s=1e-3) for at, chip in enumerate(chips)))))
    elements = list(ET.fromstring(picture).iter())  # noqa: S314 - our own text
    assert {each.tag.removeprefix(SVG) for each in elements} == SHAPES
    assert not [name for each in elements for name in each.attrib if name.startswith("on") or "href" in name or name == "style"]
    assert re.findall(r"\w+://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in picture
    height = float(elements[0].get("height", ""))
    assert all(0 < float(each.get("y", "")) < height for each in elements if each.tag == f"{SVG}text")


def test_an_op_without_operations_is_named_and_not_drawn() -> None:
    copy = {"op": {"kind": "copy", "rows": 4, "cols": 8, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}
    shown = texts(svg(chart(document(copy))))
    assert shown[0] == "0 rooflines"
    assert shown[-1] == "1 copy: 0 FLOP/B, at most 0 FLOP/s, limited by hbm; not drawn, as logarithmic axes have no zero"
