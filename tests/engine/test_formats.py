"""Defaults of formats: an operand's own, else dtype; out follows; the class is the promotion of the inputs."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.dtypes import DTYPES
from service.engine.formats import Scale, resolve, scaled
from service.errors import InvalidInput

from .asking import ask, term
from .chips import EVERYTHING

SHAPE: dict[str, Any] = {"m": 8, "k": 64, "n": 32}


def formats(**members: Any) -> dict[str, str | None]:
    held = term("matmul", **SHAPE, **members).__dict__
    return {name: held[name] for name in ("a_dtype", "b_dtype", "out_dtype", "compute_dtype")}


def refusal(**members: Any) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        ask("matmul", EVERYTHING, **SHAPE, **members)
    (fault,) = refused.value.faults
    return fault.pointer, fault.code


@pytest.mark.parametrize(
    ("asked", "a", "b", "out", "computed"),
    [
        ({"dtype": "bf16"}, "bf16", "bf16", "bf16", "bf16"),
        ({"dtype": "int8"}, "int8", "int8", "int8", "int8"),
        ({"dtype": "bf16", "b_dtype": "int8"}, "bf16", "int8", "bf16", "bf16"),
        ({"dtype": "bf16", "b_dtype": "nvfp4"}, "bf16", "nvfp4", "bf16", "bf16"),
        ({"dtype": "int8", "b_dtype": "int4"}, "int8", "int4", "int8", "int8"),
        ({"a_dtype": "int8", "b_dtype": "int8"}, "int8", "int8", "bf16", "int8"),
        ({"a_dtype": "fp8", "b_dtype": "fp8_e5m2"}, "fp8_e4m3", "fp8_e5m2", "bf16", "fp8"),
        ({"a_dtype": "fp32", "b_dtype": "int8"}, "fp32", "int8", "fp32", "fp32"),
        ({"dtype": "fp16", "out_dtype": "fp32"}, "fp16", "fp16", "fp32", "fp16"),
        ({"dtype": "bf16", "b_dtype": "fp16", "compute_dtype": "fp32"}, "bf16", "fp16", "bf16", "fp32"),
        ({"dtype": "fp8", "compute_dtype": "fp8_e5m2"}, "fp8_e4m3", "fp8_e4m3", "fp8_e4m3", "fp8"),
        ({"dtype": "bfloat16"}, "bf16", "bf16", "bf16", "bf16"),
    ],
)
def test_defaults_are_filled_in_this_order(asked: dict[str, str], a: str, b: str, out: str, computed: str) -> None:
    assert formats(**asked) == {"a_dtype": a, "b_dtype": b, "out_dtype": out, "compute_dtype": computed}


@pytest.mark.parametrize(
    ("asked", "pointer", "code"),
    [
        ({}, "/dtype", "missing"),
        ({"a_dtype": "bf16"}, "/dtype", "missing"),
        ({"b_dtype": "bf16", "out_dtype": "bf16"}, "/dtype", "missing"),
        ({"dtype": "bf17"}, "/dtype", "unknown-dtype"),
        ({"dtype": "bf16", "out_dtype": "half"}, "/out_dtype", "unknown-dtype"),
        ({"dtype": "bf16", "compute_dtype": "matrix"}, "/compute_dtype", "unknown-dtype"),
        ({"dtype": "bf16", "b_dtype": "fp16"}, "/compute_dtype", "ambiguous-compute-dtype"),
        ({"dtype": "int32"}, "/compute_dtype", "unsupported-dtype"),
        ({"dtype": "mxfp8", "b_scale": Scale("fp32", group_size=128)}, "/b_scale", "invalid-request"),
        ({"dtype": "int8", "b_scale": Scale("fp32", block=(128,))}, "/b_scale/block", "out-of-range"),
        ({"dtype": "int8", "a_scale": Scale("fp32", block=(1, 128, 128))}, "/a_scale/block", "out-of-range"),
        ({"dtype": "int8", "a_scale": Scale("mxfp8", group_size=128)}, "/a_scale/dtype", "invalid-request"),
        (
            {"dtype": "int8", "a_scale": Scale("fp16", group_size=128, zero_point_dtype="nvfp4")},
            "/a_scale/zero_point_dtype",
            "invalid-request",
        ),
    ],
)
def test_what_does_not_agree_is_refused_where_it_stands(asked: dict[str, Any], pointer: str, code: str) -> None:
    assert refusal(**asked) == (pointer, code)


def test_all_that_is_wrong_with_a_scale_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as error:
        scaled("b", DTYPES["mxfp8"], Scale("nvfp4", block=(128,), zero_point_dtype="mxfp4"), dims=2)
    assert [fault.pointer for fault in error.value.faults] == ["/b_scale", "/b_scale/dtype", "/b_scale/zero_point_dtype", "/b_scale/block"]


def test_three_inputs_promote_to_the_widest() -> None:
    found = resolve(dtype=None, inputs=(("a", "int4"), ("b", "int8"), ("c", "bf16")), out=None, compute=None).members
    assert found == {
        "dtype": None,
        "a_dtype": "int4",
        "b_dtype": "int8",
        "c_dtype": "bf16",
        "out_dtype": "bf16",
        "compute_dtype": "bf16",
    }
