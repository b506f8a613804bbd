"""Loading is all or nothing, and whatever is wrong is named by file, key and reason."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from service.catalogue import CatalogueError, load

from .conftest import CHIP, SOURCES, Folder

FILE = "chips/example-1.toml"


def refusal(folder: Folder) -> str:
    with pytest.raises(CatalogueError) as caught:
        load(folder.root)
    return str(caught.value)


def test_a_folder_of_one_chip_loads(folder: Folder) -> None:
    (chip,) = load(folder.root).chips
    assert chip.ref == "example-1@1"
    assert chip.numbers() == {
        "peak_flops_per_s": {"bf16": 400_000_000_000_000, "fp8": 800_000_000_000_000},
        "vector_peak_flops_per_s": {"fp32": 25_600_000_000_000},
        "hbm": {"bandwidth_bytes_per_s": 2_000_000_000_000, "capacity_bytes": 80 * 2**30},
        "cores": 100,
        "on_chip_bytes_per_core": 228 * 1024,
        "l2": {"capacity_bytes": 40 * 2**20},
    }


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('value = 2.0, unit = "TB/s"', 'value = 2.0, unit = "TB"', "hbm.bandwidth.unit", "The unit is not one of B/s, GB/s, TB/s"),
        ('value = 2.0, unit = "TB/s"', 'value = 2.0, unit = "GiB"', "hbm.bandwidth.unit", "The unit is not one of"),
        ('value = 2.0, unit = "TB/s"', 'value = 2.0, unit = "TBs"', "hbm.bandwidth.unit", "The unit is not one of B/s, GB/s, TB/s"),
        ("value = 2.0", "value = 0", "hbm.bandwidth.value", "not a finite number above 0"),
        ("value = 2.0", "value = -2.0", "hbm.bandwidth.value", "not a finite number above 0"),
        ("value = 2.0", "value = nan", "hbm.bandwidth.value", "not a finite number above 0"),
        ("value = 2.0", "value = true", "hbm.bandwidth.value", "not a number"),
        ("value = 2.0", 'value = "2.0"', "hbm.bandwidth.value", "not a number"),
        ('bandwidth = { value = 2.0, unit = "TB/s", source = "sheet" }', "bandwidth = 2.0e12", "hbm.bandwidth", "valid dictionary"),
        ('unit = "TB/s", source = "sheet"', 'unit = "TB/s"', "hbm.bandwidth.source", "Field required"),
        ('unit = "TB/s", source = "sheet"', 'unit = "TB/s", source = []', "hbm.bandwidth.source", "at least 1 item"),
        ('unit = "TB/s", source = "sheet"', 'unit = "TB/s", source = "sheep"', "hbm.bandwidth_bytes_per_s", "'sheep' is not declared"),
        ('source = "sheet", note = ', 'source = "sheet", nota = ', "on_chip.1.usable.nota", "Extra inputs are not permitted"),
        ("capacity  = {", "capcity   = {", "hbm.capcity", "Extra inputs are not permitted"),
        ("[vector]", "[vectors]", "vectors", "Extra inputs are not permitted"),
        ("bf16 = {", "bf61 = {", "compute.bf61", "This is not one of the arithmetic classes"),
        ('kind           = "gpu"', 'kind           = "gpus"', "kind", "Input should be 'gpu', 'tpu', 'npu' or 'cpu'"),
        ("revision       = 1\n", "revision       = 1.5\n", "revision", "valid integer"),
        ('id             = "example-1"', 'id             = "Example_1"', "id", "String should match pattern"),
        ('id             = "example-1"', 'id             = "example-2"', "id", "the file is of 'example-1' and states 'example-2@1'"),
        ("revision       = 1\n", "revision       = 2\n", "", "a correction needs its date"),
        ('scope    = "core"\nrole     = "tile"', 'role     = "tile"\nscope    = "core"', "on_chip.1", "their order is name, scope, role"),
        ("[hbm]\ntype ", "[hbm\ntype ", "", "Expected ']'"),
    ],
)
def test_a_mistake_is_named(folder: Folder, old: str, new: str, key: str, reason: str) -> None:
    folder.replace(FILE, old, new)
    message = refusal(folder)
    assert message.startswith(f"{FILE}: {key}")
    assert reason in message


def test_classes_stand_widest_first(folder: Folder) -> None:
    bf16, fp8 = CHIP.splitlines()[13:15]
    folder.replace(FILE, f"{bf16}\n{fp8}", f"{fp8}\n{bf16}")
    assert refusal(folder) == f"{FILE}: compute: the classes stand as fp8, bf16; their order is bf16, fp8"


def test_a_figure_with_sparsity_needs_a_note(folder: Folder) -> None:
    folder.replace(
        FILE,
        'value = 800, unit = "TFLOP/s", source = "sheet"',
        'value = 800, unit = "TFLOP/s", source = "sheet", derived = "half, with sparsity"',
    )
    assert refusal(folder) == f"{FILE}: compute.fp8: It comes from a figure with sparsity and has no note that says which."


def test_an_alternative_speaks_of_a_field_that_exists(folder: Folder) -> None:
    alternative = '[[alternatives]]\nfield = "hbm.bandwith"\nvalue = 1\nunit = "TB/s"\nwhere = "a page"\nwhy_not_taken = "rounded"\n'
    folder.write(FILE, CHIP + alternative)
    assert refusal(folder) == f"{FILE}: alternatives.0.field: The alternative names no field of this chip."


def test_sources_are_sorted_used_and_complete(folder: Folder) -> None:
    folder.write("sources.toml", SOURCES + '[another]\ntitle = "Another"\npublisher = "Example"\n')
    message = refusal(folder)
    assert "sources.toml: another: stands after sheet; sources are sorted by key" in message
    assert "sources.toml: another: no value cites it" in message
    folder.write("sources.toml", '[sheet]\ntitle = "Example data sheet"\n')
    assert refusal(folder) == "sources.toml: sheet.publisher: Field required"


def test_every_mistake_is_reported_at_once(folder: Folder) -> None:
    folder.replace(FILE, "value = 2.0", "value = 0")
    folder.replace(FILE, "launch_year    = 2024", 'launch_year    = "2024"')
    assert [line.split(":")[1].strip() for line in refusal(folder).splitlines()] == ["launch_year", "hbm.bandwidth.value"]


def test_a_folder_without_sources_is_no_catalogue(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="sources\\.toml"):
        load(tmp_path)


def test_bytes_that_are_not_text_are_refused(folder: Folder) -> None:
    (folder.root / FILE).write_bytes(b"\xff\xfe")
    assert refusal(folder).startswith(f"{FILE}: 'utf-8' codec")


def test_a_catalogue_loads_from_inside_an_archive(folder: Folder, tmp_path: Path) -> None:
    """As from a wheel that is imported without being unpacked."""
    archive = tmp_path / "catalogue.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in folder.root.rglob("*.toml"):
            packed.write(file, f"data/{file.relative_to(folder.root).as_posix()}")
    with zipfile.ZipFile(archive) as packed:
        assert load(zipfile.Path(packed, "data/")).digest == load(folder.root).digest


def test_a_correction_keeps_the_earlier_revision(folder: Folder) -> None:
    newer = CHIP.replace("revision       = 1\n", "revision       = 2\ndate           = 2025-05-01\n").replace("value = 2.0", "value = 2.1")
    folder.write(FILE, newer)
    assert refusal(folder) == f"{FILE}: revision: is 2; the files keep [] of the earlier ones"
    folder.write("chips/example-1@1.toml", CHIP)
    catalogue = load(folder.root)
    assert [chip.ref for chip in catalogue.chips] == ["example-1@2"]
    assert [chip.ref for chip in catalogue.revisions("example-1")] == ["example-1@1", "example-1@2"]
    assert catalogue.chip("example-1@1").numbers()["hbm"]["bandwidth_bytes_per_s"] == 2_000_000_000_000
    assert catalogue.chip("example-1").numbers()["hbm"]["bandwidth_bytes_per_s"] == 2_100_000_000_000
    (folder.root / FILE).unlink()
    assert refusal(folder) == f"{FILE}: earlier revisions are kept, the newest is missing"


def test_a_system_is_made_of_a_known_chip(folder: Folder) -> None:
    (folder.root / "clusters").mkdir()
    folder.write(
        "clusters/pair.toml",
        'id = "pair"\nrevision = 1\nreason = "first entry"\nconfidence = "high"\nconfidence_why = "A data sheet."\nname = "Pair"\n'
        'chip = "example-3"\nchips = { value = 2, unit = "count", source = "sheet" }\n'
        '[[axes]]\nname = "gpu"\ntopology = "switch"\nnetwork = "Link"\n',
    )
    assert refusal(folder) == "clusters/pair.toml: chip: no chip has the id 'example-3'"
