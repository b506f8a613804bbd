"""The rules pass on every shipped chip, and each of them catches what it is for."""

from __future__ import annotations

import tomllib
from decimal import Decimal

import pytest

from service.catalogue import Catalogue
from service.catalogue.chip_file import ChipFile
from service.catalogue.lint import lint

from .conftest import CHIP

LINKS = """
[scale_up]
name                             = "Link"
topology                         = "switch"
links_per_chip                   = { value = 18, unit = "count", source = "sheet" }
bandwidth_per_link_per_direction = { value = 25, unit = "GB/s", source = "sheet" }
bandwidth_per_chip_per_direction = { value = 450, unit = "GB/s", source = "sheet" }

[host]
name                        = "PCIe5 x16"
bandwidth_per_direction     = { value = 63, unit = "GB/s", source = "sheet" }
raw_bandwidth_per_direction = { value = 64, unit = "GB/s", source = "sheet" }
"""
UNIT = """[matrix_unit]
name = "matrix unit"

[matrix_unit.ops_per_clock]
bf16 = { value = 2048, unit = "FLOP/clk", source = "sheet" }

[clock]
boost = { value = 1.95, unit = "GHz", source = "sheet" }
"""
FULL = CHIP.replace('[matrix_unit]\nname = "matrix unit"\n', UNIT) + LINKS


def findings(text: str) -> list[str]:
    chip = ChipFile.model_validate(tomllib.loads(text, parse_float=Decimal))
    return [f"{finding.field}: {finding.reason}" for finding in lint(chip)]


def test_every_shipped_chip_passes(catalogue: Catalogue) -> None:
    assert {chip.id: lint(chip.file) for chip in catalogue.chips if lint(chip.file)} == {}


def test_the_example_passes() -> None:
    assert findings(FULL) == []


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("value = 800", "value = 1600", "compute.fp8: is 4 times the 16-bit rate; neither 1 nor 2 within 3 %"),
        ("value = 400", "value = 800", "compute.bf16: is 2.003 of cores × operations per clock × clock"),
        ("value = 2.0,", "value = 0.2,", "hbm.bandwidth: gives 0.0005 B/FLOP; such chips have 0.0015 to 0.05"),
        ('value = 80, unit = "GiB"', 'value = 80, unit = "GB"', "hbm.capacity: is stated in GB; memory chips hold GiB"),
        ("value = 450", "value = 900", "scale_up.bandwidth_per_chip_per_direction: is 2.000 of its links together"),
        ("value = 63", "value = 126", "host.bandwidth_per_direction: is not below the rate on the wire"),
        ("value = 228", "value = 257", "on_chip.scratchpad.usable: is more than the capacity"),
        ('scope    = "chip"', 'scope    = "core"', "on_chip: gives the role 'l2' to more or other than one store per chip"),
    ],
)
def test_a_slip_is_found(old: str, new: str, finding: str) -> None:
    assert old in FULL
    assert finding in findings(FULL.replace(old, new))


def test_another_ratio_needs_a_note_and_two_sources() -> None:
    fast = FULL.replace(
        'value = 800, unit = "TFLOP/s", source = "sheet"', 'value = 1600, unit = "TFLOP/s", source = SOURCE, note = "four times"'
    )
    assert len(findings(fast.replace("SOURCE", '"sheet"'))) == 1
    assert findings(fast.replace("SOURCE", '["sheet", "review"]')) == []


def test_a_chip_without_a_matrix_unit_has_no_matrix_peaks() -> None:
    without = FULL.replace(UNIT, "")
    assert findings(without) == ["matrix_unit: has no counterpart: matrix peaks and a matrix unit go together"]
