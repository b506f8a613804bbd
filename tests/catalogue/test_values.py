"""Numbers that a reader can look up, each beside the work that prints it."""

from __future__ import annotations

from typing import Any

import pytest

from service.catalogue import Catalogue

T = 10**12
G = 10**9

VALUES = [
    # NVIDIA, H100 Tensor Core GPU Architecture, white paper v1.04: dense; the doubled figures beside them count sparsity
    ("nvidia-h100-sxm", "peak_flops_per_s.bf16", 9894 * T // 10),
    ("nvidia-h100-sxm", "peak_flops_per_s.fp8", 19789 * T // 10),
    ("nvidia-h100-sxm", "peak_flops_per_s.tf32", 4947 * T // 10),
    ("nvidia-h100-sxm", "vector_peak_flops_per_s.fp16", 1338 * T // 10),
    ("nvidia-h100-sxm", "peak_flops_per_s.fp64", 669 * T // 10),
    ("nvidia-h100-sxm", "vector_peak_flops_per_s.fp32", 669 * T // 10),
    ("nvidia-h100-sxm", "vector_peak_flops_per_s.fp64", 335 * T // 10),
    ("nvidia-h100-sxm", "vector_peak_flops_per_s.int32", 335 * T // 10),
    ("nvidia-h100-pcie", "peak_flops_per_s.bf16", 756 * T),
    ("nvidia-h100-pcie", "peak_flops_per_s.fp64", 512 * T // 10),
    ("nvidia-h100-pcie", "vector_peak_flops_per_s.fp32", 512 * T // 10),
    # aiconfigurator, h100_sxm.yaml: mem_bw, mem_capacity, intra_node_bw (one way), inter_node_bw, power
    ("nvidia-h100-sxm", "hbm.bandwidth_bytes_per_s", 3350 * G),
    ("nvidia-h100-sxm", "hbm.capacity_bytes", 85_899_345_920),
    ("nvidia-h100-sxm", "scale_up.bandwidth_per_chip_per_direction_bytes_per_s", 450 * G),
    ("nvidia-h100-sxm", "scale_out.bandwidth_per_chip_per_direction_bytes_per_s", 50 * G),
    ("nvidia-h100-sxm", "tdp_watts", 700),
    # XLA, h100_sxm.txtpb: core_count, l2_cache_size
    ("nvidia-h100-sxm", "cores.count", 132),
    ("nvidia-h100-sxm", "numbers.l2.capacity_bytes", 52_428_800),
    # NVIDIA, Ampere Architecture In-Depth, table of P100, V100 and A100
    ("nvidia-a100-sxm-80gb", "peak_flops_per_s.bf16", 312 * T),
    ("nvidia-a100-sxm-80gb", "peak_flops_per_s.int8", 624 * T),
    ("nvidia-a100-sxm-80gb", "vector_peak_flops_per_s.fp32", 195 * T // 10),
    ("nvidia-v100-sxm2", "peak_flops_per_s.fp16", 125 * T),
    # aiconfigurator, a100_sxm.yaml
    ("nvidia-a100-sxm-80gb", "hbm.bandwidth_bytes_per_s", 2039 * G),
    ("nvidia-a100-sxm-80gb", "scale_up.bandwidth_per_chip_per_direction_bytes_per_s", 300 * G),
    # NVIDIA, Blackwell technical brief and data sheet, HGX B200
    ("nvidia-b200", "peak_flops_per_s.bf16", 2250 * T),
    ("nvidia-b200", "peak_flops_per_s.fp8", 4500 * T),
    ("nvidia-b200", "peak_flops_per_s.fp4", 9000 * T),
    ("nvidia-b200", "hbm.capacity_bytes", 180 * 2**30),
    ("nvidia-b200", "hbm.bandwidth_bytes_per_s", 7700 * G),
    # NVIDIA, Blackwell Ultra data sheet: int8 was cut to 307 TOP/s with sparsity
    ("nvidia-b300", "peak_flops_per_s.int8", 1535 * T // 10),
    ("nvidia-b300", "peak_flops_per_s.fp4", 13500 * T),
    # NVIDIA, L40S data sheet: 362.05 | 733 and 733 | 1,466, the second of each with sparsity
    ("nvidia-l40s", "peak_flops_per_s.bf16", 36205 * T // 100),
    ("nvidia-l40s", "peak_flops_per_s.fp8", 733 * T),
    ("nvidia-l40", "peak_flops_per_s.bf16", 18105 * T // 100),
    # Pages on the H800, the A40, the L4 and the RTX 6000 Ada
    ("nvidia-h800-sxm", "vector_peak_flops_per_s.fp32", 67 * T),
    ("nvidia-a40", "vector_peak_flops_per_s.int32", 1871 * T // 100),
    ("nvidia-l4", "vector_peak_flops_per_s.fp32", 3029 * T // 100),
    ("nvidia-rtx-6000-ada", "vector_peak_flops_per_s.fp32", 9106 * T // 100),
    # NVIDIA, Ada white paper v2.02, appendix A: fp16 with fp32 accumulation
    ("nvidia-rtx-4090", "peak_flops_per_s.fp16", 1652 * T // 10),
    # Google, Compute Engine table of GPU models; Microway on the P100 PCIe
    ("nvidia-p100-pcie", "vector_peak_flops_per_s.fp32", 93 * T // 10),
    ("nvidia-p100-pcie", "hbm.bandwidth_bytes_per_s", 732 * G),
    # AMD, ROCm documentation, mi300.md and GPU specifications
    ("amd-mi300x", "peak_flops_per_s.bf16", 13074 * T // 10),
    ("amd-mi300x", "peak_flops_per_s.tf32", 6537 * T // 10),
    ("amd-mi300x", "hbm.bandwidth_bytes_per_s", 5300 * G),
    ("amd-mi300x", "hbm.capacity_bytes", 192 * 2**30),
    ("amd-mi300x", "numbers.on_chip_bytes_per_core", 64 * 1024),
    # AMD, Instinct MI200 data sheet, footnote MI200-07
    ("amd-mi250x", "hbm.bandwidth_bytes_per_s", 32768 * G // 10),
    ("amd-mi355x", "peak_flops_per_s.bf16", 25166 * T // 10),
    # Google, Cloud TPU documentation; JAX, tpu_info.py; scaling book, tpus.md (ICI one way, per link)
    ("google-tpu-v5e", "peak_flops_per_s.bf16", 197 * T),
    ("google-tpu-v5e", "peak_flops_per_s.int8", 394 * T),
    ("google-tpu-v5e", "hbm.bandwidth_bytes_per_s", 819 * G),
    ("google-tpu-v5e", "numbers.on_chip_bytes_per_core", 128 * 2**20),
    ("google-tpu-v5e", "scale_up.bandwidth_per_link_per_direction_bytes_per_s", 45 * G),
    ("google-tpu-v5p", "peak_flops_per_s.bf16", 459 * T),
    ("google-tpu-v5p", "hbm.bandwidth_bytes_per_s", 2765 * G),
    ("google-tpu-v5p", "hbm.capacity_bytes", 95 * 2**30),
    ("google-tpu-v7", "peak_flops_per_s.fp8", 4614 * T),
    # AWS, Neuron documentation
    ("aws-trainium2", "peak_flops_per_s.bf16", 667 * T),
    ("aws-trainium1", "numbers.on_chip_bytes_per_core", 24 * 2**20),
    # aiconfigurator, b60.yaml
    ("intel-arc-pro-b60", "peak_flops_per_s.bf16", 983 * T // 10),
    ("intel-arc-pro-b60", "hbm.bandwidth_bytes_per_s", 456 * G),
]


def at(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document[step]
    return document["value"] if isinstance(document, dict) else document


@pytest.mark.parametrize(("chip", "path", "value"), VALUES)
def test_a_value_is_the_one_that_its_source_prints(catalogue: Catalogue, chip: str, path: str, value: float) -> None:
    assert at(catalogue.chip(chip).document(), path) == value


def test_every_peak_is_dense_so_fp8_is_at_most_twice_bf16_but_where_a_note_says_why(catalogue: Catalogue) -> None:
    """The L40S of other tools has 1466 TFLOP/s of fp8 beside 362 of bf16: a sparse figure beside a dense one."""
    for chip in catalogue.chips:
        peaks = chip.file.compute
        if "bf16" in peaks and "fp8" in peaks and peaks["fp8"].note is None:
            assert peaks["fp8"].si <= 2.06 * peaks["bf16"].si, chip.id


def test_the_same_silicon_has_the_same_peaks(catalogue: Catalogue) -> None:
    """H100 SXM, H200 and both GH200 carry one GH100 die; a tool had 1979 for the GH200 beside 989 for the H100."""
    peaks = [
        catalogue.chip(name).numbers()["peak_flops_per_s"]
        for name in ("nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-gh200-96gb", "nvidia-gh200-144gb")
    ]
    assert all(each == peaks[0] for each in peaks)


def test_a_p100_has_no_matrix_unit(catalogue: Catalogue) -> None:
    numbers = catalogue.chip("nvidia-p100-pcie").numbers()
    assert "peak_flops_per_s" not in numbers
    assert numbers["vector_peak_flops_per_s"] == {"fp64": 47 * T // 10, "fp32": 93 * T // 10, "fp16": 187 * T // 10}


def test_the_tile_of_an_h100_may_use_228_of_256_kib(catalogue: Catalogue) -> None:
    chip = catalogue.chip("nvidia-h100-sxm")
    level = next(each for each in chip.document()["on_chip"] if each.get("role") == "tile")
    assert (level["capacity_bytes"]["value"], level["usable_bytes"]["value"]) == (256 * 1024, 228 * 1024)
    assert chip.numbers()["on_chip_bytes_per_core"] == 228 * 1024


def test_between_tiles_and_hbm_an_mi300x_has_its_infinity_cache(catalogue: Catalogue) -> None:
    """The L2s are eight, each read by its own XCD alone; the cache that all of them share is the Infinity Cache."""
    assert catalogue.chip("amd-mi300x").numbers()["l2"] == {"capacity_bytes": 256 * 2**20, "bandwidth_bytes_per_s": 17_200 * G}
    assert catalogue.chip("amd-mi210").numbers()["l2"]["capacity_bytes"] == 8 * 2**20


def test_a_system_has_the_rates_of_its_chip(catalogue: Catalogue) -> None:
    """The wiring is stated twice, per chip and per system; the two agree, but for a pod whose chip lists a larger domain."""
    for cluster in catalogue.clusters:
        up = catalogue.chip(cluster.chip).file.scale_up
        rate = cluster.file.bandwidth_per_chip_per_direction
        if up is not None and rate is not None and up.bandwidth_per_chip_per_direction is not None and cluster.id != "trn2-instance-16":
            assert rate.si == up.bandwidth_per_chip_per_direction.si, cluster.id
