"""Copies with changes: what is merged member by member, and what belongs together and is replaced whole."""

from __future__ import annotations

from service.analysis.hardware.merging import merged
from service.analysis.hardware.what_if import changes, in_si


def test_sections_are_merged_and_values_replaced_whole() -> None:
    """The note speaks of 1, and not of what takes its place."""
    base = {"a": {"value": 1, "unit": "s", "note": "of 1"}, "b": {"c": {"value": 2}, "d": "e"}, "f": [1, 2], "g": "h"}
    change = {"a": {"value": 3, "unit": "s"}, "b": {"c": {"value": 4}}, "f": [5], "g": None, "i": {"j": "k"}}
    assert merged(base, change) == {"a": {"value": 3, "unit": "s"}, "b": {"c": {"value": 4}, "d": "e"}, "f": [5], "i": {"j": "k"}}


def test_a_null_that_takes_nothing_away_is_left_for_the_reader_to_refuse() -> None:
    assert merged({"a": {"b": 1}}, {"a": {"b": None, "c": None}, "d": None}) == {"a": {"c": None}, "d": None}


def test_numbers_in_si_are_told_from_the_members_of_a_file() -> None:
    stated = {"hbm": {"bandwidth": {"value": 1}}, "cores": {"name": "SM"}, "compute": {}}
    assert in_si(stated) == {}
    numbers = {"hbm": {"bandwidth_bytes_per_s": 1e12}, "cores": 8, "l2": {"capacity_bytes": 5}, "peak_flops_per_s": {"bf16": 1e14}}
    assert in_si({**numbers, "name": "x"}) == numbers


def test_an_assumed_store_takes_the_place_of_what_is_known_of_it() -> None:
    stores = [{"name": "shared memory", "scope": "core", "role": "tile", "capacity": {"value": 256}, "usable": {"value": 228}}]
    found = changes({"on_chip_bytes_per_core": 300_000, "l2": {"capacity_bytes": 64}}, stores, {}, "what if")["on_chip"]
    assert [(each["name"], sorted(each)) for each in found] == [
        ("shared memory", ["name", "role", "scope", "usable"]),
        ("L2", ["capacity", "name", "role", "scope"]),
    ]
    assert found[0]["usable"] == {"value": 300_000, "unit": "B", "source": "what-if", "confidence": "low", "note": "what if"}
