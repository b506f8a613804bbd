"""The layouts of arrays on the mesh: for each dim of each array the axes that split it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from .mesh import MOST_AXES, AxisName

MOST_DIMS = 26

AxisList = Annotated[list[AxisName], Field(max_length=MOST_AXES)]


def _tag(value: Any) -> str:
    if value is None:
        return "@none"
    return "@axis" if isinstance(value, str) else "@axes"


Entry = Annotated[
    Annotated[None, Tag("@none")] | Annotated[AxisName, Tag("@axis")] | Annotated[AxisList, Tag("@axes")],
    Discriminator(_tag),
]

PartitionSpec = TypeAliasType("PartitionSpec", Annotated[list[Entry], Field(max_length=MOST_DIMS)])
"""One entry per dim: null, an axis, or a list of axes, the outermost first. The OpenAPI document has it once, under this name."""


def _unstated() -> Any:
    """In place of a layout that is left out. It is missed with those of the operands, once the op says which there are."""


class ShardingModel(BaseModel):
    """How the arrays of a matmul or an einsum lie on the mesh: a partition spec for each operand (`a`, `b`, …) and for `out`.

    With `batch` above 1 the batch is the first dim of every array of a matmul.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, json_schema_extra={"required": ["out"]})
    __pydantic_extra__: dict[str, PartitionSpec] = Field(init=False)

    out: PartitionSpec = Field(default_factory=_unstated, description="the result: for each dim null, an axis, or a list of axes")
    out_unreduced: AxisList = Field(default=[], description="axes that split a summed dim, over which the result stays a partial sum")

    @property
    def specs(self) -> dict[str, list[str | list[str] | None]]:
        """The partition spec of every array that has one, the result last, then the axes of partial sums if there are any."""
        unreduced: dict[str, list[str | list[str] | None]] = {"out_unreduced": [*self.out_unreduced]} if self.out_unreduced else {}
        result = {"out": self.out} if "out" in self.model_fields_set else {}
        return {**self.__pydantic_extra__, **result, **unreduced}

    def document(self) -> dict[str, Any]:
        """The layouts, each entry in its shortest form."""
        return {name: [_plain(entry) for entry in spec] for name, spec in self.specs.items()}


def _plain(entry: str | list[str] | None) -> str | list[str] | None:
    if not isinstance(entry, list):
        return entry
    return entry if len(entry) > 1 else next(iter(entry), None)
