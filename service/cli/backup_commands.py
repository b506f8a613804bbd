"""`roofline backup` and `roofline restore`, as they can be typed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..settings import Settings
from .options import DataOption, UrlOption


def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
    data: DataOption = None,
    database_url: UrlOption = None,
) -> None:
    """Write all that the database keeps to a file, while the service goes on.

    Everything that was acknowledged before is in it. `roofline restore` reads it into a database of either kind.
    """
    from .backup import backup as run

    run(Settings.from_environment(os.environ, data_dir=data, database_url=database_url), Path(file))


def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `roofline backup` has written.")],
    data: DataOption = None,
    database_url: UrlOption = None,
) -> None:
    """Bring a backup back into an empty database, all of it or nothing."""
    from .backup import restore as run

    run(Settings.from_environment(os.environ, data_dir=data, database_url=database_url), Path(file))
