"""Constants of models of collectives, as other programs use them: `collective_constants/<id>.toml`.

They serve for planning and comparison; they are not measurements of hardware. A table states its unit and its source once,
because its numbers come from one place. What the source sets to 0, meaning unused, is absent.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator

from .entry import Entry
from .quantity import Slug, Sourced, Text, positive
from .units import UNITS, known_unit, to_si


def _numbers(values: Any) -> Any:
    if isinstance(values, dict):
        return {name: _numbers(each) for name, each in values.items()}
    return tuple(positive(each) for each in values) if isinstance(values, list) else positive(values)


def _in_si(values: Any, unit: str) -> Any:
    if isinstance(values, dict):
        return {name: _in_si(each, unit) for name, each in values.items()}
    return [to_si(each, unit) for each in values] if isinstance(values, tuple) else to_si(values, unit)


class Table(Sourced):
    """Numbers of one unit: one number, a list whose items `columns` names, or tables of these keyed by name."""

    unit: Annotated[str, AfterValidator(known_unit)]
    columns: tuple[Text, ...] = ()
    values: Annotated[Any, PlainValidator(_numbers)]

    @property
    def si(self) -> Any:
        return _in_si(self.values, self.unit)

    def head(self) -> dict[str, Any]:
        columns = {"columns": list(self.columns)} if self.columns else {}
        return {"unit": UNITS[self.unit].dimension.si_unit, **columns, "value": self.si}


class ConstantsFile(Entry):
    """The constants of one model; `rules` puts in words how that model combines them."""

    notes: tuple[Text, ...] = ()
    rules: tuple[Text, ...] = ()
    tables: Annotated[dict[Slug, Table], Field(min_length=1)]
