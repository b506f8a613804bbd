"""The five steps: in their order, each with its formula, and numbers that give the value when a reader computes them."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.catalogue import Catalogue
from service.engine.ops import OPS

from ..engine.drawing import questions
from .asking import ANY_CLASS, CHIP, MATMUL, Document, as_json, result

KINDS = pytest.mark.parametrize("kind", sorted(OPS))
STEPS = ["flops", "bytes", "intensity", "where", "overlap"]
TILED = [
    "waves = ⌈tiles·split / cores⌉",
    "t_math of tiles = t_math / (padding efficiency·wave efficiency)",
    "bytes of tiles = bytes + what is read again",
    "t_hbm of tiles = bytes of tiles / HBM bandwidth",
]
"""What the tiles of a kernel add to the step `where`."""


SYMBOLS = str.maketrans({"·": "*", "−": "-", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")"})


def computed(numbers: str) -> float:
    """A line of numbers as a reader computes it."""
    text = numbers.replace(" bit", "").translate(SYMBOLS)
    value: float = eval(text, {"__builtins__": {}, "ceil": math.ceil, "floor": math.floor, "max": max, "min": min})  # noqa: S307 - our own text
    return value


def entries(explained: Document) -> list[Document]:
    return [entry for step in STEPS for entry in explained[step]]


@KINDS
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), overlap=st.sampled_from([0.0, 0.25, 1.0]))
def test_the_numbers_give_the_value(kind: str, catalogue: Catalogue, data: st.DataObject, overlap: float) -> None:
    op = as_json(kind, data.draw(questions(kind)))
    explained = result(catalogue, op, chip=ANY_CLASS, explain=True, overlap=overlap)["explain"]
    assert list(explained) == STEPS
    for entry in entries(explained):
        assert set(entry) == {"formula", "numbers", "value", "unit", "source"}
        assert entry["unit"] in {"FLOP", "B", "FLOP/B", "s", "waves"}
        assert entry["source"]
        if "scales" not in entry["numbers"]:  # scales are named there and not spelt out
            assert computed(entry["numbers"]) == pytest.approx(entry["value"], rel=4e-15)  # a dozen factors, each rounded


@KINDS
def test_the_values_are_those_of_the_answer(kind: str, catalogue: Catalogue) -> None:
    found = result(catalogue, {"kind": kind, **OPS[kind].example}, chip=ANY_CLASS, explain=True, overlap=0.5)
    values = {entry["formula"].split(" = ")[0]: entry["value"] for entry in entries(found["explain"])}
    layers, time = found["layers"], found["time"]
    parts = {f"bytes of {name}": moved for name, moved in found["bytes"].items() if name != "total"}
    peak = {"I_crit": layers["hbm"]["critical_intensity_flops_per_byte"], "t_math": layers["compute"]["time_s"]}
    tile = layers["tile"]
    names = {"waves": "waves", "t_math of tiles": "compute_time_s", "bytes of tiles": "hbm_bytes", "t_hbm of tiles": "hbm_time_s"}
    tiled = {} if tile is None else {formula: tile[member] for formula, member in names.items()}
    assert values == {
        **parts,
        **(peak if found["flops"] else {}),
        **tiled,
        "flops": found["flops"],
        "bytes": found["bytes"]["total"],
        "I": found["intensity_flops_per_byte"],
        "t_hbm": layers["hbm"]["time_s"],
        "lower": time["lower_s"],
        "upper": time["upper_s"],
        "overlapped": time["overlapped_s"],
    }


def test_a_matmul_explained(catalogue: Catalogue) -> None:
    explained = result(catalogue, MATMUL, explain=True)["explain"]
    (flops,) = explained["flops"]
    assert flops == {
        "formula": "flops = 2·batch·m·k·n",
        "numbers": "2·1·512·8192·28672",
        "value": 240_518_168_576,
        "unit": "FLOP",
        "source": "How to Scale Your Model, All About Rooflines: matrix multiplication",
    }
    assert [(entry["formula"], entry["numbers"]) for entry in explained["bytes"]] == [
        ("bytes of a = ⌈batch·m·k·16 bit / 8⌉", "⌈1·512·8192·16 bit / 8⌉"),
        ("bytes of b = ⌈batch·k·n·16 bit / 8⌉", "⌈1·8192·28672·16 bit / 8⌉"),
        ("bytes of out = ⌈batch·m·n·16 bit / 8⌉", "⌈1·512·28672·16 bit / 8⌉"),
        ("bytes = a + b + out", "8388608 + 469762048 + 29360128"),
    ]
    assert [entry["formula"] for entry in explained["where"]] == [
        "t_math = flops / peak of the matrix unit in bf16",
        "t_hbm = bytes / HBM bandwidth",
        *TILED,
    ]


def test_scales_are_named_with_their_shape(catalogue: Catalogue) -> None:
    op = {**MATMUL, "b_dtype": "int4", "b_scale": {"group_size": 128, "dtype": "fp16", "zero_point_dtype": "int4"}}
    steps = result(catalogue, op, explain=True)["explain"]["bytes"]
    assert steps[1]["formula"].endswith("+ scales of 16 bit and zero points of 4 bit per 128 along the contraction")
    steps = result(catalogue, {**MATMUL, "b_dtype": "mxfp4"}, explain=True)["explain"]["bytes"]
    assert steps[1]["formula"].endswith("+ scales of 8 bit per 32 along the contraction")
    block = {"block": [128, 64], "dtype": "fp32"}
    steps = result(catalogue, {**MATMUL, "b_dtype": "int8", "b_scale": block}, explain=True)["explain"]["bytes"]
    assert steps[1]["formula"].endswith("+ scales of 32 bit per block of 128 x 64")


def test_numbers_of_a_chip_in_place_are_said_to_be_the_callers(catalogue: Catalogue) -> None:
    explained = result(catalogue, MATMUL, chip=CHIP, explain=True)["explain"]
    assert {entry["source"] for entry in explained["where"] if entry["formula"] not in TILED} == {"given in the request"}


@pytest.mark.parametrize("op", [MATMUL, {"kind": "elementwise", "n": 1000, "dtype": "fp32"}])
def test_numbers_of_the_catalogue_are_cited(catalogue: Catalogue, op: Document) -> None:
    chip = catalogue.chip("nvidia-h100-sxm")
    explained = result(catalogue, op, chip=chip.ref, explain=True)["explain"]
    for entry in [each for each in explained["where"] if each["formula"] not in TILED]:
        assert entry["source"].startswith(f"catalogue {chip.ref}: ")
        assert re.search(r"\(.+\)$", entry["source"]), "a publisher is named"


def test_of_columns_the_first_row_is_explained(catalogue: Catalogue) -> None:
    rows: Any = {**MATMUL, "m": [512, 7], "n": [28_672, 9]}
    assert result(catalogue, rows, explain=True)["explain"] == result(catalogue, MATMUL, explain=True)["explain"]


def test_without_a_peak_nothing_is_divided_by_it(catalogue: Catalogue) -> None:
    chip = {"hbm": {"bandwidth_bytes_per_s": 1e12}}
    explained = result(catalogue, {"kind": "elementwise", "n": 1000, "dtype": "fp32"}, chip=chip, explain=True)["explain"]
    assert [entry["formula"] for step in ("intensity", "where") for entry in explained[step]] == [
        "I = flops / bytes",
        "t_hbm = bytes / HBM bandwidth",
    ]
