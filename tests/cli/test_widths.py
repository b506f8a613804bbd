"""Every page at the widths that terminals have: nothing is wider, and no id and no number is broken over two lines."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from service.catalogue import load
from service.cli.blocks import paragraph, table
from service.cli.words import wrapped
from service.engine.ops import OPS

from .program import on_terminal, plain

MATMUL = {"kind": "matmul", "m": 64, "k": 8192, "n": 28672, "dtype": "bf16"}
H100 = {"chip": "nvidia-h100-sxm"}
QUESTION = {"op": MATMUL, "target": H100}
CASES = {
    "cases": [
        QUESTION,
        {"op": {**MATMUL, "b_dtype": "int8"}, "target": {"chip": "nvidia-rtx-pro-6000-blackwell"}, "measured_s": 1e-3},
        {"op": {"kind": "dot", "n": 1000, "dtype": "fp32"}, "target": H100},
    ]
}
EVERY_CHIP = {"cases": [QUESTION], "chips": "all"}
CONVOLUTION = {
    "op": {
        "kind": "conv3d",
        "in_channels": 64,
        "out_channels": 128,
        "depth": 8,
        "height": 56,
        "width": 56,
        "kernel_depth": 3,
        "kernel_height": 3,
        "kernel_width": 3,
        "dtype": "bf16",
    },
    "target": H100,
}

PAGES: list[tuple[tuple[str, ...], object]] = [
    (("chips",), None),
    (("chips", "nvidia-h100-sxm"), None),
    (("chips", "google-tpu-v5e"), None),
    (("clusters",), None),
    (("clusters", "hgx-h100-8"), None),
    (("ops",), None),
    (("ops", "conv3d"), None),
    (("compare",), CASES),
    (("compare",), EVERY_CHIP),
    (("chart",), CASES),
    (("evaluate",), QUESTION),
    (("evaluate",), CONVOLUTION),
]


def shown(columns: int, arguments: tuple[str, ...], question: object = None) -> str:
    ended = on_terminal(*arguments, stdin=None if question is None else json.dumps(question).encode(), columns=columns)
    assert ended.status == 0
    return plain(ended)


@pytest.mark.parametrize(("arguments", "question"), PAGES)
def test_no_line_is_wider_than_a_narrow_terminal(arguments: tuple[str, ...], question: object) -> None:
    assert [line for line in shown(60, arguments, question).splitlines() if len(line) > 60] == []


def test_chips_have_a_line_each_in_eighty_columns() -> None:
    lines = shown(80, ("chips",)).splitlines()
    assert lines[0] == "  chip                           memory bandwidth    bf16     fp8    int8 ridge"
    assert "  nvidia-h100-sxm                85.9 G    3.35 T 989.4 T 1.979 P 1.979 P 295.3" in lines
    assert [line.split()[0] for line in lines[1:-2]] == [chip.id for chip in load().chips]


CHIPS_60 = """\
  chip
     memory  bandwidth     bf16      fp8     int8  ridge
  nvidia-h100-sxm
     85.9 G     3.35 T  989.4 T  1.979 P  1.979 P  295.3
  nvidia-h200-sxm
    151.4 G      4.8 T  989.4 T  1.979 P  1.979 P  206.1
  nvidia-h800-sxm
     85.9 G     3.35 T  989.4 T  1.979 P  1.979 P  295.3
  Memory in B, bandwidth in B/s, dense peaks of the matrix
  unit in FLOP/s, the ridge of bf16 in FLOP/B. `roofline
  chips ID` shows all values and sources.
"""
CHIP_80 = """\
Values  as the sources print them
  value
    stated           confidence  sources  remark
  tdp_watts
    700 W            high        1
  peak_flops_per_s.fp64
    66.9 TFLOP/s     high        2 3      at the boost clock of 1.98 GHz; the
                                          data sheet rounds to 67
  peak_flops_per_s.tf32
"""
CHIP_60 = """\
Values  as the sources print them
  tdp_watts
    stated: 700 W; confidence: high; sources: 1
  peak_flops_per_s.fp64
    stated: 66.9 TFLOP/s; confidence: high; sources: 2 3;
    remark: at the boost clock of 1.98 GHz; the data sheet
    rounds to 67
  peak_flops_per_s.tf32
"""
CLUSTERS_80 = """\
  system
    chip                  chips  axes from the innermost
  dgx-a100-8
    nvidia-a100-sxm-80gb  8      gpu 8 switch 300 GB/s
                                 node switch 25 GB/s
"""
COMPARE_80 = """\
      on
      formats      at least   bound    bytes FLOP/B critical turns at m    time
  1   nvidia-h100-sxm@1
      bf16         141.6 µs     hbm 474.5 MB  63.36    295.3      309.7      1×
  2   amd-epyc-9654@1
      bf16 in fp32 4.079 ms compute 474.5 MB  63.36    15.99      16.03   28.8×
"""
COMPARE_60 = """\
64 cases of matmul
  1   nvidia-h100-sxm@1
      formats: bf16; at least: 141.6 µs; bound: hbm; bytes:
      474.5 MB; FLOP/B: 63.36; critical: 295.3; turns at m:
      309.7; time: 1×
"""


@pytest.mark.parametrize(
    ("columns", "arguments", "question", "part"),
    [
        (60, ("chips", "--text", "H100 SXM"), None, CHIPS_60),
        (80, ("chips", "nvidia-h100-sxm"), None, CHIP_80),
        (60, ("chips", "nvidia-h100-sxm"), None, CHIP_60),
        (80, ("clusters",), None, CLUSTERS_80),
        (80, ("compare",), EVERY_CHIP, COMPARE_80),
        (60, ("compare",), EVERY_CHIP, COMPARE_60),
    ],
)
def test_a_name_stands_above_what_does_not_fit_beside_it(columns: int, arguments: tuple[str, ...], question: object, part: str) -> None:
    assert part in shown(columns, arguments, question)


@pytest.mark.parametrize("width", range(24, 120, 7))
def test_no_cell_is_broken_where_it_need_not_be(width: int) -> None:
    """Whatever the form: every word of every cell is there whole, in its order, up to the narrowest terminals."""
    rows = [("1", "nvidia-h100-sxm@1", "3.35 TB/s", "as printed"), ("2", "a-b@1", "–", "")]
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    console.print(table(["", "on", "rate", "remark"], rows, left=2, names=2, prose=("remark",)))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert all(len(line) <= width for line in text.splitlines())
    assert re.findall(r"nvidia-h100-sxm@1|3\.35 TB/s|as printed|a-b@1|–", " ".join(text.split())) == [
        "nvidia-h100-sxm@1",
        "3.35 TB/s",
        "as printed",
        "a-b@1",
        "–",
    ]


def test_words_wrap_between_words_and_at_the_seams_of_long_ones() -> None:
    assert wrapped("    as it\nis", 80) == ["    as it", "is"]
    assert wrapped("    one two three", 12) == ["    one two", "    three"]
    assert wrapped("see https://example.org/a/long/address", 16) == ["see", "https://example.", "org/a/long/", "address"]
    assert wrapped("abcdefgh", 3) == ["abc", "def", "gh"]


@pytest.mark.parametrize("kind", OPS)
def test_the_words_of_an_op_are_all_on_its_page(kind: str) -> None:
    """Lines are joined again; the description, which has formulas of any length, is there to the letter."""
    description = OPS[kind].__doc__ or ""
    console = Console(width=60, file=io.StringIO(), legacy_windows=False)
    console.print(paragraph(description))
    assert isinstance(console.file, io.StringIO)
    assert "".join(console.file.getvalue().split()) == "".join(description.split())
