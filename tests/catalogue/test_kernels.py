"""Parameters of kernels: the program that would run, from the nearest calibration; and what a file of them must state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from service.catalogue import load
from service.catalogue.kernel_fit import MODELS, Kernels
from service.catalogue.kernels import attention_programs, kernel, latent_programs, product_programs
from service.engine.kernels.gemm import GemmParameters

CATALOGUE = load()
NAMES = ("launch_s", "math", "memory", "step_s", "fill_s", "feed", "overlap", "throttle", "quantized", "copies", "split_s", "eager_s")
PARAMETERS = {name: {"value": 1, "unit": "us" if name.endswith("_s") else "B/clk" if name == "feed" else "ratio"} for name in NAMES}


def section(**changes: Any) -> dict[str, Any]:
    """Kernels with one program, some of its members changed."""
    fit = {
        "source": "sheet",
        "chips": ["example-1"],
        "rows": 30,
        "parameters": PARAMETERS,
        "band": {"edges_us": [10], "p10": [1, 1], "p90": [2, 2]},
        "errors": {"median": 1, "p90": 1, "kept_apart": "none"},
        **changes,
    }
    return {"regime": "a loop", "fits": {"products": {"bits-16": fit}}}


@pytest.mark.parametrize(
    ("chip", "basis", "ref"),
    [
        ("nvidia-h100-sxm", "chip", "nvidia-h100-sxm-kernels@1"),
        ("nvidia-h200-sxm", "architecture", "hopper-kernels@1"),
        ("nvidia-b100", "architecture", "blackwell-kernels@1"),
        ("nvidia-rtx-5090", "architecture", "workstation-blackwell-kernels@1"),
        ("google-tpu-v5e", "generic", "generic-kernels@1"),
        ("amd-mi300x", "generic", "generic-kernels@1"),
    ],
)
def test_a_chip_has_its_own_parameters_its_architectures_or_those_of_any(chip: str, basis: str, ref: str) -> None:
    found = kernel(CATALOGUE.calibrations_of(CATALOGUE.chip(chip)), "products", product_programs(16))
    assert found is not None
    assert (found.basis, found.ref, found.is_borrowed) == (basis, ref, False)
    assert isinstance(found.parameters, GemmParameters)


def test_every_chip_has_parameters_for_every_kernel() -> None:
    asked = {
        "products": product_programs(8, in_blocks=True),
        "grouped_products": product_programs(4),
        "prefill": attention_programs(8, 8, 300),
        "decode": attention_programs(16, 16, 64),
        "latent_prefill": latent_programs(8, 8),
        "latent_decode": latent_programs(16, 8),
        "passes": ("pointwise",),
    }
    assert asked.keys() == MODELS.keys()
    for chip in CATALOGUE.chips:
        for name, programs in asked.items():
            assert kernel(CATALOGUE.calibrations_of(chip), name, programs), (chip.id, name)


def test_the_band_is_wider_the_further_the_parameters_come_from() -> None:
    of = [CATALOGUE.calibrations_of(CATALOGUE.chip(name)) for name in ("nvidia-h100-sxm", "nvidia-h200-sxm", "amd-mi300x")]
    bands = [found.band for each in of if (found := kernel(each, "products", product_programs(16)))]
    widths = [np.mean(band.p90) - np.mean(band.p10) for band in bands]
    assert len(widths) == 3
    assert widths == sorted(widths)


def test_a_head_takes_the_program_of_its_width_before_one_of_another() -> None:
    assert attention_programs(16, 8, 128)[:2] == ("q16-kv8-narrow", "q16-kv8-medium")
    assert attention_programs(16, 8, 64)[:2] == ("q16-kv8-slim", "q16-kv8-narrow")
    assert attention_programs(16, 16, 192)[:2] == ("q16-kv16-medium", "q16-kv16-wide")
    assert attention_programs(16, 16, 256)[:2] == ("q16-kv16-wide", "q16-kv16-medium")
    assert attention_programs(8, 8, 512)[0] == "q8-kv8-widest"
    assert attention_programs(8, 8, 512)[-1] == "q16-kv16-slim"


@pytest.mark.parametrize(
    ("chip", "kv_bits", "width", "basis", "ref"),
    [
        ("nvidia-b200", 8, 128, "chip", "nvidia-b200-kernels@1"),
        ("nvidia-b200", 8, 192, "architecture", "blackwell-kernels@1"),
        ("nvidia-gb300", 8, 192, "chip", "nvidia-gb300-kernels@1"),
        ("nvidia-a100-sxm-80gb", 16, 64, "generic", "nvidia-a100-sxm-80gb-kernels@1"),
        ("nvidia-a100-sxm-80gb", 8, 64, "generic", "generic-kernels@1"),
        ("nvidia-a100-sxm-80gb", 16, 128, "chip", "nvidia-a100-sxm-80gb-kernels@1"),
    ],
)
def test_another_width_on_the_chip_comes_before_chips_of_other_architectures(
    chip: str, kv_bits: int, width: int, basis: str, ref: str
) -> None:
    """Of the same formats; what the chip's kin have of the width itself comes before both. Only what is of another width is borrowed."""
    found = kernel(CATALOGUE.calibrations_of(CATALOGUE.chip(chip)), "decode", attention_programs(16, kv_bits, width))
    assert found is not None
    assert (found.basis, found.ref) == (basis, ref)
    assert found.is_borrowed == (basis == "generic" and ref != "generic-kernels@1")


