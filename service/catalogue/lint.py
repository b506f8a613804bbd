"""What a plausible chip or system looks like: rules that catch a sparse, a bidirectional or a mistyped figure.

A finding is not a proof: data sheets do break these rules. A value that does so on purpose carries a note that says why, and
where the rule asks for it a second source. The same rules judge the shipped chips and the ones that users add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from .chip_file import ChipFile
from .cluster_file import ClusterFile
from .quantity import Quantity


@dataclass(frozen=True)
class Finding:
    """One value that breaks a rule: its dotted path in the file, and what is odd about it, as the words behind "this"."""

    field: str
    reason: str


def lint(chip: ChipFile) -> list[Finding]:
    """Everything about `chip` that a reader should look at again."""
    return [finding for rule in RULES for finding in rule(chip)]


def lint_cluster(cluster: ClusterFile) -> list[Finding]:
    """The same of a system."""
    return [finding for rule in CLUSTER_RULES for finding in rule(cluster)]


def _near(value: float, target: float, tolerance: float) -> bool:
    return abs(value / target - 1) <= tolerance


def _explained(value: Quantity) -> bool:
    return value.note is not None and len(value.source) >= 2


def eight_bits_at_once_or_twice_the_rate(chip: ChipFile) -> Iterator[Finding]:
    """fp8 and int8 run at 1 or 2 times the dense 16-bit rate; 4 times betrays a figure with sparsity.

    GenZ and inference-sim shipped such figures: 1466 TFLOP/s of fp8 beside 362 of bf16 for an L40S, whose ratio is 4.05.
    """
    wide = chip.compute.get("bf16") or chip.compute.get("fp16")
    for name in ("fp8", "int8"):
        narrow = chip.compute.get(name)
        if wide is None or narrow is None or _explained(narrow):
            continue
        ratio = narrow.si / wide.si
        if not any(_near(ratio, whole, 0.03) for whole in (1, 2)):
            yield Finding(f"compute.{name}", f"is {ratio:.3g} times the 16-bit rate; neither 1 nor 2 within 3 %")


def four_bits_no_faster_than_their_width_allows(chip: ChipFile) -> Iterator[Finding]:
    """fp4 and int4 run at 1, 2 or 4 times the dense 16-bit rate, unless a note says otherwise."""
    wide = chip.compute.get("bf16") or chip.compute.get("fp16")
    for name in ("fp4", "int4"):
        narrow = chip.compute.get(name)
        if wide is None or narrow is None or narrow.note is not None:
            continue
        ratio = narrow.si / wide.si
        if not any(_near(ratio, whole, 0.03) for whole in (1, 2, 4)):
            yield Finding(f"compute.{name}", f"is {ratio:.3g} times the 16-bit rate; none of 1, 2 and 4 within 3 %")


def peak_follows_from_cores_and_clock(chip: ChipFile) -> Iterator[Finding]:
    """A matrix peak is cores × operations per clock × clock within 1.2 %, or its note says why it is not."""
    if chip.clock is None or chip.matrix_unit is None or chip.cores.count is None:
        return
    clock = chip.clock.matrix or chip.clock.boost or chip.clock.base
    if clock is None:
        return
    for name, per_clock in chip.matrix_unit.ops_per_clock.items():
        peak = chip.compute.get(name)
        if peak is None or peak.note is not None:
            continue
        expected = chip.cores.count.si * per_clock.si * clock.si
        if not _near(peak.si, expected, 0.012):
            yield Finding(f"compute.{name}", f"is {peak.si / expected:.3f} of cores × operations per clock × clock")


BYTES_PER_FLOP = {"sram": (0.05, 10.0), "matrix": (0.0015, 0.05), "vector": (0.02, 0.2)}
"""Main-memory bytes per FLOP of the 16-bit matrix peak, or of the fp32 vector peak where there is no matrix unit."""


def memory_in_proportion(chip: ChipFile) -> Iterator[Finding]:
    """Bandwidth over peak lies where chips of its class lie; a slip of units by 8 or 1000 leaves that range."""
    peak = chip.compute.get("bf16") or chip.compute.get("fp16") or chip.vector.get("fp32")
    if peak is None:
        return
    kind = "sram" if "SRAM" in chip.hbm.type else "matrix" if chip.compute else "vector"
    low, high = BYTES_PER_FLOP[kind]
    ratio = chip.hbm.bandwidth.si / peak.si
    if not low <= ratio <= high:
        yield Finding("hbm.bandwidth", f"gives {ratio:.4g} B/FLOP; such chips have {low} to {high}")


GIB = 2**30


def capacity_in_binary_units(chip: ChipFile) -> Iterator[Finding]:
    """Memory chips hold powers of two: the "GB" of a card are GiB, and so are whole GiB in bytes. Only SRAM is printed in decimal."""
    capacity = chip.hbm.capacity
    if capacity is None or "SRAM" in chip.hbm.type or capacity.unit == "GiB" or (capacity.unit == "B" and capacity.si % GIB == 0):
        return
    yield Finding("hbm.capacity", f"is stated in {capacity.unit}; memory chips hold GiB")


def links_add_up_in_one_direction(chip: ChipFile) -> Iterator[Finding]:
    """The rate of a chip is that of its links together; twice that betrays a figure for both directions."""
    up = chip.scale_up
    if up is None or up.links_per_chip is None or up.bandwidth_per_link_per_direction is None:
        return
    chip_rate = up.bandwidth_per_chip_per_direction
    links = up.links_per_chip.si * up.bandwidth_per_link_per_direction.si
    if chip_rate is not None and not _near(chip_rate.si, links, 0.01):
        yield Finding("scale_up.bandwidth_per_chip_per_direction", f"is {chip_rate.si / links:.3f} of its links together")


def host_slower_than_its_wire(chip: ChipFile) -> Iterator[Finding]:
    """What data can use of a link is less than what the wire carries."""
    host = chip.host
    if host is None or host.bandwidth_per_direction is None or host.raw_bandwidth_per_direction is None:
        return
    if host.bandwidth_per_direction.si >= host.raw_bandwidth_per_direction.si:
        yield Finding("host.bandwidth_per_direction", "is not below the rate on the wire")


def stores_hold_what_they_use(chip: ChipFile) -> Iterator[Finding]:
    """The usable part of a store is at most the store; a role is taken once, in the scope that it speaks of."""
    for level in chip.on_chip:
        if level.usable is not None and level.capacity is not None and level.usable.si > level.capacity.si:
            yield Finding(f"on_chip.{level.name}.usable", "is more than the capacity")
    for role, scope in (("tile", "core"), ("l2", "chip")):
        levels = [level for level in chip.on_chip if level.role == role]
        if len(levels) > 1 or any(level.scope != scope for level in levels):
            yield Finding("on_chip", f"gives the role {role!r} to more or other than one store per {scope}")


def something_to_compute_with(chip: ChipFile) -> Iterator[Finding]:
    """A chip has a peak, and matrix peaks only with a matrix unit."""
    if not chip.compute and not chip.vector:
        yield Finding("compute", "states no peak at all")
    if bool(chip.compute) != (chip.matrix_unit is not None):
        yield Finding("matrix_unit", "has no counterpart: matrix peaks and a matrix unit go together")


def numbers_of_this_world(chip: ChipFile) -> Iterator[Finding]:
    """Peaks, bandwidth and capacity within a hundred times of what chips have had, so that no prefix is left out or doubled."""
    for section in ("compute", "vector"):
        for name, peak in getattr(chip, section).items():
            if not LEAST_PEAK <= peak.si <= MOST_PEAK:
                yield Finding(f"{section}.{name}", f"is far from what chips have, {LEAST_PEAK:g} to {MOST_PEAK:g} FLOP/s")
    if not LEAST_BANDWIDTH <= chip.hbm.bandwidth.si <= MOST_BANDWIDTH:
        yield Finding("hbm.bandwidth", f"is far from what main memories have, {LEAST_BANDWIDTH:g} to {MOST_BANDWIDTH:g} B/s")
    if chip.hbm.capacity is not None and not LEAST_CAPACITY <= chip.hbm.capacity.si <= MOST_CAPACITY:
        yield Finding("hbm.capacity", f"is far from what main memories have, {LEAST_CAPACITY:g} to {MOST_CAPACITY:g} B")


LEAST_PEAK, MOST_PEAK = 1e9, 1e19
LEAST_BANDWIDTH, MOST_BANDWIDTH = 1e8, 1e18
LEAST_CAPACITY, MOST_CAPACITY = 1e6, 1e15
LEAST_LINK, MOST_LINK = 1e7, 1e15
MOST_LATENCY = 0.1


def axes_make_up_the_system(cluster: ClusterFile) -> Iterator[Finding]:
    """The axes whose sizes are known multiply to the chips, or to a part of them that the others repeat."""
    sizes = [axis.size.si for axis in cluster.axes if axis.size is not None]
    if cluster.chips.si % prod(sizes) != 0:
        yield Finding("chips", "is no multiple of the product of the axes' sizes")


def links_of_this_world(cluster: ClusterFile) -> Iterator[Finding]:
    """Rates and latencies of axes within a hundred times of what links have had."""
    for axis in cluster.axes:
        rate, latency = axis.bandwidth_per_direction, axis.latency
        if rate is not None and not LEAST_LINK <= rate.si <= MOST_LINK:
            yield Finding(f"axes.{axis.name}.bandwidth_per_direction", f"is far from what links have, {LEAST_LINK:g} to {MOST_LINK:g} B/s")
        if latency is not None and latency.si > MOST_LATENCY:
            yield Finding(f"axes.{axis.name}.latency", f"is far from what links have, at most {MOST_LATENCY:g} s")


RULES: tuple[Callable[[ChipFile], Iterator[Finding]], ...] = (
    eight_bits_at_once_or_twice_the_rate,
    four_bits_no_faster_than_their_width_allows,
    peak_follows_from_cores_and_clock,
    memory_in_proportion,
    capacity_in_binary_units,
    links_add_up_in_one_direction,
    host_slower_than_its_wire,
    stores_hold_what_they_use,
    something_to_compute_with,
    numbers_of_this_world,
)

CLUSTER_RULES: tuple[Callable[[ClusterFile], Iterator[Finding]], ...] = (axes_make_up_the_system, links_of_this_world)
