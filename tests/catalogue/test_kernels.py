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
    assert attention_programs(16, 8, 128)[:2] == ("q16-kv8-narrow", "q16-kv8-wide")
    assert attention_programs(16, 16, 192)[0] == "q16-kv16-wide"
    assert attention_programs(8, 8, 512)[0] == "q8-kv8-widest"
    assert attention_programs(8, 8, 512)[-1] == "q16-kv16-narrow"


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
