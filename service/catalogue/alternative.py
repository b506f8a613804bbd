"""Figures that circulate beside the one that was taken, each with the reason why it was not."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel

from ..engine.dtypes import CLASSES
from .quantity import Number, Section, Text
from .units import UNITS, known_unit, to_si

RENAMED = {"compute": "peak_flops_per_s", "vector": "vector_peak_flops_per_s"}
"""Sections whose name in the document already carries the unit of what they hold."""


class Alternative(Section):
    """Another figure for `field`, a dotted path of the file such as `hbm.bandwidth`."""

    field: Text
    value: Number
    unit: Annotated[str, AfterValidator(known_unit)]
    where: Text
    why_not_taken: Text

    def document(self) -> dict[str, Any]:
        """The figure in SI, its field named as in the chip's document."""
        dimension = UNITS[self.unit].dimension
        section, _, rest = self.field.partition(".")
        renamed = RENAMED.get(section)
        return {
            "field": f"{renamed}.{rest}" if renamed else self.field + dimension.suffix,
            "value": to_si(self.value, self.unit),
            "unit": dimension.si_unit,
            "where": self.where,
            "why_not_taken": self.why_not_taken,
        }


def leads_somewhere(value: object, path: str) -> bool:
    """Whether the dotted `path` names a field below `value`, filled or not; an item of a list goes by its name.

    A section that the file leaves out is not looked into: its field is unknown for the very reason that an alternative gives.
    """
    if value is None:
        return True
    head, _, rest = path.partition(".")
    if isinstance(value, tuple):
        return any(item.name == head and leads_somewhere(item, rest) for item in value)
    if isinstance(value, dict):
        return head in CLASSES and not rest
    if not isinstance(value, BaseModel) or head not in type(value).model_fields:
        return False
    return not rest or leads_somewhere(getattr(value, head), rest)
