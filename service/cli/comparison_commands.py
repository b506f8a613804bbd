"""What can be typed to hold answers against each other: cases, saved analyses, and a saved analysis against today's answer."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ..settings import Settings
from .options import DataOption, JsonFlag, UrlOption
from .output import is_json
from .problems import explained


def compare(
    named: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | ID ID...]", help="The cases; - or nothing reads standard input. Or ids of saved analyses, two or more."
        ),
    ] = None,
    data: DataOption = None,
    database_url: UrlOption = None,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse analyses that are not like for like with the first.")] = False,
    json: JsonFlag = False,
) -> None:
    """Hold cases, or saved analyses, against the first.

    Cases are JSON as for POST /v1/compare; analyses are read from the service's database, as by POST /v1/comparisons.
    On a terminal a table and why they differ, elsewhere the API's answer.

    \b
    roofline compare <<< '{"cases": [{"op": {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}}],
                           "chips": "all"}'
    roofline compare an_qc5mw6… an_n3x3ws…
    """
    with explained(json):
        if named and len(named) > 1:
            from .compare_saved import compare as of_saved

            settings = Settings.from_environment(os.environ, data_dir=data, database_url=database_url)
            of_saved(named, settings, strict=strict, is_json=is_json(json))
            return
        if strict or data is not None or database_url is not None:
            raise typer.BadParameter("It is about saved analyses, and cases are kept nowhere; name two ids", param_hint="ID")
        from .compare import compare as run

        run(named[0] if named else None, is_json=is_json(json))


def recompute(
    analysis: Annotated[str, typer.Argument(metavar="ID", help="The id of a saved analysis.")],
    data: DataOption = None,
    database_url: UrlOption = None,
    *,
    json: JsonFlag = False,
) -> None:
    """Ask the question of a saved analysis again, and say what changed and why.

    With today's engine and the newest revision of the chip, as by POST /v1/analyses/{id}/recompute. On a terminal a table, elsewhere the
    API's answer.
    """
    with explained(json):
        from .recompute import recompute as run

        run(analysis, Settings.from_environment(os.environ, data_dir=data, database_url=database_url), is_json=is_json(json))
