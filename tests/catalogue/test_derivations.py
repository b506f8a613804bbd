"""A value that says how it follows from others follows from them, to the digits that it states."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from service.catalogue import Catalogue
from service.catalogue.document import stated_values
from service.catalogue.quantity import Quantity
from service.catalogue.units import UNITS

Values = dict[str, Quantity]
"""The numbers of a chip by their path in its document."""

LINK = "scale_up.bandwidth_per_link_per_direction_bytes_per_s"
LINKS = "scale_up.links_per_chip"
CHIP_RATE = "scale_up.bandwidth_per_chip_per_direction_bytes_per_s"

NUMBER = r"([\d,.]+)"
WAYS: list[tuple[str, Callable[[Values, str, list[Decimal]], Decimal]]] = [
    (rf"{NUMBER} [\w-]+ × {NUMBER} × {NUMBER} GHz", lambda _, __, n: n[0] * n[1] * n[2] * 10**9),
    (rf"half of {NUMBER} GB/s both ways$", lambda _, __, n: n[0] * 10**9 / 2),
    (rf"half of {NUMBER} GB/s over {NUMBER} links$", lambda _, __, n: n[0] * 10**9 / 2 / n[1]),
    (rf"{NUMBER} GB/s at {NUMBER} GB/s per link$", lambda _, __, n: n[0] / n[1]),
    (rf"32 banks × 4 B × {NUMBER} GHz", lambda _, __, n: 128 * n[0] * 10**9),
    (r"32 banks × 4 B × boost clock$", lambda values, _, __: 128 * si(values["clock.boost_hz"])),
    (r"rate of the chip over its links$", lambda values, _, __: si(values[CHIP_RATE]) / si(values[LINKS])),
    (r"links × rate of one$", lambda values, _, __: si(values[LINK]) * si(values[LINKS])),
]
BESIDE = [(r"half of (\w+)$", Decimal("0.5")), (r"as (\w+)$", Decimal(1)), (r"twice the (\w+) rate$", Decimal(2))]
ELSEWHERE = {
    "as the H100 SXM": ("nvidia-h100-sxm", Decimal(1)),
    "as the MI300X": ("amd-mi300x", Decimal(1)),
    "half of the package": ("amd-mi250x", Decimal("0.5")),
    "half of the MI250X": ("amd-mi250x", Decimal("0.5")),
}


def si(value: Quantity) -> Decimal:
    return Decimal(value.value) * UNITS[value.unit].factor


def numbers(catalogue: Catalogue, chip: str) -> Values:
    return {path: value for path, value in stated_values(catalogue.chip(chip).file) if isinstance(value, Quantity)}


def derivation(catalogue: Catalogue, values: Values, path: str, how: str) -> Decimal | None:
    """What `how` gives for the number at `path`, if it is one of the ways above."""
    for pattern, follows in WAYS:
        if found := re.match(pattern, how):
            return follows(values, path, [Decimal(group.replace(",", "")) for group in found.groups()])
    for pattern, factor in BESIDE:
        found = re.match(pattern, how)
        if found and (beside := values.get(f"{path.rpartition('.')[0]}.{found[1]}")):
            return factor * si(beside)
    if how in ELSEWHERE:
        chip, factor = ELSEWHERE[how]
        return factor * si(numbers(catalogue, chip)[path])
    return None


def test_a_derived_value_is_what_its_derivation_gives(catalogue: Catalogue) -> None:
    """One said "half of fp32" and was 26 beside an fp32 of 51."""
    checked, wrong = 0, []
    for chip in catalogue.chips:
        values = numbers(catalogue, chip.id)
        for path, value in values.items():
            given = derivation(catalogue, values, path, value.derived or "")
            if given is None:
                continue
            checked += 1
            last_digit = Decimal(1).scaleb(min(int(Decimal(value.value).as_tuple().exponent), 0))
            if abs(given / UNITS[value.unit].factor - value.value) > last_digit / 2:
                wrong.append(f"{chip.id} {path}: {value.value} {value.unit} is not {value.derived}")
    assert wrong == []
    assert checked > 150


def test_a_value_that_its_source_prints_otherwise_is_derived(catalogue: Catalogue) -> None:
    """67 TFLOP/s stood beside "printed as 66.9": either the digits of the source stand, or how they became others."""
    for chip in catalogue.chips:
        for path, value in stated_values(chip.file):
            assert "printed as" not in (value.note or "") or value.derived is not None, f"{chip.id} {path}"
