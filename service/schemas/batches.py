"""The queries of tables: how a table is written, and how it is to be answered; and of cells, which ask in the query itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..engine.ops import OPS


class BatchQuery(BaseModel):
    """How a table is read, answered and written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=2_000,
            description="What is appended, separated by commas: `time_s,bound,levers.m.speedup`. Names lead into `result`.",
        ),
    ] = None
    map: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=2_000,
            description="Columns under another name than their member's: `Batch:m,Hidden:k`. `Note:` is the caller's own.",
        ),
    ] = None
    on_error: Annotated[
        Literal["row", "fail"], Field(description="Mark a row that cannot be answered, or refuse the table with all that is wrong.")
    ] = "row"
    sep: Annotated[
        Literal[",", ";", "comma", "semicolon", "tab"] | None, Field(description="Separator of CSV; else the header must show it.")
    ] = None
    decimal: Annotated[Literal[".", ","] | None, Field(description="Decimal mark of CSV; a point unless the cells show a comma.")] = None
    sheet: Annotated[str | None, Field(min_length=1, max_length=255, description="Name of the sheet of a workbook; the first.")] = None
    format: Annotated[
        str | None, Field(max_length=20, description="What is sent back: `csv`, `xlsx`, `ndjson`, `json` (rows), `columns`, `arrow`.")
    ] = None


class TemplateQuery(BaseModel):
    """Which ops a template is for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    op: Annotated[str | None, Field(max_length=64, json_schema_extra={"enum": [*OPS]}, description="A kind of op; all without it.")] = None


class CellQuery(BaseModel):
    """How a number is written. Every other parameter is a member of the question, by the name of its column in a table."""

    model_config = ConfigDict(extra="allow", frozen=True)

    unit: Annotated[Literal["s", "ms", "us", "ns"] | None, Field(description="Unit of a time.")] = None
    decimals: Annotated[int | None, Field(ge=0, le=15, description="Digits behind the point; as many as it takes without it.")] = None
    on_error: Annotated[
        Literal["problem", "text"],
        Field(description="`text`: a failure is a 200 that reads `#ERR code: sentence`, as spreadsheets show nothing else."),
    ] = "problem"


class CellsQuery(CellQuery):
    """Several questions, and what is asked about each."""

    metrics: Annotated[str, Field(min_length=1, max_length=1_024, description="Metrics with commas between them: a column each.")] = (
        "time_s"
    )
    header: Annotated[Literal["absent", "present"], Field(description="Whether the names of the metrics stand in a first row.")] = "absent"
