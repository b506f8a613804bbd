"""Which unit runs an op, in which class; what a chip lacks is an error that names what it has."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.machine import Machine
from service.errors import InvalidInput

from .asking import ask, bounds
from .chips import H100, V5E, machine

P100 = machine(hbm=7.32e11, vector={"fp64": 4.7e12, "fp32": 9.3e12, "fp16": 18.7e12}, is_partial=False)
"""No matrix unit. Source: NVIDIA Tesla P100 data sheet, PCIe 16 GB."""

PRODUCT: dict[str, Any] = {"m": 64, "k": 4096, "n": 4096}


def placed(chip: Machine, kind: str = "matmul", **members: Any) -> tuple[str, str, float | None]:
    placement = ask(kind, chip, **(PRODUCT if kind == "matmul" else {"n": 1024}), **members).placement
    return placement.unit, placement.dtype, None if placement.peak is None else placement.peak.item()


def refusal(chip: Machine, kind: str = "matmul", **members: Any) -> tuple[str, str, tuple[str, ...]]:
    with pytest.raises(InvalidInput) as refused:
        ask(kind, chip, **(PRODUCT if kind == "matmul" else {"n": 1024}), **members)
    (fault,) = refused.value.faults
    return fault.pointer, fault.code, fault.suggestions


def test_a_product_runs_on_the_matrix_unit_at_the_peak_of_its_class() -> None:
    assert placed(V5E, dtype="bf16") == ("matrix", "bf16", 1.97e14)
    assert placed(V5E, dtype="int8") == ("matrix", "int8", 3.94e14)
    assert placed(V5E, dtype="bf16", b_dtype="int8") == ("matrix", "bf16", 1.97e14)
    assert placed(H100, dtype="mxfp8") == ("matrix", "fp8", 1.98e15)


def test_without_a_matrix_unit_products_run_on_the_vector_unit() -> None:
    assert placed(P100, dtype="fp16") == ("vector", "fp16", 18.7e12)
    assert placed(P100, dtype="fp64") == ("vector", "fp64", 4.7e12)
    assert placed(P100, dtype="bf16") == ("vector", "fp32", 9.3e12)


def test_a_vector_op_runs_in_its_class_or_else_in_fp32() -> None:
    assert placed(P100, "elementwise", dtype="fp16") == ("vector", "fp16", 18.7e12)
    assert placed(H100, "elementwise", dtype="bf16") == ("vector", "fp32", 33.5e12)
    assert placed(H100, "dot", dtype="fp8") == ("vector", "fp32", 33.5e12)


def test_a_class_that_is_asked_for_is_not_replaced() -> None:
    assert refusal(H100, "elementwise", dtype="bf16", compute_dtype="bf16") == ("/compute_dtype", "unsupported-dtype", ("fp32",))
    assert placed(H100, "elementwise", dtype="bf16", compute_dtype="fp32") == ("vector", "fp32", 33.5e12)


def test_a_class_that_the_matrix_unit_lacks_is_refused_with_those_it_has() -> None:
    """fp32 on an H100 runs on its vector unit or as tf32; neither is what was asked."""
    assert refusal(H100, dtype="fp32") == ("/compute_dtype", "unsupported-dtype", ("fp16", "bf16", "fp8"))


def test_int32_is_stored_by_a_product_and_not_multiplied() -> None:
    assert refusal(H100, dtype="int32")[:2] == ("/compute_dtype", "unsupported-dtype")
    assert refusal(P100, dtype="int32")[:2] == ("/compute_dtype", "unsupported-dtype")
    assert placed(V5E, dtype="int8", out_dtype="int32") == ("matrix", "int8", 3.94e14)


def test_a_chip_in_place_without_a_vector_peak_is_bound_by_its_memory() -> None:
    found = ask("elementwise", V5E, n=1024, dtype="bf16")
    assert (found.placement.unit, found.placement.peak, found.critical) == ("vector", None, None)
    assert (found.times.math.item(), bounds(found)) == (0, ["hbm"])
    assert found.lower.item() == found.upper.item() == 3 * 2 * 1024 / 8.2e11


def test_a_catalogue_chip_without_a_vector_peak_refuses_a_vector_op() -> None:
    assert refusal(machine({"bf16": 1e14}, 1e12, is_partial=False), "dot", dtype="bf16") == ("/compute_dtype", "unsupported-dtype", ())


def test_a_product_needs_a_peak_and_every_op_a_bandwidth() -> None:
    assert refusal(machine(hbm=1e12), dtype="bf16")[:2] == ("/target/chip/peak_flops_per_s", "missing")
    assert refusal(machine({"bf16": 1e14}), dtype="bf16")[:2] == ("/target/chip/hbm/bandwidth_bytes_per_s", "missing")


def test_a_product_in_place_may_run_on_a_vector_unit_alone() -> None:
    assert placed(machine(hbm=1e12, vector={"fp32": 1e13}), dtype="bf16") == ("vector", "fp32", 1e13)


def test_a_number_that_binds_changes_the_answer() -> None:
    """Twice the peak of the class that runs halves the time; the peaks of others change nothing."""
    shape: dict[str, Any] = {"m": 8192, "k": 8192, "n": 8192, "dtype": "bf16"}
    base = ask("matmul", V5E, **shape).lower.item()
    assert ask("matmul", machine({"bf16": 3.94e14, "int8": 3.94e14}, 8.2e11), **shape).lower.item() == base / 2
    assert ask("matmul", machine({"bf16": 1.97e14, "int8": 9e99}, 8.2e11), **shape).lower.item() == base
