"""Charts: roofs as the textbook draws them, and every point under its own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pytest

from service.analysis.charts import of_catalogue, of_questions
from service.analysis.evaluate import answer
from service.catalogue import Catalogue
from service.errors import OverLimit
from service.schemas.charts import ChartQuestion
from service.schemas.evaluate import Question
from service.schemas.limits import MAX_CASES, MAX_POINTS
from service.schemas.reading import validate

from .asking import CHIP, MATMUL, Document, refused

V5E: Document = {"peak_flops_per_s": {"bf16": 1.97e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
COPY: Document = {"kind": "copy", "rows": 8, "cols": 8, "dtype": "bf16"}


def chart(catalogue: Catalogue, *cases: Document, stored: dict[str, str] | None = None, **question: Any) -> Document:
    asked = validate(ChartQuestion, {"cases": list(cases), "analyses": list(stored or {}), **question})
    found: Document = orjson.loads(of_questions(asked, catalogue, stored or {}))
    return found


def case(op: Document, chip: Document | str = V5E, **members: Any) -> Document:
    return {"op": op, "target": {"chip": chip}, **members}


def roof(series: Document, x: float) -> float:
    """The height of a drawn roof at an intensity, read off between its points; both axes are logarithmic."""
    at = max(index for index, each in enumerate(series["x"]) if each <= x)
    (x0, x1), (y0, y1) = series["x"][at : at + 2], series["y"][at : at + 2]
    height: float = y0 * (x / x0) if y1 > y0 * (1 + 1e-12) and y1 / y0 == pytest.approx(x1 / x0) else y0
    return height


def test_the_roof_of_the_textbook(catalogue: Catalogue) -> None:
    """TPU v5e: 4.1e13 FLOP/s at 50 FLOP/B, 1.64e14 at 200, and the peak of 1.97e14 at 500. How To Scale Your Model, ch. 1."""
    found = chart(catalogue, case(MATMUL), points=2048)
    (series,) = found["series"]
    assert [roof(series, x) for x in (50, 200, 500)] == pytest.approx([4.1e13, 1.64e14, 1.97e14], rel=1e-12)
    assert found["ridges"] == [{"path": "hbm", "label": series["label"], "x": 1.97e14 / 8.2e11, "y": 1.97e14}]


@pytest.mark.parametrize("intensity", [50, 200, 500])
def test_points_lie_on_the_roof_of_the_textbook(catalogue: Catalogue, intensity: int) -> None:
    """An elementwise op with so many operations per element of two bytes read and two written has the intensity asked for."""
    chip = {"vector_peak_flops_per_s": {"bf16": 1.97e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
    op = {"kind": "elementwise", "n": 1000, "inputs": 1, "flops_per_element": 4 * intensity, "dtype": "bf16"}
    (point,) = chart(catalogue, case(op, chip))["points"]
    assert (point["x"], point["y"]) == (intensity, pytest.approx(min(1.97e14, 8.2e11 * intensity), rel=1e-15))


@pytest.mark.parametrize("points", [2, 3, 64, MAX_POINTS])
def test_a_series_is_log_spaced_and_on_the_roof(catalogue: Catalogue, points: int) -> None:
    found = orjson.loads(of_catalogue("nvidia-h100-sxm", "bf16", points, catalogue))
    series, (bandwidth, peak, *_) = found["series"][0], [each["value"] for each in found["ceilings"]]
    assert len(series["x"]) == len(series["y"]) == points
    assert series["y"] == pytest.approx([min(peak, bandwidth * x) for x in series["x"]], rel=1e-15)
    steps = [following / x for x, following in pairwise(series["x"])]
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-9)
    assert series["x"][0] < found["ridges"][0]["x"] < series["x"][-1]
    assert [each["kind"] for each in found["ceilings"]] == ["bandwidth", "peak", "bandwidth", "bandwidth"]


def test_each_memory_with_a_known_bandwidth_has_a_roof(catalogue: Catalogue) -> None:
    """H100: 9.7 TB/s were measured of its L2; its 132 SMs read 32 banks of 4 B at 1.98 GHz each, 33.5 TB/s together."""
    found = orjson.loads(of_catalogue("nvidia-h100-sxm", "bf16", 8, catalogue))
    paths = ["hbm", "l2", "on_chip"]
    assert [each["path"] for each in found["series"]] == [each["path"] for each in found["ridges"]] == paths
    bandwidths = {each["path"]: each["value"] for each in found["ceilings"] if each["kind"] == "bandwidth"}
    assert bandwidths == {"hbm": 3.35e12, "l2": 9.7e12, "on_chip": 132 * 253.44e9}
    assert [each["y"][-1] for each in found["series"]] == [9.894e14] * 3
    assert [ridge["x"] * bandwidths[ridge["path"]] for ridge in found["ridges"]] == pytest.approx([9.894e14] * 3)


def test_roofs_of_a_changed_chip_follow_its_numbers(catalogue: Catalogue) -> None:
    changed = {"base": "nvidia-h100-sxm", "cores": 66, "l2": {"bandwidth_bytes_per_s": 5e12}}
    in_place = {**CHIP, "l2": {"bandwidth_bytes_per_s": 5e12}}
    for chip, bandwidths in ((changed, [5e12, 66 * 253.44e9]), (in_place, [5e12])):
        nearer = [each["value"] for each in chart(catalogue, case(MATMUL, chip))["ceilings"] if each["path"] not in {"hbm", "compute"}]
        assert nearer == bandwidths


def test_a_point_has_the_place_that_its_tiles_leave_it(catalogue: Catalogue) -> None:
    """16 tiles of 128 x 128, each of which reads 1024 steps of two panels and writes 128 x 128 elements; 2 TB/s are the limit."""
    op = {**MATMUL, "m": 512, "n": 512, "k": 65_536}
    moved = 2 * 16 * (1024 * 2 * 128 * 64 + 128 * 128)
    chip = {**CHIP, "cores": 100}
    (point,) = chart(catalogue, case(op, chip, options={"tile": {"m": 128, "n": 128, "k": 64}}))["points"]
    assert point["tile"] == {"x": 2 * 512 * 512 * 65_536 / moved, "y": pytest.approx(2e12 * 2 * 512 * 512 * 65_536 / moved, rel=1e-12)}
    (plain,) = chart(catalogue, case(op, chip, options={"tile": "none"}))["points"]
    assert plain["tile"] is None


def test_every_chip_has_a_chart_for_every_class_that_it_has(catalogue: Catalogue) -> None:
    for chip in catalogue.chips:
        numbers = chip.numbers()
        if "bandwidth_bytes_per_s" not in numbers.get("hbm", {}):
            continue
        matrix: Document = dict(numbers.get("peak_flops_per_s", {}))
        vector: Document = dict(numbers.get("vector_peak_flops_per_s", {}))
        for dtype in {**vector, **matrix}:
            found = orjson.loads(of_catalogue(chip.id, dtype, 2, catalogue))
            assert (found["chip"], found["dtype"], found["points"]) == (chip.ref, dtype, [])
            assert found["ridges"][0]["y"] == matrix.get(dtype, vector.get(dtype))


def test_storage_formats_stand_for_their_class(catalogue: Catalogue) -> None:
    assert of_catalogue("nvidia-h100-sxm", "float8_e4m3fn", 8, catalogue) == of_catalogue("nvidia-h100-sxm@1", "fp8", 8, catalogue)


@pytest.mark.parametrize(
    ("chip", "dtype", "pointer", "code"),
    [
        ("nvidia-h1000", "bf16", "/query/chip", "unknown-chip"),
        ("nvidia-h100-sxm@99", "bf16", "/query/chip", "unknown-revision"),
        ("nvidia-h100-sxm", "bf17", "/query/dtype", "unknown-dtype"),
        ("nvidia-v100-sxm2", "fp4", "/query/dtype", "unsupported-dtype"),
    ],
)
def test_charts_that_are_refused(catalogue: Catalogue, chip: str, dtype: str, pointer: str, code: str) -> None:
    faults = refused(lambda: of_catalogue(chip, dtype, 8, catalogue))
    assert [(fault.pointer, fault.code) for fault in faults] == [(pointer, code)]
    assert faults[0].suggestions


def test_every_point_is_under_the_roof_that_it_names(catalogue: Catalogue) -> None:
    softmax = {"kind": "softmax", "rows": 64, "cols": 512, "dtype": "bf16"}
    ops = [{**MATMUL, "m": 1}, MATMUL, {**MATMUL, "m": 10_000}, {**MATMUL, "dtype": "int8"}, softmax]
    found = chart(catalogue, *(case(op, CHIP) for op in ops), case(MATMUL, "nvidia-h100-sxm"))
    roofs = {each["label"]: each for each in found["ridges"]}
    assert (
        [each["label"] for each in found["series"]]
        == list(roofs)
        == [
            "chip in place bf16 (matrix)",
            "chip in place int8 (matrix)",
            "chip in place fp32 (vector)",
            "nvidia-h100-sxm@1 bf16 (matrix)",
            "nvidia-h100-sxm@1 bf16 (matrix) L2",
            "nvidia-h100-sxm@1 bf16 (matrix) on-chip",
        ]
    )
    for at, point in enumerate(found["points"]):
        ridge = roofs[point["roof"]]
        assert point["case"] == at
        assert point["y"] == pytest.approx(ridge["y"] * min(1, point["x"] / ridge["x"]), rel=1e-12)
        assert point["bound"] == ("compute" if point["x"] > ridge["x"] else "hbm")


def test_a_measured_point_stands_below_its_attainable_rate(catalogue: Catalogue) -> None:
    (plain,) = chart(catalogue, case(MATMUL))["points"]
    (timed,) = chart(catalogue, case(MATMUL, measured_s=1e-2))["points"]
    assert plain["measured_flops_per_s"] is None
    assert timed["measured_flops_per_s"] == 2 * 512 * 8192 * 28_672 / 1e-2 < timed["y"]


def test_an_op_without_a_peak_stands_under_no_roof(catalogue: Catalogue) -> None:
    found = chart(catalogue, case(COPY))
    assert (found["chip"], found["dtype"], found["series"], found["ceilings"]) == (None, None, [], [])
    (point,) = found["points"]
    assert (point["roof"], point["x"], point["y"], point["bound"]) == (None, 0, 0, "hbm")


def stored(catalogue: Catalogue, **question: Any) -> str:
    return answer(validate(Question, question), catalogue).text.decode()


def test_saved_answers_are_drawn_as_their_questions_are(catalogue: Catalogue) -> None:
    target = {"chip": "nvidia-h100-sxm"}
    one = stored(catalogue, op=MATMUL, target=target, measured_s=0.5)
    many = stored(catalogue, ops=[MATMUL, COPY], target=target)
    found = chart(catalogue, case(MATMUL, "nvidia-h100-sxm", measured_s=0.5), stored={"a1": one, "a2": many})
    asked, saved, first, second = found["points"]
    assert {**asked, "analysis": "a1"} == {"case": 0, **saved}
    assert [(each["analysis"], each["op"], each["kind"]) for each in (first, second)] == [("a2", 0, "matmul"), ("a2", 1, "copy")]
    assert [each["path"] for each in found["series"]] == ["hbm", "l2", "on_chip"]


def test_faults_of_cases_and_ids_are_reported_together(catalogue: Catalogue) -> None:
    asked = validate(ChartQuestion, {"cases": [case(MATMUL), case({**MATMUL, "dtype": "fp64"})], "analyses": ["a1", "nothing"]})
    known = {"a1": stored(catalogue, op=MATMUL, target={"chip": CHIP})}
    assert [(fault.pointer, fault.code) for fault in refused(lambda: of_questions(asked, catalogue, known))] == [
        ("/cases/1/op/dtype", "unsupported-dtype"),
        ("/analyses/1", "unknown-analysis"),
    ]


def test_charts_have_limits(catalogue: Catalogue) -> None:
    with pytest.raises(OverLimit, match=str(MAX_POINTS)):
        of_catalogue("nvidia-h100-sxm", "bf16", MAX_POINTS + 1, catalogue)
    with pytest.raises(OverLimit, match=str(MAX_POINTS)):
        chart(catalogue, case(MATMUL), points=MAX_POINTS + 1)
    assert len(chart(catalogue, *[case(MATMUL)] * MAX_CASES)["points"]) == MAX_CASES
    with pytest.raises(OverLimit, match=str(MAX_CASES)):
        chart(catalogue, *[case(MATMUL)] * (MAX_CASES + 1))


@pytest.mark.parametrize(
    ("question", "pointer"), [({}, "/cases"), ({"cases": [{"op": MATMUL}]}, "/cases/0/target")], ids=["nothing", "no target"]
)
def test_a_chart_needs_something_to_draw(question: Document, pointer: str) -> None:
    assert [(fault.pointer, fault.code) for fault in refused(lambda: validate(ChartQuestion, question))] == [(pointer, "missing")]