@pytest.mark.parametrize("name", ["nvidia-b200", "nvidia-b300", "nvidia-gb200", "nvidia-gb300"])
def test_heads_of_192_have_programs_of_their_own_where_libraries_have_none_but_slow_kernels(name: str) -> None:
    """Their steps take longer than those of heads of 256, in every format of the cache."""
    found = CATALOGUE.calibrations_of(CATALOGUE.chip(name))
    for bits in (8, 16):
        medium, wide = (kernel(found, "prefill", attention_programs(16, bits, width)) for width in (192, 256))
        assert medium is not None
        assert wide is not None
        assert medium.ref != "generic-kernels@1"
        assert medium.parameters.math < wide.parameters.math


def test_no_share_of_a_peak_exceeds_it() -> None:
    """So that no estimate lies below its roofline."""
    for calibration in CATALOGUE.calibrations:
        for programs in (calibration.file.kernels.fits if calibration.file.kernels else {}).values():
            for fit in programs.values():
                assert max(fit.values["math"], fit.values["memory"]) <= 1.0
                assert fit.values.get("cache", 1.0) >= 1.0


def test_a_parameter_that_is_left_out_costs_nothing() -> None:
    assert Kernels.model_validate(section()).fits["products"]["bits-16"].values.get("quantize_s", 0.0) == 0.0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parameters": {**PARAMETERS, "luck": {"value": 1, "unit": "ratio"}}}, "the model has no parameter 'luck'"),
        ({"parameters": {name: each for name, each in PARAMETERS.items() if name != "math"}}, "the parameter 'math' is missing"),
        ({"parameters": {**PARAMETERS, "math": {"value": 1, "unit": "us"}}}, "'math' is not in a unit of its kind"),
        ({"parameters": {**PARAMETERS, "overlap": {"value": 0.9, "unit": "ratio"}}}, "the exponent 'overlap' is below 1"),
        ({"parameters": dict(reversed(PARAMETERS.items()))}, "the parameters stand as"),
        ({"band": {"edges_us": [10], "p10": [1], "p90": [2]}}, "one number more than there are edges"),
        ({"band": {"p10": [2], "p90": [3]}}, "p10 is at most 1"),
    ],
)
def test_a_file_that_states_something_else_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Kernels.model_validate(section(**changes))
