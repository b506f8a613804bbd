"""The mesh of a question: axes written one by one, in place or from the chip, or the axes of a system of the catalogue."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from ..engine.mesh import Topology
from .base import Strict
from .numbers import Rate, Whole, without_sign_of_zero

MOST_AXES = 16

AxisName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=63)]
Latency = Annotated[float, Field(ge=0.0, le=1e3, allow_inf_nan=False), AfterValidator(without_sign_of_zero)]


class AxisModel(Strict):
    """An axis of the mesh. With `name` and `size` alone it is a link of the chip: `gpu`, or `x y z` on a torus, and `node`."""

    name: AxisName = Field(description="what arrays and collectives call it")
    size: Whole = Field(description="chips along it")
    topology: Topology | None = Field(
        default=None,
        description="ring: links to two neighbours; line: the same without wraparound; switch; fully_connected: a link per pair",
    )
    bandwidth_bytes_per_s: Rate | None = Field(
        default=None,
        description="one way: of a link on ring and line, what a chip sends on switch, of a pair on fully_connected; bytes per second",
    )
    latency_s: Latency | None = Field(default=None, description="of a hop or a step, seconds (0, or the link's where it has a source)")
    in_network_reduction: bool | None = Field(default=None, description="whether the switch adds what the chips send (false)")

    @model_validator(mode="after")
    def _in_place_or_not(self) -> AxisModel:
        if (self.topology is None) != (self.bandwidth_bytes_per_s is None):
            absent = "topology" if self.topology is None else "bandwidth_bytes_per_s"
            raise PydanticCustomError("missing", "An axis in place has a topology and a bandwidth_bytes_per_s.", {"at": absent})
        if self.in_network_reduction and self.topology not in (None, "switch"):
            raise PydanticCustomError("invalid-request", "Only a switch reduces in the network.", {"at": "in_network_reduction"})
        return self


class SystemModel(Strict):
    """The axes of a system of the catalogue, each with its chips; an axis that is not named has one."""

    cluster: str = Field(min_length=1, max_length=200, description="catalogue id, or id@revision; made of the chip of the target")
    sizes: Annotated[dict[AxisName, Whole], Field(min_length=1, max_length=MOST_AXES)] = Field(
        description="chips along each axis, by its name"
    )


def _tag(value: Any) -> str:
    return "@system" if isinstance(value, dict) else "@axes"


MeshModel = Annotated[
    Annotated[list[AxisModel], Field(min_length=1, max_length=MOST_AXES, description="axes, innermost first"), Tag("@axes")]
    | Annotated[SystemModel, Tag("@system")],
    Discriminator(_tag),
]
