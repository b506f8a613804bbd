"""`roofline chart`: roofs and the ops under them, as a plot, as a picture in a file, or as the API's numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import typer

from ..analysis import charts
from ..errors import refuse
from ..page.chart import Chart
from ..page.chart import chart as read_chart
from ..schemas.charts import ChartQuery, ChartQuestion
from ..schemas.reading import validate
from .files import check_new, write_new
from .hardware import catalogue
from .output import put_json, put_text
from .question import answered

PICTURE: Final = ".svg"


def of_chip(chip: str | None, dtype: str | None, points: int | None) -> bytes:
    """The chart of a chip, as `GET /v1/charts/roofline` answers. Raises what the API would refuse."""
    given = {"chip": chip, "dtype": dtype, "points": points}
    query = validate(ChartQuery, {name: value for name, value in given.items() if value is not None}, "/query")
    return charts.of_catalogue(query.chip, query.dtype, query.points, catalogue())


def of_file(file: str | None) -> bytes:
    """The chart of the cases in `file`, or in standard input, as `POST /v1/charts/roofline` answers. Raises what the API would refuse."""
    return answered(file, ChartQuestion, _drawn)


def _drawn(question: ChartQuestion) -> bytes:
    if question.analyses:
        raise refuse("/analyses", "not-supported-yet", "Saved analyses are drawn by the service alone; state their questions as cases.")
    return charts.of_questions(question, catalogue(), {})


def show(text: bytes, output: str | None, *, is_json: bool, force: bool) -> None:
    """Write the picture where `output` says; else print numbers or the plot."""
    if output is not None:
        from ..page.svg import svg

        write_new(output, svg(_chart(text)).encode(), force=force)
    elif is_json:
        put_json(text)
    else:
        from .plot import page

        put_text(page(_chart(text)))


def check_output(output: str | None, *, force: bool) -> None:
    """Refuse at once a path that is not meant to be written."""
    if output is None:
        return
    if Path(output).suffix != PICTURE:
        raise typer.BadParameter(f"the picture is SVG, so the name of its file ends in {PICTURE}", param_hint="-o")
    check_new(output, force=force)


def _chart(text: bytes) -> Chart:
    return read_chart(json.loads(text))
