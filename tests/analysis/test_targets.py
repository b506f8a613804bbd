"""Targets: catalogue chips, chips in place, and catalogue chips with numbers replaced; what their digests say."""

from __future__ import annotations

import copy

import pytest

from service.catalogue import Catalogue

from .asking import CHIP, MATMUL, Document, ask, refused, result


def digest(catalogue: Catalogue, chip: Document | str) -> str:
    found: str = ask(catalogue, op=MATMUL, chip=chip)["target_digest"]
    return found


def in_place(catalogue: Catalogue, name: str) -> Document:
    """The numbers of a catalogue chip as a caller would write them, in whole numbers where they must be."""
    numbers: Document = copy.deepcopy(dict(catalogue.chip(name).numbers()))
    for group, member in (
        (numbers["hbm"], "capacity_bytes"),
        (numbers.get("l2", {}), "capacity_bytes"),
        (numbers, "on_chip_bytes_per_core"),
    ):
        if member in group:
            group[member] = int(group[member])
    return numbers


@pytest.mark.parametrize("name", ["nvidia-h100-sxm", "google-tpu-v5e", "amd-mi300x", "nvidia-b200", "google-tpu-v5p"])
def test_equal_numbers_have_one_digest_and_one_result(catalogue: Catalogue, name: str) -> None:
    """On the same base: the base says which measured times speak of the chip, and what its numbers leave out."""
    written = {"base": catalogue.chip(name).ref, **in_place(catalogue, name)}
    there, here = ask(catalogue, op=MATMUL, chip=name), ask(catalogue, op=MATMUL, chip=written)
    assert there["target_digest"] == here["target_digest"]
    for found in (there, here):
        found["result"].pop("assumed")
    assert there["result"] == here["result"]


def test_the_same_numbers_by_themselves_are_another_target(catalogue: Catalogue) -> None:
    """Nothing was measured on them."""
    assert digest(catalogue, in_place(catalogue, "nvidia-h100-sxm")) != digest(catalogue, "nvidia-h100-sxm")


def test_a_base_without_changes_is_the_chip_itself(catalogue: Catalogue) -> None:
    assert digest(catalogue, {"base": "nvidia-h100-sxm"}) == digest(catalogue, "nvidia-h100-sxm")


def test_one_and_one_point_zero_are_the_same_number(catalogue: Catalogue) -> None:
    chip = copy.deepcopy(CHIP)
    chip["hbm"]["bandwidth_bytes_per_s"] = 2_000_000_000_000
    assert digest(catalogue, chip) == digest(catalogue, CHIP)


def test_any_other_number_is_another_digest(catalogue: Catalogue) -> None:
    changes: list[Document] = [
        {"hbm": {"bandwidth_bytes_per_s": 2.1e12}},
        {"peak_flops_per_s": {"bf16": 1e15}},
        {"vector_peak_flops_per_s": {"fp32": 5e13, "fp64": 1}},
        {"cores": 2},
        {"on_chip_bytes_per_core": 2},
        {"l2": {"capacity_bytes": 2}},
    ]
    digests = {digest(catalogue, CHIP), *(digest(catalogue, {**CHIP, **change}) for change in changes)}
    assert len(digests) == 1 + len(changes)


def test_replaced_numbers_replace_and_the_others_stay(catalogue: Catalogue) -> None:
    base = catalogue.chip("google-tpu-v5e").numbers()
    found = ask(catalogue, op=MATMUL, chip={"base": "google-tpu-v5e", "hbm": {"bandwidth_bytes_per_s": 8.2e11}})
    layers = found["result"]["layers"]
    assert layers["hbm"]["bandwidth_bytes_per_s"] == 8.2e11
    assert layers["compute"]["peak_flops_per_s"] == base["peak_flops_per_s"]["bf16"]
    assert found["target"]["chip"]["base"] == catalogue.chip("google-tpu-v5e").ref


def test_replacing_a_number_changes_nothing_in_the_catalogue(catalogue: Catalogue) -> None:
    before = copy.deepcopy(catalogue.chip("google-tpu-v5e").numbers())
    ask(catalogue, op=MATMUL, chip={"base": "google-tpu-v5e", "peak_flops_per_s": {"bf16": 1e15}, "hbm": {"bandwidth_bytes_per_s": 1e12}})
    assert catalogue.chip("google-tpu-v5e").numbers() == before


@pytest.mark.parametrize(
    ("chip", "pointer", "code"),
    [
        ("nvidia-h100", "/target/chip", "unknown-chip"),
        ("nvidia-h100-sxm@99", "/target/chip", "unknown-revision"),
        ({"base": "nvidia-h100"}, "/target/chip/base", "unknown-chip"),
        ({"base": "nvidia-h100-sxm@99"}, "/target/chip/base", "unknown-revision"),
        ({"hbm": {"bandwidth_bytes_per_s": 1e12}}, "/target/chip/peak_flops_per_s", "missing"),
        ({"peak_flops_per_s": {"bf16": 1e15}}, "/target/chip/hbm/bandwidth_bytes_per_s", "missing"),
        ({"peak_flops_per_s": {"int8": 1e15}, "hbm": {"bandwidth_bytes_per_s": 1e12}}, "/op/dtype", "unsupported-dtype"),
    ],
)
def test_what_is_not_there_is_refused(catalogue: Catalogue, chip: Document | str, pointer: str, code: str) -> None:
    (fault,) = refused(lambda: ask(catalogue, op=MATMUL, chip=chip))
    assert (fault.pointer, fault.code) == (pointer, code)
    if code == "unknown-chip":
        assert "nvidia-h100-sxm" in fault.suggestions


def test_a_class_that_a_chip_lacks_is_refused_where_it_was_asked(catalogue: Catalogue) -> None:
    """An A100 has no fp8: the fault stands at the member from which the class followed."""
    asked = [
        ({"dtype": "fp8"}, "/op/dtype"),
        ({"dtype": "bf16", "compute_dtype": "fp8"}, "/op/compute_dtype"),
        ({"a_dtype": "fp8", "b_dtype": "fp8"}, "/op/a_dtype"),
    ]
    for formats, pointer in asked:
        op = {"kind": "matmul", "m": 64, "k": 64, "n": 64, **formats}
        (fault,) = refused(lambda op=op: result(catalogue, op, chip="nvidia-a100-sxm-80gb"))  # type: ignore[misc]
        assert (fault.pointer, fault.code) == (pointer, "unsupported-dtype")
        assert "bf16" in fault.suggestions


def test_a_chip_without_a_matrix_unit_runs_products_on_its_vector_unit(catalogue: Catalogue) -> None:
    """NVIDIA P100: fp16 at twice the fp32 rate of its CUDA cores."""
    compute = result(catalogue, {**MATMUL, "dtype": "fp16"}, chip="nvidia-p100-pcie")["layers"]["compute"]
    assert (compute["unit"], compute["dtype"]) == ("vector", "fp16")


def test_peaks_are_dense(catalogue: Catalogue) -> None:
    """H100 SXM: 989.4 TFLOP/s of bf16, ridge 295; the sheet's 1979 is with structured sparsity."""
    layers = result(catalogue, MATMUL, chip="nvidia-h100-sxm")["layers"]
    assert layers["compute"]["peak_flops_per_s"] == pytest.approx(989.4e12, rel=2e-3)
    assert layers["hbm"]["critical_intensity_flops_per_byte"] == pytest.approx(295.3, rel=5e-3)
