"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on a terminal too.")]
DataOption = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Folder of the embedded database, the user's data folder by default; also ROOFLINE_DATA."),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A PostgreSQL database to use instead, postgresql://user@host/name. "
        "Other users of the machine can read command lines: give a password in ROOFLINE_DATABASE_URL.",
    ),
]
