"""In which form an answer is sent, where it can be sent as a table."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SEPARATORS: Final = {",": ",", ";": ";", "comma": ",", "semicolon": ";", "tab": "\t"}


class ExportQuery(BaseModel):
    """JSON or a table, and how CSV is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Annotated[
        Literal["json", "csv", "xlsx"] | None, Field(description="What is sent, whatever of it `Accept` likes best; else that.")
    ] = None
    sep: Annotated[
        Literal[",", ";", "comma", "semicolon", "tab"] | None,
        Field(description="Separator of CSV: a comma, or a semicolon beside decimal commas."),
    ] = None
    decimal: Annotated[Literal[".", ","] | None, Field(description="Decimal mark of CSV: a point.")] = None
    bom: Annotated[
        Literal["absent", "present"] | None, Field(description="Byte order mark before CSV, by which some programs know UTF-8.")
    ] = None


FORM: Final = frozenset(ExportQuery.model_fields)
"""The parameters that say nothing about what is asked for."""


def without_form(asked: BaseModel) -> dict[str, Any]:
    """The parameters that say what is asked for."""
    return asked.model_dump(exclude=set(FORM))
