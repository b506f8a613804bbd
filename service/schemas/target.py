"""The hardware of a question: a chip of the catalogue, one written in place, or a catalogue chip with some numbers replaced."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from .base import Strict
from .mesh import MeshModel, SystemModel
from .numbers import Capacity, Peaks, Rate, Whole


class HbmModel(Strict):
    """Main memory."""

    bandwidth_bytes_per_s: Rate | None = Field(default=None, description="bytes per second")
    capacity_bytes: Capacity | None = Field(default=None, description="bytes")


class L2Model(Strict):
    """A cache between the cores and main memory."""

    capacity_bytes: Capacity | None = Field(default=None, description="bytes")
    bandwidth_bytes_per_s: Rate | None = Field(default=None, description="bytes per second")


class ChipModel(Strict):
    """A chip written in place. With `base` it is that chip of the catalogue, the numbers given here replacing its own."""

    base: str | None = Field(default=None, max_length=200, description="catalogue id, or id@revision")
    peak_flops_per_s: Peaks | None = Field(
        default=None, description="dense peak of the matrix unit by arithmetic class, FLOP/s; one multiply-add is 2"
    )
    vector_peak_flops_per_s: Peaks | None = Field(default=None, description="peak of the vector unit by arithmetic class, FLOP/s")
    hbm: HbmModel | None = None
    cores: Whole | None = Field(default=None, description="cores that share the work")
    on_chip_bytes_per_core: Capacity | None = Field(default=None, description="usable on-chip store of a core, bytes")
    l2: L2Model | None = None


def _tag(value: Any) -> str:
    return "@id" if isinstance(value, str) else "@numbers"


ChipChoice = Annotated[
    Annotated[str, Field(min_length=1, max_length=200, description="catalogue id, or id@revision"), Tag("@id")]
    | Annotated[ChipModel, Tag("@numbers")],
    Discriminator(_tag),
]


class TargetModel(Strict):
    """What the op runs on."""

    chip: ChipChoice
    mesh: MeshModel | None = Field(default=None, description="chips over which the op or its arrays are spread; without it one chip")

    @property
    def axes(self) -> int:
        """How many axes the mesh has."""
        if self.mesh is None:
            return 0
        return len(self.mesh.sizes) if isinstance(self.mesh, SystemModel) else len(self.mesh)
