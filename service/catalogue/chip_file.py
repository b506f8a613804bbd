"""A chip as its file states it: `chips/<id>.toml`.

All peaks are dense, with fp32 accumulation where the format has fewer bits. All link rates are one way.
Names in the document are those of the file with the SI unit added: `bandwidth` becomes `bandwidth_bytes_per_s`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from ..engine.dtypes import CLASSES
from .alternative import Alternative, leads_somewhere
from .entry import Entry
from .quantity import (
    ByteRate,
    Bytes,
    Claim,
    Count,
    FlopPerClock,
    FlopRate,
    Frequency,
    Notes,
    Power,
    Quantity,
    Section,
    Shape,
    Slug,
    Text,
    Time,
    fault,
    is_ordered,
)

Topology = Literal["switch", "fully_connected", "ring", "torus2d", "torus3d", "mesh"]


def _known_classes(peaks: dict[str, Quantity], info: ValidationInfo) -> dict[str, Quantity]:
    unknown = [name for name in peaks if name not in CLASSES]
    if unknown:
        raise fault("unknown-dtype", f"This is not one of the arithmetic classes {', '.join(CLASSES)}.", (unknown[0],))
    order = [name for name in CLASSES if name in peaks]
    if list(peaks) != order and is_ordered(info):
        raise ValueError(f"the classes stand as {', '.join(peaks)}; their order is {', '.join(order)}")
    return {name: peaks[name] for name in order}


def _sparsity_explained(peaks: dict[str, Quantity]) -> dict[str, Quantity]:
    for name, peak in peaks.items():
        if "sparsity" in (peak.derived or "") and peak.note is None:
            raise fault("implausible-value", "It comes from a figure with sparsity and has no note that says which.", (name,))
    return peaks


Peaks = Annotated[dict[str, FlopRate], AfterValidator(_known_classes), AfterValidator(_sparsity_explained)]
PerClock = Annotated[dict[str, FlopPerClock], AfterValidator(_known_classes)]


class Memory(Section):
    """The main memory."""

    type: Text
    capacity: Bytes | None = None
    bandwidth: ByteRate


class Cores(Section):
    """The parts that run one tile each: SM, CU, TensorCore, NeuronCore."""

    name: Text
    count: Count | None = None


class MatrixUnit(Section):
    """The unit that multiplies matrices; `ops_per_clock` is what those of one core do together."""

    name: Text
    shape: Shape | None = None
    per_core: Count | None = None
    ops_per_clock: Annotated[PerClock, Field(default_factory=dict, serialization_alias="ops_per_clock_per_core")]


class Clock(Section):
    """`matrix` is the clock at which the matrix peaks are stated, where it is not the boost clock."""

    base: Frequency | None = None
    boost: Frequency | None = None
    matrix: Frequency | None = None


class Level(Section):
    """A store on the chip. `usable` is what a kernel may address of it.

    `role` marks the two that shape traffic: `tile` holds the tile of a matrix product, per core;
    `l2` is the last cache that all cores share in front of the main memory.
    """

    name: Text
    scope: Literal["chip", "core"]
    role: Literal["tile", "l2"] | None = None
    capacity: Bytes | None = None
    usable: Bytes | None = None
    bandwidth: ByteRate | None = None
    note: Text | None = None


class ScaleUp(Section):
    """The links that join chips into one domain, one way.

    On a torus an axis closes into a ring only at some sizes: at `wraps_at` exactly, or when every axis of the slice is a
    multiple of `wraps_at_multiples_of`.
    """

    name: Text
    topology: Topology
    max_domain: Count | None = None
    wraps_at: Count | None = None
    wraps_at_multiples_of: Count | None = None
    links_per_chip: Count | None = None
    bandwidth_per_link_per_direction: ByteRate | None = None
    bandwidth_per_chip_per_direction: ByteRate | None = None
    hop_latency: Time | None = None
    in_network_reduction: Claim | None = None
    note: Text | None = None


class ScaleOut(Section):
    """The network between domains, per chip and one way."""

    name: Text
    bandwidth_per_chip_per_direction: ByteRate | None = None
    note: Text | None = None


class Host(Section):
    """The link to the host, one way: what data can use of it, and the rate on the wire."""

    name: Text
    bandwidth_per_direction: ByteRate | None = None
    raw_bandwidth_per_direction: ByteRate | None = None
    note: Text | None = None


class ChipFile(Entry):
    """One part, as one program sees it."""

    vendor: Slug
    kind: Literal["gpu", "tpu", "npu", "cpu"]
    architecture: Text
    launch_year: Annotated[int, Field(strict=True, ge=2010, le=2100)]
    form_factor: Text
    notes: Notes = ()
    tdp: Power | None = None
    compute: Annotated[Peaks, Field(default_factory=dict, serialization_alias="peak_flops_per_s")]
    vector: Annotated[Peaks, Field(default_factory=dict, serialization_alias="vector_peak_flops_per_s")]
    hbm: Memory
    cores: Cores
    matrix_unit: MatrixUnit | None = None
    clock: Clock | None = None
    on_chip: Annotated[tuple[Level, ...], Field(max_length=32)] = ()
    scale_up: ScaleUp | None = None
    scale_out: ScaleOut | None = None
    host: Host | None = None
    alternatives: Annotated[tuple[Alternative, ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _alternatives_lead_somewhere(self) -> Self:
        for at, each in enumerate(self.alternatives):
            if not leads_somewhere(self, each.field):
                raise fault("unknown-member", "The alternative names no field of this chip.", ("alternatives", at, "field"))
        return self
