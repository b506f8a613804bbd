"""Number formats: width, scales they carry, arithmetic class, and what two of them make together."""

from __future__ import annotations

from itertools import product

import pytest

from service.engine.dtypes import ALIASES, CLASSES, DTYPES, arithmetic, promote, storage
from service.errors import InvalidInput

# name: (bits of an element, bits of a built-in scale, elements that share it, arithmetic class)
FORMATS = {
    "fp64": (64, 0, 0, "fp64"),
    "fp32": (32, 0, 0, "fp32"),
    "tf32": (32, 0, 0, "tf32"),
    "bf16": (16, 0, 0, "bf16"),
    "fp16": (16, 0, 0, "fp16"),
    "fp8_e4m3": (8, 0, 0, "fp8"),
    "fp8_e5m2": (8, 0, 0, "fp8"),
    "mxfp8": (8, 8, 32, "fp8"),
    "fp6": (6, 0, 0, "fp6"),
    "mxfp6": (6, 8, 32, "fp6"),
    "fp4": (4, 0, 0, "fp4"),
    "mxfp4": (4, 8, 32, "fp4"),
    "nvfp4": (4, 8, 16, "fp4"),
    "int32": (32, 0, 0, "int32"),
    "int8": (8, 0, 0, "int8"),
    "int4": (4, 0, 0, "int4"),
}

# What a product computes in. An integer beside a wider float takes the float, of two integers or two floats the wider wins.
PROMOTED = {
    ("int8", "bf16"): "bf16",
    ("int8", "fp16"): "fp16",
    ("int8", "fp32"): "fp32",
    ("int4", "bf16"): "bf16",
    ("int4", "fp8_e4m3"): "fp8",
    ("int4", "int8"): "int8",
    ("int8", "int32"): "int32",
    ("int32", "fp64"): "fp64",
    ("fp8_e4m3", "bf16"): "bf16",
    ("fp8_e4m3", "fp8_e5m2"): "fp8",
    ("mxfp4", "bf16"): "bf16",
    ("mxfp4", "nvfp4"): "fp4",
    ("mxfp8", "mxfp4"): "fp8",
    ("bf16", "fp32"): "fp32",
    ("bf16", "tf32"): "tf32",
    ("fp32", "fp64"): "fp64",
}

# Equal widths of different classes, and an integer wider than the float, have no agreed answer.
AMBIGUOUS = [
    ("bf16", "fp16"),
    ("fp32", "tf32"),
    ("fp32", "int32"),
    ("tf32", "int32"),
    ("int8", "fp8_e4m3"),
    ("int8", "fp8_e5m2"),
    ("int8", "mxfp8"),
    ("int4", "fp4"),
    ("int4", "mxfp4"),
    ("int4", "nvfp4"),
    ("int8", "fp6"),
    ("int8", "mxfp6"),
    ("int8", "fp4"),
    ("int8", "mxfp4"),
    ("int8", "nvfp4"),
    ("int32", "bf16"),
    ("int32", "fp16"),
    ("int32", "fp8_e4m3"),
    ("int32", "fp8_e5m2"),
    ("int32", "mxfp8"),
    ("int32", "fp6"),
    ("int32", "mxfp6"),
    ("int32", "fp4"),
    ("int32", "mxfp4"),
    ("int32", "nvfp4"),
]


def test_the_table_of_formats() -> None:
    """Widths and scales of OCP Microscaling Formats 1.0, table 1, and of NVIDIA's nvfp4; the others by their names."""
    assert {name: (each.bits, each.scale_bits, each.group, each.arithmetic) for name, each in DTYPES.items()} == FORMATS


def test_the_bytes_of_an_element_with_its_share_of_the_scale() -> None:
    """4 + 8/32 bit in mxfp4 and 4 + 8/16 in nvfp4 (OCP Microscaling 1.0; NVIDIA Blackwell)."""
    size = {name: (each.bits + each.scale_bits / (each.group or 1)) / 8 for name, each in DTYPES.items()}
    assert (size["mxfp8"], size["mxfp6"], size["mxfp4"], size["nvfp4"]) == (1.03125, 0.78125, 0.53125, 0.5625)


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_another_name_of_a_format(alias: str, name: str) -> None:
    assert storage(alias, "") is DTYPES[name]
    assert arithmetic(alias, "") == DTYPES[name].arithmetic


def test_the_aliases() -> None:
    assert ALIASES == {"fp8": "fp8_e4m3", "float8_e4m3fn": "fp8_e4m3", "bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def test_a_class_is_named_by_itself_or_by_a_format_of_it() -> None:
    assert {arithmetic(name, "") for name in CLASSES} == set(CLASSES)
    assert arithmetic("nvfp4", "") == "fp4"


def test_an_unknown_format_is_refused_with_names_that_resemble_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        storage("bfloat", "/dtype")
    (fault,) = refused.value.faults
    assert (fault.pointer, fault.code) == ("/dtype", "unknown-dtype")
    assert "bfloat16" in fault.suggestions


@pytest.mark.parametrize(("pair", "expected"), PROMOTED.items())
def test_a_product_computes_in_the_class_of_the_wider(pair: tuple[str, str], expected: str) -> None:
    x, y = (DTYPES[name] for name in pair)
    assert promote(x, y, "") == promote(y, x, "") == expected


@pytest.mark.parametrize("pair", AMBIGUOUS)
def test_a_pair_without_an_agreed_answer_is_refused(pair: tuple[str, str]) -> None:
    for x, y in (pair, pair[::-1]):
        with pytest.raises(InvalidInput) as refused:
            promote(DTYPES[x], DTYPES[y], "/compute_dtype")
        (fault,) = refused.value.faults
        assert (fault.pointer, fault.code) == ("/compute_dtype", "ambiguous-compute-dtype")
        assert set(fault.suggestions) == {DTYPES[x].arithmetic, DTYPES[y].arithmetic}


def test_no_other_pair_is_refused_and_the_wider_class_wins() -> None:
    refused = {frozenset(pair) for pair in AMBIGUOUS}
    for x, y in product(DTYPES.values(), repeat=2):
        if frozenset((x.name, y.name)) not in refused:
            wider = max(x, y, key=lambda each: each.bits)
            assert promote(x, y, "") == wider.arithmetic
