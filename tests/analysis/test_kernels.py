"""Estimates of what computes: never below the roofline, a row alone as among others, and what they stand on."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.expected import BORROWED
from service.catalogue import Catalogue
from service.engine.ops import OPS
from service.errors import InvalidInput

from ..engine.drawing import questions, questions_in_columns, with_numbers
from .asking import CHIP, MATMUL, Document, as_json, ask, refused, result

H100, TPU = "nvidia-h100-sxm", "google-tpu-v5e"
TIMED = (
    H100, "nvidia-a100-sxm-80gb", "nvidia-a40", "nvidia-b200", "nvidia-b300", "nvidia-gb200", "nvidia-gb300",
    "nvidia-rtx-pro-6000-blackwell", "intel-arc-pro-b60",
)  # fmt: skip
"""Chips of which kernels were measured."""
KINDS = pytest.mark.parametrize("kind", sorted(OPS))
SECONDS = ("estimate_s", "estimate_p10_s", "estimate_p90_s")
DECODE: Document = {"kind": "attention", "batch": 64, "q_len": 1, "kv_len": 4096, "heads": 64, "kv_heads": 8, "dtype": "bf16"}
SINGLE: Document = {"dtype": "fp32", "compute_dtype": "tf32"}
MANY_CORES: Document = {**CHIP, "cores": 100}
DRAWN = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


def time(catalogue: Catalogue, op: Document, chip: Document | str = H100, **options: Any) -> Document:
    found: Document = result(catalogue, op, chip=chip, **options)["time"]
    return found


@KINDS
@DRAWN
@given(data=st.data())
def test_no_estimate_is_below_the_roofline_on_any_chip(kind: str, catalogue: Catalogue, data: st.DataObject) -> None:
    op = as_json(kind, data.draw(questions(kind)))
    chip = data.draw(st.sampled_from([each.id for each in catalogue.chips]))
    try:
        found = time(catalogue, op, chip, launch=data.draw(st.sampled_from(["graph", "eager"])))
    except InvalidInput:  # the chip cannot run it
        return
    if found["estimate_s"] is None:
        assert kind in {"conv1d", "conv2d", "conv3d", "einsum"}
        return
    assert found["lower_s"] <= found["estimate_p10_s"] <= found["estimate_s"] <= found["estimate_p90_s"] < math.inf


@KINDS
@DRAWN
@given(data=st.data())
def test_a_row_of_many_is_the_row_alone(kind: str, catalogue: Catalogue, data: st.DataObject) -> None:
    members, lists = data.draw(questions_in_columns(kind, rows=3))
    state = {"cache": data.draw(st.sampled_from(["cold", "resident"]))}
    try:
        together = time(catalogue, as_json(kind, with_numbers(members, lists)), **state)
    except InvalidInput:  # the chip cannot run it
        return
    for at in range(3):
        alone = time(catalogue, as_json(kind, with_numbers(members, {name: values[at] for name, values in lists.items()})), **state)
        if together["estimate_s"] is None:
            assert alone["estimate_s"] is None
        else:
            assert [together[name][at] for name in SECONDS] == [alone[name] for name in SECONDS]


@pytest.mark.parametrize(
    ("chip", "stands_on"),
    [
        (H100, "chip"),
        ("nvidia-h200-sxm", "architecture"),
        ("amd-mi300x", "generic"),
        ({"base": H100}, "chip"),
        ({"base": H100, "hbm": {"bandwidth_bytes_per_s": 4e12}}, "architecture"),
        (MANY_CORES, "generic"),
    ],
)
def test_the_nearest_calibration_is_taken_and_named(catalogue: Catalogue, chip: Document | str, stands_on: str) -> None:
    found = result(catalogue, MATMUL, chip=chip)
    assert found["time"]["estimate_basis"] == stands_on
    assert any(note.startswith("estimate_s") and "-kernels@" in note for note in found["notes"])


@pytest.mark.parametrize("chip", TIMED)
def test_no_what_if_is_more_certain_than_its_base(catalogue: Catalogue, chip: str) -> None:
    """Of times of all sizes, each with the band of its size."""
    heads: Document = {**DECODE, "batch": [1, 4, 64, 512], "head_dim": 128}
    for op in ({**MATMUL, "m": [1, 16, 128, 512, 4096, 65536]}, heads, {**heads, "q_len": 4096}):
        base, other = (time(catalogue, op, chip=of) for of in (chip, {"base": chip, "hbm": {"capacity_bytes": 1}}))
        assert base["estimate_s"] == other["estimate_s"]
        assert all(wide <= narrow for wide, narrow in zip(other["estimate_p10_s"], base["estimate_p10_s"], strict=True))
        assert all(wide >= narrow for wide, narrow in zip(other["estimate_p90_s"], base["estimate_p90_s"], strict=True))


@pytest.mark.parametrize("chip", [H100, "nvidia-b200", "nvidia-b300"])
@pytest.mark.parametrize("q_len", [1, 4096])
def test_heads_of_a_width_that_nobody_measured_borrow_from_the_next(catalogue: Catalogue, chip: str, q_len: int) -> None:
    """Measured were 64, 128, 192, 256 and 512. Kernels of 192 are slow on Blackwell, and heads beside them need not be."""
    op = {**DECODE, "batch": 8, "heads": 32, "kv_heads": 32, "q_len": q_len}
    widths = [128, 136, 160, 184, 200, 256]
    found = [result(catalogue, {**op, "head_dim": width}, chip=chip) for width in widths]
    assert [each["time"]["estimate_basis"] for each in found] == ["chip", *["generic"] * 4, "chip"]
    assert all(any(note.startswith(BORROWED) for note in each["notes"]) for each in found[1:-1])
    estimates = [each["time"]["estimate_s"] for each in found]
    assert estimates == sorted(estimates)


@pytest.mark.parametrize("chip", ["google-tpu-v5e", "amd-mi300x", "nvidia-a40", "nvidia-a100-sxm-80gb"])
def test_slow_kernels_of_one_architecture_are_not_lent_to_others(catalogue: Catalogue, chip: str) -> None:
    op = {**DECODE, "q_len": 2048, "kv_len": 2048}
    medium, wide = (time(catalogue, {**op, "head_dim": width}, chip=chip)["estimate_s"] for width in (192, 256))
    assert medium <= wide


def test_decode_of_expanded_latents_was_not_measured(catalogue: Catalogue) -> None:
    op = {**DECODE, "head_dim": 192, "v_head_dim": 128}
    assert time(catalogue, op)["estimate_basis"] == "generic"
    assert time(catalogue, {**op, "q_len": 4096})["estimate_basis"] == "chip"


def test_a_what_if_takes_the_kernels_of_its_base_with_the_band_of_chips_left_out(catalogue: Catalogue) -> None:
    """Nobody measured it: of a number that changes no time it changes what the estimate stands on, and the band."""
    base, other = (time(catalogue, MATMUL, chip=chip) for chip in (H100, {"base": H100, "hbm": {"capacity_bytes": 300_000_000_000}}))
    assert (base["estimate_basis"], other["estimate_basis"]) == ("chip", "architecture")
    assert base["estimate_s"] == other["estimate_s"]
    wide, narrow = ((each["estimate_p90_s"] - each["estimate_p10_s"]) / each["estimate_s"] for each in (other, base))
    assert wide > narrow


@pytest.mark.parametrize("formats", [SINGLE, {"dtype": "tf32"}, {"dtype": "int8"}, {"dtype": "fp64"}, {"b_dtype": "int4"}])
def test_formats_that_nobody_measured_borrow_with_a_wide_band(catalogue: Catalogue, formats: Document) -> None:
    """The kernels of H100 that were measured have 16 and 8 bits, and nothing says that others run as well."""
    of = result(catalogue, {**MATMUL, **formats}, chip=H100)
    found, usual = of["time"], time(catalogue, MATMUL)
    assert found["estimate_basis"] == "generic"
    assert any("of other number formats" in note and "generic-kernels@" in note for note in of["notes"])
    wide, narrow = ((each["estimate_p90_s"] - each["estimate_p10_s"]) / each["estimate_s"] for each in (found, usual))
    assert wide > 1.5 * narrow


def test_attention_in_formats_that_nobody_measured_borrows_too(catalogue: Catalogue) -> None:
    op = {**DECODE, "head_dim": 128}
    assert time(catalogue, op)["estimate_basis"] == "chip"
    for formats in (SINGLE, {"kv_dtype": "nvfp4"}, {"kv_dtype": "int8"}):
        assert time(catalogue, {**op, **formats})["estimate_basis"] == "generic"


@pytest.mark.parametrize("formats", [{"dtype": "fp8"}, {"head_dim": 512}])
def test_attention_that_takes_a_program_of_another_kernel_says_so(catalogue: Catalogue, formats: Document) -> None:
    """Decode of queries of 8 bits, or of heads of 512, was not measured on H100; decode over caches and of heads like these was."""
    of, usual = result(catalogue, {**DECODE, "head_dim": 128, **formats}, chip=H100), time(catalogue, {**DECODE, "head_dim": 128})
    found = of["time"]
    assert found["estimate_basis"] == "generic"
    assert [note for note in of["notes"] if note.startswith("estimate_s")] == [f"{BORROWED} (nvidia-h100-sxm-kernels@1)."]
    wide, narrow = ((each["estimate_p90_s"] - each["estimate_p10_s"]) / each["estimate_s"] for each in (found, usual))
    assert wide > narrow


def test_heads_of_192_take_the_slow_kernel_that_libraries_have_on_blackwell(catalogue: Catalogue) -> None:
    """Measured on B300 were 111 µs for two prompts of 2,048 tokens of one head of 192 over an 8-bit cache, and 21.6 with one of 256."""
    op = {**DECODE, "batch": 2, "q_len": 2048, "kv_len": 2048, "heads": 1, "kv_heads": 1, "kv_dtype": "fp8_e4m3"}
    medium, wide = (result(catalogue, {**op, "head_dim": width}, chip="nvidia-b300")["time"] for width in (192, 256))
    assert (medium["estimate_basis"], wide["estimate_basis"]) == ("architecture", "chip")
    assert medium["estimate_s"] == pytest.approx(111e-6, rel=0.1)
    assert wide["estimate_s"] == pytest.approx(21.6e-6, rel=0.25)


def test_expanded_latents_take_the_kernels_that_libraries_have_for_them(catalogue: Catalogue) -> None:
    """Keys of 192 over values of 128 run far faster on B200 than heads of 192, and faster than heads of 256; in columns as alone."""
    op = {**DECODE, "batch": 1, "q_len": 4096, "heads": 32, "kv_heads": 32}
    alone = [
        result(catalogue, {**op, "head_dim": width, "v_head_dim": value}, chip="nvidia-b200")["time"]
        for width, value in ((192, 128), (192, 192), (256, 256))
    ]
    expanded, medium, wide = (each["estimate_s"] for each in alone)
    assert expanded < wide < medium
    assert {each["estimate_basis"] for each in alone} == {"chip"}
    columns = {**op, "head_dim": [192, 192, 256], "v_head_dim": [128, 192, 256]}
    assert result(catalogue, columns, chip="nvidia-b200")["time"]["estimate_s"] == [expanded, medium, wide]


def test_notes_name_the_kernels_that_run_and_no_others(catalogue: Catalogue) -> None:
    """Prefill in 8 bits with heads of 256 was measured on H100, decode was not."""
    op = {**DECODE, "q_len": 4096, "kv_len": 4096, "head_dim": 256, "dtype": "fp8"}
    alone, mixed = (result(catalogue, {**op, "q_len": q_len}, chip=H100) for q_len in (4096, [1, 4096]))
    assert [each["time"]["estimate_basis"] for each in (alone, mixed)] == ["chip", "generic"]
    assert [any(note.startswith(BORROWED) for note in each["notes"]) for each in (alone, mixed)] == [False, True]


def test_a_launch_by_the_host_takes_longer_and_a_warm_cache_no_longer(catalogue: Catalogue) -> None:
    small = {**MATMUL, "m": 16, "k": 1024, "n": 1024}
    plain = time(catalogue, small)["estimate_s"]
    assert time(catalogue, small, launch="eager")["estimate_s"] > plain
    assert time(catalogue, small, cache="resident")["estimate_s"] <= plain


def test_quantising_the_activation_costs_time_in_the_estimate_alone(catalogue: Catalogue) -> None:
    op = {**MATMUL, "dtype": "fp8_e4m3", "out_dtype": "bf16"}
    plain, quantised = result(catalogue, op, chip=H100), result(catalogue, {**op, "a_quantized_from": "bf16"}, chip=H100)
    assert quantised["time"]["estimate_s"] > plain["time"]["estimate_s"]
    assert (quantised["bytes"], quantised["time"]["lower_s"]) == (plain["bytes"], plain["time"]["lower_s"])


def test_an_activation_is_quantised_from_more_bits(catalogue: Catalogue) -> None:
    (fault,) = refused(lambda: result(catalogue, {**MATMUL, "a_quantized_from": "fp8"}))
    assert (fault.pointer, fault.code) == ("/op/a_quantized_from", "out-of-range")


def test_heads_of_many_widths_in_one_question(catalogue: Catalogue) -> None:
    found = time(catalogue, {**DECODE, "head_dim": [64, 128, 256, 512]})["estimate_s"]
    assert found == [time(catalogue, {**DECODE, "head_dim": width})["estimate_s"] for width in (64, 128, 256, 512)]


def test_an_einsum_that_is_a_product_takes_as_long_as_the_product(catalogue: Catalogue) -> None:
    einsum = {"kind": "einsum", "equation": "bd,df->bf", "dims": {"b": 512, "d": 8192, "f": 28672}, "dtype": "bf16"}
    assert time(catalogue, einsum) == time(catalogue, MATMUL)


def test_one_core_is_not_timed_with_what_was_measured_on_many(catalogue: Catalogue) -> None:
    found = result(catalogue, MATMUL)
    assert [found["time"][name] for name in (*SECONDS, "estimate_basis")] == [None] * 4
    assert found["notes"][-1].startswith("The estimates of time are null: the chip in place has one core")


def test_a_sharded_op_takes_its_part_and_its_exchange(catalogue: Catalogue) -> None:
    mesh = [{"name": "gpu", "size": 8}]
    op = {**MATMUL, "m": 4096}
    sharding = {"a": [None, "gpu"], "b": ["gpu", None], "out": [None, None]}
    together = ask(catalogue, op=op, target={"chip": H100, "mesh": mesh}, sharding=sharding)["result"]
    part = time(catalogue, {**op, "k": op["k"] // 8})["estimate_s"]
    moved = together["layers"]["network"]["collectives"][0]
    exchange = ask(catalogue, op={"kind": moved["kind"], "bytes": moved["bytes"], "axes": ["gpu"]}, target={"chip": H100, "mesh": mesh})[
        "result"
    ]["time"]["estimate_s"]
    assert together["time"]["estimate_s"] == pytest.approx(part + exchange, rel=1e-12)
    assert together["single_chip"]["time"]["estimate_s"] == time(catalogue, op)["estimate_s"]


def test_a_list_takes_as_long_as_its_ops(catalogue: Catalogue) -> None:
    ops = [{**MATMUL, "count": 3}, {**DECODE, "head_dim": 128}]
    total = ask(catalogue, chip=H100, ops=ops)["result"]["totals"]["time"]
    matmul, decode = time(catalogue, MATMUL), time(catalogue, {**DECODE, "head_dim": 128})
    assert [total[name] for name in SECONDS] == [pytest.approx(3 * matmul[name] + decode[name], rel=1e-12) for name in SECONDS]
    assert total["estimate_basis"] == "chip"
