"""Looking things up: by id, by pinned revision, and what an unknown name is told."""

from __future__ import annotations

import re

import pytest

from service.catalogue import Catalogue, load
from service.errors import InvalidInput

from .conftest import Folder


def test_the_shipped_catalogue_is_sorted_and_well_named(catalogue: Catalogue) -> None:
    for kind in (catalogue.chips, catalogue.clusters, catalogue.nics, catalogue.collective_constants):
        ids = [entry.id for entry in kind]
        assert ids == sorted(set(ids))
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in ids)
    assert (len(catalogue.chips), len(catalogue.clusters), len(catalogue.nics)) == (70, 22, 13)


def test_an_id_finds_the_newest_and_a_reference_the_pinned_revision(catalogue: Catalogue) -> None:
    chip = catalogue.chip("nvidia-h100-sxm")
    assert catalogue.chip("nvidia-h100-sxm@1") is chip
    assert chip.ref == "nvidia-h100-sxm@1"
    assert catalogue.cluster("hgx-h100-8").chip == chip.id


@pytest.mark.parametrize(
    ("ref", "code", "suggestion"),
    [
        ("nvidia-h100", "unknown-chip", "nvidia-h100-sxm"),
        ("nvidia-h100-sxn", "unknown-chip", "nvidia-h100-sxm"),
        ("NVIDIA-H100-SXM", "unknown-chip", "nvidia-h100-sxm"),
        ("h100", "unknown-chip", "nvidia-h100-sxm"),
        ("", "unknown-chip", None),
        ("@1", "unknown-chip", None),
        ("nvidia-h100-sxm@2", "unknown-revision", "nvidia-h100-sxm@1"),
        ("nvidia-h100-sxm@01", "unknown-revision", "nvidia-h100-sxm@1"),
        ("nvidia-h100-sxm@", "unknown-revision", "nvidia-h100-sxm@1"),
        ("nvidia-h100-sxm@1@1", "unknown-revision", "nvidia-h100-sxm@1"),
    ],
)
def test_an_unknown_chip_is_an_error_with_the_names_that_resemble_it(
    catalogue: Catalogue, ref: str, code: str, suggestion: str | None
) -> None:
    with pytest.raises(InvalidInput) as caught:
        catalogue.chip(ref, "/cases/0/target/chip")
    (fault,) = caught.value.faults
    assert (fault.pointer, fault.code) == ("/cases/0/target/chip", code)
    assert suggestion is None or suggestion in fault.suggestions


def test_an_unknown_system_is_an_error_too(catalogue: Catalogue) -> None:
    with pytest.raises(InvalidInput) as caught:
        catalogue.cluster("hgx-h100")
    (fault,) = caught.value.faults
    assert (fault.code, fault.suggestions[0]) == ("unknown-cluster", "hgx-h100-8")


def test_numbers_can_be_changed_without_changing_the_catalogue(catalogue: Catalogue) -> None:
    chip = catalogue.chip("nvidia-h100-sxm")
    taken = chip.numbers()
    taken["peak_flops_per_s"]["bf16"] = 1
    taken["hbm"]["bandwidth_bytes_per_s"] = 1
    taken["l2"]["capacity_bytes"] = 1
    assert chip.numbers()["peak_flops_per_s"]["bf16"] == 989_400_000_000_000
    assert chip.numbers()["hbm"]["bandwidth_bytes_per_s"] == 3_350_000_000_000
    assert chip.numbers()["l2"]["capacity_bytes"] == 50 * 2**20


def test_two_loads_are_equal_and_a_digest_follows_the_numbers_alone(folder: Folder) -> None:
    before = load(folder.root)
    folder.replace("chips/example-1.toml", 'value = 2.0, unit = "TB/s"', 'value = 2000, unit = "GB/s"')
    folder.replace("chips/example-1.toml", "A data sheet.", "The data sheet.")
    assert load(folder.root).digest == before.digest
    folder.replace("chips/example-1.toml", "value = 2000", "value = 2001")
    after = load(folder.root)
    assert after.digest != before.digest
    assert after.chip("example-1").digest != before.chip("example-1").digest
