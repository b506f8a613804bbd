"""Calibrations: which speaks of a chip, what a file must state, and what is plausible."""

from __future__ import annotations

import pytest

from service.catalogue import Catalogue, CatalogueError, load
from service.catalogue.calibration_file import CalibrationFile
from service.catalogue.calibration_lint import lint

from .conftest import Folder

FILE = "calibrations/example-1.toml"
CALIBRATION = """\
id             = "example-1"
revision       = 1
date           = 2026-01-31
reason         = "first fit"
confidence     = "medium"
confidence_why = "One work."
name           = "Example One"
chip           = "example-1"

[collectives]
regime   = "Graphs."
topology = "switch"

[collectives.kinds.all_gather]
source = "sheet"
rows   = 20
ranks  = [2, 8]
sizes  = [512, 1048576]

[collectives.kinds.all_gather.parameters]
start      = { value = 4, unit = "us" }
step       = { value = 1.5, unit = "us" }
low_share  = { value = 0.25, unit = "ratio" }
bulk_share = { value = 0.75, unit = "ratio" }

[collectives.kinds.all_gather.band]
p10 = [0.9, 0.8, 1]
p90 = [1.1, 1.2, 1.3]

[collectives.kinds.all_gather.errors]
median     = 0.03
p90        = 0.1
kept_apart = "A fifth of the shapes."
"""


def refusal(folder: Folder, text: str) -> str:
    (folder.root / "calibrations").mkdir(exist_ok=True)
    folder.write(FILE, text)
    with pytest.raises(CatalogueError) as caught:
        load(folder.root)
    return str(caught.value)


def test_a_calibration_loads_in_si_with_its_source(folder: Folder) -> None:
    (folder.root / "calibrations").mkdir()
    folder.write(FILE, CALIBRATION)
    (found,) = load(folder.root).calibrations
    fitted = found.collective("all_gather")
    assert fitted is not None
    assert (fitted.pace.start, fitted.pace.step, fitted.pace.own, fitted.largest, fitted.topology) == (4e-6, 1.5e-6, 0.0, 8, "switch")
    assert fitted.band.p90 == (1.1, 1.2, 1.3)
    assert found.collective("broadcast") is None
    assert found.across() is None
    stated = found.document()["collectives"]["kinds"]["all_gather"]
    assert stated["parameters"]["step"] == {"value": 1.5e-6, "unit": "s"}
    assert stated["sources"] == [{"key": "sheet", "title": "Example data sheet", "publisher": "Example"}]
    assert stated["rows"] == 20
    assert stated["errors"] == {"median": 0.03, "p90": 0.1, "kept_apart": "A fifth of the shapes."}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("date           = 2026-01-31\n", "", "a calibration states the day of its fit"),
        ('chip           = "example-1"', 'chip           = "example-3"', "chip: no chip has the id 'example-3'"),
        ('chip           = "example-1"', 'architectures  = ["Third"]', "architecture: no chip has the architecture 'Third'"),
        ('chip           = "example-1"', 'chip           = "example-1"\narchitectures  = ["First"]', "not of both"),
        ('{ value = 4, unit = "us" }', '{ value = 4, unit = "GB/s" }', "parameters.start: the unit 'GB/s' is not one of s, us, ns"),
        ('{ value = 4, unit = "us" }', '{ value = 0, unit = "us" }', "parameters.start.value: This is not a finite number above 0"),
        ('start      = { value = 4, unit = "us" }\n', "", "parameters.start: Field required"),
        ("step       =", "stepp      =", "parameters.stepp: Extra inputs are not permitted"),
        ("p10 = [0.9, 0.8, 1]", "p10 = [0.9, 0.8, 1.1]", "p10 is at most 1 and p90 at least 1"),
        ("p10 = [0.9, 0.8, 1]", "p10 = [0.9, 0.8]", "band.p10"),
        ("[collectives.kinds.all_gather]", "[collectives.kinds.all_gathers]", "kinds.all_gathers"),
        ('source = "sheet"', 'source = "sheep"', "the source 'sheep' is not declared"),
    ],
)
def test_a_mistake_is_named(folder: Folder, old: str, new: str, message: str) -> None:
    assert old in CALIBRATION
    found = refusal(folder, CALIBRATION.replace(old, new))
    assert found.startswith(FILE)
    assert message in found


def test_two_calibrations_never_speak_of_one_chip(folder: Folder) -> None:
    (folder.root / "calibrations").mkdir()
    folder.write("calibrations/again.toml", CALIBRATION.replace('id             = "example-1"', 'id             = "again"'))
    assert refusal(folder, CALIBRATION) == f"{FILE}: chip: another calibration is of 'example-1'"


@pytest.mark.parametrize(
    ("chip", "refs"),
    [
        ("nvidia-h100-sxm", [("chip", "nvidia-h100-sxm"), ("architecture", "hopper-nvlink"), ("generic", "generic")]),
        ("nvidia-h200-sxm", [("architecture", "hopper-nvlink"), ("generic", "generic")]),
        ("nvidia-b300", [("chip", "nvidia-b300"), ("architecture", "blackwell-nvlink"), ("generic", "generic")]),
        ("google-tpu-v5e", [("generic", "generic")]),
        (None, [("generic", "generic")]),
    ],
)
def test_the_nearest_calibration_comes_first(catalogue: Catalogue, chip: str | None, refs: list[tuple[str, str]]) -> None:
    """A chip, then its architecture, then whatever is published for any."""
    found = catalogue.calibrations_of(None if chip is None else catalogue.chip(chip))
    assert [(basis, calibration.id) for basis, calibration in found.nearest if calibration.file.collectives] == refs


def test_shipped_calibrations_are_plausible(catalogue: Catalogue) -> None:
    assert {each.id: lint(each.file) for each in catalogue.calibrations if lint(each.file)} == {}


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("value = 0.75", "value = 75", "parameters.bulk_share"),
        ("value = 0.25", "value = 0.8", "parameters.low_share"),
        ('{ value = 4, unit = "us" }', '{ value = 4, unit = "ns" }', "parameters.start"),
        ("median     = 0.03", "median     = 0.3", "errors.median"),
        ("ranks  = [2, 8]", "ranks  = [8, 2]", "ranks"),
    ],
)
def test_a_rule_catches_what_it_is_for(folder: Folder, old: str, new: str, field: str) -> None:
    (folder.root / "calibrations").mkdir()
    folder.write(FILE, CALIBRATION.replace(old, new))
    (each,) = load(folder.root).calibrations
    assert isinstance(each.file, CalibrationFile)
    assert [finding.field for finding in lint(each.file)] == [f"collectives.kinds.all_gather.{field}"]
